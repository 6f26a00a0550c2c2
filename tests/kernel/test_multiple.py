"""What divides products: true of all integers, said only of what premises say, and no verdict carried over to another question."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cachet_verify.core.index import ZERO, Const, Formula, Product, Var, conj, disj, eq, holds, lt, mod, mul, ne, subterms
from cachet_verify.kernel.multiple import lift, linear, multiples
from cachet_verify.kernel.obligation import Answer, Obligation, Proved, Refuted, Undecided

X, Y, Z = Var("x"), Var("y"), Var("z")
FOURTH = mod(Product(X, Y), Const(4))


def divides(term: Var, by: int) -> Formula:
    return eq(mod(term, Const(by)), ZERO)


def about(*premises: Formula, term: Product | None = None) -> Obligation:
    return Obligation("", premises, lt(FOURTH if term is None else mod(term, Const(4)), Z))


@given(st.integers(-30, 30), st.integers(-30, 30), st.integers(-30, 30), st.integers(2, 9), st.integers(2, 9))
def test_what_is_added_holds_of_all_integers(x: int, y: int, z: int, first: int, second: int) -> None:
    obligation = about(divides(X, first), conj((divides(Z, second), lt(ZERO, Y))), term=Product(mul(Const(-6), X), Product(Y, Z)))
    assert multiples(obligation)
    assert all(holds(added, {"x": x, "y": y, "z": z}) for added in multiples(obligation))


def test_the_product_is_a_multiple_of_the_product_of_what_divides_its_factors() -> None:
    (added,) = multiples(about(divides(X, 2), divides(Y, 6)))
    for x, y in product(range(-6, 7), repeat=2):
        if x % 2 == 0 and y % 6 == 0:
            assert holds(eq(mod(Product(X, Y), Const(12)), ZERO), {"x": x, "y": y})
    assert Const(12) in subterms(added)


@pytest.mark.parametrize(
    "premise",
    [
        disj((divides(X, 4), divides(Y, 4))),
        eq(mod(X, Const(4)), Const(1)),
        ne(mod(X, Const(4)), ZERO),
        eq(mod(X, Y), ZERO),
        eq(mod(X, Const(-4)), ZERO),
        eq(mod(X, Const(0)), ZERO),
        eq(mod(Product(X, Y), Const(4)), ZERO),
        divides(Z, 4),
    ],
)
def test_nothing_is_said_where_no_premise_says_that_a_factor_is_a_multiple(premise: Formula) -> None:
    assert multiples(about(premise)) == ()


def test_a_verdict_on_another_question_is_refused_and_a_model_is_no_refutation() -> None:
    obligation = about(divides(X, 4))
    said = (Answer("test", "1", "unsat"),)
    digest = linear(obligation).digest()
    assert lift(obligation, Proved(digest, said)) == Proved(obligation.digest(), said)
    assert isinstance(lift(obligation, Refuted(digest, {"x": 0}, said)), Undecided)
    for other in (obligation, about(divides(X, 2))):
        with pytest.raises(ValueError, match="divides its products"):
            lift(obligation, Proved(other.digest(), said))
