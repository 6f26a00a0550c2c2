"""The gates: what a policy lets through, on which day, and what a changed trusted list does to a regression."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from cachet_verify.cli import main
from cachet_verify.diagnostic import CachetError
from cachet_verify.report.policy import Policy, find_policy
from cachet_verify.report.record import ClaimReport, FileReport, ItemReport, Measured, Report, TrustedEntry, Verdict
from tests.trust.made import RIGHT, WRONG, measure, project

TODAY = date(2026, 6, 1)


def report(*entries: TrustedEntry) -> Report:
    return Report((FileReport("f", (), (ItemReport("p", "fn", Verdict.PROVED, 1, 1, ClaimReport((), trusted=entries)),)),))


def template(*measured: Measured, unmeasured: tuple[str, ...] = ()) -> TrustedEntry:
    return TrustedEntry("template", "mma", None, "shown", measured, unmeasured)


GOOD = Measured("nvptx", "2026-05-01", 100, 0)
BAD = Measured("nvptx", "2026-05-01", 100, 1)
OLD = Measured("nvptx", "2025-05-31", 100, 0)
LAW = TrustedEntry("law", "exp")


@pytest.mark.parametrize(
    ("policy", "entry", "codes"),
    [
        (Policy(), template(GOOD), []),
        (Policy(), template(), []),
        (Policy(), template(BAD), ["trust.contradicted"]),
        (Policy(allow=("mma",)), template(BAD), ["trust.contradicted"]),
        (Policy(), template(GOOD, BAD), ["trust.contradicted"]),
        (Policy(deny=True), template(GOOD), ["trust.not-allowed"]),
        (Policy(needs_evidence=True), template(GOOD), []),
        (Policy(needs_evidence=True), template(GOOD, unmeasured=("metal",)), ["trust.no-evidence"]),
        (Policy(needs_evidence=True), template(), ["trust.no-evidence"]),
        (Policy(needs_evidence=True, allow=("mma",)), template(), ["trust.no-evidence"]),
        (Policy(needs_evidence=True), LAW, []),
        (Policy(needs_evidence=True), template(OLD), []),
        (Policy(max_age=31), template(GOOD), []),
        (Policy(max_age=30), template(GOOD), ["trust.old-evidence"]),
        (Policy(max_age=31), template(), ["trust.no-evidence"]),
        (Policy(max_age=31), template(OLD, GOOD), []),
        (Policy(max_age=31), template(GOOD, Measured("host", "2025-05-31", 1, 0)), ["trust.old-evidence"]),
        (Policy(max_age=31), template(Measured("nvptx", "2026-06-03", 1, 0)), ["trust.old-evidence"]),
        (Policy(max_age=0), template(Measured("nvptx", "2026-06-01", 1, 0)), []),
    ],
)
def test_what_a_policy_finds(policy: Policy, entry: TrustedEntry, codes: list[str]) -> None:
    assert [found.code for found in policy.judge(report(entry), TODAY)] == codes


def test_demands_add_up() -> None:
    assert Policy(max_age=10).joined(Policy(max_age=5, needs_evidence=True)) == Policy(needs_evidence=True, max_age=5)
    assert Policy(max_age=10, needs_evidence=True).joined(Policy()) == Policy(max_age=10, needs_evidence=True)


def test_the_table_of_a_project(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.cachet]\nrequire-evidence = true\nevidence-max-age = 90\n")
    assert find_policy(tmp_path) == Policy(needs_evidence=True, max_age=90)
    for line in ("require-evidence = 1", "evidence-max-age = true", "evidence-max-age = -1", 'evidence-max-age = "90"', "max-age = 3"):
        (tmp_path / "pyproject.toml").write_text(f"[tool.cachet]\n{line}\n")
        with pytest.raises(CachetError):
            find_policy(tmp_path)


def test_the_command_ends_with_5(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    path = project(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["check", str(path)]) == 0
    assert main(["check", str(path), "--require-evidence"]) == 5
    assert "error[trust.no-evidence]: the trust policy does not allow template twice4 (evidence: none): no current record for host" in (
        capsys.readouterr().err
    )
    measure(path)
    assert main(["check", str(path), "--require-evidence", "--max-evidence-age", "1"]) == 0
    assert main(["check", str(path), "--require-evidence", "--deny-trusted"]) == 5
    assert main(["check", str(path), "--require-evidence", "--deny-trusted", "--allow", "twice4"]) == 0
    project(tmp_path, text=RIGHT.replace(";", " ;"))
    assert main(["check", str(path), "--require-evidence"]) == 5
    project(tmp_path, text=WRONG)
    measure(path)
    assert main(["check", str(path), "--allow", "twice4"]) == 5
    assert "error[trust.contradicted]: " in capsys.readouterr().err
    (tmp_path / "evidence" / "notes.json").write_text("{}")
    assert main(["check", str(path), "--allow", "twice4"]) == 5
    (tmp_path / "evidence" / "twice4.host.broken.json").write_text("{}")
    assert main(["check", str(path)]) == 2


def test_a_drifted_entry_ends_a_regression_with_5_and_anything_else_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.chdir(tmp_path)
    path = project(tmp_path)
    assert main(["check", "--regress", str(path), "--bless"]) == 0
    assert main(["check", "--regress", str(path)]) == 0
    measure(path)
    capsys.readouterr()
    assert main(["check", "--regress", str(path)]) == 5
    printed = capsys.readouterr()
    assert f"{path}: what is taken on trust is not as blessed" in printed.out
    assert "-  trusted template twice4#" in printed.out
    assert printed.err.startswith("error[trust.drifted]: ")
    verdicts = path.with_name("own.verdict.txt")
    verdicts.write_text(verdicts.read_text().replace("instr fn twice4: proved", "instr fn twice4: unused"))
    assert main(["check", "--regress", str(path)]) == 1
    assert main(["check", "--regress", str(path), "--bless"]) == 0
    verdicts.write_text("".join(line for line in verdicts.read_text().splitlines(keepends=True) if "trusted" not in line))
    assert main(["check", "--regress", str(path)]) == 5


ADMITTING = """\
contraction copy (reads x: [f32; N]) -> out c: [f32; N] =
  c[i] = x[i]

