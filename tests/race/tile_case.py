"""Grids by tile whose groups share scratch between barriers, drawn at random; brute force says which have a race.

Takes a seed; gives cases without end. Nothing is right by construction here: a barrier stands where chance put it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from random import Random

from tests.race.brute import found
from tests.race.grid_case import Case, Faulty
from tests.race.nest import Nest
from tests.race.term import Term, name, relation, whole

GROUPS = (4, 6, 8)
THREAD, TILE, STEP = name("t"), name("gi"), name("k")


def tile_cases(seed: int) -> Iterator[Case]:
    """Cases one after the other, about as many with a race as without."""
    number = 0
    while True:
        chance = Random(f"tiles {seed} {number}")
        wanted = chance.random() < 0.5
        yield _case(chance, number, wanted)
        number += 1


def _case(chance: Random, number: int, is_racy: bool) -> Case:
    for _ in range(200):
        nest = _Writer(chance, 0.35 if is_racy else 0.75).made()
        fault = found(nest)
        if fault is not None and fault.kind == "bounds":
            raise Faulty(f"{fault}\n{nest.text('f')}")
        if (fault is not None) == is_racy:
            features = frozenset(mark for mark, sign in (("loop", "for k"), ("guard", "if "), ("division", "%")) if sign in nest.text("f"))
            return Case(number, "tile", is_racy, nest.text(f"grid{number}"), fault, features | {"symbolic", "barrier"})
    raise Faulty(f"no case in 200 tries of number {number}")


class _Writer:
    """One grid by tile: each group has a thread number, a total of its own, and shared cells, as many as there are groups, once or twice."""

    def __init__(self, chance: Random, barriers: float) -> None:
        self.chance = chance
        self.barriers = barriers
        self.groups = chance.choice(GROUPS)
        self.buffers = chance.choice((1, 1, 2))
        self.nest = Nest(["G", "K"])
        self.in_loop = False

    def made(self) -> Nest:
        """The nest."""
        nest, groups = self.nest, self.groups
        cells = name("G") * groups
        nest.buffer("a", (cells,), "reads")
        nest.buffer("c", (cells, whole(1)))
        nest.shared["s"] = (name("G"), whole(groups * self.buffers))
        start = TILE * groups
        header = f"grid gi in 0 .. G by tile (t, u) parts [1, 1] writes c[{start.text} .. {(start + groups).text}, 0 .. 1] as ct do"
        bind = "            path1 = path0 + ((1, (gi,)), (-1 - region, (t,)))"
        nest.line(header, "for gi in range(0, G):", f"    for t in range(0, {groups}):", "        region = 0", bind[4:])
        nest.paths = 1
        with nest.indented(2):
            nest.line(f"var s: [f32; {groups * self.buffers}] at threadgroup")
            nest.line("var v: f32 = 0.0")
            for buffer in range(self.buffers):
                self.put(THREAD + groups * buffer)
            self.phases(self.chance.choice((1, 2, 3)))
            if self.chance.random() < 0.6:
                with nest.loop("k", whole(0), name("K")):
                    self.in_loop = True
                    self.phases(self.chance.choice((2, 3, 4)))
                    self.in_loop = False
                self.phases(self.chance.choice((0, 1)))
            nest.line("store ct[t, 0] = v", nest.touch("c", (start + THREAD, whole(0)), True))
        return nest

    def phases(self, count: int) -> None:
        """A few statements, with barriers where chance has them."""
        for _ in range(count):
            self.barrier()
            with ExitStack() as stack:
                if self.chance.random() < 0.3:
                    stack.enter_context(self.nest.guard(self.condition()))
                kind = self.chance.choice(("put", "take", "take"))
                self.put(self.cell()) if kind == "put" else self.take(self.cell())
        self.barrier()

    def barrier(self) -> None:
        if self.chance.random() < self.barriers:
            self.nest.line("barrier", "region += 1", "path1 = path0 + ((1, (gi,)), (-1 - region, (t,)))")

    def condition(self) -> Term:
        """A guard that groups pass or not, or the whole tile does."""
        return self.chance.choice(
            (
                relation(THREAD, "<", self.groups // 2),
                relation(THREAD % 2, "==", self.chance.choice((0, 1))),
                relation(THREAD, "==", 0),
                relation(TILE % 2, "==", 0),
            )
        )

    def cell(self) -> Term:
        """A shared cell: the group's own, or another group's."""
        groups = self.groups
        turn = self.chance.randrange(1, groups)
        place = self.chance.choice((THREAD, THREAD, whole(groups - 1) - THREAD, (THREAD + turn) % groups, whole(self.chance.randrange(groups))))
        if self.buffers == 1:
            return place
        rounds = [(STEP + turn) % 2] if self.in_loop else []
        return place + self.chance.choice((whole(0), whole(1), *rounds)) * groups

    def put(self, cell: Term) -> None:
        """A write to shared memory."""
        load = TILE * self.groups + THREAD
        self.nest.line(f"s[{cell.text}] = load a[{load.text}]", self.nest.touch("s", (TILE, cell), True))

    def take(self, cell: Term) -> None:
        """A read of shared memory into the group's total."""
        self.nest.line(f"v = v + s[{cell.text}]", self.nest.touch("s", (TILE, cell), False))
