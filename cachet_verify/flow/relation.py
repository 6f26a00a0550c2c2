"""Proposals for the relation: descend both programs from sampled output cells and fit equations.

Takes two programs with proposed flows; gives, for each pair of operation nodes that a common
descent meets, the affine equations between their counters, or the first place where the flows
disagree. Must not be trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from random import Random

from cachet_verify.core.family import accesses
from cachet_verify.core.index import (
    ZERO,
    Const,
    Div,
    Formula,
    Index,
    Max,
    Min,
    Mod,
    Product,
    Var,
    conj,
    le,
    lt,
    subterms,
    variables,
)
from cachet_verify.core.ir import OfIndex, Op, values
from cachet_verify.flow.evaluate import Sizer, compile_formula, compile_terms
from cachet_verify.flow.fit import Span
from cachet_verify.flow.source import draw_cells
from cachet_verify.kernel.dataflow import INITIAL, Node, Side, Terminal, cell_names, node_value

_ROUNDS = 8
_CELLS = 24
_SHORT, _LONG = 60, 800
_STUBBORN = 24
_WHOLE = -1

Pair = tuple[Node, Node]
_End = tuple[Terminal, tuple[int, ...]]
_Ends = tuple[_End | None, _End | None]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Where two flows part: the output cell, the sizes, and what each side has there."""

    buffer: str
    cell: tuple[int, ...]
    sizes: dict[str, int]
    why: str


@dataclass(slots=True)
class Trace:
    """What the descents saw: points of each pair, the equations they leave, the first disagreement."""

    left: Side
    right: Side
    sizes: Sizer
    products: tuple[Index, ...]
    seen: dict[Pair, list[tuple[int, ...]]] = field(default_factory=dict)
    spans: dict[Pair, Span] = field(default_factory=dict)
    pieces: dict[tuple[Pair, tuple[Pair | str | None, ...]], Span] = field(default_factory=dict)
    operands: dict[Pair, int] = field(default_factory=dict)
    disagreement: Disagreement | None = None

    def see(self, pair: Pair, point: tuple[int, ...], below: tuple[Pair | str | None, ...]) -> bool:
        """Take a point of a pair; whether it leaves fewer equations for the points from which descents go on to the same pairs, `below`."""
        self.seen.setdefault(pair, []).append(point)
        if pair not in self.spans:
            self.spans[pair] = self._span(pair)
        own = self.pieces.get((pair, below))
        if own is None:
            own = self.pieces[pair, below] = self.spans[pair].empty()
        row = own.rows(*point)
        is_new = own.take(row)
        if is_new:
            self.spans[pair].take(row)
        return is_new

    def count(self, pair: Pair) -> int:
        """How many operands to go on to, `_WHOLE` for a copy's."""
        if pair not in self.operands:
            self.operands[pair] = _operands(self.left, self.right, pair)
        return self.operands[pair]

    def _span(self, pair: Pair) -> Span:
        names = (*self.sizes.sizes, *self.left.names(pair[0]), *self.right.names(pair[1]))
        known = set(names)
        terms: list[Index] = [*(Var(name) for name in names[len(self.sizes.sizes) :]), *(term for term in self.products if variables(term) <= known)]
        terms += [Var(size) for size in self.sizes.sizes]
        return Span(tuple(terms), compile_terms(names, terms))


@dataclass(frozen=True, slots=True)
class _Piece:
    guard: Callable[..., bool]
    terminal: Terminal
    values: Callable[..., tuple[int, ...]]


