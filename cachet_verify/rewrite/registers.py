"""`registers`: a tile of outputs held in vector registers while a sum goes on.

Takes `registers (i, j) into c rows 4 lanes 8 through fma`; gives, in place of the loops over `i` and
`j` around a sum, a nest that loads the tile of totals, goes through the sum with the tile in a local
array of vectors, and stores it back. `j` runs in the lanes. Short rows and columns are masked. The
chain is: the sum as updates of its cell, the loops reordered and `j` put into lanes, the tile held
in the array, each operand held in a vector, and idle lanes computed along.
"""

from __future__ import annotations

from dataclasses import dataclass

from cachet_verify.core.index import ONE, ZERO, Const, Index, Var, variables
from cachet_verify.core.ir import Fold, For, Load, Op, Program, Range, Stmt, Store, values
from cachet_verify.core.spell import spell
from cachet_verify.rewrite.clause import Line
from cachet_verify.rewrite.error import StepError, refuse
from cachet_verify.rewrite.extent import longest
from cachet_verify.rewrite.hole import cell_text, stmt_text, value_text
from cachet_verify.rewrite.library import no_loop, schedule_term
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import Path, around, counters, find_loop, walk
from cachet_verify.rewrite.scope import Scope
from cachet_verify.rewrite.term import linear
from cachet_verify.rewrite.tile import Tile, tiled
from cachet_verify.rewrite.traverse import domain_mentions
from cachet_verify.syntax import ast

FORM = "registers (i, j) into c rows 4 lanes 8 through fma"


@dataclass(frozen=True, slots=True)
class _Request:
    """The line, read."""

    line: Line
    row: str
    column: str
    buffer: str
    rows: Index
    width: int
    operation: str

    def refuse(self, text: str, hint: str = "") -> StepError:
        """A refusal at the line."""
        return refuse("no-match", f"registers: {text}", self.line.step.span, hint)


def registers(program: Program, step: ast.Step, scope: Scope) -> Chain:
    """Apply a register tile. Raises StepError where the nest, the tile or the operation does not fit."""
    request = _request(program, step, scope)
    path, row, column, store, fold = _nest(program, request)
    _check_operation(request, fold)
    _check_length(program, request, row, path, request.rows, "rows")
    _check_length(program, request, column, (*path, 0), Const(request.width), "lanes")
    _check_loops(request, row, column, fold)
    for load in (Load(store.buffer, store.index), *loads(fold)):
        _check_contiguous(request, load)
    return tiled(Chain(program), Tile(path, row, column, store, fold, request.rows, request.width))


def _request(program: Program, step: ast.Step, scope: Scope) -> _Request:
    line = Line(step, FORM)
    line.check_words("into", "rows", "lanes", "through")
    names = line.names(step.args, "the tile's loops")
    if len(names) != 2:
        raise line.wrong("a tile has two loops: its rows and its columns")
    rows = schedule_term(line.number("rows"), scope, program)
    width = schedule_term(line.number("lanes"), scope, program)
    if isinstance(rows, Const) and rows.value <= 0:
        raise line.wrong("`rows` is followed by a number above 0")
    if not isinstance(width, Const) or width.value <= 0:
        raise line.wrong("`lanes` is followed by a number above 0")
    args = line.clause("through")
    operation = _operation_name(args[0]) if len(args) == 1 else None
    if operation is None:
        raise line.wrong("`through` is followed by the name of an operation")
    return _Request(line, names[0], names[1], line.name("into"), rows, width.value, operation)


def _operation_name(expr: ast.Expr) -> str | None:
    if isinstance(expr, ast.Name):
        return expr.name
    return f"{expr.base.name}.{expr.name}" if isinstance(expr, ast.Field) and isinstance(expr.base, ast.Name) else None


def _nest(program: Program, request: _Request) -> tuple[Path, For, For, Store, Fold]:
    """The two loops and the sum that stands right inside them."""
    found = find_loop(program.body, request.row)
    if found is None:
        raise no_loop("registers", request.row, counters(program.body), request.line.step.span)
    path, row = found
    column = _only(row)
    if not isinstance(column, For) or column.counter != request.column:
        _check_first(program, request, row)
        held = "; ".join(stmt_text(stmt) for stmt in row.body.body)
        raise request.refuse(f"looks for the loop over {request.column} right inside the loop over {request.row}, found {held}")
    store = _only(column)
    if not isinstance(store, Store) or not isinstance(store.value, Fold) or store.lanes is not None:
        held = "; ".join(stmt_text(stmt) for stmt in column.body.body)
        raise request.refuse(f"looks for the store of a sum inside the loop over {request.column}, found {held}")
    if store.buffer != request.buffer:
        raise request.refuse(f"the sum goes to {store.buffer}, not to {request.buffer}", f"`into {store.buffer}`")
    return path, row, column, store, store.value


