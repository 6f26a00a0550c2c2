"""Blocks combined at once: the reference loops against the contraction, by running both, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from cachet_verify.core.index import ZERO, Const, Var, eq, mod
from cachet_verify.core.ir import Declare, Load, Op, Require, Word
from cachet_verify.core.meaning import run
from cachet_verify.core.numeral import word_of_float
from cachet_verify.judge.file import open_file
from cachet_verify.kernel.claim import RuleError, SameOverReals
from cachet_verify.kernel.fuse import Cut, _operations, fuse
from cachet_verify.rewrite.place import find_fold
from tests.reduce.test_shadow import command

PRODUCT = """import "cachet:monoid"
contraction product (reads a: [f32; M, K]) (reads b: [f32; K, N]) -> out c: [f32; M, N] =
  c[i, j] = sum[reassoc] k. a[i, k] * b[k, j]
schedule s of product =
  split k by {size} {ragged}
  reduce k.inner by (sum: {way})
"""
LARGEST = """import "cachet:monoid"
contraction largest (reads a: [f32; M, K]) -> out c: [f32; M] =
  c[i] = reduce[reassoc] Max f32 k. a[i, k]
schedule s of largest =
  split k by {size} {ragged}
  reduce k.inner by (max: {way})
"""


@pytest.mark.parametrize("way", ["order", "halving"])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("text", [PRODUCT, LARGEST])
def test_every_element_is_taken_once(text: str, size: int, way: str, tmp_path: Path) -> None:
    """On small whole numbers no sum rounds, so every order gives the contraction's words: at each length, ragged last blocks included."""
    path = tmp_path / "t.cachet"
    path.write_text(text.format(size=size, way=way, ragged="ragged"))
    opened = open_file(path)
    meaning, shadow = (opened.program(name) for name in (opened.module.schedules["s"].of, "s"))
    assert meaning is not None
    assert shadow is not None
    random = Random(size)
    for length in range(2 * size + 3):
        sizes = {"M": 2, "N": 2, "K": length}
        given = {name: [word_of_float(float(random.randint(-9, 9)), "f32") for _ in range(2 * length)] for name in "ab"}
        ends = []
        for made in (meaning, shadow):
            cells: dict[str, list[int | None]] = {param.name: list(given[param.name]) for param in made.params if param.name in given}
            cells["c"] = [None] * 4 if "b" in cells else [None] * 2
            run(made, {name: sizes[name] for name in made.sizes}, cells)
            ends.append(cells["c"])
        # A sum of zeros may be -0.0 in one order and 0.0 in another: both are the number 0.
        assert [0 if word == 1 << 31 else word for word in ends[0]] == [0 if word == 1 << 31 else word for word in ends[1]]


def test_a_reduction_cut_in_both_ways_names_the_laws_of_both(tmp_path: Path) -> None:
    text = (
        "contraction t (reads a: [f32; K]) -> out c: [f32; 1] =\n  c[i] = sum[reassoc] k. a[k]\n"
        "schedule s of t =\n  regroup k by 8 as outside\n  split k by 4 ragged\n  reduce k.inner by (sum: halving)\n"
    )
    found = command(tmp_path, text, "check")
    assert "  by: sum on f32: associative over reals, sum on f32: identity over reals, sum on f32: block over reals\n" in found.output


