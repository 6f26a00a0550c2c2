"""Values at which the two sides of a law differ, found by trying: exact words, or real numbers to 80 digits.

Takes a law's variables and sides; gives the first values that tell the sides apart, or nothing. Trying is
all it does: that nothing is found shows nothing. What is found was computed, so that it is a counterexample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, InvalidOperation
from random import Random

from cachet_verify.core.element import ELEMENTS, WordError
from cachet_verify.core.ir import Load, Op, Value, Word, values
from cachet_verify.core.numeral import float_of_word, int_of_word, word_of_float
from cachet_verify.core.word import function_of, text_of_word

TRIALS = 400
"""How many choices of values are tried."""
_DIGITS = Context(prec=80, traps=[], Emin=-(10**9), Emax=10**9)
_TOLERANCE = Decimal("1e-50")
_SMALL = ("-3", "-2", "-1.5", "-1", "-0.5", "0", "0.25", "1", "2", "3", "7", "40", "-40")


@dataclass(frozen=True, slots=True)
class Point:
    """A variable's parts, by name and element type, and its further values, each the words of its parts."""

    fields: tuple[tuple[str, str], ...]
    others: tuple[tuple[Word, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """Values of the variables as texts, which part of the sides differs, and what each side gives there."""

    values: Mapping[str, str]
    part: int
    left: str
    right: str


def find_difference(domain: str, variables: Sequence[Point], left: Sequence[Value], right: Sequence[Value]) -> Difference | None:
    """The first difference among the values that are tried."""
    random = Random(20)
    reading = _over_words if domain == "words" else _over_reals
    for trial in range(TRIALS):
        found = reading(random, trial, variables, left, right)
        if found is not None:
            return found
    return None


def can_be_tried(domain: str, sides: Sequence[Value]) -> bool:
    """Whether every operation of the sides is one that is computed here, so that trying says something."""
    known = _has_word if domain == "words" else _has_number
    return all(isinstance(part, (Load, Word)) or (isinstance(part, Op) and known(part)) for side in sides for part in values(side))


# --- words ---


def _has_word(value: Op) -> bool:
    try:
        function_of(value.name, value.elem)
    except (WordError, KeyError):
        return False
    return True


def _over_words(random: Random, _trial: int, variables: Sequence[Point], left: Sequence[Value], right: Sequence[Value]) -> Difference | None:
    at = {name: (random.choice(tuple(_words(elem, random))), elem) for variable in variables for name, elem in variable.fields}
    for part, (ours, theirs) in enumerate(zip(left, right, strict=True), 1):
        first, second = _word(ours, at), _word(theirs, at)
        if first is not None and second is not None and first != second:
            elem = ours.elem if isinstance(ours, (Op, Word)) else at[ours.buffer][1] if isinstance(ours, Load) else ""
            shown = {name: _shown(word, kind) for name, (word, kind) in at.items()}
            return Difference(shown, part, _shown(first, elem), _shown(second, elem))
    return None


def _words(elem: str, random: Random) -> Iterator[int]:
    """Words that tell functions apart: the ends of the range, both zeros, infinities, NaNs, numbers whose sums round, and any."""
    element = ELEMENTS[elem]
    yield from (0, 1, element.mask, element.sign, element.sign - 1 & element.mask)
    yield from (random.getrandbits(element.width) for _ in range(2))
    if element.kind == "float":
        yield from (element.infinity, element.sign | element.infinity, element.nan, element.nan + 1, element.sign | element.nan)
        yield from (word_of_float(number, elem) for number in (1.0, -1.0, 1.5, 0.1, 3.0, 1024.0, -1024.0, 2.0**24, -(2.0**24)))


def _word(value: Value, at: Mapping[str, tuple[int, str]]) -> int | None:
    """The word of a value; None where it has none."""
    if isinstance(value, Load):
        return at[value.buffer][0]
    if isinstance(value, Word):
        return value.bits
    if not isinstance(value, Op):
        return None
    args = [_word(arg, at) for arg in value.args]
    if None in args:
        return None
    try:
        return function_of(value.name, value.elem)(*args)
    except (WordError, KeyError):
        return None


def _shown(word: int, elem: str) -> str:
    return f"{text_of_word(word, elem)} (0x{word:0{ELEMENTS[elem].width // 4 or 1}x})"


# --- real numbers ---


def _over_reals(random: Random, trial: int, variables: Sequence[Point], left: Sequence[Value], right: Sequence[Value]) -> Difference | None:
    at: dict[str, Decimal] = {}
    for variable in variables:
        if variable.others and random.random() < 0.3:
            words = random.choice(variable.others)
            at |= {name: _decimal(word) for (name, _), word in zip(variable.fields, words, strict=True)}
        else:
            at |= {name: _number(random, trial) for name, _ in variable.fields}
    return difference_at(at, left, right)


def difference_at(at: Mapping[str, Decimal], left: Sequence[Value], right: Sequence[Value]) -> Difference | None:
    """The first part in which the sides differ at values of the variables."""
    for part, (ours, theirs) in enumerate(zip(left, right, strict=True), 1):
        try:
            first, second = _real(ours, at), _real(theirs, at)
        except (InvalidOperation, KeyError):
            continue
        if isinstance(first, Decimal) and isinstance(second, Decimal) and _differ(first, second):
            return Difference({name: str(value) for name, value in at.items()}, part, _digits(first), _digits(second))
    return None


def _number(random: Random, trial: int) -> Decimal:
    """A small number that says something to a reader; in the last quarter of the trials, one that no law was written around."""
    if trial < TRIALS * 3 // 4:
        return Decimal(random.choice(_SMALL))
    return _DIGITS.divide(Decimal(random.randrange(-(2**12), 2**12)), Decimal(256))


def _differ(first: Decimal, second: Decimal) -> bool:
    """Whether two numbers differ by more than what computing them can have lost; one without a value differs from all others."""
    if first.is_nan() or second.is_nan():
        return True
    if first.is_infinite() or second.is_infinite():
        return first != second
    return abs(_DIGITS.subtract(first, second)) > _TOLERANCE * max(Decimal(1), abs(first), abs(second))


def _digits(number: Decimal) -> str:
    return "no value" if number.is_nan() else f"{number:.30g}" if number.is_finite() else str(number).lower()


def _decimal(word: Word) -> Decimal:
    """The number of a literal."""
    number = float_of_word(word.bits, word.elem) if ELEMENTS[word.elem].kind == "float" else int_of_word(word.bits, word.elem)
    return _DIGITS.add(Decimal(number), Decimal(0))


def _real(value: Value, at: Mapping[str, Decimal]) -> Decimal | bool:
    """The real number of a value, a NaN where it has none."""
    if isinstance(value, Load):
        return at[value.buffer]
    if isinstance(value, Word):
        return bool(value.bits & 1) if value.elem == "bool" else _decimal(value)
    if not isinstance(value, Op):
        raise KeyError(type(value).__name__)
    name = value.name.partition(" ")[0]
    if name == "select":
        return _real(value.args[1 if _real(value.args[0], at) else 2], at)
    args = [_real(arg, at) for arg in value.args]
    if any(isinstance(arg, Decimal) and arg.is_nan() for arg in args):
        return Decimal("nan")
    return _OPERATIONS[name](*args)


def _has_number(value: Op) -> bool:
    name = value.name.partition(" ")[0]
    return name == "select" or name in _OPERATIONS


def _product(left: Decimal, right: Decimal) -> Decimal:
    return _DIGITS.multiply(left, right)


_OPERATIONS: Mapping[str, Callable[..., Decimal | bool]] = {
    "add": _DIGITS.add,
    "sub": _DIGITS.subtract,
    "mul": _product,
    "div": lambda a, b: Decimal("nan") if b == 0 else _DIGITS.divide(a, b),
    "fma": lambda a, b, c: _DIGITS.add(_product(a, b), c),
    "neg": _DIGITS.minus,
    "abs": _DIGITS.abs,
    "max": max,
    "min": min,
    "exp": _DIGITS.exp,
    "log": _DIGITS.ln,
    "sqrt": _DIGITS.sqrt,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "eq": lambda a, b: a == b,
    "and_": lambda a, b: a and b,
    "or_": lambda a, b: a or b,
    "xor": lambda a, b: a != b,
    "not_": lambda a: not a,
}
