"""The verdict of one item, from the verdicts on its obligations.

Takes a plan and verdicts by digest; gives the item's report. A claim is reported only when the
kernel discharged every goal of the plan; everything else is refused, undecided or our own fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cachet_verify.core.index import Formula
from cachet_verify.core.ir import Program
from cachet_verify.core.memory import MeaningError
from cachet_verify.core.spell import spell_requirement
from cachet_verify.judge.budget import CODE, exceeded, excess, is_about_a_way
from cachet_verify.judge.evidence import function_entry, template_entry
from cachet_verify.judge.invariant import invariance
from cachet_verify.judge.least import least_model
from cachet_verify.judge.plan import Asked, Budget, Plan, Told, place_of, refusal
from cachet_verify.judge.shadow import chained_over_reals
from cachet_verify.kernel.claim import Claim, Goal, NotProvedError, RuleError, Same, WellFormed, computes, discharge, transitivity
from cachet_verify.kernel.obligation import Failed, Obligation, Proved, Refuted, Verdict
from cachet_verify.kernel.optimum import minimal
from cachet_verify.report import record
from cachet_verify.source import Span

if TYPE_CHECKING:
    from cachet_verify.judge.file import Opened
    from cachet_verify.ledger.record import Evidence
    from cachet_verify.replay.record import Replay

_SEARCHED = "a model the search cannot rule out"


@dataclass(frozen=True, slots=True)
class Asking:
    """What else a conclusion needs: whether a set of premises can hold together, and who was asked.

    `proves` asks a further plan, and `opened` is the file; both serve what a refusal for cost proposes. `records` are
    the records of evidence that may be about its templates.
    """

    satisfiable: Callable[[tuple[Formula, ...]], bool | None]
    solvers: tuple[str, ...] = ()
    proves: Callable[[Plan], bool] | None = None
    opened: Opened | None = None
    records: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class _Open:
    """The first obligation of a plan that was not proved."""

    asked: Asked
    obligation: Obligation
    verdict: Verdict | None


def conclude(plan: Plan, verdicts: Mapping[str, Verdict], asking: Asking) -> record.ItemReport:
    """The report of an item."""
    shown = _obligations(plan, verdicts)
    if plan.settled is not None:
        return _item(plan, plan.settled.verdict, shown, plan.settled.refusal, plan.settled.reason)
    unproved = _unproved(plan, verdicts)
    faults = [item for item in unproved if isinstance(item.verdict, Failed)]
    if faults:
        reason = f"the solvers disagree about: {faults[0].obligation.subject}"
        return _item(plan, record.Verdict.ERROR, shown, refusal("tool.fault", reason, plan.span))
    if plan.backing is not None and unproved and not any(isinstance(item.verdict, Refuted) for item in unproved):
        return _item(plan, record.Verdict.PROVED, shown, claim=_claim(plan, {}, asking, (plan.backing,)))
    values = [item for item in unproved if item.asked.route != "cost"]
    if values or any(item.route != "cost" for item in plan.missing):
        return _not_proved(plan, values, shown)
    if unproved or plan.missing:
        return _too_costly(plan, unproved, shown, asking)
    if _asks_nothing(plan):
        return _item(plan, record.Verdict.UNDECIDED, shown, None, "nothing was asked")
    vacuous = _vacuous(plan, asking)
    if vacuous is not None:
        return _item(plan, record.Verdict.REFUSED if vacuous else record.Verdict.UNDECIDED, shown, *_vacuity(plan, vacuous))
    try:
        claims = _discharge(plan, verdicts)
    except (NotProvedError, RuleError) as error:
        return _item(plan, record.Verdict.ERROR, shown, refusal("tool.fault", f"the kernel did not conclude: {error}", plan.span))
    if plan.refuses is not None:
        return _item(plan, record.Verdict.REFUSED, shown, plan.refuses)
    return _item(plan, record.Verdict.PROVED, shown, claim=_claim(plan, verdicts, asking, _trusted(plan, claims, asking)))


def _asks_nothing(plan: Plan) -> bool:
    """Whether a plan, or a part of it, has no goal at all: then nothing is known of it, and nothing is said."""
    return not plan.asked and not plan.admitted and (not plan.parts or any(map(_asks_nothing, plan.parts)))


def _item(
    plan: Plan,
    verdict: record.Verdict,
    shown: tuple[record.ObligationReport, ...],
    refused: record.Refusal | None = None,
    reason: str = "",
    claim: record.ClaimReport | None = None,
) -> record.ItemReport:
    line, column = place_of(plan.span)
    if reason and not any(item.verdict != record.Verdict.PROVED for item in shown):
        says = f"{plan.kind} {plan.name}"
        shown = (*shown, record.ObligationReport(f"{plan.name}.item", says, record.Verdict.UNDECIDED, reason))
    return record.ItemReport(plan.name, plan.kind, verdict, line, column, claim, shown, refused)


def _obligations(plan: Plan, verdicts: Mapping[str, Verdict]) -> tuple[record.ObligationReport, ...]:
    return tuple(
        _obligation(f"{plan.name}.{place}", asked.heading + obligation.subject, verdicts.get(obligation.digest()))
        for place, (asked, obligation) in enumerate(plan.obligations(), 1)
    )


def _obligation(name: str, says: str, verdict: Verdict | None) -> record.ObligationReport:
    if verdict is None:
        return record.ObligationReport(name, says, record.Verdict.UNDECIDED, "not asked")
    solvers = {
        answer.solver: record.SolverAnswer(answer.answer if not answer.reason else f"{answer.answer}: {answer.reason}", answer.resource)
        for answer in verdict.answers
    }
    if isinstance(verdict, Proved):
        return record.ObligationReport(name, says, record.Verdict.PROVED, None, solvers)
    if isinstance(verdict, Refuted):
        return record.ObligationReport(name, says, record.Verdict.REFUSED, "a model was found", solvers)
    kind = record.Verdict.ERROR if isinstance(verdict, Failed) else record.Verdict.UNDECIDED
    return record.ObligationReport(name, says, kind, verdict.reason, solvers)


def _unproved(plan: Plan, verdicts: Mapping[str, Verdict]) -> list[_Open]:
    found = []
    for asked, obligation in plan.obligations():
        verdict = verdicts.get(obligation.digest())
        if not isinstance(verdict, Proved):
            found.append(_Open(asked, obligation, verdict))
    return found


def _not_proved(plan: Plan, unproved: list[_Open], shown: tuple[record.ObligationReport, ...]) -> record.ItemReport:
    """Refused where a run shows it or a step's own obligation has a model; undecided otherwise."""
    seen = _replayed(plan, unproved)
    if seen is not None and _contradicted(plan, unproved):
        text = "one route proved what a run refutes: the scripts are needed to find out why"
        return _item(plan, record.Verdict.ERROR, shown, refusal("tool.fault", text, plan.span))
    first = _reported(unproved, seen)
    if first is None and seen is not None:
        return _item(plan, record.Verdict.REFUSED, shown, _seen_only(plan, seen))
    if first is None:
        reason = plan.missing[0].reason if plan.missing else "incomplete"
        verdict = record.Verdict.UNDECIDED
        return _item(plan, verdict, shown, None, reason)
    is_refuted = isinstance(first.verdict, Refuted) and (first.obligation.can_refute or first.asked.route == "a")
    if seen is None and (not is_refuted or first.asked.route in ("b", "twin")):
        return _item(plan, record.Verdict.UNDECIDED, shown, None, _open_reason(first))
    is_side = first.asked.route == "side" and plan.meaning is None and not plan.parts
    refused = _refused(first, None if is_side else seen)
    member = _failing_part(plan, [first])
    if member is not plan and member.name not in refused.message:
        refused = replace(refused, message=f"{refused.message}\nin {member.name}")
    return _item(plan, record.Verdict.REFUSED, shown, refused)


