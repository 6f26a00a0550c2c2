"""A grid by tile, told group by group, as a chain of kernel rules.

Takes a grid whose body goes through whole tiles (what `tiles` leaves); gives the same grid with a region over its
groups for the start, for each product and for the store, each group with its own part of the totals and of the
operands. A region's end is a barrier. Checks nothing: what does not fit shows in the goals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from cachet_verify.core.family import lower
from cachet_verify.core.index import ZERO, Const, Index, Var, add, div, mod, mul, substitute, variables
from cachet_verify.core.ir import Axis, Block, Declare, Fold, For, Grid, Inlined, Load, Program, Range, Stmt, Store, Value, View, statements
from cachet_verify.kernel.claim import Goal
from cachet_verify.kernel.fold import close_fold
from cachet_verify.kernel.normal import same_families
from cachet_verify.kernel.relocate import Places, relocate_local
from cachet_verify.kernel.reschedule import reschedule
from cachet_verify.kernel.stage import stage_in
from cachet_verify.kernel.unstage import unstage
from cachet_verify.rewrite.image import Hint, images
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import Path, find_loop, statement_at, with_statements
from cachet_verify.rewrite.tile import root_of
from cachet_verify.rewrite.traverse import Change, fresh, taken

Loops = Sequence[tuple[str, Index]]


class Names:
    """Names that nothing in the program has yet."""

    def __init__(self, program: Program) -> None:
        self._used = taken(program)

    def take(self, base: str) -> str:
        """The name itself, or one like it."""
        name = fresh(base, self._used)
        self._used |= {name}
        return name


def nest(loops: Loops, *stmts: Stmt) -> tuple[Stmt, ...]:
    """Statements inside loops from 0, the first one outermost."""
    for name, extent in reversed(loops):
        stmts = (For(name, Range(ZERO, extent), Block(stmts)),)
    return stmts


def over_groups(names: Sequence[str], counts: Sequence[int], *stmts: Stmt) -> Grid:
    """A region: what each group does."""
    return Grid(tuple(Axis(name, ZERO, Const(count)) for name, count in zip(names, counts, strict=True)), Block(stmts))


@dataclass(frozen=True, slots=True)
class _Fill:
    """A tile of one operand: the local, the counters that fill it, and the word of each element."""

    declared: Declare
    counters: tuple[str, str]
    value: Value

    @property
    def name(self) -> str:
        return self.declared.name


@dataclass(frozen=True, slots=True)
class _Body:
    """What `tiles` leaves in a grid: the totals, the loop over blocks of steps, the two operands, the loops over the blocks of
    a tile and the use of the instruction in them, and the loops that store the tile."""

    path: Path
    grid: Grid
    total: Declare
    loop: For
    fills: tuple[_Fill, _Fill]
    product: Inlined
    blocks: tuple[tuple[str, int], ...]
    use: Stmt
    update: Store
    last: tuple[str, str]
    store: Store
    first: tuple[str, str]

    @property
    def counts(self) -> tuple[int, ...]:
        """How many groups there are along rows and along columns."""
        parts = self.grid.groups.parts if self.grid.groups is not None else (1, 1)
        return tuple(extent.value // part for extent, part in zip(self.total.shape, parts, strict=True) if isinstance(extent, Const))


def is_by_group(grid: Grid) -> bool:
    """Whether a grid by tile is told group by group already."""
    return any(isinstance(stmt, Grid) for stmt in grid.body.body)


def by_group(chain: Chain, path: Path) -> Chain | None:
    """The chain with the grid at the path told group by group; None where its body is no product of tiles."""
    body = _read(chain.program, path)
    if body is None:
        return None
    plain = _plain(chain.program, body)
    chain = chain.then(same_families(chain.program, plain))
    for fill in body.fills:
        chain = chain.then(_read_in_place(chain.program, body, fill))
    return _in_groups(chain, body, Names(chain.program))


# --- what stands there -------------------------------------------------------------------------


def _read(program: Program, path: Path) -> _Body | None:
    grid = statement_at(program.body, path)
    parts = grid.body.body if isinstance(grid, Grid) and grid.groups is not None else ()
    if not isinstance(grid, Grid) or len(parts) != 3:
        return None
    total, loop, last = parts
    if not isinstance(total, Declare) or not isinstance(loop, For) or not isinstance(last, Inlined) or len(loop.body.body) != 5:
        return None
    left, right, product = _fill(*loop.body.body[:2]), _fill(*loop.body.body[2:4]), loop.body.body[4]
    stored = _element(last)
    if left is None or right is None or stored is None or not isinstance(product, Inlined):
        return None
    blocks, use = _blocks(product)
    names = Names(program)
    update = next((part for part in statements(Block((use,))) if isinstance(part, Store)), None)
    if update is None or update.buffer != total.name:
        return None
    return _Body(path, grid, total, loop, (left, right), product, blocks, use, update, stored[0], stored[1], (names.take("e0"), names.take("e1")))


def _fill(declared: Stmt, filled: Stmt) -> _Fill | None:
    found = _element(filled)
    if not isinstance(declared, Declare) or found is None or found[1].buffer != declared.name:
        return None
    return _Fill(declared, found[0], found[1].value)


def _element(stmt: Stmt) -> tuple[tuple[str, str], Store] | None:
    """The two loops over a tile's elements, and the store in them."""
    outer = stmt.body.body[0] if isinstance(stmt, Inlined) and len(stmt.body.body) == 1 else None
    inner = outer.body.body[0] if isinstance(outer, For) and len(outer.body.body) == 1 else None
    store = inner.body.body[0] if isinstance(inner, For) and len(inner.body.body) == 1 else None
    if not isinstance(outer, For) or not isinstance(inner, For) or not isinstance(store, Store):
        return None
    return (outer.counter, inner.counter), store


