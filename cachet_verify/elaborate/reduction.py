"""Reductions of tiles along one axis, in an order that is written.

Takes `reduce Max f32 over cols by halving do e`; gives loops that combine the elements of each row in that
order. Must not choose an order: `order` is the ascending chain from the identity, `halving` pairs element i
with element i + ceil(w / 2) of what is left until one element is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cachet_verify.core.index import ZERO, Const, Index, Var, add
from cachet_verify.core.ir import Block, Fold, For, Load, Range, Stmt, Store
from cachet_verify.elaborate.element import tile_shape
from cachet_verify.elaborate.generic import words_of
from cachet_verify.elaborate.item import Implementation
from cachet_verify.elaborate.place import source_text
from cachet_verify.elaborate.scope import BufferEntity, Scope, ValueType
from cachet_verify.elaborate.semiring import call_member
from cachet_verify.syntax import ast

if TYPE_CHECKING:
    from cachet_verify.elaborate.tile import Tiles

WAYS = ("order", "halving")


def reduce_into(tiles: Tiles, target: BufferEntity, expr: ast.TileReduce, scope: Scope) -> None:
    """Combine a tile along one axis into `target`, one element wide there. Raises StopError."""
    context = tiles.body.context
    if expr.by not in WAYS:
        raise context.stop("elaborate.tile.axis", f"a tile is reduced by `order` or by `halving`, not by `{expr.by}`", expr.span, "`by order`")
    shape = tile_shape(tiles.body, expr, scope)
    whole = tile_shape(tiles.body, expr.body, scope)
    if shape is None or whole is None:
        raise context.stop("elaborate.tile.shape", f"`{source_text(expr.body)}` is no tile", expr.body.span, "`let x: [f32; 16, 8] = load a[…]`")
    monoid = _monoid(tiles, expr, target)
    if expr.by == "order":
        source = tiles.operand(expr.body, scope)
        held = source if source.root != target.root else tiles.new("tile", target.elem, whole)
        if held is not source:
            tiles.fill(held, expr.body, scope)
        _in_order(tiles, target, held, monoid, expr)
        return
    held = tiles.new("tile", target.elem, whole)
    tiles.fill(held, expr.body, scope)
    _halving(tiles, target, held, monoid, expr)


def _monoid(tiles: Tiles, expr: ast.TileReduce, target: BufferEntity) -> Implementation:
    context = tiles.body.context
    words = words_of(expr.monoid)
    found = None if words is None else context.unit.implementation(words, "Monoid")
    if found is None:
        shown = source_text(expr.monoid)
        known = [f"`{name}`" for name in context.unit.implementations("Monoid")]
        hint = f"one of {', '.join(known)}" if known else 'import "cachet:monoid"'
        raise context.stop("elaborate.generic.missing", f"`{shown}` is no implementation of `Monoid`", expr.monoid.span, hint)
    tiles.body.expect(ValueType(found.elem), ValueType(target.elem), expr)
    return found


def _cell(expr: ast.TileReduce, kept: Index, along: Index) -> tuple[Index, Index]:
    return (along, kept) if expr.axis == "rows" else (kept, along)


def _extents(expr: ast.TileReduce, source: BufferEntity) -> tuple[Index, Index]:
    """How many results there are, and how many elements go into each."""
    rows, columns = source.shape
    return (columns, rows) if expr.axis == "rows" else (rows, columns)


def _in_order(tiles: Tiles, target: BufferEntity, source: BufferEntity, monoid: Implementation, expr: ast.TileReduce) -> None:
    take, context = tiles.body.context.fresh.take, tiles.body.context
    kept, along, total = take("e0"), take("along"), take("total")
    count, length = _extents(expr, source)
    start = call_member(context, monoid, "empty", (), expr.span)
    step = call_member(context, monoid, "combine", (Load(total), Load(source.name, _cell(expr, Var(kept), Var(along)))), expr.span)
    value = Fold(along, Range(ZERO, length), start, total, target.elem, step)
    tiles.add(tiles.nested((kept,), (count,), (Store(target.name, _cell(expr, Var(kept), ZERO), value, span=tiles.node.span),)))


def _halving(tiles: Tiles, target: BufferEntity, held: BufferEntity, monoid: Implementation, expr: ast.TileReduce) -> None:
    """Halve what is left in place, and copy what remains. The extent is a constant above 0."""
    context = tiles.body.context
    count, length = _extents(expr, held)
    if not isinstance(length, Const) or length.value < 1:
        raise context.stop("elaborate.tile.shape", "a tile is reduced by halving along an extent that is a constant above 0", expr.span, "`by order`")
    stmts: list[Stmt] = []
    left = length.value
    while left > 1:
        half = (left + 1) // 2
        stmts.append(_half(tiles, held, monoid, expr, (count, left - half, half)))
        left = half
    kept = context.fresh.take("e0")
    last = Store(target.name, _cell(expr, Var(kept), ZERO), Load(held.name, _cell(expr, Var(kept), ZERO)), span=tiles.node.span)
    stmts += tiles.nested((kept,), (count,), (last,)).body
    tiles.add(Block(tuple(stmts)))


def _half(tiles: Tiles, held: BufferEntity, monoid: Implementation, expr: ast.TileReduce, extents: tuple[Index, int, int]) -> Stmt:
    """One level: element i takes in element i + half, for each i that has such a partner."""
    count, pairs, half = extents
    take = tiles.body.context.fresh.take
    kept, along = take("e0"), take("along")
    cell = _cell(expr, Var(kept), Var(along))
    partner = Load(held.name, _cell(expr, Var(kept), add(Var(along), Const(half))))
    value = call_member(tiles.body.context, monoid, "combine", (Load(held.name, cell), partner), expr.span)
    (loop,) = tiles.nested((kept, along), (count, Const(pairs)), (Store(held.name, cell, value, span=tiles.node.span),)).body
    return loop if isinstance(loop, For) else Block((loop,))
