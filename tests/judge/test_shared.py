"""What a changed file takes from the file it was made of: schedules that are the same in both, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from cachet_verify.elaborate.load import LoadedFile, load_file
from cachet_verify.judge.file import Opened, open_file, open_loaded

TEXT = """import "cachet:steps"
const B = 4

contraction scaled (reads x: [f32; M]) -> out y: [f32; M] =
  y[i] = x[i] * x[i]

schedule fn blocks (i) y =
  split i by 8 as g ragged

schedule by_name of scaled =
  split i by B as g ragged

schedule by_call of scaled =
  blocks (i) y

schedule by_number of scaled =
  split i by 2 as g ragged
"""


def loaded(folder: Path, text: str) -> LoadedFile:
    path = folder / "main.cachet"
    path.write_text(text)
    return load_file(path)


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    path = tmp_path / "main.cachet"
    path.write_text(TEXT)
    return open_file(path)


def taken(opened: Opened, changed: LoadedFile) -> set[str]:
    """The schedules that a changed file did not apply anew."""
    again = open_loaded(changed, other=opened)
    assert {name: done.stopped for name, done in again.applied.items()} == dict.fromkeys(again.applied)
    return {name for name in again.applied if again.applied[name] is opened.applied[name]}


def test_nothing_changed(opened: Opened) -> None:
    assert taken(opened, opened.loaded) == {"by_name", "by_call", "by_number"}


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("const B = 4", "const B = 16", set()),
        ("  split i by 8 as", "  split i by 16 as", set()),
        ("by 2 as g", "by 3 as g", {"by_name", "by_call"}),
        ("x[i] * x[i]", "x[i] + x[i]", set()),
    ],
    ids=["a constant", "a schedule fn", "a line", "the meaning"],
)
def test_what_changed_is_applied_anew(tmp_path: Path, opened: Opened, old: str, new: str, kept: set[str]) -> None:
    """A constant and a schedule fn are in reach of every schedule of the file, whether it names them or not."""
    assert old in TEXT
    changed = loaded(tmp_path, TEXT.replace(old, new))
    assert taken(opened, changed) == kept
    again, anew = open_loaded(changed, other=opened), open_loaded(changed)
    assert {name: again.program(name) for name in again.applied} == {name: anew.program(name) for name in anew.applied}


def test_a_new_name_is_applied_anew(tmp_path: Path, opened: Opened) -> None:
    changed = loaded(tmp_path, TEXT.replace("by_number", "renamed"))
    again = open_loaded(changed, other=opened)
    assert again.applied["renamed"].program == opened.applied["by_number"].program
    assert again.applied["renamed"] is not opened.applied["by_number"]
