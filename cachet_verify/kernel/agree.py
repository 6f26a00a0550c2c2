"""When two values are the same word: same operations, same order, index terms equal by proof.

Takes lowered values of the program after and, brought to its counters, of the program before;
gives the formulas that make them equal. Raises `RuleError` where no formula could.
"""

from __future__ import annotations

from collections.abc import Callable

from cachet_verify.core.index import Formula, Index, conj, eq, implies, neg
from cachet_verify.core.ir import Choose, Load, OfIndex, Op, Value, Word
from cachet_verify.kernel.claim import RuleError

Cells = Callable[[str, tuple[Index, ...], str, tuple[Index, ...]], Formula]


def agree(rule: str, after: Value, before: Value, cells: Cells) -> Formula:
    """The formula under which two values without folds are one word.

    `cells` says when a load of the program after reads what a load of the program before reads,
    and refuses where it never does. A choice may stand on one side only: then the formula says
    which branch is taken.
    """
    if isinstance(after, Choose) and isinstance(before, Choose):
        return _agree_choices(rule, after, before, cells)
    if isinstance(after, Choose) or isinstance(before, Choose):
        return _agree_with_choice(rule, after, before, cells)
    if isinstance(after, Load) and isinstance(before, Load):
        return cells(after.buffer, after.index, before.buffer, before.index)
    if isinstance(after, OfIndex) and isinstance(before, OfIndex) and after.elem == before.elem:
        return eq(after.term, before.term)
    if isinstance(after, Word) and after == before:
        return conj(())
    if isinstance(after, Op) and isinstance(before, Op):
        return _agree_operations(rule, after, before, cells)
    raise RuleError(rule, "the values differ", after, before)


def _agree_operations(rule: str, after: Op, before: Op, cells: Cells) -> Formula:
    if (after.name, after.elem, len(after.args)) != (before.name, before.elem, len(before.args)):
        raise RuleError(rule, f"the operations differ: {after.name} and {before.name}", after, before)
    return conj(agree(rule, ours, theirs, cells) for ours, theirs in zip(after.args, before.args, strict=True))


def _agree_choices(rule: str, after: Choose, before: Choose, cells: Cells) -> Formula:
    then = agree(rule, after.then, before.then, cells)
    orelse = agree(rule, after.orelse, before.orelse, cells)
    taken, left = after.condition, before.condition
    same = () if taken == left else (implies(taken, left), implies(left, taken))
    return conj((*same, implies(taken, then), implies(neg(taken), orelse)))


def _agree_with_choice(rule: str, after: Value, before: Value, cells: Cells) -> Formula:
    """One side chooses, and the branch it takes agrees with the whole of the other side."""
    chosen = after if isinstance(after, Choose) else before
    if not isinstance(chosen, Choose):
        raise RuleError(rule, "the values differ", after, before)
    failure: RuleError | None = None
    for branch, taken in ((chosen.then, chosen.condition), (chosen.orelse, neg(chosen.condition))):
        pair = (branch, before) if chosen is after else (after, branch)
        try:
            return conj((taken, agree(rule, *pair, cells)))
        except RuleError as error:
            failure = failure or error
    raise RuleError(rule, "the values differ", after, before) from failure
