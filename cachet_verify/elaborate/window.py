"""The write windows of a grid, read off the stores in its body.

Takes a grid; gives a window for each buffer part that an iteration stores to, or None where a store
lies at no plain interval of indices. These are proposals: whether iterations keep to their windows,
and whether the windows are apart, the kernel asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from cachet_verify.core.family import window_view
from cachet_verify.core.index import ONE, ZERO, Const, Index, Product, Sum, Var, add, mul, sub, substitute, variables
from cachet_verify.core.ir import Block, Blocks, Declare, Domain, For, Grid, If, Inlined, Lanes, Lease, Range, Slice, Stmt, Store, View, Window
from cachet_verify.elaborate.collect import collected

Part = Index | Slice


def infer_windows(grid: Grid) -> tuple[Window, ...] | None:
    """The windows that the stores of a grid's body lie in, each once; None where one cannot be told, or there are none.

    Under a guard nothing is told: which iterations store at all may be what keeps them apart.
    """
    found: dict[Window, None] = {}
    for store, place in _stores(grid.body, _Place()):
        if store.buffer not in place.own:
            buffer, index = place.resolve(store.buffer, store.index)
            parts = tuple(_part(term, place.loops) for term in index)
            if buffer in place.own:
                continue
            if place.is_guarded or not _is_box(index, place.loops) or any(part is None for part in parts):
                return None
            found[Window(buffer, tuple(part for part in parts if part is not None))] = None
    return tuple(found) or None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a statement of the body stands: the loops around it, inner ones last, its own locals and its own aliases."""

    loops: tuple[tuple[str, Domain], ...] = ()
    own: frozenset[str] = frozenset()
    aliases: Mapping[str, View | str] = field(default_factory=dict)
    is_guarded: bool = False

    def inside(self, *loops: tuple[str, Domain]) -> _Place:
        return replace(self, loops=(*self.loops, *loops))

    def naming(self, alias: str, what: View | str) -> _Place:
        return replace(self, aliases={**self.aliases, alias: what})

    def resolve(self, buffer: str, index: tuple[Index, ...]) -> tuple[str, tuple[Index, ...]]:
        """A cell in terms of what the body did not name itself."""
        while buffer in self.aliases:
            what = self.aliases[buffer]
            if isinstance(what, View):
                by = dict(zip(what.counters, index, strict=True))
                buffer, index = what.root, tuple(substitute(term, by) for term in what.index)
            else:
                buffer = what
        return buffer, index


def _stores(block: Block, place: _Place) -> Iterable[tuple[Store, _Place]]:
    for stmt in block.body:
        if isinstance(stmt, Declare):
            place = replace(place, own=place.own | {stmt.name})
        elif isinstance(stmt, Lease):
            place = place.naming(stmt.alias, stmt.root)
        elif isinstance(stmt, View):
            place = place.naming(stmt.alias, stmt)
        elif isinstance(stmt, Store):
            yield stmt, place if stmt.lanes is None else place.inside(_lane(stmt.lanes))
        else:
            yield from _held(stmt, place)


def _held(stmt: Stmt, place: _Place) -> Iterable[tuple[Store, _Place]]:
    """The stores inside a statement that holds others."""
    if isinstance(stmt, For):
        yield from _stores(stmt.body, place.inside((stmt.counter, stmt.domain)))
    elif isinstance(stmt, Grid):
        inner = place.inside(*((axis.counter, axis.domain) for axis in stmt.axes))
        for window in stmt.windows or ():
            if window.alias is not None:
                inner = inner.naming(window.alias, window_view(window, window.alias))
        yield from _stores(stmt.body, inner)
    elif isinstance(stmt, If):
        guarded = replace(place, is_guarded=True)
        yield from _stores(stmt.then, guarded)
        yield from _stores(stmt.orelse, guarded)
    elif isinstance(stmt, (Inlined, Block)):
        yield from _stores(stmt.body if isinstance(stmt, Inlined) else stmt, place)


