"""Factors that fold: rounded quotients, extremes and conditions, decided where the bounds of their names decide them.

Takes quantities; gives quantities. Must not assume more of a name than its own bounds say.

A divisor is taken to be positive: the blocks of a loop are, and a program that divides by 0 has no meaning.
"""

from __future__ import annotations

from math import prod
from typing import Literal

from cachet_verify.traffic.quantity import (
    NOTHING,
    ONCE,
    Extreme,
    Factor,
    Monomial,
    Name,
    Quantity,
    Repeated,
    Rounded,
    Where,
    as_quantity,
    collect,
    of_factor,
    spell,
)

Bounds = tuple[int | None, int | None]


def least_of(quantity: Quantity) -> int | None:
    """A number that the quantity never falls below, None where none is known."""
    return bounds(quantity)[0]


def greatest_of(quantity: Quantity) -> int | None:
    """A number that the quantity never exceeds, None where none is known."""
    return bounds(quantity)[1]


def bounds(quantity: Quantity) -> Bounds:
    """What is known of the values of a quantity."""
    low: int | None = 0
    high: int | None = 0
    for factors, coefficient in quantity.terms:
        least, greatest = _bounds_of_product(factors)
        if coefficient < 0:
            least, greatest = greatest, least
        low = None if low is None or least is None else low + least * coefficient
        high = None if high is None or greatest is None else high + greatest * coefficient
    return low, high


def _bounds_of_product(factors: Monomial) -> Bounds:
    ends = [_bounds_of_factor(factor) for factor in factors]
    if any(low is None or low < 0 for low, _ in ends):
        return ends[0] if len(ends) == 1 else (None, None)
    highs = [high for _, high in ends if high is not None]
    return prod(low for low, _ in ends if low is not None), prod(highs) if len(highs) == len(ends) else None


def _bounds_of_factor(factor: Factor) -> Bounds:
    if isinstance(factor, Name):
        return factor.low, factor.high
    if isinstance(factor, Where):
        return 0, 1
    if isinstance(factor, Extreme):
        return _bounds_of_extreme(factor)
    if isinstance(factor, Repeated):
        low = least_of(factor.body)
        return (0, None) if low is not None and low >= 0 else (None, None)
    return _bounds_of_rounded(factor)


def _bounds_of_rounded(factor: Rounded) -> Bounds:
    by = factor.bottom.value
    low, high = bounds(factor.top)
    if factor.how == "rem":
        return (0, None if by is None else by - 1) if by is None or by > 0 else (None, None)
    if by is None or by <= 0:
        return (0, None) if low is not None and low >= 0 and (by is None or by > 0) else (None, None)
    return (None if low is None else _round(factor.how, low, by)), (None if high is None else _round(factor.how, high, by))


def _bounds_of_extreme(factor: Extreme) -> Bounds:
    (a, b), (c, d) = bounds(factor.left), bounds(factor.right)
    lows, highs = [low for low in (a, c) if low is not None], [high for high in (b, d) if high is not None]
    if factor.how == "min":
        return (min(lows) if len(lows) == 2 else None), (min(highs) if highs else None)
    return (max(lows) if lows else None), (max(highs) if len(highs) == 2 else None)


