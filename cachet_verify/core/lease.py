"""The leases of a program: what each moves, from where to where, and the loops around it.

Takes a core program and the level where buffers live that say nothing else; gives one record a
lease, in textual order. Trusted. Must not bound a trip count, nor leave out a statement it does not know.

Entering a lease moves the buffer's span from its home to the level of the lease, and back as well where the lease is
`mut` or the buffer is written while it lasts; at the level where it is already, it moves nothing. The home of a buffer is the level
it is declared at; where a lease is leased again, the level of the first. A lease of a part moves the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from cachet_verify.core.family import UnmodelledError
from cachet_verify.core.index import ZERO, Const, Formula, Index, Var, add, ceil_div, conjuncts, eq, le, lt, mul, neg, sub
from cachet_verify.core.ir import (
    Block,
    Blocks,
    Declare,
    Domain,
    For,
    Grid,
    If,
    Inlined,
    Lease,
    Print,
    Program,
    Stmt,
    Store,
    View,
)
from cachet_verify.source import Span


@dataclass(frozen=True, slots=True)
class Around:
    """A loop or a grid axis around a lease, and what holds where it starts: the counters outside it in range, guards met."""

    counter: str
    domain: Domain
    under: tuple[Formula, ...]

    @property
    def trips(self) -> Index:
        """How many iterations it has; a negative number stands for none."""
        count = sub(self.domain.high, self.domain.low)
        return ceil_div(count, self.domain.size) if isinstance(self.domain, Blocks) else count


@dataclass(frozen=True, slots=True)
class Pull:
    """One lease: `root` is moved from `source` to `target` at each entry, and back where `is_back`.

    `loops` are the loops around it, the outermost first, and `around` the same with blocks in blocks as one. `under` is all that holds where it
    stands: it is entered once an iteration of all of them in which the guards among that are met.
    """

    alias: str
    root: str
    source: str
    target: str
    is_back: bool
    around: tuple[Around, ...]
    loops: tuple[Around, ...]
    under: tuple[Formula, ...] = ()
    span: Span | None = field(default=None, compare=False)


def pulls(program: Program, home: str) -> tuple[Pull, ...]:
    """The leases of a program in textual order. Raises UnmodelledError for a statement that is not known here."""
    names = {param.name: (param.name, param.level or home) for param in program.params}
    return tuple(_of_block(program.body, _Place(names, home)))


def domain_facts(counter: str, domain: Domain) -> tuple[Formula, ...]:
    """What holds of a counter, or of a block's ordinal, first index and length, in each iteration."""
    if not isinstance(domain, Blocks):
        return (le(domain.low, Var(counter)), lt(Var(counter), domain.high))
    ordinal, low, length = Var(counter), Var(f"{counter}.lo"), Var(f"{counter}.len")
    return (
        le(ZERO, ordinal),
        eq(low, add(domain.low, mul(domain.size, ordinal))),
        lt(low, domain.high),
        lt(ZERO, length),
        le(length, domain.size),
        le(add(low, length), domain.high),
    )


