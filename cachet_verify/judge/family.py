"""The plan of a family claim: every member of a set of block sizes computes the same words.

Takes a file and the family; gives one plan. An open family is one comparison with the sizes left
symbolic; a listed one asks each member. Must not sample members.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from cachet_verify.core.index import conjuncts
from cachet_verify.core.ir import Program, Require
from cachet_verify.elaborate.item import FamilyItem
from cachet_verify.elaborate.load import LoadedFile
from cachet_verify.elaborate.module import Module, elaborate
from cachet_verify.elaborate.problem import Unsupported
from cachet_verify.judge.item import layouts_of, not_supported
from cachet_verify.judge.plan import Plan, premises_of
from cachet_verify.judge.relation import Questions, compared, formed
from cachet_verify.judge.schedule import apply_schedule, plan_schedule
from cachet_verify.rewrite.scope import Scope

_MOST_MEMBERS = 256


def plan_family(loaded: LoadedFile, module: Module, item: FamilyItem, routes: str) -> Plan:
    """The plan of `family (MC, NC) …` for a schedule."""
    plan = Plan(item.name, "proof", item.span)
    schedule = module.schedules.get(item.of)
    if schedule is None or schedule.program is None or schedule.unsupported:
        return not_supported(plan, (Unsupported(f"a family of {item.of}", item.span),))
    if item.choices is None:
        return _open(loaded, item, plan)
    members = list(product(*item.choices))
    if len(members) > _MOST_MEMBERS:
        return not_supported(plan, (Unsupported(f"a listed family of more than {_MOST_MEMBERS} members", item.span),))
    questions = Questions()
    last = plan
    for values in members:
        chosen = dict(zip(item.names, values, strict=True))
        last = _member(loaded, item, chosen, routes)
        if last.settled is not None:
            return replace(last, name=item.name, kind="proof")
        questions += Questions(last.asked, last.missing)
    asked = tuple(replace(part, route="side") if part.route in ("a", "b") else part for part in questions.asked)
    return replace(last, name=item.name, kind="proof", asked=asked, missing=questions.missing, meaning=None, program=None)


def _member(loaded: LoadedFile, item: FamilyItem, chosen: dict[str, int], routes: str) -> Plan:
    """The plan of one member: the file elaborated with these values of the constants."""
    text = ", ".join(f"{name} = {value}" for name, value in chosen.items())
    module = elaborate(loaded, values=chosen)
    schedule = module.schedules.get(item.of)
    if schedule is None or schedule.program is None or schedule.unsupported:
        return not_supported(Plan(item.name, "proof", item.span), (Unsupported(f"{item.of} at {text}", item.span),))
    scope = Scope(module.step_fns, module.schedule_fns, dict(module.constants), schedule.buffers, schedule.name)
    applied = apply_schedule(schedule.program, schedule.lines, scope)
    plan = plan_schedule(f"{item.of} at {text}", item.span, applied, routes)
    more = layouts_of(applied.program, module.layouts)
    return replace(plan, asked=(*plan.asked, *more.asked), missing=(*plan.missing, *more.missing))


def _open(loaded: LoadedFile, item: FamilyItem, plan: Plan) -> Plan:
    """One comparison with the block sizes as sizes of the program, under the family's condition."""
    module = elaborate(loaded, symbolic=item.names)
    schedule = module.schedules.get(item.of)
    if schedule is None or schedule.program is None:
        return not_supported(plan, (Unsupported(f"an open family of {item.of}", item.span),))
    constants: dict[str, int | str] = {**module.constants, **{name: name for name in item.names}}
    scope = Scope(module.step_fns, module.schedule_fns, constants, schedule.buffers, schedule.name)
    start = _with_sizes(schedule.program, item)
    applied = apply_schedule(start, schedule.lines, scope)
    if applied.stopped is not None:
        return replace(plan_schedule(item.name, item.span, applied, "a"), kind="proof")
    final = applied.program
    questions = formed(start, item.span) + formed(final, item.span) + layouts_of(final, module.layouts)
    questions += compared(item.name, start, final, item.span)
    return replace(
        plan,
        asked=questions.asked,
        missing=questions.missing,
        meaning=start,
        program=final,
        of=schedule.program.name,
        requires=final.requires,
        premises=premises_of(final),
    )


def _with_sizes(program: Program, item: FamilyItem) -> Program:
    sizes = tuple(name for name in item.names if name not in program.sizes)
    needs = tuple(Require(part, "family") for part in conjuncts(item.condition))
    return replace(program, sizes=(*program.sizes, *sizes), requires=(*program.requires, *needs))


