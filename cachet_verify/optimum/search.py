"""The least values that meet conditions, by branching over bounded ranges.

Takes a problem; gives the first candidates in order, or why there are none. Must not be believed:
whoever uses a candidate has the kernel ask that it satisfies, and that nothing smaller does.
"""

from __future__ import annotations

from bisect import insort
from fractions import Fraction
from functools import lru_cache
from math import prod

from cachet_verify.core.index import ONE, ZERO, Const, Formula, conj, le, mul, variables
from cachet_verify.optimum.compiled import Bound, Sweep, sweep
from cachet_verify.optimum.interval import EVERYTHING, Box, is_bounded, narrow
from cachet_verify.optimum.problem import Candidate, Found, Infeasible, Outcome, Problem, TooMany, Unbounded

MOST_CANDIDATES = 10_000_000
"""Choices that are tried before a search is given up; narrowing counts as `_NARROWING` of them."""
_NARROWING = 100
_SHORT = 1_100_000
"""As many, to see whether conditions can be met."""
_WINDOW = 1_000
"""How far a range without a bound is looked at, to see that conditions can be met."""
_FEW = 4_000
"""Choices that are tried rather than narrowed further, once some names have values."""
_SWEPT = 2_000_000
"""As many, before any has."""


@lru_cache(maxsize=64)
def search(problem: Problem, keep: int = 1, limit: int = MOST_CANDIDATES) -> Outcome:
    """The first `keep` candidates. Raises ZeroDivisionError where a divisor is 0."""
    box = narrow(problem.conditions, dict.fromkeys(problem.names, EVERYTHING))
    if box is None:
        return _infeasible(problem)
    loose = _loose(problem.names, box)
    if loose is not None:
        return loose
    branching = _Branching(problem, keep, limit)
    try:
        branching.branch((), box)
    except _GivenUpError:
        return TooMany(limit)
    if not branching.best:
        return _infeasible(problem)
    return Found(tuple(branching.best))


def _loose(names: tuple[str, ...], box: Box) -> Unbounded | None:
    for name in names:
        low, high = box[name]
        if not is_bounded(low) or not is_bounded(high):
            return Unbounded(name, "below" if not is_bounded(low) else "above")
    return None


class _GivenUpError(Exception):
    """Too many candidates were tried."""


class _EnoughError(Exception):
    """One candidate was wanted, and is found."""


class _Branching:
    """One search, depth first, in lexicographic order of the values."""

    def __init__(self, problem: Problem, keep: int, limit: int) -> None:
        """Keep the first `keep` candidates; 0 stops at any candidate."""
        self.problem = problem
        self.keep = keep
        self.left = limit
        self.best: list[Candidate] = []
        self.sweep: Sweep = sweep(problem.names, problem.conditions, problem.numerator, problem.denominator)

    def bound(self) -> Fraction | None:
        """The cost that a candidate must not exceed; none while there is room for any."""
        return self.best[-1].cost if self.keep and len(self.best) >= self.keep else None

    def branch(self, values: tuple[int, ...], box: Box) -> None:
        """Try all values of the names that are left, in a box that is narrowed as values are chosen."""
        size = self.size(values, box)
        if size <= (_FEW if values else _SWEPT) or len(values) + 1 == len(self.problem.names):
            self.try_all(values, box, size)
            return
        name = self.problem.names[len(values)]
        low, high = box[name]
        for value in range(low, high + 1):
            inner = self.narrowed((*values, value), {**box, name: (value, value)})
            if inner is not None:
                self.branch((*values, value), inner)

    def size(self, values: tuple[int, ...], box: Box) -> int:
        """How many choices a box leaves for the names that have no value."""
        return prod(max(0, box[name][1] - box[name][0] + 1) for name in self.problem.names[len(values) :])

    def narrowed(self, values: tuple[int, ...], box: Box) -> Box | None:
        """The box under the conditions and the bound; as it is where few choices are left."""
        if self.size(values, box) <= _FEW:
            return box
        self.spend(_NARROWING)
        return narrow((*self.problem.conditions, *self.cheap_enough()), box)

    def cheap_enough(self) -> tuple[Formula, ...]:
        """The condition that the cost is within the bound."""
        bound = self.bound()
        if bound is None:
            return ()
        return (le(mul(Const(bound.denominator), self.problem.numerator), mul(Const(bound.numerator), self.problem.denominator)),)

    def try_all(self, values: tuple[int, ...], box: Box, size: int) -> None:
        """Try what a box leaves; a long run of one name in pieces, narrowed once a bound is known."""
        name = self.problem.names[-1]
        if len(values) + 1 < len(self.problem.names) or size <= _SWEPT:
            self.spend(size)
            self.swept(values, box)
            return
        low, high = box[name]
        while low <= high:
            self.spend(_SWEPT)
            self.swept(values, {**box, name: (low, min(high, low + _SWEPT - 1))})
            rest = narrow((*self.problem.conditions, *self.cheap_enough()), {**box, name: (low + _SWEPT, high)}) if low + _SWEPT <= high else None
            if rest is None:
                return
            low, high = rest[name]

    def swept(self, values: tuple[int, ...], box: Box) -> None:
        """Evaluate every choice of a box."""
        ends = (*((value, value) for value in values), *(box[name] for name in self.problem.names[len(values) :]))
        self.sweep(ends, *self.limit(), self.keep_best)

    def limit(self) -> Bound:
        """The cost that the next candidate has to be below: candidates come in lexicographic order, so that ties are no better."""
        bound = self.bound()
        return (1, 0) if bound is None else (bound.numerator, bound.denominator)

    def spend(self, count: int) -> None:
        """Count what is tried."""
        self.left -= count
        if self.left < 0:
            raise _GivenUpError

    def keep_best(self, numerator: int, denominator: int, values: tuple[int, ...]) -> Bound:
        """Put a candidate in its place among the best; the cost that the next one has to be below."""
        if not self.keep:
            raise _EnoughError
        insort(self.best, Candidate(Fraction(numerator, denominator), values))
        del self.best[self.keep :]
        return self.limit()


# --- nothing to choose -------------------------------------------------------------------------


def _infeasible(problem: Problem) -> Infeasible:
    """The conditions that cannot hold together: one after the other is left out where the rest cannot either."""
    needed = list(range(len(problem.conditions)))
    is_least = True
    for place in tuple(needed):
        rest = [other for other in needed if other != place]
        is_met = _is_met(problem, tuple(problem.conditions[other] for other in rest))
        if is_met is None:
            is_least = False
        elif not is_met:
            needed = rest
    return Infeasible(tuple(needed), is_least)


def _is_met(problem: Problem, conditions: tuple[Formula, ...]) -> bool | None:
    """Whether conditions have a solution; none when a short search cannot tell."""
    names = tuple(name for name in problem.names if name in variables(conj(conditions)))
    box = narrow(conditions, dict.fromkeys(problem.names, EVERYTHING))
    if box is None:
        return False
    if not names:
        return True
    tried = _Branching(Problem(names, conditions, ZERO, ONE), 0, _SHORT)
    near = {name: _near(*box[name]) for name in names}
    try:
        tried.branch((), near)
    except _EnoughError:
        return True
    except (_GivenUpError, ZeroDivisionError):
        return None
    return False if all(near[name] == box[name] for name in names) else None


def _near(low: int, high: int) -> tuple[int, int]:
    """A range, cut where it has no bound."""
    if not is_bounded(low):
        low = min(high, 0) - _WINDOW
    return low, high if is_bounded(high) else max(low, 0) + _WINDOW
