"""What rests on something that is not proved is not proved, whatever file it stands in and whatever is asked for."""

from __future__ import annotations

from pathlib import Path

from tests.judge.asking import items, verdicts

QUARTERS = """
fn quarters (reads a: [f32; N]) (mut c: [f32; N]) produces Init c =
  for g in 0 .. N do
    store c[g] = load a[g]
  for g in 0 .. N / 4 do
    store c[4 * g] = load a[4 * g]
"""
"""Refused: `N / 4` is not exact for all N."""


def test_users_of_a_refused_import_are_not_proved(tmp_path: Path) -> None:
    text = """
import "lib.cachet"
schedule s of quarters =
  split g by 4 as h ragged

fn caller (reads a: [f32; N]) (mut c: [f32; N]) produces Init c =
  quarters a c

fn second (reads a: [f32; N]) (mut c: [f32; N]) produces Init c =
  caller a c

proof p = relate quarters to quarters
"""
    found = verdicts(tmp_path, text, lib=QUARTERS)
    assert found == {"s": "refused", "caller": "refused", "second": "undecided", "p": "refused"}


def test_users_of_a_refused_function_are_not_proved_alone(tmp_path: Path) -> None:
    text = QUARTERS + "\nschedule s of quarters =\n  split g by 4 as h ragged\n"
    assert verdicts(tmp_path, text, only=("s",)) == {"s": "undecided"}


def test_an_instance_rests_on_what_it_is_an_instance_of(tmp_path: Path) -> None:
    text = QUARTERS.replace("quarters (", "quarters {S : Semiring} (").replace("f32", "S.Value")
    text += "proof p = relate quarters @(S = PlusTimes f32) to quarters @(S = PlusTimes f32)\n"
    assert verdicts(tmp_path, text) == {"quarters": "refused", "p": "undecided"}


def test_schedules_of_one_name_in_two_files_are_apart(tmp_path: Path) -> None:
    lib = """
contraction copy (reads a: [f32; N]) -> out c: [f32; N] =
  c[i] = a[i]

schedule s of copy =
  split i by 4 as g ragged

fn f (reads a: [f32; N]) (mut c: [f32; N]) produces Init c =
  s a c
"""
    text = """
import "lib.cachet"
contraction twice (reads a: [f32; N]) -> out c: [f32; N] =
  c[i] = a[i] + a[i]

schedule s of twice =
  split i by 4 as g ragged

fn h (reads a: [f32; N]) (mut c: [f32; N]) produces Init c =
  s a c

fn f2 (reads a: [f32; N]) (mut c: [f32; N]) produces Init c =
  f a c

proof wrong = relate f to twice
proof also_wrong = relate f2 to twice
"""
    found = verdicts(tmp_path, text, lib=lib)
    assert found["h"] == "proved"
    assert {found["wrong"], found["also_wrong"], found["f2"]} == {"undecided"}


COPY = """
contraction copy (reads a: [f32; N]) -> out c: [f32; N] =
  c[i] = a[i]
schedule blocked of copy =
  split i by B as g
"""


def test_a_family_varies_constants_of_its_own_file_only(tmp_path: Path) -> None:
    text = 'import "lib.cachet"\n' + COPY + "proof listed = family B in {4, 8} of blocked\nproof open = family B > 0 of blocked\n"
    found = verdicts(tmp_path, text, lib="const B : Nat = 4\n")
    assert (found["listed"], found["open"]) == ("undecided", "undecided")


def test_a_family_requires_what_any_member_requires(tmp_path: Path) -> None:
    text = "const B : Nat = 4\n" + COPY + "proof listed = family B in {16, 6} of blocked\n"
    claim = items(tmp_path, text)["listed"].claim
    assert claim is not None
    assert set(claim.requires) == {"N % 16 == 0", "N % 6 == 0"}


def test_a_family_asks_the_side_conditions_of_each_member(tmp_path: Path) -> None:
    text = """
const D : Nat = 4
fn sized (reads a: [f32; N]) (mut c: [f32; N])
requires N % 4 == 0
produces Init c =
  for g in 0 .. N / D do
    for i in 0 .. D do
      store c[D * g + i] = load a[D * g + i]
schedule z of sized =
  split i by 2 as h ragged
proof listed = family D in {8, 4} of z
proof open = family D > 0 of z
proof right = family D in {2, 4} of z
"""
    found = verdicts(tmp_path, text)
    assert (found["sized"], found["z"], found["right"]) == ("proved", "proved", "proved")
    assert (found["listed"], found["open"]) == ("refused", "refused")
