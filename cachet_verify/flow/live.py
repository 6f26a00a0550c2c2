"""Proposals for what is live: conditions under which an instance's word may reach the caller.

Takes a program and its proposed sources; gives, for families with instances that are never
reached, the constraints of other families that hold at every instance reached from sampled cells.
Must not be trusted: the kernel checks that live readers read what live instances wrote.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from cachet_verify.core.family import Families, Family, accesses, lower
from cachet_verify.core.index import (
    Compare,
    Const,
    Div,
    Formula,
    Index,
    Max,
    Min,
    Mod,
    Product,
    Sum,
    Var,
    add,
    compare,
    conj,
    div,
    maximum,
    minimum,
    mod,
    mul,
    substitute_formula,
    variables,
)
from cachet_verify.core.ir import Program
from cachet_verify.flow.evaluate import Sizer, compile_formula, compile_terms, sizer
from cachet_verify.flow.linear import decode
from cachet_verify.flow.source import draw_cells, draw_points
from cachet_verify.kernel.dataflow import Flow, Pieces, cell_names
from cachet_verify.kernel.effective import effective

_CELLS = 60
_STEPS, _BROAD = 400, 60
_ROUNDS = 3

Point = tuple[int, ...]


def propose_live(program: Program, flow: Flow) -> dict[str, Formula]:
    """A condition for each family that has idle instances; nothing for the others."""
    return live_conditions(effective(lower(program)), flow)


def live_conditions(families: Families, flow: Flow) -> dict[str, Formula]:
    """The same for a program that is lowered, and its counters named, as in the flow."""
    if not any(family.lanes() for family in families.members):
        return {}
    sizes = sizer(families)
    reached = _reached(families, flow, sizes)
    found: dict[str, Formula] = {}
    candidates = _candidates(families)
    for family in families.members:
        points = reached.get(family.name, [])
        names = (*sizes.sizes, *family.names())
        drawn = draw_points(family, sizes, _CELLS, 12) if candidates[family.name] and points else []
        kept = [part for part in candidates[family.name] if not _always(part, names, drawn) and _always(part, names, points)]
        if kept and points:
            found[family.name] = conj(kept)
    return found


def _candidates(families: Families) -> dict[str, dict[Formula, None]]:
    """For each family, constraints on what its readers read of it, and on what theirs do: said of its own lanes."""
    found: dict[str, dict[Formula, None]] = {member.name: {} for member in families.members}
    for _ in range(_ROUNDS):
        for reader in families.members:
            parts = (*reader.domain, *found[reader.name])
            for access in accesses(reader.value):
                for writer in families.writers(access.buffer) if not families.buffers[access.buffer].is_param else ():
                    known = {*families.program.sizes, *writer.names()}
                    by = _decoded(reader, access.cell, writer)
                    said = [part for part in (*parts, *access.under) if isinstance(part, Compare)]
                    moved = [_as_read(part, access.cell, writer.cell) for part in said]
                    moved += [substitute_formula(part, by) for part in said if variables(part) & by.keys()]
                    new = (part for part in moved if variables(part) & writer.lanes() and variables(part) <= known)
                    found[writer.name].update(dict.fromkeys(part for part in new if part not in writer.domain))
    return found


def _as_read(part: Compare, there: Sequence[Index], here: Sequence[Index]) -> Formula:
    """A reader's constraint, said of the counters of the write that it reads: `there` is the cell read, `here` the cell written."""
    left, right = part.left, part.right
    for old, new in zip(there, here, strict=True):
        if isinstance(new, Var) and not isinstance(old, Const) and old != new:
            left, right = _put(left, old, new), _put(right, old, new)
    return compare(part.relation, left, right)


def _decoded(reader: Family, there: Sequence[Index], writer: Family) -> dict[str, Index]:
    """The reader's own counters, told by the cell that it reads: `there` is that cell, as the write has it."""
    lows = {counter.name: counter.low for counter in reader.counters}
    own = [name for name in reader.names() if name not in writer.names()]
    return decode(there, writer.cell, own, lows)


def _put(term: Index, old: Index, new: Index) -> Index:
    """A term with another one in it replaced."""
    if term == old:
        return new
    if isinstance(term, Sum):
        return add(*(_put(part, old, new) for part in term.terms))
    if isinstance(term, (Const, Var)):
        return term
    made = {Product: mul, Div: div, Mod: mod, Min: minimum, Max: maximum}[type(term)]
    return made(_put(term.left, old, new), _put(term.right, old, new))


def _always(part: Formula, names: Sequence[str], points: Sequence[Point]) -> bool:
    test = compile_formula(names, part)
    return all(test(*point) for point in points)


def _reached(families: Families, flow: Flow, sizes: Sizer) -> dict[str, list[Point]]:
    """Instances reached by descending from sampled final cells, sizes first."""
    walker = _Walker(families, flow, sizes.sizes)
    for param in families.program.params:
        if param.name in flow.finals and not param.scratch:
            names = cell_names(param.name, len(param.shape))
            for point in draw_cells(families.buffers[param.name].shape, names, sizes, _CELLS, 11):
                for is_broad in (False, True):
                    walker.descend(flow.finals[param.name], (*sizes.sizes, *names), point, is_broad)
    return walker.reached


class _Walker:
    def __init__(self, families: Families, flow: Flow, sizes: tuple[str, ...]) -> None:
        self.families = families
        self.flow = flow
        self.sizes = sizes
        self.reached: dict[str, list[Point]] = {}
        self.guards: dict[tuple[tuple[str, ...], Formula], Callable[..., bool]] = {}
        self.maps: dict[tuple[tuple[str, ...], tuple[Index, ...]], Callable[..., Point]] = {}

    def descend(self, pieces: Pieces, names: tuple[str, ...], point: Point, is_broad: bool) -> None:
        """Follow one word back, through every load of every instance it comes from: to the start of a sum, or to all operands first."""
        waiting = deque([(pieces, names, point)])
        visited: set[tuple[str, Point]] = set()
        while waiting and len(visited) < (_BROAD if is_broad else _STEPS):
            found = self.source(*(waiting.popleft() if is_broad else waiting.pop()))
            if found is None or (found[0].name, found[1]) in visited:
                continue
            family, at = found
            visited.add((family.name, at))
            self.reached.setdefault(family.name, []).append(at)
            for place in range(len(accesses(family.value))):
                if (family.name, place) in self.flow.loads:
                    waiting.append((self.flow.loads[family.name, place], (*self.sizes, *family.names()), at))

    def source(self, pieces: Pieces, names: tuple[str, ...], point: Point) -> tuple[Family, Point] | None:
        """The instance that wrote a word; None for an initial word."""
        for piece in pieces:
            if self.guard(names, piece.guard)(*point):
                if piece.writer is None:
                    return None
                family = self.families.named(piece.writer)
                at: Mapping[str, Index] = dict(piece.at)
                terms = tuple(at[name] for name in family.names())
                return family, (*point[: len(self.sizes)], *self.map(names, terms)(*point))
        return None

    def guard(self, names: tuple[str, ...], formula: Formula) -> Callable[..., bool]:
        """A guard, compiled once."""
        key = (names, formula)
        if key not in self.guards:
            self.guards[key] = compile_formula(names, formula)
        return self.guards[key]

    def map(self, names: tuple[str, ...], terms: tuple[Index, ...]) -> Callable[..., Point]:
        """A source's counters, compiled once."""
        key = (names, terms)
        if key not in self.maps:
            self.maps[key] = compile_terms(names, terms)
        return self.maps[key]
