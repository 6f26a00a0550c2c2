"""Values, names and iterations of core programs as functions over one machine's state.

Takes an algebra; gives functions that read the state of the run in progress. Must not know
about statements; `meaning` builds on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from cachet_verify.core.algebra import Algebra
from cachet_verify.core.closure import Indices, Integer, Integers
from cachet_verify.core.index import Index
from cachet_verify.core.ir import Blocks, Choose, Domain, Fold, Lanes, Load, OfIndex, Op, Value, Word
from cachet_verify.core.memory import BudgetError, GridLog, MeaningError, Memory, cell_text
from cachet_verify.core.word import DivisionByZero, WordError
from cachet_verify.source import Span

Evaluation = Callable[[], "int | None"]
Write = Callable[[tuple[int, ...], "int | None"], None]


@dataclass(frozen=True, slots=True)
class Name:
    """What a buffer's name stands for: memory of its own, or a view of another name.

    `through` maps the indices of a view to those of its root; `rank` counts the name's own indices.
    """

    memory: str
    elem: str
    rank: int
    through: Callable[[tuple[int, ...]], tuple[int, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """The names in force where a statement stands."""

    ints: frozenset[str] = frozenset()
    buffers: Mapping[str, Name] = field(default_factory=dict)
    in_grid: bool = False

    def with_ints(self, *names: str) -> Scope:
        """The scope with more counters."""
        return replace(self, ints=self.ints.union(names))

    def with_buffer(self, name: str, what: Name) -> Scope:
        """The scope with one more buffer."""
        return replace(self, buffers={**self.buffers, name: what})


class Valuation:
    """Compiles values for one algebra, and holds the state of a run: counters, memory, grids, budget."""

    def __init__(self, algebra: Algebra) -> None:
        self.algebra = algebra
        self._ints: dict[str, int] = {}
        self._memory: dict[str, Memory] = {}
        self._grids: list[GridLog] = []
        self._budget = 0
        self._left = 0

    def _spend(self, updates: int) -> None:
        self._left -= updates
        if self._left < 0:
            raise BudgetError

    def _integers(self, scope: Scope, span: Span | None) -> Integers:
        return Integers(self._ints, scope.ints, span)

    def _known(self, name: str, scope: Scope, span: Span | None, rank: int | None = None) -> Name:
        found = scope.buffers.get(name)
        if found is None:
            raise MeaningError("scope", f"`{name}` is not in scope here", span)
        if rank is not None and rank != found.rank:
            raise MeaningError("scope", f"`{name}` takes {found.rank} indices, not {rank}", span)
        return found

    def _cell(self, name: Name, index: tuple[Index, ...], scope: Scope, span: Span | None) -> Indices:
        """The indices of a cell in the memory that a name stands for."""
        own = self._integers(scope, span).indices(index)
        through = name.through
        return own if through is None else lambda: through(own())

    def _writer(
        self, buffer: str, index: tuple[Index, ...], scope: Scope, span: Span | None
    ) -> tuple[Indices, Callable[[tuple[int, ...], int | None], None]]:
        """The cell of a store, and the function that writes it."""
        name = self._known(buffer, scope, span, len(index))
        memories, grids, key = self._memory, self._grids, name.memory

        def write(at: tuple[int, ...], word: int | None) -> None:
            memory = memories[key]
            place = memory.place(at, span)
            if memory.is_read_only:
                raise MeaningError("read-only", f"{cell_text(key, at)} may be read only", span, key, at)
            if word is None and memory.is_result:
                raise MeaningError("unspecified", f"the word stored to {cell_text(key, at)} is unspecified", span, key, at)
            for log in grids:
                log.write(memory, place, span)
            memory.words[place] = word

        return self._cell(name, index, scope, span), write

    def _value(self, value: Value, scope: Scope, span: Span | None) -> Evaluation:
        """A value; None is an unspecified word."""
        if isinstance(value, Load):
            return self._load(value, scope, span)
        if isinstance(value, Op):
            return self._operation(value, scope, span)
        if isinstance(value, Word):
            word = self.algebra.literal(value.elem, value.bits)
            return lambda: word
        if isinstance(value, OfIndex):
            term, elem, algebra = self._integers(scope, span).term(value.term), value.elem, self.algebra
            return lambda: algebra.of_index(elem, term())
        if isinstance(value, Choose):
            return self._choose(value, scope, span)
        return self._fold(value, scope, span)

    def _load(self, value: Load, scope: Scope, span: Span | None) -> Evaluation:
        name = self._known(value.buffer, scope, span, len(value.index))
        memories, grids, key = self._memory, self._grids, name.memory
        if not value.index and name.through is None and not scope.in_grid:
            return lambda: memories[key].words[0]
        cell = self._cell(name, value.index, scope, span)

        def load() -> int | None:
            memory = memories[key]
            place = memory.place(cell(), span)
            for log in grids:
                log.read(memory, place, span)
            return memory.words[place]

        return load

    def _operation(self, value: Op, scope: Scope, span: Span | None) -> Evaluation:
        """An operation; the result is unspecified where an operand is."""
        args = [self._value(arg, scope, span) for arg in value.args]
        try:
            function = self.algebra.operation(value.name, value.elem, len(args))
        except WordError as error:
            raise MeaningError("operation", str(error), span) from error

        def apply() -> int | None:
            words = [arg() for arg in args]
            if None in words:
                return None
            try:
                return function(*words)
            except DivisionByZero as error:
                raise MeaningError("division", str(error), span) from error

        return apply

    def _choose(self, value: Choose, scope: Scope, span: Span | None) -> Evaluation:
        condition = self._integers(scope, span).formula(value.condition)
        then, orelse = self._value(value.then, scope, span), self._value(value.orelse, scope, span)
        return lambda: then() if condition() else orelse()

    def _fold(self, value: Fold, scope: Scope, span: Span | None) -> Evaluation:
        steps, inner = self._domain(value.counter, value.domain, scope, span)
        inner = inner.with_buffer(value.acc, Name(value.acc, value.elem, 0))
        init, step = self._value(value.init, scope, span), self._value(value.step, inner, span)
        memories, acc, elem = self._memory, value.acc, value.elem

        def fold() -> int | None:
            total = Memory(acc, elem, (), [init()])
            memories[acc], words = total, total.words
            for _ in steps():
                words[0] = step()
            return words[0]

        return fold

    def _type(self, value: Value, scope: Scope, span: Span | None) -> str:
        if isinstance(value, Load):
            return self._known(value.buffer, scope, span).elem
        return self._type(value.then, scope, span) if isinstance(value, Choose) else value.elem

    def _lanes(self, lanes: Lanes, scope: Scope, span: Span | None) -> Callable[[], Iterator[int]]:
        """The active lanes, one after the other, each as the value of the lane's counter."""
        active = self._integers(scope, span).term(lanes.active)
        ints, counter, width = self._ints, lanes.counter, lanes.width

        def each() -> Iterator[int]:
            number = min(width, active())
            self._spend(max(number - 1, 0))
            for lane in range(number):
                ints[counter] = lane
                yield lane

        return each

    def _domain(self, counter: str, domain: Domain, scope: Scope, span: Span | None) -> tuple[Callable[[], Iterator[int]], Scope]:
        """The iterations of a loop, each setting what the counter binds, and the scope inside it."""
        integers, ints = self._integers(scope, span), self._ints
        low, high = integers.term(domain.low), integers.term(domain.high)
        if isinstance(domain, Blocks):
            return self._blocks(counter, low, high, integers.term(domain.size), span), scope.with_ints(counter, f"{counter}.lo", f"{counter}.len")

        def each() -> Iterator[int]:
            indices = range(low(), high())
            self._spend(len(indices))
            for value in indices:
                ints[counter] = value
                yield value

        return each, scope.with_ints(counter)

    def _blocks(self, counter: str, low: Integer, high: Integer, size: Integer, span: Span | None) -> Callable[[], Iterator[int]]:
        ints, first, length = self._ints, f"{counter}.lo", f"{counter}.len"

        def each() -> Iterator[int]:
            step, end = size(), high()
            if step <= 0:
                raise MeaningError("block", f"the blocks of `{counter}` would have {step} indices each", span)
            for ordinal, start in enumerate(range(low(), end, step)):
                self._spend(1)
                ints[counter], ints[first], ints[length] = ordinal, start, min(step, end - start)
                yield ordinal

        return each
