"""Expressions whose value is a word, with their element types.

Takes syntax, the type wanted and a scope; gives core values. Must not convert, widen or
reassociate anything that the text does not: two element types never mix without `as`.
"""

from __future__ import annotations

from collections.abc import Callable

from cachet_verify.core.element import WordError
from cachet_verify.core.index import Const as IndexConst
from cachet_verify.core.index import neg
from cachet_verify.core.ir import Choose, OfIndex, Op, Value, Word
from cachet_verify.core.outer import PRIMITIVES
from cachet_verify.elaborate import operation
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.place import Place, Places, source_text
from cachet_verify.elaborate.problem import StopError, UnsupportedError
from cachet_verify.elaborate.scope import (
    BlockEntity,
    BufferEntity,
    GenericEntity,
    IndexEntity,
    PoisonEntity,
    Scope,
    ValueEntity,
    ValueType,
)
from cachet_verify.elaborate.term import (
    COMPARISONS,
    elaborate_condition,
    elaborate_index,
    is_index_expression,
)
from cachet_verify.syntax import ast

BOOL = ValueType("bool")
MOST_LANES = 4096
"""A vector wider than this is a slip of the pen."""


class Values(Places):
    """Elaborates the values of one item. Forms of single items (sums, folds) are added by subclasses."""

    def inside(self, context: Context) -> Values:
        """What elaborates the body of a function that is inlined here."""
        return type(self)(context)

    def named_once(self, value: Value, _kind: ValueType, _name: str, _place: Place) -> Value:
        """A value that is used more than once; where statements can stand in front of it, it may get a name."""
        return value

    # --- types without elaboration ---

    def infer(self, expr: ast.Expr, scope: Scope) -> ValueType | None:
        """The type of an expression as far as its text tells; None when only its surroundings do."""
        if isinstance(expr, ast.Name):
            entity = scope.find(expr.name)
            if isinstance(entity, ValueEntity):
                return entity.type
            if entity is None:
                return self.constant_type(expr.name)
            return entity.value_type if isinstance(entity, BufferEntity) else None
        if isinstance(expr, (ast.Load, ast.Index)):
            return self.infer_place(expr.place if isinstance(expr, ast.Load) else expr, scope)
        if isinstance(expr, ast.BoolLit):
            return BOOL
        if isinstance(expr, ast.Binary):
            return BOOL if expr.operator in COMPARISONS else self.infer(expr.left, scope) or self.infer(expr.right, scope)
        if isinstance(expr, ast.Unary):
            return self.infer(expr.operand, scope)
        if isinstance(expr, ast.Cast):
            return ValueType(expr.type.name) if isinstance(expr.type, ast.Name) and operation.is_known(expr.type.name) else None
        return self.infer_other(expr, scope)

    def infer_place(self, expr: ast.Expr, scope: Scope) -> ValueType | None:
        """The type of the word a place holds; None for a part of memory, whose width is not written."""
        base = expr.base if isinstance(expr, ast.Index) else expr
        entity = scope.find(base.name) if isinstance(base, ast.Name) else None
        if isinstance(expr, ast.Index) and any(isinstance(item, ast.Slice) for item in expr.items):
            return entity.value_type if isinstance(entity, BufferEntity) and entity.width is not None else None
        return entity.value_type if isinstance(entity, BufferEntity) else None

    def infer_other(self, expr: ast.Expr, scope: Scope) -> ValueType | None:
        """The type of a choice, a fold or a call."""
        if isinstance(expr, ast.IfExpr):
            return self.infer(expr.then, scope) or self.infer(expr.otherwise, scope)
        if isinstance(expr, ast.Fold):
            return ValueType(self.elem_name(expr.type, scope))
        if not isinstance(expr, ast.Apply):
            return None
        function = expr.function
        if isinstance(function, ast.Field) and isinstance(function.base, ast.Name):
            entity = scope.find(function.base.name)
            return ValueType(f"{entity.name}.Value") if isinstance(entity, GenericEntity) else None
        if not isinstance(function, ast.Name) or function.name in ("splat", "slice_lanes", "from_bits"):
            return None
        if function.name == "to_bits":
            source = self.infer(expr.args[0], scope) if expr.args else None
            return None if source is None else ValueType(operation.carrier(source.elem), source.width)
        if function.name in PRIMITIVES:
            return self.infer(expr.args[2], scope) if len(expr.args) > 2 else None
        if function.name == "select":
            return next((kind for arg in expr.args[1:] if (kind := self.infer(arg, scope))), None)
        found = self.context.unit.find(function.name)
        if found is not None and isinstance(found.declaration, ast.Fn) and found.declaration.result is not None:
            return self.type_of(found.declaration.result.storage.type, Scope())
        return next((kind for arg in expr.args if (kind := self.infer(arg, scope))), None)

    def known_type(self, expr: ast.Expr, scope: Scope, hint: str) -> ValueType:
        """The inferred type. Reports when there is none."""
        if isinstance(expr, (ast.RecordLit, ast.Reduce, ast.TileReduce)):
            self.unsupported(expr, BOOL, Place(scope))
        found = self.infer(expr, scope)
        if found is None:
            raise self.context.stop("elaborate.type.unknown", "the type of this is not known from its text", expr.span, hint)
        return found

    def elem_name(self, expr: ast.Type, scope: Scope) -> str:
        """The element type a type expression names: `f32`, `S.Value`."""
        if isinstance(expr, ast.Name) and operation.is_known(expr.name):
            return expr.name
        if isinstance(expr, ast.Field) and isinstance(expr.base, ast.Name) and expr.name == "Value":
            entity = scope.find(expr.base.name)
            if isinstance(entity, GenericEntity):
                return f"{entity.name}.Value"
            if entity is None and self.context.unit.find(expr.base.name) is None:
                raise self.context.unknown(expr.base.name, expr.base.span, scope)
        if isinstance(expr, ast.Name):
            entry = self.context.unit.find(expr.name)
            if entry is not None and isinstance(entry.declaration, ast.Record):
                raise UnsupportedError(f"the record `{expr.name}` as an element", expr.span)
        known = "f16 bf16 f32 f64 i8 i32 i64 u32 bool"
        raise self.context.stop("elaborate.type.unknown", f"`{source_text(expr)}` is no element type", expr.span, f"one of {known}, or `S.Value`")

    def type_of(self, expr: ast.Type, scope: Scope) -> ValueType:
        """The type a type expression names: `f32`, `S.Value` or `Vec f32 8`."""
        if not (isinstance(expr, ast.Apply) and expr.function == ast.Name("Vec")):
            return ValueType(self.elem_name(expr, scope))
        if len(expr.args) != 2:
            message = "a vector has an element type and a number of lanes"
            raise self.context.stop("elaborate.type.unknown", message, expr.span, "`Vec f32 8`")
        width = elaborate_index(expr.args[1], scope, self.context)
        if not isinstance(width, IndexConst) or not 0 < width.value <= MOST_LANES:
            message = f"the number of lanes is a constant from 1 to {MOST_LANES}"
            raise self.context.stop("elaborate.vector.width", message, expr.args[1].span, "`Vec f32 8`")
        return ValueType(self.elem_name(expr.args[0], scope), width.value)

    # --- values ---

    def check(self, expr: ast.Expr, wanted: ValueType, place: Place) -> Value:
        """The value of an expression that must have the type `wanted`. Raises StopError."""
        for kind, method in self.forms():
            if isinstance(expr, kind):
                return method(expr, wanted, place)
        raise self.context.stop("elaborate.type.unknown", "this is no value", expr.span)

    def forms(self) -> tuple[tuple[type, Callable[..., Value]], ...]:
        """The method for each class of expression."""
        return (
            (ast.Load, self.loaded),
            (ast.Name, self.named),
            (ast.Index, self.indexed),
            (ast.Binary, self.binary),
            (ast.Apply, self.applied),
            (ast.FloatLit, self.literal),
            (ast.IntLit, self.literal),
            (ast.BoolLit, self.literal),
            (ast.Unary, self.unary),
            (ast.Cast, self.cast),
            (ast.IfExpr, self.conditional),
            (ast.Fold, self.fold),
            (ast.Sum, self.sum),
            (ast.Reduce, self.reduction),
            (ast.TileReduce, self.unsupported),
            (ast.RecordLit, self.unsupported),
            (ast.Field, self.field_of),
        )

    def unsupported(self, expr: ast.Expr, _wanted: ValueType, _place: Place) -> Value:
        """Refuse a form that has no meaning yet."""
        names = {ast.Reduce: "`reduce`", ast.TileReduce: "`reduce` over a tile", ast.RecordLit: "a record value"}
        raise UnsupportedError(names.get(type(expr), "this expression"), expr.span)

    def field_of(self, expr: ast.Field, _wanted: ValueType, _place: Place) -> Value:
        """Refuse a bare field: a nullary operation takes `()`."""
        raise self.context.stop("elaborate.type.unknown", f"`{source_text(expr)}` is no value", expr.span, f"`{source_text(expr)} ()` calls it")

    def literal(self, expr: ast.FloatLit | ast.IntLit | ast.BoolLit, wanted: ValueType, place: Place, negative: bool = False) -> Value:
        """The word of a literal, rounded once to the element type."""
        text = (
            expr.text if isinstance(expr, ast.FloatLit) else ("true" if expr.value else "false") if isinstance(expr, ast.BoolLit) else str(expr.value)
        )
        if wanted.width is not None and place.lane is not None and not place.is_each:
            raise self.context.stop("elaborate.type.mismatch", "a number is not a vector", expr.span, f"`splat {text}`")
        if operation.is_generic(wanted.elem):
            generic = wanted.elem.partition(".")[0]
            raise self.context.stop(
                "elaborate.type.mismatch", f"a number is not a `{wanted.elem}`", expr.span, f"`{generic}.zero ()` or `{generic}.one ()`"
            )
        if isinstance(expr, ast.BoolLit):
            self.expect(BOOL, wanted, expr)
        is_int = isinstance(expr, ast.IntLit)
        if is_int and operation.is_float(wanted.elem):
            raise self.context.stop("elaborate.type.literal", f"`{text}` is an integer, and `{wanted.elem}` is wanted here", expr.span, f"`{text}.0`")
        try:
            return operation.literal(f"-{text}" if negative else text, wanted.elem)
        except WordError as error:
            raise self.context.stop("elaborate.type.literal", str(error), expr.span) from error

    def named(self, expr: ast.Name, wanted: ValueType, place: Place) -> Value:
        """A local, an argument of an inlined function, or a scalar parameter."""
        entity = place.scope.find(expr.name)
        if isinstance(entity, PoisonEntity):
            raise StopError(expr.name)
        if isinstance(entity, ValueEntity):
            self.expect(entity.type, wanted, expr)
            return entity.value
        if isinstance(entity, BufferEntity):
            return self.read(expr, wanted, place, with_load=False)
        if isinstance(entity, (IndexEntity, BlockEntity)) or (entity is None and self.context.unit.constant(expr.name, expr.span) is not None):
            message = f"`{expr.name}` is an integer, and a word of `{wanted.elem}` is wanted here"
            raise self.context.stop("elaborate.type.mismatch", message, expr.span, f"`{expr.name} as {wanted.elem}`")
        if entity is None and self.context.unit.find(expr.name) is None:
            raise self.context.unknown(expr.name, expr.span, place.scope)
        kind, entry = self.constant_type(expr.name), self.context.unit.find(expr.name)
        if kind is not None and entry is not None and isinstance(entry.declaration, ast.Const) and entry.declaration.value is not None:
            self.expect(kind, wanted, expr)
            return self.check(entry.declaration.value, kind, Place(Scope()))
        raise self.context.stop("elaborate.name.kind", f"`{expr.name}` is not a value", expr.span)

    def constant_type(self, name: str) -> ValueType | None:
        """The element type of a constant that is a word, `const alpha : f32 = 0.5`; None for any other name."""
        entry = self.context.unit.find(name)
        kind = entry.declaration.type if entry is not None and isinstance(entry.declaration, ast.Const) else None
        return ValueType(kind.name) if isinstance(kind, ast.Name) and operation.is_known(kind.name) else None

    def indexed(self, expr: ast.Index, wanted: ValueType, place: Place) -> Value:
        """A cell of a local, read without `load`; or a block's index used as a word."""
        if is_index_expression(expr, place.scope, self.context):
            message = f"`{source_text(expr)}` is an integer, and a word of `{wanted.elem}` is wanted here"
            raise self.context.stop("elaborate.type.mismatch", message, expr.span, f"`({source_text(expr)}) as {wanted.elem}`")
        return self.read(expr, wanted, place, with_load=False)

    def loaded(self, expr: ast.Load, wanted: ValueType, place: Place) -> Value:
        """`load PLACE`."""
        return self.read(expr.place, wanted, place, with_load=True)

    # --- operators ---

    def unary(self, expr: ast.Unary, wanted: ValueType, place: Place) -> Value:
        """`-x`; a negative literal is one word, not a negation."""
        if expr.operator == "not":
            self.expect(ValueType("bool", wanted.width), wanted, expr)
            return Op("not_", "bool", (self.check(expr.operand, wanted, place),))
        if isinstance(expr.operand, (ast.FloatLit, ast.IntLit)):
            return self.literal(expr.operand, wanted, place, negative=True)
        if is_infinity(expr.operand) and operation.is_float(wanted.elem):
            return operation.infinity(wanted.elem, negative=True)
        self.defined("neg", wanted, expr)
        return Op("neg", wanted.elem, (self.check(expr.operand, wanted, place),))

    def defined(self, name: str, wanted: ValueType, expr: ast.Expr) -> None:
        """Report unless a core operation is defined on the element type."""
        if operation.is_generic(wanted.elem):
            generic = wanted.elem.partition(".")[0]
            message = f"`{name}` is not defined on `{wanted.elem}`, which has only the operations of its interface"
            raise self.context.stop("elaborate.type.operation", message, expr.span, f"`{generic}.add a b`, `{generic}.mul a b`, …")
        if not operation.accepts(name, wanted.elem):
            raise self.context.stop("elaborate.type.operation", f"`{name}` is not defined on `{wanted.elem}`", expr.span)

    def binary(self, expr: ast.Binary, wanted: ValueType, place: Place) -> Value:
        """An operator between words; the operands keep their order."""
        if expr.operator in COMPARISONS:
            return self.compared(expr, wanted, place)
        if expr.operator in operation.LOGIC:
            self.expect(ValueType("bool", wanted.width), wanted, expr)
            name = operation.LOGIC[expr.operator]
        elif operation.is_generic(wanted.elem) and expr.operator in ("+", "*"):
            name = f"{wanted.elem.partition('.')[0]}.{'add' if expr.operator == '+' else 'mul'}"
        else:
            name = operation.ARITHMETIC[expr.operator]
            self.defined(name, wanted, expr)
        return Op(name, wanted.elem, (self.check(expr.left, wanted, place), self.check(expr.right, wanted, place)))

    def compared(self, expr: ast.Binary, wanted: ValueType, place: Place) -> Value:
        """A comparison of words: `a > b` is `b < a`, `a != b` the complement of `a == b`."""
        self.expect(ValueType("bool", wanted.width), wanted, expr)
        kind = self.infer(expr.left, place.scope) or self.infer(expr.right, place.scope)
        if kind is None:
            raise self.context.stop("elaborate.type.unknown", "the type compared here is not known", expr.span, "write `(1.0 as f32)`")
        left, right = self.check(expr.left, kind, place), self.check(expr.right, kind, place)
        if expr.operator in (">", ">="):
            left, right = right, left
        name = {"==": "eq", "!=": "eq", "<": "lt", ">": "lt"}.get(expr.operator, "le")
        self.defined(name, kind, expr)
        value = Op(f"{name} {kind.elem}", "bool", (left, right))
        return Op("not_", "bool", (value,)) if expr.operator == "!=" else value

    def cast(self, expr: ast.Cast, wanted: ValueType, place: Place) -> Value:
        """`x as T`: a conversion, or the type of a literal, or an integer made a word."""
        found = ValueType(self.elem_name(expr.type, place.scope), wanted.width)
        self.expect(found, wanted, expr)
        operand = expr.value.operand if isinstance(expr.value, ast.Unary) and expr.value.operator == "-" else expr.value
        if isinstance(operand, (ast.FloatLit, ast.BoolLit)):
            return self.check(expr.value, wanted, place)
        if is_index_expression(expr.value, place.scope, self.context):
            term = elaborate_index(expr.value, place.scope, self.context)
            if isinstance(term, IndexConst) and not operation.is_generic(found.elem):
                from cachet_verify.core.numeral import word_of_int

                return Word(found.elem, word_of_int(term.value, found.elem))
            return OfIndex(found.elem, term)
        source = self.known_type(expr.value, place.scope, "give a name its type with `let x: f32 = …`")
        source = ValueType(source.elem, wanted.width if place.lane is not None else source.width)
        if operation.is_generic(source.elem) or operation.is_generic(found.elem):
            raise self.context.stop("elaborate.type.operation", f"there is no conversion from `{source.elem}` to `{found.elem}`", expr.span)
        value = self.check(expr.value, source, place)
        return value if source == found else Op(f"convert {source.elem} {found.elem}", found.elem, (value,))

    def conditional(self, expr: ast.IfExpr, wanted: ValueType, place: Place) -> Value:
        """`if p then x else y`: on integers only the chosen value is read; on words both are."""
        if is_index_expression(expr.condition, place.scope, self.context):
            condition = elaborate_condition(expr.condition, place.scope, self.context)
            then = self.check(expr.then, wanted, place.assuming(place.scope.assume(condition)))
            orelse = self.check(expr.otherwise, wanted, place.assuming(place.scope.assume(neg(condition))))
            return Choose(condition, then, orelse)
        decided = self.check(expr.condition, ValueType("bool", wanted.width), place)
        return Op("select", wanted.elem, (decided, self.check(expr.then, wanted, place), self.check(expr.otherwise, wanted, place)))

    # --- folds ---

    def reduction(self, expr: ast.Reduce, _wanted: ValueType, _place: Place) -> Value:
        """A reduction over an index belongs to a contraction, whose shapes give its range."""
        raise UnsupportedError("`reduce`", expr.span)

    def fold(self, expr: ast.Fold, _wanted: ValueType, _place: Place) -> Value:
        """A fold has no place in the functions of an implementation."""
        raise UnsupportedError("a `fold` here", expr.span)

    def sum(self, expr: ast.Sum, _wanted: ValueType, _place: Place) -> Value:
        """A sum belongs to a contraction, whose shapes give its range."""
        raise self.context.stop("elaborate.equation.sum", "`sum` stands only in the equations of a contraction", expr.span, "fold k in 0 .. K from …")

    def top(self, expr: ast.Expr, wanted: ValueType, place: Place) -> Value:
        """The value of a whole statement, where a running total may stand by itself."""
        return self.check(expr, wanted, place)

    # --- calls ---

    def applied(self, expr: ast.Apply, wanted: ValueType, place: Place) -> Value:
        """A call: an operation of the language, of an interface, or a function that is inlined."""
        from cachet_verify.elaborate.application import apply_function

        return apply_function(self, expr, wanted, place)


def is_infinity(expr: ast.Expr) -> bool:
    """Whether an expression is `Num.infinity ()`."""
    if not isinstance(expr, ast.Apply) or expr.implicit or expr.args != (ast.Tuple(()),):
        return False
    function = expr.function
    return isinstance(function, ast.Field) and function.name == "infinity" and function.base == ast.Name("Num")
