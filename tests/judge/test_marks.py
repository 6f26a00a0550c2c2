"""What a claim is about and what it rests on: marks and names that could get lost on the way to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.judge.asking import items

OUTER = """
import "cachet:steps"
contraction outer (reads x: [f32; M]) (reads y: [f32; N]) -> out c: [f32; M, N] =
  c[i, j] = x[i] * y[j]
"""
ADMITTING = (
    OUTER
    + """
const B : Nat = 4

schedule fn halves (i) =
  split i by B as gi ragged
  admit "inside a schedule fn"

schedule called of outer =
  halves (i)

schedule listed of outer
    family C in {2, 4} =
  split i by C as gi ragged
  admit "of every member"

schedule opened of outer
    family C > 0 =
  split i by C as gi ragged
  admit "of all sizes"

proof members = family B in {2, 4} of called
proof all = family B > 0 of called
proof rows = invariant c in M of called
"""
)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("called", "inside a schedule fn"),
        ("listed", "of every member"),
        ("opened", "of all sizes"),
        ("members", "inside a schedule fn"),
        ("all", "inside a schedule fn"),
        ("rows", "inside a schedule fn"),
    ],
)
def test_what_the_lines_of_a_schedule_admit_is_marked_wherever_they_count(tmp_path: Path, name: str, reason: str) -> None:
    claim = items(tmp_path, ADMITTING, only=(name,))[name].claim
    assert claim is not None
    assert [(entry.kind, entry.reason) for entry in claim.trusted] == [("admitted", reason)]


def test_a_family_in_a_header_is_not_about_one_constant(tmp_path: Path) -> None:
    """With `const B`, the condition `B > 0` would be the one `4 > 0`, and a family of one member pass for all."""
    text = OUTER + "const B : Nat = 4\nschedule every of outer\n    family B > 0, C > 0 =\n  split i by B as gi ragged\n"
    with pytest.raises(ValueError, match="`B` is a constant already"):
        items(tmp_path, text)


PLATFORM = """
impl Platform for Odd where
  const DRAM = Level { line = 128, sharers = 16 }
  const G = Device { simd_width = 32, threadgroup = 32768, mma = product8 }

instr fn product8 (a: Vec f32 64) (b: Vec f32 64) (acc: Vec f32 64)
requires active == WANTED
-> Vec f32 64 =
  mma_block a b acc
  by_target metal
    "multiply({result}, {a}, {b}, {acc});"
"""
TILED = """
module (platform = Odd)
import "./odd.cachet"
schedule tiled of matmul @(S = PlusTimes f32) on G =
  grid over (i, j)
  tiles (i, j, k) (16, 16) (8, 8)
contraction matmul {S : Semiring} (reads a: [S.Value; M, K]) (reads b: [S.Value; K, N]) -> out c: [S.Value; M, N] =
  c[i, j] = sum k. a[i, k] * b[k, j]
"""


@pytest.mark.parametrize(("wanted", "verdict"), [("64", "proved"), ("32", "refused")])
def test_tiles_ask_what_the_instruction_of_the_device_requires(tmp_path: Path, wanted: str, verdict: str) -> None:
    found = items(tmp_path, TILED, only=("tiled",), odd=PLATFORM.replace("WANTED", wanted))["tiled"]
    assert found.verdict.value == verdict
    if verdict == "refused":
        assert found.refusal is not None
        assert found.refusal.message.startswith("tiles: product8 requires false")
