"""Loops that run once, and loops that only may."""

from __future__ import annotations

import pytest

from cachet_verify.core.index import ONE, ZERO, Const, Index, Var, add, lt
from cachet_verify.core.ir import Axis, Block, Blocks, Choose, Declare, For, Grid, If, Lanes, Load, OfIndex, Op, Param, Program, Stmt, Store
from cachet_verify.kernel.claim import RuleError
from cachet_verify.kernel.unit_loop import unit_loops
from tests.kernel.sample import ZERO_WORD, M, agrees, i, loop
from tests.kernel.solve import claimed

u = Var("u")
PARAMS = (Param("x", "mut", "f32", (M,)), Param("y", "mut", "f32", (M,)))


def program(*body: Stmt) -> Program:
    return Program("p", ("M",), PARAMS, Block(body))


def copy(index: Index = i) -> Stmt:
    return Store("x", (index,), Load("y", (index,)))


def test_one_iteration_is_the_statement_itself_and_the_reverse() -> None:
    plain = program(loop("i", M, copy()))
    for wrapped in (
        program(loop("u", ONE, loop("i", M, copy()))),
        program(loop("i", M, loop("u", ONE, copy(add(i, u))))),
        program(loop("i", M, loop("u", ONE, If(lt(u, ONE), Block((copy(),)), Block())))),
    ):
        claimed(unit_loops(plain, wrapped))
        claimed(unit_loops(wrapped, plain))
        assert agrees(plain, wrapped)


def test_a_local_of_the_one_iteration_and_of_the_loop_around_it() -> None:
    inner = (Declare("t", "f32", mutable=True), Store("t", (), Load("y", (i,))), Store("x", (i,), Load("t")))
    plain, wrapped = program(loop("i", M, *inner)), program(loop("i", M, loop("u", ONE, *inner)))
    claimed(unit_loops(plain, wrapped))
    assert agrees(plain, wrapped)
    outside = program(loop("i", M, inner[0], loop("u", ONE, *inner[1:])))
    claimed(unit_loops(wrapped, outside))


def test_an_array_of_one_column_filled_where_it_is_declared() -> None:
    filled = program(Declare("t", "f32", (M, ONE), init=ZERO_WORD, mutable=True), loop("i", M, Store("x", (i,), Load("t", (i, ZERO)))))
    apart = program(
        Declare("t", "f32", (M, ONE), mutable=True),
        loop("e", M, Store("t", (Var("e"), ZERO), ZERO_WORD)),
        loop("i", M, Store("x", (i,), Load("t", (i, ZERO)))),
    )
    claimed(unit_loops(apart, filled))
    assert agrees(apart, filled)


@pytest.mark.parametrize(
    "wrapped",
    [
        loop("u", M, loop("i", M, copy())),  # not once where M is 0; as often as it likes
        loop("u", Const(2), loop("i", M, copy())),
        loop("u", ZERO, loop("i", M, copy())),
        loop("u", Const(2), loop("i", M, copy()), low=ONE),
        For("u", Blocks(ZERO, ONE, ONE), Block((loop("i", M, copy()),))),
        Grid((Axis("u", ZERO, ONE),), Block((loop("i", M, copy()),)), None),
        loop("i", M, Store("x", (i,), Load("y", (i,)), Lanes("u", 1, ONE))),
    ],
)
def test_other_loops_stay(wrapped: Stmt) -> None:
    with pytest.raises(RuleError):
        unit_loops(program(loop("i", M, copy())), program(wrapped))


@pytest.mark.parametrize(
    "wrong",
    [
        loop("i", M, loop("u", ONE, copy(add(i, u, ONE)))),
        loop("i", M, loop("u", ONE, Store("x", (i,), Load("y", (u,))))),
        loop("i", M, loop("u", ONE, Store("x", (u,), Load("y", (i,))))),
        loop("i", M, loop("u", ONE, Store("x", (i,), Op("add", "f32", (Load("y", (i,)), OfIndex("f32", u)))))),
        loop("i", M, loop("u", ONE, If(lt(ZERO, u), Block((copy(),)), Block()))),
        loop("i", M, loop("u", ONE, Store("x", (i,), Choose(lt(ZERO, u), Load("y", (i,)), ZERO_WORD)))),
        loop("u", ONE, Store("x", (ZERO,), Load("y", (ZERO,)))),
    ],
)
def test_what_else_differs_is_seen(wrong: Stmt) -> None:
    with pytest.raises(RuleError, match="differs"):
        unit_loops(program(loop("i", M, copy())), program(wrong))


def test_the_order_of_statements_in_the_one_iteration_counts() -> None:
    back = Store("y", (i,), Load("x", (i,)))
    with pytest.raises(RuleError, match="differs"):
        unit_loops(program(loop("i", M, copy(), back)), program(loop("i", M, loop("u", ONE, back, copy()))))


def test_two_loops_side_by_side_are_not_one() -> None:
    p = Var("p")
    back, apart = Store("y", (i,), Load("x", (i,))), Store("y", (p,), Load("x", (p,)))
    fused = program(loop("i", M, copy(), back))
    with pytest.raises(RuleError):
        unit_loops(fused, program(loop("u", ONE, loop("i", M, copy())), loop("v", ONE, loop("p", M, apart))))
