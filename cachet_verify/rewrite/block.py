"""A tile of totals in blocks: which block a cell of the tile is in, and where in it.

Takes a tile's nest and the size of a block; gives index terms and loops. Must not build programs.
"""

from __future__ import annotations

from dataclasses import dataclass

from cachet_verify.core.index import ZERO, Const, Index, Var, add, ceil_div, div, minimum, mod, mul, sub
from cachet_verify.core.ir import Block, Declare, For, Range, Stmt, Store
from cachet_verify.rewrite.place import Path


@dataclass(frozen=True, slots=True)
class BlockTile:
    """The nest of a tile, and its blocks: paths, statements, and the rows and columns of a block.

    `path` is that of the sum's loop, `row` the loop over rows in it, `update` its last statement;
    `tile`, `column` and `line` are the local arrays and vectors: the totals, the operand that varies
    by row, and the one that varies by lane; `first` and `last` are the paths of the nests that fill
    the tile and store it.
    """

    path: Path
    row: For
    update: Store
    tile: tuple[Path, Declare]
    first: Path
    last: Path
    column: tuple[Path, Declare]
    line: tuple[Path, Declare]
    height: int
    width: int
    primitive: str

    @property
    def rows(self) -> Index:
        """How many rows count."""
        return self.row.domain.high

    @property
    def active(self) -> Index:
        """How many lanes of a row count."""
        lanes = self.line[1].lanes
        return lanes.active if lanes is not None else ZERO

    @property
    def down(self) -> int:
        """How many blocks there are from top to bottom."""
        extent = self.tile[1].shape[0]
        return -(-(extent.value if isinstance(extent, Const) else 0) // self.height)

    @property
    def across(self) -> int:
        """How many blocks there are from left to right."""
        return -(-(self.tile[1].width or 0) // self.width)

    @property
    def cells(self) -> int:
        """How many totals a block has."""
        return self.height * self.width

    # --- a cell of the tile and its block ---

    def block_of(self, row: Index, lane: Index) -> Index:
        """The block that a cell is in."""
        return add(mul(Const(self.across), div(row, Const(self.height))), div(lane, Const(self.width)))

    def place_of(self, row: Index, lane: Index) -> Index:
        """Where in its block a cell is."""
        return add(mul(Const(self.width), mod(row, Const(self.height))), mod(lane, Const(self.width)))

    def top(self, block: str) -> Index:
        """The first row of a block."""
        return mul(Const(self.height), div(Var(block), Const(self.across)))

    def left(self, block: str) -> Index:
        """The first lane of a block."""
        return mul(Const(self.width), mod(Var(block), Const(self.across)))

    def rows_in(self, block: str) -> Index:
        """How many rows of a block count."""
        return minimum(Const(self.height), sub(self.rows, self.top(block)))

    def cols_in(self, block: str) -> Index:
        """How many columns of a block count."""
        return minimum(Const(self.width), sub(self.active, self.left(block)))

    def over_blocks(self, name: str, *body: Stmt) -> For:
        """A loop over the blocks that have rows that count."""
        high = mul(Const(self.across), ceil_div(self.rows, Const(self.height)))
        return For(name, Range(ZERO, high), Block(body), self.update.span)
