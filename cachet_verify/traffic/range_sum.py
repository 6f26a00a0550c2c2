"""Sums over the indices of a range, in closed form where one is known.

Takes a loop's bounds and what one iteration costs; gives what all cost, as a sum left open where there is no closed form.
Must not approximate.
"""

from __future__ import annotations

from collections.abc import Iterator

from cachet_verify.traffic.factor import floor, is_at_most_zero, least, least_of, most, trips
from cachet_verify.traffic.quantity import (
    NOTHING,
    Extreme,
    Factor,
    Monomial,
    Name,
    Quantity,
    Repeated,
    Where,
    as_quantity,
    collect,
    name,
    names_of,
    of_factor,
    of_monomial,
    total,
)
from cachet_verify.traffic.value import substitute

UNROLLED = 64
"""A loop of at most so many iterations, each known, is added up one by one."""

_Group = tuple[Monomial, Quantity]


def grouped(body: Quantity, names: frozenset[str]) -> Iterator[_Group]:
    """A cost as a sum of products: factors without the names, times a cost in them alone."""
    found: dict[Monomial, list[tuple[Monomial, int]]] = {}
    for factors, coefficient in body.terms:
        rest = tuple(factor for factor in factors if not names_of(factor) & names)
        inner = tuple(factor for factor in factors if names_of(factor) & names)
        found.setdefault(rest, []).append((inner, coefficient))
    for rest, terms in found.items():
        yield rest, collect(terms)


def over_range(counter: str, low: Quantity, high: Quantity, body: Quantity) -> Quantity:
    """The sum of a cost over `counter` from `low` to below `high`."""
    return total(of_monomial(rest) * _range_group(counter, low, high, cost) for rest, cost in grouped(body, frozenset((counter,))))


def _range_group(counter: str, low: Quantity, high: Quantity, cost: Quantity) -> Quantity:
    if counter not in cost.names():
        return trips(low, high) * cost
    closed, open_terms = NOTHING, []
    for factors, coefficient in cost.terms:
        found = _range_term(counter, low, high, factors)
        if found is None:
            open_terms.append((factors, coefficient))
        else:
            closed += found * coefficient
    return closed + _one_by_one(counter, low, high, collect(open_terms)) if open_terms else closed


def _one_by_one(counter: str, low: Quantity, high: Quantity, cost: Quantity) -> Quantity:
    """A sum without a closed form: of its terms where they are few, else left open."""
    first, end = low.value, high.value
    if first is None or end is None or end - first > UNROLLED:
        return of_factor(Repeated(counter, low, high, None, cost))
    return total(substitute(cost, {counter: as_quantity(place)}) for place in range(first, end))


def _range_term(counter: str, low: Quantity, high: Quantity, factors: Monomial) -> Quantity | None:
    """The sum of one product, None where it has no closed form."""
    if not factors:
        return trips(low, high)
    extent = high - low
    if len(factors) == 1 and isinstance(factors[0], Name):
        return floor((high + low - 1) * extent, as_quantity(2)) if is_natural(extent) else None
    for place, factor in enumerate(factors):
        rest = of_monomial(factors[:place] + factors[place + 1 :])
        found = _where_it_holds(counter, low, high, factor, rest) if isinstance(factor, Where) else None
        if found is None and counter not in rest.names():
            found = _parts_of_a_range(counter, low, high, factor)
            found = None if found is None else found * rest
        if found is not None:
            return found
    return None


def _parts_of_a_range(counter: str, low: Quantity, high: Quantity, part: Factor) -> Quantity | None:
    """The sum of `max 0 (min n (end - n * counter))`: how many indices below `end` the parts of n indices hold; None for any other."""
    if not isinstance(part, Extreme) or part.how != "max" or part.left.terms:
        return None
    inner = part.right.terms[0][0]
    if len(part.right.terms) != 1 or part.right.terms[0][1] != 1 or len(inner) != 1 or not isinstance(inner[0], Extreme):
        return None
    size, rest = inner[0].left, inner[0].right
    if inner[0].how != "min" or size.value is None or size.value <= 0:
        return None
    end = rest + name_in(rest, counter) * size
    return None if counter in end.names() else trips(low * size, least(end, high * size))


def name_in(quantity: Quantity, text: str) -> Quantity:
    """A name as a quantity has it; what is known of its values is part of it."""
    for factors, _ in quantity.terms:
        for factor in factors:
            if isinstance(factor, Name) and factor.text == text:
                return of_factor(factor)
    return name(text)


def _where_it_holds(counter: str, low: Quantity, high: Quantity, condition: Where, rest: Quantity) -> Quantity | None:
    """The sum of `rest` over the indices a condition holds at, None where that has no closed form."""
    line = _line(condition.term, counter)
    if line is None:
        return None
    sign, offset = line
    edge = offset * -sign
    if condition.relation == "==":
        return substitute(rest, {counter: edge}) * is_at_most_zero(low - edge) * is_at_most_zero(edge - high + 1)
    if counter in rest.names():
        return None
    return rest * (trips(low, least(high, edge + 1)) if sign > 0 else trips(most(low, edge), high))


def _line(term: Quantity, counter: str) -> tuple[int, Quantity] | None:
    """A term as plus or minus the counter, and an offset without it; None where it is not of that form."""
    own = [n for factors, n in term.terms if len(factors) == 1 and isinstance(factors[0], Name) and factors[0].text == counter]
    offset = collect((factors, n) for factors, n in term.terms if not any(counter in names_of(factor) for factor in factors))
    if own not in ([1], [-1]) or len(offset.terms) + 1 != len(term.terms):
        return None
    return own[0], offset


def is_natural(quantity: Quantity) -> bool:
    """Whether the quantity is known never to be negative."""
    low = least_of(quantity)
    return low is not None and low >= 0
