"""Assertions for all numbers, over sizes of functions, and over bytes and lines: what holds is proved, its twin one off is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from cachet_verify.core.index import holds
from cachet_verify.elaborate.load import load_text
from cachet_verify.elaborate.module import elaborate
from tests.elaborate.short import faults
from tests.judge.asking import items

HEAD = """module (platform = AppleSilicon)
import "cachet:platforms/apple-silicon"
import "cachet:steps"
import "cachet:layouts"

contraction matmul (reads a: [f32; M, K]) (reads b: [f64; K, N] in ColumnMajor) (reads t: [f32; M, 3] in Strided 8) -> out c: [f32; M, N]
requires K > 0 =
  c[i, j] = sum k. a[i, k] * t[i, 0]

contraction generic {S : Semiring} (reads a: [S.Value; M, K]) (reads b: [S.Value; K, N]) -> out c: [S.Value; M, N] =
  c[i, j] = sum k. a[i, k] * b[k, j]

schedule packed of generic @(S = PlusTimes f32)
    (mut packA: [f32; M, 256] in PanelMajor 4 at DRAM)
    (mut packB: [f32; 16, 8] at DRAM)
    (mut other: [f32; 8, 16] at DRAM) =
  split k by 16 as gk ragged

"""


def outcome(folder: Path, proof: str) -> tuple[str, dict[str, int | str]]:
    """The verdict of a proof, and its counterexample."""
    item = items(folder, HEAD + proof + "\n", only=("p",))["p"]
    return item.verdict.value, dict(item.refusal.counterexample) if item.refusal is not None else {}


PROVED = [
    "proof p (N: Nat) = assert ceil (N / 8) * 8 >= N and ceil (N / 8) * 8 < N + 8",
    "proof p (N: Nat) requires N % 8 == 0 = assert floor (N / 8) * 8 == N",
    "proof p (N: Nat) (B: Nat) requires B > 0 = assert ceil (N / B) * B >= N",
    "proof p = assert matmul.K >= 1",
    "proof p = assert span_bytes matmul.a.span == 4 * matmul.M * matmul.K",
    "proof p = assert span_bytes matmul.b.span == 8 * matmul.K * matmul.N",
    "proof p = assert span_bytes matmul.t.span == 32 * matmul.M",
    # Whole panels of four rows of 256 words.
    "proof p = assert span_bytes packed.packA.span == ceil (packed.M / 4) * 4096",
    "proof p = assert span_bytes packed.packA.span <= 1024 * (packed.M + 3)",
    # 512 bytes are four lines of 128, or five where they start inside one.
    "proof p = assert lines (span_bytes packed.packB.span) >= 4 and lines (span_bytes packed.packB.span) <= 5",
    "proof p (b: Nat) = assert lines (b) >= line_ceil b 128 and lines (b) <= line_ceil b 128 + 1",
    "proof p (b: Nat) requires b <= 1 = assert lines (b) == b",
    "proof p (b: Nat) = assert line_ceil b 64 * 64 >= b",
    "proof p = assert line_ceil (span_bytes packed.packB.span) 100 == 6",
    "proof p = assert 8 * span_bytes packed.packB.span <= platform.capacity @L1",
    # One count, however often it is written.
    "proof p (b: Nat) = assert 2 * lines (b) == lines (b) + lines (b)",
]
REFUSED = [
    ("proof p (N: Nat) = assert floor (N / 8) * 8 >= N", {"N": 1}),
    ("proof p (N: Nat) requires N % 8 != 1 = assert floor (N / 8) * 8 >= N", None),
    ("proof p = assert matmul.K >= 2", {"matmul.K": 1}),
    ("proof p = assert matmul.M >= 1", {"matmul.M": 0}),
    ("proof p = assert span_bytes packed.packA.span <= 1024 * (packed.M + 2)", None),
    ("proof p = assert span_bytes matmul.t.span == 12 * matmul.M", None),
    ("proof p = assert lines (span_bytes packed.packB.span) <= 4", {"packed.packB.lines": 5}),
    ("proof p = assert lines (span_bytes packed.packB.span) >= 5", {"packed.packB.lines": 4}),
    ("proof p (b: Nat) = assert lines (b) == line_ceil b 128", None),
    # Two starts, two counts: nothing says that spans of one length start alike.
    ("proof p = assert lines (span_bytes packed.packB.span) == lines (span_bytes packed.other.span)", None),
    ("proof p (b: Nat) (d: Nat) requires b == d = assert lines (b) == lines (d)", None),
]


@pytest.mark.parametrize("proof", PROVED)
def test_what_holds_for_all_is_proved(tmp_path: Path, proof: str) -> None:
    assert outcome(tmp_path, proof) == ("proved", {})


@pytest.mark.parametrize(("proof", "shown"), REFUSED)
def test_its_twin_is_refused_with_numbers(tmp_path: Path, proof: str, shown: dict[str, int] | None) -> None:
    verdict, found = outcome(tmp_path, proof)
    assert verdict == "refused"
    assert found
    if shown is not None:
        assert {name: found[name] for name in shown} == shown


@pytest.mark.parametrize("line", [8, 128])
def test_the_bounds_of_lines_are_those_of_every_start(line: int) -> None:
    # By brute force: the fewest and the most lines that so many bytes touch, over all starts.
    text = "module (platform = Small)\n"
    text += f"impl Platform for Small where\n  const L1 = Level {{ capacity = 1024, line = {line} }}\nproof p (b: Nat) = assert lines (b) >= 0\n"
    (item,) = [found for found in elaborate(load_text(text, "test.cachet")).proofs if found.name == "p"]
    for size in range(3 * line):
        touched = {len({(start + byte) // line for byte in range(size)}) for start in range(line)}
        allowed = {count for count in range(6) if all(holds(part, {"b": size, "lines.1": count}) for part in item.premises)}  # type: ignore[union-attr]
        assert (min(allowed), max(allowed)) == (min(touched), max(touched))


def test_what_rests_on_platform_and_layout_says_so(tmp_path: Path) -> None:
    text = HEAD + "proof p = assert lines (span_bytes packed.packB.span) <= 5\nproof q = assert span_bytes packed.packA.span >= 0\n"
    found = items(tmp_path, text, only=("p", "q"))
    assert found["p"].claim is not None
    assert "AppleSilicon.line @L1 = 128" in found["p"].claim.assumes
    assert any("layout" in part.says or "address" in part.says for part in found["q"].obligations)


def test_an_assertion_about_nothing_is_vacuous(tmp_path: Path) -> None:
    item = items(tmp_path, "proof p (N: Nat) requires N < 0 = assert N == 7\n")["p"]
    assert item.refusal is not None
    assert item.refusal.code == "premises.vacuous"


@pytest.mark.parametrize(
    ("proof", "code"),
    [
        ("proof p = assert span_bytes generic.a.span > 0", "elaborate.count"),
        ("proof p = assert span_bytes packed.packC.span > 0", "elaborate.count"),
        ("proof p = assert span_bytes packB.span > 0", "elaborate.count"),
        ("proof p = assert matmul.Q > 0", "elaborate.count"),
        ("proof p = assert matmull.M > 0", "elaborate.index.kind"),
        ("proof p (matmul: Nat) = assert matmul > 0", "elaborate.name.duplicate"),
        ("proof p (N: Nat) (N: Nat) = assert N > 0", "elaborate.name.duplicate"),
        ("proof p = assert N > 0", "elaborate.name.unknown"),
        ("proof p (N: Nat) = relate packed to packed", "syntax.form"),
        ("proof p (reads x: [f32; N]) = assert 1 > 0", "syntax.form"),
        ("proof p (N: Nat) scratch N = assert N >= 0", "syntax.form"),
        ("proof p (N: Nat) = assert line_ceil N 0 >= 0", "elaborate.index.zero-divisor"),
    ],
)
def test_what_names_nothing_is_told(proof: str, code: str) -> None:
    found = [fault for fault, _ in faults(HEAD + proof + "\n")]
    assert found == [code]


def test_a_divisor_that_can_be_0_is_not_proved(tmp_path: Path) -> None:
    assert outcome(tmp_path, "proof p (N: Nat) (B: Nat) = assert floor (N / B) * B <= N")[0] == "refused"
    assert outcome(tmp_path, "proof p (N: Nat) (n: Nat) = assert line_ceil N n >= 0")[0] == "refused"


def test_the_size_of_a_layout_is_what_it_says_at_every_size() -> None:
    # Panels of four rows of 256 words are 4096 bytes: two of them for five to eight rows.
    text = HEAD + "proof p = assert span_bytes packed.packA.span == 8192\n"
    (item,) = [found for found in elaborate(load_text(text, "test.cachet")).proofs if found.name == "p"]
    found = [rows for rows in range(20) if holds(item.formula, {"packed.M": rows, "packed.K": 1, "packed.N": 1})]  # type: ignore[union-attr]
    assert found == [5, 6, 7, 8]
