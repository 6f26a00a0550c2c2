"""The shapes of expressions as far as their text tells: words, records, and arrays of so many words.

Takes types and expressions; gives shapes. Must not elaborate a value: what the text does not tell is asked of its surroundings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from cachet_verify.core.index import Const
from cachet_verify.elaborate.application import last_value
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.header import flat_type
from cachet_verify.elaborate.item import Entry
from cachet_verify.elaborate.operation import ARITHMETIC, ELEMENTARY, UNIFORM, is_known
from cachet_verify.elaborate.place import source_text
from cachet_verify.elaborate.problem import UnsupportedError
from cachet_verify.elaborate.scope import Scope, ValueType
from cachet_verify.elaborate.shape import MOST_CELLS, Parts, Shape, array_shape, record_shape, word_shape
from cachet_verify.elaborate.term import elaborate_index
from cachet_verify.elaborate.value import Values
from cachet_verify.syntax import ast

CELLWISE = (*UNIFORM, *ELEMENTARY, "select")
"""Functions of the language that go cell by cell where they are applied to arrays."""


class Shapes(Values):
    """Tells the shapes of types and expressions.

    `known` are the names bound to records and arrays where an expression stands; it is set for a body and put back.
    `at` is the shape of the array whose cells are computed at the moment, and the number of the cell: an array of that shape is that cell then.
    """

    known: Mapping[str, Parts] = {}
    at: tuple[Shape, int] | None = None

    def inside(self, context: Context) -> Shapes:
        """What elaborates the body of a function that is inlined here."""
        return type(self)(context)

    @contextmanager
    def computing(self, at: tuple[Shape, int] | None) -> Iterator[None]:
        """Compute a cell of an array, or none."""
        held, self.at = self.at, at
        try:
            yield
        finally:
            self.at = held

    # --- types ---

    def shape_of(self, expr: ast.Type) -> Shape:
        """The shape of a type. Raises StopError."""
        if isinstance(expr, ast.ArrayType):
            return self.array_of(expr)
        if isinstance(expr, ast.Name):
            entry = self.context.unit.find(expr.name)
            if entry is not None and isinstance(entry.declaration, ast.Record):
                fields = entry.declaration.fields
                home = self.inside(self.context.within(self.context.unit_of(entry.path), entry.path))
                return record_shape(expr.name, tuple((item.name, home.field_shape(item.type)) for item in fields))
        return word_shape(ValueType(self.elem_name(expr, Scope())))

    def field_shape(self, expr: ast.Type) -> Shape:
        """The shape of a record's field: a word, or an array of so many."""
        return self.array_of(expr) if isinstance(expr, ast.ArrayType) else word_shape(ValueType(self.elem_name(expr, Scope())))

    def array_of(self, expr: ast.ArrayType) -> Shape:
        """The shape of `[f32; 4]`, whose extents are numbers. Raises StopError."""
        kind, dims = flat_type(expr)
        elem, extents, count = ValueType(self.elem_name(kind, Scope())), list[int](), 1
        for dim in dims:
            term = elaborate_index(dim, Scope(), self.context)
            if not isinstance(term, Const) or term.value < 1:
                raise UnsupportedError(f"a value that is an array of `{source_text(dim)}` cells, which is no number above 0,", dim.span or expr.span)
            extents.append(term.value)
            count *= term.value
        if count > MOST_CELLS:
            raise UnsupportedError(f"a value that is an array of more than {MOST_CELLS} cells", expr.span)
        return array_shape(elem, extents)

    def shape_in(self, path: str, expr: ast.Type) -> Shape:
        """The shape of a type that a file names."""
        return type(self).shape_of(self.inside(self.context.within(self.context.unit_of(path), path)), expr)

    # --- expressions ---

    def told(self, expr: ast.Expr, scope: Scope) -> Shape | None:
        """The record or array that an expression is, as far as its text tells; None for a word, or where it does not tell."""
        if isinstance(expr, ast.Name):
            return self.known[expr.name].shape if expr.name in self.known else None
        if isinstance(expr, ast.RecordLit):
            return self.shape_of(expr.type)
        if isinstance(expr, ast.Apply) and isinstance(expr.function, ast.Name):
            return self.told_call(expr.function.name, expr, scope)
        return self.told_array(expr, scope)

    def told_call(self, name: str, expr: ast.Apply, scope: Scope) -> Shape | None:
        """What a call gives: what its function says it gives; of a function of words, an array where it is applied to arrays."""
        entry = self.function(expr)
        if entry is None:
            return self.first_array(expr.args, scope) if name in CELLWISE else None
        declared = self.result_shape(entry)
        if declared is not None:
            return declared
        return self.first_array(expr.args, scope) if self.goes_cellwise(entry, expr, scope) else None

    def told_array(self, expr: ast.Expr, scope: Scope) -> Shape | None:
        """The array that an expression is: a field, a choice, arithmetic on arrays, a total of them."""
        if isinstance(expr, ast.Field):
            base = self.told(expr.base, scope)
            field = None if base is None else base.field(expr.name)
            return field if field is not None and field.dims else None
        if isinstance(expr, ast.ListExpr):
            kind = next((kind for item in expr.items if (kind := self.infer(item, scope)) is not None), None)
            return None if kind is None else array_shape(kind, (len(expr.items),))
        if isinstance(expr, ast.Unary) and expr.operator == "-":
            return self.first_array((expr.operand,), scope)
        if isinstance(expr, ast.Binary) and expr.operator in ARITHMETIC:
            return self.first_array((expr.left, expr.right), scope)
        if isinstance(expr, ast.IfExpr):
            return self.told(expr.then, scope) or self.told(expr.otherwise, scope)
        if isinstance(expr, ast.Fold) and isinstance(expr.type, ast.ArrayType):
            return self.shape_of(expr.type)
        return None

    def first_array(self, exprs: tuple[ast.Expr, ...], scope: Scope) -> Shape | None:
        """The first array among expressions."""
        return next((shape for expr in exprs if (shape := self.told(expr, scope)) is not None and shape.dims), None)

    def function(self, expr: ast.Expr) -> Entry | None:
        """The declared function that an expression calls, no instruction; None for any other expression."""
        if not isinstance(expr, ast.Apply) or not isinstance(expr.function, ast.Name):
            return None
        entry = self.context.unit.find(expr.function.name)
        return entry if entry is not None and isinstance(entry.declaration, ast.Fn) and not entry.declaration.is_instr else None

    def result_shape(self, entry: Entry) -> Shape | None:
        """The record or array that a function says it gives, or the record that its last line makes."""
        fn = entry.declaration
        if not isinstance(fn, ast.Fn):
            return None
        value = last_value(fn.body[-1]) if fn.result is None and fn.body else None
        if isinstance(value, ast.RecordLit):
            return self.shape_in(entry.path, value.type)
        if fn.result is None or not may_be_parts(fn.result.storage.type):
            return None
        found = self.shape_in(entry.path, fn.result.storage.type)
        return found if found.record else None

    def goes_cellwise(self, entry: Entry, expr: ast.Apply, scope: Scope) -> bool:
        """Whether a call is of a function of words: applied to arrays, it goes cell by cell."""
        fn = entry.declaration
        if not isinstance(fn, ast.Fn) or (fn.result is not None and may_be_parts(fn.result.storage.type)):
            return False
        if any(param.mode or (param.storage is not None and may_be_parts(param.storage.type)) for param in fn.params):
            return False
        return not any((shape := self.told(arg, scope)) is not None and not shape.dims for arg in expr.args)

    def infer(self, expr: ast.Expr, scope: Scope) -> ValueType | None:
        """The type of an expression as far as its text tells, parts of records and cells of arrays included."""
        if isinstance(expr, ast.Field):
            base = self.told(expr.base, scope)
            field = None if base is None else base.field(expr.name)
            if field is not None and not field.record:
                return field.parts[0][1]
        if isinstance(expr, ast.Index):
            base = self.told(expr.base, scope)
            if base is not None:
                return base.parts[0][1] if base.dims else None
        found = self.told(expr, scope)
        if found is not None:
            return found.parts[0][1] if found.dims and self.at is not None else None
        return super().infer(expr, scope)


def may_be_parts(kind: ast.Type) -> bool:
    """Whether a type may be that of a record or an array: it is no word's."""
    return isinstance(kind, ast.ArrayType) or (isinstance(kind, ast.Name) and not is_known(kind.name))
