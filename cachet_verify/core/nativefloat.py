"""Fast f32 and f64 operations through the host's doubles, where that is proved to round once.

Takes words; gives the same words as `softfloat`, an order of magnitude sooner. Must not be used
where the host's doubles are not IEEE 754 binary64 to nearest: `host_is_ieee` says so.

Why each is right, with p = 24, the precision of f32, and doubles of precision 53:

* f32 `mul`: the product of two f32 has 48 bits and an exponent far inside a double's, so the
  double is exact and the cast to f32 is the only rounding.
* f32 `add`, `sub`: where the result is subnormal in f32 the sum is a multiple of 2**-149 and
  exact; elsewhere rounding to 53 >= 2*24 + 2 bits and then to 24 equals rounding once.
* f32 `div`: let M be a half-way point of f32 (at most 25 bits), x / y not M. Then x - M*y is a
  non-zero multiple of the unit of x or of y times the unit of M, so x / y and M differ by more
  than 2**-49 of M, whatever the exponent of M; the double quotient lies on the same side of M.
* f32 `sqrt`: never subnormal, and 53 >= 2*24 + 2.
* f32 `fma`: the product is exact (above). TwoSum gives s and r with s + r = x*y + z exactly, as
  nothing overflows and additions do not underflow. Where r is not 0, s is *rounded to odd*: if
  its last bit is even it is replaced by its neighbour towards r, which is odd. A value of 53 bits
  rounded to odd is on the same side as the exact one of every number of at most 51 bits, so of
  every f32 and every half-way point; the cast to f32 rounds once. Casting s itself would not do.
* f64 operations are the host's own; `fma` is not among them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, nextafter, sqrt
from struct import Struct
from types import MappingProxyType

from cachet_verify.core.element import ELEMENTS

WordFunction = Callable[..., int]

_words1, _words2, _words3 = (Struct(f"<{n}I").pack for n in (1, 2, 3))
_floats1, _floats2, _floats3 = (Struct(f"<{n}f").unpack for n in (1, 2, 3))
_single = Struct("<f").pack
_word = Struct("<I").unpack
_longs1, _longs2 = (Struct(f"<{n}Q").pack for n in (1, 2))
_doubles1, _doubles2 = (Struct(f"<{n}d").unpack for n in (1, 2))
_double = Struct("<d").pack
_long = Struct("<Q").unpack

_F32, _F64 = ELEMENTS["f32"], ELEMENTS["f64"]
_NAN32, _INFINITY32, _SIGN32 = _F32.nan, _F32.infinity, _F32.sign
_NAN64, _INFINITY64, _SIGN64 = _F64.nan, _F64.infinity, _F64.sign


def _round_to_f32(value: float) -> int:
    """The f32 word nearest to a double."""
    if value != value:
        return _NAN32
    try:
        return int(_word(_single(value))[0])
    except OverflowError:
        return _INFINITY32 if value > 0 else _INFINITY32 | _SIGN32


def _add32(a: int, b: int) -> int:
    x, y = _floats2(_words2(a, b))
    return _round_to_f32(x + y)


def _sub32(a: int, b: int) -> int:
    x, y = _floats2(_words2(a, b))
    return _round_to_f32(x - y)


def _mul32(a: int, b: int) -> int:
    x, y = _floats2(_words2(a, b))
    return _round_to_f32(x * y)


def _div32(a: int, b: int) -> int:
    x, y = _floats2(_words2(a, b))
    if y == 0.0:
        return _NAN32 if x != x or x == 0.0 else (a ^ b) & _SIGN32 | _INFINITY32
    return _round_to_f32(x / y)


def _sqrt32(a: int) -> int:
    (x,) = _floats1(_words1(a))
    return _round_to_f32(sqrt(x)) if x >= 0.0 else _NAN32


def _fma32(a: int, b: int, c: int) -> int:
    x, y, z = _floats3(_words3(a, b, c))
    product = x * y
    total = product + z
    part = total - product
    rest = (product - (total - part)) + (z - part)
    if rest:  # a NaN too, whenever the total is not finite
        if rest != rest:
            return _round_to_f32(total)
        if not _long(_double(total))[0] & 1:
            total = nextafter(total, inf if rest > 0.0 else -inf)
    try:
        return int(_word(_single(total))[0])
    except OverflowError:
        return _INFINITY32 if total > 0 else _INFINITY32 | _SIGN32


def _word_of_double(value: float) -> int:
    return int(_long(_double(value))[0]) if value == value else _NAN64


def _add64(a: int, b: int) -> int:
    x, y = _doubles2(_longs2(a, b))
    return _word_of_double(x + y)


def _sub64(a: int, b: int) -> int:
    x, y = _doubles2(_longs2(a, b))
    return _word_of_double(x - y)


def _mul64(a: int, b: int) -> int:
    x, y = _doubles2(_longs2(a, b))
    return _word_of_double(x * y)


def _div64(a: int, b: int) -> int:
    x, y = _doubles2(_longs2(a, b))
    if y == 0.0:
        return _NAN64 if x != x or x == 0.0 else (a ^ b) & _SIGN64 | _INFINITY64
    return _word_of_double(x / y)


def _sqrt64(a: int) -> int:
    (x,) = _doubles1(_longs1(a))
    return _word_of_double(sqrt(x)) if x >= 0.0 else _NAN64


NATIVE: Mapping[tuple[str, str], WordFunction] = MappingProxyType(
    {
        ("add", "f32"): _add32,
        ("sub", "f32"): _sub32,
        ("mul", "f32"): _mul32,
        ("div", "f32"): _div32,
        ("sqrt", "f32"): _sqrt32,
        ("fma", "f32"): _fma32,
        ("add", "f64"): _add64,
        ("sub", "f64"): _sub64,
        ("mul", "f64"): _mul64,
        ("div", "f64"): _div64,
        ("sqrt", "f64"): _sqrt64,
    }
)
"""The operations of IEEE arithmetic that have a fast path, by name and element type."""


def flushing(native: WordFunction, soft: WordFunction, name: str) -> WordFunction:
    """The operation of an arithmetic that flushes, from IEEE's fast one and the exact one.

    Operands are flushed first. Where the IEEE result is above the least normal number (or a
    NaN), the unrounded one was not tiny and both arithmetics agree; the rest is left to `soft`.
    """
    element = ELEMENTS[name]
    infinity, sign, magnitude, least = element.infinity, element.sign, element.sign - 1, element.hidden

    def function(*words: int) -> int:
        result = native(*[word if word & infinity else word & sign for word in words])
        return result if result & magnitude > least else soft(*words)

    return function


def host_is_ieee() -> bool:
    """Whether the host's doubles, and its cast to single, round to nearest and keep subnormals.

    A library built for speed may have switched the processor to flushing; this notices.
    """
    tiny, half = float.fromhex("0x1p-1074"), float.fromhex("0x1p-53")
    keeps = tiny + 0.0 != 0.0 and float.fromhex("0x1p-1022") * 0.5 != 0.0
    rounds = 1.0 + half == 1.0 and 1.0 + 3 * half == 1.0 + 4 * half and -1.0 - half == -1.0
    return keeps and rounds and _round_to_f32(float.fromhex("0x1p-149")) == 1
