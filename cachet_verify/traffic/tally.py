"""What statements move and compute: bytes read and written by buffer, and operations by name.

Takes statements and the names in force; gives a tally, whose quantities may use the counters around them.
Must not divide a nest into operations.

A local inside a loop is a register: it moves nothing. A load whose cell does not depend on the lane of its vector statement is
made once and splat over the lanes; any other is made in each active lane.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from cachet_verify.core import ir
from cachet_verify.core.element import ELEMENTS
from cachet_verify.core.index import Formula, Index, variables
from cachet_verify.traffic.block_sum import Cut, full_blocks, over_blocks
from cachet_verify.traffic.factor import greatest_of, least, least_of, most
from cachet_verify.traffic.quantity import NOTHING, ONCE, Quantity, as_quantity, name, total
from cachet_verify.traffic.range_sum import over_range
from cachet_verify.traffic.term import Integers, holds, quantity_of

Direction = Literal["reads", "writes", "work"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of a tally: bytes of a buffer under the name it is accessed by, or the uses of an operation; `root` is the buffer itself."""

    direction: Direction
    name: str
    root: str = ""


Tally = Mapping[Entry, Quantity]


@dataclass(frozen=True, slots=True)
class Held:
    """A name of memory: as it is shown, the buffer it is part of, and the bytes of one element."""

    shown: str
    root: str
    bytes: Quantity


@dataclass(frozen=True, slots=True)
class Scope:
    """The names in force. A name without memory is a register. `full` counts blocks of sizes as if all were full."""

    ints: Integers
    sizes: frozenset[str]
    buffers: Mapping[str, Held] = field(default_factory=dict)
    full: bool = False

    def with_buffer(self, alias: str, held: Held | None) -> Scope:
        """The scope with one more name; a register hides nothing, since names are used once."""
        return self if held is None else replace(self, buffers={**self.buffers, alias: held})

    def with_ints(self, more: Integers) -> Scope:
        """The scope with more integer names."""
        return replace(self, ints={**self.ints, **more})

    def is_fixed(self, *terms: Index) -> bool:
        """Whether terms use sizes only, and no counter."""
        return all(variables(term) <= self.sizes for term in terms)


