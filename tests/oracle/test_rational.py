"""The word functions against exact rationals, for all four float types and both arithmetics."""

from __future__ import annotations

import struct
from fractions import Fraction
from random import Random

import pytest

from cachet_verify.core.word import FLUSH, IEEE, OPERATIONS, function_of, word_of_decimal, word_of_float, word_of_int
from tests.oracle.rational import FRACTION_BITS, Format
from tests.oracle.sample import triples, word

FLOATS = ["f16", "bf16", "f32", "f64"]


@pytest.mark.parametrize("flush", [False, True], ids=["ieee", "flush"])
@pytest.mark.parametrize("elem", FLOATS)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "fma"])
def test_operations_round_the_exact_result(name: str, elem: str, flush: bool) -> None:
    function, oracle = function_of(name, elem, FLUSH if flush else IEEE), getattr(Format(elem, flush), name)
    arity = OPERATIONS[name].arity
    for row in triples(elem, 500, seed=2):
        assert function(*row[:arity]) == oracle(*row[:arity]), [hex(x) for x in row]


@pytest.mark.parametrize("flush", [False, True], ids=["ieee", "flush"])
@pytest.mark.parametrize("elem", FLOATS)
def test_square_roots_are_nearest(elem: str, flush: bool) -> None:
    function, oracle = function_of("sqrt", elem, FLUSH if flush else IEEE), Format(elem, flush).sqrt
    for row in triples(elem, 60, seed=2):
        for x in row:
            assert function(x) == oracle(x), hex(x)


@pytest.mark.parametrize("flush", [False, True], ids=["ieee", "flush"])
@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", FLOATS)
def test_conversions_round_once(source: str, target: str, flush: bool) -> None:
    if source == target:
        for x in range(0, 1 << 16, 7):
            assert function_of(f"convert {source} {target}", target, FLUSH if flush else IEEE)(x) == x
        return
    function = function_of(f"convert {source} {target}", target, FLUSH if flush else IEEE)
    reader, writer = Format(source, flush), Format(target, flush)
    for row in triples(source, 120, seed=2) + tuple(near_edges(source, target)):
        for x in row:
            assert function(x) == reader.convert(x, writer), hex(x)


def near_edges(source: str, target: str) -> list[tuple[int, ...]]:
    """Words of the source at the target's least normal, least subnormal and largest numbers."""
    reader, writer = Format(source), Format(target)
    edges = [Fraction(2) ** (writer.first - k) for k in (0, FRACTION_BITS[target], FRACTION_BITS[target] + 1)]
    edges += [Fraction(2) ** (writer.bias + 1), Fraction(2) ** (writer.bias + 1) * (1 - Fraction(1, 2) ** (FRACTION_BITS[target] + 2))]
    words = [reader.from_real(edge) for edge in edges]
    return [tuple(max(x + step, 0) for step in range(-3, 4)) for x in words]


def test_every_f16_widens_and_narrows_as_the_struct_module_says() -> None:
    widen, narrow = function_of("convert f16 f64", "f64"), function_of("convert f64 f16", "f16")
    for x in range(1 << 16):
        (value,) = struct.unpack("<e", struct.pack("<H", x))
        if value == value:
            (wide,) = struct.unpack("<Q", struct.pack("<d", value))
            assert widen(x) == wide
            assert narrow(wide) == x


def test_every_bf16_is_the_upper_half_of_an_f32() -> None:
    widen, narrow = function_of("convert bf16 f32", "f32"), function_of("convert f32 bf16", "bf16")
    for x in range(1 << 16):
        if x & 0x7FFF <= 0x7F80:
            assert widen(x) == x << 16
            assert narrow(x << 16) == x
        if x & 0x7FFF < 0x7F80:
            assert narrow(x << 16 | 0x7FFF) == x
            assert narrow(x << 16 | 0x8000) == x + (x & 1)
            assert narrow(x << 16 | 0x8001) == x + 1


def test_every_f16_root() -> None:
    root, oracle = function_of("sqrt", "f16"), Format("f16")
    for x in range(0, 1 << 16, 37):
        assert root(x) == oracle.sqrt(x)


@pytest.mark.parametrize("elem", FLOATS)
def test_literals_round_the_written_decimal(elem: str) -> None:
    rng, form = Random(21), Format(elem)
    for _ in range(500):
        digits = "".join(rng.choice("0123456789") for _ in range(rng.randrange(1, 30)))
        point = rng.randrange(len(digits) + 1)
        text = f"{digits[:point]}.{digits[point:]}e{rng.randrange(-340, 320) // rng.choice([1, 8, 64])}"
        assert word_of_decimal(text, elem) == form.from_real(Fraction(text)), text
        assert word_of_decimal("-" + text, elem) == form.from_real(-Fraction(text), zero_sign=1), text


@pytest.mark.parametrize("elem", FLOATS)
def test_literals_at_half_way_points(elem: str) -> None:
    """Half-way points written out in full, and the same with one far digit more or less."""
    rng, form = Random(22), Format(elem)
    for _ in range(60):
        low = rng.randrange(form.inf_word - 1) if rng.getrandbits(1) else rng.randrange(1 << FRACTION_BITS[elem])
        exact = form.half_way(low)
        twos = exact.denominator.bit_length() - 1
        digits = str(exact.numerator * 5**twos)  # exact == digits / 10**twos
        even = low + (low & 1)
        assert word_of_decimal(f"{digits}e-{twos}", elem) == even
        assert word_of_decimal(f"{digits}{'0' * 1500}1e-{twos + 1501}", elem) == low + 1
        below = str(int(digits) - 1) + "9" * 1500
        assert word_of_decimal(f"{below}e-{twos + 1500}", elem) == low


@pytest.mark.parametrize("elem", FLOATS)
def test_integers_and_doubles_round_once(elem: str) -> None:
    rng, form = Random(23), Format(elem)
    wide = Format("f64")
    for _ in range(800):
        value = rng.getrandbits(rng.randrange(1, 140)) * rng.choice([1, -1])
        assert word_of_int(value, elem) == form.from_real(Fraction(value))
        double = word("f64", rng)
        (number,) = struct.unpack("<d", struct.pack("<Q", double))
        assert word_of_float(number, elem) == wide.convert(double, form)