def test_whole_blocks_require_a_multiple(tmp_path: Path) -> None:
    found = command(tmp_path, PRODUCT.format(size=4, way="order", ragged=""), "check")
    assert "s: bits of s_shadow; reals of product\n  by: sum on f32: block over reals\n  requires: K % 4 == 0\n" in found.output
    assert found.exit_code == 0


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("sum[reassoc]", "sum", "rewrite.reassoc"),
        ("  split k by 4 \n", "", "rewrite.no-split"),
        ("(sum: order)", "(max: order)", "rewrite.arguments"),
        ("(sum: order)", "(sum: pairs)", "rewrite.arguments"),
        ("(sum: order)", "(sum: order, sum: order)", "rewrite.arguments"),
        (" by (sum: order)", "", "rewrite.arguments"),
        ("(sum: order)", "(sum: 3)", "rewrite.arguments"),
        ("reduce k.inner", "reduce k.inner k.outer", "rewrite.arguments"),
        ("reduce k.inner", "reduce 3", "rewrite.arguments"),
        ("  reduce", "  compute at k.outer\n  reduce", "rewrite.arguments"),
        ("reduce k.inner", "reduce k", "rewrite.arguments"),
        ("reduce k.inner", "reduce x.inner", "rewrite.no-loop"),
        ("split k by 4", "split k by 0", "rewrite.arguments"),
        ("  reduce", "  compute s at k.outer\n  reduce", "rewrite.no-match"),
    ],
)
def test_lines_that_do_not_fit(old: str, new: str, code: str, tmp_path: Path) -> None:
    text = PRODUCT.format(size=4, way="order", ragged="")
    assert text.count(old) == 1
    found = command(tmp_path, text.replace(old, new), "check")
    assert code in found.output
    assert found.exit_code == 1


def test_a_law_that_numbers_break_refuses_the_schedule(tmp_path: Path) -> None:
    text = (
        'import "cachet:monoid"\nimpl Monoid for Own f32 where\n  const Value = f32\n  fn empty () = -0.0\n  fn combine a b = a + b\n'
        "  fn block (a: f32) (x: [f32; B]) = a + (reduce Max f32 j. x[j])\n  law associative over reals\n"
        "contraction t (reads a: [f32; K]) -> out c: [f32; 1] =\n  c[i] = reduce[reassoc] Own f32 k. a[k]\n"
        "schedule s of t =\n  split k by 4 ragged\n  reduce k.inner by (max: order)\n"
    )
    found = command(tmp_path, text, "check")
    assert "could not prove law Own f32: block over reals, by which s fuses `k`" in found.output
    assert "reals of" not in found.output
    assert found.exit_code == 1


SEMIRINGS = """import "cachet:semiring"
impl Semiring for Longest f32 where
  const Value = f32
  fn zero () = -Num.infinity ()
  fn one () = 0.0
  fn add a b = max a b
  fn mul a b = a + b
  fn mul_add a b acc = max (a + b) acc
impl Semiring for Twice f32 where
  const Value = f32
  fn zero () = -0.0
  fn one () = 1.0
  fn add a b = a + b
  fn mul a b = a * b
  fn mul_add a b acc = fma a b acc + 1.0
contraction product {S : Semiring} (reads a: [S.Value; M, K]) (reads b: [S.Value; K, N]) -> out c: [S.Value; M, N] =
  c[i, j] = sum[reassoc] k. a[i, k] * b[k, j]
"""


@pytest.mark.parametrize("way", ["order", "halving"])
def test_sums_over_a_semiring_are_fused_in_its_instance(way: str, tmp_path: Path) -> None:
    """Longest ways through a graph: maxima of sums, which do not round on small whole numbers; by hand, a row of one block and a half."""
    text = SEMIRINGS + f"schedule s of product @(S = Longest f32) =\n  split k by 2 ragged\n  reduce k.inner by (sum: {way})\n"
    found = command(tmp_path, text, "check")
    assert "s: bits of s_shadow; reals of product_Longest_f32\n" in found.output
    shadow = open_file(tmp_path / "t.cachet").program("s")
    assert shadow is not None
    rows = {"a": (1.0, 5.0, -2.0), "b": (3.0, -4.0, 9.0)}
    cells: dict[str, list[int | None]] = {"c": [None], **{name: [word_of_float(x, "f32") for x in row] for name, row in rows.items()}}
    run(shadow, {"M": 1, "K": 3, "N": 1}, cells)
    assert cells["c"] == [word_of_float(7.0, "f32")]


