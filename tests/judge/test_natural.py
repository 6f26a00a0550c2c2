"""What is used as a natural number is one: extents, sizes given to a call, numbers of a layout."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.judge.asking import items, verdicts

FILLED = "  for i in 0 .. N do\n    store c[i] = 0.0\n"


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("const D : Int = 0 - 3\nfn f (reads a: [f32; N + D]) (mut c: [f32; N]) =\n" + FILLED, "refused"),
        ("fn f (reads a: [f32; N - 3]) (mut c: [f32; N]) =\n" + FILLED, "refused"),
        ("fn f (reads a: [f32; N - 3]) (mut c: [f32; N])\nrequires N > 2 =\n" + FILLED, "proved"),
        ("fn f (mut c: [f32; N]) =\n  let e = N - 4\n  var t: [f32; e]\n" + FILLED, "refused"),
        ("fn f (mut c: [f32; N]) =\n  for i in 0 .. N do\n    let r: Nat = -i\n    store c[i] = 0.0\n", "refused"),
        ("fn f (mut c: [f32; N]) =\n  for i in 0 - N .. N do\n    let r: Nat = i\n    store c[r] = 0.0\n", "refused"),
        ("fn f (mut c: [f32; N]) =\n  for g in blocks (0 .. N) 4 do\n    let r: Nat = g.lo + g.len - 1\n    store c[r] = 0.0\n", "proved"),
        ("fn f (M: Nat) (mut c: [f32; N])\nrequires M <= N and N <= M =\n  let r: Nat = M * N + floor (N / 2)\n" + FILLED, "proved"),
    ],
)
def test_a_natural_is_not_negative(text: str, verdict: str, tmp_path: Path) -> None:
    assert verdicts(tmp_path, text)["f"] == verdict


@pytest.mark.parametrize(("size", "verdict"), [("k - 7", "refused"), ("k", "proved"), ("max (k - 7) 0", "proved")])
def test_a_size_given_to_a_call_is_a_natural(size: str, verdict: str, tmp_path: Path) -> None:
    text = f"""
fn inner (n: Nat) (mut c: [f32; N]) =
{FILLED}
fn f (mut c: [f32; N]) =
  for k in 0 .. N do
    inner ({size}) c
"""
    assert verdicts(tmp_path, text) == {"inner": "proved", "f": verdict}


PANELS = 'import "cachet:layouts"\n'
ALL = "  for i in 0 .. R do\n    for j in 0 .. C do\n      store c[i, j] = 0.0\n"


@pytest.mark.parametrize(
    ("head", "verdict"),
    [
        ("fn f (mut c: [f32; R, C] in PanelMajor 0) =", "refused"),
        ("fn f (mut c: [f32; R, C] in PanelMajor R) =", "refused"),
        ("fn f (P: Nat) (mut c: [f32; R, C] in PanelMajor P)\nrequires P > 0 =", "proved"),
        ("fn f (mut c: [f32; R, C] in PanelMajor 4) =", "proved"),
    ],
)
def test_a_number_of_a_layout_is_at_least_one(head: str, verdict: str, tmp_path: Path) -> None:
    assert verdicts(tmp_path, f"{PANELS}{head}\n{ALL}")["f"] == verdict


def test_layouts_of_one_name_in_two_files_are_apart(tmp_path: Path) -> None:
    lib = f"layout L : [R, C] (i, j) = i * C + j\nfn fill (mut c: [f32; R, C] in L) =\n{ALL}"
    text = 'import "lib.cachet"\nlayout L : [R, C] (i, j) = j * R + i\nfn user (mut c: [f32; R, C] in L) =\n  fill c\n'
    with pytest.raises(ValueError, match="wants `c` in L, and `c` is in L, of another file"):
        items(tmp_path, text, lib=lib)


def test_a_layout_that_is_proved_nowhere_else_is_proved_for_its_user(tmp_path: Path) -> None:
    lib = f"layout Bad : [R, C] (i, j) = i + j\nfn fill (mut c: [f32; R, C] in Bad) =\n{ALL}"
    assert verdicts(tmp_path, 'import "lib.cachet"\nproof p = relate fill to fill\n', lib=lib) == {"p": "refused"}


@pytest.mark.parametrize(("given", "verdict"), [("8", "refused"), ("P", "proved"), ("Q", "refused")])
def test_the_numbers_of_a_layout_are_those_of_the_call(given: str, verdict: str, tmp_path: Path) -> None:
    text = f"""{PANELS}
fn fill (P: Nat) (mut c: [f32; R, C] in PanelMajor P)
requires P > 0 =
{ALL}
fn f (P: Nat) (Q: Nat) (mut c: [f32; R, C] in PanelMajor P)
requires P > 0 and Q > 0 =
  fill {given} c
"""
    assert verdicts(tmp_path, text) == {"fill": "proved", "f": verdict}


def test_a_layout_without_a_meaning_yet_is_undecided(tmp_path: Path) -> None:
    assert verdicts(tmp_path, "layout L : [R, C] (i, j) = floor (i / 2 + j / 3)\n") == {"L": "undecided"}
