"""Programs that are the same up to names, nesting and the numbering of their statements.

Takes two programs; gives the goal that they are the same when their families are, once names of
binders and positions are written in one canonical way. Nothing is asked of a solver. Aliases are
resolved by lowering, so a lease or a view that is only another name changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from cachet_verify.core.family import Buffer, Families, Family, Moment, substitute_value
from cachet_verify.core.index import Formula, Index, Var
from cachet_verify.core.ir import Choose, Load, Op, Program, Value
from cachet_verify.kernel.ask import moved, moved_formulas
from cachet_verify.kernel.claim import Goal, RuleError, Same, check_requirements, issue
from cachet_verify.kernel.scope import lowered

RULE = "same-families"

Shape = tuple[object, ...]


def same_families(before: Program, after: Program) -> Goal:
    """Both programs have one and the same families. Raises RuleError, naming what differs."""
    return _compare(RULE, before, after)


def rename(before: Program, after: Program) -> Goal:
    """The program after is the one before with binders renamed."""
    return _compare("rename", before, after)


def rename_alias(before: Program, after: Program) -> Goal:
    """The program after names some buffers by aliases (a lease, a view) of the same cells."""
    return _compare("rename-alias", before, after)


def _compare(rule: str, before: Program, after: Program) -> Goal:
    check_requirements(rule, before, after)
    left, right = canonical(lowered(rule, before)), canonical(lowered(rule, after))
    if len(left) != len(right):
        raise RuleError(rule, f"{len(left)} store families before, {len(right)} after")
    for ours, theirs in zip(left, right, strict=True):
        if ours != theirs:
            raise RuleError(rule, "a store family differs", ours, theirs)
    return issue(rule, Same(before, after), ())


def canonical(families: Families) -> tuple[Shape, ...]:
    """What a program is made of, without the names of its binders and the numbers of its positions.

    Two programs with equal canonical forms have the same instances, cells, values and order.
    """
    counters = {
        name: f"#{place}"
        for place, name in enumerate(dict.fromkeys(name for member in families.members for name in member.names()))
    }
    used = dict.fromkeys(name for member in families.members for name in _buffers(member))
    order = [name for name in used if not families.buffers[name].is_param]
    locals_ = {name: f"#local {place}" for place, name in enumerate(order)}
    by: dict[str, Index] = {name: Var(other) for name, other in counters.items()}
    moments = ranked(tuple(member.moment for member in families.members))
    return tuple(
        _shape(member, moment, families.buffers, by, locals_)
        for member, moment in zip(families.members, moments, strict=True)
    )


def _buffers(member: Family) -> tuple[str, ...]:
    return (member.buffer, *_loaded(member.value))


def _loaded(value: Value) -> tuple[str, ...]:
    if isinstance(value, Load):
        return (value.buffer,)
    if isinstance(value, Op):
        return tuple(name for arg in value.args for name in _loaded(arg))
    if isinstance(value, Choose):
        return (*_loaded(value.then), *_loaded(value.orelse))
    return ()


def _shape(
    member: Family, moment: Shape, buffers: Mapping[str, Buffer], by: dict[str, Index], locals_: dict[str, str]
) -> Shape:
    kinds = tuple((by[counter.name], counter.kind) for counter in member.counters)
    domain = frozenset[Formula](moved_formulas(member.domain, by))
    when = tuple(by[part] if isinstance(part, str) else part for part in moment)
    value = _renamed(substitute_value(member.value, by), locals_)
    kept = tuple(_kept(buffers[name], by) for name in _buffers(member))
    return kinds, domain, when, locals_.get(member.buffer, member.buffer), moved(member.cell, by), value, kept


def _kept(buffer: Buffer, by: dict[str, Index]) -> Shape:
    """What has to be equal of a buffer; a parameter is compared by the requirements already."""
    return (buffer.elem, buffer.is_param, tuple(by[name] for name in buffer.private))


def _renamed(value: Value, locals_: dict[str, str]) -> Value:
    if isinstance(value, Load):
        return Load(locals_.get(value.buffer, value.buffer), value.index)
    if isinstance(value, Op):
        return Op(value.name, value.elem, tuple(_renamed(arg, locals_) for arg in value.args))
    if isinstance(value, Choose):
        return Choose(value.condition, _renamed(value.then, locals_), _renamed(value.orelse, locals_))
    return value


def ranked(moments: tuple[Moment, ...]) -> tuple[Shape, ...]:
    """Moments with positions numbered by rank among those that share the way there.

    A run of positions without a counter between becomes one rank, so nesting in blocks is gone.
    """
    split = [runs(moment) for moment in moments]
    known: dict[Shape, list[Moment]] = {}
    for segments in split:
        for place, segment in enumerate(segments):
            if place % 2 == 0:
                known.setdefault(tuple(segments[:place]), []).append(segment)
    ranks = {way: {segment: rank for rank, segment in enumerate(sorted(set(found)))} for way, found in known.items()}
    return tuple(
        tuple(
            ranks[tuple(segments[:place])][segment] if place % 2 == 0 else segment[0]
            for place, segment in enumerate(segments)
        )
        for segments in split
    )


def runs(moment: Moment) -> list[Moment]:
    """A moment as runs of positions with single counters between them; runs may be empty."""
    found: list[Moment] = [()]
    for part in moment:
        if isinstance(part, str):
            found += [(part,), ()]
        else:
            found[-1] = (*found[-1], part)
    return found