def _too_costly(plan: Plan, unproved: list[_Open], shown: tuple[record.ObligationReport, ...], asking: Asking) -> record.ItemReport:
    """Refused where a cost has a model, undecided otherwise; everything about values is proved, so nothing is run."""
    over = [item for item in unproved if isinstance(item.verdict, Refuted) and item.obligation.can_refute]
    refused = None if over and over[0].asked.code != CODE else _over_budget(plan, unproved, asking)
    loose = [item for item in over if any(is_about_a_way(budget, item.obligation) for budget in _budgets(plan))]
    if refused is None and len(loose) < len(over):
        refused = _with_room(plan, _refused(next(item for item in over if item not in loose), None), asking)
    if refused is not None:
        return _item(plan, record.Verdict.REFUSED, shown, refused)
    reason = _open_reason(unproved[0]) if unproved else plan.missing[0].reason
    if loose:
        reason = f"incomplete: not proved that {loose[0].obligation.subject}, and no sizes were found at which it is not"
    return _item(plan, record.Verdict.UNDECIDED, shown, None, reason)


def _budgets(plan: Plan) -> list[Budget]:
    return [part.budget for part in (plan, *plan.parts) if part.budget is not None]


def _with_room(plan: Plan, made: record.Refusal, asking: Asking) -> record.Refusal:
    """The refusal of a working set, with the block that would fit where there is one."""
    if not made.code.startswith("cost.") or made.code == CODE or asking.proves is None or asking.opened is None:
        return made
    from cachet_verify.judge.room import room_hints

    return replace(made, hints=(*made.hints, *room_hints(plan, asking.proves, asking.opened)))


