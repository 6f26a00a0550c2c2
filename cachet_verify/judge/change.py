"""What would pass instead of a cost that is refused: the smallest single changes, each proved by the same rules.

Takes a plan that costs too much, what its budget exceeds, and a way to prove further plans; gives lines
that say what to type. Must not say anything that was not proved; nothing is said where no change passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice

from cachet_verify.core.index import ONE, ZERO, Const, Index, Sum, Var, evaluate, le, lt, mul
from cachet_verify.core.ir import Program, Require, Traffic
from cachet_verify.core.spell import spell, spell_requirement
from cachet_verify.judge.budget import CODE, Excess, budget_of, counted, failing_sizes, is_true, ways
from cachet_verify.judge.file import Opened, plans_of
from cachet_verify.judge.item import reached
from cachet_verify.judge.plan import Asked, Budget, Plan
from cachet_verify.judge.variant import Variant, resizes, swaps
from cachet_verify.kernel.budget import allowed, premises_of
from cachet_verify.kernel.claim import Goal

Proves = Callable[[Plan], bool]
_MOST_VARIANTS = 24
_MOST_ROUNDS = 8
_FACTOR = 2
_LARGE = (1 << 40, 1 << 60)
"""Sizes at which what is a number for all sizes has come to it."""


def budget_hints(plan: Plan, budget: Budget, over: Excess, proves: Proves, opened: Opened | None) -> tuple[str, ...]:
    """What would meet a budget: a requirement, a row, or else a change of a schedule that is called."""
    found = [*islice(_requirements(budget, over, proves), 1), *islice(_rows(budget, over, proves), 1)]
    if opened is not None:
        found += first_passing(plan, proves, opened, lambda changed: _is_met(plan, budget, over, changed, proves))
    return tuple(found)


def first_passing(
    plan: Plan, proves: Proves, opened: Opened, may_pass: Callable[[Opened], bool] = lambda _: True, blocks_only: bool = False
) -> list[str]:
    """The first swap, or else the first change of a block, with which a plan of the file passes; at most one line.

    Everything the changed item asks is proved again, and all of what it rests on in the file. `may_pass` is asked of
    each changed file before that, and spares it where it says no.
    """
    schedules = _schedules(plan, opened)
    orders: Iterable[Variant] = () if blocks_only else swaps(opened, schedules)
    for variant in islice(chain(orders, resizes(opened, schedules)), _MOST_VARIANTS):
        if may_pass(variant.opened) and _passes(plan, variant.opened, proves):
            return [f"it would pass so: {variant.says}"]
    return []


def _schedules(plan: Plan, opened: Opened) -> tuple[str, ...]:
    """The schedules of the file that an item rests on, itself included."""
    rests = {name: item.rests_on for name, item in opened.module.programs.items()}
    rests |= {name: item.rests_on for name, item in opened.module.schedules.items()}
    return tuple(name for name in reached((plan.name,), rests) if name in opened.module.schedules)


def _is_met(plan: Plan, budget: Budget, over: Excess, opened: Opened, proves: Proves) -> bool:
    """Whether the rows of an item are met in a changed file; nobody is asked where they are not at the sizes already found."""
    program = opened.program(plan.name)
    if program is None or program.movement is None:
        return False
    found = budget_of(program, program.movement, budget.home, budget.lines)
    return not isinstance(found, str) and not _fails_at(found[0], over.sizes) and _holds(found[1], proves)


def _fails_at(budget: Budget, sizes: Mapping[str, int]) -> bool:
    """Whether more was counted at some sizes than the rows allow, on any way; what the sizes do not say is 1."""
    every = {name: sizes.get(name, 1) for name in budget.program.sizes}
    if not all(is_true(premise, every) for premise in premises_of(budget.program)):
        return False
    for way in ways(budget):
        moved = counted(budget, way, every)
        if moved is not None and moved > evaluate(allowed(budget.rows, way), every):
            return True
    return False


def _passes(plan: Plan, opened: Opened, proves: Proves) -> bool:
    """Whether an item of a changed file is proved, with what it rests on in that file."""
    found = {made.name: made for made in plans_of(opened, "both", (plan.name,))}
    return plan.name in found and all(proves(made) for made in found.values())


# --- requirements ------------------------------------------------------------------------------


def _requirements(budget: Budget, over: Excess, proves: Proves) -> Iterator[str]:
    """A requirement that sizes are above 0, for those that are 0 where the budget fails."""
    empty = [size for size, value in over.sizes.items() if value == 0]
    for sizes in (*((size,) for size in empty), *((tuple(empty),) if len(empty) > 1 else ())):
        needs = tuple(Require(lt(ZERO, Var(size)), "written") for size in sizes)
        program = replace(budget.program, requires=(*budget.program.requires, *needs))
        if _meets(program, budget.rows, budget, proves):
            text = ", ".join(spell_requirement(need.condition) for need in needs)
            yield f"the budget is met where nothing is empty: `requires {text}` is enough"


def _meets(program: Program, rows: tuple[Traffic, ...], budget: Budget, proves: Proves) -> bool:
    found = budget_of(program, rows, budget.home, budget.lines)
    if isinstance(found, str):
        return False
    return _holds(found[1], proves)


def _holds(goal: Goal, proves: Proves) -> bool:
    return proves(Plan("budget", "fn", None, asked=(Asked(goal, "", CODE, "cost"),)))


# --- rows --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Place:
    """A row, or None for one that is missing, with what its number is multiplied by."""

    at: int | None
    row: Traffic
    rest: Index


def _rows(budget: Budget, over: Excess, proves: Proves) -> Iterator[str]:
    """The row of the way that is exceeded with the least number that is enough; a row for it where there is none."""
    buffer, source, target, is_back = over.way
    of_way = [(at, row) for at, row in enumerate(budget.rows) if (row.buffer, row.source, row.target) == (buffer, source, target)]
    for at, row in of_way:
        yield from _least(budget, over, _Place(at, replace(row, is_back=row.is_back or is_back), _without_number(row)), proves)
    if not of_way and any(param.name == buffer for param in budget.program.params):
        goes_back = any(way == (buffer, source, target, True) for way in ways(budget))
        yield from _least(budget, over, _Place(None, Traffic(buffer, (), source, target, goes_back), ONE), proves)


def _without_number(row: Traffic) -> Index:
    total: Index = ONE
    for factor in row.factors:
        total = total if isinstance(factor, Const) else mul(total, factor)
    return total


def _least(budget: Budget, over: Excess, place: _Place, proves: Proves) -> Iterator[str]:
    """The least number of one row with which the whole budget is met, found from sizes at which less is too little."""
    if _grows(budget, over, place):
        return
    number, points = 1, [over.sizes]
    for _ in range(_MOST_ROUNDS):
        needed = [_needed(budget, over, place, sizes) for sizes in points]
        if any(least is None for least in needed):
            return
        number = max((number, *(least for least in needed if least is not None)))
        rows = _with(budget.rows, place, number)
        more = _failing(budget, over, rows)
        if more is None:
            break
        if more in points:
            return
        points.append(more)
    else:
        return
    if _meets(budget.program, rows, budget, proves):
        is_least = any(_is_too_little(budget, over, _with(budget.rows, place, number - 1), sizes) for sizes in points)
        said = "the least that one row has to allow" if is_least else "enough in one row"
        yield f"{said}: `{_row_text(place, number)}`"


def _grows(budget: Budget, over: Excess, place: _Place) -> bool:
    """Whether the number that is enough at large sizes is not at larger ones: then no number will do at all."""
    premises = premises_of(budget.program)
    choices = (dict.fromkeys(budget.program.sizes, value) for value in _LARGE)
    needed = [_needed(budget, over, place, sizes) for sizes in choices if all(is_true(premise, sizes) for premise in premises)]
    return len(needed) == len(_LARGE) and None not in needed and len(set(needed)) > 1


def _needed(budget: Budget, over: Excess, place: _Place, sizes: Mapping[str, int]) -> int | None:
    """The least number of a row that is enough at some sizes, there and back; None where no number is."""
    others = tuple(row for at, row in enumerate(budget.rows) if at != place.at)
    short = max(evaluate(demand, sizes) - evaluate(allowed(others, way), sizes) for way, demand in ways(budget).items() if way[:3] == over.way[:3])
    rest = evaluate(place.rest, sizes)
    if short <= 0:
        return 0
    return -(-short // rest) if rest > 0 else None


def _is_too_little(budget: Budget, over: Excess, rows: tuple[Traffic, ...], sizes: Mapping[str, int]) -> bool:
    """Whether more was counted at some sizes, on the way there or on the way back, than rows allow."""
    for way in ways(budget):
        moved = counted(budget, way, sizes) if way[:3] == over.way[:3] else None
        if moved is not None and moved > evaluate(allowed(rows, way), sizes):
            return True
    return False


def _with(rows: tuple[Traffic, ...], place: _Place, number: int) -> tuple[Traffic, ...]:
    made = replace(place.row, factors=(Const(number), place.rest))
    return (*rows, made) if place.at is None else (*rows[: place.at], made, *rows[place.at + 1 :])


def _failing(budget: Budget, over: Excess, rows: tuple[Traffic, ...]) -> dict[str, int] | None:
    """More sizes at which rows are too little for a way: large ones if possible."""
    goal = le(ways(budget)[over.way], allowed(rows, over.way))
    premises = premises_of(budget.program)
    for value in (1 << 20, 4096, 1000, 256):
        sizes = dict.fromkeys(budget.program.sizes, value)
        if all(is_true(premise, sizes) for premise in premises) and is_true(goal, sizes) is False:
            return sizes
    return next(failing_sizes(budget.program, goal), None)


def _row_text(place: _Place, number: int) -> str:
    row = place.row
    factors = [factor for factor in row.factors if not isinstance(factor, Const)]
    rest = "".join(f"{spell(factor, _FACTOR if isinstance(factor, Sum) else 0)} * " for factor in factors)
    back = " and back" if row.is_back else ""
    count = "" if number == 1 else f"{number} * "
    return f"traffic {count}{rest}lines (span_bytes {row.buffer}.span) from {row.source} to {row.target}{back}"


__all__ = ["Proves", "budget_hints", "first_passing"]
