"""Steps on loops inside grids, and on the loops of packing nests."""

from __future__ import annotations

import pytest

from cachet_verify.core.ir import For, Grid, statements
from tests.rewrite.drive import apply, proved, refusal, scope
from tests.rewrite.nest import MATMUL, scratch

BANDS = """
zero (i, j) c
split i by 4 as gi
split j by 6 as gj
order (gi, gj, i, j)
parallel gi
"""
PACKED = f"{BANDS}pack_lanes b into packB along gj over (b0, b1, bt) lanes 2\n"
WITHIN = scope(buffers=(scratch("packB", "K", 6),))


def nest(text: str, limit: int = 5) -> list[str]:
    """The loops and grids of the second nest, once it is proved."""
    after = proved(apply(text, MATMUL, WITHIN), limit)
    found = [stmt for stmt in statements(after.body) if isinstance(stmt, (For, Grid))]
    return [stmt.counter if isinstance(stmt, For) else f"grid {stmt.axes[0].counter}" for stmt in found][2:]


@pytest.mark.parametrize(
    ("steps", "loops"),
    [
        ("", ["grid gi", "gj", "i", "j"]),
        ("strip i 2 (p, r)", ["grid gi", "gj", "p", "r", "j"]),
        ("strip i 2 (p, r)\nparallel p", ["grid gi", "gj", "grid p", "r", "j"]),
        ("interchange (i, j)", ["grid gi", "gj", "j", "i"]),
        ("strip j 3 (p, r)\ninterchange (i, p)", ["grid gi", "gj", "p", "i", "r"]),
        ("parallel gj", ["grid gi", "grid gj", "i", "j"]),
        ("split i by 2 as ti ragged", ["grid gi", "gj", "ti", "i", "j"]),
    ],
)
def test_under_a_grid(steps: str, loops: list[str]) -> None:
    assert nest(f"{BANDS}{steps}") == loops


def test_a_copy_inside_a_grid_is_shared_by_its_iterations() -> None:
    """Every band would fill the same buffer at once: the copy belongs outside the grid, or the buffer inside it."""
    with pytest.raises(AssertionError):
        proved(apply(PACKED, MATMUL, WITHIN), 1)


OUTSIDE = """
zero (i, j) c
split j by 6 as gj ragged
split i by 4 as gi
order (gj, gi, i, j)
parallel gi
pack_lanes b into packB along gj over (b0, b1, bt) lanes 2
"""


@pytest.mark.parametrize(
    ("steps", "loops"),
    [
        ("parallel b0", ["gj", "grid b0", "b1", "grid gi", "i", "j"]),
        ("registers (i, j) into c rows 4 lanes 6 through fma\nparallel b0", ["gj", "grid b0", "b1", "grid gi", "i'1", "k", "i", "i'2"]),
    ],
)
def test_packing_nests(steps: str, loops: list[str]) -> None:
    assert nest(f"{OUTSIDE}{steps}") == loops


def test_whole_panels_may_change_places_with_rows() -> None:
    text = OUTSIDE.replace("split j by 6 as gj ragged", "split j by 6 as gj")
    assert nest(f"{text}interchange (b0, b1)\nparallel b1") == ["gj", "grid b1", "b0", "grid gi", "i", "j"]


def test_a_grid_has_no_loop_to_strip() -> None:
    assert refusal(f"{BANDS}strip gi 2 (p, r)", MATMUL)[0] == "rewrite.no-loop"
