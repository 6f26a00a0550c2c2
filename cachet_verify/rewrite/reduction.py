"""`regroup`: a reduction worked through in blocks, each with a total of its own.

Takes `regroup k by 16 as gk`; gives the nest in which each block's total is combined with the whole. Where combining is
associative over words every word stays; where it is only over the reals, the contraction has to permit it by `[reassoc]`.
Must not decide whether it is: the kernel's rule asks for the laws.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cachet_verify.core.family import UnmodelledError
from cachet_verify.core.index import Const, Index
from cachet_verify.core.ir import Fold, Load, Op, Program, Reduction
from cachet_verify.diagnostic import Diagnostic
from cachet_verify.kernel.claim import Goal, RuleError, SameOverReals
from cachet_verify.kernel.regroup import Names, Parts, element_of, taken_step
from cachet_verify.kernel.regroup import regroup as rule
from cachet_verify.rewrite.clause import Line
from cachet_verify.rewrite.error import StepError, refuse
from cachet_verify.rewrite.library import no_loop, schedule_term
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import Path, counters, find_fold, find_loop
from cachet_verify.rewrite.scope import Scope
from cachet_verify.rewrite.traverse import taken
from cachet_verify.syntax import ast

FORM = "regroup k by 16 as gk"


class RegroupError(StepError):
    """A regrouping that the contraction does not permit; `after` is what it would give."""

    def __init__(self, diagnostic: Diagnostic, after: Program | None) -> None:
        """Keep the program that would be computed."""
        super().__init__(diagnostic)
        self.after = after


@dataclass(frozen=True, slots=True)
class Place:
    """Where a reduction stands, over what it runs, and its element where the statement is a fold."""

    path: Path
    element: Parts | None
    domain: tuple[Index, Index]


def is_regrouping(line: ast.ScheduleLine) -> bool:
    """Whether a line changes the order in which totals are combined: such lines come first, whatever stands around them."""
    return isinstance(line, ast.Step) and line.name == "regroup"


def shadow_name(scope: Scope) -> str:
    """The name of the reference loops of a schedule."""
    return f"{scope.schedule}_shadow"


def regroup(program: Program, step: ast.Step, scope: Scope) -> Chain:
    """Apply regroup. Raises StepError where there is no such reduction, or it may not be regrouped."""
    line = Line(step, FORM)
    line.check_words("by", "as")
    index = line.first_name("the index of a sum or reduction")
    size = schedule_term(line.number("by"), scope, program)
    if isinstance(size, Const) and size.value < 1:
        raise refuse("arguments", f"a block holds at least one index, and this one {size.value}", step.span, "a size of 1 or more")
    block = line.name("as")
    if block in taken(program):
        raise refuse("name-taken", f"the name {block} is in use", step.span, f"`as` another name than {block}")
    reduction = next((found for found in program.reductions if found.counter == index), None)
    place = place_of(program, index, reduction)
    if reduction is None or place is None:
        raise no_loop("regroup", index, counters(program.body), step.span)
    return _asked(program, place, size, reduction, _names(program, reduction, block, scope), step)


def _asked(program: Program, place: Place, size: Index, reduction: Reduction, names: Names, step: ast.Step) -> Chain:
    """Over words where that can be asked, else over the reals where it is permitted."""
    try:
        goal = rule(program, place.path, size, reduction, place.element, names, "words")
    except (RuleError, UnmodelledError):
        if not reduction.is_permitted:
            raise _forbidden(program, place, size, reduction, names, step) from None
        return _over_reals(rule(program, place.path, size, reduction, place.element, names, "reals"))
    return Chain(program).then(goal)


def _over_reals(goal: Goal) -> Chain:
    statement = goal.statement
    if not isinstance(statement, SameOverReals):
        raise TypeError(f"{goal.rule} is not about real numbers")
    return Chain(statement.after, (goal,))


def _forbidden(program: Program, place: Place, size: Index, reduction: Reduction, names: Names, step: ast.Step) -> StepError:
    """The refusal of a regrouping without permission, with the program it would give."""
    text = f"a block of `{reduction.counter}` has a total of its own, regrouping the reduction, which it permits with `[reassoc]`, "
    allowed = replace(reduction, is_permitted=True)
    others = tuple(allowed if found == reduction else found for found in program.reductions)
    try:
        goal = rule(replace(program, reductions=others), place.path, size, allowed, place.element, names, "reals")
        after = _over_reals(goal).program
    except (RuleError, UnmodelledError):
        after = None
    return RegroupError(Diagnostic("rewrite.reassoc", f"{text}`{permission(reduction)}`", step.span), after)


def permission(reduction: Reduction) -> str:
    """How a contraction permits to regroup a reduction."""
    return f"reduce[reassoc] {reduction.monoid} {reduction.counter}." if reduction.monoid else f"sum[reassoc] {reduction.counter}."


def _names(program: Program, reduction: Reduction, block: str, scope: Scope) -> Names:
    used = {*taken(program), block}

    def take(base: str) -> str:
        number, name = 1, base
        while name in used:
            name, number = f"{base}'{number}", number + 1
        used.add(name)
        return name

    totals = tuple(take(name or "part") for name, _ in reduction.parts)
    combined = tuple(take(name or "whole") for name, _ in reduction.parts)
    return Names(block, totals, combined, shadow_name(scope))


def place_of(program: Program, index: str, reduction: Reduction | None) -> Place | None:
    """The statement that computes a reduction."""
    if reduction is None:
        return None
    total = find_fold(program.body, index)
    if total is not None:
        return Place(total.path, _element(reduction, total.fold), (total.fold.domain.low, total.fold.domain.high))
    loop = find_loop(program.body, index)
    return None if loop is None else Place(loop[0], None, (loop[1].domain.low, loop[1].domain.high))


def _element(reduction: Reduction, fold: Fold) -> Parts | None:
    """What a step combines with the total: as the operation shows it, or in a product and sum rounded once."""
    held = Load(fold.acc)
    step = taken_step(fold)
    found = element_of(reduction, (held,), (step,))
    if found is not None:
        return found
    if isinstance(step, Op) and step.name == "fma" and step.args[2] == held:
        return (Op("mul", step.elem, step.args[:2]),)
    if isinstance(step, Op) and len(step.args) == 2 and step.args[1] == held:
        return (step.args[0],)
    return None
