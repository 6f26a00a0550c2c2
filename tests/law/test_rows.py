"""Summaries of rows of values: records with arrays in them, whose laws are proved cell by cell, and mistakes in one cell refused with values."""

from __future__ import annotations

from pathlib import Path

import pytest

import cachet_verify
from cachet_verify.elaborate.load import load_file
from cachet_verify.elaborate.module import elaborate
from cachet_verify.judge.block import element_name
from cachet_verify.judge.file import open_file
from cachet_verify.report.record import FileReport, ItemReport
from cachet_verify.resource_path import shipped_root

TEXT = (shipped_root() / "stdlib" / "rows.cachet").read_text().partition("// --- rows of 4")[0]
COMBINED = "o = a.o * x + b.o * y }"
START = "from (a.o * alpha) as"
STEP = "fma (exp (s[j] - m2)) v[j] t"


def checked(text: str, path: Path) -> FileReport:
    path.write_text(text)
    (report,) = cachet_verify.check([path]).files
    return report


def law(text: str, words: str, path: Path) -> ItemReport:
    """One law of a text, whose other laws are left out; `fn block` with them, where the law is not of blocks."""
    before, block, laws = text.partition("  fn block")
    kept = text if words.startswith("block") else before + laws[laws.index("  law ") :] if block else text
    lines = [line for line in kept.splitlines() if not line.startswith("  law ") or line == f"  law {words} over reals"]
    (item,) = (item for item in checked("\n".join([*lines, ""]), path).items if item.kind == "law")
    return item


# (text replaced, by, law that then fails): worked out by hand
MISTAKES = (
    (COMBINED, "o = [a.o[0] * x + b.o[0] * y, a.o[1] + b.o[1] * y] }", "commutative"),  # one cell is not rescaled
    (COMBINED, "o = [a.o[0] * x + b.o[0] * y, a.o[1] + b.o[1] * y] }", "associative"),
    (COMBINED, "o = [a.o[1] * x + b.o[1] * y, a.o[0] * x + b.o[0] * y] }", "identity"),  # the cells swapped
    (COMBINED, "o = [a.o[0] * x + b.o[0] * y, a.o[1] * x + b.o[0] * y] }", "commutative"),  # one cell of the other's neighbour
    (COMBINED, "o = repeat (a.o[0] * x + b.o[0] * y) }", "identity"),  # the first cell everywhere
    (COMBINED, "o = a.o * y + b.o * x }", "identity"),
    ("o = repeat (-0.0) }", "o = [-0.0, 1.0] }", "identity"),
    (START, "from a.o as", "block key2"),
    (START, "from [a.o[0] * alpha, a.o[1]] as", "block key2"),  # one cell is not rescaled
    (START, "from [a.o[1] * alpha, a.o[0] * alpha] as", "block key2"),
    (STEP, "t + [exp (s[j] - m2) * v[j, 0], v[j, 1]]", "block key2"),  # one cell's weight is missing
    (STEP, "fma (exp (s[j] - m2)) [v[j, 1], v[j, 0]] t", "block key2"),
    (STEP, "fma (exp (s[j] - m2)) (repeat v[j, 1]) t", "block key2"),
    ("o = mix }", "o = [mix[1], mix[0]] }", "block key2"),
    ("l = 1.0, o = v }", "l = 1.0, o = [v[0], v[0]] }", "block key2"),
)


