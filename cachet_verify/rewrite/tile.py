"""A tile of sums in registers, as a chain of kernel rules.

Takes the place of two loops around a sum and the size of a tile; gives the program with the tile in
a local array of vectors, and the goals that lead there. Checks nothing: what does not fit shows in
the goals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from cachet_verify.core.family import lower
from cachet_verify.core.index import Const, Index, Var, substitute, variables
from cachet_verify.core.ir import Block, Declare, Fold, For, Grid, Lanes, Lease, Load, Program, Stmt, Store, Value, values
from cachet_verify.kernel.claim import Goal
from cachet_verify.kernel.fold import open_fold
from cachet_verify.kernel.lane import extend_lanes
from cachet_verify.kernel.normal import same_families
from cachet_verify.kernel.relocate import Places, relocate_local
from cachet_verify.kernel.reschedule import reschedule
from cachet_verify.kernel.stage import stage_in, stage_through
from cachet_verify.rewrite.element_type import element_types
from cachet_verify.rewrite.image import Hint, images
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import Path, statement_at, walk, with_statements
from cachet_verify.rewrite.traverse import Change, fresh, taken


@dataclass(frozen=True, slots=True)
class Tile:
    """Where the tile is: the path of the loop over rows, the loops, the store, the sum; and its size."""

    path: Path
    row: For
    column: For
    store: Store
    fold: Fold
    rows: Index
    width: int

    @property
    def active(self) -> Index:
        """How many lanes of a vector count."""
        return self.column.domain.high

    def cell(self, row: str, lane: str) -> tuple[Index, ...]:
        """The output in a row and a lane."""
        by: dict[str, Index] = {self.row.counter: Var(row), self.column.counter: Var(lane)}
        return tuple(substitute(term, by) for term in self.store.index)

    def over_rows(self, name: str, stmt: Stmt) -> For:
        """A loop over the rows."""
        return For(name, self.row.domain, Block((stmt,)))

    @property
    def own(self) -> tuple[Index, ...]:
        """Where an output's total is in the tile."""
        return Var(self.row.counter), Var(self.column.counter)

    @property
    def step(self) -> Value:
        """One step of the sum, with the total in the tile."""
        total = Load(self.fold.acc, self.own)
        return Change({}, lambda load: total if load == Load(self.fold.acc) else load).value(self.fold.step)

    def declared(self) -> Declare:
        """The tile: a local array of vectors."""
        return Declare(self.fold.acc, self.fold.elem, (self.rows,), self.width, mutable=True, span=self.store.span)

    def summed(self, update: Store) -> For:
        """The sum with its loop outside the rows."""
        nest = self.over_rows(self.row.counter, update)
        return For(self.fold.counter, self.fold.domain, Block((nest,)), self.store.span)

    def lanes(self, name: str) -> Lanes:
        """The lanes that count."""
        return Lanes(name, self.width, self.active)


def tiled(chain: Chain, tile: Tile) -> Chain:
    """The chain with the tile in registers."""
    if tile.fold.init == Load(tile.store.buffer, tile.store.index):
        chain, path = _vectorised(chain, tile)
        chain = _held(chain, tile, path)
    else:
        chain = _started(chain, tile)
    for load in _operands(tile):
        chain = _operand_held(chain, tile, load)
    return _all_lanes(chain, tile)


def _operands(tile: Tile) -> tuple[Load, ...]:
    """The loads of the step, each once, those for a whole vector first."""
    found = (part for part in values(tile.fold.step) if isinstance(part, Load) and part.buffer != tile.fold.acc)
    return tuple(sorted(dict.fromkeys(found), key=lambda load: not _is_wide(tile, load)))


def _is_wide(tile: Tile, load: Load) -> bool:
    """Whether neighbouring lanes read neighbouring cells."""
    return any(tile.column.counter in variables(term) for term in load.index)


# --- a sum that goes on from its cells: totals there, the sum outside, columns in lanes ---


