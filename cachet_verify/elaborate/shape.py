"""What values of several parts consist of: records, and arrays of so many words that stand inside them.

Takes names and element types; gives shapes, and values taken apart. An array is its cells, in lexicographic order, each a
part named `[2]`, or `[1,0]` where it has two dimensions; a record's parts are those of its fields, `o[2]`. Must not look at syntax.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from cachet_verify.core.ir import Value
from cachet_verify.elaborate.scope import ValueType

MOST_CELLS = 256
"""Cells of an array that is a value."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a value consists of: the name of its record or the type of its array, empty for a word, and each part's name and type.

    `dims` are the extents of an array; `fields` are those of a record, in the order of its parts.
    """

    record: str
    parts: tuple[tuple[str, ValueType], ...]
    dims: tuple[int, ...] = ()
    fields: tuple[tuple[str, Shape], ...] = ()

    def field(self, name: str) -> Shape | None:
        """The shape of a field; None where there is none of that name."""
        return dict(self.fields).get(name)


@dataclass(frozen=True, slots=True)
class Parts:
    """A value taken apart."""

    shape: Shape
    values: tuple[Value, ...]

    def part(self, name: str) -> Parts | None:
        """The parts of a field; None where there is none of that name."""
        start = 0
        for known, shape in self.shape.fields:
            if known == name:
                return Parts(shape, self.values[start : start + len(shape.parts)])
            start += len(shape.parts)
        return None

    def cell(self, at: Sequence[int]) -> Value | None:
        """A cell of an array; None where it has none there."""
        name = cell_name(at)
        return next((value for (known, _), value in zip(self.shape.parts, self.values, strict=True) if known == name), None)


def word_shape(kind: ValueType) -> Shape:
    """The shape of a word."""
    return Shape("", (("", kind),))


def array_shape(kind: ValueType, dims: Sequence[int]) -> Shape:
    """The shape of an array of words."""
    cells = tuple((cell_name(at), kind) for at in product(*(range(extent) for extent in dims)))
    return Shape(f"[{kind.text()}; {', '.join(map(str, dims))}]", cells, tuple(dims))


def record_shape(name: str, fields: Sequence[tuple[str, Shape]]) -> Shape:
    """The shape of a record of words and arrays."""
    parts = tuple((part_name(field, part), kind) for field, shape in fields for part, kind in shape.parts)
    return Shape(name, parts, (), tuple(fields))


def cell_name(at: Sequence[int]) -> str:
    """The part that is a cell of an array."""
    return f"[{','.join(map(str, at))}]"


def part_name(whole: str, part: str) -> str:
    """What a part of a named value is called: `a.m`, `v[2]`, `a.o[2]`; a word has the name itself."""
    return f"{whole}.{part}" if part and not part.startswith("[") else f"{whole}{part}"


def local_name(name: str) -> str:
    """What a local that holds a part may be called: `v2` for the cell `v[2]`, `v1_0` for `v[1,0]`."""
    return name.replace("[", "").replace("]", "").replace(",", "_")


def words_in(shape: Shape) -> tuple[tuple[str, str], ...]:
    """The parts of a value and their element types, by names that locals may have, each another: `o0` for the cell `o[0]`."""
    found: dict[str, str] = {}
    for name, kind in shape.parts:
        own = free = local_name(name)
        number = 1
        while free in found:
            free, number = f"{own}'{number}", number + 1
        found[free] = kind.elem
    return tuple(found.items())
