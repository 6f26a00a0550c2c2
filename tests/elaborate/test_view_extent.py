"""Views that do not say their extents: those of the dimensions that their indices run along, and no further."""

from __future__ import annotations

from pathlib import Path

import pytest

from cachet_verify.core.index import evaluate
from cachet_verify.core.ir import View, statements
from tests.elaborate.short import faults, program
from tests.judge.asking import verdicts

HEAD = "fn f (reads a: [f32; N, M]) (mut c: [f32; 1]) produces Init c\nrequires N > 3, M > 3\n=\n"


@pytest.mark.parametrize(
    ("view", "extents"),
    [
        ("v[i, j] = a[i, j]", (10, 7)),
        ("v[i, j] = a[j, i]", (7, 10)),
        ("v[i] = a[i, 2]", (10,)),
        ("v[j] = a[3, j]", (7,)),
        # Rows 1, 4 and 7 of ten; columns 2 to 6 of seven.
        ("v[i, j] = a[3 * i + 1, j + 2]", (3, 5)),
        ("v[j] = a[0, 2 * j]", (4,)),
    ],
)
def test_an_index_runs_to_the_end_of_its_dimension(view: str, extents: tuple[int, ...]) -> None:
    made = program(f"{HEAD}  view {view}\n  store c[0] = 0.0\n", "f")
    (found,) = [stmt for stmt in statements(made.body) if isinstance(stmt, View)]
    assert tuple(evaluate(extent, {"N": 10, "M": 7}) for extent in found.shape) == extents


@pytest.mark.parametrize("view", ["v[i] = a[i, i]", "v[i, j] = a[i + j, 0]", "v[i] = a[0, 0]", "v[i] = a[3 - i, 0]", "v[i] = a[0 * i, 0]"])
def test_an_index_without_such_a_run_is_refused(view: str) -> None:
    assert [code for code, _ in faults(f"{HEAD}  view {view}\n  store c[0] = 0.0\n")] == ["elaborate.view"]


ODD = """fn odd (reads a: [f32; N]) (mut c: [f32; H]) produces Init c
requires N == 2 * H
=
  view o[i] = a[2 * i + 1]
  for i in 0 .. H{more} do
    store c[i{less}] = load o[i]
"""


@pytest.mark.parametrize(("more", "less", "verdict"), [("", "", "proved"), (" + 1", " - floor (i / H)", "refused")])
def test_what_reads_past_the_end_is_refused(tmp_path: Path, more: str, less: str, verdict: str) -> None:
    text = ODD.format(more=more, less=less).replace("requires N == 2 * H", "requires N == 2 * H, H > 0")
    assert verdicts(tmp_path, text) == {"odd": verdict}


def test_a_view_that_starts_past_its_buffer_is_refused(tmp_path: Path) -> None:
    text = "fn f (reads a: [f32; N]) (mut c: [f32; 1]) produces Init c =\n  view v[i] = a[i + 3]\n  store c[0] = 0.0\n"
    assert verdicts(tmp_path, text) == {"f": "refused"}
    assert verdicts(tmp_path, text.replace(" c =", " c\nrequires N >= 3\n=")) == {"f": "proved"}
