"""What the elaboration of one item carries along: its file, fresh names, and what it found.

Takes a file's names; gives places to note side conditions, calls and faults.
Must not elaborate anything itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Protocol

from cachet_verify.core.element import Arithmetic
from cachet_verify.core.index import TRUE, Formula
from cachet_verify.core.ir import Program
from cachet_verify.diagnostic import Note
from cachet_verify.elaborate.item import CallSite, Entry, Implementation, ProgramItem, ScheduleItem
from cachet_verify.elaborate.operation import RESERVED
from cachet_verify.elaborate.problem import Problems, StopError, Unsupported
from cachet_verify.elaborate.scope import FreshNames, Scope, SideCondition
from cachet_verify.source import Span
from cachet_verify.syntax import ast


class Names(Protocol):
    """The names that one file sees."""

    def constant(self, name: str, span: Span | None) -> int | None:
        """The value of a constant; None when the name is no constant."""

    def is_word(self, name: str) -> bool:
        """Whether a name is a constant of an element type, `const alpha : f32 = 0.5`."""

    def is_symbolic(self, name: str) -> bool:
        """Whether a name is a constant that this run leaves open, as a variable of its name."""

    def platform_fact(self, name: str, words: tuple[str, ...], span: Span | None) -> int:
        """A number of the file's platform. Raises StopError."""

    def device(self, name: str, span: Span | None) -> Arithmetic:
        """What a device of the file's platform computes in. Raises StopError."""

    def find(self, name: str) -> Entry | None:
        """The declaration of a name; None when there is none."""

    def remedy(self, name: str) -> str:
        """What to do about a name that is not defined: an import, or a near miss."""

    def levels(self) -> tuple[str, ...]:
        """The memory levels of the file's platform; none when it has no platform."""

    def matrix_units(self, device: str, span: Span | None) -> tuple[tuple[ast.Fn, str], ...]:
        """The instructions that a device multiplies tiles with, each with the file that declares it. Raises StopError."""

    def applied(self, name: str) -> Program | None:
        """The program that a schedule's steps gave, where the caller has supplied it."""

    def file(self, path: str) -> Names:
        """The names that another file of the run sees."""

    def program(self, entry: Entry, span: Span | None) -> ProgramItem:
        """The elaborated contraction or function. Raises StopError."""

    def schedule(self, entry: Entry, span: Span | None) -> ScheduleItem:
        """The elaborated schedule. Raises StopError."""

    def implementations(self, interface: str) -> tuple[str, ...]:
        """The names of all implementations of an interface, as `PlusTimes f32`."""

    def array_implementations(self, interface: str) -> tuple[tuple[ast.Impl, str], ...]:
        """The implementations of an interface whose values are arrays, each with the file that declares it."""

    def implementation(self, words: tuple[str, ...], interface: str, is_any: bool = False) -> Implementation | None:
        """The implementation of an interface under that name, as `PlusTimes f32`; None when there is none. Its values are words, unless `is_any`."""


@dataclass(slots=True)
class Context:
    """The state of one item's elaboration."""

    unit: Names
    problems: Problems
    fresh: FreshNames = field(default_factory=FreshNames)
    conditions: list[SideCondition] = field(default_factory=list)
    calls: list[CallSite] = field(default_factory=list)
    inlining: tuple[str, ...] = ()
    rests_on: list[str] = field(default_factory=list)
    waits_for: list[str] = field(default_factory=list)
    host: list[Span | None] = field(default_factory=list)
    unsupported: list[Unsupported] = field(default_factory=list)
    inlined: list[Span | None] = field(default_factory=list)
    gaps: list[Span | None] = field(default_factory=list)
    """Where a statement is left out of the body, which is then no program."""

    def require(self, scope: Scope, goal: Formula, text: str, span: Span | None) -> None:
        """Note a side condition, unless it is plainly true."""
        condition = SideCondition(scope.facts, goal, text, span)
        if goal != TRUE and condition not in self.conditions:
            self.conditions.append(condition)

    def stop(self, code: str, message: str, span: Span | None, hint: str = "", *notes: Note) -> StopError:
        """Report a fault; the caller raises the answer to give up the piece at hand."""
        return self.problems.stop(code, message, span, hint, *notes)

    def unknown(self, name: str, span: Span | None, scope: Scope | None = None, *, is_index: bool = False) -> StopError:
        """Report a name that is not defined; the caller raises the answer."""
        if name in RESERVED:
            text = f"`{name}` gives nothing that can stand here"
            return self.problems.stop("elaborate.name.kind", text, span, "bind it first: `let x: TYPE = …`")
        hint = self.unit.remedy(name)
        if is_index and len(name) == 1 and name.islower() and not hint.startswith("import"):
            hint = f"`sum {name}.` or a loop binds an index"
        if not hint and scope is not None:
            hint = near_miss(name, scope.names)
        return self.problems.stop("elaborate.name.unknown", f"`{name}` is not defined", span, hint)

    def unit_of(self, path: str) -> Names:
        """The names that the file at `path` sees."""
        return self.unit.file(path)

    def within(self, unit: Names, name: str) -> Context:
        """The context for the body of a function that is inlined; everything noted is shared."""
        return replace(self, unit=unit, inlining=(*self.inlining, name))


def near_miss(name: str, known: Iterable[object]) -> str:
    """`did you mean …` for a name that is close to a known one, else an empty text."""
    from difflib import get_close_matches

    candidates = [item for item in known if isinstance(item, str)]
    close = [item for item in candidates if _slips_apart(name, item)] or get_close_matches(name, candidates, n=1, cutoff=0.75)
    return f"did you mean `{close[0]}`?" if close else ""


def _slips_apart(name: str, other: str) -> bool:
    """Whether one of two short names is the other with a letter twice, `jj` for `j`, or differs in case alone."""
    longer, shorter = (name, other) if len(name) > len(other) else (other, name)
    is_twice = len(longer) == len(shorter) + 1 and any(
        longer[place] == longer[place + 1] and longer[:place] + longer[place + 1 :] == shorter for place in range(len(longer) - 1)
    )
    return is_twice or (name != other and name.lower() == other.lower())
