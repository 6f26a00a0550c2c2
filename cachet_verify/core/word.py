"""Bit-exact arithmetic on words: the table of operations and the functions behind their names.

Takes an operation's name, element types and an arithmetic; gives a function from words to words,
a word being the unsigned integer of its bits. Must not give a word that differs from one exact
operation rounded once; the choices IEEE 754 leaves open are listed at `OPERATIONS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from cachet_verify.core.conversion import build_conversion
from cachet_verify.core.element import (
    ELEMENTS,
    FLUSH,
    IEEE,
    Arithmetic,
    DivisionByZero,
    Element,
    Kind,
    WordError,
    find_element,
)
from cachet_verify.core.integer import build_integer
from cachet_verify.core.nativefloat import NATIVE, flushing, host_is_ieee
from cachet_verify.core.numeral import float_of_word, int_of_word, text_of_word, word_of_decimal, word_of_float, word_of_int
from cachet_verify.core.softfloat import SoftFloat

__all__ = [
    "ELEMENTS",
    "FLUSH",
    "IEEE",
    "OPERATIONS",
    "Arithmetic",
    "DivisionByZero",
    "Element",
    "Operation",
    "WordError",
    "WordFunction",
    "find_element",
    "float_of_word",
    "function_of",
    "int_of_word",
    "text_of_word",
    "word_of_decimal",
    "word_of_float",
    "word_of_int",
]

WordFunction = Callable[..., int]

_INTEGER: tuple[Kind, ...] = ("signed", "unsigned")
_FLOAT: tuple[Kind, ...] = ("float",)
_NUMBER: tuple[Kind, ...] = (*_FLOAT, *_INTEGER)
_BITS: tuple[Kind, ...] = (*_INTEGER, "bool")
_ANY: tuple[Kind, ...] = (*_NUMBER, "bool")

_CARRIER = {16: "u32", 32: "u32", 64: "i64"}
"""The integer type that holds the bits of a float, by the float's width."""


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation on words: its name, the operands it takes and what it means.

    `types` is how a use names its element types: one type, or `SOURCE TARGET` for a conversion.
    In `operands` and `result`, `T` stands for that type, `U` for a conversion's target, `bits`
    for the integer type that carries a float's bits; any other entry is itself a type.
    """

    name: str
    operands: tuple[str, ...]
    result: str
    kinds: tuple[Kind, ...]
    meaning: str

    @property
    def arity(self) -> int:
        """How many words it takes."""
        return len(self.operands)

    def signature(self, types: str) -> tuple[tuple[str, ...], str]:
        """The element types of the operands and of the result. Raises WordError as `function`."""
        source, target = self._elements(types)
        names = {"T": source.name, "U": target.name, "bits": _CARRIER.get(source.width, "u32")}
        return tuple(names.get(entry, entry) for entry in self.operands), names.get(self.result, self.result)

    def function(self, arithmetic: Arithmetic, types: str, *words: int) -> int:
        """The word of the result.

        Raises WordError when a type is unknown or the operation is not defined on it, or the
        number of words is wrong; DivisionByZero, which is one, for an integer divisor of 0.
        """
        if len(words) != self.arity:
            raise WordError(f"`{self.name}` takes {self.arity} words, not {len(words)}")
        return _built(self.name, types, arithmetic.flushes)(*words)

    def build(self, types: str, flushes: bool) -> WordFunction:
        """The fastest function from words to words that computes it; not cached."""
        source, target = self._elements(types)
        if self.name == "select":
            return _select
        if self.name in ("exp", "log"):
            return _first
        if self.name == "convert":
            return build_conversion(FLUSH if flushes else IEEE, source, target)
        if self.name in ("from_bits", "to_bits"):
            return _low_bits(source.mask)
        if source.kind == "float":
            return _build_float(self.name, source, flushes)
        return build_integer(self.name, source)

    def _elements(self, types: str) -> tuple[Element, Element]:
        names = types.split(" ")
        if len(names) != (2 if "U" in self.result else 1):
            raise WordError(f"`{self.name}` does not take the types `{types}`")
        source, target = find_element(names[0]), find_element(names[-1])
        if source.kind not in self.kinds:
            raise WordError(f"`{self.name}` is not defined on `{source.name}`")
        return source, target


def _select(condition: int, a: int, b: int) -> int:
    return a if condition else b


def _first(a: int, _argument: int) -> int:
    return a


def _low_bits(mask: int) -> WordFunction:
    def function(word: int) -> int:
        return word & mask

    return function


def _build_float(name: str, element: Element, flushes: bool) -> WordFunction:
    """The fast function where the host allows one, the exact one elsewhere."""
    soft: WordFunction = getattr(SoftFloat(element, flushes), name)
    native = NATIVE.get((name, element.name))
    if native is None or not host_is_ieee():
        return soft
    return flushing(native, soft, element.name) if flushes else native


def _table(*operations: Operation) -> Mapping[str, Operation]:
    return MappingProxyType({operation.name: operation for operation in operations})


_TT, _TTT = ("T", "T"), ("T", "T", "T")

OPERATIONS: Mapping[str, Operation] = _table(
    Operation("add", _TT, "T", _NUMBER, "a + b; integers wrap"),
    Operation("sub", _TT, "T", _NUMBER, "a - b; integers wrap"),
    Operation("mul", _TT, "T", _NUMBER, "a * b; integers wrap"),
    Operation("div", _TT, "T", _NUMBER, "a / b; for integers the floor of the quotient, wrapped; a zero divisor is DivisionByZero"),
    Operation("rem", _TT, "T", _INTEGER, "a - b * floor (a / b): zero or of the sign of b; a zero divisor is DivisionByZero"),
    Operation("fma", _TTT, "T", _NUMBER, "a * b + c with one rounding; integers wrap"),
    Operation("neg", ("T",), "T", _NUMBER, "-a; for floats the sign bit turned, of a NaN or a subnormal too; integers wrap"),
    Operation("abs", ("T",), "T", _NUMBER, "|a|; for floats the sign bit cleared, of a NaN or a subnormal too; integers wrap"),
    Operation("sqrt", ("T",), "T", _FLOAT, "the square root; NaN below zero, -0.0 of -0.0"),
    Operation("max", _TT, "T", _ANY, "the larger; for floats a NaN wins, as the canonical one, and -0.0 < +0.0"),
    Operation("min", _TT, "T", _ANY, "the smaller; for floats a NaN wins, as the canonical one, and -0.0 < +0.0"),
    Operation("and_", _TT, "T", _BITS, "bitwise and"),
    Operation("or_", _TT, "T", _BITS, "bitwise or"),
    Operation("xor", _TT, "T", _BITS, "bitwise exclusive or"),
    Operation("not_", ("T",), "T", _BITS, "bitwise complement"),
    Operation("shl", _TT, "T", _INTEGER, "the low bits of a * 2**n; n is read unsigned, and from the width on the result is 0"),
    Operation("shr", _TT, "T", _INTEGER, "floor (a / 2**n): the sign is copied in; n is read unsigned, and may pass the width"),
    Operation("eq", _TT, "bool", _ANY, "equal values: the two zeros are, a NaN equals nothing"),
    Operation("lt", _TT, "bool", _ANY, "a less than b, as values; false with a NaN"),
    Operation("le", _TT, "bool", _ANY, "a at most b, as values; false with a NaN"),
    Operation("select", ("bool", "T", "T"), "T", _ANY, "b where the condition is true, else c; the word unchanged"),
    Operation("exp", _TT, "T", _FLOAT, "a, which the standard library computes for e to the power b; over the reals, that power"),
    Operation("log", _TT, "T", _FLOAT, "a, which the standard library computes for the logarithm of b to the base e; over the reals, that logarithm"),
    Operation("convert", ("T",), "U", _ANY, "the value in another type, rounded once; float to integer truncates, saturates, NaN to 0"),
    Operation("from_bits", ("bits",), "T", _FLOAT, "the float of these bits, the low ones where it is narrower; never flushed"),
    Operation("to_bits", ("T",), "bits", _FLOAT, "the bits of a float, zero-extended where it is narrower; never flushed"),
)
"""Every operation by name. Where IEEE 754 or the language leaves a choice, it is this one:

