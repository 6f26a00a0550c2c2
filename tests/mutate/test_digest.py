"""Obligations are known by the digest of their text, so formulas of one text must be one formula in meaning."""

from __future__ import annotations

from random import Random

from cachet_verify.core.index import And, Compare, Const, Div, Formula, Index, Max, Min, Mod, Not, Or, Product, Sum, Var, holds
from cachet_verify.core.spell import spell_formula

POINTS = [{"a": a, "b": b} for a in range(-5, 6) for b in (-4, -1, 0, 1, 3)]
COUNT = 20_000


def term(chance: Random, depth: int) -> Index:
    kind = chance.choice((0, 1, 1, 2, 2, 2, 4, 4, 5, 6, 7, 8)) if depth else chance.choice((0, 1, 1))
    if kind == 0:
        return Const(chance.choice((-1, 1)))
    if kind == 1:
        return Var(chance.choice("ab"))
    if kind == 2:
        return Sum(tuple(term(chance, depth - 1) for _ in range(chance.choice((2, 3)))))
    made = {4: Product, 5: Div, 6: Mod, 7: Min, 8: Max}[kind]
    return made(term(chance, depth - 1), term(chance, depth - 1))


def formula(chance: Random, depth: int) -> Formula:
    kind = chance.randrange(5) if depth else 0
    if kind <= 1:
        return Compare(chance.choice(("==", "<")), term(chance, 2), Var("b"))
    if kind == 2:
        return Not(formula(chance, depth - 1))
    parts = tuple(formula(chance, depth - 1) for _ in range(chance.choice((2, 3))))
    return And(parts) if kind == 3 else Or(parts)


def truth(node: Formula, at: dict[str, int]) -> bool | None:
    """The truth of a formula; None where it divides by zero."""
    try:
        return holds(node, at)
    except ZeroDivisionError:
        return None


def test_formulas_of_one_text_are_true_alike() -> None:
    chance, known = Random(5), {}
    shared = 0
    for _ in range(COUNT):
        node = formula(chance, chance.choice((0, 0, 1)))
        other = known.setdefault(spell_formula(node), node)
        if other != node:
            shared += 1
            assert [truth(node, at) for at in POINTS] == [truth(other, at) for at in POINTS], spell_formula(node)
    assert shared > 0
