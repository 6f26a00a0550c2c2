"""Walks over a matrix of 8 x 8 in a cache of four lines of four values: 16 misses along the lines, 64 across them."""

from __future__ import annotations

from itertools import product

import pytest

from cachet_verify.elaborate.load import load_text
from cachet_verify.elaborate.module import elaborate
from tests.cache_line.lru import Touch, misses, placed, trace

LINES, WORDS, BYTES = 4, 4, 4

WALKS = """import "cachet:layouts"
fn walk (reads b: [f32; 8, 8]{layout}) (mut s: [f32; 1]) =
  for {outer} in 0 .. 8 do
    for {inner} in 0 .. 8 do
      store s[0] = load b[i, j]
"""


def walked(layout: str, outer: str, inner: str) -> int:
    """The misses of the reads of `b` in a run of the walk."""
    module = elaborate(load_text(WALKS.format(layout=f" in {layout}" if layout else "", outer=outer, inner=inner), "test.cachet"))
    program = module.programs["walk"].program
    assert program is not None
    address = placed(program, {}, module.layouts, {"b": 0})
    reads = [event for event in trace(program, {}) if isinstance(event, Touch) and event.buffer == "b"]
    assert len(reads) == 64
    return misses([address(event) for event in reads], LINES, WORDS * BYTES)


def test_by_hand() -> None:
    # A row is two lines. Down a column each read is in a line of its own, and eight lines pass before one is read again.
    assert misses([8 * i + j for i, j in product(range(8), repeat=2)], LINES, WORDS) == 16
    assert misses([8 * i + j for j, i in product(range(8), repeat=2)], LINES, WORDS) == 64


def test_a_longer_cache_holds_the_column() -> None:
    # With eight lines a column's lines stay: each of the sixteen lines is fetched once for four columns.
    assert misses([8 * i + j for j, i in product(range(8), repeat=2)], 8, WORDS) == 16
    assert misses([8 * i + j for j, i in product(range(8), repeat=2)], 7, WORDS) == 64


@pytest.mark.parametrize(
    ("layout", "rows", "columns"),
    [
        ("", 16, 64),
        ("RowMajor", 16, 64),
        ("ColumnMajor", 64, 16),
        # Four rows of one column are neighbours: a column is two lines, and a row eight.
        ("PanelMajor 4", 64, 16),
        ("ColumnPanels 4", 16, 64),
        # A tile of 2 x 2 is a line. Two rows of tiles are eight lines: a row is four of them, and its neighbour the same four.
        ("Tiles 2 2", 16, 16),
        # A tile of 1 x 4 is half a row, as in the plain layout.
        ("Tiles 1 4", 16, 64),
    ],
)
def test_the_layout_decides_which_walk_is_along_the_lines(layout: str, rows: int, columns: int) -> None:
    assert (walked(layout, "i", "j"), walked(layout, "j", "i")) == (rows, columns)


PRODUCT = """fn product (reads a: [f32; 8, 8]) (reads b: [f32; 8, 8]) (mut c: [f32; 8, 8]) =
{nest}
"""
STEP = "store c[i, j] = fma (load a[i, k]) (load b[k, j]) (load c[i, j])"
WHOLE = f"  for i in 0 .. 8 do\n    for j in 0 .. 8 do\n      for k in 0 .. 8 do\n        {STEP}"
SWAPPED = f"  for i in 0 .. 8 do\n    for k in 0 .. 8 do\n      for j in 0 .. 8 do\n        {STEP}"


@pytest.mark.parametrize(("nest", "order"), [(WHOLE, "ijk"), (SWAPPED, "ikj")])
def test_the_trace_of_a_product_is_the_one_that_is_written_down(nest: str, order: str) -> None:
    # The same accesses by a loop in Python: b and then c and a as the operands stand, the store last.
    module = elaborate(load_text(PRODUCT.format(nest=nest), "test.cachet"))
    program = module.programs["product"].program
    assert program is not None
    found = [(event.buffer, event.place) for event in trace(program, {}) if isinstance(event, Touch)]
    expected = []
    for values in product(range(8), repeat=3):
        at = dict(zip(order, values, strict=True))
        i, j, k = at["i"], at["j"], at["k"]
        expected += [("a", 8 * i + k), ("b", 8 * k + j), ("c", 8 * i + j), ("c", 8 * i + j)]
    assert found == expected


def test_swapping_the_loops_saves_misses_of_b_alone() -> None:
    # Whole columns of b: 64 misses for each of eight rows of a. Rows of b: 16 for each.
    for nest, expected in ((WHOLE, 8 * 64), (SWAPPED, 8 * 16)):
        module = elaborate(load_text(PRODUCT.format(nest=nest), "test.cachet"))
        program = module.programs["product"].program
        assert program is not None
        reads = [4 * event.place for event in trace(program, {}) if isinstance(event, Touch) and event.buffer == "b"]
        assert misses(reads, LINES, WORDS * BYTES) == expected
