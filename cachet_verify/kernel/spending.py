"""Counts of iterations of several loops together: what each loop may still spend, from where it is.

Takes a lease and, for some of the loops around it, a term that says how often the lease may still be entered from an iteration
on; asks what makes that a bound. Must not take a term on trust: it is a proposal, and speaks of nothing but sizes and the loops it counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cachet_verify.core.index import ONE, ZERO, Formula, Index, Var, add, divisors, eq, le, mul, ne, substitute, variables
from cachet_verify.core.ir import Blocks
from cachet_verify.core.lease import Around, Pull, domain_facts
from cachet_verify.kernel.ask import Asked
from cachet_verify.kernel.claim import RuleError

_Under = tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Spend:
    """What a loop may still spend: `left` speaks of sizes, of the loop's own counter (and the first index of its block), and of all
    that the loops bind that it is inside of.

    `inside` names the loop further in whose spending it counts; what the innermost of them counts are entries.
    """

    left: Index
    inside: str = ""


Bound = Index | Spend
"""How often a loop runs at most whenever it is started, or what it may spend."""


def loops_of(pull: Pull, bounds: Sequence[Bound]) -> tuple[Around, ...]:
    """The loops that bounds are about: those of the program where some are counted together, else with blocks in blocks as one."""
    return pull.loops if any(isinstance(bound, Spend) for bound in bounds) else pull.around


def factors(pull: Pull, bounds: Sequence[Bound]) -> tuple[Index, ...]:
    """What the bounds on the loops around a lease multiply to: loops that are counted by others bring no factor."""
    counted = {bound.inside for bound in bounds if isinstance(bound, Spend)}
    pairs = zip(loops_of(pull, bounds), bounds, strict=True)
    return tuple(_start(loop, bound) if isinstance(bound, Spend) else bound for loop, bound in pairs if loop.counter not in counted)


def ask_spending(rule: str, asked: Asked, pull: Pull, bounds: Sequence[Bound], sizes: frozenset[str]) -> None:
    """Nothing is spent that a loop does not have, and none ends in debt. Raises RuleError for a chain of loops that is none."""
    loops = loops_of(pull, bounds)
    spends = {loop.counter: bound for loop, bound in zip(loops, bounds, strict=True) if isinstance(bound, Spend)}
    if len({loop.counter for loop in loops}) < len(loops):
        raise RuleError(rule, "two loops around a lease have one name", pull)
    reached: dict[str, frozenset[str]] = {}
    for loop in loops:
        if loop.counter not in spends:
            continue
        spend = spends[loop.counter]
        seen = reached.get(loop.counter, sizes)
        inner = _inside(rule, pull, loop, spend, spends)
        if spend.inside in reached:
            raise RuleError(rule, "two loops count the spending of one loop", pull)
        _check_names(rule, spend, loop, seen, sizes)
        reached[spend.inside or f"{loop.counter}."] = seen | {loop.counter, f"{loop.counter}.lo", f"{loop.counter}.len"}
        _ask_divisors(asked, spend)
        _ask_loop(asked, pull, loop, spend, inner, None if inner is None else spends[inner.counter])
        if loop.counter not in reached:
            asked.ask(f"what the loop over {loop.counter} around {pull.alias} may spend is no debt", (), le(ZERO, _start(loop, spend)), False)


def _inside(rule: str, pull: Pull, loop: Around, spend: Spend, spends: dict[str, Spend]) -> Around | None:
    """The loop whose spending another counts; None for entries."""
    if not spend.inside:
        return None
    further = pull.loops[pull.loops.index(loop) + 1 :]
    inner = next((other for other in further if other.counter == spend.inside), None)
    if inner is None or spend.inside not in spends:
        raise RuleError(rule, f"no loop inside the one over {loop.counter} has the spending of {spend.inside}", pull)
    return inner


def _check_names(rule: str, spend: Spend, loop: Around, seen: frozenset[str], sizes: frozenset[str]) -> None:
    """What may be spent depends on nothing that another loop changes meanwhile; its divisors are about sizes."""
    own = {loop.counter, f"{loop.counter}.lo"} if isinstance(loop.domain, Blocks) else {loop.counter}
    if variables(spend.left) - seen - own or variables(_start(loop, spend)) - seen:
        raise RuleError(rule, f"what the loop over {loop.counter} may spend speaks of other loops", spend.left)
    if any(variables(divisor) - sizes for divisor in divisors(spend.left)):
        raise RuleError(rule, "a divisor in what may be spent is not about sizes alone", spend.left)


def _ask_divisors(asked: Asked, spend: Spend) -> None:
    for divisor in divisors(spend.left):
        asked.ask("a divisor in a count of traffic is not 0", (), ne(divisor, ZERO))


def _ask_loop(asked: Asked, pull: Pull, loop: Around, spend: Spend, inner: Around | None, theirs: Spend | None) -> None:
    """One iteration spends what is inside it where something is reached there, and nothing elsewhere; nothing is owed at the end."""
    subject = f"the loop over {loop.counter} around {pull.alias} spends no more than it may"
    here, later = spend.left, substitute(spend.left, _next(loop))
    under = pull.under if inner is None else inner.under
    inside = ONE if inner is None or theirs is None else _start(inner, theirs)
    asked.ask(subject, under, le(add(inside, later), here), can_refute=False)
    asked.ask(subject, under, le(ZERO, inside), can_refute=False)
    asked.ask(subject, _iteration(loop), le(later, here), can_refute=False)
    asked.ask(f"the loop over {loop.counter} around {pull.alias} ends without debt", _end(loop), le(ZERO, here), can_refute=False)


def _start(loop: Around, spend: Spend) -> Index:
    """What may be spent before the first iteration."""
    if isinstance(loop.domain, Blocks):
        return substitute(spend.left, {loop.counter: ZERO, f"{loop.counter}.lo": loop.domain.low})
    return substitute(spend.left, {loop.counter: loop.domain.low})


def _next(loop: Around) -> dict[str, Index]:
    """Where the next iteration is."""
    counter = Var(loop.counter)
    if not isinstance(loop.domain, Blocks):
        return {loop.counter: add(counter, ONE)}
    low = Var(f"{loop.counter}.lo")
    return {loop.counter: add(counter, ONE), f"{loop.counter}.lo": add(low, loop.domain.size)}


def _iteration(loop: Around) -> _Under:
    """What holds in an iteration, reached or not."""
    return (*loop.under, *domain_facts(loop.counter, loop.domain))


def _end(loop: Around) -> _Under:
    """What holds behind the last iteration, or where there is none."""
    counter, domain = Var(loop.counter), loop.domain
    if not isinstance(domain, Blocks):
        return (*loop.under, le(domain.low, counter), le(domain.high, counter))
    low = Var(f"{loop.counter}.lo")
    return (*loop.under, le(ZERO, counter), eq(low, add(domain.low, mul(domain.size, counter))), le(domain.high, low))


__all__ = ["Bound", "Spend", "ask_spending", "factors", "loops_of"]
