"""Traffic counted by running: the interpreter with a counter at every load, store and operation.

Takes a program and sizes; gives how many bytes of each buffer were read and written, and how often each operation was applied.
Must not use the account it is compared with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from cachet_verify.core import ir
from cachet_verify.core.element import ELEMENTS
from cachet_verify.core.index import Index, variables
from cachet_verify.core.meaning import Executable, capacity, shape_of
from cachet_verify.core.memory import Memory
from cachet_verify.core.valuation import Scope
from cachet_verify.source import Span

Counts = Counter[tuple[str, str]]
"""Keys are `("reads", buffer)`, `("writes", buffer)` and `("work", operation)`."""


class Counting(Executable):
    """Runs a program and counts accesses of parameters and of arrays outside of its loops; any other local is in a register.

    A load in a vector statement whose cell is the same in every lane counts in the first lane alone.
    """

    def __init__(self, program: ir.Program) -> None:
        self.counts: Counts = Counter()
        self.bytes = {held.name: (ELEMENTS[held.elem].width + 7) // 8 for held in (*program.params, *_arrays(program.body))}
        self.lane: str | None = None
        super().__init__(program)

    def _in_lanes(self, stmt: ir.Store | ir.Declare) -> None:
        self.lane = None if stmt.lanes is None else stmt.lanes.counter

    def _store(self, stmt: ir.Store, scope: Scope) -> Callable[[], None]:
        self._in_lanes(stmt)
        return super()._store(stmt, scope)

    def _fill(self, stmt: ir.Declare, scope: Scope) -> Callable[..., None]:
        self._in_lanes(stmt)
        fill, size, counts = super()._fill(stmt, scope), self.bytes.get(stmt.name), self.counts
        if size is None or stmt.init is None:
            return fill

        def noted(memory: Memory, cells: int) -> None:
            counts["writes", stmt.name] += size * cells
            fill(memory, cells)

        return noted

    def _show(self, stmt: ir.Print, scope: Scope) -> Callable[[], None]:
        self.lane = None
        return super()._show(stmt, scope)

    def _note(self, direction: str, buffer: str, scope: Scope) -> Callable[[], None]:
        root = scope.buffers[buffer].memory
        size, counts = self.bytes.get(root), self.counts

        def note() -> None:
            if size is not None:
                counts[direction, root] += size

        return note

    def _writer(self, buffer: str, index: tuple[Index, ...], scope: Scope, span: Span | None):  # type: ignore[no-untyped-def]  # noqa: ANN202
        cell, write = super()._writer(buffer, index, scope, span)
        note = self._note("writes", buffer, scope)

        def noted(at: tuple[int, ...], word: int | None) -> None:
            note()
            write(at, word)

        return cell, noted

    def _load(self, value: ir.Load, scope: Scope, span: Span | None) -> Callable[[], int | None]:
        load, note, lane, ints = super()._load(value, scope, span), self._note("reads", value.buffer, scope), self.lane, self._ints
        if lane is not None and any(lane in variables(term) for term in value.index):
            lane = None

        def noted() -> int | None:
            if lane is None or ints[lane] == 0:
                note()
            return load()

        return noted

    def _operation(self, value: ir.Op, scope: Scope, span: Span | None) -> Callable[[], int | None]:
        apply, key, counts = super()._operation(value, scope, span), ("work", value.name), self.counts
        if not value.args:
            return apply

        def noted() -> int | None:
            counts[key] += 1
            return apply()

        return noted


def _arrays(block: ir.Block) -> Iterator[ir.Declare]:
    for stmt in block.body:
        if isinstance(stmt, ir.Declare) and stmt.shape and stmt.width is None:
            yield stmt
        elif isinstance(stmt, ir.Inlined):
            yield from _arrays(stmt.body)


def counted(program: ir.Program, sizes: Mapping[str, int]) -> dict[tuple[str, str], int]:
    """Run a program once on buffers of ones; what was never touched has no key."""
    machine = Counting(program)
    cells = {}
    for param in program.params:
        shape = shape_of(param, sizes)
        cells[param.name] = [None if param.scratch else 1] * capacity(shape)
    machine.run(sizes, cells)
    return {key: count for key, count in machine.counts.items() if count}
