"""Idle lanes: statements into locals may compute more lanes, or fewer, if nobody looks at them.

Takes two programs that differ in which instances of some stores to locals there are; gives the
goal that the extra instances touch no cell that an instance of the smaller program reads. Extra
instances may read and write any words: they never reach a store that counts.
"""

from __future__ import annotations

from cachet_verify.core.family import Families, Family
from cachet_verify.core.index import Formula, all_equal, conj, neg
from cachet_verify.core.ir import Program
from cachet_verify.kernel.ask import Asked, fresh, moved, moved_formulas, renaming
from cachet_verify.kernel.claim import Goal, RuleError, Same, check_requirements, issue
from cachet_verify.kernel.conflict import READ, ask_no_races, touches
from cachet_verify.kernel.scope import bound_names, lowered


def extend_lanes(before: Program, after: Program) -> Goal:
    """The program after computes extra lanes of some locals; no read of the program before sees them.

    Raises RuleError where anything but the domains of stores to locals differs.
    """
    rule = "extend-lanes"
    check_requirements(rule, before, after)
    return issue(rule, Same(before, after), _asked(rule, before, after, after).obligations())


def narrow_lanes(before: Program, after: Program) -> Goal:
    """The program after leaves out lanes of some locals that none of its reads sees: `extend_lanes` the other way.

    Raises RuleError where anything but the domains of stores to locals differs.
    """
    rule = "narrow-lanes"
    check_requirements(rule, before, after)
    return issue(rule, Same(before, after), _asked(rule, after, before, after).obligations())


def _asked(rule: str, smaller: Program, larger: Program, after: Program) -> Asked:
    """What is asked of two programs of which one computes extra lanes; races of the one that stands after."""
    few, many = lowered(rule, smaller), lowered(rule, larger)
    extended = _extended(rule, few, many)
    names = bound_names(rule, smaller) | bound_names(rule, larger)
    asked = Asked(many.premises() if after is larger else few.premises())
    for was, now in extended:
        asked.ask(f"every lane of {was.buffer} that is computed without the extra ones is computed with them", was.domain, conj(now.domain))
    for was, now in extended:
        for reader in few.members:
            _ask_unseen(asked, few, (was, now), reader, names)
    seen = frozenset(touch.buffer for _, now in extended for touch in touches(now))
    ask_no_races(asked, many if after is larger else few, names, seen)
    return asked


def _extended(rule: str, old: Families, new: Families) -> tuple[tuple[Family, Family], ...]:
    """The families whose domains differ, with what they were. Raises RuleError for other differences."""
    if len(old.members) != len(new.members) or dict(old.buffers) != _without_new(old, new):
        raise RuleError(rule, "the programs differ in more than the lanes they compute")
    found: list[tuple[Family, Family]] = []
    for was, now in zip(old.members, new.members, strict=True):
        if _body(was) != _body(now):
            raise RuleError(rule, "a statement differs in more than the lanes it computes", was, now)
        if frozenset(was.domain) != frozenset(now.domain):
            if new.buffers[now.buffer].is_param:
                raise RuleError(rule, f"{now.buffer} is not a local", now)
            found.append((was, now))
    return tuple(found)


def _without_new(old: Families, new: Families) -> dict[str, object]:
    return {name: buffer for name, buffer in new.buffers.items() if name in old.buffers}


def _body(family: Family) -> tuple[object, ...]:
    kinds = tuple((counter.name, counter.kind) for counter in family.counters)
    return kinds, family.moment, family.buffer, family.cell, family.value


def _ask_unseen(asked: Asked, old: Families, extended: tuple[Family, Family], reader: Family, names: frozenset[str]) -> None:
    """No instance of `reader` that was there reads a cell that an extra instance writes."""
    was, now = extended
    other = renaming(fresh(reader.names(), names))
    extra: Formula = neg(conj(part for part in was.domain if part not in now.domain))
    for touch in touches(reader):
        if touch.phase == READ and touch.buffer == now.buffer:
            premises = (*now.domain, extra, *moved_formulas((*reader.domain, *touch.under), other))
            subject = f"{touch.text(old)} reads no idle lane of {now.buffer}"
            asked.ask(subject, premises, neg(all_equal(now.cell, moved(touch.cell, other))))
