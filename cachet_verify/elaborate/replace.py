"""Core programs with names, sizes and operations replaced, everywhere at once.

Takes a core block and what stands for what; gives the new block. Must not capture: whoever calls
it chooses names that no binder of the block has, apart from those it renames.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from cachet_verify.core.index import Formula, Index, Var, substitute, substitute_formula
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
    Range,
    Slice,
    Stmt,
    Store,
    Value,
    View,
    Window,
    Word,
    statements,
    values,
)


def binders(block: Block) -> Iterator[str]:
    """Every name a block binds, in order: counters, blocks, lanes, locals, aliases, totals."""
    for stmt in statements(block):
        if isinstance(stmt, For):
            yield stmt.counter
        elif isinstance(stmt, Grid):
            yield from (axis.counter for axis in stmt.axes)
            yield from (window.alias for window in stmt.windows or () if window.alias is not None)
        elif isinstance(stmt, (Lease, View)):
            yield stmt.alias
            yield from stmt.counters if isinstance(stmt, View) else ()
        elif isinstance(stmt, Declare):
            yield stmt.name
        if isinstance(stmt, (Store, Declare)):
            if stmt.lanes is not None:
                yield stmt.lanes.counter
            value = stmt.value if isinstance(stmt, Store) else stmt.init
            for part in values(value) if value is not None else ():
                if isinstance(part, Fold):
                    yield from (part.counter, part.acc)


def renaming(names: Mapping[str, str]) -> dict[str, Index]:
    """The integer variables that renamed counters and blocks stand for."""
    by: dict[str, Index] = {}
    for old, new in names.items():
        by[old] = Var(new)
        by[f"{old}.lo"] = Var(f"{new}.lo")
        by[f"{old}.len"] = Var(f"{new}.len")
    return by


@dataclass(frozen=True, slots=True)
class Replacement:
    """What stands for what: `terms` for integer variables, `names` for binders and buffers.

    `elems` renames element types; `operation` gives the value of an operation whose operands are
    already replaced, None to leave it as it is.
    """

    terms: Mapping[str, Index] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    elems: Mapping[str, str] = field(default_factory=dict)
    operation: Callable[[Op], Value] | None = None

    def name(self, name: str) -> str:
        """The name that stands for a binder or a buffer."""
        return self.names.get(name, name)

    def elem(self, name: str) -> str:
        """The element type that stands for one."""
        return self.elems.get(name, name)

    def term(self, term: Index) -> Index:
        """A term with its variables replaced."""
        return substitute(term, self.terms) if self.terms else term

    def terms_of(self, terms: tuple[Index, ...]) -> tuple[Index, ...]:
        """Several terms with their variables replaced."""
        return tuple(self.term(term) for term in terms)

    def formula(self, formula: Formula) -> Formula:
        """A formula with its variables replaced."""
        return substitute_formula(formula, self.terms) if self.terms else formula

    def domain(self, domain: Domain) -> Domain:
        """A loop's domain with its variables replaced."""
        if isinstance(domain, Blocks):
            return Blocks(self.term(domain.low), self.term(domain.high), self.term(domain.size))
        return Range(self.term(domain.low), self.term(domain.high))

    def value(self, value: Value) -> Value:
        """A value with everything replaced."""
        if isinstance(value, Load):
            return Load(self.name(value.buffer), self.terms_of(value.index))
        if isinstance(value, Word):
            return Word(self.elem(value.elem), value.bits)
        if isinstance(value, OfIndex):
            return OfIndex(self.elem(value.elem), self.term(value.term))
        if isinstance(value, Op):
            made = Op(value.name, self.elem(value.elem), tuple(self.value(arg) for arg in value.args))
            return self.operation(made) if self.operation is not None else made
        if isinstance(value, Choose):
            return Choose(self.formula(value.condition), self.value(value.then), self.value(value.orelse))
        return Fold(
            self.name(value.counter),
            self.domain(value.domain),
            self.value(value.init),
            self.name(value.acc),
            self.elem(value.elem),
            self.value(value.step),
        )

    def lanes(self, lanes: Lanes | None) -> Lanes | None:
        """The lanes of a statement with everything replaced."""
        return None if lanes is None else Lanes(self.name(lanes.counter), lanes.width, self.term(lanes.active))

    def block(self, block: Block) -> Block:
        """A block with everything replaced."""
        return Block(tuple(self.statement(stmt) for stmt in block.body))

    def statement(self, stmt: Stmt) -> Stmt:
        """A statement with everything replaced."""
        if isinstance(stmt, Store):
            return Store(self.name(stmt.buffer), self.terms_of(stmt.index), self.value(stmt.value), self.lanes(stmt.lanes), stmt.span)
        if isinstance(stmt, Declare):
            init = None if stmt.init is None else self.value(stmt.init)
            named = replace(stmt, name=self.name(stmt.name), elem=self.elem(stmt.elem), shape=self.terms_of(stmt.shape))
            layout = None if stmt.layout is None else replace(stmt.layout, args=self.terms_of(stmt.layout.args))
            return replace(named, init=init, lanes=self.lanes(stmt.lanes), layout=layout)
        if isinstance(stmt, For):
            return For(self.name(stmt.counter), self.domain(stmt.domain), self.block(stmt.body), stmt.span)
        if isinstance(stmt, If):
            return If(self.formula(stmt.condition), self.block(stmt.then), self.block(stmt.orelse), stmt.span)
        if isinstance(stmt, Grid):
            return self.grid(stmt)
        if isinstance(stmt, Lease):
            return replace(stmt, alias=self.name(stmt.alias), root=self.name(stmt.root))
        if isinstance(stmt, View):
            counters = tuple(self.name(counter) for counter in stmt.counters)
            shape, index = self.terms_of(stmt.shape), self.terms_of(stmt.index)
            return replace(stmt, alias=self.name(stmt.alias), counters=counters, root=self.name(stmt.root), index=index, shape=shape)
        if isinstance(stmt, Inlined):
            needs = tuple((self.formula(goal), text) for goal, text in stmt.needs)
            return replace(stmt, body=self.block(stmt.body), needs=needs)
        if isinstance(stmt, Print):
            return replace(stmt, value=self.value(stmt.value))
        return self.block(stmt)

    def axis(self, axis: Axis) -> Axis:
        """An axis of a grid with everything replaced."""
        size = None if axis.size is None else self.term(axis.size)
        return Axis(self.name(axis.counter), self.term(axis.low), self.term(axis.high), size)

    def grid(self, stmt: Grid) -> Grid:
        """A grid with everything replaced."""
        axes = tuple(self.axis(axis) for axis in stmt.axes)
        windows = None if stmt.windows is None else tuple(self.window(window) for window in stmt.windows)
        return replace(stmt, axes=axes, windows=windows, body=self.block(stmt.body))

    def window(self, window: Window) -> Window:
        """A window with everything replaced."""
        parts = tuple(Slice(self.term(part.low), self.term(part.high)) if isinstance(part, Slice) else self.term(part) for part in window.parts)
        return Window(self.name(window.buffer), parts, None if window.alias is None else self.name(window.alias))
