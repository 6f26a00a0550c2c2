"""A report as SARIF 2.1.0, for code-scanning pages.

Takes a `Report`; gives one run whose results are its findings. A proved item has no result.
Must not lose a place: every result has a file, a line and a column.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from cachet_verify.report.finding import Finding, findings
from cachet_verify.report.record import Report

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render_sarif(report: Report) -> str:
    """Give the log as indented JSON text with a newline at its end."""
    return json.dumps(to_sarif(report), indent=2, ensure_ascii=False) + "\n"


def to_sarif(report: Report) -> dict[str, Any]:
    """Give the SARIF log object."""
    found = list(findings(report))
    codes = sorted({finding.code for finding in found})
    driver = {
        "name": "cachet-verify",
        "version": report.tool.get("cachet-verify", "unknown"),
        "rules": [{"id": code, "shortDescription": {"text": code.replace(".", ": ").replace("-", " ")}} for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": report.summary.errors == 0}],
        "results": [_result(finding, codes.index(finding.code)) for finding in found],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    place: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(finding.path)},
            "region": {"startLine": finding.line, "startColumn": finding.column},
        }
    }
    if finding.item:
        place["logicalLocations"] = [{"name": finding.item}]
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": finding.level,
        "message": {"text": finding.detail},
        "locations": [place],
    }


def _uri(path: str) -> str:
    """Give a path as a URI reference: percent-encoded, `file:` before an absolute one."""
    encoded = quote(path.replace("\\", "/"))
    return f"file://{encoded}" if encoded.startswith("/") else encoded
