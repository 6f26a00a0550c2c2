"""Floating-point words by hand: every expected word here is worked out in its comment."""

from __future__ import annotations

import pytest

from cachet_verify.core.softfloat import SoftFloat
from cachet_verify.core.word import ELEMENTS, FLUSH, IEEE, Arithmetic, WordFunction, function_of

FLOATS = ["f16", "bf16", "f32", "f64"]
ARITHMETICS = [IEEE, FLUSH]
ONE, TWO, INFINITY, NAN, MINUS = 0x3F800000, 0x40000000, 0x7F800000, 0x7FC00000, 0x80000000


def test_canonical_words_of_each_type() -> None:
    expected = {
        "f16": (0x7C00, 0x7E00, 0x8000, 0x0400),
        "bf16": (0x7F80, 0x7FC0, 0x8000, 0x0080),
        "f32": (0x7F800000, 0x7FC00000, 0x80000000, 0x00800000),
        "f64": (0x7FF0000000000000, 0x7FF8000000000000, 0x8000000000000000, 0x0010000000000000),
    }
    for name, words in expected.items():
        element = ELEMENTS[name]
        assert (element.infinity, element.nan, element.sign, element.hidden) == words


def both(name: str) -> list[WordFunction]:
    """The function offered for f32 and the exact one it stands for."""
    return [function_of(name, "f32"), getattr(SoftFloat(ELEMENTS["f32"]), name)]


def test_fma_rounds_once_where_a_double_in_between_would_round_twice() -> None:
    """(1 + 2**-12)**2 = 1 + 2**-11 + 2**-24 lies half-way between two f32. With 2**-100 added it is
    above half-way and rounds up, to 1 + 2**-11 + 2**-23. A double drops the 2**-100, leaving the
    tie, which goes to the even neighbour below: 1 + 2**-11."""
    a, c = 0x3F800800, 0x0D800000
    for fma in both("fma"):
        assert fma(a, a, c) == 0x3F801001
        assert fma(a, a, c | MINUS) == 0x3F801000
        assert fma(a, a, 0) == 0x3F801000
    x = 1 + 2.0**-12
    assert x * x + 2.0**-100 == 1 + 2.0**-11 + 2.0**-24


def test_fma_differs_from_a_rounded_product() -> None:
    """(1 + 2**-23)(1 - 2**-23) - 1 = -2**-46; rounding the product first gives 1, and 0."""
    for fma in both("fma"):
        assert fma(0x3F800001, 0x3F7FFFFE, ONE | MINUS) == (127 - 46) << 23 | MINUS


def test_fma_rounds_once_where_the_result_is_subnormal() -> None:
    """2**-75 * 2**-75 = 2**-150 is half the least subnormal: a tie, to 0. 2**-149 * (1 + 2**-23) * 2**-1
    is above it, and gives the least subnormal; with -2**-149 the tie at 2**-150 below goes to even 0."""
    for fma in both("fma"):
        assert fma((127 - 75) << 23, (127 - 75) << 23, 0) == 0
        assert fma(1, 0x3F000001, 0) == 1
        assert fma(1, 0x3F000000, 1) == 2  # 1.5 units: a tie between 1 and 2, to the even one
        assert fma(1, 0x3F000000, 2) == 2  # 2.5 units: to 2
        assert fma(1, 0x3F000001, 2) == 3


def test_signs_of_zero() -> None:
    add, sub, mul, fma = (function_of(name, "f32") for name in ("add", "sub", "mul", "fma"))
    assert add(MINUS, MINUS) == MINUS
    assert add(0, MINUS) == add(MINUS, 0) == add(0, 0) == 0
    assert add(ONE, ONE | MINUS) == 0
    assert sub(MINUS, 0) == MINUS
    assert sub(MINUS, MINUS) == 0
    assert mul(MINUS, ONE) == MINUS
    assert mul(MINUS, ONE | MINUS) == 0
    assert fma(0, 0, MINUS) == 0  # so a zero-padded sum is another program
    assert fma(MINUS, ONE, MINUS) == MINUS
    assert fma(ONE, ONE, ONE | MINUS) == 0
    assert function_of("div", "f32")(ONE, MINUS) == INFINITY | MINUS
    assert function_of("sqrt", "f32")(MINUS) == MINUS