class _Walker:
    """One program's descents, compiled once for each place they start from."""

    def __init__(self, side: Side, sizes: tuple[str, ...]) -> None:
        self.side = side
        self.sizes = sizes
        self.operands: dict[tuple[Node, int], list[_Piece]] = {}
        self.finals: dict[str, list[_Piece]] = {}

    def final(self, buffer: str, point: tuple[int, ...]) -> _End | None:
        """Where a final cell comes from; `point` is sizes, then indices."""
        if buffer not in self.finals:
            names = (*self.sizes, *cell_names(buffer, len(self.side.families.buffers[buffer].shape)))
            self.finals[buffer] = [self._compiled(names, *piece) for piece in self.side.final(buffer)]
        return _first(self.finals[buffer], point)

    def operand(self, node: Node, place: int, point: tuple[int, ...]) -> _End | None:
        """Where an operand comes from; `point` is sizes, then counters."""
        if (node, place) not in self.operands:
            names = (*self.sizes, *self.side.families.named(node[0]).names())
            self.operands[node, place] = [self._compiled(names, *piece) for piece in self.side.operand(node, place)]
        return _first(self.operands[node, place], point)

    def followed(self, node: Node, point: tuple[int, ...]) -> _End | None:
        """Where the word of a copy comes from; any other node itself."""
        if (node, _WHOLE) not in self.operands:
            names = (*self.sizes, *self.side.names(node))
            self.operands[node, _WHOLE] = [self._compiled(names, *piece) for piece in self.side.followed(node)]
        return _first(self.operands[node, _WHOLE], point)

    def _compiled(self, names: Sequence[str], guard: Formula, terminal: Terminal) -> _Piece:
        terms: tuple[Index, ...] = terminal.cell
        if terminal.node is not None:
            terms = tuple(term for _, term in terminal.at)
        elif isinstance(terminal.word, OfIndex):
            terms = (terminal.word.term,)
        return _Piece(compile_formula(names, guard), terminal, compile_terms(names, terms))


def _first(pieces: list[_Piece], point: tuple[int, ...]) -> _End | None:
    for piece in pieces:
        if piece.guard(*point):
            return piece.terminal, piece.values(*point)
    return None


def descend(left: Side, right: Side, outputs: Sequence[str], sizes: Sizer, seed: int = 0) -> Trace:
    """Pairs of operation instances met from sampled cells of the outputs, until no new equation falls."""
    trace = Trace(left, right, sizes, monomials((left, right)))
    descent = _Descent(_Walker(left, sizes.sizes), _Walker(right, sizes.sizes), len(sizes.sizes), trace)
    draw = Random(seed)
    calm = 0
    scale = 1 + sum(1 for member in left.families.members for _ in values(member.value)) // _LONG
    for turn in range(_ROUNDS):
        before = {pair: span.rank for pair, span in trace.spans.items()}
        for buffer in outputs:
            names = cell_names(buffer, len(left.families.buffers[buffer].shape))
            shape = left.families.buffers[buffer].shape
            for place, point in enumerate(draw_cells(shape, names, sizes, _CELLS, seed + 1 + turn)):
                limit = _LONG if place < 2 else _SHORT
                why = descent.from_cell(buffer, point, limit * scale) or descent.falling(buffer, point, draw)
                if why is not None and trace.disagreement is None:
                    at = dict(zip(sizes.sizes, point[: len(sizes.sizes)], strict=True))
                    trace.disagreement = Disagreement(buffer, point[len(sizes.sizes) :], at, why)
        if trace.disagreement is not None:
            break
        calm = calm + 1 if before == {pair: span.rank for pair, span in trace.spans.items()} else 0
        if calm == 2:
            break
    return trace


