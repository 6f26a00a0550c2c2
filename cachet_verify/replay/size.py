"""Sizes worth trying: the smallest first, then around the block sizes that programs mention.

Takes programs; gives sizes that meet their requirements. Must not run programs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from heapq import heappop, heappush

from cachet_verify.core.index import Const, Formula, Valuation, holds
from cachet_verify.core.ir import Lanes, Program

Sizes = dict[str, int]
SMALL = (0, 1, 2, 3)
_MOST = 5000


def size_names(*programs: Program) -> tuple[str, ...]:
    """The sizes of programs that are compared, in the order they appear."""
    return tuple(dict.fromkeys(size for program in programs for size in program.sizes))


def literals(*programs: Program) -> tuple[int, ...]:
    """The integers above 3 that the programs' bounds, blocks, shapes and indices mention, ascending."""
    found: set[int] = set()
    stack: list[object] = [part for program in programs for part in (program.body, program.params, program.requires)]
    while stack:
        item = stack.pop()
        if isinstance(item, Const):
            found.add(abs(item.value))
        elif isinstance(item, tuple):
            stack.extend(item)
        elif is_dataclass(item):
            if isinstance(item, Lanes):
                found.add(item.width)
            stack.extend(getattr(item, part.name) for part in fields(item) if part.name != "span")
    return tuple(sorted(value for value in found if value > 3))


class SizeSearch:
    """Enumerates sizes of a pair of programs (or of one) that meet all their requirements."""

    def __init__(self, *programs: Program) -> None:
        self.names = size_names(*programs)
        self.needs: tuple[Formula, ...] = tuple(need.condition for program in programs for need in program.requires)
        blocks = literals(*programs)
        around = [*(block + 1 for block in blocks), *(2 * block + 1 for block in blocks), *blocks]
        around += [*(block - 1 for block in blocks), *(2 * block for block in blocks)]
        self.large = tuple(value for value in dict.fromkeys(around) if value not in SMALL)
        self.values = tuple(sorted({*SMALL, 4, 5, 7, *self.large}))

    def meets(self, sizes: Valuation) -> bool:
        """Whether sizes meet the requirements; a requirement that divides by zero is not met."""
        try:
            return all(holds(need, sizes) for need in self.needs)
        except ZeroDivisionError:
            return False

    def each(self) -> Iterator[Sizes]:
        """Sizes without repeats: small ones by their sum, then one large, all alike, and all by their sum."""
        seen: set[tuple[int, ...]] = set()
        for point in self._points():
            if point not in seen:
                seen.add(point)
                sizes = dict(zip(self.names, point, strict=True))
                if self.meets(sizes):
                    yield sizes

    def _points(self) -> Iterator[tuple[int, ...]]:
        count = len(self.names)
        yield from _by_sum(SMALL, count, _MOST // 10)
        for rest in (1, 2):
            for value in self.large:
                for place in range(count):
                    yield (*(rest,) * place, value, *(rest,) * (count - place - 1))
        for value in self.large:
            yield (value,) * count
        yield from _by_sum(self.values, count, _MOST)

    def lower(self, sizes: Sizes) -> Iterator[Sizes]:
        """Sizes with one of them lowered: to the smallest values first, then by 1."""
        for name in self.names:
            value = sizes[name]
            below = [other for other in self.values if other < value]
            for other in dict.fromkeys((*below, value - 1)):
                if other >= 0:
                    lowered = {**sizes, name: other}
                    if self.meets(lowered):
                        yield lowered


def _by_sum(values: tuple[int, ...], count: int, most: int) -> Iterator[tuple[int, ...]]:
    """Tuples over ascending `values`, by their sum and then lexicographically; at most so many."""
    heap: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = [(values[0] * count, (values[0],) * count, (0,) * count)]
    pushed = {(0,) * count}
    while heap and most > 0:
        most -= 1
        _, point, places = heappop(heap)
        yield point
        for place in range(count):
            nearer = (*places[:place], places[place] + 1, *places[place + 1 :])
            if nearer[place] < len(values) and nearer not in pushed:
                pushed.add(nearer)
                following = tuple(values[at] for at in nearer)
                heappush(heap, (sum(following), following, nearer))
