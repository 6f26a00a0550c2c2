"""The ledger as text and as a document: one page that sums up who relies on what, or every row with its reason, evidence and source.

Takes a ledger; gives text or a document. Must not leave out, nor shorten, what is trusted or admitted: what the page
sums up are proved laws, sources of platform facts, and who relies on each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from textwrap import shorten, wrap

TEMPLATE_REASON = "a target runs the template, and nobody proves that it computes the reference body"
_ERROR = "error"
_VERDICTS = ("proved", "refused", "undecided", "unused", _ERROR)
_COLUMNS = 120
"""How wide the page's own lists are at most; what is trusted stands on a line of its own, as long as it is."""
_DIGITS = 12
_MOST = 3


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that is relied on: `status` is "proved", "trusted" or another verdict; `source` is of a platform fact, `identity` of a template."""

    name: str
    status: str
    reason: str = ""
    evidence: str = ""
    source: str = ""
    relied: tuple[str, ...] = ()
    identity: str = ""

    @property
    def shown(self) -> str:
        """The name, with the first digits of the identity where there is one."""
        return f"{self.name}#{self.identity[:_DIGITS]}" if self.identity else self.name

    @property
    def platform(self) -> str:
        """The platform of a fact; nothing where it names none."""
        head, dot, _ = self.name.partition(" = ")[0].partition(".")
        return head if dot else ""


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


# --- one page ------------------------------------------------------------------------------------


def page(found: Ledger) -> str:
    """The ledger on a page: what is trusted one by one, the rest in groups, and how many rely on each."""
    lines = [*_laws(found.laws), *_templates(found.templates)]
    lines += [*_each("admitted", found.admitted), *_each("functions whose words stand for real ones", found.functions)]
    lines += [*_platforms(found.facts), *_solvers(found.solvers)]
    return _text([*lines, *_end(found)])


def _laws(rows: tuple[Row, ...]) -> Iterator[str]:
    yield "laws:" if rows else "laws: none"
    for row in rows:
        if row.status == "trusted":
            yield f"  trusted: {_said(row)}: {_who(row.relied)}"
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.relied and row.status != "trusted":
            groups.setdefault((row.status, row.name.rpartition(": ")[0]), []).append(row)
    for (status, owner), own in groups.items():
        what = f"{owner} ({len(own)} laws)" if len(own) > 1 else own[0].name
        yield f"  {status}: {what}: {_who(name for row in own for name in row.relied)}"
    yield from _unused(row for row in rows if not row.relied and row.status != "trusted")


def _templates(rows: tuple[Row, ...]) -> Iterator[str]:
    """The templates that were measured one by one, as are those of one name; then the rest."""
    yield f"templates ({TEMPLATE_REASON}):" if rows else "templates: none"
    measured = [row for row in rows if row.evidence != "none" and row.relied]
    for row in measured:
        yield f"  {row.shown} (evidence: {row.evidence}): {_who(row.relied)}"
    rest = [f"{row.shown} ({_who(row.relied)})" for row in rows if row.evidence == "none" and row.relied]
    yield from _listed("no evidence: ", rest)
    yield from _listed("relied on by no claim: ", [f"{row.shown} ({row.evidence})" for row in rows if not row.relied])


def _each(title: str, rows: tuple[Row, ...]) -> Iterator[str]:
    yield f"{title}:" if rows else f"{title}: none"
    for row in rows:
        yield f"  {_said(row)}: {_who(row.relied)}"


def _platforms(rows: tuple[Row, ...]) -> Iterator[str]:
    """The facts of each platform by their sources, without their values."""
    yield "platform facts (assumed, with the source each states):" if rows else "platform facts: none"
    for platform in dict.fromkeys(row.platform for row in rows):
        own = [row for row in rows if row.platform == platform]
        by_source = {source: [row for row in own if row.source == source] for source in dict.fromkeys(row.source for row in own)}
        who = _who(name for row in own for name in row.relied)
        yield f"  {platform or 'devices'}: {_counted(len(own), 'fact')}: {who}"
        for source, facts in by_source.items():
            names = dict.fromkeys(row.name.removeprefix(f"{platform}.").partition(" = ")[0] for row in facts)
            yield shorten(f"{', '.join(names)}: {source or 'no source stated'}", _COLUMNS - 4, placeholder=" …").join(("    ", ""))


def _solvers(rows: tuple[Row, ...]) -> Iterator[str]:
    """The solvers, those that the same items rest on together."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        groups.setdefault(row.relied, []).append(row.name)
    yield "solvers:" if rows else "solvers: none"
    for relied, names in groups.items():
        yield f"  {' and '.join(names)}: {_who(relied)}"