def _around(outer: tuple[Around, ...], loop: Around) -> tuple[Around, ...]:
    """The loops around a place, with one more inside them.

    Blocks of b in blocks of a multiple of b are as many together as blocks of b in the whole: only the last block of
    each kind is short, and both end where the whole does. Such a pair of loops is counted as one, under the inner one's name.
    """
    if outer and isinstance(loop.domain, Blocks) and isinstance(outer[-1].domain, Blocks):
        whole, part = outer[-1].domain, loop.domain
        is_all = part.low == ZERO and part.high == Var(f"{outer[-1].counter}.len")
        if is_all and isinstance(whole.size, Const) and isinstance(part.size, Const) and 0 < part.size.value <= whole.size.value:
            if whole.size.value % part.size.value == 0:
                return (*outer[:-1], Around(loop.counter, Blocks(whole.low, whole.high, part.size), outer[-1].under))
    return (*outer, loop)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a statement stands: what buffers are called there, and what is around it."""

    names: Mapping[str, tuple[str, str]]
    """Root and level of each name of memory."""
    home: str
    around: tuple[Around, ...] = ()
    facts: tuple[Formula, ...] = ()

    def called(self, name: str, root: str, level: str) -> _Place:
        return replace(self, names={**self.names, name: (root, level)})

    def inside(self, counter: str, domain: Domain) -> _Place:
        around = (*self.around, Around(counter, domain, self.facts))
        return replace(self, around=around, facts=(*self.facts, *domain_facts(counter, domain)))

    def found(self, name: str) -> tuple[str, str]:
        if name not in self.names:
            raise UnmodelledError(f"a buffer named {name}")
        return self.names[name]


def _of_block(block: Block, place: _Place) -> Iterator[Pull]:
    for at, stmt in enumerate(block.body):
        if isinstance(stmt, Lease):
            yield from _of_lease(stmt, block.body[at + 1 :], place)
        else:
            yield from _of_statement(stmt, place)
        place = _after(stmt, place)


def _of_lease(stmt: Lease, rest: tuple[Stmt, ...], place: _Place) -> Iterator[Pull]:
    """A lease with what it lasts for; what is written meanwhile has to go back, by whatever name it is written."""
    root, level = place.found(stmt.root)
    if level != stmt.level:
        is_back = stmt.mutable or root in _written(Block(rest), _after(stmt, place))
        counted: tuple[Around, ...] = ()
        for loop in place.around:
            counted = _around(counted, loop)
        yield Pull(stmt.alias, root, level, stmt.level, is_back, counted, place.around, place.facts, stmt.span)


def _after(stmt: Stmt, place: _Place) -> _Place:
    """The place behind a statement: the names it brings."""
    if isinstance(stmt, Declare):
        return place.called(stmt.name, stmt.name, stmt.level or place.home)
    if isinstance(stmt, Lease):
        return place.called(stmt.alias, place.found(stmt.root)[0], stmt.level)
    return place.called(stmt.alias, *place.found(stmt.root)) if isinstance(stmt, View) else place


def _written(block: Block, place: _Place) -> set[str]:
    """The buffers that a block stores to."""
    found: set[str] = set()
    for stmt in block.body:
        if isinstance(stmt, Store):
            found.add(place.found(stmt.buffer)[0])
        elif isinstance(stmt, If):
            found |= _written(stmt.then, place) | _written(stmt.orelse, place)
        elif isinstance(stmt, Grid):
            found |= _written(stmt.body, _in_grid(stmt, place))
        elif isinstance(stmt, (For, Inlined)):
            found |= _written(stmt.body, place)
        elif isinstance(stmt, Block):
            found |= _written(stmt, place)
        place = _after(stmt, place)
    return found


def _of_statement(stmt: Stmt, place: _Place) -> Iterator[Pull]:
    if isinstance(stmt, For):
        yield from _of_block(stmt.body, place.inside(stmt.counter, stmt.domain))
    elif isinstance(stmt, Grid):
        yield from _of_block(stmt.body, _in_grid(stmt, place))
    elif isinstance(stmt, If):
        yield from _of_block(stmt.then, replace(place, facts=(*place.facts, *conjuncts(stmt.condition))))
        yield from _of_block(stmt.orelse, replace(place, facts=(*place.facts, *conjuncts(neg(stmt.condition)))))
    elif isinstance(stmt, (Block, Inlined)):
        yield from _of_block(stmt.body if isinstance(stmt, Inlined) else stmt, place)
    elif not isinstance(stmt, (Store, Declare, View, Print)):
        raise UnmodelledError(f"the traffic of a statement of kind {type(stmt).__name__}")


def _in_grid(stmt: Grid, place: _Place) -> _Place:
    """Where the body of a grid stands: its counters around it, its windows by their names."""
    for axis in stmt.axes:
        place = place.inside(axis.counter, axis.domain)
    for window in stmt.windows or ():
        if window.alias is not None:
            place = place.called(window.alias, *place.found(window.buffer))
    return place
