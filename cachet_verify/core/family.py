"""Programs as families of store instances: domains, addresses and the order of execution.

Takes a core program; gives, for every store statement, the counters that index its instances,
the constraints on them, the root cell it writes, the value it writes and its place in time.
Must not reason: everything here is read off the program, and is part of what is trusted.

Blocks become ordinals (`g.lo` is `low + size * g`), folds become an accumulator that is set,
updated in a loop and read once, aliases become the buffers they stand for, and a local becomes a
buffer with the counters of its declaration in front of its indices, so that each iteration has
its own cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from cachet_verify.core.index import (
    FALSE,
    TRUE,
    ZERO,
    Const,
    Formula,
    Index,
    Substitution,
    Var,
    add,
    conj,
    conjuncts,
    disj,
    eq,
    le,
    lt,
    minimum,
    mul,
    neg,
    sub,
    substitute,
    substitute_formula,
)
from cachet_verify.core.ir import (
    Block,
    Blocks,
    Choose,
    Declare,
    Domain,
    Fold,
    For,
    Grid,
    If,
    Inlined,
    Lanes,
    Lease,
    Load,
    OfIndex,
    Op,
    Print,
    Program,
    Slice,
    Stmt,
    Store,
    Value,
    View,
    Window,
    Word,
)
from cachet_verify.source import Span


class UnmodelledError(Exception):
    """The program uses a construct that the proof routes do not model; the text names it."""


@dataclass(frozen=True, slots=True)
class Counter:
    """One counter of a family: a sequential loop, a grid axis or a lane, from `low` to below `high`.

    Over blocks the counter is the ordinal, and `high` is None: its bound is in the domain.
    """

    name: str
    kind: str
    low: Index
    high: Index | None


@dataclass(frozen=True, slots=True)
class Buffer:
    """A root buffer: a parameter, or a local with `private` counters in front of its indices."""

    name: str
    elem: str
    shape: tuple[Index, ...]
    private: tuple[str, ...] = ()
    is_param: bool = True
    mode: str = "mut"


Moment = tuple["int | str", ...]


@dataclass(frozen=True, slots=True)
class Family:
    """All instances of one store statement.

    `moment` alternates textual positions and the counters of the loops between them; lanes are
    not part of it. `kinds` says which counters are grid axes. Loads in `value` name root buffers
    and full cells, private counters included.
    """

    name: str
    counters: tuple[Counter, ...]
    domain: tuple[Formula, ...]
    moment: Moment
    buffer: str
    cell: tuple[Index, ...]
    value: Value
    span: Span | None = field(default=None, compare=False)

    def names(self) -> tuple[str, ...]:
        """The names of the counters, outermost first."""
        return tuple(counter.name for counter in self.counters)

    def lanes(self) -> frozenset[str]:
        """The counters that are lanes."""
        return frozenset(counter.name for counter in self.counters if counter.kind == "lane")

    def grids(self) -> frozenset[str]:
        """The counters that are grid axes."""
        return frozenset(counter.name for counter in self.counters if counter.kind == "grid")


@dataclass(frozen=True, slots=True)
class Families:
    """A program, lowered: its root buffers by name, and its store families in textual order."""

    program: Program
    buffers: Mapping[str, Buffer]
    members: tuple[Family, ...]

    def writers(self, buffer: str) -> tuple[Family, ...]:
        """The families that write a buffer."""
        return tuple(member for member in self.members if member.buffer == buffer)

    def named(self, name: str) -> Family:
        """The family of that name. Raises KeyError."""
        for member in self.members:
            if member.name == name:
                return member
        raise KeyError(name)

    def premises(self) -> tuple[Formula, ...]:
        """Sizes are naturals, and what the program requires."""
        sizes = [le(ZERO, Var(size)) for size in self.program.sizes]
        return (*sizes, *(part for need in self.program.requires for part in conjuncts(need.condition)))


@dataclass(frozen=True, slots=True)
class Access:
    """One load of a family's value: the cell it reads and the condition under which it does."""

    buffer: str
    cell: tuple[Index, ...]
    under: tuple[Formula, ...]


def accesses(value: Value, under: tuple[Formula, ...] = ()) -> tuple[Access, ...]:
    """The loads of a lowered value, in evaluation order."""
    if isinstance(value, Load):
        return (Access(value.buffer, value.index, under),)
    if isinstance(value, Op):
        return tuple(access for arg in value.args for access in accesses(arg, under))
    if isinstance(value, Choose):
        then = accesses(value.then, (*under, *conjuncts(value.condition)))
        return then + accesses(value.orelse, (*under, *conjuncts(neg(value.condition))))
    return ()


