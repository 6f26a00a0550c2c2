"""The complete example: what `main` prints is what a second program computes, and everything in the file is proved."""

from __future__ import annotations

import math
from pathlib import Path

from tests.corpus.tutorial import ROOT, output
from tests.example.chain import product, shortest

EXAMPLE = ROOT / "examples" / "matmul.cachet"
COMPARED = ("rows", "swapped", "tower", "packed")
ROWS, COLUMNS, DEPTH = 32, 32, 24


def ring(nodes: int) -> list[list[float]]:
    """One edge from each node to the next, of length 1, 2, …"""
    there = [[math.inf] * nodes for _ in range(nodes)]
    for node in range(nodes):
        there[node][node] = 0.0
        there[node][(node + 1) % nodes] = float(node + 1)
    return there


def changed(folder: Path, old: str, new: str) -> str:
    """What the example prints with one place of its text changed."""
    text = EXAMPLE.read_text(encoding="utf-8")
    assert text.count(old) == 1
    text = text.replace(old, new)
    text = text.replace("../platforms", str(ROOT / "platforms")).replace('"lib/', f'"{ROOT}/examples/lib/')
    path = folder / "changed.cachet"
    path.write_text(text, encoding="utf-8")
    return output(f"run {path}")


def test_it_prints_an_element_a_zero_for_each_schedule_and_the_shortest_path() -> None:
    zeros = ["0"] * len(COMPARED)
    assert output("run examples/matmul.cachet").split("\n") == [repr(product(3, 5, range(DEPTH))), *zeros, repr(shortest(ring(5), 0, 2)), ""]


def test_the_order_of_a_sum_can_be_seen() -> None:
    """Else any schedule would do: in descending order of k, most elements of the product are other words."""
    cells = [(i, j) for i in range(ROWS) for j in range(COLUMNS)]
    different = [cell for cell in cells if product(*cell, reversed(range(DEPTH))) != product(*cell, range(DEPTH))]
    assert len(different) > len(cells) // 2


def test_a_word_that_differs_is_counted(tmp_path: Path) -> None:
    """A negative zero is another word, though it equals the positive one; NaNs of other bits are too."""
    line = "  tower @(S = PlusTimes f32) a b c_tower\n"
    spoiled = line + "  store c_tower[31, 0] = -(load c_tower[31, 0])\n  store c_tower[0, 31] = load c_tower[0, 31] + 1.0\n"
    assert changed(tmp_path, line, spoiled).split("\n")[1:-2] == ["0", "0", "2", "0"]


def test_everything_in_it_is_proved() -> None:
    printed = output("check examples/matmul.cachet")
    assert ", 0 refused, 0 undecided; " in printed
    assert "trusted: nothing\n" in printed
    for name in COMPARED:
        of = "matmul" if name == "tower" else "matmul_PlusTimes_f32"
        assert f"\n{name}: bits of {of}\n" in printed
    assert "\nmain: proved (fn)\n" in printed
