"""`check` on a scripted session: flags, formats, streams, exit codes, regression and trust policy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from cachet_verify.cli import main
from cachet_verify.command.check import FORMATS
from cachet_verify.report.option import CheckOptions
from cachet_verify.report.record import FileReport, ItemReport, Report
from cachet_verify.report.regress import verdict_path
from tests.cli.fake_session import FakeSession, install
from tests.report import sample_report as sample


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeSession:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    return install(monkeypatch)


def test_the_flags_reach_the_session(session: FakeSession) -> None:
    main(["check", "a", "b.cachet"])
    main(
        "check a --solvers any --routes a --jobs 3 --limit 500 --cache c --save-scripts s --only f --only g".split(),
    )
    main(["check", "a", "--no-cache"])
    assert session.asked == [
        ("check", (Path("a"), Path("b.cachet")), CheckOptions()),
        ("check", (Path("a"),), CheckOptions("any", "a", 3, 500, Path("c"), True, Path("s"), ("f", "g"))),
        ("check", (Path("a"),), CheckOptions(use_cache=False)),
    ]


@pytest.mark.parametrize(
    ("items", "code"),
    [
        ((sample.MATMUL, sample.PACKED), 0),
        ((sample.PACKED, sample.BACKWARDS, sample.SLOW), 1),
        ((sample.PACKED, sample.SLOW), 3),
        ((sample.PACKED, sample.BROKEN, sample.BACKWARDS), 4),
        ((sample.PACKED, sample.ADMITTING), 5),
        ((sample.ADMITTING, sample.SLOW), 3),
        ((sample.UNUSED,), 8),
        ((), 8),
    ],
)
def test_exit_codes(session: FakeSession, items: tuple[ItemReport, ...], code: int) -> None:
    session.report = sample.report_of(*items)
    assert main(["check", "a.cachet"]) == code


def test_a_name_that_no_item_has_is_told(session: FakeSession, capsys: pytest.CaptureFixture[str]) -> None:
    session.report = sample.report_of(sample.PACKED)
    assert main(["check", "a.cachet", "--only", "packed", "--only", "pakced"]) == 2
    assert capsys.readouterr().err == "error[tool.no-item]: --only pakced: no item of these files is called so\n"
    session.report = sample.report_of()
    assert main(["check", "a.cachet", "--only", "pakced"]) == 2
    assert "--only pakced" in capsys.readouterr().err
    session.report = sample.report_of(diagnostics=(sample.DIAGNOSTIC,))
    assert main(["check", "a.cachet", "--only", "pakced"]) == 2
    assert capsys.readouterr().err == ""


def test_bad_input_is_2(session: FakeSession, capsys: pytest.CaptureFixture[str]) -> None:
    session.report = sample.report_of(sample.BACKWARDS, diagnostics=(sample.DIAGNOSTIC,))
    assert main(["check", "a.cachet"]) == 2
    assert "kernels/bad, file.cachet:2:5: error[syntax.expected]: expected `do`\n" in capsys.readouterr().out


@pytest.mark.parametrize("form", list(FORMATS))
def test_every_format_goes_to_standard_output_or_to_a_file(
    session: FakeSession, capsys: pytest.CaptureFixture[str], tmp_path: Path, form: str
) -> None:
    session.report = sample.report_of(sample.PACKED, sample.BACKWARDS)
    assert main(["check", "a.cachet", "--format", form]) == 1
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "backwards" in printed.out
    target = tmp_path / "report"
    assert main(["check", "a.cachet", "--format", form, "--output", str(target)]) == 1
    assert target.read_text(encoding="utf-8") == printed.out
    assert capsys.readouterr().out == ""


def test_the_json_document_is_one_document(session: FakeSession, capsys: pytest.CaptureFixture[str]) -> None:
    session.report = sample.REPORT
    assert main(["check", "a.cachet", "--format", "json"]) == 4
    assert json.loads(capsys.readouterr().out)["summary"]["proved"] == 4
    main(["check", "a.cachet", "--format", "junit"])
    assert ElementTree.fromstring(capsys.readouterr().out).tag == "testsuites"


def test_a_message_is_one_line_at_any_width(session: FakeSession, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    session.report = sample.report_of(sample.BACKWARDS)
    main(["check", "a.cachet"])
    assert sample.BACKWARDS.refusal is not None
    assert sample.BACKWARDS.refusal.sentence in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("flags", "code", "says"),
    [
        (["--deny-trusted"], 5, "error[trust.not-allowed]: the trust policy does not allow template simdgroup_mma8"),
        (["--deny-trusted", "--allow", "simdgroup_mma8"], 0, ""),
        (["--allow", "simdgroup_mma8"], 0, ""),
        (["--allow", "other"], 5, "error[trust.not-allowed]: the trust policy does not allow template simdgroup_mma8"),
        ([], 0, ""),
    ],
)
def test_trust_policy(session: FakeSession, capsys: pytest.CaptureFixture[str], flags: list[str], code: int, says: str) -> None:
    session.report = sample.report_of(sample.FLASH)
    assert main(["check", "a.cachet", *flags]) == code
    assert capsys.readouterr().err.startswith(says)


def test_an_admitted_item_may_be_allowed_by_name(session: FakeSession, capsys: pytest.CaptureFixture[str]) -> None:
    session.report = sample.report_of(sample.ADMITTING)
    assert main(["check", "a.cachet"]) == 5
    assert capsys.readouterr().err.startswith("error[trust.admitted]: ")
    assert main(["check", "a.cachet", "--allow", "fast"]) == 0


def test_the_policy_of_pyproject_counts(session: FakeSession, tmp_path: Path) -> None:
    session.report = sample.report_of(sample.FLASH)
    (tmp_path / "pyproject.toml").write_text("[tool.cachet]\ndeny-trusted = true\n")
    assert main(["check", "a.cachet"]) == 5
    (tmp_path / "pyproject.toml").write_text("[tool.cachet]\ndeny-trusted = 3\n")
    assert main(["check", "a.cachet"]) == 2


@pytest.mark.parametrize(
    "flags",
    [
        ["--bless"],
        ["--regress", "--only", "f"],
        ["--cache", "c", "--no-cache"],
        ["--jobs", "0"],
        ["--jobs", "many"],
        ["--solvers", "three"],
        ["--format", "xml"],
        ["--no-such-flag"],
    ],
)
def test_usage_errors_are_one_line_and_2(session: FakeSession, capsys: pytest.CaptureFixture[str], flags: list[str]) -> None:
    assert main(["check", "a.cachet", *flags]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error[tool.usage]: ")
    assert printed.err.count("\n") == 1
    assert session.asked == []


def test_no_path_is_a_usage_error(session: FakeSession) -> None:
    assert main(["check"]) == 2


def test_a_report_that_cannot_be_written_is_2(session: FakeSession, capsys: pytest.CaptureFixture[str]) -> None:
    session.report = sample.report_of(sample.PACKED)
    assert main(["check", "a.cachet", "--output", "missing/report.txt"]) == 2
    assert capsys.readouterr().err.startswith("error[tool.cannot-write]: missing/report.txt cannot be written: ")


def a_corpus(root: Path, session: FakeSession, *items: ItemReport, folder: str = "accept") -> Path:
    place = root / "proofs" / folder
    place.mkdir(parents=True)
    source = place / "gemm.cachet"
    source.write_text("// stands in for a kernel\n")
    session.report = Report((FileReport(f"proofs/{folder}/gemm.cachet", (), items),))
    return source


def test_regression_fails_until_blessed(session: FakeSession, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    a_corpus(tmp_path, session, sample.MATMUL, sample.PACKED)
    assert main(["check", "--regress", "proofs"]) == 1
    assert "proofs/accept/gemm.cachet: no verdict file gemm.verdict.txt beside it; --bless writes one\n" in capsys.readouterr().out
    assert main(["check", "--regress", "proofs", "--bless"]) == 0
    assert "blessed: proofs/accept/gemm.verdict.txt\n" in capsys.readouterr().out
    assert main(["check", "--regress", "proofs"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert "packed: bits of matmul_PlusTimes_f32" in printed
    assert printed[-1] == "regression: 1 file as blessed"


def test_a_blessed_refusal_passes_and_its_absence_fails(session: FakeSession, tmp_path: Path) -> None:
    a_corpus(tmp_path, session, sample.BACKWARDS, folder="refuse")
    main(["check", "--regress", "proofs", "--bless"])
    assert main(["check", "--regress", "proofs"]) == 0
    session.report = Report((FileReport("proofs/refuse/gemm.cachet", (), (sample.PACKED,)),))
    assert main(["check", "--regress", "proofs"]) == 1


def test_a_difference_shows_as_a_diff_and_not_in_the_json(session: FakeSession, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = a_corpus(tmp_path, session, sample.PACKED)
    verdict_path(source).write_text("schedule packed: proved\n  bits of matmul_PlusTimes_f32\n")
    assert main(["check", "--regress", "proofs", "--format", "json"]) == 1
    printed = capsys.readouterr()
    assert json.loads(printed.out)["summary"]["proved"] == 1
    assert "+  requires K > 0" in printed.err


@pytest.mark.parametrize("value", ["true", "1", "yes"])
def test_blessing_is_refused_in_ci(session: FakeSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str) -> None:
    source = a_corpus(tmp_path, session, sample.PACKED)
    monkeypatch.setenv("CI", value)
    assert main(["check", "--regress", "proofs", "--bless"]) == 2
    assert session.asked == []
    assert not verdict_path(source).exists()
    assert main(["check", "--regress", "proofs"]) == 1


def test_an_empty_corpus_is_8(session: FakeSession) -> None:
    assert main(["check", "--regress", "proofs"]) == 8


def test_admitted_items_are_judged_by_their_folder(session: FakeSession, tmp_path: Path) -> None:
    a_corpus(tmp_path, session, sample.ADMITTING, folder="open")
    assert main(["check", "--regress", "proofs", "--bless"]) == 0
    assert main(["check", "--regress", "proofs"]) == 0
    assert main(["check", "proofs"]) == 5
    assert main(["check", "--regress", "proofs", "--deny-trusted"]) == 5
    assert main(["check", "--regress", "proofs", "--deny-trusted", "--allow", "fast"]) == 0


@pytest.mark.parametrize(
    "wrong",
    [{"solvers": "z3"}, {"solvers": ""}, {"routes": "b"}, {"jobs": 0}, {"limit": -1}, {"limit": True}, {"jobs": 1.5}, {"only": "packed"}],
)
def test_what_is_asked_from_python_is_honoured_or_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"^{next(iter(wrong))} is "):
        CheckOptions(**wrong)


def test_an_interruption_is_130(session: FakeSession, capsys: pytest.CaptureFixture[str]) -> None:
    session.error = KeyboardInterrupt()
    assert main(["check", "a.cachet"]) == 130
    assert capsys.readouterr().err.strip() == "interrupted: nothing was concluded"


class _TooDeep(Exception):
    """An error nobody foresaw."""


@pytest.mark.parametrize("error", [_TooDeep("line one\nline two"), RecursionError(), MemoryError(), SystemError("x"), OSError(5, "broken disk")])
def test_an_unforeseen_error_is_our_own_fault(
    session: FakeSession, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.delenv("CACHET_DEBUG", raising=False)
    session.error = error
    assert main(["check", "a.cachet"]) == 4
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"error[tool.fault]: our own fault, nothing was concluded: {type(error).__name__}")
    assert printed.err.count("\n") == 1
    monkeypatch.setenv("CACHET_DEBUG", "1")
    assert main(["check", "a.cachet"]) == 4
    assert "Traceback (most recent call last):" in capsys.readouterr().err


def test_paths_may_be_odd(session: FakeSession) -> None:
    session.report = sample.report_of(sample.PACKED)
    assert main(["check", "no such\npath", "ü\udcff", "x" * 5000]) == 0
