"""Both encodings mean what the evaluator says, for every assignment tried, by both solvers."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings

from cachet_verify.core import index
from cachet_verify.core.index import Const, Formula, Var
from cachet_verify.encodings import second
from cachet_verify.encodings.first import FirstEncoder
from cachet_verify.encodings.script import Script
from cachet_verify.kernel.obligation import Obligation
from tests.encodings.direct import ASK
from tests.encodings.random_term import FORMULAS, VALUATIONS, divides_by_zero

FIRST = FirstEncoder()
SIGNED = [(7, 2), (7, -2), (-7, 2), (-7, -2), (6, 3), (6, -3), (-6, 3), (-6, -3), (0, 5), (0, -5), (1, 9), (-1, 9), (1, -9), (-1, -9)]
BIG = [(2**61 - 1, 3), (-(2**61) + 1, 3), (2**80 + 1, -7), (2**53 + 1, 2)]


def encodings(obligation: Obligation) -> dict[str, Script]:
    return {"first": FIRST.encode(obligation), "second": second.encode(obligation)}


def fixed(at: dict[str, int]) -> tuple[Formula, ...]:
    return tuple(index.Compare("==", Var(name), Const(value)) for name, value in at.items())


@settings(max_examples=150, deadline=None)
@given(FORMULAS, VALUATIONS)
def test_a_formula_at_a_valuation_has_its_value(formula: Formula, at: dict[str, int]) -> None:
    assume(not divides_by_zero(formula, at))
    expected = "unsat" if index.holds(formula, at) else "sat"
    for name, script in encodings(Obligation("", fixed(at), formula)).items():
        for solver, ask in ASK.items():
            assert ask(script.text) == expected, (name, solver, script.text)


@settings(max_examples=60, deadline=None)
@given(FORMULAS, VALUATIONS)
def test_encoding_a_formula_removes_no_assignment(formula: Formula, at: dict[str, int]) -> None:
    """Also where it divides by zero: the formula or its negation is possible, in both encodings."""
    either = index.Or((formula, index.Not(formula)))
    for name, script in encodings(Obligation("", (*fixed(at), either), index.FALSE)).items():
        for solver, ask in ASK.items():
            assert ask(script.text) == "sat", (name, solver, script.text)


@pytest.mark.parametrize("is_literal", [True, False], ids=["literal", "symbolic"])
@pytest.mark.parametrize("pair", SIGNED + BIG, ids=str)
def test_floor_division_of_every_sign_pair(pair: tuple[int, int], is_literal: bool) -> None:
    x, c = Var("x"), Var("c")
    divisor = Const(pair[1]) if is_literal else c
    premises = fixed({"x": pair[0]}) if is_literal else fixed({"x": pair[0], "c": pair[1]})
    for term, value in ((index.Div(x, divisor), pair[0] // pair[1]), (index.Mod(x, divisor), pair[0] % pair[1])):
        for wanted, answer in ((value, "unsat"), (value + 1, "sat"), (value - 1, "sat")):
            goal = index.Compare("==", term, Const(wanted))
            for name, script in encodings(Obligation("", premises, goal)).items():
                assert ASK["z3"](script.text) == answer, (name, term, wanted)
                assert ASK["cvc5"](script.text) == answer, (name, term, wanted)


def test_a_quotient_by_zero_may_be_anything() -> None:
    zero = (index.eq(Var("c"), Const(0)),)
    for divisor in (Var("c"), Const(0)):
        for value in (-3, 0, 5):
            for kind in (index.Div, index.Mod):
                wanted = index.Compare("==", kind(Var("x"), divisor), Const(value))
                for script in encodings(Obligation("", (*zero, wanted), index.FALSE)).values():
                    assert ASK["z3"](script.text) == "sat"
                    assert ASK["cvc5"](script.text) == "sat"


def test_a_divisor_that_is_not_zero_is_not_assumed() -> None:
    """A division in one premise must not prove, of another formula, that its divisor is not zero."""
    mentions = index.Compare("<=", index.Div(Var("x"), Var("c")), Var("y"))
    for script in encodings(Obligation("", (mentions,), index.ne(Var("c"), Const(0)))).values():
        assert ASK["z3"](script.text) == "sat"
        assert ASK["cvc5"](script.text) == "sat"