* a NaN result is the positive quiet NaN without payload, except of `neg`, `abs`, `select`,
  `from_bits` and a conversion to the same type, which move bits;
* flushing concerns arithmetic, `max`, `min`, comparisons and conversions between types, and
  is as `Arithmetic` says; within an `fma` the product is not flushed;
* `fma` on integers is the wrapped a * b + c, so that it serves as their `mul_add`.
"""


def function_of(name: str, elem: str, arithmetic: Arithmetic = IEEE) -> WordFunction:
    """The function from words to words of an operation as programs name it; `elem` is its result's type.

    An operation whose result has its operands' type goes by its name alone, `fma`. The others
    carry their types: `lt f32` and `convert f32 bool` to `bool`, `from_bits f16`, `to_bits f16`.
    The function does not check how many words it gets, nor their range. Raises WordError for an
    unknown operation or type, an operation not defined on the type, and a wrong `elem`.
    """
    return _resolved(name, elem, arithmetic.flushes)


@cache
def _resolved(name: str, elem: str, flushes: bool) -> WordFunction:
    head, _, types = name.partition(" ")
    operation = OPERATIONS.get(head)
    if operation is None:
        raise WordError(f"`{head}` is not an operation on words")
    if not types and operation.result != "T":
        raise WordError(f"`{head}` needs its types, as `{head} {'f32 f64' if head == 'convert' else 'f32'}`")
    types = types or elem
    result = operation.signature(types)[1]
    if result != elem:
        raise WordError(f"`{name}` gives `{result}`, not `{elem}`")
    return _built(head, types, flushes)


@cache
def _built(head: str, types: str, flushes: bool) -> WordFunction:
    return OPERATIONS[head].build(types, flushes)
