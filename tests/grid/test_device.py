"""What runs on a device computes in its arithmetic: in claims, in the interpreter, and never by mistake in the host's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cachet_verify.core.element import Arithmetic
from cachet_verify.core.ir import Program
from cachet_verify.core.meaning import Cells, run
from cachet_verify.judge.file import open_file
from cachet_verify.kernel.claim import RuleError, computes, discharge, reflexivity
from cachet_verify.kernel.well_formed import well_formed
from tests.judge.asking import items, verdicts
from tests.kernel.solve import claimed

HEADER = """\
module (platform = AppleSilicon)
import "cachet:steps"
import "cachet:platforms/apple-silicon"

contraction matmul {S : Semiring} (reads a: [S.Value; M, K]) (reads b: [S.Value; K, N]) -> out c: [S.Value; M, N] =
  c[i, j] = sum k. a[i, k] * b[k, j]
"""
ROWS = """
schedule rows of matmul @(S = PlusTimes f32) on M4Gpu =
  grid over (i, j)
"""
HOST = """
schedule host of matmul @(S = PlusTimes f32) =
  grid over (i, j)
"""
BOTH = """
fn both (reads a: [f32; M, K]) (reads b: [f32; K, N]) (mut c: [f32; M, N]) (mut d: [f32; M, N])
produces Init c, Init d
=
  rows a b c
  host a b d
"""
M4GPU = Arithmetic("M4Gpu", flushes=True)
ONE_CELL = {"M": 1, "K": 1, "N": 1}

# 2^-149 * 2^30 = 2^-119, whose exponent field is 8; 2^-100 * 2^-30 = 2^-130 = 2^19 units of 2^-149.
# A GPU that flushes sees a zero of the operand's sign, or makes the tiny result one.
CASES = {
    "subnormal operand": (0x00000001, 0x4E800000, 8 << 23, 0x00000000),
    "subnormal operand below zero": (0x80000001, 0x4E800000, 1 << 31 | 8 << 23, 0x80000000),
    "tiny result": (27 << 23, 97 << 23, 1 << 19, 0x00000000),
    "tiny result below zero": (1 << 31 | 27 << 23, 97 << 23, 1 << 31 | 1 << 19, 0x80000000),
    "neither": (0x3F800000, 0x40000000, 0x40000000, 0x40000000),
}


def program(folder: Path, text: str, name: str) -> Program:
    path = folder / "kernels.cachet"
    path.write_text(text)
    found = open_file(path).program(name)
    assert found is not None
    return found


def product(of: Program, a: int, b: int) -> int | None:
    cells: Cells = [None]
    run(of, ONE_CELL, {"a": [a], "b": [b], "c": cells})
    return cells[0]


@pytest.mark.parametrize("case", CASES)
def test_a_device_that_flushes_differs_from_the_host_as_its_meaning_does(case: str, tmp_path: Path) -> None:
    a, b, by_host, by_device = CASES[case]
    host = program(tmp_path, HEADER + HOST, "host")
    rows = program(tmp_path, HEADER + ROWS, "rows")
    assert (product(host, a, b), product(rows, a, b)) == (by_host, by_device)
    assert product(replace(host, arithmetic=M4GPU), a, b) == by_device


def test_each_call_of_a_host_program_computes_where_it_runs(tmp_path: Path) -> None:
    both = program(tmp_path, HEADER + ROWS + HOST + BOTH, "both")
    assert both.arithmetic is None
    a, b, by_host, by_device = CASES["subnormal operand"]
    c: Cells = [None]
    d: Cells = [None]
    run(both, ONE_CELL, {"a": [a], "b": [b], "c": c, "d": d})
    assert (c, d) == ([by_device], [by_host])


def test_a_claim_names_the_arithmetic(tmp_path: Path) -> None:
    found = items(tmp_path, HEADER + ROWS + HOST + BOTH)
    assert {name: item.verdict.value for name, item in found.items()} == dict.fromkeys(("matmul", "rows", "host", "both"), "proved")
    claims = [found[name].claim for name in ("rows", "host")]
    assert [claim.arithmetic for claim in claims if claim is not None] == ["M4Gpu", None]


BY_HAND = """
fn device (reads a: [f32; M, K]) (reads b: [f32; K, N]) (mut c: [f32; M, N])
produces Init c
=
  grid on M4Gpu i in 0 .. M, j in 0 .. N writes c[i, j] as ct do
    var acc: f32 = -0.0
    for k in 0 .. K do
      acc = fma (load a[i, k]) (load b[k, j]) acc
    store ct = acc
