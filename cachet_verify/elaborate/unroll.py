"""Small loops over local arrays, written out for a listing: `s[0]`, `s[1]`, … become `s_0`, `s_1`, ….

Takes a program; gives one with the same words whose local arrays of a few cells are scalars, where every index is then a number. A
cell that is computed by a chain of its own keeps its name; what is only handed on, or is an operation on such cells, stands where it
is used. Must not be reasoned about: it is for reading, and what is proved is the program with its loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from cachet_verify.core.index import Const, Index, Var, substitute, variables
from cachet_verify.core.ir import Block, Choose, Declare, Fold, For, If, Load, OfIndex, Op, Program, Range, Stmt, Store, Value, statements, values

MOST = 32
"""An array of more cells stays one."""


def unrolled(program: Program) -> Program:
    """The program written out, where it can be."""
    try:
        return replace(program, body=_Writer(program).block(program.body))
    except _StaysError:
        return program


class _StaysError(Exception):
    """Something that is not written out."""


class _Writer:
    def __init__(self, program: Program) -> None:
        self.arrays = {
            stmt.name: stmt.shape[0].value
            for stmt in statements(program.body)
            if isinstance(stmt, Declare) and len(stmt.shape) == 1 and isinstance(stmt.shape[0], Const) and _is_small(stmt)
        }
        self.cells: dict[tuple[str, int], Value] = {}
        self.inline: dict[str, Value] = {}
        self.used = {name for stmt in statements(program.body) for name in _names(stmt)} | {param.name for param in program.params}

    def block(self, block: Block) -> Block:
        """Statements, each written out; a total of one step after the other is a variable."""
        made: list[Stmt] = []
        body = block.body
        for place, stmt in enumerate(body):
            made.extend(self.statement(stmt, {}, body[place + 1 :]))
        return Block(tuple(made))

    def statement(self, stmt: Stmt, at: Mapping[str, Index], rest: tuple[Stmt, ...]) -> Iterator[Stmt]:
        """One statement at values of counters."""
        if isinstance(stmt, Declare):
            if stmt.name not in self.arrays:
                yield from self.declared(stmt, at, rest)
        elif isinstance(stmt, Store):
            yield from self.stored(stmt, at)
        elif isinstance(stmt, For) and self.is_written_out(stmt):
            for number in _range(stmt.domain, at):
                for inner in stmt.body.body:
                    yield from self.statement(inner, {**at, stmt.counter: Const(number)}, ())
        elif isinstance(stmt, For) and not at:
            yield replace(stmt, body=self.block(stmt.body))
        elif isinstance(stmt, If) and not at:
            yield replace(stmt, then=self.block(stmt.then), orelse=self.block(stmt.orelse))
        elif not at and not self.touched(stmt):
            yield stmt
        else:
            raise _StaysError

    def is_written_out(self, loop: For) -> bool:
        """Whether a loop is one over cells of arrays."""
        stores = (stmt for stmt in statements(loop.body) if isinstance(stmt, Store) and stmt.buffer in self.arrays)
        return any(loop.counter in variables(term) for stmt in stores for term in stmt.index)

    def touched(self, stmt: Stmt) -> bool:
        return any(isinstance(part, (Store, Declare)) and set(_names(part)) & set(self.arrays) for part in statements(Block((stmt,))))

    def stored(self, stmt: Store, at: Mapping[str, Index]) -> Iterator[Stmt]:
        """A cell of an array becomes what it holds, or a name for it; a total over cells is a variable first."""
        if isinstance(stmt.value, Fold) and stmt.buffer not in self.arrays and self.over_cells(stmt.value):
            yield from self.chain(Declare(stmt.value.acc, stmt.value.elem), stmt.value, at, ())
            yield replace(stmt, index=tuple(substitute(term, at) for term in stmt.index), value=Load(stmt.value.acc))
            return
        value = self.value(stmt.value, at)
        index = tuple(substitute(term, at) for term in stmt.index)
        if stmt.buffer not in self.arrays:
            yield replace(stmt, index=index, value=value)
            return
        cell = self.number(index)
        if any(isinstance(part, Fold) for part in values(value)):
            name = self.name(f"{stmt.buffer}_{cell}")
            yield Declare(name, _elem(value), init=value)
            value = Load(name)
        self.cells[stmt.buffer, cell] = value

    def declared(self, stmt: Declare, at: Mapping[str, Index], rest: tuple[Stmt, ...]) -> Iterator[Stmt]:
        """A local: a total over cells step by step, a word that is only handed on in place of its name."""
        fold = stmt.init
        if isinstance(fold, Fold) and self.over_cells(fold):
            yield from self.chain(stmt, fold, at, rest)
            return
        value = None if stmt.init is None else self.value(stmt.init, at)
        if value is not None and not stmt.mutable and _once(stmt.name, rest) and isinstance(stmt.init, Load) and stmt.init.buffer in self.arrays:
            self.inline[stmt.name] = value
            return
        yield replace(stmt, init=value)

    def chain(self, stmt: Declare, fold: Fold, at: Mapping[str, Index], rest: tuple[Stmt, ...]) -> Iterator[Stmt]:
        """A total over cells: one expression where it starts from a literal and is used once, else a variable."""
        init = self.value(fold.init, at)
        steps = [{**at, fold.counter: Const(number)} for number in _range(fold.domain, at)]
        if not isinstance(init, (Load, Op)) and _once(stmt.name, rest):
            total: Value = init
            for here in steps:
                self.inline[fold.acc] = total
                total = self.value(fold.step, here)
            self.inline.pop(fold.acc, None)
            self.inline[stmt.name] = total
            return
        yield Declare(stmt.name, stmt.elem, init=init, mutable=True)
        self.inline[fold.acc] = Load(stmt.name)
        for here in steps:
            yield Store(stmt.name, (), self.value(fold.step, here))

    def over_cells(self, fold: Fold) -> bool:
        """Whether a total reads cells of arrays by its own counter."""
        return any(
            isinstance(part, Load) and part.buffer in self.arrays and any(fold.counter in variables(term) for term in part.index)
            for part in values(fold.step)
        )

    def value(self, value: Value, at: Mapping[str, Index]) -> Value:
        """A value at counters, cells by what they hold."""
        if isinstance(value, Load):
            index = tuple(substitute(term, at) for term in value.index)
            if value.buffer in self.arrays:
                cell = (value.buffer, self.number(index))
                if cell not in self.cells:
                    raise _StaysError
                return self.cells[cell]
            return self.inline.get(value.buffer, value) if not index else Load(value.buffer, index)
        if isinstance(value, Op):
            return replace(value, args=tuple(self.value(arg, at) for arg in value.args))
        if isinstance(value, OfIndex):
            return replace(value, term=substitute(value.term, at))
        if isinstance(value, Fold):
            low, high = substitute(value.domain.low, at), substitute(value.domain.high, at)
            if not isinstance(value.domain, Range) or self.over_cells(value):
                raise _StaysError
            counter, acc = self.name(value.counter), self.name(value.acc)
            by = {**at, value.counter: Var(counter)}
            self.inline[value.acc] = Load(acc)
            return Fold(counter, Range(low, high), self.value(value.init, at), acc, value.elem, self.value(value.step, by))
        if isinstance(value, Choose):
            raise _StaysError
        return value

    def number(self, index: tuple[Index, ...]) -> int:
        if len(index) != 1 or not isinstance(index[0], Const):
            raise _StaysError
        return index[0].value

    def name(self, base: str) -> str:
        """A name that nothing has yet."""
        base = base.partition("'")[0]
        number, name = 1, base
        while name in self.used:
            name, number = f"{base}'{number}", number + 1
        self.used.add(name)
        return name


def _is_small(stmt: Declare) -> bool:
    return isinstance(stmt.shape[0], Const) and stmt.shape[0].value <= MOST and stmt.width is None and stmt.layout is None and stmt.init is None


def _range(domain: object, at: Mapping[str, Index]) -> range:
    if not isinstance(domain, Range):
        raise _StaysError
    low, high = substitute(domain.low, at), substitute(domain.high, at)
    if not isinstance(low, Const) or not isinstance(high, Const) or high.value - low.value > MOST:
        raise _StaysError
    return range(low.value, high.value)


def _elem(value: Value) -> str:
    return value.elem if isinstance(value, (Fold, Op)) else ""


def _once(name: str, rest: tuple[Stmt, ...]) -> bool:
    """Whether a name is read once in what follows, outside of loops."""
    found = 0
    for stmt in statements(Block(rest)):
        parts = (stmt.value,) if isinstance(stmt, Store) else (stmt.init,) if isinstance(stmt, Declare) and stmt.init is not None else ()
        found += sum(1 for value in parts for part in values(value) if part == Load(name))
    return found == 1


def _names(stmt: Stmt) -> Iterator[str]:
    if isinstance(stmt, Declare):
        yield stmt.name
    if isinstance(stmt, For):
        yield stmt.counter
    if isinstance(stmt, Store):
        yield stmt.buffer
    for value in (stmt.value,) if isinstance(stmt, Store) else (stmt.init,) if isinstance(stmt, Declare) and stmt.init is not None else ():
        for part in values(value):
            if isinstance(part, Load):
                yield part.buffer
            if isinstance(part, Fold):
                yield from (part.counter, part.acc)
