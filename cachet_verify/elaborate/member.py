"""Functions of implementations whose values are arrays: an equation for the cells of what each gives.

Takes a function and the type of the arrays; gives its program, from its operands to its result. Must not say what it computes at.
"""

from __future__ import annotations

from cachet_verify.core.index import Const, Var, le, lt
from cachet_verify.core.ir import Fold, Program, Range, Value
from cachet_verify.elaborate.context import Context, Names
from cachet_verify.elaborate.contraction import Equations, elaborate_contraction
from cachet_verify.elaborate.place import Place
from cachet_verify.elaborate.problem import UnsupportedError
from cachet_verify.elaborate.scope import BufferEntity, IndexEntity, ValueType
from cachet_verify.elaborate.term import elaborate_index
from cachet_verify.syntax import ast


class Members(Equations):
    """Equations in which a total may start from any value: `fold k in 0 .. 8 from acc[i, j] as t: S.Value do …`."""

    def top(self, expr: ast.Expr, wanted: ValueType, place: Place) -> Value:
        """The value of a whole equation: a sum or a fold there stands in the store itself."""
        return self.total(expr, wanted, place) if isinstance(expr, ast.Fold) else super().top(expr, wanted, place)

    def total(self, expr: ast.Fold, wanted: ValueType, place: Place) -> Value:
        """A running total over a range."""
        if not isinstance(expr.domain, ast.Range):
            raise UnsupportedError("a `fold` over blocks in a function of arrays", expr.span)
        self.expect(ValueType(self.elem_name(expr.type, place.scope)), wanted, expr)
        start = self.check(expr.start, wanted, Place(place.scope))
        low, high = (elaborate_index(end, place.scope, self.context) for end in (expr.domain.low, expr.domain.high))
        counter, acc = self.context.fresh.take(expr.index), self.context.fresh.take(expr.accumulator)
        scope = place.scope.bind(expr.index, IndexEntity(Var(counter), "counter")).assume(le(low, Var(counter)), lt(Var(counter), high))
        scope = scope.bind(expr.accumulator, BufferEntity(acc, wanted.elem, (), loaded=False, root=acc, kind="local"))
        return Fold(counter, Range(low, high), start, acc, wanted.elem, self.check(expr.body, wanted, Place(scope)))


def member_program(unit: Names, decl: ast.Impl, kind: ast.ArrayType, fn: ast.Fn, context: Context) -> Program:
    """A function as the contraction that its equation is. Raises StopError, UnsupportedError."""
    last = fn.body[-1] if fn.body else None
    target = last.target if isinstance(last, ast.Assign) else None
    base = target.base if isinstance(target, ast.Index) else None
    if not isinstance(base, ast.Name) or not fn.body:
        indices = ", ".join("ijklmn"[: len(kind.dims)])
        raise context.stop("elaborate.equation.missing", f"`{fn.name}` gives an array: an equation defines its cells", fn.span, f"`c[{indices}] = …`")
    storage = ast.Storage(kind, span=kind.span)
    params = tuple(ast.Param(param.name, "reads", storage, span=param.span) for param in fn.params)
    result = ast.Result(base.name, storage, span=fn.span)
    made = ast.Contraction(fn.name, decl.generics, params, result, ast.NO_CONTRACT, fn.body, span=fn.span)
    inner = Context(unit, context.problems)
    _, program = elaborate_contraction(made, inner, Members)
    if inner.conditions or inner.unsupported or inner.gaps or program.sizes or program.requires:
        raise UnsupportedError(f"`{fn.name}` of arrays under conditions", fn.span)
    if any(not isinstance(extent, Const) for extent in program.params[-1].shape):
        raise UnsupportedError("arrays whose extents are no literals, as values of an implementation,", decl.span)
    return program
