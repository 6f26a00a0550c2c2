"""Running programs on words that are terms: two runs agree only where nothing at all was recomputed.

Takes a core program and sizes; gives the words of its parameters after a run, as nested tuples.
Written apart from lowering: blocks, folds, lanes and locals are run as the core describes them.
A word that was never written is a term that names its cell, so a stale read shows. Unspecified
words of locals are marked by the name of the local alone, since no two runs share their cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from cachet_verify.core.index import evaluate, holds
from cachet_verify.core.ir import (
    Block,
    Blocks,
    Choose,
    Declare,
    Domain,
    Fold,
    For,
    Grid,
    If,
    Inlined,
    Lanes,
    Lease,
    Load,
    OfIndex,
    Op,
    Program,
    Stmt,
    Store,
    Value,
    Word,
)

Term = Any
Cells = dict[tuple[str, tuple[int, ...]], Term]


def run(program: Program, sizes: dict[str, int], backwards: bool = False) -> Cells:
    """The words of every parameter that is not scratch, where they are not the first ones.

    What has no order, grid iterations and the writes of lanes, runs forwards or `backwards`.
    """
    machine = _Machine(program, backwards)
    machine.block(program.body, dict(sizes), {})
    shared = {param.name for param in program.params if not param.scratch}
    return {key: word for key, word in machine.cells.items() if key[0] in shared and word != ("first", *key)}


class _Machine:
    def __init__(self, program: Program, backwards: bool) -> None:
        self.backwards = backwards
        self.cells: Cells = {}
        self.params = {param.name for param in program.params}
        self.made = 0

    def block(self, block: Block, at: dict[str, int], names: dict[str, str]) -> None:
        names = dict(names)
        for stmt in block.body:
            self.statement(stmt, at, names)

    def statement(self, stmt: Stmt, at: dict[str, int], names: dict[str, str]) -> None:
        if isinstance(stmt, Store):
            self.store(stmt, at, names)
        elif isinstance(stmt, Declare):
            self.declare(stmt, at, names)
        elif isinstance(stmt, For):
            for inner in indices(stmt.counter, stmt.domain, at):
                self.block(stmt.body, {**at, **inner}, names)
        elif isinstance(stmt, Grid):
            ranges = [range(evaluate(axis.low, at), evaluate(axis.high, at)) for axis in stmt.axes]
            points = list(product(*ranges))
            for point in reversed(points) if self.backwards else points:
                here = dict(zip((axis.counter for axis in stmt.axes), point, strict=True))
                self.block(stmt.body, {**at, **here}, names)
        elif isinstance(stmt, If):
            self.block(stmt.then if holds(stmt.condition, at) else stmt.orelse, at, names)
        elif isinstance(stmt, Lease):
            names[stmt.alias] = names.get(stmt.root, stmt.root)
        else:
            assert isinstance(stmt, (Inlined, Block))
            self.block(stmt.body if isinstance(stmt, Inlined) else stmt, at, names)

    def declare(self, stmt: Declare, at: dict[str, int], names: dict[str, str]) -> None:
        self.made += 1
        names[stmt.name] = f"{stmt.name}#{self.made}"
        if stmt.init is None:
            return
        shape = [range(evaluate(size, at)) for size in stmt.shape]
        for point in product(*shape):
            if stmt.lanes is None and stmt.width is not None:
                for lane in range(stmt.width):
                    self.write(stmt.name, (*point, lane), self.value(stmt.init, at, names), names)
            elif stmt.lanes is not None:
                for lane, here in lanes(stmt.lanes, at):
                    self.write(stmt.name, (*point, lane), self.value(stmt.init, here, names), names)
            else:
                self.write(stmt.name, point, self.value(stmt.init, at, names), names)

    def store(self, stmt: Store, at: dict[str, int], names: dict[str, str]) -> None:
        places = [at] if stmt.lanes is None else [here for _, here in lanes(stmt.lanes, at)]
        found = [(tuple(evaluate(i, here) for i in stmt.index), self.value(stmt.value, here, names)) for here in places]
        for cell, word in reversed(found) if self.backwards else found:
            self.write(stmt.buffer, cell, word, names)

    def write(self, name: str, cell: tuple[int, ...], word: Term, names: dict[str, str]) -> None:
        self.cells[names.get(name, name), cell] = word

    def value(self, value: Value, at: dict[str, int], names: dict[str, str]) -> Term:
        if isinstance(value, Load):
            name = names.get(value.buffer, value.buffer)
            cell = tuple(evaluate(i, at) for i in value.index)
            first = ("first", name, cell) if name in self.params else ("unset", value.buffer)
            return self.cells.get((name, cell), first)
        if isinstance(value, Word):
            return ("word", value.elem, value.bits)
        if isinstance(value, OfIndex):
            return ("index", value.elem, evaluate(value.term, at))
        if isinstance(value, Op):
            return (value.name, value.elem, *(self.value(arg, at, names) for arg in value.args))
        if isinstance(value, Choose):
            return self.value(value.then if holds(value.condition, at) else value.orelse, at, names)
        assert isinstance(value, Fold)
        total = self.value(value.init, at, names)
        for inner in indices(value.counter, value.domain, at):
            key = f"{value.acc}#total"
            self.cells[key, ()] = total
            total = self.value(value.step, {**at, **inner}, {**names, value.acc: key})
        return total


def indices(counter: str, domain: Domain, at: dict[str, int]) -> Iterator[dict[str, int]]:
    low, high = evaluate(domain.low, at), evaluate(domain.high, at)
    if isinstance(domain, Blocks):
        size = evaluate(domain.size, at)
        for number, start in enumerate(range(low, high, size)):
            yield {counter: number, f"{counter}.lo": start, f"{counter}.len": min(size, high - start)}
    else:
        for index in range(low, high):
            yield {counter: index}


def lanes(of: Lanes, at: dict[str, int]) -> Iterator[tuple[int, dict[str, int]]]:
    for lane in range(min(of.width, evaluate(of.active, at))):
        yield lane, {**at, of.counter: lane}
