"""What two programs really do: both run at every small size, on terms and on words.

Takes a meaning and programs said to compute it; gives the first departure. It uses the interpreter
alone: no lowering, no rule, no solver. Must not be told why a program was accepted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from random import Random
from typing import Any

from cachet_verify.core.algebra import Instance, TermAlgebra, WordAlgebra
from cachet_verify.core.index import Const, holds
from cachet_verify.core.ir import Lanes, Program
from cachet_verify.core.meaning import Executable, arithmetic_of, capacity, shape_of
from cachet_verify.core.memory import BudgetError, Cells, MeaningError
from cachet_verify.core.word import ELEMENTS
from cachet_verify.replay.instance import SEMIRINGS
from tests.mutate.site import parts

MOST_POINTS = 350
"""Sizes tried for one program: all of them where there are no more than so many."""

_UPDATES = 2_000_000
_WORD_POINTS = 3
_HOSTILE = {
    16: (0x0000, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0x7E00, 0x0001, 0x6800),
    32: (0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0x7FC00000, 0x00000001, 0x4CBEBC20, 0xCCBEBC20),
    64: (0, 1 << 63, 0x3FF0000000000000, 0x7FF0000000000000, 0x7FF8000000000000, 1, 0x4376345785D8A000),
}


def largest(program: Program) -> int:
    """The largest block, width or literal of a program."""
    found = 0
    for item in parts((program.body, program.params, program.requires)):
        if isinstance(item, Const):
            found = max(found, abs(item.value))
        elif isinstance(item, Lanes):
            found = max(found, item.width)
    return found


def points(program: Program, most: int = MOST_POINTS) -> list[dict[str, int]]:
    """Sizes from 0 past the largest block that meet a program's requirements; a drawn part of them where they are many."""
    names = program.sizes
    block = min(max(largest(program), 2), 8)
    top = 2 * block if program.requires else block + 2
    everything: list[tuple[int, ...]] = list(product(range(top + 1), repeat=len(names)))
    if len(everything) > most:
        chance = Random(len(everything))
        ends = list(product((0, 1, top), repeat=len(names)))
        drawn = chance.sample(everything, most - min(len(ends), most // 3))
        everything = list(dict.fromkeys((*ends[: most // 3], *drawn)))
    found = [dict(zip(names, point, strict=True)) for point in everything]
    return [sizes for sizes in found if _meets(program, sizes)]


def _meets(program: Program, sizes: Mapping[str, int]) -> bool:
    try:
        return all(holds(need.condition, sizes) for need in program.requires)
    except ZeroDivisionError:
        return False


class Oracle:
    """One meaning, and what it leaves in memory at each size."""

    def __init__(self, meaning: Program) -> None:
        self.meaning = meaning
        self.terms = TermAlgebra()
        self.run = Executable(meaning, self.terms)
        self.known: dict[tuple[tuple[str, int], ...], dict[str, Cells]] = {}
        self.tried = 0

    def departure(self, program: Program, most: int = MOST_POINTS) -> str | None:
        """How a program departs from the meaning, with sizes; None where it does not at any size tried."""
        try:
            executable = Executable(program, self.terms)
        except MeaningError as error:
            return f"has no meaning: {error}"
        found = points(program, most)
        for sizes in found:
            self.tried += 1
            why = self._at(program, executable, sizes)
            if why is not None:
                return f"{why} at {sizes}"
        chance = Random(7)
        for sizes in [*found[-1:], *(chance.sample(found, min(_WORD_POINTS, len(found))))]:
            why = self._in_words(program, sizes, chance)
            if why is not None:
                return f"{why} at {sizes}"
        return None

    def _at(self, program: Program, executable: Executable, sizes: Mapping[str, int]) -> str | None:
        try:
            before = self._before(sizes)
        except (MeaningError, BudgetError) as error:
            return f"the meaning has a fault: {error}"
        after = _first(self.terms, program, sizes)
        if isinstance(after, str):
            return after
        try:
            executable.run(sizes, after, budget=_UPDATES, shuffle=Random(3))
        except (MeaningError, BudgetError) as error:
            return f"a fault: {error!r}"
        return _difference(self.meaning, program, before, after)

    def _before(self, sizes: Mapping[str, int]) -> dict[str, Cells]:
        own = {name: sizes[name] for name in self.meaning.sizes}
        key = tuple(own.items())
        if key not in self.known:
            cells = _first(self.terms, self.meaning, own)
            if isinstance(cells, str):
                raise MeaningError("size", cells)
            self.run.run(own, cells, budget=_UPDATES)
            self.known[key] = cells
        return self.known[key]

    def _in_words(self, program: Program, sizes: Mapping[str, int], chance: Random) -> str | None:
        for instance in SEMIRINGS if program.generics else (None,):
            before = _filled(self.meaning, sizes, instance, chance)
            after = {param.name: list(before.get(param.name, ())) for param in program.params}
            for param in program.params:
                if param.scratch:
                    after[param.name] = [None] * capacity(shape_of(param, sizes))
            own = {name: sizes[name] for name in self.meaning.sizes}
            Executable(self.meaning, _words(self.meaning, instance)).run(own, before, budget=_UPDATES)
            Executable(program, _words(program, instance)).run(sizes, after, budget=_UPDATES)
            why = _difference(self.meaning, program, before, after)
            if why is not None:
                return why
        return None


def _first(algebra: TermAlgebra, program: Program, sizes: Mapping[str, int]) -> dict[str, Cells] | str:
    """Memory before a call: a term of its own in every cell, nothing in scratch."""
    found: dict[str, Cells] = {}
    for param in program.params:
        try:
            count = capacity(shape_of(param, sizes))
        except MeaningError as error:
            return f"a parameter without a shape: {error}"
        found[param.name] = [None] * count if param.scratch else [algebra.cell(param.name, place) for place in range(count)]
    return found


def _filled(program: Program, sizes: Mapping[str, int], instance: Instance | None, chance: Random) -> dict[str, Cells]:
    found: dict[str, Cells] = {}
    for param in program.params:
        elem = param.elem if param.elem in ELEMENTS or instance is None else instance.elem
        width = ELEMENTS[elem].width
        hostile = _HOSTILE.get(width, (0, 1)) if ELEMENTS[elem].kind == "float" else (0, 1, (1 << width) - 1)
        count = capacity(shape_of(param, sizes))
        found[param.name] = [chance.choice(hostile) if chance.random() < 0.3 else chance.getrandbits(width) for _ in range(count)]
    return found


def _words(program: Program, instance: Instance | None) -> WordAlgebra:
    names = [name for name, _ in program.generics]
    return WordAlgebra(arithmetic_of(program), {} if instance is None else dict.fromkeys(names, instance))


def _difference(meaning: Program, program: Program, before: Mapping[str, Cells], after: Mapping[str, Cells]) -> str | None:
    for param in meaning.params:
        if param.scratch:
            continue
        for place, (ours, theirs) in enumerate(_zipped(before[param.name], after.get(param.name))):
            if ours != theirs:
                return f"{param.name}[{place}] differs: {ours} against {theirs}"
    return None


def _zipped(ours: Any, theirs: Any) -> Iterator[tuple[Any, Any]]:
    if theirs is None or len(ours) != len(theirs):
        yield len(ours), None if theirs is None else -len(theirs)
        return
    yield from zip(ours, theirs, strict=True)
