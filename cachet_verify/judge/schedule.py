"""The plan of a schedule: its steps applied, and both routes asked.

Takes the program the schedule starts from, its lines and what they can name; gives the plan, and
the program after each step for listings. Must not decide whether a step is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cachet_verify.core.ir import Program, Reduction
from cachet_verify.judge.plan import Asked, Plan, Settled, premises_of, refusal
from cachet_verify.judge.relation import Questions, compared, formed, mixture
from cachet_verify.judge.shadow import (
    Regrouped,
    asked_over_reals,
    broken_law,
    cut_over_reals,
    forbidden,
    laws_over_reals,
    regrouped,
    said_over_reals,
)
from cachet_verify.kernel.claim import reflexivity
from cachet_verify.report.record import Refusal, TrustedEntry, Verdict
from cachet_verify.rewrite.apply import apply_all, expand
from cachet_verify.rewrite.error import StepError
from cachet_verify.rewrite.expand import admits
from cachet_verify.rewrite.fuse import gathered
from cachet_verify.rewrite.outcome import StepOutcome
from cachet_verify.rewrite.scope import Scope
from cachet_verify.source import Span
from cachet_verify.syntax import ast


@dataclass(frozen=True, slots=True)
class Applied:
    """A schedule with its steps applied as far as they go, and why they stopped: `stopped_at` is the step that did not apply.

    `admitted` is what its lines admit, those of the schedule fns they call included. `regrouped` are its steps that regroup: they
    come first, and where they keep real numbers alone, `start` is the shadow and `outcomes` are the steps behind it. `cut` are the
    reductions that they cut by laws over the reals, or that a step was to cut which the rules refused.
    """

    start: Program
    outcomes: tuple[StepOutcome, ...]
    stopped: StepError | None
    spans: tuple[Span | None, ...] = ()
    stopped_at: str = ""
    admitted: tuple[TrustedEntry, ...] = ()
    regrouped: Regrouped | None = None
    cut: tuple[Reduction, ...] = ()

    @property
    def base(self) -> Program:
        """The program that the steps that regroup give: from it on, words are compared end to end."""
        return self.start if self.regrouped is None else self.regrouped.after

    @property
    def program(self) -> Program:
        """The program after the last step that applied."""
        return self.outcomes[-1].after if self.outcomes else self.start


def apply_schedule(start: Program, lines: Sequence[ast.ScheduleLine], scope: Scope) -> Applied:
    """Apply the lines of a schedule, in order."""
    outcomes: list[StepOutcome] = []
    steps: tuple[ast.ScheduleLine, ...] = ()
    stopped: StepError | None = None
    try:
        steps = gathered(expand(lines, scope))
        for outcome in apply_all(start, steps, scope):
            outcomes.append(outcome)
    except StepError as error:
        stopped = error
    first: Regrouped | None = None
    try:
        first = regrouped(start, outcomes, steps)
    except StepError as error:
        stopped = error
    at = steps[len(outcomes)] if stopped is not None and len(outcomes) < len(steps) else None
    name = at.name if isinstance(at, ast.Step) else ""
    entries = tuple(TrustedEntry("admitted", "schedule line", line.reason) for line in admits(lines, scope))
    spans = tuple(step.span for step in steps)
    cut = cut_over_reals(start, first, at if stopped is not None and stopped.diagnostic.code == "rewrite.rule" else None)
    if first is not None and first.is_real:
        count = len(first.outcomes)
        return Applied(first.after, tuple(outcomes[count:]), stopped, spans[count:], name, entries, first, cut)
    return Applied(start, tuple(outcomes), stopped, spans, name, entries, first, cut)


def admitted_in(name: str, applied: Applied) -> tuple[TrustedEntry, ...]:
    """What a schedule admits, under its name, by which a policy allows it."""
    return tuple(replace(entry, name=name) for entry in applied.admitted)


def plan_schedule(name: str, span: Span | None, applied: Applied, routes: str) -> Plan:
    """The plan of a schedule's claim: bits of the program it starts from."""
    plan = Plan(name, "schedule", span, meaning=applied.start, program=applied.program, of=applied.start.name)
    plan = replace(plan, admitted=admitted_in(name, applied))
    broken = broken_law(applied.cut, name, span)
    if broken is not None:
        return replace(plan, settled=Settled(Verdict.REFUSED, broken))
    if applied.stopped is not None:
        return replace(plan, settled=Settled(Verdict.REFUSED, forbidden(applied.base, applied.stopped, inapplicable(applied.stopped, span), span)))
    mix = mixture(applied.start, applied.program)
    if mix is not None:
        return replace(plan, settled=Settled(Verdict.UNDECIDED, reason=f"not-supported: {mix}"))
    steps = tuple(
        Asked(goal, f"relation {outcome.name}: ", "relation.not-proved", "a", _nearest(place, span))
        for outcome, place in zip(applied.outcomes, applied.spans, strict=False)
        for goal in outcome.goals
    )
    if not steps:
        steps = (Asked(reflexivity(applied.start), "", "relation.not-proved", "a", span),)
    questions = formed(applied.start, span) + Questions(steps)
    if applied.program != applied.start:
        questions += formed(applied.program, span)
    if routes == "both":
        if applied.program == applied.base:
            questions += Questions((Asked(reflexivity(applied.base), "", "relation.not-proved", "b", span),))
        else:
            questions += compared(name, applied.base, applied.program, span)
    if applied.regrouped is not None and applied.regrouped.is_real:
        questions += formed(applied.regrouped.origin, span) + Questions(asked_over_reals(applied.regrouped, span))
        plan = replace(plan, said=said_over_reals(applied.regrouped), by=laws_over_reals(applied.regrouped))
    requires = applied.program.requires
    premises = premises_of(applied.program)
    return replace(plan, asked=questions.asked, missing=questions.missing, requires=requires, premises=premises)


def _nearest(step: Span | None, schedule: Span | None) -> Span | None:
    """The step's place, or the schedule's where the step stands in another file."""
    if step is None or (schedule is not None and step.path != schedule.path):
        return schedule
    return step


def inapplicable(error: StepError, span: Span | None) -> Refusal:
    """The refusal by a step that does not apply, with its notes and its remedy on lines of their own."""
    diagnostic = error.diagnostic
    lines = [diagnostic.message]
    lines += [note.message if note.span is None else f"{note.message}, at {note.span}" for note in diagnostic.notes]
    if diagnostic.hint:
        lines.append(f"try: {diagnostic.hint}")
    return refusal(diagnostic.code, "\n".join(lines), diagnostic.span or span)
