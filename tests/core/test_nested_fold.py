"""A fold whose steps are a fold that goes on with its total: one local, updated in two loops."""

from __future__ import annotations

import pytest

from cachet_verify.core.family import UnmodelledError, lower
from cachet_verify.core.index import ZERO, Var
from cachet_verify.core.ir import Block, Declare, Fold, For, Lease, Load, Op, Param, Program, Range, Stmt, Store, Value, Word

MINUS_ZERO = Word("f32", 0x80000000)
PARAMS = (Param("x", "reads", "f32", (Var("P"), Var("Q"))), Param("y", "mut", "f32", (ZERO,)))


def upto(size: str) -> Range:
    return Range(ZERO, Var(size))


def step(total: Value) -> Value:
    return Op("add", "f32", (total, Load("x", (Var("p"), Var("q")))))


def members(*body: Stmt) -> list[tuple[str, tuple[str, ...], Value]]:
    program = Program("f", ("P", "Q"), PARAMS, Block(body))
    return [(member.buffer, member.names(), member.value) for member in lower(program).members]


def test_a_chain_over_two_indices_updates_one_local() -> None:
    inner = Fold("q", upto("Q"), Load("t"), "u", "f32", step(Load("u")))
    chain = Store("y", (ZERO,), Fold("p", upto("P"), MINUS_ZERO, "t", "f32", inner))
    assert members(chain) == [("t", (), MINUS_ZERO), ("t", ("p", "q"), step(Load("t"))), ("y", (), Load("t"))]


def test_a_sum_of_sums_keeps_two_locals() -> None:
    inner = Fold("q", upto("Q"), MINUS_ZERO, "u", "f32", step(Load("u")))
    chain = Store("y", (ZERO,), Fold("p", upto("P"), MINUS_ZERO, "t", "f32", inner))
    assert [buffer for buffer, _, _ in members(chain)] == ["t", "u", "u", "t", "y"]


@pytest.mark.parametrize("name", ["t", "alias"])
def test_steps_that_read_the_local_itself_need_another(name: str) -> None:
    """`t = fold q from t as u do u + t`: each step adds what t held before the fold."""
    body = Fold("q", upto("Q"), Load("t"), "u", "f32", Op("add", "f32", (Load("u"), Load(name))))
    start = Declare("t", "f32", init=MINUS_ZERO, mutable=True)
    found = members(start, Lease("alias", "t", "L1", False), For("p", upto("P"), Block((Store("t", (), body),))))
    assert [buffer for buffer, _, _ in found] == ["t", "u", "u", "t"]


def test_a_parameter_is_no_local() -> None:
    body = Fold("q", upto("Q"), Load("y", (ZERO,)), "u", "f32", step(Load("u")))
    found = members(For("p", upto("P"), Block((Store("y", (ZERO,), body),))))
    assert [buffer for buffer, _, _ in found] == ["u", "u", "y"]


def test_a_fold_inside_an_operand_stays_unmodelled() -> None:
    inner = Fold("q", upto("Q"), Load("t"), "u", "f32", step(Load("u")))
    chain = Fold("p", upto("P"), MINUS_ZERO, "t", "f32", Op("add", "f32", (inner, MINUS_ZERO)))
    with pytest.raises(UnmodelledError):
        members(Store("y", (ZERO,), chain))
