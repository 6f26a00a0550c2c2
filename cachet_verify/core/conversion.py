"""Conversions of words between element types, each with one rounding.

Takes words; gives words. Must not touch the bits of a conversion from a type to itself.
"""

from __future__ import annotations

from collections.abc import Callable

from cachet_verify.core.element import Arithmetic, Element
from cachet_verify.core.softfloat import SoftFloat

WordFunction = Callable[[int], int]


def build_conversion(arithmetic: Arithmetic, source: Element, target: Element) -> WordFunction:
    """The function that converts words of `source` to words of `target`.

    * to the same type: the word itself, a subnormal or a NaN payload included;
    * float to float: rounded to nearest even, every NaN to the canonical one, operand and result
      flushed where the arithmetic flushes;
    * integer or bool to float: rounded to nearest even;
    * float to integer: truncated towards zero, then saturated to the range; NaN gives 0;
    * integer to integer: the low bits of the value, sign-extended from a signed source;
    * to bool: 1 where the value is not zero (so for NaN), as the arithmetic sees it.
    """
    if source.name == target.name:
        return _same
    if source.kind == "float":
        reader = SoftFloat(source, arithmetic.flushes)
        if target.kind == "float":
            return _float_to_float(reader, SoftFloat(target, arithmetic.flushes))
        return _float_to_bool(reader) if target.kind == "bool" else _float_to_integer(reader, target)
    if target.kind == "float":
        return _integer_to_float(source, SoftFloat(target, arithmetic.flushes))
    if target.kind == "bool":
        return _integer_to_bool
    return _integer_to_integer(source, target)


def _same(word: int) -> int:
    return word


def _integer_to_bool(word: int) -> int:
    return int(word != 0)


def _float_to_float(reader: SoftFloat, writer: SoftFloat) -> WordFunction:
    sign, infinity, nan = reader.element.sign, writer.element.infinity, writer.element.nan

    def function(word: int) -> int:
        negative = bool(word & sign)
        if reader.is_finite(word):
            return writer.rounded(negative, *reader.split(word))
        if reader.element.is_nan(word):
            return nan
        return infinity | writer.element.sign if negative else infinity

    return function


def _float_to_bool(reader: SoftFloat) -> WordFunction:
    def function(word: int) -> int:
        return int(not reader.is_finite(word) or reader.split(word)[0] != 0)

    return function


def _float_to_integer(reader: SoftFloat, target: Element) -> WordFunction:
    low, high = integer_range(target)

    def function(word: int) -> int:
        if reader.element.is_nan(word):
            return 0
        negative = bool(word & reader.element.sign)
        if not reader.is_finite(word):
            return (low if negative else high) & target.mask
        m, e = reader.split(word)
        whole = m << e if e >= 0 else m >> -e
        return max(low, min(high, -whole if negative else whole)) & target.mask

    return function


def _integer_to_float(source: Element, writer: SoftFloat) -> WordFunction:
    def function(word: int) -> int:
        value = source.integer(word)
        return writer.rounded(value < 0, abs(value), 0)

    return function


def _integer_to_integer(source: Element, target: Element) -> WordFunction:
    def function(word: int) -> int:
        return source.integer(word) & target.mask

    return function


def integer_range(element: Element) -> tuple[int, int]:
    """The least and the greatest integer of an integer type."""
    return (-element.sign, element.sign - 1) if element.kind == "signed" else (0, element.mask)
