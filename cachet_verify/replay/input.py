"""Input words that expose differences: readable ones first, then hostile ones.

Takes element types and numbers of cells; gives words, the same at every call. Must not depend on
programs.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from cachet_verify.core.element import find_element
from cachet_verify.core.word import word_of_decimal, word_of_int

Filler = Callable[[str, int, Random], list[int]]
"""The words of a buffer: its element type, how many cells, and a generator of its own."""


def _decimals(*texts: str) -> Callable[[str], list[int]]:
    return lambda elem: [word_of_decimal(text, elem) for text in texts]


def _large(elem: str) -> str:
    """A number to which adding 1 changes nothing, with its square in range where that is possible."""
    return {"f16": "4096", "bf16": "1024", "f32": "1e8"}.get(elem, "1e17")


def _counting(elem: str, cells: int, chance: Random) -> list[int]:
    first = chance.randrange(1, 4)
    return [word_of_int(first + place, elem) for place in range(cells)]


def _cycling(elem: str, cells: int, chance: Random) -> list[int]:
    """Large, one, minus large, one, and again: sums depend on their order."""
    large = _large(elem)
    words = _decimals(large, "1", f"-{large}", "1")(elem)
    return [words[place % 4] for place in range(cells)]


def _cancelling(elem: str, cells: int, chance: Random) -> list[int]:
    large = _large(elem)
    words = _decimals(large, f"-{large}", "1", "3", "-1")(elem)
    return [chance.choice(words) for _ in range(cells)]


def _ones(elem: str, cells: int, chance: Random) -> list[int]:
    return [word_of_int(1, elem)] * cells


def _middling(elem: str, cells: int, chance: Random) -> list[int]:
    """Full significands, exponents near 0, both signs."""
    element = find_element(elem)
    one, bits = word_of_int(1, elem), element.precision - 1
    return [
        (element.sign if chance.getrandbits(1) else 0) | (one + (chance.randrange(-2, 3) << bits)) | chance.getrandbits(bits) for _ in range(cells)
    ]


def _near_one(elem: str, cells: int, chance: Random) -> list[int]:
    """A little more than one, and minus its square rounded: what is left is lost when a product is rounded."""
    element = find_element(elem)
    one, low = word_of_int(1, elem), 1 << (element.precision // 2 - 1)
    words = [one + low, one + low, element.sign | one + 2 * low]
    return [chance.choice(words) for _ in range(cells)]


def _drawn(*texts: str) -> Filler:
    def fill(elem: str, cells: int, chance: Random) -> list[int]:
        words = _decimals(*texts)(elem)
        return [chance.choice(words) for _ in range(cells)]

    return fill


def _subnormal(elem: str, cells: int, chance: Random) -> list[int]:
    """Numbers below the smallest normal one, both signs."""
    element = find_element(elem)
    words = [1, 3, element.hidden >> 1, element.hidden - 1]
    return [chance.choice(words) | (element.sign if chance.getrandbits(1) else 0) for _ in range(cells)]


def _tiny(elem: str, cells: int, chance: Random) -> list[int]:
    """The smallest normal numbers, those around them, and numbers whose products underflow."""
    element = find_element(elem)
    one, bits = word_of_int(1, elem), element.precision - 1
    low = (one >> bits) // 2 + 2
    words = [1, 3, element.hidden - 1, element.hidden, element.hidden + 1, one - (low << bits), one]
    return [chance.choice(words) | (element.sign if chance.getrandbits(1) else 0) for _ in range(cells)]


def _any_bits(elem: str, cells: int, chance: Random) -> list[int]:
    width = find_element(elem).width
    return [chance.getrandbits(width) for _ in range(cells)]


def _extreme(elem: str, cells: int, chance: Random) -> list[int]:
    """Integers at the ends of the range, and the smallest."""
    mask = find_element(elem).mask
    words = [0, 1, 2, mask, mask - 1, mask >> 1, (mask >> 1) + 1]
    return [chance.choice(words) & mask for _ in range(cells)]


def _masked(elem: str, cells: int, chance: Random) -> list[int]:
    """As many scores below zero behind masked ones: a word that took the place of minus infinity shows."""
    masked, *words = _decimals("-inf", "-1", "-2")(elem)
    return [masked if place < cells // 2 else chance.choice(words) for place in range(cells)]


def _zeros_behind(text: str) -> Filler:
    """One word, then zeros of both signs: with a lower or a higher one in front, which of two equal words is kept shows in the sign."""

    def fill(elem: str, cells: int, chance: Random) -> list[int]:
        first, *zeros = _decimals(text, "0.0", "-0.0")(elem)
        return [first if place == 0 else chance.choice(zeros) for place in range(cells)]

    return fill


_AGAIN: tuple[tuple[Filler, Filler], ...] = (
    (_middling, _middling),
    (_near_one, _near_one),
    (_cancelling, _middling),
    (_subnormal, _ones),
    (_drawn("0.0", "-0.0", "1", "-1"), _drawn("0.0", "-0.0", "1", "-1")),
)

FLOAT: tuple[tuple[Filler, Filler], ...] = (
    (_counting, _counting),
    (_cycling, _ones),
    (_ones, _cycling),
    (_cancelling, _ones),
    (_middling, _middling),
    (_near_one, _near_one),
    (_drawn("0.0", "-0.0", "1", "-1"), _drawn("0.0", "-0.0", "1", "-1")),
    (_cancelling, _cancelling),
    (_tiny, _tiny),
    (_drawn("0.0", "-0.0"), _drawn("0.0", "-0.0")),
    (_drawn("inf", "-inf", "nan", "0.0", "1", "-1"), _drawn("inf", "1", "-0.0", "2")),
    (_any_bits, _any_bits),
    *_AGAIN,
    *_AGAIN,
    *_AGAIN,
    (_ones, _drawn("-0.0")),
    (_drawn("-0.0"), _ones),
    (_drawn("inf", "1", "2"), _drawn("1", "2")),
    (_drawn("1", "2"), _drawn("inf", "1", "2")),
    (_masked, _counting),
    (_counting, _masked),
    (_masked, _masked),
    *((_zeros_behind("-1"), _zeros_behind("-1")), (_zeros_behind("1"), _zeros_behind("1"))) * 3,
)
"""How to fill the buffers of a float type: those at even positions, and those at odd ones."""

INTEGER: tuple[tuple[Filler, Filler], ...] = (
    (_counting, _counting),
    (_any_bits, _any_bits),
    (_extreme, _extreme),
    (_drawn("0", "1"), _drawn("0", "1")),
    (_ones, _counting),
)

ROUNDS = len(FLOAT)
"""How many different fillings there are."""


def fill(kind: int, elem: str, cells: int, position: int) -> list[int]:
    """The words of the buffer at a position of the parameter list, for the filling `kind`."""
    chance = Random(f"{kind} {position} {elem}")
    element = find_element(elem)
    if element.kind == "bool":
        return _any_bits(elem, cells, chance)
    table = FLOAT if element.kind == "float" else INTEGER
    return table[kind % len(table)][position % 2](elem, cells, chance)
