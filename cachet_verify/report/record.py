"""The records of a verdict report, field for field the JSON document of docs/json.md.

Plain, frozen data: the session builds it, renderers and exit codes read it.
Must not compute a verdict; lines and columns count from 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

VERSION = 1
"""Version of the document; raised when a field changes meaning or goes."""

ITEM_KINDS = ("contraction", "schedule fn", "schedule", "step fn", "instr fn", "fn", "grid", "call", "proof", "law", "layout", "synth const")
"""What an item can be."""

JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]


class Verdict(StrEnum):
    """What the checker says of one item or obligation. `bool(verdict)` raises: a verdict is compared, never tested for truth."""

    PROVED = "proved"
    REFUSED = "refused"
    UNDECIDED = "undecided"
    UNUSED = "unused"
    ERROR = "error"

    def __bool__(self) -> bool:
        raise TypeError("a verdict has no truth value; compare it with Verdict.PROVED")


@dataclass(frozen=True, slots=True)
class DiagnosticReport:
    """One message about bad input. `line` and `column` are None when it has no place.

    `path` is the file it points into, which may be one that the checked file imports. `rendered` is the whole message as a person reads it:
    the line `path:line:column: error[code]: message`, the source with a caret, notes, and what to type.
    """

    code: str
    message: str
    path: str
    line: int | None = None
    column: int | None = None
    hint: str = ""
    notes: tuple[str, ...] = ()
    rendered: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """What stands behind the evidence for one target of a template: on which day, and how many words of how many differed."""

    target: str
    day: str
    words: int
    mismatches: int


_SHOWN = 12
"""How many digits of an identity are shown."""


@dataclass(frozen=True, slots=True)
class TrustedEntry:
    """Something a claim takes on trust: `kind` is "law", "template" or "admitted"; `reason` and `evidence` are texts or None.

    `unmeasured` are the targets of a template that no current record is about; with `measured` it serves the policy and is in no document.
    `identity` is the digest of a template's text, reference body and types: two templates of one name with two identities are two entries.
    """

    kind: str
    name: str
    reason: str | None = None
    evidence: str | None = None
    measured: tuple[Measured, ...] = field(default=(), compare=False)
    unmeasured: tuple[str, ...] = field(default=(), compare=False)
    identity: str = ""

    @property
    def pinned(self) -> str:
        """The name, with the first digits of the identity where there is one: what a policy allows that means this very template."""
        return f"{self.name}#{self.identity[:_SHOWN]}" if self.identity else self.name


def told_apart(entries: tuple[TrustedEntry, ...]) -> Iterator[tuple[str, TrustedEntry]]:
    """Each entry under its name; where templates of one name are several, with the digits that tell them apart."""
    several = Counter((kind, name) for kind, name, _ in {(entry.kind, entry.name, entry.identity) for entry in entries})
    for entry in entries:
        yield (entry.pinned if several[entry.kind, entry.name] > 1 else entry.name), entry


@dataclass(frozen=True, slots=True)
class ClaimPart:
    """One relation of a claim: `relation` is "bits of" or "reals of", `of` the program it names.

    Of a searched constant, `relation` is "minimal" and `of` its value.
    """

    relation: str
    of: str

    @property
    def says(self) -> str:
        """The relation as a phrase."""
        return f"{self.of}, minimal" if self.relation == "minimal" else f"{self.relation} {self.of}"


@dataclass(frozen=True, slots=True)
class Strength:
    """By which solvers and routes a claim was reached."""

    solvers: tuple[str, ...] = ()
    routes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimReport:
    """What was proved of an item, and what it rests on; `fits` is what its callers have to find room for."""

    parts: tuple[ClaimPart, ...]
    arithmetic: str | None = None
    by: tuple[str, ...] = ()
    trusted: tuple[TrustedEntry, ...] = ()
    assumes: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    strength: Strength = Strength()
    fits: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The relations in one phrase, such as "bits of matmul"."""
        return "; ".join(part.says for part in self.parts)


@dataclass(frozen=True, slots=True)
class SolverAnswer:
    """One solver's answer ("unsat", "sat", "unknown: why"), and the resource count it took (None when it was not measured)."""

    answer: str
    resource: int | None = None


