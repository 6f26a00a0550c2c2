"""Programs without a meaning: each fault by its kind, its text, its cell and its place in the source."""

from __future__ import annotations

from random import Random

import pytest

from cachet_verify.core.index import Const, Index, Var, div, eq, mod, sub
from cachet_verify.core.index import add as plus
from cachet_verify.core.ir import Axis, Block, Grid, Load, OfIndex, Op, Print, Program, Slice, Stmt, Store, View, Window
from cachet_verify.core.meaning import BudgetError, Cells, Executable, MeaningError, run
from cachet_verify.source import SourceFile, Span
from tests.core.nest import add, blocks, guard, lit, load, loop, matmul, param, program, store, var, words

TEXT = "fn f\n  store y[i] = x\n"
SPAN = SourceFile("f.cachet", TEXT).span(7, len(TEXT) - 1)
VECTOR = (param("x", "reads", "i32", "N"), param("y", "mut", "i32", "N"), param("t", "mut", "i32", 4, scratch=True))


def one(stmt: Stmt, *more: Stmt) -> Program:
    return program("f", "N", VECTOR, stmt, *more)


def fail(source: Program, n: int = 2, order: Random | None = None) -> MeaningError:
    cells: dict[str, Cells] = {"x": [0] * n, "y": [0] * n, "t": [None] * 4}
    with pytest.raises(MeaningError) as caught:
        Executable(source).run({"N": n}, cells, shuffle=order)
    return caught.value


def put(index: Index | int | str, value: Load | OfIndex | Op | None = None, span: Span | None = None) -> Store:
    plain = store("y", (index,), value if value is not None else lit("1", "i32"))
    return Store(plain.buffer, plain.index, plain.value, span=span)


@pytest.mark.parametrize(("index", "shown"), [(2, "y[2]"), (-1, "y[-1]")])
def test_a_store_outside(index: int, shown: str) -> None:
    error = fail(one(put(index, span=SPAN)))
    assert (error.kind, error.text) == ("bounds", f"{shown} is outside of [2]")
    assert (error.buffer, error.index, error.span) == ("y", (index,), SPAN)
    assert str(error) == f"f.cachet:2:3: {shown} is outside of [2]"


def test_a_load_outside_is_found_where_it_is_evaluated() -> None:
    ahead = put("i", load("x", plus(Var("i"), Const(1))), SPAN)
    error = fail(one(loop("i", 0, "N", ahead)))
    assert (error.kind, error.text, error.span) == ("bounds", "x[2] is outside of [2]", SPAN)
    Executable(one(loop("i", 0, sub(Var("N"), Const(1)), ahead))).run({"N": 2}, {"x": [0, 5], "y": [0, 0], "t": [None] * 4})


def test_a_view_has_bounds_of_its_own() -> None:
    view = View("v", ("q",), "y", (Var("q"),), (Const(1),))
    error = fail(one(view, store("v", (1,), lit("1", "i32"))))
    assert (error.kind, error.text) == ("bounds", "v[1] is outside of [1]")


def test_unspecified_words_reach_no_result() -> None:
    error = fail(one(put(0, load("t", 3), SPAN)))
    assert (error.kind, error.text, error.span) == ("unspecified", "the word stored to y[0] is unspecified", SPAN)
    through = var("u", "i32", add(load("t", 0), lit("1", "i32"), "i32"))
    assert fail(one(through, put(1, load("u")))).text == "the word stored to y[1] is unspecified"
    error = fail(one(Print(load("t", 2), SPAN)))
    assert (error.kind, error.text, error.span) == ("unspecified", "the printed value is unspecified", SPAN)


def test_unspecified_words_may_move_and_be_left() -> None:
    cells: dict[str, Cells] = {"x": [3], "y": [0], "t": [None] * 4}
    moved = store("t", (1,), load("t", 0))
    Executable(one(moved, store("t", (2,), load("x", 0)), put(0, load("t", 2)))).run({"N": 1}, cells)
    assert cells["y"] == [3]
    assert cells["t"] == [None, None, 3, None]


def test_divisions_by_zero() -> None:
    for term in (div(Const(4), sub(Var("N"), Const(2))), mod(Var("N"), sub(Var("N"), Const(2)))):
        error = fail(one(put(0, OfIndex("i32", term), SPAN)))
        assert (error.kind, error.text, error.span) == ("division", "an index is divided by 0", SPAN)
    error = fail(one(put(0, Op("div", "i32", (lit("4", "i32"), load("x", 0))), SPAN)))
    assert (error.kind, error.span) == ("division", SPAN)


def test_shapes_and_blocks_need_positive_sizes() -> None:
    error = fail(one(var("u", "i32", None, sub(Var("N"), Const(3)))))
    assert (error.kind, error.text) == ("size", "`u` would have the shape [-1]")
    error = fail(one(blocks("g", 0, "N", sub(Var("N"), Const(2)))))
    assert (error.kind, error.text) == ("block", "the blocks of `g` would have 0 indices each")


def test_names_out_of_scope() -> None:
    with pytest.raises(MeaningError, match="`i` is not in scope here") as caught:
        Executable(one(loop("i", 0, 2), put("i")))
    assert caught.value.kind == "scope"
    with pytest.raises(MeaningError, match="`u` is not in scope here"):
        Executable(one(guard(eq(Var("N"), Const(0)), var("u", "i32")), put(0, load("u"))))
    with pytest.raises(MeaningError, match="`y` takes 1 indices, not 2"):
        Executable(one(store("y", (0, 0), lit("1", "i32"))))
    with pytest.raises(MeaningError, match="`S.mul` is not an operation on words"):
        Executable(one(put(0, Op("S.mul", "S.Value", (load("x", 0), load("x", 0))))))