def _listed(head: str, names: Iterable[str]) -> Iterator[str]:
    """Names after a head, in lines of the page's width; nothing without names."""
    text = ", ".join(names)
    if text:
        yield from wrap(f"{head}{text}", _COLUMNS, initial_indent="  ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def _who(names: Iterable[str]) -> str:
    """Who relies on something: by name where it is one, else how many."""
    every = tuple(dict.fromkeys(names))
    if len(every) < 2:
        return every[0] if every else "no claim"
    files = dict.fromkeys(name.rpartition(" (")[2].removesuffix(")") for name in every)
    return f"{len(every)} items in {_counted(len(files), 'file')}" if len(files) > 1 else f"{len(every)} items in {next(iter(files))}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


# --- every row -----------------------------------------------------------------------------------


def rendered(found: Ledger) -> str:
    """The ledger with every row: its reason, evidence or source, and the first of those who rely on it."""
    lines = [*_section("laws", found.laws), *_section(f"templates ({TEMPLATE_REASON})", found.templates), *_section("admitted", found.admitted)]
    lines += _section("functions", found.functions) if found.functions else ()
    return _text([*lines, *_facts(found.facts), *_section("solvers", found.solvers), *_end(found)])


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _end(found: Ledger) -> Iterator[str]:
    """The versions, how many items are proved, and those of which nothing is known."""
    yield "tools: " + ", ".join(f"{name} {version}" for name, version in found.tools.items())
    counts = {verdict: [name for name, own in found.open if own == verdict] for verdict in dict.fromkeys(own for _, own in found.open)}
    rest = "".join(f", {len(names)} {verdict}" for verdict, names in counts.items())
    yield f"items: {found.proved} proved{rest}; only what is proved relies on anything"
    if _ERROR in counts:
        yield f"our own fault, so that nothing is known of what they rest on: {_names(counts[_ERROR])}"


def _section(title: str, rows: tuple[Row, ...]) -> Iterator[str]:
    if not rows:
        yield f"{title}: none"
        return
    yield f"{title}:"
    plain = [row for row in rows if not (row.relied or row.reason or row.source)]
    yield from _unused(plain)
    for row in rows:
        if row not in plain:
            yield from _lines(row)


def _unused(rows: Iterable[Row]) -> Iterator[str]:
    """Rows that nothing relies on and nothing is said of, those of one status on a line."""
    plain = tuple(rows)
    for status in dict.fromkeys(row.status for row in plain):
        yield f"  {status}, relied on by no claim: {', '.join(_grouped(row.name for row in plain if row.status == status))}"


def _facts(rows: tuple[Row, ...]) -> Iterator[str]:
    """The facts of each platform, those of one source together, each with who relies on it."""
    yield "platform facts:" if rows else "platform facts: none"
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.platform, row.source), []).append(row)
    for (platform, source), own in groups.items():
        yield f"  {platform or 'devices'}, source: {source or 'none stated'}"
        for row in own:
            more = f" and {len(row.relied) - 1} more" if len(row.relied) > 1 else ""
            yield f"    {row.name.removeprefix(f'{platform}.') if platform else row.name}: {row.relied[0]}{more}"


def _grouped(names: Iterable[str]) -> Iterator[str]:
    """Names, those of one implementation by its name and how many there are."""
    every = tuple(names)
    owners = [name.rpartition(": ")[0] for name in every]
    for owner in dict.fromkeys(owners):
        own = [name for name, of in zip(every, owners, strict=True) if of == owner]
        yield from own if not owner or len(own) == 1 else (f"{owner} ({len(own)} laws)",)


def _said(row: Row) -> str:
    """A row: what it is, then why and since when."""
    what = f"{row.shown}: {row.status}" if row.status in _VERDICTS else row.shown
    reason = f": {row.reason}" if row.reason not in ("", TEMPLATE_REASON) else ""
    return f"{what}{reason}{f' (evidence: {row.evidence})' if row.evidence else ''}"


def _lines(row: Row) -> Iterator[str]:
    """A row, then who relies on it."""
    trusted = row.status == "trusted"
    yield f"  {_said(row).replace(row.shown, f'{row.shown}: trusted', 1) if trusted else _said(row)}"
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


# --- a document ----------------------------------------------------------------------------------


def document(found: Ledger) -> dict[str, object]:
    """The ledger as a document: every name, none left out."""
    return {
        "version": 1,
        "laws": [_with(row, "status", "reason", "evidence") for row in found.laws],
        "templates": [_with(row, "identity", "reason", "evidence") for row in found.templates],
        "facts": [_with(row, "source") for row in found.facts],
        "admitted": [_with(row, "reason") for row in found.admitted],
        "functions": [_with(row, "reason", "evidence") for row in found.functions],
        "solvers": [_with(row) for row in found.solvers],
        "tool": dict(found.tools),
        "proved": found.proved,
        "open": [{"name": name, "verdict": verdict} for name, verdict in found.open],
    }


def _with(row: Row, *parts: str) -> dict[str, object]:
    """A row's name, some of its texts (null where there is none), and who relies on it."""
    return {"name": row.name, **{part: getattr(row, part) or None for part in parts}, "relied_on_by": list(row.relied)}
