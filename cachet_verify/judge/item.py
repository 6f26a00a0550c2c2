"""The plans of items other than schedules: programs, layouts, written proofs, and what has no meaning yet.

Takes elaborated items; gives plans. Must not decide anything that a solver is to decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from cachet_verify.core.index import Const
from cachet_verify.core.ir import Block, Declare, For, Grid, If, Inlined, Op, Param, Print, Program, Stmt, Store, statements
from cachet_verify.elaborate.item import (
    AdmitItem,
    AssertItem,
    CallSite,
    LayoutItem,
    OtherItem,
    ProgramItem,
    RelateItem,
)
from cachet_verify.elaborate.problem import Unsupported
from cachet_verify.elaborate.scope import SideCondition
from cachet_verify.elaborate.world import qualified
from cachet_verify.judge.plan import Asked, Missing, Plan, Settled, premises_of, refusal
from cachet_verify.judge.relation import Questions, compared, evaluated_as, formed, mixture, written_first
from cachet_verify.kernel.claim import entails
from cachet_verify.report.record import Refusal, TrustedEntry, Verdict
from cachet_verify.source import Span


def not_supported(plan: Plan, unsupported: Sequence[Unsupported]) -> Plan:
    """The plan of an item that uses something without a meaning yet."""
    for item in unsupported:
        if item.fault:
            message = f"could not prove {plan.name} is well formed: {item.fault}"
            return replace(plan, settled=Settled(Verdict.REFUSED, refusal("program.barrier", message, item.span)))
    named = ", ".join(dict.fromkeys(item.construct for item in unsupported))
    return replace(plan, settled=Settled(Verdict.UNDECIDED, reason=f"not-supported: {named}"))


def conditions(found: Iterable[SideCondition], heading: str, code: str) -> Questions:
    """Side conditions as goals."""
    asked = []
    for condition in found:
        goal = entails(condition.premises, condition.goal, condition.text)
        asked.append(Asked(goal, heading, code, "side", condition.span))
    return Questions(tuple(asked))


def borrowed(names: Iterable[str], programs: Mapping[str, ProgramItem], layouts: Mapping[str, LayoutItem]) -> Questions:
    """All that is asked of the programs behind some names, and behind those, as far as `programs` holds them.

    They are of other files, or of this one at other values of its constants: no plan of their own asks it.
    """
    asked = Questions()
    for name in reached(names, {name: item.rests_on for name, item in programs.items()}):
        if name in programs:
            asked += _asked_of(name, programs[name], layouts)
    return asked


def reached(names: Iterable[str], rests: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Some names, and every name that they rest on, directly or through others."""
    found: dict[str, None] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop(0)
        if name not in found:
            found[name] = None
            waiting.extend(rests.get(name, ()))
    return tuple(found)


def _asked_of(name: str, item: ProgramItem, layouts: Mapping[str, LayoutItem]) -> Questions:
    program = item.program
    if item.unsupported or program is None or any(site.overlaps for site in item.calls):
        return Questions((), (Missing("side", f"rests on {name}, which is not proved"),))
    silent = without_prints(program) if item.is_host else program
    found = conditions(item.conditions, "", "program.side-condition") + calls(item.calls) + formed(silent, item.span)
    found += layouts_of(program, layouts)
    if item.kind == "fn":
        found += written_first(silent, item.span)
    heading = f"what {name} needs: "
    return Questions(tuple(replace(part, heading=heading + part.heading, route="side") for part in found.asked), found.missing)


def plan_program(item: ProgramItem, layouts: Mapping[str, LayoutItem]) -> Plan:
    """A contraction or a function: well formed, its side conditions, its calls."""
    plan = Plan(item.name, item.kind, item.span, rests_on=item.rests_on)
    lent = next(_overlaps(item.calls), None)
    if lent is not None:
        return replace(plan, settled=Settled(Verdict.REFUSED, lent))
    if item.unsupported:
        return not_supported(plan, item.unsupported)
    questions = conditions(item.conditions, "", "program.side-condition") + calls(item.calls)
    if item.program is None:
        return _without_program(plan, item, questions)
    program = item.program
    silent = without_prints(program) if item.is_host else program
    questions += formed(silent, item.span) + layouts_of(program, layouts)
    if item.kind == "fn":
        questions += written_first(silent, item.span)
    premises = premises_of(program)
    return replace(
        plan, asked=questions.asked, missing=questions.missing, program=program, premises=premises, requires=program.requires
    )


def without_prints(program: Program) -> Program:
    """The program with every printed value stored to a cell of one more parameter: its accesses stay.

    The reader of what is printed is a caller, so no unspecified word may be printed either.
    """
    count = 0
    name = "printed'"

    def walk(block: Block) -> Block:
        return Block(tuple(quiet(stmt) for stmt in block.body))

    def quiet(stmt: Stmt) -> Stmt:
        nonlocal count
        if isinstance(stmt, Print):
            count += 1
            return Store(name, (Const(count - 1),), Op("print", "printed", (stmt.value,)), span=stmt.span)
        if isinstance(stmt, If):
            return replace(stmt, then=walk(stmt.then), orelse=walk(stmt.orelse))
        if isinstance(stmt, (For, Grid, Inlined)):
            return replace(stmt, body=walk(stmt.body))
        return walk(stmt) if isinstance(stmt, Block) else stmt

    body = walk(program.body)
    return replace(program, body=body, params=(*program.params, Param(name, "mut", "printed", (Const(count),))))


