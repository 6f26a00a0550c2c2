"""Programs of arrays spelled out cell by cell: an instance at an implementation whose values are arrays.

Takes a program over opaque words `S.Value` and the implementation of arrays that S stands for; gives the program in which every buffer has
the dimensions of the arrays behind its own, and every statement goes through their cells. Must not change the order in which a cell's
words are computed, and refuses what it does not look through.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cachet_verify.core.index import ZERO, Formula, Index, Var, substitute, substitute_formula
from cachet_verify.core.ir import (
    Block,
    Choose,
    Declare,
    Fold,
    For,
    If,
    Load,
    OfIndex,
    Op,
    Program,
    Range,
    Stmt,
    Store,
    Value,
    Word,
    statements,
    values,
)
from cachet_verify.elaborate.array import ArrayImplementation
from cachet_verify.elaborate.problem import UnsupportedError
from cachet_verify.elaborate.replace import binders
from cachet_verify.elaborate.scope import FreshNames

At = tuple[Index, ...]


@dataclass(frozen=True, slots=True)
class Cells:
    """What a function computes for one cell: `value` at the cell `counters`, over the cells of its operands `params`."""

    params: tuple[str, ...]
    counters: tuple[str, ...]
    value: Value


def cells_of(member: Program) -> Cells:
    """A function whose program is one loop for each dimension around one store. Raises UnsupportedError."""
    *params, result = member.params
    counters: list[str] = []
    body = member.body
    for extent in result.shape:
        stmt = body.body[0] if len(body.body) == 1 else None
        if not isinstance(stmt, For) or stmt.domain != Range(ZERO, extent):
            raise UnsupportedError(f"`{member.name}` of arrays, whose cells need statements of their own,", member.span)
        counters.append(stmt.counter)
        body = stmt.body
    stmt = body.body[0] if len(body.body) == 1 else None
    if not isinstance(stmt, Store) or stmt.index != tuple(map(Var, counters)) or stmt.lanes is not None:
        raise UnsupportedError(f"`{member.name}` of arrays, whose cells need statements of their own,", member.span)
    return Cells(tuple(param.name for param in params), tuple(counters), stmt.value)


def spelled_out(program: Program, generic: str, made: ArrayImplementation) -> Program:
    """The program at arrays. Raises UnsupportedError for what is not looked through."""
    if program.kept or program.movement is not None:
        raise UnsupportedError(f"budgets of a program at `{made.name}`", program.span)
    own = f"{generic}.Value"
    params = []
    for param in program.params:
        if param.elem == own and param.layout is not None:
            raise UnsupportedError(f"a layout of arrays, those of `{made.name}`,", param.span)
        params.append(replace(param, elem=made.elem, shape=(*param.shape, *made.shape)) if param.elem == own else param)
    spelling = _Spelling(program, generic, made)
    reductions = tuple(item for item in program.reductions if all(elem != own for _, elem in item.parts))
    generics = tuple(item for item in program.generics if item[0] != generic)
    return replace(program, params=tuple(params), body=spelling.block(program.body), generics=generics, reductions=reductions)


class _Spelling:
    """One program on its way to cells."""

    def __init__(self, program: Program, generic: str, made: ArrayImplementation) -> None:
        self.generic = generic
        self.own = f"{generic}.Value"
        self.made = made
        self.cells: Mapping[str, Cells] = {name: cells_of(member) for name, member in made.members.items()}
        again = set(self.totals_of(program.body))  # each total is bound anew, cell by cell: the first keeps its names
        self.fresh = FreshNames([*program.sizes, *(param.name for param in program.params), *(set(binders(program.body)) - again)])
        self.arrays = {param.name for param in program.params if param.elem == self.own}
        self.span = program.span
        self.terms: dict[str, Index] = {}
        self.totals: dict[str, tuple[str, At]] = {}

    def totals_of(self, body: Block) -> Iterator[str]:
        """The counters and accumulators of totals that are arrays."""
        for stmt in statements(body):
            given = stmt.value if isinstance(stmt, Store) else stmt.init if isinstance(stmt, Declare) else None
            for part in values(given) if given is not None else ():
                if isinstance(part, Fold) and part.elem == self.own:
                    yield from (part.counter, part.acc)

    # --- statements ---

    def block(self, block: Block) -> Block:
        return Block(tuple(made for stmt in block.body for made in self.statement(stmt)))

    def statement(self, stmt: Stmt) -> Sequence[Stmt]:
        """A statement, once for each cell where it is about arrays."""
        if isinstance(stmt, For):
            return (replace(stmt, body=self.block(stmt.body)),)
        if isinstance(stmt, If):
            return (replace(stmt, then=self.block(stmt.then), orelse=self.block(stmt.orelse)),)
        if isinstance(stmt, Block):
            return (self.block(stmt),)
        if isinstance(stmt, Declare) and stmt.elem == self.own:
            return self.declared(stmt)
        if isinstance(stmt, Store) and stmt.buffer in self.arrays:
            if stmt.lanes is not None:
                raise self.unread("a vector")
            return self.stored(stmt.buffer, stmt.index, stmt.value)
        if isinstance(stmt, (Store, Declare)):
            given = stmt.value if isinstance(stmt, Store) else stmt.init
            if given is None or not any(self.is_array(part) for part in values(given)):
                return (stmt,)
        raise self.unread(f"a {type(stmt).__name__.lower()}")

    def unread(self, what: str) -> UnsupportedError:
        return UnsupportedError(f"{what} in a program at `{self.made.name}`", self.span)

    def is_array(self, value: Value) -> bool:
        """Whether a value is an array, or is computed by what S says."""
        if isinstance(value, Load):
            return value.buffer in self.arrays
        named = isinstance(value, Op) and value.name.startswith(f"{self.generic}.")
        return named or (isinstance(value, (Op, Fold, Word, OfIndex)) and value.elem == self.own)

    def declared(self, stmt: Declare) -> Sequence[Stmt]:
        """A local: an array, each of whose cells starts as it does."""
        if stmt.width is not None or stmt.lanes is not None or stmt.layout is not None:
            raise self.unread("a vector or a layout")
        self.arrays.add(stmt.name)
        made = replace(stmt, elem=self.made.elem, shape=(*stmt.shape, *self.made.shape), init=None, mutable=True)
        if stmt.init is None:
            return (made,)
        outer = [self.fresh.take("p") for _ in stmt.shape]
        inner = Block(tuple(self.stored(stmt.name, tuple(map(Var, outer)), stmt.init)))
        return (made, *_nest(outer, stmt.shape, inner).body)

    def stored(self, buffer: str, index: At, value: Value) -> Sequence[Stmt]:
        """An array stored cell by cell; into a local first where it is computed from the array that it takes the place of."""
        names = [self.fresh.take("rs"[place % 2]) for place, _ in enumerate(self.made.shape)]
        at = tuple(map(Var, names))
        cell = self.cell(value, at)
        others = [part for part in values(cell) if isinstance(part, Load) and part.buffer == buffer and part.index != (*index, *at)]
        if not others:
            return _nest(names, self.made.shape, Block((Store(buffer, (*index, *at), cell),))).body
        held = self.fresh.take("whole")
        again = [self.fresh.take(name) for name in names]
        there = tuple(map(Var, again))
        return (
            Declare(held, self.made.elem, self.made.shape, mutable=True),
            *_nest(names, self.made.shape, Block((Store(held, at, cell),))).body,
            *_nest(again, self.made.shape, Block((Store(buffer, (*index, *there), Load(held, there)),))).body,
        )

    # --- values ---

    def cell(self, value: Value, at: At) -> Value:
        """One cell of an array."""
        if isinstance(value, Load) and value.buffer in self.totals:
            total, place = self.totals[value.buffer]
            if place != at:
                raise self.unread("a total whose cells are computed from each other's")
            return Load(total)
        if isinstance(value, Load) and value.buffer in self.arrays:
            return Load(value.buffer, (*(self.term(term) for term in value.index), *at))
        if isinstance(value, Op) and value.elem == self.own:
            generic, dot, name = value.name.partition(".")
            if dot and generic == self.generic and name in self.cells and len(self.cells[name].params) == len(value.args):
                return self.applied(self.cells[name], value.args, at)
            if value.name == "select" and not self.terms and not any(self.is_array(part) for part in values(value.args[0])):
                return Op("select", self.made.elem, (value.args[0], self.cell(value.args[1], at), self.cell(value.args[2], at)))
        if isinstance(value, Choose):
            return Choose(self.formula(value.condition), self.cell(value.then, at), self.cell(value.orelse, at))
        if isinstance(value, Fold) and value.elem == self.own and isinstance(value.domain, Range):
            counter, acc = self.fresh.take(value.counter), self.fresh.take(value.acc)
            init, domain = self.cell(value.init, at), Range(self.term(value.domain.low), self.term(value.domain.high))
            self.terms[value.counter], self.totals[value.acc] = Var(counter), (acc, at)
            return Fold(counter, domain, init, acc, self.made.elem, self.cell(value.step, at))
        raise self.unread(f"a {type(value).__name__.lower()} that gives an array")

    def term(self, term: Index) -> Index:
        return substitute(term, self.terms) if self.terms else term

    def formula(self, formula: Formula) -> Formula:
        return substitute_formula(formula, self.terms) if self.terms else formula

    def applied(self, cells: Cells, args: tuple[Value, ...], at: At) -> Value:
        """One cell of what a function gives, of the cells of its operands."""
        terms: dict[str, Index] = dict(zip(cells.counters, at, strict=True))
        given = dict(zip(cells.params, args, strict=True))
        return self.inside(cells.value, terms, given, {})

    def inside(self, value: Value, terms: Mapping[str, Index], given: Mapping[str, Value], totals: Mapping[str, str]) -> Value:
        """A value in a function's equation, its binders called otherwise."""
        if isinstance(value, Load) and value.buffer in totals:
            return Load(totals[value.buffer])
        if isinstance(value, Load) and value.buffer in given:
            return self.cell(given[value.buffer], tuple(substitute(term, terms) for term in value.index))
        if isinstance(value, Word):
            return value
        if isinstance(value, OfIndex):
            return OfIndex(value.elem, substitute(value.term, terms))
        if isinstance(value, Op):
            return Op(value.name, value.elem, tuple(self.inside(arg, terms, given, totals) for arg in value.args))
        if isinstance(value, Choose):
            both = (self.inside(side, terms, given, totals) for side in (value.then, value.orelse))
            return Choose(substitute_formula(value.condition, terms), *both)
        if isinstance(value, Fold) and isinstance(value.domain, Range):
            domain = Range(substitute(value.domain.low, terms), substitute(value.domain.high, terms))
            counter, acc = self.fresh.take(value.counter), self.fresh.take(value.acc)
            init = self.inside(value.init, terms, given, totals)
            step = self.inside(value.step, {**terms, value.counter: Var(counter)}, given, {**totals, value.acc: acc})
            return Fold(counter, domain, init, acc, value.elem, step)
        raise self.unread(f"a {type(value).__name__.lower()} in a function of arrays")


def _nest(counters: Sequence[str], extents: Sequence[Index], body: Block) -> Block:
    """A loop for each dimension, outermost first."""
    for counter, extent in reversed(tuple(zip(counters, extents, strict=True))):
        body = Block((For(counter, Range(ZERO, extent), body),))
    return body
