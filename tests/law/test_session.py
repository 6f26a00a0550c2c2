"""What is asked again in other forms is about integers: an obligation about real numbers is not taken for one."""

from __future__ import annotations

from pathlib import Path

import cachet_verify


def test_a_law_that_nobody_decides_is_undecided_and_not_refuted(tmp_path: Path) -> None:
    """e^x >= 1 + x is true, and not one of the facts that are known of exp here; no values break it."""
    path = tmp_path / "bound.cachet"
    path.write_text("law bound (x: f32) over reals : max (exp x) (1.0 + x) == exp x\n")
    (item,) = cachet_verify.check([path]).files[0].items
    assert item.verdict.value == "undecided"
