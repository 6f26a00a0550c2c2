"""Reductions of tiles along one axis, recognised in loops: halves in place, or a chain in order.

Takes nests of loops; gives what they reduce, or None where they do anything else. Must not take loops for a
reduction that `reduce … over … by … do …` would not elaborate to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cachet_verify.core.index import ZERO, Const, Index, Var, add
from cachet_verify.core.ir import Choose, Declare, Fold, For, Load, Op, Range, Stmt, Store, Value, values
from cachet_verify.elaborate.monoid import is_combining, name_of

ROWS, COLUMNS = 0, 1
"""The axis along which elements are combined: over rows, one result for each column; over columns, one for each row."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A tile that is halved in place along an axis until one element is left, which goes to `last`.

    `combined` is how two elements combine, over `a` and `b`; `count` is how many statements it takes, `locals` those of them that
    only declare.
    """

    tile: str
    axis: int
    combined: Value
    last: Store
    levels: tuple[Stmt, ...]
    locals: tuple[Declare, ...]
    count: int

    @property
    def monoid(self) -> tuple[str, str] | None:
        """The name and the type of the monoid, where the operation is one that has a name."""
        is_plain = isinstance(self.combined, Op) and self.combined.args == (Load("a"), Load("b"))
        return name_of(self.combined) if is_plain else None


@dataclass(frozen=True, slots=True)
class Chain:
    """The elements of a row or a column of `tile` combined in order from the word that changes nothing, into `last`."""

    tile: str
    axis: int
    monoid: tuple[str, str]
    extents: tuple[Index, Index]
    last: Store


def plain_nest(stmt: Stmt) -> tuple[tuple[str, ...], tuple[Index, ...], Store] | None:
    """Counters, extents and the store of loops from 0 around one store; None for anything else."""
    counters, extents = list[str](), list[Index]()
    while isinstance(stmt, For) and isinstance(stmt.domain, Range) and stmt.domain.low == ZERO and len(stmt.body.body) == 1:
        counters.append(stmt.counter)
        extents.append(stmt.domain.high)
        stmt = stmt.body.body[0]
    return (tuple(counters), tuple(extents), stmt) if isinstance(stmt, Store) and stmt.lanes is None and counters else None


def cell_along(axis: int, kept: Index, along: Index) -> tuple[Index, Index]:
    """An element by its place along the axis and its place across."""
    return (kept, along) if axis == COLUMNS else (along, kept)


# --- halves ------------------------------------------------------------------------------------


def find_tree(tile: str, extents: tuple[Index, ...], stmts: Sequence[Stmt]) -> Tree | None:
    """The tree on a tile that statements start with, declarations of locals looked through."""
    if len(extents) != 2:
        return None
    found = (_along(tile, (extents[0], extents[1]), stmts, axis) for axis in (COLUMNS, ROWS))
    return next((tree for tree in found if tree is not None), None)


def _along(tile: str, extents: tuple[Index, Index], stmts: Sequence[Stmt], axis: int) -> Tree | None:
    whole, across = extents[axis], extents[1 - axis]
    if not isinstance(whole, Const) or whole.value < 2:
        return None
    left, combined = whole.value, None
    levels, locals_ = list[Stmt](), list[Declare]()
    for place, stmt in enumerate(stmts, 1):
        if isinstance(stmt, Declare) and stmt.init is None:
            locals_.append(stmt)
            continue
        found = plain_nest(stmt)
        if found is None:
            return None
        levels.append(stmt)
        if left == 1:
            is_last = combined is not None and _is_last(found, tile, axis, across)
            return Tree(tile, axis, combined, found[2], tuple(levels), tuple(locals_), place) if is_last and combined is not None else None
        half = (left + 1) // 2
        word = _level(found, tile, axis, (across, Const(left - half)), half)
        if word is None or (combined is not None and combined != word):
            return None
        left, combined = half, word
    return None


def _is_last(found: tuple[tuple[str, ...], tuple[Index, ...], Store], tile: str, axis: int, across: Index) -> bool:
    counters, extents, store = found
    cell = cell_along(axis, Var(counters[0]), ZERO)
    return extents == (across,) and store.buffer != tile and store.index == cell and store.value == Load(tile, cell)


def _level(found: tuple[tuple[str, ...], tuple[Index, ...], Store], tile: str, axis: int, extents: tuple[Index, Index], half: int) -> Value | None:
    """How one half takes in the other, over `a` and `b`; None where the nest does anything else."""
    counters, given, store = found
    if given != extents or store.buffer != tile:
        return None
    kept, along = Var(counters[0]), Var(counters[1])
    mine, other = Load(tile, cell_along(axis, kept, along)), Load(tile, cell_along(axis, kept, add(along, Const(half))))
    loads = [part for part in values(store.value) if isinstance(part, Load)]
    if store.index != mine.index or any(load not in (mine, other) for load in loads):
        return None
    return _over(store.value, {mine: Load("a"), other: Load("b")})


def _over(value: Value, by: dict[Load, Load]) -> Value | None:
    """A value with loads replaced; None where it goes through a range or chooses by an index."""
    if isinstance(value, Load):
        return by[value]
    if isinstance(value, Op):
        args = [_over(arg, by) for arg in value.args]
        return Op(value.name, value.elem, tuple(arg for arg in args if arg is not None)) if None not in args else None
    return None if isinstance(value, (Fold, Choose)) else value


# --- chains ------------------------------------------------------------------------------------


def find_chain(stmt: Stmt) -> Chain | None:
    """The chain along an axis that a statement is, for each row or each column."""
    found = plain_nest(stmt)
    fold = found[2].value if found is not None else None
    if found is None or not isinstance(fold, Fold) or len(found[0]) != 1:
        return None
    (kept,), (across,), store = found
    element = fold.step.args[1] if isinstance(fold.step, Op) and len(fold.step.args) == 2 else None
    if not isinstance(element, Load) or not isinstance(fold.step, Op) or fold.step.args[0] != Load(fold.acc):
        return None
    monoid = name_of(fold.step) if is_combining(fold.step, fold.init) else None
    if monoid is None or not isinstance(fold.domain, Range) or fold.domain.low != ZERO or element.buffer == store.buffer:
        return None
    for axis in (COLUMNS, ROWS):
        if element.index == cell_along(axis, Var(kept), Var(fold.counter)) and store.index == cell_along(axis, Var(kept), ZERO):
            extents = cell_along(axis, across, fold.domain.high)
            return Chain(element.buffer, axis, monoid, extents, store)
    return None