def _over_budget(plan: Plan, unproved: list[_Open], asking: Asking) -> record.Refusal | None:
    """The refusal by a budget, where numbers are found at which it is not met; sizes above 0 say more than empty ones."""
    open_items = [item for item in unproved if item.asked.code == CODE]
    pairs = [(budget, excess(budget, item.obligation, item.verdict)) for item in open_items for budget in _budgets(plan)]
    found = [(budget, over) for budget, over in pairs if over is not None]
    if not found:
        return None
    budget, over = min(found, key=lambda pair: pair[1].is_empty)
    made = exceeded(plan, budget, over)
    if asking.proves is None:
        return made
    from cachet_verify.judge.change import budget_hints

    return replace(made, hints=(*made.hints, *budget_hints(plan, budget, over, asking.proves, asking.opened)))


def _reported(unproved: list[_Open], seen: Replay | None) -> _Open | None:
    """The obligation that a refusal is about: a side condition that fails, of the kind a run shows, with a model, or the first."""
    for item in unproved:
        if item.asked.route == "side" and isinstance(item.verdict, Refuted):
            return item
    if seen is not None and seen.kind == "fault":
        code = "program.uninitialised" if seen.fault == "unspecified" else "program.not-well-formed"
        unproved = [item for item in unproved if item.asked.code == code] or unproved
    for item in unproved:
        if isinstance(item.verdict, Refuted) and (item.obligation.can_refute or item.asked.route == "a"):
            return item
    return unproved[0] if unproved else None


def _open_reason(item: _Open) -> str:
    if isinstance(item.verdict, Refuted):
        return _SEARCHED
    return "not asked" if item.verdict is None else getattr(item.verdict, "reason", "incomplete")


def _replayed(plan: Plan, unproved: list[_Open]) -> Replay | None:
    from cachet_verify.replay.search import find_fault, replay

    failing = _failing_part(plan, unproved)
    meaning, program = failing.witness or (failing.meaning, failing.program)
    try:
        if program is None:
            return None
        if any(item.asked.route == "form" for item in unproved):
            fault = find_fault(program)
            if fault is not None:
                return fault
        found = None if meaning is None else replay(meaning, program)
        return found if found is None or failing.sides is None else replace(found, sides=failing.sides)
    except MeaningError:
        return None


def _failing_part(plan: Plan, unproved: list[_Open]) -> Plan:
    """The member that the first open obligation belongs to; the plan itself where it has no members."""
    goals = [id(item.asked.goal) for item in unproved[:1]]
    for part in plan.parts:
        if any(id(asked.goal) in goals for asked in part.asked) or (not unproved and part.missing and part.witness is not None):
            return part
    return plan


def _contradicted(plan: Plan, unproved: list[_Open]) -> bool:
    """Whether some route was wholly proved though a run departs from the meaning."""
    open_routes = {item.asked.route for item in unproved} | {item.route for item in plan.missing}
    if open_routes == {"twin"}:
        return False
    if "form" in open_routes or "side" in open_routes:
        return False
    return any(asked.route in ("a", "b") and asked.route not in open_routes and _is_whole(plan, asked) for asked in plan.asked)


