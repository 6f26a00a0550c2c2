"""The linear form of an obligation is stronger: a point that breaks the original breaks it too."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cachet_verify.core.index import (
    Const,
    Div,
    Formula,
    Index,
    Max,
    Min,
    Mod,
    Product,
    Var,
    add,
    conj,
    disj,
    eq,
    evaluate,
    holds,
    le,
    lt,
    ne,
    neg,
    variables,
)
from cachet_verify.kernel.generalise import _Naming as Naming
from cachet_verify.kernel.generalise import generalise, is_nonlinear, lift
from cachet_verify.kernel.obligation import Answer, Failed, Obligation, Proved, Refuted, Undecided
from tests.kernel.solve import answer

NAMES = ("M", "N", "i", "j")


def terms() -> st.SearchStrategy[Index]:
    leaves = st.one_of(st.sampled_from(NAMES).map(Var), st.integers(-4, 4).map(Const))

    def grow(inner: st.SearchStrategy[Index]) -> st.SearchStrategy[Index]:
        pairs = st.tuples(inner, inner)
        return st.one_of(
            pairs.map(lambda pair: add(*pair)),
            pairs.map(lambda pair: Product(*pair)),
            pairs.map(lambda pair: Div(*pair)),
            pairs.map(lambda pair: Mod(*pair)),
            pairs.map(lambda pair: Min(*pair)),
            pairs.map(lambda pair: Max(*pair)),
        )

    return st.recursive(leaves, grow, max_leaves=6)


def formulas() -> st.SearchStrategy[Formula]:
    atoms = st.tuples(st.sampled_from((eq, ne, le, lt)), terms(), terms()).map(lambda parts: parts[0](parts[1], parts[2]))

    def grow(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
        some = st.lists(inner, min_size=1, max_size=3)
        return st.one_of(some.map(conj), some.map(disj), inner.map(neg))

    return st.recursive(atoms, grow, max_leaves=4)


def meant(naming: Naming, point: dict[str, int]) -> dict[str, int]:
    """The values the new variables stand for; a quotient by zero or less may have any, and gets 0."""
    values = dict(point)

    def known(term: Index) -> int:
        for name in variables(term):
            product = 1
            for part in name.split("*"):
                product *= values[part]
            values[name] = product
        return evaluate(term, values)

    for (dividend, divisor), name in naming.quotients.items():
        top, bottom = known(dividend), known(divisor)
        is_quotient = name.startswith("quotient")
        values[name] = (top // bottom if bottom else 0) if is_quotient else top
    return values


@settings(max_examples=150, deadline=None)
@given(st.lists(formulas(), max_size=2), formulas(), st.fixed_dictionaries({name: st.integers(-3, 5) for name in NAMES}))
def test_what_breaks_an_obligation_breaks_its_linear_form(premises: list[Formula], goal: Formula, point: dict[str, int]) -> None:
    try:
        if not all(holds(part, point) for part in premises) or holds(goal, point):
            return
    except ZeroDivisionError:
        return
    naming = Naming()
    held = [naming.formula(part) for part in premises]
    aim = naming.formula(goal)
    facts = [*held, *naming.definitions, *naming.lemmas()]
    values = meant(naming, point)
    for name in {name for part in (*facts, aim) for name in variables(part)} - set(values):
        product = 1
        for part in name.split("*"):
            product *= values[part]
        values[name] = product
    assert all(holds(part, values) for part in facts)
    assert not holds(aim, values)


def test_a_linear_obligation_is_left_alone() -> None:
    obligation = Obligation("x", (lt(Var("i"), Var("N")),), le(add(Var("i"), Const(1)), Var("N")))
    assert not is_nonlinear(obligation)
    assert generalise(obligation) is obligation


def test_only_a_proof_of_the_linear_form_is_lifted() -> None:
    obligation = Obligation("x", (), eq(Product(Var("M"), Var("N")), Product(Var("N"), Var("M"))))
    linear = generalise(obligation)
    answers = (Answer("z3", "1", "unsat"), Answer("cvc5", "1", "unsat"))
    assert lift(obligation, Proved(linear.digest(), answers)) == Proved(obligation.digest(), answers)
    assert isinstance(lift(obligation, Refuted(linear.digest(), {}, answers)), Undecided)
    assert isinstance(lift(obligation, Undecided(linear.digest(), "rlimit")), Undecided)
    assert isinstance(lift(obligation, Failed(linear.digest(), "conflict")), Failed)
    with pytest.raises(ValueError, match="generalised"):
        lift(obligation, Proved(obligation.digest(), answers))


def test_a_factor_is_compared_with_the_multiple_it_is_below() -> None:
    """`l < 4*q` and `j < N` keep `l*N + j` below `4*q*N`, whatever else `l` is below; at `l <= 4*q` they do not."""

    def asked(last: Formula) -> Obligation:
        bounds = (le(Const(0), Var("l")), lt(Var("l"), Var("far")), last, le(Const(0), Var("j")), lt(Var("j"), Var("N")))
        row = add(Product(Var("l"), Var("N")), Var("j"))
        return generalise(Obligation("", bounds, lt(row, Product(Const(4), Product(Var("q"), Var("N"))))))

    multiple = Product(Const(4), Var("q"))
    assert answer(asked(lt(Var("l"), multiple))) == "unsat"
    assert answer(asked(le(Var("l"), multiple))) == "sat"
