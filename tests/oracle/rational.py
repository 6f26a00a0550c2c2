"""A second meaning of floating-point words, in exact rationals; shares no code with the package.

Takes words and a format's name; gives the word a correctly rounded operation must return.
Must not import `cachet_verify`.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, nan
from typing import TypeGuard

EXPONENT_BITS = {"f16": 5, "bf16": 8, "f32": 8, "f64": 11}
FRACTION_BITS = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}


def power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


class Format:
    """One format; with `flush`, subnormal operands and tiny results become zeros."""

    def __init__(self, name: str, flush: bool = False) -> None:
        self.fraction_bits = FRACTION_BITS[name]
        self.sign_shift = EXPONENT_BITS[name] + self.fraction_bits
        self.sign_bit = 1 << self.sign_shift
        self.bias = (1 << EXPONENT_BITS[name] - 1) - 1
        self.first = 1 - self.bias
        self.flush = flush
        self.inf_word = (1 << self.sign_shift) - (1 << self.fraction_bits)
        self.nan_word = self.inf_word + (1 << self.fraction_bits - 1)

    def value(self, word: int) -> tuple[int, Fraction | float]:
        """(sign bit, magnitude): a Fraction, or `inf`, or `nan`."""
        sign, rest = divmod(word, self.sign_bit)
        field, fraction = divmod(rest, 2**self.fraction_bits)
        part = Fraction(fraction, 2**self.fraction_bits)
        if field == 2 * self.bias + 1:
            return sign, nan if fraction else inf
        if field == 0:
            return sign, Fraction(0) if self.flush else part * power(self.first)
        return sign, (1 + part) * power(field - self.bias)

    def round_to(self, size: Fraction, exponent: int) -> Fraction:
        """The multiple of the unit at `exponent` nearest to `size`, ties to even."""
        unit = power(exponent - self.fraction_bits)
        return round(size / unit) * unit

    def word(self, sign: int, size: Fraction) -> int:
        """The word nearest to a value given as sign and magnitude."""
        base = sign * self.sign_bit
        if size == 0:
            return base
        exponent = floor_log2(size)
        if self.flush and self.round_to(size, exponent) < power(self.first):
            return base
        near = self.round_to(size, max(exponent, self.first))
        if near >= power(self.bias + 1):
            return base + self.inf_word
        if near < power(self.first):
            return base + int(near / power(self.first - self.fraction_bits))
        exponent = floor_log2(near)
        fraction = (near / power(exponent) - 1) * 2**self.fraction_bits
        return base + ((exponent + self.bias) << self.fraction_bits) + int(fraction)

    def from_real(self, value: Fraction, zero_sign: int = 0) -> int:
        return self.word(zero_sign if value == 0 else int(value < 0), abs(value))

    def special(self, value: float) -> int:
        """The word of an infinity, a zero or a NaN given as a double."""
        sign = self.sign_bit if str(value).startswith("-") else 0
        if value != value:
            return self.nan_word
        return sign + (self.inf_word if value in (inf, -inf) else 0)

    def fma(self, a: int, b: int, c: int) -> int:
        (s, x), (t, y), (u, z) = map(self.value, (a, b, c))
        product_sign = s ^ t
        if is_real(x) and is_real(y) and is_real(z):
            total = signed(product_sign, x * y) + signed(u, z)
            both_zero = x * y == 0 and z == 0
            return self.from_real(total, zero_sign=product_sign & u if both_zero else 0)
        return self.special(stand_in(s, x) * stand_in(t, y) + stand_in(u, z))

    def add(self, a: int, b: int) -> int:
        (s, x), (t, y) = self.value(a), self.value(b)
        if is_real(x) and is_real(y):
            return self.from_real(signed(s, x) + signed(t, y), zero_sign=s & t if x == y == 0 else 0)
        return self.special(stand_in(s, x) + stand_in(t, y))

    def sub(self, a: int, b: int) -> int:
        return self.add(a, (b + self.sign_bit) % (2 * self.sign_bit))

    def mul(self, a: int, b: int) -> int:
        (s, x), (t, y) = self.value(a), self.value(b)
        if is_real(x) and is_real(y):
            return self.word(s ^ t, x * y)
        return self.special(stand_in(s, x) * stand_in(t, y))

    def div(self, a: int, b: int) -> int:
        (s, x), (t, y) = self.value(a), self.value(b)
        if x != x or y != y or (x == 0 == y) or (x == y == inf):
            return self.nan_word
        if not is_real(x) or y == 0:
            return (s ^ t) * self.sign_bit + self.inf_word
        return self.word(s ^ t, x / y if is_real(y) else Fraction(0))

    def sqrt(self, a: int) -> int:
        """By bisection over words, then by squaring the half-way point above the last one."""
        s, x = self.value(a)
        if x == 0:
            return self.word(s, Fraction(0))
        if x != x or s:
            return self.nan_word
        if x == inf:
            return a
        low, high = 0, self.inf_word
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.value(middle)[1] ** 2 <= x else (low, middle)
        return high if self.half_way(low) ** 2 < x else low

    def half_way(self, word: int) -> Fraction:
        """The middle of a non-negative finite word and its successor; past the largest, where infinity begins."""
        low, high = self.value(word)[1], self.value(word + 1)[1]
        if not is_real(low):
            raise ValueError(f"{word:#x} is not finite")
        return (low + (high if is_real(high) else power(self.bias + 1))) / 2

    def convert(self, word: int, target: Format) -> int:
        s, x = self.value(word)
        return target.word(s, x) if is_real(x) else target.special(stand_in(s, x))


def floor_log2(size: Fraction) -> int:
    guess = size.numerator.bit_length() - size.denominator.bit_length()
    return guess if power(guess) <= size else guess - 1


def is_real(x: Fraction | float) -> TypeGuard[Fraction]:
    return isinstance(x, Fraction)


def signed(sign: int, size: Fraction) -> Fraction:
    return -size if sign else size


def stand_in(sign: int, x: Fraction | float) -> float:
    """A double with the sign and the class of a value: NaN, infinite, zero, or 1 for the rest."""
    size = x if isinstance(x, float) else float(x != 0)
    return -size if sign else size
