"""What a report says that a continuous-integration page should show: one finding a fault, in one shape.

Takes a `Report`; gives `Finding` values, from which the SARIF, JUnit and GitHub formats are written.
Must not know any of those formats.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from cachet_verify.report.record import DiagnosticReport, ItemReport, Report, Verdict
from cachet_verify.report.text import diagnostic_lines, item_lines

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault: `message` is one sentence, `detail` the whole text; `line` is 1 at least, `item` the item's name or nothing."""

    level: Level
    code: str
    message: str
    detail: str
    path: str
    line: int
    column: int
    item: str = ""


def findings(report: Report) -> Iterator[Finding]:
    """Give the bad input, the refusals, what is undecided, our own faults, and what is admitted, in the order of the files."""
    for file in report.files:
        for diagnostic in file.diagnostics:
            yield of_diagnostic(diagnostic)
        for item in file.items:
            yield from of_item(item, file.path)


def of_diagnostic(diagnostic: DiagnosticReport) -> Finding:
    """Give the finding of a message about bad input; one without a place points at the start of its file."""
    detail = "\n".join(line.text for line in diagnostic_lines(diagnostic))
    return Finding("error", diagnostic.code, diagnostic.message, detail, diagnostic.path, diagnostic.line or 1, diagnostic.column or 1)


_CODE = {Verdict.REFUSED: "item.refused", Verdict.UNDECIDED: "item.undecided", Verdict.ERROR: "tool.fault"}


def of_item(item: ItemReport, path: str) -> Iterator[Finding]:
    """Give the finding of an item that is not proved, and one for each thing its claim admits."""
    if item.verdict in _CODE:
        refusal = item.refusal
        code = _CODE[item.verdict] if refusal is None else refusal.code
        line = item.line if refusal is None or refusal.line is None else refusal.line
        column = item.column if refusal is None or refusal.column is None else refusal.column
        detail = "\n".join(text.text for text in item_lines(item, path))
        level: Level = "warning" if item.verdict == Verdict.UNDECIDED else "error"
        message = item.reason or f"{item.kind} {item.name} is {item.verdict}"
        yield Finding(level, code, message, detail, path, line, column, item.name)
    for entry in item.trusted:
        if entry.kind == "admitted":
            message = f"{item.name} rests on something admitted: {entry.reason or entry.name}"
            yield Finding("warning", "trust.admitted", message, message, path, item.line, item.column, item.name)
