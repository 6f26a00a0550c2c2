"""Outer products: one vector statement that updates a block of totals by a column times a row.

Takes two vectors, a block of `rows * columns` totals flattened row by row, and how many of its rows
and columns are active; gives the store that stands for the primitive, and finds it in programs. Must
not do more than scalar operations on active cells: an inactive cell keeps its word.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

from cachet_verify.core.index import Compare, Const, Div, Formula, Index, Mod, Var, conj, conjuncts, div, lt, minimum, mod
from cachet_verify.core.ir import Block, Choose, Load, Op, Store, Value, statements

PRIMITIVES = {"outer_fma_primitive": "fma"}
"""The operation that each primitive applies to active cells: column's word, row's word, total."""


@dataclass(frozen=True, slots=True)
class OuterProduct:
    """A store that is an outer product: its operands, the active rows and columns, the block's columns."""

    primitive: str
    column: str
    row: str
    total: Load
    rows: Index
    cols: Index
    height: int
    width: int


def active_cell(place: Index, width: int, rows: Index, cols: Index) -> Formula:
    """That place `place` of a flattened block is in its first `rows` rows and `cols` columns."""
    return conj((lt(div(place, Const(width)), rows), lt(mod(place, Const(width)), cols)))


def outer_value(primitive: str, elem: str, operands: tuple[Value, Value, Value], active: Formula) -> Value:
    """The word of one cell: the operation where the cell is active, else its total."""
    return Choose(active, Op(PRIMITIVES[primitive], elem, operands), operands[2])


def outer_product_of(store: Store) -> OuterProduct | None:
    """The outer product that a store is; None for any other store."""
    value, lanes = store.value, store.lanes
    if lanes is None or lanes.active != Const(lanes.width) or not isinstance(value, Choose) or not isinstance(value.then, Op):
        return None
    name = next((name for name, core in PRIMITIVES.items() if core == value.then.name), None)
    place = Var(lanes.counter)
    width = _width(value.condition, place)
    if name is None or width is None or lanes.width % width or len(value.then.args) != 3:
        return None
    column, row, total = value.then.args
    rows, cols = _bounds(value.condition)
    is_outer = (
        isinstance(column, Load)
        and isinstance(row, Load)
        and isinstance(total, Load)
        and column.index == (div(place, Const(width)),)
        and row.index == (mod(place, Const(width)),)
        and total.index[-1:] == (place,)
        and value.orelse == total
        and store.index[-1:] == (place,)
    )
    if not is_outer or not isinstance(column, Load) or not isinstance(row, Load) or not isinstance(total, Load):
        return None
    return OuterProduct(name, column.buffer, row.buffer, total, rows, cols, lanes.width // width, width)


def _width(condition: Formula, place: Var) -> int | None:
    """The columns of a block, read off the guard on its cells."""
    parts = conjuncts(condition)
    widths = {part.left.right for part in parts if isinstance(part, Compare) and isinstance(part.left, (Div, Mod))}
    width = next(iter(widths), None)
    if len(widths) != 1 or not isinstance(width, Const) or width.value < 2:
        return None
    left = {part.left for part in parts if isinstance(part, Compare) and part.relation == "<"}
    return width.value if left == {div(place, width), mod(place, width)} and all(isinstance(part, Compare) for part in parts) else None


def _bounds(condition: Formula) -> tuple[Index, Index]:
    """How many rows and columns a guard lets through; a bound that is a minimum stands there as several."""
    parts = [part for part in conjuncts(condition) if isinstance(part, Compare)]
    rows, cols = ([part.right for part in parts if isinstance(part.left, kind)] for kind in (Div, Mod))
    return reduce(minimum, rows), reduce(minimum, cols)


def outer_tiles(block: Block) -> Iterator[tuple[str, OuterProduct]]:
    """The locals of a block that an outer product updates, each with the product: its totals are a matrix unit's."""
    for stmt in statements(block):
        found = outer_product_of(stmt) if isinstance(stmt, Store) else None
        if found is not None and isinstance(stmt, Store):
            yield stmt.buffer, found
