"""The typed core: programs as nests of loops over stores of word-valued expressions.

Takes integer terms; gives immutable programs. Must not know about text, schedules or proofs.

Every binder of a program (loop counter, block, lane, local, alias) has a name of its own, so a
name means one thing throughout. A block loop `g` binds three integer variables: `g`, the ordinal
of the block, `g.lo`, its first index, and `g.len`, how many indices it has; `g[k]` is the term
`g.lo + k`. Values are words of an element type: `f16 bf16 f32 f64 i8 i32 i64 u32 bool`, or an
opaque one such as `S.Value`. Operations are functions from words to words, known by name alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from cachet_verify.core.index import Formula, Index
from cachet_verify.source import Span


@dataclass(frozen=True, slots=True)
class Load:
    """The word in one cell of a buffer, a local or an accumulator; scalars have no indices."""

    buffer: str
    index: tuple[Index, ...] = ()


@dataclass(frozen=True, slots=True)
class Word:
    """A literal word: `bits` is the unsigned pattern, of the width of `elem`."""

    elem: str
    bits: int


@dataclass(frozen=True, slots=True)
class OfIndex:
    """An integer term converted to a word of `elem`, rounded once."""

    elem: str
    term: Index


@dataclass(frozen=True, slots=True)
class Op:
    """An operation applied to operands in the order written; `elem` is the type of the result.

    A generic operation carries its interface's name, `S.mul_add`. A conversion is named after
    both types, `convert f32 f64`.
    """

    name: str
    elem: str
    args: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Choose:
    """One of two values, by a condition on indices; only the chosen one is evaluated."""

    condition: Formula
    then: Value
    orelse: Value


@dataclass(frozen=True, slots=True)
class Fold:
    """A running total: `acc` starts from `init` and becomes `step` at each index in turn."""

    counter: str
    domain: Domain
    init: Value
    acc: str
    elem: str
    step: Value


Value = Load | Word | OfIndex | Op | Choose | Fold


@dataclass(frozen=True, slots=True)
class Range:
    """The indices `low .. high`, the upper one left out."""

    low: Index
    high: Index


@dataclass(frozen=True, slots=True)
class Blocks:
    """`low .. high` cut into blocks of `size` indices, the last one possibly shorter."""

    low: Index
    high: Index
    size: Index


Domain = Range | Blocks


@dataclass(frozen=True, slots=True)
class Lanes:
    """The elements of one vector operation: lane `counter` of `width`, those below `active` only.

    All reads of the statement precede all its writes. In the statement's terms the lane is an
    ordinary variable named `counter`.
    """

    counter: str
    width: int
    active: Index


@dataclass(frozen=True, slots=True)
class Store:
    """Write one cell, or one cell a lane."""

    buffer: str
    index: tuple[Index, ...]
    value: Value
    lanes: Lanes | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Declare:
    """A local of the enclosing iteration: `let` (never assigned again) or `var`.

    `shape` are the dimensions of an array; `width` is the number of lanes of a vector element,
    whose lane is then the last index of the local. `init`, where given, fills a scalar, the
    active lanes of one vector (with `lanes`), or every cell of an array with one and the same
    word; without it the cells hold unspecified words.
    """

    name: str
    elem: str
    shape: tuple[Index, ...] = ()
    width: int | None = None
    init: Value | None = None
    mutable: bool = False
    lanes: Lanes | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class For:
    """A sequential loop; over `Blocks`, `counter` is the name of the block."""

    counter: str
    domain: Domain
    body: Block
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Axis:
    """One counter of a grid, from `low` to below `high`."""

    counter: str
    low: Index
    high: Index


@dataclass(frozen=True, slots=True)
class Slice:
    """The indices `low .. high` of one dimension of a window."""

    low: Index
    high: Index


@dataclass(frozen=True, slots=True)
class Window:
    """What an iteration of a grid may write: a part of a buffer, under an alias."""

    buffer: str
    parts: tuple[Index | Slice, ...]
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class Grid:
    """Unordered, unsynchronised iterations; `windows` is None where they are to be inferred."""

    axes: tuple[Axis, ...]
    body: Block
    windows: tuple[Window, ...] | None = None
    device: str | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class If:
    """A statement guard on indices."""

    condition: Formula
    then: Block
    orelse: Block
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Lease:
    """A name for a whole buffer, kept at a cache level for the rest of the enclosing block."""

    alias: str
    root: str
    level: str
    mutable: bool
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class View:
    """A name for part of a buffer: cell `counters` of the view is cell `index` of the root."""

    alias: str
    counters: tuple[str, ...]
    root: str
    index: tuple[Index, ...]
    shape: tuple[Index, ...] = ()
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Inlined:
    """A call, with the callee's body in place of it; `text` is the call as written."""

    text: str
    body: Block
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Print:
    """Show one value on a line of its own; only `main` and what it runs on the host may."""

    value: Value
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Block:
    """Statements, one after the other."""

    body: tuple[Stmt, ...] = ()


Stmt = Store | Declare | For | Grid | If | Lease | View | Inlined | Print | Block


@dataclass(frozen=True, slots=True)
class Layout:
    """How a parameter's cells lie in memory: the declared map, applied to its arguments.

    `source` is the file that declares it: another file may have another map of that name.
    """

    name: str
    args: tuple[Index, ...] = ()
    source: str = ""


@dataclass(frozen=True, slots=True)
class Param:
    """A buffer of the caller: `reads`, `mut`, or `out` (its first content is not read)."""

    name: str
    mode: str
    elem: str
    shape: tuple[Index, ...]
    layout: Layout | None = None
    level: str | None = None
    scratch: bool = False
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Require:
    """A condition on sizes under which the program may be called, and where it comes from."""

    condition: Formula
    origin: str


@dataclass(frozen=True, slots=True)
class Kept:
    """A row of a working set: `buffer` stays in `level`."""

    level: str
    buffer: str


@dataclass(frozen=True, slots=True)
class Program:
    """A function over buffers. `sizes` are naturals: each is at least zero.

    `generics` are pairs such as `("S", "Semiring")`; `arithmetic` names a device's arithmetic or
    is None for the host's IEEE 754.
    """

    name: str
    sizes: tuple[str, ...]
    params: tuple[Param, ...]
    body: Block
    requires: tuple[Require, ...] = ()
    generics: tuple[tuple[str, str], ...] = ()
    kept: tuple[Kept, ...] = ()
    arithmetic: str | None = None
    span: Span | None = field(default=None, compare=False)

    def param(self, name: str) -> Param:
        """The parameter of that name. Raises KeyError."""
        for param in self.params:
            if param.name == name:
                return param
        raise KeyError(name)


def statements(block: Block) -> Iterator[Stmt]:
    """Every statement of a block, in textual order, outer ones before what they hold."""
    for stmt in block.body:
        yield stmt
        if isinstance(stmt, If):
            yield from statements(stmt.then)
            yield from statements(stmt.orelse)
        elif isinstance(stmt, (For, Grid, Inlined)):
            yield from statements(stmt.body)
        elif isinstance(stmt, Block):
            yield from statements(stmt)


def values(value: Value) -> Iterator[Value]:
    """A value and every value inside it, outermost first."""
    yield value
    if isinstance(value, Op):
        for arg in value.args:
            yield from values(arg)
    elif isinstance(value, Choose):
        yield from values(value.then)
        yield from values(value.orelse)
    elif isinstance(value, Fold):
        yield from values(value.init)
        yield from values(value.step)
