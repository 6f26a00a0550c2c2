"""How a whole block is combined: the law is proved for every length, mistakes in it are refused with values, and what cannot be read is neither."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import cachet_verify
from cachet_verify.core.index import Var
from cachet_verify.core.ir import Fold, Load, Op
from cachet_verify.judge.file import open_file
from cachet_verify.kernel.blockwise import form_of
from cachet_verify.kernel.claim import RuleError
from cachet_verify.report.record import ItemReport
from cachet_verify.resource_path import shipped_root

SHIPPED = shipped_root() / "stdlib" / "attention.cachet"

# (text replaced, by): each is false by hand
MISTAKES = (
    ("let m2 = max a.m (reduce Max f32 j. s[j])", "let m2 = reduce Max f32 j. s[j]"),  # the score before is forgotten
    ("let m2 = max a.m (reduce Max f32 j. s[j])", "let m2 = min a.m (reduce Max f32 j. s[j])"),
    ("let m2 = max a.m (reduce Max f32 j. s[j])", "let m2 = max a.m (reduce Min f32 j. s[j])"),
    ("let alpha = rescale a.m m2", "let alpha = rescale m2 a.m"),  # the factor upside down
    ("let alpha = rescale a.m m2", "let alpha = exp (a.m + m2)"),
    ("sum j. exp (s[j] - m2)", "sum j. exp (s[j])"),  # weights at another score
    ("sum j. exp (s[j] - m2)", "sum j. exp (m2 - s[j])"),
    ("sum j. exp (s[j] - m2)", "sum j. exp (s[j] - a.m)"),
    ("sum j. exp (s[j] - m2)", "sum j. exp (s[j] - m2) * v[j]"),
    ("sum j. exp (s[j] - m2)", "reduce Max f32 j. exp (s[j] - m2)"),  # right for one element alone
    ("from (a.o * alpha) as", "from (a.o) as"),  # the values before are not rescaled
    ("from (a.o * alpha) as", "from -0.0 as"),
    ("fma (exp (s[j] - m2)) v[j] t", "fma (exp (s[j] - m2)) s[j] t"),
    ("fma (exp (s[j] - m2)) v[j] t", "t + v[j]"),
    ("l = a.l * alpha + weight", "l = a.l + weight"),
    ("l = a.l * alpha + weight", "l = a.l * alpha + weight + weight"),
    ("l = a.l * alpha + weight", "l = a.l * alpha"),
    ("m = m2, l = a.l", "m = a.m, l = a.l"),
    ("l = a.l * alpha + weight, o = mix", "l = mix, o = a.l * alpha + weight"),  # the two swapped
)


def block_law(path: Path, name: str = "Online") -> ItemReport:
    report = cachet_verify.check([path])
    (item,) = (item for file in report.files for item in file.items if item.name.startswith((f"{name}: block", f"{name} f32: block")))
    return item


def test_the_law_of_running_summaries_is_proved_with_nothing_trusted() -> None:
    found = block_law(SHIPPED)
    assert found.verdict.value == "proved"
    assert found.claim is None or not found.claim.trusted


@pytest.mark.parametrize(("old", "new"), MISTAKES)
def test_a_mistake_is_refused_with_values(old: str, new: str, tmp_path: Path) -> None:
    text = SHIPPED.read_text().partition("// Adding a key")[0]
    assert text.count(old) == 1
    path = tmp_path / "wrong.cachet"
    path.write_text(text.replace(old, new))
    found = block_law(path)
    assert found.verdict.value == "refused"
    assert found.refusal is not None
    assert found.refusal.code == "law.not-proved"
    assert found.refusal.counterexample


MOMENTS = """record Moments = {{ n: f32, s: f32, q: f32 }}
fn one (x: f32) = Moments {{ n = 1.0, s = x, q = x * x }}
impl Monoid for Spread where
  const Value = Moments
  fn empty () = Moments {{ n = 0.0, s = 0.0, q = 0.0 }}
  fn combine (a: Moments) (b: Moments) = Moments {{ n = a.n + b.n, s = a.s + b.s, q = a.q + b.q }}
  fn block (a: Moments) (x: [f32; B]) =
    let n = sum j. {one}
    let s = sum j. x[j]
    Moments {{ n = a.n + n, s = a.s + s, q = a.q + (sum j. {square}) }}
  law block one over reals
