"""Exit codes, named in one place and computed from verdicts alone.

Takes a finished report and what the trust policy and the regression said; gives the code of the worst finding.
Must not look at messages, times or settings.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from cachet_verify.report.record import Report, Verdict


class ExitCode(IntEnum):
    """The exit codes of every command."""

    PROVED = 0
    REFUSED = 1
    BAD_INPUT = 2
    UNDECIDED = 3
    OWN_FAULT = 4
    TRUST = 5
    NOTHING = 8
    INTERRUPTED = 130


WORST_FIRST = (ExitCode.OWN_FAULT, ExitCode.BAD_INPUT, ExitCode.REFUSED, ExitCode.UNDECIDED, ExitCode.TRUST, ExitCode.NOTHING)
"""Which finding wins when there are several. An interruption is not a finding: nothing was concluded."""


def worst(codes: Iterable[ExitCode]) -> ExitCode:
    """Give the worst of the codes, PROVED when there is none. ValueError for INTERRUPTED, which ends a run and is never weighed."""
    found = set(codes)
    if ExitCode.INTERRUPTED in found:
        raise ValueError("an interrupted run has no findings to weigh")
    return next((code for code in WORST_FIRST if code in found), ExitCode.PROVED)


_OF_VERDICT = {
    Verdict.PROVED: ExitCode.PROVED,
    Verdict.UNUSED: ExitCode.PROVED,
    Verdict.REFUSED: ExitCode.REFUSED,
    Verdict.UNDECIDED: ExitCode.UNDECIDED,
    Verdict.ERROR: ExitCode.OWN_FAULT,
}


def of_verdict(verdict: Verdict) -> ExitCode:
    """Give the exit code that one item's verdict stands for."""
    return _OF_VERDICT[verdict]


def _is_empty(report: Report) -> bool:
    """True when no item was checked; an unused step was not."""
    return all(item.verdict == Verdict.UNUSED for item in report.items)


def of_check(report: Report, *, trust_violated: bool, is_misnamed: bool = False) -> ExitCode:
    """Give the exit code of `check`; `is_misnamed` says that an item was asked for that is not there."""
    codes = {of_verdict(item.verdict) for item in report.items}
    if is_misnamed or any(file.diagnostics for file in report.files):
        codes.add(ExitCode.BAD_INPUT)
    if trust_violated:
        codes.add(ExitCode.TRUST)
    if _is_empty(report):
        codes.add(ExitCode.NOTHING)
    return worst(codes)


def of_fit(verdicts: Iterable[str]) -> ExitCode:
    """Give the exit code of `fit` from the verdicts of its table: what depends on sizes is no finding."""
    found = set(verdicts)
    codes = {ExitCode.REFUSED for verdict in found if verdict == "over"}
    codes |= {ExitCode.UNDECIDED for verdict in found if verdict == "unknown"}
    return worst(codes) if found else ExitCode.NOTHING


def of_regression(report: Report, *, differs: bool, trust_violated: bool) -> ExitCode:
    """Give the exit code of `check --regress`: verdicts that stand as blessed are no finding, an item that is our own fault always is."""
    codes = set()
    if any(item.verdict == Verdict.ERROR for item in report.items):
        codes.add(ExitCode.OWN_FAULT)
    if differs:
        codes.add(ExitCode.REFUSED)
    if trust_violated:
        codes.add(ExitCode.TRUST)
    if _is_empty(report) and not any(file.diagnostics for file in report.files):
        codes.add(ExitCode.NOTHING)
    return worst(codes)
