"""Cases, and least values: a certificate is valid exactly for what brute force finds; anything else is refused."""

from __future__ import annotations

from random import Random

import pytest

from cachet_verify.core.index import FALSE, ONE, ZERO, Const, Var, add, eq, le, lt, mod, mul
from cachet_verify.kernel.claim import Claim, Entails, Minimal, RuleError, entails
from cachet_verify.kernel.optimum import by_cases, minimal, needed
from cachet_verify.optimum.problem import Candidate, Problem
from tests.kernel.solve import claimed, invalid, valid
from tests.optimum.random_problem import problem, solutions

n, m = Var("n"), Var("m")


def statement(made: Problem, chosen: Candidate) -> Minimal:
    cost = (chosen.cost.numerator, chosen.cost.denominator)
    return Minimal(made.names, made.conditions, made.numerator, made.denominator, chosen.values, cost)


def holds_by_solver(said: Minimal) -> bool:
    """Whether every entailment that is needed is valid, the last by cases over the first name."""
    *others, (last, subject) = needed(said)
    ranges = ((said.names[0], -1, 8),)
    return all(valid(entails(part.premises, part.goal, "")) for part, _ in others) and valid(by_cases(last.premises, last.goal, ranges, subject))


@pytest.mark.parametrize("seed", range(25))
def test_only_the_least_candidate_has_a_certificate(seed: int) -> None:
    made = problem(Random(seed), 4)
    found = sorted(solutions(made))
    for chosen in found[:3]:
        assert holds_by_solver(statement(made, chosen)) == (chosen == found[0])


def test_values_that_do_not_satisfy_have_none() -> None:
    made = Problem(("n",), (le(Const(3), n), le(n, Const(9))), n, ONE)
    best = Minimal(made.names, made.conditions, n, ONE, (3,), (3, 1))
    assert holds_by_solver(best)
    assert not holds_by_solver(Minimal(made.names, made.conditions, n, ONE, (2,), (2, 1)))
    assert not holds_by_solver(Minimal(made.names, made.conditions, n, ONE, (4,), (3, 1)))
    assert not holds_by_solver(Minimal(made.names, made.conditions, n, ONE, (3,), (2, 1)))


def test_a_divisor_that_can_be_zero_is_asked_before_it_divides() -> None:
    guarded = Minimal(("n",), (lt(ZERO, n), le(n, Const(4)), eq(mod(Const(4), n), ZERO)), n, ONE, (1,), (1, 1))
    late = Minimal(("n",), (eq(mod(Const(4), n), ZERO), lt(ZERO, n), le(n, Const(4))), n, ONE, (1,), (1, 1))
    assert [subject for part, subject in needed(guarded) if not valid(entails(part.premises, part.goal, ""))] == []
    assert [subject for part, subject in needed(late) if not valid(entails(part.premises, part.goal, ""))] == ["a divisor is not 0"]


def test_a_cost_with_a_denominator_that_can_be_negative_is_not_minimal() -> None:
    # 1 / n over -2 .. -1 is compared with the wrong sign when it is multiplied out.
    said = Minimal(("n",), (le(Const(-2), n), lt(n, ZERO)), ONE, n, (-1,), (-1, 1))
    assert "the divisor of the cost is above 0" in [subject for part, subject in needed(said) if not valid(entails(part.premises, part.goal, ""))]


SAID = Minimal(("n",), (le(Const(3), n), le(n, Const(9))), n, ONE, (3,), (3, 1))


def claims(said: Minimal) -> tuple[Claim, ...]:
    return tuple(claimed(entails(part.premises, part.goal, subject)) for part, subject in needed(said))


def test_every_claim_is_needed_and_of_these_values() -> None:
    made = claims(SAID)
    assert minimal(SAID, made).statement == SAID
    for place, (_, subject) in enumerate(needed(SAID)):
        with pytest.raises(RuleError, match=f"not claimed: {subject}"):
            minimal(SAID, made[:place] + made[place + 1 :])
    with pytest.raises(RuleError, match="not claimed"):
        minimal(Minimal(SAID.names, SAID.conditions, n, ONE, (4,), (4, 1)), made)
    with pytest.raises(RuleError, match="not claimed"):
        minimal(Minimal(SAID.names, (*SAID.conditions, le(Const(5), n)), n, ONE, (3,), (3, 1)), made)


@pytest.mark.parametrize(
    ("names", "values", "cost"), [(("n", "m"), (3,), (3, 1)), (("n", "n"), (3, 3), (3, 1)), (("n",), (3,), (3, -1)), (("n",), (3,), (0, 0))]
)
def test_a_statement_that_says_nothing_is_refused(names: tuple[str, ...], values: tuple[int, ...], cost: tuple[int, int]) -> None:
    with pytest.raises(RuleError, match="a value for each name|no fraction"):
        minimal(Minimal(names, SAID.conditions, n, ONE, values, cost), claims(SAID))


# --- cases -------------------------------------------------------------------------------------

PREMISES = (le(ONE, n), le(n, Const(5)), le(ZERO, m), le(mul(n, m), Const(20)))


def test_an_entailment_follows_from_its_cases() -> None:
    goal = by_cases(PREMISES, le(add(n, m), Const(21)), (("n", 1, 5),), "the sum")
    assert goal.statement == Entails(PREMISES, le(add(n, m), Const(21)))
    assert invalid(goal) == []
    assert invalid(by_cases(PREMISES, le(add(n, m), Const(20)), (("n", 1, 5),), "the sum")) == ["the sum"]


@pytest.mark.parametrize("ends", [(2, 5), (1, 4), (3, 3), (5, 1)])
def test_ranges_that_leave_values_out_are_asked(ends: tuple[int, int]) -> None:
    assert f"n is from {ends[0]} to {ends[1]}" in invalid(by_cases(PREMISES, FALSE, (("n", *ends),), "nothing"))


def test_too_many_cases_are_refused() -> None:
    with pytest.raises(RuleError, match="more than 100000 cases"):
        by_cases((), FALSE, (("n", 1, 1000), ("m", 1, 1000)), "nothing")


def test_an_entailment_is_asked_by_premises_of_its_own_alone() -> None:
    premises = (le(ONE, n), le(mul(n, n), Const(9)))
    made = entails(premises, lt(ZERO, n), "x", premises[:1])
    assert valid(made)
    assert made.statement == Entails(premises, lt(ZERO, n))
    assert invalid(entails(premises, le(n, Const(3)), "x", premises[:1])) == ["x"]
    with pytest.raises(RuleError, match="no premise"):
        entails(premises, le(n, Const(3)), "x", (*premises, le(n, Const(3))))
