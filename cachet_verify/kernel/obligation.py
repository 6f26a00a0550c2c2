"""What the kernel asks of an outside prover, and what it accepts as an answer.

Takes core formulas; gives obligations, identified by the digest of their content, and verdicts.
Must not know how an obligation is encoded or who answers it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NoReturn

from cachet_verify.core.index import FALSE, Formula
from cachet_verify.core.real import RealAll, RealFormula, RealNot, spell_real
from cachet_verify.core.spell import spell_formula


@dataclass(frozen=True, slots=True)
class Obligation:
    """`premises` entail `goal`, for all integer values of the variables that occur.

    `subject` says in words what is being checked (it is shown, never trusted); `can_refute` is
    false where a model would only show that a proposal was wrong, not that the program is.
    """

    subject: str
    premises: tuple[Formula, ...]
    goal: Formula
    can_refute: bool = True
    _digest: str = field(init=False, repr=False, compare=False, default="")

    def __post_init__(self) -> None:
        """Take the digest once: the content cannot change."""
        object.__setattr__(self, "_digest", hashlib.sha256(self.statement().encode()).hexdigest())

    def statement(self) -> str:
        """The logical content as canonical text: what the digest is taken of."""
        lines = [spell_formula(premise) for premise in self.premises]
        return "\n".join([*lines, "|- " + spell_formula(self.goal)])

    def digest(self) -> str:
        """SHA-256 of the statement, in hex."""
        return self._digest


@dataclass(frozen=True, slots=True)
class RealObligation(Obligation):
    """`given` entail `shows`, for all real values of the variables that occur; made by `real_obligation`.

    As an integer obligation it asks for a contradiction: whoever takes it for one proves nothing by it.
    """

    given: tuple[RealFormula, ...] = ()
    shows: RealFormula = RealNot(RealAll(()))

    def statement(self) -> str:
        """The logical content as canonical text: what the digest is taken of."""
        return "\n".join(["over the reals", *map(spell_real, self.given), "|- " + spell_real(self.shows)])


def real_obligation(subject: str, given: tuple[RealFormula, ...], shows: RealFormula, can_refute: bool = True) -> RealObligation:
    """An obligation about real numbers."""
    return RealObligation(subject, (), FALSE, can_refute, given=given, shows=shows)


@dataclass(frozen=True, slots=True)
class Answer:
    """One solver's answer to one script."""

    solver: str
    version: str
    answer: Literal["unsat", "sat", "unknown", "failed"]
    reason: str = ""
    resource: int = 0
    script: str = ""


class _ManyValued:
    """A verdict: it has more than two values, and none of them is a truth value."""

    __slots__ = ()

    def __bool__(self) -> NoReturn:
        """Refuse to be squeezed into a truth value."""
        raise TypeError("a verdict has more than two values: compare its class")


@dataclass(frozen=True, slots=True)
class Proved(_ManyValued):
    """The answers that together show the obligation valid."""

    digest: str
    answers: tuple[Answer, ...]

@dataclass(frozen=True, slots=True)
class Refuted(_ManyValued):
    """A model of the premises and the negated goal, in the obligation's own variables."""

    digest: str
    model: Mapping[str, int]
    answers: tuple[Answer, ...]

@dataclass(frozen=True, slots=True)
class Undecided(_ManyValued):
    """No acceptable answer.

    `reason` is one of rlimit, memory, killed, incomplete, single-solver, solver-error, not-supported.
    """

    digest: str
    reason: str
    answers: tuple[Answer, ...] = ()

@dataclass(frozen=True, slots=True)
class Failed(_ManyValued):
    """Our own fault: the solvers contradict each other, or an encoder is wrong."""

    digest: str
    reason: str
    answers: tuple[Answer, ...] = field(default=())

Verdict = Proved | Refuted | Undecided | Failed
