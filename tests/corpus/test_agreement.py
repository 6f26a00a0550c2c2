"""What the corpus accepts agrees with its meaning in the interpreter; what it refuses for a difference shows one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus.compare import difference
from tests.corpus.corpus import expected, files, name_of, pairs

DIFFERS = {"relation.not-proved"}
NO_RUN = {"family-with_zero"}
"""Blocks of size 0 have no meaning that could differ."""


@pytest.mark.parametrize("path", files("accept"), ids=name_of)
def test_every_accepted_program_agrees_with_its_meaning(path: Path, tmp_path: Path) -> None:
    for pair in pairs(path, tmp_path):
        assert difference(pair.program, pair.meaning) is None, pair.name


@pytest.mark.parametrize("path", files("open"), ids=name_of)
def test_what_is_open_is_not_wrong(path: Path, tmp_path: Path) -> None:
    for pair in pairs(path, tmp_path):
        assert difference(pair.program, pair.meaning) is None, pair.name


@pytest.mark.parametrize("path", [path for path in files("refuse") if expected(path) & DIFFERS and path.stem not in NO_RUN], ids=name_of)
def test_every_refused_relation_differs_by_brute_force(path: Path, tmp_path: Path) -> None:
    assert [pair.name for pair in pairs(path, tmp_path) if pair.meaning is not None and difference(pair.program, pair.meaning, 8)]
