"""Proposals for sources: which earlier write gave the word that a load reads.

Takes the families of one program; gives, for each load and each final cell, pieces in order. For
every writer, and every depth at which writer and reader can part ways from the inside out, the
writer's counters are those of the reader down to that depth, then what the address says, then the
latest iteration; pieces that never apply at sampled points are dropped. Must not be trusted.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Literal

from cachet_verify.core.family import Access, Counter, Families, Family, accesses
from cachet_verify.core.index import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Compare,
    Const,
    Div,
    Formula,
    Index,
    Max,
    Min,
    Mod,
    Substitution,
    Var,
    add,
    all_equal,
    conj,
    conjuncts,
    div,
    le,
    lt,
    minimum,
    mod,
    mul,
    sub,
    substitute,
    substitute_formula,
    subterms,
    variables,
)
from cachet_verify.core.ir import Word
from cachet_verify.flow.evaluate import Drawer, Sizer, compile_formula
from cachet_verify.flow.linear import decode, split_linear
from cachet_verify.kernel.dataflow import Flow, Pieces, Source, cell_names
from cachet_verify.kernel.effective import KEPT

_SAMPLES, _FINALS = 240, 600
"""Points at which sources are told apart: of each family, and of each buffer at the end, where more meet."""


@dataclass(frozen=True, slots=True)
class Reader:
    """What reads: a cell of a buffer, in a family's iteration or after the end."""

    buffer: str
    cell: tuple[Index, ...]
    family: Family | None
    under: tuple[Formula, ...] = ()


class _Points:
    """Sample points, drawn when they are first wanted: what is only read needs none."""

    def __init__(self, draw: Callable[[], list[tuple[int, ...]]]) -> None:
        self.draw = draw
        self.found: list[tuple[int, ...]] | None = None

    def all(self) -> list[tuple[int, ...]]:
        """The points."""
        if self.found is None:
            self.found = self.draw()
        return self.found


def propose_flow(families: Families, sizes: Sizer, seed: int = 0) -> Flow:
    """Sources for every load and every final cell of a program's parameters."""
    loads: dict[tuple[str, int], Pieces] = {}
    for family in families.members:
        names = (*sizes.sizes, *family.names())
        points = _Points(partial(draw_points, family, sizes, _SAMPLES, seed))
        told: dict[Access, Pieces] = {}
        for place, access in enumerate(accesses(family.value)):
            if access not in told:
                told[access] = _propose(families, _reader(access, family), names, points)
            loads[family.name, place] = told[access]
    finals: dict[str, Pieces] = {}
    for param in families.program.params:
        if param.scratch:
            continue
        names = cell_names(param.name, len(param.shape))
        reader = Reader(param.name, tuple(Var(name) for name in names), None)
        shape = families.buffers[param.name].shape
        points = _Points(partial(draw_cells, shape, names, sizes, _FINALS, seed))
        finals[param.name] = _propose(families, reader, (*sizes.sizes, *names), points)
    return Flow(loads, finals)


def _reader(access: Access, family: Family) -> Reader:
    return Reader(access.buffer, access.cell, family, access.under)


