"""The inputs of a measurement: words of seven kinds, drawn for operands in their order.

Takes a kind, operands and a seed; gives the words of so many uses. Must not draw the same twice from different seeds, nor
differently from the same one.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable, Sequence
from math import ldexp

from cachet_verify.core.element import ELEMENTS, Element
from cachet_verify.core.word import word_of_float
from cachet_verify.measure.subject import Part

KINDS = ("random", "cancelling", "wide exponents", "subnormal", "signed zeros", "infinite", "NaN")
"""Uniform in -1 to 1; products that nearly cancel; exponents over the whole range; operands and results near the least
numbers; zeros of both signs among small numbers; some infinite; words of any bits, NaNs among them."""

_POOL = 1 << 15
_CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}

Draw = Callable[[random.Random, Element, int, int], int]


def uses_of(kind: str, operands: Sequence[Part], count: int, seed: str) -> tuple[bytes, ...]:
    """The words of each operand for `count` uses: stretches of pools, from places drawn for each use."""
    chance = random.Random(f"{seed} {kind}")  # noqa: S311
    return tuple(_stretches(_pool(kind, part, place, len(operands), chance), part, count, chance) for place, part in enumerate(operands))


def _pool(kind: str, part: Part, place: int, count: int, chance: random.Random) -> bytes:
    """A pool of words for one operand: longer than what one use takes."""
    element = ELEMENTS[part.elem]
    words = max(_POOL, 4 * part.words)
    if element.kind != "float":
        return array(_CODES[part.size], (chance.getrandbits(element.width) for _ in range(words))).tobytes()
    draw = _DRAWS[kind]
    role = 0 if place == 0 else 2 if place == count - 1 and count > 2 else 1
    return array(_CODES[part.size], (draw(chance, element, role, at) for at in range(words))).tobytes()


def _stretches(pool: bytes, part: Part, count: int, chance: random.Random) -> bytes:
    """`count` stretches of a pool that start at even places."""
    length = part.words * part.size
    most = (len(pool) - length) // part.size
    starts = (chance.randrange(0, most + 1) // 2 * 2 * part.size for _ in range(count))
    return b"".join(pool[start : start + length] for start in starts)


def _random(chance: random.Random, element: Element, _role: int, _at: int) -> int:
    return word_of_float(chance.uniform(-1.0, 1.0), element.name)


def _cancelling(chance: random.Random, element: Element, role: int, at: int) -> int:
    """The first operand changes its sign from word to word, the others are near 1 or -1: sums of products nearly vanish."""
    noise = ldexp(chance.uniform(-1.0, 1.0), -chance.randrange(4, element.precision))
    value = 1.0 + noise if role == 1 or at % 2 == 0 else -1.0 - noise
    return word_of_float(value * ldexp(1.0, at // 2 % 3) if role == 0 else value, element.name)


def _wide(chance: random.Random, element: Element, role: int, _at: int) -> int:
    """Factors of which the products have every exponent, and totals of every exponent."""
    top = _top(element)
    return _float(chance, element, chance.randrange(1, top) if role == 2 else chance.randrange(top // 4, 3 * top // 4))


def _subnormal(chance: random.Random, element: Element, role: int, _at: int) -> int:
    """Totals of subnormals; factors with which products are about the least normal number, or themselves subnormal."""
    if role == 2 or chance.random() < 0.2:
        return chance.getrandbits(1) * element.sign | chance.randrange(element.hidden)
    middle = _top(element) // 4
    return _float(chance, element, middle + chance.randrange(-element.precision // 2, 3))


def _zeros(chance: random.Random, element: Element, _role: int, _at: int) -> int:
    if chance.random() < 0.6:
        return chance.getrandbits(1) * element.sign
    return word_of_float(chance.choice((-2.0, -1.0, 1.0, 2.0)), element.name)


def _infinite(chance: random.Random, element: Element, role: int, at: int) -> int:
    if chance.random() < 0.01:
        return chance.getrandbits(1) * element.sign | element.infinity
    return _random(chance, element, role, at) if chance.random() < 0.9 else _float(chance, element, _top(element) - 1 - chance.randrange(3))


def _bits(chance: random.Random, element: Element, role: int, at: int) -> int:
    """Words of any bits, so seldom that not every result is a NaN."""
    if chance.random() < 0.01:
        return element.infinity | chance.getrandbits(element.precision - 1) | chance.getrandbits(1) * element.sign
    return chance.getrandbits(element.width) if chance.random() < 0.05 else _random(chance, element, role, at)


def _top(element: Element) -> int:
    """The exponent field of an infinity."""
    return element.infinity >> element.precision - 1


def _float(chance: random.Random, element: Element, exponent: int) -> int:
    """A number with an exponent field, kept between those of zero and of infinity."""
    field = min(max(exponent, 1), _top(element) - 1)
    return chance.getrandbits(1) * element.sign | field << element.precision - 1 | chance.getrandbits(element.precision - 1)


_DRAWS: dict[str, Draw] = {
    "random": _random,
    "cancelling": _cancelling,
    "wide exponents": _wide,
    "subnormal": _subnormal,
    "signed zeros": _zeros,
    "infinite": _infinite,
    "NaN": _bits,
}
