"""The plan of a `synth const`: that the values found satisfy, and that nothing smaller does.

Takes searched constants; gives plans and what is asked of them. Must not search, nor believe who did.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from math import prod

from cachet_verify.core.index import FALSE, Const, Formula, Var, conj, le, neg, variables
from cachet_verify.elaborate.item import SynthItem
from cachet_verify.elaborate.module import Module
from cachet_verify.judge.item import conditions
from cachet_verify.judge.plan import Asked, Missing, Plan, Settled, refusal
from cachet_verify.judge.relation import Questions
from cachet_verify.kernel.claim import Entails, Goal, Minimal, RuleError, entails
from cachet_verify.kernel.enumeration import MOST_VALUES, by_values
from cachet_verify.kernel.optimum import by_cases, needed
from cachet_verify.optimum.case import Ranges, bounded_by, cases, is_plain, linear, ranges_of, values_of
from cachet_verify.optimum.interval import EVERYTHING, narrow
from cachet_verify.optimum.problem import Found, Infeasible, TooMany, Unbounded
from cachet_verify.report.record import ClaimPart, Refusal, Verdict

_MOST_ASKED = 256
"""Cases that are asked of the solvers rather than evaluated, sixteen at a time."""


def plan_synth(name: str, item: SynthItem) -> Plan:
    """The plan of one of the names that a search chooses."""
    plan = Plan(name, "synth const", item.span)
    outcome = item.outcome
    if isinstance(outcome, Unbounded):
        return replace(plan, settled=Settled(Verdict.REFUSED, _unbounded(name, item, outcome)))
    if isinstance(outcome, TooMany):
        return replace(plan, settled=Settled(Verdict.UNDECIDED, reason=f"not-supported: a search over more than {outcome.limit} candidates"))
    if isinstance(outcome, Infeasible):
        return replace(plan, asked=(_conflict(name, item, outcome),), refuses=_infeasible(name, item, outcome))
    return replace(plan, asked=_certificate(name, item, outcome), optimum=statement(item, outcome), said=(_said(name, item),))


def chosen_by(names: Iterable[str], module: Module) -> Questions:
    """All that is asked of the searches behind some names."""
    found = Questions()
    for name in names:
        item = module.searches.get(name)
        if item is None or not isinstance(item.outcome, Found):
            found += Questions((), (Missing("side", f"rests on {name}, which has no value"),))
        else:
            found += Questions(_certificate(name, item, item.outcome))
    return found


def statement(item: SynthItem, outcome: Found) -> Minimal:
    """What is to be shown of the values found."""
    problem, best = item.problem, outcome.best[0]
    cost = (best.cost.numerator, best.cost.denominator)
    return Minimal(problem.names, problem.conditions, problem.numerator, problem.denominator, best.values, cost)


def _said(name: str, item: SynthItem) -> ClaimPart:
    """`16, minimal`; where several are chosen together, with the others."""
    values = dict(zip(item.names, item.values, strict=True))
    others = ", ".join(f"{other} = {value}" for other, value in values.items() if other != name)
    own = values[name.rpartition(": ")[2]]
    return ClaimPart("minimal", f"{own} with {others}" if others else str(own))


def _certificate(name: str, item: SynthItem, outcome: Found) -> tuple[Asked, ...]:
    """Every entailment that makes the choice minimal, that the names are bounded, and what the conditions need to mean something."""
    heading = f"synth const {name}: "
    found = list(conditions(item.sides, heading, "program.side-condition").asked)
    ranges = ranges_of(item.problem.names, item.problem.conditions)
    known = bounded_by(item.problem.conditions, ranges)
    for variable, low, high in ranges:
        inside = conj((le(Const(low), Var(variable)), le(Var(variable), Const(high))))
        goal = entails(known, inside, f"{variable} is from {low} to {high}")
        found.append(Asked(goal, heading, "synth.not-minimal", "side", item.span))
    for wanted, subject in needed(statement(item, outcome)):
        found.append(Asked(_entailed(item.problem.names, wanted, subject), heading, "synth.not-minimal", "side", item.span))
    return tuple(found)


def _conflict(name: str, item: SynthItem, outcome: Infeasible) -> Asked:
    """The goal that the conditions in conflict have no solution."""
    kept: tuple[Formula, ...] = tuple(item.conditions[place].formula for place in outcome.conflict)
    goal = _entailed(item.problem.names, Entails(kept, FALSE), "the conditions conflict")
    return Asked(goal, f"synth const {name}: ", "synth.infeasible", "side", item.span)


@lru_cache(maxsize=256)
def _entailed(searched: tuple[str, ...], wanted: Entails, subject: str) -> Goal:
    """The goal for an entailment: as it stands, by cases that leave plain questions, or by all values where that asks too much.

    All names of a search share it.
    """
    premises, goal = wanted.premises, wanted.goal
    used = frozenset[str]().union(*(variables(part) for part in (*premises, goal)))
    names = tuple(name for name in searched if name in used)
    if is_plain((*premises, goal), ()):
        return _as_it_stands(premises, goal, (), subject)
    easy = linear(premises)
    if goal != FALSE and narrow((*easy, neg(goal)), dict.fromkeys(searched, EVERYTHING)) is None:
        return entails(premises, goal, subject, easy)
    some = cases(names, premises, (goal,))
    asked = prod(high - low + 1 for _, low, high in some)
    ranges = values_of(names, premises, MOST_VALUES)
    if ranges and (asked > _MOST_ASKED or not is_plain((*premises, goal), some)):
        try:
            return by_values(premises, goal, ranges, bounded_by(premises, ranges))
        except RuleError:
            pass  # what evaluation does not show is left to the solvers
    return _as_it_stands(premises, goal, some, subject)


def _as_it_stands(premises: tuple[Formula, ...], goal: Formula, some: Ranges, subject: str) -> Goal:
    """Asked of the solvers; that nothing is left is asked by cases, and a model refutes no more than the proposal."""
    return by_cases(premises, goal, some, subject) if goal == FALSE else entails(premises, goal, subject)


def _infeasible(name: str, item: SynthItem, outcome: Infeasible) -> Refusal:
    kept = [item.conditions[place] for place in outcome.conflict]
    texts = ", ".join(dict.fromkeys(part.text for part in kept))
    lines = [f"could not choose synth const {name}: no {_tuple(item)} satisfies {texts}"]
    if len(kept) > 1 and outcome.is_least:
        lines.append("leave any one of these conditions out, and the others can be met")
    return refusal("synth.infeasible", "\n".join(lines), kept[0].span or item.span)


def _unbounded(name: str, item: SynthItem, outcome: Unbounded) -> Refusal:
    bound = f"`{outcome.name} <= 64`" if outcome.side == "above" else f"`{outcome.name} >= 1`"
    lines = [f"could not choose synth const {name}: nothing bounds {outcome.name} from {outcome.side}", f"add a condition such as {bound}"]
    return refusal("synth.unbounded", "\n".join(lines), item.span)


def _tuple(item: SynthItem) -> str:
    names = item.problem.names
    return names[0] if len(names) == 1 else f"({', '.join(names)})"
