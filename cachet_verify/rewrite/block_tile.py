"""A tile of rows in vectors turned into blocks for outer products, as a chain of kernel rules.

Takes the nest that `registers` makes and the size of a block; gives the program with the tile's
cells in blocks, and the goals that lead there. Checks nothing: what does not fit shows in the goals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from cachet_verify.core.family import lower
from cachet_verify.core.index import ZERO, Const, Formula, Index, Var, add, div, mod, mul
from cachet_verify.core.ir import Block, Blocks, Declare, For, If, Lanes, Load, Program, Range, Stmt, Store
from cachet_verify.core.outer import active_cell
from cachet_verify.kernel.lane import narrow_lanes
from cachet_verify.kernel.predicate import predicate_store
from cachet_verify.kernel.relocate import Places, relocate_local
from cachet_verify.kernel.reschedule import Image, reschedule
from cachet_verify.kernel.stage import stage_in
from cachet_verify.kernel.unstage import unstage
from cachet_verify.rewrite.block import BlockTile
from cachet_verify.rewrite.image import Hint, images
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import Path, statement_at, with_statements
from cachet_verify.rewrite.tile import free_names, root_of
from cachet_verify.rewrite.traverse import Change


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of the nest to come."""

    tile: str
    block: str
    cell: str
    first: tuple[str, str, str]
    last: tuple[str, str, str]


def in_blocks(chain: Chain, tile: BlockTile) -> Chain:
    """The chain with the tile in blocks."""
    held, block, cell, *others = free_names(chain.program, "blocks_2", "q", "lane", *("down", "across", "r") * 2)
    names = _Names(held, block, cell, (others[0], others[1], others[2]), (others[3], others[4], others[5]))
    chain = _operands_released(chain, tile)
    chain = _relocated(chain, tile, names)
    chain = _by_blocks(chain, tile, names)
    chain = _masked(chain, tile, names)
    return _operands_held(chain, tile, names)


# --- the operands read where they lie ---


def _operands_released(chain: Chain, tile: BlockTile) -> Chain:
    """Leave idle lanes out, and take the vectors of both operands out of the sum."""
    lanes = tile.update.lanes
    row_path = tile.column[0][:-1]
    if lanes is not None and lanes.active != tile.active:
        narrow = replace(tile.update, lanes=replace(lanes, active=tile.active))
        after = with_statements(chain.program, (*row_path, len(tile.row.body.body) - 1), 1, (narrow,))
        chain = chain.then(narrow_lanes(chain.program, after))
    chain = _released(chain, *tile.column)
    return _released(chain, *tile.line)


def _released(chain: Chain, path: Path, vector: Declare) -> Chain:
    """Take one vector out: what reads it reads its source."""
    program = chain.program
    source = vector.init
    lane = vector.lanes.counter if vector.lanes is not None else ""
    if not isinstance(source, Load):
        raise KeyError(vector.name)

    def loaded(load: Load) -> Load:
        return Change({lane: load.index[0]}).value(source) if load.buffer == vector.name else load  # type: ignore[return-value]

    holder = statement_at(program.body, path[:-1])
    behind = holder.body.body[path[-1] + 1 :] if isinstance(holder, For) else ()
    region = tuple(Change({}, loaded).stmt(stmt) for stmt in behind)
    return chain.then(unstage(program, path, (1, len(behind)), root_of(program, source.buffer), vector.name, region))


# --- the tile's cells in blocks ---


def _relocated(chain: Chain, tile: BlockTile, names: _Names) -> Chain:
    """Move the cells of the tile into blocks, each statement as it is."""
    program = chain.program
    at, held = tile.tile

    def moved(index: tuple[Index, ...]) -> tuple[Index, ...]:
        return tile.block_of(*index), tile.place_of(*index)

    def load(found: Load) -> Load:
        return Load(names.tile, moved(found.index)) if found.buffer == held.name else found

    def turned(stmt: Stmt) -> Stmt:
        if isinstance(stmt, For):
            return replace(stmt, body=Block(tuple(turned(part) for part in stmt.body.body)))
        changed = Change({}, load).stmt(stmt)
        if isinstance(changed, Store) and changed.buffer == held.name:
            return replace(changed, buffer=names.tile, index=moved(changed.index))
        return changed

    after = with_statements(program, at, 1, (_blocks(tile, names),))
    for path in (tile.first, tile.path[:-1] + (tile.first[-1] + 1,), tile.last):
        after = with_statements(after, path, 1, (turned(statement_at(program.body, path)),))
    private = lower(program).buffers[held.name].private
    coordinates = free_names(program, *("at",) * len(private), "row", "column")
    cell = (Var(coordinates[-2]), Var(coordinates[-1]))
    terms = (*(Var(name) for name in coordinates[:-2]), *moved(cell))
    return chain.then(relocate_local(program, after, Places(held.name, names.tile, coordinates, terms)))


