"""The tutorial and the page on attention show what the tool prints, and the examples do what their comments say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus.tutorial import ROOT, output, shown

SHOWN = shown()
EXAMPLES = sorted((ROOT / "examples").glob("*.cachet"))


def test_the_pages_lead_through_every_example() -> None:
    used = {word for command in SHOWN for word in command.split() if word.startswith("examples/")}
    assert used == {f"examples/{path.name}" for path in EXAMPLES}


@pytest.mark.parametrize("command", SHOWN)
def test_every_output_is_current(command: str) -> None:
    assert output(command) == SHOWN[command]


def test_the_schedule_in_the_readme_is_proved(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    program = tmp_path / "swapped.cachet"
    program.write_text(text.partition("```cachet\n")[2].partition("```")[0], encoding="utf-8")
    assert "swapped: bits of matmul\n" in output(f"check {program}")


def test_the_first_example_multiplies() -> None:
    """Row 1 of a is 1 2 3 and column 0 of b is 1 2 3."""
    assert output("run examples/first-schedule.cachet") == f"{float(1 * 1 + 2 * 2 + 3 * 3)}\n"
