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

    def text(self, families: Families) -> str:
        """The access as it is shown in subjects."""
        return f"{'load' if self.phase == READ else 'store'} {cell_text(families, self.buffer, self.cell)}"


def cell_text(families: Families, buffer: str, cell: tuple[Index, ...]) -> str:
    """A cell as it is shown in subjects: without the counters in front of a local's indices."""
    indices = ", ".join(spell(term) for term in cell[len(families.buffers[buffer].private) :])
    return f"{buffer}[{indices}]" if indices else buffer


def store_text(families: Families, family: Family) -> str:
    """A store statement as it is shown in subjects."""
    return f"store {cell_text(families, family.buffer, family.cell)}"


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
    seen: set[frozenset[tuple[str, str, tuple[Index, ...], tuple[Formula, ...], int]]] = set()
    for ours, theirs in conflicts(members, members, buffers):
        pair = frozenset((t.family.name, t.buffer, t.cell, t.under, t.phase) for t in (ours, theirs))
        if pair not in seen and not _is_ordered(ours, theirs):
            _ask_ordered(asked, families, ours, theirs, names)
        seen.add(pair)


def _is_ordered(ours: Touch, theirs: Touch) -> bool:
    """Whether two accesses are ordered whatever their instances: without grids, all but the writes of one statement's lanes."""
    if ours.family.grids() or theirs.family.grids():
        return False
    return ours.family is not theirs.family or ours.phase != theirs.phase


def _ask_ordered(asked: Asked, families: Families, ours: Touch, theirs: Touch, names: tuple[str, ...]) -> None:
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
    parts = "iteration" if ours.family.grids() or theirs.family.grids() else "lane"
    texts = ours.text(families), theirs.text(families)
    subject = f"{texts[0]} of one {parts} and {texts[1]} of another never touch one cell of {ours.buffer}"
    asked.ask(subject, premises, disj((forth, back, one)))
