"""What small divisors leave: true of all integers, enough where a solver is stuck, and no verdict carried over to another question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cachet_verify.core.index import ZERO, Const, Var, add, div, eq, holds, le, lt, mod, mul, ne, sub
from cachet_verify.kernel.obligation import Answer, Obligation, Proved, Refuted, Undecided
from cachet_verify.kernel.residue import lift, residues, with_residues

X, Y = Var("x"), Var("y")
SWAPPED = tuple(sub(add(term, Const(1)), mul(Const(2), mod(term, Const(2)))) for term in (X, Y))
PAIRS = Obligation("pairs", (le(ZERO, X), eq(*SWAPPED)), eq(X, Y))


@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(2, 16))
def test_what_is_added_holds_of_all_integers(x: int, y: int, divisor: int) -> None:
    about = Obligation("", (lt(mod(X, Const(divisor)), Y),), eq(div(sub(Y, X), Const(divisor)), ZERO))
    assert len(residues(about)) == 2
    assert all(holds(part, {"x": x, "y": y}) for part in residues(about))


def test_nothing_is_said_of_divisors_that_are_symbolic_large_zero_or_negative() -> None:
    """A divisor of 0 leaves anything, a negative one leaves negative numbers."""
    for divisor in (Y, Const(17), Const(0), Const(-2), Const(1)):
        assert residues(Obligation("", (lt(mod(X, divisor), Y),), ne(X, Y))) == ()


def test_the_question_is_the_same_one_but_for_what_is_added() -> None:
    asked = with_residues(PAIRS)
    assert asked.goal == PAIRS.goal
    assert asked.premises[:2] == PAIRS.premises
    assert not asked.can_refute


def test_a_verdict_on_another_question_is_refused_and_a_model_is_no_refutation() -> None:
    said = (Answer("test", "1", "unsat"),)
    digest = with_residues(PAIRS).digest()
    assert lift(PAIRS, Proved(digest, said)) == Proved(PAIRS.digest(), said)
    assert isinstance(lift(PAIRS, Refuted(digest, {"x": 0, "y": 1}, said)), Undecided)
    with pytest.raises(ValueError, match="residues"):
        lift(PAIRS, Proved(PAIRS.digest(), said))
    with pytest.raises(ValueError, match="residues"):
        lift(Obligation("", (), eq(X, Y)), Proved(digest, said))
