"""`element`: the products of a grid by tile, block by block through the device's instruction.

Takes `element [f32; 8, 8]` and a grid whose groups share tiles; reads the line, finds the nests that go on with a
total by products of two words, and chooses the instruction. Must not decide whether the program after computes the
same: `multiplied` proposes, the kernel's rules are asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cachet_verify.core.index import TRUE, Const, Index, Var, variables
from cachet_verify.core.ir import Declare, Fold, Grid, Load, Op, Program, Value, statements
from cachet_verify.core.spell import spell
from cachet_verify.elaborate.reference import Reference, blocks_of, multiplies_blocks
from cachet_verify.rewrite.clause import Line
from cachet_verify.rewrite.hole import cell_text, stmt_text, value_text
from cachet_verify.rewrite.library import schedule_term
from cachet_verify.rewrite.multiplied import Multiplication, multiplied
from cachet_verify.rewrite.outcome import Chain, divides
from cachet_verify.rewrite.place import Path, statement_at
from cachet_verify.rewrite.scope import Scope
from cachet_verify.rewrite.tile_nest import Nest, Reader, device_grid, is_own
from cachet_verify.rewrite.tile_statement import PRODUCT, is_product
from cachet_verify.syntax import ast

FORM = "element [f32; 8, 8]"


@dataclass(frozen=True, slots=True)
class _Request:
    """The line, read: the type of an element, and its rows and columns."""

    line: Line
    reader: Reader
    elem: str
    extents: tuple[int, int]

    @property
    def origin(self) -> str:
        """The line, as requirements name it."""
        return f"element [{self.elem}; {self.extents[0]}, {self.extents[1]}]"


def element(program: Program, step: ast.Step, scope: Scope) -> Chain:
    """Apply element. Raises StepError where no groups share tiles, nothing is multiplied, or blocks do not fit."""
    request = _request(program, step, scope)
    units = _units(request, scope)
    chain, count = Chain(program), 0
    while (found := _next(chain.program, request)) is not None:
        chain, count = _through(chain, found, units, request), count + 1
    if count == 0:
        raise request.reader.wrong(f"no statement of the grid multiplies tiles of {request.elem}", PRODUCT)
    return chain


# --- the line ----------------------------------------------------------------------------------


def _request(program: Program, step: ast.Step, scope: Scope) -> _Request:
    line = Line(step, FORM)
    line.check_words()
    given = step.args[0] if len(step.args) == 1 else None
    if not isinstance(given, ast.ArrayType) or not isinstance(given.element, ast.Name) or len(given.dims) != 2:
        raise line.wrong("an element is a block of words, with rows and columns")
    terms = [schedule_term(item, scope, program) for item in given.dims]
    found = [term.value for term in terms if isinstance(term, Const) and term.value > 0]
    if len(found) != 2:
        raise line.wrong("the extents of an element are constants above 0")
    return _Request(line, Reader("element", step.span), given.element.name, (found[0], found[1]))


@dataclass(frozen=True, slots=True)
class _Units:
    """The device's instructions that multiply blocks, in its order, and those of them on blocks of the shape and type asked for."""

    all: tuple[Reference, ...]
    fitting: tuple[Reference, ...]

    def chosen(self, depth: Index) -> Reference:
        """The first one whose steps divide the depth; where none do, or that is not known, the first."""
        if isinstance(depth, Const):
            return next((unit for unit in self.fitting if depth.value % blocks_of(unit)[2] == 0), self.fitting[0])
        return self.fitting[0]

    def asked(self, unit: Reference, extents: tuple[Index, Index, Index], parts: tuple[int, ...]) -> str:
        """How a product is written: `mma` where that means the unit, else the unit's name."""
        first = next((one for one in self.all if one.result.elem == unit.result.elem and _divides(one, extents, parts)), None)
        return "mma" if first is unit else unit.fn.name


def _divides(unit: Reference, extents: tuple[Index, Index, Index], parts: tuple[int, ...]) -> bool:
    """Whether blocks of a unit may divide tiles and the groups' parts: what is no number is not known yet."""
    blocks = blocks_of(unit)
    owned = [min(part, extent.value) if isinstance(extent, Const) else part for part, extent in zip(parts, extents, strict=False)]
    is_shared = all(part % block == 0 for part, block in zip(owned, blocks, strict=False))
    return is_shared and all(extent.value % block == 0 for extent, block in zip(extents, blocks, strict=True) if isinstance(extent, Const))


def _units(request: _Request, scope: Scope) -> _Units:
    """The device's instructions on blocks. Raises StepError where none is of that shape and type."""
    if scope.device is None:
        text = "blocks are multiplied by an instruction of a device, and this schedule is for the host"
        raise request.reader.wrong(text, "`schedule … on M4Gpu`, with a platform that has one")
    known = tuple(unit for unit in scope.units if multiplies_blocks(unit) and _is_plain(unit) and not unit.numbers)
    fitting = tuple(unit for unit in known if (unit.result.elem, blocks_of(unit)[:2]) == (request.elem, request.extents))
    unmet = [text for unit in fitting for need, text in unit.needs if need != TRUE]
    if unmet:
        raise request.reader.wrong(unmet[0], "an instruction whose requirements whole blocks meet")
    if fitting:
        return _Units(known, fitting)
    shape = request.origin.removeprefix("element ")
    blocks = ", ".join(f"[{unit.result.elem}; {blocks_of(unit)[0]}, {blocks_of(unit)[1]}] of {unit.fn.name}" for unit in known)
    hint = f"the blocks are {blocks}" if blocks else "leave `element` out: each product is a chain of single operations then"
    raise request.reader.wrong(f"no instruction of {scope.device.name} multiplies blocks {shape}", hint)


