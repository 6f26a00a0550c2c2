"""How a monoid combines a whole block of elements at once: `fn block a s v` of an implementation, and its law.

Takes the function; gives its lines over the parts of what stands before the block, `a`, and the parameters of the
block's elements. An element is what the function that the law names makes of them, `key` where it names none; without such
a function the elements are the parameters themselves. Must not judge whether the law holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from cachet_verify.core.index import ZERO, Const, Index, Var, le, lt
from cachet_verify.core.ir import BlockTerm, Blockwise, Fold, Load, Range, Reduction, Stmt, Value, values
from cachet_verify.elaborate.block_array import BlockArrays
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.generic import words_of
from cachet_verify.elaborate.item import Implementation
from cachet_verify.elaborate.place import Place, source_text
from cachet_verify.elaborate.problem import UnsupportedError
from cachet_verify.elaborate.scope import BufferEntity, IndexEntity, Scope, ValueEntity, ValueType
from cachet_verify.elaborate.semiring import Semiring
from cachet_verify.elaborate.shape import Parts, Shape, local_name, part_name, words_in
from cachet_verify.elaborate.term import elaborate_index
from cachet_verify.elaborate.total import Counters, Inlined, Monoid, Totals, replaced
from cachet_verify.syntax import ast

BLOCK = "block"
KEY = "key"
FORM = "`fn block (a: Weights) (s: [f32; B]) (v: [f32; B]) = …`, with a line or value for each total over the block"


def has_block(found: Implementation) -> bool:
    """Whether an implementation says how a block is combined."""
    return BLOCK in found.members


def blockwise(context: Context, found: Implementation, monoid: Monoid) -> Blockwise:
    """How the implementation combines a block. Raises StopError, UnsupportedError."""
    fn = found.members[BLOCK]
    body = BlockBody(context.within(context.unit_of(found.path), f"{found.path} {found.name} {BLOCK}"))
    terms, result = body.lines_of(fn, monoid)
    maker = constructor(context, found)
    keys = tuple((name, kind.elem) for name, kind in body.keys)
    if maker is None:
        if len(keys) != len(monoid.shape.parts) or any(one != elem for (_, one), (_, elem) in zip(keys, words_in(monoid.shape), strict=True)):
            message = f"the elements of `{found.name}` are made by no `{KEY}`, and are not what `{BLOCK}` takes"
            raise context.stop("elaborate.block.key", message, fn.span, "`law block key over reals`, where `fn key` makes an element")
        element: tuple[Value, ...] = tuple(Load(name) for name, _ in keys)
    else:
        element = _element(context, found, maker, body.arrays, monoid.shape)
    return Blockwise(keys, element, body.length, terms, result, _law_name(found))


def law_of_block(context: Context, found: Implementation) -> Reduction:
    """What the law of blocks of an implementation is about: any reduction by it."""
    totals = Totals(context)
    totals.reductions = []
    monoid = totals.implemented(found)
    made = Reduction("j", monoid.name, True, words_in(monoid.shape), monoid.apply("empty", (), None), ())
    return totals.completed(made, monoid)


def one_total(made: Reduction) -> Blockwise | None:
    """A block of words: a total of its elements, combined with what stands before. None for values of several parts, whose blocks are declared."""
    if len(made.parts) != 1:
        return None
    ((_, elem),) = made.parts
    by = {"a": Load("acc"), "b": Load("x", (Var(made.counter),))}
    kind = made.monoid.partition(" ")[0].lower() or "sum"
    fold = Fold(made.counter, Range(ZERO, Var("B")), made.empty[0], "acc", elem, replaced(made.combined[0], by))
    return Blockwise((("x", elem),), (Load("x"),), "B", (BlockTerm("total", elem, kind, fold),), (replaced(made.combined[0], {"b": Load("total")}),))


def total_of_products(made: Reduction, monoid: Monoid) -> Blockwise:
    """A block of products: their total, by the sum's own steps, added to what stands before."""
    ((_, elem),) = made.parts

    def applied(member: str, *args: Value) -> Value:
        return monoid.apply(member, tuple(Parts(monoid.shape, (arg,)) for arg in args), None)[0]

    here = (Var(made.counter),)
    step = applied("mul_add", Load("x", here), Load("y", here), Load("acc"))
    total = BlockTerm("total", elem, "sum", Fold(made.counter, Range(ZERO, Var("B")), made.empty[0], "acc", elem, step))
    element = applied("mul", Load("x"), Load("y"))
    return Blockwise((("x", elem), ("y", elem)), (element,), "B", (total,), (replaced(made.combined[0], {"b": Load("total")}),))