def _is_whole(plan: Plan, asked: Asked) -> bool:
    """Whether a route is about the plan's whole way; the end-to-end one starts behind steps that regroup."""
    statement = asked.goal.statement
    return asked.route != "b" or not isinstance(statement, Same) or plan.meaning is None or statement.before == plan.meaning


def _with_replay(made: record.Refusal, seen: Replay) -> record.Refusal:
    """A refusal with the run that shows it."""
    shown = None
    if seen.hexes is not None:
        shown = record.Replay(True, seen.cell, *seen.hexes)
    elif seen.values is not None:
        shown = record.Replay(True, seen.cell, *seen.values)
    elif seen.kind == "fault":
        shown = record.Replay(True, seen.cell, "", seen.reason or "")
    text = "\n".join((made.message, *seen.lines()))
    return replace(made, message=text, counterexample=dict(seen.sizes), replay=shown)


def _seen_only(plan: Plan, seen: Replay) -> record.Refusal:
    """The refusal of what a run refutes though no route could be asked."""
    if seen.kind == "fault":
        return _with_replay(refusal("program.not-well-formed", f"could not prove {plan.name} is well formed", plan.span), seen)
    buffer = seen.cell.partition("[")[0]
    part = _failing_part(plan, [])
    code, what = ("relation.not-proved", f"relation {plan.name}") if part.invariance is None else ("invariant.not-proved", part.name)
    return _with_replay(refusal(code, f"could not prove {what}: every cell of {buffer} ends with the same word", plan.span), seen)


def _refused(item: _Open, seen: Replay | None) -> record.Refusal:
    told = item.asked.told.get(item.obligation.subject) or Told(item.asked.code, item.asked.note, item.asked.span)
    text = "\n".join(part for part in (item.asked.sentence(item.obligation), told.note) if part)
    made = refusal(told.code, text, _where(told.span, seen))
    if seen is not None and seen.fault == "window" and isinstance(item.verdict, Refuted):
        at = "".join(f"{name} = {value}, " for name, value in seen.sizes)
        shown = record.Replay(True, seen.cell, "", f"{at}{seen.reason}")
        return replace(made, counterexample=least_model(item.obligation, item.verdict.model), replay=shown)
    if seen is not None:
        return _with_replay(made, seen)
    if isinstance(item.verdict, Refuted):
        found = least_model(item.obligation, item.verdict.model)
        unseen = record.Replay(False, "", "", "no run that was tried shows a difference") if item.asked.route in ("a", "b") else None
        return replace(made, counterexample=found, replay=unseen)
    return made


def _where(span: Span | None, seen: Replay | None) -> Span | None:
    """The statement at which a run stopped, where that stands inside the item; else the item's own place."""
    at = seen.span if seen is not None and seen.kind == "fault" else None
    is_inside = at is not None and span is not None and at.path == span.path and span.start <= at.start and at.end <= span.end
    return at if is_inside else span


def _vacuous(plan: Plan, asking: Asking) -> bool | None:
    """None when the premises can hold together; true when they cannot; false when nobody could tell."""
    if not plan.premises:
        return None
    answer = asking.satisfiable(plan.premises)
    return None if answer else answer is False


def _vacuity(plan: Plan, is_vacuous: bool) -> tuple[record.Refusal | None, str]:
    if not is_vacuous:
        return None, "incomplete: whether the premises can hold together"
    text = f"{plan.name} is vacuous: no sizes meet what it requires"
    return refusal("premises.vacuous", text, plan.span), ""


