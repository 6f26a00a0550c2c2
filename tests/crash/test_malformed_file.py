"""Malformed files through the whole command: a place and exit code 2 each time, nothing raised, nothing slow.

`python -m tests.crash --count 500` is the whole campaign; this is its start.
"""

from __future__ import annotations

from pathlib import Path

from tests.crash.__main__ import campaign
from tests.crash.malform import seen

COUNT = 60


def test_malformed_files_end_with_a_place_and_code_2(tmp_path: Path) -> None:
    counts, faults = campaign(COUNT, 20261130, tmp_path)
    assert [(fault, text) for text, fault in faults] == []
    assert counts["malformed"] == COUNT


def test_a_file_that_reads_is_not_called_malformed(tmp_path: Path) -> None:
    text = "contraction scale (reads x: [f32; N]) -> out y: [f32; N] =\n  y[i] = x[i] * x[i]\n"
    assert seen(tmp_path / "good.cachet", text).kind == "reads"
    assert seen(tmp_path / "bad.cachet", text.replace("x[i] *", "z[i] *")).kind == "malformed"