def _check_first(program: Program, request: _Request, row: For) -> None:
    """The totals are not kept in vectors by a line before this one. Raises StepError."""
    known = {param.name for param in program.params}
    stored = (stmt for _, stmt in walk(row.body) if isinstance(stmt, Store) and stmt.lanes is not None)
    held = next((stmt.buffer for stmt in stored if stmt.buffer not in known), None)
    if held is not None:
        text = f"the totals of {request.row} and {request.column} are in vectors already, in {held}"
        raise request.refuse(text, "a tile of outputs is put into registers once")


def _only(loop: For) -> Stmt | None:
    return loop.body.body[0] if len(loop.body.body) == 1 else None


def _check_operation(request: _Request, fold: Fold) -> None:
    """`through` names the operation that continues the total."""
    step = fold.step
    if not isinstance(step, Op) or step.name != request.operation or not step.args or step.args[-1] != Load(fold.acc):
        found = step.name if isinstance(step, Op) else value_text(step)
        hint = f"`through {found}`" if isinstance(step, Op) else ""
        if "." in found:
            hint = "bind the semiring: `schedule … of … @(S = PlusTimes f32)`"
        raise request.refuse(f"the sum over {fold.counter} goes on through {found}, not through {request.operation}", hint)
    if any(isinstance(part, Fold) for part in values(step)):
        raise request.refuse(f"the sum over {fold.counter} holds another sum")


def _check_length(program: Program, request: _Request, loop: For, path: Path, limit: Index, word: str) -> None:
    """A tile has so many rows and lanes, and the loops must fit it."""
    blocks = {stmt.counter: stmt.domain for _, stmt in around(program.body, path) if isinstance(stmt, For)}
    remedy = f"`split {loop.counter} by {spell(limit)} as …` first"
    if loop.domain.low != ZERO or not isinstance(loop.domain, Range):
        raise request.refuse(f"the loop over {loop.counter} does not count from 0", remedy)
    length = longest(loop.domain, blocks)
    if length is None or (isinstance(length, Var) and length.name in program.sizes and length != limit):
        raise request.refuse(f"the loop over {loop.counter} has no fixed bound", remedy)
    fits = length.value <= limit.value if isinstance(length, Const) and isinstance(limit, Const) else length == limit
    if not fits:
        text = f"the loop over {loop.counter} runs up to {spell(length)} times, and the tile has {spell(limit)} {word}"
        raise request.refuse(text, f"`{word} {spell(length)}`, or split {loop.counter} by {spell(limit)}")


def _check_loops(request: _Request, row: For, column: For, fold: Fold) -> None:
    """The sum and the columns run over the same indices for every output of the tile."""
    inside = {row.counter, column.counter}
    if not isinstance(fold.domain, Range):
        raise request.refuse(f"the sum over {fold.counter} runs over blocks")
    for name, domain in ((fold.counter, fold.domain), (column.counter, column.domain)):
        spoken = sorted(domain_mentions(domain) & inside)
        if spoken:
            raise request.refuse(f"the bounds of {name} speak of {spoken[0]}: the tile would not be a rectangle")


def loads(fold: Fold) -> tuple[Load, ...]:
    """The loads of a sum's step, its total left out, each once, in order."""
    found = (part for part in values(fold.step) if isinstance(part, Load) and part.buffer != fold.acc)
    return tuple(dict.fromkeys(found))


def _check_contiguous(request: _Request, load: Load) -> None:
    """Lanes are neighbours: the column's counter stands alone in the last index."""
    column = frozenset((request.column,))
    for place, term in enumerate(load.index):
        if not variables(term) & column:
            continue
        form = linear(term, column)
        last = place + 1 == len(load.index)
        if not last or form is None or form.coefficients.get(request.column) != ONE:
            text = f"`{cell_text(load.buffer, load.index)}` is not read along its last index by {request.column}"
            raise request.refuse(text, "pack it so that neighbouring lanes are neighbouring elements")
