"""A short campaign: a fixed sample of mutants, and what the harness itself must be able to see.

The whole campaign is a command, `python -m tests.mutate --full`; docs/soundness.md has its counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pytest

from cachet_verify.core.index import ONE, sub
from cachet_verify.core.ir import Block, For, Program, Range
from tests.flow import nest
from tests.mutate.campaign import Campaign, Record, cases, wrong
from tests.mutate.case import Case, opened
from tests.mutate.judge import Judge
from tests.mutate.nest_edit import nest_mutants
from tests.mutate.oracle import Oracle, largest, points
from tests.mutate.summary import table
from tests.mutate.tree_edit import schedule_mutants

QUOTA = {"nest": 22, "schedule": 14, "step": 12, "function": 8, "rule": 12, "random": 12}
MOST_DRAWN = 2000
WEIGHTS = {"random": 4}


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Record]]:
    """The first cases of the campaign, run."""
    with Judge() as judge:
        campaign = Campaign(judge, tmp_path_factory.mktemp("mutant"))
        yield [campaign.record(case) for case in sample()]


def sample() -> list[Case]:
    """The first cases of every family, as many as its quota, whatever streams the corpus adds."""
    found: list[Case] = []
    left = dict(QUOTA)
    for case in islice(cases(20261130, weights=WEIGHTS), MOST_DRAWN):
        family = case.stream.split()[0]
        if left.get(family, 0) > 0:
            left[family] -= 1
            found.append(case)
        if not any(left.values()):
            break
    return found


def test_no_accepted_mutant_departs_from_what_its_claim_names(records: list[Record]) -> None:
    assert [record for record in records if wrong(record)] == []


def test_the_checker_has_no_fault_of_its_own(records: list[Record]) -> None:
    assert [record for record in records if record.kind in ("error", "crashed")] == []


def test_a_sample_holds_mutants_of_every_kind(records: list[Record]) -> None:
    assert Counter(record.stream.split()[0] for record in records) == QUOTA
    counts = Counter(record.kind for record in records)
    assert counts["accepted"] > 5
    assert counts["confirmed"] > 20


def test_the_table_counts_what_was_wrong() -> None:
    """A campaign that found a fault says so."""
    bad = Record("1", "nest a", "", "accepted", "", "c[0] differs")
    good = Record("2", "nest a", "", "accepted", "", None)
    assert wrong(bad)
    assert not wrong(good)
    assert "depart from the meaning their claim names: 1 of 2" in table([bad, good])


def shortened(program: Program) -> Program:
    """The program without the last index of its last loop."""
    first, last = program.body.body
    assert isinstance(last, For)
    assert isinstance(last.domain, Range)
    return replace(program, body=Block((first, replace(last, domain=Range(last.domain.low, sub(last.domain.high, ONE))))))


def test_the_oracle_sees_a_lost_iteration() -> None:
    oracle = Oracle(nest.matmul())
    assert oracle.departure(nest.swapped()) is None
    assert oracle.departure(shortened(nest.swapped())) is not None


def test_the_oracle_sees_a_split_fma_and_exchanged_operands() -> None:
    oracle = Oracle(nest.matmul())
    found = {label: mutant for label, mutant in nest_mutants(nest.swapped()) if label in ("fma split in two", "operands exchanged")}
    assert len(found) == 2
    assert all(oracle.departure(mutant) is not None for mutant in found.values())


def test_the_oracle_goes_past_the_largest_block_and_meets_requirements() -> None:
    applied = opened().applied["exact"].program
    assert largest(applied) == 3
    found = points(applied)
    assert max(sizes["M"] for sizes in found) > 3
    assert all(sizes["K"] % 2 == 0 and sizes["M"] % 3 == 0 for sizes in found)


def test_mutants_are_distinct_and_leave_the_interface_alone() -> None:
    tower = nest.tower(2, 4, 2, 3)
    found = [mutant for _, mutant in nest_mutants(tower)]
    assert len(set(found)) == len(found)
    assert len(found) > 500
    assert tower not in found
    assert all((mutant.params, mutant.sizes, mutant.name) == (tower.params, tower.sizes, tower.name) for mutant in found)


def test_mutants_of_a_schedule_keep_its_name_and_contraction() -> None:
    from tests.mutate.case import declarations

    schedule = next(item for item in declarations() if getattr(item, "name", "") == "tower")
    found = [mutant for _, mutant in schedule_mutants(schedule)]  # type: ignore[arg-type]
    assert len(set(found)) == len(found)
    assert len(found) > 100
    assert {(mutant.name, mutant.of) for mutant in found} == {(schedule.name, schedule.of)}  # type: ignore[union-attr]


def test_a_variable_is_exchanged_for_every_other_in_scope() -> None:
    labels = {label for label, _ in nest_mutants(nest.swapped())}
    assert {"counter i", "counter j", "counter k", "counter M"} <= labels
    assert "counter zj" in labels
