"""Contractions: equations for each output element, as nests of loops over folds.

Takes a contraction; gives the core program that is its meaning, with every total in ascending
order. Must not reorder, regroup or share anything the equations do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from cachet_verify.core.index import ZERO, Index, Var, le, lt
from cachet_verify.core.ir import Block, Declare, For, Load, Program, Range, Reduction, Stmt, Store, Value
from cachet_verify.elaborate.bound import Bounded
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.header import Header, elaborate_header, elaborate_shape
from cachet_verify.elaborate.place import Place
from cachet_verify.elaborate.problem import StopError
from cachet_verify.elaborate.range import find_range
from cachet_verify.elaborate.scope import BufferEntity, EquationEntity, GenericEntity, IndexEntity, PoisonEntity, Scope, ValueType
from cachet_verify.elaborate.semiring import Semiring
from cachet_verify.elaborate.shape import Parts, Shape
from cachet_verify.elaborate.term import elaborate_index, is_index_expression
from cachet_verify.elaborate.total import Monoid, Totals, folded, looped, without_lets
from cachet_verify.syntax import ast

Computed = TypeVar("Computed")
Steps = tuple[list[Stmt], Callable[[str], Value]]
"""The statements one step of a total needs first, and its value, given the total's name."""


@dataclass(frozen=True, slots=True)
class Equation:
    """One equation: `name[indices] = body`; a view is one whose body is a place."""

    name: str
    indices: tuple[str, ...]
    body: ast.Expr
    dims: tuple[ast.Expr, ...] = ()


