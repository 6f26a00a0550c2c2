"""Quantities at given sizes: substitution, and the number a quantity comes to.

Takes quantities and what their names stand for; gives quantities, or numbers. Must not approximate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from cachet_verify.traffic.factor import ceil, floor, is_at_most_zero, is_zero, least, most, remainder
from cachet_verify.traffic.quantity import (
    Extreme,
    Factor,
    Name,
    Quantity,
    Repeated,
    Rounded,
    Where,
    as_quantity,
    bound_names,
    names_of,
    of_factor,
    of_monomial,
    total,
)

MOST_STEPS = 4_000_000
"""A sum without a closed form is counted out step by step, up to so many."""


class TooManyStepsError(Exception):
    """A sum without a closed form has too many terms to count out."""


def substitute(quantity: Quantity, by: Mapping[str, Quantity]) -> Quantity:
    """Replace names by quantities, all at once, and fold; a sum whose bounds become numbers is counted out.

    Raises TooManyStepsError, ZeroDivisionError.
    """
    if not by.keys() & quantity.names():
        return quantity
    return total(_substituted_product(factors, by) * coefficient for factors, coefficient in quantity.terms)


def _substituted_product(factors: tuple[Factor, ...], by: Mapping[str, Quantity]) -> Quantity:
    kept = tuple(factor for factor in factors if not by.keys() & names_of(factor))
    product = of_monomial(kept)
    for factor in factors:
        if factor not in kept:
            product *= _substituted(factor, by)
    return product


def _substituted(factor: Factor, by: Mapping[str, Quantity]) -> Quantity:
    if isinstance(factor, Name):
        return by[factor.text]
    if isinstance(factor, Rounded):
        return _ROUNDED[factor.how](substitute(factor.top, by), substitute(factor.bottom, by))
    if isinstance(factor, Extreme):
        return _EXTREME[factor.how](substitute(factor.left, by), substitute(factor.right, by))
    if isinstance(factor, Where):
        return _WHERE[factor.relation](substitute(factor.term, by))
    size = None if factor.size is None else substitute(factor.size, by)
    inner = {name: what for name, what in by.items() if name not in bound_names(factor)}
    low, high, body = substitute(factor.low, by), substitute(factor.high, by), substitute(factor.body, inner)
    replaced = Repeated(factor.counter, low, high, size, body)
    return as_quantity(_Count().factor(replaced, {})) if not names_of(replaced) else of_factor(replaced)


_Pair = Callable[[Quantity, Quantity], Quantity]
_ROUNDED: Mapping[str, _Pair] = {"ceil": ceil, "floor": floor, "rem": remainder}
_EXTREME: Mapping[str, _Pair] = {"min": least, "max": most}
_WHERE: Mapping[str, Callable[[Quantity], Quantity]] = {"==": is_zero, "<=": is_at_most_zero}


def evaluate(quantity: Quantity, at: Mapping[str, int]) -> int:
    """The number a quantity is. Raises KeyError for a name without a value, TooManyStepsError, ZeroDivisionError."""
    return _Count().quantity(quantity, at)


class _Count:
    """One evaluation, and the steps it may still take."""

    def __init__(self) -> None:
        self.left = MOST_STEPS

    def quantity(self, quantity: Quantity, at: Mapping[str, int]) -> int:
        found = 0
        for factors, coefficient in quantity.terms:
            product = coefficient
            for factor in factors:
                product *= self.factor(factor, at)
                if not product:
                    break
            found += product
        return found

    def factor(self, factor: Factor, at: Mapping[str, int]) -> int:
        if isinstance(factor, Name):
            return at[factor.text]
        if isinstance(factor, Rounded):
            top, bottom = self.quantity(factor.top, at), self.quantity(factor.bottom, at)
            return -(-top // bottom) if factor.how == "ceil" else top // bottom if factor.how == "floor" else top % bottom
        if isinstance(factor, Extreme):
            left, right = self.quantity(factor.left, at), self.quantity(factor.right, at)
            return min(left, right) if factor.how == "min" else max(left, right)
        if isinstance(factor, Where):
            term = self.quantity(factor.term, at)
            return int(term == 0 if factor.relation == "==" else term <= 0)
        return sum(self.quantity(factor.body, {**at, **point}) for point in self._points(factor, at))

    def _points(self, factor: Repeated, at: Mapping[str, int]) -> Iterator[Mapping[str, int]]:
        low, high = self.quantity(factor.low, at), self.quantity(factor.high, at)
        step = 1 if factor.size is None else self.quantity(factor.size, at)
        if step <= 0:
            raise ZeroDivisionError
        starts = range(low, high, step)
        self.left -= max(0, -(-(high - low) // step))
        if self.left < 0:
            raise TooManyStepsError
        for ordinal, start in enumerate(starts):
            if factor.size is None:
                yield {factor.counter: start}
            else:
                yield {factor.counter: ordinal, f"{factor.counter}.lo": start, f"{factor.counter}.len": min(step, high - start)}
