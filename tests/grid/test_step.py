"""The step `grid over`: which loops it takes, and what it says where it takes none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.grid.test_device import HEADER
from tests.judge.asking import items

TRIANGLE = """
fn triangle (mut c: [f32; N, N]) =
  for i in 0 .. N do
    for j in i .. N do
      store c[i, j] = 1.0
fn pair (mut c: [f32; N, N]) (mut d: [f32; N]) =
  for i in 0 .. N do
    store d[i] = 2.0
    for j in 0 .. N do
      store c[i, j] = 1.0
"""
REFUSED = {
    "a word": ("matmul", "grid i", "rewrite.arguments", "grid needs the names of loops, each once"),
    "twice": ("matmul", "grid over (i, i)", "rewrite.arguments", "grid needs the names of loops, each once"),
    "no such loop": ("matmul", "grid over (i, q)", "rewrite.no-loop", "grid looks for a loop over q; there are i, j, k"),
    "a sum": ("matmul", "grid over (i, k)", "rewrite.no-loop", "here k is an index of a grid or of a sum"),
    "a grid already": ("matmul", "grid over j\ngrid over (i, j)", "rewrite.no-loop", "here j is an index of a grid or of a sum"),
    "a loop between": (
        "matmul",
        "zero (i, j) c\norder (i, k, j)\ngrid over (i, j)",
        "rewrite.not-nested",
        "k stands between the loops that are named",
    ),
    "statements between": ("pair", "grid over (i, j)", "rewrite.not-nested", "the loop over i holds store d[i]"),
    "bounds that speak of a later index": ("triangle", "grid over (j, i)", "rewrite.scope", "the bounds of j speak of i"),
}


def schedule(of: str, steps: str) -> str:
    lines = "".join(f"  {step}\n" for step in steps.split("\n"))
    bound = " @(S = PlusTimes f32)" if of == "matmul" else ""
    return f"{HEADER}{TRIANGLE}\nschedule s of {of}{bound} =\n{lines}"


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_nest_of_loops_is_refused(name: str, tmp_path: Path) -> None:
    of, steps, code, said = REFUSED[name]
    found = items(tmp_path, schedule(of, steps), only=("s",))["s"]
    assert found.refusal is not None
    assert found.refusal.code == code
    assert said in found.refusal.message


@pytest.mark.parametrize(
    ("of", "steps"),
    [
        ("triangle", "grid over (i, j)"),
        ("triangle", "grid over j"),
        ("pair", "grid over i\ngrid over j"),
        ("matmul", "zero (i, j) c\ngrid over (zi, zj)\ngrid over (j, i)"),
        ("matmul", "split i by 8\ngrid over i.outer\ngrid over j"),
        ("matmul", "zero (i, j) c\norder (k, i, j)\ngrid over (i, j)"),
        ("matmul", "split i by 8 as gi ragged\norder (j, gi, i)\ngrid over (j, gi)\ngrid over i"),
    ],
)
def test_loops_whose_iterations_are_apart_become_grids(of: str, steps: str, tmp_path: Path) -> None:
    found = items(tmp_path, schedule(of, steps), only=("s",))["s"]
    assert found.verdict.value == "proved"
    assert found.claim is not None
    assert found.claim.strength.routes == ("a", "b")


@pytest.mark.parametrize("steps", ["zero (i, j) c\norder (k, i, j)\ngrid over (k, i)", "zero (i, j) c\norder (i, k, j)\ngrid over k"])
def test_the_steps_of_a_sum_become_no_grid(steps: str, tmp_path: Path) -> None:
    found = items(tmp_path, schedule("matmul", steps), only=("s",))["s"]
    assert found.verdict.value == "refused"
    assert found.refusal is not None
    assert found.refusal.replay is not None
    assert found.refusal.replay.confirmed
