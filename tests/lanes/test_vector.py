"""Parts of vectors and the outer-product primitive: what they mean in the core, printed and read again, and what is said of slips."""

from __future__ import annotations

import pytest

from cachet_verify.core.index import Const, Var, add, div, lt, minimum, mod, mul, sub
from cachet_verify.core.ir import Choose, Declare, For, Lanes, Load, Op, Store, statements
from cachet_verify.core.outer import outer_product_of, outer_tiles
from cachet_verify.elaborate.lift import lift
from cachet_verify.syntax.print import print_declaration
from tests.elaborate.short import faults, program

TEXT = """\
fn step (reads a: [f64; M, 4]) (reads b: [f64; 4, N]) (mut c: [f64; 6, 6])
requires M <= 6
requires N <= 6
=
  var t: [Vec f64 (2 * 3); 6]
  for q in 0 .. 6 do
    for r in 0 .. 2 do
      t[q, 3 * r .. 3 * r + 3] = splat (-0.0)
  let high: Vec f64 6 = load a[0 .. M, 1]
  let wide: Vec f64 6 = load b[2, 0 .. N]
  for q in 0 .. 6 do
    let column: Vec f64 2 = slice_lanes high (floor (q / 2) * 2)
    let row: Vec f64 3 = slice_lanes wide (q % 2 * 3)
    t[q] = outer_fma_primitive column row t[q] (min 2 (M - floor (q / 2) * 2)) (N - q % 2 * 3)
  for q in 0 .. 6 do
    for r in 0 .. 2 do
      store c[floor (q / 2) * 2 + r, q % 2 * 3 .. q % 2 * 3 + 3] = t[q, 3 * r .. 3 * r + 3]
"""


def stores() -> list[Store]:
    return [stmt for stmt in statements(program(TEXT, "step").body) if isinstance(stmt, Store)]


def test_an_outer_product_is_an_operation_on_active_cells() -> None:
    _, update, _ = stores()
    assert update.lanes is not None
    lane, q = Var(update.lanes.counter), update.index[0]
    own = Load("t", (q, lane))
    rows, cols = sub(Var("M"), mul(Const(2), div(q, Const(2)))), sub(Var("N"), mul(Const(3), mod(q, Const(2))))
    assert update.lanes == Lanes(lane.name, 6, Const(6))
    assert isinstance(update.value, Choose)
    assert update.value.then == Op("fma", "f64", (Load("column", (div(lane, Const(3)),)), Load("row", (mod(lane, Const(3)),)), own))
    assert update.value.orelse == own
    row, column = div(lane, Const(3)), mod(lane, Const(3))
    assert set(update.value.condition.parts) == {lt(row, Const(2)), lt(row, rows), lt(column, cols)}  # type: ignore[union-attr]
    product = outer_product_of(update)
    assert product is not None
    assert (product.height, product.width, product.rows, product.cols) == (2, 3, minimum(Const(2), rows), cols)
    assert [name for name, _ in outer_tiles(program(TEXT, "step").body)] == ["t"]


def test_a_slice_is_so_many_lanes_from_one_on() -> None:
    column = next(stmt for stmt in statements(program(TEXT, "step").body) if isinstance(stmt, Declare) and stmt.name == "column")
    assert column.lanes is not None
    assert column.lanes == Lanes(column.lanes.counter, 2, Const(2))
    loops = [stmt.counter for stmt in statements(program(TEXT, "step").body) if isinstance(stmt, For)]
    assert column.init == Load("high", (add(mul(Const(2), div(Var(loops[2]), Const(2))), Var(column.lanes.counter)),))


def test_a_part_of_a_vector_is_stored() -> None:
    fill, _, back = stores()
    assert fill.lanes is not None
    assert (fill.lanes.width, fill.lanes.active) == (6, Const(3))
    assert back.lanes is not None
    assert (back.lanes.width, back.lanes.active) == (6, Const(3))


def test_it_prints_and_reads_back_as_itself() -> None:
    shown = print_declaration(lift(program(TEXT, "step")))
    assert "var t: [Vec f64 (2 * 3); 6]" in shown
    assert "outer_fma_primitive column row t[q'1] rows cols" in shown
    assert "slice_lanes high (2 * floor (q'1 / 2))" in shown
    assert print_declaration(lift(program(shown, "step"))) == shown


SHORT = """\
fn f (reads a: [f64; 6]) (mut c: [f64; 6]) =
  let v: Vec f64 6 = load a[0 .. 6]
  let u: Vec f64 3 = load a[0 .. 3]
  var t: Vec f64 (2 * 3) = splat 0.0
  let w: Vec f64 2 = LINE
  store c[0 .. 2] = w
"""
UPDATE = SHORT.replace("let w: Vec f64 2 = LINE\n  store c[0 .. 2] = w", "t = LINE")


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        (SHORT, "slice_lanes v 1", ""),
        (SHORT, "slice_lanes v", "elaborate.call.arity"),
        (SHORT, "slice_lanes (v + v) 1", "elaborate.type.mismatch"),
        (SHORT, "slice_lanes 1.0 1", "elaborate.type.mismatch"),
        (SHORT, "slice_lanes x 1", "elaborate.type.mismatch"),
        (UPDATE, "outer_fma_primitive w u t 2 3", "elaborate.type.mismatch"),
        (UPDATE, "outer_fma_primitive u u t 2 3", "elaborate.vector.width"),
        (UPDATE, "outer_fma_primitive v v t 2 3", "elaborate.vector.width"),
        (UPDATE, "outer_fma_primitive u t 2 3", "elaborate.call.arity"),
        (UPDATE, "outer_fma_primitive u (splat 1.0) t 2 3", "elaborate.type.mismatch"),
        (UPDATE, "outer_fma_primitive u u t u 3", "elaborate.vector.width"),
    ],
)
def test_slips(text: str, line: str, code: str) -> None:
    found = faults(text.replace("LINE", line))
    assert [said for said, _ in found][:1] == ([code] if code else [])


def test_active_rows_are_an_integer() -> None:
    text = UPDATE.replace("let u: Vec f64 3 = load a[0 .. 3]", "let u: Vec f64 3 = load a[0 .. 3]\n  let n: Vec f64 2 = slice_lanes v 4")
    assert [code for code, _ in faults(text.replace("LINE", "outer_fma_primitive n u t u 3"))] == ["elaborate.index.kind"]
    assert faults(text.replace("LINE", "outer_fma_primitive n u t 2 3")) == []


def test_a_function_may_not_be_called_like_a_primitive() -> None:
    text = "fn outer_fma_primitive (a: f64) -> f64 =\n  a\n"
    assert [code for code, _ in faults(text)] != []