def _vectorised(chain: Chain, tile: Tile) -> tuple[Chain, Path]:
    """Open the sum and put its loop outside the rows; give the path of that loop."""
    chain = chain.then(open_fold(chain.program, (*tile.path, 0, 0)))
    cell = Load(tile.store.buffer, tile.store.index)
    step = Change({}, lambda load: cell if load == Load(tile.fold.acc) else load).value(tile.fold.step)
    update = Store(tile.store.buffer, tile.store.index, step, tile.lanes(tile.column.counter), tile.store.span)
    after = with_statements(chain.program, tile.path, 1, (tile.summed(update),))
    maps = images(lower(chain.program), lower(after))
    return chain.then(reschedule(chain.program, after, maps)), tile.path


# --- a sum that starts elsewhere: its total a local, each output's in a cell of one array ---


def _started(chain: Chain, tile: Tile) -> Chain:
    """Each total as a local of its output, all of them in one array, the sum outside, columns in lanes."""
    fold, store = tile.fold, tile.store
    scalar = (
        Declare(fold.acc, fold.elem, init=fold.init, mutable=True, span=store.span),
        For(fold.counter, fold.domain, Block((Store(fold.acc, (), fold.step, span=store.span),)), store.span),
        replace(store, value=Load(fold.acc)),
    )
    after = with_statements(chain.program, (*tile.path, 0, 0), 1, scalar)
    chain = chain.then(same_families(chain.program, after))
    chain = chain.then(_in_one_array(chain.program, tile))
    first, first_lane, last, last_lane = free_names(chain.program, *(tile.row.counter, tile.column.counter) * 2)
    by: dict[str, Index] = {tile.row.counter: Var(first), tile.column.counter: Var(first_lane)}
    start = Store(fold.acc, tuple(by.values()), Change(by).value(fold.init), tile.lanes(first_lane), store.span)
    update = Store(fold.acc, tile.own, tile.step, tile.lanes(tile.column.counter), store.span)
    total = Load(fold.acc, (Var(last), Var(last_lane)))
    stored = Store(store.buffer, tile.cell(last, last_lane), total, tile.lanes(last_lane), store.span)
    nest = (tile.over_rows(first, start), tile.summed(update), tile.over_rows(last, stored))
    after = with_statements(chain.program, (*tile.path[:-1], tile.path[-1] + 1), 1, nest)
    hints = [
        Hint(counter, Var(name), frozenset((row, lane)))
        for row, lane in ((first, first_lane), (last, last_lane))
        for counter, name in ((tile.row.counter, row), (tile.column.counter, lane))
    ]
    return chain.then(reschedule(chain.program, after, images(lower(chain.program), lower(after), hints)))


def _in_one_array(program: Program, tile: Tile) -> Goal:
    """The totals of all outputs in one array outside the loops over them."""
    fold = tile.fold
    change = Change({}, lambda load: Load(fold.acc, tile.own) if load == Load(fold.acc) else load)
    inside = (
        Store(fold.acc, tile.own, fold.init, span=tile.store.span),
        For(fold.counter, fold.domain, Block((Store(fold.acc, tile.own, tile.step, span=tile.store.span),)), tile.store.span),
        replace(tile.store, value=change.value(Load(fold.acc))),
    )
    row = tile.over_rows(tile.row.counter, replace(tile.column, body=Block(inside)))
    after = with_statements(program, tile.path, 1, (tile.declared(), row))
    count = len(lower(program).buffers[fold.acc].private)
    coordinates = free_names(program, *("at",) * count)
    return relocate_local(program, after, Places(fold.acc, fold.acc, coordinates, tuple(Var(name) for name in coordinates)))


def free_names(program: Program, *bases: str) -> tuple[str, ...]:
    """New names, one for each base."""
    used = taken(program)
    found: list[str] = []
    for base in bases:
        name = fresh(base, used)
        used |= {name}
        found.append(name)
    return tuple(found)


# --- the tile: a local array of vectors in place of the cells ---


