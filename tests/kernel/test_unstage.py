"""A copy taken out again: what read it reads its source; copies that held something else are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cachet_verify.core.index import ONE, ZERO, Const, Index, Var, add
from cachet_verify.core.ir import Axis, Block, Declare, Grid, Lanes, Load, Op, Param, Program, Stmt, Store
from cachet_verify.kernel.claim import RuleError, Same
from cachet_verify.kernel.unstage import unstage
from tests.kernel.sample import M, agrees, block, loop
from tests.kernel.solve import claimed, invalid

i, p, q = Var("i"), Var("p"), Var("q")
PARAMS = (Param("x", "mut", "f32", (M,)), Param("y", "reads", "f32", (add(M, ONE),)))


def program(*body: Stmt) -> Program:
    return Program("u", ("M",), PARAMS, Block((loop("i", M, *body),)))


def vector(shift: Index = ZERO, active: Index = ONE) -> Declare:
    """One word of y in a vector of four lanes, or the word beside it."""
    return Declare("v", "f32", width=4, init=Load("y", (add(i, p, shift),)), lanes=Lanes("p", 4, active))


def use(load: Load) -> Store:
    return Store("x", (add(i, q),), Op("f", "f32", (load,)), Lanes("q", 4, ONE))


HELD, DIRECT = use(Load("v", (q,))), use(Load("y", (add(i, q),)))


def test_a_vector_is_taken_out() -> None:
    goal = unstage(program(vector(), HELD), (0, 0), (1, 1), "y", "v", (DIRECT,))
    claimed(goal)
    assert isinstance(goal.statement, Same)
    assert goal.statement.after == program(DIRECT)
    assert agrees(program(vector(), HELD), program(DIRECT), 5)


@pytest.mark.parametrize(
    ("made", "region"),
    [(vector(ONE), DIRECT), (vector(), use(Load("y", (add(i, q, ONE),)))), (vector(), use(Load("y", (i,)))), (vector(active=ZERO), DIRECT)],
)
def test_another_word_is_refused(made: Declare, region: Store) -> None:
    before = program(made, HELD)
    goal = unstage(before, (0, 0), (1, 1), "y", "v", (region,))
    assert (invalid(goal) == []) == agrees(before, program(region), 5)
    assert invalid(goal) != [] or region != DIRECT


def test_a_copy_of_an_idle_lane_is_no_word() -> None:
    """One lane is loaded, two are read: the second of them is nobody's word."""
    wide = replace(HELD, lanes=Lanes("q", 4, Const(2)))
    goal = unstage(program(vector(), wide), (0, 0), (1, 1), "y", "v", (replace(DIRECT, lanes=wide.lanes),))
    assert invalid(goal) != []


@pytest.mark.parametrize(
    ("count", "region"),
    [((1, 0), ()), ((0, 1), (DIRECT,)), ((1, 1), (HELD,)), ((1, 1), (replace(DIRECT, buffer="y"),)), ((1, 1), (DIRECT, DIRECT)), ((1, 1), ())],
)
def test_what_is_no_copy_is_refused(count: tuple[int, int], region: tuple[Stmt, ...]) -> None:
    with pytest.raises(RuleError):
        unstage(program(vector(), HELD), (0, 0), count, "y", "v", region)


def test_a_source_written_meanwhile_is_refused() -> None:
    """The copy has the word that x[i] had; read later, x[i] has another."""
    copy = Declare("v", "f32", init=Load("x", (i,)))
    clear, stored = Store("x", (i,), Load("y", (i,))), Store("x", (i,), Load("v"))
    with pytest.raises(RuleError, match="written while"):
        unstage(program(copy, clear, stored), (0, 0), (1, 2), "x", "v", (clear, Store("x", (i,), Load("x", (i,)))))


def test_a_later_read_may_race() -> None:
    """Each iteration copies its word before the grid that shifts words; read inside, words race."""
    copies = Declare("v", "f32", (M,), mutable=True)
    fill = loop("k", M, Store("v", (Var("k"),), Load("x", (Var("k"),))))

    def grid(load: Load) -> Stmt:
        return Grid((Axis("i", ZERO, M),), block(Store("z", (i,), load)))

    params = (*PARAMS, Param("z", "mut", "f32", (M,)))
    before = Program("u", ("M",), params, Block((copies, fill, grid(Load("v", (i,))))))
    claimed(unstage(before, (0,), (2, 1), "x", "v", (grid(Load("x", (i,))),)))
    shifted = Program("u", ("M",), params, Block((copies, fill, Grid((Axis("i", ZERO, M),), block(Store("x", (i,), Load("v", (i,))))))))
    with pytest.raises(RuleError, match="written while"):
        unstage(shifted, (0,), (2, 1), "x", "v", (Grid((Axis("i", ZERO, M),), block(Store("x", (i,), Load("x", (i,))))),))
