"""The plan of a family claim: every member of a set of block sizes computes the same words.

Takes a file and the family; gives one plan. An open family is one comparison with the sizes left
symbolic; a listed one asks each member. Must not sample members.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import TypeVar

from cachet_verify.core.index import ZERO, Var, conjuncts, le
from cachet_verify.core.ir import Program, Require
from cachet_verify.elaborate.item import FamilyItem, ProgramItem, ScheduleItem
from cachet_verify.elaborate.load import LoadedFile
from cachet_verify.elaborate.module import Module, elaborate
from cachet_verify.elaborate.problem import Unsupported
from cachet_verify.elaborate.scope import SideCondition
from cachet_verify.judge.item import borrowed, conditions, layouts_of, not_supported
from cachet_verify.judge.plan import Plan, premises_of
from cachet_verify.judge.relation import Questions, compared, formed, mixture
from cachet_verify.judge.schedule import admitted_in, apply_schedule, plan_schedule
from cachet_verify.judge.synth import chosen_by
from cachet_verify.rewrite.scope import Scope
from cachet_verify.syntax import ast

_Part = TypeVar("_Part")

_MOST_MEMBERS = 256


def plan_family(loaded: LoadedFile, module: Module, item: FamilyItem, routes: str) -> Plan:
    """The plan of `family (MC, NC) …` for a schedule."""
    plan = Plan(item.name, "proof", item.span)
    schedule = module.schedules.get(item.of)
    if schedule is None or schedule.program is None or schedule.unsupported:
        return not_supported(plan, (Unsupported(f"a family of {item.of}", item.span),))
    fixed = [name for name in item.names if name not in _own_numbers(loaded)]
    if fixed:
        return not_supported(plan, (Unsupported(f"a family over `{fixed[0]}`, which is no integer constant of this file", item.span),))
    if item.choices is None:
        return _open(loaded, item, plan)
    members = list(product(*item.choices))
    if len(members) > _MOST_MEMBERS:
        return not_supported(plan, (Unsupported(f"a listed family of more than {_MOST_MEMBERS} members", item.span),))
    plans: list[Plan] = []
    for values in members:
        plans.append(_member(loaded, item, dict(zip(item.names, values, strict=True)), routes))
        if plans[-1].settled is not None:
            return replace(plans[-1], name=item.name, kind="proof")
    return _joined(plan, plans)


def _joined(plan: Plan, members: list[Plan]) -> Plan:
    """One plan of all members: everything asked of any is asked, and each is concluded for itself."""
    asked = tuple(part for made in members for part in made.asked)
    return replace(
        plan,
        of=members[-1].of,
        asked=tuple(replace(part, route="side") if part.route in ("a", "b") else part for part in asked),
        missing=tuple(part for made in members for part in made.missing),
        requires=_all_of(made.requires for made in members),
        premises=_all_of(made.premises for made in members),
        admitted=_all_of(made.admitted for made in members),
        parts=tuple(members),
    )


def plan_declared(module: Module, schedule: ScheduleItem, family: FamilyItem, routes: str) -> Plan:
    """The plan of a schedule whose header declares a family: its lines at each member, or with the names left open."""
    plan = Plan(schedule.name, "schedule", schedule.span)
    if schedule.program is None or len(schedule.families) != 1:
        return not_supported(plan, (Unsupported("more than one family in a header", schedule.span),))
    if family.choices is None:
        constants: dict[str, int | str] = {**module.constants, **{name: name for name in family.names}}
        scope = Scope(module.step_fns, module.schedule_fns, constants, schedule.buffers, schedule.name, device=schedule.device, units=schedule.units)
        return _compared_open(module, schedule, family, plan, scope)
    members = list(product(*family.choices))
    if len(members) > _MOST_MEMBERS:
        return not_supported(plan, (Unsupported(f"a listed family of more than {_MOST_MEMBERS} members", family.span),))
    made = []
    for values in members:
        chosen: dict[str, int | str] = {**module.constants, **dict(zip(family.names, values, strict=True))}
        scope = Scope(module.step_fns, module.schedule_fns, chosen, schedule.buffers, schedule.name, device=schedule.device, units=schedule.units)
        made.append(_applied_member(module, schedule, family, scope, dict(zip(family.names, values, strict=True)), routes))
        if made[-1].settled is not None:
            return replace(made[-1], name=schedule.name, kind="schedule")
    return _joined(plan, made)


def _own_numbers(loaded: LoadedFile) -> frozenset[str]:
    """The constants that a family may vary: integers of the file itself. Those of other files keep their values."""
    own = (decl for decl in loaded.tree.declarations if isinstance(decl, ast.Const))
    return frozenset(decl.name for decl in own if decl.type is None or decl.type in (ast.Name("Nat"), ast.Name("Int")))


def _all_of(parts: Iterable[tuple[_Part, ...]]) -> tuple[_Part, ...]:
    """What any member needs: the claim speaks of every member, so it needs all of it."""
    return tuple(dict.fromkeys(part for found in parts for part in found))


def _member(loaded: LoadedFile, item: FamilyItem, chosen: dict[str, int], routes: str) -> Plan:
    """The plan of one member: the file elaborated with these values of the constants."""
    module = elaborate(loaded, values=chosen)
    schedule = module.schedules.get(item.of)
    if schedule is None or schedule.program is None or schedule.unsupported:
        text = ", ".join(f"{name} = {value}" for name, value in chosen.items())
        return not_supported(Plan(item.name, "proof", item.span), (Unsupported(f"{item.of} at {text}", item.span),))
    known = dict(module.constants)
    scope = Scope(module.step_fns, module.schedule_fns, known, schedule.buffers, schedule.name, device=schedule.device, units=schedule.units)
    return _applied_member(module, schedule, item, scope, chosen, routes)


def _applied_member(module: Module, schedule: ScheduleItem, item: FamilyItem, scope: Scope, chosen: dict[str, int], routes: str) -> Plan:
    text = ", ".join(f"{name} = {value}" for name, value in chosen.items())
    if schedule.program is None:
        raise ValueError(f"{schedule.name} has no program")
    applied = apply_schedule(schedule.program, schedule.lines, scope)
    plan = plan_schedule(f"{item.of} at {text}", item.span, applied, routes)
    if applied.regrouped is not None and applied.regrouped.is_real:
        return not_supported(plan, (Unsupported("a family of schedules that regroup over the reals", item.span),))
    more = layouts_of(applied.program, module.layouts) + _needed(module, schedule, None)
    admitted = admitted_in(schedule.name, applied)
    return replace(plan, asked=(*plan.asked, *more.asked), missing=(*plan.missing, *more.missing), admitted=admitted)


def _open(loaded: LoadedFile, item: FamilyItem, plan: Plan) -> Plan:
    """One comparison with the block sizes as sizes of the program, under the family's condition."""
    module = elaborate(loaded, symbolic=item.names)
    schedule = module.schedules.get(item.of)
    if schedule is None or schedule.program is None or schedule.unsupported:
        return not_supported(plan, (Unsupported(f"an open family of {item.of}", item.span),))
    constants: dict[str, int | str] = {**module.constants, **{name: name for name in item.names}}
    scope = Scope(module.step_fns, module.schedule_fns, constants, schedule.buffers, schedule.name, device=schedule.device, units=schedule.units)
    return _compared_open(module, schedule, item, plan, scope)


