"""A report as lines of text for a person: the article's sentences first, one message a line, never wrapped.

Takes a `Report`; gives lines with a style name each, so that a terminal may colour them and a pipe need not.
Must not print, nor know the terminal's width.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from cachet_verify.report.record import DiagnosticReport, ItemReport, Refusal, Replay, Report, TrustedEntry, Verdict, told_apart

UNCONFIRMED = "a model the search cannot rule out"
"""How a solver's model is called when the interpreter did not confirm it."""


class Line(NamedTuple):
    """One line of text without its newline; `style` is "good", "bad", "open", "faint", "head" or nothing."""

    text: str
    style: str = ""


def render_text(report: Report) -> str:
    """Give the report as plain text with a newline at its end."""
    return "".join(f"{line.text}\n" for line in report_lines(report))


def report_lines(report: Report) -> Iterator[Line]:
    """Give a section for each file, then one summary line, the trusted list and the time."""
    for file in report.files:
        yield Line(file.path, "head")
        for diagnostic in file.diagnostics:
            yield from diagnostic_lines(diagnostic)
        for item in file.items:
            yield from item_lines(item, file.path)
        yield Line("")
    yield _summary_line(report)
    yield from _trusted_lines(report.trusted)
    wall = report.timing.get("wall_s")
    if isinstance(wall, int | float):
        yield Line(f"time: {wall:.2f} s", "faint")


def diagnostic_lines(diagnostic: DiagnosticReport) -> Iterator[Line]:
    """Give a message about bad input as it was rendered; the first line says where and what, the last what to type."""
    first, *rest = diagnostic.rendered.split("\n") if diagnostic.rendered else [f"error[{diagnostic.code}]: {diagnostic.message}"]
    yield Line(first, "bad")
    for line in rest:
        yield Line(line, "good" if line.startswith("  try: ") else "")


def item_lines(item: ItemReport, path: str) -> Iterator[Line]:
    """Give an item's verdict: its claim, its refusal, or what kept it from either."""
    if item.verdict == Verdict.PROVED:
        yield from _proved_lines(item)
    elif item.verdict == Verdict.UNUSED:
        yield Line(f"{item.name}: unused ({item.kind})", "faint")
    elif item.verdict == Verdict.REFUSED and item.refusal is not None:
        yield from _refusal_lines(item, item.refusal, path)
    else:
        yield from _open_lines(item, path)


def _proved_lines(item: ItemReport) -> Iterator[Line]:
    claim = item.claim
    if claim is None or not claim.parts:
        yield Line(f"{item.name}: proved ({item.kind})", "good")
    else:
        yield Line(f"{item.name}: {claim.sentence}", "good")
    if claim is None:
        return
    if claim.arithmetic is not None:
        yield Line(f"  arithmetic: {claim.arithmetic}")
    if claim.by:
        yield Line(f"  by: {', '.join(claim.by)}")
    for name, entry in told_apart(claim.trusted):
        yield Line(f"  trusted: {trusted_text(entry, pinned=name != entry.name)}", "open")
    for fact in claim.assumes:
        yield Line(f"  assumes: {fact}", "faint")
    for requirement in claim.requires:
        yield Line(f"  requires: {requirement}")
    for demand in claim.fits:
        yield Line(f"  callers fit: {demand}")
    strength = claim.strength
    if len(strength.solvers) == 1 or (item.kind == "schedule" and len(strength.routes) == 1):
        yield Line(f"  strength: solvers {' and '.join(strength.solvers) or 'none'}; routes {' and '.join(strength.routes) or 'none'}", "open")


def _refusal_lines(item: ItemReport, refusal: Refusal, path: str) -> Iterator[Line]:
    """The message, where the item stands, the counterexample and its replay; the counterexample ends a message that tells no run."""
    first, *rest = refusal.message.split("\n")
    yield Line(first, "bad")
    for line in rest:
        yield Line(line if line.startswith("  ") else f"  {line}")
    found = _counterexample_lines(refusal)
    place = Line(f"  at {_place(item, refusal, path)}: {item.kind} {item.name} refused [{refusal.code}]")
    hints = (Line(f"  {hint}") for hint in refusal.hints)
    is_whole = refusal.replay is None or (refusal.replay.confirmed and not rest)
    yield from (*found, *hints, place) if is_whole else (place, *found, *hints)
    if refusal.replay is not None:
        yield Line(f"  {_replay_text(refusal.replay)}")
    yield Line(f"  explain: cachet-verify explain {refusal.code}", "faint")


def _counterexample_lines(refusal: Refusal) -> list[Line]:
    if not refusal.counterexample:
        return []
    called = "counterexample" if refusal.replay is None or refusal.replay.confirmed else UNCONFIRMED
    return [Line(f"  {called}: {_bindings(refusal.counterexample)}")]


def _replay_text(replay: Replay) -> str:
    if not replay.before:
        return f"replay: {replay.after}"
    if replay.confirmed:
        return f"replay: {replay.cell} is {replay.before} before and {replay.after} after"
    return f"replay: no difference seen; {replay.cell} is {replay.before} before and {replay.after} after"


def _open_lines(item: ItemReport, path: str) -> Iterator[Line]:
    refusal = item.refusal
    what = "our own fault" if item.verdict == Verdict.ERROR else str(item.verdict)
    reason = item.reason or "no reason given"
    yield Line(f"{item.name}: {what} ({item.kind}): {reason}", "bad" if item.verdict == Verdict.ERROR else "open")
    if refusal is not None:
        for line in refusal.message.split("\n")[1:]:
            yield Line(f"  {line}")
        yield Line(f"  at {_place(item, refusal, path)} [{refusal.code}]")
        if refusal.counterexample:
            yield Line(f"  {UNCONFIRMED}: {_bindings(refusal.counterexample)}")
        return
    yield Line(f"  at {path}:{item.line}:{item.column}")


def _place(item: ItemReport, refusal: Refusal, path: str) -> str:
    line = item.line if refusal.line is None else refusal.line
    column = item.column if refusal.column is None else refusal.column
    return f"{path}:{line}:{column}"


def _bindings(values: Mapping[str, int | str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def trusted_text(entry: TrustedEntry, pinned: bool = False) -> str:
    """Give a trusted entry in one line: kind, name (`pinned`: with the first digits of its identity), reason, evidence."""
    reason = f": {entry.reason}" if entry.reason else ""
    evidence = f" (evidence: {entry.evidence})" if entry.evidence else ""
    return f"{entry.kind} {entry.pinned if pinned else entry.name}{reason}{evidence}"


def _summary_line(report: Report) -> Line:
    counts = report.summary
    words = [f"{counts.proved} proved", f"{counts.refused} refused", f"{counts.undecided} undecided"]
    if counts.unused:
        words.append(f"{counts.unused} unused")
    if counts.errors:
        words.append(f"{counts.errors} our own fault")
    messages = sum(len(file.diagnostics) for file in report.files)
    if messages:
        words.append(f"{messages} input {'error' if messages == 1 else 'errors'}")
    wrong = counts.refused or counts.errors or messages
    style = "bad" if wrong else "open" if counts.undecided or not report.items else "good"
    return Line(f"{', '.join(words)}; {counts.obligations} {'obligation' if counts.obligations == 1 else 'obligations'}", style)


def _trusted_lines(entries: tuple[TrustedEntry, ...]) -> Iterator[Line]:
    if not entries:
        yield Line("trusted: nothing")
        return
    yield Line("trusted:", "open")
    for name, entry in told_apart(entries):
        yield Line(f"  {trusted_text(entry, pinned=name != entry.name)}", "open")
