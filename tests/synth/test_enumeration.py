"""Going through the values: what evaluation shows is so by brute force, and a wrong certificate is refused."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cachet_verify.core.compiled import defined, formula_text, term_text
from cachet_verify.core.index import FALSE, TRUE, ZERO, Const, Formula, Var, add, conj, eq, evaluate, holds, le, lt, mod, mul, ne
from cachet_verify.kernel.claim import Entails, RuleError
from cachet_verify.kernel.enumeration import by_values
from tests.kernel.solve import invalid, valid
from tests.optimum.random_problem import condition, term

n, m = Var("n"), Var("m")
SMALL: tuple[Formula, ...] = (le(Const(1), n), le(n, Const(9)), le(Const(1), m), le(m, n))
RANGES = (("n", 1, 9), ("m", 1, 9))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.tuples(*[st.integers(-9, 9)] * 3))
def test_the_text_of_a_term_means_what_the_term_does(seed: int, values: tuple[int, ...]) -> None:
    chance = Random(seed)
    names = ("x", "y", "z")
    places = {name: place for place, name in enumerate(names)}
    at = dict(zip(names, values, strict=True))
    made, needs = term(chance, names, 4), condition(chance, names)
    heads = "def f(v0, v1, v2):\n  return "
    assert defined(heads + term_text(made, places), "f")(*values) == evaluate(made, at)
    assert defined(heads + formula_text(needs, places), "f")(*values) == holds(needs, at)


@pytest.mark.parametrize("seed", range(60))
def test_an_entailment_is_given_exactly_where_brute_force_finds_no_exception(seed: int) -> None:
    chance = Random(seed)
    names = ("n", "m")
    premises = (*SMALL, condition(chance, names))
    goal = condition(chance, names)
    points = [{"n": a, "m": b} for a, b in product(range(-2, 12), repeat=2)]
    holds_everywhere = all(holds(goal, at) for at in points if all(holds(part, at) for part in premises))
    if holds_everywhere:
        made = by_values(premises, goal, RANGES, SMALL)
        assert made.statement == Entails(premises, goal)
        assert valid(made)
        return
    with pytest.raises(RuleError, match="some values meet the premises and not the goal") as caught:
        by_values(premises, goal, RANGES, SMALL)
    (values,) = caught.value.terms
    at = dict(zip(names, values, strict=True))  # type: ignore[call-overload]
    assert all(holds(part, at) for part in premises)
    assert not holds(goal, at)


@pytest.mark.parametrize("ends", [(2, 9), (1, 8), (5, 4)])
def test_ranges_that_leave_values_out_are_not_proved(ends: tuple[int, int]) -> None:
    # m * n > 81 has no solution, wherever one looks; but the solvers are asked where n can be.
    made = by_values(SMALL, le(mul(n, m), Const(81)), (("n", *ends), ("m", 1, 9)), SMALL)
    assert f"n is from {ends[0]} to {ends[1]}" in invalid(made)


def test_what_bounds_the_names_is_among_the_premises() -> None:
    with pytest.raises(RuleError, match="no premise"):
        by_values((le(Const(1), n),), le(n, Const(9)), (("n", 1, 9),), (le(n, Const(9)),))


@pytest.mark.parametrize("ranges", [(("n", 1, 9),), (("n", 1, 9), ("n", 1, 9)), (("n", 1, 9), ("n", 2, 9), ("m", 1, 9)), ()])
def test_each_name_has_one_range(ranges: tuple[tuple[str, int, int], ...]) -> None:
    with pytest.raises(RuleError, match="a range for each variable"):
        by_values(SMALL, le(m, Const(9)), ranges, SMALL)


def test_a_divisor_of_0_is_no_proof() -> None:
    premises = (le(ZERO, n), le(n, Const(4)), ne(mod(Const(4), n), Const(7)))
    with pytest.raises(RuleError, match="divisor"):
        by_values(premises, le(n, Const(4)), (("n", 0, 4),), premises)


def test_a_divisor_of_0_that_a_premise_before_it_rules_out_is_none() -> None:
    premises = (lt(ZERO, n), le(n, Const(4)), eq(mod(Const(4), n), ZERO))
    assert valid(by_values(premises, ne(n, Const(3)), (("n", 0, 4),), premises))


def test_too_many_values_are_refused_at_once() -> None:
    with pytest.raises(RuleError, match="more than"):
        by_values((), TRUE, (("n", 1, 10**4), ("m", 1, 10**4)), ())


def test_what_is_false_of_no_name_is_seen() -> None:
    assert valid(by_values((*SMALL, FALSE), lt(n, m), RANGES, SMALL))
    with pytest.raises(RuleError, match="some values"):
        by_values(SMALL, FALSE, RANGES, SMALL)
    assert valid(by_values((*SMALL, conj((lt(n, m), le(add(n, m), Const(3))))), FALSE, RANGES, SMALL))
