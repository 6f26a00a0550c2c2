"""The plans of all items of one file, in the order of the text.

Takes a path; gives plans, and what each item rests on. Raises CachetError for bad input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from cachet_verify.core.ir import Program
from cachet_verify.diagnostic import CachetError
from cachet_verify.elaborate.behind import Behind
from cachet_verify.elaborate.item import AdmitItem, AssertItem, FamilyItem, InvariantItem, ProgramItem, RelateItem, ScheduleItem
from cachet_verify.elaborate.load import LoadedFile, load_file
from cachet_verify.elaborate.module import Module, elaborate
from cachet_verify.elaborate.platform import Platform
from cachet_verify.elaborate.problem import Unsupported
from cachet_verify.judge.budget import borrowed_budgets, with_budget
from cachet_verify.judge.family import plan_declared, plan_family
from cachet_verify.judge.fit import with_fit
from cachet_verify.judge.invariant import invariants_of, plan_invariant, with_invariants
from cachet_verify.judge.item import (
    borrowed,
    conditions,
    layouts_of,
    not_supported,
    plan_admission,
    plan_assertion,
    plan_layout,
    plan_other,
    plan_program,
    plan_relation,
    reached,
)
from cachet_verify.judge.law import plan_law
from cachet_verify.judge.plan import Asked, Plan, Settled, faulted
from cachet_verify.judge.schedule import Applied, apply_schedule, inapplicable, plan_schedule
from cachet_verify.judge.synth import chosen_by, plan_synth
from cachet_verify.report.record import Verdict
from cachet_verify.rewrite.error import StepError
from cachet_verify.rewrite.scope import Scope
from cachet_verify.source import Span
from cachet_verify.syntax import ast


@dataclass(frozen=True, slots=True)
class Opened:
    """A file elaborated; a schedule's steps are applied when its program is first asked for."""

    loaded: LoadedFile
    module: Module
    applied: Mapping[str, Applied]

    def program(self, name: str) -> Program | None:
        """The program of a contraction or a function, or of a schedule whose steps all applied."""
        if name in self.applied:
            applied = self.applied[name]
            return None if applied.stopped is not None else replace(applied.program, name=name)
        item = self.module.programs.get(name)
        return None if item is None else item.program


@dataclass(frozen=True, slots=True)
class FilePlan:
    """The plans of a file, and which names each rests on."""

    plans: tuple[Plan, ...]
    rests: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def reaches(self, plan: Plan) -> tuple[str, ...]:
        """Every name that an item rests on, directly or through others."""
        return tuple(name for name in reached(self.rests.get(plan.name, ()), self.rests) if name != plan.name)


def scope_of(module: Module, item: ScheduleItem) -> Scope:
    """What the steps of a schedule can name."""
    return Scope(module.step_fns, module.schedule_fns, dict(module.constants), item.buffers, item.name, device=item.device, units=item.units)


