"""Laws: the two sides of each, as core values over variables.

Takes a law and the implementation it belongs to; gives its item. The words of a law name its equation
(`add associative`); a law with an equation of its own is written `law NAME (a: f32) … : E == E`.
Must not judge whether it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from cachet_verify.core.element import ELEMENTS
from cachet_verify.core.ir import Load, Reduction, Value, Word
from cachet_verify.elaborate.array import ArrayImplementation, read_array
from cachet_verify.elaborate.blockwise import BLOCK, law_of_block
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.generic import words_of
from cachet_verify.elaborate.item import LawItem, LawSides, LawSubject
from cachet_verify.elaborate.operation import is_generic
from cachet_verify.elaborate.place import Place, source_text
from cachet_verify.elaborate.problem import Unsupported, UnsupportedError
from cachet_verify.elaborate.record import Records
from cachet_verify.elaborate.scope import Scope, ValueEntity, ValueType
from cachet_verify.elaborate.shape import Parts, Shape, part_name
from cachet_verify.elaborate.written_out import places, written_out
from cachet_verify.syntax import ast

if TYPE_CHECKING:
    from cachet_verify.elaborate.world import Unit

NEUTRAL = {"add": "zero", "mul": "one", "combine": "empty"}
"""The constant that leaves the other operand of an operation as it is."""
DOMAINS = ("reals", "words")
SEMIRING = ("add associative", "add commutative", "add identity", "mul associative", "mul identity", "mul annihilates", "distributive", "mul_add")
"""The laws that the interface of S asks for, where laws hold over S."""
Sides = tuple[tuple[Value, ...], tuple[Value, ...]]


def build_law(unit: Unit, law: ast.Law, impl: ast.Impl | None) -> LawItem:
    """The item of a law. Raises StopError for one that says nothing."""
    of = source_text(impl.target) if impl is not None else None
    words = " ".join(law.words)
    domain = law.domain or "reals"
    item = LawItem(f"{words} over {domain}" if of is None else f"{of}: {words} over {domain}", of, domain, law.reason, law.span)
    generics = () if impl is None else tuple(generic.name for generic in impl.generics if _is_semiring(unit, generic))
    if item.domain not in (*DOMAINS, *generics):
        hint = f"`law {words} over {generics[0]}`" if generics else f"`law {words} over reals`, or `over words`"
        raise unit.problems.stop("elaborate.law.domain", f"a law holds over reals or over words, not over {law.domain}", law.span, hint)
    try:
        reading = _Reading(unit, item.text, impl)
        if impl is not None and law.words[:1] == (BLOCK,) and item.domain == "reals" and BLOCK in reading.members:
            return replace(item, block=reading.block(impl))
        if law.statement is not None:
            item = _with(item, reading.stated(law))
        else:
            item = _with(item, reading.named(law))
    except UnsupportedError as error:
        return LawItem(item.text, of, item.domain, law.reason, law.span, unsupported=error.unsupported)
    if item.sides is not None and any(item.domain in DOMAINS and is_generic(elem) for subject in item.sides.subjects for _, elem in subject.fields):
        unsupported = Unsupported(f"a law over {item.domain} about values of {generics[0] if generics else 'a parameter'}", law.span)
        return LawItem(item.text, of, item.domain, law.reason, law.span, unsupported=unsupported)
    if item.sides is None and law.reason is None:
        hint = f"`law {words} (a: f32) (b: f32) over {item.domain} : f a b == f b a`"
        raise unit.problems.stop("elaborate.law.unknown", f"`{words}` is no law that is known by its name, and states no equation", law.span, hint)
    return item


def _is_semiring(unit: Unit, generic: ast.Generic) -> bool:
    """Whether the interface of a parameter asks for the laws of a semiring: its name alone says nothing."""
    entry = unit.find(source_text(generic.interface))
    members = entry.declaration.members if entry is not None and isinstance(entry.declaration, ast.Interface) else ()
    return {" ".join(member.words) for member in members if isinstance(member, ast.Law)} >= set(SEMIRING)


def _with(item: LawItem, sides: LawSides | None) -> LawItem:
    return LawItem(item.text, item.of, item.domain, item.reason, item.span, sides)


class _Reading:
    """One law's reading: the operations of its implementation, its variables."""

    def __init__(self, unit: Unit, name: str, impl: ast.Impl | None) -> None:
        self.unit = unit
        self.values = Records(Context(unit, unit.problems))
        self.members: Mapping[str, ast.Fn] = {}
        self.shape: Shape | None = None
        self.array: ArrayImplementation | None = None
        if impl is not None:
            self.members = {member.name: member for member in impl.members if isinstance(member, ast.Fn)}
            kinds = [member.value for member in impl.members if isinstance(member, ast.Const) and member.name == "Value"]
            if kinds and isinstance(kinds[0], ast.ArrayType):
                self.array = read_array(unit, impl, self.values.context)
                self.shape = Shape(source_text(kinds[0]), self.cells(self.array))
            elif kinds and kinds[0] is not None:
                self.shape = self.values.shape_of(kinds[0])

    def variable(self, name: str, shape: Shape) -> tuple[LawSubject, Parts]:
        """A variable of a shape, and its parts as values."""
        names = tuple(part_name(name, part) for part, _ in shape.parts)
        fields = tuple(zip(names, (kind.elem for _, kind in shape.parts), strict=True))
        return LawSubject(name, fields, self.points(shape)), Parts(shape, tuple(Load(part, ()) for part in names))

    def cells(self, array: ArrayImplementation) -> tuple[tuple[str, ValueType], ...]:
        """The parts of an array: its cells, `0.1` the second of the first row."""
        return tuple((".".join(map(str, place)), ValueType(array.elem)) for place in places(array.shape))

    def points(self, shape: Shape) -> tuple[tuple[str, tuple[Word, ...]], ...]:
        """The constants of the implementation that hold an infinity: real numbers alone would leave them out."""
        if shape != self.shape:
            return ()
        found: dict[tuple[Word, ...], str] = {}
        for name, fn in self.members.items():
            if not fn.params:
                words = tuple(word for word in self.apply(name) if isinstance(word, Word))
                if len(words) == len(shape.parts) and any(map(_is_infinite, words)):
                    found.setdefault(words, name)
        return tuple((name, words) for words, name in found.items())

    def apply(self, name: str, *args: Parts) -> tuple[Value, ...]:
        """An operation of the implementation on parts."""
        fn = self.members.get(name)
        if fn is None or self.shape is None or len(fn.params) != len(args):
            raise UnsupportedError(f"a law about `{name}`, which the implementation lacks,", None)
        if self.array is not None:
            return written_out(self.array.members[name], [arg.values for arg in args])
        return self.values.applied_to(fn, self.unit.loaded.path, args, self.shape)

    def named(self, law: ast.Law) -> LawSides | None:
        """The sides of a law known by its words; None where the words name none."""
        equation, count = _EQUATIONS.get(law.words[-1], (None, 0))
        *operation, kind = law.words
        if equation is None or len(operation) > 1 or self.shape is None:
            return None
        if kind in ("distributive", "mul_add") and operation:
            return None
        name = operation[0] if operation else "combine"
        if kind not in ("distributive", "mul_add") and name not in self.members:
            return None
        subjects, parts = zip(*(self.variable(letter, self.shape) for letter in "abc"[:count]), strict=True)
        left, right = self.both(equation, name, parts)
        return LawSides(subjects, left, right)

    def block(self, impl: ast.Impl) -> Reduction:
        """What the law of whole blocks is about."""
        words = words_of(impl.target)
        found = None if words is None else self.unit.implementation(words, source_text(impl.interface), is_any=True)
        if found is None:
            raise UnsupportedError("a law about blocks of this implementation", impl.span)
        return law_of_block(Context(self.unit, self.unit.problems), found)

    def both(self, equation: Equation, name: str, parts: tuple[Parts, ...]) -> Sides:
        shape = self.shape
        if shape is None:
            raise UnsupportedError("a law without values", None)

        def apply(member: str, *args: Parts) -> Parts:
            return Parts(shape, self.apply(member, *args))

        left, right = equation(apply, name, *parts)
        return (sum((side.values for side in left), ()), sum((side.values for side in right), ()))

    def stated(self, law: ast.Law) -> LawSides:
        """The sides of `law NAME (a: f32) … : E == E`."""
        claim = law.statement
        if not isinstance(claim, ast.Binary) or claim.operator != "==":
            raise self.unit.problems.stop("elaborate.law.equation", "a law states that two sides are equal", law.span, "`: f a b == f b a`")
        scope, subjects = Scope(), []
        known: dict[str, Parts] = {}
        for param in law.params:
            shape = self._param_shape(param)
            subject, parts = self.variable(param.name, shape)
            subjects.append(subject)
            if shape.record:
                known[param.name] = parts
            else:
                scope = scope.bind(param.name, ValueEntity(parts.values[0], shape.parts[0][1]))
        self.values.known = known
        shape = self._claim_shape(claim, scope)
        left, right = (self.values.parts(side, shape, Place(scope)) for side in (claim.left, claim.right))
        return LawSides(tuple(subjects), left, right)

    def _param_shape(self, param: ast.Param) -> Shape:
        kind = param.storage.type if param.storage is not None else None
        if kind is None or (isinstance(kind, ast.Name) and kind.name == "Value"):
            if self.shape is None:
                raise self.unit.problems.stop("elaborate.law.equation", f"`{param.name}` needs a type", param.span, f"`({param.name}: f32)`")
            return self.shape
        return self.values.shape_of(kind)

    def _claim_shape(self, claim: ast.Binary, scope: Scope) -> Shape:
        for side in (claim.left, claim.right):
            told = self.values.told(side, scope)
            if told is not None:
                return told
            if isinstance(side, ast.Apply) and isinstance(side.function, ast.Name):
                entry = self.unit.find(side.function.name)
                if entry is not None and isinstance(entry.declaration, ast.Fn) and entry.declaration.result is not None:
                    return self.values.shape_of(entry.declaration.result.storage.type)
        kind = self.values.infer(claim.left, scope) or self.values.infer(claim.right, scope)
        if kind is None:
            message = "the type of the two sides is not known from their text"
            raise self.unit.problems.stop("elaborate.law.equation", message, claim.span, "`(a: f32)`")
        return Shape("", (("", kind),))


