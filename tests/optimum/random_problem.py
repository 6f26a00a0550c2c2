"""Random small problems, and their solutions by going through every value.

Takes a source of chance; gives problems whose names run from 0 to a small bound. Must not use the search.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from random import Random

from cachet_verify.core.index import (
    Const,
    Formula,
    Index,
    Var,
    add,
    ceil_div,
    compare,
    conj,
    disj,
    div,
    evaluate,
    holds,
    le,
    maximum,
    minimum,
    mod,
    mul,
    neg,
)
from cachet_verify.optimum.problem import Candidate, Problem

NAMES = ("x", "y", "z")


def term(chance: Random, names: tuple[str, ...], depth: int) -> Index:
    """A term whose divisors are numbers other than 0."""
    if depth == 0 or chance.random() < 0.2:
        return Var(chance.choice(names)) if chance.random() < 0.7 else Const(chance.randint(-4, 9))
    one, other = term(chance, names, depth - 1), term(chance, names, depth - 1)
    number = Const(chance.choice((-3, -1, 1, 2, 3, 4)))
    return chance.choice(
        (add(one, other), add(one, mul(number, other)), mul(one, other), minimum(one, other), maximum(one, other))
        + (div(one, number), mod(one, number), ceil_div(one, number))
    )


def condition(chance: Random, names: tuple[str, ...]) -> Formula:
    """A comparison, or a few of them joined."""
    made = compare(chance.choice(("==", "!=", "<=", "<")), term(chance, names, 2), term(chance, names, 1))  # type: ignore[arg-type]
    shape = chance.random()
    if shape < 0.7:
        return made
    other = compare("<=", term(chance, names, 1), term(chance, names, 1))
    return neg(conj((made, other))) if shape < 0.8 else disj((made, other))


def problem(chance: Random, most: int = 6) -> Problem:
    """Up to three names from 0 to a bound, under up to three more conditions; the denominator of the cost is above 0."""
    names = NAMES[: chance.randint(1, 3)]
    bounds = [part for name in names for part in (le(Const(0), Var(name)), le(Var(name), Const(chance.randint(1, most))))]
    others = [condition(chance, names) for _ in range(chance.randint(0, 3))]
    denominator = add(Var(chance.choice(names)), Const(chance.randint(1, 3))) if chance.random() < 0.4 else Const(1)
    return Problem(names, (*bounds, *others), term(chance, names, 2), denominator)


def solutions(made: Problem, reach: int = 8) -> Iterator[Candidate]:
    """Every candidate with values from -reach to reach."""
    for values in product(range(-reach, reach + 1), repeat=len(made.names)):
        at = dict(zip(made.names, values, strict=True))
        if all(holds(part, at) for part in made.conditions):
            yield Candidate(Fraction(evaluate(made.numerator, at), evaluate(made.denominator, at)), values)
