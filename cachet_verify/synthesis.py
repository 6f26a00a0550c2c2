"""`synth`: the constants that a file has searched, their candidates ranked, and what was proved of the choice.

Takes a path; gives tables as text and as a document, and the report of the check. Candidates behind the
first are the search's own; what is proved is that nothing comes before the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from cachet_verify.elaborate.item import SynthItem
from cachet_verify.judge.file import open_file
from cachet_verify.optimum.problem import Candidate, Found
from cachet_verify.optimum.search import search
from cachet_verify.report.option import CheckOptions
from cachet_verify.report.record import ItemReport, Report, Verdict
from cachet_verify.report.text import item_lines

Check = Callable[[Sequence[Path], CheckOptions], Report]
Document = dict[str, object]


@dataclass(frozen=True, slots=True)
class Searched:
    """One `synth const`: the reports of its names, and its candidates in order."""

    names: tuple[str, ...]
    variables: tuple[str, ...]
    reports: tuple[ItemReport, ...]
    candidates: tuple[Candidate, ...]

    @property
    def is_proved(self) -> bool:
        """Whether the first candidate was proved to be the least."""
        return all(item.verdict == Verdict.PROVED for item in self.reports)


@dataclass(frozen=True, slots=True)
class Synthesis:
    """The searches of a file, and the report of the check that proves them."""

    path: str
    searches: tuple[Searched, ...]
    report: Report


def synthesis(path: Path, most: int, check: Check) -> Synthesis:
    """The searches of a file with up to `most` candidates each; `check` checks their items. Raises CachetError."""
    module = open_file(path).module
    if not module.own_searches:
        return Synthesis(str(path), (), Report(()))
    report = check([path], CheckOptions(only=module.own_searches))
    items = {item.name: item for item in report.items}
    searches = dict.fromkeys(module.searches[name] for name in module.own_searches if name in module.searches)
    return Synthesis(str(path), tuple(_searched(item, items, most) for item in searches), report)


def _searched(item: SynthItem, items: dict[str, ItemReport], most: int) -> Searched:
    outcome = search(item.problem, most)
    candidates = outcome.best if isinstance(outcome, Found) and isinstance(item.outcome, Found) else ()
    return Searched(item.names, item.problem.names, tuple(items[name] for name in item.names if name in items), candidates)


# --- as text -----------------------------------------------------------------------------------


def rendered(found: Synthesis) -> str:
    """The searches as text, with a newline at its end."""
    lines = [line for searched in found.searches for line in _lines(searched, found.path)]
    return "".join(f"{line}\n" for line in lines or (f"{found.path} has no `synth const`",))


def _lines(searched: Searched, path: str) -> Iterator[str]:
    for item in searched.reports:
        yield from (line.text for line in item_lines(item, path))
    if not searched.candidates:
        return
    rows = [("rank", "cost", *searched.variables)]
    rows += [(str(rank), _cost(item.cost), *map(str, item.values)) for rank, item in enumerate(searched.candidates, 1)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  " + "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True))
    if searched.is_proved:
        claim = searched.reports[0].claim if searched.reports else None
        solvers = " and ".join(claim.strength.solvers) if claim is not None else ""
        yield f"  nothing smaller satisfies: proved by {solvers}"


def _cost(cost: Fraction) -> str:
    return str(cost) if cost.denominator == 1 else f"{cost} = {float(cost):.4g}"


# --- as a document -----------------------------------------------------------------------------


def document(found: Synthesis) -> Document:
    """The searches as a document: costs are texts of fractions."""
    return {"version": 1, "path": found.path, "searches": [_document(searched) for searched in found.searches]}


def _document(searched: Searched) -> Document:
    best = searched.candidates[0] if searched.candidates else None
    return {
        "names": list(searched.names),
        "verdict": str(searched.reports[0].verdict) if searched.reports else str(Verdict.UNDECIDED),
        "claims": [None if item.claim is None else item.claim.sentence for item in searched.reports],
        "reason": searched.reports[0].reason if searched.reports else "",
        "least_cost": None if best is None else str(best.cost),
        "candidates": [{"cost": str(item.cost), "values": dict(zip(searched.variables, item.values, strict=True))} for item in searched.candidates],
    }
