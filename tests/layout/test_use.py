"""What a layout requires: passed on to where it is used, with the numbers of the place; met, missed, and contradictory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.judge.asking import items, verdicts

STRIDED = "layout Strided p : [R, C] (i, j) requires p >= C size R * p = i * p + j\n"


def reading(storage: str, before: str = "", requires: str = "") -> str:
    need = f"requires {requires}\n" if requires else ""
    return f"{STRIDED}fn f {before}(reads a: {storage}) (mut c: [f32; 1]) produces Init c\n{need}=\n  store c[0] = 0.0\n"


MET = [
    reading("[f32; 4, 7] in Strided 8"),
    reading("[f32; 4, 8] in Strided 8"),
    reading("[f32; M, K] in Strided P", "(P: Nat) ", "P > 0, K <= P"),
    reading("[f32; M, K] in Strided (K + 3)"),
    reading("[f32; M, 16] in Strided (16 * ceil (K / 16))", "(K: Nat) ", "K > 0"),
]
MISSED = [
    (reading("[f32; 4, 9] in Strided 8"), "8 >= 9"),
    (reading("[f32; M, K] in Strided 64"), "64 >= K"),
    (reading("[f32; M, K] in Strided P", "(P: Nat) ", "P > 0"), "P >= K"),
    (reading("[f32; M, K] in Strided P", "(P: Nat) ", "P > 0, K <= P + 1"), "P >= K"),
]


@pytest.mark.parametrize("text", MET)
def test_a_use_that_meets_the_requirement_is_proved(tmp_path: Path, text: str) -> None:
    assert verdicts(tmp_path, text) == {"Strided": "proved", "f": "proved"}


@pytest.mark.parametrize(("text", "numbers"), MISSED)
def test_a_use_that_may_miss_it_is_refused_with_the_numbers(tmp_path: Path, text: str, numbers: str) -> None:
    refusal = items(tmp_path, text)["f"].refusal
    assert refusal is not None
    assert refusal.code == "program.side-condition"
    assert refusal.message == f"could not prove what the layout `Strided` requires, p >= C: {numbers}"


def test_the_requirement_of_an_imported_layout_sees_its_own_file(tmp_path: Path) -> None:
    other = "const least : Nat = 5\nlayout Wide p : [R, C] (i, j) requires p >= C, p >= least size R * p = i * p + j\n"
    text = 'import "other.cachet"\nfn f (reads a: [f32; 2, 2] in Wide 4) (mut c: [f32; 1]) produces Init c =\n  store c[0] = 0.0\n'
    refusal = items(tmp_path, text, other=other)["f"].refusal
    assert refusal is not None
    assert refusal.message.endswith("p >= least: 4 >= 5")


def test_a_schedule_and_a_local_pass_it_on_too(tmp_path: Path) -> None:
    text = f"""{STRIDED}contraction twice (reads x: [f32; M, N]) -> out c: [f32; M, N] =
  c[i, j] = load x[i, j]
schedule wrong of twice (mut s: [f32; 4, 9] in Strided 8) =
  split i by 4 as gi ragged
fn local (mut c: [f32; 1]) produces Init c =
  var t: [f32; 2, 4] in Strided 3
  store c[0] = 0.0
"""
    assert verdicts(tmp_path, text.replace("load ", "")) == {"Strided": "proved", "twice": "proved", "wrong": "refused", "local": "refused"}


def test_a_requirement_that_nothing_meets_is_vacuous(tmp_path: Path) -> None:
    text = "layout Never p : [R, C] (i, j) requires p < C, p > C size R * p = i * p + j\n"
    refusal = items(tmp_path, text)["Never"].refusal
    assert refusal is not None
    assert refusal.code == "premises.vacuous"


def test_a_requirement_does_not_reach_the_layout_of_that_name_next_door(tmp_path: Path) -> None:
    # Without the requirement the map overlaps, and nothing that uses it is proved.
    loose = STRIDED.replace(" requires p >= C", "")
    text = reading("[f32; 4, 7] in Strided 8").replace(STRIDED, loose)
    assert verdicts(tmp_path, text)["Strided"] == "refused"
    assert verdicts(tmp_path, text)["f"] != "proved"
