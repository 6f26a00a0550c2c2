"""Which core operation an operator or a function of the language is, by element type.

Takes names and element types; gives core operation names and word literals.
Must not look at scopes or syntax trees.
"""

from __future__ import annotations

from cachet_verify.core.element import ELEMENTS
from cachet_verify.core.ir import Word
from cachet_verify.core.outer import PRIMITIVES

ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "rem"}
LOGIC = {"and": "and_", "or": "or_"}
UNIFORM = {
    "fma": ("fma", 3),
    "max": ("max", 2),
    "min": ("min", 2),
    "abs": ("abs", 1),
    "sqrt": ("sqrt", 1),
    "and_": ("and_", 2),
    "or_": ("or_", 2),
    "xor": ("xor", 2),
    "not_": ("not_", 1),
    "shl": ("shl", 2),
    "shr": ("shr", 2),
}
"""Functions whose operands and result have one type: the core name and the number of operands."""

PRODUCTS = ("mma", "mma_block")
"""The product of tiles, and the body of an instruction that multiplies blocks."""

_LANES = ("splat", "slice_lanes", *PRIMITIVES)
RESERVED = (*UNIFORM, *PRODUCTS, *_LANES, "select", "from_bits", "to_bits", "repeat", "descriptor", "floor", "ceil", "alloc", "print")
"""Function names of the language itself; a declaration cannot take them."""

ELEMENTARY = ("exp", "log")
"""Functions that the standard library defines, by element type."""

LATER = ("descriptor",)
"""Functions without a meaning yet."""


def is_generic(elem: str) -> bool:
    """Whether an element type is opaque, such as `S.Value`."""
    return elem.endswith(".Value")


def is_known(elem: str) -> bool:
    """Whether a name is a built-in element type."""
    return elem in ELEMENTS


def is_float(elem: str) -> bool:
    """Whether an element type is a built-in float."""
    return elem in ELEMENTS and ELEMENTS[elem].kind == "float"


def carrier(elem: str) -> str:
    """The integer type that holds the bits of a float type."""
    return "i64" if ELEMENTS[elem].width == 64 else "u32"


def accepts(operation: str, elem: str) -> bool:
    """Whether a core operation is defined on a built-in element type."""
    from cachet_verify.core.word import OPERATIONS

    return ELEMENTS[elem].kind in OPERATIONS[operation].kinds


def literal(text: str, elem: str) -> Word:
    """The word of a literal. Raises WordError when it is none of that type."""
    from cachet_verify.core.numeral import word_of_decimal

    return Word(elem, word_of_decimal(text, elem))


def infinity(elem: str, negative: bool) -> Word:
    """The word of plus or minus infinity, of a float type."""
    element = ELEMENTS[elem]
    return Word(elem, element.infinity | (element.sign if negative else 0))
