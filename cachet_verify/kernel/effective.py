"""Writes that change something: stores of a choice between a word and the cell's own.

Takes lowered families; gives the same without the instances that write back the word their cell
has, or with such instances added where a chain of writes has gaps. Who asks for races or bounds has
to take the families as they are; here only words count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cachet_verify.core.family import Families, Family
from cachet_verify.core.index import Formula, conj, conjuncts, neg
from cachet_verify.core.ir import Choose, Load
from cachet_verify.kernel.claim import RuleError


def effective(families: Families) -> Families:
    """The families, those that store `if p then v else` their own cell narrowed to where `p` holds."""
    return replace(families, members=tuple(_narrowed(member) for member in families.members))


def _narrowed(member: Family) -> Family:
    own = Load(member.buffer, member.cell)
    while isinstance(member.value, Choose) and own in (member.value.then, member.value.orelse):
        is_kept = member.value.orelse == own
        condition = member.value.condition if is_kept else neg(member.value.condition)
        value = member.value.then if is_kept else member.value.orelse
        member = replace(member, domain=(*member.domain, *conjuncts(condition)), value=value)
    return member


KEPT = " kept"
"""What the name of a copy in the gaps of a write ends in; the last part of its domain says where the write is kept out."""

Guards = Mapping[str, tuple[Formula, ...]]
"""Conjuncts of the domains of families, by the families' names."""


def completed(rule: str, families: Families, guards: Guards) -> Families:
    """The families, with copies that keep a cell's word wherever a named family is kept out by the conjuncts named alone.

    Such a copy writes back what its cell holds at that moment, so no word changes. Raises RuleError.
    """
    unknown = set(guards) - {member.name for member in families.members}
    if unknown:
        raise RuleError(rule, "there is no such write to be completed", sorted(unknown)[0])
    members: list[Family] = []
    for member in families.members:
        members.append(member)
        if guards.get(member.name):
            members.append(_kept(rule, member, guards[member.name]))
    if len({member.name for member in members}) != len(members):
        raise RuleError(rule, "two writes have one name", families.program.name)
    return replace(families, members=tuple(members))


def _kept(rule: str, member: Family, guard: tuple[Formula, ...]) -> Family:
    """The copies in place of a family's missing instances, at the same moments."""
    if member.lanes():
        raise RuleError(rule, "the lanes of one operation are not completed", member.name)
    if not set(guard) <= set(member.domain):
        raise RuleError(rule, "a write is completed by conditions of its own", member.name)
    rest = tuple(part for part in member.domain if part not in guard)
    return replace(member, name=member.name + KEPT, domain=(*rest, neg(conj(guard))), value=Load(member.buffer, member.cell))
