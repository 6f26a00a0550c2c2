"""Reductions of contractions: running totals of a monoid, words or records, combined in ascending order.

Takes `reduce Online j. e`; gives the parts of the total, with what must run first in front of it. Must not
regroup: element after element is combined into one total, which starts as the monoid's empty value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from cachet_verify.core.index import TRUE, Index
from cachet_verify.core.ir import Block, Choose, Declare, Fold, For, If, Load, Op, Reduction, Stmt, Store, Value, Word, values
from cachet_verify.elaborate.bound import Bounded, Running, bounded
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.generic import words_of
from cachet_verify.elaborate.item import Implementation
from cachet_verify.elaborate.place import Place, source_text
from cachet_verify.elaborate.problem import UnsupportedError
from cachet_verify.elaborate.range import summed_range
from cachet_verify.elaborate.record import Records
from cachet_verify.elaborate.scope import GenericEntity, Scope, ValueType
from cachet_verify.elaborate.shape import Parts, Shape, local_name, words_in
from cachet_verify.source import Span
from cachet_verify.syntax import ast

Counters = tuple[tuple[str, Index], ...]
Step = tuple[list[Stmt], tuple[Value, ...]]
"""The statements one step of a reduction needs first, and the parts of its element."""


class Inlined(Records):
    """Words and records inside functions that are inlined into a program: `let`s become locals where some can stand."""

    whole = frozenset()

    def inside(self, context: Context) -> Inlined:
        """The same for another function."""
        return Inlined(context)

    def named_once(self, value: Value, kind: ValueType, name: str, place: Place) -> Value:
        """A local that holds a value, unless it is a local or a literal already, or nothing can stand in front."""
        if place.before is None or place.lane is not None or isinstance(value, Word) or (isinstance(value, Load) and not value.index):
            return value
        local = self.context.fresh.take(local_name(name))
        place.before.append(Declare(local, kind.elem, init=value))
        return Load(local)


@dataclass(frozen=True, slots=True)
class Monoid:
    """What a reduction combines: its name as written, the shape of its values, its two operations, and its implementation where it has one."""

    name: str
    shape: Shape
    apply: Callable[[str, tuple[Parts, ...], list[Stmt] | None], tuple[Value, ...]]
    found: Implementation | None = None


class Totals(Inlined):
    """The reductions of one contraction; the extents of its operands are told by a subclass."""

    reductions: list[Reduction]

    def extents(self, name: str) -> tuple[Index | None, ...] | None:
        """The extents of an operand, as far as they can be told."""
        raise UnsupportedError(f"`reduce` over `{name}`", None)

    def told(self, expr: ast.Expr, scope: Scope) -> Shape | None:
        """The record of an expression; of a reduction, that of its monoid."""
        if isinstance(expr, ast.Reduce):
            shape = self.monoid(expr, scope).shape
            return shape if shape.record else None
        return super().told(expr, scope)

    def infer(self, expr: ast.Expr, scope: Scope) -> ValueType | None:
        """The type of an expression; of a reduction to a word, that of its monoid."""
        if isinstance(expr, ast.Reduce):
            shape = self.monoid(expr, scope).shape
            return None if shape.record else shape.parts[0][1]
        return super().infer(expr, scope)

    def parts(self, expr: ast.Expr, shape: Shape, place: Place) -> tuple[Value, ...]:
        """The parts of an expression that must have a shape, reductions to records included."""
        if not isinstance(expr, ast.Reduce) or not shape.record:
            return super().parts(expr, shape, place)
        monoid = self.monoid(expr, place.scope)
        if monoid.shape != shape:
            raise self.wrong(expr, shape)
        return self.reduced(expr, monoid, place)

    def reduction(self, expr: ast.Reduce, wanted: ValueType, place: Place) -> Value:
        """A reduction to a word inside an expression: a local holds its total."""
        value = self.reduced_word(expr, wanted, place)
        return self.held(value, wanted.elem, place, expr)

    def reduced_word(self, expr: ast.Reduce, wanted: ValueType, place: Place) -> Value:
        """A reduction to a word, as a fold where its step needs no statements."""
        monoid = self.monoid(expr, place.scope)
        if monoid.shape.record:
            message = f"this is a `{monoid.shape.record}`, and `{wanted.text()}` is wanted here"
            hint = "a function of records, such as `normalised`, makes a word of it"
            raise self.context.stop("elaborate.type.mismatch", message, expr.span, hint)
        self.expect(monoid.shape.parts[0][1], wanted, expr)
        return self.reduced(expr, monoid, place)[0]

    def held(self, value: Value, elem: str, place: Place, expr: ast.Expr) -> Value:
        """The local that holds a total; a value that is no fold stays as it is."""
        if not isinstance(value, Fold):
            return value
        name = self.context.fresh.take(self.equation_name(expr) or "total")
        self.before(place, expr).append(Declare(name, elem, init=value, span=expr.span))
        return Load(name)

    def equation_name(self, expr: ast.Expr) -> str:
        """The intermediate whose equation an expression is all of; empty where there is none."""
        return ""

    def before(self, place: Place, expr: ast.Expr) -> list[Stmt]:
        """The statements in front of the one at hand."""
        if place.before is None:
            raise UnsupportedError("a total in one branch of an `if`", expr.span)
        return place.before

    # --- the monoid ---

    def monoid(self, expr: ast.Reduce, scope: Scope) -> Monoid:
        """The monoid that a reduction names. Raises StopError."""
        words = words_of(expr.monoid)
        entity = scope.find(words[0]) if words is not None and len(words) == 1 else None
        if isinstance(entity, GenericEntity) and entity.interface == "Monoid":
            return self.generic_monoid(entity.name)
        found = None if words is None else self.context.unit.implementation(words, "Monoid", is_any=True)
        if found is None:
            known = [f"`{name}`" for name in self.context.unit.implementations("Monoid")]
            hint = f"one of {', '.join(known)}" if known else 'import "cachet:monoid"'
            message = f"`{source_text(expr.monoid)}` is no implementation of `Monoid`"
            raise self.context.stop("elaborate.generic.missing", message, expr.monoid.span, hint)
        return self.implemented(found)

    def generic_monoid(self, name: str) -> Monoid:
        """A parameter `M : Monoid`: its operations are known by their names alone."""
        elem = f"{name}.Value"

        def apply(member: str, args: tuple[Parts, ...], _before: list[Stmt] | None) -> tuple[Value, ...]:
            return (Op(f"{name}.{member}", elem, tuple(arg.values[0] for arg in args)),)

        return Monoid(name, Shape("", (("", ValueType(elem)),)), apply)

    def implemented(self, found: Implementation) -> Monoid:
        """A monoid by its implementation, whose functions are inlined."""
        shape = self.shape_in(found.path, ast.Name(found.elem))

        def apply(member: str, args: tuple[Parts, ...], before: list[Stmt] | None) -> tuple[Value, ...]:
            fn = found.members.get(member)
            if fn is None or len(fn.params) != len(args):
                message = f"`{found.name}` has no `{member}` of {len(args)} operands"
                raise self.context.stop("elaborate.generic.member", message, found.span)
            return self.applied_to(fn, found.path, args, shape, before)

        return Monoid(found.name, shape, apply, found)

    # --- loops ---

    def counted(self, expr: ast.Sum | ast.Reduce, place: Place) -> tuple[Counters, Scope]:
        """A counter for each index, with its extent, and the scope inside. Raises StopError where conditions say more."""
        if expr.bounds:
            message = "conditions on the index of a total stand only in the equations of a contraction"
            raise self.context.stop("elaborate.equation.where", message, expr.bounds[0].span, "leave the condition out, or choose the element by it")
        found = self.ranged(expr, place)
        return found.ends, found.scope

    def ranged(self, expr: ast.Sum | ast.Reduce, place: Place) -> Bounded:
        """A counter for each index, with its range, the guard of a step, and the scope inside."""
        running: list[Running] = []
        for index in expr.indices:
            extent = summed_range(index, expr.body, self.extents, self.context.problems, expr.span)
            running.append(Running(index, self.context.fresh.take(index), extent))
        return bounded(running, expr.bounds, place.scope, self.context)

    def reduced(self, expr: ast.Reduce, monoid: Monoid, place: Place) -> tuple[Value, ...]:
        """The parts of a reduction's total, element after element in lexicographic order."""
        found = self.ranged(expr, place)
        self.note(expr, found.ends, monoid)
        inner: list[Stmt] = []
        element = self.parts(expr.body, monoid.shape, Place(found.scope, None, inner))
        if not monoid.shape.record:
            element = without_lets(inner, element)
        if not monoid.shape.record and not inner:
            return (self.as_fold(found, monoid, element[0]),)
        return self.looped(expr, found, monoid, (inner, element), self.before(place, expr))

    def note(self, expr: ast.Sum | ast.Reduce, counters: Counters, monoid: Monoid) -> None:
        """Note what a reduction combines."""
        made = Reduction(counters[0][0], monoid.name, expr.reassoc, words_in(monoid.shape), monoid.apply("empty", (), None), ())
        self.reductions.append(self.completed(made, monoid, expr.body))

    def completed(self, made: Reduction, monoid: Monoid, element: ast.Expr | None = None) -> Reduction:
        """What a reduction combines, with two values combined, and a whole block of elements where the implementation says how."""
        from cachet_verify.elaborate.blockwise import blockwise, constructor, has_block, one_total, total_of_products

        left, right = (Parts(monoid.shape, tuple(map(Load, made.names(letter)))) for letter in "ab")
        made = replace(made, combined=monoid.apply("combine", (left, right), None))
        if monoid.found is None or not has_block(monoid.found):
            if not monoid.name and isinstance(element, ast.Binary) and element.operator == "*":
                given = (_array_named(element.left), _array_named(element.right))
                return replace(made, block=total_of_products(made, monoid), given=given)
            block = one_total(made)
            return made if block is None else replace(made, block=block, given=(_array_named(element),))
        maker = constructor(self.context, monoid.found)
        is_made = isinstance(element, ast.Apply) and maker is not None and element.function == ast.Name(maker.name)
        args = element.args if isinstance(element, ast.Apply) and is_made else (element,)
        read = [_array_named(part) for arg in args for part in (arg.items if isinstance(arg, ast.ListExpr) else (arg,))]
        block = blockwise(self.context, monoid.found, monoid)
        return replace(made, block=block, given=tuple(read) if len(read) == len(block.keys) else ("",) * len(block.keys))

    def as_fold(self, found: Bounded, monoid: Monoid, element: Value) -> Value:
        """A total whose step is one value."""
        totals = [self.context.fresh.accumulator() for _ in found.counters]
        held = Parts(monoid.shape, (Load(totals[-1]),))
        (value,) = monoid.apply("combine", (held, Parts(monoid.shape, (element,))), None)
        return folded(found, totals, monoid.apply("empty", (), None)[0], monoid.shape.parts[0][1].elem, value)

    def looped(self, expr: ast.Reduce, found: Bounded, monoid: Monoid, step: Step, before: list[Stmt]) -> tuple[Value, ...]:
        """A total of one variable a part, which loops update; new parts are computed before the parts that they read change."""
        inner, element = step
        take = self.context.fresh.take
        whole = self.equation_name(expr)
        named = tuple(name or whole for name, _ in monoid.shape.parts)
        totals = tuple(take(local_name(name)) if name else self.context.fresh.accumulator() for name in named)
        kinds = tuple(kind for _, kind in monoid.shape.parts)
        here = Place(Scope(), None, inner)
        given = tuple(self.named_once(value, kind, name or "e", here) for value, (name, kind) in zip(element, monoid.shape.parts, strict=True))
        held = Parts(monoid.shape, tuple(Load(total) for total in totals))
        combined = monoid.apply("combine", (held, Parts(monoid.shape, given)), inner)
        inner.extend(self.assigned(tuple(zip(totals, kinds, combined, strict=True)), inner))
        body = looped(found, Block(tuple(inner)), expr.span)
        for total, kind, value in zip(totals, kinds, monoid.apply("empty", (), None), strict=True):
            before.append(Declare(total, kind.elem, init=value, mutable=True, span=expr.span))
        before.extend(body.body)
        return tuple(Load(total) for total in totals)

    def assigned(self, new: tuple[tuple[str, ValueType, Value], ...], inner: list[Stmt]) -> list[Stmt]:
        """The totals' new words; one that reads a total assigned before it is computed in front of them all."""
        stores: list[Stmt] = []
        changed: set[str] = set()
        for total, kind, value in new:
            kept = value
            if any(isinstance(part, Load) and part.buffer in changed for part in values(value)):
                local = self.context.fresh.take(total)
                inner.append(Declare(local, kind.elem, init=value))
                kept = Load(local)
            changed.add(total)
            stores.append(Store(total, (), kept))
        return stores


