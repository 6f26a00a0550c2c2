"""Totals in cells: opening, closing and splitting folds, and the folds for which that would be wrong."""

from __future__ import annotations

import pytest

from cachet_verify.core.index import ONE, ZERO, Const, Var, add, div, eq, lt, mod, sub
from cachet_verify.core.ir import Axis, Block, Blocks, Choose, Declare, Fold, For, Grid, Load, Op, Param, Program, Range, Require, Store
from cachet_verify.kernel.claim import Goal, RuleError, Same
from cachet_verify.kernel.fold import close_fold, open_fold, split_store, start_fold
from cachet_verify.kernel.requirement import add_requirement
from cachet_verify.kernel.split import split_fold
from tests.kernel.sample import MATMUL, TOTAL, ZERO_WORD, A, B, C, K, M, N, agrees, block, fma, i, j, k, loop, program
from tests.kernel.solve import claimed, invalid

PLACE = (0, 0, 0)


def after(goal: Goal) -> Program:
    assert isinstance(goal.statement, Same)
    return goal.statement.after


def test_opening_a_fold_gives_updates_of_the_cell() -> None:
    goal = open_fold(MATMUL, PLACE)
    claimed(goal)
    update = Store("c", (i, j), fma(A, B, C))
    assert after(goal).body == block(loop("i", M, loop("j", N, Store("c", (i, j), ZERO_WORD), loop("k", K, update))))
    assert agrees(MATMUL, after(goal))


def test_a_fold_from_its_cell_opens_without_a_first_store() -> None:
    total = Fold("k", Range(ZERO, K), C, "acc", "f32", fma(A, B, Load("acc")))
    before = program(loop("i", M, loop("j", N, Store("c", (i, j), total))))
    assert after(open_fold(before, PLACE)).body == block(loop("i", M, loop("j", N, loop("k", K, Store("c", (i, j), fma(A, B, C))))))


def running(read: Load, low: object = ZERO) -> Program:
    """A total over `read`, stored in `x[0]`."""
    total = Fold("k", Range(low, K), Load("x", (ZERO,)), "acc", "f32", Op("add", "f32", (Load("acc"), read)))  # type: ignore[arg-type]
    return Program("s", ("K",), (Param("x", "mut", "f32", (K,)),), block(Store("x", (ZERO,), total)))


@pytest.mark.parametrize("rule", ["open", "split"])
def test_a_step_that_reads_the_cell_of_its_total_is_refused(rule: str) -> None:
    """`x[0] = sum of x[k]`: with the total in `x[0]`, the step at k = 0 would read the total."""

    def goal(before: Program) -> Goal:
        return open_fold(before, (0,)) if rule == "open" else split_fold(before, (0,), Const(2), "g", "k")

    wrong, right = running(Load("x", (k,))), running(Load("x", (k,)), ONE)
    assert invalid(goal(wrong)) == ["no step of the total reads the cell of x that it is stored in"]
    claimed(goal(right))
    assert agrees(right, after(goal(right)), 6)


def test_opening_the_wrong_fold_really_changes_words() -> None:
    """The total starts from a constant, and a later step reads what the cell held before."""
    total = Fold("k", Range(ZERO, K), ZERO_WORD, "acc", "f32", Op("add", "f32", (Load("acc"), Load("x", (k,)))))
    before = Program("s", ("K",), (Param("x", "mut", "f32", (K,)),), block(Store("x", (ZERO,), total)))
    for goal in (open_fold(before, (0,)), split_store(before, (0,))):
        assert invalid(goal) != []
        assert not agrees(before, after(goal))


def test_a_read_under_a_condition_that_excludes_the_cell_is_fine() -> None:
    step = Choose(lt(ZERO, k), Op("add", "f32", (Load("acc"), Load("x", (k,)))), Load("acc"))
    total = Fold("k", Range(ZERO, K), ZERO_WORD, "acc", "f32", step)
    before = Program("s", ("K",), (Param("x", "mut", "f32", (K,)),), block(Store("x", (ZERO,), total)))
    claimed(open_fold(before, (0,)))
    assert agrees(before, after(open_fold(before, (0,))))


