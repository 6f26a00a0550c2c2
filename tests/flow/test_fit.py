"""Equations fitted to rows: all hold at every row, and there are as many as the rows leave free."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from cachet_verify.core.index import Var, holds
from cachet_verify.flow.fit import Span


def rank(rows: list[list[int]]) -> int:
    """By plain elimination."""
    left = [[Fraction(value) for value in row] for row in rows]
    found = 0
    while left:
        row = left.pop()
        place = next((place for place, value in enumerate(row) if value), None)
        if place is not None:
            found += 1
            left = [[a - other[place] / row[place] * b for a, b in zip(other, row, strict=True)] for other in left]
    return found


@pytest.mark.parametrize("seed", range(8))
def test_the_equations_of_rows_hold_of_them_and_no_others_do(seed: int) -> None:
    chance = Random(seed)
    for _ in range(40):
        width = chance.randint(1, 8)
        names = [f"x{place}" for place in range(width)]
        rows = [[chance.randint(-9, 30) for _ in names] for _ in range(chance.randint(1, width + 2))]
        for row in rows if seed % 2 else ():
            row[-1] = 3 * sum(row[:-1]) - 5
        span = Span(tuple(map(Var, names)), lambda *_: ())
        taken = [span.take(row) for row in rows]
        equations = span.equations()
        assert sum(taken) == span.rank == rank([[*row, 1] for row in rows])
        assert len(equations) == len(set(equations)) == width + 1 - span.rank
        assert all(holds(equation, dict(zip(names, row, strict=True))) for equation in equations for row in rows)
