"""Proposals for gaps: writes of one cell in a loop that a guard leaves out here and there.

Takes the families of a program; gives, for each such family, the conditions that leave instances out. Where which write
came last cannot be read off a bound, copies of the cell's own word fill the gaps. Must not be trusted: any choice is right.
"""

from __future__ import annotations

from cachet_verify.core.family import Families, Family
from cachet_verify.core.index import And, Compare, Div, Formula, Index, Mod, Not, Or, Truth, neg, subterms, variables


def gaps(families: Families) -> dict[str, tuple[Formula, ...]]:
    """The conditions of each family whose last instance before a moment is told by no bound."""
    found: dict[str, tuple[Formula, ...]] = {}
    for member in families.members:
        parts = () if member.lanes() else _irregular(families, member)
        if parts:
            found[member.name] = parts
    return found


def _irregular(families: Families, member: Family) -> tuple[Formula, ...]:
    cell = frozenset().union(*map(variables, member.cell))
    moving = frozenset(member.names()) - member.grids() - cell
    others = [other for other in families.writers(member.buffer) if other is not member]

    def is_gap(part: Formula) -> bool:
        if not variables(part) & moving or not _is_irregular(part, moving):
            return False
        return not any(neg(part) in other.domain for other in others)

    return tuple(part for part in member.domain if is_gap(part))


def _is_irregular(part: Formula, moving: frozenset[str]) -> bool:
    """Whether a condition on counters is no bound of them: a remainder, a quotient, a choice, one value left out."""
    if isinstance(part, Truth):
        return False
    if isinstance(part, (Not, And, Or)):
        return True
    return part.relation == "!=" or any(_rounds(term, moving) for term in _sides(part))


def _sides(part: Compare) -> tuple[Index, Index]:
    return part.left, part.right


def _rounds(term: Index, moving: frozenset[str]) -> bool:
    return any(isinstance(inner, (Div, Mod)) and variables(inner) & moving for inner in subterms(term))
