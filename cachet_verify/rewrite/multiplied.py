"""One product of tiles through an instruction, as a chain of kernel rules.

Takes the nest of a product, its two factors and the instruction; gives the program whose operands are blocks in
local tiles, multiplied block by block, and the goals that lead there. Checks nothing: what does not fit shows in
the goals.
"""

from __future__ import annotations

from dataclasses import dataclass

from cachet_verify.core.family import lower
from cachet_verify.core.index import ZERO, Const, Index, Var, add, div, mul
from cachet_verify.core.ir import Block, Declare, Fold, For, Inlined, Load, Stmt, Store, Value, Word
from cachet_verify.elaborate.reference import Product, Reference, blocks_of, use_of
from cachet_verify.kernel.fold import split_store
from cachet_verify.kernel.normal import same_families
from cachet_verify.kernel.reschedule import reschedule
from cachet_verify.kernel.stage import stage_in
from cachet_verify.rewrite.hole import stmt_text
from cachet_verify.rewrite.image import Hint, images
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import Path, block_at, statement_at, with_statements
from cachet_verify.rewrite.tile import root_of
from cachet_verify.rewrite.tile_load import TILE_NAMES, first_free
from cachet_verify.rewrite.tile_nest import Nest, nest
from cachet_verify.rewrite.traverse import Change, mentions, taken


@dataclass(frozen=True, slots=True)
class Multiplication:
    """The nest, the sum in it, the factors, the extents of those that are whole local tiles, the instruction and how it is asked for."""

    nest: Nest
    fold: Fold
    factors: tuple[Load, Load]
    whole: tuple[tuple[Index, ...] | None, tuple[Index, ...] | None]
    unit: Reference
    asked: str

    @property
    def block(self) -> tuple[int, int, int]:
        """Rows, columns and depth of a block."""
        return blocks_of(self.unit)

    @property
    def steps(self) -> Index:
        """How many steps of the sum one statement makes: all where their number is known, else those of one block."""
        high = self.fold.domain.high
        return high if isinstance(high, Const) else Const(self.block[2])


class _Names:
    """Counters and tiles that nothing in the program is called yet."""

    def __init__(self, chain: Chain, of: Multiplication) -> None:
        self.used = taken(chain.program)
        rows, columns, depth = of.block
        self.first = (self.take("e0"), self.take("e1"))
        self.outer = "" if of.steps == of.fold.domain.high else self.take(f"g{of.fold.counter}")
        extents = (*of.nest.extents, of.steps)
        self.blocks = tuple(
            self.take(name) if extent != Const(size) else ""
            for name, extent, size in zip(("b0", "b1", "bk"), extents, (rows, columns, depth), strict=True)
        )
        self.element = (self.take("r"), self.take("s"), self.take("step"))

    def take(self, *bases: str) -> str:
        """The first name that is free, or one like the first."""
        name = first_free(bases, self.used)
        self.used |= {name}
        return name


def multiplied(chain: Chain, of: Multiplication) -> Chain:
    """The chain with the product through the instruction."""
    names = _Names(chain, of)
    store = of.nest.store
    is_split = of.fold.init != Load(store.buffer, store.index)
    if is_split:
        chain = chain.then(split_store(chain.program, of.nest.at))
    chain = _apart(chain, of, names, is_split)
    path: Path = (*of.nest.path[:-1], of.nest.path[-1] + is_split)
    tiles, lead = list[str](), 0
    for place in (0, 1):
        if of.whole[place] == _extents(of, place):
            tiles.append(of.factors[place].buffer)
            continue
        tiles.append(names.take(*(TILE_NAMES if place == 0 else TILE_NAMES[1:])))
        chain = _staged(chain, of, names, (*path, lead) if names.outer else (*path[:-1], path[-1] + lead), place, tiles[-1])
        lead += 2
    return _marked(chain, of, names, _Place(path, is_split, lead), (tiles[0], tiles[1]))


# --- loops -------------------------------------------------------------------------------------


def _places(of: Multiplication, names: _Names) -> tuple[Index, Index, Index]:
    """Row and column in the tile, and step in the operands' tiles, by the counters of blocks and in a block."""
    found = [
        add(mul(Const(size), Var(block)), Var(element)) if block else Var(element)
        for size, block, element in zip(of.block, names.blocks, names.element, strict=True)
    ]
    return found[0], found[1], found[2]


def _start(of: Multiplication, names: _Names) -> Index:
    """The first step of one statement."""
    return mul(of.steps, Var(names.outer)) if names.outer else ZERO


def _counts(of: Multiplication, names: _Names) -> tuple[tuple[str, Index], ...]:
    """Loops over blocks."""
    extents = (*of.nest.extents, of.steps)
    return tuple((name, div(extent, Const(size))) for name, extent, size in zip(names.blocks, extents, of.block, strict=True) if name)


