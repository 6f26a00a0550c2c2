"""exp of the standard library against e^x to 60 digits, at bounds of its range and at random arguments."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Context, Decimal
from functools import cache
from pathlib import Path
from random import Random

import pytest

from cachet_verify.core.element import ELEMENTS, FLUSH, IEEE, Arithmetic
from cachet_verify.core.ir import Program
from cachet_verify.core.meaning import run
from cachet_verify.core.numeral import float_of_word, word_of_float
from cachet_verify.judge.file import open_file

DIGITS = Context(prec=60, Emin=-(10**9), Emax=10**9, traps=[])
PRECISION = {"f32": (24, -149), "f64": (53, -1074)}
BOUND = {"f32": Decimal("1.10"), "f64": Decimal("1.10")}
"""The stated errors, in units in the last place."""

SOURCE = """fn each (reads x: [{elem}; N]) (mut y: [{elem}; N])
produces Init y
=
  for i in 0 .. N do
    store y[i] = exp (load x[i])
"""


@cache
def program(elem: str) -> Program:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "each.cachet"
        path.write_text(SOURCE.format(elem=elem))
        found = open_file(path).program("each")
    assert found is not None
    return found


def exp(elem: str, words: list[int], arithmetic: Arithmetic = IEEE) -> list[int]:
    cells: dict[str, list[int | None]] = {"x": list(words), "y": [None] * len(words)}
    run(program(elem), {"N": len(words)}, cells, arithmetic)
    found = cells["y"]
    assert None not in found
    return [word for word in found if word is not None]


def arguments(elem: str) -> Iterator[float]:
    random = Random(elem)
    low, high = (-104.5, 89.5) if elem == "f32" else (-746.5, 710.5)
    yield from (
        low,
        high,
        0.0,
        1.0,
        -1.0,
        5.198864936828613,
        611.0272742521115,
        0.34657359,
        -0.34657359,
        1e-30,
        -1e-30,
        88.7,
        -87.4,
        -103.0,
        709.7,
        -708.5,
        -745.0,
    )
    yield from (random.uniform(low, high) for _ in range(400))
    yield from (random.uniform(-1, 1) for _ in range(200))


def rounded(elem: str, number: float) -> float:
    return float_of_word(word_of_float(number, elem), elem)


@pytest.mark.parametrize("elem", ["f32", "f64"])
def test_the_error_stays_within_what_is_stated(elem: str) -> None:
    precision, least = PRECISION[elem]
    numbers = [rounded(elem, number) for number in arguments(elem)]
    largest = Decimal(float_of_word(ELEMENTS[elem].infinity - 1, elem))
    for number, word in zip(numbers, exp(elem, [word_of_float(number, elem) for number in numbers]), strict=True):
        exact = DIGITS.exp(Decimal(number))
        found = float_of_word(word, elem)
        if exact > largest:
            assert found == float("inf"), number
            continue
        exponent = (exact.logb() / Decimal(2).log10()).to_integral_value() + 5
        while Decimal(2) ** int(exponent) > exact:
            exponent -= 1
        unit = Decimal(2) ** max(int(exponent) + 1 - precision, least)
        assert abs(Decimal(found) - exact) <= BOUND[elem] * unit, number


@pytest.mark.parametrize("elem", ["f32", "f64", "f16", "bf16"])
def test_special_arguments(elem: str) -> None:
    element = ELEMENTS[elem]
    one = word_of_float(1.0, elem)
    words = [0, element.sign, element.infinity, element.sign | element.infinity, element.nan, element.nan + 1]
    assert exp(elem, words) == [one, one, element.infinity, 0, element.nan, element.nan]


def test_results_below_the_normal_numbers_are_flushed_where_the_arithmetic_does() -> None:
    """e^-90 is about 8e-40, below the smallest normal number of f32."""
    (word,) = exp("f32", [word_of_float(-90.0, "f32")])
    assert 0 < word < ELEMENTS["f32"].hidden
    assert exp("f32", [word_of_float(-90.0, "f32")], FLUSH) == [0]


@pytest.mark.parametrize("elem", ["f16", "bf16"])
def test_narrow_types_are_rounded_once_more(elem: str) -> None:
    numbers = [rounded(elem, number) for number in (-3.0, -0.5, 0.1, 1.0, 2.5, 7.0)]
    for number, word in zip(numbers, exp(elem, [word_of_float(number, elem) for number in numbers]), strict=True):
        assert word == word_of_float(float(DIGITS.exp(Decimal(number))), elem), number


def test_it_never_decreases_where_it_was_tried() -> None:
    random = Random(3)
    numbers = sorted(rounded("f32", random.uniform(-104, 89)) for _ in range(500))
    found = [float_of_word(word, "f32") for word in exp("f32", [word_of_float(number, "f32") for number in numbers])]
    assert all(first <= second for first, second in zip(found, found[1:], strict=False))