@pytest.mark.parametrize(("old", "new", "words"), MISTAKES)
def test_a_mistake_in_a_cell_is_refused_with_values(old: str, new: str, words: str, tmp_path: Path) -> None:
    assert TEXT.count(old) == 1
    found = law(TEXT.replace(old, new), words, tmp_path / "wrong.cachet")
    assert found.verdict.value == "refused"
    assert found.refusal is not None
    assert found.refusal.code == "law.not-proved"
    assert found.refusal.counterexample


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (COMBINED, "o = [a.o[0] * x + b.o[0] * y, b.o[1] * y + x * a.o[1]] }", "commutative"),
        ("let mix = fold j in 0 .. B " + START + " t: [f32; 2] do " + STEP, "let mix = a.o * alpha + (sum j. exp (s[j] - m2) * v[j])", "block key2"),
        (  # `a` is the total inside
            START + " t: [f32; 2] do " + STEP,
            START + " a: [f32; 2] do a + [exp (s[j] - m2) * v[j, 0], v[j][1] * exp (s[j] - m2)]",
            "block key2",
        ),
    ],
)
def test_the_same_written_otherwise_is_proved(old: str, new: str, words: str, tmp_path: Path) -> None:
    assert TEXT.count(old) == 1
    assert law(TEXT.replace(old, new), words, tmp_path / "same.cachet").verdict.value == "proved"


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("v: [[f32; 2]; B]", "v: [[f32; 3]; B]", "elaborate.type.mismatch"),
        ("(v: [f32; 2]) = Rows2 { m = s, l = 1.0, o = v }", "(v: [f32; 3]) = Rows2 { m = s, l = 1.0, o = [v[0], v[1]] }", "elaborate.block.key"),
        ("v: [[f32; 2]; B]", "v: [f32; B]", "elaborate.block.key"),
        (STEP, "fma (exp (s[j] - m2)) v t", "elaborate.index.rank"),
        (STEP, "fma (exp (s[j] - m2)) v[j, 2] t", "elaborate.index.rank"),
        (STEP, "fma (exp (s[j] - m2)) v[j, j] t", "elaborate.index.rank"),
        ("t: [f32; 2] do", "t: [f32; 3] do", "elaborate.type.mismatch"),
        ("t: [f32; 2] do", "t: f32 do", "elaborate.type.mismatch"),
        ("o = mix }", "o = v[0] }", "elaborate.block.form"),
        ("o = mix }", "o = weight }", "elaborate.type.mismatch"),
        ("o = repeat (-0.0) }", "o = -0.0 }", "elaborate.type.mismatch"),
        ("o = v }", "o = s }", "elaborate.type.mismatch"),
        (COMBINED, "o = [a.o[0]] }", "elaborate.type.mismatch"),
        (COMBINED, "o = a }", "elaborate.type.mismatch"),
        ("l = a.l * x + b.l * y", "l = a.o * x + b.l * y", "elaborate.type.mismatch"),
        ("l = a.l * x + b.l * y", "l = a.o[2]", "elaborate.index.rank"),
    ],
)
def test_what_is_no_array_of_so_many_is_refused_where_it_stands(old: str, new: str, code: str, tmp_path: Path) -> None:
    assert TEXT.count(old) == 1
    report = checked(TEXT.replace(old, new), tmp_path / "form.cachet")
    found = [item for item in report.diagnostics if item.code == code]
    assert found
    assert all(item.line for item in found)


EQUATIONS = """fn twice x = x + x
fn dot (v: [f32; 2]) (w: [f32; 2]) -> f32 = v[0] * w[0] + v[1] * w[1]
fn turned (v: [f32; 2]) -> [f32; 2] = [v[1], v[0]]
law shown (v: [f32; 2]) (w: [f32; 2]) (x: f32) over reals : {}
"""


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("twice v == v * 2.0", "proved"),  # a function of words goes cell by cell
        ("dot v w == dot w v", "proved"),
        ("dot v w == dot v v", "refused"),
        ("v * dot v w == [v[0] * v[0] * w[0] + v[0] * v[1] * w[1], dot v w * v[1]]", "proved"),  # the same word for each cell
        ("turned v == v", "refused"),
        ("turned v + w == turned (v + turned w)", "proved"),
        ("v + repeat x == [x + v[0], x + v[1]]", "proved"),
        ("(if x < 0.0 then v else w) == [if x < 0.0 then v[0] else w[0], if x < 0.0 then v[1] else w[1]]", "proved"),
        ("max v w == [max v[0] w[0], max w[1] v[1]]", "proved"),
        ("max v w == repeat (max v[0] w[0])", "refused"),
        ("v[0] == v[1]", "refused"),
    ],
)
def test_arithmetic_on_arrays_goes_cell_by_cell(claim: str, verdict: str, tmp_path: Path) -> None:
    report = checked(EQUATIONS.format(claim), tmp_path / "equation.cachet")
    assert [item.verdict.value for item in report.items] == [verdict]


