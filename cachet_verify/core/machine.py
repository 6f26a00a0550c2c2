"""A machine as the cache model sees it: memory levels, vector registers, accumulators of instructions.

Takes numbers that a platform file states; gives immutable tables. Must not know where they come from.
"""

from __future__ import annotations

from dataclasses import dataclass

from cachet_verify.core.index import Index


@dataclass(frozen=True, slots=True)
class Level:
    """A memory level: `capacity` bytes in lines of `line` bytes, shared by `sharers` that each use a like part.

    `names` are what programs call it. A `line` of 1 is memory whose bytes the program places itself. `ways` are the
    lines that one set holds, where the machine states them.
    """

    names: tuple[str, ...]
    capacity: int
    line: int = 1
    sharers: int = 1
    ways: int | None = None

    @property
    def share(self) -> int:
        """The bytes that one of the sharers has."""
        return self.capacity // self.sharers

    @property
    def sets(self) -> int:
        """How many sets of `ways` lines there are; one where no ways are stated."""
        return max(1, self.capacity // (self.line * (self.ways or self.capacity)))


@dataclass(frozen=True, slots=True)
class Machine:
    """What a program has room in: memory levels, and registers.

    `lanes` are the elements of each type in one vector register, `registers` how many of those there are (None: not
    stated); `accumulators` are the bytes in which an instruction, by name, keeps its totals.
    """

    name: str
    levels: tuple[Level, ...]
    lanes: tuple[tuple[str, int], ...] = ()
    registers: int | None = None
    accumulators: tuple[tuple[str, int], ...] = ()

    def level(self, name: str) -> Level | None:
        """The level of that name; None where it has no bound, or the machine has none of the name."""
        return next((level for level in self.levels if name in level.names), None)


@dataclass(frozen=True, slots=True)
class Footprint:
    """How many addresses a layout takes: `size`, in terms of its numbers and its extents."""

    layout: str
    source: str
    params: tuple[str, ...]
    extents: tuple[str, ...]
    size: Index
