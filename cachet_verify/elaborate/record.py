"""Values of several parts: records, taken apart into the words of their fields.

Takes expressions and the shape wanted, a word or a record; gives one core value a part. A record is never
in memory: it is its parts, in the order of its declaration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cachet_verify.core.ir import Op, Stmt, Value
from cachet_verify.elaborate.application import inline_function, last_value
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.operation import ELEMENTARY, is_known
from cachet_verify.elaborate.place import Place, source_text
from cachet_verify.elaborate.problem import UnsupportedError
from cachet_verify.elaborate.scope import Scope, ValueEntity, ValueType
from cachet_verify.elaborate.value import Values
from cachet_verify.syntax import ast

NOTHING: tuple[ast.Expr, ...] = (ast.Tuple(()),)


@dataclass(frozen=True, slots=True)
class Shape:
    """What a value consists of: the name of its record, empty for a word, and each part's name and type."""

    record: str
    parts: tuple[tuple[str, ValueType], ...]


@dataclass(frozen=True, slots=True)
class Parts:
    """A value taken apart."""

    shape: Shape
    values: tuple[Value, ...]

    def part(self, name: str) -> tuple[Value, ValueType] | None:
        """The value and the type of a part; None where there is none of that name."""
        for (known, kind), value in zip(self.shape.parts, self.values, strict=True):
            if known == name:
                return value, kind
        return None


