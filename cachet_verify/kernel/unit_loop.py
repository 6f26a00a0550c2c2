"""Loops that run exactly once: with them or without them, a program is the same.

Takes two programs; gives the goal that they are the same when their families are, once each loop over
`0 .. 1` is left out and its counter is 0. Nothing is asked of a solver. A loop that may run less or more
often stays what it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cachet_verify.core.family import Buffer, Families, Family, substitute_value
from cachet_verify.core.index import ONE, TRUE, ZERO, Index, substitute_formula
from cachet_verify.core.ir import Choose, Load, Op, Program, Value
from cachet_verify.kernel.ask import moved
from cachet_verify.kernel.claim import Goal, RuleError, Same, check_requirements, issue
from cachet_verify.kernel.normal import canonical
from cachet_verify.kernel.scope import lowered

RULE = "unit-loops"


def unit_loops(before: Program, after: Program) -> Goal:
    """Both programs have one and the same families, loops over `0 .. 1` aside. Raises RuleError, naming what differs."""
    check_requirements(RULE, before, after)
    left, right = (canonical(_without(lowered(RULE, program))) for program in (before, after))
    if len(left) != len(right):
        raise RuleError(RULE, f"{len(left)} store families before, {len(right)} after")
    for ours, theirs in zip(left, right, strict=True):
        if ours != theirs:
            raise RuleError(RULE, "a store family differs", ours, theirs)
    return issue(RULE, Same(before, after), ())


def _without(families: Families) -> Families:
    """The families without the counters that are 0 in every instance."""
    units = frozenset(
        counter.name
        for member in families.members
        for counter in member.counters
        if counter.kind == "loop" and (counter.low, counter.high) == (ZERO, ONE)
    )
    buffers = {
        name: replace(buffer, private=tuple(counter for counter in buffer.private if counter not in units))
        for name, buffer in families.buffers.items()
    }
    by: dict[str, Index] = dict.fromkeys(units, ZERO)
    return Families(families.program, buffers, tuple(_member(member, families.buffers, by) for member in families.members))


def _member(member: Family, buffers: Mapping[str, Buffer], by: Mapping[str, Index]) -> Family:
    conditions = (substitute_formula(condition, by) for condition in member.domain)
    return replace(
        member,
        counters=tuple(counter for counter in member.counters if counter.name not in by),
        domain=tuple(condition for condition in conditions if condition != TRUE),
        moment=tuple(part for part in member.moment if part not in by),
        cell=_cell(buffers[member.buffer], member.cell, by),
        value=_value(member.value, buffers, by),
    )


def _cell(buffer: Buffer, cell: tuple[Index, ...], by: Mapping[str, Index]) -> tuple[Index, ...]:
    """A cell without the counters in front that are left out, the others replaced."""
    count = len(buffer.private)
    private = tuple(term for name, term in zip(buffer.private, cell, strict=False) if name not in by)
    return moved((*private, *cell[count:]), by)


def _value(value: Value, buffers: Mapping[str, Buffer], by: Mapping[str, Index]) -> Value:
    if isinstance(value, Load):
        return Load(value.buffer, _cell(buffers[value.buffer], value.index, by))
    if isinstance(value, Op):
        return Op(value.name, value.elem, tuple(_value(arg, buffers, by) for arg in value.args))
    if isinstance(value, Choose):
        condition = substitute_formula(value.condition, by)
        return Choose(condition, _value(value.then, buffers, by), _value(value.orelse, buffers, by))
    return substitute_value(value, by)
