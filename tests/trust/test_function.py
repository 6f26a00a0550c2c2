"""Functions whose words stand for real ones: how far off they are, what is not even of its kind, and whose record counts."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from cachet_verify.cli import main
from cachet_verify.core.element import ELEMENTS, FLUSH
from cachet_verify.core.identity import function_identity
from cachet_verify.core.ir import Block, Load, Op, Param, Program, Word
from cachet_verify.core.numeral import word_of_float
from cachet_verify.judge.evidence import function_entry
from cachet_verify.judge.plan import Plan
from cachet_verify.ledger.record import Evidence, Inputs
from cachet_verify.ledger.store import read_folders
from cachet_verify.measure.function import error_of
from cachet_verify.report.policy import Policy
from cachet_verify.report.record import TrustedEntry
from tests.trust.made import record

ROOT = Path(__file__).resolve().parents[2]
F32 = ELEMENTS["f32"]
INF, NAN = F32.infinity, F32.nan


def word(number: float) -> int:
    return word_of_float(number, "f32")


@pytest.mark.parametrize(
    ("name", "given", "found", "least", "most"),
    [
        # e = 2.718281828..., between the words 0x402df854 (2.7182817459) and 0x402df855 (2.7182819843), 2^-22 apart.
        ("exp", word(1.0), 0x402DF854, "0.345", "0.347"),
        ("exp", word(1.0), 0x402DF855, "0.653", "0.655"),
        ("exp", word(1.0), 0x402DF856, "1.653", "1.655"),
        ("exp", word(0.0), word(1.0), "0", "0"),
        ("log", word(1.0), word(0.0), "0", "0"),
        # e^-104 is 6.8e-46, nearly half of the least number, 1.4e-45: a zero is off by so much of it.
        ("exp", word(-104.0), 0, "0.48", "0.49"),
        ("exp", word(100.0), INF, "0", "0"),
        ("exp", INF, INF, "0", "0"),
        ("exp", INF | F32.sign, 0, "0", "0"),
        ("log", 0, INF | F32.sign, "0", "0"),
        ("log", word(-1.0), NAN, "0", "0"),
    ],
)
def test_errors_by_hand(name: str, given: int, found: int, least: str, most: str) -> None:
    error = error_of(name, F32, given, found)
    assert error is not None
    assert Decimal(least) <= error <= Decimal(most)


@pytest.mark.parametrize(
    ("name", "given", "found"),
    [("exp", NAN, word(1.0)), ("exp", word(1.0), NAN), ("exp", word(100.0), INF - 1), ("exp", INF, INF - 1), ("log", 0, INF), ("log", word(-1.0), 0)],
)
def test_words_that_are_not_even_of_their_kind(name: str, given: int, found: int) -> None:
    assert error_of(name, F32, given, found) is None


def call(argument: Load | Word, factor: int = 1) -> Op:
    return Op("exp", "f32", (Op("mul", "f32", (argument, Op("add", "f32", (argument, Word("f32", factor))))), argument))


def test_the_identity_is_of_the_body_not_of_the_argument() -> None:
    assert function_identity(call(Load("x"))) == function_identity(call(Load("y")))
    assert function_identity(call(Load("x"))) != function_identity(call(Load("x"), 2))
    assert function_identity(call(Load("x"))) != function_identity(replace(call(Load("x")), elem="f64"))


ENTRY = TrustedEntry("function", "exp f32", "its words stand for the real function", identity="a" * 64)


def about(**changes: object) -> Evidence:
    return record(template="exp f32", target="interpreter", inputs=(Inputs("random", 1, 4, 0),), largest="0.969") if not changes else replace(
        about(), **changes  # type: ignore[arg-type]
    )


def entry(*records: Evidence, **changes: object) -> TrustedEntry:
    program = Program("p", (), (Param("y", "out", "f32", ()),), Block(()), **changes)  # type: ignore[arg-type]
    return function_entry(ENTRY, Plan("p", "schedule", None, program=program), records)


def test_only_a_record_of_this_very_body_counts_and_only_as_the_host_computes() -> None:
    assert entry(about()).evidence == "2026-01-31: the largest error seen is 0.969 units in the last place, of 4 words"
    assert entry().evidence == "none"
    assert entry(about(template_digest="c" * 64)).evidence == "stale"
    assert entry(about(template="log f32")).evidence == "none"
    assert entry(about(), arithmetic=FLUSH).evidence == "none"
    off = about(inputs=(Inputs("random", 1, 4, 3),))
    assert (entry(off).evidence or "").endswith("of 4 words, 3 of them by more than is stated")


def test_policies_ask_for_evidence_of_functions_too() -> None:
    def codes(found: TrustedEntry) -> list[str]:
        from tests.trust.test_gate import TODAY, report

        return [one.code for one in Policy(needs_evidence=True).judge(report(found), TODAY)]

    assert codes(entry(about())) == []
    assert codes(entry()) == ["trust.no-evidence"]
    assert codes(entry(about(inputs=(Inputs("random", 1, 4, 1),)))) == ["trust.contradicted"]


def test_every_shipped_function_has_a_record_within_what_is_stated() -> None:
    found = {one.template: one for one in read_folders((ROOT / "evidence",)) if one.largest}
    assert set(found) == {f"{name} {elem}" for name in ("exp", "log") for elem in ("f16", "bf16", "f32", "f64")}
    assert all(one.mismatches == 0 and one.words >= 80_000 for one in found.values())


def test_the_command_measures_what_programs_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = ROOT / "stdlib" / "elementary.cachet"
    arguments = ["--target", "interpreter", "--words", "40", "--output", str(tmp_path)]
    assert main(["evidence", str(path), "exp f32", *arguments]) == 0
    assert "exp f32: " in capsys.readouterr().out
    (made,) = read_folders((tmp_path,))
    (shipped,) = (one for one in read_folders((ROOT / "evidence",)) if one.template == "exp f32")
    assert (made.template_digest, made.words) == (shipped.template_digest, 200)
    copy = tmp_path / "elementary.cachet"
    copy.write_text(path.read_text())
    assert main(["evidence", str(copy), "exp f32", *arguments]) == 2
