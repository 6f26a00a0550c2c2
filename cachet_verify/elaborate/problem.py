"""What goes wrong while a file is elaborated, collected so that one run reports all of it.

Takes messages with places; gives diagnostics, and exceptions that give up one piece only.
Must not stop the whole file for one fault.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cachet_verify.diagnostic import Diagnostic, Note
from cachet_verify.source import Span


class StopError(Exception):
    """One piece cannot be elaborated; what is wrong with it has been reported."""


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A construct that is accepted but has no meaning here yet: its users are undecided.

    `fault` says why it can have none, where that is so: the item that holds it is refused.
    """

    construct: str
    span: Span | None = None
    fault: str = ""


class UnsupportedError(Exception):
    """A construct without a meaning yet was met; the item that holds it gets none."""

    def __init__(self, construct: str, span: Span | None, fault: str = "") -> None:
        self.unsupported = Unsupported(construct, span, fault)
        super().__init__(construct)


class IncompleteError(Exception):
    """A call cannot be put in place, for a reason noted elsewhere; the item that holds it gets no program."""


@dataclass(slots=True)
class Problems:
    """The diagnostics of a run, in the order found, each once."""

    found: dict[Diagnostic, None] = field(default_factory=dict)

    def report(self, code: str, message: str, span: Span | None, hint: str = "", *notes: Note) -> None:
        """Add a diagnostic and go on."""
        self.found[Diagnostic(code, message, span, hint, notes)] = None

    def stop(self, code: str, message: str, span: Span | None, hint: str = "", *notes: Note) -> StopError:
        """Add a diagnostic; the caller raises the answer to give up the piece at hand."""
        self.report(code, message, span, hint, *notes)
        return StopError(message)


def indexed(name: str, rank: int) -> str:
    """How a buffer of so many dimensions is indexed, as a remedy shows it."""
    return f"`{name}[{', '.join('ijklmnpq'[:rank])}]`" if 0 < rank <= 8 else f"one index for each of the {rank} dimensions of `{name}`"
