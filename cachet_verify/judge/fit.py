"""What is asked of an item's working set: that all it keeps has room on the platform, or that its callers show it.

Takes a program, a platform and layouts; gives goals, what is left to callers, and the facts it rests on. Must not
decide whether anything fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from cachet_verify.core.index import Const
from cachet_verify.core.ir import Declare, Kept, Layout, Lease, Program, statements
from cachet_verify.core.machine import Footprint, Machine
from cachet_verify.core.spell import spell
from cachet_verify.diagnostic import fail
from cachet_verify.elaborate.item import LayoutItem
from cachet_verify.elaborate.machine import accumulator_fact, level_fact, machine_of, register_facts
from cachet_verify.elaborate.module import Module
from cachet_verify.elaborate.platform import Platform, list_levels
from cachet_verify.elaborate.world import qualified
from cachet_verify.judge.extent import extents
from cachet_verify.judge.item import without_prints
from cachet_verify.judge.plan import Asked, Missing, Plan, Told
from cachet_verify.kernel.claim import RuleError
from cachet_verify.kernel.fit import Row, fits, remaining, rows, subject
from cachet_verify.source import Span

_KINDS = ("schedule", "fn")
_CODES = {"bytes": "cost.working-set", "ways": "cost.working-set", "registers": "cost.registers", "accumulator": "cost.registers"}


@dataclass(frozen=True, slots=True)
class Fitting:
    """The rows of a program on a machine: `passed` is what is left to its callers, `facts` what all of it rests on."""

    machine: Machine
    footprints: tuple[Footprint, ...]
    rows: tuple[Row, ...]
    passed: tuple[Kept, ...]
    facts: tuple[str, ...]

    @property
    def left(self) -> tuple[Row, ...]:
        """The rows that callers have to show, as they stand here."""
        return tuple(row for row in self.rows if any(Kept(row.place, part.buffer) in self.passed for part in row.parts))


def fitting(program: Program, kind: str, platform: Platform, layouts: Mapping[str, LayoutItem]) -> Fitting:
    """The rows of a schedule's program, or of a function. Raises RuleError for what the kernel does not know."""
    machine = machine_of(platform)
    footprints = tuple(footprints_of(program, layouts))
    found = rows(program, machine, footprints)
    names = {param.name for param in program.params}
    if kind != "schedule":
        names = {kept.buffer for kept in program.kept}
    left = (
        Kept(row.place, part.buffer)
        for row in found
        if row.unit in ("bytes", "ways")
        for part in row.parts
        if part.buffer in names and not isinstance(part.bytes, Const) and (kind == "schedule" or _declares(program, machine, row, part.buffer))
    )
    return Fitting(machine, footprints, found, tuple(dict.fromkeys(left)), tuple(_facts(platform, program, found)))


def _declares(program: Program, machine: Machine, row: Row, buffer: str) -> bool:
    """Whether a function says of a buffer, in its working set, that it is kept where the row has it."""
    return any(kept.buffer == buffer and machine.level(kept.level) == machine.level(row.place) for kept in program.kept)


def footprints_of(program: Program, layouts: Mapping[str, LayoutItem]) -> Iterator[Footprint]:
    """How much the layouts of a program's memory take."""
    for layout in dict.fromkeys((found.name, found.source) for found in layouts_used(program)):
        item = layouts.get(qualified(layout[1], layout[0]) if layout[1] else layout[0])
        if item is not None:
            yield Footprint(*layout, item.params, item.extents, item.size)


def layouts_used(program: Program) -> Iterator[Layout]:
    """The layouts of a program's parameters and of its locals."""
    locals_ = (stmt.layout for stmt in statements(program.body) if isinstance(stmt, Declare))
    yield from (layout for layout in (*(param.layout for param in program.params), *locals_) if layout is not None)


def _facts(platform: Platform, program: Program, found: Iterable[Row]) -> Iterator[str]:
    elems = {stmt.name: stmt.elem for stmt in statements(program.body) if isinstance(stmt, Declare)}
    facts: dict[str, None] = {}
    for row in found:
        if row.unit == "registers":
            facts.update(dict.fromkeys(register_facts(platform, frozenset(elems[part.buffer] for part in row.parts))))
        elif row.unit == "accumulator":
            facts[accumulator_fact(platform, row.place.rpartition(" ")[2])] = None
        else:
            facts[level_fact(platform, row.place)] = None
    yield from facts


# --- plans -------------------------------------------------------------------------------------


