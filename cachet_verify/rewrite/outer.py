"""`outer_products`: a tile of totals held as blocks that a matrix unit's outer products update.

Takes `outer_products i c 8 8 outer_fma_primitive` behind a `registers` step; gives the program with the
tile of rows in vectors laid out as blocks of 8 by 8, each block updated in one statement by a column
of the one operand and a row of the other. Short rows and columns are masked. The chain is: idle lanes
left out, operands read where they lie, the tile's cells moved into blocks, the loops over cells put
in the blocks' order, guards made masks, and the operands held in vectors again.
"""

from __future__ import annotations

from dataclasses import dataclass

from cachet_verify.core.index import ZERO, Const, variables
from cachet_verify.core.ir import Declare, For, Load, Op, Program, Range, Stmt, Store
from cachet_verify.core.outer import PRIMITIVES
from cachet_verify.rewrite.block import BlockTile
from cachet_verify.rewrite.block_tile import in_blocks
from cachet_verify.rewrite.clause import Line
from cachet_verify.rewrite.error import StepError, refuse
from cachet_verify.rewrite.expression import counter_name
from cachet_verify.rewrite.hole import stmt_text
from cachet_verify.rewrite.library import no_loop, schedule_term
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import Path, counters, find_loop, statement_at, walk
from cachet_verify.rewrite.scope import Scope
from cachet_verify.syntax import ast

FORM = "outer_products i c 8 8 outer_fma_primitive"


@dataclass(frozen=True, slots=True)
class _Request:
    """The line, read."""

    line: Line
    row: str
    buffer: str
    height: int
    width: int
    primitive: str

    def refuse(self, text: str, hint: str = "put `registers (i, j) into c rows 32 lanes 16 through fma` before it") -> StepError:
        """A refusal at the line."""
        return refuse("no-match", f"outer_products: {text}", self.line.step.span, hint)


def outer_products(program: Program, step: ast.Step, scope: Scope) -> Chain:
    """Apply outer products. Raises StepError where no tile in registers is there, or its product is no outer one."""
    request = _request(program, step, scope)
    return in_blocks(Chain(program), _tile(program, request))


def _request(program: Program, step: ast.Step, scope: Scope) -> _Request:
    line = Line(step, FORM)
    line.check_words()
    if len(step.args) != 5:
        raise line.wrong("a loop, a buffer, rows and columns of a block, and a primitive are wanted")
    row, buffer, primitive = (counter_name(step.args[place]) for place in (0, 1, 4))
    height, width = (schedule_term(step.args[place], scope, program) for place in (2, 3))
    if row is None or buffer is None:
        raise line.wrong("the loop over a tile's rows comes first, then the buffer it goes to")
    if primitive not in PRIMITIVES:
        raise line.wrong(f"the primitive is one of {', '.join(PRIMITIVES)}")
    if not isinstance(height, Const) or not isinstance(width, Const) or height.value < 1 or width.value < 2:
        raise line.wrong("a block has at least one row and two columns")
    return _Request(line, row, buffer, height.value, width.value, primitive)