REDUCED = """import "cachet:rows"
import "cachet:attention"
fn column (w: Rows2) -> f32 = w.o[{column}] / w.l
contraction rows (reads s: [f32; N, K]) (reads v: [f32; K, 2]) -> out y: [f32; N] =
  y[i] = column (reduce[reassoc] OnlineRows 2 k. key2 s[i, k] ([v[k, 0], {second}]))
contraction words (reads s: [f32; N, K]) (reads v: [f32; K, 2]) -> out y: [f32; N] =
  y[i] = normalised (reduce Online k. key s[i, k] v[k, {column}])
proof same = relate rows to words
"""


@pytest.mark.parametrize(
    ("column", "second", "verdict"), [(0, "v[k, 1]", "proved"), (1, "v[k, 1]", "proved"), (0, "s[i, k]", "proved"), (1, "v[k, 0]", "refused")]
)
def test_a_column_of_a_reduction_to_rows_has_the_words_of_a_reduction_of_that_column(column: int, second: str, verdict: str, tmp_path: Path) -> None:
    report = checked(REDUCED.format(column=column, second=second), tmp_path / "reduced.cachet")
    assert {item.name: item.verdict.value for item in report.items} == {"rows": "proved", "words": "proved", "same": verdict}


SCHEDULED = """fn column (w: Rows2) -> f32 = w.o[1] / w.l
contraction rows (reads s: [f32; K]) (reads v: [f32; K, 2]) -> out y: [f32; 1] =
  y[i] = column (reduce[reassoc] OnlineRows 2 k. key2 s[k] ([v[k, 0] * 2.0, v[k, 1]]))
schedule flash of rows =
  split k by 8 ragged
  reduce k.inner by (max: halving, sum: order)
"""


@pytest.mark.parametrize(("start", "verdict"), [(START, "proved"), ("from [a.o[0] * alpha, a.o[1]] as", "refused")])
def test_a_schedule_combines_blocks_of_rows_at_once(start: str, verdict: str, tmp_path: Path) -> None:
    """One maximum and one sum of weights a block, and a chain for each column: by a law that holds."""
    report = checked(TEXT.replace(START, start) + SCHEDULED, tmp_path / "flash.cachet")
    verdicts = {item.name: item.verdict.value for item in report.items}
    assert verdicts["flash"] == verdicts["OnlineRows 2: block key2 over reals"] == verdict


CLASHING = """import "cachet:monoid"
record Mixed = { o1: f32, o: [f32; 2], o0: f32 }
fn one (x: f32) (v: [f32; 2]) = Mixed { o1 = x, o = v, o0 = v[0] }
impl Monoid for Own where
  const Value = Mixed
  fn empty () = Mixed { o1 = 0.0, o = repeat 0.0, o0 = -Num.infinity () }
  fn combine (a: Mixed) (b: Mixed) = Mixed { o1 = a.o1 + b.o1, o = a.o + b.o, o0 = max a.o0 b.o0 }
contraction c (reads x: [f32; K]) (reads v: [f32; K, 2]) -> out y: [f32; 1] =
  w[k] = [v[k, 0], v[k, 1]]
  y[i] = (reduce[reassoc] Own k. one x[k] (w[k])).o0
"""


def test_the_parts_of_a_reduction_have_names_of_their_own(tmp_path: Path) -> None:
    """The cells `o[0]` and `o[1]` are not the fields `o0` and `o1`."""
    path = tmp_path / "clashing.cachet"
    path.write_text(CLASHING)
    made = open_file(path).program("c")
    assert made is not None
    (reduction,) = made.reductions
    names = [name for name, _ in reduction.parts]
    assert len(set(names)) == len(names) == 4