def draw_points(family: Family, sizes: Sizer, count: int, seed: int, a_size: int = 3) -> list[tuple[int, ...]]:
    """Points of a family's domain: sizes, then counters; `a_size` points are tried at each size."""
    chance = random.Random(seed)
    drawer = Drawer(family, sizes.sizes, sizes.literals)
    found: list[tuple[int, ...]] = []
    for attempt in range(count * 6):
        at = sizes.nth(seed, attempt // a_size)
        if at is None:
            return found
        point = drawer.draw(at, chance)
        if point is not None:
            found.append(point)
            if len(found) == count:
                break
    return found


def draw_cells(shape: Sequence[Index], names: Sequence[str], sizes: Sizer, count: int, seed: int) -> list[tuple[int, ...]]:
    """Cells of a buffer: sizes, then indices."""
    counters = tuple(Counter(name, "loop", ZERO, size) for name, size in zip(names, shape, strict=True))
    domain = tuple(part for name, size in zip(names, shape, strict=True) for part in (le(ZERO, Var(name)), lt(Var(name), size)))
    virtual = Family("end", counters, domain, (), "", (), Word("bool", 0))
    return draw_points(virtual, sizes, count, seed, 1)


def _propose(families: Families, reader: Reader, names: Sequence[str], points: _Points) -> Pieces:
    pieces: list[Source] = []
    if families.writers(reader.buffer):
        under = compile_formula(names, conj(reader.under))
        open_points = [point for point in points.all() if under(*point)]
        for candidate in _candidates(families, reader):
            guard = compile_formula(names, candidate.guard)
            hit = [point for point in open_points if guard(*point)]
            if not hit:
                continue
            missed = [point for point in open_points if not guard(*point)]
            slim = _slimmed(candidate.guard, names, open_points)
            pieces.append(Source(slim if missed else TRUE, candidate.writer, candidate.at))
            open_points = missed
            if not missed and len(points.all()) >= _SAMPLES // 4:
                return tuple(pieces)
    return (*pieces, Source(TRUE))


def _slimmed(guard: Formula, names: Sequence[str], points: Sequence[tuple[int, ...]]) -> Formula:
    """The guard without the conjuncts that hold at every point where the others do."""
    parts = list(conjuncts(guard))
    tests = [compile_formula(names, part) for part in parts]
    kept: list[Formula] = []
    remaining = list(points)
    for part, test in sorted(zip(parts, tests, strict=True), key=lambda pair: _complexity(pair[0])):
        failing = [point for point in remaining if not test(*point)]
        if failing:
            kept.append(part)
            remaining = [point for point in remaining if test(*point)]
    return conj(kept)


def _complexity(part: Formula) -> tuple[int, int]:
    return len(variables(part)), len(repr(part))


def _candidates(families: Families, reader: Reader) -> list[Source]:
    ranked: list[tuple[tuple[int, ...], Source]] = []
    for order, writer in enumerate(families.writers(reader.buffer)):
        shared, is_earlier = _shared(writer, reader.family)
        depths = range(len(shared), -1, -1) if is_earlier else range(len(shared) - 1, -1, -1)
        for depth in depths:
            if depth < len(shared) and shared[depth] in writer.grids():
                continue
            for place, way in enumerate(_ways(writer)):
                source = _candidate(writer, reader, shared, depth, way)
                if source is not None:
                    ranked.append(((-depth, -order, place), source))
    ranked.sort(key=lambda pair: pair[0])
    return [source for _, source in ranked]


def _shared(writer: Family, reader: Family | None) -> tuple[list[str], bool]:
    """The loops both stand in, outermost first, and whether the writer comes first in their body."""
    shared: list[str] = []
    if reader is None:
        return shared, True
    for ours, theirs in zip(writer.moment, reader.moment, strict=False):
        if isinstance(ours, str) and ours == theirs:
            shared.append(ours)
        elif ours != theirs:
            return shared, isinstance(ours, int) and isinstance(theirs, int) and ours < theirs
    return shared, False


Way = Literal["plain", "whole", "back", "let through"]


def _ways(writer: Family) -> tuple[Way, ...]:
    """How to read the address where many instances write one cell: the last of its quotient, one block back, what a guard lets through."""
    parts = [part for term in writer.cell for part in subterms(term)]
    ways: list[Way] = ["plain"]
    if any(isinstance(part, Mod) for part in parts):
        ways.append("back")
    elif any(isinstance(part, (Div, Min, Max)) for part in parts):
        ways.append("whole")
    if len(_bounding(writer)) > 2 * len(writer.counters):  # more than a range for each counter
        ways.append("let through")
    return tuple(ways)


def _bounding(writer: Family) -> tuple[Formula, ...]:
    """The conditions that may say which instance is the last: where a copy fills gaps, the write itself may come after it."""
    return writer.domain[:-1] if writer.name.endswith(KEPT) else writer.domain


def _candidate(writer: Family, reader: Reader, shared: Sequence[str], depth: int, way: Way = "plain") -> Source | None:
    """The writer's instance that agrees with the reader down to a depth, and is what the address says, or the latest."""
    at: dict[str, Index] = {name: Var(name) for name in shared[:depth]}
    unknown = [name for name in writer.names() if name not in at]
    fresh: Substitution = {name: Var("?" + name) for name in unknown}
    cell = tuple(substitute(term, fresh) for term in writer.cell)
    lows = {"?" + counter.name: substitute(counter.low, fresh) for counter in writer.counters}
    equations = [_undivided(*pair) if way == "whole" else pair for pair in zip(cell, reader.cell, strict=True)]
    found = decode([ours for ours, _ in equations], [theirs for _, theirs in equations], ["?" + name for name in unknown], lows)
    told = {name: found["?" + name] for name in unknown if "?" + name in found and not _is_open(found["?" + name])}
    guards: list[Formula] = []
    parting = shared[depth] if depth < len(shared) else None
    for counter in writer.counters:
        if counter.name in at:
            continue
        by_address = told.get(counter.name)
        if by_address is not None:
            at[counter.name] = by_address
            if counter.name == parting:
                guards.append(lt(by_address, Var(parting)))
            continue
        last = None if counter.name == parting and way != "let through" else _last(writer, counter, at, told)
        if counter.name == parting:
            before = sub(Var(parting), ONE)
            last = before if last is None else minimum(before, last)
        if last is None:
            return None
        if way == "back" and counter.name != parting:
            last, way = sub(last, ONE), "plain"
        at[counter.name] = _around(equations, counter.name, at, last)
    guards.extend(substitute_formula(part, at) for part in writer.domain)
    guards.append(all_equal((substitute(term, at) for term in writer.cell), reader.cell))
    guard = conj(guards)
    return None if guard == FALSE else Source(guard, writer.name, tuple(at.items()))


def _undivided(ours: Index, theirs: Index) -> tuple[Index, Index]:
    """An equation with a quotient by a literal, for the largest dividend that has it; with a bound, for what is bounded."""
    if isinstance(ours, Div) and isinstance(ours.right, Const) and ours.right.value > 0:
        return ours.left, add(mul(ours.right, theirs), Const(ours.right.value - 1))
    if isinstance(ours, (Min, Max)):
        return (ours.left if _is_open(ours.left) else ours.right), theirs
    return ours, theirs


def _around(equations: Sequence[tuple[Index, Index]], name: str, at: Substitution, last: Index) -> Index:
    """The latest value of a counter, not above `last`, at which a remainder by a literal is what the address says."""
    own = "?" + name
    known = {"?" + other: term for other, term in at.items()}
    for ours, theirs in equations:
        term = substitute(ours, known)
        if isinstance(term, Mod) and isinstance(term.right, Const) and variables(term) & {own} and not _is_open(substitute(term, {own: ZERO})):
            parts = split_linear(term.left, frozenset({own}))
            if parts is not None and parts[0].get(own) == ONE:
                return sub(last, mod(sub(add(last, parts[1]), theirs), term.right))
    return last


def _is_open(term: Index) -> bool:
    """Whether a term still names an unknown."""
    return any(name.startswith("?") for name in variables(term))


def _last(writer: Family, counter: Counter, at: Substitution, told: Substitution) -> Index | None:
    """The last iteration of a loop, given the counters outside it: the least of its bounds, guards included.

    Counters inside it are taken as the address tells them (`told`), else at their first iteration.
    """
    inner: dict[str, Index] = {counter.name: Var("?" + counter.name)}
    for other in writer.counters:
        if other.name not in at and other.name != counter.name:
            inner[other.name] = told.get(other.name, substitute(other.low, {**at, **inner}))
    found: dict[Index, None] = {}
    if counter.high is not None:
        last = substitute(sub(counter.high, ONE), {**at, **inner})
        if _is_open(last):
            return None
        found[last] = None
    for part in _bounding(writer):
        bound = _upper_bound(part, counter.name, at, inner)
        if bound is not None:
            found[bound] = None
    return reduce(minimum, found) if found else None


def _upper_bound(part: Formula, name: str, at: Substitution, inner: Substitution) -> Index | None:
    """The largest value a counter can have under one constraint; `inner` has the counters inside it, over `?name` itself."""
    if not isinstance(part, Compare) or part.relation not in ("<", "<=", "=="):
        return None
    own = "?" + name
    parts = split_linear(substitute(sub(part.left, part.right), {**at, **inner}), frozenset({own}))
    if parts is None or own not in parts[0]:
        return None
    sign = -1 if part.relation == "==" and parts[0][own] == Const(-1) else 1
    scale = mul(Const(sign), parts[0][own])
    if isinstance(scale, Const) and scale.value <= 0:
        return None
    room = mul(Const(-sign), parts[1])
    return None if _is_open(room) else div(sub(room, ONE) if part.relation == "<" else room, scale)