def _blocks(product: Inlined) -> tuple[tuple[tuple[str, int], ...], Stmt]:
    """The loops over the blocks of a tile, and the use of the instruction inside them."""
    loops: list[tuple[str, int]] = []
    stmt = product.body.body[0]
    while isinstance(stmt, For) and isinstance(stmt.domain.high, Const):
        loops.append((stmt.counter, stmt.domain.high.value))
        stmt = stmt.body.body[0]
    return tuple(loops), stmt


# --- from whole tiles to groups ----------------------------------------------------------------


def _unmarked(stmt: Stmt) -> tuple[Stmt, ...]:
    """A statement without the marks of tiles and instructions."""
    if isinstance(stmt, Inlined):
        return tuple(part for inner in stmt.body.body for part in _unmarked(inner))
    if isinstance(stmt, For):
        return (replace(stmt, body=Block(tuple(part for inner in stmt.body.body for part in _unmarked(inner)))),)
    return (stmt,)


def _filled(body: _Body) -> tuple[Stmt, ...]:
    """The totals, and the stores that start them."""
    total = replace(body.total, init=None)
    if body.total.init is None:
        return (total,)
    names = body.first
    store = Store(total.name, (Var(names[0]), Var(names[1])), body.total.init, span=total.span)
    return (total, *nest(list(zip(names, total.shape, strict=True)), store))


def _plain(program: Program, body: _Body) -> Program:
    """The grid without marks, the totals filled by loops."""
    inside = tuple(part for stmt in body.loop.body.body for part in _unmarked(stmt))
    last = body.grid.body.body[2]
    stmts = (*_filled(body), replace(body.loop, body=Block(inside)), *_unmarked(last))
    return with_statements(program, body.path, 1, (replace(body.grid, body=Block(stmts)),))


def _loop_path(body: _Body, place: int) -> Path:
    """Where the loop over blocks of steps stands, and a place in it."""
    return (*body.path, 2, place)


def _source(fill: _Fill, load: Load) -> Value:
    """The word that an element of an operand's tile is a copy of."""
    return Change(dict(zip(fill.counters, load.index, strict=True))).value(fill.value)


def _read_in_place(program: Program, body: _Body, fill: _Fill) -> Goal:
    """The program without a tile of an operand: its words are read where they lie."""
    path = (*body.path, 2, 0)
    loop = statement_at(program.body, path[:-1])
    rest = loop.body.body[2:] if isinstance(loop, For) else ()
    change = Change(loads=lambda load: _source(fill, load) if load.buffer == fill.name else load)
    source = fill.value.buffer if isinstance(fill.value, Load) else fill.name
    return unstage(program, path, (2, len(rest)), root_of(program, source), fill.name, tuple(change.stmt(stmt) for stmt in rest))