def test_an_element_of_an_array_of_arrays_is_named_as_it_is_written() -> None:
    assert [element_name(name, 1) for name in ("s", "v[2]", "v[0,3]")] == ["s[1]", "v[1][2]", "v[1][0,3]"]


SHADOWED = """import "cachet:monoid"
record Two = {{ n: f32, o: [f32; 2] }}
fn one (x: f32) (y: f32) = Two {{ n = x, o = [y, y] }}
impl Monoid for Pair where
  const Value = Two
  fn empty () = Two {{ n = 0.0, o = repeat 0.0 }}
  fn combine (a: Two) (b: Two) = Two {{ n = a.n + b.n, o = a.o + b.o }}
  fn block (a: Two) (x: [f32; B]) (y: [f32; B]) =
    let n = sum j. x[j]
    let y = fold j in 0 .. B from [0.0, 0.0] as t: [f32; 2] do t + {}
    let o = a.o + y
    Two {{ n = a.n + n, o }}
  law block one over reals
"""


@pytest.mark.parametrize(("each", "verdict"), [("[y[j], y[j]]", "proved"), ("[y[j], x[j]]", "refused")])
def test_a_line_may_take_the_name_of_an_array_of_the_block(each: str, verdict: str, tmp_path: Path) -> None:
    """The cells of the line `y` are other values than those of the array `y`."""
    (item,) = checked(SHADOWED.format(each), tmp_path / "shadowed.cachet").items
    assert item.verdict.value == verdict


BY_HAND = """import "cachet:monoid"
import "cachet:attention"
record Pairs = { m: f32, l: f32, p: f32, q: f32 }
fn both (s: f32) (v: f32) (w: f32) = Pairs { m = s, l = 1.0, p = v, q = w }
impl Monoid for OnlinePairs where
  const Value = Pairs
  fn empty () = Pairs { m = -Num.infinity (), l = -0.0, p = -0.0, q = -0.0 }
  fn combine (a: Pairs) (b: Pairs) =
    let m = max a.m b.m
    let x = rescale a.m m
    let y = rescale b.m m
    Pairs { m, l = a.l * x + b.l * y, p = a.p * x + b.p * y, q = a.q * x + b.q * y }
  fn block (a: Pairs) (s: [f32; B]) (v: [f32; B]) (w: [f32; B]) =
    let m2 = max a.m (reduce Max f32 j. s[j])
    let alpha = rescale a.m m2
    let weight = sum j. exp (s[j] - m2)
    let first = fold j in 0 .. B from (a.p * alpha) as t: f32 do fma (exp (s[j] - m2)) v[j] t
    let second = fold j in 0 .. B from (a.q * alpha) as t: f32 do fma (exp (s[j] - m2)) w[j] t
    Pairs { m = m2, l = a.l * alpha + weight, p = first, q = second }
  law associative over reals
  law commutative over reals
  law identity over reals
  law block both over reals
"""
NAMES = {"o[0]": "p", "o[1]": "q", "o0": "p", "o1": "q", "v[0]": "v", "v[1]": "w", "mix0": "first", "mix1": "second"}
SPELLED = {"OnlineRows 2": "OnlinePairs", "key2": "both"}


def read_laws(text: str, path: Path) -> list[str]:
    """What the laws of a file say, in core terms, without their places in the text."""
    path.write_text(text)
    laws = elaborate(load_file(path)).laws
    return [repr(item.block or item.sides) for item in laws]


def test_rows_are_what_one_would_write_with_a_field_for_each_cell(tmp_path: Path) -> None:
    ours, theirs = read_laws(TEXT, tmp_path / "rows.cachet"), read_laws(BY_HAND, tmp_path / "pairs.cachet")
    for old, new in (NAMES | SPELLED).items():
        ours = [law.replace(old, new) for law in ours]
    assert len(ours) == 4
    assert ours == theirs