@pytest.mark.parametrize("arithmetic", ARITHMETICS, ids=lambda a: a.name)
@pytest.mark.parametrize("elem", FLOATS)
def test_results_that_are_no_number_are_the_canonical_nan(elem: str, arithmetic: Arithmetic) -> None:
    element = ELEMENTS[elem]
    infinity, sign, nan = element.infinity, element.sign, element.nan
    signalling = sign | infinity | 1
    one = SoftFloat(element).rounded(False, 1, 0)
    f = {name: function_of(name, elem, arithmetic) for name in ("add", "sub", "mul", "div", "fma", "sqrt", "max", "min")}
    results = [f["add"](infinity, infinity | sign), f["sub"](infinity, infinity), f["mul"](infinity, sign), f["mul"](0, infinity)]
    results += [f["div"](0, sign), f["div"](infinity, infinity | sign), f["sqrt"](one | sign), f["sqrt"](infinity | sign)]
    results += [f["fma"](infinity, 0, one), f["fma"](infinity, one, infinity | sign), f["fma"](0, infinity, signalling)]
    for other in (0, one, infinity, sign | infinity, nan):
        for name in ("add", "sub", "mul", "div", "max", "min"):
            results += [f[name](signalling, other), f[name](other, signalling)]
        results += [f["fma"](signalling, other, other), f["fma"](other, signalling, other), f["fma"](other, other, signalling)]
    assert set(results) == {nan}
    assert f["sqrt"](signalling) == nan


@pytest.mark.parametrize("arithmetic", ARITHMETICS, ids=lambda a: a.name)
@pytest.mark.parametrize("elem", FLOATS)
def test_infinities(elem: str, arithmetic: Arithmetic) -> None:
    element = ELEMENTS[elem]
    infinity, sign, largest = element.infinity, element.sign, element.infinity - 1
    f = {name: function_of(name, elem, arithmetic) for name in ("add", "mul", "div", "fma", "sqrt")}
    assert f["add"](largest, largest) == infinity
    assert f["add"](largest | sign, largest | sign) == infinity | sign
    assert f["mul"](largest, largest | sign) == infinity | sign
    assert f["fma"](largest, largest, infinity | sign) == infinity | sign
    assert f["fma"](largest, largest, largest | sign) == infinity
    assert f["add"](infinity, largest | sign) == infinity
    assert f["div"](largest, infinity | sign) == sign
    assert f["div"](largest | sign, 0) == infinity | sign
    assert f["sqrt"](infinity) == infinity


@pytest.mark.parametrize("elem", FLOATS)
def test_overflow_begins_half_a_unit_above_the_largest_number(elem: str) -> None:
    """largest + half a unit is a tie, away from the odd largest: infinity; just less stays."""
    element = ELEMENTS[elem]
    largest = element.infinity - 1
    field = (largest >> (element.precision - 1)) - element.precision
    half_unit = field << (element.precision - 1)
    add = function_of("add", elem)
    assert add(largest, half_unit) == element.infinity
    assert add(largest, half_unit - 1) == largest


@pytest.mark.parametrize("arithmetic", ARITHMETICS, ids=lambda a: a.name)
@pytest.mark.parametrize("elem", FLOATS)
def test_maximum_and_minimum_order_the_zeros(elem: str, arithmetic: Arithmetic) -> None:
    element = ELEMENTS[elem]
    largest, smallest = (function_of(name, elem, arithmetic) for name in ("max", "min"))
    assert largest(element.sign, 0) == largest(0, element.sign) == 0
    assert smallest(element.sign, 0) == smallest(0, element.sign) == element.sign
    ordered = [element.infinity | element.sign, element.hidden + 1 | element.sign, element.hidden | element.sign, element.sign]
    ordered += [0, element.hidden, element.hidden + 1, element.infinity]
    for i, low in enumerate(ordered):
        for high in ordered[i:]:
            assert largest(low, high) == largest(high, low) == high
            assert smallest(low, high) == smallest(high, low) == low


@pytest.mark.parametrize("elem", FLOATS)
def test_comparisons_are_of_values(elem: str) -> None:
    element = ELEMENTS[elem]
    eq, lt, le = (function_of(f"{name} {elem}", "bool") for name in ("eq", "lt", "le"))
    assert (eq(0, element.sign), lt(element.sign, 0), le(0, element.sign)) == (1, 0, 1)
    assert (eq(1, 1 | element.sign), lt(1 | element.sign, 1), le(1, 1 | element.sign)) == (0, 1, 0)
    for other in (0, element.nan, element.infinity):
        assert not any(f(element.nan, other) or f(other, element.nan) for f in (eq, lt, le))


