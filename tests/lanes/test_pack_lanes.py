"""`pack_lanes`: copies by vectors, masked at ragged ends; lanes that are no neighbours are refused."""

from __future__ import annotations

import pytest

from cachet_verify.core.index import ZERO, Const, Var, add, mul
from cachet_verify.core.ir import Block, Blocks, Declare, For, Lanes, Range, Store
from cachet_verify.kernel.well_formed import well_formed
from cachet_verify.rewrite.place import find_loop
from tests.kernel.solve import invalid
from tests.rewrite.drive import apply, proved, refusal, same_words, scope
from tests.rewrite.nest import BATCHED, MATMUL, TRANSPOSED, at, scratch

PACK = "pack_lanes b into packB along gj over (b0, b1, bt) lanes 4"
SCHEDULE = f"""
zero (i, j) c
split k by 3 as gk ragged
split j by 6 as gj ragged
order (gk, gj, i, j)
{PACK}
"""
WITHIN = scope(buffers=(scratch("packB", 3, 6),))


def test_the_nest() -> None:
    after = proved(apply(SCHEDULE, MATMUL, WITHIN), 4)
    found = find_loop(after.body, "b0")
    assert found is not None
    some = Var("b1.len")
    copied = at("b", add(Var("gk.lo"), Var("b0")), add(Var("gj.lo"), Var("b1.lo"), Var("lane'1")))
    assert found[1] == For(
        "b0",
        Range(ZERO, Var("gk.len")),
        Block(
            (
                For(
                    "b1",
                    Blocks(ZERO, Var("gj.len"), Const(4)),
                    Block(
                        (
                            Declare("bt", "f32", (), 4, copied, lanes=Lanes("lane'1", 4, some)),
                            Store("packB", (Var("b0"), add(Var("b1.lo"), Var("lane"))), at("bt", "lane"), Lanes("lane", 4, some)),
                        )
                    ),
                ),
            )
        ),
    )


def test_past_the_ends_of_panels() -> None:
    assert same_words(MATMUL, proved(apply(SCHEDULE, MATMUL, WITHIN), 1), 8)


def test_whole_panels_are_not_masked() -> None:
    exact = SCHEDULE.replace("split j by 6 as gj ragged", "split j by 8 as gj")
    after = proved(apply(exact, MATMUL, scope(buffers=(scratch("packB", 3, 8),))), 9)
    found = find_loop(after.body, "b1")
    assert found is not None
    assert found[1].domain == Range(ZERO, Const(2))
    stored = found[1].body.body[1]
    assert isinstance(stored, Store)
    assert stored.index[1] == add(mul(Const(4), Var("b1")), Var("lane"))
    assert stored.lanes == Lanes("lane", 4, Const(4))


def test_rows_may_be_packed_at_once() -> None:
    text = f"{SCHEDULE}keep packB along gj within L2 into packB_L2\nparallel b0"
    proved(apply(text, MATMUL, WITHIN), 4)


def test_a_dimension_that_is_fixed_inside_the_loop() -> None:
    text = SCHEDULE.replace("zero (i, j) c", "zero (g, i, j) c").replace("order (gk, gj, i, j)", "order (g, gk, gj, i, j)")
    proved(apply(text, BATCHED, WITHIN), 3)


def test_a_buffer_that_is_too_small_is_found_out() -> None:
    small = scope(buffers=(scratch("packB", 3, 5),))
    subjects = invalid(well_formed(apply(SCHEDULE, MATMUL, small).after))
    assert subjects
    assert all("packB" in subject for subject in subjects)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("lanes 4", "lanes 0", "`lanes` is followed by a number above 0"),
        ("lanes 4", "lanes K", "`lanes` is followed by a number above 0"),
        (" lanes 4", "", "`lanes` is missing"),
        ("(b0, b1, bt)", "bt", "and then the vector"),
        ("(b0, b1, bt)", "(b0, b1, gj)", "the name gj is in use"),
        ("(b0, b1, bt)", "(b0, gj, bt)", "the name gj is in use"),
        ("(b0, b1, bt)", "(b0, b1)", "has 2 dimensions"),
        ("along gj", "along gx", "pack_lanes looks for a loop over gx"),
        ("pack_lanes b", "pack_lanes d", "d is not a parameter; there are a, b, c, packB"),
    ],
)
def test_refusals(old: str, new: str, said: str) -> None:
    assert said in refusal(SCHEDULE.replace(PACK, PACK.replace(old, new)), MATMUL, WITHIN)[1]


def test_lanes_that_are_no_neighbours_are_refused() -> None:
    """`b[j, k]`, k fixed inside gk: the only loop of the copy runs down a column."""
    text = """
    zero (i, j) c
    split j by 6 as gj ragged
    order (k, gj, i, j)
    pack_lanes b into packB along gj over (b1, bt) lanes 4
    """
    code, message, _ = refusal(text, TRANSPOSED, scope(buffers=(scratch("packB", 6),)))
    assert (code, "would not be neighbours" in message) == ("rewrite.no-match", True)