def test_a_step_that_is_not_the_sum_of_products_is_not_fused(tmp_path: Path) -> None:
    text = SEMIRINGS + "schedule s of product @(S = Twice f32) =\n  split k by 2 ragged\n  reduce k.inner by (sum: order)\n"
    found = command(tmp_path, text, "check")
    assert "could not prove law sum on f32: block over reals" in found.output
    assert found.exit_code == 1


PARTS = """import "cachet:monoid"
record Three = {{ p: f32, q: f32, r: f32 }}
fn one (x: f32) = Three {{ p = x, q = x, r = x }}
fn told (t: Three) -> f32 = t.p + 10.0 * t.q + 100.0 * t.r
impl Monoid for Own where
  const Value = Three
  fn empty () = Three {{ p = 1.0, q = 2.0, r = 3.0 }}
  fn combine (a: Three) (b: Three) = Three {{ p = a.p + b.p, q = a.q + b.q, r = a.r + b.r }}
  fn block (a: Three) (x: [f32; B]) =
    let t = sum j. x[j]
    Three {{ p = {p}, q = {q}, r = {r} }}
  law block one over reals
contraction c (reads x: [f32; K]) -> out y: [f32; 1] =
  y[i] = told (reduce[reassoc] Own k. one (x[k]))
schedule s of c =
  split k by 2 ragged
  reduce k.inner by (sum: order)
"""


@pytest.mark.parametrize(
    ("p", "q", "r", "told"),
    [
        ("a.q", "a.p", "a.r + t", 12.0 + 100 * 8),  # two parts change places
        ("a.p", "a.q - a.r + a.p", "a.r * a.q + t", 1.0 + 0 + 100 * 11),  # a part that stays, read by two that read each other
        ("a.q", "a.r", "a.p + t", 2.0 + 30 + 100 * 6),
        ("a.q + t", "a.p", "t", 7.0 + 10 + 100 * 5),
    ],
)
def test_parts_that_read_each_other_are_assigned_at_once(p: str, q: str, r: str, told: float, tmp_path: Path) -> None:
    """One block of 4.0 and 1.0 by the lines as they stand, worked out by hand; no law holds of them, so nothing is concluded."""
    path = tmp_path / "t.cachet"
    path.write_text(PARTS.format(p=p, q=q, r=r))
    shadow = open_file(path).program("s")
    assert shadow is not None
    cells: dict[str, list[int | None]] = {"x": [word_of_float(4.0, "f32"), word_of_float(1.0, "f32")], "y": [None]}
    run(shadow, {"K": 2}, cells)
    assert cells["y"] == [word_of_float(told, "f32")]


# --- the rule believes nothing ---


def given(tmp_path: Path) -> tuple:  # type: ignore[type-arg]
    path = tmp_path / "t.cachet"
    path.write_text(PRODUCT.format(size=4, way="order", ragged=""))
    program = open_file(path).program("product")
    assert program is not None
    total = find_fold(program.body, "k")
    assert total is not None
    step = total.fold.step
    assert isinstance(step, Op)
    return program, total.path, program.reductions[0], (Op("mul", "f32", step.args[:2]),)


def cut(**changes: object) -> Cut:
    need = Require(eq(mod(Var("K"), Const(4)), ZERO), "split k")
    return replace(Cut(Const(4), "gk", True, {"total": "order"}, ("x", "y"), need), **changes)  # type: ignore[arg-type]


def taker() -> object:
    used: set[str] = set()

    def take(base: str) -> str:
        name = f"{base}'{len(used) + 50}"
        used.add(name)
        return name

    return take


def test_the_rule_concludes_over_the_reals_alone(tmp_path: Path) -> None:
    program, path, reduction, element = given(tmp_path)
    goal = fuse(program, path, reduction, element, cut(), taker())  # type: ignore[arg-type]
    assert isinstance(goal.statement, SameOverReals)
    assert goal.statement.after.requires[-1].condition == eq(mod(Var("K"), Const(4)), ZERO)


