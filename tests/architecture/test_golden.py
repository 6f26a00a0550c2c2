"""The golden fixture itself: it fails on a difference, rewrites only when told to, and never where CI is set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT
from tests.conftest import Golden, in_ci


def test_the_same_text_passes_and_another_fails_with_a_diff(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    golden = Golden(tmp_path, set())
    golden.check("a.txt", "one\ntwo\n")
    with pytest.raises(pytest.fail.Exception, match=r"(?s)not as in the golden a\.txt.*-two\n\+three"):
        golden.check("a.txt", "one\nthree\n")
    with pytest.raises(pytest.fail.Exception, match=r"not as in the golden missing\.txt"):
        golden.check("missing.txt", "x\n")
    assert (tmp_path / "a.txt").read_text() == "one\ntwo\n"


def test_blessing_rewrites_and_shows_the_diff(tmp_path: Path) -> None:
    golden = Golden(tmp_path, set(), bless=True)
    golden.check("stage/a.txt", "one\n")
    assert (tmp_path / "stage" / "a.txt").read_text() == "one\n"
    assert golden.blessed[0].splitlines()[-1] == "+one"


VERDICTS = ["swapped: refused", "trust: law exp.sum", "trusted: nothing", "obligation 1  K > 0   proved", "claim  before = after"]


@pytest.mark.parametrize("line", VERDICTS)
def test_a_verdict_needs_a_flag_of_its_own(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    with pytest.raises(pytest.fail.Exception, match=r"that needs --bless-verdicts"):
        Golden(tmp_path, set(), bless=True).check("a.txt", f"one\n{line}\n")
    Golden(tmp_path, set(), bless=True, bless_verdicts=True).check("a.txt", f"one\n{line}\n")
    assert (tmp_path / "a.txt").read_text() == f"one\n{line}\n"


def test_a_golden_nobody_compares_with_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "b.txt").write_text("two\n")
    golden = Golden(tmp_path, set())
    golden.check("a.txt", "one\n")
    assert golden.unowned() == [tmp_path / "b.txt"]


@pytest.mark.parametrize(("value", "expected"), [("true", True), ("1", True), ("", False), ("0", False), ("false", False)])
def test_where_ci_is_set(value: str, expected: bool) -> None:
    assert in_ci({"CI": value}) is expected
    assert in_ci({}) is False


def test_pytest_refuses_to_bless_in_ci() -> None:
    command = [sys.executable, "-m", "pytest", "--bless", "--collect-only", "-q", "tests/report/test_exit_code.py"]
    result = subprocess.run(command, cwd=ROOT, env={**os.environ, "CI": "true"}, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--bless is refused where CI is set" in result.stderr
