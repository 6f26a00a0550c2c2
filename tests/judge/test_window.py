"""Windows of two grid iterations are apart, even where the cells that are written are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.judge.asking import verdicts

CELL = "    store c[i] = 0.0\n"
FOUR = "    for k in 0 .. 4 do\n      store c[4 * i + k] = 0.0\n"


@pytest.mark.parametrize(
    ("shape", "windows", "body", "verdict"),
    [
        ("N", "c[0 .. N]", CELL, "refused"),
        ("N", "c[i], c[N - 1 - i]", CELL, "refused"),
        ("N", "c[i .. i + 1]", CELL, "proved"),
        ("4 * N", "c[4 * i .. 4 * i + 5]", FOUR, "refused"),
        ("4 * N", "c[4 * i .. 4 * i + 4]", FOUR, "proved"),
        ("4 * N", "c[4 * i .. 4 * i + 3], c[4 * i + 3]", FOUR, "proved"),
        ("4 * N", "c[4 * i .. 4 * i + 4], c[0]", FOUR, "refused"),
    ],
)
def test_windows_of_two_iterations_are_apart(shape: str, windows: str, body: str, verdict: str, tmp_path: Path) -> None:
    text = f"fn f (reads n: [f32; N]) (mut c: [f32; {shape}]) =\n  grid i in 0 .. N writes {windows} do\n{body}"
    assert verdicts(tmp_path, text) == {"f": verdict}


def test_windows_in_several_dimensions_and_buffers(tmp_path: Path) -> None:
    text = """
fn rows (mut c: [f32; N, M]) =
  for k in 0 .. 3 do
    grid i in 0 .. N writes c[i, 0 .. M] do
      for j in 0 .. M do
        store c[i, j] = 0.0
fn cells (mut c: [f32; N, M]) =
  grid i in 0 .. N, j in 0 .. M writes c[i, j] do
    store c[i, j] = 0.0
fn two (mut c: [f32; N]) (mut d: [f32; N]) =
  grid i in 0 .. N writes c[i], d[N - 1 - i] do
    store c[i] = 0.0
    store d[N - 1 - i] = 0.0
fn columns (mut c: [f32; N, M]) =
  grid i in 0 .. N, j in 0 .. M writes c[i, 0 .. M] do
    store c[i, j] = 0.0
"""
    assert verdicts(tmp_path, text) == {"rows": "proved", "cells": "proved", "two": "proved", "columns": "refused"}