def _is_plain(unit: Reference) -> bool:
    """Whether the first operand is the left one, and all words are of one type."""
    chains, operands = unit.chains, tuple(unit.operands)
    return chains is not None and chains.left == operands[0] and {kind.elem for kind in unit.operands.values()} == {unit.result.elem}


# --- what stands there -------------------------------------------------------------------------


def _next(program: Program, request: _Request) -> Nest | None:
    """The first product that is no use of an instruction yet."""
    found = device_grid(program, by_tile=True)
    if found is None:
        raise request.reader.wrong("there is no grid whose groups share tiles", "`grid over i.outer` and `parts [8, 16]` first")
    path, grid = found
    for nest in request.reader.nests(grid.body, path):
        fold = nest.store.value
        if is_product(nest) and isinstance(fold, Fold) and fold.elem == request.elem:
            return nest
    return None


def _through(chain: Chain, found: Nest, units: _Units, request: _Request) -> Chain:
    """One product by the instruction, once its operands and extents fit."""
    fold, store = found.store.value, found.store
    if not isinstance(fold, Fold):
        return chain
    program = chain.program
    grid = _grid_around(program, found.path)
    locals_ = {stmt.name: stmt for stmt in statements(grid.body) if isinstance(stmt, Declare)}
    declared = locals_.get(store.buffer)
    text = stmt_text(store)
    if declared is None or declared.shape != found.extents or store.index != tuple(map(Var, found.counters)):
        raise request.reader.wrong(f"`{text}` does not go through a whole tile of totals", PRODUCT)
    left, right = _factors(request, found, fold)
    unit = units.chosen(fold.domain.high)
    rows, columns, depth = blocks_of(unit)
    sizes = (
        (found.loops[0].counter, found.extents[0], rows),
        (found.loops[1].counter, found.extents[1], columns),
        (fold.counter, fold.domain.high, depth),
    )
    for name, extent, size in sizes:
        if isinstance(extent, Const) and extent.value % size:
            raise request.reader.wrong(f"blocks of {size} do not divide {extent.value}, how often {name} runs in `{text}`", f"a multiple of {size}")
        if not isinstance(extent, Const):
            spoken = variables(extent) - set(program.sizes)
            if spoken:
                raise request.reader.wrong(f"how often {name} runs in `{text}` depends on {min(spoken)}: {spell(extent)}", "blocks that are alike")
            chain = chain.requiring(divides(Const(size), extent), request.origin)
    parts = grid.groups.parts if grid.groups is not None else ()
    for part, extent, size, what in zip(parts, found.extents, (rows, columns), ("rows", "columns"), strict=False):
        owned = min(part, extent.value) if isinstance(extent, Const) else part
        if owned % size:
            raise request.reader.wrong(f"a block of {size} {what} would lie in the parts of two groups", f"parts that are multiples of {size}")
    of = Multiplication(found, fold, (left, right), (_whole(left, locals_), _whole(right, locals_)), unit, "mma")
    return multiplied(chain, replace(of, asked=units.asked(unit, (found.extents[0], found.extents[1], of.steps), parts)))


def _grid_around(program: Program, path: Path) -> Grid:
    """The grid by tile that holds a statement."""
    for count in range(len(path), 0, -1):
        stmt = statement_at(program.body, path[:count])
        if isinstance(stmt, Grid) and stmt.groups is not None:
            return stmt
    raise KeyError(path)


def _factors(request: _Request, found: Nest, fold: Fold) -> tuple[Load, Load]:
    """The operands: one by row and depth, the other by depth and column."""
    (row, column), depth = found.counters, fold.counter
    args: tuple[Value, ...] = fold.step.args if isinstance(fold.step, Op) else ()
    for factor, wanted, other in zip(args[:2], ((row, depth), (depth, column)), (column, row), strict=True):
        if not isinstance(factor, Load):
            text = f"`{stmt_text(found.store)}` multiplies by `{value_text(factor)}`, which is no word of an array"
            raise request.reader.wrong(text, "its own array, filled before: `e[i, j] = exp (s[i, j] - m[i])`")
        if not _goes_along(factor, wanted) or any(other in variables(term) for term in factor.index):
            text = f"`{cell_text(factor.buffer, factor.index)}` does not go along one dimension by {wanted[0]} and along the next by {wanted[1]}"
            raise request.reader.wrong(text, "the left factor by row and depth, the right one by depth and column: `fma e[i, j] (load v[j, d]) t`")
    left, right = args[:2]
    if not isinstance(left, Load) or not isinstance(right, Load) or found.store.buffer in (left.buffer, right.buffer):
        raise request.reader.wrong(f"`{stmt_text(found.store)}` multiplies by the tile that it writes", "a copy of the tile")
    return left, right


def _goes_along(load: Load, names: tuple[str, str]) -> bool:
    """Whether two dimensions, in that order, are the named indices plus something fixed, and no other speaks of them."""
    places = [place for name in names for place, term in enumerate(load.index) if name in variables(term)]
    return all(is_own(name, load.index) for name in names) and len(places) == 2 and places[0] < places[1]


def _whole(load: Load, locals_: dict[str, Declare]) -> tuple[Index, ...] | None:
    """The extents of the local tile that a factor is an element of, by its own two counters; None for anything else."""
    declared = locals_.get(load.buffer)
    is_plain = declared is not None and len(load.index) == 2 and all(isinstance(term, Var) for term in load.index)
    return declared.shape if declared is not None and is_plain else None
