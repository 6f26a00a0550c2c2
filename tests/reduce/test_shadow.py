"""Reductions in blocks through the command line: what is proved exact, what needs permission, what the claim then says."""

from __future__ import annotations

from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

from cachet_verify.cli import main
from cachet_verify.core.meaning import run
from cachet_verify.core.numeral import word_of_float
from cachet_verify.judge.file import open_file

TOTAL = "contraction total (reads a: [{elem}; K]) -> out c: [{elem}; 1] =\n  c[i] = {reduce} k. a[k]\n{schedule}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command wrote, on both streams, and how it ended."""

    output: str
    exit_code: int


def command(tmp_path: Path, text: str, *words: str) -> Answer:
    """Run a command on a file; in `words`, the file stands where `-` does, else last."""
    path = tmp_path / "t.cachet"
    path.write_text(text)
    given = [str(path) if word == "-" else word for word in words] if "-" in words else [*words, str(path)]
    streams = StringIO(), StringIO()
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        code = main(given)
    return Answer("".join(stream.getvalue() for stream in streams), code)


def total(elem: str, reduce: str, size: str = "2") -> str:
    return TOTAL.format(elem=elem, reduce=reduce, schedule=f"schedule s of total =\n  regroup k by {size} as gk\n")


@pytest.mark.parametrize(("elem", "reduce"), [("i32", "sum"), ("u32", "sum"), ("i64", "sum")])
def test_integer_sums_keep_every_word_without_permission(tmp_path: Path, elem: str, reduce: str) -> None:
    found = command(tmp_path, total(elem, reduce), "check")
    assert "s: bits of total\n" in found.output
    assert found.exit_code == 0


@pytest.mark.parametrize("reduce", ["reduce Max f32", "reduce Min f32"])
def test_maxima_of_floats_keep_every_word(tmp_path: Path, reduce: str) -> None:
    found = command(tmp_path, 'import "cachet:monoid"\n' + total("f32", reduce), "check")
    assert "s: bits of total\n" in found.output


def test_a_sum_of_floats_is_refused_with_what_permits_it_and_a_run(tmp_path: Path) -> None:
    found = command(tmp_path, total("f32", "sum"), "check")
    assert "regrouping the reduction, which it permits with `[reassoc]`, `sum[reassoc] k.`\n" in found.output
    assert "replay: c[0] is " in found.output
    assert found.exit_code == 1


def test_a_permitted_sum_has_a_claim_of_two_parts(tmp_path: Path) -> None:
    text = total("f32", "sum[reassoc]") + "  \n"
    found = command(tmp_path, text, "check")
    assert "s: bits of s_shadow; reals of total\n  by: sum on f32: associative over reals, sum on f32: identity over reals\n" in found.output
    assert "trusted: nothing" in found.output


def test_the_shadow_is_the_loops_after_the_steps_that_regroup_alone(tmp_path: Path) -> None:
    text = (
        "contraction rows (reads a: [f32; M, K]) -> out c: [f32; M] =\n  c[i] = sum[reassoc] k. a[i, k]\n"
        "schedule s of rows =\n  split i by 4 as gi ragged\n  regroup k by 8 as gk\n"
    )
    found = command(tmp_path, text, "scheduled", "--shadow", "-", "s")
    assert found.output == (
        "fn s_shadow (reads a: [f32; M, K]) (mut c: [f32; M])\nproduces Init c\n=\n  for i in 0 .. M do\n    var acc'0: f32 = -0.0\n"
        "    for gk in blocks (0 .. K) 8 do\n      var part: f32 = -0.0\n      for k in 0 .. gk.len do\n        part = part + load a[i, gk[k]]\n"
        "      acc'0 = acc'0 + part\n    store c[i] = acc'0\n"
    )


def test_a_schedule_that_keeps_the_order_has_no_shadow(tmp_path: Path) -> None:
    found = command(tmp_path, total("i32", "sum"), "scheduled", "--shadow", "-", "s")
    assert "listing.shadow.none" in found.output


def test_six_numbers_whose_chain_is_one_and_whose_pairs_are_none(tmp_path: Path) -> None:
    """2^24 + 2^24 - 2^25 + 1: in pairs the 1 is lost in -2^25."""
    path = tmp_path / "t.cachet"
    path.write_text(total("f32", "sum[reassoc]"))
    opened = open_file(path)
    found = []
    for name in ("total", "s"):
        made = opened.program(name)
        assert made is not None
        cells: dict[str, list[int | None]] = {"a": [word_of_float(x, "f32") for x in (2.0**24, 2.0**24, -(2.0**25), 1.0, 0.0, 0.0)], "c": [None]}
        run(made, {"K": 6}, cells)
        found.append(cells["c"][0])
    assert found == [word_of_float(1.0, "f32"), 0]


@pytest.mark.parametrize(
    ("size", "code"),
    [("0", "rewrite.arguments"), ("K", "program.not-well-formed"), ("M", None)],
)
def test_block_sizes_are_at_least_one(tmp_path: Path, size: str, code: str | None) -> None:
    """K may be 0, and then no block has an index; another name is no size."""
    found = command(tmp_path, total("i32", "sum", size), "check")
    assert "bits of total" not in found.output
    assert code is None or code in found.output


def test_a_permission_does_not_make_a_mean_associative(tmp_path: Path) -> None:
    text = (
        'import "cachet:monoid"\nimpl Monoid for Mean f32 where\n  const Value = f32\n  fn empty () = 0.0\n  fn combine a b = 0.5 * a + 0.5 * b\n'
        + total("f32", "reduce[reassoc] Mean f32")
    )
    found = command(tmp_path, text, "check")
    assert "reals of" not in found.output
    assert found.exit_code == 1


def test_a_family_of_schedules_that_regroup_over_the_reals_is_not_claimed(tmp_path: Path) -> None:
    text = "const B = 4\n" + total("f32", "sum[reassoc]", "B") + "proof p = family s over B in [2, 4]\n"
    found = command(tmp_path, text, "check")
    assert "p: undecided" in found.output or "p: bits" not in found.output
    assert "bits of total" not in found.output


def test_the_laws_named_are_those_of_what_was_regrouped(tmp_path: Path) -> None:
    """Permission for the maximum is not used; the maximum of a row is of words besides, and no law of it is named."""
    text = (
        'import "cachet:monoid"\ncontraction t (reads a: [f32; M, K]) -> out c: [f32; M] =\n  m[i] = reduce[reassoc] Max f32 j. a[i, j]\n'
        "  c[i] = sum[reassoc] k. a[i, k] - m[i]\nschedule s of t =\n  regroup k by 4 as gk\n"
    )
    found = command(tmp_path, text, "check")
    assert "  by: sum on f32: associative over reals, sum on f32: identity over reals\n" in found.output
    assert "Max" not in found.output


def test_the_ledger_lists_the_function_that_a_law_is_about(tmp_path: Path) -> None:
    text = (
        'import "cachet:attention"\ncontraction t (reads a: [f32; K]) (reads v: [f32; K]) -> out c: [f32; 1] =\n'
        "  c[i] = normalised (reduce[reassoc] Online k. key (a[k]) (v[k]))\nschedule s of t =\n  regroup k by 4 as gk\n"
    )
    found = command(tmp_path, text, "trust")
    assert "exp f32: its words stand for the real function" in found.output
    assert "proved: Online (2 laws): s (" in found.output