def constructor(context: Context, found: Implementation) -> ast.Fn | None:
    """The function that makes an element of its parameters."""
    named = maker_named(found)
    entry = context.unit_of(found.path).find(named or KEY)
    if entry is not None and isinstance(entry.declaration, ast.Fn):
        return entry.declaration
    if named:
        raise context.stop("elaborate.block.key", f"the law `{BLOCK} {named}` names no function", found.span, f"`fn {named} …` before the `impl`")
    return None


def maker_named(found: Implementation) -> str:
    """The function that the law of blocks names; empty where it names none, or where there is no such law."""
    words = found.laws.get(BLOCK, ())
    return words[1] if len(words) > 1 else ""


def _law_name(found: Implementation) -> str:
    return " ".join(found.laws.get(BLOCK, (BLOCK,)))


def _element(context: Context, found: Implementation, maker: ast.Fn, arrays: Mapping[str, Shape], shape: Shape) -> tuple[Value, ...]:
    if len(maker.params) != len(arrays):
        message = f"`{maker.name}` makes an element of {len(maker.params)} parameters, and `{BLOCK}` takes {len(arrays)} arrays"
        raise context.stop("elaborate.block.key", message, found.members[BLOCK].span, "one array for each of its parameters, in its order")
    inner, span = Inlined(context), found.members[BLOCK].span
    for param, (name, kind) in zip(maker.params, arrays.items(), strict=True):
        if param.storage is not None and inner.shape_in(found.path, param.storage.type) != kind:
            message = f"the elements of `{name}` are no `{param.name}` of `{maker.name}`"
            raise context.stop("elaborate.block.key", message, span, "an array of what it takes")
    given = tuple(Parts(kind, tuple(Load(part_name(name, part)) for part, _ in kind.parts)) for name, kind in arrays.items())
    return inner.applied_to(maker, found.path, given, shape)


