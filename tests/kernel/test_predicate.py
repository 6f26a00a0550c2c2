"""Guards as masks: a guarded store of a local writes its own word back; parameters and races are refused."""

from __future__ import annotations

import pytest

from cachet_verify.core.index import ONE, ZERO, Const, Index, Var, add, lt
from cachet_verify.core.ir import Axis, Block, Choose, Declare, Grid, If, Lanes, Load, Op, Param, Program, Stmt, Store, Value
from cachet_verify.kernel.claim import RuleError, Same
from cachet_verify.kernel.predicate import predicate_store
from tests.kernel.sample import TOTAL, M, N, agrees, block, loop
from tests.kernel.solve import claimed, invalid

p, q = Var("p"), Var("q")
PARAMS = (Param("x", "mut", "f32", (Const(4),)), Param("y", "reads", "f32", (Const(4),)))
GUARD = lt(p, M)
WORD = Op("f", "f32", (Load("y", (p,)), Load("t", (p,))))


def program(stmt: Stmt, out: Index = M) -> Program:
    """A local of four words from y, a statement for each, and the first `out` of them (at most 4) back to x."""
    first = loop("q", Const(4), Store("t", (q,), Load("y", (q,))))
    back = loop("r", Const(4), If(lt(Var("r"), out), block(Store("x", (Var("r"),), Load("t", (Var("r"),)))), Block()))
    return Program("s", ("M", "N"), PARAMS, Block((Declare("t", "f32", (Const(4),), mutable=True), first, loop("p", Const(4), stmt), back)))


def guarded(value: Value = WORD, buffer: str = "t", at: Index = p) -> If:
    return If(GUARD, block(Store(buffer, (at,), value)), Block())


def test_a_guard_becomes_a_choice_of_the_cells_own_word() -> None:
    goal = predicate_store(program(guarded()), (2, 0))
    claimed(goal)
    chosen = Store("t", (p,), Choose(GUARD, WORD, Load("t", (p,))))
    assert isinstance(goal.statement, Same)
    assert goal.statement.after == program(chosen)
    assert agrees(program(guarded()), program(chosen), 6)


@pytest.mark.parametrize("other", [Load("t", (ZERO,)), Op("zero", "f32")])
def test_another_word_would_show(other: Value) -> None:
    """What the rule never makes: a neighbour's word, or zero, where the guard fails."""
    chosen = Store("t", (p,), Choose(GUARD, WORD, other))
    assert not agrees(program(guarded(), Const(4)), program(chosen, Const(4)), 5)


@pytest.mark.parametrize(
    ("stmt", "why"),
    [
        (Store("t", (p,), WORD), "no guard around a single store"),
        (If(GUARD, block(Store("t", (p,), WORD)), block(Store("t", (p,), WORD))), "no guard around a single store"),
        (If(GUARD, block(Store("t", (p,), WORD), Store("t", (p,), WORD)), Block()), "no guard around a single store"),
        (If(GUARD, block(Store("t", (q,), WORD, Lanes("q", 4, N))), Block()), "no guard around a single store"),
        (guarded(Load("y", (p,)), "x"), "x is not a local"),
        (If(GUARD, block(loop("o", N, Store("t", (p,), WORD))), Block()), "no guard around a single store"),
    ],
)
def test_anything_else_is_refused(stmt: Stmt, why: str) -> None:
    with pytest.raises(RuleError, match=why):
        predicate_store(program(loop("q'1", ONE, stmt)), (2, 0, 0))


def test_a_sum_is_refused() -> None:
    with pytest.raises(RuleError, match="no guard around a single store"):
        predicate_store(program(guarded(TOTAL)), (2, 0))


def test_own_words_written_back_may_race() -> None:
    """Iterations that share a cell, of which the guard lets one write: without it all of them would."""
    shared = Declare("t", "f32", (ONE,), mutable=True)
    inner = If(lt(p, ONE), block(Store("t", (ZERO,), Load("y", (p,)))), Block())
    grid = Grid((Axis("p", ZERO, Const(4)),), block(inner))
    before = Program("s", ("M", "N"), PARAMS, Block((shared, grid, Store("x", (ZERO,), Load("t", (ZERO,))))))
    assert invalid(predicate_store(before, (1, 0))) != []


def test_a_guard_that_keeps_an_index_inside_is_told_by_the_bounds_of_the_program_after() -> None:
    from cachet_verify.kernel.well_formed import well_formed

    before = program(If(lt(add(p, ONE), M), block(Store("t", (add(p, ONE),), Load("y", (p,)))), Block()))
    limited = Program(before.name, before.sizes, before.params, before.body)
    goal = predicate_store(limited, (2, 0))
    assert isinstance(goal.statement, Same)
    assert invalid(well_formed(goal.statement.after)) != []
