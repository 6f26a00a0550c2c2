"""Budgets: how often a program moves a buffer between memory levels, against the rows that allow it.

Takes a program, rows, the level where buffers live, and a bound on every loop around each lease;
gives the goal that the rows cover everything. What is moved is read off the program here; the bounds
are proposals and each is asked. Must not look at what a span comes to: it is opaque.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cachet_verify.core.family import UnmodelledError
from cachet_verify.core.index import ONE, ZERO, Formula, Index, Var, add, conjuncts, divisors, le, mul, ne, variables
from cachet_verify.core.ir import Program, Traffic
from cachet_verify.core.lease import Pull, pulls
from cachet_verify.kernel.ask import Asked
from cachet_verify.kernel.claim import Goal, RuleError, WithinBudget, issue
from cachet_verify.kernel.scope import bound_names
from cachet_verify.kernel.spending import Bound, Spend, ask_spending, factors, loops_of

RULE = "within-budget"

Bounds = Mapping[str, Sequence[Bound]]
"""For the alias of each lease, a bound on the iterations of each loop around it, the outermost first, or what the loop may spend."""

Way = tuple[str, str, str, bool]
"""A buffer, the level it is moved from, the level it is moved to, and whether it is the way back that counts."""


def within_budget(program: Program, rows: tuple[Traffic, ...], home: str, bounds: Bounds) -> Goal:
    """The rows cover every lease, entered as often as the loops around it allow. Raises RuleError."""
    bound_names(RULE, program)
    sizes = frozenset(program.sizes)
    premises = premises_of(program)
    asked = Asked(premises)
    for row in rows:
        _ask_sizes(asked, row.factors, sizes)
    found = _pulls(program, home)
    for pull in found:
        _ask_bounds(asked, pull, _bounds_of(pull, bounds), sizes)
    for way, demand in demands(found, bounds).items():
        buffer, source, target, is_back = way
        back = " and back" if is_back else ""
        subject = f"what is moved of {buffer} from {source} to {target}{back} is within the rows of traffic"
        asked.ask(subject, (), le(demand, allowed(rows, way)))
    return issue(RULE, WithinBudget(program, rows, home), asked.obligations())


def premises_of(program: Program) -> tuple[Formula, ...]:
    """Sizes are naturals, and what the program requires."""
    return (*(le(ZERO, Var(size)) for size in program.sizes), *(part for need in program.requires for part in conjuncts(need.condition)))


def demands(found: Sequence[Pull], bounds: Bounds) -> dict[Way, Index]:
    """For each way that something goes, how often at most, in the order of the leases."""
    total: dict[Way, Index] = {}
    for pull in found:
        count: Index = ONE
        for bound in factors(pull, _bounds_of(pull, bounds)):
            count = mul(count, bound)
        for is_back in (False, True) if pull.is_back else (False,):
            way = (pull.root, pull.source, pull.target, is_back)
            total[way] = add(total.get(way, ZERO), count)
    return total


def allowed(rows: Sequence[Traffic], way: Way) -> Index:
    """How often the rows let something go that way; a row without `and back` lets nothing back."""
    buffer, source, target, is_back = way
    fits = (row for row in rows if (row.buffer, row.source, row.target) == (buffer, source, target))
    return add(*(row.count for row in fits if row.is_back or not is_back))


def _pulls(program: Program, home: str) -> tuple[Pull, ...]:
    try:
        return pulls(program, home)
    except UnmodelledError as error:
        raise RuleError(RULE, f"the proof rules do not model {error}") from error


def _bounds_of(pull: Pull, bounds: Bounds) -> Sequence[Bound]:
    found = bounds.get(pull.alias)
    if found is None or len(found) != len(loops_of(pull, found)):
        raise RuleError(RULE, f"no bound is proposed for each loop around the lease {pull.alias}", pull)
    return found


def _ask_bounds(asked: Asked, pull: Pull, bounds: Sequence[Bound], sizes: frozenset[str]) -> None:
    """Each loop runs at most as often as its bound says, whenever it is started; a bound is no negative number."""
    ask_spending(RULE, asked, pull, bounds, sizes)
    _ask_sizes(asked, factors(pull, bounds), sizes)
    for loop, bound in zip(loops_of(pull, bounds), bounds, strict=True):
        if isinstance(bound, Spend):
            continue
        subject = f"the loop over {loop.counter} around {pull.alias} runs no more often than its bound says"
        asked.ask(subject, loop.under, le(loop.trips, bound), can_refute=False)
        asked.ask(subject, (), le(ZERO, bound), can_refute=False)


def _ask_sizes(asked: Asked, terms: Sequence[Index], sizes: frozenset[str]) -> None:
    """Counts are about sizes, and mean something: their divisors are not 0."""
    for term in terms:
        if variables(term) - sizes:
            raise RuleError(RULE, "a count of traffic is about sizes alone", term)
        for divisor in divisors(term):
            asked.ask("a divisor in a count of traffic is not 0", (), ne(divisor, ZERO))
