"""The corpus as blessed: nothing changed, every refusal has its code and its run, every program a wrong neighbour."""

from __future__ import annotations

from pathlib import Path

import pytest

from cachet_verify.report.option import CheckOptions
from cachet_verify.report.record import FileReport, ItemReport, Report, Verdict
from cachet_verify.report.regress import compare
from cachet_verify.session import check
from tests.corpus.corpus import PROOFS, expected, files, name_of, topic

RUN_SHOWS = {"relation.not-proved", "program.not-well-formed", "program.uninitialised"}
NO_RUN = {"family-with_zero"}
"""Blocks of size 0 have no run that could differ."""
_LONGEST = 60


@pytest.fixture(scope="module")
def report() -> Report:
    return check([PROOFS], CheckOptions(use_cache=False))


def of(report: Report, path: Path) -> FileReport:
    (found,) = [file for file in report.files if Path(file.path) == path]
    return found


def refused(file: FileReport) -> list[ItemReport]:
    return [item for item in file.items if item.verdict == Verdict.REFUSED]


def test_nothing_differs_from_what_is_blessed(report: Report) -> None:
    found = compare(report, [PROOFS])
    assert [difference.sentence + difference.diff for difference in found.differences] == []
    assert found.files == sum(len(files(folder)) for folder in ("accept", "refuse", "open"))


@pytest.mark.parametrize("path", files("refuse"), ids=name_of)
def test_every_refusal_has_the_codes_its_file_expects(report: Report, path: Path) -> None:
    file = of(report, path)
    codes = {item.refusal.code for item in refused(file) if item.refusal is not None}
    assert codes | {diagnostic.code for diagnostic in file.diagnostics} == expected(path)


@pytest.mark.parametrize("path", files("refuse"), ids=name_of)
def test_every_difference_has_a_confirmed_run(report: Report, path: Path) -> None:
    """A step is shown wrong by the schedule that uses it."""
    if path.stem in NO_RUN:
        return
    for item in refused(of(report, path)):
        if item.refusal is not None and item.refusal.code in RUN_SHOWS and item.kind != "step fn":
            assert item.refusal.replay is not None, item.name
            assert item.refusal.replay.confirmed, item.name


@pytest.mark.parametrize("path", files("accept"), ids=name_of)
def test_every_accepted_claim_rests_on_nothing_but_platform_facts_and_templates(report: Report, path: Path) -> None:
    for item in of(report, path).items:
        assert item.verdict == Verdict.PROVED, item.name
        if item.claim is not None:
            text = path.read_text(encoding="utf-8")
            assert item.claim.by == () or "[reassoc]" in text
            others = [entry for entry in item.claim.trusted if entry.kind != "template"]
            assert [(entry.kind, entry.name) for entry in others] in ([], [("function", "exp f32")])
            assert not others or item.claim.by
            templates = [entry for entry in item.claim.trusted if entry.kind == "template"]
            assert not templates or any(word in text for word in ("instr fn", "tiles (", "element [", "mma "))
            assert not item.claim.assumes or "platform" in text
            assert len(item.claim.strength.solvers) == (2 if item.obligations else 0)


@pytest.mark.parametrize("path", files("accept"), ids=name_of)
def test_every_accepted_program_has_a_wrong_neighbour(path: Path) -> None:
    assert topic(path) in {topic(other) for other in files("refuse")}


@pytest.mark.parametrize("path", [*files("accept"), *files("refuse"), *files("open")], ids=name_of)
def test_every_file_is_small_and_says_what_it_is_about(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("// ")
    assert len(lines) <= _LONGEST
    assert bool(expected(path)) == (path.parent.name == "refuse")
