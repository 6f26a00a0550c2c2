"""`trust`: the ledger of what a project's claims rest on without proof, and of the laws that are proved.

Takes a finished report; gives rows, each with its reason, its evidence and who relies on it. Must not leave out anything that a claim lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cachet_verify.core.identity import identity
from cachet_verify.elaborate.load import LoadedFile, load_file
from cachet_verify.judge.file import open_file
from cachet_verify.ledger.page import TEMPLATE_REASON, Ledger, Row
from cachet_verify.ledger.store import folders_of, known_of, read_folders, says
from cachet_verify.report.record import ClaimReport, FileReport, ItemReport, Report, Verdict
from cachet_verify.syntax import ast


@dataclass(slots=True)
class _Rows:
    """Rows on their way: who relies on each is gathered item by item."""

    found: dict[tuple[str, ...], list[str]] = field(default_factory=dict)

    def add(self, key: tuple[str, ...], *relied: str) -> None:
        """Note who relies on a row."""
        self.found.setdefault(key, []).extend(relied)

    def rows(self, make: Callable[..., Row]) -> tuple[Row, ...]:
        """The rows in the order of their keys."""
        return tuple(make(*key, relied=tuple(dict.fromkeys(relied))) for key, relied in sorted(self.found.items()))


def ledger(report: Report) -> Ledger:
    """The ledger of a report. Raises CachetError for files that changed while they were read."""
    proved = [item for item in report.items if item.verdict == Verdict.PROVED]
    admitted, facts, solvers, functions = _Rows(), _Rows(), _Rows(), _Rows()
    for file, item, claim in _claims(report):
        who = _named(file, item)
        for entry in claim.trusted:
            if entry.kind == "admitted":
                admitted.add((entry.name, entry.reason or ""), who)
            elif entry.kind == "function":
                functions.add((entry.name, entry.reason or "", entry.evidence or "none"), who)
    for file in report.files:
        _add_facts(facts, file)
        for item in file.items:
            for solver in _believed(item, report.tool):
                solvers.add((solver,), _named(file, item))
    return Ledger(
        _laws(report),
        _templates(report),
        facts.rows(lambda name, source, relied: Row(name, "assumed", source=source, relied=relied)),
        admitted.rows(lambda name, reason, relied: Row(name, "admitted", reason, relied=relied)),
        functions.rows(lambda name, reason, evidence, relied: Row(name, "trusted", reason, evidence, relied=relied)),
        solvers.rows(lambda name, relied: Row(name, "believed", relied=relied)),
        dict(report.tool),
        len(proved),
        tuple((_named(file, item), str(item.verdict)) for file in report.files for item in file.items if _is_open(item)),
    )


def _believed(item: ItemReport, tool: Mapping[str, str]) -> tuple[str, ...]:
    """The solvers that a proved item rests on, with their versions: those its claim names, or without a claim those who answered."""
    if item.claim is not None or item.verdict != Verdict.PROVED:
        return item.claim.strength.solvers if item.claim is not None else ()
    return tuple(sorted({f"{name} {tool.get(name, '')}".strip() for part in item.obligations for name in part.solvers}))


def _is_open(item: ItemReport) -> bool:
    return item.verdict not in (Verdict.PROVED, Verdict.UNUSED)


def _claims(report: Report) -> Iterator[tuple[FileReport, ItemReport, ClaimReport]]:
    for file in report.files:
        for item in file.items:
            if item.claim is not None:
                yield file, item, item.claim


def _named(file: FileReport, item: ItemReport) -> str:
    return f"{item.name} ({file.path})"


# --- laws --------------------------------------------------------------------------------------


def _laws(report: Report) -> tuple[Row, ...]:
    """The laws that files state, as they were judged, and those of other files that claims go by."""
    found = _Rows()
    for file in report.files:
        for item in file.items:
            if item.kind == "law" and (item.claim is None or not item.trusted):
                found.add((item.name, str(item.verdict), "", ""))
    for file, item, claim in _claims(report):
        trusted = [entry for entry in claim.trusted if entry.kind == "law"]
        relied = () if item.kind == "law" else (_named(file, item),)
        for entry in trusted:
            found.add((entry.name, "trusted", entry.reason or "", entry.evidence or "none"), *relied)
        for law in dict.fromkeys(claim.by):
            if law not in {entry.name for entry in trusted}:
                found.add((law, str(Verdict.PROVED), "", ""), *relied)
    return found.rows(lambda name, status, reason, evidence, relied: Row(name, status, reason, evidence, relied=relied))


# --- templates ---------------------------------------------------------------------------------


def _templates(report: Report) -> tuple[Row, ...]:
    """The templates that claims list, and those that files declare and nothing relies on."""
    found = _Rows()
    used = set()
    for file, item, claim in _claims(report):
        for entry in claim.trusted:
            if entry.kind == "template":
                used.add((entry.name, entry.identity))
                found.add((entry.name, entry.identity, entry.evidence or "none"), _named(file, item))
    for file in report.files:
        if any(item.kind == "instr fn" for item in file.items):
            for name, own, evidence in _declared(Path(file.path)):
                if (name, own) not in used:
                    found.add((name, own, evidence))
    return found.rows(lambda name, own, evidence, relied: Row(name, "trusted", TEMPLATE_REASON, evidence, relied=relied, identity=own))


def _declared(path: Path) -> Iterator[tuple[str, str, str]]:
    """The instructions with templates that a file declares, each with its identity and what is known of it."""
    records = read_folders(folders_of(path))
    for item in open_file(path).module.programs.values():
        if item.instruction is not None and item.instruction.templates:
            yield item.name, identity(item.instruction), says(known_of(item.instruction, records))


# --- facts of platforms ------------------------------------------------------------------------


def _add_facts(facts: _Rows, file: FileReport) -> None:
    """The facts that the claims of a file assume, each with the source that its platform states."""
    assumed = [(item, fact) for item in file.items if item.claim is not None for fact in item.claim.assumes]
    if not assumed:
        return
    stated = _stated(load_file(Path(file.path)))
    for item, fact in assumed:
        facts.add((fact, _source(fact, stated)), _named(file, item))


def _stated(loaded: LoadedFile) -> dict[tuple[str, str], ast.Const]:
    """The constants of every platform that a file sees, by platform and name."""
    found = {}
    for file in loaded.files():
        for impl in file.tree.declarations:
            if isinstance(impl, ast.Impl) and impl.interface == ast.Name("Platform") and isinstance(impl.target, ast.Name):
                found.update({(impl.target.name, const.name): const for const in impl.members if isinstance(const, ast.Const)})
    return found


def _source(fact: str, stated: Mapping[tuple[str, str], ast.Const]) -> str:
    """The source above the constant that a fact was read from; nothing where none is stated."""
    head = fact.partition(" = ")[0]
    platform, dot, rest = head.partition(".")
    words = [word.removeprefix("@") for word in (rest if dot else head).split()]
    for name in words:
        places = [const for (owner, own), const in stated.items() if own == name and (owner == platform or not dot)]
        if places:
            return _comment(places[0])
    return ""


def _comment(const: ast.Const) -> str:
    """What follows `Source:` in the comment above a constant, or above the group of lines that it stands in."""
    if const.span is None:
        return ""
    lines: list[str] = []
    at = const.span.line - 1
    while at >= 1 and (text := const.span.file.line_text(at).strip()) and not text.startswith("//"):
        at -= 1
    while at >= 1 and (text := const.span.file.line_text(at).strip()).startswith("//"):
        lines.insert(0, text.removeprefix("//").strip())
        at -= 1
    return " ".join(lines).partition("Source:")[2].strip()
