"""A dimension along which all cells are alike, left out: what may go, and each way in which cells are not alike."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cachet_verify.core.index import ONE, ZERO, Const, Index, Var, add, lt, sub
from cachet_verify.core.ir import Axis, Block, Choose, Declare, Fold, Grid, If, Load, OfIndex, Op, Param, Program, Range, Stmt, Store, Value
from cachet_verify.kernel.claim import RuleError
from cachet_verify.kernel.uniform import Along, uniform
from tests.kernel.sample import ZERO_WORD, M, N, agrees, block, loop
from tests.kernel.solve import claimed, invalid

i, j, d, e, p = Var("i"), Var("j"), Var("d"), Var("e"), Var("p")
PARAMS = (Param("a", "reads", "f32", (M,)), Param("c", "out", "f32", (M, N)), Param("x", "mut", "f32", (M,)))
FIVE = Const(5)


def program(*body: Stmt) -> Program:
    return Program("sample", ("M", "N"), PARAMS, Block(body))


def op(*args: Value) -> Op:
    return Op("f", "f32", args)


def array(name: str, *shape: Index) -> Declare:
    return Declare(name, "f32", shape, mutable=True)


def t(*index: Index) -> Load:
    return Load("t", index)


def rows(*body: Stmt, lead: tuple[Stmt, ...] = ()) -> Program:
    """For each row: a local of as many cells as there are columns, and what is done with it."""
    return program(*lead, loop("i", M, array("t", N), *body))


def once(*body: Stmt, lead: tuple[Stmt, ...] = ()) -> Program:
    return program(*lead, loop("i", M, array("t"), *body))


def fill(value: Value, counter: str = "d", at: Index | None = None, high: Index = N, low: Index = ZERO) -> Stmt:
    return loop(counter, high, Store("t", (Var(counter) if at is None else at,), value), low=low)


OUT = loop("e", N, Store("c", (i, e), t(e)))
OUT_ONCE = loop("e", N, Store("c", (i, e), t()))
READ = Load("a", (i,))
T = Along({"t": 1}, frozenset({"d"}))
"""Coordinate 0 of a cell of `t` is the row that declares it."""
BASE, BASE_ONCE = rows(fill(op(READ)), OUT), once(Store("t", (), op(READ)), OUT_ONCE)


# --- what may go ---


def test_what_is_computed_for_each_column_alike_is_computed_once() -> None:
    claimed(uniform(BASE, BASE_ONCE, T))
    assert agrees(BASE, BASE_ONCE)


def test_updates_of_several_locals_in_one_loop_and_in_several() -> None:
    first = loop("d", N, Store("t", (d,), op(t(d))), Store("u", (d, ZERO), op(t(d), Load("u", (d, ONE)))))
    second = loop("p", N, Store("u", (p, ONE), op(Load("u", (p, ZERO)), t(p))))
    steps = loop("j", Const(3), first, second)
    before = rows(fill(READ, "q"), steps, loop("e", N, Store("c", (i, e), Load("u", (e, ONE)))), lead=(array("u", N, Const(2)),))
    inner = (Store("t", (), op(t())), Store("u", (ZERO,), op(t(), Load("u", (ONE,)))), Store("u", (ONE,), op(Load("u", (ZERO,)), t())))
    stores = (Store("t", (), READ), loop("j", Const(3), *inner), loop("e", N, Store("c", (i, e), Load("u", (ONE,)))))
    after = once(*stores, lead=(array("u", Const(2)),))
    claimed(uniform(before, after, Along({"t": 1, "u": 0}, frozenset("dpq"))))
    assert agrees(before, after, 3)


def test_the_total_of_a_fold_loses_a_loop_around_its_declaration() -> None:
    def total(start: Value) -> Fold:
        return Fold("k", Range(ZERO, M), start, "acc", "f32", op(Load("a", (Var("k"),)), Load("acc")))

    before = rows(fill(ZERO_WORD, "q"), fill(total(op(t(d)))), OUT)
    after = once(Store("t", (), ZERO_WORD), Store("t", (), total(op(t()))), OUT_ONCE)
    claimed(uniform(before, after, Along({"t": 1, "acc": 1}, frozenset("dq"))))
    assert agrees(before, after)
    with pytest.raises(RuleError, match="also stores to acc"):
        uniform(before, after, Along({"t": 1}, frozenset("dq")))


def test_a_read_at_any_place_of_the_range() -> None:
    def read(at: Index) -> Program:
        return rows(fill(op(READ), high=FIVE), loop("e", N, If(lt(e, FIVE), block(Store("c", (i, e), t(at))), block())))

    after = once(Store("t", (), op(READ)), loop("e", N, If(lt(e, FIVE), block(Store("c", (i, e), t())), block())))
    for at in (e, sub(Const(4), e), Const(3)):
        claimed(uniform(read(at), after, T))
    for at in (add(e, ONE), Const(5), Const(-1)):
        assert invalid(uniform(read(at), after, T)) != []


def test_guards_and_choices_that_do_not_look_at_the_counter() -> None:
    chosen = Choose(lt(i, Const(2)), READ, t(d))
    before = rows(fill(ZERO_WORD, "q"), If(lt(ZERO, i), block(fill(chosen)), block()), OUT)
    after = once(Store("t", (), ZERO_WORD), If(lt(ZERO, i), block(Store("t", (), replace(chosen, orelse=t()))), block()), OUT_ONCE)
    claimed(uniform(before, after, Along({"t": 1}, frozenset("dq"))))
    assert agrees(before, after)


def test_in_the_iterations_of_a_grid() -> None:
    def grid(*body: Stmt) -> Program:
        return program(Grid((Axis("i", ZERO, M),), Block(body)))

    before = grid(array("t", N), fill(op(READ)), OUT)
    after = grid(array("t"), Store("t", (), op(READ)), OUT_ONCE)
    claimed(uniform(before, after, T))
    assert agrees(before, after)


def test_a_written_buffer_is_read_at_one_time_by_all_columns() -> None:
    """`x` changes between two loops, never inside one: each loop sees one word of it."""
    step = Store("x", (i,), op(Load("x", (i,)), READ))
    before = rows(fill(Load("x", (i,)), "q"), step, fill(op(t(d), Load("x", (i,)))), step, OUT)
    after = once(Store("t", (), Load("x", (i,))), step, Store("t", (), op(t(), Load("x", (i,)))), step, OUT_ONCE)
    claimed(uniform(before, after, Along({"t": 1}, frozenset("dq"))))
    assert agrees(before, after)


# --- what may not ---


RESULTS = once(Store("t", (), ZERO_WORD), Store("t", (), op(READ)), OUT_ONCE)
DIFFERENT: dict[str, tuple[Stmt, str]] = {
    "a word of the counter": (fill(op(OfIndex("f32", d))), "computed from d"),
    "a load at the counter": (fill(op(Load("a", (d,)))), "another index of a speaks of d"),
    "a choice by the counter": (fill(Choose(lt(d, ONE), READ, ZERO_WORD)), "chosen by d"),
    "a guard on the counter": (loop("d", N, If(lt(d, ONE), block(Store("t", (d,), op(READ))), block())), "guarded by d"),
    "the cell before": (fill(op(t(sub(d, ONE)))), "not accessed at d itself"),
    "one cell read by all": (fill(op(t(ZERO))), "not accessed at d itself"),
    "a cell behind": (fill(op(READ), at=add(d, ONE)), "not accessed at d itself"),
    "one cell written by all": (fill(op(t(ZERO)), at=ZERO), "not accessed at d itself"),
    "another store in the loop": (loop("d", N, Store("t", (d,), op(Load("x", (i,)))), Store("x", (i,), t(d))), "also stores to x"),
    "a loop whose bounds speak of it": (loop("d", N, loop("j", d, Store("t", (d,), op(t(d))))), "guarded by d"),
    "a store outside of the loops": (Store("t", (ZERO,), op(READ)), "0 of the loops"),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_cells_that_are_not_alike_are_refused(name: str) -> None:
    stmt, why = DIFFERENT[name]
    before = rows(fill(ZERO_WORD, "q"), stmt, OUT)
    with pytest.raises(RuleError, match=why):
        uniform(before, RESULTS, Along({"t": 1}, frozenset("dq")))


@pytest.mark.parametrize(("low", "high"), [(ZERO, ONE), (ONE, N), (ZERO, sub(N, ONE)), (ZERO, M)])
def test_a_loop_over_part_of_the_range_leaves_other_cells_as_they_were(low: Index, high: Index) -> None:
    before = rows(fill(ZERO_WORD, "q"), fill(op(READ), low=low, high=high), OUT)
    assert invalid(uniform(before, RESULTS, Along({"t": 1}, frozenset("dq")))) != []
    assert not agrees(before, RESULTS)


def test_all_loops_over_part_of_what_is_read() -> None:
    short = rows(fill(op(READ), high=sub(N, ONE)), OUT)
    assert invalid(uniform(short, BASE_ONCE, T)) == ["t is read at e, which is in 0 .. N - 1"]
    assert not agrees(short, BASE_ONCE)


def test_a_range_that_another_loop_gives() -> None:
    with pytest.raises(RuleError, match="more than sizes"):
        uniform(rows(fill(op(READ), high=i), OUT), BASE_ONCE, T)


def test_an_empty_range_is_read_nowhere() -> None:
    """Nothing fills the local before, and what is read of it are unspecified words: the obligation fails."""
    before = rows(fill(op(READ), high=ZERO), Store("c", (i, ZERO), t(ZERO)))
    after = once(Store("t", (), op(READ)), Store("c", (i, ZERO), t()))
    assert invalid(uniform(before, after, T)) != []
    assert not agrees(before, after, 2)


def test_two_loops_inside_each_other_or_a_grid_are_no_such_loops() -> None:
    nested = rows(loop("q", N, fill(op(READ))), OUT)
    with pytest.raises(RuleError, match="2 of the loops"):
        uniform(nested, BASE_ONCE, Along({"t": 1}, frozenset("dq")))
    grid = rows(Grid((Axis("d", ZERO, N),), block(Store("t", (d,), op(READ)))), OUT)
    with pytest.raises(RuleError, match="no loop"):
        uniform(grid, BASE_ONCE, T)


@pytest.mark.parametrize(
    ("after", "along", "why"),
    [
        (BASE_ONCE, Along({"a": 0}, frozenset("d")), "a is not a local"),
        (BASE_ONCE, Along({"t": 2}, frozenset("d")), "no coordinate number 2"),
        (BASE_ONCE, Along({"t": -1}, frozenset("d")), "no coordinate number -1"),
        (BASE_ONCE, Along({"t": 1}, frozenset()), "0 of the loops"),
        (BASE_ONCE, Along({"t": 0}, frozenset("d")), "not accessed at d itself"),
        (BASE_ONCE, Along({}, frozenset("d")), "also stores to t"),
        (BASE, T, "more than one dimension"),
        (once(Store("t", (), op(READ, READ)), OUT_ONCE), T, "more than the dimension"),
        (once(Store("t", (), op(READ)), loop("e", N, Store("c", (e, i), t()))), T, "more than the dimension"),
        (once(Store("t", (), op(READ)), loop("e", M, Store("c", (i, e), t()))), T, "other indices"),
        (once(OUT_ONCE, Store("t", (), op(READ))), T, "other indices|other loops|another order"),
        (once(loop("j", ONE, Store("t", (), op(READ))), OUT_ONCE), T, "other loops"),
        (once(OUT_ONCE), T, "another number of store families"),
        (once(Store("t", (), op(READ)), OUT_ONCE, lead=(array("z"),)), T, "more than one dimension"),
    ],
)
def test_a_program_that_is_another_one_is_refused(after: Program, along: Along, why: str) -> None:
    with pytest.raises(RuleError, match=why):
        uniform(BASE, after, along)


def test_the_local_is_declared_where_it_was() -> None:
    """Declared outside of the rows, one cell would be all rows'."""
    after = program(array("t"), loop("i", M, Store("t", (), op(READ)), OUT_ONCE))
    with pytest.raises(RuleError, match="more than one dimension"):
        uniform(BASE, after, T)
