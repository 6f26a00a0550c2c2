"""Diagnostics and refusals on their way into a report.

Takes what the stages raise; gives the report's records, and the error by which `scheduled` and `run` say that a schedule is refused.
Must not reword anything.
"""

from __future__ import annotations

from cachet_verify.diagnostic import Diagnostic, render
from cachet_verify.report.record import DiagnosticReport, ItemReport


def diagnostic_report(diagnostic: Diagnostic, path: str) -> DiagnosticReport:
    """Give the record of a diagnostic found while checking the file at `path`, where it points when it has no place of its own."""
    span = diagnostic.span
    return DiagnosticReport(
        code=diagnostic.code,
        message=diagnostic.message,
        path=path if span is None else span.path,
        line=None if span is None else span.line,
        column=None if span is None else span.column,
        hint=diagnostic.hint,
        notes=tuple(note.message for note in diagnostic.notes),
        rendered=render(diagnostic),
    )


class ItemRefusedError(Exception):
    """A command cannot give a claim because an item is not proved; carries the item's verdict and the path of its file.

    `listing` is what can be shown all the same.
    """

    def __init__(self, item: ItemReport, path: str, listing: str = "") -> None:
        self.listing = listing
        self.item = item
        self.path = path
        super().__init__(f"{path}:{item.line}:{item.column}: {item.name} is {item.verdict}")
