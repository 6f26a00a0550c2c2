"""A report as the JSON document of docs/json.md, and back; also as one JSON object a line.

Takes and gives a `Report`; every record is written and read here, field by field, so that the format changes in one place.
Must not add a field that the documentation does not name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from cachet_verify.report.record import (
    VERSION,
    ClaimPart,
    ClaimReport,
    DiagnosticReport,
    FileReport,
    ItemReport,
    ObligationReport,
    Refusal,
    Replay,
    Report,
    SolverAnswer,
    Strength,
    TrustedEntry,
    Verdict,
    told_apart,
)

Document = dict[str, Any]


def to_json(report: Report) -> Document:
    """Give the document of a report, ready for `json.dumps`."""
    return {
        "version": VERSION,
        "tool": dict(report.tool),
        "files": [_file(file) for file in report.files],
        "summary": _summary(report),
        "timing": dict(report.timing),
    }


def from_json(document: Document) -> Report:
    """Give the report a document was written from. ValueError when it is of another version or lacks a field."""
    version = document.get("version")
    if version != VERSION:
        raise ValueError(f"a report of version {version!r}; this tool reads version {VERSION}")
    try:
        return Report(
            files=tuple(_read_file(file) for file in document["files"]),
            tool=document["tool"],
            timing=document["timing"],
        )
    except (KeyError, TypeError) as fault:
        raise ValueError(f"not a report: {fault}") from fault


def render_json(report: Report) -> str:
    """Give the document as indented text with a newline at its end."""
    return json.dumps(to_json(report), indent=2, ensure_ascii=False) + "\n"


def render_jsonl(report: Report) -> str:
    """Give one object a line: "tool", each "diagnostic" and "item" with its file's path, then "summary" with the timing."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in _rows(report))


def _rows(report: Report) -> Iterator[Document]:
    yield {"type": "tool", "version": VERSION, "tool": dict(report.tool)}
    for file in report.files:
        for diagnostic in file.diagnostics:
            yield {"type": "diagnostic", "file": file.path, **_diagnostic(diagnostic)}
        for item in file.items:
            yield {"type": "item", "file": file.path, **_item(item)}
    yield {"type": "summary", "summary": _summary(report), "timing": dict(report.timing)}


def _summary(report: Report) -> Document:
    counts = report.summary
    return {
        "proved": counts.proved,
        "refused": counts.refused,
        "undecided": counts.undecided,
        "unused": counts.unused,
        "errors": counts.errors,
        "obligations": counts.obligations,
    }


def _file(file: FileReport) -> Document:
    return {
        "path": file.path,
        "diagnostics": [_diagnostic(diagnostic) for diagnostic in file.diagnostics],
        "items": [_item(item) for item in file.items],
    }


def _read_file(row: Document) -> FileReport:
    return FileReport(
        path=row["path"],
        diagnostics=tuple(_read_diagnostic(diagnostic) for diagnostic in row["diagnostics"]),
        items=tuple(_read_item(item) for item in row["items"]),
    )


def _diagnostic(diagnostic: DiagnosticReport) -> Document:
    return {
        "code": diagnostic.code,
        "message": diagnostic.message,
        "path": diagnostic.path,
        "line": diagnostic.line,
        "column": diagnostic.column,
        "hint": diagnostic.hint,
        "notes": list(diagnostic.notes),
        "rendered": diagnostic.rendered,
    }


def _read_diagnostic(row: Document) -> DiagnosticReport:
    return DiagnosticReport(**{**row, "notes": tuple(row["notes"])})


def _item(item: ItemReport) -> Document:
    return {
        "name": item.name,
        "kind": item.kind,
        "verdict": str(item.verdict),
        "line": item.line,
        "column": item.column,
        "claim": None if item.claim is None else _claim(item.claim),
        "obligations": [_obligation(obligation) for obligation in item.obligations],
        "refusal": None if item.refusal is None else _refusal(item.refusal),
    }


def _read_item(row: Document) -> ItemReport:
    return ItemReport(
        name=row["name"],
        kind=row["kind"],
        verdict=Verdict(row["verdict"]),
        line=row["line"],
        column=row["column"],
        claim=None if row["claim"] is None else _read_claim(row["claim"]),
        obligations=tuple(_read_obligation(obligation) for obligation in row["obligations"]),
        refusal=None if row["refusal"] is None else _read_refusal(row["refusal"]),
    )


def _claim(claim: ClaimReport) -> Document:
    return {
        "parts": [{"relation": part.relation, "of": part.of} for part in claim.parts],
        "arithmetic": claim.arithmetic,
        "by": list(claim.by),
        "trusted": [
            {"kind": entry.kind, "name": name, "reason": entry.reason, "evidence": entry.evidence} for name, entry in told_apart(claim.trusted)
        ],
        "assumes": list(claim.assumes),
        "requires": list(claim.requires),
        "fits": list(claim.fits),
        "strength": {"solvers": list(claim.strength.solvers), "routes": list(claim.strength.routes)},
    }


def _read_claim(row: Document) -> ClaimReport:
    return ClaimReport(
        parts=tuple(ClaimPart(**part) for part in row["parts"]),
        arithmetic=row["arithmetic"],
        by=tuple(row["by"]),
        trusted=tuple(TrustedEntry(**entry) for entry in row["trusted"]),
        assumes=tuple(row["assumes"]),
        requires=tuple(row["requires"]),
        fits=tuple(row.get("fits", ())),
        strength=Strength(tuple(row["strength"]["solvers"]), tuple(row["strength"]["routes"])),
    )


def _obligation(obligation: ObligationReport) -> Document:
    return {
        "id": obligation.id,
        "says": obligation.says,
        "verdict": str(obligation.verdict),
        "reason": obligation.reason,
        "solvers": {name: {"answer": answer.answer, "resource": answer.resource} for name, answer in obligation.solvers.items()},
    }


def _read_obligation(row: Document) -> ObligationReport:
    return ObligationReport(
        id=row["id"],
        says=row["says"],
        verdict=Verdict(row["verdict"]),
        reason=row["reason"],
        solvers={name: SolverAnswer(**answer) for name, answer in row["solvers"].items()},
    )


def _refusal(refusal: Refusal) -> Document:
    replay = refusal.replay
    return {
        "code": refusal.code,
        "message": refusal.message,
        "line": refusal.line,
        "column": refusal.column,
        "counterexample": dict(refusal.counterexample),
        "replay": None
        if replay is None
        else {"confirmed": replay.confirmed, "cell": replay.cell, "before": replay.before, "after": replay.after},
        "hints": list(refusal.hints),
    }


def _read_refusal(row: Document) -> Refusal:
    replay = None if row["replay"] is None else Replay(**row["replay"])
    return Refusal(**{**row, "replay": replay, "hints": tuple(row.get("hints", ()))})
