"""Writes that change something: stores of a choice between a word and the cell's own.

Takes lowered families; gives the same without the instances that write back the word their cell
has. Who asks for races or bounds has to take the families as they are; here only words count.
"""

from __future__ import annotations

from dataclasses import replace

from cachet_verify.core.family import Families, Family
from cachet_verify.core.index import conjuncts, neg
from cachet_verify.core.ir import Choose, Load


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
