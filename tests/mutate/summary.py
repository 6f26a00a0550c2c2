"""Counts of a campaign, as a table, and a page with a section replaced.

Takes records; gives text. Must not run anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.mutate.campaign import Record, wrong

_KINDS = (
    ("accepted", "accepted"),
    ("confirmed", "refused, counterexample confirmed by a run"),
    ("refused", "refused by a model, no run that was tried differs"),
    ("undecided", "undecided"),
    ("inapplicable", "refused, a step does not fit"),
    ("unreadable", "bad input"),
    ("error", "our own fault"),
    ("crashed", "crashed"),
)


def table(records: Sequence[Record]) -> str:
    """One row for each family of streams, one column for each kind, and what was found wrong."""
    groups = sorted({_group(record.stream) for record in records})
    lines = [f"| mutants of | all | {' | '.join(name for _, name in _KINDS)} |", f"|---|---|{'---|' * len(_KINDS)}"]
    for group in groups:
        lines.append(_row(group, [record for record in records if _group(record.stream) == group]))
    lines.append(_row("all", records))
    bad = sum(map(wrong, records))
    same = sum(record.kind == "accepted" for record in records)
    rejected = [record for record in records if record.kind in ("confirmed", "refused", "undecided")]
    silent = sum(record.kind in ("refused", "undecided") and record.departs is None for record in rejected)
    differ = len(rejected) - silent
    lines.append("")
    lines.append(f"Accepted mutants that depart from the meaning their claim names: {bad} of {same}.")
    lines.append(f"Mutants not accepted that a run shows to differ: {differ}; that showed no difference at any size tried: {silent}.")
    return "\n".join(lines) + "\n"


def _row(name: str, records: Sequence[Record]) -> str:
    counts = Counter(record.kind for record in records)
    return f"| {name} | {len(records)} | {' | '.join(str(counts[kind]) for kind, _ in _KINDS)} |"


_GROUPS = {
    "nest": "nests",
    "schedule": "schedules",
    "function": "functions of the corpus",
    "step": "steps",
    "random": "random programs",
    "rule": "calls of kernel rules",
}


def _group(stream: str) -> str:
    return _GROUPS[stream.split()[0]]


def reasons(records: Iterable[Record], kind: str) -> list[tuple[str, int]]:
    """What records of one kind say, most frequent first."""
    return Counter(record.why for record in records if record.kind == kind).most_common()


def write_section(page: Path, name: str, text: str) -> None:
    """Replace what stands between `<!-- name -->` and `<!-- end name -->` in a page. Raises ValueError without the marks."""
    start, end = f"<!-- {name} -->", f"<!-- end {name} -->"
    whole = page.read_text(encoding="utf-8")
    before, mark, rest = whole.partition(start)
    _, last, after = rest.partition(end)
    if not mark or not last:
        raise ValueError(f"{page} has no section {name}")
    page.write_text(f"{before}{start}\n{text}{end}{after}", encoding="utf-8")
