"""Numbers and words: literals read into words, words written as text, both exactly.

Takes decimal text, integers or doubles; gives words, and text or doubles back. Must not round a
literal twice: the exact decimal is rounded to the type itself, never by way of a double.
"""

from __future__ import annotations

import re
from struct import pack, unpack

from cachet_verify.core.conversion import integer_range
from cachet_verify.core.element import Element, WordError, find_element
from cachet_verify.core.softfloat import SoftFloat

_DECIMAL = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?)([0-9]+))?", re.ASCII)
_INTEGER = re.compile(r"([+-]?)([0-9]+)", re.ASCII)

_FAR = 400
"""Beyond ten to this power, or its inverse, every float type has only infinity, or only zero."""
_DIGITS = 1100
"""More than the significant decimal digits of any half-way point of any float type (under 800)."""


def word_of_decimal(text: str, elem: str) -> int:
    """The word of a decimal literal: rounded once to nearest even for floats, in range otherwise.

    Floats take `1`, `.5`, `2.50`, `1e-45`, `inf`, `nan`, with a sign or without, and round to an
    infinity when too large. Integers take digits and a sign; `bool` takes `true` and `false`.
    Raises WordError when the text is no literal of the type or an integer is out of its range.
    """
    element = find_element(elem)
    if element.kind == "bool":
        if text not in ("true", "false"):
            raise WordError(f"`{_shown(text)}` is not a bool; write `true` or `false`")
        return int(text == "true")
    return _float_literal(text, element) if element.kind == "float" else _integer_literal(text, element)


def word_of_int(value: int, elem: str) -> int:
    """The word of an integer: rounded once for floats, wrapped for integers, `!= 0` for bool."""
    element = find_element(elem)
    if element.kind == "float":
        return SoftFloat(element).rounded(value < 0, abs(value), 0)
    return int(value != 0) if element.kind == "bool" else value & element.mask


def word_of_float(value: float, elem: str) -> int:
    """The word of a float type nearest to a double, ties to even. Raises WordError otherwise."""
    element = _float_element(elem)
    if value != value:
        return element.nan
    if value in (float("inf"), float("-inf")):
        return element.infinity | (element.sign if value < 0 else 0)
    numerator, denominator = abs(value).as_integer_ratio()
    negative = bool(unpack("<Q", pack("<d", value))[0] >> 63)
    return SoftFloat(element).rounded(negative, numerator, 1 - denominator.bit_length())


def float_of_word(word: int, elem: str) -> float:
    """The value of a word of a float type, as a double; exact. Raises WordError for other types."""
    element = _float_element(elem)
    if element.name == "f64":
        return float(unpack("<d", pack("<Q", word))[0])
    magnitude = word & (element.sign - 1)
    if magnitude >= element.infinity:
        value = float("nan") if magnitude > element.infinity else float("inf")
    else:
        significand, exponent = SoftFloat(element).split(word)
        value = float(significand) * 2.0**exponent
    return -value if word & element.sign else value


def int_of_word(word: int, elem: str) -> int:
    """The integer a word of an integer type or `bool` stands for. Raises WordError for floats."""
    element = find_element(elem)
    if element.kind == "float":
        raise WordError(f"a word of `{elem}` is not an integer")
    return element.integer(word)


def text_of_word(word: int, elem: str) -> str:
    """The word as programs print it.

    A float is the shortest decimal that reads back as its value taken as a double, `3.0`,
    `1.751874327659607`, `-0.0`, or `inf`, `-inf`, `nan`; an integer is bare; a bool is a word.
    """
    element = find_element(elem)
    if element.kind == "bool":
        return "true" if word else "false"
    if element.kind != "float":
        return str(element.integer(word))
    return "nan" if element.is_nan(word) else repr(float_of_word(word, elem))


def _float_element(elem: str) -> Element:
    element = find_element(elem)
    if element.kind != "float":
        raise WordError(f"`{elem}` is not a floating-point type")
    return element


def _shown(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:30]}…"


def _integer_literal(text: str, element: Element) -> int:
    match = _INTEGER.fullmatch(text)
    if match is None:
        raise WordError(f"`{_shown(text)}` is not a literal of `{element.name}`; write an integer, such as `3`")
    low, high = integer_range(element)
    digits = match[2].lstrip("0") or "0"
    value = int(digits) if len(digits) <= 20 else high + 1 - low
    value = -value if match[1] == "-" else value
    if not low <= value <= high:
        raise WordError(f"`{_shown(text)}` does not fit `{element.name}`, which holds {low} to {high}")
    return value & element.mask


def _float_literal(text: str, element: Element) -> int:
    sign = element.sign if text.startswith("-") else 0
    if text.lstrip("+-") in ("inf", "nan") and len(text) <= 4:
        return element.nan if text.endswith("nan") else sign | element.infinity
    match = _DECIMAL.fullmatch(text)
    if match is None or not (match[2] or match[3]):
        raise WordError(f"`{_shown(text)}` is not a literal of `{element.name}`; write a decimal, such as `2.5` or `1e-3`")
    whole, fraction = match[2], match[3] or ""
    digits = (whole + fraction).lstrip("0")
    exponent = _exponent(match[4], match[5]) - len(fraction)
    if not digits or len(digits) + exponent < -_FAR:
        return sign
    if len(digits) + exponent > _FAR:
        return sign | element.infinity
    return sign | _rounded_decimal(digits, exponent, element)


def _exponent(sign: str | None, digits: str | None) -> int:
    """The written power of ten; one of absurd length is cut down to one as far out."""
    if not digits:
        return 0
    digits = digits.lstrip("0") or "0"
    size = int(digits) if len(digits) <= 18 else 10**18
    return -size if sign == "-" else size


def _rounded_decimal(digits: str, exponent: int, element: Element) -> int:
    """The word nearest to `digits * 10**exponent`.

    Digits past the first 1100 only matter as "more than nothing": no half-way point lies strictly
    between a number of 1100 digits and the next one.
    """
    if len(digits) > _DIGITS:
        more = digits[_DIGITS:].strip("0")
        exponent += len(digits) - _DIGITS - 1
        digits = digits[:_DIGITS] + ("1" if more else "0")
    writer = SoftFloat(element)
    if exponent >= 0:
        return writer.rounded(False, int(digits) * 10**exponent, 0)
    return writer.rounded_quotient(False, int(digits), 10**-exponent, 0)