def test_whole_blocks_without_the_requirement_are_asked(tmp_path: Path) -> None:
    program, path, reduction, element = given(tmp_path)
    goal = fuse(program, path, reduction, element, cut(need=None), taker())  # type: ignore[arg-type]
    assert any(found.subject == "every block is whole" for found in goal.obligations)


@pytest.mark.parametrize("case", ["permission", "element", "reads the total", "order", "names", "other", "halved"])
def test_what_it_is_told_is_checked(case: str, tmp_path: Path) -> None:
    program, path, reduction, element = given(tmp_path)
    how = cut()
    if case == "permission":
        reduction = replace(reduction, is_permitted=False)
        program = replace(program, reductions=(reduction,))
    elif case == "element":  # not made by the product that the law speaks of
        element = (Op("add", "f32", element[0].args),)
    elif case == "reads the total":
        total = find_fold(program.body, "k")
        element = (total.fold.step,) if total is not None else element
    elif case == "order":
        how = cut(orders={"total": "any"})
    elif case == "names":  # two parts that a law could not tell apart
        reduction = replace(reduction, parts=reduction.parts * 2, empty=reduction.empty * 2, combined=reduction.combined * 2)
        program = replace(program, reductions=(reduction,))
    elif case == "other":  # a reduction that the program does not have
        reduction = replace(reduction, empty=(Word("f32", 0),))
    else:
        how = cut(size=Var("M"), orders={"total": "halving"}, is_whole=False)
    with pytest.raises(RuleError):
        fuse(program, path, reduction, element, how, taker())  # type: ignore[arg-type]


MOMENTS = """import "cachet:monoid"
record Moments = { s: f32, q: f32 }
fn one (x: f32) = Moments { s = x, q = x * x }
fn spread (a: Moments) -> f32 = a.q - a.s
impl Monoid for Sums where
  const Value = Moments
  fn empty () = Moments { s = 0.0, q = 0.0 }
  fn combine (a: Moments) (b: Moments) = Moments { s = a.s + b.s, q = a.q + b.q }
  fn block (a: Moments) (x: [f32; B]) = Moments { s = a.s + (sum j. x[j]), q = a.q + (sum j. x[j] * x[j]) }
  law block one over reals
contraction spreads (reads a: [f32; M, K]) (reads b: [f32; K]) -> out c: [f32; M] =
  c[i] = spread (reduce[reassoc] Sums k. one (a[i, k] * b[k]))
schedule s of spreads =
  split k by 3 ragged
  reduce k.inner by (sum: order)
"""


def test_an_element_may_be_made_by_operations(tmp_path: Path) -> None:
    found = command(tmp_path, MOMENTS, "check")
    assert "s: bits of s_shadow; reals of spreads\n  by: Sums: block one over reals\n" in found.output
    assert found.exit_code == 0


def test_an_operation_on_words_that_may_change_is_not_looked_into() -> None:
    """What a local holds is put in its place later than it was worked out: only where nothing can have changed in between."""
    word, cell = Load("y"), Load("b", (Var("k"),))
    squares = tuple(Declare(f"q{place}", "f32", init=Op("mul", "f32", (part, part))) for place, part in enumerate((word, cell)))
    lead = (Declare("y", "f32", init=cell), *squares)
    assert set(_operations(lead, set())) == {"q0"}  # `b` may be written; the local `y` is not
    assert set(_operations(lead, {"b"})) == {"q0", "q1"}
    assert set(_operations((replace(lead[0], mutable=True), *squares), {"b"})) == {"q1"}


def test_a_condition_that_is_no_bound_is_refused(tmp_path: Path) -> None:
    text = PRODUCT.format(size=4, way="order", ragged="ragged").replace("sum[reassoc] k.", "sum[reassoc] k where k % 2 == 1.")
    found = command(tmp_path, text, "check")
    assert "the elements of `k` stand under a condition that is no bound of it" in found.output
    assert found.exit_code == 1
