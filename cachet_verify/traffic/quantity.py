"""Quantities: polynomials with integer coefficients over sizes, counters, and rounded quotients of such.

Takes numbers and names; gives immutable sums of products in one canonical order, so that equal ones compare equal.
Must not round or fold a quotient: `factor` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal


@dataclass(frozen=True, slots=True)
class Name:
    """A size, a counter, or the bytes of an opaque type; `low` and `high` bound its values where they are known."""

    text: str
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Rounded:
    """A quotient rounded up (`ceil`) or down (`floor`), or the remainder of the one rounded down (`rem`)."""

    how: Literal["ceil", "floor", "rem"]
    top: Quantity
    bottom: Quantity


@dataclass(frozen=True, slots=True)
class Extreme:
    """The smaller (`min`) or larger (`max`) of two quantities."""

    how: Literal["min", "max"]
    left: Quantity
    right: Quantity


@dataclass(frozen=True, slots=True)
class Where:
    """1 where the term is zero (`==`) or at most zero (`<=`), and 0 elsewhere."""

    relation: Literal["==", "<="]
    term: Quantity


@dataclass(frozen=True, slots=True)
class Repeated:
    """The sum of `body` over a loop: from `low` to below `high`, or over blocks of `size`.

    Over blocks the counter binds three names, as in the core: `g`, `g.lo` and `g.len`.
    """

    counter: str
    low: Quantity
    high: Quantity
    size: Quantity | None
    body: Quantity


Factor = Name | Rounded | Extreme | Where | Repeated
Monomial = tuple[Factor, ...]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A sum of products: pairs of a product's factors and its coefficient, which is never 0."""

    terms: tuple[tuple[Monomial, int], ...] = ()

    def __add__(self, other: Quantity | int) -> Quantity:
        return collect((*self.terms, *as_quantity(other).terms))

    def __sub__(self, other: Quantity | int) -> Quantity:
        return self + as_quantity(other) * -1

    def __mul__(self, other: Quantity | int) -> Quantity:
        if isinstance(other, int):
            return Quantity(tuple((factors, n * other) for factors, n in self.terms)) if other else Quantity()
        return collect((_join(a, b), m * n) for a, m in self.terms for b, n in other.terms)

    def __str__(self) -> str:
        return spell(self)

    @property
    def value(self) -> int | None:
        """The number a constant quantity is; None for any other."""
        if not self.terms:
            return 0
        factors, coefficient = self.terms[0]
        return coefficient if len(self.terms) == 1 and not factors else None

    def names(self) -> frozenset[str]:
        """The names that occur free."""
        return frozenset().union(*(names_of(factor) for factors, _ in self.terms for factor in factors))


def collect(terms: Iterable[tuple[Monomial, int]]) -> Quantity:
    """The sum of some products, those with the same factors taken together."""
    found: dict[Monomial, int] = {}
    for factors, coefficient in terms:
        found[factors] = found.get(factors, 0) + coefficient
    kept = [(factors, coefficient) for factors, coefficient in found.items() if coefficient]
    return Quantity(tuple(sorted(kept, key=_place) if len(kept) > 1 else kept))


def _place(term: tuple[Monomial, int]) -> tuple[int, tuple[str, ...]]:
    """Products with more factors first, a number alone last."""
    return -len(term[0]), tuple(factor_text(factor) for factor in term[0])


def _join(left: Monomial, right: Monomial) -> Monomial:
    """The factors of a product in order; a condition twice is that condition once."""
    if not left or not right:
        return left or right
    joined = sorted((*left, *right), key=factor_text)
    return tuple(factor for place, factor in enumerate(joined) if place == 0 or not (isinstance(factor, Where) and factor == joined[place - 1]))


def as_quantity(what: Quantity | int) -> Quantity:
    """A number as a quantity; a quantity as it is."""
    if isinstance(what, Quantity):
        return what
    return Quantity((((), what),)) if what else Quantity()


def of_factor(factor: Factor) -> Quantity:
    """One factor as a quantity."""
    return Quantity((((factor,), 1),))


