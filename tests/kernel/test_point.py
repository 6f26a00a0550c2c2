"""An obligation at some values: only a refutation there says anything, and what is proposed breaks the obligation."""

from __future__ import annotations

from random import Random

import pytest

from cachet_verify.core.index import ONE, ZERO, Const, Mod, Product, Var, ceil_div, eq, holds, le, lt, mul
from cachet_verify.kernel.obligation import Answer, Failed, Obligation, Proved, Refuted, Undecided
from cachet_verify.kernel.point import at_point, refuted_at
from cachet_verify.solver.point import small_point
from tests.kernel.solve import answer
from tests.optimum.random_problem import condition

M, N = Var("M"), Var("N")
SQUARE = Obligation("x", (le(ZERO, M), le(ZERO, N)), lt(Product(M, M), Product(N, Const(6))))


def test_the_first_small_values_that_break_an_obligation() -> None:
    # 0 < 0 is false at once.
    assert small_point(SQUARE) == {"M": 0, "N": 0}
    assert small_point(Obligation("x", (le(ONE, N), le(N, M)), lt(Product(M, M), Product(N, Const(6))))) == {"M": 3, "N": 1}


@pytest.mark.parametrize(
    "obligation",
    [
        Obligation("x", (le(ZERO, M),), le(ZERO, Product(M, M))),
        Obligation("x", (le(Const(10**6), M),), lt(M, Product(M, M))),
        Obligation("x", (), eq(Mod(Const(4), M), ZERO)),
        Obligation("x", tuple(le(ZERO, Var(f"v{place}")) for place in range(12)), lt(ZERO, ZERO)),
    ],
)
def test_nothing_is_proposed_where_nothing_small_breaks_it(obligation: Obligation) -> None:
    assert small_point(obligation) is None


def test_values_next_to_numbers_break_what_no_small_ones_do() -> None:
    """With both at 513 there are 2 * 2 blocks of 512 and twice 1 * 1 of 1024; four times those are always enough."""
    blocks = Product(ceil_div(M, Const(512)), ceil_div(N, Const(512)))
    double = mul(Const(2), Product(ceil_div(M, Const(1024)), ceil_div(N, Const(1024))))
    assert small_point(Obligation("x", (le(ZERO, M), le(ZERO, N)), le(blocks, double))) == {"M": 513, "N": 513}
    four = mul(Const(2), double)
    assert small_point(Obligation("x", (le(ZERO, M), le(ZERO, N)), le(blocks, four))) is None


@pytest.mark.parametrize("seed", range(40))
def test_what_is_proposed_breaks_it(seed: int) -> None:
    chance = Random(seed)
    obligation = Obligation("x", (condition(chance, ("x", "y")),), condition(chance, ("x", "y")))
    values = small_point(obligation)
    points = [{"x": x, "y": y} for x in range(61) for y in range(61)]
    broken = [at for at in points if all(holds(part, at) for part in obligation.premises) and not holds(obligation.goal, at)]
    assert (values is None) == (broken == [])
    if values is not None:
        assert {**{"x": 0, "y": 0}, **values} in broken
        assert answer(at_point(obligation, values)) == "sat"


def test_only_a_refutation_is_taken_over() -> None:
    values = {"M": 0, "N": 0}
    digest = at_point(SQUARE, values).digest()
    both = (Answer("z3", "1", "sat"), Answer("cvc5", "1", "sat"))
    assert refuted_at(SQUARE, values, Refuted(digest, values, both)) == Refuted(SQUARE.digest(), values, both)
    assert refuted_at(SQUARE, values, Proved(digest, both)) is None
    assert refuted_at(SQUARE, values, Undecided(digest, "rlimit")) is None
    assert refuted_at(SQUARE, values, Failed(digest, "conflict")) is None
    with pytest.raises(ValueError, match="at these values"):
        refuted_at(SQUARE, values, Refuted(SQUARE.digest(), values, both))
