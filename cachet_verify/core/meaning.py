"""The meaning of core programs: an interpreter, bit-exact and in the order written.

Takes a program, sizes, and the cells of its parameters; gives the cells their words after the
call. Must not use the lowering or any rule: it is what those are tested against.

A program is compiled to functions once and run at many sizes. Grids run in order, or shuffled;
in both cases an access to what another iteration writes is an error, as is one out of bounds,
and an unspecified word that would reach the caller.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from random import Random

from cachet_verify.core.algebra import Algebra, WordAlgebra
from cachet_verify.core.closure import Indices, Integers
from cachet_verify.core.index import variables
from cachet_verify.core.ir import (
    Axis,
    Block,
    Declare,
    For,
    Grid,
    If,
    Inlined,
    Lease,
    Param,
    Print,
    Program,
    Slice,
    Stmt,
    Store,
    View,
    Window,
)
from cachet_verify.core.memory import BudgetError, Cells, GridLog, MeaningError, Memory, outside
from cachet_verify.core.valuation import Name, Scope, Valuation
from cachet_verify.core.word import IEEE, Arithmetic
from cachet_verify.source import Span

__all__ = ["BudgetError", "Cells", "Executable", "MeaningError", "arithmetic_of", "capacity", "run", "shape_of"]

Action = Callable[[], None]
Evaluation = Callable[[], "int | None"]

CELLS_PER_UPDATE = 1024
"""Setting up so many cells without a word, or copying them, counts as one update in a budget."""


def arithmetic_of(program: Program) -> Arithmetic:
    """What a program is evaluated in, outside of grids on devices: IEEE where it says nothing."""
    return IEEE if program.arithmetic is None else program.arithmetic


def shape_of(param: Param, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The extents of a parameter at some sizes. Raises MeaningError where one is negative."""
    extents = Integers(sizes, frozenset(sizes), param.span).indices(param.shape)()
    return checked_shape(param.name, extents, param.span)


def checked_shape(name: str, extents: tuple[int, ...], span: Span | None) -> tuple[int, ...]:
    """The extents themselves. Raises MeaningError where one is negative."""
    if any(extent < 0 for extent in extents):
        shown = ", ".join(map(str, extents))
        raise MeaningError("size", f"`{name}` would have the shape [{shown}]", span, name)
    return extents


def capacity(shape: tuple[int, ...]) -> int:
    """How many cells a shape has."""
    cells = 1
    for extent in shape:
        cells *= extent
    return cells


