"""Integer words: every pair of i8 by definition, and the ends of the wider types by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cachet_verify.core.word import ELEMENTS, IEEE, OPERATIONS, DivisionByZero, WordError, function_of


def i8(word: int) -> int:
    return word - 256 if word >= 128 else word


def floor_quotient(x: int, y: int) -> int:
    """The q with x - q*y between 0 and y, y itself left out: counted down or up from a truncation."""
    q = abs(x) // abs(y)
    q = q if (x < 0) == (y < 0) else -q
    return q - 1 if x != q * y and (x < 0) != (y < 0) else q


BY_DEFINITION: dict[str, Callable[[int, int], int]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "max": lambda x, y: x if x > y else y,
    "min": lambda x, y: y if x > y else x,
    "and_": lambda x, y: sum(1 << i for i in range(8) if x >> i & 1 and y >> i & 1),
    "or_": lambda x, y: sum(1 << i for i in range(8) if x >> i & 1 or y >> i & 1),
    "xor": lambda x, y: sum(1 << i for i in range(8) if x >> i & 1 != y >> i & 1),
}


@pytest.mark.parametrize("name", list(BY_DEFINITION))
def test_every_pair_of_i8(name: str) -> None:
    function, meaning = function_of(name, "i8"), BY_DEFINITION[name]
    step = 1 if name in ("add", "sub", "mul", "max", "min") else 3
    for a in range(256):
        for b in range(0, 256, step):
            assert function(a, b) == meaning(i8(a), i8(b)) % 256


def test_every_division_of_i8() -> None:
    div, rem = function_of("div", "i8"), function_of("rem", "i8")
    for a in range(256):
        for b in range(1, 256):
            x, y = i8(a), i8(b)
            q = floor_quotient(x, y)
            r = x - q * y
            assert 0 <= r < y or y < r <= 0
            assert (div(a, b), rem(a, b)) == (q % 256, r % 256)


def test_every_comparison_of_i8() -> None:
    eq, lt, le = (function_of(f"{name} i8", "bool") for name in ("eq", "lt", "le"))
    for a in range(256):
        for b in range(256):
            d = i8(a) - i8(b)
            assert (eq(a, b), lt(a, b), le(a, b)) == (d == 0, d < 0, d <= 0)


def test_every_shift_and_sign_of_i8() -> None:
    shl, shr, neg, absolute, complement = (function_of(name, "i8") for name in ("shl", "shr", "neg", "abs", "not_"))
    for a in range(256):
        x = i8(a)
        assert (neg(a), complement(a)) == (-x % 256, (-x - 1) % 256)
        assert absolute(a) == (x if x >= 0 else -x) % 256
        for n in range(256):
            scale = 2**n
            assert shl(a, n) == x * scale % 256
            assert shr(a, n) == floor_quotient(x, scale) % 256


def test_fma_wraps() -> None:
    fma = function_of("fma", "i8")
    for a in range(0, 256, 5):
        for b in range(0, 256, 7):
            assert fma(a, b, 200) == (i8(a) * i8(b) + i8(200)) % 256


def test_division_by_zero_is_an_error_with_a_name() -> None:
    for elem in ("i8", "i32", "i64", "u32"):
        for name in ("div", "rem"):
            with pytest.raises(DivisionByZero, match="^integer division by zero$"):
                function_of(name, elem)(7, 0)
    assert issubclass(DivisionByZero, WordError)
    assert issubclass(WordError, ValueError)


def test_ends_of_wider_types() -> None:
    low, high, minus_one = 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF
    assert function_of("add", "i32")(high, 1) == low
    assert function_of("add", "u32")(minus_one, 1) == 0
    assert function_of("sub", "u32")(0, 1) == minus_one
    assert function_of("div", "i32")(low, minus_one) == low
    assert function_of("rem", "i32")(low, minus_one) == 0
    assert function_of("neg", "i32")(low) == low
    assert function_of("abs", "i32")(low) == low
    assert function_of("max", "i32")(low, 1) == 1
    assert function_of("max", "u32")(low, 1) == low
    assert function_of("min", "u32")(minus_one, 1) == 1
    assert function_of("shr", "i32")(low, 31) == minus_one
    assert function_of("shr", "u32")(low, 31) == 1
    assert function_of("shr", "u32")(minus_one, 32) == 0
    assert function_of("shl", "i64")(1, 63) == 1 << 63
    assert function_of("shl", "i64")(1, 64) == 0
    assert function_of("shl", "i64")(1, (1 << 64) - 1) == 0
    assert function_of("div", "u32")(minus_one, 2) == high
    assert function_of("div", "i32")(minus_one, 2) == minus_one
    assert function_of("mul", "i64")(1 << 40, 1 << 40) == 0
    assert function_of("lt u32", "bool")(1, minus_one) == 1
    assert function_of("lt i32", "bool")(1, minus_one) == 0


def test_bool() -> None:
    for a in (0, 1):
        assert function_of("not_", "bool")(a) == 1 - a
        for b in (0, 1):
            assert function_of("and_", "bool")(a, b) == function_of("min", "bool")(a, b) == a * b
            assert function_of("or_", "bool")(a, b) == function_of("max", "bool")(a, b) == max(a, b)
            assert function_of("xor", "bool")(a, b) == (a != b)
            assert function_of("lt bool", "bool")(a, b) == (a < b)


def test_shifting_by_an_absurd_count_makes_no_large_integer() -> None:
    for name in ("shl", "shr"):
        assert OPERATIONS[name].function(IEEE, "u32", 5, ELEMENTS["u32"].mask) == 0
