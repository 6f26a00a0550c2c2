"""What is asked for one item, before anyone has answered.

Takes kernel goals; gives records that the verdict is later concluded from. Must not conclude.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from cachet_verify.core.index import ZERO, Formula, Var, le
from cachet_verify.core.ir import Program, Require, Traffic
from cachet_verify.elaborate.trip import Pulled
from cachet_verify.kernel.budget import Bounds
from cachet_verify.kernel.claim import Goal, Invariant, Minimal
from cachet_verify.kernel.obligation import Obligation
from cachet_verify.report.record import ClaimPart, Refusal, TrustedEntry, Verdict
from cachet_verify.source import Span

Route = Literal["form", "side", "a", "b", "cost", "twin"]


@dataclass(frozen=True, slots=True)
class Told:
    """What the refusal by one obligation of a goal says, where it is not what the goal's others say."""

    code: str
    note: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class Asked:
    """A goal, what stands before an obligation's subject when it fails, and the code of that refusal.

    `route` is `form` for well-formedness, `side` for side conditions and written proofs, `a` for a
    schedule's step, `b` for the end-to-end comparison, `twin` for one of a program with
    itself at other sizes, `cost` for what a platform or a budget has room for: that is told only
    where everything about values is proved. `note` follows the sentence on a line of its own.
    `told` has the obligations that are told in another way, by their subjects.
    """

    goal: Goal
    heading: str
    code: str
    route: Route
    span: Span | None = None
    note: str = ""
    told: Mapping[str, Told] = field(default_factory=dict)

    def sentence(self, obligation: Obligation) -> str:
        """What could not be proved, in the words of a refusal."""
        return f"could not prove {self.heading}{obligation.subject}"


@dataclass(frozen=True, slots=True)
class Settled:
    """A verdict that needs no solver: refused, undecided or unused, with its refusal or its reason."""

    verdict: Verdict
    refusal: Refusal | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Missing:
    """A route that applies and could not be asked: it leaves the item undecided."""

    route: Route
    reason: str


@dataclass(frozen=True, slots=True)
class Budget:
    """A program with its rows of traffic, its leases with bounds on the loops around them, and the line sizes of the levels, in bytes.

    `bounds` are those proposed to the kernel, by the alias of each lease.
    """

    program: Program
    rows: tuple[Traffic, ...]
    pulled: tuple[Pulled, ...]
    home: str
    lines: Mapping[str, int]
    bounds: Bounds


@dataclass(frozen=True, slots=True)
class Plan:
    """One item: its goals in the order in which failures are reported, and what a proof of them says.

    `meaning` and `program` are what the claim is about; a counterexample is replayed on them, or on
    `witness` where the item has no programs of its own. `of` is what the claim names.
    `parts` are the plans that it comes to together, of a family's members: each is concluded for itself.
    `optimum` is what the goals come to for a search, and `said` what its claim says; `refuses` is the
    refusal of an item that is refused once everything asked is proved; `budget` is what its rows of traffic are about.
    `fits` is what callers have to find room for, and `by` the laws that what is said over the reals goes by.
    """

    name: str
    kind: str
    span: Span | None
    asked: tuple[Asked, ...] = ()
    premises: tuple[Formula, ...] = ()
    settled: Settled | None = None
    missing: tuple[Missing, ...] = ()
    meaning: Program | None = None
    program: Program | None = None
    of: str = ""
    requires: tuple[Require, ...] = ()
    assumes: tuple[str, ...] = ()
    fits: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()
    admitted: tuple[TrustedEntry, ...] = field(default=())
    parts: tuple[Plan, ...] = ()
    optimum: Minimal | None = None
    said: tuple[ClaimPart, ...] = ()
    by: tuple[str, ...] = ()
    refuses: Refusal | None = None
    witness: tuple[Program, Program] | None = None
    backing: TrustedEntry | None = None
    sides: tuple[str, str] | None = None
    invariance: Invariant | None = None
    budget: Budget | None = None

    def obligations(self) -> Iterator[tuple[Asked, Obligation]]:
        """Every obligation with the goal it belongs to."""
        for asked in self.asked:
            for obligation in asked.goal.obligations:
                yield asked, obligation


def premises_of(program: Program) -> tuple[Formula, ...]:
    """What has to hold together for a claim about a program to say anything; nothing without requirements."""
    if not program.requires:
        return ()
    return (*(le(ZERO, Var(size)) for size in program.sizes), *(need.condition for need in program.requires))


def place_of(span: Span | None) -> tuple[int, int]:
    """Line and column of a span, from 1."""
    return (1, 1) if span is None else (span.line, span.column)


def faulted(name: str, kind: str, span: Span | None, error: Exception) -> Plan:
    """The plan of an item that an exception stopped: our own fault, and nothing is concluded of it."""
    text = " ".join(f"our own fault: {type(error).__name__}: {error}".split())
    return Plan(name, kind, span, settled=Settled(Verdict.ERROR, refusal("tool.fault", text, span)))


def refusal(code: str, message: str, span: Span | None) -> Refusal:
    """A refusal at a place."""
    line, column = (None, None) if span is None else (span.line, span.column)
    return Refusal(code, message, line, column)

