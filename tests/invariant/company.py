"""Rows in different company: a program run twice, at sizes that differ, on inputs that agree in one part.

Takes a program, a result and sizes; gives whether the part of the result is the same, by the definition alone: the
inputs are laid out here, cell by cell. Must not use the twins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from random import Random

from cachet_verify.core.algebra import Instance
from cachet_verify.core.index import Var, holds
from cachet_verify.core.ir import Param, Program
from cachet_verify.core.meaning import Executable, shape_of
from cachet_verify.core.memory import Cells
from cachet_verify.replay.trial import word_algebra
from tests.corpus.compare import words

Place = tuple[int, ...]


def ravel(place: Place, shape: Sequence[int]) -> int:
    """The position of a cell in a flat list, row by row."""
    at = 0
    for index, extent in zip(place, shape, strict=True):
        at = at * extent + index
    return at


def parts(param: Param, shape: Sequence[int], rows: Mapping[str, int]) -> dict[Place, int]:
    """The cells of a parameter's part, by their indices in the other dimensions: positions in the flat list."""
    found: dict[Place, int] = {}
    for place in product(*map(range, shape)):
        inside = [next((row for dim, row in rows.items() if term == Var(dim)), None) for term in param.shape]
        if all(row is None or row == index for row, index in zip(inside, place, strict=True)):
            found[tuple(index for row, index in zip(inside, place, strict=True) if row is None)] = ravel(place, shape)
    return found


class Companies:
    """A program compiled once, to be run in any company."""

    def __init__(self, program: Program, buffer: str, dims: Sequence[str], instance: Instance | None = None) -> None:
        self.program = program
        self.buffer = buffer
        self.dims = dims
        self.instance = instance
        self.run = Executable(program, word_algebra(program, instance))

    def meets(self, sizes: Mapping[str, int]) -> bool:
        """Whether the program may be called at some sizes."""
        return all(holds(need.condition, sizes) for need in self.program.requires)

    def filled(self, sizes: Mapping[str, int], chance: Random, kind: str) -> dict[str, Cells]:
        """Words for every parameter."""
        return {param.name: words(param, self.instance, _count(shape_of(param, sizes)), chance, kind) for param in self.program.params}

    def result(self, sizes: Mapping[str, int], rows: Mapping[str, int], cells: dict[str, Cells]) -> dict[Place, int | None]:
        """The part of the result after a run."""
        self.run.run(sizes, cells)
        param = self.program.param(self.buffer)
        return {place: cells[param.name][at] for place, at in parts(param, shape_of(param, sizes), rows).items()}

    def alike(
        self, sizes: tuple[Mapping[str, int], Mapping[str, int]], rows: tuple[Mapping[str, int], Mapping[str, int]], chance: Random, kind: str
    ) -> bool:
        """Whether a part has the same words in two companies, both drawn."""
        first, second = (self.filled(side, chance, kind) for side in sizes)
        for param in self.program.params:
            mine, theirs = (parts(param, shape_of(param, side), row) for side, row in zip(sizes, rows, strict=True))
            for place, at in mine.items():
                second[param.name][theirs[place]] = first[param.name][at]
        return self.result(sizes[0], rows[0], first) == self.result(sizes[1], rows[1], second)

    def pairs(self, values: Sequence[int], chance: Random, count: int) -> Iterator[tuple[tuple[dict[str, int], ...], tuple[dict[str, int], ...]]]:
        """Choices of sizes and positions, some at random."""
        while count > 0:
            count -= 1
            first = {size: chance.choice(values) for size in self.program.sizes}
            second = {**first, **{dim: chance.choice(values) for dim in self.dims}}
            if all(self.meets(side) and all(side[dim] > 0 for dim in self.dims) for side in (first, second)):
                rows = tuple({dim: chance.randrange(side[dim]) for dim in self.dims} for side in (first, second))
                yield (first, second), rows


def _count(shape: Sequence[int]) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count
