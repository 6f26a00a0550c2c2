"""`tiles`: a grid over single outputs as one over tiles of them, multiplied in blocks by the device's instruction.

Takes `tiles (i, j, k) (16, 16) (8, 8)` and a grid over i and j around a sum over k; reads the line, checks
that the sum is a product of two operands, and chooses the instruction. Must not decide whether the program
after computes the same: `tiled` proposes, the kernel's rules are asked.
"""

from __future__ import annotations

from dataclasses import dataclass

from cachet_verify.core.index import ONE, TRUE, ZERO, Const, Index, variables
from cachet_verify.core.ir import Axis, Declare, Fold, Grid, Load, Op, Program, Range, Slice, Store, Word, values
from cachet_verify.core.spell import spell
from cachet_verify.elaborate.reference import Reference, blocks_of, multiplies_blocks
from cachet_verify.rewrite.clause import Line
from cachet_verify.rewrite.error import StepError, refuse
from cachet_verify.rewrite.expression import counter_name
from cachet_verify.rewrite.hole import cell_text, stmt_text, value_text
from cachet_verify.rewrite.library import schedule_term
from cachet_verify.rewrite.outcome import Chain, divides
from cachet_verify.rewrite.parameter import shape_text
from cachet_verify.rewrite.place import Path, walk
from cachet_verify.rewrite.scope import Scope
from cachet_verify.rewrite.term import linear
from cachet_verify.rewrite.tiled import Tiling, tiled
from cachet_verify.syntax import ast

FORM = "tiles (i, j, k) (16, 16) (8, 8)"


@dataclass(frozen=True, slots=True)
class _Request:
    """The line, read: the indices of rows, columns and the sum, and the extents of tiles and parts."""

    line: Line
    row: str
    column: str
    depth: str
    extents: tuple[int, int]
    parts: tuple[int, int]
    through: str | None

    def refuse(self, text: str, hint: str = "") -> StepError:
        """A refusal at the line."""
        return refuse("no-match", f"tiles: {text}", self.line.step.span, hint)


@dataclass(frozen=True, slots=True)
class _Outputs:
    """What one iteration of the grid does: the local that holds its sum, the sum, and the store of its output."""

    path: Path
    grid: Grid
    local: str
    fold: Fold
    store: Store


def tiles(program: Program, step: ast.Step, scope: Scope) -> Chain:
    """Apply tiles. Raises StepError where the grid, the sum, the extents or the device's instructions do not fit."""
    request = _request(program, step, scope)
    found = _outputs(program, request)
    left, right = _factors(request, found)
    unit = _unit(request, scope, found.fold.elem)
    cell = _cell(request, found)
    sizes = (*request.extents, blocks_of(unit)[2])
    chain = Chain(program)
    for (name, extent), size in zip(_extents(request, found), sizes, strict=True):
        if isinstance(extent, Const) and extent.value % size:
            raise request.refuse(f"{size} does not divide {extent.value}, how often {name} runs", "extents that divide it")
        if not isinstance(extent, Const):
            chain = chain.requiring(divides(Const(size), extent), shape_text(step.name, step.args, step.clauses))
    asked = "mma" if request.through is None else request.through
    tiling = Tiling(
        found.path, found.grid, (request.row, request.column), found.local, found.fold, found.store, cell, (left, right),
        request.extents, request.parts, unit, asked,
    )  # fmt: skip
    return tiled(chain, tiling)


# --- the line ----------------------------------------------------------------------------------


def _request(program: Program, step: ast.Step, scope: Scope) -> _Request:
    line = Line(step, FORM)
    line.check_words("through")
    if len(step.args) != 3:
        raise line.wrong("tiles takes the indices, the extents of a tile, and the extents of its parts")
    names = line.names(step.args[:1], "the indices of rows, columns and the sum")
    if len(names) != 3:
        raise line.wrong("a tile has rows, columns, and a sum that goes on through it")
    extents, parts = (_numbers(line, arg, scope, program) for arg in step.args[1:])
    for extent, part in zip(extents, parts, strict=True):
        if extent % part:
            raise refuse("arguments", f"tiles: parts of {part} do not divide a tile of {extent}", step.span, "parts that divide the tile")
    given = counter_name(line.clause("through")[0]) if step.clauses else None
    return _Request(line, names[0], names[1], names[2], extents, parts, given)