def _tile(program: Program, request: _Request) -> BlockTile:
    """The tile that the loop over rows updates, with the nests around it. Raises StepError."""
    found = find_loop(program.body, request.row)
    if found is None:
        raise no_loop("outer_products", request.row, counters(program.body), request.line.step.span)
    path, row = found
    update = row.body.body[-1]
    if not isinstance(update, Store) or update.lanes is None or not isinstance(update.value, Op):
        raise request.refuse(f"looks for a vector statement in the loop over {request.row}, found {stmt_text(update)}")
    around = statement_at(program.body, path[:-1]) if len(path) > 1 else None
    if not isinstance(around, For) or not isinstance(around.domain, Range):
        raise request.refuse(f"looks for the loop of a sum right around the loop over {request.row}")
    if not isinstance(row.domain, Range) or row.domain.low != ZERO:
        raise request.refuse(f"the loop over {request.row} does not count from 0")
    column, line, total = _operands(request, update)
    locals_ = {stmt.name: (place, stmt) for place, stmt in walk(program.body) if isinstance(stmt, Declare)}
    column_at, column_vector = _vector(request, locals_, column)
    row_at, row_vector = _vector(request, locals_, line)
    if not isinstance(column_vector.init, Load) or not isinstance(row_vector.init, Load) or row_vector.lanes is None:
        raise request.refuse(f"{column} and {line} are not copies of words")
    if column_vector.lanes is None or column_vector.lanes.counter in frozenset().union(*map(variables, column_vector.init.index)):
        text = f"{column} differs from lane to lane: the first factor of an outer product is the same all along a row"
        raise request.refuse(text, "write the product with the operand that varies by row first")
    if row_at[:-1] != path[:-1] or column_at[:-1] != path:
        raise request.refuse(f"{line} is wanted in the loop over {around.counter}, and {column} in the loop over {request.row}")
    held = locals_.get(total.buffer)
    if held is None or held[0][:-1] != path[:-2] or held[1].width is None or len(held[1].shape) != 1 or not isinstance(held[1].shape[0], Const):
        raise request.refuse(f"{total.buffer} is not an array of vectors beside the loop over {around.counter}")
    start, end = _ends(program, request, path[:-1], total.buffer)
    return BlockTile(
        path[:-1], row, update, held, start, end, (column_at, column_vector), (row_at, row_vector), request.height, request.width, request.primitive
    )


def _operands(request: _Request, update: Store) -> tuple[str, str, Load]:
    """The vectors of the product and the total, where the update is the primitive's operation on them."""
    value = update.value
    core = PRIMITIVES[request.primitive]
    lane = update.lanes.counter if update.lanes is not None else ""
    found = value.name if isinstance(value, Op) else "a word"
    args = value.args if isinstance(value, Op) else ()
    total = Load(update.buffer, update.index)
    if found != core or len(args) != 3 or args[2] != total:
        raise request.refuse(f"the tile goes on through {found}, and {request.primitive} through {core}", "")
    names = [part.buffer for part in args[:2] if isinstance(part, Load) and [variables(term) for term in part.index] == [{lane}]]
    if len(names) != 2 or len(total.index) != 2:
        raise request.refuse(f"the factors in the loop over {request.row} are not two vectors")
    return names[0], names[1], total


def _vector(request: _Request, locals_: dict[str, tuple[Path, Declare]], name: str) -> tuple[Path, Declare]:
    found = locals_.get(name)
    if found is None or found[1].init is None or found[1].width is None or found[1].shape:
        raise request.refuse(f"{name} is not a vector that is loaded at once")
    return found


def _ends(program: Program, request: _Request, path: Path, tile: str) -> tuple[Path, Path]:
    """The nests that fill the tile and store it, right before and behind the sum's loop."""
    position = path[-1]
    places = ((*path[:-1], position - 1), (*path[:-1], position + 1))
    try:
        first, last = (statement_at(program.body, place) for place in places)
    except KeyError as error:
        raise request.refuse(f"nothing fills {tile} before the sum, or stores it behind") from error
    fills, stores = _inner(first), _inner(last)
    is_filled = fills is not None and fills.buffer == tile and fills.lanes is not None
    is_stored = stores is not None and stores.buffer == request.buffer and isinstance(stores.value, Load) and stores.value.buffer == tile
    if not is_filled or not is_stored or stores is None or stores.lanes is None:
        raise request.refuse(f"looks for loops over rows that fill {tile} before the sum and store it to {request.buffer} behind")
    return places


def _inner(stmt: Stmt) -> Store | None:
    """The one store in a loop over rows."""
    inner = stmt.body.body if isinstance(stmt, For) and isinstance(stmt.domain, Range) and stmt.domain.low == ZERO else ()
    return inner[0] if len(inner) == 1 and isinstance(inner[0], Store) else None
