"""What `parts` and `element` refuse, with the statement that they show; and wrong proposals, which no goal may pass."""

from __future__ import annotations

import pytest

from cachet_verify.core.index import ZERO, Index, add
from cachet_verify.core.ir import Load, Stmt, Store
from cachet_verify.rewrite import multiplied
from cachet_verify.rewrite.multiplied import Multiplication
from cachet_verify.rewrite.tile_nest import nest
from cachet_verify.rewrite.traverse import Change
from cachet_verify.source import Span
from tests.kernel.solve import invalid
from tests.tile.tiling import GPU, applied, grid_of, refused

NEST = """\
fn nest (reads q: [f32; 16, 8]) (reads kt: [f32; 8, 8]) (reads b: [f32; 8]) (mut y: [f32; 16, 8])
produces Init y
=
  grid on M4Gpu gi in 0 .. 1 writes y[gi * 16 .. gi * 16 + 16, 0 .. 8] do
    var s: [f32; 16, 8]
    for i in 0 .. 16 do
      for j in 0 .. 8 do
        s[i, j] = fold c in 0 .. 8 from -0.0 as t: f32 do fma (load q[gi * 16 + i, c]) (load kt[c, j]) t
    var w: [f32; 16, 8]
    for i1 in 0 .. 16 do
      for j1 in 0 .. 8 do
        w[i1, j1] = s[i1, j1]
    for i2 in 0 .. 16 do
      for h4 in 0 .. 4 do
        w[i2, h4] = max w[i2, h4] w[i2, h4 + 4]
    for i3 in 0 .. 16 do
      for h2 in 0 .. 2 do
        w[i3, h2] = max w[i3, h2] w[i3, h2 + 2]
    for i4 in 0 .. 16 do
      for h1 in 0 .. 1 do
        w[i4, h1] = max w[i4, h1] w[i4, h1 + 1]
    var top: [f32; 16]
    for i5 in 0 .. 16 do
      top[i5] = w[i5, 0]
    var f: [f32; 16]
    for i6 in 0 .. 16 do
      f[i6] = fold j6 in 0 .. 8 from -0.0 as t2: f32 do t2 + s[i6, j6]
    for i7 in 0 .. 16 do
      for j7 in 0 .. 8 do
        store y[gi * 16 + i7, j7] = s[i7, j7] * top[i7] + f[i7]

schedule s of nest on M4Gpu =
  parts [8, 8]
  element [f32; 8, 8]
"""


def test_the_nest_as_it_stands_is_taken() -> None:
    done = applied(f"{GPU}{NEST}")
    assert done.stopped is None
    assert grid_of(done.program).splitlines()[-2:] == [
        "    let top: [f32; 16, 1] = reduce Max f32 over cols by halving do s",
        "    store yt = s * top + (reduce Sum f32 over cols by order do s)",
    ]


LATER = "    for i9 in 0 .. 16 do\n      for j9 in 0 .. 7 do\n        w[i9, j9] = w[i9, j9 + 1]\n"
"""A copy that does not stand right before its tree."""

EDITS = (
    # the line
    ("parts [8, 8]", "parts [8, 8, 8]", "arguments", "one extent or two"),
    ("parts [8, 8]", "parts [0, 8]", "arguments", "above 0"),
    ("parts [8, 8]", "parts 8 8", "arguments", "one extent or two"),
    ("parts [8, 8]", "parts [8, 8] by 4", "arguments", "no clause `by`"),
    ("parts [8, 8]", "parts [6, 8]", "arguments", "`parts [6, 8]`: parts of 6 do not divide a tile of 16"),
    ("parts [8, 8]", "parts [8]", "no-match", "writes a block of one dimension"),
    ("element [f32; 8, 8]", "element [f32; 8]", "arguments", "with rows and columns"),
    ("element [f32; 8, 8]", "element f32", "arguments", "with rows and columns"),
    ("element [f32; 8, 8]", "element [f32; 4, 4]", "no-match", "multiplies blocks [f32; 4, 4]"),
    ("element [f32; 8, 8]", "element [f64; 8, 8]", "no-match", "multiplies blocks [f64; 8, 8]"),
    ("  parts [8, 8]\n", "", "no-match", "no grid whose groups share tiles"),
    ("  element", "  parts [8, 8]\n  element", "no-match", "no grid on a device to share out"),
    ("  element [f32; 8, 8]\n", "  element [f32; 8, 8]\n  element [f32; 8, 8]\n", "no-match", "no statement of the grid multiplies tiles"),
    ("parts [8, 8]", "parts [4, 8]", "no-match", "a block of 8 rows would lie in the parts of two groups"),
    # trees
    ("w[i2, h4 + 4]", "w[i2, h4 + 3]", "no-match", "reads `w[i2, h4 + 3]`, which another element writes"),
    ("max w[i3, h2] w[i3, h2 + 2]", "min w[i3, h2] w[i3, h2 + 2]", "no-match", "which another element writes"),
    ("for h2 in 0 .. 2", "for h2 in 0 .. 1", "no-match", "which another element writes"),
    ("top[i5] = w[i5, 0]", "top[i5] = w[i5, 1]", "no-match", "which another element writes"),
    ("w[i1, j1] = s[i1, j1]\n", f"w[i1, j1] = s[i1, j1]\n{LATER}", "no-match", "which another element writes"),
    # chains
    ("from -0.0 as t2", "from 0.0 as t2", "no-match", "is no reduction of a row or a column"),
    ("t2 + s[i6, j6]", "s[i6, j6] + t2", "no-match", "is no reduction of a row or a column"),
    ("t2 + s[i6, j6]", "t2 + s[i6, 7 - j6]", "no-match", "is no reduction of a row or a column"),
    ("t2 + s[i6, j6]", "t2 - s[i6, j6]", "no-match", "is no reduction of a row or a column"),
    ("fold j6 in 0 .. 8", "fold j6 in 1 .. 8", "no-match", "is no reduction of a row or a column"),
    # products
    ("fma (load q[gi * 16 + i, c]) (load kt[c, j]) t", "fma (load kt[c, j]) (load q[gi * 16 + i, c]) t", "no-match", "`kt[c, j]` does not go along"),
    ("(load kt[c, j])", "(load kt[j, c])", "no-match", "`kt[j, c]` does not go along one dimension by c"),
    ("(load kt[c, j])", "(load kt[c, j] + 1.0)", "no-match", "which is no word of an array"),
    ("(load kt[c, j])", "(load b[c])", "no-match", "`b[c]` does not go along"),
    ("fold c in 0 .. 8", "fold c in 0 .. 4", "no-match", "blocks of 8 do not divide 4"),
    ("(load kt[c, j])", "s[c, j]", "no-match", "does not go through a whole tile of totals"),
    # statements
    ("    var f: [f32; 16]\n", "    var f: [f32; 16]\n    var one: f32\n    one = 1.0\n", "no-match", "stands in no loop over the elements"),
    ("s[i7, j7] * top[i7] + f[i7]", "s[i7, j7] + load y[gi * 16 + i7, 7 - j7]", "no-match", "which another element writes"),
    ("s[i7, j7] * top[i7] + f[i7]", "s[i7, j7] * top[i7] + f[j7]", "no-match", "goes along rows of one tile and along columns of another"),
)  # fmt: skip


