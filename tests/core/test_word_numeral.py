"""Literals, printing and conversions of words, by hand."""

from __future__ import annotations

import time

import pytest

from cachet_verify.core.word import (
    ELEMENTS,
    FLUSH,
    WordError,
    float_of_word,
    function_of,
    int_of_word,
    text_of_word,
    word_of_decimal,
    word_of_float,
    word_of_int,
)


@pytest.mark.parametrize(
    ("text", "elem", "word"),
    [
        ("0", "f32", 0),
        ("-0.0", "f32", 0x80000000),
        ("1", "f32", 0x3F800000),
        ("+1.0", "f64", 0x3FF0000000000000),
        ("-2.", "f32", 0xC0000000),
        (".5", "f32", 0x3F000000),
        ("1e-45", "f32", 1),  # 0.71 of the least subnormal, 1.4e-45
        ("7e-46", "f32", 0),  # 0.4995 of it
        ("7.1e-46", "f32", 1),
        ("16777217", "f32", 0x4B800000),  # 2**24 + 1, a tie: to 2**24
        ("16777217.0000000000000001", "f32", 0x4B800001),  # as a double it would be the tie
        ("3.4028235e38", "f32", 0x7F7FFFFF),
        ("3.4028236e38", "f32", 0x7F800000),  # past 2**128 - 2**103 = 3.40282356779...e38
        ("1e400", "f64", 0x7FF0000000000000),
        ("-1e999999999999999999999999", "f64", 0xFFF0000000000000),
        ("1e-999999999999999999999999", "f64", 0),
        ("-0e99999999999", "f16", 0x8000),
        ("5e-324", "f64", 1),
        ("65504", "f16", 0x7BFF),
        ("65519.99", "f16", 0x7BFF),
        ("65520", "f16", 0x7C00),
        ("0.333333333", "bf16", 0x3EAB),
        ("inf", "f32", 0x7F800000),
        ("-inf", "bf16", 0xFF80),
        ("nan", "f64", 0x7FF8000000000000),
        ("127", "i8", 0x7F),
        ("-128", "i8", 0x80),
        ("00000000000000000000000000000007", "i8", 7),
        ("-1", "i64", 0xFFFFFFFFFFFFFFFF),
        ("4294967295", "u32", 0xFFFFFFFF),
        ("true", "bool", 1),
        ("false", "bool", 0),
    ],
)
def test_literals(text: str, elem: str, word: int) -> None:
    assert word_of_decimal(text, elem) == word


@pytest.mark.parametrize(
    ("text", "elem", "message"),
    [
        ("128", "i8", "`128` does not fit `i8`, which holds -128 to 127"),
        ("-1", "u32", "`-1` does not fit `u32`, which holds 0 to 4294967295"),
        ("9" * 50, "i64", f"`{'9' * 30}…` does not fit `i64`, which holds -9223372036854775808 to 9223372036854775807"),
        ("1.0", "i32", "`1.0` is not a literal of `i32`; write an integer, such as `3`"),
        ("", "f32", "`` is not a literal of `f32`; write a decimal, such as `2.5` or `1e-3`"),
        (".", "f32", "`.` is not a literal of `f32`; write a decimal, such as `2.5` or `1e-3`"),
        ("1e", "f64", "`1e` is not a literal of `f64`; write a decimal, such as `2.5` or `1e-3`"),
        ("٣", "f64", "`٣` is not a literal of `f64`; write a decimal, such as `2.5` or `1e-3`"),
        ("+-inf", "f32", "`+-inf` is not a literal of `f32`; write a decimal, such as `2.5` or `1e-3`"),
        ("--inf", "f32", "`--inf` is not a literal of `f32`; write a decimal, such as `2.5` or `1e-3`"),
        ("+-nan", "f32", "`+-nan` is not a literal of `f32`; write a decimal, such as `2.5` or `1e-3`"),
        ("1", "bool", "`1` is not a bool; write `true` or `false`"),
        ("1", "S.Value", "`S.Value` is not an element type; these are: f16, bf16, f32, f64, i8, i32, i64, u32, bool"),
    ],
)
def test_malformed_literals(text: str, elem: str, message: str) -> None:
    with pytest.raises(WordError) as caught:
        word_of_decimal(text, elem)
    assert str(caught.value) == message


def test_enormous_literals_are_read_in_no_time() -> None:
    start = time.perf_counter()
    assert word_of_decimal("1" + "0" * 200_000, "f64") == 0x7FF0000000000000
    assert word_of_decimal("0." + "0" * 200_000 + "1", "f64") == 0
    assert word_of_decimal("1." + "0" * 200_000 + "1", "f32") == 0x3F800000
    assert word_of_decimal("16777217." + "0" * 200_000 + "1", "f32") == 0x4B800001
    assert word_of_decimal("1" + "0" * 200_000 + "e-200000", "f32") == 0x3F800000
    with pytest.raises(WordError):
        word_of_decimal("1" * 200_000, "i64")
    assert time.perf_counter() - start < 2.0


