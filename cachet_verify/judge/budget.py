"""What is asked of a budget, and the refusal of one that is not met.

Takes a plan and the platform; gives the plan with its budget asked, and the text of a refusal: both
sides of the rows of one source level, and numbers at which they fail. Must not decide that a budget is met.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice, product

from cachet_verify.core.family import UnmodelledError
from cachet_verify.core.index import Const, Formula, Index, evaluate, holds, le, subterms, variables
from cachet_verify.core.ir import Print, Program, Traffic, statements
from cachet_verify.core.lease import Pull
from cachet_verify.core.spell import spell
from cachet_verify.elaborate.item import ProgramItem
from cachet_verify.elaborate.movement import home_of
from cachet_verify.elaborate.platform import Platform
from cachet_verify.elaborate.trip import Pulled, pulled, rows_of
from cachet_verify.judge.entry import entries
from cachet_verify.judge.item import reached, without_prints
from cachet_verify.judge.plan import Asked, Budget, Missing, Plan, refusal
from cachet_verify.judge.relation import Questions
from cachet_verify.judge.spending import spendings
from cachet_verify.kernel.budget import Way, allowed, demands, premises_of, within_budget
from cachet_verify.kernel.claim import Goal, RuleError
from cachet_verify.kernel.obligation import Obligation, Refuted, Verdict
from cachet_verify.kernel.spending import factors
from cachet_verify.report.record import Refusal
from cachet_verify.source import Span

CODE = "cost.traffic"
_MOST_TRIED = 30_000
_MOST_COUNTED = 400
_FACTOR = 2


def home(platform: Platform | None) -> str:
    """The level where buffers live that say nothing else."""
    levels = {} if platform is None else platform.levels
    return home_of(tuple(levels), [level for level, facts in levels.items() if "capacity" in facts])


def with_budget(plan: Plan, platform: Platform | None) -> Plan:
    """A plan with what is asked of the rows of its program, of each member of a family: those written, or those a generated function declares."""
    if plan.kind not in ("fn", "contraction", "schedule") or plan.settled is not None:
        return plan
    if plan.parts:
        parts = tuple(with_budget(part, platform) for part in plan.parts)
        added = tuple(asked for part in parts for asked in part.asked if asked.code == CODE)
        missing = tuple(dict.fromkeys(lack for part in parts for lack in part.missing if lack.route == "cost"))
        return replace(plan, parts=parts, asked=(*plan.asked, *added), missing=(*plan.missing, *missing))
    program = plan.program
    rows = None if program is None else program.movement
    if rows is None and program is not None and plan.kind == "schedule":
        rows = rows_of(program, home(platform))
    if program is None or rows is None:
        return plan
    found = _asked_of(program, rows, platform)
    if isinstance(found, str):
        return replace(plan, missing=(*plan.missing, Missing("cost", f"not-supported: {found}")))
    budget, goal = found
    return replace(plan, asked=(*plan.asked, Asked(goal, "", CODE, "cost", plan.span)), budget=budget)


def borrowed_budgets(names: Iterable[str], programs: Mapping[str, ProgramItem], platform: Platform | None, span: Span | None) -> Questions:
    """What is asked of the rows of programs of other files: nobody else asks it."""
    questions = Questions()
    for name in reached(names, {name: item.rests_on for name, item in programs.items()}):
        program = programs[name].program if name in programs else None
        if program is not None and program.movement is not None:
            found = _asked_of(program, program.movement, platform)
            if isinstance(found, str):
                questions += Questions((), (Missing("cost", f"not-supported: {found}"),))
            else:
                questions += Questions((Asked(found[1], f"what {name} needs: ", CODE, "cost", span),))
    return questions


def _asked_of(program: Program, rows: tuple[Traffic, ...], platform: Platform | None) -> tuple[Budget, Goal] | str:
    if any(isinstance(stmt, Print) for stmt in statements(program.body)):
        program = without_prints(program)
    lines = {} if platform is None else {level: facts["line"] for level, facts in platform.levels.items() if "line" in facts}
    return budget_of(program, rows, home(platform), lines)


def budget_of(program: Program, rows: tuple[Traffic, ...], home: str, lines: Mapping[str, int]) -> tuple[Budget, Goal] | str:
    """A budget and the goal that it is met; why it cannot be asked, where it cannot."""
    try:
        found = pulled(program, home)
        loose = next((item for item in found if item.unbounded), None)
        if loose is not None:
            return f"the traffic of {loose.pull.alias}: no bound over sizes is known for the loop over {loose.unbounded}"
        budget = _closer(Budget(program, rows, found, home, lines, {item.pull.alias: item.bounds for item in found}))
        return budget, within_budget(program, rows, home, budget.bounds)
    except UnmodelledError as error:
        return str(error)
    except RuleError as error:
        return error.why


def _closer(budget: Budget) -> Budget:
    """The budget with loops counted together, where numbers say that it is met so, and is not where each is counted for itself."""
    sizes = frozenset(budget.program.sizes)
    made = {item.pull.alias: spendings(item.pull, item.bounds, sizes) for item in budget.pulled}
    if not any(made.values()) or _seems_met(budget):
        return budget
    closer = replace(budget, bounds={alias: made[alias] or bounds for alias, bounds in budget.bounds.items()})
    return closer if _seems_met(closer) else budget


def _seems_met(budget: Budget) -> bool:
    """Whether no small sizes are found at which the bounds come to more than the rows."""
    goals = (le(demand, allowed(budget.rows, way)) for way, demand in ways(budget).items())
    return not any(next(failing_sizes(budget.program, goal), None) for goal in goals)


def ways(budget: Budget) -> dict[Way, Index]:
    """For each way that something goes, how often at most."""
    return demands([item.pull for item in budget.pulled], budget.bounds)


# --- the refusal -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Excess:
    """A way on which more goes than the rows allow, with sizes at which it does and how often it goes and may go there."""

    way: Way
    sizes: Mapping[str, int]
    moved: int
    allowed: int

    @property
    def is_empty(self) -> bool:
        """Whether some size is 0."""
        return 0 in self.sizes.values()


def excess(budget: Budget, obligation: Obligation, verdict: Verdict | None) -> Excess | None:
    """The way that an obligation is about, where sizes are found at which more goes than it may: counted, not bounded."""
    for way, demand in ways(budget).items():
        limit = allowed(budget.rows, way)
        goal = le(demand, limit)
        if obligation.goal != goal:
            continue
        for sizes in islice(failing_sizes(budget.program, goal, verdict), _MOST_COUNTED):
            moved = counted(budget, way, sizes)
            if moved is not None and moved > evaluate(limit, sizes):
                return Excess(way, sizes, moved, evaluate(limit, sizes))
    return None


def is_about_a_way(budget: Budget, obligation: Obligation) -> bool:
    """Whether an obligation says that what goes some way is within the rows."""
    return any(obligation.goal == le(demand, allowed(budget.rows, way)) for way, demand in ways(budget).items())


def counted(budget: Budget, way: Way, sizes: Mapping[str, int]) -> int | None:
    """How often something goes a way at some sizes; None where that takes too long to count."""
    every = {name: sizes.get(name, 1) for name in budget.program.sizes}
    found = [entries(item.pull, every) for item in budget.pulled if _goes(item.pull, way)]
    return None if None in found else sum(count for count in found if count is not None)


def _goes(pull: Pull, way: Way) -> bool:
    return (pull.root, pull.source, pull.target) == way[:3] and (pull.is_back or not way[3])


def failing_sizes(program: Program, goal: Formula, verdict: Verdict | None = None) -> Iterator[dict[str, int]]:
    """Sizes that the program allows and at which the goal is false: small ones, those above 0 first, and the solvers' own last."""
    names = [size for size in program.sizes if size in _wanted(program, goal)]
    premises = [premise for premise in premises_of(program) if variables(premise) <= set(names)]
    steps = _steps(goal, premises)
    for values in chain(islice(_small(len(names), steps[1:]), _MOST_TRIED), islice(_small(len(names), steps), _MOST_TRIED)):
        sizes = dict(zip(names, values, strict=True))
        if all(is_true(premise, sizes) for premise in premises) and is_true(goal, sizes) is False:
            yield sizes
    if isinstance(verdict, Refuted):
        sizes = {name: verdict.model[name] for name in names if name in verdict.model}
        if len(sizes) == len(names) and is_true(goal, sizes) is False:
            yield sizes


