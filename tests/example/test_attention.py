"""The example of attention: what `main` prints is near a second program's mean, and its claims are the two-part ones.

What the tool prints is read from docs/attention.md, whose outputs another test keeps current.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from tests.corpus.tutorial import ROOT, output, shown

EXAMPLE = ROOT / "examples" / "attention.cachet"
KEYS, DEPTH = 16, 8
RUN = shown()["run examples/attention.cachet"].split("\n")
CHECKED = shown()["check examples/attention.cachet"]


def mean(i: int, d: int) -> float:
    """Element (i, d) of attention in doubles: all scores first, then the weights, then the mean."""
    scores = [sum(((i * 7 + c * 5) % 31 - 15) / 8 * (((j * 11 + c * 3) % 29 - 14) / 16) for c in range(DEPTH)) for j in range(KEYS)]
    weights = [math.exp(score - max(scores)) for score in scores]
    return sum(weight * ((j * 13 + d * 7) % 37 - 18) / 37 for j, weight in enumerate(weights)) / sum(weights)


def test_it_prints_an_element_of_the_mean() -> None:
    assert float(RUN[0]) == pytest.approx(mean(3, 5), abs=1e-6)


def test_the_kernel_rounds_as_the_plain_loops_and_not_as_the_contraction() -> None:
    assert int(RUN[1]) > 0
    assert RUN[2:] == ["0", ""]


def test_claims_of_regrouped_schedules_have_two_parts() -> None:
    assert "\nin_blocks: bits of in_blocks_shadow; reals of lookup\n" in CHECKED
    assert "\nflash: bits of flash_shadow; reals of lookup\n  arithmetic: M4Gpu\n" in CHECKED
    assert "\nsame_words: bits of in_blocks\n  arithmetic: M4Gpu\n" in CHECKED
    assert "\n6 proved, 0 refused, 0 undecided;" in CHECKED


def test_the_page_shows_the_example_as_it_is() -> None:
    page = (ROOT / "docs" / "attention.md").read_text(encoding="utf-8")
    texts = re.findall(r"```cachet\n(.*?)```", page, re.DOTALL)
    assert len(texts) == 3
    assert all(text in EXAMPLE.read_text(encoding="utf-8") for text in texts)


def test_plain_loops_in_another_order_have_other_words(tmp_path: Path) -> None:
    """Else the last line would be 0 whatever the loops are: the sums of weights are taken by halving."""
    text = EXAMPLE.read_text(encoding="utf-8")
    order, halving = "by (max: halving, sum: order)\n", "by (max: halving, sum: halving)\n"
    assert text.count(order) == 2
    changed = tmp_path / "changed.cachet"
    changed.write_text(text.replace(order, halving, 1), encoding="utf-8")
    found = output(f"run {changed}").split("\n")
    assert found[:2] == RUN[:2]
    assert int(found[2]) > 0
