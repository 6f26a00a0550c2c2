"""The monoids of `cachet:monoid` by the operation that combines two words.

Takes values of the core; gives names and words. Must not know what a program does with them: a name is only
shown, and what is shown reads back as the operation that it names.
"""

from __future__ import annotations

from cachet_verify.core.ir import Load, Op, Value, Word
from cachet_verify.core.numeral import word_of_float

_NAMES = {"add": ("Sum", -0.0), "max": ("Max", float("-inf")), "min": ("Min", float("inf"))}
"""The name of the monoid of an operation, and the word that changes nothing."""

_ELEMENTS = ("f32", "f64")


def is_combining(value: Value, start: Value) -> bool:
    """Whether an operation combines two words as a monoid does, and `start` is the word that changes nothing."""
    return name_of(value) is not None and isinstance(value, Op) and start == Word(value.elem, word_of_float(_NAMES[value.name][1], value.elem))


def name_of(value: Value) -> tuple[str, str] | None:
    """The name and the type of the monoid that combines by an operation on two loads; None where there is none."""
    if not isinstance(value, Op) or value.name not in _NAMES or value.elem not in _ELEMENTS:
        return None
    return (_NAMES[value.name][0], value.elem) if all(isinstance(arg, Load) for arg in value.args) else None
