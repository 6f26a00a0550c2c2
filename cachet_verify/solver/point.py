"""Small values that break an obligation, tried before a hard question is put to the solvers.

Takes an obligation; gives values of its variables, or none. Must not be believed: the solvers are asked at them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product

from cachet_verify.core.index import Const, Formula, conjuncts, holds, neg, subterms, variables
from cachet_verify.kernel.enumeration import first_values
from cachet_verify.kernel.obligation import Obligation

_MOST = {1: 200, 2: 60, 3: 30, 4: 14, 5: 8, 6: 6, 7: 5, 8: 3, 9: 3}
"""How far each variable is tried, from 0, by how many there are; with more variables nothing is."""

_MOST_POINTS = 20_000
"""How many choices are tried of values next to the numbers that an obligation speaks of."""
_MOST_NUMBER = 1 << 31


def small_point(obligation: Obligation) -> dict[str, int] | None:
    """The first small naturals, or else naturals next to numbers in it, that meet the premises and not the goal.

    None where there are none, or a divisor is 0.
    """
    parts = tuple(part for formula in (*obligation.premises, neg(obligation.goal)) for part in conjuncts(formula))
    names = sorted(frozenset[str]().union(*(variables(part) for part in parts)))
    if len(names) not in _MOST:
        return None
    try:
        found = first_values(parts, [(name, 0, _MOST[len(names)]) for name in names]) or _near(parts, names)
    except ZeroDivisionError:
        return None
    return None if found is None else dict(zip(names, found, strict=True))


def _near(parts: Sequence[Formula], names: Sequence[str]) -> tuple[int, ...] | None:
    """Values next to the numbers in some formulas, and to twice those, that meet them all; those next to small numbers first."""
    numbers = {term.value for part in parts for term in subterms(part) if isinstance(term, Const) and 1 < term.value < _MOST_NUMBER}
    values = sorted({0, 1, 2} | {number + by for number in numbers for by in (-1, 0, 1)} | {2 * number + 1 for number in numbers})
    for choice in islice(_choices(values, len(names)), _MOST_POINTS):
        at = dict(zip(names, choice, strict=True))
        if all(holds(part, at) for part in reversed(parts)):
            return choice
    return None


def _choices(values: Sequence[int], count: int) -> Iterator[tuple[int, ...]]:
    """Every choice of so many values, those made of the first few values first."""
    for last in range(len(values)):
        for places in product(range(last + 1), repeat=count):
            if last in places:
                yield tuple(values[place] for place in places)