def test_a_read_through_an_alias_is_a_read_of_the_cell() -> None:
    from cachet_verify.core.ir import Lease

    total = Fold("k", Range(ZERO, K), ZERO_WORD, "acc", "f32", Op("add", "f32", (Load("acc"), Load("v", (k,)))))
    body = block(Lease("v", "x", "L1", True), Store("x", (ZERO,), total))
    before = Program("s", ("K",), (Param("x", "mut", "f32", (K,)),), body)
    assert invalid(open_fold(before, (1,))) != []


def test_sums_of_sums_open_one_level_at_a_time() -> None:
    inner = Fold("l", Range(ZERO, K), Load("acc"), "acc2", "f32", Op("add", "f32", (Load("acc2"), Load("a", (k, Var("l"))))))
    total = Fold("k", Range(ZERO, M), ZERO_WORD, "acc", "f32", inner)
    params = (Param("a", "reads", "f32", (M, K)), Param("y", "out", "f32", ()))
    before = Program("s", ("M", "K"), params, block(Store("y", (), total)))
    once = open_fold(before, (0,))
    claimed(once)
    twice = open_fold(after(once), (1, 0))
    claimed(twice)
    assert agrees(before, after(twice))


def test_a_total_of_another_type_than_its_cell_is_refused() -> None:
    total = Fold("k", Range(ZERO, K), ZERO_WORD, "acc", "f64", fma(A, B, Load("acc")))
    with pytest.raises(RuleError, match="type f64"):
        open_fold(program(loop("i", M, loop("j", N, Store("c", (i, j), total)))), PLACE)


@pytest.mark.parametrize("path", [(), (1,), (0, 0), (0, 0, 0, 0), (0, 0, 1), (-1,)])
def test_a_path_to_anything_else_is_refused(path: tuple[int, ...]) -> None:
    with pytest.raises(RuleError):
        open_fold(MATMUL, path)


def test_closing_is_opening_backwards() -> None:
    opened = after(open_fold(MATMUL, PLACE))
    closed = close_fold(opened, (0, 0, 1), "acc", "f32")
    claimed(closed)
    started = start_fold(after(closed), PLACE)
    claimed(started)
    assert after(started) == MATMUL


def test_closing_a_loop_that_updates_many_cells_is_refused() -> None:
    before = program(loop("i", M, loop("k", K, loop("j", N, Store("c", (i, j), fma(A, B, C))))))
    with pytest.raises(RuleError, match="where nothing binds it"):
        close_fold(program(loop("k", K, Store("c", (ZERO, k), Load("c", (ZERO, k))))), (0,), "acc", "f32")
    with pytest.raises(RuleError, match="single store"):
        close_fold(before, (0, 0), "acc", "f32")


def test_closing_over_another_read_of_the_cell_is_refused() -> None:
    params = (Param("x", "mut", "f32", (K,)),)
    step = Op("add", "f32", (Load("x", (ZERO,)), Load("x", (sub(sub(K, ONE), k),))))
    before = Program("s", ("K",), params, block(loop("k", K, Store("x", (ZERO,), step))))
    goal = close_fold(before, (0,), "acc", "f32")
    assert invalid(goal) != []
    assert not agrees(before, after(goal))


def test_closing_in_a_grid_asks_for_a_step() -> None:
    """With no step the fold would store a cell that the loop leaves to other iterations."""
    update = Store("c", (i, j), fma(A, B, C))
    before = program(Grid((Axis("i", ZERO, M), Axis("j", ZERO, N)), block(loop("k", K, update))))
    assert invalid(close_fold(before, (0, 0), "acc", "f32")) == ["the loop at k runs at least once"]