def _lane(lanes: Lanes) -> tuple[str, Domain]:
    return lanes.counter, Range(ZERO, lanes.active)


def _bound(counter: str) -> frozenset[str]:
    """The integers that a loop may bind."""
    return frozenset((counter, f"{counter}.lo", f"{counter}.len"))


def _is_box(index: tuple[Index, ...], loops: tuple[tuple[str, Domain], ...]) -> bool:
    """Whether no loop moves along two dimensions at once."""
    return all(sum(1 for term in index if variables(term) & _bound(counter)) <= 1 for counter, _ in loops)


def _part(term: Index, loops: tuple[tuple[str, Domain], ...]) -> Part | None:
    """The indices that a term takes over the loops: itself where it depends on none, else from its least to its greatest."""
    first: Index | None = term
    last: Index | None = term
    for counter, domain in reversed(loops):
        if first is None or last is None or not _is_dense(first, last, counter, domain):
            return None
        first = _end(first, counter, domain, is_least=True)
        last = _end(last, counter, domain, is_least=False)
    if first is None or last is None:
        return None
    return term if first == term == last else Slice(first, collected(add(last, ONE)))


def _is_dense(first: Index, last: Index, counter: str, domain: Domain) -> bool:
    """Whether a loop leaves no gap: it moves the interval of the loops inside it by one index, or by the width of that interval."""
    moved = counter if isinstance(domain, Range) else f"{counter}.lo"
    form = _linear(first, moved)
    if form is None:
        return False
    return form[0] in (ZERO, ONE, Const(-1), collected(add(sub(last, first), ONE)))


def _end(term: Index, counter: str, domain: Domain, is_least: bool) -> Index | None:
    """The least or the greatest value of a term over one loop; None where it does not rise or fall steadily."""
    if isinstance(domain, Blocks):
        return _end_of_block(term, counter, domain, is_least)
    return _replaced(term, counter, domain.low, sub(domain.high, ONE), is_least)


def _end_of_block(term: Index, counter: str, domain: Blocks, is_least: bool) -> Index | None:
    start, length = f"{counter}.lo", f"{counter}.len"
    if counter in variables(term):
        return None
    both = _linear(term, start), _linear(term, length)
    if both[0] is not None and both[1] is not None and both[0][0] == both[1][0] == ONE and not is_least:
        rest = _linear(both[0][1], length)
        return None if rest is None else add(rest[1], domain.high)
    shorter = _replaced(term, length, ONE, domain.size, is_least)
    return None if shorter is None else _replaced(shorter, start, domain.low, sub(domain.high, ONE), is_least)


def _replaced(term: Index, name: str, low: Index, last: Index, is_least: bool) -> Index | None:
    """The term at the end of a variable's range where it is least, or greatest: by the sign of the variable's factor."""
    if name not in variables(term):
        return term
    form = _linear(term, name)
    if form is None:
        return None
    factor, rest = form
    falls = isinstance(factor, Const) and factor.value < 0
    end = low if is_least != falls else last
    parts = end.terms if isinstance(end, Sum) else (end,)
    return collected(add(rest, *(mul(factor, part) for part in parts)))


def _linear(term: Index, name: str) -> tuple[Index, Index] | None:
    """A term as factor times variable plus a rest without it; None where it is not of that form."""
    if name not in variables(term):
        return ZERO, term
    if isinstance(term, Var):
        return ONE, ZERO
    if isinstance(term, Sum):
        parts = [_linear(part, name) for part in term.terms]
        if any(part is None for part in parts):
            return None
        found = [part for part in parts if part is not None]
        return add(*(factor for factor, _ in found)), add(*(rest for _, rest in found))
    if isinstance(term, Product) and name not in variables(term.left):
        inner = _linear(term.right, name)
        return None if inner is None else (mul(term.left, inner[0]), mul(term.left, inner[1]))
    if isinstance(term, Product) and name not in variables(term.right):
        inner = _linear(term.left, name)
        return None if inner is None else (mul(inner[0], term.right), mul(inner[1], term.right))
    return None
