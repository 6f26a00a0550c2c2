"""The plans of `invariant c in M`: a program compared with itself at other sizes, and the claim it comes to.

Takes programs and rows; gives plans, and claims by the kernel's rules. Must not decide anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import reduce

from cachet_verify.core.ir import Param, Program
from cachet_verify.elaborate.item import InvariantItem, InvariantRow, LayoutItem
from cachet_verify.judge.item import layouts_of, not_supported
from cachet_verify.judge.plan import Asked, Missing, Plan, Settled, premises_of
from cachet_verify.judge.relation import compared, formed, is_well_formed
from cachet_verify.judge.schedule import Applied, plan_schedule
from cachet_verify.kernel.claim import Claim, Invariant, RuleError, Same, WellFormed, discharge, transitivity
from cachet_verify.kernel.invariant import Twins, invariant, twins
from cachet_verify.report.record import ClaimPart, Verdict

CODE = "invariant.not-proved"


def plan_invariant(item: InvariantItem, program: Program | None, applied: Applied | None, layouts: Mapping[str, LayoutItem]) -> Plan:
    """`proof p = invariant c in M of F`; F is `program`, or the schedule that is `applied`."""
    plan = Plan(item.name, "proof", item.span, rests_on=item.rests_on)
    if item.unsupported:
        return not_supported(plan, item.unsupported)
    if program is None:
        return replace(plan, settled=Settled(Verdict.UNDECIDED, reason=f"rests on {item.of}, which is not proved"))
    if applied is not None:
        return _with_layouts(invariants_of(_schedule(plan, item.of, applied), applied, (item.row,), item.of), applied.program, layouts)
    questions = formed(program, item.span)
    plan = replace(plan, program=program, asked=questions.asked, missing=questions.missing, requires=program.requires, premises=premises_of(program))
    return _with_layouts(with_invariants(plan, program, (item.row,), item.of), program, layouts)


def _schedule(plan: Plan, of: str, applied: Applied) -> Plan:
    """What a proof about a schedule asks besides: its steps, and that both its programs are well formed."""
    whole = plan_schedule(of, plan.span, applied, "a")
    return replace(
        plan,
        program=applied.program,
        asked=whole.asked,
        missing=whole.missing,
        settled=whole.settled,
        requires=whole.requires,
        premises=whole.premises,
        admitted=whole.admitted,
    )


def _with_layouts(plan: Plan, program: Program, layouts: Mapping[str, LayoutItem]) -> Plan:
    more = layouts_of(program, layouts)
    return replace(plan, asked=(*plan.asked, *more.asked), missing=(*plan.missing, *more.missing))


def invariants_of(plan: Plan, applied: Applied, rows: Iterable[InvariantRow], of: str = "") -> Plan:
    """The plan of a schedule that also says of its program what the rows say: shown of the definition, and carried by the steps."""
    steps = tuple(asked for asked in plan.asked if asked.route == "a") if applied.outcomes else ()
    return with_invariants(plan, applied.start, rows, of, (applied.program, steps))


def with_invariants(
    plan: Plan,
    program: Program | None,
    rows: Iterable[InvariantRow],
    of: str = "",
    carried: tuple[Program, tuple[Asked, ...]] | None = None,
) -> Plan:
    """A plan that also says of its program what the rows say; the plan as it is where it is settled, or without rows.

    `carried` is the program that it is said of, and the steps that lead there.
    """
    rows = tuple(rows)
    if not rows or program is None or plan.settled is not None:
        return plan
    of = of or plan.name
    final, steps = carried or (program, ())
    known = tuple(asked for asked in plan.asked if is_well_formed(asked, program) or is_well_formed(asked, final))
    parts = tuple(_part(Plan(f"{row.text} of {of}", "proof", row.span or plan.span), program, final, row, (*known, *steps)) for row in rows)
    own = {id(asked) for asked in plan.asked}
    return replace(
        plan,
        asked=(*plan.asked, *(asked for part in parts for asked in part.asked if id(asked) not in own)),
        missing=(*plan.missing, *(item for part in parts for item in part.missing)),
        premises=tuple(dict.fromkeys((*plan.premises, *(premise for part in parts for premise in part.premises)))),
        said=(*plan.said, *(ClaimPart(f"{row.text} of", of) for row in rows)),
        parts=(*(plan.parts or (plan,)), *parts),
    )


def _part(plan: Plan, program: Program, final: Program, row: InvariantRow, known: tuple[Asked, ...]) -> Plan:
    """One row: the program's twins are the same, by route B; `known` is what else the claim rests on."""
    try:
        pair = twins(program, row.buffer, row.dims)
    except RuleError as error:
        return replace(plan, missing=(Missing("twin", f"not-supported: {error.why}"),))
    questions = compared(plan.name, pair.first, pair.second, plan.span)
    asked = tuple(replace(item, heading=f"{plan.name}: ", code=CODE, route="twin") for item in questions.asked)
    missing = tuple(replace(item, route="twin") for item in questions.missing)
    return replace(
        plan,
        asked=(*known, *asked),
        missing=missing,
        premises=premises_of(pair.second),
        invariance=Invariant(final, row.buffer, row.dims),
        witness=_runnable(pair),
        sides=_called(pair),
    )


def invariance(plan: Plan, wanted: Invariant, claims: Mapping[int, Claim]) -> Claim:
    """The claim that a row comes to, from the claims of its goals by their `id`. Raises RuleError, NotProvedError."""
    formed = {claim.statement.program: claim for claim in claims.values() if isinstance(claim.statement, WellFormed)}
    steps = [claims[id(asked)] for asked in plan.asked if asked.route == "a"]
    same = [claims[id(asked)] for asked in plan.asked if asked.route == "twin"]
    first = steps[0].statement if steps else None
    start = first.before if isinstance(first, Same) else wanted.program
    if start not in formed or wanted.program not in formed or len(same) != 1:
        raise RuleError("invariant", "a program was not asked to be well formed, or its twins to be the same")
    carried = None
    if steps:
        carried = reduce(lambda ours, step: discharge(transitivity(ours, step), {}), steps), formed[wanted.program]
    return discharge(invariant(formed[start], same[0], wanted.buffer, wanted.dims, carried), {})


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
