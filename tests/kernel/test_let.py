"""A `let` with the store behind it: what may be put together, and back apart."""

from __future__ import annotations

import pytest

from cachet_verify.core.index import ONE, ZERO, lt
from cachet_verify.core.ir import Choose, Declare, Fold, Lanes, Load, Op, Param, Program, Range, Stmt, Store
from cachet_verify.kernel.claim import Goal, RuleError, Same
from cachet_verify.kernel.let import inline_let
from cachet_verify.kernel.requirement import converse
from tests.kernel.sample import MATMUL, TOTAL, A, B, C, K, M, N, agrees, block, fma, i, j, k, loop, program
from tests.kernel.solve import claimed

LET = Declare("t", "f32", init=C)
STORE = Store("c", (i, j), fma(A, B, Load("t")))


def nest(*body: Stmt) -> Program:
    return program(loop("i", M, loop("k", K, loop("j", N, *body))))


def after(goal: Goal) -> Program:
    assert isinstance(goal.statement, Same)
    return goal.statement.after


def test_a_total_that_is_loaded_and_stored_back_is_an_update() -> None:
    goal = inline_let(nest(LET, STORE), (0, 0, 0, 0))
    claimed(goal)
    assert after(goal) == nest(Store("c", (i, j), fma(A, B, C)))
    assert agrees(nest(LET, STORE), after(goal))


def test_the_converse_puts_it_back() -> None:
    goal = converse(inline_let(nest(LET, STORE), (0, 0, 0, 0)))
    claimed(goal)
    assert goal.statement == Same(nest(Store("c", (i, j), fma(A, B, C))), nest(LET, STORE))


def test_a_fold_that_is_stored_as_it_is() -> None:
    before = program(loop("i", M, loop("j", N, Declare("t", "f32", init=TOTAL), Store("c", (i, j), Load("t")))))
    assert after(inline_let(before, (0, 0, 0))) == MATMUL


def test_in_lanes_and_in_steps_the_value_is_read_before_anything_is_written() -> None:
    params = (Param("x", "mut", "f32", (M,)),)
    lanes = Store("x", (k,), Op("f", "f32", (Load("t"), Load("x", (k,)))), Lanes("k", 4, M))
    first = Declare("t", "f32", init=Load("x", (ZERO,)))
    before = Program("s", ("M",), params, block(first, lanes))
    assert agrees(before, after(inline_let(before, (0,))), 6)
    total = Fold("k", Range(ZERO, M), Load("t"), "acc", "f32", Op("f", "f32", (Load("acc"), Load("t"))))
    before = Program("s", ("M",), params, block(first, Store("x", (ZERO,), total)))
    assert agrees(before, after(inline_let(before, (0,))), 6)


REFUSED: list[tuple[str, tuple[Stmt, ...]]] = [
    ("no scalar let", (Declare("t", "f32", init=C, mutable=True), STORE)),
    ("no scalar let", (Declare("t", "f32"), STORE)),
    ("no scalar let", (Declare("t", "f32", (ONE,), init=C), STORE)),
    ("no scalar let", (Declare("t", "f32", width=4, init=C), STORE)),
    ("no scalar let", (STORE, LET)),
    ("no statement stands", (LET,)),
    ("no store stands behind", (LET, loop("p", ONE, STORE))),
    ("nothing declares it", (LET, STORE, Store("c", (i, j), Load("t")))),
    ("nothing declares it", (LET, STORE, loop("p", ONE, Store("t", (), C)))),
    ("not stored as it is", (Declare("t", "f32", init=Fold("l", Range(ZERO, K), C, "acc", "f32", Load("acc"))), STORE)),
    ("nothing declares it", (Declare("t", "f32", init=Load("t")), STORE)),
]


@pytest.mark.parametrize(("why", "body"), REFUSED)
def test_anything_else_is_refused(why: str, body: tuple[Stmt, ...]) -> None:
    with pytest.raises(RuleError, match=why):
        inline_let(nest(*body), (0, 0, 0, 0))


def test_a_choice_may_hold_the_use() -> None:
    use = Store("c", (i, j), Choose(lt(k, ONE), Load("t"), Op("f", "f32", (Load("t"), Load("t")))))
    goal = inline_let(nest(LET, use), (0, 0, 0, 0))
    assert agrees(nest(LET, use), after(goal))


def test_a_statement_in_between_is_refused() -> None:
    """The cell is written between the read and the use: putting them together would read the new word."""
    between = Store("c", (i, j), Op("g", "f32", (C,)))
    with pytest.raises(RuleError):
        inline_let(nest(LET, between, STORE), (0, 0, 0, 0))
    assert not agrees(nest(LET, between, STORE), nest(between, Store("c", (i, j), fma(A, B, C))))
