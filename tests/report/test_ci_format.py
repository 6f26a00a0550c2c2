"""SARIF, JUnit and GitHub annotations: well formed, and every fault in them with its place."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree

import pytest

from cachet_verify.report.github import render_github
from cachet_verify.report.junit import render_junit
from cachet_verify.report.record import DiagnosticReport, FileReport, ItemReport, Refusal, Report, Verdict
from cachet_verify.report.sarif import render_sarif, to_sarif
from tests.report.sample_report import REPORT, report_of

NASTY = report_of(
    ItemReport("a<b>&\x00\"'\ud800", "schedule", Verdict.REFUSED, 1, 1, refusal=Refusal("a.b", "100% sure, said: ]]>\r\n::error::injected")),
    path="dir with space/ü,:%.cachet",
)

# What SARIF 2.1.0 asks of the parts that are written, from the standard's own property tables: required keys, and the type of each key.
RESULT_LEVELS = {"none", "note", "warning", "error"}
SHAPE: dict[str, tuple[set[str], dict[str, type]]] = {
    "log": ({"version", "runs"}, {"$schema": str, "version": str, "runs": list}),
    "run": ({"tool"}, {"tool": dict, "columnKind": str, "invocations": list, "results": list}),
    "driver": ({"name"}, {"name": str, "version": str, "rules": list}),
    "rule": ({"id"}, {"id": str, "shortDescription": dict}),
    "result": ({"message"}, {"ruleId": str, "ruleIndex": int, "level": str, "message": dict, "locations": list}),
    "location": (set(), {"physicalLocation": dict, "logicalLocations": list}),
    "physical": ({"artifactLocation"}, {"artifactLocation": dict, "region": dict}),
    "region": (set(), {"startLine": int, "startColumn": int}),
}


def fits(value: dict[str, Any], kind: str) -> None:
    required, types = SHAPE[kind]
    assert required <= set(value) <= set(types), kind
    for key, found in value.items():
        assert isinstance(found, types[key]), f"{kind}.{key}"


def check_sarif(log: dict[str, Any]) -> list[dict[str, Any]]:
    """Check a log against SHAPE and the rules between its parts; give its results."""
    fits(log, "log")
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    fits(run, "run")
    assert run["columnKind"] in {"utf16CodeUnits", "unicodeCodePoints"}
    assert all(isinstance(call["executionSuccessful"], bool) for call in run["invocations"])
    driver = run["tool"]["driver"]
    fits(driver, "driver")
    for rule in driver["rules"]:
        fits(rule, "rule")
    assert len({rule["id"] for rule in driver["rules"]}) == len(driver["rules"])
    for result in run["results"]:
        check_result(result, driver["rules"])
    return list(run["results"])


def check_result(result: dict[str, Any], rules: list[dict[str, Any]]) -> None:
    fits(result, "result")
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert result["level"] in RESULT_LEVELS
    assert result["message"]["text"]
    for location in result["locations"]:
        fits(location, "location")
        fits(location["physicalLocation"], "physical")
        region = location["physicalLocation"]["region"]
        fits(region, "region")
        assert min(region.values()) >= 1
        assert re.fullmatch(r"[A-Za-z0-9\-._~/%:]+", location["physicalLocation"]["artifactLocation"]["uri"])


@pytest.mark.parametrize("report", [REPORT, NASTY, Report(())])
def test_sarif_has_the_standard_s_shape(report: Report) -> None:
    check_sarif(to_sarif(report))


def test_sarif_holds_each_fault_with_its_level_and_place() -> None:
    results = check_sarif(json.loads(render_sarif(REPORT)))
    found = {(row["ruleId"], row["level"], *row["locations"][0]["physicalLocation"]["region"].values()) for row in results}
    assert found == {
        ("schedule.words-differ", "error", 22, 3),
        ("account.over-budget", "error", 40, 1),
        ("flow.no-source", "warning", 51, 3),
        ("item.undecided", "warning", 60, 1),
        ("trust.admitted", "warning", 70, 1),
        ("tool.fault", "error", 90, 1),
        ("syntax.expected", "error", 2, 5),
    }


def test_sarif_paths_are_uris() -> None:
    (result,) = to_sarif(NASTY)["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "dir%20with%20space/%C3%BC%2C%3A%25.cachet"
    absolute = report_of(ItemReport("x", "fn", Verdict.ERROR, 1, 1), path="/somewhere/x.cachet")
    assert to_sarif(absolute)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "file:///somewhere/x.cachet"


def test_junit_counts_by_hand() -> None:
    root = ElementTree.fromstring(render_junit(REPORT))
    # of 10 items and 1 diagnostic: refused 2, undecided 2 and admitted 1 fail; broken and the diagnostic are errors; spare is skipped
    assert {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "11",
        "failures": "5",
        "errors": "2",
        "skipped": "1",
    }
    assert len(root.findall(".//failure")) == 5
    assert len(root.findall(".//error")) == 2
    case = next(case for case in root.iter("testcase") if case.get("name") == "schedule backwards")
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("type") == "schedule.words-differ"
    assert "c[0, 0] is 0x3f800000 before" in (failure.text or "")


def test_junit_is_well_formed_whatever_the_text() -> None:
    root = ElementTree.fromstring(render_junit(NASTY))
    failure = root.find(".//failure")
    assert failure is not None
    assert failure.get("message", "").startswith("100% sure, said: ]]>")


def test_github_has_a_line_a_fault_and_one_notice() -> None:
    lines = render_github(REPORT).splitlines()
    assert len(lines) == 8
    assert lines[-1] == "::notice title=cachet-verify::4 proved, 2 refused, 2 undecided"
    assert lines[1].startswith(
        "::error file=kernels/gemm.cachet,line=40,col=1,title=account.over-budget::could not prove declared traffic row at DRAM:%0A"
    )
    assert any(line.startswith("::error file=kernels/bad%2C file.cachet,line=2,col=5,title=syntax.expected::") for line in lines)


def test_github_messages_cannot_break_out_of_their_command() -> None:
    lines = render_github(NASTY).splitlines()
    assert len(lines) == 2
    place = "::error file=dir with space/ü%2C%3A%25.cachet,line=1,col=1,title=a.b"
    assert lines[0].startswith(f"{place}::100%25 sure, said: ]]>%0D%0A  ::error::injected")


def test_a_clean_report_has_no_fault_in_any_format() -> None:
    clean = report_of(ItemReport("f", "fn", Verdict.PROVED, 1, 1))
    assert to_sarif(clean)["runs"][0]["results"] == []
    assert ElementTree.fromstring(render_junit(clean)).findall(".//testcase/*") == []
    assert len(render_github(clean).splitlines()) == 1


def test_a_diagnostic_without_a_place_points_at_the_start() -> None:
    report = Report((FileReport("gone.cachet", (DiagnosticReport("input.missing", "no such file", "gone.cachet"),)),))
    (result,) = check_sarif(to_sarif(report))
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 1, "startColumn": 1}
