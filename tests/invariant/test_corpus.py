"""Every invariant of the corpus, by brute force: what is accepted holds in any company drawn, what is refused fails in one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from cachet_verify.core.ir import Program
from cachet_verify.elaborate.item import InvariantItem, InvariantRow
from cachet_verify.judge.file import open_file
from cachet_verify.replay.instance import SEMIRINGS
from tests.corpus.corpus import files, name_of
from tests.invariant.company import Companies

VALUES = (0, 1, 2, 3, 4, 5, 7, 9, 17)
DRAWN = 30


def rows(path: Path) -> Iterator[tuple[str, Program, InvariantRow]]:
    """The invariants of a file with their programs."""
    opened = open_file(path)
    for items in (opened.module.programs, opened.module.schedules):
        for name, item in items.items():
            for row in item.invariants:
                program = opened.program(name)
                assert program is not None
                yield name, program, row
    for proof in opened.module.proofs:
        if isinstance(proof, InvariantItem):
            program = proof.program or opened.program(proof.of)
            assert program is not None
            yield proof.name, program, proof.row


def departs(program: Program, row: InvariantRow) -> bool:
    """Whether some company drawn changes a part."""
    chance = Random(f"{program.name} {row.text}")
    companies = Companies(program, row.buffer, row.dims, SEMIRINGS[0] if program.generics else None)
    for sizes, places in companies.pairs(VALUES, chance, DRAWN):
        for kind in ("full", "large"):
            if not companies.alike((sizes[0], sizes[1]), (places[0], places[1]), chance, kind):
                return True
    return False


def with_invariants(folder: str) -> list[Path]:
    return [path for path in files(folder) if path.stem.startswith("invariant-")]


@pytest.mark.parametrize("path", with_invariants("accept"), ids=name_of)
def test_every_accepted_invariant_holds_in_any_company(path: Path) -> None:
    found = list(rows(path))
    assert found
    assert [name for name, program, row in found if departs(program, row)] == []


@pytest.mark.parametrize("path", with_invariants("refuse"), ids=name_of)
def test_every_refused_invariant_fails_in_some_company(path: Path) -> None:
    assert [name for name, program, row in rows(path) if departs(program, row)]
