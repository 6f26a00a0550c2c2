"""`trust`: the ledger of what a project's claims rest on without proof, and of the laws that are proved.

Takes a finished report; gives rows, each with its reason, its evidence and who relies on it. Must not leave out anything that a claim lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cachet_verify.elaborate.load import LoadedFile, load_file
from cachet_verify.judge.file import open_file
from cachet_verify.ledger.store import folders_of, known_of, read_folders, says
from cachet_verify.report.record import ClaimReport, FileReport, ItemReport, Report, Verdict
from cachet_verify.syntax import ast

TEMPLATE_REASON = "a target runs the template, and nobody proves that it computes the reference body"


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that is relied on: `status` is "proved", "trusted" or another verdict; `sources` are of platform facts."""

    name: str
    status: str
    reason: str = ""
    evidence: str = ""
    source: str = ""
    relied: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ledger:
    """What claims rest on. `open` are the items that have no claim, each with its verdict; `proved` counts those that have one or need none."""

    laws: tuple[Row, ...]
    templates: tuple[Row, ...]
    facts: tuple[Row, ...]
    admitted: tuple[Row, ...]
    functions: tuple[Row, ...]
    solvers: tuple[Row, ...]
    tools: Mapping[str, str]
    proved: int
    open: tuple[tuple[str, str], ...]


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
                functions.add((entry.name, entry.reason or ""), who)
        for solver in claim.strength.solvers:
            solvers.add((solver,), who)
    for file in report.files:
        _add_facts(facts, file)
    return Ledger(
        _laws(report),
        _templates(report),
        facts.rows(lambda name, source, relied: Row(name, "assumed", source=source, relied=relied)),
        admitted.rows(lambda name, reason, relied: Row(name, "admitted", reason, relied=relied)),
        functions.rows(lambda name, reason, relied: Row(name, "trusted", reason, relied=relied)),
        solvers.rows(lambda name, relied: Row(name, "believed", relied=relied)),
        dict(report.tool),
        len(proved),
        tuple((_named(file, item), str(item.verdict)) for file in report.files for item in file.items if _is_open(item)),
    )


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
                used.add(entry.name)
                found.add((entry.name, entry.evidence or "none"), _named(file, item))
    for file in report.files:
        if any(item.kind == "instr fn" for item in file.items):
            for name, evidence in _declared(Path(file.path)):
                if name not in used:
                    found.add((name, evidence))
    return found.rows(lambda name, evidence, relied: Row(name, "trusted", TEMPLATE_REASON, evidence, relied=relied))


def _declared(path: Path) -> Iterator[tuple[str, str]]:
    """The instructions with templates that a file declares, each with what is known of them."""
    records = read_folders(folders_of(path))
    for item in open_file(path).module.programs.values():
        if item.instruction is not None and item.instruction.templates:
            yield item.name, says(known_of(item.instruction, records))


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


# --- as text and as a document -----------------------------------------------------------------

_MOST = 3


def rendered(found: Ledger) -> str:
    """The ledger on a page."""
    lines = [*_section("laws", found.laws), *_section(f"templates ({TEMPLATE_REASON})", found.templates), *_section("admitted", found.admitted)]
    lines += _section("functions", found.functions) if found.functions else ()
    lines += [*_facts(found.facts), *_section("solvers", found.solvers)]
    lines.append("tools: " + ", ".join(f"{name} {version}" for name, version in found.tools.items()))
    counts = {verdict: [name for name, own in found.open if own == verdict] for verdict in dict.fromkeys(own for _, own in found.open)}
    rest = "".join(f", {len(names)} {verdict}" for verdict, names in counts.items())
    lines.append(f"items: {found.proved} proved{rest}; only what is proved relies on anything")
    if Verdict.ERROR in counts:
        lines.append(f"our own fault, so that nothing is known of what they rest on: {_names(counts[Verdict.ERROR])}")
    return "".join(f"{line}\n" for line in lines)


def _section(title: str, rows: tuple[Row, ...]) -> Iterator[str]:
    if not rows:
        yield f"{title}: none"
        return
    yield f"{title}:"
    plain = [row for row in rows if not (row.relied or row.reason or row.source)]
    for status in dict.fromkeys(row.status for row in plain):
        yield f"  {status}, relied on by no claim: {', '.join(_grouped(row.name for row in plain if row.status == status))}"
    for row in rows:
        if row not in plain:
            yield from _lines(row)


def _facts(rows: tuple[Row, ...]) -> Iterator[str]:
    """The facts of each platform, those of one source together, each with who relies on it."""
    yield "platform facts:" if rows else "platform facts: none"
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        head, dot, _ = row.name.partition(".")
        groups.setdefault((head if dot else "", row.source), []).append(row)
    for (platform, source), own in groups.items():
        yield f"  {platform or 'devices'}, source: {source or 'none stated'}"
        for row in own:
            name = row.name.removeprefix(f"{platform}.") if platform else row.name
            more = f" and {len(row.relied) - 1} more" if len(row.relied) > 1 else ""
            yield f"    {name}: {row.relied[0]}{more}"


def _grouped(names: Iterable[str]) -> Iterator[str]:
    """Names, those of one implementation by its name and how many there are."""
    every = tuple(names)
    owners = [name.rpartition(": ")[0] for name in every]
    for owner in dict.fromkeys(owners):
        own = [name for name, of in zip(every, owners, strict=True) if of == owner]
        yield from own if not owner or len(own) == 1 else (f"{owner} ({len(own)} laws)",)


def _lines(row: Row) -> Iterator[str]:
    """A row: what it is, then why and since when, then who relies on it."""
    what = f"{row.name}: {row.status}" if row.status in set(Verdict) or row.status == "trusted" else row.name
    reason = f": {row.reason}" if row.reason not in ("", TEMPLATE_REASON) else ""
    yield f"  {what}{reason}{f' (evidence: {row.evidence})' if row.evidence else ''}"
    yield f"    relied on by {_names(row.relied)}"


def _names(names: Iterable[str]) -> str:
    """A few names, and how many more there are."""
    every = tuple(names)
    if not every:
        return "no claim"
    files: dict[str, list[str]] = {}
    for name, _, file in (text.rpartition(" (") for text in every[:_MOST]):
        files.setdefault(file, []).append(name)
    more = len(every) - _MOST
    return ", ".join(f"{', '.join(own)} ({file}" for file, own in files.items()) + (f" and {more} more" if more > 0 else "")


def document(found: Ledger) -> dict[str, object]:
    """The ledger as a document: every name, none left out."""
    return {
        "version": 1,
        "laws": [_with(row, "status", "reason", "evidence") for row in found.laws],
        "templates": [_with(row, "reason", "evidence") for row in found.templates],
        "facts": [_with(row, "source") for row in found.facts],
        "admitted": [_with(row, "reason") for row in found.admitted],
        "functions": [_with(row, "reason") for row in found.functions],
        "solvers": [_with(row) for row in found.solvers],
        "tool": dict(found.tools),
        "proved": found.proved,
        "open": [{"name": name, "verdict": verdict} for name, verdict in found.open],
    }


def _with(row: Row, *parts: str) -> dict[str, object]:
    """A row's name, some of its texts (null where there is none), and who relies on it."""
    return {"name": row.name, **{part: getattr(row, part) or None for part in parts}, "relied_on_by": list(row.relied)}
