"""Which names to go through value by value, so that what is left for a solver is linear.

Takes conditions, and those they are joined with; gives ranges of names. Must not be believed: the
kernel asks that the ranges hold.
"""

from __future__ import annotations

from itertools import combinations
from math import prod

from cachet_verify.core.index import Div, Formula, Mod, Product, subterms, variables
from cachet_verify.optimum.interval import EVERYTHING, Interval, is_bounded, narrow

Ranges = tuple[tuple[str, int, int], ...]

_MOST_CASES = 20_000


def linear(conditions: tuple[Formula, ...]) -> tuple[Formula, ...]:
    """The conditions without products of names and divisors that are names."""
    return tuple(part for part in conditions if is_linear((part,), ()))


def bounded_by(conditions: tuple[Formula, ...], ranges: Ranges) -> tuple[Formula, ...]:
    """The conditions that ranges follow from: the linear ones where those say enough."""
    names = tuple(name for name, _, _ in ranges)
    loose = _box(names, tuple(part for part in linear(conditions) if variables(part) <= set(names)))
    return linear(conditions) if all(loose.get(name) == (low, high) for name, low, high in ranges) else conditions


def ranges_of(names: tuple[str, ...], conditions: tuple[Formula, ...]) -> Ranges:
    """A range for each name that the conditions bound: from the linear ones alone where those say enough."""
    loose = _box(names, linear(conditions))
    tight = _box(names, conditions)
    found = ((name, loose.get(name, tight.get(name))) for name in names)
    return tuple((name, *ends) for name, ends in found if ends is not None)


def _box(names: tuple[str, ...], conditions: tuple[Formula, ...]) -> dict[str, Interval]:
    box = narrow(conditions, dict.fromkeys(names, EVERYTHING))
    return {} if box is None else {name: ends for name, ends in box.items() if all(map(is_bounded, ends))}


def values_of(names: tuple[str, ...], conditions: tuple[Formula, ...], most: int) -> Ranges:
    """A range for every name, with `most` choices in all at most; none where the conditions do not say enough.

    Ranges from linear conditions alone are taken where they are small enough: they are easy to show.
    """
    tight = tuple((name, *ends) for name, ends in _box(names, conditions).items())
    for known in (ranges_of(names, conditions), tight):
        if len(known) == len(names) and prod(high - low + 1 for _, low, high in known) <= most:
            return known
    return ()


def is_plain(conditions: tuple[Formula, ...], ranges: Ranges) -> bool:
    """Whether going through the values of some names leaves linear questions, of one name in each quotient and remainder."""
    return _is_single(conditions, tuple(name for name, _, _ in ranges))


def cases(names: tuple[str, ...], conditions: tuple[Formula, ...], joined: tuple[Formula, ...]) -> Ranges:
    """The ranges that leave plain questions, with the fewest choices.

    Best is what leaves every product and divisor linear and one name at most in each quotient and
    remainder; then what leaves them linear. None where that is so already, or takes too many choices.
    """
    tight = tuple((name, *ends) for name, ends in _box(names, conditions).items())
    parts = (*conditions, *joined)
    for is_easy in (_is_single, is_linear):
        for known in (ranges_of(names, conditions), tight):
            found = [
                (prod(high - low + 1 for _, low, high in some), len(some), some)
                for count in range(len(known) + 1)
                for some in combinations(known, count)
                if is_easy(parts, tuple(name for name, _, _ in some))
            ]
            if found and min(found)[0] <= _MOST_CASES:
                return min(found)[2]
    return ()


def _is_single(parts: tuple[Formula, ...], fixed: tuple[str, ...]) -> bool:
    """Whether all is linear, and each quotient and remainder is of one name at most that has no value."""
    known = frozenset(fixed)
    divided = (term for part in parts for term in subterms(part) if isinstance(term, (Div, Mod)))
    return is_linear(parts, fixed) and all(len(variables(term) - known) <= 1 for term in divided)


def is_linear(parts: tuple[Formula, ...], fixed: tuple[str, ...]) -> bool:
    """Whether products and divisors hold one name at most, once some names have values."""
    known = frozenset(fixed)
    for part in parts:
        for term in subterms(part):
            if isinstance(term, Product) and variables(term.left) - known and variables(term.right) - known:
                return False
            if isinstance(term, (Div, Mod)) and variables(term.right) - known:
                return False
    return True
