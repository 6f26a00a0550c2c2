"""The plans of `invariant c in M`: a program compared with itself at other sizes.

Takes programs and rows; gives plans. Must not conclude.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from cachet_verify.core.ir import Param, Program
from cachet_verify.elaborate.item import InvariantItem, InvariantRow, LayoutItem
from cachet_verify.judge.item import layouts_of, not_supported
from cachet_verify.judge.plan import Asked, Missing, Plan, Settled, premises_of
from cachet_verify.judge.relation import compared, formed, is_well_formed
from cachet_verify.kernel.claim import Invariant, RuleError
from cachet_verify.kernel.invariant import Twins, twins
from cachet_verify.report.record import ClaimPart, Verdict
from cachet_verify.source import Span

CODE = "invariant.not-proved"


def plan_invariant(item: InvariantItem, program: Program | None, layouts: Mapping[str, LayoutItem]) -> Plan:
    """`proof p = invariant c in M of F`."""
    plan = Plan(item.name, "proof", item.span, rests_on=item.rests_on)
    if item.unsupported:
        return not_supported(plan, item.unsupported)
    if program is None:
        return replace(plan, settled=Settled(Verdict.UNDECIDED, reason=f"rests on {item.of}, which is not proved"))
    questions = formed(program, item.span) + layouts_of(program, layouts)
    plan = replace(plan, asked=questions.asked, missing=questions.missing, requires=program.requires, premises=premises_of(program))
    return with_invariants(replace(plan, program=program), program, (item.row,), item.of)


def with_invariants(plan: Plan, program: Program | None, rows: Iterable[InvariantRow], of: str = "") -> Plan:
    """A plan that also says of its program what the rows say; the plan as it is where it is settled, or without rows."""
    rows = tuple(rows)
    if not rows or program is None or plan.settled is not None:
        return plan
    known = next((asked for asked in plan.asked if is_well_formed(asked, program)), None)
    of = of or plan.name
    parts = tuple(_part(of, program, row, known, plan.span) for row in rows)
    return replace(
        plan,
        asked=(*plan.asked, *(asked for part in parts for asked in part.asked if asked is not known)),
        missing=(*plan.missing, *(item for part in parts for item in part.missing)),
        premises=tuple(dict.fromkeys((*plan.premises, *(premise for part in parts for premise in part.premises)))),
        said=(*plan.said, *(ClaimPart(f"{row.text} of", of) for row in rows)),
        parts=(*(plan.parts or (plan,)), *parts),
    )


def _part(of: str, program: Program, row: InvariantRow, known: Asked | None, span: Span | None) -> Plan:
    """One row: the program's twins are the same, by route B."""
    promise = f"{row.text} of {of}"
    plan = Plan(promise, "proof", row.span or span)
    try:
        pair = twins(program, row.buffer, row.dims)
    except RuleError as error:
        return replace(plan, missing=(Missing("twin", f"not-supported: {error.why}"),))
    questions = compared(promise, pair.first, pair.second, row.span or span)
    asked = tuple(replace(item, heading=f"{promise}: ", code=CODE, route="twin") for item in questions.asked)
    missing = tuple(replace(item, route="twin") for item in questions.missing)
    return replace(
        plan,
        asked=(*((known,) if known is not None else ()), *asked),
        missing=missing if known is not None else (*missing, Missing("form", "not-supported: what this needs to be well formed")),
        premises=premises_of(pair.second),
        invariance=Invariant(program, row.buffer, row.dims),
        witness=_runnable(pair),
        sides=_called(pair),
    )


def _called(pair: Twins) -> tuple[str, str]:
    """How the two choices of sizes are called where their words are shown."""
    ours, theirs = (", ".join(names) for names in zip(*pair.sizes, strict=True))
    return f"at {ours}", f"at {theirs}"


def _runnable(pair: Twins) -> tuple[Program, Program]:
    """The twins as they are run to see a difference: each fills its own arrays, and has none of the other's."""
    mine = {param.name for param in pair.first.params if param.scratch}
    kept = tuple(param for param in pair.second.params if param.name not in mine)
    return (
        replace(pair.first, params=tuple(map(_filled, pair.first.params))),
        replace(pair.second, params=tuple(map(_filled, kept))),
    )


def _filled(param: Param) -> Param:
    return replace(param, scratch=False)
