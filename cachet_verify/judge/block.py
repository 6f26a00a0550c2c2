"""A block of a few elements written out: its elements combined one after the other, and its lines.

Takes a reduction and a count; gives the variables and the two sides of what the law of blocks says of that many
elements. Must not conclude: values that tell the sides apart refute the law, and nothing here proves it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cachet_verify.core.ir import Fold, Load, Op, Reduction, Value, Word
from cachet_verify.kernel.blockwise import form_of
from cachet_verify.kernel.regroup import bare, combine, inlined, variable_of
from cachet_verify.replay.law import Difference, Point, find_difference

_COUNTS = (1, 2, 3)
Sides = tuple[tuple[Point, ...], tuple[Value, ...], tuple[Value, ...]]


def unrolled(reduction: Reduction, count: int) -> Sides:
    """The variables, the elements one after the other, and the block at once. Raises RuleError for lines that are not read."""
    form = form_of(reduction)
    before = variable_of(reduction, "a")
    points = [Point(before.fields, tuple(words for _, words in before.points))]
    points += [Point(((element_name(name, place), elem),)) for place in range(count) for name, elem in form.keys]
    left: tuple[Value, ...] = tuple(Load(name) for name, _ in before.fields)
    for place in range(count):
        at = {name: Load(element_name(name, place)) for name, _ in form.keys}
        left = combine(reduction, left, tuple(inlined(value, at) for value in form.element))
    known: dict[str, Value] = {}
    for term in form.terms:
        known[term.name] = _written_out(term.value, known, count) if isinstance(term.value, Fold) else inlined(term.value, known)
    right = (inlined(value, known) for value in form.result)
    return tuple(points), tuple(map(bare, left)), tuple(map(bare, right))


@dataclass(frozen=True, slots=True)
class BlockDifference:
    """A block of `count` elements for which the law of blocks is false: `part` of how many parts differs, with what values."""

    count: int
    parts: int
    found: Difference

    @property
    def says(self) -> str:
        """What does not hold."""
        which = "the two sides are equal" if self.parts == 1 else f"part {self.found.part} of the two sides is equal"
        return f"{which}, for a block of {self.count} element{'s' if self.count > 1 else ''}"


def block_difference(reduction: Reduction) -> BlockDifference | None:
    """The first values that tell a block from its elements, among those tried for blocks of a few elements."""
    for count in _COUNTS:
        points, left, right = unrolled(reduction, count)
        found = find_difference("reals", points, left, right)
        if found is not None:
            return BlockDifference(count, len(left), found)
    return None


def element_name(name: str, place: int) -> str:
    """What an element of an array over the block is called: `s[1]`; of one that holds a cell of each, `v[2]`, as it is written, `v[1][2]`."""
    whole, opened, cell = name.partition("[")
    return f"{whole}[{place}]{opened}{cell}"


def _written_out(fold: Fold, known: Mapping[str, Value], count: int) -> Value:
    """A total step by step."""
    total = inlined(fold.init, known)
    for place in range(count):
        total = _at(fold.step, {**known, fold.acc: total}, place)
    return total


def _at(value: Value, known: Mapping[str, Value], place: int) -> Value:
    """A step at one element."""
    if isinstance(value, Load):
        return Load(element_name(value.buffer, place)) if value.index else known.get(value.buffer, value)
    if isinstance(value, Op):
        return Op(value.name, value.elem, tuple(_at(arg, known, place) for arg in value.args))
    return value if isinstance(value, Word) else inlined(value, known)
