"""The exact account against traffic counted by running; the account with full blocks is never below it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from cachet_verify.core.index import holds
from cachet_verify.core.ir import Program
from cachet_verify.core.memory import MeaningError
from cachet_verify.diagnostic import CachetError
from cachet_verify.judge.file import open_file
from cachet_verify.traffic.record import account_of
from tests.traffic.counting import counted
from tests.traffic.kernels import numbers, program

CORPUS = Path(__file__).parents[2] / "proofs" / "accept"


def agree(found: Program, at: dict[str, int]) -> dict[tuple[str, str], int]:
    """The counted traffic, once it is what the exact account says, and no more than the other one."""
    run = counted(found, at)
    assert numbers(account_of(found, True, at).total) == run, at
    full = numbers(account_of(found, False, at).total)
    assert {key: full.get(key, 0) for key in run if full.get(key, 0) < run[key]} == {}, at
    return run


def test_200_triples_of_sizes_zero_and_ragged_ones_included() -> None:
    chance = random.Random(7)
    kernel = program("uneven")
    triples = [{size: chance.choice((0, 1, 2, 3, 4, 5, 6, 7)) for size in "MNK"} for _ in range(200)]
    assert sum(0 in at.values() for at in triples) >= 20
    exact, full = account_of(kernel, True).total, account_of(kernel).total
    for at in triples:
        run, most = counted(kernel, at), numbers(full, **at)
        assert numbers(exact, **at) == run, at
        assert all(most[key] >= amount for key, amount in run.items()), at


@pytest.mark.parametrize("name", ["swapped", "tower", "packed", "larger", "rows_first", "tile", "first_block", "rows", "taps"])
def test_other_kernels(name: str) -> None:
    chance = random.Random(name)
    kernel = program(name)
    for _ in range(10):
        at = {size: chance.randrange(13) for size in kernel.sizes}
        if all(holds(need.condition, at) for need in kernel.requires):
            agree(kernel, at)


@pytest.mark.parametrize("name", ["triangle", "guarded", "spread", "both"])
def test_functions_at_every_small_size(name: str) -> None:
    for size in range(12):
        agree(program(name), {"N": size})


@pytest.mark.parametrize(
    ("name", "blocks"),
    [("packed", (16, 8, 16)), ("uneven", (5, 3, 4)), ("tower", (16, 8, 16)), ("tile", (4, 4, 3)), ("first_block", (1, 1, 4))],
)
def test_full_blocks_are_exact_at_multiples(name: str, blocks: tuple[int, ...]) -> None:
    kernel = program(name)
    for times in ((1, 1, 1), (2, 1, 0), (0, 2, 1), (1, 2, 2)):
        at = {size: block * n for size, block, n in zip("MNK", blocks, times, strict=True)}
        if all(holds(need.condition, at) for need in kernel.requires):
            assert numbers(account_of(kernel, False, at).total) == counted(kernel, at), at


def is_short(found: Program, at: dict[str, int]) -> bool:
    """Whether a run takes a moment, by the account itself: a wrong one leaves a program out at most, and enough are asked for."""
    return sum(numbers(account_of(found, False, at).total).values()) <= 40_000


def test_the_corpus() -> None:
    chance = random.Random(3)
    compared = set()
    for path in sorted(CORPUS.glob("*.cachet")):
        try:
            opened = open_file(path)
        except CachetError:
            continue
        for name in (*opened.module.programs, *opened.module.schedules):
            found = opened.program(name)
            if found is None or found.generics:
                continue
            at = {size: chance.choice((0, 1, 3, 4, 6, 8, 9)) for size in found.sizes}
            if all(holds(need.condition, at) for need in found.requires) and is_short(found, at):
                try:
                    agree(found, at)
                except MeaningError:
                    continue  # its requirements are those of what it was derived from
                compared.add((path.name, name))
    assert len(compared) >= 60


def test_a_wrong_account_is_seen() -> None:
    kernel = program("packed")
    assert counted(kernel, {"M": 5, "N": 5, "K": 5}) != numbers(account_of(kernel, False, {"M": 5, "N": 5, "K": 5}).total)
