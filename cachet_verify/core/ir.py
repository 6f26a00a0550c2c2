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

from cachet_verify.core.element import Arithmetic
from cachet_verify.core.index import ONE, Formula, Index, mul
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
    word; without it the cells hold unspecified words. `layout` and `level` are of an array that lives in memory.
    """

    name: str
    elem: str
    shape: tuple[Index, ...] = ()
    width: int | None = None
    init: Value | None = None
    mutable: bool = False
    lanes: Lanes | None = None
    span: Span | None = field(default=None, compare=False)
    layout: Layout | None = None
    level: str | None = None


@dataclass(frozen=True, slots=True)
class For:
    """A sequential loop; over `Blocks`, `counter` is the name of the block."""

    counter: str
    domain: Domain
    body: Block
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Axis:
    """One counter of a grid, from `low` to below `high`; with a `size`, over the blocks of those indices."""

    counter: str
    low: Index
    high: Index
    size: Index | None = None

    @property
    def domain(self) -> Domain:
        """What the counter runs over, as a loop would."""
        return Range(self.low, self.high) if self.size is None else Blocks(self.low, self.high, self.size)


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
class Groups:
    """The groups that share each iteration of a grid by tile: their counters, and the part of the tile that each has.

    What the iterations mean does not depend on it: statements on whole tiles are shared out by parts.
    """

    names: tuple[str, ...]
    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """Unordered, unsynchronised iterations; `windows` is None where they are to be inferred.

    `device` is what they run on, by the arithmetic it computes in: None is wherever the statement itself runs.
    """

    axes: tuple[Axis, ...]
    body: Block
    windows: tuple[Window, ...] | None = None
    device: Arithmetic | None = None
    span: Span | None = field(default=None, compare=False)
    groups: Groups | None = None


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
class Instruction:
    """An instruction that a target may run in place of its reference body: one template for each target.

    Whoever claims anything about a program that uses one with templates trusts them. `reference` is
    the body, from buffers named after the operands into one named `result`; `operands` are their
    names in order, with those of its numbers, and `types` the type of each and, last, of the result. A
    template is trusted where `requires` hold, over its numbers and `active`, the lanes in use: they are
    asked where it is used, as side conditions.
    """

    name: str
    templates: tuple[tuple[str, str], ...] = ()
    reference: Block | None = None
    operands: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    requires: tuple[Formula, ...] = ()


@dataclass(frozen=True, slots=True)
class Inlined:
    """A call, with the callee's body in place of it; `text` is the call as written.

    With `instruction`, the body is that of an instruction and means just what its statements do.
    `is_tile` marks a statement on whole tiles, whose body goes through their elements. `needs` is
    what the call rests on, each with its text: a run stops where one does not hold. It is asked as a
    side condition of the caller, and means nothing to proofs.
    """

    text: str
    body: Block
    span: Span | None = field(default=None, compare=False)
    instruction: Instruction | None = None
    is_tile: bool = False
    needs: tuple[tuple[Formula, str], ...] = field(default=(), compare=False)


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
class Traffic:
    """A row of `movement`: the product of `factors` times the lines of a buffer's span, from one level to another.

    `is_back` says that the row is for the way back as well. The factors stand in the order written; `text` is the product as written.
    """

    buffer: str
    factors: tuple[Index, ...]
    source: str
    target: str
    is_back: bool
    name: str | None = None
    text: str = field(default="", compare=False)
    span: Span | None = field(default=None, compare=False)

    @property
    def count(self) -> Index:
        """How often the span may be moved."""
        total: Index = ONE
        for factor in self.factors:
            total = mul(total, factor)
        return total


@dataclass(frozen=True, slots=True)
class BlockTerm:
    """One line of how a block is combined: a word (`kind` is `let`), or a total over the elements of the block, whose value is a fold.

    A schedule says in what order a total is taken by its `kind`: `sum`, or its monoid's first word in small letters. A `fold` has one order.
    """

    name: str
    elem: str
    kind: str
    value: Value


@dataclass(frozen=True, slots=True)
class Blockwise:
    """How a whole block of elements is combined at once with what stands before it.

    An element is made of parameters, `keys`, as `element` says: its parts, over scalars of those names. `terms` are read in order,
    over the parts `a.m` of what stands before, the terms above and, in totals, over the keys at the total's counter, which runs from 0 to
    `length`. `result` are the parts of what all comes to. `law` is what the text calls the law that says so.
    """

    keys: tuple[tuple[str, str], ...]
    element: tuple[Value, ...]
    length: str
    terms: tuple[BlockTerm, ...]
    result: tuple[Value, ...]
    law: str = "block"


@dataclass(frozen=True, slots=True)
class Reduction:
    """What the reduction over `counter` combines: `monoid` is its name, empty of a sum.

    `parts` are names and types of the parts of its values, `empty` the words it starts from, `combined` two values combined, over
    the scalars `a.m` and `b.m`, or `a` and `b` where the one part has no name. `is_permitted` says that the text allows to regroup
    it, to another rounding. `block` is how a whole block of elements may be combined, where that is said; `given` are the
    names that the parameters of an element are read from, as written, each empty where it is something else.
    """

    counter: str
    monoid: str
    is_permitted: bool
    parts: tuple[tuple[str, str], ...]
    empty: tuple[Value, ...]
    combined: tuple[Value, ...]
    block: Blockwise | None = None
    given: tuple[str, ...] = ()

    def names(self, letter: str) -> tuple[str, ...]:
        """The scalars that stand for the parts of one value."""
        return tuple(f"{letter}.{name}" if name else letter for name, _ in self.parts)


@dataclass(frozen=True, slots=True)
class Program:
    """A function over buffers. `sizes` are naturals: each is at least zero.

    `generics` are pairs such as `("S", "Semiring")`. `arithmetic` is what operations outside of grids
    on devices are evaluated in, None for the host's IEEE 754; a grid on a device has that device's.

    `reductions` say what a contraction's own equations combine; the rules believe nothing of it but what they are permitted.
    `movement` is what it may move between memory levels at most, None where nothing limits it.
    """

    name: str
    sizes: tuple[str, ...]
    params: tuple[Param, ...]
    body: Block
    requires: tuple[Require, ...] = ()
    generics: tuple[tuple[str, str], ...] = ()
    kept: tuple[Kept, ...] = ()
    movement: tuple[Traffic, ...] | None = None
    arithmetic: Arithmetic | None = None
    reductions: tuple[Reduction, ...] = ()
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


def uses(block: Block) -> Iterator[Inlined]:
    """The uses of instructions in a block, in textual order."""
    for stmt in statements(block):
        if isinstance(stmt, Inlined) and stmt.instruction is not None:
            yield stmt


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


def arithmetics(block: Block, around: Arithmetic | None) -> Iterator[Arithmetic | None]:
    """What each statement that computes is evaluated in, where `around` is what the block stands in."""
    for stmt in block.body:
        if isinstance(stmt, If):
            yield from arithmetics(stmt.then, around)
            yield from arithmetics(stmt.orelse, around)
        elif isinstance(stmt, Grid):
            yield from arithmetics(stmt.body, around if stmt.device is None else stmt.device)
        elif isinstance(stmt, (For, Inlined)):
            yield from arithmetics(stmt.body, around)
        elif isinstance(stmt, Block):
            yield from arithmetics(stmt, around)
        elif any(isinstance(part, Op) for value in _evaluated(stmt) for part in values(value)):
            yield around


def _evaluated(stmt: Stmt) -> Iterator[Value]:
    """The value that a statement evaluates, where it does."""
    if isinstance(stmt, (Store, Print)):
        yield stmt.value
    elif isinstance(stmt, Declare) and stmt.init is not None:
        yield stmt.init