def test_flushing_replaces_subnormal_operands_and_tiny_results() -> None:
    subnormal, least = 0x00400000, 0x00800000  # 2**-127, 2**-126
    add, mul, fma, div = (function_of(name, "f32", FLUSH) for name in ("add", "mul", "fma", "div"))
    assert add(subnormal, subnormal) == 0  # both operands are zeros by then
    assert add(subnormal | MINUS, MINUS) == MINUS
    assert add(least + 1, least | MINUS) == 0  # the exact difference is 2**-149
    assert add(least | MINUS, least + 1) == 0
    assert add(least, (least + 1) | MINUS) == MINUS  # a flushed result keeps its sign
    assert mul(least | MINUS, 0x3F000000) == MINUS
    assert mul(least, ONE) == least
    assert div(ONE, subnormal | MINUS) == INFINITY | MINUS
    assert div(subnormal, subnormal) == NAN
    assert fma(least, 0x3F000000, least) == 0x00C00000  # the product inside is not flushed: 1.5 * 2**-126
    assert fma(subnormal, TWO, least) == least  # the operand is
    assert function_of("mul", "f32")(least, 0x3F000000) == subnormal


def test_tininess_is_judged_after_rounding() -> None:
    """(1 - 2**-24) * 2**-126 has 24 significant bits, so unbounded rounding leaves it below 2**-126: tiny.
    (1 - 2**-46) * 2**-126 rounds to 2**-126 at 24 bits: not tiny. IEEE's own word is 2**-126 for both,
    the first as a tie among subnormals."""
    least = 0x00800000
    for arithmetic, first in ((IEEE, least), (FLUSH, 0)):
        mul = function_of("mul", "f32", arithmetic)
        assert mul(0x3F7FFFFF, least) == first
        fma = function_of("fma", "f32", arithmetic)
        # 2**-126 * (1 + 2**-23) * (1 - 2**-23), by way of 2**-63 factors: exponents add to -126
        assert mul(0x20000001, 0x1FFFFFFE) == least
        assert fma(0x20000001 | MINUS, 0x1FFFFFFE, MINUS) == least | MINUS


def test_flushing_comparisons_and_extremes_see_zeros() -> None:
    assert function_of("eq f32", "bool", FLUSH)(1, MINUS) == 1
    assert function_of("lt f32", "bool", FLUSH)(1, 2) == 0
    assert function_of("lt f32", "bool", IEEE)(1, 2) == 1
    assert function_of("max", "f32", FLUSH)(1 | MINUS, 2 | MINUS) == MINUS
    assert function_of("min", "f32", FLUSH)(1, 2) == 0


@pytest.mark.parametrize("arithmetic", ARITHMETICS, ids=lambda a: a.name)
def test_sign_operations_keep_payloads_and_subnormals(arithmetic: Arithmetic) -> None:
    neg, absolute = (function_of(name, "f32", arithmetic) for name in ("neg", "abs"))
    assert neg(0x7F800001) == 0xFF800001
    assert (neg(0), neg(MINUS | 5), absolute(MINUS | 5), absolute(0xFFC00001)) == (MINUS, 5, 5, 0x7FC00001)


def test_narrow_types_by_hand() -> None:
    """f16: 1 + 2**-11 is half-way, to even 1; bf16: 1 + 2**-8 likewise. 65504 is the largest f16."""
    add16, add_b = function_of("add", "f16"), function_of("add", "bf16")
    assert add16(0x3C00, 0x1000) == 0x3C00
    assert add16(0x3C01, 0x1000) == 0x3C02
    assert add16(0x7BFF, 0x3C00) == 0x7BFF
    assert add16(0x7BFF, 0x4C00) == 0x7C00  # + 16, half a unit
    assert add_b(0x3F80, 0x3B80) == 0x3F80
    assert add_b(0x3F81, 0x3B80) == 0x3F82
    assert function_of("sqrt", "f16")(0x4400) == 0x4000
    assert function_of("div", "bf16")(0x3F80, 0x4040) == 0x3EAB  # 1/3 = 0x3EAAAAAB, upper half rounded up


def test_f16_fma_is_not_rounded_through_f32() -> None:
    """481 * 545 = 2**18 + 1, so (481 * 2**-10)(545 * 2**-19) + 1 = 1 + 2**-11 + 2**-29, just above the
    half-way point 1 + 2**-11. An f32 drops the 2**-29 and leaves the tie, which goes down to 1."""
    fma = function_of("fma", "f16")
    assert fma(0x3784, 0x1442, 0x3C00) == 0x3C01
    assert fma(0x2C00, 0x2000, 0x3C00) == 0x3C00  # 2**-4 * 2**-7 + 1, the tie itself
