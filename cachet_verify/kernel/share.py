"""Share: a local that is computed like another one, left out; what read it reads the other.

Takes two programs and the two locals; gives the goal that both compute the same words. The statements that compute the one have
to be those that compute the other, from words that do not change between the two; nothing is asked of a solver.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from cachet_verify.core.family import Families, Family, Moment, accesses, substitute_value
from cachet_verify.core.index import Index, Var
from cachet_verify.core.ir import Choose, Load, Op, Program, Value
from cachet_verify.kernel.ask import moved, moved_formulas
from cachet_verify.kernel.claim import Goal, RuleError, Same, check_requirements, issue
from cachet_verify.kernel.normal import ranked, runs
from cachet_verify.kernel.scope import lowered

RULE = "share-local"


@dataclass(slots=True)
class _Likeness:
    """How what computes the local that goes is what computes the one that stays: its locals and counters, as those of the other."""

    buffers: dict[str, str]
    counters: dict[str, str] = field(default_factory=dict)

    def buffer(self, name: str) -> str:
        """The local that one stands for."""
        return self.buffers.get(name, name)

    def value(self, value: Value) -> Value:
        """A value with its locals replaced, counters left as they are."""
        if isinstance(value, Load):
            return Load(self.buffer(value.buffer), value.index)
        if isinstance(value, Op):
            return Op(value.name, value.elem, tuple(self.value(arg) for arg in value.args))
        if isinstance(value, Choose):
            return Choose(value.condition, self.value(value.then), self.value(value.orelse))
        return value

    def terms(self) -> dict[str, Index]:
        """The counters as a substitution."""
        return {name: Var(other) for name, other in self.counters.items()}


def share(before: Program, after: Program, kept: str, gone: str) -> Goal:
    """The program after is the one before without what computes `gone`; what read it reads `kept`, which is computed alike.

    Raises RuleError where the two are not computed alike, one after the other in each iteration that declares them, or where
    the programs differ in anything else.
    """
    check_requirements(RULE, before, after)
    old, new = lowered(RULE, before), lowered(RULE, after)
    depth = _depth(old, kept, gone)
    like = _Likeness({gone: kept})
    pairs = _pairs(old, like)
    for ours, theirs in pairs:
        _check_alike(ours, theirs, like, depth)
        _check_operands(ours, theirs, like)
    _check_order(pairs, like, depth)
    _check_locals(old, pairs, like, depth)
    _check_words(old, pairs, like, depth)
    _check_readers(old, pairs, gone, depth)
    _check_rest(old, new, pairs, like, gone)
    return issue(RULE, Same(before, after), ())


def _depth(old: Families, kept: str, gone: str) -> int:
    """How many counters stand around both declarations, which are the same ones."""
    ours, theirs = old.buffers.get(kept), old.buffers.get(gone)
    if ours is None or theirs is None or ours.is_param or theirs.is_param or kept == gone:
        raise RuleError(RULE, f"{kept} and {gone} are not two locals of the program before", ours, theirs)
    if replace(ours, name=gone) != theirs:
        raise RuleError(RULE, f"{kept} and {gone} differ in their type, their shape or the loops around them", ours, theirs)
    return len(ours.private)


def _pairs(old: Families, like: _Likeness) -> tuple[tuple[Family, Family], ...]:
    """What computes the local that stays beside what computes the other, with the locals that these are computed from."""
    found: list[tuple[Family, Family]] = []
    waiting = list(like.buffers.items())
    while waiting:
        theirs, ours = waiting.pop()
        left, right = old.writers(ours), old.writers(theirs)
        if len(left) != len(right):
            raise RuleError(RULE, f"{ours} and {theirs} are stored to by another number of statements", left, right)
        found.extend(zip(left, right, strict=True))
        for one, other in zip(left, right, strict=True):
            here, there = accesses(one.value), accesses(other.value)
            if len(here) != len(there):
                raise RuleError(RULE, f"{ours} and {theirs} are not computed from as many words", one, other)
            for mine, yours in zip(here, there, strict=True):
                if mine.buffer == like.buffer(yours.buffer):
                    continue
                if yours.buffer in like.buffers or mine.buffer in like.buffers.values():
                    raise RuleError(RULE, f"{yours.buffer} stands for two locals", one, other)
                like.buffers[yours.buffer] = mine.buffer
                waiting.append((yours.buffer, mine.buffer))
    return tuple(found)


def _check_alike(ours: Family, theirs: Family, like: _Likeness, depth: int) -> None:
    """One statement is the other, at counters that correspond."""
    if ours.counters[:depth] != theirs.counters[:depth] or len(ours.counters) != len(theirs.counters):
        raise RuleError(RULE, "what computes the two is in other loops", ours, theirs)
    for mine, yours in zip(ours.counters[depth:], theirs.counters[depth:], strict=True):
        if (mine.kind, yours.kind) != ("loop", "loop"):
            raise RuleError(RULE, f"{mine.name} and {yours.name} are not counters of loops", ours, theirs)
        if like.counters.setdefault(yours.name, mine.name) != mine.name:
            raise RuleError(RULE, f"{yours.name} stands for two counters", ours, theirs)
    if len(set(like.counters.values())) != len(like.counters):
        raise RuleError(RULE, "two counters stand for one", ours, theirs)
    by = like.terms()
    there = (like.buffer(theirs.buffer), moved(theirs.cell, by), like.value(substitute_value(theirs.value, by)))
    if (ours.buffer, ours.cell, ours.value) != there:
        raise RuleError(RULE, f"{ours.buffer} and {theirs.buffer} are computed in other ways", ours, theirs)
    if frozenset(ours.domain) != frozenset(moved_formulas(theirs.domain, by)):
        raise RuleError(RULE, f"{ours.buffer} and {theirs.buffer} are computed at other indices", ours, theirs)


def _check_operands(ours: Family, theirs: Family, like: _Likeness) -> None:
    """What the one reads of its own locals the other reads of its own; all else that either reads is one word for both."""
    own = {*like.buffers, *like.buffers.values()}
    for mine, yours in zip(accesses(ours.value), accesses(theirs.value), strict=True):
        stands = like.buffers.get(yours.buffer)
        if mine.buffer != (yours.buffer if stands is None else stands) or (stands is None and yours.buffer in own):
            raise RuleError(RULE, f"{yours.buffer} is read where {mine.buffer} is", ours, theirs)


def _check_order(pairs: tuple[tuple[Family, Family], ...], like: _Likeness, depth: int) -> None:
    """In each iteration that declares them, all of the one is done before all of the other, and both in one order."""
    left = tuple(ours.moment for ours, _ in pairs)
    right = tuple(tuple(like.counters.get(part, part) if isinstance(part, str) else part for part in theirs.moment) for _, theirs in pairs)
    ways = {tuple(runs(moment)[: 2 * depth]) for moment in (*left, *right)}
    if len(ways) != 1:
        raise RuleError(RULE, "what computes the two is not in one iteration", *ways)
    if max(_run(moment, depth) for moment in left) >= min(_run(moment, depth) for moment in right):
        raise RuleError(RULE, "the local that goes is not computed behind the one that stays")
    if ranked(left) != ranked(right):
        raise RuleError(RULE, "what computes the two is in another order")


def _run(moment: Moment, depth: int) -> Moment:
    """The positions right inside the innermost loop around the declarations."""
    return runs(moment)[2 * depth]


def _check_locals(old: Families, pairs: tuple[tuple[Family, Family], ...], like: _Likeness, depth: int) -> None:
    """The locals in between correspond, live in the iteration, and those that go are read by what goes alone."""
    theirs = {family.name for _, family in pairs}
    by = like.terms()
    for gone, kept in like.buffers.items():
        left, right = old.buffers[kept], old.buffers[gone]
        if left.is_param or right.is_param or left.private[:depth] != right.private[:depth] or len(left.private) < depth:
            raise RuleError(RULE, f"{kept} and {gone} are not locals of one iteration", left, right)
        private = tuple(like.counters.get(name, name) for name in right.private)
        if (left.elem, left.shape, left.private) != (right.elem, moved(right.shape, by), private):
            raise RuleError(RULE, f"{kept} and {gone} are not locals of one kind", left, right)
    first = next(iter(like.buffers))
    for family in old.members:
        for access in accesses(family.value):
            if access.buffer in like.buffers and access.buffer != first and family.name not in theirs:
                raise RuleError(RULE, f"{access.buffer} is read by more than what computes {first}", family)


def _check_words(old: Families, pairs: tuple[tuple[Family, Family], ...], like: _Likeness, depth: int) -> None:
    """Every other word that the two are computed from stays what it is from the first statement of the one to the last of the other."""
    computing = {family.name for pair in pairs for family in pair}
    own = {*like.buffers, *like.buffers.values()}
    read = {access.buffer for pair in pairs for family in pair for access in accesses(family.value)} - own
    first = min(_run(ours.moment, depth) for ours, _ in pairs)
    last = max(_run(theirs.moment, depth) for _, theirs in pairs)
    way = runs(pairs[0][0].moment)[: 2 * depth]
    private = pairs[0][0].names()[:depth]
    grids = pairs[0][0].grids() & frozenset(private)
    for family in old.members:
        if family.buffer not in read:
            continue
        if family.name in computing or not _is_apart(runs(family.moment), way, first, last):
            raise RuleError(RULE, f"{family.buffer} may change between what computes the two", family)
        if grids & frozenset(family.names()) and not grids <= frozenset(old.buffers[family.buffer].private):
            raise RuleError(RULE, f"{family.buffer} may be changed by another iteration of the grid", family)


def _is_apart(moment: list[Moment], way: list[Moment], first: Moment, last: Moment) -> bool:
    """Whether all instances of a statement are before or behind both, in each iteration around them."""
    for place, part in enumerate(way):
        if place >= len(moment) or moment[place] != part:
            return place % 2 == 0 and place < len(moment)
    run = moment[len(way)] if len(moment) > len(way) else ()
    return run < first or run > last


def _check_readers(old: Families, pairs: tuple[tuple[Family, Family], ...], gone: str, depth: int) -> None:
    """What reads the local that goes does so when it is computed."""
    computing = {theirs.name for _, theirs in pairs}
    last = max(_run(theirs.moment, depth) for _, theirs in pairs)
    way = runs(pairs[0][0].moment)[: 2 * depth]
    for family in old.members:
        if family.name in computing or all(access.buffer != gone for access in accesses(family.value)):
            continue
        if runs(family.moment)[: 2 * depth] != way or _run(family.moment, depth) <= last:
            raise RuleError(RULE, f"{gone} is read before it is computed", family)


def _check_rest(old: Families, new: Families, pairs: tuple[tuple[Family, Family], ...], like: _Likeness, gone: str) -> None:
    """All else is what it was."""
    theirs = {family.name for _, family in pairs}
    rest = [family for family in old.members if family.name not in theirs]
    if {name: buffer for name, buffer in old.buffers.items() if name not in like.buffers} != dict(new.buffers):
        raise RuleError(RULE, "the programs differ in more than the locals that go")
    if len(rest) != len(new.members) or ranked(tuple(family.moment for family in rest)) != ranked(tuple(family.moment for family in new.members)):
        raise RuleError(RULE, "what is left is not what stood there, in its order")
    reading = _Likeness({gone: like.buffers[gone]})
    for was, now in zip(rest, new.members, strict=True):
        if (was.counters, frozenset(was.domain)) != (now.counters, frozenset(now.domain)):
            raise RuleError(RULE, "a statement runs over other indices", was, now)
        if (was.buffer, was.cell, reading.value(was.value)) != (now.buffer, now.cell, now.value):
            raise RuleError(RULE, "a statement differs in more than the local that it reads", was, now)
