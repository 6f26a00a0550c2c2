"""Relocate: the cells of a local at other places, in a local of another shape or an outer iteration.

Takes two programs that are one but for a local, and where each cell of it lies after; gives the
goal that both compute the same words. Every access has to be moved by the same map, and the map
has to keep cells apart; nothing moves in time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cachet_verify.core.family import Buffer, Families, Family
from cachet_verify.core.index import ZERO, Formula, Index, Var, all_equal, conj, le, lt, variables
from cachet_verify.core.ir import Choose, Load, Op, Program, Value
from cachet_verify.kernel.ask import Asked, fresh, moved, renaming
from cachet_verify.kernel.claim import Goal, RuleError, Same, check_requirements, issue
from cachet_verify.kernel.conflict import touches
from cachet_verify.kernel.normal import ranked
from cachet_verify.kernel.scope import bound_names, lowered

RULE = "relocate-local"


@dataclass(frozen=True, slots=True)
class Places:
    """Where cells go: a cell whose coordinates are `names` in `source` is cell `terms` of `target`.

    Coordinates are those of a lowered local: the counters of the loops around its declaration, then
    its indices, the lane of a vector last. Terms speak of the coordinates and of sizes.
    """

    source: str
    target: str
    names: tuple[str, ...]
    terms: tuple[Index, ...]

    def cell(self, cell: Sequence[Index]) -> tuple[Index, ...]:
        """Where one cell goes."""
        return moved(self.terms, dict(zip(self.names, cell, strict=True)))


def relocate_local(before: Program, after: Program, places: Places) -> Goal:
    """The program after has the cells of a local elsewhere, every access moved alike.

    Asked: the accesses were inside the local's shape, and no two cells of that shape get one place.
    Raises RuleError where the programs differ in anything else.
    """
    check_requirements(RULE, before, after)
    old, new = lowered(RULE, before), lowered(RULE, after)
    _check_buffers(old, new, places)
    source = old.buffers[places.source]
    _check_map(old, source, places, bound_names(RULE, before) | bound_names(RULE, after))
    if len(old.members) != len(new.members):
        raise RuleError(RULE, "the programs have another number of store families")
    moments = [ranked(tuple(member.moment for member in families.members)) for families in (old, new)]
    if moments[0] != moments[1]:
        raise RuleError(RULE, "the statements are in another order or in other loops")
    for was, now in zip(old.members, new.members, strict=True):
        _check_moved(was, now, places)
    asked = Asked(new.premises())
    for member in old.members:
        for touch in touches(member):
            if touch.buffer == source.name:
                subject = f"{touch.text(old)} is inside {source.name}"
                asked.ask(subject, (*member.domain, *touch.under), conj(_inside(source, touch.cell)))
    _ask_apart(asked, source, places)
    return issue(RULE, Same(before, after), asked.obligations())


def _check_buffers(old: Families, new: Families, places: Places) -> None:
    """A local is replaced by a local of the same words; every other buffer is what it was."""
    source, target = old.buffers.get(places.source), new.buffers.get(places.target)
    if source is None or target is None or source.is_param or target.is_param:
        raise RuleError(RULE, f"{places.source} and {places.target} are not locals of the two programs", source, target)
    if source.elem != target.elem:
        raise RuleError(RULE, f"{places.source} and {places.target} hold words of different types", source, target)
    left = {name: buffer for name, buffer in old.buffers.items() if name != places.source}
    right = {name: buffer for name, buffer in new.buffers.items() if name != places.target}
    if left != right:
        raise RuleError(RULE, "the programs differ in more than one local")


def _check_map(old: Families, source: Buffer, places: Places, taken: frozenset[str]) -> None:
    """The map speaks of coordinates, which no other name stands for, and of sizes."""
    if len(places.names) != len(source.private) + len(source.shape) or len(set(places.names)) != len(places.names):
        raise RuleError(RULE, f"{source.name} has another number of coordinates", places.names)
    if taken & frozenset(places.names):
        raise RuleError(RULE, "a coordinate is named like something in the programs", places.names)
    sizes = frozenset(old.program.sizes)
    if any(not variables(term) <= sizes.union(places.names) for term in places.terms):
        raise RuleError(RULE, "the map speaks of more than coordinates and sizes", places.terms)
    if any(not variables(extent) <= sizes for extent in source.shape):
        raise RuleError(RULE, f"the shape of {source.name} speaks of more than sizes", source.shape)


def _check_moved(was: Family, now: Family, places: Places) -> None:
    """One statement is the other with its accesses to the local moved."""
    if (was.counters, frozenset(was.domain)) != (now.counters, frozenset(now.domain)):
        raise RuleError(RULE, "a statement runs over other indices", was, now)
    written = (places.target, places.cell(was.cell)) if was.buffer == places.source else (was.buffer, was.cell)
    if written != (now.buffer, now.cell) or _moved(was.value, places) != now.value:
        raise RuleError(RULE, "a statement differs in more than where the cells of the local are", was, now)


def _moved(value: Value, places: Places) -> Value:
    if isinstance(value, Load) and value.buffer == places.source:
        return Load(places.target, places.cell(value.index))
    if isinstance(value, Op):
        return Op(value.name, value.elem, tuple(_moved(arg, places) for arg in value.args))
    if isinstance(value, Choose):
        return Choose(value.condition, _moved(value.then, places), _moved(value.orelse, places))
    return value


def _inside(source: Buffer, cell: Sequence[Index]) -> tuple[Formula, ...]:
    """That a cell's indices are within the shape."""
    indices = cell[len(source.private) :]
    return tuple(part for term, extent in zip(indices, source.shape, strict=True) for part in (le(ZERO, term), lt(term, extent)))


def _ask_apart(asked: Asked, source: Buffer, places: Places) -> None:
    """No two cells get one place."""
    here = tuple(Var(name) for name in places.names)
    other = renaming(fresh(places.names, places.names))
    there = moved(here, other)
    premises = (*_inside(source, here), *_inside(source, there), all_equal(places.terms, moved(places.terms, other)))
    asked.ask(f"no two cells of {source.name} are at one place of {places.target}", premises, all_equal(here, there))