class Equations(Totals):
    """Values in the equations of one contraction."""

    def __init__(self, context: Context, scope: Scope, equations: dict[str, Equation]) -> None:
        super().__init__(context)
        self.outer = scope
        self.equations = equations
        self.open: list[str] = []
        self.shapes: dict[str, Shape | None] = {}
        self.reductions: list[Reduction] = []

    # --- shapes and types of intermediates ---

    def extents(self, name: str) -> tuple[Index | None, ...] | None:
        """The extents of an operand, as far as they can be told."""
        entity = self.outer.find(name)
        if isinstance(entity, BufferEntity):
            return entity.shape
        equation = self.equations.get(name)
        if equation is None or name in self.open:
            return None
        if equation.dims:
            return elaborate_shape(equation.dims, self.outer, self.context)
        self.open.append(name)
        found = tuple(find_range(index, equation.body, self.extents) for index in equation.indices)
        self.open.pop()
        return found

    def infer_place(self, expr: ast.Expr, scope: Scope) -> ValueType | None:
        """The type of an operand's element; of an intermediate, that of its equation."""
        base = expr.base if isinstance(expr, ast.Index) else expr
        if isinstance(base, ast.Name) and isinstance(scope.find(base.name), EquationEntity) and base.name not in self.open:
            self.open.append(base.name)
            found = self.infer(self.equations[base.name].body, self.outer)
            self.open.pop()
            return found
        return super().infer_place(expr, scope)

    def infer(self, expr: ast.Expr, scope: Scope) -> ValueType | None:
        """The type of an expression; of a sum, that of its body."""
        if isinstance(expr, ast.Sum):
            return self.infer(expr.body, scope)
        if isinstance(expr, ast.Name) and isinstance(scope.find(expr.name), EquationEntity):
            return self.infer_place(expr, scope)
        return super().infer(expr, scope)

    # --- records ---

    def told(self, expr: ast.Expr, scope: Scope) -> Shape | None:
        """The record of an expression; of an intermediate, that of its equation."""
        equation = self.equation_of(expr, scope)
        if equation is None or equation.name in self.open:
            return super().told(expr, scope)
        if equation.name not in self.shapes:
            self.open.append(equation.name)
            self.shapes[equation.name] = self.told(equation.body, self.outer)
            self.open.pop()
        return self.shapes[equation.name]

    def equation_of(self, expr: ast.Expr, scope: Scope) -> Equation | None:
        """The equation of the intermediate that an expression names."""
        base = expr.base if isinstance(expr, ast.Index) else expr
        entity = scope.find(base.name) if isinstance(base, ast.Name) else None
        return self.equations.get(entity.name) if isinstance(entity, EquationEntity) else None

    def parts(self, expr: ast.Expr, shape: Shape, place: Place) -> tuple[Value, ...]:
        """The parts of an expression; of an intermediate, those of its equation."""
        equation = self.equation_of(expr, place.scope) if shape.record else None
        if equation is None:
            return super().parts(expr, shape, place)
        return self.opened(equation, expr, place, lambda inner: self.parts(equation.body, shape, inner))

    def equation_name(self, expr: ast.Expr) -> str:
        """The intermediate whose equation an expression is all of; empty for any other."""
        name = self.open[-1] if self.open else ""
        return name if name and self.equations[name].body is expr else ""

    # --- operands ---

    def read(self, expr: ast.Expr, wanted: ValueType, place: Place, with_load: bool) -> Value:
        """An operand's element; an intermediate's is computed where it is used."""
        base = expr.base if isinstance(expr, ast.Index) else expr
        entity = place.scope.find(base.name) if isinstance(base, ast.Name) else None
        if isinstance(entity, BufferEntity) and entity.writable:
            message = f"`{entity.name}` is the result, which its equations cannot read"
            raise self.context.stop("elaborate.equation.cycle", message, expr.span, "use a `fn` with a `mut` parameter")
        if not isinstance(entity, EquationEntity):
            return super().read(expr, wanted, place, with_load=True)
        equation = self.equations[entity.name]
        return self.opened(equation, expr, place, lambda inner: self.check(equation.body, wanted, inner))

    def opened(self, equation: Equation, expr: ast.Expr, place: Place, compute: Callable[[Place], Computed]) -> Computed:
        """What an intermediate's equation computes at the indices of one use."""
        items = expr.items if isinstance(expr, ast.Index) else ()
        if len(items) != len(equation.indices):
            message = f"`{equation.name}` takes {len(equation.indices)} indices, not {len(items)}"
            raise self.context.stop("elaborate.index.rank", message, expr.span)
        if equation.name in self.open:
            raise self.context.stop("elaborate.equation.cycle", f"`{equation.name}` is defined by itself", expr.span)
        scope = self.outer
        for index, item in zip(equation.indices, items, strict=True):
            scope = scope.bind(index, IndexEntity(elaborate_index(item, place.scope, self.context)))
        self.open.append(equation.name)
        try:
            return compute(Place(Scope(scope.names, place.scope.facts), place.lane, place.before))
        finally:
            self.open.pop()

    def named(self, expr: ast.Name, wanted: ValueType, place: Place) -> Value:
        """A scalar operand or intermediate."""
        if isinstance(place.scope.find(expr.name), EquationEntity):
            return self.read(expr, wanted, place, with_load=True)
        return super().named(expr, wanted, place)

    # --- sums ---

    def top(self, expr: ast.Expr, wanted: ValueType, place: Place) -> Value:
        """The value of a whole equation: a sum there is a fold in the store itself."""
        if isinstance(expr, ast.Reduce):
            return self.reduced_word(expr, wanted, place)
        return self.chain(expr, wanted, place) if isinstance(expr, ast.Sum) else self.check(expr, wanted, place)

    def sum(self, expr: ast.Sum, wanted: ValueType, place: Place) -> Value:
        """A sum inside an equation: a local holds its total."""
        return self.held(self.chain(expr, wanted, place), wanted.elem, place, expr)

    def chain(self, expr: ast.Sum, wanted: ValueType, place: Place) -> Value:
        """One running total over all indices of a sum, in lexicographic order."""
        found = self.ranged(expr, place)
        semiring = Semiring(self.context, wanted.elem, expr.span)
        self.note(expr, found.ends, _addition(semiring, wanted))
        inner: list[Stmt] = []
        factors = without_lets(inner, self.factors(expr.body, wanted, Place(found.scope, None, inner)))
        zero = semiring.apply("zero")

        def step(total: str) -> Value:
            if len(factors) == 2:
                return semiring.apply("mul_add", *factors, Load(total))
            return semiring.apply("add", Load(total), *factors)

        if inner:
            return self.as_loops(expr, wanted.elem, found, zero, (inner, step), place)
        totals = [self.context.fresh.accumulator() for _ in found.counters]
        return folded(found, totals, zero, wanted.elem, step(totals[-1]))

    def factors(self, body: ast.Expr, wanted: ValueType, place: Place) -> tuple[Value, ...]:
        """The two factors of a top-level product, or the body as it is."""
        parts = (body.left, body.right) if isinstance(body, ast.Binary) and body.operator == "*" else (body,)
        return tuple(self.check(part, wanted, place) for part in parts)

    def as_loops(self, expr: ast.Sum, elem: str, found: Bounded, zero: Value, steps: Steps, place: Place) -> Value:
        """A total whose step needs statements of its own: a variable that loops update."""
        inner, step = steps
        intermediate = self.equation_name(expr)
        total = self.context.fresh.take(intermediate) if intermediate else self.context.fresh.accumulator()
        body = looped(found, Block((*inner, Store(total, (), step(total), span=expr.span))), expr.span)
        self.before(place, expr).extend((Declare(total, elem, init=zero, mutable=True, span=expr.span), *body.body))
        return Load(total)


# --- the whole contraction ---------------------------------------------------------------------