def element_bytes(elem: str) -> Quantity:
    """The bytes of an element; those of an opaque type have a name."""
    known = ELEMENTS.get(elem)
    return name(f"sizeof {elem}", 1) if known is None else as_quantity(-(-known.width // 8))


def added(parts: Iterable[Tally]) -> Tally:
    """The sum of tallies."""
    found: dict[Entry, list[Quantity]] = {}
    for part in parts:
        for entry, amount in part.items():
            found.setdefault(entry, []).append(amount)
    return {entry: total(amounts) for entry, amounts in found.items()}


def scaled(tally: Tally, by: Callable[[Quantity], Quantity]) -> Tally:
    """A tally with each amount changed; what comes to nothing is left out."""
    changed = {entry: by(amount) for entry, amount in tally.items()}
    return {entry: amount for entry, amount in changed.items() if amount.terms}


# --- loops -------------------------------------------------------------------------------------

Loop = Callable[[Quantity], Quantity]


def entered(counter: str, domain: ir.Domain, scope: Scope) -> tuple[Loop, Scope]:
    """How a loop adds up the cost of an iteration, and the scope inside it."""
    low, high = quantity_of(domain.low, scope.ints), quantity_of(domain.high, scope.ints)
    if isinstance(domain, ir.Range):
        last = greatest_of(high)
        inner = scope.with_ints({counter: name(counter, least_of(low), None if last is None else last - 1)})
        return partial(over_range, counter, low, high), inner
    cut = cut_of(counter, domain, scope)
    return partial(full_blocks if is_full(domain, scope) else over_blocks, cut), in_block(cut, scope)


def cut_of(counter: str, domain: ir.Blocks, scope: Scope) -> Cut:
    """A loop over blocks, its bounds as quantities."""
    return Cut(counter, *(quantity_of(end, scope.ints) for end in (domain.low, domain.high, domain.size)))


def is_full(domain: ir.Blocks, scope: Scope) -> bool:
    """Whether the blocks count as full: they cut a range of sizes, which is not known."""
    return scope.full and scope.is_fixed(domain.low, domain.high) and bool(variables(domain.low) | variables(domain.high))


def in_block(cut: Cut, scope: Scope) -> Scope:
    """The scope inside a loop over blocks."""
    known = [end for end in (cut.size.value, greatest_of(cut.extent)) if end is not None]
    first, length = f"{cut.counter}.lo", name(cut.length, 1, min(known) if known else None)
    return scope.with_ints({cut.counter: name(cut.counter, 0), first: name(first, least_of(cut.low)), cut.length: length})


def axis_loop(axis: ir.Axis, scope: Scope) -> tuple[Loop, Scope]:
    """One axis of a grid as a loop."""
    return entered(axis.counter, axis.domain, scope)


# --- values ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lane:
    """The lane of a vector statement, and whether the value at hand is evaluated in all active lanes alike."""

    counter: str
    alike: bool = True

    def apart(self, what: Index | Formula | ir.Domain) -> Lane:
        """The lane inside something that may differ from lane to lane."""
        names = variables(what.low) | variables(what.high) if isinstance(what, ir.Range | ir.Blocks) else variables(what)
        return replace(self, alike=self.alike and self.counter not in names)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a value costs: `each` in one lane, `once` for all lanes together."""

    each: Tally = field(default_factory=dict)
    once: Tally = field(default_factory=dict)

    def changed(self, by: Loop) -> Cost:
        """The cost with each amount changed."""
        return Cost(scaled(self.each, by), scaled(self.once, by))


def summed(parts: Iterable[Cost]) -> Cost:
    """The sum of costs."""
    listed = tuple(parts)
    return Cost(added(part.each for part in listed), added(part.once for part in listed))


def value_cost(value: ir.Value, scope: Scope, lane: Lane | None = None) -> Cost:
    """What one evaluation of a value costs."""
    if isinstance(value, ir.Load):
        return _load_cost(value, scope, lane)
    if isinstance(value, ir.Op):
        own = Cost({Entry("work", value.name): ONCE} if value.args else {})
        return summed((own, *(value_cost(arg, scope, lane) for arg in value.args)))
    if isinstance(value, ir.Choose):
        inner = None if lane is None else lane.apart(value.condition)
        return _chosen(value, holds(value.condition, scope.ints), scope, inner)
    if isinstance(value, ir.Fold):
        loop, inside = entered(value.counter, value.domain, scope)
        steps = value_cost(value.step, inside, None if lane is None else lane.apart(value.domain))
        return summed((value_cost(value.init, scope, lane), steps.changed(loop)))
    return Cost()


def _load_cost(value: ir.Load, scope: Scope, lane: Lane | None) -> Cost:
    held = scope.buffers.get(value.buffer)
    if held is None:
        return Cost()
    tally = {Entry("reads", held.shown, held.root): held.bytes}
    is_splat = lane is not None and lane.alike and not any(lane.counter in variables(term) for term in value.index)
    return Cost({}, tally) if is_splat else Cost(tally)


def _chosen(value: ir.Choose, condition: Quantity, scope: Scope, lane: Lane | None) -> Cost:
    then = value_cost(value.then, scope, lane).changed(lambda amount: amount * condition)
    orelse = value_cost(value.orelse, scope, lane).changed(lambda amount: amount * (ONCE - condition))
    return summed((then, orelse))


def evaluated(value: ir.Value, lanes: ir.Lanes | None, scope: Scope, more: Tally) -> Tally:
    """What a value costs in the lanes of its statement, with `more` in each of them."""
    if lanes is None:
        return added((value_cost(value, scope).each, more))
    number = least(as_quantity(lanes.width), most(NOTHING, quantity_of(lanes.active, scope.ints)))
    inner = scope.with_ints({lanes.counter: name(lanes.counter, 0, lanes.width - 1)})
    cost = value_cost(value, inner, Lane(lanes.counter))
    each = scaled(added((cost.each, more)), partial(over_range, lanes.counter, NOTHING, number))
    return added((each, scaled(cost.once, lambda amount: amount * least(ONCE, number))))


# --- statements --------------------------------------------------------------------------------


def block_tally(statements: Iterable[ir.Stmt], scope: Scope, at_top: bool = False) -> Tally:
    """What statements cost, one after the other."""
    parts = []
    for stmt in statements:
        parts.append(statement_tally(stmt, scope, at_top))
        scope = after(stmt, scope, at_top)
    return added(parts)


def after(stmt: ir.Stmt, scope: Scope, at_top: bool = False) -> Scope:
    """The scope of the statements that follow one. Arrays that a function declares outside of its loops are memory."""
    if isinstance(stmt, ir.Lease):
        held = scope.buffers.get(stmt.root)
        return scope.with_buffer(stmt.alias, None if held is None else replace(held, shown=stmt.alias))
    if isinstance(stmt, ir.View):
        return scope.with_buffer(stmt.alias, scope.buffers.get(stmt.root))
    if isinstance(stmt, ir.Declare) and at_top and stmt.shape and stmt.width is None:
        return scope.with_buffer(stmt.name, Held(stmt.name, stmt.name, element_bytes(stmt.elem)))
    return scope


def statement_tally(stmt: ir.Stmt, scope: Scope, at_top: bool = False) -> Tally:
    """What one statement costs, all iterations of its loops together."""
    if isinstance(stmt, ir.Store):
        held = scope.buffers.get(stmt.buffer)
        return evaluated(stmt.value, stmt.lanes, scope, {} if held is None else {Entry("writes", held.shown, held.root): held.bytes})
    if isinstance(stmt, ir.Declare):
        return _declared(stmt, scope, at_top)
    if isinstance(stmt, ir.For):
        loop, inner = entered(stmt.counter, stmt.domain, scope)
        return scaled(block_tally(stmt.body.body, inner), loop)
    if isinstance(stmt, ir.Grid):
        return _grid_tally(stmt.axes, stmt, scope)
    if isinstance(stmt, ir.If):
        condition = holds(stmt.condition, scope.ints)
        then = scaled(block_tally(stmt.then.body, scope, at_top), lambda amount: amount * condition)
        return added((then, scaled(block_tally(stmt.orelse.body, scope, at_top), lambda amount: amount * (ONCE - condition))))
    if isinstance(stmt, ir.Print):
        return evaluated(stmt.value, None, scope, {})
    if isinstance(stmt, ir.Lease | ir.View):
        return {}
    return block_tally((stmt.body if isinstance(stmt, ir.Inlined) else stmt).body, scope, at_top)


def _declared(stmt: ir.Declare, scope: Scope, at_top: bool) -> Tally:
    """A first word is evaluated once, and kept in every cell there is."""
    if stmt.init is None:
        return {}
    cells = ONCE
    for extent in stmt.shape:
        cells *= quantity_of(extent, scope.ints)
    first = scaled(evaluated(stmt.init, stmt.lanes, scope, {}), lambda amount: amount * least(ONCE, cells))
    held = after(stmt, scope, at_top).buffers.get(stmt.name)
    return first if held is None else added((first, {Entry("writes", held.shown, held.root): held.bytes * cells}))


def _grid_tally(axes: tuple[ir.Axis, ...], grid: ir.Grid, scope: Scope) -> Tally:
    if not axes:
        return block_tally(grid.body.body, in_windows(grid, scope))
    loop, inner = axis_loop(axes[0], scope)
    return scaled(_grid_tally(axes[1:], grid, inner), loop)


def in_windows(grid: ir.Grid, scope: Scope) -> Scope:
    """The scope inside a grid: the aliases of its windows are names of the buffers they are parts of."""
    for window in grid.windows or ():
        if window.alias is not None:
            scope = scope.with_buffer(window.alias, scope.buffers.get(window.buffer))
    return scope


def outer_scope(program: ir.Program, full: bool) -> Scope:
    """The scope of a program's body."""
    sizes = {size: name(size, 0) for size in program.sizes}
    buffers = {param.name: Held(param.name, param.name, element_bytes(param.elem)) for param in program.params}
    return Scope(sizes, frozenset(sizes), buffers, full)