def of_monomial(factors: Monomial) -> Quantity:
    """A product of factors, which are in order already, as a quantity."""
    return Quantity(((factors, 1),))


NOTHING = as_quantity(0)
ONCE = as_quantity(1)


def name(text: str, low: int | None = None, high: int | None = None) -> Quantity:
    """A name as a quantity."""
    return of_factor(Name(text, low, high))


def total(parts: Iterable[Quantity]) -> Quantity:
    """The sum of any number of quantities."""
    return collect(term for part in parts for term in part.terms)


def parts_of(factor: Factor) -> Iterator[Quantity]:
    """The quantities right inside a factor."""
    if isinstance(factor, Rounded):
        yield from (factor.top, factor.bottom)
    elif isinstance(factor, Extreme):
        yield from (factor.left, factor.right)
    elif isinstance(factor, Where):
        yield factor.term
    elif isinstance(factor, Repeated):
        yield from (factor.low, factor.high, *(() if factor.size is None else (factor.size,)), factor.body)


@lru_cache(maxsize=4096)
def names_of(factor: Factor) -> frozenset[str]:
    """The names that occur free in a factor; what a repeated sum counts with is not free."""
    if isinstance(factor, Name):
        return frozenset((factor.text,))
    found = frozenset[str]().union(*(part.names() for part in parts_of(factor)))
    return found - bound_names(factor) if isinstance(factor, Repeated) else found


def bound_names(factor: Repeated) -> frozenset[str]:
    """The names that the loop of a repeated sum binds."""
    return loop_names(factor.counter, factor.size is not None)


def loop_names(counter: str, blocks: bool) -> frozenset[str]:
    """The names that a loop binds."""
    return frozenset((counter, f"{counter}.lo", f"{counter}.len")) if blocks else frozenset((counter,))


# --- as text -----------------------------------------------------------------------------------

_SUM, _PRODUCT, _ATOM = 0, 1, 2


def spell(quantity: Quantity, tight: int = _SUM) -> str:
    """A quantity as text, in the language's notation; `tight` is the binding strength its surroundings ask for."""
    if not quantity.terms:
        return "0"
    pieces = [_term_text(factors, coefficient) for factors, coefficient in quantity.terms]
    text = pieces[0]
    for piece in pieces[1:]:
        text += f" - {piece[1:]}" if piece.startswith("-") else f" + {piece}"
    own = _SUM if len(pieces) > 1 or text.startswith("-") else _PRODUCT if " " in text else _ATOM
    return f"({text})" if own < tight else text


def _term_text(factors: Monomial, coefficient: int) -> str:
    words = [factor_text(factor) for factor in factors]
    if len(words) > 1 or abs(coefficient) != 1:
        words = [f"({word})" if isinstance(factor, Repeated | Where) else word for factor, word in zip(factors, words, strict=True)]
    if abs(coefficient) != 1 or not words:
        words.insert(0, str(abs(coefficient)))
    return f"{'-' if coefficient < 0 else ''}{' * '.join(words)}"


@lru_cache(maxsize=4096)
def factor_text(factor: Factor) -> str:
    """A factor as text."""
    if isinstance(factor, Name):
        return factor.text
    if isinstance(factor, Rounded):
        top, bottom = spell(factor.top, _PRODUCT), spell(factor.bottom, _ATOM)
        return f"({top} % {bottom})" if factor.how == "rem" else f"{factor.how} ({top} / {bottom})"
    if isinstance(factor, Extreme):
        return f"{factor.how} {spell(factor.left, _ATOM)} {spell(factor.right, _ATOM)}"
    if isinstance(factor, Where):
        left = collect((factors, n) for factors, n in factor.term.terms if n > 0)
        right = collect((factors, -n) for factors, n in factor.term.terms if n < 0)
        return f"if {spell(left)} {factor.relation} {spell(right)} then 1 else 0"
    domain = f"{spell(factor.low, _PRODUCT)} .. {spell(factor.high, _PRODUCT)}"
    if factor.size is not None:
        domain = f"blocks ({domain}) {spell(factor.size, _ATOM)}"
    return f"sum {factor.counter} in {domain}. {spell(factor.body)}"
