"""Random programs run point by point: what the rule accepts never touches more lines than there are, and it refuses nothing without cause.

The run enumerates the addresses of every buffer that is kept, at the worst place it may start, and counts distinct lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from cachet_verify.core.index import Const, Var, add, evaluate, holds, le, mul
from cachet_verify.core.ir import Block, Blocks, Declare, For, If, Inlined, Lease, Param, Program, Range, Stmt, View
from tests.fit.build import N, asked, buffer, guard, lease, machine, program
from tests.kernel.solve import valid

LINE = 64
MOST = 5
"""The sizes that are tried: the programs require N <= 5."""

Live = frozenset[tuple[str, int]]


def run(made: Program, size: int) -> Iterator[Live]:
    """What is kept, with its bytes, after every statement that is reached at a size."""
    cells = {param.name: (param.name, _bytes(param, {"N": size})) for param in made.params}
    yield from _block(made.body, {"N": size}, cells, frozenset())


def _bytes(made: Param | Declare, at: dict[str, int]) -> int:
    total = 4
    for extent in made.shape:
        total *= evaluate(extent, at)
    return total


def _block(block: Block, at: dict[str, int], cells: dict[str, tuple[str, int]], live: Live) -> Iterator[Live]:
    cells = dict(cells)
    for stmt in block.body:
        if isinstance(stmt, Declare):
            cells[stmt.name] = (stmt.name, _bytes(stmt, at))
        elif isinstance(stmt, (Lease, View)):
            cells[stmt.alias] = cells[stmt.root]
            live = live | {cells[stmt.root]} if isinstance(stmt, Lease) else live
        yield live
        yield from _inside(stmt, at, cells, live)


def _inside(stmt: Stmt, at: dict[str, int], cells: dict[str, tuple[str, int]], live: Live) -> Iterator[Live]:
    if isinstance(stmt, For):
        low, high = evaluate(stmt.domain.low, at), evaluate(stmt.domain.high, at)
        step = evaluate(stmt.domain.size, at) if isinstance(stmt.domain, Blocks) else 1
        for ordinal, start in enumerate(range(low, high, step)):
            inner = {**at, stmt.counter: ordinal if isinstance(stmt.domain, Blocks) else start}
            inner |= {f"{stmt.counter}.lo": start, f"{stmt.counter}.len": min(step, high - start)}
            yield from _block(stmt.body, inner, cells, live)
    elif isinstance(stmt, If):
        yield from _block(stmt.then if holds(stmt.condition, at) else stmt.orelse, at, cells, live)
    elif isinstance(stmt, (Inlined, Block)):
        yield from _block(stmt.body if isinstance(stmt, Inlined) else stmt, at, cells, live)


def touched(size: int) -> int:
    """The most distinct lines that so many bytes touch, wherever they start."""
    return max(len({(start + byte) // LINE for byte in range(size)}) for start in range(0, LINE, 4))


def counted(size: int) -> int:
    """What the rule says it counts: the lines that the bytes fill, and one."""
    return -(-size // LINE) + 1


class Maker:
    """One random program."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.number = 0

    def name(self, base: str) -> str:
        self.number += 1
        return f"{base}{self.number}"

    def extent(self, counters: tuple[str, ...]) -> object:
        some = [Const(self.random.randrange(1, 40)), mul(Const(self.random.randrange(1, 9)), N)]
        some += [add(Var(counter), Const(self.random.randrange(1, 30))) for counter in counters]
        return self.random.choice(some)

    def block(self, depth: int, roots: tuple[str, ...], counters: tuple[str, ...]) -> Block:
        body: list[Stmt] = []
        for _ in range(self.random.randrange(1, 4)):
            kind = self.random.choice(("lease", "lease", "local", "view", "for", "blocks", "if", "call") if depth else ("lease", "local"))
            if kind == "lease":
                body.append(lease(self.random.choice(roots), alias=self.name("l")))
                roots = (*roots, body[-1].alias)
            elif kind == "view":
                body.append(View(self.name("v"), (self.name("w"),), self.random.choice(roots), (Const(0),), (Const(1),)))
                roots = (*roots, body[-1].alias)
            elif kind == "local":
                body.append(Declare(self.name("t"), "f32", (self.extent(counters),), mutable=True))
                roots = (*roots, body[-1].name)
            elif kind == "if":
                condition = le(N, Const(self.random.randrange(MOST)))
                then, orelse = (self.block(depth - 1, roots, counters) for _ in range(2))
                body.append(guard(condition, then, orelse))
            elif kind == "call":
                body.append(Inlined("call", self.block(depth - 1, roots, counters)))
            else:
                counter = self.name("i")
                high = self.random.choice((N, Const(self.random.randrange(4))))
                domain = Range(Const(0), high) if kind == "for" else Blocks(Const(0), high, Const(self.random.randrange(1, 4)))
                seen = counter if kind == "for" else f"{counter}.len"
                body.append(For(counter, domain, self.block(depth - 1, roots, (*counters, seen))))
        return Block(tuple(body))

    def program(self) -> Program:
        params = (buffer("a", self.random.randrange(1, 60)), buffer("b", mul(Const(self.random.randrange(1, 12)), N)), buffer("c", 3, N))
        return program(params, *self.block(3, ("a", "b", "c"), ()).body, sizes=("N",), requires=(le(N, Const(MOST)),))


@pytest.mark.parametrize("seed", range(60))
def test_the_rule_and_a_run_agree(seed: int) -> None:
    made = Maker(seed).program()
    points = [live for size in range(MOST + 1) for live in run(made, size) if live]
    most = max((sum(counted(size) for _, size in live) for live in points), default=0)
    assert valid(asked(made, machine(max(1, most) * LINE)))
    assert not points or not valid(asked(made, machine(most * LINE - 1)))
    assert max((sum(touched(size) for _, size in live if size) for live in points), default=0) <= most


def test_lines_are_never_more_than_counted() -> None:
    assert all(touched(size) <= counted(size) for size in range(1, 400))


@pytest.mark.parametrize(("ways", "sets"), [(1, 4), (2, 4), (4, 8)])
def test_a_set_never_holds_more_lines_than_its_ways(ways: int, sets: int) -> None:
    """Buffers in a row of lines each, at random places: where the rule accepts, every set has room."""
    random = Random(ways * 100 + sets)
    accepted = 0
    for _ in range(60):
        spans = [random.randrange(1, LINE * sets * 2) for _ in range(random.randrange(1, 4))]
        params = tuple(buffer(f"b{place}", span, elem="i8") for place, span in enumerate(spans))
        made = program(params, *(lease(param.name) for param in params))
        if not valid(asked(made, machine(LINE * sets * ways, ways=ways))):
            continue
        accepted += 1
        for _ in range(20):
            held = [0] * sets
            for span in spans:
                start = random.randrange(1 << 20)
                for line in {byte // LINE for byte in range(start, start + span)}:
                    held[line % sets] += 1
            assert max(held) <= ways
    assert accepted > 3
