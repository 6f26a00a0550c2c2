"""A grid over tiles, as a chain of kernel rules.

Takes a grid over single outputs, the sum in it and the extents of tiles; gives the program whose grid runs over
tiles, with totals in a local tile and blocks of the operands in others, and the goals that lead there. Checks
nothing: what does not fit shows in the goals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cachet_verify.core.family import lower
from cachet_verify.core.index import ZERO, Const, Index, Var, add, div, mul, substitute, variables
from cachet_verify.core.ir import Axis, Block, Declare, Fold, For, Grid, Groups, Inlined, Load, Program, Range, Slice, Stmt, Store, Value, Window
from cachet_verify.elaborate.reference import Product, Reference, blocks_of, use_of
from cachet_verify.kernel.fold import split_store
from cachet_verify.kernel.normal import same_families
from cachet_verify.kernel.relocate import Places, relocate_local
from cachet_verify.kernel.reschedule import reschedule
from cachet_verify.kernel.stage import stage_in
from cachet_verify.rewrite.image import Hint, images
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import Path, statement_at, with_statements
from cachet_verify.rewrite.tile import root_of
from cachet_verify.rewrite.traverse import Change, fresh, taken

Loops = Sequence[tuple[str, Index]]


@dataclass(frozen=True, slots=True)
class Tiling:
    """What is tiled: the grid and where it stands, its two counters, the local of the sum, the sum, the store of the
    output and its cell, the two operands; and how: the extents of tiles and of parts, and the instruction and what it is asked by.
    """

    path: Path
    grid: Grid
    axes: tuple[str, str]
    local: str
    fold: Fold
    store: Store
    cell: Load
    factors: tuple[Load, Load]
    extents: tuple[int, int]
    parts: tuple[int, int]
    unit: Reference
    asked: str

    @property
    def depth(self) -> int:
        """How many steps of the sum one product makes."""
        return blocks_of(self.unit)[2]


class _Names:
    """Names that nothing in the program has yet."""

    def __init__(self, program: Program) -> None:
        self._used = taken(program)

    def take(self, base: str) -> str:
        """The name itself, or one like it."""
        name = fresh(base, self._used)
        self._used |= {name}
        return name


@dataclass(frozen=True, slots=True)
class _Tile:
    """The names of the program after: tile counters, counters in a tile, the step in a block, the tile and the blocks, the window."""

    of: Tiling
    outer: tuple[str, str]
    inner: tuple[str, str]
    step: str
    total: str
    blocks: tuple[str, str]
    alias: str
    groups: tuple[str, str]

    def at(self, row: Index, column: Index, step: Index) -> dict[str, Index]:
        """The counters of the program before, at a place in the tile and in the block of steps."""
        height, width = self.of.extents
        return {
            self.of.axes[0]: add(mul(Const(height), Var(self.outer[0])), row),
            self.of.axes[1]: add(mul(Const(width), Var(self.outer[1])), column),
            self.of.fold.counter: add(mul(Const(self.of.depth), Var(self.of.fold.counter)), step),
        }

    def output(self, row: str, column: str) -> tuple[Index, ...]:
        """The index of an output in its window, whose dimensions are those of the buffer."""
        places = [next(place for place, term in enumerate(self.of.cell.index) if name in variables(term)) for name in self.of.axes]
        return (Var(row), Var(column)) if places[0] < places[1] else (Var(column), Var(row))

    def whole(self, row: str, column: str) -> Loops:
        """Loops over the elements of a tile."""
        return ((row, Const(self.of.extents[0])), (column, Const(self.of.extents[1])))


def tiled(chain: Chain, of: Tiling) -> Chain:
    """The chain with the grid over tiles."""
    chain = _spelled(chain, of)
    names = _Names(chain.program)
    (row, column), buffer = of.axes, of.store.buffer
    tile = _Tile(
        of,
        (names.take(f"g{row}"), names.take(f"g{column}")),
        (names.take(f"t{row}"), names.take(f"t{column}")),
        names.take("step"),
        names.take("t"),
        (names.take("x"), names.take("y")),
        names.take(f"{buffer}_2"),
        (names.take(f"s{row}"), names.take(f"s{column}")),
    )
    chain = _grouped(chain, tile)
    chain = _held(chain, tile, names)
    chain, inner = _apart(chain, tile, names)
    for place in (0, 1):
        chain = _staged(chain, tile, inner, place, names)
    return _marked(chain, tile, inner, names)


def _nest(loops: Loops, *stmts: Stmt) -> Stmt:
    """Statements inside loops from 0, the first one outermost."""
    block = Block(stmts)
    for name, extent in reversed(loops):
        block = Block((For(name, Range(ZERO, extent), block),))
    return block.body[0]


def _with_body(chain: Chain, of: Tiling, grid: Grid, body: Sequence[Stmt]) -> Program:
    return with_statements(chain.program, of.path, 1, (replace(grid, body=Block(tuple(body))),))


# --- the sum as a loop over a local ------------------------------------------------------------


def _spelled(chain: Chain, of: Tiling) -> Chain:
    """The sum as a local that a loop updates, and the store of the output behind it."""
    span = of.store.span
    if of.local != of.fold.acc:
        opened = (Declare(of.local, of.fold.elem, mutable=True, span=span), Store(of.local, (), of.fold, span=span), of.store)
        chain = chain.then(same_families(chain.program, _with_body(chain, of, of.grid, opened)))
        chain = chain.then(split_store(chain.program, (*of.path, 1)))
        last = of.store
    else:
        last = replace(of.store, value=Load(of.local))
    declared = Declare(of.local, of.fold.elem, init=of.fold.init, mutable=True, span=span)
    loop = For(of.fold.counter, of.fold.domain, Block((Store(of.local, (), _step(of), span=span),)), span)
    return chain.then(same_families(chain.program, _with_body(chain, of, of.grid, (declared, loop, last))))


def _step(of: Tiling) -> Value:
    """One step of the sum, its total read from the local."""
    return Change(loads=lambda load: Load(of.local) if load == Load(of.fold.acc) else load).value(of.fold.step)


def _output(of: Tiling) -> Value:
    """The value of an output, from the local of its sum."""
    return Load(of.local) if of.local == of.fold.acc else of.store.value


# --- tiles of outputs --------------------------------------------------------------------------


def _grouped(chain: Chain, tile: _Tile) -> Chain:
    """The grid over tiles, and in each the outputs one after the other."""
    of, span = tile.of, tile.of.store.span
    here = tile.at(Var(tile.inner[0]), Var(tile.inner[1]), Var(tile.step))
    change = Change(here)
    update = Store(of.local, (), change.value(_step(of)), span=span)
    count = div(of.fold.domain.high, Const(of.depth))
    body = _nest(
        tile.whole(*tile.inner),
        Declare(of.local, of.fold.elem, init=of.fold.init, mutable=True, span=span),
        _nest(((of.fold.counter, count), (tile.step, Const(of.depth))), update),
        Store(tile.alias, tile.output(*tile.inner), change.value(_output(of)), span=span),
    )
    grid = replace(of.grid, axes=tuple(_axis(tile, axis) for axis in of.grid.axes), windows=(_window(tile),))
    after = _with_body(chain, of, grid, (body,))
    using = frozenset((*tile.outer, *tile.inner))
    hints = [Hint(name, term, using) for name, term in here.items()]
    return chain.then(reschedule(chain.program, after, images(lower(chain.program), lower(after), hints)))


def _axis(tile: _Tile, axis: Axis) -> Axis:
    for place, name in enumerate(tile.of.axes):
        if axis.counter == name:
            return Axis(tile.outer[place], ZERO, div(axis.high, Const(tile.of.extents[place])))
    return axis


def _window(tile: _Tile) -> Window:
    """The tile of outputs, under its alias."""
    start = tile.at(ZERO, ZERO, ZERO)
    extents = dict(zip(tile.of.axes, tile.of.extents, strict=True))
    parts: list[Index | Slice] = []
    for term in tile.of.cell.index:
        low = substitute(term, start)
        wide = [extent for name, extent in extents.items() if substitute(term, {name: ZERO}) != term]
        parts.append(Slice(low, add(low, Const(wide[0]))) if wide else low)
    return Window(tile.of.cell.buffer, tuple(parts), tile.alias)


def _held(chain: Chain, tile: _Tile, names: _Names) -> Chain:
    """The totals of a tile in one local, declared outside the loops over its outputs."""
    of, program = tile.of, chain.program
    grid = statement_at(program.body, of.path)
    cell = Load(tile.total, (Var(tile.inner[0]), Var(tile.inner[1])))
    declared = Declare(tile.total, of.fold.elem, tuple(map(Const, of.extents)), mutable=True, span=of.store.span)
    nest = _in_tile(grid.body.body[0], of.local, cell) if isinstance(grid, Grid) else grid
    after = _with_body(chain, of, grid if isinstance(grid, Grid) else of.grid, (declared, nest))
    coordinates = {name: names.take(f"{name} of {of.local}") for name in lower(program).buffers[of.local].private}
    private = lower(after).buffers[tile.total].private
    terms = tuple(Var(coordinates[name]) for name in (*private, *tile.inner))
    return chain.then(relocate_local(program, after, Places(of.local, tile.total, tuple(coordinates.values()), terms)))


def _in_tile(stmt: Stmt, local: str, cell: Load) -> Stmt:
    """The statement with a cell of the tile in place of a local."""
    if isinstance(stmt, Declare) and stmt.name == local and stmt.init is not None:
        return Store(cell.buffer, cell.index, stmt.init, span=stmt.span)
    if isinstance(stmt, For):
        return replace(stmt, body=Block(tuple(_in_tile(part, local, cell) for part in stmt.body.body)))
    turned = Change(loads=lambda load: cell if load == Load(local) else load).stmt(stmt)
    return replace(turned, buffer=cell.buffer, index=cell.index) if isinstance(turned, Store) and turned.buffer == local else turned


# --- start, products and stores, one after the other -------------------------------------------


@dataclass(frozen=True, slots=True)
class _Inner:
    """The counters of the product of two blocks, and of the store of the tile."""

    blocks: tuple[str, str]
    element: tuple[str, str]
    last: tuple[str, str]

    def place(self, tile: _Tile) -> tuple[Index, Index]:
        """The place in the tile of an element of a block."""
        rows, columns, _ = blocks_of(tile.of.unit)
        return (
            add(mul(Const(rows), Var(self.blocks[0])), Var(self.element[0])) if self.blocks[0] else Var(self.element[0]),
            add(mul(Const(columns), Var(self.blocks[1])), Var(self.element[1])) if self.blocks[1] else Var(self.element[1]),
        )

    def outer(self, tile: _Tile) -> Loops:
        """Loops over the blocks of a tile; none where there is one block."""
        counts = (extent // block for extent, block in zip(tile.of.extents, blocks_of(tile.of.unit), strict=False))
        return tuple((name, Const(count)) for name, count in zip(self.blocks, counts, strict=True) if name)

    def loops(self, tile: _Tile) -> Loops:
        """All loops of the product, the steps innermost."""
        rows, columns, depth = blocks_of(tile.of.unit)
        return (*self.outer(tile), (self.element[0], Const(rows)), (self.element[1], Const(columns)), (tile.step, Const(depth)))


def _apart(chain: Chain, tile: _Tile, names: _Names) -> tuple[Chain, _Inner]:
    """The start of all totals, then a product a block of steps, then the store of the tile."""
    of, span = tile.of, tile.of.store.span
    rows, columns, _ = blocks_of(of.unit)
    several = (of.extents[0] > rows, of.extents[1] > columns)
    blocks = (names.take("b0") if several[0] else "", names.take("b1") if several[1] else "")
    inner = _Inner(blocks, (names.take("r"), names.take("s")), (names.take("e0"), names.take("e1")))
    place = inner.place(tile)
    total = Load(tile.total, place)
    step = Change(tile.at(*place, Var(tile.step)), lambda load: total if load == Load(of.local) else load).value(_step(of))
    last = (Var(inner.last[0]), Var(inner.last[1]))
    output = Change(tile.at(*last, ZERO), lambda load: Load(tile.total, last) if load == Load(of.local) else load).value(_output(of))
    grid = statement_at(chain.program.body, of.path)
    body = (
        Declare(tile.total, of.fold.elem, tuple(map(Const, of.extents)), init=of.fold.init, mutable=True, span=span),
        _nest(((of.fold.counter, div(of.fold.domain.high, Const(of.depth))),), _nest(inner.loops(tile), Store(tile.total, place, step, span=span))),
        _nest(tile.whole(*inner.last), Store(tile.alias, tile.output(*inner.last), output, span=span)),
    )
    after = _with_body(chain, of, grid if isinstance(grid, Grid) else of.grid, body)
    filled = (Var(f"{tile.total}.0"), Var(f"{tile.total}.1"))
    hints = [
        Hint(name, term, frozenset(used))
        for terms, used in ((place, inner.element), (last, inner.last), (filled, (filled[0].name, filled[1].name)))
        for name, term in zip(tile.inner, terms, strict=True)
    ]
    return chain.then(reschedule(chain.program, after, images(lower(chain.program), lower(after), hints))), inner


# --- blocks of the operands --------------------------------------------------------------------


def _staged(chain: Chain, tile: _Tile, inner: _Inner, place: int, names: _Names) -> Chain:
    """A block of an operand in a local tile, which the product reads."""
    of, program = tile.of, chain.program
    load, name = of.factors[place], tile.blocks[place]
    row, column = inner.place(tile)
    path = (*of.path, 1, 2 * place)
    extents = (of.extents[0], of.depth) if place == 0 else (of.depth, of.extents[1])
    first, second = names.take("e0"), names.take("e1")
    at = tile.at(Var(first), ZERO, Var(second)) if place == 0 else tile.at(ZERO, Var(second), Var(first))
    copied = Store(name, (Var(first), Var(second)), Change(at).value(load), span=of.store.span)
    fill = _nest(((first, Const(extents[0])), (second, Const(extents[1]))), copied)
    was = Change(tile.at(row, column, Var(tile.step))).value(load)
    now = Load(name, (row, Var(tile.step)) if place == 0 else (Var(tile.step), column))
    region = Change(loads=lambda found: now if found == was else found).stmt(statement_at(program.body, path))
    declared = Declare(name, of.fold.elem, tuple(map(Const, extents)), span=of.store.span)
    return chain.then(stage_in(program, path, 1, root_of(program, load.buffer), name, (declared, fill), (region,)))


# --- the statements as they are written --------------------------------------------------------


def _marked(chain: Chain, tile: _Tile, inner: _Inner, names: _Names) -> Chain:
    """The same loops, marked as statements on whole tiles, the product as uses of the instruction."""
    of, span = tile.of, tile.of.store.span
    grid = statement_at(chain.program.body, of.path)
    if not isinstance(grid, Grid):
        return chain
    start, loop, last = grid.body.body
    rows, columns, _ = blocks_of(of.unit)
    starts = tuple(mul(Const(size), Var(name)) if name else ZERO for size, name in zip((rows, columns), inner.blocks, strict=True))
    product = Product(tile.total, *tile.blocks, (starts[0], starts[1], ZERO), (*inner.element, tile.step, names.take("total")), span)
    use: Stmt = use_of(of.unit, product)
    nest = _nest(inner.outer(tile), use) if inner.outer(tile) else use
    if not isinstance(loop, For):
        return chain
    left, fill_left, right, fill_right, _ = loop.body.body
    body = (left, _tile("load", fill_left), right, _tile("load", fill_right), _tile(of.asked, nest))
    marked = (start, replace(loop, body=Block(body)), _tile("store", last))
    made = replace(grid, body=Block(marked), groups=Groups(tile.groups, of.parts))
    return chain.then(same_families(chain.program, with_statements(chain.program, of.path, 1, (made,))))


def _tile(text: str, stmt: Stmt) -> Inlined:
    return Inlined(text, Block((stmt,)), is_tile=True)
