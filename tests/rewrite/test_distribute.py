"""Loops over rows and columns pushed into an iteration: the nests by hand, the goals by a solver, the words by runs.

Both solvers prove such goals in the corpus (`pushed-…`).
"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from cachet_verify.core.ir import Grid, Program
from cachet_verify.elaborate.lift import lift
from cachet_verify.judge.file import open_file
from cachet_verify.kernel.claim import Goal, RuleError, Same
from cachet_verify.kernel.uniform import Along, uniform
from cachet_verify.kernel.well_formed import well_formed
from cachet_verify.rewrite import alike
from cachet_verify.rewrite.apply import apply_all
from cachet_verify.rewrite.distribute import distribute
from cachet_verify.rewrite.error import StepError
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import walk
from cachet_verify.syntax.print import print_declaration
from tests.elaborate.short import program
from tests.kernel.execute import run
from tests.kernel.sample import agrees
from tests.kernel.solve import invalid
from tests.mutate.nest_edit import nest_mutants
from tests.rewrite.drive import lines, scope
from tests.rewrite.pushed import CASES


def gridded(text: str, rows: int = 2) -> Program:
    """The function of a text with its loop over `i` split, and the outer one a grid."""
    made = program(text, text.split()[1])
    return list(apply_all(made, lines(f"split i by {rows} as gi\ngrid over gi"), scope()))[-1].after


def pushed(before: Program, *counters: str) -> Chain:
    path = next(found for found, stmt in walk(before.body) if isinstance(stmt, Grid))
    return distribute(Chain(before), path, counters)


def body(chain: Chain) -> str:
    """The grid's iteration as it is printed."""
    text = print_declaration(lift(chain.program))
    lines_ = text[text.index("  grid ") :].splitlines()
    return "".join(f"{line.removeprefix('    ')}\n" for line in lines_[1:])


def check(before: Program, chain: Chain, *points: dict[str, int]) -> None:
    """The goals lead from the program before to the one after and hold, and runs of both agree: at the points, or at all small sizes."""
    at = before
    for goal in chain.goals:
        assert isinstance(goal.statement, Same)
        assert goal.statement.before == at
        at = goal.statement.after
        assert invalid(goal) == []
    assert at == chain.program
    last = chain.goals[-1]
    assert last.rule == "rename-alias"  # runs in tests know no aliases of windows
    assert isinstance(last.statement, Same)
    named = last.statement.before
    assert all(run(before, sizes) == run(named, sizes) for sizes in points)
    assert points or agrees(before, named)


# --- attention ---------------------------------------------------------------------------------

