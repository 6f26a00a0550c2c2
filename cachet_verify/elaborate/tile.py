"""Statements on whole tiles: blocks loaded and stored, arithmetic element by element.

Takes a statement and its scope; gives loops over elements that mean the same, marked as one statement.
Must not write a tile before all that the statement reads of it is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cachet_verify.core.index import ZERO, Var, le, lt
from cachet_verify.core.ir import Block, Declare, For, Inlined, Range, Stmt, Store
from cachet_verify.elaborate.element import Shape, at_element, element_names, equal, instruction_named, place_shape, tile_shape
from cachet_verify.elaborate.element import operands as parts_of
from cachet_verify.elaborate.element import with_operands as with_parts
from cachet_verify.elaborate.header import elaborate_shape
from cachet_verify.elaborate.place import Place, source_text
from cachet_verify.elaborate.scope import BufferEntity, Scope, ValueType
from cachet_verify.syntax import ast

if TYPE_CHECKING:
    from cachet_verify.elaborate.statement import Statements

_WHOLE = (ast.Name("repeat"), ast.Name("alloc"))


def declared_tile(body: Statements, statement: ast.Let | ast.Var, scope: Scope) -> tuple[ValueType, Shape] | None:
    """The element type and extents of a local that starts from a tile; None where it does not. Raises StopError."""
    value, storage = statement.value, statement.storage
    if value is None or (isinstance(value, ast.Apply) and value.function in _WHOLE):
        return None
    if (storage is not None and not isinstance(storage.type, ast.ArrayType)) or _is_vector(body, value, scope):
        return None
    shape = tile_shape(body, value, scope)
    if storage is None or not isinstance(storage.type, ast.ArrayType):
        return None if shape is None else (tile_type(body, value, scope), shape)
    kind, wanted = body.type_of(storage.type.element, scope), elaborate_shape(storage.type.dims, scope, body.context)
    if shape is None or kind.width is not None:
        return None
    _check_shape(body, statement.name, wanted, shape, scope, value)
    return kind, wanted


def declare_tile(body: Statements, statement: ast.Let | ast.Var, made: tuple[ValueType, Shape], scope: Scope, found: list[Stmt]) -> Scope:
    """A local tile and the loops that fill it; gives the scope of what follows."""
    (kind, shape), name, mutable = made, body.context.fresh.take(statement.name), isinstance(statement, ast.Var)
    level = None if statement.storage is None else statement.storage.level
    found.append(Declare(name, kind.elem, shape, mutable=mutable, span=statement.span, level=level))
    entity = BufferEntity(name, kind.elem, shape, None, mutable, False, name, "local", level=level)
    if statement.value is not None:
        Tiles(body, statement, found).fill(entity, statement.value, scope)
    return scope.bind(statement.name, entity)


def written_tile(body: Statements, target: ast.Expr, value: ast.Expr, scope: Scope) -> Shape | None:
    """The extents of what a statement writes, where that is a tile or a block of memory; None where it is a cell or a vector."""
    shape = place_shape(body, target, scope)
    if shape is None or not isinstance(target, ast.Index):
        return shape
    slices = [item for item in target.items if isinstance(item, ast.Slice)]
    if len(slices) > 1:
        return shape
    return None if _is_vector(body, value, scope) or tile_shape(body, value, scope) is None else shape


def _is_vector(body: Statements, value: ast.Expr, scope: Scope) -> bool:
    """Whether a value is a vector, as far as its text tells."""
    kind = body.infer(value, scope)
    return kind is not None and kind.width is not None


@dataclass(frozen=True, slots=True)
class Tiles:
    """One statement on tiles: where it stands, and the list that its loops go to."""

    body: Statements
    node: ast.Statement
    found: list[Stmt]

    # --- the two kinds of targets ---

    def write(self, target: ast.Expr, value: ast.Expr, shape: Shape, scope: Scope) -> None:
        """Write a tile, or one word for every element, to a local tile or to a block of memory. Raises StopError."""
        value = self.repeated(value, scope)
        given = tile_shape(self.body, value, scope)
        if given is not None:
            _check_shape(self.body, source_text(target), shape, given, scope, value)
        base = target.base if isinstance(target, ast.Index) else target
        entity = scope.find(base.name) if isinstance(base, ast.Name) else None
        if not isinstance(entity, BufferEntity) or not entity.writable:
            message = f"`{source_text(base)}` is never written: it is a `let`, or read only here"
            raise self.body.context.stop("elaborate.assign", message, target.span, "declare a tile with `var`, a parameter with `mut`")
        if isinstance(target, ast.Name) and not entity.loaded:
            self.fill(entity, value, scope)
            return
        kind = ValueType(entity.elem)
        value, scope = self.settled(value, kind, scope)
        if any(_root(part, scope) == entity.root for part in _places(value)):
            value, scope = self.held(value, shape, kind, scope)
        self.elements(target, value, kind, shape, scope)

    def repeated(self, value: ast.Expr, scope: Scope) -> ast.Expr:
        """The word of `repeat WORD`, which goes to every element as a bare word does; any other value as it is."""
        is_repeat = isinstance(value, ast.Apply) and value.function == ast.Name("repeat") and len(value.args) == 1
        if isinstance(value, ast.Apply) and is_repeat and tile_shape(self.body, value.args[0], scope) is None:
            return value.args[0]
        return value

    def fill(self, target: BufferEntity, value: ast.Expr, scope: Scope) -> None:
        """Give every element of a whole local tile its word."""
        kind = ValueType(target.elem)
        if self.is_product(value, scope) and isinstance(value, ast.Apply):
            from cachet_verify.elaborate.multiply import multiply_into

            multiply_into(self, target, value, scope)
        elif isinstance(value, ast.TileReduce):
            from cachet_verify.elaborate.reduction import reduce_into

            reduce_into(self, target, value, scope)
        else:
            value, scope = self.settled(value, kind, scope)
            if any(_root(part, scope) == target.root and not _is_whole(part, target, scope) for part in _places(value)):
                value, scope = self.held(value, target.shape, kind, scope)
            self.elements(ast.Name("tile target"), value, kind, target.shape, scope.bind("tile target", target))

    def is_product(self, expr: ast.Expr, scope: Scope) -> bool:
        """Whether an expression multiplies tiles."""
        if not isinstance(expr, ast.Apply):
            return False
        return expr.function == ast.Name("mma") or (instruction_named(self.body, expr) and tile_shape(self.body, expr, scope) is not None)

    # --- tiles of their own ---

    def new(self, base: str, elem: str, shape: Shape) -> BufferEntity:
        """A fresh local tile, declared here."""
        name = self.body.context.fresh.take(base)
        self.found.append(Declare(name, elem, shape, mutable=True, span=self.node.span))
        return BufferEntity(name, elem, shape, None, True, False, name, "local")

    def held(self, expr: ast.Expr, shape: Shape, kind: ValueType, scope: Scope) -> tuple[ast.Expr, Scope]:
        """A name for a fresh tile that holds an expression, and the scope that binds it."""
        entity = self.new("tile", kind.elem, shape)
        self.fill(entity, expr, scope)
        name = f"tile {entity.name}"
        return ast.Name(name, span=expr.span), scope.bind(name, entity)

    def settled(self, expr: ast.Expr, kind: ValueType, scope: Scope) -> tuple[ast.Expr, Scope]:
        """The expression with products and reductions held in tiles of their own."""
        if isinstance(expr, ast.TileReduce) or self.is_product(expr, scope):
            shape = tile_shape(self.body, expr, scope)
            if shape is not None:
                return self.held(expr, shape, kind, scope)
        parts = list(parts_of(expr))
        for place, part in enumerate(parts):
            parts[place], scope = self.settled(part, kind, scope)
        return (with_parts(expr, parts) if parts else expr), scope

    def operand(self, expr: ast.Expr, scope: Scope) -> BufferEntity:
        """The local tile that an operand is; a fresh one where it is none yet. Raises StopError."""
        entity = scope.find(expr.name) if isinstance(expr, ast.Name) else None
        if isinstance(entity, BufferEntity) and entity.shape and not entity.loaded and entity.width is None:
            return entity
        shape = tile_shape(self.body, expr, scope)
        if shape is None:
            raise self.body.context.stop("elaborate.tile.shape", f"`{source_text(expr)}` is no tile", expr.span, "`let x: [f32; 16, 8] = load a[…]`")
        entity = self.new("tile", tile_type(self.body, expr, scope).elem, shape)
        self.fill(entity, expr, scope)
        return entity

    # --- loops ---

    def elements(self, target: ast.Expr, value: ast.Expr, kind: ValueType, shape: Shape, scope: Scope) -> None:
        """A loop for each dimension around the store of one element."""
        counters = tuple(self.body.context.fresh.take(f"e{place}") for place in range(len(shape)))
        names, inner = element_names(counters, scope)
        for counter, extent in zip(counters, shape, strict=True):
            inner = inner.assume(le(ZERO, Var(counter)), lt(Var(counter), extent))
        before: list[Stmt] = []
        place = Place(inner, None, before)
        entity, index, _ = self.body.resolve(at_element(self.body, target, names, scope), place)
        word = self.body.check(at_element(self.body, value, names, scope), kind, place)
        self.add(self.nested(counters, shape, (*before, Store(entity.name, index, word, span=self.node.span))))

    def nested(self, counters: Sequence[str], shape: Shape, stmts: tuple[Stmt, ...]) -> Block:
        """Statements inside a loop for each counter, the first one outermost."""
        block = Block(stmts)
        for counter, extent in reversed(list(zip(counters, shape, strict=True))):
            block = Block((For(counter, Range(ZERO, extent), block, self.node.span),))
        return block

    def add(self, block: Block, text: str = "") -> None:
        """Add the loops of the statement, marked as one; of a product, under the name it is asked by."""
        self.found.append(Inlined(text or source_text(self.node), block, self.node.span, None, True))


def _places(expr: ast.Expr) -> Iterator[ast.Expr]:
    """The places that an expression reads."""
    if isinstance(expr, ast.Load):
        yield expr.place
    elif isinstance(expr, (ast.Name, ast.Index)):
        yield expr
    for part in parts_of(expr):
        yield from _places(part)


def _root(place: ast.Expr, scope: Scope) -> str:
    """The buffer that a place lies in; empty for what is no memory."""
    base = place.base if isinstance(place, ast.Index) else place
    entity = scope.find(base.name) if isinstance(base, ast.Name) else None
    return entity.root if isinstance(entity, BufferEntity) else ""


def _is_whole(place: ast.Expr, target: BufferEntity, scope: Scope) -> bool:
    """Whether a place is the target itself, so that each element reads its own; a part or another view of it is not."""
    entity = scope.find(place.name) if isinstance(place, ast.Name) else None
    return isinstance(entity, BufferEntity) and entity.name == target.name


def _check_shape(body: Statements, name: str, wanted: Shape, given: Shape, scope: Scope, value: ast.Expr) -> None:
    """Report or note that a tile has other extents than the place it goes to."""
    if len(wanted) != len(given):
        message = f"`{name}` has {len(wanted)} dimensions, and this tile {len(given)}"
        raise body.context.stop("elaborate.tile.shape", message, value.span, "a block of as many dimensions")
    for place, (one, other) in enumerate(zip(wanted, given, strict=True)):
        equal(body, one, other, scope, f"the extents of `{name}` and of its value, in dimension {place + 1},", value.span)


def tile_type(body: Statements, expr: ast.Expr, scope: Scope) -> ValueType:
    """The element type of a tile expression. Raises StopError where its text does not tell."""
    for place in _all_places(expr):
        base = place.base if isinstance(place, ast.Index) else place
        entity = scope.find(base.name) if isinstance(base, ast.Name) else None
        if isinstance(entity, BufferEntity):
            return ValueType(entity.elem)
    return body.known_type(expr, scope, "give the tile its type: `let x: [f32; 16, 8] = …`")


def _all_places(expr: ast.Expr) -> Iterator[ast.Expr]:
    """The places that an expression reads, inside reductions too; a conversion hides what it converts."""
    if isinstance(expr, ast.TileReduce):
        yield from _all_places(expr.body)
    elif isinstance(expr, (ast.Load, ast.Name, ast.Index)):
        yield from _places(expr)
    elif not isinstance(expr, ast.Cast):
        for part in parts_of(expr):
            yield from _all_places(part)