def before(first: Family, second: Family, by: tuple[Substitution, Substitution], phases: tuple[int, int]) -> Formula:
    """Whether an instance of one family happens before an instance of another.

    `by` gives the counters of each instance as terms; a phase is 0 for the reads of an instance
    and 1 for its writes. Iterations of a grid that differ are unordered.
    """
    same: list[Formula] = []
    cases: list[Formula] = []
    grids = first.grids()
    for left, right in zip(first.moment, second.moment, strict=False):
        if isinstance(left, str) and isinstance(right, str):
            if left != right:
                raise UnmodelledError("two loops at one position")
            ours, theirs = substitute(Var(left), by[0]), substitute(Var(right), by[1])
            if left not in grids:
                cases.append(conj((*same, lt(ours, theirs))))
            same.append(eq(ours, theirs))
        elif left != right:
            earlier = isinstance(left, int) and isinstance(right, int) and left < right
            return disj((*cases, conj(same) if earlier else FALSE))
    return disj((*cases, conj(same) if phases[0] < phases[1] else FALSE))


def substitute_value(value: Value, by: Substitution) -> Value:
    """Replace index variables in a value without folds."""
    if isinstance(value, Load):
        return Load(value.buffer, tuple(substitute(term, by) for term in value.index))
    if isinstance(value, Op):
        return Op(value.name, value.elem, tuple(substitute_value(arg, by) for arg in value.args))
    if isinstance(value, OfIndex):
        return OfIndex(value.elem, substitute(value.term, by))
    if isinstance(value, Choose):
        condition = substitute_formula(value.condition, by)
        if condition == TRUE:
            return substitute_value(value.then, by)
        if condition == FALSE:
            return substitute_value(value.orelse, by)
        return Choose(condition, substitute_value(value.then, by), substitute_value(value.orelse, by))
    if isinstance(value, Fold):
        raise UnmodelledError("a fold inside an operand")
    return value


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a statement stands: counters, constraints, time, and what its names stand for."""

    counters: tuple[Counter, ...] = ()
    domain: tuple[Formula, ...] = ()
    moment: Moment = ()
    blocks: Mapping[str, Index] = field(default_factory=dict)
    locals: Mapping[str, Buffer] = field(default_factory=dict)
    views: Mapping[str, View | str] = field(default_factory=dict)

    def root(self, name: str) -> str:
        """The buffer behind a name, through leases and views."""
        while name in self.views:
            view = self.views[name]
            name = view if isinstance(view, str) else view.root
        return name

    def at(self, position: int) -> _Place:
        return replace(self, moment=(*self.moment, position))

    def under(self, condition: Formula) -> _Place:
        condition = substitute_formula(condition, self.blocks)
        return replace(self, domain=(*self.domain, *conjuncts(condition)))

    def inside(self, name: str, kind: str, low: Index, high: Index) -> _Place:
        low, high = substitute(low, self.blocks), substitute(high, self.blocks)
        moment = self.moment if kind == "lane" else (*self.moment, name)
        counter = Counter(name, kind, low, high)
        domain = (*self.domain, *conjuncts(conj((le(low, Var(name)), lt(Var(name), high)))))
        return replace(self, counters=(*self.counters, counter), domain=domain, moment=moment)

    def inside_block(self, name: str, blocks: Blocks, kind: str = "loop") -> _Place:
        low, high = substitute(blocks.low, self.blocks), substitute(blocks.high, self.blocks)
        size = substitute(blocks.size, self.blocks)
        start = add(low, mul(size, Var(name)))
        length = minimum(size, sub(high, start))
        known = {**self.blocks, f"{name}.lo": start, f"{name}.len": length}
        domain = (*self.domain, le(ZERO, Var(name)), *conjuncts(lt(start, high)))
        counters = (*self.counters, Counter(name, kind, ZERO, None))
        return replace(self, counters=counters, domain=domain, moment=(*self.moment, name), blocks=known)


class _Lowering:
    """Walks a program once, in textual order."""

    def __init__(self, program: Program) -> None:
        self.buffers: dict[str, Buffer] = {
            param.name: Buffer(param.name, param.elem, param.shape, mode=param.mode) for param in program.params
        }
        self.members: list[Family] = []

    def block(self, block: Block, place: _Place) -> None:
        for position, stmt in enumerate(block.body):
            place = self.statement(stmt, place, place.at(position))

    def statement(self, stmt: Stmt, outer: _Place, here: _Place) -> _Place:
        """Lower a statement at `here`; give the place that what follows it in its block stands in."""
        if isinstance(stmt, Declare):
            return self.declare(stmt, outer, here)
        if isinstance(stmt, Lease):
            return replace(outer, views={**outer.views, stmt.alias: stmt.root})
        if isinstance(stmt, View):
            return replace(outer, views={**outer.views, stmt.alias: stmt})
        self.nested(stmt, here)
        return outer

    def nested(self, stmt: Stmt, here: _Place) -> None:
        if isinstance(stmt, Store):
            self.store(stmt, here)
        elif isinstance(stmt, For):
            self.loop(stmt, here)
        elif isinstance(stmt, Grid):
            self.grid(stmt, here)
        elif isinstance(stmt, If):
            self.block(stmt.then, here.under(stmt.condition).at(0))
            self.block(stmt.orelse, here.under(neg(stmt.condition)).at(1))
        elif isinstance(stmt, Inlined):
            self.block(stmt.body, here)
        elif isinstance(stmt, Block):
            self.block(stmt, here)
        else:
            raise UnmodelledError("printing" if isinstance(stmt, Print) else type(stmt).__name__)

    def grid(self, stmt: Grid, here: _Place) -> None:
        inner = here
        for axis in stmt.axes:
            domain = axis.domain
            if isinstance(domain, Blocks):
                inner = inner.inside_block(axis.counter, domain, "grid")
            else:
                inner = inner.inside(axis.counter, "grid", domain.low, domain.high)
        aliases: dict[str, View | str] = dict(inner.views)
        for window in stmt.windows or ():
            if window.alias is not None:
                aliases[window.alias] = window_view(window, window.alias)
        self.block(stmt.body, replace(inner, views=aliases))

    def loop(self, stmt: For, here: _Place) -> None:
        if isinstance(stmt.domain, Blocks):
            self.block(stmt.body, here.inside_block(stmt.counter, stmt.domain))
        else:
            self.block(stmt.body, here.inside(stmt.counter, "loop", stmt.domain.low, stmt.domain.high))

    def declare(self, stmt: Declare, outer: _Place, here: _Place) -> _Place:
        shape = tuple(substitute(size, here.blocks) for size in stmt.shape)
        if stmt.width is not None:
            shape = (*shape, Const(stmt.width))
        private = tuple(counter.name for counter in here.counters)
        name = stmt.name
        if name in self.buffers:
            raise UnmodelledError(f"two declarations of {name}")
        buffer = Buffer(name, stmt.elem, shape, private, is_param=False)
        self.buffers[name] = buffer
        known = replace(outer, locals={**outer.locals, name: buffer})
        if stmt.init is not None:
            self.initialise(stmt, replace(here, locals=known.locals))
        return known

    def initialise(self, stmt: Declare, here: _Place) -> None:
        index: list[Index] = []
        for place, size in enumerate(stmt.shape):
            filled = f"{stmt.name}.{place}"
            here = here.inside(filled, "loop", ZERO, size)
            index.append(Var(filled))
        if stmt.lanes is not None:
            index.append(Var(stmt.lanes.counter))
        elif stmt.width is not None:
            here = here.inside(f"{stmt.name}.lane", "loop", ZERO, Const(stmt.width))
            index.append(Var(f"{stmt.name}.lane"))
        value = stmt.init
        if value is not None:
            self.store(Store(stmt.name, tuple(index), value, stmt.lanes, stmt.span), here)

    def store(self, stmt: Store, here: _Place) -> None:
        if isinstance(stmt.value, Fold):
            self.fold(stmt, stmt.value, here)
            return
        inner = self.in_lanes(stmt.lanes, here)
        buffer, cell = self.resolve(stmt.buffer, stmt.index, inner)
        value = self.value(stmt.value, inner)
        name = f"{buffer}@{'.'.join(str(part) for part in here.moment if isinstance(part, int))}"
        self.members.append(Family(name, inner.counters, inner.domain, inner.moment, buffer, cell, value, stmt.span))

    def in_lanes(self, lanes: Lanes | None, here: _Place) -> _Place:
        if lanes is None:
            return here
        inner = here.inside(lanes.counter, "lane", ZERO, Const(lanes.width))
        return inner.under(lt(Var(lanes.counter), lanes.active))

    def fold(self, stmt: Store, fold: Fold, here: _Place) -> None:
        """`store cell = fold k from init as acc do step`: set acc, update it in a loop, store it."""
        if stmt.lanes is not None:
            raise UnmodelledError("a fold in lanes")
        if self.goes_on(stmt, fold, here):
            step = _read_instead(fold.step, fold.acc, fold.init)
            self.loop(For(fold.counter, fold.domain, Block((Store(stmt.buffer, stmt.index, step, span=stmt.span),)), stmt.span), here)
            return
        body = Block((Store(fold.acc, (), fold.step, span=stmt.span),))
        self.block(
            Block(
                (
                    Declare(fold.acc, fold.elem, init=fold.init, mutable=True, span=stmt.span),
                    For(fold.counter, fold.domain, body, stmt.span),
                    Store(stmt.buffer, stmt.index, Load(fold.acc), span=stmt.span),
                )
            ),
            here,
        )

    def goes_on(self, stmt: Store, fold: Fold, here: _Place) -> bool:
        """Whether a fold goes on with the local it is stored to, and its step reads that local as the total only.

        Then the steps update the local itself: nothing else can tell, since a local is read where it is named.
        """
        is_same = fold.init == Load(stmt.buffer, stmt.index) and stmt.buffer in here.locals
        return is_same and stmt.buffer not in {here.root(name) for name in _loaded(fold.step)}

    def resolve(self, name: str, index: tuple[Index, ...], here: _Place) -> tuple[str, tuple[Index, ...]]:
        index = tuple(substitute(term, here.blocks) for term in index)
        while name in here.views:
            view = here.views[name]
            if isinstance(view, str):
                name = view
                continue
            by = {**here.blocks, **dict(zip(view.counters, index, strict=True))}
            name, index = view.root, tuple(substitute(term, by) for term in view.index)
        if name in here.locals:
            private = tuple(Var(counter) for counter in here.locals[name].private)
            return name, (*private, *index)
        if name not in self.buffers:
            raise UnmodelledError(f"a buffer named {name}")
        return name, index

    def value(self, value: Value, here: _Place) -> Value:
        if isinstance(value, Load):
            return Load(*self.resolve(value.buffer, value.index, here))
        if isinstance(value, Op):
            return Op(value.name, value.elem, tuple(self.value(arg, here) for arg in value.args))
        if isinstance(value, OfIndex):
            return OfIndex(value.elem, substitute(value.term, here.blocks))
        if isinstance(value, Word):
            return value
        if isinstance(value, Choose):
            condition = substitute_formula(value.condition, here.blocks)
            return Choose(condition, self.value(value.then, here), self.value(value.orelse, here))
        raise UnmodelledError("a fold inside an operand")


def _loaded(value: Value) -> frozenset[str]:
    """The names of the buffers that a value reads."""
    if isinstance(value, Load):
        return frozenset((value.buffer,))
    parts: tuple[Value, ...] = ()
    if isinstance(value, Op):
        parts = value.args
    elif isinstance(value, Choose):
        parts = (value.then, value.orelse)
    elif isinstance(value, Fold):
        parts = (value.init, value.step)
    return frozenset(name for part in parts for name in _loaded(part))


def _read_instead(value: Value, acc: str, cell: Value) -> Value:
    """The value with a load of `cell` for each load of the total `acc`."""
    if isinstance(value, Load):
        return cell if value.buffer == acc else value
    if isinstance(value, Op):
        return Op(value.name, value.elem, tuple(_read_instead(arg, acc, cell) for arg in value.args))
    if isinstance(value, Choose):
        return Choose(value.condition, _read_instead(value.then, acc, cell), _read_instead(value.orelse, acc, cell))
    if isinstance(value, Fold):
        init, step = (_read_instead(part, acc, cell) for part in (value.init, value.step))
        return Fold(value.counter, value.domain, init, value.acc, value.elem, step)
    return value


def window_view(window: Window, alias: str) -> View:
    """The alias of a grid window: an index for each sliced dimension, offset by its start."""
    counters: list[str] = []
    index: list[Index] = []
    for place, part in enumerate(window.parts):
        if isinstance(part, Slice):
            counter = f"{alias}.{place}"
            counters.append(counter)
            index.append(add(part.low, Var(counter)))
        else:
            index.append(part)
    return View(alias, tuple(counters), window.buffer, tuple(index))


def lower(program: Program) -> Families:
    """The families of a program. Raises UnmodelledError, naming the construct."""
    lowering = _Lowering(program)
    lowering.block(program.body, _Place())
    names: dict[str, int] = {}
    members: list[Family] = []
    for member in lowering.members:
        count = names.get(member.name, 0)
        names[member.name] = count + 1
        members.append(member if count == 0 else replace(member, name=f"{member.name}'{count}"))
    return Families(program, lowering.buffers, tuple(members))


def domain_formula(domain: Domain, counter: str) -> Formula:
    """The constraint that a loop over `domain` puts on its counter (for blocks, the ordinal)."""
    if isinstance(domain, Blocks):
        return conj((le(ZERO, Var(counter)), lt(add(domain.low, mul(domain.size, Var(counter))), domain.high)))
    return conj((le(domain.low, Var(counter)), lt(Var(counter), domain.high)))