def _apart(chain: Chain, of: Multiplication, names: _Names, is_split: bool) -> Chain:
    """The start of all totals, then block by block the steps of each total."""
    store, span = of.nest.store, of.nest.store.span
    place = _places(of, names)
    by = dict(zip((*of.nest.counters, of.fold.counter), (*place[:2], add(_start(of, names), place[2])), strict=True))
    total = Load(store.buffer, place[:2])
    step = Change(by, lambda load: total if load == Load(of.fold.acc) else load).value(of.fold.step)
    inside = tuple(zip(names.element, map(Const, of.block), strict=True))
    product = nest((*_counts(of, names), *inside), Store(store.buffer, place[:2], step, span=span), span=span)
    if names.outer:
        product = nest(((names.outer, div(of.fold.domain.high, of.steps)),), product, span=span)
    made: list[Stmt] = [product]
    if is_split:
        cells = tuple(map(Var, names.first))
        start = Change(dict(zip(of.nest.counters, cells, strict=True))).value(of.fold.init)
        made.insert(0, nest(tuple(zip(names.first, of.nest.extents, strict=True)), Store(store.buffer, cells, start, span=span), span=span))
    after = with_statements(chain.program, of.nest.path, 1, made)
    hints = [Hint(name, term, frozenset(names.element)) for name, term in by.items()]
    hints += [Hint(name, Var(other), frozenset(names.first)) for name, other in zip(of.nest.counters, names.first, strict=True)]
    return chain.then(reschedule(chain.program, after, images(lower(chain.program), lower(after), hints)))


# --- operands ----------------------------------------------------------------------------------


def _extents(of: Multiplication, place: int) -> tuple[Index, Index]:
    """The extents of an operand's tile."""
    return (of.nest.extents[0], of.steps) if place == 0 else (of.steps, of.nest.extents[1])


def _staged(chain: Chain, of: Multiplication, names: _Names, path: Path, place: int, tile: str) -> Chain:
    """A block of an operand in a local tile, which the product reads."""
    program, load, span = chain.program, of.factors[place], of.nest.store.span
    row, column, step = _places(of, names)
    counters, start = (of.nest.counters[place], of.fold.counter), _start(of, names)
    was = Change({counters[0]: (row, column)[place], counters[1]: add(start, step)}).value(load)
    now = Load(tile, (row, step) if place == 0 else (step, column))
    filled = (names.take("e0"), names.take("e1"))
    free, deep = (filled[0], filled[1]) if place == 0 else (filled[1], filled[0])
    source = Change({counters[0]: Var(free), counters[1]: add(start, Var(deep))}).value(load)
    extents = _extents(of, place)
    copied = Store(tile, tuple(map(Var, filled)), source, span=span)
    lead = (Declare(tile, of.fold.elem, extents, span=span), nest(tuple(zip(filled, extents, strict=True)), copied, span=span))
    region = Change(loads=lambda found: now if found == was else found).stmt(statement_at(program.body, path))
    return chain.then(stage_in(program, path, 1, root_of(program, load.buffer), tile, lead, (region,)))


# --- the statements as they are written --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the statements of a product stand: the first one behind the start, whether there is a start, and how many statements load."""

    path: Path
    is_split: bool
    lead: int


def _marked(chain: Chain, of: Multiplication, names: _Names, place: _Place, tiles: tuple[str, str]) -> Chain:
    """The same loops, marked as statements on whole tiles, the product as uses of the instruction."""
    program, span, store = chain.program, of.nest.store.span, of.nest.store
    begins = tuple(mul(Const(size), Var(name)) if name else ZERO for size, name in zip(of.block, names.blocks, strict=True))
    total = names.take("total")
    use = use_of(of.unit, Product(store.buffer, *tiles, (begins[0], begins[1], begins[2]), (*names.element, total), span))
    counts = _counts(of, names)
    product = _tile(of.asked, nest(counts, use, span=span) if counts else use)
    stmts = block_at(program.body, place.path)[: 1 if names.outer else place.lead + 1]
    count = len(stmts)
    outer = stmts[0] if names.outer else None
    inner = outer.body.body if isinstance(outer, For) else stmts
    loaded = [_tile("load", stmt) if isinstance(stmt, For) else stmt for stmt in inner[:-1]]
    made: list[Stmt] = [*loaded, product]
    if isinstance(outer, For):
        made = [nest(((outer.counter, outer.domain.high),), *made, span=span)]
    path = place.path
    if place.is_split:
        path, count = (*path[:-1], path[-1] - 1), count + 1
        path, count, made = _started(chain, path, count, made)
    return chain.then(same_families(program, with_statements(program, path, count, made)))


def _started(chain: Chain, path: Path, count: int, made: list[Stmt]) -> tuple[Path, int, list[Stmt]]:
    """With the start of the totals: where it is one word, in the declaration that stands right before."""
    program = chain.program
    start = statement_at(program.body, path)
    before = statement_at(program.body, (*path[:-1], path[-1] - 1)) if path[-1] > 0 else None
    value = _filled(start)
    if isinstance(before, Declare) and before.init is None and isinstance(value, Word) and before.name in mentions((start,)):
        declared = Declare(before.name, before.elem, before.shape, init=value, mutable=True, span=before.span)
        return (*path[:-1], path[-1] - 1), count + 1, [declared, *made]
    return path, count, [_tile(stmt_text(start), start), *made]


def _filled(stmt: Stmt) -> Value | None:
    """The value that loops around one store give each cell."""
    while isinstance(stmt, For) and len(stmt.body.body) == 1:
        stmt = stmt.body.body[0]
    return stmt.value if isinstance(stmt, Store) else None


def _tile(text: str, stmt: Stmt) -> Inlined:
    return Inlined(text, Block((stmt,)), is_tile=True)