def _held(chain: Chain, tile: Tile, path: Path) -> Chain:
    """Load the tile, work on it, store it back; the sum's loop stands at the path."""
    program = chain.program
    acc = tile.fold.acc
    first, first_lane, last, last_lane = free_names(program, *(tile.row.counter, tile.column.counter) * 2)
    loaded = Store(acc, (Var(first), Var(first_lane)), Load(tile.store.buffer, tile.cell(first, first_lane)), tile.lanes(first_lane))
    stored = Store(tile.store.buffer, tile.cell(last, last_lane), Load(acc, (Var(last), Var(last_lane))), tile.lanes(last_lane))
    cell = Load(tile.store.buffer, tile.store.index)
    change = Change({}, lambda load: Load(acc, tile.own) if load == cell else load)
    loop = statement_at(program.body, path)
    region = _stores_turned(change.stmt(loop), tile, Store(acc, tile.own, Load(acc)))
    lead = (tile.declared(), tile.over_rows(first, loaded))
    trail = (tile.over_rows(last, stored),)
    source = root_of(program, tile.store.buffer)
    return chain.then(stage_through(program, path, 1, source, acc, lead, (region,), trail))


def _stores_turned(stmt: Stmt, tile: Tile, pattern: Store) -> Stmt:
    """The update of a cell as an update of the tile."""
    if isinstance(stmt, Store) and stmt.buffer == tile.store.buffer and stmt.index == tile.store.index:
        return replace(stmt, buffer=pattern.buffer, index=pattern.index)
    if isinstance(stmt, For):
        return replace(stmt, body=Block(tuple(_stores_turned(part, tile, pattern) for part in stmt.body.body)))
    return stmt


def root_of(program: Program, name: str) -> str:
    """The buffer an alias stands for in the end."""
    aliases = _aliases(program.body)
    while name in aliases:
        name = aliases[name]
    return name


def _aliases(block: Block) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for _, stmt in walk(block):
        if isinstance(stmt, Lease):
            found[stmt.alias] = stmt.root
        elif isinstance(stmt, Grid):
            found.update({window.alias: window.buffer for window in stmt.windows or () if window.alias is not None})
    return found


# --- the operands: one vector each ---


def _operand_held(chain: Chain, tile: Tile, load: Load) -> Chain:
    """Hold an operand in a vector: lanes of neighbours, or one word in every lane."""
    program = chain.program
    spoken = frozenset().union(*(variables(term) for term in load.index))
    wide = _is_wide(tile, load)
    name, lane = free_names(program, "lanes" if wide else "row", tile.column.counter)
    by: dict[str, Index] = {tile.column.counter: Var(lane)}
    value = Change(by).value(load)
    lanes = tile.lanes(lane) if wide else Lanes(lane, tile.width, Const(tile.width))
    elem = element_types(program)[load.buffer]
    declared = Declare(name, elem, (), tile.width, value, lanes=lanes, span=tile.store.span)
    path = _update_path(program, tile, inside_rows=tile.row.counter in spoken)
    turned = Load(name, (Var(tile.column.counter),))
    region = Change({}, lambda found: turned if found == load else found).stmt(statement_at(program.body, path))
    return chain.then(stage_in(program, path, 1, root_of(program, load.buffer), name, (declared,), (region,)))


def _update_path(program: Program, tile: Tile, inside_rows: bool) -> Path:
    """Where the tile is updated: the store, or the loop over rows around it."""
    for path, stmt in walk(program.body):
        if isinstance(stmt, For) and stmt.counter == tile.row.counter and not inside_rows:
            return path
        if isinstance(stmt, Store) and stmt.lanes is not None and stmt.lanes.counter == tile.column.counter:
            return path
    raise KeyError(tile.row.counter)


# --- idle lanes ---


def _all_lanes(chain: Chain, tile: Tile) -> Chain:
    """Compute the idle lanes along: arithmetic on a vector is on all of it."""
    path = _update_path(chain.program, tile, inside_rows=True)
    stmt = statement_at(chain.program.body, path)
    if not isinstance(stmt, Store) or tile.active == Const(tile.width):
        return chain
    whole = replace(stmt, lanes=Lanes(tile.column.counter, tile.width, Const(tile.width)))
    after = with_statements(chain.program, path, 1, (whole,))
    return chain.then(extend_lanes(chain.program, after))
