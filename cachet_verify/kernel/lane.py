"""Idle lanes: statements into locals may compute more lanes, if nobody looks at them.

Takes two programs that differ in which instances of some stores to locals there are; gives the
goal that the extra instances touch no cell that an instance of the program before reads. Extra
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

RULE = "extend-lanes"


def extend_lanes(before: Program, after: Program) -> Goal:
    """The program after computes extra lanes of some locals; no read of the program before sees them.

    Raises RuleError where anything but the domains of stores to locals differs.
    """
    check_requirements(RULE, before, after)
    old, new = lowered(RULE, before), lowered(RULE, after)
    extended = _extended(old, new)
    names = bound_names(RULE, before) | bound_names(RULE, after)
    asked = Asked(new.premises())
    for was, now in extended:
        asked.ask(f"every lane of {was.buffer} that was computed still is", was.domain, conj(now.domain))
    for was, now in extended:
        for reader in old.members:
            _ask_unseen(asked, old, (was, now), reader, names)
    seen = frozenset(touch.buffer for _, now in extended for touch in touches(now))
    ask_no_races(asked, new, names, seen)
    return issue(RULE, Same(before, after), asked.obligations())


def _extended(old: Families, new: Families) -> tuple[tuple[Family, Family], ...]:
    """The families whose domains differ, with what they were. Raises RuleError for other differences."""
    if len(old.members) != len(new.members) or dict(old.buffers) != _without_new(old, new):
        raise RuleError(RULE, "the programs differ in more than the lanes they compute")
    found: list[tuple[Family, Family]] = []
    for was, now in zip(old.members, new.members, strict=True):
        if _body(was) != _body(now):
            raise RuleError(RULE, "a statement differs in more than the lanes it computes", was, now)
        if frozenset(was.domain) != frozenset(now.domain):
            if new.buffers[now.buffer].is_param:
                raise RuleError(RULE, f"{now.buffer} is not a local", now)
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
