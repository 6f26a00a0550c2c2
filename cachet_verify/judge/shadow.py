"""Regrouped reductions in a schedule: the shadow, what it keeps over the reals, and refusals without permission.

Takes the outcomes of steps; gives the program that words are compared with, and the goals over the reals that lead to it.
Must not decide whether a reduction may be regrouped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from cachet_verify.core.ir import Blockwise, Program, Reduction
from cachet_verify.judge.plan import Asked, refusal
from cachet_verify.kernel.claim import Claim, RuleError, SameOverReals, discharge, transitivity_over_reals
from cachet_verify.kernel.regroup import bared, equations
from cachet_verify.report.record import ClaimPart, Refusal, Replay
from cachet_verify.rewrite.error import StepError, refuse
from cachet_verify.rewrite.fuse import FusedBlock, changes_order, index_of
from cachet_verify.rewrite.outcome import StepOutcome
from cachet_verify.rewrite.reduction import RegroupError
from cachet_verify.source import Span
from cachet_verify.syntax import ast


@dataclass(frozen=True, slots=True)
class Regrouped:
    """The first steps of a schedule, those that regroup: what they start from, and what they give.

    `indices` are those of the reductions whose blocks have totals of their own, `fused` those whose blocks are combined at once; a reduction
    may be both. Over the reals (`is_real`) the program after is a shadow: words are compared with it. Over words it computes what `origin` does.
    """

    origin: Program
    outcomes: tuple[StepOutcome, ...]
    is_real: bool
    indices: frozenset[str] = frozenset()
    fused: frozenset[str] = frozenset()

    @property
    def after(self) -> Program:
        """The program after them."""
        return self.outcomes[-1].after


def regrouped(start: Program, outcomes: Sequence[StepOutcome], steps: Sequence[ast.ScheduleLine]) -> Regrouped | None:
    """What the steps that regroup came to; None where there are none. Raises StepError for a mixture of words and reals."""
    prefix = tuple(outcome for outcome, step in zip(outcomes, steps, strict=False) if changes_order(step))
    if not prefix:
        return None
    kinds = {isinstance(goal.statement, SameOverReals) for outcome in prefix for goal in outcome.goals}
    if len(kinds) != 1:
        text = "one reduction is regrouped over words and another over the reals"
        raise refuse("not-supported", text, steps[0].span, "regroup them in schedules of their own")
    lines = tuple(steps[: len(prefix)])
    plain = frozenset(index_of(line) for line in lines if not isinstance(line, FusedBlock))
    return Regrouped(start, prefix, kinds.pop(), plain, frozenset(line.index for line in lines if isinstance(line, FusedBlock)))


def cut_over_reals(start: Program, found: Regrouped | None, stopped: ast.ScheduleLine | None) -> tuple[Reduction, ...]:
    """The reductions that are cut by a law over the reals, or would have been where steps stopped: with their block where it is combined at once."""
    is_real = found is not None and found.is_real
    plain = set(found.indices) if found is not None and is_real else set()
    whole = set(found.fused) if found is not None and is_real else set()
    if stopped is not None and changes_order(stopped):
        (whole if isinstance(stopped, FusedBlock) else plain).add(index_of(stopped))
    cut = [reduction for reduction in start.reductions if reduction.is_permitted]
    at_once = (reduction for reduction in cut if reduction.counter in whole)
    return (*at_once, *(replace(reduction, block=None) for reduction in cut if reduction.counter in plain))


def asked_over_reals(found: Regrouped, span: Span | None) -> tuple[Asked, ...]:
    """The goals that lead to a shadow."""
    return tuple(
        Asked(goal, f"relation {outcome.name}: ", "relation.not-proved", "side", span) for outcome in found.outcomes for goal in outcome.goals
    )


def said_over_reals(found: Regrouped) -> tuple[ClaimPart, ...]:
    """What the claim says of the program that the shadow regroups."""
    return (ClaimPart("reals of", found.origin.name),)


def laws_over_reals(found: Regrouped) -> tuple[str, ...]:
    """The laws by which the shadow is equal to it over the reals."""
    laws: dict[str, None] = {}
    for reduction in found.origin.reductions:
        name = reduction.monoid or f"sum on {reduction.parts[0][1]}"
        said = ["associative", "identity"] if reduction.counter in found.indices else []
        if reduction.counter in found.fused and reduction.block is not None:
            said.append(reduction.block.law)
        laws.update(dict.fromkeys(f"{name}: {law} over reals" for law in said))
    return tuple(laws)


def broken_law(reductions: Iterable[Reduction], name: str, span: Span | None) -> Refusal | None:
    """The refusal of a schedule by a law that its regrouping needs over the reals, where numbers break it."""
    from cachet_verify.replay.law import Point, find_difference

    for reduction in reductions:
        if reduction.block is not None:
            refused = _broken_block(reduction, reduction.block, name, span)
            if refused is not None:
                return refused
            continue
        for law in equations(bared(reduction)):
            points = tuple(Point(variable.fields, tuple(words for _, words in variable.points)) for variable in law.variables)
            found = find_difference("reals", points, law.left, law.right)
            if found is None:
                continue
            of = reduction.monoid or f"sum on {reduction.parts[0][1]}"
            part = "the two sides are equal" if len(law.left) == 1 else f"part {found.part} of the two sides is equal"
            text = f"could not prove law {of}: {law.name} over reals, which {name} regroups `{reduction.counter}` by: {part}"
            made = refusal("law.not-proved", f"{text}\n  left: {found.left}\n  right: {found.right}", span)
            return replace(made, counterexample=dict(found.values))
    return None


def _broken_block(reduction: Reduction, block: Blockwise, name: str, span: Span | None) -> Refusal | None:
    from cachet_verify.judge.block import block_difference

    try:
        seen = block_difference(reduction)
    except RuleError:
        return None
    if seen is None:
        return None
    of = reduction.monoid or f"sum on {reduction.parts[0][1]}"
    text = f"could not prove law {of}: {block.law} over reals, by which {name} fuses `{reduction.counter}`: {seen.says}"
    made = refusal("law.not-proved", f"{text}\n  left: {seen.found.left}\n  right: {seen.found.right}", span)
    return replace(made, counterexample=dict(seen.found.values))


def chained_over_reals(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """The claims over the reals as one, from the first program to the last."""
    found = [claim for claim in claims if isinstance(claim.statement, SameOverReals)]
    if not found:
        return ()
    chained = found[0]
    for claim in found[1:]:
        chained = discharge(transitivity_over_reals(chained, claim), {})
    return (chained,)


def forbidden(start: Program, error: StepError, made: Refusal, span: Span | None) -> Refusal:
    """The refusal of a regrouping that is not permitted, with a run that tells the two apart."""
    if not isinstance(error, RegroupError) or error.after is None:
        return made
    from cachet_verify.replay.search import replay

    seen = replay(start, error.after)
    if seen is None or seen.hexes is None:
        return made
    text = "\n".join((made.message, *seen.lines()))
    shown = Replay(True, seen.cell, *seen.hexes)
    return replace(refusal(made.code, text, error.diagnostic.span or span), counterexample=dict(seen.sizes), replay=shown)
