"""Laws over the reals: two expressions of words, read as real numbers, that are equal.

Takes the two sides and what each variable ranges over; gives the goal that they agree, one obligation for
each way in which infinities and comparisons can turn out. A law over the reals says nothing about words.

Each operation is read as the real one: rounding is left out, both zeros are 0. A variable is a tuple of
real numbers, or one of its points, which may hold infinities; which, is split by cases here, so that a
solver is asked about real numbers only. What has no value (a NaN) may not occur in any case that can.
Of `exp` three things are used: exp (x + y) = exp x * exp y, exp x > 0, and exp x = exp y only where x = y;
and exp (-infinity) = 0. `log a` is the number whose exponential is a: there is one for each a above 0; log 0 is minus infinity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Literal

from cachet_verify.core.element import ELEMENTS
from cachet_verify.core.family import UnmodelledError
from cachet_verify.core.ir import Load, Op, Value, Word
from cachet_verify.core.laurent import laurent_of, real_of
from cachet_verify.core.numeral import float_of_word, int_of_word
from cachet_verify.core.real import (
    NOUGHT,
    UNIT,
    Real,
    RealAll,
    RealCompare,
    RealConst,
    RealFormula,
    RealNot,
    RealVar,
    real_add,
    real_mul,
    real_neg,
    real_variables,
)
from cachet_verify.kernel.claim import Goal, LawHolds, LawVariable, RuleError, issue
from cachet_verify.kernel.obligation import RealObligation, real_obligation

RULE = "law-over-reals"
Relation = Literal["==", "<=", "<"]
WHOLE = frozenset(("exp", "log"))
"""Functions that stand for a real one: the last operand is what they are of, and how words approach it is left out."""
_OWN = frozenset("!^")
"""What the names of quotients, exponentials and logarithms have, and no other name may."""
_RELATIONS: Mapping[str, Relation] = {"lt": "<", "le": "<=", "eq": "=="}
TRUE, FALSE = RealAll(()), RealNot(RealAll(()))
Path = tuple[RealFormula, ...]


@dataclass(frozen=True, slots=True)
class Infinite:
    """Plus or minus infinity: `sign` is 1 or -1."""

    sign: int


@dataclass(frozen=True, slots=True)
class Undefined:
    """No value."""


Extended = Real | Infinite | Undefined | bool
"""What an expression comes to in one case: a real term, an infinity, a truth value, or nothing."""


def law_over_reals(variables: tuple[LawVariable, ...], left: tuple[Value, ...], right: tuple[Value, ...]) -> Goal:
    """Conclude that the sides agree, component by component. Raises RuleError, and UnmodelledError for an operation that is not read here."""
    if len(left) != len(right) or not left:
        raise RuleError(RULE, "the two sides have as many components, one at least")
    names = [name for variable in variables for name, _ in variable.fields]
    if len(set(names)) != len(names) or not all(variable.fields for variable in variables):
        raise RuleError(RULE, "two variables of one name")
    if any(set(name) & _OWN for name in names):
        raise RuleError(RULE, "a variable has a name of those that stand for quotients, exponentials and logarithms here")
    found: list[RealObligation] = []
    for where, case in _cases(variables):
        reading = _Reading(case)
        for place, (ours, theirs) in enumerate(zip(left, right, strict=True)):
            says = _subject(where, place, len(left))
            found.extend(reading.agreement(ours, theirs, says))
    return issue(RULE, LawHolds("reals", variables, left, right), dict.fromkeys(found))


def closed_over_reals(variables: tuple[LawVariable, ...], parts: tuple[Value, ...]) -> None:
    """Refuse parts that do not always come to real numbers together, or to one of the points of the variables. Raises RuleError."""
    points = {tuple(map(_constant, words)) for variable in variables for _, words in variable.points}
    for where, case in _cases(variables):
        reading = _Reading(case)
        found = [{outcome for _, outcome in reading.value(part, ())} for part in parts]
        is_real = all(not isinstance(outcome, (bool, Infinite, Undefined)) for outcomes in found for outcome in outcomes)
        is_point = all(len(outcomes) == 1 for outcomes in found) and tuple(next(iter(outcomes)) for outcomes in found) in points
        if not is_real and not is_point:
            raise RuleError(RULE, f"where {where or 'the variables are numbers'}, what comes of them is neither numbers nor a point")


def numbers_over_reals(variables: tuple[LawVariable, ...], value: Value, says: str) -> tuple[RealObligation, ...]:
    """What has to be shown for a value to be a real number: that no way leads to an infinity, or to nothing. Raises RuleError, UnmodelledError."""
    found: list[RealObligation] = []
    for where, case in _cases(variables):
        reading = _Reading(case)
        for path, outcome in reading.value(value, ()):
            if isinstance(outcome, bool):
                raise UnmodelledError("a law about truth values")
            if isinstance(outcome, (Infinite, Undefined)):
                text = f"{says}, where {where}" if where else says
                found.append(real_obligation(text, (*path, *reading.facts(path, FALSE)), FALSE, can_refute=not reading.inverses))
    return tuple(found)


def _cases(variables: Sequence[LawVariable]) -> Iterator[tuple[str, dict[str, Extended]]]:
    """Every way to choose, for each variable, real numbers or one of its points; the points chosen are said first."""
    choices: list[list[tuple[str, dict[str, Extended]]]] = []
    for variable in variables:
        for name, elem in variable.fields:
            if elem not in ELEMENTS or ELEMENTS[elem].kind == "bool":
                raise UnmodelledError(f"{name}, which is no number,")
        found: list[tuple[str, dict[str, Extended]]] = [("", {name: RealVar(name) for name, _ in variable.fields})]
        for label, words in variable.points:
            if [word.elem for word in words] != [elem for _, elem in variable.fields]:
                raise RuleError(RULE, f"{label} is no value of {variable.name}", variable)
            values = {name: _constant(word) for (name, _), word in zip(variable.fields, words, strict=True)}
            found.append((f"{variable.name} is {label}", values))
        choices.append(found)
    for chosen in product(*choices):
        yield " and ".join(label for label, _ in chosen if label), {name: value for _, case in chosen for name, value in case.items()}


def _subject(where: str, place: int, count: int) -> str:
    """What one obligation says, with the points of its case."""
    which = "the two sides are equal" if count == 1 else f"part {place + 1} of the two sides is equal"
    return f"{which}, where {where}" if where else which


class _Reading:
    """The real reading of expressions in one case, and what is known of the quotients and exponentials met."""

    def __init__(self, case: Mapping[str, Extended]) -> None:
        self.case = case
        self.quotients: dict[tuple[Real, Real], str] = {}
        self.inverses: dict[str, str] = {}
        self.arguments: dict[str, Real] = {}
        self.logarithms: dict[Real, str] = {}

    def agreement(self, ours: Value, theirs: Value, says: str) -> Iterator[RealObligation]:
        """The obligations that two expressions are equal, one for each path through both."""
        for path, first in self.value(ours, ()):
            for both, second in self.value(theirs, path):
                goal = self.equal(first, second)
                yield real_obligation(says, (*both, *self.facts(both, goal)), goal, can_refute=not self.inverses)

    def equal(self, first: Extended, second: Extended) -> RealFormula:
        """That two outcomes are one; an outcome without a value equals nothing."""
        if isinstance(first, bool) or isinstance(second, bool):
            raise UnmodelledError("a law about truth values")
        if isinstance(first, Undefined) or isinstance(second, Undefined):
            return FALSE
        if isinstance(first, Infinite) or isinstance(second, Infinite):
            return TRUE if first == second else FALSE
        if set(self.logarithms.values()) & (real_variables(first) | real_variables(second)):
            first, second = (self.exponential(side) for side in (first, second))
        if self.inverses:
            return RealCompare("==", *(real_of(laurent_of(_real(side), self.inverses), self.inverses) for side in (first, second)))
        return RealCompare("==", _real(first), _real(second))

    def facts(self, path: Path, goal: RealFormula) -> Iterator[RealFormula]:
        """Exponentials that are mentioned are above 0, times their inverses 1, equal where their arguments are; a logarithm's is its argument."""
        mentioned = real_variables(goal).union(*(real_variables(part) for part in path))
        for arg, name in reversed(self.logarithms.items()):
            base = f"e^{name}"
            if base in self.arguments and {base, self.inverse_of(base)} & mentioned:
                yield RealCompare("==", RealVar(base), arg)
                mentioned |= real_variables(arg)
        for inverse, base in self.inverses.items():
            if {inverse, base} & mentioned:
                yield RealCompare("<", NOUGHT, RealVar(base))
                yield RealCompare("==", real_mul(RealVar(base), RealVar(inverse)), UNIT)
        for first, second in combinations(self.inverses.values(), 2):
            same = RealCompare("==", self.arguments[first], self.arguments[second])
            yield RealNot(RealAll((same, RealNot(RealCompare("==", RealVar(first), RealVar(second))))))

    def value(self, value: Value, path: Path) -> Iterator[tuple[Path, Extended]]:
        """Every way an expression can turn out from a path on, with the path that leads there."""
        if isinstance(value, Load) and not value.index:
            if value.buffer not in self.case:
                raise RuleError(RULE, f"{value.buffer} is no variable of the law", value)
            yield path, self.case[value.buffer]
        elif isinstance(value, Word):
            yield path, _constant(value)
        elif isinstance(value, Op):
            if value.name == "div" and value.elem in ELEMENTS and ELEMENTS[value.elem].kind != "float":
                raise UnmodelledError("a quotient of integer words, which is rounded down,")
            given = value.args[-1:] if value.name in WHOLE else value.args
            for known, args in self.values(given, path):
                yield from self.apply(value.name.partition(" ")[0], args, known)
        else:
            raise UnmodelledError(f"{type(value).__name__} in a law")

    def values(self, values: Sequence[Value], path: Path) -> Iterator[tuple[Path, tuple[Extended, ...]]]:
        if not values:
            yield path, ()
            return
        for known, first in self.value(values[0], path):
            for all_known, rest in self.values(values[1:], known):
                yield all_known, (first, *rest)

    def apply(self, name: str, args: tuple[Extended, ...], path: Path) -> Iterator[tuple[Path, Extended]]:
        """An operation on outcomes."""
        if name == "select" and isinstance(args[0], bool):
            yield path, args[1] if args[0] else args[2]
        elif any(isinstance(arg, Undefined) for arg in args):
            yield path, Undefined()
        elif name in _LOGIC:
            yield path, _LOGIC[name](*(arg is True for arg in args))
        elif any(isinstance(arg, bool) for arg in args):
            raise UnmodelledError(f"{name} of truth values in a law")
        elif name in _RELATIONS:
            yield from self.compare(_RELATIONS[name], args[0], args[1], path)
        else:
            yield from self.computed(name, args, path)

    def computed(self, name: str, args: tuple[Extended, ...], path: Path) -> Iterator[tuple[Path, Extended]]:
        """An operation that gives a number."""
        if name in ("max", "min"):
            first, second = args if name == "max" else (args[1], args[0])
            for known, is_less in self.compare("<", first, second, path):
                yield known, args[1] if is_less else args[0]
        elif name == "div":
            yield from self.divide(args[0], args[1], path)
        elif name == "exp":
            yield path, self.exponential(args[0])
        elif name == "log":
            yield from self.logarithm(args[0], path)
        elif name in _ARITHMETIC:
            yield path, _ARITHMETIC[name](*args)
        else:
            raise UnmodelledError(f"{name} in a law over the reals")

    def compare(self, relation: Relation, left: Extended, right: Extended, path: Path) -> Iterator[tuple[Path, bool]]:
        """Both outcomes of a comparison, or the one that the path leaves."""
        if isinstance(left, Infinite) or isinstance(right, Infinite):
            first, second = (_rank(side) for side in (left, right))
            yield path, {"<": first < second, "<=": first <= second, "==": first == second}[relation]
            return
        holds = RealCompare(relation, _real(left), _real(right))
        fails = RealNot(holds)
        if holds not in path:
            yield (*path, fails) if fails not in path else path, False
        if fails not in path:
            yield (*path, holds) if holds not in path else path, True

    def divide(self, left: Extended, right: Extended, path: Path) -> Iterator[tuple[Path, Extended]]:
        """A quotient: a number of its own, that times the divisor is the dividend. By 0, and with an infinity, there is none."""
        if isinstance(left, Infinite) or isinstance(right, Infinite):
            yield path, NOUGHT if not isinstance(left, Infinite) else Undefined()
            return
        for known, is_zero in self.compare("==", right, NOUGHT, path):
            if is_zero:
                yield known, Undefined()
                continue
            dividend, divisor = _real(left), _real(right)
            name = self.quotients.setdefault((dividend, divisor), f"quotient!{len(self.quotients)}")
            defined = RealCompare("==", real_mul(RealVar(name), divisor), dividend)
            yield (*known, defined) if defined not in known else known, RealVar(name)

    def logarithm(self, arg: Extended, path: Path) -> Iterator[tuple[Path, Extended]]:
        """log: of a number above 0 a number of its own, of 0 minus infinity, of less nothing."""
        if isinstance(arg, Infinite):
            yield path, arg if arg.sign > 0 else Undefined()
            return
        for known, is_above in self.compare("<", NOUGHT, arg, path):
            if is_above:
                name = self.logarithms.setdefault(_real(arg), f"log!{len(self.logarithms)}")
                self.exponential(RealVar(name))
                yield known, RealVar(name)
                continue
            for further, is_zero in self.compare("==", arg, NOUGHT, known):
                yield further, Infinite(-1) if is_zero else Undefined()

    def inverse_of(self, base: str) -> str:
        """The name of the inverse of an exponential."""
        return f"e^-{base[2:]}"

    def exponential(self, arg: Extended) -> Extended:
        """exp of a sum is the product of the powers of exp of its parts."""
        if isinstance(arg, Infinite):
            return NOUGHT if arg.sign < 0 else arg
        total: Real = UNIT
        for monomial, weight in sorted(laurent_of(_real(arg), self.inverses).items()):
            power, scale = (int(weight), Fraction(1)) if weight.denominator == 1 else (1, weight)
            text = "*".join(f"{name}^{count}" if count != 1 else name for name, count in monomial) or "1"
            base = f"e^{text}" if scale == 1 else f"e^{scale}*{text}"
            inverse = self.inverse_of(base)
            self.inverses[inverse] = base
            self.arguments[base] = real_of({monomial: scale}, self.inverses)
            for _ in range(abs(power)):
                total = real_mul(total, RealVar(base if power > 0 else inverse))
        return total


