"""Rounded sums: each follows from the premises it is made of, and those that were worked out by hand are found."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cachet_verify.core.index import ONE, ZERO, Const, Div, Formula, Index, Product, Var, add, eq, holds, le, lt, mul
from cachet_verify.kernel.generalise import lift_rounded, rounded
from cachet_verify.kernel.obligation import Answer, Obligation, Proved, Refuted, Undecided
from cachet_verify.kernel.tighten import tighten
from tests.kernel.solve import answer

g, G, N, r = Var("g"), Var("G"), Var("N"), Var("r")
NAMES = ("g", "G", "N", "r")


def four(term: Index) -> Index:
    return mul(Const(4), term)


def made(*premises: Formula) -> tuple[Formula, ...]:
    return tighten(Obligation("x", premises, le(ZERO, ZERO))).premises[len(premises) :]


def test_a_multiple_below_a_multiple_is_a_whole_step_below() -> None:
    # 4g < N <= 4G: 4g - 4G + 1 <= 0, so g - G + 1 <= 0 once 1/4 is rounded up.
    (found,) = made(lt(four(g), N), le(N, four(G)))
    assert all(holds(found, {"g": a, "G": b}) == (a < b) for a in range(-3, 4) for b in range(-3, 4))


def test_the_number_is_rounded_away_from_what_holds() -> None:
    # 4g + 6 <= N <= 4G: g + 6/4 <= G, so g + 2 <= G.
    (found,) = made(le(add(four(g), Const(6)), N), le(N, four(G)))
    assert all(holds(found, {"g": a, "G": b}) == (a + 2 <= b) for a in range(-3, 4) for b in range(-3, 4))


@pytest.mark.parametrize(
    "premises",
    [
        (le(four(g), N), le(N, four(G))),  # nothing to round
        (lt(four(g), N), le(N, mul(Const(3), G))),  # nothing is shared
        (lt(four(g), N), le(four(G), N)),  # N does not fall out
        (lt(four(g), N),),
    ],
)
def test_where_nothing_is_rounded_the_obligation_is_left_alone(premises: tuple[Formula, ...]) -> None:
    obligation = Obligation("x", premises, lt(g, G))
    assert tighten(obligation) is obligation


def terms() -> st.SearchStrategy[Index]:
    known: list[Index] = [*map(Var, NAMES), Div(N, Const(3)), Product(g, r)]
    weighted = st.tuples(st.integers(-6, 6), st.sampled_from(known))
    parts = st.lists(weighted.map(lambda pair: mul(Const(pair[0]), pair[1])), max_size=3)
    return st.tuples(parts, st.integers(-9, 9)).map(lambda pair: add(*pair[0], Const(pair[1])))


PREMISES = st.lists(st.tuples(st.sampled_from((lt, le, eq)), terms(), terms()).map(lambda item: item[0](item[1], item[2])), max_size=4)


@settings(max_examples=300, deadline=None)
@given(PREMISES, st.lists(st.fixed_dictionaries({name: st.integers(-9, 9) for name in NAMES}), min_size=20, max_size=20))
def test_what_is_added_holds_wherever_the_premises_do(premises: list[Formula], points: list[dict[str, int]]) -> None:
    more = made(*premises)
    for point in points:
        if all(holds(part, point) for part in premises):
            assert all(holds(part, point) for part in more)


@settings(max_examples=60, deadline=None)
@given(PREMISES)
def test_what_is_added_follows(premises: list[Formula]) -> None:
    for extra in made(*premises):
        assert answer(Obligation("x", tuple(premises), extra)) == "unsat"


def test_verdicts_on_the_rounded_form_are_verdicts_on_the_obligation() -> None:
    obligation = Obligation("x", (lt(four(g), N), le(N, four(G))), lt(add(four(g), Const(3)), four(G)))
    form = rounded(obligation)
    assert form.digest() != obligation.digest()
    answers = (Answer("z3", "1", "unsat"), Answer("cvc5", "1", "unsat"))
    assert lift_rounded(obligation, Proved(form.digest(), answers)) == Proved(obligation.digest(), answers)
    assert lift_rounded(obligation, Refuted(form.digest(), {"g": 0}, answers)) == Refuted(obligation.digest(), {"g": 0}, answers)
    assert lift_rounded(obligation, Undecided(form.digest(), "rlimit")) == Undecided(obligation.digest(), "rlimit")
    with pytest.raises(ValueError, match="generalised"):
        lift_rounded(obligation, Proved(obligation.digest(), answers))


def test_a_model_of_a_product_form_is_no_model() -> None:
    obligation = Obligation("x", (lt(four(g), N), le(N, four(G)), le(ONE, Product(g, r))), lt(G, g))
    assert isinstance(lift_rounded(obligation, Refuted(rounded(obligation).digest(), {}, ())), Undecided)
