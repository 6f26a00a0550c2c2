"""Locals: `let` and `var`, of words, vectors and arrays, and `let` of an index.

Takes a declaration of a local; gives a core declaration and the scope that binds it.
Must not give a cell a word that the text does not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cachet_verify.core.index import Index
from cachet_verify.core.ir import Declare, Stmt
from cachet_verify.elaborate.header import check_level, elaborate_layout, elaborate_shape, flat_type
from cachet_verify.elaborate.instruction import applied_instruction, fill_instruction
from cachet_verify.elaborate.place import Place
from cachet_verify.elaborate.problem import UnsupportedError
from cachet_verify.elaborate.scope import BufferEntity, IndexEntity, Scope, ValueType
from cachet_verify.elaborate.term import check_natural, elaborate_index, is_index_expression
from cachet_verify.elaborate.tile import declare_tile, declared_tile
from cachet_verify.elaborate.vector import begin_lanes, end_lanes
from cachet_verify.syntax import ast

if TYPE_CHECKING:
    from cachet_verify.elaborate.statement import Statements


def declare_local(body: Statements, statement: ast.Let | ast.Var, scope: Scope, found: list[Stmt]) -> Scope:
    """Add the declaration of a local; give the scope of what follows it."""
    if _is_index(body, statement, scope):
        return _bind_index(body, statement, scope)
    context = body.context
    allocated = _allocated(statement)
    if allocated is not None:
        return _allocate(body, statement, allocated, scope, found)
    made = declared_tile(body, statement, scope)
    if made is not None:
        return declare_tile(body, statement, made, scope, found)
    kind, shape, is_array = _declared_type(body, statement, scope)
    layout = elaborate_layout(statement.storage, shape, scope, context) if statement.storage is not None else None
    if statement.storage is not None:
        check_level(statement.storage.level, statement.span, context)
    name = context.fresh.take(statement.name)
    mutable = isinstance(statement, ast.Var)
    level = None if statement.storage is None else statement.storage.level
    entity = BufferEntity(name, kind.elem, shape, kind.width, mutable, False, name, "local", layout, level=level)
    value = statement.value
    if value is None:
        found.append(Declare(name, kind.elem, shape, kind.width, None, mutable, None, statement.span, layout, level))
    elif is_array:
        filled = _filled(body, name, kind, shape, value, (scope, found, mutable, statement))
        found.append(replace(filled, layout=layout, level=level))
    elif isinstance(value, ast.Apply) and (reference := applied_instruction(body, value, scope)) is not None:
        made_here = Declare(name, kind.elem, (), kind.width, mutable=mutable, span=statement.span)
        fill_instruction(body, reference, value, Place(scope, begin_lanes(context, kind.width), found), made_here)
    else:
        lane = begin_lanes(context, kind.width)
        word = body.top(value, kind, Place(scope, lane, found))
        found.append(Declare(name, kind.elem, (), kind.width, word, mutable, end_lanes(lane), statement.span))
    return scope.bind(statement.name, entity)


def _allocated(statement: ast.Let | ast.Var) -> ast.ArrayType | None:
    """The array that `alloc [f32; 32, 32]` asks for; None for any other value."""
    value = statement.value
    if isinstance(value, ast.Apply) and value.function == ast.Name("alloc") and len(value.args) == 1 and isinstance(value.args[0], ast.ArrayType):
        return value.args[0]
    return None


def _allocate(body: Statements, statement: ast.Let | ast.Var, array: ast.ArrayType, scope: Scope, found: list[Stmt]) -> Scope:
    """Memory of one's own: written by `store`, its words unspecified until then."""
    element, dims = flat_type(array)
    kind = body.type_of(element, scope)
    shape = elaborate_shape(dims, scope, body.context)
    name = body.context.fresh.take(statement.name)
    found.append(Declare(name, kind.elem, shape, kind.width, None, True, None, statement.span))
    return scope.bind(statement.name, BufferEntity(name, kind.elem, shape, kind.width, True, True, name, "allocated"))


def _is_index(body: Statements, statement: ast.Let | ast.Var, scope: Scope) -> bool:
    if isinstance(statement, ast.Var) or statement.value is None:
        return False
    if statement.storage is not None:
        return isinstance(statement.storage.type, ast.Name) and statement.storage.type.name in ("Nat", "Int")
    return not isinstance(statement.value, ast.BoolLit) and is_index_expression(statement.value, scope, body.context)


def _bind_index(body: Statements, statement: ast.Let | ast.Var, scope: Scope) -> Scope:
    value = statement.value
    if value is None:
        return scope
    term = elaborate_index(value, scope, body.context)
    if statement.storage is not None and statement.storage.type == ast.Name("Nat"):
        check_natural(term, value, scope, body.context)
    return scope.bind(statement.name, IndexEntity(term, "let"))


def _declared_type(body: Statements, statement: ast.Let | ast.Var, scope: Scope) -> tuple[ValueType, tuple[Index, ...], bool]:
    """The element, the extents, and whether it is an array."""
    if statement.storage is None:
        value = statement.value
        if value is None:
            raise body.context.stop("elaborate.type.unknown", f"`{statement.name}` needs a type", statement.span, f"`var {statement.name}: f32`")
        return body.known_type(value, scope, f"`let {statement.name}: f32 = …`"), (), False
    storage = statement.storage
    if isinstance(storage.type, ast.ArrayType):
        element, dims = flat_type(storage.type)
        return body.type_of(element, scope), elaborate_shape(dims, scope, body.context), True
    return body.type_of(storage.type, scope), (), False


def _filled(
    body: Statements,
    name: str,
    kind: ValueType,
    shape: tuple[Index, ...],
    value: ast.Expr,
    where: tuple[Scope, list[Stmt], bool, ast.Let | ast.Var],
) -> Declare:
    """An array every cell of which starts from one word, `repeat (-0.0)`."""
    scope, found, mutable, statement = where
    is_repeat = isinstance(value, ast.Apply) and value.function == ast.Name("repeat") and len(value.args) == 1
    if not is_repeat or not isinstance(value, ast.Apply):
        raise UnsupportedError("a tile value", value.span)
    word = value.args[0]
    if isinstance(word, ast.Apply) and word.function == ast.Name("splat") and len(word.args) == 1:
        word = word.args[0]
    init = body.check(word, ValueType(kind.elem), Place(scope, None, found))
    return Declare(name, kind.elem, shape, kind.width, init, mutable, None, statement.span)
