"""Names: every binder has its own, and everything used is in scope.

Takes programs; raises `RuleError` for a name that is bound twice or used where nothing binds it,
and lowers programs that pass. Every rule calls this on every program it is about, so that no
rewrite can free or capture a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from cachet_verify.core.family import Families, UnmodelledError, lower
from cachet_verify.core.index import Formula, Index, variables
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
)
from cachet_verify.kernel.claim import RuleError


def lowered(rule: str, program: Program) -> Families:
    """The families of a program whose names are in order. Raises RuleError otherwise."""
    bound_names(rule, program)
    try:
        return lower(program)
    except (UnmodelledError, ValueError) as error:
        raise RuleError(rule, f"the proof rules do not model {error}") from error


def bound_names(rule: str, program: Program) -> frozenset[str]:
    """Every name a program binds, sizes, parameters and derived names included."""
    scope = _Scope(rule, program.name)
    for size in program.sizes:
        scope.bind(size)
    for param in program.params:
        scope.bind(param.name)
    integers, buffers = frozenset(program.sizes), frozenset(param.name for param in program.params)
    for param in program.params:
        scope.terms(param.shape, integers)
    for need in program.requires:
        scope.terms((need.condition,), integers)
    scope.block(program.body, integers, buffers)
    return frozenset(scope.bound)


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_'.]*")
"""What a name looks like. Obligations are matched to answers by their text, so a name must not read as a term."""


class _Scope:
    """Walks a program with the integers and the buffers that are in scope."""

    def __init__(self, rule: str, program: str) -> None:
        self.rule = rule
        self.program = program
        self.bound: set[str] = set()

    def bind(self, *names: str) -> None:
        for name in names:
            if not _NAME.fullmatch(name):
                raise RuleError(self.rule, f"{name!r} is no name", name)
            if name in self.bound:
                raise RuleError(self.rule, f"{name} is bound twice in {self.program}", name)
            self.bound.add(name)

    def terms(self, terms: Iterable[Index | Formula], integers: frozenset[str]) -> None:
        for term in terms:
            for name in sorted(variables(term) - integers):
                raise RuleError(self.rule, f"{name} is used in {self.program} where nothing binds it", name)

    def buffer(self, name: str, buffers: frozenset[str]) -> None:
        if name not in buffers:
            raise RuleError(self.rule, f"{name} is used in {self.program} where nothing declares it", name)

    def block(self, block: Block, integers: frozenset[str], buffers: frozenset[str]) -> None:
        for stmt in block.body:
            buffers = buffers | self.statement(stmt, integers, buffers)

    def statement(self, stmt: Stmt, integers: frozenset[str], buffers: frozenset[str]) -> frozenset[str]:
        """Check one statement; give the buffer names it brings into the rest of its block."""
        if isinstance(stmt, Store):
            self.store(stmt, integers, buffers)
        elif isinstance(stmt, Declare):
            return self.declare(stmt, integers, buffers)
        elif isinstance(stmt, For):
            self.block(stmt.body, integers | self.domain(stmt.counter, stmt.domain, integers), buffers)
        elif isinstance(stmt, Grid):
            self.grid(stmt, integers, buffers)
        elif isinstance(stmt, If):
            self.terms((stmt.condition,), integers)
            self.block(stmt.then, integers, buffers)
            self.block(stmt.orelse, integers, buffers)
        elif isinstance(stmt, (Lease, View)):
            return self.alias(stmt, integers, buffers)
        elif isinstance(stmt, Print):
            raise RuleError(self.rule, "the proof rules do not model printing", stmt)
        else:
            self.block(stmt.body if isinstance(stmt, Inlined) else stmt, integers, buffers)
        return frozenset()

    def domain(self, counter: str, domain: Domain, integers: frozenset[str]) -> frozenset[str]:
        self.terms((domain.low, domain.high), integers)
        names = [counter]
        if isinstance(domain, Blocks):
            self.terms((domain.size,), integers)
            names += [f"{counter}.lo", f"{counter}.len"]
        self.bind(*names)
        return frozenset(names)

    def lanes(self, lanes: Lanes | None, integers: frozenset[str]) -> frozenset[str]:
        if lanes is None:
            return integers
        self.terms((lanes.active,), integers)
        self.bind(lanes.counter)
        return integers | {lanes.counter}

    def store(self, stmt: Store, integers: frozenset[str], buffers: frozenset[str]) -> None:
        self.buffer(stmt.buffer, buffers)
        integers = self.lanes(stmt.lanes, integers)
        self.terms(stmt.index, integers)
        self.value(stmt.value, integers, buffers)

    def declare(self, stmt: Declare, integers: frozenset[str], buffers: frozenset[str]) -> frozenset[str]:
        self.bind(stmt.name, *(f"{stmt.name}.{place}" for place in range(len(stmt.shape))))
        self.terms(stmt.shape, integers)
        if stmt.width is not None and stmt.lanes is None:
            self.bind(f"{stmt.name}.lane")
        integers = self.lanes(stmt.lanes, integers)
        if stmt.init is not None:
            self.value(stmt.init, integers, buffers)
        return frozenset((stmt.name,))

    def grid(self, stmt: Grid, integers: frozenset[str], buffers: frozenset[str]) -> None:
        for axis in stmt.axes:
            integers = integers | self.domain(axis.counter, axis.domain, integers)
        for window in stmt.windows or ():
            buffers = buffers | self.window(window, integers, buffers)
        self.block(stmt.body, integers, buffers)

    def window(self, window: Window, integers: frozenset[str], buffers: frozenset[str]) -> frozenset[str]:
        self.buffer(window.buffer, buffers)
        for part in window.parts:
            self.terms((part.low, part.high) if isinstance(part, Slice) else (part,), integers)
        if window.alias is None:
            return frozenset()
        self.bind(window.alias, *(f"{window.alias}.{place}" for place in range(len(window.parts))))
        return frozenset((window.alias,))

    def alias(self, stmt: Lease | View, integers: frozenset[str], buffers: frozenset[str]) -> frozenset[str]:
        self.buffer(stmt.root, buffers)
        self.bind(stmt.alias)
        if isinstance(stmt, View):
            self.bind(*stmt.counters)
            self.terms(stmt.shape, integers)
            self.terms(stmt.index, integers | frozenset(stmt.counters))
        return frozenset((stmt.alias,))

    def value(self, value: Value, integers: frozenset[str], buffers: frozenset[str]) -> None:
        if isinstance(value, Load):
            self.buffer(value.buffer, buffers)
            self.terms(value.index, integers)
        elif isinstance(value, OfIndex):
            self.terms((value.term,), integers)
        elif isinstance(value, Op):
            for arg in value.args:
                self.value(arg, integers, buffers)
        elif isinstance(value, Choose):
            self.terms((value.condition,), integers)
            self.value(value.then, integers, buffers)
            self.value(value.orelse, integers, buffers)
        elif isinstance(value, Fold):
            self.value(value.init, integers, buffers)
            inner = integers | self.domain(value.counter, value.domain, integers)
            self.bind(value.acc)
            self.value(value.step, inner, buffers | {value.acc})
