"""Floating-point operations on words of any format, by exact integers and one rounding.

Takes words and a format; gives the correctly rounded word. Must not use the host's
floating-point unit: this is the definition the faster paths are measured against.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

from cachet_verify.core.element import Element


@dataclass(frozen=True, slots=True)
class SoftFloat:
    """One float format with one treatment of subnormals; its methods map words to words.

    A finite word is read as `m * 2**e` with integers m and e, the operation is done exactly (or
    to a few bits more than needed, with a last bit that says "inexact"), and `rounded` rounds
    once. Methods return the canonical NaN for every NaN result. `neg` and `abs` only touch the
    sign bit: they round nothing, flush nothing and keep NaN payloads, as in IEEE 754-2019 5.5.1.
    """

    element: Element
    flushes: bool = False

    def rounded(self, negative: bool, significand: int, exponent: int) -> int:
        """The word nearest to `significand * 2**exponent`, ties to even; significand >= 0.

        A significand of more than precision + 2 bits may carry an "inexact" lowest bit in place
        of everything below it.
        """
        element = self.element
        sign = element.sign if negative else 0
        if not significand:
            return sign
        top = significand.bit_length() + exponent
        unit = top - element.precision
        if unit < element.least:
            unit = element.least
            if self.flushes and self._is_tiny(significand, top):
                return sign
        shift = unit - exponent
        if shift <= 0:
            kept = significand << -shift
        else:
            kept = significand >> shift
            rest = significand - (kept << shift)
            half = 1 << (shift - 1)
            if rest > half or (rest == half and kept & 1):
                kept += 1
        # A normal significand carries its leading one into the exponent field, and so does one
        # that was rounded up to the next power of two.
        word = ((unit - element.least) << (element.precision - 1)) + kept
        return sign | min(word, element.infinity)

    def _is_tiny(self, significand: int, top: int) -> bool:
        """Whether the value, at most 2**top, is below the least normal once rounded to precision.

        Just below the least normal, at the precision kept there, the half-way point belongs to
        the even neighbour, which is the least normal itself.
        """
        element = self.element
        if top < element.least + element.precision - 1:
            return True
        length = significand.bit_length()
        places = element.precision + 1
        return (significand << places) < (1 << (length + places)) - (1 << length)

    def rounded_quotient(self, negative: bool, numerator: int, denominator: int, exponent: int) -> int:
        """The word nearest to `numerator / denominator * 2**exponent`; denominator > 0."""
        shift = self.element.precision + 2 + denominator.bit_length() - numerator.bit_length()
        shift = max(shift, 0)
        quotient, rest = divmod(numerator << shift, denominator)
        return self.rounded(negative, quotient << 1 | (rest != 0), exponent - shift - 1)

    def is_finite(self, word: int) -> bool:
        """Whether a word is neither a NaN nor an infinity."""
        element = self.element
        return word & (element.sign - 1) < element.infinity

    def split(self, word: int) -> tuple[int, int]:
        """(m, e) with m >= 0 and |value| = m * 2**e, of a finite word; subnormals as flushed."""
        element = self.element
        magnitude = word & (element.sign - 1)
        field = magnitude >> (element.precision - 1)
        if field:
            return magnitude & (element.hidden - 1) | element.hidden, field - 1 + element.least
        return (0 if self.flushes else magnitude), element.least

    def flushed(self, word: int) -> int:
        """The operand as the arithmetic sees it: a subnormal gives a zero when it flushes."""
        if self.flushes and not word & self.element.infinity:
            return word & self.element.sign
        return word

    def add(self, a: int, b: int) -> int:
        """a + b; an exact zero sum of unlike signs is +0.0."""
        if self.is_finite(a) and self.is_finite(b):
            return self._sum(a & self.element.sign, self.split(a), b & self.element.sign, self.split(b))
        return self._infinite_sum(a, b)

    def sub(self, a: int, b: int) -> int:
        """a - b, as a + (-b)."""
        return self.add(a, b ^ self.element.sign)

    def fma(self, a: int, b: int, c: int) -> int:
        """a * b + c with one rounding."""
        sign = (a ^ b) & self.element.sign
        if self.is_finite(a) and self.is_finite(b):
            if not self.is_finite(c):
                return self._infinite_sum(sign, c)
            (m, e), (n, f) = self.split(a), self.split(b)
            return self._sum(sign, (m * n, e + f), c & self.element.sign, self.split(c))
        product = self._infinite_product(a, b)
        return self._infinite_sum(product, c)

    def mul(self, a: int, b: int) -> int:
        """a * b."""
        if not (self.is_finite(a) and self.is_finite(b)):
            return self._infinite_product(a, b)
        (m, e), (n, f) = self.split(a), self.split(b)
        return self.rounded(bool((a ^ b) & self.element.sign), m * n, e + f)

    def div(self, a: int, b: int) -> int:
        """a / b; a non-zero over a zero is an infinity, 0/0 and inf/inf are NaN."""
        element = self.element
        sign = (a ^ b) & element.sign
        if element.is_nan(a) or element.is_nan(b):
            return element.nan
        if not self.is_finite(a):
            return sign | element.infinity if self.is_finite(b) else element.nan
        if not self.is_finite(b):
            return sign
        (m, e), (n, f) = self.split(a), self.split(b)
        if n:
            return self.rounded_quotient(bool(sign), m, n, e - f)
        return sign | element.infinity if m else element.nan

    def sqrt(self, a: int) -> int:
        """The square root; NaN below zero, and the root of -0.0 is -0.0."""
        element = self.element
        negative = bool(a & element.sign)
        if not self.is_finite(a):
            return element.nan if negative else self._quiet(a)
        m, e = self.split(a)
        if not m:
            return a & element.sign
        if negative:
            return element.nan
        shift = 2 * element.precision + 4 - m.bit_length()
        shift += (e - shift) & 1
        m <<= shift
        root = isqrt(m)
        return self.rounded(False, root << 1 | (root * root != m), ((e - shift) >> 1) - 1)

    def neg(self, a: int) -> int:
        """The word with its sign bit turned."""
        return a ^ self.element.sign

    def abs(self, a: int) -> int:
        """The word with its sign bit cleared."""
        return a & (self.element.sign - 1)

    def max(self, a: int, b: int) -> int:
        """IEEE 754-2019 maximum: any NaN gives the canonical one, and -0.0 < +0.0."""
        if self.element.is_nan(a) or self.element.is_nan(b):
            return self.element.nan
        a, b = self.flushed(a), self.flushed(b)
        return a if self._rank(a) >= self._rank(b) else b

    def min(self, a: int, b: int) -> int:
        """IEEE 754-2019 minimum: any NaN gives the canonical one, and -0.0 < +0.0."""
        if self.element.is_nan(a) or self.element.is_nan(b):
            return self.element.nan
        a, b = self.flushed(a), self.flushed(b)
        return a if self._rank(a) <= self._rank(b) else b

    def eq(self, a: int, b: int) -> int:
        """1 where the values are equal: the zeros are, a NaN never is."""
        return int(self._are_ordered(a, b) and self._place(a) == self._place(b))

    def lt(self, a: int, b: int) -> int:
        """1 where the value of a is less than that of b; 0 with a NaN."""
        return int(self._are_ordered(a, b) and self._place(a) < self._place(b))

    def le(self, a: int, b: int) -> int:
        """1 where the value of a is at most that of b; 0 with a NaN."""
        return int(self._are_ordered(a, b) and self._place(a) <= self._place(b))

    def _sum(self, sign_a: int, a: tuple[int, int], sign_b: int, b: tuple[int, int]) -> int:
        """The rounded sum of two finite values given as signs and (m, e)."""
        (m, e), (n, f) = a, b
        if e > f:
            m <<= e - f
            e = f
        else:
            n <<= f - e
        total = (-m if sign_a else m) + (-n if sign_b else n)
        if not total:
            return sign_a & sign_b
        return self.rounded(total < 0, abs(total), e)

    def _infinite_sum(self, a: int, b: int) -> int:
        """The sum where one of two words is not finite."""
        element = self.element
        if element.is_nan(a) or element.is_nan(b):
            return element.nan
        if self.is_finite(a):
            return b
        return element.nan if not self.is_finite(b) and a != b else a

    def _infinite_product(self, a: int, b: int) -> int:
        """The product where one of two words is not finite."""
        element = self.element
        if element.is_nan(a) or element.is_nan(b):
            return element.nan
        if any(self.is_finite(word) and not self.split(word)[0] for word in (a, b)):
            return element.nan
        return (a ^ b) & element.sign | element.infinity

    def _quiet(self, a: int) -> int:
        return self.element.nan if self.element.is_nan(a) else a

    def _are_ordered(self, a: int, b: int) -> bool:
        return not (self.element.is_nan(a) or self.element.is_nan(b))

    def _rank(self, word: int) -> int:
        """An integer ordered as the words are, -0.0 just below +0.0."""
        sign = self.element.sign
        return sign - 1 - word if word & sign else word

    def _place(self, word: int) -> int:
        """An integer ordered as the values are; both zeros are 0."""
        word = self.flushed(word)
        sign = self.element.sign
        return sign - word if word & sign else word