def with_fit(plan: Plan, module: Module) -> Plan:
    """A plan with what its working set asks, where its file names a platform; that of each part, where it has parts."""
    if module.platform is None or plan.kind not in _KINDS or plan.settled is not None:
        return plan
    for part in plan.parts or (plan,):
        _check_levels(part.program, module.platform)
    if not plan.parts:
        return _with(plan, module.platform, module)
    parts = tuple(_with(part, module.platform, module) for part in plan.parts)
    for part, before in zip(parts, plan.parts, strict=True):
        plan = replace(
            plan,
            asked=(*plan.asked, *part.asked[len(before.asked) :]),
            missing=(*plan.missing, *part.missing[len(before.missing) :]),
            fits=tuple(dict.fromkeys((*plan.fits, *part.fits))),
            assumes=tuple(dict.fromkeys((*plan.assumes, *part.assumes))),
        )
    return replace(plan, parts=parts)


def _check_levels(program: Program | None, platform: Platform) -> None:
    """Raises CachetError for a level that the platform does not have."""
    found = None if program is None else lacking_level(program, platform)
    if found is not None:
        known = list_levels(platform.levels)
        raise fail("elaborate.platform.level", f"the platform has no memory level `{found[0]}`", found[1], f"one of {known}")


def lacking_level(program: Program, platform: Platform) -> tuple[str, Span | None] | None:
    """The first level that a program keeps anything on and the platform does not have, and where."""
    named: list[tuple[str | None, Span | None]] = [(param.level, param.span) for param in program.params]
    named += [(stmt.level, stmt.span) for stmt in statements(program.body) if isinstance(stmt, (Lease, Declare))]
    return next(((level, span) for level, span in named if level is not None and level not in platform.levels), None)


def counted(program: Program, kind: str, platform: Platform, layouts: Mapping[str, LayoutItem]) -> Fitting | str:
    """The rows of a program, or what the kernel does not know about them."""
    try:
        return fitting(program, kind, platform, layouts)
    except RuleError as error:
        return error.why


def _with(plan: Plan, platform: Platform, module: Module) -> Plan:
    """A plan of one program with the goal about its working set, where it keeps anything."""
    if plan.program is None:
        return plan
    program = without_prints(plan.program)
    try:
        found = fitting(program, plan.kind, platform, module.layouts)
        goal = fits(program, found.machine, found.footprints, found.passed)
    except RuleError as error:
        return replace(plan, missing=(*plan.missing, Missing("cost", f"not-supported: {error.why}")))
    if not found.rows:
        return plan
    asked = Asked(goal, f"working set of {plan.name}: ", "cost.working-set", "cost", plan.span, told=told(found, program, platform, plan.span))
    demands = tuple(dict.fromkeys(demand(row) for row in found.left))
    return replace(plan, asked=(*plan.asked, asked), fits=demands, assumes=(*plan.assumes, *found.facts))


def demand(row: Row) -> str:
    """What a caller has to show, in words: `packA in L2, 1024 * M <= 131072 bytes`."""
    names = ", ".join(part.buffer for part in row.parts)
    unit = "ways" if row.unit == "ways" else "bytes"
    return f"{names} in {row.place}, {spell(row.total)} <= {row.limit} {unit}"


def told(found: Fitting, program: Program, platform: Platform, span: Span | None) -> dict[str, Told]:
    """What the refusal by each row says, by what the row asks."""
    rows_left = remaining(found.rows, found.passed)
    return {subject(row): Told(_CODES[row.unit], "\n".join(_note(row, program, found, platform)), _place(row, span)) for row in rows_left}


def _note(row: Row, program: Program, found: Fitting, platform: Platform) -> Iterator[str]:
    yield "what was asked about its words is proved; this is about room alone"
    level = found.machine.level(row.place)
    if level is not None:
        shared = f", shared by {level.sharers}: {level.share} for each" if level.sharers > 1 else ""
        lines = f" in lines of {level.line}" if level.line > 1 else ""
        yield f"{row.place} of {platform.name} has {level.capacity} bytes{lines}{shared}"
    for part in row.parts:
        yield f"{part.buffer} takes {spell(part.takes)}, for {spell(part.bytes)} bytes"
    if isinstance(row.total, Const) and row.total.value > row.limit:
        yield f"over by {row.total.value - row.limit}"
        yield from _smaller(row, program, found)


def _smaller(row: Row, program: Program, found: Fitting) -> Iterator[str]:
    """The one extent that has to shrink least until the row fits, where one alone can."""
    names = {part.buffer for part in row.parts}
    able = [extent for extent in extents(program, found.machine, found.footprints) if extent.buffer in names and 0 < extent.largest < extent.now]
    least = min(able, key=lambda extent: extent.now / extent.largest, default=None)
    if least is not None:
        yield f"extent {least.place} of {least.buffer} is {least.now}, and fits up to {least.largest}"


def _place(row: Row, span: Span | None) -> Span | None:
    """Where a row is written, where that is in the file of the item."""
    own = None if row.at is None else row.at.span
    return span if own is None or span is None or own.path != span.path else own
