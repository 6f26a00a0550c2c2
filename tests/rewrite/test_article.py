"""The schedules that the project is about, whole: every goal holds, and no word differs past the ends of blocks."""

from __future__ import annotations

import pytest

from cachet_verify.core.ir import Param, Program
from tests.rewrite.drive import apply, proved, refusal, same_words, scope
from tests.rewrite.nest import GENERIC, MATMUL, scratch

BLOCK_PRODUCT = """
schedule fn block_product (i, j, k) c (MC, MR, NC, KC) =
  zero (i, j) c
  split k by KC as gk ragged
  split i by MC as gi, MR as ui ragged
  split j by NC as gj ragged
  order (gk, gj, gi, ui, i, j)
"""
INNER = """
pack a into packA along gi over (a0, a1)
keep packA along gi within L2 into packA_L2
pack b into packB along gj over (b0, b1)
keep packB along gj within L1 into packB_L1
registers (i, j) into c rows MR lanes NC through fma
"""


def product_schedule(order: str = "gk, gj, gi") -> str:
    return BLOCK_PRODUCT.replace("gk, gj, gi", order)


def buffers(mc: int, nc: int, kc: int) -> tuple[Param, ...]:
    return scratch("packA", mc, kc), scratch("packB", kc, nc)


def scheduled(mc: int, mr: int, nc: int, kc: int, order: str = "gk, gj, gi") -> tuple[str, object]:
    within = scope(product_schedule(order), buffers(mc, nc, kc), "packed", MR=mr, NC=nc)
    return f"block_product (i, j, k) c ({mc}, {mr}, {nc}, {kc})\n{INNER}", within


@pytest.mark.parametrize("program", [MATMUL, GENERIC])
def test_tower(program: Program) -> None:
    applied = apply("block_product (i, j, k) c (16, 4, 8, 16)", program, scope(BLOCK_PRODUCT, schedule="tower"))
    proved(applied, 2)
    assert [outcome.name for outcome in applied.outcomes] == [
        f"tower'{n}_{step}" for n, step in enumerate(("zero", "split", "split", "split", "order"))
    ]
    assert all(outcome.requires == () for outcome in applied.outcomes)


@pytest.mark.parametrize(
    ("sizes", "order"),
    [((16, 4, 8, 16), "gk, gj, gi"), ((512, 4, 8, 256), "gk, gj, gi"), ((512, 4, 8, 256), "gk, gi, gj"), ((512, 4, 16, 256), "gk, gi, gj")],
    ids=["packed", "larger", "rows_first", "fast"],
)
def test_every_goal_of_the_article(sizes: tuple[int, int, int, int], order: str) -> None:
    text, within = scheduled(*sizes, order)
    applied = apply(text, MATMUL, within)  # type: ignore[arg-type]
    assert [outcome.name for outcome in applied.outcomes][-1] == "packed'9_registers"
    proved(applied, 2)


@pytest.mark.parametrize("order", ["gk, gj, gi", "gk, gi, gj"])
def test_small_blocks_past_their_ends(order: str) -> None:
    text, within = scheduled(4, 2, 3, 2, order)
    applied = apply(text, MATMUL, within)  # type: ignore[arg-type]
    assert same_words(MATMUL, applied.after, 6)


def test_the_copies_stand_where_the_listing_has_them() -> None:
    text, within = scheduled(16, 4, 8, 16)
    after = apply(text, MATMUL, within).after  # type: ignore[arg-type]
    depth = after.body.body[1]
    columns = depth.body.body[0]  # type: ignore[union-attr]
    panel = columns.body.body[2]
    tile = panel.body.body[2]
    assert [type(stmt).__name__ for stmt in columns.body.body] == ["For", "Lease", "For"]
    assert [type(stmt).__name__ for stmt in panel.body.body] == ["For", "Lease", "For"]
    assert [type(stmt).__name__ for stmt in tile.body.body] == ["Declare", "For", "For", "For"]
    assert [loop.counter for loop in (depth, columns, columns.body.body[0], panel, panel.body.body[0], tile)] == ["gk", "gj", "b0", "gi", "a0", "ui"]  # type: ignore[union-attr]
    assert [(row.level, row.buffer) for row in after.kept] == [("L2", "packA"), ("L1", "packB")]


def test_schedule_fns_call_schedule_fns() -> None:
    outer = BLOCK_PRODUCT + "schedule fn square (p, q, r) d n =\n  block_product (p, q, r) d (n, 2, n, n)\n"
    applied = apply("square (i, j, k) c 4", MATMUL, scope(outer))
    assert applied.after == apply("block_product (i, j, k) c (4, 2, 4, 4)", MATMUL, scope(BLOCK_PRODUCT)).after


def test_a_schedule_fn_that_calls_itself() -> None:
    code, message, _ = refusal("f k", MATMUL, scope("schedule fn f k =\n  g k\nschedule fn g k =\n  f k\n"))
    assert (code, message) == ("rewrite.recursive-schedule-fn", "the schedule fn f calls itself: f -> g -> f")


def test_a_schedule_fn_called_in_another_shape() -> None:
    code, message, hint = refusal("block_product (i, j) c (4, 2, 4, 4)", MATMUL, scope(BLOCK_PRODUCT))
    assert code == "rewrite.arguments"
    assert hint == "`block_product (i, j, k) c (MC, MR, NC, KC)`"
    assert "block_product (i, j) c (4, 2, 4, 4)" in message


def test_block_names_may_be_parameters() -> None:
    text = "schedule fn cut i n g =\n  split i by n as g ragged\n"
    assert apply("cut i 3 gi", MATMUL, scope(text)).after == apply("split i by 3 as gi ragged", MATMUL).after


def test_bands_of_rows_in_parallel() -> None:
    """The steps for several threads that stage 1 can express: whole bands, packed rows, groups in parallel."""
    text = """
    zero (i, j) c
    split k by 3 as gk ragged
    split j by 4 as gj, 2 as uj ragged
    split i by 4 as gi, 2 as ui
    order (gk, gj, gi, ui, uj, i, j)
    parallel gi
    pack a into packA along gk over (a0, a1)
    strip a0 2 (pa, ra)
    interchange (ra, a1)
    parallel pa
    """
    applied = apply(text, MATMUL, scope(buffers=(scratch("packA", "M", 3),)))
    proved(applied, 5)
    assert [need.origin for need in applied.after.requires] == ["split i by 4"]


def test_a_step_of_ones_own_may_have_the_name_of_a_computed_one() -> None:
    text = "step fn tiles i =\n  from\n    for i in $A do\n      $body\n  to\n    for i in $A do\n      $body\n"
    assert apply("tiles i", MATMUL, scope(text)).after == MATMUL


def test_admitting_leaves_nothing_unproved() -> None:
    applied = apply('zero (i, j) c\nadmit "later"\nhoist (j, k) c', MATMUL)
    assert [outcome.name for outcome in applied.outcomes] == ["s'0_zero", "s'1_hoist"]
    assert applied.after == apply("zero (i, j) c\nhoist (j, k) c", MATMUL).after


@pytest.mark.parametrize("text", ["parallel i\nsplit i by 2 as gi", "parallel i\norder (i, j)", "parallel i\ninterchange (i, j)"])
def test_an_index_of_a_grid_is_no_loop(text: str) -> None:
    assert refusal(text, MATMUL)[0] in ("rewrite.no-loop", "rewrite.no-match")