class Executable(Valuation):
    """A program compiled for one algebra. Not reentrant: one run at a time.

    Raises MeaningError when it is made, for a name out of scope or an unknown operation.
    """

    def __init__(self, program: Program, algebra: Algebra | None = None) -> None:
        self.program = program
        super().__init__(WordAlgebra(arithmetic_of(program)) if algebra is None else algebra)
        self._print: Callable[[str], None] | None = None
        self._shuffle: Random | None = None
        names = {param.name: Name(param.name, param.elem, len(param.shape)) for param in program.params}
        self._needs = [
            (Integers(self._ints, frozenset(program.sizes), program.span).formula(need.condition), need.origin) for need in program.requires
        ]
        self._body = self._block(program.body, Scope(frozenset(program.sizes), names))

    def run(
        self,
        sizes: Mapping[str, int],
        buffers: Mapping[str, Cells],
        on_print: Callable[[str], None] | None = None,
        shuffle: Random | None = None,
        budget: int = 1 << 62,
    ) -> None:
        """Run the program on `buffers`, changing their cells in place.

        `buffers` has a flat list, row by row, for each parameter. `on_print` gets each printed line;
        `shuffle` draws the order of grid iterations; `budget` bounds the updates (BudgetError).
        Raises MeaningError where the program has no meaning, ValueError where sizes or cells are
        missing or of the wrong number.
        """
        self._ints.clear()
        self._memory.clear()
        self._grids.clear()
        self._print, self._shuffle = on_print, shuffle
        self._budget = self._left = budget
        for size in self.program.sizes:
            if sizes.get(size, -1) < 0:
                raise ValueError(f"the size {size} needs a value of at least 0")
            self._ints[size] = sizes[size]
        for holds, origin in self._needs:
            if not holds():
                raise MeaningError("requires", f"`{self.program.name}` may not be called at these sizes: {origin}", self.program.span)
        for param in self.program.params:
            self._memory[param.name] = _lend(param, shape_of(param, sizes), buffers)
        self._body()

    @property
    def executed(self) -> int:
        """How many updates the last run executed, whether it ended or failed; each iteration of a loop counts as one."""
        return self._budget - self._left

    def _block(self, block: Block, scope: Scope) -> Action:
        actions: list[Action] = []
        for stmt in block.body:
            action, scope = self._statement(stmt, scope)
            if action is not None:
                actions.append(action)
        if len(actions) == 1:
            return actions[0]

        def execute() -> None:
            for action in actions:
                action()

        return execute

    def _statement(self, stmt: Stmt, scope: Scope) -> tuple[Action | None, Scope]:
        """What to do for a statement, and the scope of those that follow it."""
        if isinstance(stmt, Store):
            return self._store(stmt, scope), scope
        if isinstance(stmt, Declare):
            return self._declare(stmt, scope)
        if isinstance(stmt, For):
            return self._for(stmt, scope), scope
        if isinstance(stmt, If):
            return self._if(stmt, scope), scope
        if isinstance(stmt, Grid):
            return self._grid(stmt, scope), scope
        if isinstance(stmt, Lease):
            return None, scope.with_buffer(stmt.alias, self._known(stmt.root, scope, stmt.span))
        if isinstance(stmt, View):
            return None, scope.with_buffer(stmt.alias, self._view(stmt, scope))
        if isinstance(stmt, Print):
            return self._show(stmt, scope), scope
        if isinstance(stmt, Inlined):
            return self._called(stmt, scope), scope
        return self._block(stmt, scope), scope

    def _called(self, stmt: Inlined, scope: Scope) -> Action:
        """The body of a call, after what the call rests on; what is about counters that a step has replaced is left out."""
        body = self._block(stmt.body, scope)
        integers = self._integers(scope, stmt.span)
        needs = [(integers.formula(goal), goal, text) for goal, text in stmt.needs if variables(goal) <= scope.ints]
        if not needs:
            return body

        def execute() -> None:
            for holds, goal, text in needs:
                if not holds():
                    at = ", ".join(f"{_written(name)} = {self._ints[name]}" for name in sorted(variables(goal)))
                    why = f"{_written(text)}; {at}" if at else text
                    raise MeaningError("requires", f"`{stmt.text}` may not be called here: {why}", stmt.span)
            body()

        return execute

    def _store(self, stmt: Store, scope: Scope) -> Action:
        inner = scope if stmt.lanes is None else scope.with_ints(stmt.lanes.counter)
        write = self._writer(stmt.buffer, stmt.index, inner, stmt.span)
        value = self._value(stmt.value, inner, stmt.span)
        if stmt.lanes is None:
            return lambda: write[1](write[0](), value())
        lanes = self._lanes(stmt.lanes, scope, stmt.span)

        def store() -> None:
            for index, word in [(write[0](), value()) for _ in lanes()]:
                write[1](index, word)

        return store

    def _declare(self, stmt: Declare, scope: Scope) -> tuple[Action, Scope]:
        extents = self._integers(scope, stmt.span).indices(stmt.shape)
        vector = () if stmt.width is None else (stmt.width,)
        name = Name(stmt.name, stmt.elem, len(stmt.shape) + len(vector))
        after = scope.with_buffer(stmt.name, name)
        fill = self._fill(stmt, scope)

        def declare() -> None:
            shape = checked_shape(stmt.name, extents(), stmt.span)
            cells = capacity(shape)
            self._spend(1 + cells * (stmt.width or 1) // CELLS_PER_UPDATE)
            memory = Memory(stmt.name, stmt.elem, shape + vector, [None] * (cells * (stmt.width or 1)))
            fill(memory, cells)
            self._memory[stmt.name] = memory

        return declare, after

    def _fill(self, stmt: Declare, scope: Scope) -> Callable[[Memory, int], None]:
        """How a declaration gives a new memory of so many elements its first words."""
        if stmt.init is None:
            return lambda memory, cells: None
        if stmt.lanes is None:
            value = self._value(stmt.init, scope, stmt.span)

            def fill(memory: Memory, cells: int) -> None:
                if memory.words:
                    memory.words[:] = [value()] * len(memory.words)

            return fill
        inner = self._value(stmt.init, scope.with_ints(stmt.lanes.counter), stmt.span)
        lanes = self._lanes(stmt.lanes, scope, stmt.span)
        width = stmt.width or 1

        def fill_lanes(memory: Memory, cells: int) -> None:
            if cells:
                words = [inner() for _ in lanes()]
                for start in range(0, cells * width, width):
                    memory.words[start : start + len(words)] = words

        return fill_lanes

    def _for(self, stmt: For, scope: Scope) -> Action:
        steps, inner = self._domain(stmt.counter, stmt.domain, scope, stmt.span)
        body = self._block(stmt.body, inner)

        def loop() -> None:
            for _ in steps():
                body()

        return loop

    def _if(self, stmt: If, scope: Scope) -> Action:
        condition = self._integers(scope, stmt.span).formula(stmt.condition)
        then, orelse = self._block(stmt.then, scope), self._block(stmt.orelse, scope)
        return lambda: then() if condition() else orelse()

    def _grid(self, stmt: Grid, scope: Scope) -> Action:
        axes: list[Callable[[], Iterator[int]]] = []
        inner = replace(scope, in_grid=True)
        for axis in stmt.axes:
            steps, inner = self._domain(axis.counter, axis.domain, inner, stmt.span)
            axes.append(steps)
        counters = tuple(name for axis in stmt.axes for name in _bound_by(axis))
        places = [counters.index(axis.counter) for axis in stmt.axes]
        windows = None if stmt.windows is None else [self._window(window, inner, stmt.span) for window in stmt.windows]
        for window in stmt.windows or ():
            if window.alias is not None:
                inner = inner.with_buffer(window.alias, self._window_view(window, inner, stmt.span))
        around = self.algebra
        self.algebra = around if stmt.device is None else around.under(stmt.device)
        body, ints = self._block(stmt.body, inner), self._ints
        self.algebra = around

        def execute() -> None:
            log = GridLog()
            for point in self._points(counters, axes):
                ints.update(zip(counters, point, strict=True))
                log.iteration = tuple(point[place] for place in places)
                if windows is not None:
                    log.allow(frozenset().union(*(window() for window in windows)), self._memory.values(), stmt.span)
                self._spend(1)
                self._grids.append(log)
                body()
                self._grids.pop()

        return execute

    def _points(self, counters: tuple[str, ...], axes: list[Callable[[], Iterator[int]]]) -> list[tuple[int, ...]]:
        """All iterations of a grid, as the values of what its axes bind; the bounds of an axis may use the axes before it."""
        points: list[tuple[int, ...]] = []

        def collect(rest: list[Callable[[], Iterator[int]]]) -> None:
            if rest:
                for _ in rest[0]():
                    collect(rest[1:])
            else:
                points.append(tuple(self._ints[counter] for counter in counters))

        collect(axes)
        if self._shuffle is not None:
            self._shuffle.shuffle(points)
        return points

    def _window(self, window: Window, scope: Scope, span: Span | None) -> Callable[[], frozenset[tuple[int, int]]]:
        """The cells a window allows to write: serial number and place; what lies outside of the buffer is left out."""
        integers = self._integers(scope, span)
        ends = [integers.indices((part.low, part.high)) if isinstance(part, Slice) else integers.indices((part,)) for part in window.parts]
        name = self._known(window.buffer, scope, span, len(window.parts))

        def cells() -> frozenset[tuple[int, int]]:
            memory, found = self._memory[name.memory], set()
            parts = [range(*end) if len(end) == 2 else range(end[0], end[0] + 1) for end in (each() for each in ends)]
            if name.through is None:
                shape = memory.shape
                parts = [range(max(part.start, 0), min(part.stop, n)) for part, n in zip(parts, shape, strict=True)]
            for index in product(*parts):
                try:
                    root = index if name.through is None else name.through(index)
                    found.add((memory.serial, memory.place(root, span)))
                except MeaningError:
                    continue
            return frozenset(found)

        return cells

    def _show(self, stmt: Print, scope: Scope) -> Action:
        value = self._value(stmt.value, scope, stmt.span)
        elem = self._type(stmt.value, scope, stmt.span)

        def show() -> None:
            word = value()
            if word is None:
                raise MeaningError("unspecified", "the printed value is unspecified", stmt.span)
            if self._print is not None:
                self._print(self.algebra.text(word, elem))

        return show

    def _view(self, view: View, scope: Scope) -> Name:
        root = self._known(view.root, scope, view.span, len(view.index))
        shape = self._integers(scope, view.span).indices(view.shape) if view.shape else None
        index = self._integers(scope.with_ints(*view.counters), view.span).indices(view.index)
        return self._alias(view.alias, view.counters, root, shape, index, view.span)

    def _window_view(self, window: Window, scope: Scope, span: Span | None) -> Name:
        """The alias of a window: one index for each slice, counted from its start."""
        root = self._known(window.buffer, scope, span, len(window.parts))
        integers = self._integers(scope, span)
        slices = [part for part in window.parts if isinstance(part, Slice)]
        lows = integers.indices([part.low for part in slices])
        highs = integers.indices([part.high for part in slices])
        fixed = [None if isinstance(part, Slice) else integers.term(part) for part in window.parts]
        counters = tuple(f"{window.alias}.{place}" for place in range(len(slices)))
        ints = self._ints

        def shape() -> tuple[int, ...]:
            return tuple(high - low for low, high in zip(lows(), highs(), strict=True))

        def index() -> tuple[int, ...]:
            moved = iter([low + ints[counter] for low, counter in zip(lows(), counters, strict=True)])
            return tuple(next(moved) if term is None else term() for term in fixed)

        return self._alias(window.alias or window.buffer, counters, root, shape, index, span)

    def _alias(
        self,
        alias: str,
        counters: tuple[str, ...],
        root: Name,
        shape: Indices | None,
        index: Indices,
        span: Span | None,
    ) -> Name:
        ints, onward = self._ints, root.through

        def through(values: tuple[int, ...]) -> tuple[int, ...]:
            if shape is not None:
                extents = shape()
                if any(not 0 <= value < extent for value, extent in zip(values, extents, strict=True)):
                    raise outside(alias, values, extents, span)
            ints.update(zip(counters, values, strict=True))
            return index() if onward is None else onward(index())

        return Name(root.memory, root.elem, len(counters), through)


def _bound_by(axis: Axis) -> tuple[str, ...]:
    """The integers that an axis binds: its counter, and of a block its first index and its length."""
    return (axis.counter,) if axis.size is None else (axis.counter, f"{axis.counter}.lo", f"{axis.counter}.len")


def _lend(param: Param, shape: tuple[int, ...], buffers: Mapping[str, Cells]) -> Memory:
    """The memory of a parameter over the caller's cells."""
    cells = buffers.get(param.name)
    if cells is None or len(cells) != capacity(shape):
        given = "none" if cells is None else str(len(cells))
        raise ValueError(f"the buffer {param.name} needs {capacity(shape)} cells; given: {given}")
    is_result = param.mode != "reads" and not param.scratch
    return Memory(param.name, param.elem, shape, cells, is_result, param.mode == "reads")


def run(
    program: Program,
    sizes: Mapping[str, int],
    buffers: Mapping[str, Cells],
    arithmetic: Arithmetic | None = None,
    on_print: Callable[[str], None] | None = None,
) -> None:
    """Run a program once, under its own arithmetic unless another is given; see `Executable.run`."""
    algebra = WordAlgebra(arithmetic_of(program) if arithmetic is None else arithmetic)
    Executable(program, algebra).run(sizes, buffers, on_print)


def _written(text: str) -> str:
    """A text with names as they were written, the numbers that tell binders apart left out."""
    return re.sub(r"'\d+\b", "", text)
