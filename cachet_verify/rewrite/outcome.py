"""What a step gives: the program after it, and the goals that relate it to the program before.

Takes programs and goals; gives records. Must not make a goal: kernel rules do.
"""

from __future__ import annotations

from dataclasses import dataclass

from cachet_verify.core.index import TRUE, ZERO, Compare, Const, Formula, Index, Mod, Product, Sum, eq, mod, variables
from cachet_verify.core.ir import Program, Require
from cachet_verify.kernel.claim import Goal, Same
from cachet_verify.kernel.requirement import add_requirement
from cachet_verify.rewrite.error import refuse
from cachet_verify.source import Span


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """One step, applied.

    Each goal is about two programs and starts where the last one ended; the first starts at the
    program before the step, the last ends at `after`. `requires` are the requirements the step added.
    """

    after: Program
    goals: tuple[Goal, ...]
    name: str
    requires: tuple[Require, ...] = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """A program and the goals that lead to it."""

    program: Program
    goals: tuple[Goal, ...] = ()

    def then(self, *goals: Goal) -> Chain:
        """The chain with more goals behind it."""
        return Chain(ends_at(goals[-1]), (*self.goals, *goals)) if goals else self

    def requiring(self, condition: Formula, origin: str) -> Chain:
        """The chain with one more requirement, unless the program has it already."""
        if implied(condition, self.program):
            return self
        return self.then(add_requirement(self.program, Require(condition, origin)))


def ends_at(goal: Goal) -> Program:
    """The program a goal ends at. Raises TypeError for a goal that compares no two programs."""
    statement = goal.statement
    if not isinstance(statement, Same):
        raise TypeError(f"{goal.rule} does not compare two programs")
    return statement.after


def divides(size: Index, extent: Index) -> Formula:
    """That an extent is a whole number of blocks; true where its form shows it."""
    return TRUE if isinstance(size, Const) and _is_multiple(extent, size.value) else eq(mod(extent, size), ZERO)


def _is_multiple(term: Index, size: int) -> bool:
    """Whether every part of a sum has a factor that is a multiple of a size above 0."""
    if isinstance(term, Sum):
        return all(_is_multiple(part, size) for part in term.terms)
    if isinstance(term, Product):
        return _is_multiple(term.left, size) or _is_multiple(term.right, size)
    return isinstance(term, Const) and size > 0 and term.value % size == 0


def check_askable(program: Program, condition: Formula, what: str, span: Span | None, hint: str) -> None:
    """Refuse what would be asked of a caller about a loop's counter: sizes are all that one knows. Raises StepError."""
    unknown = sorted(variables(condition) - set(program.sizes))
    if unknown:
        raise refuse("scope", f"{what} depends on {unknown[0]}, so no caller can be asked for it", span, hint)


def implied(condition: Formula, program: Program) -> bool:
    """Whether a requirement is there already: as it stands, or as a multiple of its divisor; what holds of itself always is."""
    if condition == TRUE:
        return True
    known = [need.condition for need in program.requires]
    return condition in known or any(_covers(other, condition) for other in known)


def _covers(known: Formula, wanted: Formula) -> bool:
    """`E % 64 == 0` covers `E % 4 == 0`."""
    if not isinstance(known, Compare) or not isinstance(wanted, Compare) or "==" not in (known.relation, wanted.relation):
        return False
    left, right = known.left, wanted.left
    if not isinstance(left, Mod) or not isinstance(right, Mod) or known.right != ZERO or wanted.right != ZERO:
        return False
    if known.relation != wanted.relation or left.left != right.left:
        return False
    divisor, other = left.right, right.right
    return isinstance(divisor, Const) and isinstance(other, Const) and other.value > 0 and divisor.value % other.value == 0
