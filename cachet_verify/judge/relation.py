"""The goals by which one program is shown to compute the words of another.

Takes programs; gives goals of both routes and of well-formedness. What cannot be modelled, or
where no proposal was found, is a missing route, never a proof.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cachet_verify.core.family import UnmodelledError, lower
from cachet_verify.core.ir import Grid, Program, arithmetics, statements
from cachet_verify.flow.evaluate import sizer
from cachet_verify.flow.live import propose_live
from cachet_verify.flow.propose import propose
from cachet_verify.flow.source import propose_flow
from cachet_verify.judge.plan import Asked, Missing
from cachet_verify.kernel.claim import RuleError, WellFormed, mixed
from cachet_verify.kernel.dataflow import dataflow
from cachet_verify.kernel.effective import effective
from cachet_verify.kernel.initialised import initialised
from cachet_verify.kernel.scope import bound_names
from cachet_verify.kernel.well_formed import well_formed
from cachet_verify.source import Span


@dataclass(frozen=True, slots=True)
class Questions:
    """Goals, and the routes that could not be asked."""

    asked: tuple[Asked, ...] = ()
    missing: tuple[Missing, ...] = ()

    def __add__(self, other: Questions) -> Questions:
        """Both, one after the other."""
        return Questions((*self.asked, *other.asked), (*self.missing, *other.missing))


def formed(program: Program, span: Span | None) -> Questions:
    """That a program is well formed."""
    try:
        return Questions((Asked(well_formed(program), "", "program.not-well-formed", "form", span),))
    except (UnmodelledError, RuleError) as error:
        return Questions((), (Missing("form", f"not-supported: {error}"),))


def written_first(program: Program, span: Span | None) -> Questions:
    """That no unspecified word reaches the caller of a function, and that it writes all it promises."""
    try:
        families = effective(lower(program))
        flow = propose_flow(families, sizer(families))
        return Questions((Asked(initialised(program, flow, propose_live(program, flow)), "", "program.uninitialised", "form", span),))
    except (UnmodelledError, RuleError) as error:
        return Questions((), (Missing("form", f"not-supported: {error}"),))


def compared(name: str, meaning: Program, program: Program, span: Span | None) -> Questions:
    """That two programs are the same, by route B."""
    try:
        for side in (meaning, program):
            bound_names("dataflow", side)  # the proposer runs what it is given, so names must be in order first
        found = propose(meaning, program)
        goal = dataflow(meaning, program, found.proposal)
    except UnmodelledError as error:
        return Questions((), (Missing("b", f"not-supported: {error}"),))
    except RuleError as error:
        return Questions((), (Missing("b", f"not-supported: {error.why}"),))
    return Questions((Asked(goal, f"relation {name}: ", "relation.not-proved", "b", span),))


def mixture(meaning: Program, program: Program) -> str | None:
    """That a meaning and where its program runs do not come to one arithmetic; None where they do."""
    found = {meaning.arithmetic, *arithmetics(meaning.body, meaning.arithmetic)}
    found |= {program.arithmetic, *arithmetics(program.body, None)}
    return mixed(found) if len(found) > 1 else None


def evaluated_as(meaning: Program, program: Program) -> Program:
    """The meaning evaluated in the arithmetic of the device that a program runs on; one that says where it runs itself is as it is."""
    says = any(isinstance(stmt, Grid) and stmt.device is not None for stmt in statements(meaning.body))
    return meaning if says or meaning.arithmetic is not None else replace(meaning, arithmetic=program.arithmetic)


def is_well_formed(asked: Asked, program: Program) -> bool:
    """Whether a goal is the one that a program is well formed."""
    return asked.goal.statement == WellFormed(program)
