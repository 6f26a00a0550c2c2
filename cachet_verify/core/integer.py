"""Operations on words of integer types and of `bool`, wrapping in two's complement.

Takes words; gives words. Must not know about floating point.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from cachet_verify.core.element import DivisionByZero, Element

WordFunction = Callable[..., int]


def _wrapping(operation: Callable[..., int], element: Element) -> WordFunction:
    """An operation on the unsigned patterns, whose low bits do not depend on the high ones."""
    mask = element.mask

    def function(*words: int) -> int:
        return operation(*words) & mask

    return function


def _on_values(operation: Callable[..., int], element: Element) -> WordFunction:
    """An operation on the integers the words stand for, its result wrapped."""
    mask, sign = element.mask, element.sign

    def function(*words: int) -> int:
        return operation(*[word - ((word & sign) << 1) for word in words]) & mask

    return function


def _checked_divisor(b: int) -> int:
    if not b:
        raise DivisionByZero("integer division by zero")
    return b


def _shift_left(element: Element) -> WordFunction:
    mask, width = element.mask, element.width

    def function(a: int, count: int) -> int:
        return a << count & mask if count < width else 0

    return function


def _shift_right(element: Element) -> WordFunction:
    mask, sign, width = element.mask, element.sign, element.width

    def function(a: int, count: int) -> int:
        return a - ((a & sign) << 1) >> min(count, width) & mask

    return function


_WRAPPING: Mapping[str, Callable[..., int]] = MappingProxyType(
    {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "fma": lambda a, b, c: a * b + c,
        "neg": lambda a: -a,
        "and_": lambda a, b: a & b,
        "or_": lambda a, b: a | b,
        "xor": lambda a, b: a ^ b,
        "not_": lambda a: ~a,
    }
)

_ON_VALUES: Mapping[str, Callable[..., int]] = MappingProxyType(
    {
        "div": lambda a, b: a // _checked_divisor(b),
        "rem": lambda a, b: a % _checked_divisor(b),
        "abs": abs,
        "max": max,
        "min": min,
        "eq": lambda a, b: int(a == b),
        "lt": lambda a, b: int(a < b),
        "le": lambda a, b: int(a <= b),
    }
)


def build_integer(name: str, element: Element) -> WordFunction:
    """The function of an operation on an integer type or `bool`; KeyError if there is none."""
    if name == "shl":
        return _shift_left(element)
    if name == "shr":
        return _shift_right(element)
    if name in _WRAPPING:
        return _wrapping(_WRAPPING[name], element)
    return _on_values(_ON_VALUES[name], element)