def _without_program(plan: Plan, item: ProgramItem, questions: Questions) -> Plan:
    """An item without a program is undecided, whatever else is said of it."""
    if item.waits_for:
        reason = f"rests on {', '.join(item.waits_for)}, which is not proved"
        return replace(plan, settled=Settled(Verdict.UNDECIDED, reason=reason))
    return not_supported(plan, (Unsupported(f"{item.kind} {item.name}", item.span),))


def calls(found: Iterable[CallSite]) -> Questions:
    """What calls need: equal shapes, and the callees' requirements."""
    asked = Questions()
    for site in found:
        asked += conditions(site.requirements, f"the call of {site.callee}: ", "call.requirement")
    return asked


def _overlaps(found: Iterable[CallSite]) -> Iterator[Refusal]:
    for site in found:
        for overlap in site.overlaps:
            lines = [overlap.message, f"{overlap.first} and {overlap.second} are one buffer, and one of them is written"]
            yield refusal("call.aliasing", "\n".join(lines), site.span)


def layouts_of(program: Program, layouts: Mapping[str, LayoutItem]) -> Questions:
    """The proofs of the layouts that a program's parameters and locals are declared in."""
    asked = Questions()
    locals_ = (stmt.layout for stmt in statements(program.body) if isinstance(stmt, Declare))
    used = [layout for layout in (*(param.layout for param in program.params), *locals_) if layout is not None]
    for name, source in dict.fromkeys((layout.name, layout.source) for layout in used):
        layout = layouts.get(qualified(source, name) if source else name)
        if layout is None:
            asked += Questions((), (Missing("side", f"not-supported: the layout {name}"),))
        else:
            asked += conditions(layout.conditions, f"layout {name}: ", "layout.not-proved")
    return asked


def plan_layout(item: LayoutItem) -> Plan:
    """A layout: injective, and inside its size, where what it requires can be met."""
    questions = conditions(item.conditions, f"layout {item.name}: ", "layout.not-proved")
    return Plan(item.name, "layout", item.span, asked=questions.asked, premises=item.premises)


def plan_assertion(item: AssertItem) -> Plan:
    """`proof p = assert E`, for all numbers that meet its premises, if any do."""
    goal = entails(item.premises, item.formula, item.text)
    asked = (Asked(goal, f"proof {item.name}: ", "proof.not-proved", "side", item.span, item.sides),)
    layouts = conditions(item.conditions, "", "layout.not-proved").asked
    return Plan(item.name, "proof", item.span, asked=(*asked, *layouts), premises=item.premises, assumes=item.assumes)


def plan_relation(item: RelateItem, program: Program | None, meaning: Program | None, layouts: Mapping[str, LayoutItem]) -> Plan:
    """`proof p = relate F to G`: both well formed, and the same by route B."""
    plan = Plan(item.name, "proof", item.span, rests_on=item.rests_on)
    if item.unsupported:
        return not_supported(plan, item.unsupported)
    if program is None or meaning is None:
        return replace(plan, settled=Settled(Verdict.UNDECIDED, reason=f"rests on {', '.join(item.schedules)}, which is not proved"))
    program, meaning = _requiring(program, meaning), evaluated_as(meaning, program)
    mix = mixture(meaning, program)
    if mix is not None:
        return replace(plan, settled=Settled(Verdict.UNDECIDED, reason=f"not-supported: {mix}"))
    questions = conditions(item.conditions, "", "proof.not-proved") + formed(meaning, item.span)
    if program != meaning:
        questions += formed(program, item.span)
    questions += layouts_of(program, layouts) + compared(item.name, meaning, program, item.span)
    return replace(
        plan,
        asked=questions.asked,
        missing=questions.missing,
        meaning=meaning,
        program=program,
        of=item.meaning_name,
        requires=(*program.requires, *item.held),
        premises=premises_of(program),
    )


def _requiring(program: Program, meaning: Program) -> Program:
    """The program with what its meaning requires as well: the claim is about sizes at which both may be called."""
    more = tuple(need for need in meaning.requires if need not in program.requires)
    return replace(program, requires=(*program.requires, *more)) if more else program


def plan_admission(item: AdmitItem) -> Plan:
    """`proof p = admit "reason"`: proved by no one, and shown as such."""
    entry = TrustedEntry("admitted", item.name, item.reason)
    return Plan(item.name, "proof", item.span, admitted=(entry,))


def plan_other(item: OtherItem, span: Span | None = None) -> Plan:
    """A declaration without a meaning yet."""
    return not_supported(Plan(item.name, item.kind, item.span or span), item.unsupported)
