"""Blocks in blocks are counted as the blocks of the whole, where that is what they are: against counting them."""

from __future__ import annotations

from itertools import product

import pytest

from cachet_verify.core.index import ZERO, Const, Var, evaluate
from cachet_verify.core.ir import Block, Blocks, For, Lease, Param, Program
from cachet_verify.core.lease import pulls


def nested(outer: int, inner: int, high: str = "g.len") -> Program:
    """x leased in blocks of `inner` in blocks of `outer` of M."""
    lease = Lease("near", "x", "L1", False)
    body = For("h", Blocks(ZERO, Var(high), Const(inner)), Block((lease,)))
    x = Param("x", "reads", "f32", (Const(8),))
    return Program("p", ("M",), (x,), Block((For("g", Blocks(ZERO, Var("M"), Const(outer)), Block((body,))),)))


def entered(size: int, outer: int, inner: int) -> int:
    return sum(-(-(min(low + outer, size) - low) // inner) for low in range(0, size, outer))


@pytest.mark.parametrize(("outer", "inner"), [(16, 4), (4, 4), (12, 3), (6, 1), (8, 8)])
def test_what_is_counted_is_what_is_entered(outer: int, inner: int) -> None:
    (pull,) = pulls(nested(outer, inner), "DRAM")
    (loop,) = pull.around
    for size in range(3 * outer + 3):
        assert evaluate(loop.trips, {"M": size}) == entered(size, outer, inner)


@pytest.mark.parametrize(("outer", "inner"), [(6, 4), (4, 6), (3, 2), (7, 5)])
def test_blocks_that_do_not_divide_are_no_blocks_of_the_whole(outer: int, inner: int) -> None:
    """There are more of them: each outer block ends with a short one."""
    (pull,) = pulls(nested(outer, inner), "DRAM")
    assert len(pull.around) == 2
    assert any(entered(size, outer, inner) > -(-size // inner) for size in range(3 * outer + 3)) or inner > outer


def test_blocks_of_something_else_are_counted_by_themselves() -> None:
    (pull,) = pulls(nested(16, 4, high="M"), "DRAM")
    assert len(pull.around) == 2


def test_the_loops_themselves_are_kept() -> None:
    (pull,) = pulls(nested(16, 4), "DRAM")
    assert [loop.counter for loop in pull.loops] == ["g", "h"]
    assert [loop.counter for loop in pull.around] == ["h"]


def test_three_levels_of_blocks() -> None:
    lease = Lease("near", "x", "L1", False)
    last = For("k", Blocks(ZERO, Var("h.len"), Const(2)), Block((lease,)))
    middle = For("h", Blocks(ZERO, Var("g.len"), Const(4)), Block((last,)))
    x = Param("x", "reads", "f32", (Const(8),))
    (pull,) = pulls(Program("p", ("M",), (x,), Block((For("g", Blocks(ZERO, Var("M"), Const(16)), Block((middle,))),))), "DRAM")
    (loop,) = pull.around
    for size in range(40):
        exact = sum(low + at + by < size for low, at, by in product(range(0, size, 16), range(0, 16, 4), range(0, 4, 2)))
        assert evaluate(loop.trips, {"M": size}) == exact
