"""Memory of the interpreter: cells with bounds, what went wrong, and who touched a cell in a grid.

Takes shapes and words; gives checked places. Must not know about statements or operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count

from cachet_verify.source import Span

Cells = list["int | None"]
"""The words of a buffer, row by row; None is an unspecified word."""


class MeaningError(Exception):
    """A program without a meaning at these sizes.

    `kind` is one of `bounds`, `unspecified`, `division`, `size`, `block`, `race`, `window`,
    `requires`, `read-only`, `scope`, `operation`. `text` is one sentence; `buffer` and
    `index` name the cell it is about, where it is about one.
    """

    def __init__(self, kind: str, text: str, span: Span | None = None, buffer: str | None = None, index: tuple[int, ...] = ()) -> None:
        super().__init__(text if span is None else f"{span}: {text}")
        self.kind = kind
        self.text = text
        self.span = span
        self.buffer = buffer
        self.index = index


class BudgetError(Exception):
    """The run executed more updates than it was given."""


_serials = count()


@dataclass(eq=False, slots=True)
class Memory:
    """The cells of one buffer, or of one execution of a local's declaration.

    `is_result` says that the caller sees the content, so that unspecified words may not enter.
    """

    name: str
    elem: str
    shape: tuple[int, ...]
    words: Cells
    is_result: bool = False
    is_read_only: bool = False
    serial: int = field(default_factory=lambda: next(_serials))

    def place(self, index: Sequence[int], span: Span | None) -> int:
        """The position of a cell, row by row. Raises MeaningError outside the shape."""
        place = 0
        for value, extent in zip(index, self.shape, strict=True):
            if value < 0 or value >= extent:
                raise outside(self.name, tuple(index), self.shape, span)
            place = place * extent + value
        return place


def unravel(place: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The indices of a position in a shape, row by row."""
    found: list[int] = []
    for extent in reversed(shape):
        place, value = divmod(place, extent)
        found.append(value)
    return tuple(reversed(found))


def cell_text(buffer: str, index: Sequence[int]) -> str:
    """A cell as it is written, `c[0, 3]`; a scalar by its name alone."""
    return f"{buffer}[{', '.join(map(str, index))}]" if index else buffer


def outside(buffer: str, index: tuple[int, ...], shape: tuple[int, ...], span: Span | None) -> MeaningError:
    """The error of an access outside a shape."""
    extents = ", ".join(map(str, shape))
    return MeaningError("bounds", f"{cell_text(buffer, index)} is outside of [{extents}]", span, buffer, index)


@dataclass(eq=False, slots=True)
class GridLog:
    """Who read and wrote which cell in one execution of a grid; iterations are known by their counters.

    Memories younger than the grid belong to one iteration and are not logged. `windows` are the
    cells that the current iteration may write, by serial number and place; None leaves it free.
    """

    iteration: tuple[int, ...] = ()
    newest: int = field(default_factory=lambda: next(_serials))
    writers: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)
    readers: dict[tuple[int, int], set[tuple[int, ...]]] = field(default_factory=dict)
    windows: frozenset[tuple[int, int]] | None = None
    allowed: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)

    def allow(self, windows: frozenset[tuple[int, int]], memories: Iterable[Memory], span: Span | None) -> None:
        """Give the current iteration its windows. Raises MeaningError where they share a cell with another's."""
        self.windows = windows
        for cell in windows & self.allowed.keys():
            memory = next(found for found in memories if found.serial == cell[0])
            index = unravel(cell[1], memory.shape)
            both = f"{self._named(self.allowed[cell])} and {self._named(self.iteration)}"
            text = f"the windows of iterations {both} share {cell_text(memory.name, index)}"
            raise MeaningError("window", text, span, memory.name, index)
        self.allowed.update(dict.fromkeys(windows, self.iteration))

    def read(self, memory: Memory, place: int, span: Span | None) -> None:
        """Note a read. Raises MeaningError where another iteration writes the cell."""
        if memory.serial > self.newest:
            return
        cell = (memory.serial, place)
        writer = self.writers.get(cell)
        if writer is not None and writer != self.iteration:
            raise self._race(memory, place, "reads", writer, "writes", span)
        readers = self.readers.setdefault(cell, set())
        if len(readers) < 2:
            readers.add(self.iteration)

    def write(self, memory: Memory, place: int, span: Span | None) -> None:
        """Note a write. Raises MeaningError where another iteration touches the cell, or outside the windows."""
        if memory.serial > self.newest:
            return
        cell = (memory.serial, place)
        writer = self.writers.setdefault(cell, self.iteration)
        if writer != self.iteration:
            raise self._race(memory, place, "writes", writer, "writes", span)
        for reader in self.readers.get(cell, ()):
            if reader != self.iteration:
                raise self._race(memory, place, "writes", reader, "reads", span)
        if self.windows is not None and cell not in self.windows:
            index = unravel(place, memory.shape)
            text = f"iteration {self._named(self.iteration)} writes {cell_text(memory.name, index)}, outside of its windows"
            raise MeaningError("window", text, span, memory.name, index)

    def _race(self, memory: Memory, place: int, does: str, other: tuple[int, ...], did: str, span: Span | None) -> MeaningError:
        index = unravel(place, memory.shape)
        cell = cell_text(memory.name, index)
        text = f"iteration {self._named(self.iteration)} {does} {cell}, which iteration {self._named(other)} {did}"
        return MeaningError("race", text, span, memory.name, index)

    @staticmethod
    def _named(iteration: tuple[int, ...]) -> str:
        return f"({', '.join(map(str, iteration))})"
