"""Laws over a semiring that is not known, at ones that are: numbers, and 2 × 2 matrices of them, whose products do not commute.

Takes the sides of a law and values that tell them apart; gives the sides on numbers, and fewer values that do. Must not say that a law holds:
another semiring may tell apart what these do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from cachet_verify.core.family import UnmodelledError
from cachet_verify.core.ir import Load, Op, Value, Word
from cachet_verify.core.numeral import word_of_float
from cachet_verify.replay.law import Difference, Point, difference_at

_NAMES = {"add": "add", "mul": "mul", "mul_add": "fma"}
_CONSTANTS = {"zero": 0.0, "one": 1.0}


def at_numbers(generic: str, value: Value) -> Value:
    """A side with sums and products of numbers for the operations of a semiring."""
    if isinstance(value, Load):
        return value
    if isinstance(value, Op) and value.name.startswith(f"{generic}."):
        name = value.name.removeprefix(f"{generic}.")
        if name in _CONSTANTS and not value.args:
            return Word("f64", word_of_float(_CONSTANTS[name], "f64"))
        if name in _NAMES:
            return Op(_NAMES[name], "f64", tuple(at_numbers(generic, arg) for arg in value.args))
    raise UnmodelledError(f"{value.name if isinstance(value, Op) else type(value).__name__} in a law over a semiring")


def at_matrices(generic: str, value: Value) -> tuple[Value, ...]:
    """A side with sums and products of 2 × 2 matrices for the operations of a semiring, row by row; the cells of `a` are `a.0.0` and so on."""
    if isinstance(value, Load):
        return tuple(Load(name) for name in cell_names(value.buffer))
    args = [at_matrices(generic, arg) for arg in value.args] if isinstance(value, Op) else []
    name = value.name.removeprefix(f"{generic}.") if isinstance(value, Op) and value.name.startswith(f"{generic}.") else ""
    if name in _CONSTANTS and not args:
        return tuple(Word("f64", word_of_float(_CONSTANTS[name] if place in (0, 3) else 0.0, "f64")) for place in range(4))
    if name == "add" and len(args) == 2:
        return tuple(map(_add, *args))
    if name in ("mul", "mul_add") and len(args) >= 2:
        a, b = args[:2]
        times = tuple(_add(_mul(a[row], b[col]), _mul(a[row + 1], b[col + 2])) for row in (0, 2) for col in (0, 1))
        return times if name == "mul" else tuple(map(_add, args[2], times))
    raise UnmodelledError(f"{name or type(value).__name__} in a law over a semiring")


def cell_names(name: str) -> tuple[str, ...]:
    """The names of the cells of a matrix."""
    return tuple(f"{name}.{row}.{col}" for row in range(2) for col in range(2))


def _add(left: Value, right: Value) -> Value:
    return Op("add", "f64", (left, right))


def _mul(left: Value, right: Value) -> Value:
    return Op("mul", "f64", (left, right))


def sparse(variables: Sequence[Point], left: Sequence[Value], right: Sequence[Value], found: Difference) -> Difference:
    """A difference with as many values 0 as can be, by halves, quarters and so on; the others are listed."""
    at = {name: Decimal(value) for name, value in found.values.items()}
    names = [name for variable in variables for name, _ in variable.fields]
    size = len(names)
    best = found
    while size:
        for start in range(0, len(names), size):
            tried = {**at, **dict.fromkeys(names[start : start + size], Decimal(0))}
            seen = difference_at(tried, left, right) if tried != at else None
            if seen is not None:
                at, best = tried, seen
        size //= 2
    kept = {name: value for name, value in best.values.items() if Decimal(value) != 0}
    kept = kept or dict(list(best.values.items())[:1])
    return Difference(kept, best.part, best.left, best.right)
