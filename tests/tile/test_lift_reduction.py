"""Reductions of tiles in listings: shown as such where the loops are those of one, and as loops where a part differs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from cachet_verify.core.index import ONE, Const, Index, Sum, add, negate
from cachet_verify.core.ir import Block, Fold, For, Grid, Inlined, Load, Op, Program, Stmt, Store, Word, statements
from tests.elaborate.short import program
from tests.tile.tiling import GPU, listing, reads_back

TEXT = f"""\
{GPU}fn f (reads a: [f32; 8, 6]) (mut c: [f32; 8, 6]) (mut d: [f32; 8, 6])
produces Init c, Init d
=
  grid on M4Gpu gi in 0 .. 2
      by tile (si, sj) parts [2, 3]
      writes c[gi * 4 .. gi * 4 + 4, 0 .. 6] as ct, d[gi * 4 .. gi * 4 + 4, 0 .. 6] as dt do
    let x: [f32; 4, 6] = load a[gi * 4 .. gi * 4 + 4, 0 .. 6]
    let m: [f32; 4, 1] = reduce Max f32 over cols by halving do x
    let r: [f32; 1, 6] = reduce Min f32 over rows by halving do x * 2.0
    store ct = x - m + r
    store dt = x / (reduce Sum f32 over cols by order do x)
"""


def found() -> Program:
    return program(TEXT, "f")


def test_reductions_are_shown_where_one_statement_reads_them_inside_it() -> None:
    text = listing(found())
    assert "    let m: [f32; 4, 1] = reduce Max f32 over cols by halving do x\n" in text
    assert "    store ct = x - m + (reduce Min f32 over rows by halving do x * 2.0)\n" in text
    assert "    store dt = x / (reduce Sum f32 over cols by order do x)" in text
    assert reads_back(found())


# --- a part that differs -----------------------------------------------------------------------


def stores(stmt: Stmt, change: Callable[[Store], Store]) -> Stmt:
    """A statement with each store changed."""
    if isinstance(stmt, (For, Grid, Inlined)):
        return replace(stmt, body=Block(tuple(stores(part, change) for part in stmt.body.body)))
    if isinstance(stmt, Block):
        return Block(tuple(stores(part, change) for part in stmt.body))
    return change(stmt) if isinstance(stmt, Store) else stmt


def turned(store: Store) -> Store:
    """The partner first."""
    value = store.value
    return replace(store, value=replace(value, args=value.args[::-1])) if isinstance(value, Op) and value.name == "max" else store


def one_other_operation(store: Store) -> Store:
    """A minimum at the last level alone."""
    value = store.value
    partner = value.args[1] if isinstance(value, Op) and value.name == "max" else None
    is_last = isinstance(partner, Load) and isinstance(partner.index[1], Sum) and ONE in partner.index[1].terms
    return replace(store, value=replace(value, name="min")) if isinstance(value, Op) and is_last else store


def nearer(store: Store) -> Store:
    """Partners that are one element nearer, at the first level."""
    value = store.value
    if not isinstance(value, Op) or value.name != "max" or not isinstance(value.args[1], Load):
        return store
    row, along = value.args[1].index
    return replace(store, value=replace(value, args=(value.args[0], Load(value.args[1].buffer, (row, closer(along))))))


def closer(term: Index) -> Index:
    return add(*(Const(2) if part == Const(3) else part for part in term.terms)) if isinstance(term, Sum) else term


def other_column(store: Store) -> Store:
    """What is left is taken from the second column."""
    value = store.value
    if store.buffer == "m" and isinstance(value, Load):
        return replace(store, value=Load(value.buffer, (value.index[0], ONE)))
    return store


def other_start(store: Store) -> Store:
    """A sum that starts from +0.0."""
    return replace(store, value=replace(store.value, init=Word("f32", 0))) if isinstance(store.value, Fold) else store


def other_order(store: Store) -> Store:
    """A sum of the columns from the last one on."""
    fold = store.value
    if not isinstance(fold, Fold) or not isinstance(fold.step, Op) or not isinstance(fold.step.args[1], Load):
        return store
    load = fold.step.args[1]
    last = add(Const(5), *(negate(part) for part in load.index[1:]))
    return replace(store, value=replace(fold, step=replace(fold.step, args=(fold.step.args[0], Load(load.buffer, (load.index[0], last))))))


@pytest.mark.parametrize(
    ("change", "hidden"),
    [
        (turned, "reduce Max"),
        (one_other_operation, "reduce Max"),
        (nearer, "reduce Max"),
        (other_column, "reduce Max"),
        (other_start, "reduce Sum"),
        (other_order, "reduce Sum"),
    ],
)
def test_loops_of_anything_else_are_shown_as_loops(change: Callable[[Store], Store], hidden: str) -> None:
    before = found()
    after = replace(before, body=Block(tuple(stores(stmt, change) for stmt in before.body.body)))
    assert after != before
    text = listing(after)
    assert hidden not in text
    assert text.count("reduce ") == 2
    assert reads_back(after)


def test_a_copy_that_is_read_again_is_declared() -> None:
    """The tree's tile itself is stored behind it: a reduction would hide it."""
    before = found()
    names = {stmt.buffer for stmt in _all(before.body) if stmt.buffer.startswith("tile")}
    tree = next(name for name in sorted(names) if any(load_of(stmt) == name and stmt.buffer == "m" for stmt in _all(before.body)))

    def reread(store: Store) -> Store:
        value = store.value
        is_target = store.buffer == "ct" and isinstance(value, Op)
        return replace(store, value=replace(value, args=(value.args[0], Load(tree, store.index)))) if is_target and isinstance(value, Op) else store

    after = replace(before, body=Block(tuple(stores(stmt, reread) for stmt in before.body.body)))
    assert "reduce Max" not in listing(after)
    assert reads_back(after)


def _all(block: Block) -> list[Store]:
    return [stmt for stmt in statements(block) if isinstance(stmt, Store)]


def load_of(store: Store) -> str:
    return store.value.buffer if isinstance(store.value, Load) else ""
