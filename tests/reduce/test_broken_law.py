"""A law that a regrouping needs and that numbers break refuses the schedule, permission or not; the numbers are computed again here."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

import cachet_verify
from cachet_verify.report.record import ItemReport

Combine = Callable[[Fraction, Fraction], Fraction]

TEXT = """import "cachet:monoid"

impl Monoid for Odd f32 where
  const Value = f32
  fn empty () = {empty}
  fn combine a b = {body}

contraction total (reads a: [f32; K]) -> out c: [f32; 1] =
  c[i] = reduce[reassoc] Odd f32 k. a[k]

schedule blocks of total =
  regroup k by 4 as gk
"""

# body, empty, and the same operation on fractions: none of them is associative with that identity
ODD: tuple[tuple[str, str, Combine], ...] = (
    ("0.5 * a + 0.5 * b", "0.0", lambda a, b: (a + b) / 2),
    ("a * b + 1.0", "0.0", lambda a, b: a * b + 1),
    ("a + 2.0 * b", "0.0", lambda a, b: a + 2 * b),
    ("max a (-b)", "0.0", lambda a, b: max(a, -b)),
)


def schedule(text: str, folder: Path) -> ItemReport:
    path = folder / "odd.cachet"
    path.write_text(text)
    return next(item for file in cachet_verify.check([path]).files for item in file.items if item.kind == "schedule")


@pytest.mark.parametrize(("body", "empty", "combine"), ODD)
def test_numbers_that_break_associativity_refuse_the_schedule(body: str, empty: str, combine: Combine, tmp_path: Path) -> None:
    item = schedule(TEXT.format(body=body, empty=empty), tmp_path)
    assert item.verdict.value == "refused"
    assert item.refusal is not None
    assert item.refusal.code == "law.not-proved"
    a, b, c = (Fraction(str(item.refusal.counterexample[name])) for name in "abc")
    assert combine(a, combine(b, c)) != combine(combine(a, b), c)


def test_an_identity_that_is_none_is_named(tmp_path: Path) -> None:
    """Products are associative, and 2 is not their identity: a * (2 * b) is a * b at 0 alone."""
    item = schedule(TEXT.format(body="a * b", empty="2.0"), tmp_path)
    assert item.refusal is not None
    assert (item.refusal.code, "identity" in item.refusal.message) == ("law.not-proved", True)
    assert all(Fraction(str(item.refusal.counterexample[name])) != 0 for name in "ab")


def test_what_comes_to_no_value_is_told_before_the_rule_is(tmp_path: Path) -> None:
    """From minus infinity, differences have no value: the kernel's rule refuses to be asked, and the numbers say why."""
    item = schedule(TEXT.format(body="a - b", empty="-Num.infinity ()"), tmp_path)
    assert item.refusal is not None
    assert item.refusal.code == "law.not-proved"


def test_words_that_regroup_exactly_are_not_asked_about_real_numbers(tmp_path: Path) -> None:
    """The greatest of words is associative over words, whatever stands for a NaN; over the reals nobody asks."""
    text = TEXT.replace("f32", "u32").format(body="max a b", empty="0")
    assert schedule(text, tmp_path).verdict.value == "proved"


def test_another_problem_of_the_step_is_told_as_it_is(tmp_path: Path) -> None:
    text = TEXT.format(body="a - b", empty="0.0").replace("by 4", "by 0")
    item = schedule(text, tmp_path)
    assert item.refusal is not None
    assert item.refusal.code == "rewrite.arguments"
