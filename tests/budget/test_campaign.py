"""Random nests under random budgets: what is proved holds in runs, and what is refused was counted."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from cachet_verify.core import ir
from cachet_verify.core.index import ONE, Const, Index, Var, ceil_div, evaluate
from cachet_verify.core.lease import pulls
from cachet_verify.elaborate.trip import pulled
from cachet_verify.judge.budget import budget_of, excess
from cachet_verify.judge.plan import Asked, Plan
from cachet_verify.report.option import SilentProgress
from cachet_verify.session import _Verdicts as Verdicts
from cachet_verify.solver.prover import Prover
from tests.budget.counted import entered
from tests.budget.test_counted import SIZES, Nests


def rows_for(program: ir.Program, chance: Random) -> tuple[ir.Traffic, ...]:
    """Rows like those that are needed: as they are, with a number more or less, a block coarser or finer, or a factor left out."""
    found = []
    for item in pulled(program, "DRAM"):
        factors: list[Index] = list(item.bounds)
        change = chance.choice(["", "", "", "number", "drop", "block", "size"])
        if change == "number":
            factors.append(Const(chance.randint(0, 2)))
        elif change == "drop" and factors:
            factors.pop(chance.randrange(len(factors)))
        elif change == "block":
            factors.append(ceil_div(Var(chance.choice(SIZES)), Const(chance.choice([2, 3, 8]))))
        elif change == "size" and factors:
            factors[chance.randrange(len(factors))] = Var(chance.choice(SIZES))
        is_back = item.pull.is_back or chance.random() < 0.5
        found.append(ir.Traffic(item.pull.root, tuple(factors) or (ONE,), item.pull.source, item.pull.target, is_back))
    return tuple(found)


def over(program: ir.Program, rows: tuple[ir.Traffic, ...], sizes: dict[str, int]) -> bool:
    """Whether a run enters leases of some way more often than the rows of that way add up to."""
    counts = entered(program, sizes)
    found = pulls(program, "DRAM")
    for is_back in (False, True):
        for way in {(pull.root, pull.source, pull.target) for pull in found}:
            moved = sum(counts[pull.alias] for pull in found if (pull.root, pull.source, pull.target) == way and (pull.is_back or not is_back))
            may = sum(evaluate(row.count, sizes) for row in rows if (row.buffer, row.source, row.target) == way and (row.is_back or not is_back))
            if moved > may:
                return True
    return False


@pytest.fixture(scope="module")
def verdicts() -> Iterator[Verdicts]:
    with Prover() as prover:
        yield Verdicts(prover, SilentProgress())


@pytest.mark.parametrize("seed", range(60))
def test_proved_budgets_hold_and_refused_ones_were_counted(seed: int, verdicts: Verdicts) -> None:
    chance = Random(5000 + seed)
    program = Nests(chance, plain=chance.random() < 0.6).program()
    if any(item.unbounded for item in pulled(program, "DRAM")):
        return
    rows = rows_for(program, chance)
    made = budget_of(program, rows, "DRAM", {})
    assert not isinstance(made, str)
    budget, goal = made
    points = [{size: chance.choice([0, 1, 2, 3, 4, 5, 8, 9]) for size in SIZES} for _ in range(12)]
    if verdicts.proves(Plan("f", "fn", None, asked=(Asked(goal, "", "cost.traffic", "cost"),))):
        assert not any(over(program, rows, sizes) for sizes in points)
        return
    for obligation in goal.obligations:
        found = excess(budget, obligation, verdicts.known.get(obligation.digest()))
        if found is not None:
            assert over(program, rows, {size: found.sizes.get(size, 1) for size in SIZES})
