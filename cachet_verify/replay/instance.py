"""Instances at which programs that are generic in a semiring are replayed.

Takes nothing; gives the words and operations of a few semirings. Must not stand in for the
library's own definitions: a replay at one of these is a fact about the operations written here.
"""

from __future__ import annotations

from cachet_verify.core.algebra import Instance
from cachet_verify.core.ir import Load, Op, Word
from cachet_verify.core.word import word_of_decimal

_A, _B, _C = Load("0"), Load("1"), Load("2")


def plus_times(elem: str, zero: str) -> Instance:
    """Addition and multiplication, the two in one rounding where they come together."""
    return Instance(
        f"PlusTimes {elem}",
        elem,
        {
            "zero": Word(elem, word_of_decimal(zero, elem)),
            "one": Word(elem, word_of_decimal("1", elem)),
            "add": Op("add", elem, (_A, _B)),
            "mul": Op("mul", elem, (_A, _B)),
            "mul_add": Op("fma", elem, (_A, _B, _C)),
        },
    )


def min_plus(elem: str) -> Instance:
    """The smaller of two for addition, their sum for multiplication."""
    return Instance(
        f"MinPlus {elem}",
        elem,
        {
            "zero": Word(elem, word_of_decimal("inf", elem)),
            "one": Word(elem, word_of_decimal("-0.0", elem)),
            "add": Op("min", elem, (_A, _B)),
            "mul": Op("add", elem, (_A, _B)),
            "mul_add": Op("min", elem, (Op("add", elem, (_A, _B)), _C)),
        },
    )


SEMIRINGS = (plus_times("f32", "-0.0"), min_plus("f32"), plus_times("i32", "0"))
"""In the order in which they are tried."""