def folded(found: Bounded, totals: Sequence[str], start: Value, elem: str, step: Value) -> Value:
    """One running total over the indices, outermost first; a step that the guard leaves out keeps it."""
    value = step if found.guard == TRUE else Choose(found.guard, step, Load(totals[-1]))
    for number in range(len(totals) - 1, -1, -1):
        counter, domain = found.counters[number]
        value = Fold(counter, domain, Load(totals[number - 1]) if number else start, totals[number], elem, value)
    return value


def looped(found: Bounded, step: Block, span: Span | None) -> Block:
    """Loops over the indices, outermost first, around a step under the guard."""
    body = step if found.guard == TRUE else Block((If(found.guard, step, Block(), span),))
    for counter, domain in reversed(found.counters):
        body = Block((For(counter, domain, body, span),))
    return body


def _array_named(expr: ast.Expr | None) -> str:
    """The array that an element of one is read from; empty for any other expression."""
    base = expr.base if isinstance(expr, ast.Index) else expr
    return base.name if isinstance(base, ast.Name) else ""


def without_lets(inner: list[Stmt], found: tuple[Value, ...]) -> tuple[Value, ...]:
    """Values with the `let`s in front of them put in place, where there is nothing else in front; `inner` is empty then."""
    known: dict[str, Value] = {}
    for stmt in inner:
        if not isinstance(stmt, Declare) or stmt.mutable or stmt.init is None or any(isinstance(part, Fold) for part in values(stmt.init)):
            return found
        known[stmt.name] = replaced(stmt.init, known)
    inner.clear()
    return tuple(replaced(value, known) for value in found)


def replaced(value: Value, known: Mapping[str, Value]) -> Value:
    """A value with locals replaced by what they hold."""
    if isinstance(value, Load):
        return known.get(value.buffer, value)
    if isinstance(value, Op):
        return replace(value, args=tuple(replaced(arg, known) for arg in value.args))
    if isinstance(value, Choose):
        return replace(value, then=replaced(value.then, known), orelse=replaced(value.orelse, known))
    if isinstance(value, Fold):
        return replace(value, init=replaced(value.init, known), step=replaced(value.step, known))
    return value