def test_starting_from_another_cell_is_refused() -> None:
    total = Fold("k", Range(ZERO, K), C, "acc", "f32", fma(A, B, Load("acc")))
    before = program(loop("i", M, loop("j", N, Store("c", (i, ZERO), ZERO_WORD), Store("c", (i, j), total))))
    with pytest.raises(RuleError, match="does not start"):
        start_fold(before, PLACE)


def test_starting_from_no_store_is_refused() -> None:
    total = Fold("k", Range(ZERO, K), C, "acc", "f32", fma(A, B, Load("acc")))
    before = program(loop("i", M, loop("j", N, block(Store("c", (i, j), ZERO_WORD)), Store("c", (i, j), total))))
    with pytest.raises(RuleError, match="no store stands"):
        start_fold(before, PLACE)


def test_a_fold_over_blocks_is_not_split_again() -> None:
    total = Fold("g", Blocks(ZERO, K, Const(2)), C, "acc", "f32", Op("f", "f32", (Load("acc"), Load("a", (i, Var("g.lo"))))))
    with pytest.raises(RuleError, match="over blocks already"):
        split_fold(program(loop("i", M, loop("j", N, Store("c", (i, j), total)))), PLACE, Const(2), "h", "k")


def test_splitting_off_the_first_store() -> None:
    goal = split_store(MATMUL, PLACE)
    claimed(goal)
    assert agrees(MATMUL, after(goal))
    with pytest.raises(RuleError, match="already"):
        split_store(after(goal), (0, 0, 1))


def test_a_sum_in_blocks_from_its_cell() -> None:
    begun = after(split_store(MATMUL, PLACE))
    goal = split_fold(begun, (0, 0, 1), Const(3), "gk", "k")
    claimed(goal)
    at = add(Var("gk.lo"), k)
    step = fma(Load("a", (i, at)), Load("b", (at, j)), Load("acc"))
    store = Store("c", (i, j), Fold("k", Range(ZERO, Var("gk.len")), C, "acc", "f32", step))
    wanted = For("gk", Blocks(ZERO, K, Const(3)), Block((store,)))
    assert after(goal).body == block(loop("i", M, loop("j", N, Store("c", (i, j), ZERO_WORD), wanted)))
    assert agrees(begun, after(goal), 5)


LOCAL = Load("t")


def on_a_local(step: Op) -> Program:
    total = Store("t", (), Fold("k", Range(ZERO, K), LOCAL, "acc", "f32", step))
    declared = Declare("t", "f32", init=ZERO_WORD, mutable=True)
    return program(loop("i", M, loop("j", N, declared, total, Store("c", (i, j), LOCAL))))


def test_a_sum_in_blocks_that_goes_on_with_a_local() -> None:
    """Nothing is asked but the size of blocks: lowering makes updates of the local only where no step reads it."""
    before = on_a_local(fma(A, B, Load("acc")))
    goal = split_fold(before, (0, 0, 1), Const(3), "gk", "k")
    claimed(goal)
    assert goal.obligations == ()
    assert agrees(before, after(goal), 5)
    again = split_fold(after(goal), (0, 0, 1, 0), Const(2), "uk", "k")
    claimed(again)
    assert agrees(before, after(again), 5)


def test_a_step_that_reads_the_local_it_goes_on_with_is_seen() -> None:
    wrong = on_a_local(fma(LOCAL, B, Load("acc")))
    goal = split_fold(wrong, (0, 0, 1), Const(3), "gk", "k")
    assert invalid(goal) == ["no step of the total reads the cell of t that it is stored in"]
    assert not agrees(wrong, after(goal), 6)


def test_a_sum_in_blocks_of_blocks() -> None:
    begun = after(split_store(MATMUL, PLACE))
    once = after(split_fold(begun, (0, 0, 1), Const(4), "gk", "k"))
    goal = split_fold(once, (0, 0, 1, 0), Const(2), "uk", "k")
    claimed(goal)
    assert agrees(begun, after(goal), 6)


