"""Values of several parts: records and arrays of so many words, taken apart into words.

Takes expressions and the shape wanted, a word, a record or an array; gives one core value a part. Such a value is never
in memory: it is its parts, in the order of its declaration. Arithmetic on arrays goes cell by cell, with words the same for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cachet_verify.core.index import Const
from cachet_verify.core.ir import Op, Stmt, Value
from cachet_verify.elaborate.application import count_call, inline_function, last_value
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.item import Entry
from cachet_verify.elaborate.operation import ELEMENTARY
from cachet_verify.elaborate.place import Place, source_text
from cachet_verify.elaborate.problem import StopError, UnsupportedError
from cachet_verify.elaborate.scope import Scope, ValueEntity, ValueType
from cachet_verify.elaborate.shape import Parts, Shape, part_name, word_shape
from cachet_verify.elaborate.term import elaborate_index, is_index_expression
from cachet_verify.elaborate.told import Shapes, may_be_parts
from cachet_verify.syntax import ast

NOTHING: tuple[ast.Expr, ...] = (ast.Tuple(()),)


class Records(Shapes):
    """Elaborates expressions whose values, or the values inside them, may be records or arrays of so many words."""

    whole = frozenset(ELEMENTARY)
    """Functions that stay as they are: they stand for a real function, and how words approach it is no part of it."""

    def parts(self, expr: ast.Expr, shape: Shape, place: Place) -> tuple[Value, ...]:
        """The parts of an expression that must have a shape. Raises StopError."""
        if not shape.record:
            return (self.check(expr, shape.parts[0][1], place),)
        with self.computing(None):
            return self.array_parts(expr, shape, place) if shape.dims else self.record_parts(expr, shape, place)

    def record_parts(self, expr: ast.Expr, shape: Shape, place: Place) -> tuple[Value, ...]:
        """The parts of a record."""
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
        entry = self.function(expr)
        if entry is not None and isinstance(expr, ast.Apply):
            return self.called(entry, expr.args, shape, place)
        raise self.wrong(expr, shape)

    def array_parts(self, expr: ast.Expr, shape: Shape, place: Place) -> tuple[Value, ...]:
        """The cells of an array: those of one that has a name, of what a function gives, or each computed by itself."""
        if self.told(expr, place.scope) not in (None, shape):
            raise self.wrong(expr, shape)
        found = self.array_at(expr, place)
        if found is not None:
            return found.values
        entry = self.function(expr)
        if entry is not None and isinstance(expr, ast.Apply) and not self.goes_cellwise(entry, expr, place.scope):
            return self.called(entry, expr.args, shape, place)
        if isinstance(expr, ast.ListExpr):
            items = self.items(expr, shape)
            return tuple(self.check(item, kind, place) for item, (_, kind) in zip(items, shape.parts, strict=True))
        if is_repeat(expr) and isinstance(expr, ast.Apply):
            return (self.check(expr.args[0], shape.parts[0][1], place),) * len(shape.parts)
        if self.told(expr, place.scope) is None:
            raise self.wrong(expr, shape, f"`repeat ({source_text(expr)})` has that word in every cell")
        cells: list[Value] = []
        for number, (_, kind) in enumerate(shape.parts):
            with self.computing((shape, number)):
                cells.append(self.check(expr, kind, place))
        return tuple(cells)

    def array_at(self, expr: ast.Expr, place: Place) -> Parts | None:
        """The array that a name or a field stands for; None for any other expression."""
        if isinstance(expr, ast.Name) and expr.name in self.known:
            return self.known[expr.name]
        if isinstance(expr, ast.Field):
            base = self.told(expr.base, place.scope)
            return None if base is None or base.dims else Parts(base, self.parts(expr.base, base, place)).part(expr.name)
        return None

    def items(self, expr: ast.ListExpr, shape: Shape) -> tuple[ast.Expr, ...]:
        """The cells of `[x, y]`. Raises StopError where there are not as many."""
        if shape.dims != (len(expr.items),):
            raise self.wrong(expr, shape, "a word for each cell of an array of one dimension")
        return expr.items

    def own_cell(self, found: Parts, wanted: ValueType, expr: ast.Expr) -> Value:
        """The cell that is computed at the moment, of an array of its shape. Raises StopError where a word is wanted, or another array."""
        if self.at is None or self.at[0] != found.shape:
            shown = self.at[0].record if self.at is not None else wanted.text()
            raise self.context.stop("elaborate.type.mismatch", f"this is `{found.shape.record}`, and `{shown}` is wanted here", expr.span)
        number = self.at[1]
        self.expect(found.shape.parts[number][1], wanted, expr)
        return found.values[number]

    def wrong(self, expr: ast.Expr, shape: Shape, hint: str = "") -> StopError:
        """The refusal of an expression that is no value of that shape."""
        return self.context.stop("elaborate.type.mismatch", f"`{source_text(expr)}` is no `{shape.record}`", expr.span, hint)

    def literal_parts(self, expr: ast.RecordLit, shape: Shape, place: Place) -> tuple[Value, ...]:
        """`Weights { m, l = e }`: every field once."""
        if source_text(expr.type) != shape.record:
            raise self.wrong(expr, shape)
        given = {item.name: item.value or ast.Name(item.name, span=item.span) for item in expr.fields}
        names = [name for name, _ in shape.fields]
        if len(given) != len(expr.fields) or set(given) != set(names):
            shown = ", ".join(f"{name} = …" for name in names)
            message = f"a `{shape.record}` has each of its fields once"
            raise self.context.stop("elaborate.type.mismatch", message, expr.span, f"`{shape.record} {{ {shown} }}`")
        return tuple(value for name, field in shape.fields for value in self.parts(given[name], field, place))

    def called(self, entry: Entry, args: Sequence[ast.Expr], shape: Shape, place: Place) -> tuple[Value, ...]:
        """A call of a function of words, records and arrays, inlined."""
        fn = entry.declaration
        if not isinstance(fn, ast.Fn):
            raise UnsupportedError(f"a call of `{entry.name}`", None)
        args = () if args == NOTHING else args
        if len(args) != len(fn.params):
            raise self.context.stop("elaborate.call.arity", f"`{fn.name}` takes {len(fn.params)} operands, not {len(args)}", fn.span)
        with self.computing(None):
            given = [self.argument(param, arg, entry.path, shape, place) for param, arg in zip(fn.params, args, strict=True)]
        return self.applied_to(fn, entry.path, given, shape, place.before)

    def argument(self, param: ast.Param, arg: ast.Expr, path: str, shape: Shape, place: Place) -> Parts:
        """An argument: of its parameter's type, else of the shape that its text tells, else a word of the type that it tells."""
        told = self.told(arg, place.scope)
        if param.storage is not None:
            kind = self.shape_in(path, param.storage.type)
        elif told is not None:
            kind = told
        else:
            kind = word_shape(self.infer(arg, place.scope) or shape.parts[0][1])
        found = self.parts(arg, kind, place)
        return Parts(kind, self.named_parts(found, kind, param.name, place))

    def named_parts(self, found: tuple[Value, ...], kind: Shape, name: str, place: Place) -> tuple[Value, ...]:
        """The parts of a value that is used more than once: a record's under the names of its fields. One value in many cells is named once."""
        named: dict[int, Value] = {}
        for value, (label, part) in zip(found, kind.parts, strict=True):
            if id(value) not in named:
                named[id(value)] = self.named_once(value, part, part_name(name, label) if kind.dims else label or name, place)
        return tuple(named[id(value)] for value in found)

    def applied_to(self, fn: ast.Fn, path: str, args: Sequence[Parts], shape: Shape, before: list[Stmt] | None = None) -> tuple[Value, ...]:
        """The body of a function with its parameters standing for parts; `before` takes what stands in front of the result."""
        if not shape.record and not any(arg.shape.record for arg in args):
            entities = [ValueEntity(arg.values[0], arg.shape.parts[0][1]) for arg in args]
            return (inline_function(self, fn, path, entities, shape.parts[0][1], Place(Scope(), None, before)),)
        key = f"{path} {fn.name}"
        if key in self.context.inlining:
            raise self.context.stop("elaborate.call.recursion", f"`{fn.name}` calls itself", fn.span)
        count_call(self.context, fn)
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
            found = self.named_parts(self.parts(statement.value, kind, place), kind, statement.name, place)
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
        """The shape of a `let`: as declared, of the shape or the word that its text tells."""
        if statement.storage is not None:
            return self.shape_of(statement.storage.type)
        value = statement.value
        return self.told(value, scope) or word_shape(self.infer(value, scope) or shape.parts[0][1])

    # --- words inside ---

    def forms(self) -> tuple[tuple[type, Callable[..., Value]], ...]:
        """The method for each class of expression."""
        return (*super().forms(), (ast.ListExpr, self.listed))

    def listed(self, expr: ast.ListExpr, wanted: ValueType, place: Place) -> Value:
        """`[x, y]` where a cell of an array is computed."""
        if self.at is None:
            raise self.context.stop("elaborate.type.mismatch", f"this is an array, and `{wanted.text()}` is wanted here", expr.span)
        shape, number = self.at
        item = self.items(expr, shape)[number]
        with self.computing(None):
            return self.check(item, wanted, place)

    def named(self, expr: ast.Name, wanted: ValueType, place: Place) -> Value:
        """A name of a word, or of an array whose cell is computed."""
        if expr.name in self.known:
            return self.own_cell(self.known[expr.name], wanted, expr)
        return super().named(expr, wanted, place)

    def field_of(self, expr: ast.Field, wanted: ValueType, place: Place) -> Value:
        """`a.m` of a record: a word, or an array whose cell is computed."""
        base = self.told(expr.base, place.scope)
        found = None if base is None else Parts(base, self.parts(expr.base, base, place)).part(expr.name)
        if found is None:
            return super().field_of(expr, wanted, place)
        if found.shape.record:
            return self.own_cell(found, wanted, expr)
        self.expect(found.shape.parts[0][1], wanted, expr)
        return found.values[0]

    def indexed(self, expr: ast.Index, wanted: ValueType, place: Place) -> Value:
        """`v[2]`: a cell of an array that is a value, at a number."""
        base = self.told(expr.base, place.scope)
        if base is None or not base.dims:
            return super().indexed(expr, wanted, place)
        at = self.numbers(expr.items, place.scope)
        found = None if at is None else Parts(base, self.parts(expr.base, base, place)).cell(at)
        if found is None:
            hint = "a number below its extent, for each of its dimensions"
            raise self.context.stop("elaborate.index.rank", f"`{source_text(expr)}` is no cell of a `{base.record}`", expr.span, hint)
        self.expect(base.parts[0][1], wanted, expr)
        return found

    def numbers(self, items: Sequence[ast.Expr], scope: Scope) -> tuple[int, ...] | None:
        """Indices that are numbers; None where one is not."""
        if not all(is_index_expression(item, scope, self.context) for item in items):
            return None
        terms = [elaborate_index(item, scope, self.context) for item in items]
        found = tuple(term.value for term in terms if isinstance(term, Const))
        return found if len(found) == len(terms) else None

    def applied(self, expr: ast.Apply, wanted: ValueType, place: Place) -> Value:
        """A call that gives a word, or the cell of an array that is computed; its arguments words, records or arrays."""
        name = expr.function.name if isinstance(expr.function, ast.Name) else ""
        if name in self.whole and len(expr.args) == 1:
            return Op(name, wanted.elem, (self.check(expr.args[0], wanted, place),))
        if self.at is not None and is_repeat(expr):
            with self.computing(None):
                return self.check(expr.args[0], wanted, place)
        entry = self.function(expr)
        if entry is None or self.goes_cellwise(entry, expr, place.scope) or not self.takes_parts(entry, expr, place.scope):
            return super().applied(expr, wanted, place)
        shape = self.given_shape(entry, expr, wanted)
        found = Parts(shape, self.called(entry, expr.args, shape, place))
        return self.own_cell(found, wanted, expr) if shape.record else found.values[0]

    def given_shape(self, entry: Entry, expr: ast.Apply, wanted: ValueType) -> Shape:
        """What a call inside an expression gives: as declared; where nothing is, the array whose cells are computed, or the word that is wanted."""
        found = self.result_shape(entry)
        is_declared = isinstance(entry.declaration, ast.Fn) and entry.declaration.result is not None
        if found is None and self.at is not None and not is_declared:
            return self.at[0]
        if found is not None and (self.at is None or self.at[0] != found):
            shown = wanted.text() if self.at is None else self.at[0].record
            raise self.context.stop("elaborate.type.mismatch", f"this is `{found.record}`, and `{shown}` is wanted here", expr.span)
        return found or word_shape(wanted)

    def takes_parts(self, entry: Entry, expr: ast.Apply, scope: Scope) -> bool:
        """Whether a call passes, or gives, a record or an array."""
        fn = entry.declaration
        kinds = [param.storage.type for param in fn.params if param.storage is not None and not param.mode] if isinstance(fn, ast.Fn) else []
        declared = any(may_be_parts(kind) and self.shape_in(entry.path, kind).record for kind in kinds)
        return declared or self.result_shape(entry) is not None or any(self.told(arg, scope) is not None for arg in expr.args)


def is_repeat(expr: ast.Expr) -> bool:
    """Whether an expression is `repeat e`, one word in every cell."""
    return isinstance(expr, ast.Apply) and expr.function == ast.Name("repeat") and len(expr.args) == 1