@dataclass(frozen=True, slots=True)
class ObligationReport:
    """One obligation: a stable `id`, what it `says`, its verdict, and the reason when it is not proved."""

    id: str
    says: str
    verdict: Verdict
    reason: str | None = None
    solvers: Mapping[str, SolverAnswer] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Replay:
    """What the interpreter saw at `cell`: the word before the rewrite and the word after it, as hex texts."""

    confirmed: bool
    cell: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an item is not proved. The first line of `message` is the sentence; further lines explain it.

    `counterexample` maps the user's own names to numbers or words. `replay` is None where there is nothing to replay (a budget, an alias).
    `hints` say what would pass instead, each proved; they are about cost, never about values.
    """

    code: str
    message: str
    line: int | None = None
    column: int | None = None
    counterexample: Mapping[str, int | str] = field(default_factory=dict)
    replay: Replay | None = None
    hints: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The first line of the message."""
        return self.message.split("\n", 1)[0]


@dataclass(frozen=True, slots=True)
class ItemReport:
    """The verdict of one item; `kind` is one of ITEM_KINDS.

    ValueError when the parts contradict the verdict: a proved item has no refusal and no obligation that is not proved, any other has no claim.
    """

    name: str
    kind: str
    verdict: Verdict
    line: int
    column: int
    claim: ClaimReport | None = None
    obligations: tuple[ObligationReport, ...] = ()
    refusal: Refusal | None = None

    def __post_init__(self) -> None:
        if self.verdict != Verdict.PROVED:
            if self.claim is not None:
                raise ValueError(f"{self.name} is {self.verdict} and has a claim")
        elif self.refusal is not None or any(obligation.verdict != Verdict.PROVED for obligation in self.obligations):
            raise ValueError(f"{self.name} is called proved with something not proved in it")

    @property
    def reason(self) -> str:
        """Why the item is not proved, in one line: the refusal's sentence, else the first open obligation's reason, else nothing."""
        if self.refusal is not None:
            return self.refusal.sentence
        for obligation in self.obligations:
            if obligation.verdict != Verdict.PROVED:
                return f"{obligation.reason or obligation.verdict}: {obligation.says}"
        return ""

    @property
    def trusted(self) -> tuple[TrustedEntry, ...]:
        """What the item's claim takes on trust; nothing when there is no claim."""
        return self.claim.trusted if self.claim is not None else ()


@dataclass(frozen=True, slots=True)
class FileReport:
    """One checked file: its path as given, the messages about bad input, and its items in source order."""

    path: str
    diagnostics: tuple[DiagnosticReport, ...] = ()
    items: tuple[ItemReport, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts over a report. `errors` counts items whose verdict is our own fault."""

    proved: int = 0
    refused: int = 0
    undecided: int = 0
    unused: int = 0
    errors: int = 0
    obligations: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """A whole run. `tool` maps names to versions; `timing` holds everything that varies from run to run, and nothing else does."""

    files: tuple[FileReport, ...]
    tool: Mapping[str, str] = field(default_factory=dict)
    timing: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def items(self) -> tuple[ItemReport, ...]:
        """All items, in the order of the files."""
        return tuple(item for file in self.files for item in file.items)

    @property
    def summary(self) -> Summary:
        """Count the verdicts and the obligations."""
        verdicts = [item.verdict for item in self.items]
        return Summary(
            proved=verdicts.count(Verdict.PROVED),
            refused=verdicts.count(Verdict.REFUSED),
            undecided=verdicts.count(Verdict.UNDECIDED),
            unused=verdicts.count(Verdict.UNUSED),
            errors=verdicts.count(Verdict.ERROR),
            obligations=sum(len(item.obligations) for item in self.items),
        )

    @property
    def trusted(self) -> tuple[TrustedEntry, ...]:
        """Every trusted entry of every claim, each once, sorted by kind and name."""
        entries = {entry for item in self.items for entry in item.trusted}
        return tuple(sorted(entries, key=lambda entry: (entry.kind, entry.name, entry.identity, entry.reason or "", entry.evidence or "")))
