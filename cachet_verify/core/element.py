"""Element types and arithmetics: what a word's bits stand for, and how operations on it round.

Takes nothing; gives the table `ELEMENTS` and the arithmetics `IEEE` and `FLUSH`.
Must not compute with words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

Kind = Literal["float", "signed", "unsigned", "bool"]


class WordError(ValueError):
    """An operation on words that has no answer: an unknown type, a zero divisor, a bad literal."""


class DivisionByZero(WordError):
    """An integer division or remainder whose divisor is zero."""


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """A named way to compute with floating-point words.

    Every arithmetic rounds to nearest, ties to even, and gives one canonical NaN per type. One
    that `flushes` also replaces each subnormal operand by the zero of its sign before computing,
    and each tiny result by the zero of its sign. A result is tiny when, rounded to the type's
    precision with an unbounded exponent, it lies strictly between the two smallest normal numbers
    (tininess after rounding, IEEE 754-2019 7.5). The name is the device's that computes so, and
    identifies the arithmetic in claims; two that differ in name only compute the same words.
    """

    name: str
    flushes: bool = False


IEEE = Arithmetic("ieee")
FLUSH = Arithmetic("flush", flushes=True)


@dataclass(frozen=True, slots=True)
class Element:
    """A type of words `width` bits wide; a word is the unsigned integer of its bits.

    For floats, `precision` counts significant bits with the leading one, and `least` is the
    exponent of the unit of a subnormal: the smallest positive value is `2 ** least`. For
    integers both are 0. The fields below them follow from the three.
    """

    name: str
    kind: Kind
    width: int
    precision: int = 0
    least: int = 0
    mask: int = field(init=False)
    sign: int = field(init=False)
    """The sign bit alone; 0 where the type has none."""
    infinity: int = field(init=False)
    """The word of plus infinity, larger than the magnitude of every finite word; floats only."""
    hidden: int = field(init=False)
    """The leading bit of a normal significand; also the word of the smallest normal number."""
    nan: int = field(init=False)
    """The canonical NaN: quiet, positive, no payload; floats only."""

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "mask", (1 << self.width) - 1)
        put(self, "sign", 1 << (self.width - 1) if self.kind in ("float", "signed") else 0)
        is_float = self.kind == "float"
        hidden = 1 << (self.precision - 1) if is_float else 0
        infinity = self.sign - hidden if is_float else 0
        put(self, "hidden", hidden)
        put(self, "infinity", infinity)
        put(self, "nan", infinity | hidden >> 1)

    def integer(self, word: int) -> int:
        """The integer a word of an integer type (or `bool`) stands for."""
        return word - ((word & self.sign) << 1)

    def is_nan(self, word: int) -> bool:
        """Whether a word is any NaN; False for types without one."""
        return self.kind == "float" and word & (self.sign - 1) > self.infinity


def _float(name: str, width: int, precision: int) -> Element:
    largest = (1 << (width - precision - 1)) - 1
    return Element(name, "float", width, precision, least=2 - largest - precision)


ELEMENTS: Mapping[str, Element] = MappingProxyType(
    {
        element.name: element
        for element in (
            _float("f16", 16, 11),
            _float("bf16", 16, 8),
            _float("f32", 32, 24),
            _float("f64", 64, 53),
            Element("i8", "signed", 8),
            Element("i32", "signed", 32),
            Element("i64", "signed", 64),
            Element("u32", "unsigned", 32),
            Element("bool", "bool", 1),
        )
    }
)


def find_element(name: str) -> Element:
    """The element type of that name. Raises WordError for a name that is none."""
    element = ELEMENTS.get(name)
    if element is None:
        raise WordError(f"`{name}` is not an element type; these are: {', '.join(ELEMENTS)}")
    return element
