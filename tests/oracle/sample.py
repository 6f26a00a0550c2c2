"""Words worth trying: every class of value, wide exponents, cancellation, half-way cases.

Takes a format's name and a generator; gives tuples of words. Must not import `cachet_verify`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from random import Random

from tests.oracle.rational import EXPONENT_BITS, FRACTION_BITS, Format


def special_words(name: str) -> list[int]:
    """Zeros, ones, infinities, NaNs quiet and signalling, the ends of every range, both signs."""
    bits, sign = FRACTION_BITS[name], 1 << (EXPONENT_BITS[name] + FRACTION_BITS[name])
    form = Format(name)
    one = form.bias << bits
    sizes = [0, 1, 2, 3, (1 << bits) - 1, 1 << bits, (1 << bits) + 1, one - 1, one, one + 1, one + (1 << bits)]
    sizes += [form.inf_word - 1, form.inf_word, form.inf_word + 1, form.nan_word, sign - 1]
    return sizes + [size | sign for size in sizes]


def word(name: str, rng: Random) -> int:
    """One word: of any bits, of middling exponent, subnormal, a power of two nearly, or special."""
    width = 1 + EXPONENT_BITS[name] + FRACTION_BITS[name]
    bits = FRACTION_BITS[name]
    sign = rng.getrandbits(1) << (width - 1)
    kind = rng.randrange(8)
    bias = (1 << EXPONENT_BITS[name] - 1) - 1
    if kind < 2:
        return rng.getrandbits(width)
    if kind < 5:
        return sign | (bias + rng.randrange(-4, 5)) << bits | rng.getrandbits(bits)
    if kind == 5:
        return sign | rng.getrandbits(bits)
    if kind == 6:
        field = rng.randrange(1, 2 * bias)
        return max(sign | (field << bits) + rng.randrange(-2, 3), 0)
    return rng.choice(special_words(name))


@cache
def triples(name: str, count: int, seed: int) -> tuple[tuple[int, int, int], ...]:
    """Triples for fma and, by their first two or one, for the other operations."""
    rng = Random(seed)
    picks = [(word(name, rng), word(name, rng), word(name, rng)) for _ in range(count)]
    picks += [half_way(name, rng) for _ in range(count // 8)]
    picks += [cancelling(name, rng) for _ in range(count // 32)]
    specials = special_words(name)
    picks += [(rng.choice(specials), rng.choice(specials), rng.choice(specials)) for _ in range(count // 8)]
    return tuple(picks)


def half_way(name: str, rng: Random) -> tuple[int, int, int]:
    """a * b of one bit too many, so that it lies half-way, and a far smaller c, or none.

    Scaled to the middle of the range or to its lower end, where results are subnormal.
    """
    form, bits = Format(name), FRACTION_BITS[name]
    length = rng.randrange(2, bits + 1)
    first = 1 << (length - 1) | rng.getrandbits(length - 1) | 1
    other = bits + 2 - length
    second = 1 << other | rng.getrandbits(other) | 1
    low = rng.choice([0, 0, form.first - 2, form.first + rng.randrange(-bits, 3)])
    a, b = (exact(form, value, scale) for value, scale in ((first, 1 - length), (second, low - other)))
    c = exact(form, rng.choice([-1, 0, 1]), max(form.first - bits, low - rng.randrange(bits, 3 * bits)))
    return a, b, c


def exact(form: Format, value: int, exponent: int) -> int:
    return form.from_real(Fraction(value) * Fraction(2) ** exponent)


def cancelling(name: str, rng: Random) -> tuple[int, int, int]:
    """c is minus the rounded product, or a neighbour of it: nearly everything cancels."""
    form, bits = Format(name), FRACTION_BITS[name]
    a, b = (form.bias + rng.randrange(-5, 5) << bits | rng.getrandbits(bits) for _ in range(2))
    sign = 1 << (EXPONENT_BITS[name] + bits)
    return a, b, sign | form.mul(a, b) + rng.choice([-1, 0, 0, 0, 1])