@dataclass(frozen=True, slots=True)
class _Descent:
    """Both programs' flows, descended together; `width` is how many sizes a point starts with."""

    left: _Walker
    right: _Walker
    width: int
    trace: Trace

    def from_cell(self, buffer: str, point: tuple[int, ...], limit: int) -> str | None:
        """Descend from one cell, the pairs that were met least first: a value of many operations leaves time for what it is computed from."""
        sizes = point[: self.width]
        visited: set[tuple[Pair, tuple[int, ...]]] = set()
        waiting: list[tuple[int, int, Pair, tuple[int, ...], tuple[int, ...]]] = []
        why: str | None = None

        def meet(ours: _End | None, theirs: _End | None) -> None:
            nonlocal why
            met = self.meet(ours, theirs)
            if isinstance(met, str):
                why = why or met
            elif met is not None and ours is not None and theirs is not None and (met, (*ours[1], *theirs[1])) not in visited:
                visited.add((met, (*ours[1], *theirs[1])))
                heappush(waiting, (len(self.trace.seen.get(met, ())), -len(visited), met, ours[1], theirs[1]))

        meet(self.left.final(buffer, point), self.right.final(buffer, point))
        steps = 0
        while waiting and steps < limit:
            _, _, met, here, there = heappop(waiting)
            steps += 1
            ends, fewer = self.seen(met, sizes, here, there)
            if fewer:
                why = self.spread(ends, sizes) or why
            for ours, theirs in ends:
                meet(ours, theirs)
        return why

    def falling(self, buffer: str, point: tuple[int, ...], draw: Random) -> str | None:
        """Descend from one cell to where a flow ends, mostly by the same operand of each operation: so to the start of long chains.

        A point that leaves fewer equations, among those whose operands come from the same statements, is gone on from by all its operands. Where they
        come from there by affine terms, the equations that are left below then hold of everything that those above hold of.
        """
        sizes = point[: self.width]
        chosen: dict[Pair, int] = {}
        ends: list[_Ends] = [(self.left.final(buffer, point), self.right.final(buffer, point))]
        place = 0
        for _ in range(_LONG):
            why = self.spread(ends, sizes)
            ours, theirs = ends[place] if ends else (None, None)
            met = self.meet(ours, theirs)
            if why is not None or isinstance(met, str):
                return why or str(met)
            if met is None or ours is None or theirs is None:
                return None
            ends = list(self.below(met, (*sizes, *ours[1]), (*sizes, *theirs[1])))
            if met not in chosen or not draw.randrange(_STUBBORN):
                chosen[met] = draw.randrange(max(len(ends), 1))
            place = chosen[met]
        return None

    def spread(self, ends: Sequence[_Ends], sizes: tuple[int, ...]) -> str | None:
        """Take points, and those below each that leaves fewer equations; why two flows differ, where they do."""
        waiting = list(ends)
        while waiting:
            ours, theirs = waiting.pop()
            met = self.meet(ours, theirs)
            if isinstance(met, str):
                return met
            if met is not None and ours is not None and theirs is not None:
                below, fewer = self.seen(met, sizes, ours[1], theirs[1])
                if fewer:
                    waiting.extend(below)
                    waiting.extend(self.to_the_start(met, below, sizes))
        return None

    def to_the_start(self, met: Pair, below: list[_Ends], sizes: tuple[int, ...]) -> list[_Ends]:
        """Where a chain that goes on from an instance to others of its own pair begins: what its first link comes from."""
        for _ in range(_LONG):
            ours, theirs = next((both for both in below if self.meet(*both) == met), (None, None))
            if ours is None or theirs is None:
                return below
            below, _ = self.seen(met, sizes, ours[1], theirs[1])
        return []

    def seen(self, met: Pair, sizes: tuple[int, ...], here: tuple[int, ...], there: tuple[int, ...]) -> tuple[list[_Ends], bool]:
        """Take a point of a pair: where its operands come from, and whether it leaves fewer equations."""
        ends = list(self.below(met, (*sizes, *here), (*sizes, *there)))
        return ends, self.trace.see(met, (*sizes, *here, *there), tuple(self.meet(*both) for both in ends))

    def below(self, met: Pair, ours: tuple[int, ...], theirs: tuple[int, ...]) -> Iterator[_Ends]:
        """Where the operands of two instances come from, or the words of two copies."""
        count = self.trace.count(met)
        if count == _WHOLE:
            yield self.left.followed(met[0], ours), self.right.followed(met[1], theirs)
            return
        for place in range(count):
            yield self.left.operand(met[0], place, ours), self.right.operand(met[1], place, theirs)

    def meet(self, ours: _End | None, theirs: _End | None) -> Pair | str | None:
        """The pair of nodes to go on from, None where both flows end alike, or why they differ."""
        return _meet(self.left.side, self.right.side, ours, theirs)


def _operands(left: Side, right: Side, met: Pair) -> int:
    """How many operands to go on to: `_WHOLE` where one is a copy, none below two operations that differ, which the kernel refuses to relate."""
    if left.is_copy(met[0]) or right.is_copy(met[1]):
        return _WHOLE
    first, second = node_value(left.families, met[0]), node_value(right.families, met[1])
    if not isinstance(first, Op) or not isinstance(second, Op) or (first.name, first.elem) != (second.name, second.elem):
        return 0
    return min(len(first.args), len(second.args))


