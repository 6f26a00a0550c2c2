"""The corpus's budgets against runs: leases counted by the interpreter, at every choice of a few sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from math import prod
from pathlib import Path

import pytest

from cachet_verify.core.index import evaluate, holds
from cachet_verify.core.ir import Program
from cachet_verify.core.lease import pulls
from cachet_verify.judge.file import open_file
from tests.budget.counted import entered, skeleton

PROOFS = Path(__file__).parent.parent.parent / "proofs"
VALUES = (0, 1, 2, 3, 9, 17, 33)
_MOST_STEPS = 9_000


def budgets(folder: str) -> Iterator[tuple[str, Program]]:
    """The programs of a folder's traffic files that have rows; sizes that are numbers are small."""
    for path in sorted((PROOFS / folder).glob("traffic-*.cachet")):
        opened = open_file(path)
        for name in (*opened.module.programs, *opened.applied):
            program = opened.program(name)
            if program is not None and program.movement is not None and "1024" not in path.stem:
                yield path.stem, program


def exceeding(program: Program) -> Iterator[dict[str, int]]:
    """Sizes at which a run enters leases of some way more often than the rows of that way add up to."""
    sources = {pull.alias: (pull.root, pull.source, pull.target, pull.is_back) for pull in pulls(program, "DRAM")}
    bare = skeleton(program)
    for values in product(VALUES, repeat=len(program.sizes)):
        sizes = dict(zip(program.sizes, values, strict=True))
        if prod(max(value, 1) for value in values) > _MOST_STEPS or not all(holds(need.condition, sizes) for need in program.requires):
            continue
        there: Counter[tuple[str, str, str]] = Counter()
        back: Counter[tuple[str, str, str]] = Counter()
        for alias, count in entered(bare, sizes).items():
            *way, is_back = sources[alias]
            there[way[0], way[1], way[2]] += count
            back[way[0], way[1], way[2]] += count if is_back else 0
        for row in program.movement or ():
            way = (row.buffer, row.source, row.target)
            there[way] -= evaluate(row.count, sizes)
            back[way] -= evaluate(row.count, sizes) if row.is_back else 0
        if any(count > 0 for count in (*there.values(), *back.values())):
            yield sizes


@pytest.mark.parametrize(("stem", "program"), [pytest.param(stem, program, id=stem) for stem, program in budgets("accept")])
def test_no_run_exceeds_an_accepted_budget(stem: str, program: Program) -> None:
    assert next(exceeding(program), None) is None, stem


@pytest.mark.parametrize(("stem", "program"), [pytest.param(stem, program, id=stem) for stem, program in budgets("refuse")])
def test_some_run_exceeds_a_refused_budget(stem: str, program: Program) -> None:
    assert next(exceeding(program), None) is not None, stem
