"""The affine equations that a growing set of integer rows satisfies.

Takes rows of values, one for each term; gives a basis of the equations between the terms that
hold at every row. Exact arithmetic; rows that change nothing cost a few multiplications.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm

from cachet_verify.core.index import Const, Formula, Index, add, eq, mul

_PRIME = (1 << 61) - 1


@dataclass(slots=True)
class Span:
    """The space the rows span; a last column of ones stands for constants.

    Whether a row is new is told by remainders, which are quick; a row that a multiple of the prime makes look old would leave an equation too
    many, and an equation is a proposal. The equations are worked out of the rows that were new.
    """

    terms: tuple[Index, ...]
    rows: Callable[..., tuple[int, ...]]
    basis: dict[int, list[int]] = field(default_factory=dict)
    kept: list[tuple[int, ...]] = field(default_factory=list)

    @property
    def rank(self) -> int:
        """How many independent rows were taken."""
        return len(self.basis)

    def empty(self) -> Span:
        """A span of the same terms, without a row."""
        return Span(self.terms, self.rows)

    def take(self, row: Sequence[int]) -> bool:
        """Add a row; whether it is no sum of multiples of those before."""
        values = (*row, 1)
        vector = [value % _PRIME for value in values]
        for pivot, known in self.basis.items():
            scale = vector[pivot]
            if scale:
                vector = [(a - scale * b) % _PRIME for a, b in zip(vector, known, strict=True)]
        lead = next((place for place in reversed(range(len(vector))) if vector[place]), None)
        if lead is None:
            return False
        inverse = pow(vector[lead], -1, _PRIME)
        self.basis[lead] = [value * inverse % _PRIME for value in vector]
        self.kept.append(values)
        return True

    def equations(self) -> list[Formula]:
        """The equations, positive terms on the left."""
        if not self.kept:
            return []
        basis: dict[int, list[int]] = {}
        for row in self.kept:
            _reduce(basis, list(row))
        return [self._equation(_null(basis, place)) for place in range(len(self.terms) + 1) if place not in basis]

    def _equation(self, vector: dict[int, int]) -> Formula:
        left: list[Index] = []
        right: list[Index] = []
        for place in sorted(vector):
            weight = vector[place]
            term: Index = self.terms[place] if place < len(self.terms) else Const(1)
            (left if weight > 0 else right).append(mul(Const(abs(weight)), term))
        return eq(add(*left), add(*right))


def _reduce(basis: dict[int, list[int]], vector: list[int]) -> None:
    """Add a row to a basis in which each pivot stands in one row alone. Rows are integers without a common factor."""
    for pivot, known in basis.items():
        if vector[pivot]:
            vector = _without(vector, known, pivot)
    lead = next((place for place in reversed(range(len(vector))) if vector[place]), None)
    if lead is None:
        return
    for pivot, known in basis.items():
        if known[lead]:
            basis[pivot] = _without(known, vector, lead)
    basis[lead] = vector


def _without(row: list[int], other: list[int], place: int) -> list[int]:
    """A multiple of a row less a multiple of another, so that nothing stands at a place."""
    shared = gcd(row[place], other[place])
    ours, theirs = other[place] // shared, row[place] // shared
    found = [ours * a - theirs * b for a, b in zip(row, other, strict=True)]
    shrink = gcd(*found)
    return [value // shrink for value in found] if shrink > 1 else found


def _null(basis: dict[int, list[int]], free: int) -> dict[int, int]:
    """The null vector with a weight above 0 at one free place, as coprime integers."""
    weights = {free: Fraction(1)}
    for pivot, known in basis.items():
        if known[free]:
            weights[pivot] = Fraction(-known[free], known[pivot])
    scale = lcm(*(weight.denominator for weight in weights.values()))
    whole = {place: int(weight * scale) for place, weight in weights.items()}
    shrink = gcd(*whole.values())
    return {place: weight // shrink for place, weight in whole.items()}