HEAD = """\
fn shadow (reads q: [f32; N, D]) (reads kt: [f32; D, K]) (reads v: [f32; K, D]) (mut y: [f32; N, D])
requires K % 4 == 0
=
"""
SHADOW = f"""\
{HEAD}  for i in 0 .. N do
    for d in 0 .. D do
      var m: f32 = from_bits (4286578688 as u32)
      var l: f32 = -0.0
      var o: f32 = -0.0
      for gj in 0 .. K / 4 do
        var s: [f32; 4]
        for j in 0 .. 4 do
          s[j] = fold c in 0 .. D from -0.0 as t: f32 do fma (load q[i, c]) (load kt[c, gj * 4 + j]) t
        var w: [f32; 4]
        for j2 in 0 .. 4 do
          w[j2] = s[j2]
        for h in 0 .. 2 do
          w[h] = max w[h] w[h + 2]
        for h2 in 0 .. 1 do
          w[h2] = max w[h2] w[h2 + 1]
        let m2: f32 = max m w[0]
        var e: [f32; 4]
        for j3 in 0 .. 4 do
          e[j3] = s[j3] - m2
        let alpha: f32 = m - m2
        l = l * alpha + (fold j4 in 0 .. 4 from -0.0 as t2: f32 do t2 + e[j4])
        o = fold j5 in 0 .. 4 from (o * alpha) as t3: f32 do fma e[j5] (load v[gj * 4 + j5, d]) t3
        m = m2
      store y[i, d] = o / l
"""
TILES = """\
var m: [f32; ROWS]
for i in 0 .. ROWS do
  m[i] = from_bits (4286578688 as u32)
var l: [f32; ROWS]
for i'1 in 0 .. ROWS do
  l[i'1] = -0.0
var o: [f32; ROWS, D]
for i'2 in 0 .. ROWS do
  for d in 0 .. D do
    o[i'2, d] = -0.0
for gj in 0 .. K / 4 do
  var s: [f32; ROWS, 4]
  for i'3 in 0 .. ROWS do
    for j in 0 .. 4 do
      s[i'3, j] = fold c in 0 .. D from -0.0 as t: f32 do fma (load q[ROWS * gi + i'3, c]) (load kt[c, 4 * gj + j]) t
  var w: [f32; ROWS, 4]
  for i'4 in 0 .. ROWS do
    for j2 in 0 .. 4 do
      w[i'4, j2] = s[i'4, j2]
  for i'5 in 0 .. ROWS do
    for h in 0 .. 2 do
      w[i'5, h] = max w[i'5, h] w[i'5, h + 2]
  for i'6 in 0 .. ROWS do
    for h2 in 0 .. 1 do
      w[i'6, h2] = max w[i'6, h2] w[i'6, h2 + 1]
  var m2: [f32; ROWS]
  for i'7 in 0 .. ROWS do
    m2[i'7] = max m[i'7] w[i'7, 0]
  var e: [f32; ROWS, 4]
  for i'8 in 0 .. ROWS do
    for j3 in 0 .. 4 do
      e[i'8, j3] = s[i'8, j3] - m2[i'8]
  var alpha: [f32; ROWS]
  for i'9 in 0 .. ROWS do
    alpha[i'9] = m[i'9] - m2[i'9]
  var total: [f32; ROWS]
  for i'10 in 0 .. ROWS do
    total[i'10] = fold j4 in 0 .. 4 from -0.0 as t2: f32 do t2 + e[i'10, j4]
  for i'11 in 0 .. ROWS do
    l[i'11] = l[i'11] * alpha[i'11] + total[i'11]
  for i'12 in 0 .. ROWS do
    for d'1 in 0 .. D do
      o[i'12, d'1] = fold j5 in 0 .. 4 from (o[i'12, d'1] * alpha[i'12]) as t3: f32 do fma e[i'12, j5] (load v[4 * gj + j5, d'1]) t3
  for i'13 in 0 .. ROWS do
    m[i'13] = m2[i'13]
for i'14 in 0 .. ROWS do
  for d'2 in 0 .. D do
    store yt[i'14, d'2] = o[i'14, d'2] / l[i'14]
"""


def test_attention_of_any_size() -> None:
    before = gridded(SHADOW)
    chain = pushed(before, "i", "d")
    assert body(chain) == TILES.replace("ROWS", "2")
    check(before, chain, *({"N": n, "D": d, "K": k} for n, d, k in ((2, 2, 4), (4, 1, 4), (2, 0, 4), (0, 2, 4), (2, 3, 0))))
    assert invalid(well_formed(chain.program)) == []


def test_attention_of_the_sizes_written_on_a_device(tmp_path: Path) -> None:
    sizes = {"N": "64", "D": "16", "K": "32"}
    text = SHADOW.replace("requires K % 4 == 0\n", "").replace("0 .. K / 4", "0 .. 8")
    for name, size in sizes.items():
        text = text.replace(f"{name}]", f"{size}]").replace(f"{name},", f"{size},").replace(f".. {name} ", f".. {size} ")
    head = 'module (platform = AppleSilicon)\nimport "cachet:platforms/apple-silicon"\n'
    steps = "schedule x of shadow on M4Gpu =\n  split i by 32 as gi\n  grid over gi\n"
    path = tmp_path / "main.cachet"
    path.write_text(f"{head}{text}{steps}")
    before = open_file(path).applied["x"].outcomes[-1].after
    chain = pushed(before, "i", "d")
    assert body(chain) == TILES.replace("ROWS", "32").replace("0 .. K / 4", "0 .. 8").replace("0 .. D", "0 .. 16").replace(", D]", ", 16]")


# --- other bodies ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_other_bodies(name: str) -> None:
    text, counters, expected = CASES[name]
    before = gridded(text)
    chain = pushed(before, *counters)
    assert body(chain) == expected
    check(before, chain)
    assert invalid(well_formed(chain.program)) == []


def test_a_local_at_an_index_of_its_own_that_is_a_counter_varies() -> None:
    """`s[j]` is another word for each column, although every column fills all of `s` alike."""
    text = """\
fn f (reads a: [f32; N, 3]) (mut c: [f32; N, 3]) =
  for i in 0 .. N do
    for j in 0 .. 3 do
      var s: [f32; 3]
      for k in 0 .. 3 do
        s[k] = load a[i, k]
      let x: f32 = s[j]
      store c[i, j] = x
"""
    before = gridded(text)
    chain = pushed(before, "i", "j")
    declared = [line for line in body(chain).splitlines() if line.startswith("var")]
    assert declared == ["var s: [f32; 2, 3]", "var x: [f32; 2, 3]"]
    check(before, chain)


