"""The search finds what going through every value finds; narrowing loses no solution."""

from __future__ import annotations

from random import Random

import pytest

from cachet_verify.core.index import ONE, ZERO, Const, Var, add, ceil_div, conj, eq, holds, le, lt, mod, mul
from cachet_verify.optimum.interval import EVERYTHING, narrow
from cachet_verify.optimum.problem import Found, Infeasible, Problem, TooMany, Unbounded
from cachet_verify.optimum.search import search
from tests.optimum.random_problem import problem, solutions

n, m = Var("n"), Var("m")


@pytest.mark.parametrize("seed", range(80))
def test_the_first_candidates_are_those_of_brute_force(seed: int) -> None:
    made = problem(Random(seed))
    expected = sorted(solutions(made))[:3]
    outcome = search(made, 3)
    if expected:
        assert isinstance(outcome, Found)
        assert list(outcome.best) == expected
    else:
        assert isinstance(outcome, Infeasible)


@pytest.mark.parametrize("seed", range(80))
def test_narrowing_loses_no_solution(seed: int) -> None:
    made = problem(Random(seed))
    box = narrow(made.conditions, dict.fromkeys(made.names, EVERYTHING))
    for found in solutions(made):
        assert box is not None
        assert all(box[name][0] <= value <= box[name][1] for name, value in zip(made.names, found.values, strict=True))


@pytest.mark.parametrize("seed", range(80))
def test_a_conflict_has_no_solution_and_is_least_where_it_says_so(seed: int) -> None:
    made = problem(Random(seed))
    outcome = search(made)
    if not isinstance(outcome, Infeasible):
        return
    conflict = [made.conditions[place] for place in outcome.conflict]
    everywhere = solutions(Problem(made.names, (), ZERO, ONE), (40, 20, 9)[len(made.names) - 1])
    wide = [dict(zip(made.names, found.values, strict=True)) for found in everywhere]
    assert not any(all(holds(part, at) for part in conflict) for at in wide)
    if outcome.is_least and len(made.names) == 1:
        for left_out in conflict:
            rest = [part for part in conflict if part is not left_out]
            assert any(all(holds(part, at) for part in rest) for at in wide)


def chains(most: int) -> Problem:
    """Four rows of `n` elements in vectors of four, and sixteen vectors wanted."""
    return Problem(("n",), (lt(ZERO, n), le(n, Const(most)), eq(mod(n, Const(4)), ZERO), le(Const(16), mul(Const(4), ceil_div(n, Const(4))))), n, ONE)


def test_sixteen_is_the_least_width_that_fills_the_pipes() -> None:
    outcome = search(chains(64), 3)
    assert isinstance(outcome, Found)
    assert [item.values for item in outcome.best] == [(16,), (20,), (24,)]


def test_the_conditions_that_conflict_are_named_and_no_others() -> None:
    # Below 12 there are no sixteen vectors; that n is above 0 and a multiple of 4 is not to blame.
    assert search(chains(12)) == Infeasible((1, 3), True)


@pytest.mark.parametrize(
    ("conditions", "outcome"),
    [
        ((lt(ZERO, n),), Unbounded("n", "above")),
        ((lt(n, ZERO),), Unbounded("n", "below")),
        ((le(ZERO, n), le(n, m)), Unbounded("n", "above")),
    ],
)
def test_a_name_without_a_bound_is_named(conditions: tuple[object, ...], outcome: Unbounded) -> None:
    assert search(Problem(("n", "m"), conditions, n, ONE)) == outcome  # type: ignore[arg-type]


def test_bounds_are_derived_through_sums_products_and_quotients() -> None:
    conditions = (le(ONE, n), le(ONE, m), le(mul(n, m), Const(30)), le(add(n, ceil_div(m, Const(4))), Const(9)))
    outcome = search(Problem(("n", "m"), conditions, add(mul(Const(-5), n), mul(Const(-1), m)), ONE))
    assert isinstance(outcome, Found)
    assert outcome.best[0].values == (8, 3)  # n = 8 leaves one vector of m, and 8 * 3 <= 30: -43; n = 7 gives -35 - 4


def test_ties_go_to_the_lexicographically_least() -> None:
    conditions = tuple(part for name in (n, m) for part in (le(ONE, name), le(name, Const(6))))
    outcome = search(Problem(("n", "m"), (*conditions, eq(mul(n, m), Const(6))), add(mul(n, m), ZERO), ONE), 4)
    assert isinstance(outcome, Found)
    assert [item.values for item in outcome.best] == [(1, 6), (2, 3), (3, 2), (6, 1)]


def test_a_search_without_end_is_given_up() -> None:
    conditions = (le(ZERO, n), le(n, Const(10**12)), eq(mod(mul(n, n), Const(7)), Const(3)))  # no square is 3 modulo 7
    assert search(Problem(("n",), conditions, n, ONE), 1, 1000) == TooMany(1000)


def test_a_conjunction_may_hold_everything() -> None:
    outcome = search(Problem(("n",), (conj((le(Const(3), n), le(n, Const(5)))),), mul(Const(-1), n), ONE))
    assert isinstance(outcome, Found)
    assert outcome.best[0].values == (5,)