class Records(Values):
    """Elaborates expressions whose values, or the values inside them, may be records.

    `known` are the names bound to records where an expression stands; it is set for a body and put back.
    """

    known: Mapping[str, Parts] = {}
    whole = frozenset(ELEMENTARY)
    """Functions that stay as they are: they stand for a real function, and how words approach it is no part of it."""

    def shape_of(self, expr: ast.Type) -> Shape:
        """The shape of a type. Raises StopError."""
        if isinstance(expr, ast.Name):
            entry = self.context.unit.find(expr.name)
            if entry is not None and isinstance(entry.declaration, ast.Record):
                fields = entry.declaration.fields
                return Shape(expr.name, tuple((item.name, ValueType(self.elem_name(item.type, Scope()))) for item in fields))
        return Shape("", (("", ValueType(self.elem_name(expr, Scope()))),))

    def parts(self, expr: ast.Expr, shape: Shape, place: Place) -> tuple[Value, ...]:
        """The parts of an expression that must have a shape. Raises StopError."""
        if not shape.record:
            return (self.check(expr, shape.parts[0][1], place),)
        if isinstance(expr, ast.RecordLit):
            return self.literal_parts(expr, shape, place)
        if isinstance(expr, ast.Name) and expr.name in self.known:
            found = self.known[expr.name]
            if found.shape != shape:
                raise self.wrong(expr, shape)
            return found.values
        if isinstance(expr, ast.IfExpr):
            decided = self.check(expr.condition, ValueType("bool"), place)
            both = zip(self.parts(expr.then, shape, place), self.parts(expr.otherwise, shape, place), shape.parts, strict=True)
            return tuple(Op("select", kind.elem, (decided, first, second)) for first, second, (_, kind) in both)
        if isinstance(expr, ast.Apply) and isinstance(expr.function, ast.Name):
            entry = self.context.unit.find(expr.function.name)
            if entry is not None and isinstance(entry.declaration, ast.Fn):
                return self.called(entry.declaration, entry.path, () if expr.args == NOTHING else expr.args, shape, place)
        raise self.wrong(expr, shape)

    def wrong(self, expr: ast.Expr, shape: Shape) -> Exception:
        """The refusal of an expression that is no record of that shape."""
        return self.context.stop("elaborate.type.mismatch", f"`{source_text(expr)}` is no `{shape.record}`", expr.span)

    def literal_parts(self, expr: ast.RecordLit, shape: Shape, place: Place) -> tuple[Value, ...]:
        """`Weights { m, l = e }`: every field once."""
        if source_text(expr.type) != shape.record:
            raise self.wrong(expr, shape)
        given = {item.name: item.value or ast.Name(item.name, span=item.span) for item in expr.fields}
        names = [name for name, _ in shape.parts]
        if len(given) != len(expr.fields) or set(given) != set(names):
            shown = ", ".join(f"{name} = …" for name in names)
            message = f"a `{shape.record}` has each of its fields once"
            raise self.context.stop("elaborate.type.mismatch", message, expr.span, f"`{shape.record} {{ {shown} }}`")
        return tuple(self.check(given[name], kind, place) for name, kind in shape.parts)

    def called(self, fn: ast.Fn, path: str, args: Sequence[ast.Expr], shape: Shape, place: Place) -> tuple[Value, ...]:
        """A call of a function of words and records, inlined."""
        if len(args) != len(fn.params):
            raise self.context.stop("elaborate.call.arity", f"`{fn.name}` takes {len(fn.params)} operands, not {len(args)}", fn.span)
        given = [self.argument(param, arg, path, shape, place) for param, arg in zip(fn.params, args, strict=True)]
        return self.applied_to(fn, path, given, shape, place.before)

    def argument(self, param: ast.Param, arg: ast.Expr, path: str, shape: Shape, place: Place) -> Parts:
        """An argument: of its parameter's type, else of the record that its text tells, else a word of the type that it tells."""
        told = self.told(arg, place.scope)
        if param.storage is not None:
            kind = self.shape_in(path, param.storage.type)
        elif told is not None:
            kind = told
        else:
            kind = Shape("", (("", self.infer(arg, place.scope) or shape.parts[0][1]),))
        found = self.parts(arg, kind, place)
        named = (self.named_once(value, part, name or param.name, place) for value, (name, part) in zip(found, kind.parts, strict=True))
        return Parts(kind, tuple(named))

    def shape_in(self, path: str, expr: ast.Type) -> Shape:
        """The shape of a type that a file names."""
        return type(self).shape_of(self.inside(self.context.within(self.context.unit_of(path), path)), expr)

    def told(self, expr: ast.Expr, scope: Scope) -> Shape | None:
        """The record that an expression is, as far as its text tells; None for a word, or where it does not tell."""
        if isinstance(expr, ast.Name) and expr.name in self.known:
            return self.known[expr.name].shape
        if isinstance(expr, ast.RecordLit):
            return self.shape_of(expr.type)
        if isinstance(expr, ast.Apply) and isinstance(expr.function, ast.Name):
            entry = self.context.unit.find(expr.function.name)
            if entry is not None and isinstance(entry.declaration, ast.Fn) and entry.declaration.result is not None:
                result = entry.declaration.result.storage.type
                if isinstance(result, ast.Name) and not is_known(result.name):
                    found = self.shape_in(entry.path, result)
                    return found if found.record else None
        return None

    def applied_to(self, fn: ast.Fn, path: str, args: Sequence[Parts], shape: Shape, before: list[Stmt] | None = None) -> tuple[Value, ...]:
        """The body of a function with its parameters standing for parts; `before` takes what stands in front of the result."""
        if not shape.record and not any(arg.shape.record for arg in args):
            entities = [ValueEntity(arg.values[0], arg.shape.parts[0][1]) for arg in args]
            return (inline_function(self, fn, path, entities, shape.parts[0][1], Place(Scope(), None, before)),)
        key = f"{path} {fn.name}"
        if key in self.context.inlining:
            raise self.context.stop("elaborate.call.recursion", f"`{fn.name}` calls itself", fn.span)
        inner = self.inside(self.context.within(self.context.unit_of(path), key))
        scope, records = Scope(), {}
        for param, arg in zip(fn.params, args, strict=True):
            if arg.shape.record:
                records[param.name] = arg
            else:
                scope = scope.bind(param.name, ValueEntity(arg.values[0], arg.shape.parts[0][1]))
        inner.known = records
        return inner.body(fn, scope, shape, before)

    def inside(self, context: Context) -> Records:
        """What elaborates the body of a function that is inlined here."""
        return type(self)(context)

    def body(self, fn: ast.Fn, scope: Scope, shape: Shape, before: list[Stmt] | None) -> tuple[Value, ...]:
        """The parts of a function's last line, its `let`s bound on the way."""
        *first, last = fn.body or (None,)
        for statement in first:
            if not isinstance(statement, ast.Let):
                raise UnsupportedError("a statement in a function of records", fn.span)
            kind = self.let_shape(statement, scope, shape)
            place = Place(scope, None, before)
            found = tuple(
                self.named_once(value, part, name or statement.name, place)
                for value, (name, part) in zip(self.parts(statement.value, kind, place), kind.parts, strict=True)
            )
            if kind.record:
                self.known = {**self.known, statement.name: Parts(kind, found)}
            else:
                self.known = {name: parts for name, parts in self.known.items() if name != statement.name}
                scope = scope.bind(statement.name, ValueEntity(found[0], kind.parts[0][1]))
        value = last_value(last)
        if value is None:
            raise self.context.stop("elaborate.type.unknown", f"`{fn.name}` gives no value", fn.span, "its last line is its value")
        return self.parts(value, shape, Place(scope, None, before))

    def let_shape(self, statement: ast.Let, scope: Scope, shape: Shape) -> Shape:
        """The shape of a `let`: as declared, of a record literal or name, or of the word that its text tells."""
        if statement.storage is not None:
            return self.shape_of(statement.storage.type)
        value = statement.value
        return self.told(value, scope) or Shape("", (("", self.infer(value, scope) or shape.parts[0][1]),))

    # --- words inside ---

    def infer(self, expr: ast.Expr, scope: Scope) -> ValueType | None:
        """The type of an expression as far as its text tells, parts of records included."""
        shape = self.told(expr.base, scope) if isinstance(expr, ast.Field) else None
        if shape is not None and isinstance(expr, ast.Field):
            return dict(shape.parts).get(expr.name)
        return super().infer(expr, scope)

    def field_of(self, expr: ast.Field, wanted: ValueType, place: Place) -> Value:
        """`a.m` of a record."""
        shape = self.told(expr.base, place.scope)
        found = None if shape is None else Parts(shape, self.parts(expr.base, shape, place)).part(expr.name)
        if found is None:
            return super().field_of(expr, wanted, place)
        self.expect(found[1], wanted, expr)
        return found[0]

    def applied(self, expr: ast.Apply, wanted: ValueType, place: Place) -> Value:
        """A call that gives a word, its arguments words or records."""
        name = expr.function.name if isinstance(expr.function, ast.Name) else ""
        if name in self.whole and len(expr.args) == 1:
            return Op(name, wanted.elem, (self.check(expr.args[0], wanted, place),))
        entry = self.context.unit.find(name) if name else None
        if entry is not None and isinstance(entry.declaration, ast.Fn) and self.takes_record(entry.declaration, entry.path, expr, place.scope):
            return self.called(entry.declaration, entry.path, expr.args, Shape("", (("", wanted),)), place)[0]
        return super().applied(expr, wanted, place)

    def takes_record(self, fn: ast.Fn, path: str, expr: ast.Apply, scope: Scope) -> bool:
        """Whether a call passes a record."""
        kinds = [param.storage.type for param in fn.params if param.storage is not None]
        declared = any(isinstance(kind, ast.Name) and not is_known(kind.name) and self.shape_in(path, kind).record for kind in kinds)
        return declared or any(self.told(arg, scope) is not None for arg in expr.args)
