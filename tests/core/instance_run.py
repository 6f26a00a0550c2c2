"""A second meaning of programs: all instances of the lowered store families, one after the other by their moments.

Takes lowered families; gives the terms that parameters hold at the end. Shares no code with the
interpreter but the table of terms. Slow: it tries every counter up to a bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from cachet_verify.core.algebra import TermAlgebra
from cachet_verify.core.family import Families, Family
from cachet_verify.core.index import conj, evaluate, holds
from cachet_verify.core.ir import Choose, Load, OfIndex, Op, Value, Word

Memory = dict[tuple[str, tuple[int, ...]], "int | None"]


def instances(member: Family, sizes: dict[str, int], most: int) -> Iterator[dict[str, int]]:
    """All points of a family's domain whose counters are below a bound."""
    points = [dict(sizes)]
    for counter in member.counters:
        longer: list[dict[str, int]] = []
        for point in points:
            low = evaluate(counter.low, point)
            high = most if counter.high is None else evaluate(counter.high, point)
            longer.extend({**point, counter.name: value} for value in range(low, high))
        points = longer
    return (point for point in points if holds(conj(member.domain), point))


def value_of(value: Value, at: dict[str, int], memory: Memory, terms: TermAlgebra) -> int | None:
    if isinstance(value, Load):
        return memory.get((value.buffer, tuple(evaluate(term, at) for term in value.index)))
    if isinstance(value, Word):
        return terms.literal(value.elem, value.bits)
    if isinstance(value, OfIndex):
        return terms.of_index(value.elem, evaluate(value.term, at))
    if isinstance(value, Choose):
        return value_of(value.then if holds(value.condition, at) else value.orelse, at, memory, terms)
    if not isinstance(value, Op):
        raise TypeError(value)
    args = [value_of(arg, at, memory, terms) for arg in value.args]
    return terms.term(value.name, value.elem, *(arg for arg in args if arg is not None)) if None not in args else None


def run_instances(families: Families, sizes: dict[str, int], memory: Memory, terms: TermAlgebra, most: int) -> None:
    """Execute every instance; those of one moment (lanes) all read before any writes."""
    timed = []
    for member in families.members:
        for at in instances(member, sizes, most):
            moment = tuple(at[part] if isinstance(part, str) else part for part in member.moment)
            timed.append((moment, member, at))
    timed.sort(key=lambda item: item[0])
    for _, together in groupby(timed, key=lambda item: item[0]):
        writes = []
        for _, member, at in together:
            cell = (member.buffer, tuple(evaluate(term, at) for term in member.cell))
            writes.append((cell, value_of(member.value, at, memory, terms)))
        memory.update(writes)
