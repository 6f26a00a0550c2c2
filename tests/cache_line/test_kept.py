"""What is said to fit stays: once a line of a kept buffer is in, no access of the lease misses it, in a cache just large enough.

The cache is fully associative and replaces the least recently used line; what is not kept on the level does not pass through
it, and lines of a lease that has ended leave. Buffers start anywhere in a line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random

import pytest

from cachet_verify.core.index import Const, Var, add, evaluate, mul
from cachet_verify.core.ir import Block, For, Lease, Load, Param, Program, Range, Stmt, Store
from cachet_verify.core.machine import Footprint, Level, Machine
from cachet_verify.elaborate.item import LayoutItem
from cachet_verify.judge.file import open_file
from cachet_verify.kernel.fit import rows
from tests.cache_line.lru import Cache, Drop, Event, Keep, Touch, placed, trace

LINE = 16
KERNELS = Path(__file__).with_name("kept.cachet")


def machine(lines: Mapping[str, int]) -> Machine:
    return Machine("small", tuple(Level((name,), count * LINE, LINE) for name, count in lines.items()))


def is_accepted(program: Program, room: Machine, footprints: tuple[Footprint, ...]) -> bool:
    """Whether every row of the rule has room; here all of them are numbers."""
    return all(evaluate(row.total, {}) <= row.limit for row in rows(program, room, footprints))


def capacity_misses(events: Sequence[Event], level: str, lines: int, where: Callable[[Touch], int]) -> int:
    """Misses, on a level, of lines that the same lease has touched before."""
    held, kept, seen = Cache(lines, LINE), dict[str, str](), dict[str, set[int]]()
    again = 0
    for event in events:
        if isinstance(event, Keep) and event.level == level:
            kept[event.name] = event.buffer
            seen.setdefault(event.buffer, set())
        elif isinstance(event, Drop) and event.name in kept:
            buffer = kept.pop(event.name)
            if buffer not in kept.values():
                held.drop(line * LINE for line in seen.pop(buffer))
        elif isinstance(event, Touch) and event.buffer in kept.values():
            byte = where(event)
            is_new = byte // LINE not in seen[event.buffer]
            seen[event.buffer].add(byte // LINE)
            again += held.touch(byte) and not is_new
    return again


# --- schedules ---------------------------------------------------------------------------------


@cache
def kernel(name: str) -> tuple[Program, Mapping[str, LayoutItem], tuple[Footprint, ...]]:
    from cachet_verify.judge.fit import footprints_of

    opened = open_file(KERNELS)
    program = opened.program(name)
    assert program is not None
    return program, opened.module.layouts, tuple(footprints_of(program, opened.module.layouts))


# packA: 4 x 4 words, packB: 4 x 4 words: four lines each, and one more where it starts inside a line.
CASES = [("packed", "L1", 5), ("packed", "L2", 5), ("together", "L1", 10), ("ragged", "L1", 7)]


@pytest.mark.parametrize(("name", "level", "least"), CASES)
def test_a_schedule_that_fits_keeps_its_blocks(name: str, level: str, least: int) -> None:
    program, layouts, footprints = kernel(name)
    for lines in range(1, 14):
        room = machine({"L1": 1000, "L2": 1000} | {level: lines})
        assert is_accepted(program, room, footprints) == (lines >= least)
    sizes = {"M": 6, "N": 5, "K": 7}
    events = trace(program, sizes)
    for offset in range(0, LINE, 4):
        bases = {param.name: 4096 * place + offset * (place + 1) % LINE for place, param in enumerate(program.params)}
        where = placed(program, sizes, layouts, bases)
        assert capacity_misses(events, level, least, where) == 0


def test_a_cache_one_line_short_of_what_is_touched_loses_some() -> None:
    program, layouts, _ = kernel("together")
    sizes = {"M": 8, "N": 8, "K": 8}
    events = trace(program, sizes)
    bases = {param.name: 4096 * place + 4 for place, param in enumerate(program.params)}
    where = placed(program, sizes, layouts, bases)
    assert capacity_misses(events, "L1", 10, where) == 0
    assert capacity_misses(events, "L1", 9, where) > 0


# --- random programs ---------------------------------------------------------------------------


class Maker:
    """One random program: loops, leases at L1, and accesses by the names that are in force."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.number = 0

    def name(self, base: str) -> str:
        self.number += 1
        return f"{base}{self.number}"

    def access(self, roots: tuple[tuple[str, int], ...], counters: tuple[tuple[str, int], ...]) -> Stmt:
        """A store to a buffer of a word of another; indices stay inside for all counters."""
        chosen = []
        for _ in range(2):
            buffer, extent = self.random.choice(roots)
            terms = [mul(Const(scale), Var(counter)) for counter, most in counters if (scale := (extent - 1) // (2 * max(1, most))) > 0]
            index = add(self.random.choice(terms) if terms else Const(0), Const(self.random.randrange(max(1, extent // 2))))
            chosen.append((buffer, index))
        (target, at), (source, other) = chosen
        return Store(target, (at,), Load(source, (other,)))

    def block(self, depth: int, roots: tuple[tuple[str, int], ...], counters: tuple[tuple[str, int], ...]) -> Block:
        body: list[Stmt] = []
        for _ in range(self.random.randrange(1, 5)):
            kind = self.random.choice(("lease", "access", "access", "for", "for") if depth else ("access",))
            if kind == "lease":
                buffer, extent = self.random.choice(roots)
                alias = self.name("l")
                body.append(Lease(alias, buffer, "L1", True))
                roots = (*(root for root in roots if root[0] != buffer), (alias, extent))
            elif kind == "access":
                body.append(self.access(roots, counters))
            else:
                counter, high = self.name("i"), self.random.randrange(1, 5)
                body.append(For(counter, Range(Const(0), Const(high)), self.block(depth - 1, roots, (*counters, (counter, high)))))
        return Block(tuple(body))

    def program(self) -> Program:
        extents = [(name, self.random.randrange(1, 25)) for name in "abc"]
        params = tuple(Param(name, "mut", "f32", (Const(extent),)) for name, extent in extents)
        return Program("f", (), params, self.block(3, tuple(extents), ()))


def test_random_programs_keep_what_fits_and_some_lose_what_does_not() -> None:
    lost = kept = 0
    for seed in range(150):
        program = Maker(seed).program()
        events = trace(program, {})
        if not any(isinstance(event, Keep) for event in events):
            continue
        chance = Random(seed)
        bases = {param.name: 4096 * place + 4 * chance.randrange(4) for place, param in enumerate(program.params)}
        where = placed(program, {}, {}, bases)
        least = next(lines for lines in range(1, 60) if is_accepted(program, machine({"L1": lines}), ()))
        assert capacity_misses(events, "L1", least, where) == 0
        kept += 1
        lost += any(capacity_misses(events, "L1", lines, where) for lines in range(1, least))
    assert kept > 50
    assert lost > 20


def test_the_limit_of_a_row_is_the_share_of_the_level() -> None:
    program = Program("f", (), (Param("a", "mut", "f32", (Const(8),)),), Block((Lease("l", "a", "L1", True),)))
    assert is_accepted(program, machine({"L1": 3}), ())
    assert not is_accepted(program, machine({"L1": 2}), ())