class AppliedSchedules(Mapping[str, Applied]):
    """The schedules of a module that have steps to apply, each applied once, when it is first looked up.

    What another file has applied already is taken from it, where a schedule is the same in both.
    """

    def __init__(self, module: Module, other: Opened | None = None) -> None:
        self._module = module
        self._other = other
        self._names = tuple(
            name for name, item in module.schedules.items() if item.program is not None and not item.unsupported and not item.families
        )
        self._done: dict[str, Applied] = {}

    def __getitem__(self, name: str) -> Applied:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._done:
            item = self._module.schedules[name]
            if item.program is None:
                raise KeyError(name)
            self._done[name] = self._taken(item) or apply_schedule(item.program, item.lines, scope_of(self._module, item))
        return self._done[name]

    def _taken(self, item: ScheduleItem) -> Applied | None:
        """What the other file has applied, where the start, the lines and all that they can name are the same."""
        other = None if self._other is None else self._other.module.schedules.get(item.name)
        if self._other is None or other is None or item.name not in self._other.applied:
            return None
        is_same = (item.program, item.lines) == (other.program, other.lines)
        if not is_same or scope_of(self._module, item) != scope_of(self._other.module, other):
            return None
        return self._other.applied[item.name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names


def open_file(path: Path, platform: Platform | None = None) -> Opened:
    """Load and elaborate; schedules are applied when they are asked for. Raises CachetError.

    `platform` is tried in place of the one that the file names.
    """
    return open_loaded(load_file(path), platform)


def open_loaded(loaded: LoadedFile, platform: Platform | None = None, other: Opened | None = None) -> Opened:
    """Elaborate a loaded file, as `open_file`; `other` is one that may share schedules with it. Raises CachetError."""
    module = elaborate(loaded, platform=platform)
    applied = AppliedSchedules(module, other)
    of_schedules = any(isinstance(item, RelateItem) and item.schedules for item in module.proofs)
    if of_schedules or any(item.waits_for for item in module.programs.values()):
        module = elaborate(loaded, _Ready(applied), platform=platform)
    return Opened(loaded, module, applied)


class _Ready(Mapping[str, Program]):
    """The programs of the schedules whose steps all applied; a schedule is applied when it is looked up."""

    def __init__(self, applied: AppliedSchedules) -> None:
        self._applied = applied

    def __getitem__(self, name: str) -> Program:
        done = self._applied[name]
        if done.stopped is not None:
            raise KeyError(name)
        return replace(done.program, name=name)

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._applied if self._applied[name].stopped is None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def file_plan(plans: Iterable[Plan]) -> FilePlan:
    """The plans of a file's items in the order of the text."""
    ordered = tuple(sorted(plans, key=lambda plan: _start(plan.span)))
    return FilePlan(ordered, {plan.name: plan.rests_on for plan in ordered if plan.rests_on})


def _start(span: Span | None) -> int:
    return 0 if span is None else span.start


def plans_of(opened: Opened, routes: str, only: tuple[str, ...] = ()) -> Iterator[Plan]:
    """The plans of a file's items, one by one, in no particular order; `only` keeps those names and what they rest on.

    An exception while one item is planned is our own fault, and that item's alone.
    """
    wanted = reached(only, _rests(opened.module))
    for name, kind, span, build in _builders(opened, routes):
        if not only or name in wanted:
            try:
                yield _with_borrowed(with_fit(with_budget(build(), opened.module.platform), opened.module), opened.module)
            except CachetError:
                raise
            except Exception as error:  # noqa: BLE001 - a fault in one item must not take the others along
                yield faulted(name, kind, span, error)


def _rests(module: Module) -> dict[str, tuple[str, ...]]:
    """What each item of a file rests on, before it is planned."""
    found = {item.name: item.rests_on for item in module.programs.values()}
    found |= {item.name: item.rests_on for item in module.schedules.values()}
    found |= {item.name: item.rests_on for item in module.proofs if isinstance(item, (RelateItem, InvariantItem))}
    return found | {name: (*found.get(name, ()), *item.chosen) for name, item in module.behind.items()}


def _with_borrowed(plan: Plan, module: Module) -> Plan:
    """A plan with the platform facts it assumes, and all that is asked of what it rests on in other files: nobody else asks it."""
    more = borrowed(plan.rests_on, module.imported, module.layouts)
    more += borrowed_budgets(plan.rests_on, module.imported, module.platform, plan.span)
    asked = tuple(replace(part, span=plan.span) for part in more.asked)
    own = tuple(name for name in plan.rests_on if name not in module.imported)
    found = module.behind.get(plan.name, Behind())
    foreign = chosen_by((name for name in found.chosen if name not in module.own_searches), module)
    asked += tuple(replace(part, span=plan.span) for part in foreign.asked)
    own += tuple(name for name in found.chosen if name in module.own_searches and name not in own)
    missing = (*plan.missing, *more.missing, *foreign.missing)
    assumes = tuple(dict.fromkeys((*found.facts, *plan.assumes)))
    return replace(plan, asked=(*plan.asked, *asked), missing=missing, rests_on=own, assumes=assumes)


_Builder = tuple[str, str, "Span | None", Callable[[], Plan]]


def _builders(opened: Opened, routes: str) -> Iterator[_Builder]:
    module = opened.module
    for program in module.programs.values():
        yield program.name, program.kind, program.span, partial(_program, opened, program)
    for schedule in module.schedules.values():
        yield schedule.name, "schedule", schedule.span, partial(_schedule, opened, schedule, routes)
    for name in module.own_layouts:
        if name in module.layouts:
            yield name, "layout", module.layouts[name].span, partial(plan_layout, module.layouts[name])
    yield from _stated(opened, routes)
    for declaration in opened.loaded.tree.declarations:
        if isinstance(declaration, ast.StepFn):
            yield declaration.name, "step fn", declaration.span, partial(_step, opened, declaration)


def _stated(opened: Opened, routes: str) -> Iterator[_Builder]:
    """The builders of what a file states: proofs, searched constants, laws, and what has no meaning yet."""
    module = opened.module
    for proof in module.proofs:
        yield proof.name, "proof", proof.span, partial(_proof, opened, proof, routes)
    for name in module.own_searches:
        if name in module.searches:
            search = module.searches[name]
            yield name, "synth const", search.span, partial(plan_synth, name, search)
    for law in module.laws:
        yield law.text, "law", law.span, partial(plan_law, law)
    for other in module.others:
        yield other.name, other.kind, other.span, partial(plan_other, other)


def _program(opened: Opened, item: ProgramItem) -> Plan:
    return with_invariants(plan_program(item, opened.module.layouts), item.program, item.invariants)


def _schedule(opened: Opened, item: ScheduleItem, routes: str) -> Plan:
    if item.families and item.invariants:
        return not_supported(Plan(item.name, "schedule", item.span), (Unsupported("`invariant` of a family", item.invariants[0].span),))
    if item.families and not item.unsupported:
        return replace(plan_declared(opened.module, item, item.families[0], routes), rests_on=item.rests_on)
    if item.name not in opened.applied:
        return not_supported(Plan(item.name, "schedule", item.span), item.unsupported or (Unsupported("this schedule", item.span),))
    applied = opened.applied[item.name]
    plan = plan_schedule(item.name, item.span, applied, routes)
    more = conditions(item.conditions, "", "program.side-condition") + layouts_of(applied.program, opened.module.layouts)
    plan = replace(
        plan,
        asked=(*plan.asked, *more.asked),
        missing=(*plan.missing, *more.missing),
        rests_on=item.rests_on,
    )
    return invariants_of(plan, applied, item.invariants)


def _proof(opened: Opened, item: object, routes: str) -> Plan:
    if isinstance(item, AssertItem):
        return plan_assertion(item)
    if isinstance(item, AdmitItem):
        return plan_admission(item)
    if isinstance(item, RelateItem):
        program = item.program if item.program is not None else opened.program(item.program_name)
        meaning = item.meaning if item.meaning is not None else opened.program(item.meaning_name)
        return plan_relation(item, program, meaning, opened.module.layouts)
    if isinstance(item, InvariantItem):
        program = item.program if item.program is not None else opened.program(item.of)
        applied = opened.applied[item.of] if item.of in opened.applied else None
        return plan_invariant(item, program, applied, opened.module.layouts)
    if isinstance(item, FamilyItem):
        return plan_family(opened.loaded, opened.module, item, routes)
    return plan_other(item)  # type: ignore[arg-type]


def _step(opened: Opened, declaration: ast.StepFn) -> Plan:
    """One of the file's own step fns: unused, or as its uses are."""
    uses = tuple(_uses(opened, declaration))
    plan = Plan(declaration.name, "step fn", declaration.span, asked=tuple(asked for part in uses for asked in part.asked), parts=uses)
    return plan if uses else replace(plan, settled=_at_fault(opened, declaration) or Settled(Verdict.UNUSED))


def _at_fault(opened: Opened, declaration: ast.StepFn) -> Settled | None:
    """The refusal of a step whose definition, or what it makes of the program, stopped a schedule; one that found nothing to match is unused."""
    for applied in opened.applied.values():
        error = applied.stopped
        if error is not None and applied.stopped_at == declaration.name:
            place = next((note.span for note in error.diagnostic.notes if _within(note.span, declaration.span)), None)
            if error.diagnostic.code == "rewrite.rule" or place is not None:
                found = replace(error.diagnostic, span=place or declaration.span, notes=())
                return Settled(Verdict.REFUSED, inapplicable(StepError(found), declaration.span))
    return None


def _within(inner: Span | None, outer: Span | None) -> bool:
    return inner is not None and outer is not None and inner.path == outer.path and outer.start <= inner.start <= outer.end


def _uses(opened: Opened, declaration: ast.StepFn) -> Iterator[Plan]:
    """Each use of a step: its goals, and the schedule's programs to replay a counterexample on."""
    for name, applied in opened.applied.items():
        for place, outcome in enumerate(applied.outcomes):
            if outcome.name == f"{name}'{place}_{declaration.name}":
                asked = tuple(Asked(goal, f"relation {outcome.name}: ", "relation.not-proved", "a", declaration.span) for goal in outcome.goals)
                yield Plan(outcome.name, "step fn", declaration.span, asked=asked, witness=(applied.start, applied.program))