# --- group by group ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Groups:
    """The names of the program after: the groups' counters in each region, and the totals of all groups."""

    body: _Body
    start: tuple[str, str]
    use: tuple[str, str]
    last: tuple[str, str]
    total: str

    @property
    def parts(self) -> tuple[int, int]:
        """The part of the tile that each group has."""
        groups = self.body.grid.groups
        return (groups.parts[0], groups.parts[1]) if groups is not None else (1, 1)

    def cell(self, at: tuple[str, str], index: Sequence[Index]) -> tuple[Index, ...]:
        """A total of the group itself."""
        return (Var(at[0]), Var(at[1]), *index)

    def declared(self) -> Declare:
        """The totals: a part for each group."""
        shape = (*map(Const, self.body.counts), *map(Const, self.parts))
        return replace(self.body.total, name=self.total, shape=shape, init=None)

    def blocks(self) -> tuple[tuple[str, int, int], ...]:
        """The loops over the blocks of a group's part: the name, how many, and the dimension of the tile."""
        found = []
        for name, count in self.body.blocks:
            place = 0 if name in variables(self.body.update.index[0]) else 1
            found.append((name, count // self.body.counts[place], place))
        return tuple(found)


def _in_groups(chain: Chain, body: _Body, names: Names) -> Chain:
    base = body.grid.groups.names if body.grid.groups is not None else ("s0", "s1")
    start, use, last = ((names.take(base[0]), names.take(base[1])) for _ in range(3))
    groups = _Groups(body, start, use, last, names.take(f"{body.total.name}_of_groups"))
    chain = chain.then(_relocated(chain.program, groups, names))
    chain = chain.then(_shared_out(chain.program, groups))
    own = [_own(groups, place) for place in (0, 1)]
    for place in (0, 1):
        chain = chain.then(_held(chain.program, groups, place, own[place]))
    return _marked(chain, groups, own, names)


def _relocated(program: Program, groups: _Groups, names: Names) -> Goal:
    """The totals in the parts of the groups, nothing moved in time."""
    body, total = groups.body, groups.body.total
    coordinates = [names.take(f"at_{name}") for name in lower(program).buffers[total.name].private]
    row, column = names.take("row"), names.take("column")
    p0, p1 = map(Const, groups.parts)
    inside = (div(Var(row), p0), div(Var(column), p1), mod(Var(row), p0), mod(Var(column), p1))
    places = Places(total.name, groups.total, (*coordinates, row, column), (*map(Var, coordinates), *inside))

    def index(old: Sequence[Index]) -> tuple[Index, ...]:
        return tuple(substitute(term, {row: old[0], column: old[1]}) for term in inside)

    grid = statement_at(program.body, body.path)
    stmts = grid.body.body[1:] if isinstance(grid, Grid) else ()
    moved = tuple(_turned(stmt, total.name, groups.total, index) for stmt in stmts)
    after = with_statements(program, body.path, 1, (replace(body.grid, body=Block((groups.declared(), *moved))),))
    return relocate_local(program, after, places)


def _turned(stmt: Stmt, name: str, to: str, index: Callable[[Sequence[Index]], tuple[Index, ...]]) -> Stmt:
    """The statement with every access to a local at another place."""
    if isinstance(stmt, (For, Inlined)):
        return replace(stmt, body=Block(tuple(_turned(part, name, to, index) for part in stmt.body.body)))
    changed = Change(loads=lambda load: Load(to, index(load.index)) if load.buffer == name else load).stmt(stmt)
    if isinstance(changed, Store) and changed.buffer == name:
        return replace(changed, buffer=to, index=index(changed.index))
    return changed


def _shared_out(program: Program, groups: _Groups) -> Goal:
    """The start, each product and the store as regions over the groups."""
    body = groups.body
    hints = [_hint(name, part, groups.start[place]) for place, (name, part) in enumerate(zip(body.first, groups.parts, strict=True))]
    hints += [_hint(name, part, groups.last[place]) for place, (name, part) in enumerate(zip(body.last, groups.parts, strict=True))]
    for name, per, place in groups.blocks():
        hints.append(_hint(name, per, groups.use[place]))
    after = _program(program, groups, _plain_product(groups, {}))
    return reschedule(program, after, images(lower(program), lower(after), hints))


def _hint(counter: str, part: int, group: str) -> Hint:
    """A counter through all parts, as the group and the counter through its own."""
    own = add(mul(Const(part), Var(group)), Var(counter)) if part > 1 else Var(group)
    return Hint(counter, own, frozenset((group,)))


def _program(program: Program, groups: _Groups, product: Sequence[Stmt]) -> Program:
    """The program told by groups, with what they do in each product."""
    body = groups.body
    start = _start(groups)
    loop = replace(body.loop, body=Block((over_groups(groups.use, body.counts, *product),)))
    last = over_groups(groups.last, body.counts, *_stored(groups, lambda index: Load(groups.total, groups.cell(groups.last, index))))
    stmts = (groups.declared(), *start, loop, last)
    return with_statements(program, body.path, 1, (replace(body.grid, body=Block(stmts)),))


def _start(groups: _Groups) -> tuple[Stmt, ...]:
    """The region that starts the totals."""
    total = groups.body.total
    if total.init is None:
        return ()
    names = groups.body.first
    store = Store(groups.total, groups.cell(groups.start, tuple(map(Var, names))), total.init, span=total.span)
    loops = [(name, Const(part)) for name, part in zip(names, groups.parts, strict=True)]
    return (over_groups(groups.start, groups.body.counts, *nest(loops, store)),)


def _stored(groups: _Groups, total: Callable[[tuple[Index, ...]], Value]) -> tuple[Stmt, ...]:
    """The store of a group's part of the tile, its totals given by their place in the part."""
    body = groups.body
    loops = [(name, Const(part)) for name, part in zip(body.last, groups.parts, strict=True)]
    at: dict[str, Index] = {
        name: add(mul(Const(part), Var(group)), Var(name)) for name, part, group in zip(body.last, groups.parts, groups.last, strict=True)
    }
    cell = total(tuple(map(Var, body.last)))
    return nest(loops, Change(at, lambda load: cell if load.buffer == body.total.name else load).stmt(body.store))


# --- the product of a group --------------------------------------------------------------------


def _product(groups: _Groups, use: Stmt, operand: Callable[[int, Load], Value], total: Callable[[Sequence[Index]], Load]) -> tuple[Stmt, ...]:
    """The product of a group's blocks: `operand` gives the words of the two operands, `total` a total by its place in the part."""
    names = {fill.name: place for place, fill in enumerate(groups.body.fills)}

    def load(found: Load) -> Value:
        if found.buffer == groups.body.total.name:
            return total(found.index)
        return operand(names[found.buffer], found) if found.buffer in names else found

    turned = _with_total(Change(loads=load).stmt(use), groups.body.total.name, total)
    return nest([(name, Const(count)) for name, count, _ in groups.blocks()], turned)


def _with_total(stmt: Stmt, name: str, total: Callable[[Sequence[Index]], Load]) -> Stmt:
    """The statement with stores to the totals turned to a group's own."""
    if isinstance(stmt, (For, Inlined)):
        return replace(stmt, body=Block(tuple(_with_total(part, name, total) for part in stmt.body.body)))
    if isinstance(stmt, Store) and stmt.buffer == name:
        cell = total(stmt.index)
        return replace(stmt, buffer=cell.buffer, index=cell.index)
    return stmt


def _plain_product(groups: _Groups, own: Mapping[int, str]) -> tuple[Stmt, ...]:
    """The product without marks; operands that a group holds by their names, the others where they lie."""

    def operand(place: int, load: Load) -> Value:
        if place in own:
            return Load(own[place], load.index)
        return _source(groups.body.fills[place], Load("", _in_tile(groups, place, load.index)))

    use = _unmarked(groups.body.use)[0]
    return _product(groups, use, operand, lambda index: Load(groups.total, groups.cell(groups.use, index)))


def _in_tile(groups: _Groups, place: int, index: Sequence[Index]) -> tuple[Index, ...]:
    """A place in a group's part of an operand as one in the tile's: rows of the left one, columns of the right one."""
    moved = add(mul(Const(groups.parts[place]), Var(groups.use[place])), index[place])
    return (moved, index[1]) if place == 0 else (index[0], moved)


@dataclass(frozen=True, slots=True)
class _Own:
    """A group's part of an operand: the local, the counters that fill it, and the words."""

    declared: Declare
    store: Store
    counters: tuple[str, str]

    @property
    def loops(self) -> Loops:
        """Loops over its elements."""
        return list(zip(self.counters, self.declared.shape, strict=True))


def _own(groups: _Groups, place: int) -> _Own:
    fill = groups.body.fills[place]
    shape = list(fill.declared.shape)
    shape[place] = Const(groups.parts[place])
    index = tuple(map(Var, fill.counters))
    word = _source(fill, Load("", _in_tile(groups, place, index)))
    return _Own(replace(fill.declared, shape=tuple(shape)), Store(fill.name, index, word, span=fill.declared.span), fill.counters)


def _held(program: Program, groups: _Groups, place: int, own: _Own) -> Goal:
    """An operand's part in a local of the group."""
    path = (*groups.body.path, 2, 0, place * 2)
    held = {before: groups.body.fills[before].name for before in range(place + 1)}
    source = own.store.value.buffer if isinstance(own.store.value, Load) else own.declared.name
    lead = (own.declared, *nest(own.loops, own.store))
    return stage_in(program, path, 1, root_of(program, source), own.declared.name, lead, _plain_product(groups, held))


def _marked(chain: Chain, groups: _Groups, own: Sequence[_Own], names: Names) -> Chain:
    """The same loops, marked as statements on whole parts, the product as uses of the instruction, each group with a name for its totals."""
    seen = _Seen(
        _view(groups, names.take(groups.body.total.name), groups.use, names), _view(groups, names.take(groups.body.total.name), groups.last, names)
    )
    opened = _with_marks(chain.program, groups, own, seen, _opened(_unmarked(groups.body.use)[0]))
    chain = chain.then(same_families(chain.program, opened))
    fold = groups.body.update.value
    found = find_loop(opened.body, fold.counter) if isinstance(fold, Fold) else None
    if found is not None and isinstance(fold, Fold):
        chain = chain.then(close_fold(opened, found[0], fold.acc, fold.elem))
    return chain.then(same_families(chain.program, _with_marks(chain.program, groups, own, seen, groups.body.use)))


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a group calls its totals in the products and in the store."""

    use: View
    last: View


def _with_marks(program: Program, groups: _Groups, own: Sequence[_Own], seen: _Seen, use: Stmt) -> Program:
    body = groups.body
    fills: list[Stmt] = []
    for part in own:
        fills += [part.declared, Inlined("load", Block(nest(part.loops, part.store)), is_tile=True)]
    product = _product(groups, use, lambda _, load: load, lambda index: Load(seen.use.alias, tuple(index)))
    region = over_groups(groups.use, body.counts, seen.use, *fills, Inlined(body.product.text, Block(product), is_tile=True))
    loop = replace(body.loop, body=Block((region,)))
    stored = Inlined("store", Block(_stored(groups, lambda index: Load(seen.last.alias, index))), is_tile=True)
    store = over_groups(groups.last, body.counts, seen.last, stored)
    after = replace(body.grid, body=Block((groups.declared(), *_start(groups), loop, store)))
    return with_statements(program, body.path, 1, (after,))


def _opened(stmt: Stmt) -> Stmt:
    """A chain of steps as a loop that updates the total it goes on with."""
    if isinstance(stmt, For):
        return replace(stmt, body=Block(tuple(_opened(part) for part in stmt.body.body)))
    if not isinstance(stmt, Store) or not isinstance(stmt.value, Fold):
        return stmt
    fold, cell = stmt.value, Load(stmt.buffer, stmt.index)
    step = Change(loads=lambda load: cell if load == Load(fold.acc) else load).value(fold.step)
    return For(fold.counter, fold.domain, Block((replace(stmt, value=step),)), stmt.span)


def _view(groups: _Groups, alias: str, at: tuple[str, str], names: Names) -> View:
    """A group's own totals."""
    cells = (names.take("v0"), names.take("v1"))
    return View(alias, cells, groups.total, groups.cell(at, tuple(map(Var, cells))), tuple(map(Const, groups.parts)))