def _wanted(program: Program, goal: Formula) -> set[str]:
    """The sizes of a goal, and those that requirements tie to them."""
    names = set(variables(goal))
    for _ in program.requires:
        for need in program.requires:
            if variables(need.condition) & names:
                names |= variables(need.condition)
    return names


def _steps(goal: Formula, premises: list[Formula]) -> list[int]:
    """Values worth trying: small ones, and each number of the formulas with its neighbours."""
    numbers = {term.value for part in (goal, *premises) for term in subterms(part) if isinstance(term, Const) and 1 < term.value < 2**31}
    near = {value + by for value in numbers for by in (-1, 0, 1)} | {2 * value + by for value in numbers for by in (0, 1)}
    return sorted({0, 1, 2, 3, *near})


def _small(count: int, values: list[int]) -> Iterator[tuple[int, ...]]:
    """Choices of so many values, those made of the first few values first."""
    for last in range(len(values)):
        for choice in product(range(last + 1), repeat=count):
            if last in choice or not count:
                yield tuple(values[place] for place in choice)
        if not count:
            return


def is_true(formula: Formula, sizes: Mapping[str, int]) -> bool | None:
    """Whether a formula holds; None where it divides by 0."""
    try:
        return holds(formula, sizes)
    except ZeroDivisionError:
        return None


