"""Staging: a part of a buffer is copied aside, and a region of the program works on the copy.

Takes a program, a run of statements, and what to put before, in place of and behind them;
computes the program after and asks that the copy holds, access for access, what the buffer held.
The copy may be a scratch parameter or a local, whole arrays, single words or lanes of vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cachet_verify.core.family import Family, accesses
from cachet_verify.core.index import Formula, Index, Var, all_equal, conj, conjuncts, neg
from cachet_verify.core.ir import Choose, Load, Op, Program, Stmt, Value
from cachet_verify.kernel.ask import Asked, fresh, moved, moved_formulas, renaming
from cachet_verify.kernel.claim import Goal, RuleError, Same, issue
from cachet_verify.kernel.conflict import ask_no_races, cell_text, touches
from cachet_verify.kernel.normal import ranked
from cachet_verify.kernel.place import Path, inside, position_of, splice
from cachet_verify.kernel.scope import bound_names, lowered


class _Staged:
    """The programs before and after, lowered, and their parts."""

    def __init__(self, rule: str, before: Program, after: Program, span: tuple[Path, int], parts: tuple[int, int, int]) -> None:
        path, count = span
        lead, body, trail = parts
        self.rule = rule
        self.before, self.after = before, after
        self.old, self.new = lowered(rule, before), lowered(rule, after)
        first = (*path[:-1], path[-1] + lead)
        behind = (*path[:-1], path[-1] + lead + body)
        self.depth = len(path) - 1
        self.lead = inside(self.new, path, lead) if lead else ()
        self.region = inside(self.new, first, body) if body else ()
        self.trail = inside(self.new, behind, trail) if trail else ()
        self.was = inside(self.old, path, count)
        self.whole = inside(self.new, path, lead + body + trail)


def stage_in(
    program: Program, path: Path, count: int, source: str, buffer: str, lead: tuple[Stmt, ...], region: tuple[Stmt, ...]
) -> Goal:
    """Copy cells of `source` into `buffer` before `count` statements that then read the copy.

    `lead` declares and fills the buffer: one store family that copies single cells. `region` is
    the statements again, with loads of `source` replaced by loads of `buffer`. Both names are of
    root buffers. Asked: each replaced load reads a cell that was copied, from the cell it read.
    Raises RuleError where `source` is written meanwhile or `buffer` has any other use.
    """
    rule = "stage-in"
    after = splice(rule, program, path, count, (*lead, *region))
    staged = _Staged(rule, program, after, (path, count), (len(lead), len(region), 0))
    copy = _check(staged, source, buffer)
    if any(member.buffer == source for member in staged.was):
        raise RuleError(rule, f"{source} is written while its copy is used", source)
    asked = Asked(staged.new.premises())
    for was, now in zip(staged.was, staged.region, strict=True):
        if (was.buffer, was.cell) != (now.buffer, now.cell):
            raise RuleError(rule, "a statement of the region stores elsewhere", was, now)
        for load in _replaced(staged.rule, now.value, was.value, buffer, source, ()):
            _ask_copied(asked, staged, copy, now, load)
    _ask_one_to_one(asked, staged, copy, both=False)
    names = bound_names(rule, after)
    ask_no_races(asked, staged.new, names, frozenset((source, buffer)))
    return issue(rule, Same(program, after), asked.obligations())


def stage_through(
    program: Program,
    path: Path,
    count: int,
    source: str,
    buffer: str,
    lead: tuple[Stmt, ...],
    region: tuple[Stmt, ...],
    trail: tuple[Stmt, ...],
) -> Goal:
    """Hold cells of `source` in `buffer` while `count` statements read and write them.

    As `stage_in`, and stores of the region go to the copy too, after which `trail`, one store
    family, copies cells back. Asked besides: copies and cells correspond one to one, every cell
    that the region wrote is stored back, and only cells that were copied are.
    """
    rule = "stage-through"
    after = splice(rule, program, path, count, (*lead, *region, *trail))
    staged = _Staged(rule, program, after, (path, count), (len(lead), len(region), len(trail)))
    copy = _check(staged, source, buffer)
    back = _copy_back(staged, source, buffer)
    asked = Asked(staged.new.premises())
    for was, now in zip(staged.was, staged.region, strict=True):
        _check_all_replaced(staged, now, source)
        for load in _replaced(rule, now.value, was.value, buffer, source, ()):
            _ask_copied(asked, staged, copy, now, load)
        if was.buffer == source:
            _ask_stored_back(asked, staged, back, now, ((), now.cell, was.cell))
        elif (was.buffer, was.cell) != (now.buffer, now.cell):
            raise RuleError(rule, "a statement of the region stores elsewhere", was, now)
    _ask_one_to_one(asked, staged, copy, both=True)
    held = back.value.index if isinstance(back.value, Load) else ()
    _ask_copied(asked, staged, copy, back, ((), held, back.cell))
    names = bound_names(rule, after)
    ask_no_races(asked, staged.new, names, frozenset((source, buffer)))
    return issue(rule, Same(program, after), asked.obligations())


Replaced = tuple[tuple[Formula, ...], tuple[Index, ...], tuple[Index, ...]]
"""An access that goes to the copy: its condition, the cell of the copy, the cell it was."""


def _check(staged: _Staged, source: str, buffer: str) -> Family:
    """Check all that is not arithmetic, and find the family that copies cells of `source`."""
    rule = staged.rule
    _check_buffers(staged, source, buffer)
    _check_outside(staged)
    if len(staged.was) != len(staged.region):
        raise RuleError(rule, "the region has another number of store families", *staged.was)
    moments = [tuple(member.moment for member in members) for members in (staged.was, staged.region)]
    if ranked(moments[0]) != ranked(moments[1]):
        raise RuleError(rule, "the statements of the region are in another order or in other loops")
    for was, now in zip(staged.was, staged.region, strict=True):
        if (was.counters, frozenset(was.domain)) != (now.counters, frozenset(now.domain)):
            raise RuleError(rule, "a statement of the region runs over other indices", was, now)
        if was.buffer != now.buffer and (was.buffer, now.buffer) != (source, buffer):
            raise RuleError(rule, f"a statement of the region stores to {now.buffer}", was, now)
    return _copy(staged, source, buffer)


def _check_buffers(staged: _Staged, source: str, buffer: str) -> None:
    """The copy has no other use and no part in the result; every other buffer is what it was."""
    rule, old, new = staged.rule, staged.old, staged.new
    if source not in new.buffers or buffer not in new.buffers or source == buffer:
        raise RuleError(rule, f"{source} and {buffer} are not two buffers of the program after")
    if new.buffers[source].elem != new.buffers[buffer].elem:
        raise RuleError(rule, f"{source} and {buffer} hold words of different types")
    if new.buffers[buffer].is_param and not staged.after.param(buffer).scratch:
        raise RuleError(rule, f"{buffer} is a parameter and not scratch", buffer)
    if any(touch.buffer == buffer for member in old.members for touch in touches(member)):
        raise RuleError(rule, f"{buffer} is used already", buffer)
    for name, kept in old.buffers.items():
        if new.buffers.get(name) != kept:
            raise RuleError(rule, f"{name} is not declared as it was", name)


def _check_outside(staged: _Staged) -> None:
    """Statements outside the region are what they were: no name that they use has changed its meaning."""
    within, whole = {member.name for member in staged.was}, {member.name for member in staged.whole}
    left = [_content(member) for member in staged.old.members if member.name not in within]
    right = [_content(member) for member in staged.new.members if member.name not in whole]
    if left != right:
        raise RuleError(staged.rule, "a statement outside the region has changed")


def _content(member: Family) -> tuple[object, ...]:
    return member.counters, member.domain, member.buffer, member.cell, member.value


def _copy(staged: _Staged, source: str, buffer: str) -> Family:
    """The one family before the region that copies; those that only fill with constants stand before it."""
    found = [member for member in staged.lead if isinstance(member.value, Load)]
    if len(found) != 1 or not isinstance(found[0].value, Load) or found[0].value.buffer != source:
        raise RuleError(staged.rule, f"the first statements do not copy cells of {source}, in one family", *found)
    copy = found[0]
    for member in staged.lead:
        fills = not accesses(member.value) and position_of(member)[staged.depth] < position_of(copy)[staged.depth]
        if member.buffer != buffer or not (member is copy or fills):
            raise RuleError(staged.rule, f"the first statements do more than fill {buffer}", member)
    return copy


def _copy_back(staged: _Staged, source: str, buffer: str) -> Family:
    if len(staged.trail) != 1:
        raise RuleError(staged.rule, "the last statements are not one store family", *staged.trail)
    back = staged.trail[0]
    if back.buffer != source or not isinstance(back.value, Load) or back.value.buffer != buffer:
        raise RuleError(staged.rule, f"the last statements do not copy {buffer} back to {source}", back)
    return back


def _check_all_replaced(staged: _Staged, now: Family, source: str) -> None:
    for touch in touches(now):
        if touch.buffer == source:
            raise RuleError(staged.rule, f"the region still uses {source} itself: {touch.text(staged.new)}", now)


def _replaced(
    rule: str, now: Value, was: Value, buffer: str, source: str, under: tuple[Formula, ...]
) -> Iterator[Replaced]:
    """The loads that go to the copy. Raises RuleError where the values differ in anything else."""
    if now == was:
        return
    if isinstance(now, Load) and isinstance(was, Load) and (now.buffer, was.buffer) == (buffer, source):
        yield under, now.index, was.index
    elif isinstance(now, Op) and isinstance(was, Op) and (now.name, now.elem, len(now.args)) == (was.name, was.elem, len(was.args)):
        for ours, theirs in zip(now.args, was.args, strict=True):
            yield from _replaced(rule, ours, theirs, buffer, source, under)
    elif isinstance(now, Choose) and isinstance(was, Choose) and now.condition == was.condition:
        yield from _replaced(rule, now.then, was.then, buffer, source, (*under, *conjuncts(now.condition)))
        yield from _replaced(rule, now.orelse, was.orelse, buffer, source, (*under, *conjuncts(neg(now.condition))))
    else:
        raise RuleError(rule, "a statement of the region computes something else", was, now)


def _own(copy: Family, user: Family) -> tuple[str, ...]:
    """The counters of a copy that are not those of loops around both."""
    shared = frozenset(user.names())
    return tuple(name for name in copy.names() if name not in shared)


def _visit(copy: Family, cell: tuple[Index, ...], own: tuple[str, ...], at: tuple[Index, ...]) -> Mapping[str, Index]:
    """The instance of a copy whose cell is `at`, read off indices that are plain counters.

    A hint only: what it has to satisfy is asked. A counter that no index is stays at its first value.
    """
    found = {counter.name: counter.low for counter in copy.counters if counter.name in own}
    for part, index in zip(cell, at, strict=True):
        if isinstance(part, Var) and part.name in found:
            found[part.name] = index
    return found


def _ask_copied(asked: Asked, staged: _Staged, copy: Family, user: Family, access: Replaced) -> None:
    """The cell that an access finds in the copy was copied, from the cell that it accessed."""
    under, there, here = access
    visit = _visit(copy, copy.cell, _own(copy, user), there)
    source = copy.value if isinstance(copy.value, Load) else Load(copy.buffer)
    goal = conj(
        (
            *moved_formulas(copy.domain, visit),
            all_equal(moved(copy.cell, visit), there),
            all_equal(moved(source.index, visit), here),
        )
    )
    subject = f"{cell_text(staged.new, copy.buffer, there)} holds a copy of {cell_text(staged.new, source.buffer, here)}"
    asked.ask(subject, (*user.domain, *under), goal)


def _ask_stored_back(asked: Asked, staged: _Staged, back: Family, user: Family, access: Replaced) -> None:
    """A cell that the region writes in the copy is stored back to where it wrote."""
    under, there, here = access
    held = back.value.index if isinstance(back.value, Load) else ()
    visit = _visit(back, held, _own(back, user), there)
    goal = conj(
        (
            *moved_formulas(back.domain, visit),
            all_equal(moved(held, visit), there),
            all_equal(moved(back.cell, visit), here),
        )
    )
    subject = f"{cell_text(staged.new, user.buffer, there)} is stored back to {cell_text(staged.new, back.buffer, here)}"
    asked.ask(subject, (*user.domain, *under), goal)


def _ask_one_to_one(asked: Asked, staged: _Staged, copy: Family, both: bool) -> None:
    """Two visits of the copy in one iteration that meet in a cell of the copy met in the source, and the reverse."""
    outer = copy.moment[: _depth_of(copy, staged.depth)]
    own = tuple(name for name in copy.names() if name not in outer)
    source = copy.value.index if isinstance(copy.value, Load) else ()
    other = renaming(fresh(own, bound_names(staged.rule, staged.after)))
    premises = (*copy.domain, *moved_formulas(copy.domain, other))
    held = all_equal(copy.cell, moved(copy.cell, other))
    came = all_equal(source, moved(source, other))
    plain = {part.name for part in copy.cell if isinstance(part, Var)}
    if not plain.issuperset(own):
        asked.ask(f"no cell of {copy.buffer} is filled from two places", (*premises, held), came)
    if both:
        asked.ask(f"no cell is held in two places of {copy.buffer}", (*premises, came), held)


def _depth_of(copy: Family, depth: int) -> int:
    """Where in a moment the position of the region's block ends."""
    positions = 0
    for place, part in enumerate(copy.moment):
        if isinstance(part, int):
            if positions == depth:
                return place
            positions += 1
    return len(copy.moment)
