"""A report as workflow commands, which a GitHub run shows as annotations beside the lines of a change.

Takes a `Report`; gives one command a line.
Must not let a message break out of its command: line ends, percent signs, commas and colons are escaped.
"""

from __future__ import annotations

from cachet_verify.report.finding import Finding, findings
from cachet_verify.report.record import Report


def render_github(report: Report) -> str:
    """Give an `::error` or `::warning` a finding, then one `::notice` with the counts."""
    counts = report.summary
    lines = [_command(finding) for finding in findings(report)]
    lines.append(f"::notice title=cachet-verify::{counts.proved} proved, {counts.refused} refused, {counts.undecided} undecided")
    return "".join(f"{line}\n" for line in lines)


def _command(finding: Finding) -> str:
    place = f"file={_property(finding.path)},line={finding.line},col={finding.column}"
    return f"::{finding.level} {place},title={_property(finding.code)}::{_data(finding.detail)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
