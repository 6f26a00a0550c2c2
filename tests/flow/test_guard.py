"""Route B on guards and on operations that differ: the last iteration under a guard, no descent below two kinds."""

from __future__ import annotations

import pytest

from cachet_verify.core.family import lower
from cachet_verify.core.index import ZERO, Const, Var, evaluate, holds, le, mul
from cachet_verify.core.ir import Block, If, Load, Op, Param, Program, Stmt, Store, Value
from cachet_verify.flow.evaluate import sizer
from cachet_verify.flow.propose import propose
from cachet_verify.flow.source import propose_flow
from cachet_verify.kernel.dataflow import dataflow
from tests.flow.nest import loop, upto

PARAMS = (Param("x", "reads", "f32", (Var("N"),)), Param("y", "mut", "f32", (Var("N"),)))


def program(*body: Stmt) -> Program:
    return Program("f", ("N", "M"), PARAMS, Block(body))


@pytest.mark.parametrize("sizes", [{"N": 5, "M": 3}, {"N": 5, "M": 100}, {"N": 1, "M": 0}, {"N": 4, "M": 6}])
def test_the_last_writer_under_a_guard_is_the_last_iteration_it_lets_through(sizes: dict[str, int]) -> None:
    """`for s in 0 .. N do if 2 * s <= M then store y[0] = …`: the last s is the smaller of N - 1 and M / 2."""
    store = Store("y", (ZERO,), Load("x", (Var("s"),)))
    guarded = If(le(mul(Const(2), Var("s")), Var("M")), Block((store,)), Block(()))
    families = lower(program(loop("s", upto(Var("N")), guarded)))
    pieces = propose_flow(families, sizer(families)).finals["y"]
    found = [piece for piece in pieces if piece.writer is not None and holds(piece.guard, {**sizes, "y.0": 0})]
    assert evaluate(dict(found[0].at)["s"], sizes) == min(sizes["N"] - 1, sizes["M"] // 2)


def test_two_operations_of_different_arity_are_a_question_and_no_error() -> None:
    """A fused multiply-add against an addition of a product: the kernel is asked, and told what never holds."""
    cell = Load("x", (Var("i"),))

    def with_value(value: Value) -> Program:
        return program(loop("i", upto(Var("N")), Store("y", (Var("i"),), value)))

    fused = with_value(Op("fma", "f32", (cell, cell, cell)))
    apart = with_value(Op("add", "f32", (Op("mul", "f32", (cell, cell)), cell)))
    subjects = [obligation.subject for obligation in dataflow(fused, apart, propose(fused, apart).proposal).obligations]
    assert "fma and add are never related" in subjects