schedule loose of copy =
  split i by 4 ragged
  admit "the vendor says so"

schedule fn inner (i) =
  split i by 4 ragged
  admit "in a part of it"

schedule outer of copy =
  inner (i)

schedule members of copy
    family B in {2, 4} =
  split i by B ragged
  admit "at every size"

schedule strict of copy =
  split i by 4 ragged

proof later = admit "measured, not proved"
"""


def test_what_is_admitted_is_allowed_by_the_name_of_what_admits_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.cachet").write_text(ADMITTING)
    names = ["later", "loose", "members", "outer"]
    for allowed in ([], *([one] for one in names), names):
        flags = [word for name in allowed for word in ("--allow", name)]
        assert main(["check", "own.cachet", *flags]) == (0 if allowed == names else 5)
        told = capsys.readouterr().err
        assert [name for name in names if f"does not allow admitted {name}: " in told] == [name for name in names if name not in allowed]
        assert told.count("error[trust.admitted]") == len(names) - len(allowed)


PROVED = "proof p (N: Nat) = assert N >= 0\n"
REFUSED = "proof p (N: Nat) = assert N >= 1\n"
ADMITTED = 'proof p = admit "measured"\n'
OPEN = """\
fn before (reads x: [f32; 4]) (mut c: [f32; 4]) produces Init c =
  for i in 0 .. 4 do
    store c[i] = load x[i] * 2.0

fn after (reads x: [f32; 4]) (mut c: [f32; 4]) produces Init c =
  for i in 0 .. 4 do
    store c[i] = 2.0 * load x[i]

proof commuted = relate after to before
"""
"""One product the other way round: no law is named, so nobody can say."""


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        ([PROVED], 0),
        ([REFUSED], 1),
        (["contraction ("], 2),
        ([OPEN], 3),
        ([OPEN, ADMITTED], 3),
        ([OPEN, REFUSED, ADMITTED], 1),
        ([ADMITTED], 5),
        (["// nothing\n"], 8),
        ([PROVED, "// nothing\n"], 0),
        ([ADMITTED, "// nothing\n"], 5),
        ([REFUSED, ADMITTED], 1),
        (["contraction (", REFUSED, ADMITTED], 2),
        (["contraction (", ADMITTED], 2),
    ],
)
def test_exit_codes_alone_and_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: list[str], code: int) -> None:
    monkeypatch.chdir(tmp_path)
    for number, text in enumerate(texts):
        (tmp_path / f"f{number}.cachet").write_text(text)
    assert main(["check", str(tmp_path)]) == code
    assert main(["trust", str(tmp_path)]) == code