@pytest.mark.parametrize(("old", "new", "code", "said"), EDITS)
def test_what_is_not_taken_is_shown(old: str, new: str, code: str, said: str) -> None:
    assert NEST.count(old) == 1
    found = refused(f"{GPU}{NEST.replace(old, new)}")
    assert found[0] == f"rewrite.{code}"
    assert said in found[1]
    assert found[2]


def test_a_host_has_no_groups_and_no_instructions() -> None:
    text = NEST.replace(" on M4Gpu", "")
    assert refused(f"{GPU}{text}")[0] == "rewrite.no-match"


def test_a_ragged_tile_is_refused_by_what_its_extent_depends_on() -> None:
    text = (
        "contraction f (reads a: [f32; M, 16]) (reads b: [f32; 16, 16]) -> out y: [f32; M, 16] =\n  s[i, j] = sum k. a[i, k] * b[k, j]\n"
        "  y[i, j] = s[i, j] + b[j, j]\n"
        "schedule s of f on M4Gpu =\n  split i by 8 ragged\n  compute s at i.outer\n  grid over i.outer\n  parts [8, 8]\n"
    )
    code, said, remedy = refused(f"{GPU}{text}")
    assert code == "rewrite.no-match"
    assert "since its extent depends on gi.len" in said
    assert "without `ragged`" in remedy


# --- wrong proposals ---------------------------------------------------------------------------


def _turned(of: Multiplication, names: multiplied._Names) -> tuple[Index, Index, Index]:
    row, column, step = RIGHT(of, names)
    return column, row, step


def _shifted(of: Multiplication, names: multiplied._Names) -> tuple[Index, Index, Index]:
    row, column, step = RIGHT(of, names)
    return add(row, of.nest.extents[0]), column, step


def _still(of: Multiplication, names: multiplied._Names) -> tuple[Index, Index, Index]:
    row, column, _ = RIGHT(of, names)
    return row, column, ZERO


RIGHT = multiplied._places


@pytest.mark.parametrize("wrong", [_turned, _shifted, _still])
def test_a_product_at_other_places_has_a_goal_that_fails(monkeypatch: pytest.MonkeyPatch, wrong: object) -> None:
    monkeypatch.setattr(multiplied, "_places", wrong)
    done = applied(f"{GPU}{NEST}")
    goals = [goal for outcome in done.outcomes for goal in outcome.goals]
    assert done.stopped is not None or any(invalid(goal) for goal in goals)


def test_a_block_from_elsewhere_has_a_goal_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block is loaded with its last index fixed at 0."""
    monkeypatch.setattr(multiplied, "nest", _first_column)
    done = applied(f"{GPU}{NEST}")
    goals = [goal for outcome in done.outcomes for goal in outcome.goals]
    assert done.stopped is not None or any(invalid(goal) for goal in goals)


def _first_column(loops: tuple[tuple[str, Index], ...], *stmts: Stmt, span: Span | None = None) -> Stmt:
    wrong = Change(loads=lambda load: Load(load.buffer, (*load.index[:-1], ZERO)))
    return nest(loops, *(wrong.stmt(stmt) if isinstance(stmt, Store) and isinstance(stmt.value, Load) else stmt for stmt in stmts), span=span)
