"""Stores that give a cell its own word back: no writes to whom words matter, and writes to whom races do."""

from __future__ import annotations

import pytest

from cachet_verify.core.family import lower
from cachet_verify.core.index import ONE, ZERO, Const, Formula, Var, add, eq, lt, mod, neg
from cachet_verify.core.ir import Axis, Block, Choose, Declare, Grid, Load, Op, Param, Program, Stmt, Store, Value
from cachet_verify.kernel.effective import effective
from cachet_verify.kernel.well_formed import well_formed
from tests.kernel.sample import M, block, loop
from tests.kernel.solve import claimed, invalid

i = Var("i")
PARAMS = (Param("x", "mut", "f32", (M,)), Param("y", "reads", "f32", (M,)))
OWN, WORD = Load("x", (i,)), Load("y", (i,))
EVEN, SMALL = eq(mod(i, Const(2)), ZERO), lt(i, Const(5))


def stored(value: Value) -> tuple[tuple[Formula, ...], Value]:
    """What is added to the domain of `for i do store x[i] = value`, and the word that is stored."""
    program = Program("e", ("M",), PARAMS, block(loop("i", M, Store("x", (i,), value))))
    (plain,), (narrowed,) = lower(program).members, effective(lower(program)).members
    assert narrowed.domain[: len(plain.domain)] == plain.domain
    return narrowed.domain[len(plain.domain) :], narrowed.value


def test_a_choice_of_the_cells_own_word() -> None:
    assert stored(Choose(EVEN, WORD, OWN)) == ((EVEN,), WORD)
    assert stored(Choose(EVEN, OWN, WORD)) == ((neg(EVEN),), WORD)
    assert stored(Choose(EVEN, Choose(SMALL, WORD, OWN), OWN)) == ((EVEN, SMALL), WORD)
    assert stored(Choose(EVEN, Op("f", "f32", (OWN,)), OWN)) == ((EVEN,), Op("f", "f32", (OWN,)))


@pytest.mark.parametrize(
    "value",
    [
        OWN,
        WORD,
        Choose(EVEN, WORD, Load("x", (add(i, ONE),))),
        Choose(EVEN, WORD, Load("x", (ZERO,))),
        Choose(EVEN, WORD, Load("y", (ONE,))),
        Choose(EVEN, WORD, Op("f", "f32", (OWN,))),
        Op("f", "f32", (Choose(EVEN, WORD, OWN),)),
    ],
)
def test_any_other_word_is_a_write(value: Value) -> None:
    assert stored(value) == ((), value)


def test_races_see_every_write() -> None:
    """Two iterations share a cell; where only the first of them may change it, both still write it."""

    def grid(value: Value) -> Program:
        stmt: Stmt = Grid((Axis("i", ZERO, M),), block(Store("t", (ZERO,), value)))
        return Program("e", ("M",), PARAMS, Block((Declare("t", "f32", (ONE,), mutable=True), stmt)))

    masked = grid(Choose(eq(i, ZERO), WORD, Load("t", (ZERO,))))
    assert invalid(well_formed(masked)) != []
    own_cells = Program("e", ("M",), PARAMS, block(Grid((Axis("i", ZERO, M),), block(Store("x", (i,), Choose(EVEN, WORD, OWN))))))
    claimed(well_formed(own_cells))