def _numbers(line: Line, expr: ast.Expr, scope: Scope, program: Program) -> tuple[int, int]:
    """Two constants above 0."""
    items = expr.items if isinstance(expr, ast.Tuple) else ()
    terms = [schedule_term(item, scope, program) for item in items]
    found = [term.value for term in terms if isinstance(term, Const) and term.value > 0]
    if len(found) != 2 or len(items) != 2:
        raise line.wrong("a tile and its parts have two extents each, constants above 0")
    return found[0], found[1]


def _unit(request: _Request, scope: Scope, elem: str) -> Reference:
    """The instruction: the one that is named, or the device's first for these words whose blocks fill parts."""
    if scope.device is None:
        text = "tiles are multiplied by an instruction of a device, and this schedule is for the host"
        raise request.refuse(text, "`schedule … on M4Gpu`, with a platform that has one")
    known = [unit for unit in scope.units if multiplies_blocks(unit) and unit.result.elem == elem]
    if request.through is not None:
        known = [unit for unit in known if unit.fn.name == request.through]
    for unit in known:
        rows, columns, _ = blocks_of(unit)
        if request.parts[0] % rows == 0 and request.parts[1] % columns == 0 and not unit.numbers:
            unmet = [text for need, text in unit.needs if need != TRUE]
            if unmet:
                raise request.refuse(unmet[0], "an instruction whose requirements whole blocks meet")
            return unit
    blocks = ", ".join(f"{unit.fn.name} {blocks_of(unit)[0]} x {blocks_of(unit)[1]}" for unit in known)
    if blocks:
        raise request.refuse(f"no block of {scope.device.name} fills parts of {request.parts[0]} x {request.parts[1]}", f"the blocks are {blocks}")
    named = "" if request.through is None else f" called {request.through}"
    raise request.refuse(
        f"{scope.device.name} has no instruction{named} that multiplies blocks of {elem}", "sum over single outputs, without `tiles`"
    )


# --- what stands there -------------------------------------------------------------------------


def _outputs(program: Program, request: _Request) -> _Outputs:
    """The grid over the two indices, and in it one sum and one store."""
    wanted = {request.row, request.column}
    for path, stmt in walk(program.body):
        if isinstance(stmt, Grid) and wanted <= {axis.counter for axis in stmt.axes}:
            return _one_sum(request, path, stmt)
    hint = f"`grid over ({request.row}, {request.column})` first"
    raise request.refuse(f"there is no grid over {request.row} and {request.column}", hint)


def _one_sum(request: _Request, path: Path, grid: Grid) -> _Outputs:
    body = grid.body.body
    store = body[-1] if body else None
    if isinstance(store, Store) and store.lanes is None and len(body) == 1 and isinstance(store.value, Fold):
        _check_sum(request, grid, store.value)
        return _Outputs(path, grid, store.value.acc, store.value, store)
    first = body[0] if len(body) == 2 else None
    is_local = isinstance(first, Declare) and not first.shape and first.width is None
    if isinstance(first, Declare) and is_local and isinstance(first.init, Fold) and isinstance(store, Store) and store.lanes is None:
        if not any(isinstance(part, Fold) for part in values(store.value)):
            _check_sum(request, grid, first.init)
            return _Outputs(path, grid, first.name, first.init, store)
    held = "; ".join(stmt_text(stmt) for stmt in body)
    raise request.refuse(f"looks for one sum and the store of its output in the grid, found {held}")


