"""Obligations are matched to answers by their text: one text must not stand for two meanings."""

from __future__ import annotations

from random import Random

import pytest

from cachet_verify.core.index import (
    And,
    Compare,
    Const,
    Div,
    Formula,
    Index,
    Max,
    Min,
    Mod,
    Not,
    Or,
    Product,
    Sum,
    Truth,
    Var,
    evaluate,
    holds,
)
from cachet_verify.core.ir import Block, Param, Program, Store, Word
from cachet_verify.core.spell import spell, spell_formula
from cachet_verify.kernel.claim import RuleError
from cachet_verify.kernel.well_formed import well_formed

BINARY = (Product, Div, Mod, Min, Max)


def term(random: Random, depth: int) -> Index:
    """A raw term: no constructor has folded it."""
    if depth == 0 or random.random() < 0.2:
        return Var(random.choice("xy")) if random.random() < 0.6 else Const(random.choice([-2, -1, 0, 1, 2]))
    if random.random() < 0.35:
        return Sum(tuple(term(random, depth - 1) for _ in range(random.randint(2, 3))))
    return random.choice(BINARY)(term(random, depth - 1), term(random, depth - 1))


def formula(random: Random, depth: int) -> Formula:
    if depth == 0:
        relation = random.choice(["==", "!=", "<=", "<"])
        return Compare(relation, term(random, 1), term(random, 1)) if random.random() < 0.9 else Truth(random.random() < 0.5)  # type: ignore[arg-type]
    if random.random() < 0.3:
        return Not(formula(random, depth - 1))
    return random.choice((And, Or))(tuple(formula(random, depth - 1) for _ in range(2)))


POINTS = [{"x": x, "y": y} for x in (-7, -2, -1, 1, 3, 10) for y in (-5, -1, 2, 4)]


def meaning(node: Index) -> tuple[int | None, ...]:
    """The values at some points; None where a divisor is zero."""
    found: list[int | None] = []
    for at in POINTS:
        try:
            found.append(evaluate(node, at))
        except ZeroDivisionError:
            found.append(None)
    return tuple(found)


def truth(node: Formula) -> tuple[bool | None, ...]:
    found: list[bool | None] = []
    for at in POINTS:
        try:
            found.append(holds(node, at))
        except ZeroDivisionError:
            found.append(None)
    return tuple(found)


def test_terms_with_one_text_have_one_meaning() -> None:
    random, seen = Random(7), {}
    shared = 0
    for _ in range(30_000):
        node = term(random, random.randint(1, 3))
        text = spell(node)
        shared += text in seen
        values = meaning(node)
        assert seen.setdefault(text, values) == values, text
    assert shared > 1000


def test_formulas_with_one_text_have_one_meaning() -> None:
    random, seen = Random(11), {}
    for _ in range(15_000):
        node = formula(random, random.randint(0, 3))
        text = spell_formula(node)
        values = tuple(value for value in truth(node) if value is not None) if "floor" not in text and "%" not in text else truth(node)
        assert len(seen.setdefault(text, values)) == len(values), text
        assert seen[text] == values, text


@pytest.mark.parametrize("name", ["x - 1", "x + y", "", "1", "x\n|- true", "x == x", "|x|", "x,y", "-x"])
def test_a_name_that_reads_as_a_term_is_refused(name: str) -> None:
    program = Program("p", (name,), (Param("x", "out", "f32", (Var(name),)),), Block((Store("x", (Var(name),), Word("f32", 0)),)))
    with pytest.raises(RuleError, match="is no name"):
        well_formed(program)