def _meet(left: Side, right: Side, ours: _End | None, theirs: _End | None) -> Pair | str | None:
    """The pair of nodes to go on from, None where both flows end alike, or why they differ."""
    if ours is None or theirs is None:
        return "a source was not found"
    first, second = ours[0], theirs[0]
    if "copy" in (first.kind, second.kind):
        members = left.member(first), right.member(second)
        return "a copy" if members[0] is None or members[1] is None else (members[0][0], members[1][0])
    if first.kind != second.kind:
        return f"{first.kind} against {second.kind}"
    if first.node is not None and second.node is not None:
        return first.node, second.node
    if first.kind == "initial":
        return None if (first.buffer, ours[1]) == (second.buffer, theirs[1]) else "different cells"
    if first.kind == "index":
        return None if ours[1] == theirs[1] else "different indices"
    return None if first.word == second.word else "different words"


def monomials(sides: Sequence[Side]) -> tuple[Index, ...]:
    """Terms that equations may have beside the variables.

    Products of two variables, quotients of sizes, and quotients and remainders by a literal that stand in the programs'
    domains and cells, products of their divisors with counters, and what is the larger or smaller of two in a cell: a range's start.
    """
    found: dict[Index, None] = {}
    divisors: dict[Var, None] = {}
    counters: dict[str, None] = {}
    for side in sides:
        sizes = frozenset(side.families.program.sizes)
        for member in side.families.members:
            counters.update(dict.fromkeys(member.names()))
            cells = [*member.cell, *(term for access in accesses(member.value) for term in access.cell)]
            found.update(dict.fromkeys(term for cell in cells for term in subterms(cell) if isinstance(term, (Max, Min))))
            for term in (term for item in (*member.domain, *cells) for term in subterms(item)):
                if isinstance(term, (Div, Mod)) and isinstance(term.right, Var):
                    divisors[term.right] = None
                elif _may_stand(term, sizes):
                    found[term] = None
    for divisor in divisors:
        found.update(dict.fromkeys(Product(divisor, Var(counter)) for counter in counters))
    return tuple(found)


def _may_stand(term: Index, sizes: frozenset[str]) -> bool:
    if isinstance(term, (Div, Mod)):
        return isinstance(term.right, Const) or variables(term) <= sizes
    return isinstance(term, Product) and isinstance(term.left, Var) and isinstance(term.right, Var)


def fit(trace: Trace, left: Side, right: Side, sizes: Sizer) -> dict[Pair, Formula]:
    """Affine equations (over counters, sizes and the programs' own products) for each pair met.

    A pair that these leave free is tried again with every product of a size and a counter: a chain
    whose steps are counted along a symbolic extent.
    """
    found: dict[Pair, Formula] = {}
    for pair, span in trace.spans.items():
        equations = span.equations() or _along_sizes(pair, trace.seen[pair], left, right, sizes)
        found[pair] = conj((*equations, *_inside(left, pair[0]), *_inside(right, pair[1])))
    return found


def _inside(side: Side, node: Node) -> Iterator[Formula]:
    """That a cell of the caller is one: what copies are related to beyond it no word reaches."""
    if node[0].startswith(INITIAL):
        shape = side.families.buffers[node[0].removeprefix(INITIAL)].shape
        for name, size in zip(side.names(node), shape, strict=True):
            yield from (le(ZERO, Var(name)), lt(Var(name), size))


def _along_sizes(pair: Pair, points: Sequence[tuple[int, ...]], left: Side, right: Side, sizes: Sizer) -> list[Formula]:
    counters = (*left.names(pair[0]), *right.names(pair[1]))
    terms: list[Index] = [*(Var(name) for name in counters), *(Var(size) for size in sizes.sizes)]
    terms += [Product(Var(size), Var(name)) for size in sizes.sizes for name in counters]
    span = Span(tuple(terms), compile_terms((*sizes.sizes, *counters), terms))
    for point in points:
        span.take(span.rows(*point))
    return span.equations()
