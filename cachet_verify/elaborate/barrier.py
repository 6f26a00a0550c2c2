"""Where barriers are missing: memory that groups share, used on both sides of a place that only some order.

Takes the regions, barriers, loops and guards of a tile's body, in order; reports the first use that no barrier
parts from an earlier one of the same memory, where one of them writes. Must not let regions that follow each
other without a barrier pass as ordered: a loop may run no iteration, and its end meets its start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cachet_verify.core.ir import Declare, Grid, Lease, Load, Stmt, Store, Value, View, statements, values
from cachet_verify.source import Span


@dataclass(frozen=True, slots=True)
class Region:
    """What all groups do between two barriers: the shared memory that is read and that is written."""

    reads: frozenset[str]
    writes: frozenset[str]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Wait:
    """A barrier."""


@dataclass(frozen=True, slots=True)
class Around:
    """A loop over its one way, any number of times, or a guard between its two ways."""

    ways: tuple[tuple[Part, ...], ...]
    repeats: bool


Part = Region | Wait | Around


@dataclass(frozen=True, slots=True)
class Meeting:
    """Memory that two groups may use at once, and the region that comes to it later."""

    buffer: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class _Open:
    """What was used since the last barrier, on some way here."""

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()

    def joined(self, other: _Open) -> _Open:
        """What either was."""
        return _Open(self.reads | other.reads, self.writes | other.writes)


class _MeetingError(Exception):
    def __init__(self, meeting: Meeting) -> None:
        super().__init__(meeting.buffer)
        self.meeting = meeting


def find_meeting(parts: Sequence[Part]) -> Meeting | None:
    """The first use of shared memory that nothing orders with an earlier one; None where there is none."""
    try:
        _through(parts, _Open())
    except _MeetingError as error:
        return error.meeting
    return None


def _through(parts: Sequence[Part], before: _Open) -> _Open:
    for part in parts:
        if isinstance(part, Wait):
            before = _Open()
        elif isinstance(part, Region):
            meets = (before.writes & (part.reads | part.writes)) | (before.reads & part.writes)
            if meets:
                raise _MeetingError(Meeting(min(meets), part.span))
            before = before.joined(_Open(part.reads, part.writes))
        elif part.repeats:
            once = _through(part.ways[0], before)
            before = before.joined(_through(part.ways[0], before.joined(once)))
        else:
            ends = [_through(way, before) for way in part.ways]
            before = ends[0].joined(ends[1])
    return before


def region_of(grid: Grid, roots: Mapping[str, str], own: frozenset[str]) -> Region:
    """The shared memory that a region uses: `roots` are the buffers behind names, `own` those of which each group has its part."""
    known = dict(roots)
    private: set[str] = set(own)
    reads: set[str] = set()
    writes: set[str] = set()

    def root(name: str) -> str:
        while known.get(name, name) != name:
            name = known[name]
        return name

    for stmt in statements(grid.body):
        if isinstance(stmt, Declare):
            private.add(stmt.name)
        elif isinstance(stmt, (Lease, View)):
            known[stmt.alias] = stmt.root
        elif isinstance(stmt, Grid):
            known.update({window.alias: window.buffer for window in stmt.windows or () if window.alias is not None})
        elif isinstance(stmt, Store):
            writes.add(root(stmt.buffer))
        reads |= {root(name) for name in _loaded(stmt)}
    return Region(frozenset(reads - private), frozenset(writes - private), grid.span)


def _loaded(stmt: Stmt) -> frozenset[str]:
    value: Value | None = stmt.value if isinstance(stmt, Store) else stmt.init if isinstance(stmt, Declare) else None
    return frozenset(part.buffer for part in values(value) if isinstance(part, Load)) if value is not None else frozenset()
