"""Pairs of accesses to one buffer, and when two of them touch one cell.

Takes lowered families; gives the accesses of each and the pairs of which one at least writes.
Must not know what a rule does with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cachet_verify.core.family import Families, Family, accesses, before
from cachet_verify.core.index import Formula, Index, all_equal, conj, disj, neg
from cachet_verify.core.spell import spell
from cachet_verify.kernel.ask import Asked, fresh, identity, moved, moved_formulas, renaming

READ, WRITE = 0, 1


@dataclass(frozen=True, slots=True)
class Touch:
    """One access of a family: the cell, the condition it happens under, and its phase."""

    family: Family
    buffer: str
    cell: tuple[Index, ...]
    under: tuple[Formula, ...]
    phase: int

    def text(self) -> str:
        """The access as it is shown in subjects."""
        indices = ", ".join(spell(term) for term in self.cell)
        verb = "load" if self.phase == READ else "store"
        return f"{verb} {self.buffer}[{indices}]" if self.cell else f"{verb} {self.buffer}"


def touches(family: Family) -> tuple[Touch, ...]:
    """The accesses of a family, its write first; equal ones once."""
    found = [Touch(family, family.buffer, family.cell, (), WRITE)]
    found += [Touch(family, access.buffer, access.cell, access.under, READ) for access in accesses(family.value)]
    return tuple({(touch.cell, touch.buffer, touch.under, touch.phase): touch for touch in found}.values())


def conflicts(first: Iterable[Family], second: Iterable[Family], buffers: frozenset[str] | None = None) -> Iterator[tuple[Touch, Touch]]:
    """Pairs of accesses of two lists of families to one buffer, one at least a write.

    `buffers` narrows the pairs to some buffers. Every ordered pair of families is visited.
    """
    by_buffer: dict[str, list[Touch]] = {}
    for family in second:
        for touch in touches(family):
            by_buffer.setdefault(touch.buffer, []).append(touch)
    for family in first:
        for ours in touches(family):
            if buffers is not None and ours.buffer not in buffers:
                continue
            for theirs in by_buffer.get(ours.buffer, ()):
                if WRITE in (ours.phase, theirs.phase):
                    yield ours, theirs


def ask_no_races(asked: Asked, families: Families, taken: Iterable[str], buffers: frozenset[str] | None = None) -> None:
    """Ask that accesses which are unordered never conflict.

    Only grids and lanes leave instances unordered, so a program without them is asked nothing.
    """
    members = [family for family in families.members if family.grids() or family.lanes()]
    names = tuple(taken)
    seen: set[frozenset[tuple[str, str, tuple[Formula, ...], int]]] = set()
    for ours, theirs in conflicts(members, members, buffers):
        pair = frozenset((touch.family.name, touch.text(), touch.under, touch.phase) for touch in (ours, theirs))
        if pair in seen:
            continue
        seen.add(pair)
        _ask_ordered(asked, ours, theirs, names)


def _ask_ordered(asked: Asked, ours: Touch, theirs: Touch, names: tuple[str, ...]) -> None:
    """Two instances that conflict are ordered, or are one instance."""
    other = renaming(fresh(theirs.family.names(), names))
    here = identity(ours.family)
    premises = (
        *ours.family.domain,
        *ours.under,
        *moved_formulas((*theirs.family.domain, *theirs.under), other),
        all_equal(ours.cell, moved(theirs.cell, other)),
    )
    forth = before(ours.family, theirs.family, (here, other), (ours.phase, theirs.phase))
    back = before(theirs.family, ours.family, (other, here), (theirs.phase, ours.phase))
    one = all_equal(here.values(), other.values()) if ours.family is theirs.family else neg(conj(()))
    subject = f"{ours.text()} of one iteration and {theirs.text()} of another never touch one cell of {ours.buffer}"
    asked.ask(subject, premises, disj((forth, back, one)))