def _round(how: str, top: int, bottom: int) -> int:
    return -(-top // bottom) if how == "ceil" else top // bottom


def sharp_bounds(quantity: Quantity) -> Bounds:
    """What is known of the values of a quantity, a multiple of a rounded quotient taken as its top and what rounding adds."""
    exact: list[tuple[Monomial, int]] = []
    added = NOTHING
    for place, (factors, coefficient) in enumerate(quantity.terms):
        only = factors[0] if len(factors) == 1 else None
        by = only.bottom.value if isinstance(only, Rounded) and only.how != "rem" else None
        if isinstance(only, Rounded) and by and coefficient % by == 0:
            left = Name(f"rounding {place}", 0, by - 1) if only.how == "ceil" else Name(f"rounding {place}", 1 - by, 0)
            added += (only.top + of_factor(left)) * (coefficient // by)
        else:
            exact.append((factors, coefficient))
    low, high = bounds(quantity)
    if not added.terms:
        return low, high
    least, greatest = bounds(collect(exact) + added)
    lows, highs = [end for end in (low, least) if end is not None], [end for end in (high, greatest) if end is not None]
    return max(lows, default=None), min(highs, default=None)


def ceil(top: Quantity, bottom: Quantity) -> Quantity:
    """The quotient rounded up."""
    return _rounded("ceil", top, bottom)


def floor(top: Quantity, bottom: Quantity) -> Quantity:
    """The quotient rounded down."""
    return _rounded("floor", top, bottom)


def _rounded(how: Literal["ceil", "floor"], top: Quantity, bottom: Quantity) -> Quantity:
    by = bottom.value
    if by is None:
        return NOTHING if not top.terms else of_factor(Rounded(how, top, bottom))
    if by < 0:
        return _rounded(how, top * -1, bottom * -1)
    if by == 0:
        return of_factor(Rounded(how, top, bottom))
    whole = collect((factors, n // by) for factors, n in top.terms if n % by == 0)
    rest = collect((factors, n) for factors, n in top.terms if n % by)
    return whole + _rounded_rest(how, rest, by)


def _rounded_rest(how: Literal["ceil", "floor"], top: Quantity, by: int) -> Quantity:
    """A quotient by a positive number that divides no coefficient of the top."""
    low, high = bounds(top)
    if low is not None and high is not None and _round(how, low, by) == _round(how, high, by):
        return as_quantity(_round(how, low, by))
    if all(n < 0 for _, n in top.terms):
        return of_factor(Rounded("floor" if how == "ceil" else "ceil", top * -1, as_quantity(by))) * -1
    return of_factor(Rounded(how, top, as_quantity(by)))


def remainder(top: Quantity, bottom: Quantity) -> Quantity:
    """What the quotient rounded down leaves."""
    by = bottom.value
    if by is None or by == 0:
        return NOTHING if not top.terms and by is None else of_factor(Rounded("rem", top, bottom))
    if top.value is not None:
        return as_quantity(top.value % by)
    rest = collect((factors, n) for factors, n in top.terms if n % by)
    low, high = bounds(rest)
    if low is not None and high is not None and by > 0 and 0 <= low and high < by:
        return rest
    return of_factor(Rounded("rem", rest, bottom))


def least(left: Quantity, right: Quantity) -> Quantity:
    """The smaller of two quantities."""
    return _extreme("min", left, right)


def most(left: Quantity, right: Quantity) -> Quantity:
    """The larger of two quantities."""
    return _extreme("max", left, right)


def _extreme(how: Literal["min", "max"], left: Quantity, right: Quantity) -> Quantity:
    left, right = _pushed(left), _pushed(right)
    low, high = sharp_bounds(left - right)
    if high is not None and high <= 0:
        return left if how == "min" else right
    if low is not None and low >= 0:
        return right if how == "min" else left
    first, second = sorted((left, right), key=lambda each: (each.value is None, spell(each)))
    return of_factor(Extreme(how, first, second))


def _pushed(quantity: Quantity) -> Quantity:
    """A sum that holds one extreme, as the extreme of two sums."""
    for place, (factors, coefficient) in enumerate(quantity.terms):
        if coefficient == 1 and len(factors) == 1 and isinstance(factors[0], Extreme) and len(quantity.terms) > 1:
            inner, rest = factors[0], collect(quantity.terms[:place] + quantity.terms[place + 1 :])
            return _extreme(inner.how, inner.left + rest, inner.right + rest)
    return quantity


def trips(low: Quantity, high: Quantity) -> Quantity:
    """How many indices there are from `low` to below `high`."""
    return most(NOTHING, high - low)


def is_zero(term: Quantity) -> Quantity:
    """1 where the term is zero, else 0."""
    low, high = sharp_bounds(term)
    if low == high == 0:
        return ONCE
    if (low is not None and low > 0) or (high is not None and high < 0):
        return NOTHING
    return of_factor(Where("==", term if term.terms[0][1] > 0 else term * -1))


def is_at_most_zero(term: Quantity) -> Quantity:
    """1 where the term is zero or less, else 0."""
    low, high = sharp_bounds(term)
    if high is not None and high <= 0:
        return ONCE
    if low is not None and low > 0:
        return NOTHING
    return of_factor(Where("<=", term))