def _blocks(tile: BlockTile, names: _Names) -> Declare:
    return replace(tile.tile[1], name=names.tile, shape=(Const(tile.down * tile.across),), width=tile.cells)


# --- the loops over cells in the order of blocks ---


def _by_blocks(chain: Chain, tile: BlockTile, names: _Names) -> Chain:
    """Visit the cells block by block; what a block has too many is guarded."""
    program = chain.program
    first, last = statement_at(program.body, tile.first), statement_at(program.body, tile.last)
    loop = _loop(statement_at(program.body, tile.path))
    row = _loop(loop.body.body[0])
    after = with_statements(program, tile.first, 1, (_rows_of_blocks(first, tile, names, names.first),))
    after = with_statements(after, tile.last, 1, (_rows_of_blocks(last, tile, names, names.last),))
    update = _store(row)
    lane = update.lanes.counter if update.lanes is not None else ""
    own = (Var(names.block), Var(names.cell))
    at = {row.counter: _row(tile, names), lane: _lane(tile, names)}
    value = Change(at, lambda found: Load(names.tile, own) if found.buffer == names.tile else found).value(update.value)
    stored = Store(names.tile, own, value, span=update.span)
    guarded = If(_active(tile, names), Block((stored,)), Block(()), update.span)
    cells = For(names.cell, Range(ZERO, Const(tile.cells)), Block((guarded,)), update.span)
    summed = replace(loop, body=Block((tile.over_blocks(names.block, cells),)))
    after = with_statements(after, tile.path, 1, (summed,))
    return chain.then(reschedule(program, after, _maps(program, after, tile, names)))


def _loop(stmt: Stmt) -> For:
    if not isinstance(stmt, For):
        raise KeyError("a loop")
    return stmt


def _store(row: For) -> Store:
    found = row.body.body[0]
    if not isinstance(found, Store):
        raise KeyError("a store")
    return found


def _row(tile: BlockTile, names: _Names) -> Index:
    """The tile's row of a cell of a block."""
    return add(tile.top(names.block), div(Var(names.cell), Const(tile.width)))


def _lane(tile: BlockTile, names: _Names) -> Index:
    """The tile's lane of a cell of a block."""
    return add(tile.left(names.block), mod(Var(names.cell), Const(tile.width)))


def _active(tile: BlockTile, names: _Names) -> Formula:
    return active_cell(Var(names.cell), tile.width, tile.rows_in(names.block), tile.cols_in(names.block))


def _rows_of_blocks(nest: Stmt, tile: BlockTile, names: _Names, own: tuple[str, str, str]) -> For:
    """A nest over the tile's rows as one over blocks, down and across, and their rows."""
    down, across, row = own
    nest = _loop(nest)
    store = _store(nest)
    if store.lanes is None:
        raise KeyError("lanes")
    lane = store.lanes.counter
    top, left = Var(f"{down}.lo"), Var(f"{across}.lo")
    cell = (
        add(mul(Const(tile.across), div(top, Const(tile.height))), div(left, Const(tile.width))),
        add(mul(Const(tile.width), Var(row)), Var(lane)),
    )
    change = Change(
        {nest.counter: add(top, Var(row)), lane: add(left, Var(lane))}, lambda found: Load(names.tile, cell) if found.buffer == names.tile else found
    )
    index = cell if store.buffer == names.tile else change.many(store.index)
    moved: Stmt = Store(store.buffer, index, change.value(store.value), Lanes(lane, tile.cells, Var(f"{across}.len")), store.span)
    inner = For(row, Range(ZERO, Var(f"{down}.len")), Block((moved,)), nest.span)
    columns = For(across, Blocks(ZERO, tile.active, Const(tile.width)), Block((inner,)), nest.span)
    return For(down, Blocks(ZERO, tile.rows, Const(tile.height)), Block((columns,)), nest.span)