def _discharge(plan: Plan, verdicts: Mapping[str, Verdict]) -> tuple[Claim, ...]:
    """The kernel's claims: one for each goal, the steps chained, and what they come to together, for each part of a plan."""
    if plan.parts:
        theirs = {id(asked) for part in plan.parts for asked in part.asked}
        own = tuple(discharge(asked.goal, verdicts) for asked in plan.asked if id(asked) not in theirs)
        return (*own, *(claim for part in plan.parts for claim in _discharge(part, verdicts)))
    claims = {id(asked): discharge(asked.goal, verdicts) for asked in plan.asked}
    made = [claims[id(asked)] for asked in plan.asked if asked.route in ("form", "side", "cost")]
    if plan.optimum is not None:
        made.append(discharge(minimal(plan.optimum, tuple(made)), {}))
    if plan.invariance is not None:
        made.append(invariance(plan, plan.invariance, claims))
    if plan.meaning is None or plan.program is None:
        return tuple(made)
    routes = []
    steps = [claims[id(asked)] for asked in plan.asked if asked.route == "a"]
    reached: dict[Program | None, Claim] = {}
    if steps:
        chained = steps[0]
        for step in steps[1:]:
            reached[_end(chained)] = chained
            chained = discharge(transitivity(chained, step), {})
        reached[_end(chained)] = chained
        routes.append(chained)
    routes.extend(_from(plan.meaning, claims[id(asked)], reached) for asked in plan.asked if asked.route == "b")
    made.extend(chained_over_reals(made))
    formed = {claim.statement.program: claim for claim in made if isinstance(claim.statement, WellFormed)}
    if plan.meaning not in formed or plan.program not in formed:
        raise RuleError("computes", "a program was not asked to be well formed")
    goal: Goal = computes((formed[plan.meaning], formed[plan.program]), tuple(routes))
    return (*made, discharge(goal, {}))


def _end(claim: Claim) -> Program | None:
    return claim.statement.after if isinstance(claim.statement, Same) else None


def _from(meaning: Program, claim: Claim, reached: Mapping[Program | None, Claim]) -> Claim:
    """An end-to-end claim that starts behind the first steps, with those in front of it."""
    before = claim.statement.before if isinstance(claim.statement, Same) else meaning
    return claim if before == meaning or before not in reached else discharge(transitivity(reached[before], claim), {})


def _trusted(plan: Plan, claims: tuple[Claim, ...], asking: Asking) -> tuple[record.TrustedEntry, ...]:
    """What the kernel's claims rest on, and what the plan admits."""
    marks = sorted({(mark.kind, mark.name, mark.reason, mark.identity) for claim in claims for mark in claim.trust})
    found = (_entry(record.TrustedEntry(kind, name, reason or None, identity=identity), plan, asking) for kind, name, reason, identity in marks)
    return tuple(dict.fromkeys((*plan.admitted, *found)))


def _entry(entry: record.TrustedEntry, plan: Plan, asking: Asking) -> record.TrustedEntry:
    """The entry with the evidence that there is."""
    if entry.kind == "template":
        return template_entry(entry.name, entry.identity, plan, asking.records)
    return function_entry(entry, plan, asking.records) if entry.kind == "function" else entry


def _claim(plan: Plan, verdicts: Mapping[str, Verdict], asking: Asking, trusted: tuple[record.TrustedEntry, ...]) -> record.ClaimReport | None:
    if not (plan.of or plan.said or plan.assumes or trusted):
        return None
    taken = {asked.route for part in (plan, *plan.parts) for asked in part.asked if _is_whole(part, asked)}
    taken |= {"b"} if "twin" in taken else set()
    routes = tuple(route for route in ("a", "b") if route in taken)
    solvers = None
    for _, obligation in plan.obligations():
        verdict = verdicts.get(obligation.digest())
        said = {f"{answer.solver} {answer.version}" for answer in verdict.answers if answer.answer == "unsat"} if verdict is not None else set()
        solvers = said if solvers is None else solvers & said
    by = tuple(sorted(solvers)) if solvers is not None else asking.solvers
    sides = (side for part in (plan, *plan.parts) for side in (part.program, part.meaning) if side is not None)
    program = next(sides, None)
    return record.ClaimReport(
        parts=(*((record.ClaimPart("bits of", plan.of),) if plan.of else ()), *plan.said),
        arithmetic=None if program is None or program.arithmetic is None else program.arithmetic.name,
        by=plan.by,
        trusted=trusted,
        assumes=plan.assumes,
        requires=tuple(dict.fromkeys(spell_requirement(need.condition) for need in plan.requires)),
        fits=plan.fits,
        strength=record.Strength(by, routes),
    )
