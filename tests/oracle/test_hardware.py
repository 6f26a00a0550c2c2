"""The word functions against this machine's own instructions, IEEE and flushing."""

from __future__ import annotations

from random import Random

import pytest

from cachet_verify.core.nativefloat import host_is_ieee
from cachet_verify.core.softfloat import SoftFloat
from cachet_verify.core.word import ELEMENTS, FLUSH, IEEE, OPERATIONS, WordFunction, function_of
from tests.oracle import hardware
from tests.oracle.sample import triples

COUNT = 8_000


def one_nan(elem: str, words: list[int]) -> list[int]:
    element = ELEMENTS[elem]
    return [element.nan if element.is_nan(word) else word for word in words]


def check(elem: str, function: WordFunction, columns: list[tuple[int, ...]], expected: list[int], result: str) -> None:
    ours = [function(*row) for row in zip(*columns, strict=True)]
    wrong = [(list(map(hex, row)), hex(x), hex(y)) for row, x, y in zip(zip(*columns, strict=True), ours, expected, strict=True) if x != y]
    assert not wrong, (len(wrong), wrong[:5])
    assert not any(ELEMENTS[result].is_nan(word) and word != ELEMENTS[result].nan for word in ours), "a NaN that is not the canonical one"


@pytest.mark.parametrize("elem", ["f32", "f64"])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "fma", "sqrt", "max", "min", "eq", "lt", "le"])
@pytest.mark.parametrize("made", ["offered", "exact"])
def test_ieee_words_are_the_hardwares(name: str, elem: str, made: str) -> None:
    result = OPERATIONS[name].signature(elem)[1]
    function = OPERATIONS[name].build(elem, False) if made == "offered" else getattr(SoftFloat(ELEMENTS[elem]), name)
    columns = list(zip(*triples(elem, COUNT, seed=1), strict=True))[: OPERATIONS[name].arity]
    expected = hardware.apply(name, elem, *columns, result=result)
    check(elem, function, columns, one_nan(result, expected), result)


@pytest.mark.skipif(not hardware.HAS_FLUSH_MODE, reason="this machine's flushing mode is not driven by these tests")
@pytest.mark.parametrize("elem", ["f32", "f64"])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "fma", "sqrt", "eq", "lt", "le"])
def test_flushing_words_are_the_hardwares(name: str, elem: str) -> None:
    result = OPERATIONS[name].signature(elem)[1]
    columns = list(zip(*triples(elem, COUNT, seed=1), strict=True))[: OPERATIONS[name].arity]
    expected = hardware.apply(name, elem, *columns, result=result, flush=True)
    assert expected != hardware.apply(name, elem, *columns, result=result), "the samples do not reach a subnormal"
    check(elem, OPERATIONS[name].build(elem, True), columns, one_nan(result, expected), result)


@pytest.mark.skipif(not hardware.HAS_FLUSH_MODE, reason="this machine's flushing mode is not driven by these tests")
def test_a_flushing_host_is_noticed() -> None:
    assert host_is_ieee()
    with hardware.flushing():
        noticed = not host_is_ieee()
    assert noticed
    assert host_is_ieee()


@pytest.mark.parametrize("name", ["neg", "abs"])
@pytest.mark.parametrize("elem", ["f32", "f64"])
@pytest.mark.parametrize("arithmetic", [IEEE, FLUSH], ids=["ieee", "flush"])
def test_sign_operations_move_bits_only(name: str, elem: str, arithmetic: object) -> None:
    (column, _, _) = zip(*triples(elem, COUNT, seed=1), strict=True)
    function = function_of(name, elem, IEEE if arithmetic is IEEE else FLUSH)
    assert [function(word) for word in column] == hardware.apply(name, elem, column)


@pytest.mark.parametrize("flush", [False, pytest.param(True, marks=pytest.mark.skipif(not hardware.HAS_FLUSH_MODE, reason="no flushing mode"))])
@pytest.mark.parametrize(("source", "target", "name"), [("f32", "f64", "extend"), ("f64", "f32", "truncate")])
def test_float_conversions_are_the_hardwares(source: str, target: str, name: str, flush: bool) -> None:
    column = [word for row in triples(source, COUNT, seed=1)[::4] for word in row]
    if name == "truncate":
        column += [ends_of_f32(word) for word in column]
    expected = hardware.apply(name, source, column, result=target, flush=flush)
    function = function_of(f"convert {source} {target}", target, FLUSH if flush else IEEE)
    check(source, function, [tuple(column)], one_nan(target, expected), target)


def ends_of_f32(word: int) -> int:
    """The f64 word with its exponent moved to where f32 underflows."""
    return word & ~(0x7FF << 52) | (0x3FF - 150 + word % 30) << 52


@pytest.mark.parametrize("source", ["f32", "f64"])
@pytest.mark.parametrize("target", ["i8", "i32", "i64", "u32"])
def test_float_to_integer_truncates_and_saturates(source: str, target: str) -> None:
    rng = Random(hash_of(source, target))
    bits, bias = (23, 127) if source == "f32" else (52, 1023)
    column = [word for row in triples(source, COUNT, seed=1)[::4] for word in row]
    column += [rng.getrandbits(1) << (31 if source == "f32" else 63) | (bias + rng.randrange(-2, 66)) << bits | rng.getrandbits(bits) for _ in column]
    expected = hardware.apply("to_unsigned" if target == "u32" else "to_signed", source, column, result=target)
    check(source, function_of(f"convert {source} {target}", target), [tuple(column)], expected, target)


@pytest.mark.parametrize("target", ["f32", "f64"])
@pytest.mark.parametrize("source", ["i8", "i32", "i64", "u32"])
def test_integer_to_float_rounds_once(source: str, target: str) -> None:
    rng = Random(hash_of(source, target))
    width = ELEMENTS[source].width
    column = [rng.getrandbits(rng.randrange(1, width + 1)) * rng.choice([1, -1]) % 2**width for _ in range(COUNT // 2)]
    half = [(1 << top) + (1 << top - 24) + rng.choice([-1, 0, 1]) for top in range(25, width - 1) for _ in range(8)]
    column += half
    expected = hardware.apply("from_unsigned" if source == "u32" else "from_signed", source, column, result=target)
    check(source, function_of(f"convert {source} {target}", target), [tuple(column)], expected, target)


def hash_of(*names: str) -> int:
    """A seed that is the same in every run."""
    return int.from_bytes("/".join(names).encode(), "big")
