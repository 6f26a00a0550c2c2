"""Going through values and statements: replacing terms and loads, renaming binders, collecting names.

Takes core programs; gives core programs. Substitution cannot capture as long as binders are unique;
what copies a statement renames its binders first (`fresh_copy`). Must not simplify.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from cachet_verify.core.index import Formula, Index, Substitution, Var, substitute, substitute_formula, variables
from cachet_verify.core.ir import (
    Axis,
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
    Range,
    Slice,
    Stmt,
    Store,
    Value,
    View,
    Window,
    statements,
    values,
)

BLOCK_PARTS = ("lo", "len")


@dataclass(frozen=True, slots=True)
class Change:
    """What to replace: index variables by terms, loads by values, binders and buffers by other names."""

    terms: Substitution = field(default_factory=dict)
    loads: Callable[[Load], Value] | None = None
    names: Mapping[str, str] = field(default_factory=dict)

    def name(self, name: str) -> str:
        """What a binder or a buffer is called after the change."""
        return self.names.get(name, name)

    def term(self, term: Index) -> Index:
        """A term after the change."""
        return substitute(term, self.terms)

    def formula(self, formula: Formula) -> Formula:
        """A formula after the change."""
        return substitute_formula(formula, self.terms)

    def many(self, terms: Iterable[Index]) -> tuple[Index, ...]:
        """Several terms after the change."""
        return tuple(self.term(term) for term in terms)

    def domain(self, domain: Domain) -> Domain:
        """The bounds of a loop after the change."""
        low, high = self.term(domain.low), self.term(domain.high)
        return Blocks(low, high, self.term(domain.size)) if isinstance(domain, Blocks) else Range(low, high)

    def lanes(self, lanes: Lanes | None) -> Lanes | None:
        """Lanes after the change."""
        if lanes is None:
            return None
        return Lanes(self.name(lanes.counter), lanes.width, self.term(lanes.active))

    def value(self, value: Value) -> Value:
        """A value after the change; a load is first given its new terms and name, then replaced."""
        if isinstance(value, Load):
            load = Load(self.name(value.buffer), self.many(value.index))
            return load if self.loads is None else self.loads(load)
        if isinstance(value, Op):
            return Op(value.name, value.elem, tuple(self.value(arg) for arg in value.args))
        if isinstance(value, OfIndex):
            return OfIndex(value.elem, self.term(value.term))
        if isinstance(value, Choose):
            return Choose(self.formula(value.condition), self.value(value.then), self.value(value.orelse))
        if isinstance(value, Fold):
            counter, acc = self.name(value.counter), self.name(value.acc)
            init, step = self.value(value.init), self.value(value.step)
            return Fold(counter, self.domain(value.domain), init, acc, value.elem, step)
        return value

    def block(self, block: Block) -> Block:
        """A block after the change."""
        return Block(tuple(self.stmt(stmt) for stmt in block.body))

    def stmt(self, stmt: Stmt) -> Stmt:
        """A statement after the change, with all it holds."""
        if isinstance(stmt, Store):
            index, value = self.many(stmt.index), self.value(stmt.value)
            return replace(stmt, buffer=self.name(stmt.buffer), index=index, value=value, lanes=self.lanes(stmt.lanes))
        if isinstance(stmt, Declare):
            init = None if stmt.init is None else self.value(stmt.init)
            layout = None if stmt.layout is None else replace(stmt.layout, args=self.many(stmt.layout.args))
            named = replace(stmt, name=self.name(stmt.name), shape=self.many(stmt.shape), layout=layout)
            return replace(named, init=init, lanes=self.lanes(stmt.lanes))
        if isinstance(stmt, For):
            return replace(stmt, counter=self.name(stmt.counter), domain=self.domain(stmt.domain), body=self.block(stmt.body))
        if isinstance(stmt, Grid):
            return self._grid(stmt)
        if isinstance(stmt, If):
            condition = self.formula(stmt.condition)
            return replace(stmt, condition=condition, then=self.block(stmt.then), orelse=self.block(stmt.orelse))
        return self._alias(stmt)

    def _grid(self, grid: Grid) -> Grid:
        axes = tuple(self._axis(axis) for axis in grid.axes)
        windows = None if grid.windows is None else tuple(self._window(window) for window in grid.windows)
        return replace(grid, axes=axes, body=self.block(grid.body), windows=windows)

    def _axis(self, axis: Axis) -> Axis:
        size = None if axis.size is None else self.term(axis.size)
        return Axis(self.name(axis.counter), self.term(axis.low), self.term(axis.high), size)

    def _window(self, window: Window) -> Window:
        parts = tuple(Slice(self.term(part.low), self.term(part.high)) if isinstance(part, Slice) else self.term(part) for part in window.parts)
        return Window(self.name(window.buffer), parts, None if window.alias is None else self.name(window.alias))

    def _alias(self, stmt: Lease | View | Inlined | Print | Block) -> Stmt:
        if isinstance(stmt, Lease):
            return replace(stmt, alias=self.name(stmt.alias), root=self.name(stmt.root))
        if isinstance(stmt, View):
            names = tuple(self.name(counter) for counter in stmt.counters)
            index, shape = self.many(stmt.index), self.many(stmt.shape)
            return replace(stmt, alias=self.name(stmt.alias), counters=names, root=self.name(stmt.root), index=index, shape=shape)
        if isinstance(stmt, Inlined):
            return replace(stmt, body=self.block(stmt.body), needs=())
        if isinstance(stmt, Print):
            return replace(stmt, value=self.value(stmt.value))
        return self.block(stmt)


def renaming(names: Mapping[str, str]) -> Change:
    """The change that gives binders and buffers other names, block parts included."""
    terms: dict[str, Index] = {}
    for old, new in names.items():
        terms[old] = Var(new)
        terms.update({f"{old}.{part}": Var(f"{new}.{part}") for part in BLOCK_PARTS})
    return Change(terms, None, names)


def binders(stmts: Iterable[Stmt]) -> tuple[str, ...]:
    """Every name bound in statements: counters, lanes, locals, aliases, totals."""
    names: dict[str, None] = {}
    for stmt in statements(Block(tuple(stmts))):
        if isinstance(stmt, For):
            names[stmt.counter] = None
        elif isinstance(stmt, Grid):
            names.update((axis.counter, None) for axis in stmt.axes)
            names.update((window.alias, None) for window in stmt.windows or () if window.alias is not None)
        elif isinstance(stmt, View):
            names.update(dict.fromkeys((stmt.alias, *stmt.counters)))
        elif isinstance(stmt, Lease):
            names[stmt.alias] = None
        elif isinstance(stmt, Declare):
            names[stmt.name] = None
        if isinstance(stmt, (Store, Declare)):
            names.update(dict.fromkeys(_bound_in_write(stmt)))
    return tuple(names)


def _bound_in_write(stmt: Store | Declare) -> tuple[str, ...]:
    lanes = () if stmt.lanes is None else (stmt.lanes.counter,)
    value = stmt.value if isinstance(stmt, Store) else stmt.init
    return lanes if value is None else (*lanes, *bound_in_value(value))


def bound_in_value(value: Value) -> tuple[str, ...]:
    """The counters and totals of the folds in a value."""
    names: list[str] = []
    for part in values(value):
        if isinstance(part, Fold):
            names.extend((part.counter, part.acc))
    return tuple(names)


def value_mentions(value: Value) -> frozenset[str]:
    """The index variables (block parts by the block's name) and buffers a value mentions."""
    found: set[str] = set()
    for part in values(value):
        if isinstance(part, Load):
            found.add(part.buffer)
            found.update(*(variables(term) for term in part.index))
        elif isinstance(part, OfIndex):
            found.update(variables(part.term))
        elif isinstance(part, Choose):
            found.update(variables(part.condition))
        elif isinstance(part, Fold):
            found.update(domain_mentions(part.domain))
    return bare(found)


def bare(names: Iterable[str]) -> frozenset[str]:
    """Variable names with `.lo` and `.len` taken off, so that a block is mentioned by its name."""
    return frozenset(name.rpartition(".")[0] if name.rpartition(".")[2] in BLOCK_PARTS and "." in name else name for name in names)


def domain_mentions(domain: Domain) -> frozenset[str]:
    """The variables that the bounds of a loop mention."""
    found = variables(domain.low) | variables(domain.high)
    return bare(found | variables(domain.size) if isinstance(domain, Blocks) else found)


def mentions(stmts: Iterable[Stmt]) -> frozenset[str]:
    """Every variable and buffer that statements mention, bound there or not."""
    found: set[str] = set()
    for stmt in statements(Block(tuple(stmts))):
        found |= _own_mentions(stmt)
    return frozenset(found)


def _own_mentions(stmt: Stmt) -> frozenset[str]:
    found: set[str] = set()
    if isinstance(stmt, (Store, Declare)):
        value = stmt.value if isinstance(stmt, Store) else stmt.init
        terms = (*(stmt.index if isinstance(stmt, Store) else stmt.shape), *(() if stmt.lanes is None else (stmt.lanes.active,)))
        found.update(*(variables(term) for term in terms))
        found |= frozenset() if value is None else value_mentions(value)
        if isinstance(stmt, Store):
            found.add(stmt.buffer)
    elif isinstance(stmt, For):
        found |= domain_mentions(stmt.domain)
    elif isinstance(stmt, Grid):
        found.update(*(domain_mentions(axis.domain) for axis in stmt.axes))
    elif isinstance(stmt, If):
        found |= variables(stmt.condition)
    elif isinstance(stmt, (Lease, View)):
        found.add(stmt.root)
        found.update(*(variables(term) for term in (stmt.index if isinstance(stmt, View) else ())))
    return bare(found)


def taken(program: Program) -> frozenset[str]:
    """Every name in use in a program: sizes, parameters, binders, and whatever is mentioned."""
    params = {param.name for param in program.params}
    return frozenset({*program.sizes, *params, *binders(program.body.body), *mentions(program.body.body)})


def fresh(base: str, used: frozenset[str]) -> str:
    """The name itself when nobody uses it, else with the first free number behind it: `i'1`."""
    if base not in used:
        return base
    stem, _, number = base.rpartition("'")
    stem = stem if stem and number.isdigit() else base
    count = 1
    while f"{stem}'{count}" in used:
        count += 1
    return f"{stem}'{count}"


def fresh_copy(stmts: tuple[Stmt, ...], used: frozenset[str]) -> tuple[tuple[Stmt, ...], dict[str, str]]:
    """Statements with every binder renamed apart from `used`, and the new names."""
    names: dict[str, str] = {}
    for name in binders(stmts):
        names[name] = fresh(name, used | frozenset(names.values()))
    change = renaming(names)
    return tuple(change.stmt(stmt) for stmt in stmts), names
