"""`trust`: everything that claims rest on, and who relies on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cachet_verify.cli import main
from cachet_verify.ledger.page import Ledger, Row, document, page, rendered
from cachet_verify.report.record import (
    ClaimPart,
    ClaimReport,
    FileReport,
    ItemReport,
    Report,
    Strength,
    TrustedEntry,
    Verdict,
)
from cachet_verify.trusting import ledger
from tests.conftest import Golden
from tests.trust.made import WRONG, measure, project, two_of_a_name

LAW = TrustedEntry("law", "exp adds over reals", "as the real function", "not refuted in 50 trials")
ADMITTED = TrustedEntry("admitted", "schedule line", "the vendor says so")


def item(name: str, kind: str, claim: ClaimReport | None = None, verdict: Verdict = Verdict.PROVED) -> ItemReport:
    return ItemReport(name, kind, verdict, 1, 1, claim)


REPORT = Report(
    (
        FileReport(
            "a.cachet",
            (),
            (
                item("exp adds over reals", "law", ClaimReport((), trusted=(LAW,))),
                item("Sum f32: associative over reals", "law"),
                item("Sum f32: identity over reals", "law"),
                item("wrong over reals", "law", None, Verdict.REFUSED),
                item("flash", "schedule", ClaimReport((ClaimPart("bits of", "shadow"),), by=("Sum f32: associative over reals",), trusted=(LAW,))),
                item("loose", "schedule", ClaimReport((), trusted=(ADMITTED,), strength=Strength(("z3 5",), ("a",)))),
                item("step", "step fn", None, Verdict.UNUSED),
            ),
        ),
        FileReport("b.cachet", (), (item("flash", "schedule", ClaimReport((), trusted=(ADMITTED, LAW))),)),
    ),
    {"z3": "5"},
)


def rows(kind: str) -> list[dict[str, Any]]:
    found = document(ledger(REPORT))[kind]
    assert isinstance(found, list)
    return found


def test_laws_are_listed_as_they_were_judged_with_who_goes_by_them() -> None:
    assert [(row["name"], row["status"], row["relied_on_by"]) for row in rows("laws")] == [
        ("Sum f32: associative over reals", "proved", ["flash (a.cachet)"]),
        ("Sum f32: identity over reals", "proved", []),
        ("exp adds over reals", "trusted", ["flash (a.cachet)", "flash (b.cachet)"]),
        ("wrong over reals", "refused", []),
    ]
    (trusted,) = (row for row in rows("laws") if row["status"] == "trusted")
    assert (trusted["reason"], trusted["evidence"]) == ("as the real function", "not refuted in 50 trials")


def test_what_is_admitted_and_who_was_believed_is_listed() -> None:
    assert rows("admitted") == [{"name": "schedule line", "reason": "the vendor says so", "relied_on_by": ["loose (a.cachet)", "flash (b.cachet)"]}]
    assert rows("solvers") == [{"name": "z3 5", "relied_on_by": ["loose (a.cachet)"]}]


def test_the_whole_list_leaves_nothing_out() -> None:
    text_of = rendered(ledger(REPORT))
    for text in (
        "  exp adds over reals: trusted: as the real function (evidence: not refuted in 50 trials)\n",
        "    relied on by flash (a.cachet), flash (b.cachet)\n",
        "  refused, relied on by no claim: wrong over reals\n",
        "  schedule line: the vendor says so\n    relied on by loose (a.cachet), flash (b.cachet)\n",
        "templates (a target runs the template, and nobody proves that it computes the reference body): none\n",
        "items: 6 proved, 1 refused; only what is proved relies on anything\n",
    ):
        assert text in text_of


def test_items_that_failed_are_named() -> None:
    failed = FileReport("c.cachet", (), (item("broken", "fn", None, Verdict.ERROR),))
    for text in (page(ledger(Report((failed,)))), rendered(ledger(Report((failed,))))):
        assert text.endswith("our own fault, so that nothing is known of what they rest on: broken (c.cachet)\n")


def trusted_names(report: Report) -> set[str]:
    return {entry.name for entry in report.trusted}


def test_every_trusted_entry_of_a_report_is_in_its_ledger() -> None:
    found = ledger(REPORT)
    assert trusted_names(REPORT) == {row.name for row in (*found.laws, *found.admitted) if row.status in ("trusted", "admitted")}


PLATFORM = """\
impl Platform for Own where
  // Two lines of comment.
  // Source: the manual, page 7,
  // and a measurement.
  const lanes = Vec { f32 = 8 }
  const fma_latency = Unit { Vec = 4 }

  const fma_pipes = Unit { Vec = 2 }

