"""The JSON document: exactly the fields of docs/json.md, and back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from cachet_verify.report.document import from_json, render_json, render_jsonl, to_json
from cachet_verify.report.record import ItemReport, Report, Verdict
from tests.report import sample_report as sample
from tests.report.sample_report import REPORT

# The contract, typed in by hand. A set is the exact set of keys.
DOCUMENT = {"version", "tool", "files", "summary", "timing"}
FILE = {"path", "diagnostics", "items"}
ITEM = {"name", "kind", "verdict", "line", "column", "claim", "obligations", "refusal"}
CLAIM = {"parts", "arithmetic", "by", "trusted", "assumes", "requires", "fits", "strength"}
REFUSAL = {"code", "message", "line", "column", "counterexample", "replay", "hints"}


def test_document_has_exactly_the_documented_fields() -> None:
    document: dict[str, Any] = to_json(REPORT)
    assert set(document) == DOCUMENT
    assert set(document["summary"]) == {"proved", "refused", "undecided", "unused", "errors", "obligations"}
    for file in document["files"]:
        assert set(file) == FILE
        for item in file["items"]:
            assert set(item) == ITEM
            for obligation in item["obligations"]:
                assert set(obligation) == {"id", "says", "verdict", "reason", "solvers"}
                assert all(set(answer) == {"answer", "resource"} for answer in obligation["solvers"].values())


def test_claim_and_refusal_have_exactly_the_documented_fields() -> None:
    items = {item["name"]: item for item in to_json(REPORT)["files"][0]["items"]}
    claim = items["flash"]["claim"]
    assert set(claim) == CLAIM
    assert claim["parts"] == [{"relation": "bits of", "of": "flash_shadow"}, {"relation": "reals of", "of": "attend"}]
    assert set(claim["trusted"][0]) == {"kind", "name", "reason", "evidence"}
    assert claim["strength"] == {"solvers": ["z3"], "routes": ["A", "B"]}
    refusal = items["backwards"]["refusal"]
    assert set(refusal) == REFUSAL
    assert refusal["replay"] == {"confirmed": True, "cell": "c[0, 0]", "before": "0x3f800000", "after": "0x00000000"}
    assert items["larger"]["refusal"]["replay"] is None
    assert items["matmul"]["claim"] is None
    assert items["matmul"]["refusal"] is None


def test_summary_counts_by_hand() -> None:
    assert to_json(REPORT)["summary"] == {"proved": 4, "refused": 2, "undecided": 2, "unused": 1, "errors": 1, "obligations": 3}


def test_a_document_reads_back_to_the_same_report() -> None:
    assert from_json(json.loads(render_json(REPORT))) == REPORT


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"version": 2}, "a report of version 2; this tool reads version 1"),
        ({}, "a report of version None; this tool reads version 1"),
        ({"version": 1, "files": []}, "not a report: 'tool'"),
        ({"version": 1, "files": 3, "tool": {}, "timing": {}}, "not a report: 'int' object is not iterable"),
    ],
)
def test_what_is_no_report_is_refused(document: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=f"^{says}$"):
        from_json(document)


def test_jsonl_has_a_typed_object_a_line() -> None:
    rows = [json.loads(line) for line in render_jsonl(REPORT).splitlines()]
    assert [row["type"] for row in rows] == ["tool"] + ["item"] * 10 + ["diagnostic", "summary"]
    assert rows[1]["file"] == "kernels/gemm.cachet"
    assert set(rows[1]) == ITEM | {"type", "file"}
    assert rows[-1]["timing"] == {"wall_s": 1.234}


def test_two_runs_differ_only_in_timing() -> None:
    later = Report(REPORT.files, REPORT.tool, {"wall_s": 99.0})
    first, second = to_json(REPORT), to_json(later)
    assert first != second
    assert {**first, "timing": None} == {**second, "timing": None}


def test_a_verdict_is_never_tested_for_truth() -> None:
    with pytest.raises(TypeError, match=r"^a verdict has no truth value; compare it with Verdict\.PROVED$"):
        bool(Verdict.REFUSED)


@pytest.mark.parametrize("verdict", [verdict for verdict in Verdict if verdict != Verdict.PROVED])
def test_only_a_proved_item_may_have_a_claim(verdict: Verdict) -> None:
    with pytest.raises(ValueError, match=rf"^packed is {verdict} and has a claim$"):
        replace(sample.PACKED, verdict=verdict)


@pytest.mark.parametrize("item", [sample.SLOW, sample.BACKWARDS, sample.BUDGET, replace(sample.BACKWARDS, refusal=None)])
def test_nothing_open_can_be_called_proved(item: ItemReport) -> None:
    with pytest.raises(ValueError, match=rf"^{item.name} is called proved with something not proved in it$"):
        replace(item, verdict=Verdict.PROVED)


def test_a_forged_document_does_not_read_back() -> None:
    document = to_json(REPORT)
    document["files"][0]["items"][3]["verdict"] = "proved"
    with pytest.raises(ValueError, match=r"^backwards is called proved"):
        from_json(document)