@pytest.mark.parametrize(
    ("word", "elem", "text"),
    [
        (0x40400000, "f32", "3.0"),
        (0x3DCCCCCD, "f32", "0.10000000149011612"),  # the nearest f32 to a tenth, as a double
        (0x3FB999999999999A, "f64", "0.1"),
        (0x80000000, "f32", "-0.0"),
        (0x8000, "f16", "-0.0"),
        (0x7C00, "f16", "inf"),
        (0xFF80, "bf16", "-inf"),
        (0xFFC00001, "f32", "nan"),
        (1, "f32", "1.401298464324817e-45"),
        (1, "f64", "5e-324"),
        (1, "f16", "5.960464477539063e-08"),
        (0x7BFF, "f16", "65504.0"),
        (0xFF, "i8", "-1"),
        (0xFFFFFFFF, "u32", "4294967295"),
        (0, "i64", "0"),
        (1, "bool", "true"),
        (0, "bool", "false"),
    ],
)
def test_printing(word: int, elem: str, text: str) -> None:
    assert text_of_word(word, elem) == text


@pytest.mark.parametrize("elem", ["f16", "bf16", "f32", "f64"])
def test_printed_text_reads_back(elem: str) -> None:
    element = ELEMENTS[elem]
    for word in range(0, element.infinity + 1, max(element.infinity // 500, 1)):
        for signed in (word, word | element.sign):
            assert word_of_decimal(text_of_word(signed, elem), elem) == signed
            assert word_of_float(float_of_word(signed, elem), elem) == signed


def test_integers_and_indices_become_words() -> None:
    assert word_of_int(16777217, "f32") == 0x4B800000
    assert word_of_int(-(10**400), "f64") == 0xFFF0000000000000
    assert word_of_int(-1, "i32") == 0xFFFFFFFF
    assert word_of_int(256, "i8") == 0
    assert word_of_int(256, "bool") == 1
    assert word_of_int(0, "f16") == 0
    assert int_of_word(0x80, "i8") == -128
    for call in (lambda: int_of_word(0, "f32"), lambda: float_of_word(0, "i32"), lambda: word_of_float(1.0, "u32")):
        with pytest.raises(WordError):
            call()


@pytest.mark.parametrize(
    ("source", "target", "word", "result"),
    [
        ("f64", "f32", 0x3FF0000010000000, 0x3F800000),  # 1 + 2**-24: a tie, to 1
        ("f64", "f32", 0x3FF0000010000001, 0x3F800001),
        ("f64", "f16", 0x3FF0020000000000, 0x3C00),  # 1 + 2**-11: a tie, to 1
        ("f32", "f64", 0xFFC12345, 0x7FF8000000000000),  # a NaN becomes the canonical one
        ("f32", "f32", 0xFFC12345, 0xFFC12345),  # but a conversion to the same type moves bits
        ("f32", "i32", 0xBFC00000, 0xFFFFFFFF),  # -1.5 to -1
        ("f32", "i8", 0x43000000, 127),  # 128 saturates
        ("f32", "u32", 0xBF800000, 0),  # -1 saturates
        ("f32", "i64", 0x7FC00000, 0),
        ("f32", "i64", 0xFF800000, 1 << 63),
        ("f64", "bool", 0x8000000000000000, 0),
        ("f64", "bool", 0x7FF8000000000000, 1),
        ("f32", "bool", 0x00000001, 1),
        ("i8", "i32", 0x80, 0xFFFFFF80),
        ("i8", "u32", 0xFF, 0xFFFFFFFF),
        ("u32", "i64", 0xFFFFFFFF, 0xFFFFFFFF),
        ("i64", "i8", 0x1FF, 0xFF),
        ("i64", "bool", 1 << 40, 1),
        ("bool", "f32", 1, 0x3F800000),
        ("bool", "i8", 1, 1),
        ("i64", "f32", 0x4000004000000001, 0x5E800001),  # 2**62 + 2**38 + 1: a double loses the 1, and then ties
        ("u32", "f16", 65520, 0x7C00),
    ],
)
def test_conversions(source: str, target: str, word: int, result: int) -> None:
    assert function_of(f"convert {source} {target}", target)(word) == result


def test_conversions_flush_between_types_only() -> None:
    tiny64 = 0x3800000000000000  # 2**-127, normal as f64, subnormal as f32
    assert function_of("convert f64 f32", "f32", FLUSH)(tiny64) == 0
    assert function_of("convert f64 f32", "f32")(tiny64) == 0x00400000
    assert function_of("convert f32 f64", "f64", FLUSH)(0x80400000) == 1 << 63
    assert function_of("convert f32 f32", "f32", FLUSH)(0x80400000) == 0x80400000
    assert function_of("convert f32 bool", "bool", FLUSH)(0x00400000) == 0
