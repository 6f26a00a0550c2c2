"""The command `synth`, whole: what it prints of a search, ranked as by brute force, and its exit codes."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from cachet_verify.cli import main

TILE = """
synth const (MR, NR) : (Nat, Nat) =
  minimize (m, n) in (m, n): (m + n) / (m * n) where
    m > 0, n > 0, m <= 8, n <= 16, n % 4 == 0, m * (n / 4) + n / 4 + 1 <= 16
"""
RANKED = sorted((Fraction(m + n, m * n), m, n) for m in range(1, 9) for n in range(4, 17, 4) if m * (n // 4) + n // 4 + 1 <= 16)


@pytest.fixture(autouse=True)
def _no_cache_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def written(folder: Path, text: str) -> str:
    path = folder / "tile.cachet"
    path.write_text(text)
    return str(path)


def test_the_candidates_are_ranked_as_by_brute_force(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", written(tmp_path, TILE), "--top", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (_, m, n), *_ = RANKED
    assert lines[:2] == [f"MR: {m} with NR = {n}, minimal", f"NR: {n} with MR = {m}, minimal"]
    assert [line.split()[0] for line in lines[2:6]] == ["rank", "1", "2", "3"]
    assert [(line.split()[1], *map(int, line.split()[-2:])) for line in lines[3:6]] == [(str(cost), m, n) for cost, m, n in RANKED[:3]]
    assert lines[6].startswith("  nothing smaller satisfies: proved by ")


def test_the_document_holds_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", written(tmp_path, TILE), "--format", "json", "--top", "1000"]) == 0
    (searched,) = json.loads(capsys.readouterr().out)["searches"]
    assert (searched["names"], searched["verdict"], searched["least_cost"]) == (["MR", "NR"], "proved", str(RANKED[0][0]))
    assert searched["candidates"] == [{"cost": str(cost), "values": {"m": m, "n": n}} for cost, m, n in RANKED]


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("synth const A : Nat = minimize n in (n): n where n > 4, n <= 4\n", 1, "could not choose synth const A: no n satisfies n > 4, n <= 4"),
        ("synth const A : Nat = minimize n in (n): n where n > 4\n", 1, "could not choose synth const A: nothing bounds n from above"),
        ("const A : Nat = 4\n", 8, "has no `synth const`"),
    ],
)
def test_what_cannot_be_chosen_ends_as_check_does(text: str, code: int, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", written(tmp_path, text)]) == code
    assert says in capsys.readouterr().out.splitlines()[0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("synth const A : Nat = minimize n in (n): n where q > 4\n", "elaborate.name.unknown"),
        ("synth const A : Nat = minimize n in (n): n where n > A, n < 9\n", "elaborate.constant.cycle"),
        ("synth const A : f32 = minimize n in (n): n where n < 9\n", "elaborate.constant"),
        ("synth const (A, B) : (Nat, Nat) = minimize n in (n): n where n < 9\n", "elaborate.constant"),
        ("synth const A : Nat = minimize n - 9 in (n): n where n < 9\n", "elaborate.constant"),
        ("synth const A : Nat = minimize n in (n, n): n where n < 9\n", "elaborate.name.duplicate"),
        ("synth const A : Nat = minimize n in (n): n where n < 9, 4 % n == 0\n", "elaborate.index.zero-divisor"),
        ("synth const A : Nat = minimize n in (n): 1 / 0 where n < 9\n", "elaborate.index.zero-divisor"),
        ("synth const A : Nat = minimize n / 2 in (n): n where n < 9, n > 2\n", "elaborate.constant"),
    ],
)
def test_bad_input_is_a_diagnostic(text: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", written(tmp_path, text)]) == 2
    assert f"error[{says}]" in capsys.readouterr().err