def test_what_is_read_only() -> None:
    error = fail(one(store("x", (0,), lit("1", "i32"))))
    assert (error.kind, error.text) == ("read-only", "x[0] may be read only")


def test_requirements_are_asked() -> None:
    needy = program("f", "N", VECTOR, needs=(eq(Var("N"), Const(4)),))
    error = fail(needy)
    assert (error.kind, error.text) == ("requires", "`f` may not be called at these sizes: written in the test")


def grid(*body: Stmt, windows: tuple[Window, ...] | None = None) -> Grid:
    return Grid((Axis("i", Const(0), Var("N")),), Block(body), windows)


@pytest.mark.parametrize("order", [None, Random(0)])
def test_two_iterations_write_one_cell(order: Random | None) -> None:
    error = fail(one(grid(put(0, span=SPAN))), order=order)
    assert (error.kind, error.buffer, error.index, error.span) == ("race", "y", (0,), SPAN)
    assert error.text in ("iteration (1) writes y[0], which iteration (0) writes", "iteration (0) writes y[0], which iteration (1) writes")


def test_an_iteration_reads_what_another_writes() -> None:
    """Reading before and after the other iteration's write; reading one's own cell is free."""
    earlier = plus(Var("i"), Const(-1))
    behind = grid(put("i", load("y", "i")), guard(eq(Var("i"), Const(1)), put(1, load("y", earlier))))
    assert fail(one(behind)).text == "iteration (1) reads y[0], which iteration (0) writes"
    ahead = grid(guard(eq(Var("i"), Const(0)), store("t", (0,), load("y", 1))), guard(eq(Var("i"), Const(1)), put(1)))
    assert fail(one(ahead)).text == "iteration (1) writes y[1], which iteration (0) reads"


def test_every_second_cell_is_no_race() -> None:
    """Even cells are read and odd ones written."""
    even = plus(Var("i"), Var("i"))
    pairs = Grid((Axis("i", Const(0), Const(2)),), Block((put(plus(even, Const(1)), load("y", even)),)))
    cells: dict[str, Cells] = {"x": [0] * 4, "y": [5, 0, 6, 0], "t": [None] * 4}
    Executable(one(pairs)).run({"N": 4}, cells)
    assert cells["y"] == [5, 5, 6, 6]


def test_locals_of_an_iteration_are_its_own() -> None:
    body = (var("u", "i32", lit("0", "i32")), store("u", (), add(load("u"), load("x", "i"), "i32")), put("i", load("u")))
    cells: dict[str, Cells] = {"x": [4, 5], "y": [0, 0], "t": [None] * 4}
    Executable(one(grid(*body))).run({"N": 2}, cells)
    assert cells["y"] == [4, 5]


def test_windows_bound_what_an_iteration_writes() -> None:
    window = Window("y", (Slice(Var("i"), plus(Var("i"), Const(1))),))
    cells: dict[str, Cells] = {"x": [0] * 2, "y": [0] * 2, "t": [None] * 4}
    Executable(one(grid(put("i"), windows=(window,)))).run({"N": 2}, cells)
    assert cells["y"] == [1, 1]
    error = fail(one(grid(put(sub(Const(1), Var("i"))), windows=(window,))))
    assert (error.kind, error.text) == ("window", "iteration (0) writes y[1], outside of its windows")


def test_a_window_of_an_outer_grid_binds_the_inner_one() -> None:
    """The inner iterations share out the row that the outer one may write, through its alias."""
    row = Window("m", (Var("i"), Slice(Const(0), Const(2))), "row")
    own = Window("row", (Var("j"),), None)
    inner = Grid((Axis("j", Const(0), Const(2)),), Block((store("row", ("j",), OfIndex("i32", plus(Var("i"), Var("j")))),)), (own,))
    outer = Grid((Axis("i", Const(0), Const(2)),), Block((inner,)), (row,))
    m: Cells = [0] * 4
    run(program("f", "", (param("m", "mut", "i32", 2, 2),), outer), {}, {"m": m})
    assert m == [0, 1, 1, 2]
    stray = Grid((Axis("j", Const(0), Const(2)),), Block((store("m", ("j", 0), lit("1", "i32")),)))
    with pytest.raises(MeaningError) as caught:
        run(program("f", "", (param("m", "mut", "i32", 2, 2),), Grid(outer.axes, Block((stray,)), (row,))), {}, {"m": m})
    assert caught.value.text == "iteration (0) writes m[1, 0], outside of its windows"


def test_a_budget_bounds_what_is_executed() -> None:
    executable = Executable(matmul())
    cells: dict[str, Cells] = {"a": words("f32", *"12345678"), "b": words("f32", *"12345678"), "c": [None] * 4}
    with pytest.raises(BudgetError):
        executable.run({"M": 2, "K": 4, "N": 2}, cells, budget=20)
    executable.run({"M": 2, "K": 4, "N": 2}, cells, budget=22)
    assert executable.executed == 22  # 2 of i, 4 of j, 16 of k


def test_callers_give_every_size_and_cell() -> None:
    with pytest.raises(ValueError, match="the size K needs a value of at least 0"):
        run(matmul(), {"M": 1, "N": 1}, {})
    with pytest.raises(ValueError, match="the buffer b needs 2 cells; given: 1"):
        run(matmul(), {"M": 1, "N": 1, "K": 2}, {"a": [0, 0], "b": [0], "c": [0]})
    with pytest.raises(ValueError, match="the buffer a needs 2 cells; given: none"):
        run(matmul(), {"M": 1, "N": 1, "K": 2}, {})
