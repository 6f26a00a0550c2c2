"""Working sets: what lives together on a memory level of a machine, or in its registers, has room there.

Takes a program, a machine and how much layouts take; gives the goal that every row fits, one row for each point at
which something more is kept. Must not ask what is faster, nor leave out what a call in the program keeps: calls
are bodies, so the whole tree of them is walked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from cachet_verify.core.element import ELEMENTS
from cachet_verify.core.family import domain_formula
from cachet_verify.core.index import (
    ONE,
    ZERO,
    Const,
    Formula,
    Index,
    Substitution,
    Var,
    add,
    ceil_div,
    conjuncts,
    le,
    minimum,
    mul,
    neg,
    sub,
    substitute,
    substitute_formula,
    variables,
)
from cachet_verify.core.ir import (
    Block,
    Blocks,
    Declare,
    Domain,
    For,
    Grid,
    If,
    Inlined,
    Kept,
    Layout,
    Lease,
    Param,
    Print,
    Program,
    Stmt,
    Store,
    View,
    statements,
)
from cachet_verify.core.machine import Footprint, Level, Machine
from cachet_verify.core.outer import outer_tiles
from cachet_verify.core.spell import spell
from cachet_verify.kernel.ask import Asked
from cachet_verify.kernel.claim import Fits, Goal, RuleError, issue
from cachet_verify.kernel.scope import bound_names

RULE = "fits"

Unit = Literal["bytes", "ways", "registers", "accumulator"]


@dataclass(frozen=True, slots=True)
class Part:
    """A buffer in a row: its `bytes`, and what it `takes` of the row's limit, in the row's unit."""

    buffer: str
    bytes: Index
    takes: Index


@dataclass(frozen=True, slots=True)
class Row:
    """What lives together in one place at one point, and how much there is.

    `place` is the level, by the first of its names, or the registers; `premises` hold wherever the point is reached.
    """

    unit: Unit
    place: str
    parts: tuple[Part, ...]
    limit: int
    premises: tuple[Formula, ...]
    at: Param | Declare | Lease | None = field(default=None, compare=False)

    @property
    def total(self) -> Index:
        """What all parts take."""
        return add(*(part.takes for part in self.parts)) if self.parts else ZERO


def fits(program: Program, machine: Machine, footprints: tuple[Footprint, ...], passed: tuple[Kept, ...] = ()) -> Goal:
    """Everything a program keeps, whatever `passed` leaves to its callers apart, fits the machine at every point.

    Raises RuleError where a buffer's size is not known: a layout without a footprint.
    """
    sizes = [le(ZERO, Var(size)) for size in program.sizes]
    asked = Asked((*sizes, *(part for need in program.requires for part in conjuncts(need.condition))))
    for row in remaining(rows(program, machine, footprints), passed):
        for part in row.parts:
            if not isinstance(part.bytes, Const):
                asked.ask(f"the size of {part.buffer} is no negative number", row.premises, le(ZERO, part.bytes))
        asked.ask(subject(row), row.premises, le(row.total, Const(row.limit)))
    return issue(RULE, Fits(program, machine, footprints, passed), asked.obligations())


def remaining(found: Iterable[Row], passed: Sequence[Kept]) -> Iterator[Row]:
    """The rows without what is left to callers; those of which nothing is left are left out."""
    for row in found:
        kept = tuple(part for part in row.parts if Kept(row.place, part.buffer) not in passed)
        if kept:
            yield replace(row, parts=kept)


def subject(row: Row) -> str:
    """What a row asks, in words: who, where, both sides."""
    names = ", ".join(part.buffer for part in row.parts)
    unit = "" if row.unit == "registers" else " ways" if row.unit == "ways" else " bytes"
    return f"{names} {'fits' if len(row.parts) == 1 else 'fit'} {row.place}: {spell(row.total)} <= {row.limit}{unit}"


def rows(program: Program, machine: Machine, footprints: tuple[Footprint, ...]) -> tuple[Row, ...]:
    """Every row of a program, in the order of its points."""
    bound_names(RULE, program)
    _check_machine(machine)
    walk = _Walk(machine, {(item.layout, item.source): item for item in footprints}, _accumulators(program, machine))
    walk.program(program)
    return tuple(dict.fromkeys(walk.found))


def _check_machine(machine: Machine) -> None:
    """Refuse a machine whose numbers are none: everything here is a whole number above 0."""
    for level in machine.levels:
        if min(level.capacity, level.line, level.sharers, 1 if level.ways is None else level.ways) < 1:
            raise RuleError(RULE, f"{level.names[0]} of {machine.name} has a number below 1")
    if any(count < 1 for _, count in (*machine.lanes, *machine.accumulators)):
        raise RuleError(RULE, f"a register of {machine.name} has a number below 1")


# --- sizes -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Buffer:
    """A root buffer: its name and its bytes."""

    name: str
    bytes: Index


def bytes_of(elem: str, cells: Index) -> Index:
    """The bytes of so many words; of an element type that is a parameter, a number of its own for each."""
    known = ELEMENTS.get(elem)
    return mul(Var(f"sizeof.{elem}") if known is None else Const(-(-known.width // 8)), cells)


def cells_of(shape: Sequence[Index], layout: Layout | None, footprints: Mapping[tuple[str, str], Footprint]) -> Index:
    """How many addresses a buffer takes: the product of its extents, or what its layout says. Raises RuleError."""
    if layout is None:
        total: Index = ONE
        for extent in shape:
            total = mul(total, extent)
        return total
    known = footprints.get((layout.name, layout.source))
    if known is None or len(known.extents) != len(shape) or len(known.params) != len(layout.args):
        raise RuleError(RULE, f"how much the layout {layout.name} takes is not known")
    by = {**dict(zip(known.extents, shape, strict=True)), **dict(zip(known.params, layout.args, strict=True))}
    if variables(known.size) - set(by):
        raise RuleError(RULE, f"the size of the layout {layout.name} speaks of other names than its own")
    return substitute(known.size, by)


def lines_of(span: Index, line: int) -> Index:
    """The most lines that so many bytes touch: one more than they fill, since they may start inside one."""
    return span if line == 1 else add(ceil_div(span, Const(line)), ONE)


def level_rows(level: Level, place: str, live: Sequence[_Buffer], premises: tuple[Formula, ...], at: Param | Declare | Lease) -> Iterator[Row]:
    """What a level asks of the buffers that live there together: whole lines in its share, and room in each of its sets."""
    lines = [lines_of(item.bytes, level.line) for item in live]
    parts = tuple(Part(item.name, item.bytes, mul(Const(level.line), count)) for item, count in zip(live, lines, strict=True))
    yield Row("bytes", place, parts, level.share, premises, at)
    if level.ways is not None:
        taken = [mul(Const(level.sharers), ceil_div(count, Const(level.sets))) for count in lines]
        parts = tuple(Part(item.name, item.bytes, ways) for item, ways in zip(live, taken, strict=True))
        yield Row("ways", place, parts, level.ways, premises, at)


# --- the walk ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Point:
    """Where a statement stands: what holds there, what names stand for, and what lives where."""

    premises: tuple[Formula, ...] = ()
    blocks: Substitution = field(default_factory=dict)
    roots: Mapping[str, _Buffer] = field(default_factory=dict)
    live: tuple[tuple[str, _Buffer], ...] = ()
    tiles: tuple[Declare, ...] = ()
    on_device: bool = False

    def under(self, condition: Formula) -> _Point:
        held = conjuncts(substitute_formula(condition, self.blocks))
        return replace(self, premises=(*self.premises, *held))

    def inside(self, counter: str, domain: Domain) -> _Point:
        inner = self.under(domain_formula(domain, counter))
        if isinstance(domain, Blocks):
            low, high, size = (substitute(term, self.blocks) for term in (domain.low, domain.high, domain.size))
            start = add(low, mul(size, Var(counter)))
            known = {f"{counter}.lo": start, f"{counter}.len": minimum(size, sub(high, start))}
            return replace(inner, blocks={**self.blocks, **known})
        return inner

    def named(self, name: str, buffer: _Buffer) -> _Point:
        return replace(self, roots={**self.roots, name: buffer})


class _Walk:
    """Goes through a program once and notes a row wherever something more is kept."""

    def __init__(self, machine: Machine, footprints: Mapping[tuple[str, str], Footprint], accumulators: Mapping[str, str]) -> None:
        self.machine = machine
        self.footprints = footprints
        self.accumulators = accumulators
        self.found: list[Row] = []

    def program(self, program: Program) -> None:
        """The whole program; a parameter that lives on a level does so throughout."""
        point = _Point()
        for param in program.params:
            point = self.memory(param, param.level, point)
        self.block(program.body, point)

    def block(self, block: Block, point: _Point) -> None:
        """A block: what is kept in it is kept until it ends."""
        for stmt in block.body:
            point = self.statement(stmt, point)

    def statement(self, stmt: Stmt, point: _Point) -> _Point:
        """One statement; gives the point of what follows it in its block."""
        if isinstance(stmt, Declare):
            return self.declare(stmt, point)
        if isinstance(stmt, Lease):
            root = point.roots[stmt.root]
            return self.keep(stmt.level, root, point.named(stmt.alias, root), stmt)
        if isinstance(stmt, View):
            return point.named(stmt.alias, point.roots[stmt.root])
        if isinstance(stmt, For):
            self.block(stmt.body, point.inside(stmt.counter, stmt.domain))
        elif isinstance(stmt, Grid):
            self.grid(stmt, point)
        elif isinstance(stmt, If):
            self.block(stmt.then, point.under(stmt.condition))
            self.block(stmt.orelse, point.under(neg(stmt.condition)))
        elif isinstance(stmt, (Block, Inlined)):
            self.block(stmt.body if isinstance(stmt, Inlined) else stmt, point)
        elif not isinstance(stmt, (Store, Print)):
            raise RuleError(RULE, f"a statement of kind {type(stmt).__name__} is not known here")
        return point

    def grid(self, stmt: Grid, point: _Point) -> None:
        """A grid: each of those that share a level keeps one iteration's buffers, in its own share."""
        inner = replace(point, on_device=point.on_device or stmt.device is not None)
        for axis in stmt.axes:
            inner = inner.inside(axis.counter, axis.domain)
        for window in stmt.windows or ():
            if window.alias is not None:
                inner = inner.named(window.alias, inner.roots[window.buffer])
        self.block(stmt.body, inner)

    def memory(self, made: Param | Declare, level: str | None, point: _Point) -> _Point:
        """Memory of a shape, and the level that it lives on if it does."""
        shape = [substitute(extent, point.blocks) for extent in made.shape]
        layout = made.layout
        if layout is not None:
            layout = replace(layout, args=tuple(substitute(arg, point.blocks) for arg in layout.args))
        width = made.width if isinstance(made, Declare) else None
        cells = mul(cells_of(shape, layout, self.footprints), Const(width or 1))
        buffer = _Buffer(made.name, bytes_of(made.elem, cells))
        point = point.named(made.name, buffer)
        return point if level is None else self.keep(level, buffer, point, made)

    def keep(self, level: str, buffer: _Buffer, point: _Point, at: Param | Declare | Lease) -> _Point:
        """One more buffer on a level; a level without a bound is no place to run out of."""
        room = self.machine.level(level)
        if room is None:
            return point
        point = replace(point, live=tuple(dict.fromkeys((*point.live, (room.names[0], buffer)))))
        live = [item for name, item in point.live if name in room.names]
        premises = (*point.premises, *_sizes_of_elements(live))
        self.found += level_rows(room, room.names[0], live, premises, at)
        return point

    def declare(self, stmt: Declare, point: _Point) -> _Point:
        """A local; one that is a `var` array of vectors is a tile, which stays in registers."""
        point = self.memory(stmt, stmt.level, point)
        if not (stmt.mutable and stmt.width is not None and stmt.shape) or point.on_device:
            return point
        point = replace(point, tiles=(*point.tiles, stmt))
        self.found += self.tile_rows(point, self.accumulators.get(stmt.name), stmt)
        return point

    def tile_rows(self, point: _Point, instruction: str | None, at: Param | Declare | Lease) -> Iterator[Row]:
        """What the tiles that live together take: of an instruction's accumulator, or of the vector registers."""
        tiles = [tile for tile in point.tiles if self.accumulators.get(tile.name) == instruction]
        if instruction is not None:
            parts = tuple(Part(tile.name, point.roots[tile.name].bytes, point.roots[tile.name].bytes) for tile in tiles)
            yield Row("accumulator", f"the accumulator of {instruction}", parts, dict(self.machine.accumulators)[instruction], point.premises, at)
            return
        lanes = dict(self.machine.lanes)
        if self.machine.registers is None:
            return
        unknown = next((tile.elem for tile in tiles if tile.elem not in lanes), None)
        if unknown is not None:
            raise RuleError(RULE, f"{self.machine.name} does not state how many {unknown} a vector register holds")
        taken = [mul(Const(-(-(tile.width or 1) // lanes[tile.elem])), self.vectors(tile, point)) for tile in tiles]
        parts = tuple(Part(tile.name, point.roots[tile.name].bytes, count) for tile, count in zip(tiles, taken, strict=True))
        yield Row("registers", "the vector registers", parts, self.machine.registers, point.premises, at)

    def vectors(self, tile: Declare, point: _Point) -> Index:
        """How many vectors a tile holds."""
        return cells_of([substitute(extent, point.blocks) for extent in tile.shape], None, self.footprints)


def _sizes_of_elements(live: Iterable[_Buffer]) -> tuple[Formula, ...]:
    """A word takes at least one byte."""
    names = {name for item in live for name in variables(item.bytes) if name.startswith("sizeof.")}
    return tuple(le(ONE, Var(name)) for name in sorted(names))


def _accumulators(program: Program, machine: Machine) -> dict[str, str]:
    """The tiles that an instruction with an accumulator of its own updates, and that instruction."""
    known = dict(machine.accumulators)
    found: dict[str, str] = {}
    for stmt in statements(program.body):
        if isinstance(stmt, Inlined) and stmt.instruction is not None and stmt.instruction.name in known:
            for part in statements(stmt.body):
                if isinstance(part, Store):
                    found[part.buffer] = stmt.instruction.name
    found.update((name, product.primitive) for name, product in outer_tiles(program.body) if product.primitive in known)
    return found
