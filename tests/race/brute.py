"""All pairs of iterations at small sizes: which grids have a race, found by running them.

Takes a nest; gives the first race, or an access out of bounds. Shares nothing with the checker.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from tests.race.nest import Nest, Path, Touch

_MOST = 60_000


@dataclass(frozen=True)
class Found:
    """What brute force met first: `race` or `bounds`, the sizes, and the accesses."""

    kind: str
    sizes: tuple[int, ...]
    touches: tuple[Touch, ...]


def found(nest: Nest) -> Found | None:
    """The first fault at small sizes, smallest sums first; none where there is none."""
    run, allowed, extents = nest.python(), nest.allowed(), nest.extents()
    budget = _MOST
    for sizes in _sizes(len(nest.sizes)):
        if budget < 0:
            break
        if not allowed(*sizes):
            continue
        touches: list[Touch] = []
        run(touches.append, *sizes)
        budget -= len(touches)
        shapes = extents(*sizes)
        if any(extent < 0 for shape in shapes.values() for extent in shape):
            return Found("bounds", sizes, ())
        for touch in touches:
            if not all(0 <= index < extent for index, extent in zip(touch.cell, shapes[touch.buffer], strict=True)):
                return Found("bounds", sizes, (touch,))
        race = _race(touches)
        if race is not None:
            return Found("race", sizes, race)
    return None


def _sizes(count: int) -> Iterator[tuple[int, ...]]:
    most = {1: 14, 2: 8, 3: 5}.get(count, 4)
    yield from sorted(product(range(most), repeat=count), key=sum)


def _race(touches: list[Touch]) -> tuple[Touch, Touch] | None:
    by_cell: dict[tuple[str, tuple[int, ...]], dict[Touch, None]] = {}
    for touch in touches:
        by_cell.setdefault((touch.buffer, touch.cell), {})[touch] = None
    for group in by_cell.values():
        for writer in group:
            if writer.writes:
                for other in group:
                    if unordered(writer.path, other.path):
                        return writer, other
    return None


def unordered(ours: Path, theirs: Path) -> bool:
    """Whether two accesses are in different iterations of one run of one grid."""
    for (run, iteration), (other, index) in zip(ours, theirs, strict=False):
        if run != other:
            return False
        if iteration != index:
            return True
    return False
