"""Uniform: a dimension of locals along which every cell is computed alike, and the loops over it, left out.

Takes two programs that are one but for that dimension and those loops; gives the goal that both compute the
same words. Each loop that goes holds nothing but stores to these locals, at the loop's own counter along the
dimension, and says nothing else of that counter; so every position along it has the same instances in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from cachet_verify.core.family import Buffer, Counter, Families, Family, accesses
from cachet_verify.core.index import Formula, Index, Var, conj, conjuncts, eq, le, lt, variables
from cachet_verify.core.ir import Choose, Load, OfIndex, Op, Program, Value
from cachet_verify.core.spell import spell
from cachet_verify.kernel.ask import Asked
from cachet_verify.kernel.claim import Goal, RuleError, Same, check_requirements, issue
from cachet_verify.kernel.normal import ranked
from cachet_verify.kernel.scope import lowered

RULE = "uniform"


@dataclass(frozen=True, slots=True)
class Along:
    """What goes: for each local, the place of the coordinate among those of its cells; and the counters of the loops.

    Coordinates are those of a lowered local: the counters of the loops around its declaration, then its indices.
    """

    places: Mapping[str, int]
    loops: frozenset[str]

    def cell(self, buffer: str, cell: tuple[Index, ...]) -> tuple[Index, ...]:
        """A cell without the coordinate."""
        place = self.places.get(buffer)
        return cell if place is None else (*cell[:place], *cell[place + 1 :])

    def value(self, value: Value) -> Value:
        """A value with its loads moved."""
        if isinstance(value, Load):
            return Load(value.buffer, self.cell(value.buffer, value.index))
        if isinstance(value, Op):
            return Op(value.name, value.elem, tuple(self.value(arg) for arg in value.args))
        if isinstance(value, Choose):
            return Choose(value.condition, self.value(value.then), self.value(value.orelse))
        return value


def uniform(before: Program, after: Program, along: Along) -> Goal:
    """The program after has the locals without the dimension, and the loops' bodies once.

    Asked: the loops run over one range, and whatever reads the locals elsewhere reads inside that range. Raises
    RuleError where a loop holds anything but such stores, or the programs differ in anything else.
    """
    check_requirements(RULE, before, after)
    old, new = lowered(RULE, before), lowered(RULE, after)
    _check_places(old, along)
    own = [_own(member, along) for member in old.members]
    for was, counter in zip(old.members, own, strict=True):
        if counter is not None:
            _check_alike(was, counter.name, along)
    _check_buffers(old, new, along)
    if len(old.members) != len(new.members):
        raise RuleError(RULE, "the programs have another number of store families")
    kept = tuple(tuple(part for part in member.moment if part not in along.loops) for member in old.members)
    if ranked(kept) != ranked(tuple(member.moment for member in new.members)):
        raise RuleError(RULE, "the statements are in another order or in other loops")
    asked = Asked(new.premises())
    range_ = _one_range(asked, [counter for counter in own if counter is not None], old)
    for was, now, counter in zip(old.members, new.members, own, strict=True):
        if counter is None:
            _ask_reads(asked, was, along, range_)
        _check_kept(was, now, counter, along)
    return issue(RULE, Same(before, after), asked.obligations())


def _check_places(old: Families, along: Along) -> None:
    """The places are coordinates of locals."""
    for name, place in along.places.items():
        buffer = old.buffers.get(name)
        if buffer is None or buffer.is_param:
            raise RuleError(RULE, f"{name} is not a local of the program before", name)
        if not 0 <= place < len(buffer.private) + len(buffer.shape):
            raise RuleError(RULE, f"{name} has no coordinate number {place}", name)


def _check_buffers(old: Families, new: Families, along: Along) -> None:
    """Every buffer is what it was, the locals without the coordinate."""
    if {name: _less(buffer, along) for name, buffer in old.buffers.items()} != dict(new.buffers):
        raise RuleError(RULE, "the programs differ in more than one dimension of the locals")


def _less(buffer: Buffer, along: Along) -> Buffer:
    place = along.places.get(buffer.name)
    if place is None:
        return buffer
    before = len(buffer.private)
    if place < before:
        return replace(buffer, private=(*buffer.private[:place], *buffer.private[place + 1 :]))
    at = place - before
    return replace(buffer, shape=(*buffer.shape[:at], *buffer.shape[at + 1 :]))


def _own(member: Family, along: Along) -> Counter | None:
    """The counter of the loop around a store that goes, and none for a store elsewhere.

    A store is to one of the locals exactly where it is in one of the loops, and it is in one only.
    """
    found = [counter for counter in member.counters if counter.name in along.loops]
    if not found and member.buffer not in along.places:
        return None
    if len(found) != 1 or found[0].kind != "loop":
        raise RuleError(RULE, f"a store to {member.buffer} is in {len(found)} of the loops, or in one that is no loop", member)
    if member.buffer not in along.places:
        raise RuleError(RULE, f"the loop at {found[0].name} also stores to {member.buffer}", member)
    return found[0]


def _one_range(asked: Asked, counters: list[Counter], old: Families) -> tuple[Index, Index]:
    """The range that all the loops run over: of terms over sizes, so that it is the same everywhere."""
    sizes = frozenset(old.program.sizes)
    ranges: list[tuple[Index, Index]] = []
    for counter in counters:
        if counter.high is None or not variables(counter.low) | variables(counter.high) <= sizes:
            raise RuleError(RULE, f"the bounds of the loop at {counter.name} speak of more than sizes", counter)
        ranges.append((counter.low, counter.high))
    if not ranges:
        raise RuleError(RULE, "no store is in one of the loops")
    low, high = ranges[0]
    for counter, (first, last) in zip(counters, ranges, strict=True):
        asked.ask(f"the loop at {counter.name} runs over {spell(low)} .. {spell(high)}", (), conj((eq(low, first), eq(high, last))))
    return low, high


def _check_alike(was: Family, name: str, along: Along) -> None:
    """Nothing of an instance depends on the counter, but for where along the dimension it reads and writes."""
    _check_cell(was, was.buffer, was.cell, name, along)
    rest = [part for part in was.domain if part not in _bounds(was, name)]
    if any(name in variables(part) for part in rest):
        raise RuleError(RULE, f"a store to {was.buffer} is guarded by {name}", was)
    _check_value(was, was.value, name, along)


def _bounds(member: Family, name: str) -> tuple[Formula, ...]:
    """What the loop itself says of its counter."""
    counter = next(found for found in member.counters if found.name == name)
    high = () if counter.high is None else (lt(Var(name), counter.high),)
    return tuple(part for part in conjuncts(conj((le(counter.low, Var(name)), *high))) if name in variables(part))


def _check_cell(was: Family, buffer: str, cell: tuple[Index, ...], name: str, along: Along) -> None:
    """A cell is at the counter along the dimension, and nowhere else speaks of it."""
    place = along.places.get(buffer)
    if place is not None and cell[place] != Var(name):
        raise RuleError(RULE, f"{buffer} is not accessed at {name} itself", was, cell)
    if any(name in variables(term) for term in along.cell(buffer, cell)):
        raise RuleError(RULE, f"another index of {buffer} speaks of {name}", was, cell)


def _check_value(was: Family, value: Value, name: str, along: Along) -> None:
    """A value speaks of the counter only as the position of loads of the locals."""
    if isinstance(value, Load):
        _check_cell(was, value.buffer, value.index, name, along)
    elif isinstance(value, Op):
        for arg in value.args:
            _check_value(was, arg, name, along)
    elif isinstance(value, OfIndex):
        if name in variables(value.term):
            raise RuleError(RULE, f"a word stored to {was.buffer} is computed from {name}", was, value)
    elif isinstance(value, Choose):
        if name in variables(value.condition):
            raise RuleError(RULE, f"a word stored to {was.buffer} is chosen by {name}", was, value)
        _check_value(was, value.then, name, along)
        _check_value(was, value.orelse, name, along)


def _ask_reads(asked: Asked, was: Family, along: Along, range_: tuple[Index, Index]) -> None:
    """What is read elsewhere is read at a position that the loops come to."""
    low, high = range_
    for access in accesses(was.value):
        place = along.places.get(access.buffer)
        if place is not None:
            at = access.cell[place]
            subject = f"{access.buffer} is read at {spell(at)}, which is in {spell(low)} .. {spell(high)}"
            asked.ask(subject, (*was.domain, *access.under), conj((le(low, at), lt(at, high))))


def _check_kept(was: Family, now: Family, counter: Counter | None, along: Along) -> None:
    """One statement is the other without the loop and without the coordinate."""
    gone = () if counter is None else _bounds(was, counter.name)
    counters = tuple(found for found in was.counters if found != counter)
    if (counters, frozenset(was.domain) - frozenset(gone)) != (now.counters, frozenset(now.domain)):
        raise RuleError(RULE, "a statement runs over other indices", was, now)
    if (was.buffer, along.cell(was.buffer, was.cell), along.value(was.value)) != (now.buffer, now.cell, now.value):
        raise RuleError(RULE, "a statement differs in more than the dimension that goes", was, now)
