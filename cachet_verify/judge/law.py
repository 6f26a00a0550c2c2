"""The plan of a law: refused where values tell its sides apart, else asked, else trusted by its reason.

Takes a law's item; gives its plan. Must not conclude: what is trusted is said to be.
"""

from __future__ import annotations

from dataclasses import replace

from cachet_verify.core.family import UnmodelledError
from cachet_verify.core.ir import Reduction
from cachet_verify.elaborate.item import LawItem, LawSides
from cachet_verify.judge.block import block_difference
from cachet_verify.judge.plan import Asked, Plan, Settled, refusal
from cachet_verify.kernel.blockwise import block_law
from cachet_verify.kernel.claim import Goal, LawVariable, RuleError
from cachet_verify.kernel.law import law_over_reals
from cachet_verify.kernel.law_semiring import law_over_semiring
from cachet_verify.kernel.law_word import law_over_words
from cachet_verify.replay.generic_law import at_matrices, at_numbers, cell_names, sparse
from cachet_verify.replay.law import TRIALS, Difference, Point, can_be_tried, find_difference
from cachet_verify.report.record import Refusal, TrustedEntry, Verdict

CODE = "law.not-proved"
NOT_REFUTED = f"not refuted in {TRIALS} trials"


def plan_law(item: LawItem) -> Plan:
    """A law that has a counterexample is refused, reason or not; one that is not proved is trusted if it has a reason."""
    plan = Plan(item.text, "law", item.span, backing=_backing(item))
    if item.unsupported is not None:
        return _unasked(plan, f"not-supported: {item.unsupported.construct}")
    if item.block is not None:
        return _plan_block(plan, item, item.block)
    if item.sides is None:
        return _unasked(plan, "the law states no equation")
    if item.domain not in ("reals", "words"):
        return _plan_generic(plan, item, item.sides)
    points = tuple(Point(subject.fields, tuple(words for _, words in subject.points)) for subject in item.sides.subjects)
    found = find_difference(item.domain, points, item.sides.left, item.sides.right)
    if found is not None:
        return replace(plan, backing=None, settled=Settled(Verdict.REFUSED, _refused(item, found, _says(len(item.sides.left), found))))
    try:
        goal = _goal(item.domain, item.sides)
    except (UnmodelledError, RuleError) as error:
        return _unasked(plan, f"not-supported: {error}")
    return replace(plan, asked=(Asked(goal, f"law {item.text}: ", CODE, "side", item.span),))


def _plan_generic(plan: Plan, item: LawItem, sides: LawSides) -> Plan:
    """A law for every semiring: by the kernel's rule, which asks nobody; where that does not apply, refused by numbers that break it."""
    try:
        variables = tuple(LawVariable(subject.name, subject.fields) for subject in sides.subjects)
        goal = law_over_semiring(item.domain, variables, sides.left, sides.right)
        return replace(plan, asked=(Asked(goal, f"law {item.text}: ", CODE, "side", item.span),))
    except (UnmodelledError, RuleError) as error:
        reason = str(error)
    try:
        refused = _at_numbers(item, sides)
    except UnmodelledError as error:
        return _unasked(plan, f"not-supported: {error}")
    if refused is None:
        return _unasked(plan, f"not-supported: {reason}")
    return replace(plan, backing=None, settled=Settled(Verdict.REFUSED, refused))


def _at_numbers(item: LawItem, sides: LawSides) -> Refusal | None:
    """The refusal of a law for every semiring that fails at numbers, or at 2 × 2 matrices of them."""
    fields = [tuple(name for name, _ in subject.fields) for subject in sides.subjects]
    numbers = [tuple(at_numbers(item.domain, value) for value in side) for side in (sides.left, sides.right)]
    matrices = [tuple(cell for value in side for cell in at_matrices(item.domain, value)) for side in (sides.left, sides.right)]
    cells = [tuple(cell for name in names for cell in cell_names(name)) for names in fields]
    tried = ((fields, numbers, "numbers", 1), (cells, matrices, "2 × 2 matrices of numbers", 4))
    for names, (left, right), what, count in tried:
        points = tuple(Point(tuple((name, "f64") for name in part)) for part in names)
        found = find_difference("reals", points, left, right)
        if found is not None:
            few = sparse(points, left, right, found)
            part = "" if len(sides.left) == 1 else f"in part {(few.part - 1) // count + 1} "
            rest = "; what is not listed is 0" if len(few.values) < sum(map(len, names)) else ""
            return _refused(item, few, f"the two sides differ {part}where {item.domain} is sums and products of {what}{rest}")
    return None


def _plan_block(plan: Plan, item: LawItem, reduction: Reduction) -> Plan:
    """The law of whole blocks: tried on blocks of one, two and three elements, then asked of all."""
    try:
        seen = block_difference(reduction)
        if seen is not None:
            return replace(plan, backing=None, settled=Settled(Verdict.REFUSED, _refused(item, seen.found, seen.says)))
        goal = block_law(reduction)
    except (UnmodelledError, RuleError) as error:
        return _unasked(plan, f"not-supported: {error}")
    return replace(plan, asked=(Asked(goal, f"law {item.text}: ", CODE, "side", item.span),))


def _goal(domain: str, sides: LawSides) -> Goal:
    variables = tuple(LawVariable(subject.name, subject.fields, subject.points) for subject in sides.subjects)
    rule = law_over_words if domain == "words" else law_over_reals
    return rule(variables, sides.left, sides.right)


def _backing(item: LawItem) -> TrustedEntry | None:
    """What a claim that uses the law lists, where it is not proved. What cannot be computed was not tried."""
    if item.reason is None:
        return None
    sides = item.sides
    is_tried = sides is not None and item.domain in ("reals", "words") and can_be_tried(item.domain, (*sides.left, *sides.right))
    return TrustedEntry("law", item.text, item.reason, NOT_REFUTED if is_tried else None)


def _unasked(plan: Plan, reason: str) -> Plan:
    """A law that nobody can be asked about: trusted by its reason, else undecided."""
    if plan.backing is not None:
        return replace(plan, admitted=(plan.backing,))
    return replace(plan, settled=Settled(Verdict.UNDECIDED, reason=reason))


def _says(parts: int, found: Difference) -> str:
    return "the two sides are equal" if parts == 1 else f"part {found.part} of the two sides is equal"


def _refused(item: LawItem, found: Difference, says: str) -> Refusal:
    text = f"could not prove law {item.text}: {says}\n  left: {found.left}\n  right: {found.right}"
    return replace(refusal(CODE, text, item.span), counterexample=dict(found.values))