# --- the rule that computes once, called with something else ----------------------------------


@pytest.mark.parametrize("name", ["three statements", "one counter, a total in a loop, and a word for all"])
def test_the_rule_lets_through_no_edit_that_computes_something_else(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[Program, Program, Along]] = []

    def noted(before: Program, after: Program, along: Along) -> Goal:
        calls.append((before, after, along))
        return uniform(before, after, along)

    monkeypatch.setattr(alike, "uniform", noted)
    text, counters, _ = CASES[name]
    pushed(gridded(text), *counters)
    refused = 0
    for before, after, along in calls:
        for label, mutant in nest_mutants(after):
            try:
                goal = uniform(before, mutant, along)
            except RuleError:
                refused += 1
                continue
            assert invalid(goal) or agrees(before, mutant, 3), label
        for changed in along.places:
            for place in range(4):
                other = Along({**along.places, changed: place}, along.loops)
                with pytest.raises(RuleError) if place != along.places[changed] else nullcontext():
                    uniform(before, after, other)
    assert refused > 30


# --- what does not fit -------------------------------------------------------------------------

REFUSED: dict[str, tuple[str, tuple[str, ...], str]] = {
    "a statement beside the loop": (
        "    store c[i, 0] = 0.0\n    for j in 0 .. M do\n      store c[i, j] = 1.0\n",
        ("i", "j"),
        "looks for a loop over j and nothing else, found store c",
    ),
    "no such loop": ("    for j in 0 .. M do\n      store c[i, j] = 1.0\n", ("i", "k"), "looks for a loop over k"),
    "no loop at all": ("    for j in 0 .. M do\n      store c[i, j] = 1.0\n", (), "no loop is named"),
    "the other way round": ("    for j in 0 .. M do\n      store c[i, j] = 1.0\n", ("j", "i"), "looks for a loop over j and nothing else"),
    "from elsewhere": ("    for j in 1 .. M do\n      store c[i, j] = 1.0\n", ("i", "j"), "does not count from 0"),
    "to where the rows say": ("    for j in 0 .. i do\n      store c[i, j] = 1.0\n", ("i", "j"), "does not count from 0"),
    "a grid": ("    for j in 0 .. M do\n      grid k in 0 .. 1 do\n        store c[i, j + k] = 1.0\n", ("i", "j"), "found grid k"),
    "blocks whose bounds speak of a counter": (
        "    for j in 0 .. M do\n      var t: f32 = 0.0\n      for g in blocks (0 .. j) 2 do\n        t = t + 1.0\n      store c[i, j] = t\n",
        ("i", "j"),
        "the bounds of the blocks g speak of j",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(name: str) -> None:
    text, counters, said = REFUSED[name]
    with pytest.raises(StepError, match="rows and columns") as found:
        pushed(gridded(f"fn f (mut c: [f32; N, M]) =\n  for i in 0 .. N do\n{text}"), *counters)
    assert said in found.value.diagnostic.message
    assert found.value.diagnostic.code == "rewrite.no-match"


def test_bounds_that_fall_unseen_lose_no_index() -> None:
    """The guess takes the bound to rise with the row: iterations of row 0 would be lost, and the kernel asks for them."""
    text = """\
fn f (mut c: [f32; N]) =
  for i in 0 .. N do
    var t: f32 = 0.0
    for k in 0 .. (8 - i) / 2 do
      t = t + 1.0
    store c[i] = t
"""
    before = gridded(text)
    chain = pushed(before, "i")
    assert any("run over the same indices" in subject for goal in chain.goals for subject in invalid(goal))


def test_columns_that_read_what_another_column_wrote_are_not_moved_apart() -> None:
    """Column j reads the output of the column before: all loads would come before all stores."""
    text = """\
fn f (mut c: [f32; N, M]) =
  for i in 0 .. N do
    for j in 0 .. M - 1 do
      let x: f32 = load c[i, j] + 1.0
      store c[i, j + 1] = x
"""
    before = gridded(text)
    chain = pushed(before, "i", "j")
    assert any(invalid(goal) for goal in chain.goals)
    assert not agrees(before, chain.program)
