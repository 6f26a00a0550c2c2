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


@dataclass(slots=True)
class Span:
    """The space the rows span, kept in reduced form; a last column of ones stands for constants."""

    terms: tuple[Index, ...]
    rows: Callable[..., tuple[int, ...]]
    taken: int = 0
    basis: dict[int, list[Fraction]] = field(default_factory=dict)
    null: list[dict[int, int]] | None = None

    @property
    def rank(self) -> int:
        """How many independent rows were taken."""
        return len(self.basis)

    def take(self, row: Sequence[int]) -> None:
        """Add a row."""
        values = (*row, 1)
        if self.null is not None and not any(sum(weight * values[place] for place, weight in vector.items()) for vector in self.null):
            return
        vector = [Fraction(value) for value in values]
        for pivot, known in self.basis.items():
            if vector[pivot]:
                scale = vector[pivot]
                vector = [a - scale * b for a, b in zip(vector, known, strict=True)]
        lead = next((place for place in reversed(range(len(vector))) if vector[place]), None)
        if lead is None:
            return
        scale = vector[lead]
        vector = [value / scale for value in vector]
        for pivot, known in self.basis.items():
            if known[lead]:
                factor = known[lead]
                self.basis[pivot] = [a - factor * b for a, b in zip(known, vector, strict=True)]
        self.basis[lead] = vector
        self.null = [self._vector(place) for place in range(len(values)) if place not in self.basis]

    def _vector(self, free: int) -> dict[int, int]:
        """The null vector with a weight at one free place, as coprime integers."""
        weights = {free: Fraction(1)}
        for pivot, known in self.basis.items():
            if known[free]:
                weights[pivot] = -known[free]
        scale = lcm(*(weight.denominator for weight in weights.values()))
        whole = {place: int(weight * scale) for place, weight in weights.items()}
        shrink = gcd(*whole.values())
        return {place: weight // shrink for place, weight in whole.items()}

    def equations(self) -> list[Formula]:
        """The equations, positive terms on the left."""
        return [self._equation(vector) for vector in self.null or ()]

    def _equation(self, vector: dict[int, int]) -> Formula:
        left: list[Index] = []
        right: list[Index] = []
        for place in sorted(vector):
            weight = vector[place]
            term: Index = self.terms[place] if place < len(self.terms) else Const(1)
            (left if weight > 0 else right).append(mul(Const(abs(weight)), term))
        return eq(add(*left), add(*right))