def exceeded(plan: Plan, budget: Budget, found: Excess) -> Refusal:
    """The refusal of a budget, with both sides as rows of the level that things go from."""
    buffer, source, target, is_back = found.way
    buffers: dict[str, int] = {}
    moved = [_moved(item, budget, buffers) for item in budget.pulled if item.pull.source == source and (item.pull.is_back or not is_back)]
    used = {way[:3] for way in ways(budget)}
    rows = [row for row in budget.rows if row.source == source and (row.is_back or not is_back)]
    fitting = [_product(row.text, buffers, row.buffer, row.target, budget) for row in rows if (row.buffer, source, row.target) in used]
    heading = f"could not prove declared traffic row at {source}:" if not is_back else f"could not prove declared traffic row back to {source}:"
    shown = [f"{'  ' if place == 0 else '+ '}{text}" for place, text in enumerate(moved)]
    lines = [heading, *(f"  {text}" for text in shown), f"  <= {' + '.join(fitting) or '0'}"]
    spans = {f"bytes_{number}": int(name == buffer) for name, number in buffers.items()}
    made = refusal(CODE, "\n".join(lines), plan.span)
    return replace(made, counterexample={**found.sizes, **spans}, hints=(note(found),))


def note(found: Excess) -> str:
    """Both sides in numbers, and that nothing is wrong but the cost."""
    buffer, source, target, is_back = found.way
    way = f"from {target} back to {source}" if is_back else f"from {source} to {target}"
    moved = "once" if found.moved == 1 else f"{found.moved} times"
    limit = "1 is" if found.allowed == 1 else f"{found.allowed} are"
    return f"every word is right, and this is about cost alone: {buffer} goes {way} {moved}, and {limit} allowed"


def _moved(item: Pulled, budget: Budget, buffers: dict[str, int]) -> str:
    bounds = budget.bounds[item.pull.alias]
    parts = [trips.text for trips in item.trips] if bounds == item.bounds else [spell(part, _FACTOR) for part in factors(item.pull, bounds)]
    text = " * ".join(parts)
    return _product(text, buffers, item.pull.root, item.pull.target, budget)


def _product(text: str, buffers: dict[str, int], buffer: str, target: str, budget: Budget) -> str:
    """A count times the lines of a span; spans are numbered in the order in which they are met."""
    number = buffers.setdefault(buffer, len(buffers))
    line = budget.lines.get(target)
    lines = f"lines bytes_{number}" if line is None else f"line_ceil bytes_{number} {line}"
    return lines if text in ("", "1") else f"{text} * {lines}"