def _compared_open(module: Module, schedule: ScheduleItem, item: FamilyItem, plan: Plan, scope: Scope) -> Plan:
    if schedule.program is None:
        raise ValueError(f"{schedule.name} has no program")
    start = _with_sizes(schedule.program, item)
    applied = apply_schedule(start, schedule.lines, scope)
    if applied.stopped is not None:
        return replace(plan_schedule(plan.name, plan.span, applied, "a"), kind=plan.kind)
    final = applied.program
    if applied.regrouped is not None:
        return not_supported(plan, (Unsupported("an open family of a schedule that regroups", item.span),))
    mix = mixture(start, final)
    if mix is not None:
        return not_supported(plan, (Unsupported(mix, item.span),))
    questions = formed(start, item.span) + formed(final, item.span) + layouts_of(final, module.layouts)
    questions += compared(plan.name, start, final, item.span) + _needed(module, schedule, item)
    return replace(
        plan,
        asked=questions.asked,
        missing=questions.missing,
        meaning=start,
        program=final,
        of=schedule.program.name,
        requires=final.requires,
        premises=premises_of(final),
        admitted=admitted_in(schedule.name, applied),
    )


def _needed(module: Module, schedule: ScheduleItem, family: FamilyItem | None) -> Questions:
    """The side conditions of a schedule and of all it rests on, at these values of the constants."""
    programs = {**module.programs, **module.imported}
    found = schedule.conditions
    if family is not None:
        programs = {name: _under(item, family) for name, item in programs.items()}
        found = _given(found, family)
    chosen = module.behind[schedule.name].chosen if schedule.name in module.behind else ()
    needed = conditions(found, "", "program.side-condition") + borrowed(schedule.rests_on, programs, module.layouts)
    return needed + chosen_by(chosen, module)


def _under(item: ProgramItem, family: FamilyItem) -> ProgramItem:
    """A program under the condition of an open family."""
    calls = tuple(replace(site, requirements=_given(site.requirements, family)) for site in item.calls)
    program = None if item.program is None else _with_sizes(item.program, family)
    return replace(item, conditions=_given(item.conditions, family), calls=calls, program=program)


def _given(found: Iterable[SideCondition], family: FamilyItem) -> tuple[SideCondition, ...]:
    naturals = tuple(le(ZERO, Var(name)) for name in family.names)
    return tuple(replace(item, premises=(*item.premises, *naturals, *conjuncts(family.condition))) for item in found)


def _with_sizes(program: Program, item: FamilyItem) -> Program:
    sizes = tuple(name for name in item.names if name not in program.sizes)
    needs = tuple(Require(part, "family") for part in conjuncts(item.condition))
    return replace(program, sizes=(*program.sizes, *sizes), requires=(*program.requires, *needs))


