"""A cache that replaces the least recently used line, and the accesses of a program, as oracles for tests.

Takes addresses, or a program that the interpreter runs; gives misses, and a trace of accesses and leases.
Must not use the account, nor the rules about working sets, which are compared with it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from cachet_verify.core import ir
from cachet_verify.core.element import ELEMENTS
from cachet_verify.core.index import Const, Index, evaluate
from cachet_verify.core.meaning import Executable, capacity, shape_of
from cachet_verify.core.memory import unravel
from cachet_verify.core.valuation import Scope
from cachet_verify.elaborate.item import LayoutItem
from cachet_verify.elaborate.layout import address_of
from cachet_verify.source import Span


@dataclass(slots=True)
class Cache:
    """So many lines of so many bytes (or values), any of which may hold any line of memory."""

    lines: int
    line: int
    held: OrderedDict[int, None] = field(default_factory=OrderedDict)
    misses: int = 0

    def touch(self, address: int) -> bool:
        """Whether an access misses; its line is then brought in, and the least recently used one leaves."""
        number = address // self.line
        is_miss = number not in self.held
        self.held[number] = None
        self.held.move_to_end(number)
        if is_miss:
            self.misses += 1
            if len(self.held) > self.lines:
                self.held.popitem(last=False)
        return is_miss

    def drop(self, addresses: Iterable[int]) -> None:
        """Lines that nobody will come back to leave at once."""
        for address in addresses:
            self.held.pop(address // self.line, None)


def misses(addresses: Iterable[int], lines: int, line: int) -> int:
    """How many of some reads, one after the other, miss a cache that is empty at first."""
    cache = Cache(lines, line)
    for address in addresses:
        cache.touch(address)
    return cache.misses


@dataclass(frozen=True, slots=True)
class Touch:
    """An access to a cell of a parameter, by its place row by row."""

    buffer: str
    place: int


@dataclass(frozen=True, slots=True)
class Keep:
    """A lease begins: the buffer is on the level, until the `Drop` of the same name."""

    name: str
    buffer: str
    level: str


@dataclass(frozen=True, slots=True)
class Drop:
    """A lease ends, with the block that holds it."""

    name: str


Event = Touch | Keep | Drop


class _Traced(Executable):
    """Runs a program and notes accesses of its parameters, and leases."""

    def __init__(self, program: ir.Program) -> None:
        self.events: list[Event] = []
        self.known = {param.name for param in program.params}
        super().__init__(program)

    def _block(self, block: ir.Block, scope: Scope) -> Callable[[], None]:
        run = super()._block(block, scope)
        ended = [Drop(stmt.alias) for stmt in reversed(block.body) if isinstance(stmt, ir.Lease)]
        if not ended:
            return run

        def execute() -> None:
            run()
            self.events.extend(ended)

        return execute

    def _statement(self, stmt: ir.Stmt, scope: Scope) -> tuple[Callable[[], None] | None, Scope]:
        made, after = super()._statement(stmt, scope)
        if not isinstance(stmt, ir.Lease):
            return made, after
        event = Keep(stmt.alias, scope.buffers[stmt.root].memory, stmt.level)
        return lambda: self.events.append(event), after

    def _note(self, buffer: str, index: tuple[Index, ...], scope: Scope, span: Span | None) -> Callable[[], None]:
        name = scope.buffers[buffer]
        if name.memory not in self.known:
            return lambda: None
        cell, memory = self._cell(name, index, scope, span), name.memory

        def note() -> None:
            self.events.append(Touch(memory, self._memory[memory].place(cell(), span)))

        return note

    def _writer(self, buffer: str, index: tuple[Index, ...], scope: Scope, span: Span | None):  # type: ignore[no-untyped-def]  # noqa: ANN202
        cell, write = super()._writer(buffer, index, scope, span)
        note = self._note(buffer, index, scope, span)

        def noted(at: tuple[int, ...], word: int | None) -> None:
            note()
            write(at, word)

        return cell, noted

    def _load(self, value: ir.Load, scope: Scope, span: Span | None) -> Callable[[], int | None]:
        load, note = super()._load(value, scope, span), self._note(value.buffer, value.index, scope, span)

        def noted() -> int | None:
            note()
            return load()

        return noted


def trace(program: ir.Program, sizes: Mapping[str, int]) -> list[Event]:
    """What a run touches, and when leases begin and end."""
    machine = _Traced(program)
    cells: dict[str, list[int | None]] = {param.name: [None if param.scratch else 1] * capacity(shape_of(param, sizes)) for param in program.params}
    machine.run(sizes, cells)
    return machine.events


def placed(program: ir.Program, sizes: Mapping[str, int], layouts: Mapping[str, LayoutItem], bases: Mapping[str, int]) -> Callable[[Touch], int]:
    """The byte that an access starts at, each buffer from its base on, in its layout."""
    params = {param.name: param for param in program.params}

    def address(touch: Touch) -> int:
        param = params[touch.buffer]
        place = touch.place
        if param.layout is not None:
            shape = shape_of(param, sizes)
            extents, cell = [Const(part) for part in shape], [Const(part) for part in unravel(place, shape)]
            numbers = [Const(evaluate(arg, sizes)) for arg in param.layout.args]
            place = evaluate(address_of(layouts[param.layout.name], numbers, extents, cell), {})
        return bases[touch.buffer] + place * (ELEMENTS[param.elem].width // 8)

    return address