def test_starting_in_the_first_block_needs_a_step() -> None:
    goal = split_fold(MATMUL, PLACE, Const(2), "gk", "k")
    assert invalid(goal) == ["the sum over k has at least one step"]
    assert not agrees(MATMUL, after(goal))
    needs = after(add_requirement(MATMUL, Require(lt(ZERO, K), "first block")))
    goal = split_fold(needs, PLACE, Const(2), "gk", "k")
    claimed(goal)
    assert agrees(needs, after(goal), 5)
    again = split_fold(after(goal), (0, 0, 0, 0), ONE, "uk", "k")
    claimed(again)
    assert agrees(needs, after(again), 5)


def test_an_exact_split_needs_whole_blocks() -> None:
    goal = split_fold(after(split_store(MATMUL, PLACE)), (0, 0, 1), Const(2), "gk", "k", exact=True)
    assert invalid(goal) == ["whole blocks cover the range"]
    needs = after(add_requirement(after(split_store(MATMUL, PLACE)), Require(eq(mod(K, Const(2)), ZERO), "exact split")))
    goal = split_fold(needs, (0, 0, 1), Const(2), "gk", "k", exact=True)
    claimed(goal)
    assert agrees(needs, after(goal), 5)
    fewer = split_fold(needs, (0, 0, 1), Const(2), "gk", "k", exact=True, count=sub(div(K, Const(2)), ONE))
    assert invalid(fewer) == ["whole blocks cover the range"]


def test_an_exact_split_from_a_constant_starts_once() -> None:
    requires = (Require(eq(mod(K, Const(2)), ZERO), "exact split"), Require(lt(ZERO, K), "first block"))
    needs = MATMUL
    for need in requires:
        needs = after(add_requirement(needs, need))
    goal = split_fold(needs, PLACE, Const(2), "gk", "k", exact=True)
    claimed(goal)
    assert agrees(needs, after(goal), 5)


@pytest.mark.parametrize("size", [ZERO, Const(-2), Var("N"), sub(Var("N"), ONE)])
def test_blocks_that_may_be_empty_are_refused(size: object) -> None:
    goal = split_fold(after(split_store(MATMUL, PLACE)), (0, 0, 1), size, "gk", "k")  # type: ignore[arg-type]
    expected = [] if size == Var("N") else ["blocks have at least one index"]
    assert [subject for subject in invalid(goal) if "blocks have" in subject] == expected  # `j < N` shows that N is positive


@pytest.mark.parametrize("names", [("i", "k"), ("gk", "j"), ("gk", "acc"), ("K", "k"), ("c", "k")])
def test_names_that_are_taken_are_refused(names: tuple[str, str]) -> None:
    with pytest.raises(RuleError, match="bound twice"):
        split_fold(after(split_store(MATMUL, PLACE)), (0, 0, 1), Const(2), *names)


def test_a_size_out_of_scope_is_refused() -> None:
    with pytest.raises(RuleError, match="nothing binds it"):
        split_fold(after(split_store(MATMUL, PLACE)), (0, 0, 1), k, "gk", "p")


def test_a_start_that_is_a_fold_is_refused_where_it_would_be_chosen() -> None:
    start = Fold("l", Range(ZERO, K), ZERO_WORD, "acc2", "f32", Op("add", "f32", (Load("acc2"), Load("a", (i, Var("l"))))))
    total = Fold("k", TOTAL.domain, start, "acc", "f32", TOTAL.step)
    before = program(loop("i", M, loop("j", N, Store("c", (i, j), total))))
    with pytest.raises(RuleError, match="starts from a fold"):
        split_fold(before, PLACE, Const(2), "gk", "k")


def test_a_local_total_opens_as_well() -> None:
    """The cell may be a local: it is private to its iteration before and after."""
    total = Fold("k", Range(ZERO, K), ZERO_WORD, "acc", "f32", fma(A, B, Load("acc")))
    body = (Declare("t", "f32", mutable=True), Store("t", (), total), Store("c", (i, j), Load("t")))
    before = program(loop("i", M, loop("j", N, *body)))
    goal = open_fold(before, (0, 0, 1))
    claimed(goal)
    assert agrees(before, after(goal), 3)