def _maps(program: Program, after: Program, tile: BlockTile, names: _Names) -> dict[str, Image]:
    """Which cell of which block is which cell of the tile, in each of the three nests, both ways."""
    hints: list[Hint] = []
    back: list[tuple[str, Mapping[str, Index]]] = []
    height, width = Const(tile.height), Const(tile.width)
    for path, (down, across, row) in ((tile.first, names.first), (tile.last, names.last)):
        nest = _loop(statement_at(program.body, path))
        here, there = Var(nest.counter), Var(_lane_of(nest))
        using = frozenset((down, across, row))
        hints.append(Hint(here.name, add(mul(height, Var(down)), Var(row)), using))
        hints.append(Hint(there.name, add(mul(width, Var(across)), there), using))
        back.append((down, {down: div(here, height), across: div(there, width), row: mod(here, height), there.name: mod(there, width)}))
    rows = _loop(_loop(statement_at(program.body, tile.path)).body.body[0])
    here, there = Var(rows.counter), Var(_lane_of(rows))
    using = frozenset((names.block, names.cell))
    hints.append(Hint(here.name, _row(tile, names), using))
    hints.append(Hint(there.name, _lane(tile, names), using))
    back.append((names.block, {names.block: tile.block_of(here, there), names.cell: tile.place_of(here, there)}))
    lowered = lower(after)
    maps = images(lower(program), lowered, hints)
    for member in lowered.members:
        for block, terms in back:
            if block in member.names() and member.name in maps:
                found = maps[member.name]
                maps[member.name] = Image(found.origin, found.forward, {**found.backward, **terms})
    return maps


def _lane_of(nest: For) -> str:
    lanes = _store(nest).lanes
    return lanes.counter if lanes is not None else ""


# --- guards as masks, operands in vectors ---


def _masked(chain: Chain, tile: BlockTile, names: _Names) -> Chain:
    """The guard as a mask, and the cells of a block as lanes of one statement."""
    cells = (*tile.path, 0, 0)
    chain = chain.then(predicate_store(chain.program, (*cells, 0)))
    store = statement_at(chain.program.body, (*cells, 0))
    if not isinstance(store, Store):
        raise KeyError("a store")
    lanes = replace(store, lanes=Lanes(names.cell, tile.cells, Const(tile.cells)))
    after = with_statements(chain.program, cells, 1, (lanes,))
    return chain.then(reschedule(chain.program, after, images(lower(chain.program), lower(after))))


def _operands_held(chain: Chain, tile: BlockTile, names: _Names) -> Chain:
    """Load a column and a row once for all blocks, and slice them for each."""
    whole, part = _place_names(chain.program, "column")
    at = _row(tile, names)
    rows = (whole, tile.down * tile.height, tile.rows, div(Var(names.cell), Const(tile.width)))
    chain = _held_for_all(chain, tile, tile.column[1], at, rows, tile.row.counter)
    lines, slice_ = _place_names(chain.program, "row")
    at = _lane(tile, names)
    lane = tile.update.lanes.counter if tile.update.lanes is not None else ""
    cols = (lines, tile.across * tile.width, tile.active, mod(Var(names.cell), Const(tile.width)))
    chain = _held_for_all(chain, tile, tile.line[1], at, cols, lane, behind=1)
    body = (*tile.path, 2, 0)
    chain = _sliced(chain, body, (whole, part), tile.top(names.block), tile.height, rows[3])
    return _sliced(chain, (*body[:-1], 1), (lines, slice_), tile.left(names.block), tile.width, cols[3])


def _place_names(program: Program, base: str) -> tuple[str, str]:
    whole, part = free_names(program, f"{base}_all", base)
    return whole, part


def _held_for_all(
    chain: Chain, tile: BlockTile, vector: Declare, at: Index, held: tuple[str, int, Index, Index], counter: str, behind: int = 0
) -> Chain:
    """One operand in a vector for a whole step of the sum: lane `counter` of it is what the old vector had there."""
    program = chain.program
    name, width, active, _ = held
    source = vector.init
    if not isinstance(source, Load):
        raise KeyError(vector.name)
    own = vector.lanes.counter if vector.lanes is not None else ""
    (lane,) = free_names(program, "lane")
    by_lane = {counter: Var(lane), own: Var(lane)}
    by_cell = {counter: at, own: at}
    declared = replace(vector, name=name, width=width, init=Change(by_lane).value(source), lanes=Lanes(lane, width, active))
    wanted = Change(by_cell).value(source)
    path = (*tile.path, behind)
    region = Change({}, lambda load: Load(name, (at,)) if load == wanted else load).stmt(statement_at(program.body, path))
    return chain.then(stage_in(program, path, 1, root_of(program, source.buffer), name, (declared,), (region,)))


def _sliced(chain: Chain, path: Path, names: tuple[str, str], start: Index, width: int, within: Index) -> Chain:
    """A slice of a vector in a vector of its own, for one block."""
    program = chain.program
    whole, part = names
    (lane,) = free_names(program, "lane")
    elem = lower(program).buffers[whole].elem
    declared = Declare(part, elem, (), width, Load(whole, (add(start, Var(lane)),)), lanes=Lanes(lane, width, Const(width)))
    region = Change({}, lambda load: Load(part, (within,)) if load.buffer == whole else load).stmt(statement_at(program.body, path))
    return chain.then(stage_in(program, path, 1, whole, part, (declared,), (region,)))
