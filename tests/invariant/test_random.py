"""Random functions of a batch: an invariant that is accepted holds in every company drawn.

The functions mix what keeps rows apart (their own cells, guards and blocks by the row) with what does not (other rows, the
batch, the place of the row), so that both verdicts come up.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from cachet_verify.judge.file import open_file
from cachet_verify.report.option import CheckOptions
from cachet_verify.report.record import Verdict
from cachet_verify.session import check
from tests.invariant.test_corpus import departs

HEADER = """fn f{place} (reads x: [f32; B, N]) (reads w: [f32; N]) (mut y: [f32; B])
produces Init y
invariant y in B
=
"""
OWN = ("load x[i, k]", "load w[k]", "load x[i, N - 1 - k]", "(k as f32)", "load x[i, k] * load w[k]", "load x[i, min k 1]", "(N as f32)")
OTHERS = ("load x[B - 1 - i, k]", "load x[0, k]", "(i as f32)", "(B as f32)", "load x[min (i + 1) (B - 1), k]", "load x[i % 2, k]")
GUARDS = ("k < N - 1", "N > 2", "i % 2 == 0", "i < B - 1", "B > 2", "k % 2 == 1")
ROWS = (
    "  for i in 0 .. B do\n{body}",
    "  for g in blocks (0 .. B) 2 do\n    for r in 0 .. g.len do\n{deep}",
    "  grid i in 0 .. B do\n{body}",
)


def term(chance: Random) -> str:
    """A summand; one in four may speak of other rows."""
    own = chance.choice(OWN)
    if chance.random() < 0.35:
        return f"(if {chance.choice(GUARDS)} then {own} else {chance.choice(OWN)})"
    return chance.choice(OTHERS) if chance.random() < 0.2 else own


def function(place: int, chance: Random) -> str:
    """A sum over k for each row, under a loop of some form."""
    lines = ["var t: f32 = -0.0", "for k in 0 .. N do", f"  t = fma t {chance.choice(('1.0', '0.5'))} ({term(chance)})"]
    if chance.random() < 0.5:
        lines.append(f"  t = t + ({term(chance)})")
    lines.append("store y[i] = t")
    form = chance.choice(ROWS)
    depth = 6 if "{deep}" in form else 4
    text = "\n".join(" " * depth + line for line in lines) + "\n"
    text = text.replace("x[i,", "x[g[r],").replace("y[i]", "y[g[r]]") if depth == 6 else text
    if depth == 6:
        for old, new in (
            ("(i as f32)", "(g[r] as f32)"),
            ("B - 1 - i", "B - 1 - g[r]"),
            ("(i + 1)", "(g[r] + 1)"),
            ("i % 2", "g[r] % 2"),
            ("i < B", "g[r] < B"),
        ):
            text = text.replace(old, new)
    return HEADER.format(place=place) + form.format(body=text, deep=text)


def in_lanes(place: int, chance: Random) -> str:
    """Rows of a batch in the lanes of vectors, the last one short."""
    width = chance.choice((4, 8))
    step = chance.choice(("fma v s t[0]", "t[0] + v * s", "fma v (splat (load w[min g.lo (K - 1)])) t[0]"))
    return f"""fn f{place} (reads x: [f32; K, B]) (reads w: [f32; K]) (mut y: [f32; B])
produces Init y
invariant y in B
=
  for g in blocks (0 .. B) {width} do
    var t: [Vec f32 {width}; 1]
    t[0] = splat (-0.0)
    for k in 0 .. K do
      let v: Vec f32 {width} = load x[k, g.lo .. g.lo + g.len]
      let s: Vec f32 {width} = splat (load w[k])
      t[0] = {step}
    store y[g.lo .. g.lo + g.len] = t[0]
"""


def in_place(place: int, chance: Random) -> str:
    """Cells changed in place, from cells of the same or of another row."""
    other = chance.choice(("x[i, j]", "x[i, 0]", "x[i, N - 1 - j]", "x[max (i - 1) 0, j]", "x[i, max (j - 1) 0]"))
    loops = chance.choice(("  for i in 0 .. M do\n    for j in 0 .. N do\n", "  for j in 0 .. N do\n    for i in 0 .. M do\n"))
    return f"""fn f{place} (mut x: [f32; M, N]) (reads w: [f32; N])
invariant x in {chance.choice(("M", "N"))}
=
{loops}      store x[i, j] = load x[i, j] * load w[j] + load {other}
"""


SUMS = (
    *("fold k in 0 .. K from -0.0 as t: f32 do fma (load x[k, {row}]) (load w[k]) t",) * 3,
    "fold k in 0 .. K from -0.0 as t: f32 do t + load x[k, {row}] * load w[k]",
    "fold k in 0 .. K from -0.0 as t: f32 do fma (load x[K - 1 - k, {row}]) (load w[K - 1 - k]) t",
)


def with_tail(place: int, chance: Random) -> str:
    """Groups of rows and what is left of them, each with a sum of its own."""
    size = chance.choice((2, 3, 4))
    return f"""fn f{place} (reads x: [f32; K, B]) (reads w: [f32; K]) (mut y: [f32; B])
produces Init y
invariant y in B
=
  for g in 0 .. floor (B / {size}) do
    for r in 0 .. {size} do
      store y[g * {size} + r] = {chance.choice(SUMS).format(row=f"g * {size} + r")}
  for r in 0 .. B % {size} do
    store y[B - B % {size} + r] = {chance.choice(SUMS).format(row=f"B - B % {size} + r")}
"""


FORMS = ((function,), (in_lanes, in_place, with_tail))


@pytest.mark.parametrize(("seed", "forms"), list(zip((1, 3), FORMS, strict=True)), ids=["guards and grids", "lanes, places and tails"])
def test_an_accepted_invariant_holds(seed: int, forms: tuple[Callable[[int, Random], str], ...], tmp_path: Path) -> None:
    chance = Random(seed)
    path = tmp_path / "random.cachet"
    path.write_text("\n".join(chance.choice(forms)(place, chance) for place in range(12)), encoding="utf-8")
    (file,) = check([path], CheckOptions()).files
    assert file.diagnostics == ()
    programs = open_file(path).module.programs
    found = {item.name: item.verdict for item in file.items}
    wrong = {name for name, item in programs.items() if item.program is not None and departs(item.program, item.invariants[0])}
    assert {name for name in wrong if found[name] == Verdict.PROVED} == set()
    assert {name for name, verdict in found.items() if verdict == Verdict.REFUSED} <= wrong
    assert wrong
    assert Verdict.PROVED in found.values()
