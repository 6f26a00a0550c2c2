"""Expressions on whole tiles: their extents, and the same expression at one element.

Takes syntax and a scope; gives extents, and syntax in which every tile stands for the element at hand.
Must not compute anything: the elements are elaborated as any other words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cachet_verify.core.index import ONE, Const, Index, Var, eq
from cachet_verify.core.spell import spell
from cachet_verify.elaborate.place import source_text
from cachet_verify.elaborate.problem import UnsupportedError
from cachet_verify.elaborate.scope import BufferEntity, IndexEntity, Scope
from cachet_verify.elaborate.term import difference, elaborate_index, same_term
from cachet_verify.source import Span
from cachet_verify.syntax import ast

if TYPE_CHECKING:
    from cachet_verify.elaborate.value import Values

Shape = tuple[Index, ...]
AXES = ("rows", "cols")


def is_tile(entity: object) -> bool:
    """Whether a name stands for a local array of words, which is a tile as a whole."""
    return isinstance(entity, BufferEntity) and bool(entity.shape) and entity.width is None


def place_shape(values: Values, expr: ast.Expr, scope: Scope) -> Shape | None:
    """The extents of a place that is more than a cell: a name of an array, or one with slices; None for any other."""
    base = expr.base if isinstance(expr, ast.Index) else expr
    entity = scope.find(base.name) if isinstance(base, ast.Name) else None
    if not isinstance(entity, BufferEntity) or not is_tile(entity):
        return None
    if not isinstance(expr, ast.Index):
        return entity.shape
    slices = [item for item in expr.items if isinstance(item, ast.Slice)]
    if not slices or len(expr.items) != len(entity.shape):
        return None
    bounds = [(elaborate_index(item.low, scope, values.context), elaborate_index(item.high, scope, values.context)) for item in slices]
    return tuple(difference(high, low) for low, high in bounds)


def tile_shape(values: Values, expr: ast.Expr, scope: Scope) -> Shape | None:
    """The extents of a tile expression; None where it is one word. Reports extents that do not fit. Raises StopError."""
    if isinstance(expr, ast.Load):
        return place_shape(values, expr.place, scope)
    if isinstance(expr, (ast.Name, ast.Index)):
        base = expr.base if isinstance(expr, ast.Index) else expr
        entity = scope.find(base.name) if isinstance(base, ast.Name) else None
        return None if not isinstance(entity, BufferEntity) or entity.loaded else place_shape(values, expr, scope)
    if isinstance(expr, ast.TileReduce):
        return _reduced(values, expr, scope)
    if isinstance(expr, ast.Apply) and (expr.function == ast.Name("mma") or instruction_named(values, expr)) and len(expr.args) >= 3:
        return _multiplied(values, expr, scope)
    found: Shape | None = None
    for part in operands(expr):
        shape = tile_shape(values, part, scope)
        found = shape if found is None else found if shape is None else joined(values, found, shape, scope, expr.span)
    return found


def operands(expr: ast.Expr) -> tuple[ast.Expr, ...]:
    """The parts of an expression that go element by element."""
    if isinstance(expr, ast.Binary):
        return (expr.left, expr.right)
    if isinstance(expr, ast.Unary):
        return (expr.operand,)
    if isinstance(expr, ast.Cast):
        return (expr.value,)
    if isinstance(expr, ast.IfExpr):
        return (expr.then, expr.otherwise)
    return expr.args if isinstance(expr, ast.Apply) else ()


def with_operands(expr: ast.Expr, parts: Sequence[ast.Expr]) -> ast.Expr:
    """The expression with other parts, as many as `operands` gave."""
    if isinstance(expr, ast.Binary):
        return replace(expr, left=parts[0], right=parts[1])
    if isinstance(expr, ast.Unary):
        return replace(expr, operand=parts[0])
    if isinstance(expr, ast.Cast):
        return replace(expr, value=parts[0])
    if isinstance(expr, ast.IfExpr):
        return replace(expr, then=parts[0], otherwise=parts[1])
    return replace(expr, args=tuple(parts)) if isinstance(expr, ast.Apply) else expr


def instruction_named(values: Values, expr: ast.Expr) -> bool:
    """Whether an expression applies an `instr fn`."""
    if not isinstance(expr, ast.Apply) or not isinstance(expr.function, ast.Name):
        return False
    entry = values.context.unit.find(expr.function.name)
    return entry is not None and isinstance(entry.declaration, ast.Fn) and entry.declaration.is_instr


def _reduced(values: Values, expr: ast.TileReduce, scope: Scope) -> Shape:
    shape = tile_shape(values, expr.body, scope)
    if expr.axis not in AXES:
        raise values.context.stop(
            "elaborate.tile.axis", f"a tile is reduced over `rows` or over `cols`, not over `{expr.axis}`", expr.span, "`over cols`"
        )
    if shape is None or len(shape) != 2:
        raise values.context.stop(
            "elaborate.tile.shape", "a tile of two dimensions is reduced, and this is none", expr.body.span, "`let x: [f32; 16, 8] = load a[…]`"
        )
    return (ONE, shape[1]) if expr.axis == "rows" else (shape[0], ONE)


def _multiplied(values: Values, expr: ast.Apply, scope: Scope) -> Shape | None:
    """Rows of the first operand by columns of the second; None where the operands are vectors."""
    left, right, total = (tile_shape(values, arg, scope) for arg in expr.args[-3:])
    if left is None and right is None and total is None:
        return None
    if left is None or right is None or total is None or {len(left), len(right), len(total)} != {2}:
        hint = "`let x: [f32; 16, 8] = load a[…]` binds a block"
        raise values.context.stop("elaborate.tile.shape", f"`{source_text(expr.function)}` multiplies tiles of two dimensions", expr.span, hint)
    for ours, theirs, what in ((left[1], right[0], "depth"), (left[0], total[0], "rows"), (right[1], total[1], "columns")):
        equal(values, ours, theirs, scope, f"the {what} of `{source_text(expr)}`", expr.span)
    return (left[0], right[1])


def equal(values: Values, ours: Index, theirs: Index, scope: Scope, what: str, span: Span | None) -> None:
    """Two extents are one: reported where they never are, noted where nobody can tell yet."""
    if same_term(ours, theirs):
        return
    message = f"{what} are {spell(ours)} and {spell(theirs)}"
    if isinstance(ours, Const) and isinstance(theirs, Const):
        raise values.context.stop("elaborate.tile.shape", message, span, "give both the same extent")
    values.context.require(scope, eq(ours, theirs), f"{what} are alike: {spell(ours)} == {spell(theirs)}", span)


def joined(values: Values, ours: Shape, theirs: Shape, scope: Scope, span: Span | None) -> Shape:
    """The extents of two tiles taken together: alike, or 1, which goes along with any."""
    if len(ours) != len(theirs):
        message = f"a tile of {len(ours)} dimensions meets one of {len(theirs)}"
        raise values.context.stop("elaborate.tile.shape", message, span, "give both as many dimensions, an extent of 1 where all go along")
    found: list[Index] = []
    for place, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        if ONE not in (one, other):
            equal(values, one, other, scope, f"the extents of dimension {place + 1} of two tiles", span)
        found.append(other if one == ONE else one)
    return tuple(found)


# --- one element -------------------------------------------------------------------------------


def element_names(counters: Sequence[str], scope: Scope) -> tuple[tuple[ast.Expr, ...], Scope]:
    """Names for the indices of an element, and the scope that binds them to counters; a blank keeps them apart from all others."""
    names = tuple(f"tile index {place}" for place in range(len(counters)))
    for name, counter in zip(names, counters, strict=True):
        scope = scope.bind(name, IndexEntity(Var(counter), "counter"))
    return tuple(ast.Name(name) for name in names), scope


def at_element(values: Values, expr: ast.Expr, at: Sequence[ast.Expr], scope: Scope) -> ast.Expr:
    """The expression at one element: an index for each dimension of its tiles. Raises StopError."""
    if isinstance(expr, ast.Load):
        return replace(expr, place=_cell(values, expr.place, at, scope))
    if isinstance(expr, (ast.Name, ast.Index)):
        return _cell(values, expr, at, scope)
    if isinstance(expr, (ast.TileReduce, ast.Fold)):
        raise UnsupportedError("a total inside an element of a tile", expr.span)
    parts = operands(expr)
    return with_operands(expr, [at_element(values, part, at, scope) for part in parts]) if parts else expr


def _cell(values: Values, place: ast.Expr, at: Sequence[ast.Expr], scope: Scope) -> ast.Expr:
    shape = place_shape(values, place, scope)
    if shape is None:
        return place
    if len(shape) != len(at):
        message = f"`{source_text(place)}` has {len(shape)} dimensions, and the tile {len(at)}"
        raise values.context.stop("elaborate.tile.shape", message, place.span, "give both as many dimensions, an extent of 1 where all go along")
    moved = iter([ast.IntLit(0) if extent == ONE else index for extent, index in zip(shape, at, strict=True)])
    if not isinstance(place, ast.Index):
        return ast.Index(place, tuple(moved), span=place.span)
    items = tuple(_offset(item.low, next(moved)) if isinstance(item, ast.Slice) else item for item in place.items)
    return replace(place, items=items)


def _offset(low: ast.Expr, index: ast.Expr) -> ast.Expr:
    return ast.Binary("+", low, index, span=low.span)
