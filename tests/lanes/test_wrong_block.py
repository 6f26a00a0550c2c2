"""A proposer of blocks that is wrong: whatever it proposes, the rules find out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cachet_verify.core.index import ONE, ZERO, Const, Index, Var, add, div, mod, mul, sub
from cachet_verify.kernel.well_formed import well_formed
from cachet_verify.rewrite.block import BlockTile
from cachet_verify.rewrite.error import StepError
from tests.kernel.solve import invalid
from tests.lanes.test_outer import TILED
from tests.rewrite.drive import apply
from tests.rewrite.nest import MATMUL

ROWS_IN, COLS_IN, TOP = BlockTile.rows_in, BlockTile.cols_in, BlockTile.top


def blocks_on_each_other(tile: BlockTile, row: Index, lane: Index) -> Index:
    return add(div(row, Const(tile.height)), div(lane, Const(tile.width)))


def cells_on_each_other(tile: BlockTile, row: Index, lane: Index) -> Index:
    return add(mul(Const(tile.width), mod(row, Const(tile.height))), mod(lane, Const(tile.width - 1)))


def a_row_short(tile: BlockTile, block: str) -> Index:
    return sub(ROWS_IN(tile, block), ONE)


def a_column_short(tile: BlockTile, block: str) -> Index:
    return sub(COLS_IN(tile, block), ONE)


def mirrored(tile: BlockTile, block: str) -> Index:
    return mul(Const(tile.height), mod(Var(block), Const(tile.across)))


def always_left(tile: BlockTile, block: str) -> Index:
    return ZERO


def a_row_late(tile: BlockTile, block: str) -> Index:
    return add(TOP(tile, block), ONE)


WRONG: list[tuple[str, Callable[..., Index]]] = [
    ("block_of", blocks_on_each_other),
    ("place_of", cells_on_each_other),
    ("rows_in", a_row_short),
    ("cols_in", a_column_short),
    ("top", mirrored),
    ("top", a_row_late),
    ("left", always_left),
]


@pytest.mark.parametrize(("part", "wrong"), WRONG, ids=[wrong.__name__ for _, wrong in WRONG])
def test_a_wrong_block_is_refused(part: str, wrong: Callable[..., Index], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BlockTile, part, wrong)
    try:
        applied = apply(TILED, MATMUL)
    except StepError:
        return
    goals = [*applied.last.goals, well_formed(applied.after)]
    assert any(invalid(goal) for goal in goals)
