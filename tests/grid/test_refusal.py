"""What is said of a store outside its window, of windows that meet and of races: the sentence, the least values, the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from cachet_verify.report.record import Refusal
from cachet_verify.report.text import item_lines
from tests.judge.asking import items

OUTSIDE = "could not prove a grid iteration reaches only its own window: "


def refused(folder: Path, header: str, grid: str, store: str) -> tuple[Refusal, list[str]]:
    item = items(folder, f"fn f {header} =\n  grid {grid} do\n    store {store} = 1.0\n")["f"]
    assert item.refusal is not None
    assert item.refusal.replay is not None
    assert item.refusal.replay.confirmed
    return item.refusal, [line.text for line in item_lines(item, "f.cachet")]


@pytest.mark.parametrize(
    ("header", "grid", "store", "said", "at"),
    [
        (
            "(mut c: [f32; 32, 32])",
            "i in 0 .. 32, j in 0 .. 32 writes c[i, j] as ct",
            "c[i, (j + 1) % 32]",
            "i == i && (j + 1) % 32 == j",
            {"j": 0},
        ),
        (
            "(mut c: [f32; 5, 7])",
            "i in 0 .. 5, j in 0 .. 7 writes c[i, j]",
            "c[(i + 1) % 5, (j + 1) % 7]",
            "(i + 1) % 5 == i && (j + 1) % 7 == j",
            {"i": 0, "j": 0},
        ),
        ("(mut c: [f32; N])", "i in 0 .. N writes c[i]", "c[N - 1 - i]", "N - i - 1 == i", {"N": 2, "i": 0}),
        (
            "(mut c: [f32; N])",
            "i in 0 .. N writes c[i .. i + 1]",
            "c[N - 1 - i]",
            "i <= N - i - 1 && N - i - 1 < i + 1",
            {"N": 2, "i": 0},
        ),
        (
            "(mut c: [f32; 2, N])",
            "i in 0 .. N writes c[0, i], c[1, i]",
            "c[0, N - 1 - i]",
            "0 == 0 && N - i - 1 == i || 0 == 1 && N - i - 1 == i",
            {"N": 2, "i": 0},
        ),
        (
            "(mut c: [f32; N])",
            "g in blocks (0 .. N) 2 writes c[g.lo .. g.lo + g.len]",
            "c[N - 1 - g.lo]",
            "g.lo <= N - g.lo - 1 && N - g.lo - 1 < g.lo + g.len",
            {"N": 3, "g": 0},
        ),
    ],
)
def test_a_store_outside_its_window(header: str, grid: str, store: str, said: str, at: dict[str, int], tmp_path: Path) -> None:
    found, lines = refused(tmp_path, header, grid, store)
    shown = ", ".join(f"{name} = {value}" for name, value in found.counterexample.items())
    assert lines[:2] == [f"{OUTSIDE}{said}", f"  counterexample: {shown}"]
    assert lines[2] == "  at f.cachet:3:5: fn f refused [program.not-well-formed]"
    assert found.counterexample == at


def test_windows_that_meet(tmp_path: Path) -> None:
    found, lines = refused(tmp_path, "(mut c: [f32; 4 * N, 2]) (N: Nat)", "i in 0 .. N writes c[4 * i .. 4 * i + 5, 0 .. 2]", "c[4 * i, 0]")
    assert lines[:2] == ["could not prove the windows of c of two grid iterations are apart", "  counterexample: N = 2, i = 0, i' = 1"]
    assert found.replay is not None
    assert found.replay.after == "N = 2, the windows of iterations (0) and (1) share c[4, 0]"


def test_a_race_shows_both_iterations_and_the_cell(tmp_path: Path) -> None:
    found, lines = refused(tmp_path, "(mut c: [f32; N])", "i in 0 .. N", "c[i - i % 3]")
    assert lines[0] == "could not prove store c[i - (i % 3)] of one iteration and store c[i - (i % 3)] of another never touch one cell of c"
    assert found.counterexample == {"N": 2}
    assert found.replay is not None
    assert found.replay.after == "iteration (1) writes c[0], which iteration (0) writes"
