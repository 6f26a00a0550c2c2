"""The text format: the article's sentences first, one message a line, never wrapped."""

from __future__ import annotations

from cachet_verify.report.record import FileReport, ItemReport, Report
from cachet_verify.report.text import item_lines, render_text
from tests.conftest import Golden
from tests.report import sample_report as sample
from tests.report.sample_report import REPORT, report_of


def lines_of(item: ItemReport) -> list[str]:
    return [line.text for line in item_lines(item, "a.cachet")]


def test_whole_report(golden: Golden) -> None:
    golden.check("report/text.txt", f"-- a report with one of everything, as plain text\n\n{render_text(REPORT)}")


def test_a_claim_reads_as_in_the_article() -> None:
    assert lines_of(sample.PACKED) == ["packed: bits of matmul_PlusTimes_f32", "  requires: K > 0"]


def test_a_refusal_starts_with_its_sentence_and_shows_the_replay() -> None:
    assert lines_of(sample.BACKWARDS) == [
        "could not prove relation swapped'1_backwards: the two runs hold the same words in parameter 3 after each iteration of the loops at "
        "S.j and T.j",
        "  the sums run in opposite orders",
        "  at a.cachet:22:3: schedule backwards refused [schedule.words-differ]",
        "  counterexample: M = 1, N = 1, K = 2",
        "  replay: c[0, 0] is 0x3f800000 before and 0x00000000 after",
        "  explain: cachet-verify explain schedule.words-differ",
    ]


def test_a_refusal_without_a_place_points_at_its_item() -> None:
    assert lines_of(sample.BUDGET)[1:3] == [
        "  counterexample: bytes_0 = 0, bytes_1 = 1",
        "  at a.cachet:40:1: fn larger refused [account.over-budget]",
    ]


def test_a_model_that_was_not_confirmed_is_not_called_a_counterexample() -> None:
    text = "\n".join(lines_of(sample.GUESSED))
    assert "  a model the search cannot rule out: K = 3" in text
    assert "counterexample" not in text


def test_an_undecided_item_says_its_reason() -> None:
    assert lines_of(sample.SLOW) == ["slow: undecided (proof): single-solver: N % 256 == 0", "  at a.cachet:60:1"]


def test_one_solver_alone_shows() -> None:
    assert "  strength: solvers z3; routes A and B" in lines_of(sample.FLASH)
    assert not any("strength" in line for line in lines_of(sample.PACKED))


def test_the_end_is_summary_trusted_list_and_time() -> None:
    assert render_text(Report((FileReport("a.cachet", (), (sample.PACKED,)),), {}, {"wall_s": 0.5})).splitlines()[-3:] == [
        "1 proved, 0 refused, 0 undecided; 1 obligation",
        "trusted: nothing",
        "time: 0.50 s",
    ]
    assert render_text(report_of(sample.FLASH)).splitlines()[-2:] == [
        "trusted:",
        "  template simdgroup_mma8: measured, not proved (evidence: 2026-11-01 on M4Gpu)",
    ]
