"""Reductions of tiles back to syntax: `reduce Max f32 over cols by halving do s`.

Takes the statements of a block from some place on; gives the reduction that they start with. Where the next
statement alone reads the result, it is shown inside it. Must not show what would elaborate to anything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cachet_verify.core.index import ONE, Index
from cachet_verify.core.ir import Block, Declare, For, Inlined, Load, Stmt, Store, Value, statements, values
from cachet_verify.elaborate.element import operands, with_operands
from cachet_verify.elaborate.lift_tile import Shapes, lift_fill
from cachet_verify.elaborate.lift_value import ValueLifter
from cachet_verify.elaborate.tree import COLUMNS, find_chain, find_tree
from cachet_verify.syntax import ast


@dataclass(frozen=True, slots=True)
class Reduced:
    """A reduction: the tile of its results, the expression, the locals that it alone uses, and how many statements it takes."""

    target: str
    value: ast.TileReduce
    own: frozenset[str]
    count: int


def count_loads(body: Block) -> Mapping[str, int]:
    """How many loads of each buffer a program's text has."""
    found: dict[str, int] = {}
    for stmt in statements(body):
        for name in _loaded(stmt):
            found[name] = found.get(name, 0) + 1
    return found


def loads_in(stmt: Stmt, name: str) -> int:
    """How many loads of a buffer a statement's text has."""
    return count_loads(Block((stmt,))).get(name, 0)


def _loaded(stmt: Stmt) -> Sequence[str]:
    value: Value | None = stmt.value if isinstance(stmt, Store) else stmt.init if isinstance(stmt, Declare) else None
    return () if value is None else [part.buffer for part in values(value) if isinstance(part, Load)]


def lift_reduction(stmts: Sequence[Stmt], lifter: ValueLifter, shapes: Shapes, loads: Mapping[str, int]) -> Reduced | None:
    """The reduction that statements on tiles start with; None where they start with none."""
    first = stmts[0] if stmts else None
    if not isinstance(first, Inlined) or not first.is_tile or len(first.body.body) != 1:
        return None
    chain = find_chain(first.body.body[0])
    if chain is not None:
        target = chain.last.buffer
        if shapes.get(chain.tile) != chain.extents or shapes.get(target) != _results(chain.axis, chain.extents):
            return None
        return Reduced(target, _expression(chain.monoid, chain.axis, "order", ast.Name(chain.tile)), frozenset(), 1)
    return _halved(stmts, lifter, shapes, loads)


def _halved(stmts: Sequence[Stmt], lifter: ValueLifter, shapes: Shapes, loads: Mapping[str, int]) -> Reduced | None:
    copy, second = (stmts[0], stmts[1]) if len(stmts) > 1 else (None, None)
    if not isinstance(copy, Inlined) or not isinstance(second, Inlined) or not second.is_tile:
        return None
    filled = lift_fill(copy, lifter, shapes)
    extents = shapes.get(filled[0], ()) if filled is not None else ()
    if filled is None or len(extents) != 2:
        return None
    tile, body = filled[0], tuple(_flat(second.body.body))
    tree = find_tree(tile, extents, body)
    if tree is None or tree.count != len(body) or tree.locals or tree.monoid is None or loads.get(tile, 0) != loads_in(second, tile):
        return None
    if shapes.get(tree.last.buffer) != _results(tree.axis, (extents[0], extents[1])):
        return None
    return Reduced(tree.last.buffer, _expression(tree.monoid, tree.axis, "halving", filled[1]), frozenset((tile,)), 2)


def _flat(stmts: Sequence[Stmt]) -> Sequence[Stmt]:
    """Statements, those of plain blocks in their place."""
    return [part for stmt in stmts for part in (_flat(stmt.body) if isinstance(stmt, Block) else (stmt,))]


def _results(axis: int, extents: tuple[Index, Index]) -> tuple[Index, Index]:
    """The extents of the results: one element wide along the axis."""
    return (extents[0], ONE) if axis == COLUMNS else (ONE, extents[1])


def _expression(monoid: tuple[str, str], axis: int, by: str, body: ast.Expr) -> ast.TileReduce:
    named = ast.Apply(ast.Name(monoid[0]), (), (ast.Name(monoid[1]),))
    return ast.TileReduce(named, "cols" if axis == COLUMNS else "rows", by, body)


def with_reduction(expr: ast.Expr, name: str, value: ast.Expr) -> ast.Expr:
    """An expression on tiles with a reduction in place of the tile that holds it."""
    if expr == ast.Name(name):
        return value
    parts = operands(expr)
    return with_operands(expr, [with_reduction(part, name, value) for part in parts]) if parts else expr


def element_value(stmt: Stmt) -> Value | None:
    """The value of one element in a statement on a tile; None where there is more than one store, or a guard."""
    while True:
        if isinstance(stmt, (Inlined, For)) and len(stmt.body.body) == 1:
            stmt = stmt.body.body[0]
        elif isinstance(stmt, Store):
            return stmt.value
        else:
            return None
