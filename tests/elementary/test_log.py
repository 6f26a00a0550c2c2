"""log of the standard library against ln x to 60 digits, at bounds of its range and at random arguments; sums of exponentials by it."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Context, Decimal
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

from cachet_verify.core.element import ELEMENTS, FLUSH, IEEE, Arithmetic
from cachet_verify.core.ir import Program
from cachet_verify.core.meaning import run
from cachet_verify.core.numeral import float_of_word, word_of_float
from cachet_verify.judge.file import open_file

DIGITS = Context(prec=60, Emin=-(10**9), Emax=10**9, traps=[])
PRECISION = {"f32": (24, -149), "f64": (53, -1074)}
BOUND = Decimal("0.90")
"""The stated error of both, in units in the last place."""

EACH = """contraction each (reads x: [{elem}; N]) -> out y: [{elem}; N] =
  y[i] = log (x[i])
"""
SUMS = """import "cachet:logsum"

contraction each (reads x: [{elem}; N]) -> out y: [{elem}; 1] =
  y[i] = log_total (reduce LogSum k. log_term (x[k]))
"""


@cache
def program(text: str) -> Program:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "each.cachet"
        path.write_text(text)
        found = open_file(path).program("each")
    assert found is not None
    return found


def computed(elem: str, words: list[int], arithmetic: Arithmetic = IEEE, text: str = EACH, count: int | None = None) -> list[int]:
    cells: dict[str, list[int | None]] = {"x": list(words), "y": [None] * (len(words) if count is None else count)}
    run(program(text.format(elem=elem)), {"N": len(words)}, cells, arithmetic)
    found = [word for word in cells["y"] if word is not None]
    assert len(found) == len(cells["y"])
    return found


def rounded(elem: str, number: float) -> float:
    return float_of_word(word_of_float(number, elem), elem)


def arguments(elem: str) -> Iterator[float]:
    """Around 1, where the logarithm is small; around both ends of what it is reduced to; subnormal and the greatest; and any."""
    element, random = ELEMENTS[elem], Random(elem)
    yield from (1.0, 2.0, 0.5, 0.70700323581695556640625, 0.70708909950702248, 1.4142135, 1.4142137, 0.70710677, 0.70710679, 1e-30, 3.0)
    yield from (float_of_word(bits, elem) for bits in (1, 2, 77, element.hidden - 1, element.hidden, element.infinity - 1))
    yield from (float_of_word(random.randrange(1, element.infinity), elem) for _ in range(300))
    yield from (random.uniform(0.7, 1.42) for _ in range(300))
    yield from (1 + random.uniform(-1, 1) * 2.0 ** -random.randrange(2, 24) for _ in range(100))


@pytest.mark.parametrize("elem", ["f32", "f64"])
def test_the_error_stays_within_what_is_stated(elem: str) -> None:
    precision, least = PRECISION[elem]
    numbers = [rounded(elem, number) for number in arguments(elem)]
    for number, word in zip(numbers, computed(elem, [word_of_float(number, elem) for number in numbers]), strict=True):
        exact = DIGITS.ln(Decimal(number))
        found = float_of_word(word, elem)
        if exact == 0:
            assert word == 0
            continue
        exponent = 12
        while Decimal(2) ** exponent > abs(exact):
            exponent -= 1
        unit = Decimal(2) ** max(exponent + 1 - precision, least)
        assert abs(Decimal(found) - exact) <= BOUND * unit, number


@pytest.mark.parametrize("elem", ["f32", "f64", "f16", "bf16"])
def test_special_arguments(elem: str) -> None:
    element = ELEMENTS[elem]
    least, minus = element.sign | element.infinity, word_of_float(-1.0, elem)
    words = [0, element.sign, element.infinity, least, element.nan, element.nan + 1, minus, element.sign | 1, word_of_float(1.0, elem)]
    nan = element.nan
    assert computed(elem, words) == [least, least, element.infinity, nan, nan, nan, nan, nan, 0]


def test_where_numbers_below_the_normal_ones_are_flushed_they_are_zero() -> None:
    least = ELEMENTS["f32"].sign | ELEMENTS["f32"].infinity
    assert computed("f32", [1, ELEMENTS["f32"].hidden - 1], FLUSH) == [least, least]
    (exact,) = computed("f32", [ELEMENTS["f32"].hidden], FLUSH)
    assert abs(Decimal(float_of_word(exact, "f32")) - DIGITS.ln(Decimal(2) ** -126)) < Decimal("1e-5")


@pytest.mark.parametrize("elem", ["f16", "bf16"])
def test_narrow_types_are_rounded_once_more(elem: str) -> None:
    numbers = [rounded(elem, number) for number in (0.001, 0.5, 0.1, 1.5, 2.5, 700.0)]
    for number, word in zip(numbers, computed(elem, [word_of_float(number, elem) for number in numbers]), strict=True):
        assert word == word_of_float(float(DIGITS.ln(Decimal(number))), elem), number


@pytest.mark.parametrize("seed", range(30))
def test_sums_of_exponentials_are_near_the_exact_ones(seed: int) -> None:
    """Within (7 n + 2 |log l| + |result|) / 2^24 of the exact one, n terms in -30 .. 30, and l the sum relative to the largest.

    A step multiplies, adds and takes exponentials within 1.1 units in the last place: 6 roundings at most. The difference that
    an exponential is of is rounded by d / 2^24 of itself, which is of the total d e^-d at most, less than one rounding more. The
    sum is of positive numbers, so that errors relative to it add up to 7 n; log moves them to its result as they are, and adds its own.
    """
    random = Random(seed)
    count = random.randint(1, 12)
    numbers = [rounded("f32", random.choice([random.uniform(-30, 30), 30.0, -30.0, 0.5])) for _ in range(count)]
    (word,) = computed("f32", [word_of_float(number, "f32") for number in numbers], text=SUMS, count=1)
    top = Decimal(max(numbers))
    relative = sum((DIGITS.exp(Decimal(number) - top) for number in numbers), Decimal(0))
    exact = top + DIGITS.ln(relative)
    allowed = (7 * count + 2 * DIGITS.ln(relative) + abs(exact)) / Decimal(2**24)
    assert abs(Decimal(float_of_word(word, "f32")) - exact) <= allowed


def test_sums_of_what_would_overflow_do_not_and_of_nothing_are_minus_infinity() -> None:
    """e^1000 is no f32, and 1000 + log 2 is."""
    (word,) = computed("f32", [word_of_float(1000.0, "f32")] * 2, text=SUMS, count=1)
    assert word == word_of_float(1000.6931471805599, "f32")
    assert computed("f32", [], text=SUMS, count=1) == [ELEMENTS["f32"].sign | ELEMENTS["f32"].infinity]
