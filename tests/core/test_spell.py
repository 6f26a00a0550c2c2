"""Requirements are spelled as one writes them."""

from __future__ import annotations

import pytest

from cachet_verify.core.index import ZERO, Const, Formula, Mod, Var, conj, disj, eq, le, lt
from cachet_verify.core.spell import spell_requirement

K, N = Var("K"), Var("N")


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (lt(ZERO, K), "K > 0"),
        (le(Const(4), N), "N >= 4"),
        (lt(K, Const(9)), "K < 9"),
        (lt(K, N), "K < N"),
        (eq(Mod(N, Const(8)), ZERO), "N % 8 == 0"),
        (conj((lt(ZERO, K), disj((lt(K, N), le(Const(4), N))))), "K > 0 and (K < N or 4 <= N)"),
    ],
)
def test_numbers_stand_on_the_right(formula: Formula, text: str) -> None:
    assert spell_requirement(formula) == text