"""
USES = """\
module (platform = Own)
import "own-machine.cachet"
proof wide = assert platform.lanes @Vec @f32 >= 4
proof piped = assert platform.fma_pipes @Vec >= 1
proof late = assert platform.fma_latency @Vec >= 1
"""


def test_facts_come_with_the_source_above_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own-machine.cachet").write_text(PLATFORM)
    path = tmp_path / "uses.cachet"
    path.write_text(USES)
    assert main(["trust", str(path), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["facts"] == [
        {"name": "Own.fma_latency @Vec = 4", "source": "the manual, page 7, and a measurement.", "relied_on_by": [f"late ({path})"]},
        {"name": "Own.fma_pipes @Vec = 2", "source": None, "relied_on_by": [f"piped ({path})"]},
        {"name": "Own.lanes @Vec @f32 = 8", "source": "the manual, page 7, and a measurement.", "relied_on_by": [f"wide ({path})"]},
    ]
    assert main(["trust", str(path), "--all"]) == 0
    whole = capsys.readouterr().out
    assert "  Own, source: the manual, page 7, and a measurement.\n    fma_latency @Vec = 4: late (" in whole
    assert f"  Own, source: none stated\n    fma_pipes @Vec = 2: piped ({path})\n" in whole


def test_templates_come_with_their_evidence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    path = project(tmp_path)
    (kept,) = measure(path)
    assert main(["trust", str(path), "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["templates"]
    assert (row["name"], row["evidence"], row["relied_on_by"]) == ("twice4", kept.record.says, [f"use ({path})"])
    path.write_text(path.read_text().partition("fn use")[0])
    assert main(["trust", str(path), "--all"]) == 0
    assert f"  twice4#{row['identity'][:12]}: trusted (evidence: {kept.record.says})\n    relied on by no claim\n" in capsys.readouterr().out


def test_the_exit_code_is_that_of_a_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    path = project(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.cachet]\ndeny-trusted = true\n")
    assert main(["trust", str(path)]) == 5
    assert "error[trust.not-allowed]: the trust policy does not allow template twice4 (evidence: none)" in capsys.readouterr().err
    (tmp_path / "pyproject.toml").write_text("")
    project(tmp_path, text=WRONG)
    measure(path)
    assert main(["trust", str(path)]) == 5
    path.write_text("contraction (")
    assert main(["trust", str(path)]) == 2
    assert "error[syntax." in capsys.readouterr().err
    assert main(["trust", str(tmp_path / "nowhere.cachet")]) == 2


def test_two_templates_of_one_name_are_two_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    # The reference bodies are the same statement, `x`; the types of the operands differ, and only one file's was measured.
    monkeypatch.chdir(tmp_path)
    single, double = two_of_a_name(tmp_path)
    (kept,) = measure(single)
    assert main(["trust", str(single), str(double), "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["templates"]
    assert {(row["name"], row["evidence"], *row["relied_on_by"]) for row in rows} == {
        ("copied4", kept.record.says, f"use ({single})"),
        ("copied4", "host: stale", f"use ({double})"),
    }
    digits = {row["evidence"]: row["identity"][:12] for row in rows}
    assert len(set(digits.values())) == 2
    assert main(["trust", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert f"  copied4#{digits[kept.record.says]} (evidence: {kept.record.says}): use ({single})\n" in text
    assert f"  copied4#{digits['host: stale']} (evidence: host: stale): use ({double})\n" in text
    assert main(["check", str(tmp_path), "--require-evidence"]) == 5
    printed = capsys.readouterr()
    assert printed.err.count("error[trust.no-evidence]") == 1
    assert f"  template copied4#{digits['host: stale']} (evidence: host: stale)\n" in printed.out
    measure(double)
    assert len(list((tmp_path / "evidence").iterdir())) == 2
    assert main(["check", str(tmp_path), "--require-evidence"]) == 0
    allowed = f"copied4#{digits[kept.record.says]}"
    assert main(["check", str(tmp_path), "--deny-trusted", "--allow", allowed]) == 5
    assert main(["check", str(single), "--deny-trusted", "--allow", allowed]) == 0


def test_the_page_of_a_small_folder(golden: Golden) -> None:
    relied = tuple(f"p{number} ({'ab'[number % 2]}.cachet)" for number in range(12))
    long = "a manual whose title goes on and on, chapter after chapter, table after table, until a page is not wide enough for it"
    found = Ledger(
        laws=(
            Row("Max: associative over reals", "proved", relied=relied[:2]),
            Row("Max: identity over reals", "proved", relied=relied[:3:2]),
            Row("Mean: identity over reals", "proved"),
            Row("Worn: associative over reals", "trusted", "a reason in full, however long it is", "not refuted in 50 trials", relied=relied),
            Row("Wrong: identity over reals", "refused"),
        ),
        templates=(
            Row("measured", "trusted", evidence="host on m, 2026-01-31: 0 of 8 words differ", relied=relied[:1], identity="0" * 64),
            Row("measured", "trusted", evidence="host: stale", relied=relied[:4:2], identity="1" * 64),
            *(Row(f"unmeasured{number}", "trusted", evidence="none", relied=relied[:number], identity=f"{number}" * 64) for number in (3, 4, 5)),
            Row("idle", "trusted", evidence="none", identity="9" * 64),
        ),
        facts=(
            Row("Own.L1 = Level { capacity = 8 }", "assumed", source=long, relied=relied[:4]),
            Row("Own.lanes @Vec @f32 = 8", "assumed", source=long, relied=relied[2:6]),
            Row("Own.fma_pipes @Vec = 2", "assumed", relied=relied[:1]),
            Row("Other.L1 = Level { capacity = 9 }", "assumed", source="a data sheet", relied=relied[:1]),
        ),
        admitted=(Row("schedule line", "admitted", "the vendor says so", relied=relied[:1]),),
        functions=(Row("exp f32", "trusted", "its words stand for the real function", "none", relied=relied[:2]),),
        solvers=(Row("one 1.0", "believed", relied=relied), Row("two 2.0", "believed", relied=relied), Row("three 3", "believed", relied=relied[:1])),
        tools={"one": "1.0", "two": "2.0"},
        proved=12,
        open=(("q (a.cachet)", "refused"), ("r (a.cachet)", "undecided")),
    )
    golden.check("trust/page.txt", page(found))