fn host (reads a: [f32; M, K]) (reads b: [f32; K, N]) (mut c: [f32; M, N])
produces Init c
=
  grid i in 0 .. M, j in 0 .. N do
    var acc: f32 = -0.0
    for k in 0 .. K do
      acc = fma (load a[i, k]) (load b[k, j]) acc
    store c[i, j] = acc
fn halves (reads a: [f32; M, K]) (reads b: [f32; K, N]) (mut c: [f32; M, N])
produces Init c
=
  for i in 0 .. M do
    if i < 4 then
      for j in 0 .. N do
        store c[i, j] = fold k in 0 .. K from -0.0 as acc: f32 do fma (load a[i, k]) (load b[k, j]) acc
    else
      grid on M4Gpu j in 0 .. N do
        store c[i, j] = fold k in 0 .. K from -0.0 as acc: f32 do fma (load a[i, k]) (load b[k, j]) acc
"""
RELATIONS = {
    "device to matmul @(S = PlusTimes f32)": ("proved", "M4Gpu"),
    "host to matmul @(S = PlusTimes f32)": ("proved", None),
    "device to device": ("proved", "M4Gpu"),
    "device to host": ("proved", "M4Gpu"),
    "host to device": ("undecided", None),
    "halves to matmul @(S = PlusTimes f32)": ("undecided", None),
    "halves to halves": ("undecided", None),
    "device to halves": ("undecided", None),
}


@pytest.mark.parametrize("relation", RELATIONS)
def test_functions_by_hand_are_compared_in_one_arithmetic(relation: str, tmp_path: Path) -> None:
    verdict, arithmetic = RELATIONS[relation]
    found = items(tmp_path, f"{HEADER}{BY_HAND}proof p = relate {relation}\n", only=("p",))["p"]
    assert found.verdict.value == verdict
    if verdict == "proved":
        assert found.claim is not None
        assert found.claim.arithmetic == arithmetic
    else:
        assert found.reason is not None
        assert "a mix of arithmetics" in found.reason


NO_GRID = """
schedule no_grid of matmul @(S = PlusTimes f32) on M4Gpu =
  zero (i, j) c
  hoist (j, k) c
"""


def test_operations_that_stay_on_the_host_leave_a_schedule_on_a_device_undecided(tmp_path: Path) -> None:
    found = items(tmp_path, HEADER + NO_GRID)["no_grid"]
    assert found.verdict.value == "undecided"
    assert found.reason == "not-supported: a mix of arithmetics, M4Gpu's and the host's: one claim is about one of them: schedule no_grid"


def test_what_only_copies_runs_anywhere(tmp_path: Path) -> None:
    copies = """
contraction copied (reads x: [f32; N]) -> out y: [f32; N] =
  y[i] = x[i]
schedule there of copied on M4Gpu =
  grid over i
schedule here of copied on M4Gpu =
  split i by 4 as gi ragged
"""
    assert verdicts(tmp_path, HEADER + copies) == {"matmul": "proved", "copied": "proved", "there": "proved", "here": "proved"}


def test_devices_that_do_not_flush_are_still_named(tmp_path: Path) -> None:
    header = HEADER.replace("AppleSilicon", "H200").replace("apple-silicon", "nvidia-h200")
    text = Path("platforms/nvidia-h200.cachet").read_text()
    platform = text.partition("impl Platform for ")[2].split()[0]
    found = items(tmp_path, header.replace("= H200", f"= {platform}") + ROWS.replace("M4Gpu", "H200"))["rows"]
    assert found.verdict.value == "proved"
    assert found.claim is not None
    assert found.claim.arithmetic == "H200"


# --- the kernel itself ---


def test_the_kernel_compares_no_programs_of_two_arithmetics(tmp_path: Path) -> None:
    halves = program(tmp_path, HEADER + BY_HAND, "halves")
    with pytest.raises(RuleError, match="a mix of arithmetics"):
        reflexivity(halves)
    device = program(tmp_path, HEADER + BY_HAND, "device")
    with pytest.raises(RuleError, match="a mix of arithmetics"):
        reflexivity(replace(device, arithmetic=Arithmetic("M4Gpu", flushes=False)))


def test_a_program_that_a_claim_is_about_runs_where_the_claim_says(tmp_path: Path) -> None:
    """A meaning may be evaluated in any arithmetic; what is called has its operations in grids on that device."""
    meaning = replace(program(tmp_path, HEADER + BY_HAND, "host"), arithmetic=M4GPU)
    same = discharge(reflexivity(meaning), {})
    formed = claimed(well_formed(meaning))
    with pytest.raises(RuleError, match="does not run where its arithmetic is"):
        computes((formed, formed), (same,))
