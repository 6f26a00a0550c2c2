"""Running schedules in tests: apply the steps, prove their goals, run the programs.

Takes the text of a schedule's lines and a program; gives outcomes. The obligations go to a solver by
an encoding of the tests' own, and programs are run on words that are terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

from cachet_verify.core.index import holds
from cachet_verify.core.ir import Param, Program
from cachet_verify.kernel.claim import Same
from cachet_verify.kernel.well_formed import well_formed
from cachet_verify.rewrite.apply import StepOutcome, apply_all
from cachet_verify.rewrite.error import StepError
from cachet_verify.rewrite.scope import Scope, index_step_fns
from cachet_verify.source import SourceFile
from cachet_verify.syntax import ast
from cachet_verify.syntax.parse import parse_steps, parse_text
from tests.kernel.execute import run
from tests.kernel.solve import invalid

STEPS = Path(__file__).parents[2] / "stdlib" / "steps.cachet"


@cache
def library() -> tuple[ast.Declaration, ...]:
    return parse_text(STEPS.read_text(encoding="utf-8")).declarations


def scope(text: str = "", buffers: tuple[Param, ...] = (), schedule: str = "s", **constants: int) -> Scope:
    """The library, and what a text defines besides."""
    found = (*library(), *(parse_text(text).declarations if text else ()))
    steps = index_step_fns([item for item in found if isinstance(item, ast.StepFn)])
    fns = {item.name: item for item in found if isinstance(item, ast.ScheduleFn)}
    return Scope(steps, fns, constants, buffers, schedule)


def lines(text: str) -> tuple[ast.ScheduleLine, ...]:
    """The lines of a schedule, from text with any indentation."""
    return parse_steps(SourceFile("steps", "".join(f"{line.strip()}\n" for line in text.splitlines() if line.strip())))


@dataclass(frozen=True)
class Applied:
    """A schedule, applied."""

    before: Program
    outcomes: tuple[StepOutcome, ...]

    @property
    def after(self) -> Program:
        return self.outcomes[-1].after

    @property
    def last(self) -> StepOutcome:
        return self.outcomes[-1]

    def rules(self) -> list[str]:
        """The rules of the last step."""
        return [goal.rule for goal in self.last.goals]

    def failed(self) -> list[str]:
        """The subjects of all obligations that do not hold."""
        return [subject for outcome in self.outcomes for goal in outcome.goals for subject in invalid(goal)]

    def is_linked(self) -> bool:
        """Whether the goals lead from the program before, one to the next, to the program after."""
        program = self.before
        for outcome in self.outcomes:
            for goal in outcome.goals:
                if not isinstance(goal.statement, Same) or goal.statement.before != program:
                    return False
                program = goal.statement.after
            if program != outcome.after:
                return False
        return True


def apply(text: str, program: Program, within: Scope | None = None) -> Applied:
    """Apply the lines of a schedule."""
    return Applied(program, tuple(apply_all(program, lines(text), within if within is not None else scope())))


def refusal(text: str, program: Program, within: Scope | None = None) -> tuple[str, str, str]:
    """The code, the message and the remedy of the step that is refused."""
    try:
        apply(text, program, within)
    except StepError as error:
        return error.diagnostic.code, error.diagnostic.message, error.diagnostic.hint
    raise AssertionError("no step was refused")


def same_words(before: Program, after: Program, limit: int) -> bool:
    """Whether both programs leave the same words, for all sizes below a limit that meet the requirements."""
    met = 0
    for point in product(range(limit), repeat=len(after.sizes)):
        sizes = dict(zip(after.sizes, point, strict=True))
        if not all(holds(need.condition, sizes) for need in after.requires):
            continue
        met += 1
        if run(before, sizes) != run(after, sizes):
            return False
    assert met, "no size meets the requirements"
    return True


def proved(applied: Applied, limit: int = 4) -> Program:
    """The program after, once every goal holds, it is well formed, and its words are those before."""
    assert applied.is_linked()
    assert applied.failed() == []
    assert invalid(well_formed(applied.after)) == []
    assert same_words(applied.before, applied.after, limit)
    return applied.after
