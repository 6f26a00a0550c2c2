"""A verdict file: the blessed verdicts that stand beside a `.cachet` file of the regression corpus.

Takes a `FileReport` and gives its stable text (no times, places or solver counts, and no hash but the identity of a template), or takes such a
text and gives its entries.
Must not read or write files; docs/regress.md describes the text.
"""

from __future__ import annotations

from dataclasses import dataclass

from cachet_verify.report.record import ITEM_KINDS, ClaimReport, FileReport, ItemReport, Refusal, Verdict
from cachet_verify.report.text import trusted_text

SUFFIX = ".verdict.txt"
_COMMENT = "//"


@dataclass(frozen=True, slots=True)
class Entry:
    """The blessed verdict of one item, or of bad input (`kind` "input", `name` the code, `verdict` "refused").

    `lines` are what follows the head, in the order `render` writes them.
    """

    kind: str
    name: str
    verdict: Verdict
    lines: tuple[str, ...] = ()

    @property
    def head(self) -> str:
        """The first line of the entry."""
        return f"{self.kind} {self.name}: {self.verdict}"

    @property
    def is_open(self) -> bool:
        """True for what may be blessed only under proofs/open: undecided, or resting on something admitted."""
        return self.verdict == Verdict.UNDECIDED or any(line.startswith("trusted admitted ") for line in self.lines)


def entries_of(file: FileReport) -> tuple[Entry, ...]:
    """Give the entries of a checked file: its messages about bad input, then its items, in source order."""
    inputs = (Entry("input", diagnostic.code, Verdict.REFUSED, (_one_line(f"says {diagnostic.message}"),)) for diagnostic in file.diagnostics)
    return (*inputs, *(_entry(item) for item in file.items))


def render(entries: tuple[Entry, ...]) -> str:
    """Give the text of a verdict file, with a newline at its end; an empty text for no entry."""
    return "\n".join("".join(f"{line}\n" for line in (entry.head, *(f"  {text}" for text in entry.lines))) for entry in entries)


def parse(text: str) -> tuple[Entry, ...]:
    """Give the entries of a text. Empty lines and lines that start with `//` mean nothing. ValueError names the line that is wrong."""
    heads: list[tuple[str, str, Verdict]] = []
    bodies: list[list[str]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith(_COMMENT):
            continue
        if not line.startswith(" "):
            heads.append(_head(line, number))
            bodies.append([])
        elif bodies:
            bodies[-1].append(line.strip())
        else:
            raise ValueError(f"line {number}: an indented line before the first item")
    return tuple(Entry(*head, tuple(body)) for head, body in zip(heads, bodies, strict=True))


def _head(line: str, number: int) -> tuple[str, str, Verdict]:
    what, _, verdict = line.rpartition(":")
    kind = next((kind for kind in ("input", *ITEM_KINDS) if what.startswith(f"{kind} ")), "")
    name = what.removeprefix(f"{kind} ").strip()
    if not kind or not name or verdict.strip() not in set(Verdict):
        raise ValueError(f"line {number}: expected `KIND NAME: VERDICT`, found `{line}`")
    return kind, name, Verdict(verdict.strip())


def _entry(item: ItemReport) -> Entry:
    lines = []
    if item.claim is not None:
        lines += _claim_lines(item.claim)
    if item.refusal is not None:
        lines += _refusal_lines(item.refusal)
    elif item.verdict == Verdict.UNDECIDED:
        lines += sorted({f"reason {part.reason or 'none'}" for part in item.obligations if part.verdict == Verdict.UNDECIDED})
    return Entry(item.kind, item.name, item.verdict, tuple(_one_line(line) for line in lines))


def _claim_lines(claim: ClaimReport) -> list[str]:
    lines = [f"{part.relation} {part.of}" for part in claim.parts]
    if claim.arithmetic is not None:
        lines.append(f"arithmetic {claim.arithmetic}")
    lines += [f"by {law}" for law in claim.by]
    lines += [f"trusted {trusted_text(entry, pinned=True)}" for entry in claim.trusted]
    lines += [f"assumes {fact}" for fact in claim.assumes]
    lines += [f"requires {requirement}" for requirement in claim.requires]
    lines += [f"callers fit {demand}" for demand in claim.fits]
    if claim.strength.solvers or claim.strength.routes:
        lines.append(f"strength solvers {_list(claim.strength.solvers)}, routes {_list(claim.strength.routes)}")
    return lines


def _refusal_lines(refusal: Refusal) -> list[str]:
    lines = [f"code {refusal.code}", f"says {refusal.sentence}"]
    if refusal.replay is not None:
        lines.append("replay confirmed" if refusal.replay.confirmed else "replay not confirmed")
    return [*lines, *(f"hint {hint}" for hint in refusal.hints)]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _list(words: tuple[str, ...]) -> str:
    return " ".join(words) or "none"
