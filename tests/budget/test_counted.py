"""What is derived of a lease is never below what a run counts, and equal where blocks divide sizes and no loop depends on another."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from cachet_verify.core import ir
from cachet_verify.core.index import ONE, ZERO, Const, Index, Var, add, evaluate, lt, mul, sub
from cachet_verify.core.lease import pulls
from cachet_verify.elaborate.trip import Pulled, pulled, rows_of
from cachet_verify.judge.entry import entries
from cachet_verify.kernel.budget import within_budget
from tests.budget.counted import entered
from tests.budget.sample import MATMUL, program_of
from tests.kernel.solve import invalid

SIZES = ("M", "N", "K")
PARAMS = (ir.Param("x", "mut", "f32", (Const(4),)), ir.Param("y", "mut", "f32", (Const(4),), level="L2"))


class Nests:
    """Random nests of loops, grids, guards and calls with leases in them."""

    def __init__(self, chance: Random, plain: bool) -> None:
        self.chance = chance
        self.plain = plain
        self.count = 0

    def name(self, word: str) -> str:
        self.count += 1
        return f"{word}{self.count}"

    def end(self, around: list[str]) -> Index:
        """An upper bound: a size, or something of the loops around."""
        size: Index = Var(self.chance.choice(SIZES))
        if self.plain:
            return size
        inner = [Var(name) for name in around]
        options = [size, add(size, Const(self.chance.randint(-3, 3))), mul(Const(2), size), Const(self.chance.randint(0, 5)), *inner, *inner]
        return self.chance.choice(options)

    def program(self) -> ir.Program:
        return ir.Program("f", SIZES, PARAMS, ir.Block(self.statements([], 3)))

    def statements(self, around: list[str], depth: int) -> tuple[ir.Stmt, ...]:
        found = [self.statement(around, depth) for _ in range(self.chance.randint(1, 2))]
        return (*found, ir.Store("x", (ZERO,), ir.Word("f32", 0)))

    def statement(self, around: list[str], depth: int) -> ir.Stmt:
        kind = self.chance.choice(["for", "for", "blocks", "blocks", "grid", "guard", "call", "lease"])
        if depth == 0 or kind == "lease":
            root = self.chance.choice(["x", "y"])
            return ir.Lease(self.name("lease"), root, "L1", self.chance.random() < 0.5)
        if kind == "guard" and not self.plain:
            condition = lt(self.end(around), self.end(around))
            return ir.If(condition, ir.Block(self.statements(around, depth - 1)), ir.Block(self.statements(around, depth - 1)))
        if kind == "grid":
            axis = ir.Axis(self.name("p"), ZERO, self.end(around))
            return ir.Grid((axis,), ir.Block(self.leases([*around, axis.counter], depth)))
        if kind == "call":
            return ir.Inlined("g x", ir.Block(self.statements(around, depth - 1)))
        counter = self.name("i")
        low = ZERO if self.plain or self.chance.random() < 0.7 else Const(self.chance.randint(0, 2))
        if kind == "blocks":
            size = Const(self.chance.choice([2, 4]))
            inside = [*around, f"{counter}.lo", f"{counter}.len"]
            return ir.For(counter, ir.Blocks(low, self.end(around), size), ir.Block(self.statements(inside, depth - 1)))
        high = self.end(around) if self.plain or self.chance.random() < 0.7 else sub(self.end(around), ONE)
        return ir.For(counter, ir.Range(low, high), ir.Block(self.statements([*around, counter], depth - 1)))

    def leases(self, around: list[str], depth: int) -> tuple[ir.Stmt, ...]:
        """Statements of a grid, whose iterations store nothing."""
        found = [self.statement(around, 0) for _ in range(depth)]
        return tuple(found)


def derived(item: Pulled, sizes: dict[str, int]) -> int:
    total = 1
    for bound in item.bounds:
        total *= evaluate(bound, sizes)
    return total


@pytest.mark.parametrize("seed", range(150))
def test_never_below_a_run(seed: int) -> None:
    chance = Random(seed)
    program = Nests(chance, plain=False).program()
    found = [item for item in pulled(program, "DRAM") if not item.unbounded]
    for _ in range(8):
        sizes = {size: chance.choice([0, 1, 2, 3, 4, 5, 7, 8, 9]) for size in SIZES}
        counts = entered(program, sizes)
        for item in found:
            assert derived(item, sizes) >= counts[item.pull.alias], (sizes, item)


@pytest.mark.parametrize("seed", range(40))
def test_equal_where_blocks_divide(seed: int) -> None:
    chance = Random(1000 + seed)
    program = Nests(chance, plain=True).program()
    found = pulled(program, "DRAM")
    assert not any(item.unbounded for item in found)
    for _ in range(6):
        sizes = {size: chance.choice([0, 4, 8, 12]) for size in SIZES}
        counts = entered(program, sizes)
        assert {item.pull.alias: derived(item, sizes) for item in found} == {item.pull.alias: counts[item.pull.alias] for item in found}


def test_few_nests_are_not_bounded() -> None:
    programs = [Nests(Random(seed), plain=False).program() for seed in range(150)]
    every = [item for program in programs for item in pulled(program, "DRAM")]
    assert sum(bool(item.unbounded) for item in every) * 20 <= len(every)


@pytest.mark.parametrize("seed", range(12))
def test_the_proposed_bounds_are_valid(seed: int) -> None:
    program = Nests(Random(2000 + seed), plain=False).program()
    found = pulled(program, "DRAM")
    if any(item.unbounded for item in found):
        pytest.skip("a loop whose trip count is not bounded")
    rows = rows_of(program, "DRAM") or ()
    assert invalid(within_budget(program, rows, "DRAM", {item.pull.alias: item.bounds for item in found})) == []


def test_packed_moves_what_a_run_counts(tmp_path: Path) -> None:
    """2 x 4 x 2 packs of A and 2 x 4 of B at 32, worked by hand; ragged sizes run and are not above what is derived."""
    program = program_of(tmp_path, MATMUL, "packed")
    found = {item.pull.root: item for item in pulled(program, "DRAM")}
    full = {"M": 32, "N": 32, "K": 32}
    assert (derived(found["packA"], full), derived(found["packB"], full)) == (16, 8)
    for sizes in ({"M": 5, "N": 9, "K": 17}, {"M": 0, "N": 9, "K": 17}, {"M": 16, "N": 8, "K": 0}):
        counts = entered(program, sizes)
        for item in found.values():
            assert derived(item, sizes) == counts[item.pull.alias]


@pytest.mark.parametrize("seed", range(100))
def test_what_a_refusal_counts_is_what_a_run_counts(seed: int) -> None:
    chance = Random(3000 + seed)
    program = Nests(chance, plain=False).program()
    for _ in range(6):
        sizes = {size: chance.choice([0, 1, 2, 3, 4, 5, 7, 8, 9]) for size in SIZES}
        counts = entered(program, sizes)
        assert {pull.alias: entries(pull, sizes) for pull in pulls(program, "DRAM")} == {
            pull.alias: counts[pull.alias] for pull in pulls(program, "DRAM")
        }