def _check_sum(request: _Request, grid: Grid, fold: Fold) -> None:
    """The sum is over the index that is named, from 0, and starts from a word."""
    if fold.counter != request.depth:
        raise request.refuse(
            f"the sum in the grid is over {fold.counter}, not over {request.depth}", f"`({request.row}, {request.column}, {fold.counter})`"
        )
    axes = {axis.counter for axis in grid.axes}
    spoken = variables(fold.domain.low) | variables(fold.domain.high)
    if not isinstance(fold.domain, Range) or fold.domain.low != ZERO or spoken & axes:
        raise request.refuse(f"the sum over {fold.counter} does not run from 0 to one and the same extent for all outputs")
    if not isinstance(fold.init, Word):
        raise request.refuse(f"the sum starts from {value_text(fold.init)}, and a tile starts from one word", "a sum that starts from its zero")


def _factors(request: _Request, found: _Outputs) -> tuple[Load, Load]:
    """The operands: one by row and depth, the other by depth and column."""
    step = found.fold.step
    args = step.args if isinstance(step, Op) and step.name == "fma" else ()
    left, right = args[:2] if len(args) == 3 and args[2] == Load(found.fold.acc) else (None, None)
    if not isinstance(left, Load) or not isinstance(right, Load):
        text = f"the sum goes on by {value_text(step)}, not by an fma of two loads and the total"
        raise request.refuse(text, "bind the semiring: `schedule … of … @(S = PlusTimes f32)`")
    _check_places(request, left, (request.row, request.depth), request.column)
    _check_places(request, right, (request.depth, request.column), request.row)
    return left, right


def _check_places(request: _Request, load: Load, names: tuple[str, str], other: str) -> None:
    """Two dimensions are the named indices plus something fixed; no other speaks of an index of the tile."""
    where: list[int] = []
    for name in names:
        places = [place for place, term in enumerate(load.index) if name in variables(term)]
        form = linear(load.index[places[0]], frozenset(names)) if len(places) == 1 else None
        if form is None or dict(form.coefficients) != {name: ONE}:
            raise _wrong_place(request, load, names)
        where += places
    if len(set(where)) != len(where) or any(other in variables(term) for term in load.index):
        raise _wrong_place(request, load, names)


def _wrong_place(request: _Request, load: Load, names: tuple[str, str]) -> StepError:
    text = f"`{cell_text(load.buffer, load.index)}` does not go along one dimension by {names[0]} and along another by {names[1]}, one by one"
    return request.refuse(text, f"an operand such as `a[{names[0]}, {names[1]}]`: `pack` it into one first")


def _cell(request: _Request, found: _Outputs) -> Load:
    """The output by its buffer and full index, the grid's window looked through."""
    store = found.store
    cell = Load(store.buffer, store.index)
    for window in found.grid.windows or ():
        if window.alias == store.buffer:
            parts = tuple(part for part in window.parts if not isinstance(part, Slice))
            if len(parts) != len(window.parts):
                raise request.refuse(f"an iteration writes a part of {window.buffer}, not one output", f"`{FORM}` before other tiles")
            cell = Load(window.buffer, parts)
    _check_places(request, cell, (request.row, request.column), request.depth)
    return cell


def _extents(request: _Request, found: _Outputs) -> tuple[tuple[str, Index], ...]:
    """How often rows, columns and the sum run. Raises StepError for an axis that is not a plain range from 0."""
    axes = {axis.counter: axis for axis in found.grid.axes}
    chosen: list[tuple[str, Axis]] = [(name, axes[name]) for name in (request.row, request.column)]
    for name, axis in chosen:
        if axis.low != ZERO or axis.size is not None or variables(axis.high) & set(axes):
            shown = f"{spell(axis.low)} .. {spell(axis.high)}"
            raise request.refuse(f"{name} runs over {shown}, and tiles start from 0 and are alike", "`split` it first, or count from 0")
    return (*((name, axis.high) for name, axis in chosen), (found.fold.counter, found.fold.domain.high))