def elaborate_contraction(decl: ast.Contraction, context: Context, kind: type[Equations] = Equations) -> tuple[Header, Program]:
    """The header and the program of a contraction, its values elaborated by `kind`. Raises StopError, UnsupportedError."""
    header = elaborate_header(context, decl.generics, decl.params, decl.result, decl.contract)
    equations, scope = _equations(decl, header, context)
    result = decl.result.name or ""
    equation = equations.pop(result, None)
    entity = scope.find(result)
    if isinstance(entity, PoisonEntity):
        raise StopError(result)
    if equation is None or not isinstance(entity, BufferEntity):
        raise context.stop("elaborate.equation.missing", f"no equation defines `{result}`", decl.span, f"`{result}[i, j] = …`")
    values = kind(context, scope, equations)
    body = _nest(equation, entity, values, decl)
    program = Program(decl.name, header.sizes, header.params, body, header.requires, header.generics, header.kept, header.movement, span=decl.span)
    return header, replace(program, reductions=tuple(values.reductions))


def _equations(decl: ast.Contraction, header: Header, context: Context) -> tuple[dict[str, Equation], Scope]:
    found: dict[str, Equation] = {}
    scope = header.scope
    for statement in decl.body:
        if isinstance(statement, ast.Let) and is_index_expression(statement.value, scope, context):
            term = elaborate_index(statement.value, scope, context)
            scope = scope.bind(statement.name, IndexEntity(term))
            continue
        equation = _equation(statement, context)
        if equation.name in found:
            raise context.stop("elaborate.equation.twice", f"two equations define `{equation.name}`", statement.span, "give one of them another name")
        if isinstance(scope.find(equation.name), (BufferEntity, IndexEntity, GenericEntity)) and equation.name != decl.result.name:
            message = f"`{equation.name}` is not the result, so no equation defines it"
            raise context.stop("elaborate.equation.target", message, statement.span, f"the result is `{decl.result.name}`")
        if equation.name != decl.result.name:
            scope = scope.bind(equation.name, EquationEntity(equation.name))
        found[equation.name] = equation
    return found, scope


def _equation(statement: ast.Statement, context: Context) -> Equation:
    if isinstance(statement, ast.View):
        return Equation(statement.name, statement.indices, statement.place, statement.dims)
    if isinstance(statement, ast.Let):
        return Equation(statement.name, (), statement.value)
    if isinstance(statement, ast.Assign):
        target = statement.target
        base = target.base if isinstance(target, ast.Index) else target
        items = target.items if isinstance(target, ast.Index) else ()
        names = tuple(item.name for item in items if isinstance(item, ast.Name))
        if isinstance(base, ast.Name) and len(names) == len(items) == len(set(names)):
            return Equation(base.name, names, statement.value)
        message = "the left side of an equation names one element by distinct indices"
        raise context.stop("elaborate.equation.target", message, target.span, "`c[i, j] = …`")
    raise context.stop("elaborate.equation.target", "a contraction holds equations", statement.span, "`c[i, j] = …`; loops belong to a `fn`")


def _addition(semiring: Semiring, kind: ValueType) -> Monoid:
    """What a sum combines."""

    def apply(member: str, args: tuple[Parts, ...], _before: list[Stmt] | None) -> tuple[Value, ...]:
        name = {"empty": "zero", "combine": "add"}.get(member, member)
        return (semiring.apply(name, *(arg.values[0] for arg in args)),)

    return Monoid("", Shape("", (("", kind),)), apply)


def _nest(equation: Equation, result: BufferEntity, values: Equations, decl: ast.Contraction) -> Block:
    """A loop for each free index, outermost first, around the store of one element."""
    context = values.context
    if len(equation.indices) != len(result.shape):
        message = f"`{result.name}` has {len(result.shape)} dimensions, and its equation {len(equation.indices)} indices"
        raise context.stop("elaborate.index.rank", message, equation.body.span)
    scope, counters = values.outer, list[tuple[str, Index]]()
    for index, extent in zip(equation.indices, result.shape, strict=True):
        if index in values.equations or context.unit.constant(index, decl.span) is not None:
            raise context.stop("elaborate.name.duplicate", f"the index `{index}` already names something else", equation.body.span)
        counter = context.fresh.take(index)
        counters.append((counter, extent))
        scope = scope.bind(index, IndexEntity(Var(counter), "counter")).assume(le(ZERO, Var(counter)), lt(Var(counter), extent))
    before: list[Stmt] = []
    value = values.top(equation.body, ValueType(result.elem), Place(scope, None, before))
    cell = tuple(Var(counter) for counter, _ in counters)
    body = Block((*before, Store(result.name, cell, value, span=equation.body.span)))
    for counter, extent in reversed(counters):
        body = Block((For(counter, Range(ZERO, extent), body, equation.body.span),))
    return body
