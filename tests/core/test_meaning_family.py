"""The interpreter against the lowering: two readings of one program, on random programs of every construct."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from cachet_verify.core.algebra import TermAlgebra
from cachet_verify.core.family import lower
from cachet_verify.core.index import Const, Formula, Index, Var, div, eq, le, lt, minimum, mod, neg, sub
from cachet_verify.core.index import add as plus
from cachet_verify.core.ir import (
    Axis,
    Block,
    Blocks,
    Choose,
    Declare,
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
    Param,
    Program,
    Range,
    Slice,
    Stmt,
    Store,
    Value,
    View,
    Window,
    Word,
)
from cachet_verify.core.meaning import Cells, Executable
from cachet_verify.core.memory import MeaningError, unravel
from tests.core.fault_case import accumulate, axpy, chain_dot, halves, read_ahead, shifted, staged_dot
from tests.core.instance_run import Memory, run_instances
from tests.core.nest import matmul
from tests.replay.blocked import blocked, registers

EXTENT = 3
PARAMS = tuple(Param(name, "mut", "i32", (Const(EXTENT), Const(EXTENT))) for name in "xy")


class Maker:
    """Draws programs over two 3 x 3 buffers and the sizes M and N; indices are folded into range by `% 3`."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.names = 0

    def fresh(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def term(self, ints: list[str]) -> Index:
        kind = self.chance.randrange(6)
        one = Var(self.chance.choice(ints))
        two: Index = Var(self.chance.choice(ints))
        made: list[Index] = [one, Const(self.chance.randrange(4)), plus(one, two), sub(one, two), minimum(one, two), div(one, Const(2))]
        return made[kind]

    def inside(self, ints: list[str]) -> Index:
        return mod(self.term(ints), Const(EXTENT))

    def condition(self, ints: list[str]) -> Formula:
        left, right = self.term(ints), self.term(ints)
        return self.chance.choice([lt(left, right), le(left, right), eq(left, right), neg(eq(left, right))])

    def bounds(self, ints: list[str]) -> tuple[Index, Index]:
        low = Const(self.chance.choice((0, 0, 1)))
        return low, minimum(plus(self.term(ints), Const(1)), Const(4))

    def domain(self, ints: list[str]) -> Range | Blocks:
        low, high = self.bounds(ints)
        return Range(low, high) if self.chance.randrange(3) else Blocks(low, high, Const(self.chance.randrange(1, 3)))

    def counters(self, name: str, domain: Range | Blocks) -> list[str]:
        return [name] if isinstance(domain, Range) else [name, f"{name}.lo", f"{name}.len"]

    def load(self, ints: list[str], buffers: dict[str, int]) -> Load:
        name = self.chance.choice(list(buffers))
        return Load(name, tuple(self.inside(ints) for _ in range(buffers[name])))

    def value(self, ints: list[str], buffers: dict[str, int], depth: int = 2) -> Value:
        kind = self.chance.randrange(6)
        if depth == 0 or kind < 2:
            return self.load(ints, buffers)
        if kind == 2:
            return self.chance.choice([Word("i32", self.chance.randrange(3)), OfIndex("i32", self.term(ints))])
        if kind == 3:
            return Choose(self.condition(ints), self.value(ints, buffers, depth - 1), self.value(ints, buffers, depth - 1))
        args = tuple(self.value(ints, buffers, depth - 1) for _ in range(2))
        return Op(self.chance.choice(("add", "mul")), "i32", args)

    def cell(self, ints: list[str], buffers: dict[str, int]) -> tuple[str, tuple[Index, ...]]:
        name = self.chance.choice(list(buffers))
        return name, tuple(self.inside(ints) for _ in range(buffers[name]))

    def fold(self, ints: list[str], buffers: dict[str, int]) -> Fold:
        counter, acc = self.fresh("k"), self.fresh("acc")
        domain = self.domain(ints)
        init = self.value(ints, buffers, 1)
        step = self.value(ints + self.counters(counter, domain), {**buffers, acc: 0}, 2)
        return Fold(counter, domain, init, acc, "i32", Op("mul", "i32", (Load(acc), step)))

    def store(self, ints: list[str], buffers: dict[str, int]) -> Store:
        kind = self.chance.randrange(4)
        if kind == 0:
            lane = self.fresh("l")
            lanes = Lanes(lane, EXTENT, self.term(ints))
            name = self.chance.choice([name for name, rank in buffers.items() if rank])
            index = tuple(self.inside(ints) for _ in range(buffers[name] - 1))
            return Store(name, (*index, Var(lane)), self.value([*ints, lane], buffers), lanes)
        name, index = self.cell(ints, buffers)
        return Store(name, index, self.fold(ints, buffers) if kind == 1 else self.value(ints, buffers))

    def body(self, ints: list[str], buffers: dict[str, int], depth: int) -> Block:
        body: list[Stmt] = []
        for _ in range(self.chance.randrange(1, 4)):
            stmt, buffers = self.statement(ints, buffers, depth)
            body.append(stmt)
        return Block(tuple(body))

    def statement(self, ints: list[str], buffers: dict[str, int], depth: int) -> tuple[Stmt, dict[str, int]]:
        kind = self.chance.randrange(9)
        if depth == 0 or kind < 2 or (kind in (5, 6) and 2 not in buffers.values()):
            return self.store(ints, buffers), buffers
        if kind == 2:
            return If(self.condition(ints), self.body(ints, buffers, depth - 1), self.body(ints, buffers, depth - 1)), buffers
        if kind == 3:
            return Inlined("f", self.body(ints, buffers, depth - 1)), buffers
        if kind == 4:
            return self.declare(ints, buffers)
        if kind == 5:
            return self.alias(ints, buffers)
        if kind == 6:
            return self.grid(ints, buffers, depth), buffers
        counter, domain = self.fresh("i"), self.domain(ints)
        return For(counter, domain, self.body(ints + self.counters(counter, domain), buffers, depth - 1)), buffers

    def declare(self, ints: list[str], buffers: dict[str, int]) -> tuple[Stmt, dict[str, int]]:
        name, kind = self.fresh("t"), self.chance.randrange(4)
        init = self.fold(ints, buffers) if self.chance.randrange(4) == 0 else self.value(ints, buffers)
        if kind == 0:
            return Declare(name, "i32", (), init=init), {**buffers, name: 0}
        if kind == 1:
            return Declare(name, "i32", (Const(EXTENT),), init=init), {**buffers, name: 1}
        if kind == 2:
            return Declare(name, "i32", (Const(EXTENT),), EXTENT, init=init), {**buffers, name: 2}
        lane = self.fresh("l")
        vector = Declare(name, "i32", (), EXTENT, self.value([*ints, lane], buffers), lanes=Lanes(lane, EXTENT, self.term(ints)))
        return vector, {**buffers, name: 1}

    def alias(self, ints: list[str], buffers: dict[str, int]) -> tuple[Stmt, dict[str, int]]:
        name, root = self.fresh("v"), self.chance.choice([name for name, rank in buffers.items() if rank == 2])
        if self.chance.randrange(2):
            return Lease(name, root, "L1", True), {**buffers, name: 2}
        counters = (self.fresh("q"), self.fresh("q"))
        index: tuple[Index, ...] = (Var(counters[1]), sub(Const(EXTENT - 1), Var(counters[0])))
        return View(name, counters, root, index), {**buffers, name: 2}

    def grid(self, ints: list[str], buffers: dict[str, int], depth: int) -> Stmt:
        """Iterations, of a range or over blocks, that own a row each: other writes may race, and such programs are left out."""
        counter, root = self.fresh("g"), self.chance.choice([name for name, rank in buffers.items() if rank == 2])
        alias = self.fresh("w")
        size = Const(self.chance.randrange(1, 3)) if self.chance.randrange(2) else None
        axis = Axis(counter, Const(0), Const(EXTENT), size)
        names = self.counters(counter, axis.domain)
        window = Window(root, (Var(names[0] if size is None else names[1]), Slice(Const(0), Const(EXTENT))), alias)
        own = {alias: 1} if self.chance.randrange(2) else {**buffers, alias: 1}
        body = self.body([*ints, *names], own, depth - 1)
        return Grid((axis,), body, (window,))

    def program(self) -> Program:
        body = self.body(["M", "N"], {"x": 2, "y": 2}, 3)
        return Program("drawn", ("M", "N"), PARAMS, body)


def compare(source: Program, sizes: dict[str, int], shuffle: Random | None = None) -> bool:
    """Whether the interpreter gives a meaning; if so, that the instances give the same terms."""
    terms = TermAlgebra()
    cells: dict[str, Cells] = {}
    memory: Memory = {}
    shapes: dict[str, tuple[int, ...]] = {}
    for param in source.params:
        shape = tuple(sizes[extent.name] if isinstance(extent, Var) else int(getattr(extent, "value", -1)) for extent in param.shape)
        count = 1
        for extent in shape:
            count *= extent
        shapes[param.name] = shape
        cells[param.name] = [None if param.scratch else terms.cell(param.name, place) for place in range(count)]
        memory.update({(param.name, unravel(place, shape)): word for place, word in enumerate(cells[param.name])})
    try:
        Executable(source, terms).run(sizes, cells, shuffle=shuffle)
    except MeaningError:
        return False
    run_instances(lower(source), sizes, memory, terms, most=6)
    for name, words in cells.items():
        assert words == [memory[name, unravel(place, shapes[name])] for place in range(len(words))], name
    return True


@pytest.mark.parametrize("start", range(0, 400, 50))
def test_random_programs_are_read_alike(start: int) -> None:
    """At least half of what is drawn has a meaning: no lane past the end, no word unspecified, no race."""
    meant = 0
    for seed in range(start, start + 50):
        source = Maker(seed).program()
        sizes = {"M": seed % 4, "N": seed // 4 % 4}
        meant += compare(source, sizes, Random(seed) if seed % 2 else None)
    assert meant >= 20


def test_every_construct_is_drawn() -> None:
    drawn: set[str] = set()
    for seed in range(60):
        source = Maker(seed).program()
        if compare(source, {"M": 2, "N": 3}):
            drawn |= {
                name
                for name in ("Grid(", "View(", "Lease(", "Inlined(", "If(", "Choose(", "Fold(", "Blocks(", "Lanes(", "width=3")
                if name in repr(source)
            }
    assert len(drawn) == 10


SAMPLES = {
    "matmul": matmul(),
    "read ahead": read_ahead(True),
    "halves": halves(),
    "a tail": axpy("unfused"),
    "in place": shifted(True),
    "a shortcut": accumulate("all"),
    "staged": staged_dot(True),
    "chain": chain_dot(),
    "blocked": blocked(2),
    "backwards": blocked(2, "down"),
    "registers": registers(masked=True),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_read_alike(name: str) -> None:
    source = SAMPLES[name]
    meant = 0
    for values in product((0, 1, 3, 5) if len(source.sizes) < 3 else (0, 1, 3), repeat=len(source.sizes)):
        sizes = dict(zip(source.sizes, values, strict=True))
        if name == "halves" and sizes["K"] % 2:
            continue
        assert compare(source, sizes)
        meant += 1
    assert meant > 0