"""


@pytest.mark.parametrize(
    ("one", "square", "verdict"), [("1.0", "x[j] * x[j]", "proved"), ("2.0", "x[j] * x[j]", "refused"), ("1.0", "x[j]", "refused")]
)
def test_a_monoid_of_a_users_own(one: str, square: str, verdict: str, tmp_path: Path) -> None:
    """Counts, sums and sums of squares, by an element that its law names."""
    path = tmp_path / "moments.cachet"
    path.write_text('import "cachet:monoid"\n' + MOMENTS.format(one=one, square=square))
    assert block_law(path, "Spread").verdict.value == verdict


def test_what_the_induction_does_not_read_is_undecided(tmp_path: Path) -> None:
    """Squares of distances from the block's own mean are right, and no factor leads from one mean to another."""
    path = tmp_path / "spread.cachet"
    path.write_text(
        """import "cachet:monoid"
record Two = { n: f32, q: f32 }
fn one (x: f32) = Two { n = x, q = x * x }
impl Monoid for Pair where
  const Value = Two
  fn empty () = Two { n = 0.0, q = 0.0 }
  fn combine (a: Two) (b: Two) = Two { n = a.n + b.n, q = a.q + b.q }
  fn block (a: Two) (x: [f32; B]) =
    let t = sum j. x[j]
    let q = sum j. (x[j] - t) * (x[j] + t)
    let r = sum j. t * t
    Two { n = a.n + t, q = a.q + (q + r) }
  law block one over reals
"""
    )
    assert block_law(path, "Pair").verdict.value == "undecided"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("fn block (a: f32) = a", "elaborate.block.form"),
        ("fn block (a: f32) (x: f32) = a + x", "elaborate.block.form"),
        ("fn block (a: f32) (x: [f32; B]) (y: [f32; C]) = a", "elaborate.block.form"),
        ("fn block (a: f32) (x: [f32; B]) (y: [f32; B]) = a + (sum j. x[j])", "elaborate.block.key"),
        ("fn block (a: f32) (x: [f32; B]) = a + x[0]", "elaborate.block.form"),
        ("fn block (a: f32) (x: [f32; B]) = fold j in 1 .. B from a as t: f32 do t + x[j]", "elaborate.block.form"),
    ],
)
def test_a_block_is_written_in_one_way(body: str, code: str, tmp_path: Path) -> None:
    path = tmp_path / "form.cachet"
    head = "impl Monoid for Own f32 where\n  const Value = f32\n  fn empty () = -0.0\n  fn combine a b = a + b\n"
    path.write_text(f'import "cachet:monoid"\n{head}  {body}\n  law block over reals\n')
    report = cachet_verify.check([path])
    assert code in {found.code for file in report.files for found in file.diagnostics}


def test_a_total_that_reads_another_element_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "next.cachet"
    path.write_text(
        'import "cachet:monoid"\nimpl Monoid for Own f32 where\n  const Value = f32\n  fn empty () = -0.0\n  fn combine a b = a + b\n'
        "  fn block (a: f32) (x: [f32; B]) = a + (sum j. x[j] + 0.0 * x[0])\n  law block over reals\n"
    )
    assert block_law(path, "Own").verdict.value == "undecided"


ENDLESS = """import "cachet:monoid"
record Two = {{ m: f32, l: f32 }}
fn one (x: f32) = Two {{ m = x, l = x }}
impl Monoid for Pair where
  const Value = Two
  fn empty () = Two {{ m = -Num.infinity (), l = -0.0 }}
  fn combine (a: Two) (b: Two) = Two {{ m = max a.m b.m, l = a.l + b.l }}
  fn block (a: Two) (x: [f32; B]) =
    let n = sum j. 1.0
    let m = reduce Max f32 j. x[j]
    let t = sum j. x[j]
    let s = sum j. {each}
    let g = if exp s == 0.0 then (n - 1.0) * (n - 2.0) * (n - 3.0) else n * (n - 1.0) * (n - 2.0)
    Two {{ m = max a.m m, l = if a.m == -Num.infinity () then t + g else a.l + t }}
  law block one over reals
"""


def test_a_total_that_is_no_number_is_not_read(tmp_path: Path) -> None:
    """Where nothing stands before, `x[j] + a.m` adds to minus infinity, and four elements come to 6 too much: the steps are about numbers."""
    path = tmp_path / "endless.cachet"
    path.write_text(ENDLESS.format(each="(x[j] + a.m)"))
    found = block_law(path, "Pair")
    assert found.verdict.value == "undecided"
    assert any("adds to" in part.says and part.verdict.value != "proved" for part in found.obligations)


def test_no_total_has_the_name_of_a_sum_inside_another(tmp_path: Path) -> None:
    """`l + x[j]` of the chain at `l` is another value than that of the line `l`."""
    path = tmp_path / "names.cachet"
    path.write_text(
        'import "cachet:monoid"\nimpl Monoid for Own f32 where\n  const Value = f32\n  fn empty () = -0.0\n  fn combine a b = a + b\n'
        "  fn block (a: f32) (x: [f32; B]) =\n    let f = fold j in 0 .. B from 0.0 as l: f32 do l + x[j]\n"
        "    let l = a * 0.0\n    a + f + l\n  law block over reals\ncontraction c (reads u: [f32; K]) -> out c: [f32; 1] =\n"
        "  c[i] = reduce[reassoc] Own f32 k. u[k]\n"
    )
    made = open_file(path).program("c")
    assert made is not None
    (reduction,) = made.reductions
    form = reduction.block
    assert form is not None
    chain = form.terms[0]
    assert isinstance(chain.value, Fold)
    assert chain.value.acc not in {term.name for term in form.terms}
    assert block_law(path, "Own").verdict.value == "proved"
    step = Op("add", "f32", (Load(form.terms[1].name), Load("x", (Var(chain.value.counter),))))
    forged = replace(chain, value=replace(chain.value, acc=form.terms[1].name, step=step))
    with pytest.raises(RuleError, match="bound once"):
        form_of(replace(reduction, block=replace(form, terms=(forged, *form.terms[1:]))))