class BlockBody(BlockArrays):
    """The body of `fn block`: words, and totals over the block, each of which is noted under a name."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.bare: set[str] = set()
        self.terms: list[BlockTerm] = []
        self.reductions = []

    def inside(self, context: Context) -> Inlined:
        """Functions that are called are inlined as elsewhere, without totals of their own."""
        return Plain(context)

    def read_header(self, fn: ast.Fn, monoid: Monoid) -> Scope:
        """What stands before, and the arrays of the block."""
        if len(fn.params) < 2:
            raise self.context.stop("elaborate.block.form", f"`{BLOCK}` takes what stands before the block, and an array for it", fn.span, FORM)
        first, *arrays = fn.params
        names = tuple(part_name("a", name) for name, _ in words_in(monoid.shape))
        whole = tuple(Load(name) for name in names)
        scope = Scope()
        if monoid.shape.record:
            self.known = {first.name: Parts(monoid.shape, whole)}
        else:
            scope = scope.bind(first.name, ValueEntity(whole[0], monoid.shape.parts[0][1]))
        for param in arrays:
            kind = param.storage.type if param.storage is not None else None
            dims = kind.dims if isinstance(kind, ast.ArrayType) else ()
            size = dims[0].name if len(dims) == 1 and isinstance(dims[0], ast.Name) else ""
            if not isinstance(kind, ast.ArrayType) or not size or self.length not in ("", size):
                message = f"`{param.name}` is no array over the block"
                raise self.context.stop("elaborate.block.form", message, param.span or fn.span, FORM)
            self.length = size
            scope = self.array(param.name, self.field_shape(kind.element), scope)
        return scope.bind(self.length, IndexEntity(Var(self.length)))

    def lines_of(self, fn: ast.Fn, monoid: Monoid) -> tuple[tuple[BlockTerm, ...], tuple[Value, ...]]:
        """The lines and the result. Raises StopError."""
        scope = self.read_header(fn, monoid)
        result = self.body(fn, scope, monoid.shape, [])
        for value in (*result, *(term.value for term in self.terms if term.kind == "let")):
            if any(isinstance(part, Load) and part.index for part in values(value)):
                message = "an element of the block is read outside of a total"
                raise self.context.stop("elaborate.block.form", message, fn.span, "`sum j. …`, `reduce Max f32 j. …` or a `fold` over the block")
        return tuple(self.terms), result

    def named_once(self, value: Value, kind: ValueType, name: str, place: Place) -> Value:
        """A `let`: a line of its own, unless it is a literal, a name already, or stands inside a total. A total gets the name."""
        if isinstance(value, Load) and value.buffer in self.bare and place.before is not None:
            return self.renamed(value.buffer, name)
        if place.before is None or isinstance(value, Load) or not any(isinstance(part, Load) for part in values(value)):
            return value
        return self.line(name, kind.elem, "let", value)

    def line(self, name: str, elem: str, kind: str, value: Value) -> Value:
        """Note a line under a name that no other has."""
        free = self.free(name, value)
        self.terms.append(BlockTerm(free, elem, kind, value))
        return Load(free)

    def renamed(self, old: str, name: str) -> Value:
        """Give a total that nothing reads yet its name."""
        self.bare.discard(old)
        place = next(number for number, term in enumerate(self.terms) if term.name == old)
        term = self.terms[place]
        free = self.free(name, term.value)
        self.terms[place] = replace(term, name=free)
        return Load(free)

    def free(self, name: str, value: Value) -> str:
        """A name that no other line has; a cell `mix[1]` is called `mix1`."""
        name = local_name(name)
        used = {*(term.name for term in self.terms), *(key for key, _ in self.keys), "a", self.length}
        used |= {*self.arrays} | {term.acc for term in (*(term.value for term in self.terms), value) if isinstance(term, Fold)}
        number, free = 1, name
        while free in used:
            free, number = f"{name}'{number}", number + 1
        return free

    def held(self, value: Value, _elem: str, _place: Place, _expr: ast.Expr) -> Value:
        """A total has its line already."""
        return value

    def line_of(self, value: Fold, elem: str, place: Place, expr: ast.Expr) -> Value:
        """A total: a line of its own, of the kind by which schedules order it. A total inside another has none."""
        if place.before is None:
            raise UnsupportedError("a total inside another over a block", expr.span)
        kind = "sum"
        if isinstance(expr, ast.Reduce):
            words = words_of(expr.monoid)
            kind = words[0].lower() if words else kind
        made = self.line("total", elem, "fold" if isinstance(expr, ast.Fold) else kind, value)
        if isinstance(made, Load):
            self.bare.add(made.buffer)
        return made

    def note(self, expr: ast.Sum | ast.Reduce, counters: tuple[tuple[str, Index], ...], monoid: Monoid) -> None:
        """Totals inside are no reductions of a contraction."""

    def counted(self, expr: ast.Sum | ast.Reduce, place: Place) -> tuple[Counters, Scope]:
        """An index of a total goes over the block, whether an array is indexed by it or not. Raises StopError for a condition."""
        if expr.bounds:
            message = "a total over a block takes every element"
            raise self.context.stop("elaborate.block.form", message, expr.bounds[0].span, "a total without `where`")
        scope, found = place.scope, list[tuple[str, Index]]()
        for index in expr.indices:
            counter = self.context.fresh.take(index)
            found.append((counter, Var(self.length)))
            scope = scope.bind(index, IndexEntity(Var(counter), "counter")).assume(le(ZERO, Var(counter)), lt(Var(counter), Var(self.length)))
        return tuple(found), scope

    def sum(self, expr: ast.Sum, wanted: ValueType, place: Place) -> Value:
        """`sum j. e` over the block, in the words of a contraction's sum."""
        counters, scope = self.counted(expr, place)
        semiring = Semiring(self.context, wanted.elem, expr.span)
        parts = (expr.body.left, expr.body.right) if isinstance(expr.body, ast.Binary) and expr.body.operator == "*" else (expr.body,)
        with self.hiding(*expr.indices):
            factors = tuple(self.check(part, wanted, Place(scope)) for part in parts)

        def step(total: Value) -> Value:
            return semiring.apply("mul_add", *factors, total) if len(factors) == 2 else semiring.apply("add", total, *factors)

        return self.over_block(expr, wanted.elem, (counters, semiring.apply("zero"), step), place)

    def reduced_word(self, expr: ast.Reduce, wanted: ValueType, place: Place) -> Value:
        """`reduce Max f32 j. e` over the block."""
        monoid = self.monoid(expr, place.scope)
        if monoid.shape.record:
            raise UnsupportedError("a total of records over a block", expr.span)
        self.expect(monoid.shape.parts[0][1], wanted, expr)
        counters, scope = self.counted(expr, place)
        with self.hiding(*expr.indices):
            element = Parts(monoid.shape, (self.check(expr.body, wanted, Place(scope)),))

        def step(total: Value) -> Value:
            return monoid.apply("combine", (Parts(monoid.shape, (total,)), element), None)[0]

        return self.over_block(expr, wanted.elem, (counters, monoid.apply("empty", (), None)[0], step), place)

    def over_block(
        self, expr: ast.Sum | ast.Reduce, elem: str, total: tuple[tuple[tuple[str, Index], ...], Value, Callable[[Value], Value]], place: Place
    ) -> Value:
        """One total over the block."""
        counters, start, step = total
        if len(counters) != 1:
            raise self.context.stop("elaborate.block.form", "a total over a block has one index", expr.span, "`sum j. …`")
        acc = self.context.fresh.accumulator()
        ((counter, extent),) = counters
        return self.line_of(Fold(counter, Range(ZERO, extent), start, acc, elem, step(Load(acc))), elem, place, expr)

    def fold(self, expr: ast.Fold, wanted: ValueType, place: Place) -> Value:
        """`fold j in 0 .. B from e as t: f32 do …`: one chain over the block."""
        if isinstance(expr.type, ast.ArrayType):
            if self.at is None or self.shape_of(expr.type) != self.at[0]:
                raise self.context.stop("elaborate.type.mismatch", f"this total is a `{source_text(expr.type)}`", expr.span)
            return self.chain(expr, wanted, place)
        self.expect(ValueType(self.elem_name(expr.type, place.scope)), wanted, expr)
        with self.computing(None):
            return self.chain(expr, wanted, place)

    def chain(self, expr: ast.Fold, wanted: ValueType, place: Place) -> Value:
        """A chain of words: that of a word, or of a cell of arrays whose cells go on side by side."""
        is_range = isinstance(expr.domain, ast.Range)
        low = elaborate_index(expr.domain.low, place.scope, self.context) if isinstance(expr.domain, ast.Range) else None
        high = elaborate_index(expr.domain.high, place.scope, self.context) if isinstance(expr.domain, ast.Range) else None
        if not is_range or low != Const(0) or high != Var(self.length):
            message = f"a total of a block goes over the whole block, `0 .. {self.length}`"
            raise self.context.stop("elaborate.block.form", message, expr.span, f"`fold j in 0 .. {self.length} from …`")
        start = self.check(expr.start, wanted, place)
        named = {*(term.name for term in self.terms), *(key for key, _ in self.keys), *self.arrays, self.length}
        counter, acc = self.context.fresh.take(expr.index), self.context.fresh.take(expr.accumulator)
        while acc in named:
            acc = self.context.fresh.take(expr.accumulator)
        scope = place.scope.bind(expr.index, IndexEntity(Var(counter), "counter")).assume(le(ZERO, Var(counter)), lt(Var(counter), Var(self.length)))
        scope = scope.bind(expr.accumulator, BufferEntity(acc, wanted.elem, (), loaded=False, root=acc, kind="local"))
        with self.hiding(expr.index, expr.accumulator):
            step = self.check(expr.body, wanted, Place(scope))
        return self.line_of(Fold(counter, Range(ZERO, Var(self.length)), start, acc, wanted.elem, step), wanted.elem, place, expr)

    def before(self, place: Place, expr: ast.Expr) -> list[Stmt]:
        """Nothing stands in front of a line."""
        raise UnsupportedError(f"`{source_text(expr)}` in a block, whose steps need lines of their own,", expr.span)


class Plain(Inlined):
    """Functions that a block's lines call: nothing in them gets a line."""

    def named_once(self, value: Value, _kind: ValueType, _name: str, _place: Place) -> Value:
        """A value stays where it is."""
        return value
