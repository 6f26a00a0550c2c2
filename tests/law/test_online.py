"""Running summaries of weighted means: their laws are proved, and mistakes in them refused with values."""

from __future__ import annotations

from pathlib import Path

import pytest

import cachet_verify
from cachet_verify.resource_path import shipped_root

SHIPPED = shipped_root() / "stdlib" / "attention.cachet"

# (text replaced, by, law that then fails): worked out by hand
MISTAKES = (
    ("l = a.l * x + b.l * y", "l = a.l + b.l * y", "associative"),  # the old total is not rescaled
    ("l = a.l * x + b.l * y", "l = a.l * x + b.l", "associative"),
    ("l = a.l * x + b.l * y", "l = a.l * y + b.l * x", "identity"),  # factors swapped
    ("l = a.l * x + b.l * y", "l = a.l * x - b.l * y", "commutative"),
    ("o = a.o * x + b.o * y }", "o = a.o * x + b.l * y }", "commutative"),
    ("let m = max a.m b.m", "let m = min a.m b.m", "identity"),  # of the score of no keys
    ("exp (from - to)", "exp (from + to)", "associative"),
    ("m = -Num.infinity (), l = -0.0", "m = 0.0, l = -0.0", "identity"),
    ("m = -Num.infinity (), l = -0.0", "m = -Num.infinity (), l = 1.0", "identity"),  # no keys, and a weight
)


def verdicts(path: Path) -> dict[str, str]:
    report = cachet_verify.check([path])
    return {item.name: item.verdict.value for file in report.files for item in file.items if item.kind == "law"}


@pytest.mark.parametrize(("old", "new", "law"), MISTAKES)
def test_a_mistake_is_refused_with_values(old: str, new: str, law: str, tmp_path: Path) -> None:
    text = SHIPPED.read_text().partition("// Adding a key")[0]
    assert text.count(old) == 1
    path = tmp_path / "wrong.cachet"
    path.write_text(text.replace(old, new))
    report = cachet_verify.check([path])
    (item,) = (item for file in report.files for item in file.items if item.name == f"Online: {law} over reals")
    assert item.verdict.value == "refused"
    assert item.refusal is not None
    assert item.refusal.counterexample


def test_a_reason_stands_in_for_a_proof_and_not_against_a_counterexample(tmp_path: Path) -> None:
    path = tmp_path / "reasons.cachet"
    path.write_text(
        'law unsaid over reals = "nobody states it"\n'
        'law turned (a: f32) (b: f32) over words : a + b == b + a = "a sum is rounded once, and is one NaN"\n'
        'law rounded (a: f32) (b: f32) (c: f32) over words : (a + b) + c == a + (b + c) = "close enough"\n'
        'law wrong (a: f32) over reals : a + a == a = "because"\n'
    )
    assert verdicts(path) == {
        "unsaid over reals": "proved",
        "turned over words": "proved",
        "rounded over words": "refused",
        "wrong over reals": "refused",
    }


def test_what_is_trusted_is_listed_with_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "unsaid.cachet"
    path.write_text('law unsaid over reals = "nobody states it"\n')
    (item,) = cachet_verify.check([path]).files[0].items
    assert item.claim is not None
    assert [(entry.kind, entry.name, entry.reason) for entry in item.claim.trusted] == [("law", "unsaid over reals", "nobody states it")]


def test_a_law_without_equation_and_reason_is_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "unknown.cachet"
    path.write_text("law unsaid over reals\n")
    report = cachet_verify.check([path])
    assert [diagnostic.code for diagnostic in report.files[0].diagnostics] == ["elaborate.law.unknown"]