def _constant(word: Word) -> Extended:
    """What a literal word stands for."""
    element = ELEMENTS.get(word.elem)
    if element is None or element.kind == "bool":
        return bool(word.bits & 1) if element is not None else Undefined()
    if element.kind == "float" and word.bits & (element.sign - 1) >= element.infinity:
        return Undefined() if element.is_nan(word.bits) else Infinite(-1 if word.bits & element.sign else 1)
    return RealConst(Fraction(float_of_word(word.bits, word.elem) if element.kind == "float" else int_of_word(word.bits, word.elem)))


def _real(side: Extended) -> Real:
    """An outcome that is a real term."""
    if isinstance(side, (bool, Infinite, Undefined)):
        raise RuleError(RULE, "a real number is wanted")
    return side


def _rank(side: Extended) -> int:
    return side.sign if isinstance(side, Infinite) else 0


def _sum(left: Extended, right: Extended) -> Extended:
    if isinstance(left, Infinite) and isinstance(right, Infinite):
        return left if left == right else Undefined()
    if isinstance(left, Infinite) or isinstance(right, Infinite):
        return left if isinstance(left, Infinite) else right
    return real_add(_real(left), _real(right))


def _product(left: Extended, right: Extended) -> Extended:
    """A product; of an infinity only with a number whose sign is plain."""
    if not isinstance(left, Infinite) and not isinstance(right, Infinite):
        return real_mul(_real(left), _real(right))
    signs = [_sign(side) for side in (left, right)]
    return Infinite(signs[0] * signs[1]) if 0 not in signs else Undefined()


def _sign(side: Extended) -> int:
    """The sign of an infinity or of a literal; 0 of zero, and of what has no plain sign."""
    if isinstance(side, Infinite):
        return side.sign
    return (side.value > 0) - (side.value < 0) if isinstance(side, RealConst) else 0


def _negative(arg: Extended) -> Extended:
    return Infinite(-arg.sign) if isinstance(arg, Infinite) else real_neg(_real(arg))


_LOGIC: Mapping[str, Callable[..., bool]] = {
    "and_": lambda a, b: a and b,
    "or_": lambda a, b: a or b,
    "xor": lambda a, b: a != b,
    "not_": lambda a: not a,
}
_ARITHMETIC: Mapping[str, Callable[..., Extended]] = {
    "add": _sum,
    "sub": lambda a, b: _sum(a, _negative(b)),
    "mul": _product,
    "neg": _negative,
    "fma": lambda a, b, c: _sum(_product(a, b), c),
}