def _is_infinite(value: Value) -> bool:
    if not isinstance(value, Word) or value.elem not in ELEMENTS or ELEMENTS[value.elem].kind != "float":
        return False
    element = ELEMENTS[value.elem]
    return value.bits & (element.sign - 1) == element.infinity


Apply = Callable[..., Parts]
Equation = Callable[..., tuple[tuple[Parts, ...], tuple[Parts, ...]]]


def _associative(on: Apply, op: str, a: Parts, b: Parts, c: Parts) -> tuple[tuple[Parts, ...], tuple[Parts, ...]]:
    return (on(op, a, on(op, b, c)),), (on(op, on(op, a, b), c),)


def _commutative(on: Apply, op: str, a: Parts, b: Parts) -> tuple[tuple[Parts, ...], tuple[Parts, ...]]:
    return (on(op, a, b),), (on(op, b, a),)


def _identity(on: Apply, op: str, a: Parts) -> tuple[tuple[Parts, ...], tuple[Parts, ...]]:
    if op not in NEUTRAL:
        raise UnsupportedError(f"the identity of `{op}`", None)
    neutral = on(NEUTRAL[op])
    return (on(op, neutral, a), on(op, a, neutral)), (a, a)


def _annihilates(on: Apply, op: str, a: Parts) -> tuple[tuple[Parts, ...], tuple[Parts, ...]]:
    zero = on("zero")
    return (on(op, zero, a), on(op, a, zero)), (zero, zero)


def _distributive(on: Apply, _op: str, a: Parts, b: Parts, c: Parts) -> tuple[tuple[Parts, ...], tuple[Parts, ...]]:
    left = (on("mul", a, on("add", b, c)), on("mul", on("add", a, b), c))
    return left, (on("add", on("mul", a, b), on("mul", a, c)), on("add", on("mul", a, c), on("mul", b, c)))


def _mul_add(on: Apply, _op: str, a: Parts, b: Parts, c: Parts) -> tuple[tuple[Parts, ...], tuple[Parts, ...]]:
    return (on("mul_add", a, b, c),), (on("add", c, on("mul", a, b)),)


_EQUATIONS: Mapping[str, tuple[Equation, int]] = {
    "associative": (_associative, 3),
    "commutative": (_commutative, 2),
    "identity": (_identity, 1),
    "annihilates": (_annihilates, 1),
    "distributive": (_distributive, 3),
    "mul_add": (_mul_add, 3),
}
"""The equation of a law by its last word, and how many variables it has."""
