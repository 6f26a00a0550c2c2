"""The listings of `scheduled`, read by a person once and kept; each is a program, and says again what it was made from.

The names, the nesting and the placement of copies and leases are those of the article's listings, its sums written as
folds, the output as `(mut c: …)` with `produces Init c`, and the claim last.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cachet_verify.elaborate.lift import lift
from cachet_verify.judge.file import open_file
from cachet_verify.syntax.print import print_declaration
from tests.conftest import Golden
from tests.judge.asking import items
from tests.scheduled.listed import against_its_meaning, as_file, listed, nests

F32, GENERIC, WINDOW, UNIT = "article_f32.cachet", "article_generic.cachet", "window.cachet", "matrix_unit.cachet"
LISTINGS = {
    "units": (UNIT, False, "bands of rows on a matrix unit: totals in blocks, started in the first block of the sum; packed by vectors"),
    "matmul": (F32, False, "the loop nest that a contraction means: one chain for each output, from minus zero"),
    "swapped": (F32, False, "zeros first, then the steps of all sums with the columns innermost"),
    "tower": (GENERIC, False, "all three indices in blocks, for any semiring"),
    "packed": (GENERIC, True, "every step from the contraction to a packed kernel with totals in registers"),
    "rows_first": (GENERIC, False, "larger blocks, the rows outside, so that b is the one packed again"),
    "fast": (GENERIC, False, "the same with a tile four times as wide as a vector"),
    "first_block": (GENERIC, True, "no zero: totals start in the first block; blocks that are whole"),
    "taps_outside": (WINDOW, False, "a convolution with its taps outside"),
    "exact": (WINDOW, False, "a split without `ragged`, and what it requires"),
    "from_the_first": (WINDOW, False, "a window of no taps has no first block to start in"),
}
MEANINGS = {
    "units": "matmul @(S = PlusTimes f64)",
    "swapped": "matmul",
    "tower": "matmul",
    "packed": "matmul @(S = PlusTimes f32)",
    "rows_first": "matmul @(S = PlusTimes f32)",
    "fast": "matmul @(S = PlusTimes f32)",
    "first_block": "matmul @(S = PlusTimes f64)",
    "taps_outside": "filter",
    "exact": "filter",
    "from_the_first": "filter",
}


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the verdict cache of whoever runs the tests out of them."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "scheduled-cache"))


@pytest.mark.parametrize("name", LISTINGS)
def test_a_listing_is_as_it_was_read(name: str, golden: Golden) -> None:
    source, all_steps, says = LISTINGS[name]
    golden.check(f"scheduled/{name}.txt", f"-- {says}\n\n{listed(source, name, all_steps=all_steps)}\n")


@pytest.mark.parametrize("name", LISTINGS)
def test_every_nest_reads_back_as_itself(name: str, tmp_path: Path) -> None:
    source, _, _ = LISTINGS[name]
    found = nests(listed(source, name, all_steps=True))
    assert found
    for nest in found:
        path = tmp_path / "again.cachet"
        path.write_text(as_file(nest))
        program = open_file(path).program(name)
        assert program is not None
        assert print_declaration(lift(program)) == nest.rstrip("\n")


@pytest.mark.parametrize("name", MEANINGS)
def test_a_listing_is_proved_again_as_a_function(name: str, tmp_path: Path) -> None:
    source, _, _ = LISTINGS[name]
    nest = nests(listed(source, name, all_steps=True))[-1]
    found = items(tmp_path, against_its_meaning(source, nest, name, MEANINGS[name]))
    assert {item: found[item].verdict.value for item in (name, "again")} == {name: "proved", "again": "proved"}


def test_the_claim_stands_last_and_the_last_step_before_it() -> None:
    assert nests(listed(F32, "swapped")) == nests(listed(F32, "swapped", all_steps=True))[-1:]
    assert listed(F32, "swapped").rstrip("\n").split("\n")[-1] == "swapped: bits of matmul"
    assert listed(WINDOW, "exact").rstrip("\n").split("\n")[-2:] == ["exact: bits of filter", "  requires: N % 8 == 0"]
