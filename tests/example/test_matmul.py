"""The complete example: what `main` prints is what a second program computes, and everything in the file is proved."""

from __future__ import annotations

import math
from pathlib import Path

from cachet_verify.report.option import CheckOptions
from cachet_verify.report.record import Verdict
from cachet_verify.session import check
from tests.corpus.tutorial import ROOT, output
from tests.example.chain import product, shortest, tiny_product

EXAMPLE = ROOT / "examples" / "matmul.cachet"
COMPARED = ("rows", "swapped", "tiled", "tower", "packed")
ROWS, COLUMNS, DEPTH = 32, 32, 24


def ring(nodes: int) -> list[list[float]]:
    """One edge from each node to the next, of length 1, 2, …"""
    there = [[math.inf] * nodes for _ in range(nodes)]
    for node in range(nodes):
        there[node][node] = 0.0
        there[node][(node + 1) % nodes] = float(node + 1)
    return there


def changed(folder: Path, *edits: tuple[str, str]) -> Path:
    """The example with places of its text changed."""
    text = EXAMPLE.read_text(encoding="utf-8")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    text = text.replace('"../platforms', f'"{ROOT}/platforms').replace('"lib/', f'"{ROOT}/examples/lib/')
    path = folder / "changed.cachet"
    path.write_text(text, encoding="utf-8")
    return path


def test_it_prints_an_element_a_zero_for_each_schedule_and_the_shortest_path() -> None:
    zeros = ["0"] * len(COMPARED)
    assert output("run examples/matmul.cachet").split("\n") == [repr(product(3, 5, range(DEPTH))), *zeros, repr(shortest(ring(5), 0, 2)), ""]


def test_the_order_of_a_sum_can_be_seen() -> None:
    """Else any schedule would do: in descending order of k, most elements of the product are other words."""
    cells = [(i, j) for i in range(ROWS) for j in range(COLUMNS)]
    different = [cell for cell in cells if product(*cell, reversed(range(DEPTH))) != product(*cell, range(DEPTH))]
    assert len(different) > len(cells) // 2


def test_words_that_differ_are_counted(tmp_path: Path) -> None:
    """With subnormal inputs the GPU's words differ from the definition's on the host, just where flushing makes a difference.

    `tower` is spoiled in two places: a word with the other sign, and another number.
    """
    line = "  tower @(S = PlusTimes f32) a b c_tower\n"
    spoiled = line + "  store c_tower[31, 0] = -(load c_tower[31, 0])\n  store c_tower[0, 31] = load c_tower[0, 31] + 1.0\n"
    cells = [(i, j) for i in range(ROWS) for j in range(COLUMNS)]
    apart = [repr(tiny_product(*cell, DEPTH, is_flushed=True)) != repr(tiny_product(*cell, DEPTH, is_flushed=False)) for cell in cells]
    found = output(f"run {changed(tmp_path, (line, spoiled), (' / 31.0', ' * 1e-38'))}").split("\n")
    assert found[0] == repr(tiny_product(3, 5, DEPTH, is_flushed=False))
    assert sum(apart) > 0
    assert found[1:-2] == [str(sum(apart)), "0", str(sum(apart)), "2", "0"]


SCHEDULES = {
    "swapped": "matmul_PlusTimes_f32",
    "tower": "matmul",
    "packed": "matmul_PlusTimes_f32",
    "fast": "matmul_PlusTimes_f32",
    "bands": "matmul_PlusTimes_f32",
    "sme": "matmul_PlusTimes_f64",
    "rows": "matmul_PlusTimes_f32",
    "tiled": "matmul_PlusTimes_f32",
    "big_tiles": "matmul_PlusTimes_f32",
}


def test_everything_in_it_is_proved() -> None:
    (file,) = check([EXAMPLE], CheckOptions()).files
    items = {item.name: item for item in file.items}
    assert {name for name, item in items.items() if item.verdict != Verdict.PROVED} == set()
    assert set(items) == {*SCHEDULES, "matmul", "enough_chains", "show_differences", "main"}
    for name, of in SCHEDULES.items():
        claim = items[name].claim
        assert claim is not None
        assert claim.sentence == f"bits of {of}"
        assert claim.arithmetic == ("M4Gpu" if name in ("rows", "tiled", "big_tiles") else None)
        assert [entry.name for entry in claim.trusted] == (["simdgroup_mma8"] if "tile" in name else [])
        assert set(claim.strength.routes) == {"a", "b"}


WRONG = {
    "nothing_fills_it": ("  packed a b c_packed packA packB\n", "", "program.uninitialised"),
    "outside": ("load c[3, 5]", "load c[3, 32]", "program.not-well-formed"),
    "tiles_of_8_in_20": ("24", "20", "call.requirement"),
    "its_own_result": ("f32) d d e", "f32) d d d", "call.aliasing"),
}
"""What is changed in `main`, and what it is then refused for."""


def test_a_wrong_main_is_refused(tmp_path: Path) -> None:
    """All of them in one file, so that the schedules are proved once."""
    path = changed(tmp_path)
    head, mark, main = path.read_text(encoding="utf-8").partition("fn main () =\n")
    assert all(old in main for old, _, _ in WRONG.values())
    path.write_text(head + "\n".join(mark.replace("main", name) + main.replace(old, new) for name, (old, new, _) in WRONG.items()), encoding="utf-8")
    (file,) = check([path], CheckOptions(only=tuple(WRONG))).files
    codes = {
        item.name: item.refusal.code for item in file.items if item.name in WRONG and item.verdict == Verdict.REFUSED and item.refusal is not None
    }
    assert codes == {name: code for name, (_, _, code) in WRONG.items()}
