"""Whole chains: dot products as ascending multiply-adds, and sums that depend on their grouping."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from cachet_verify.core.word import FLUSH, IEEE, function_of, text_of_word, word_of_decimal
from tests.oracle import hardware
from tests.oracle.rational import Format
from tests.oracle.sample import word

MINUS_ZERO = {"f32": 1 << 31, "f64": 1 << 63, "f16": 1 << 15, "bf16": 1 << 15}


def our_chain(elem: str, a: list[int], b: list[int], flush: bool = False) -> int:
    fma = function_of("fma", elem, FLUSH if flush else IEEE)
    total = MINUS_ZERO[elem]
    for x, y in zip(a, b, strict=True):
        total = fma(x, y, total)
    return total


def middling(elem: str, rng: Random, spread: int) -> int:
    bits, bias, sign = {"f32": (23, 127, 31), "f64": (52, 1023, 63)}[elem]
    return rng.getrandbits(1) << sign | (bias + rng.randrange(-spread, spread + 1)) << bits | rng.getrandbits(bits)


@pytest.mark.parametrize("elem", ["f32", "f64"])
@pytest.mark.parametrize("spread", [0, 3, 40])
def test_dot_products_are_the_hardwares(elem: str, spread: int) -> None:
    rng = Random(spread)
    for length in [0, 1, 2, 3, 7, 8, 31, 64, 257] * 4:
        a = [middling(elem, rng, spread) for _ in range(length)]
        b = [middling(elem, rng, spread) for _ in range(length)]
        a, b = a + a[::-1], b + [y ^ MINUS_ZERO[elem] for y in b[::-1]]  # the second half cancels the first
        assert our_chain(elem, a, b) == hardware.chain(elem, a, b)
        assert our_chain(elem, a[: length + 2], b[: length + 2]) == hardware.chain(elem, a[: length + 2], b[: length + 2])


@pytest.mark.parametrize("elem", ["f32", "f64"])
def test_short_chains_of_any_words(elem: str) -> None:
    rng = Random(11)
    sign = MINUS_ZERO[elem]
    infinity = Format(elem).inf_word
    for _ in range(600):
        a, b = ([word(elem, rng) for _ in range(4)] for _ in range(2))
        ours, theirs = our_chain(elem, a, b), hardware.chain(elem, a, b)
        assert ours == theirs or (ours == Format(elem).nan_word and theirs & (sign - 1) > infinity)


@pytest.mark.parametrize("flush", [False, True])
@pytest.mark.parametrize("elem", ["f16", "bf16", "f32", "f64"])
def test_short_chains_in_rationals(elem: str, flush: bool) -> None:
    rng, form = Random(7), Format(elem, flush)
    for _ in range(120):
        a, b = ([word(elem, rng) for _ in range(3)] for _ in range(2))
        total = MINUS_ZERO[elem]
        for x, y in zip(a, b, strict=True):
            total = form.fma(x, y, total)
        assert our_chain(elem, a, b, flush) == total


def hardware_sum(x: int, y: int) -> int:
    return hardware.apply("add", "f32", [x], [y])[0]


def test_six_values_whose_chain_gives_one_and_whose_pairs_give_zero() -> None:
    """Searched for with the hardware's additions; the exact sum of each six is 1."""
    big, one = 2.0**25, 1.0
    words = {value: word_of_decimal(repr(value), "f32") for value in (big, -big, one, 0.0)}
    add = function_of("add", "f32")
    found = 0
    for six in product(words, repeat=6):
        if sum(six) != 1.0:  # exact: doubles hold every partial sum
            continue
        w = [words[value] for value in six]
        chain = w[0]
        for x in w[1:]:
            chain = hardware_sum(chain, x)
        pairs = [hardware_sum(w[i], w[i + 1]) for i in (0, 2, 4)]
        grouped = hardware_sum(hardware_sum(pairs[0], pairs[1]), pairs[2])
        if (chain, grouped) != (words[one], words[0.0]):
            continue
        found += 1
        ours = w[0]
        for x in w[1:]:
            ours = add(ours, x)
        assert text_of_word(ours, "f32") == "1.0"
        assert text_of_word(add(add(add(w[0], w[1]), add(w[2], w[3])), add(w[4], w[5])), "f32") == "0.0"
    assert found > 0


def test_six_values_by_hand() -> None:
    """2**25, 0, -2**25, 1, 0, 0: in order the two large ones meet first; in pairs 1 meets -2**25."""
    add = function_of("add", "f32")
    x = [word_of_decimal(text, "f32") for text in ("33554432", "0", "-33554432", "1", "0", "0")]
    chain = x[0]
    for value in x[1:]:
        chain = add(chain, value)
    assert chain == 0x3F800000
    assert add(x[2], x[3]) == x[2]
    assert add(add(add(x[0], x[1]), add(x[2], x[3])), add(x[4], x[5])) == 0
