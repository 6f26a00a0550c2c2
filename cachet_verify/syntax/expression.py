"""The expressions of the surface language; types, indices and sizes are expressions too.

Takes nothing but its parts; gives frozen values that compare without their places.
Must not parse, print, resolve a name or give a meaning.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cachet_verify.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A piece of syntax. `span` is its place, left out of equality; None when it was built."""

    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Expr(Node):
    """An expression, a type, or a pattern of one."""


Type = Expr
"""A type is written as an expression: `f32`, `Vec f32 8`, `[f32; M, K]`, `S.Value`, `(Nat, Nat)`."""


# --- atoms -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Name(Expr):
    """`acc'0`: a name as written."""

    name: str


@dataclass(frozen=True, slots=True)
class PatternVar(Expr):
    """`$step`: a variable of a step's pattern; `name` is without the dollar."""

    name: str


@dataclass(frozen=True, slots=True)
class IntLit(Expr):
    """`16`, `0x10`: a natural number."""

    value: int


@dataclass(frozen=True, slots=True)
class FloatLit(Expr):
    """`1.5e-3`: the decimal as written, so that it is rounded once, to its element type."""

    text: str


@dataclass(frozen=True, slots=True)
class BoolLit(Expr):
    """`true` or `false`."""

    value: bool


@dataclass(frozen=True, slots=True)
class StringLit(Expr):
    r"""`"text"`: the text, its escapes (`\"`, `\\`, `\n`, `\t`) undone."""

    value: str


@dataclass(frozen=True, slots=True)
class Tuple(Expr):
    """`()` or `(a, b)`: no item or two and more; `(a)` is just `a`."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class ListExpr(Expr):
    """`[8, 16]`: a list, as in `parts [8, 16]`."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class ArrayType(Expr):
    """`[f32; M, K]`: an array of `element` with the extents `dims`."""

    element: Type
    dims: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Label(Node):
    """`max: halving` in `(max: halving, sum: order)`."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Labelled(Expr):
    """`(max: halving, sum: order)`: labelled arguments of a step."""

    labels: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class FieldInit(Node):
    """`l = e` in a record; `value` None is punning: `m` stands for `m = m`."""

    name: str
    value: Expr | None


@dataclass(frozen=True, slots=True)
class RecordLit(Expr):
    """`Weights { m, l = e }`; `type` is a name or a dotted name."""

    type: Type
    fields: tuple[FieldInit, ...]


# --- postfix forms and application -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Field(Expr):
    """`gk.lo`, `S.Value`, `j.outer`, `S.k`: a part of `base` by name."""

    base: Expr
    name: str


@dataclass(frozen=True, slots=True)
class Slice(Expr):
    """`lo .. hi` inside an index: the part from `lo` up to, not including, `hi`."""

    low: Expr
    high: Expr


@dataclass(frozen=True, slots=True)
class Index(Expr):
    """`a[i, k]`, `gk[k]`, `a[lo .. hi, j]`, `$step[$acc]`: items are indices or slices."""

    base: Expr
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Rebinding(Node):
    """`k := e` in `$step[k := e]`."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Substitute(Expr):
    """`$step[$acc][k := $hi - 1 - (k - $lo)]`: `base` with each name replaced."""

    base: Expr
    bindings: tuple[Rebinding, ...]


@dataclass(frozen=True, slots=True)
class ImplicitArg(Node):
    """`@(S = MinPlus f32)` (name `S`) or `@Vec` (name None): several in one `@(…)` are several."""

    name: str | None
    value: Expr


@dataclass(frozen=True, slots=True)
class Apply(Expr):
    """`matmul @(S = MinPlus f32) d d e`, `platform.lanes @Vec @f32`, `Vec f32 8`, `S.zero ()`.

    `S.zero ()` has the one argument `Tuple(())`. There is an implicit or a plain argument.
    """

    function: Expr
    implicit: tuple[ImplicitArg, ...]
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Load(Expr):
    """`load a[i, k]`, `load $cell`, `load ct`: the value a place holds."""

    place: Expr


# --- operators ---------------------------------------------------------------------------------

BINARY_OPERATORS = ("or", "and", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%")
UNARY_OPERATORS = ("-", "not")


@dataclass(frozen=True, slots=True)
class Unary(Expr):
    """`-x`, `not p`; a negative literal is `Unary("-", literal)`."""

    operator: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary(Expr):
    """`x * y`; `operator` is one of BINARY_OPERATORS (`&&` and `||` are read as `and` and `or`)."""

    operator: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Cast(Expr):
    """`n as u32`: conversion, or naming the type of a literal."""

    value: Expr
    type: Type


# --- forms with a body -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IfExpr(Expr):
    """`if p then x else y` as a value."""

    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class LetExpr(Expr):
    """A block used as a value: `let name: type = value` on a line, and `body` on the next.

    Only in the places that take a block: branches of an `if`, bodies of `fold` and `reduce … do`.
    """

    name: str
    type: Type | None
    value: Expr
    body: Expr


@dataclass(frozen=True, slots=True)
class Sum(Expr):
    """`sum k. e`, `sum (k, l). e` (one chain, lexicographic), `sum[reassoc] k. e`, `sum k where k <= i. e`.

    `bounds` are the conditions after `where`, all of which hold for the elements that count.
    """

    indices: tuple[str, ...]
    body: Expr
    reassoc: bool = False
    bounds: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Reduce(Expr):
    """`reduce Online j. e`, `reduce[reassoc] Online j. e`: combine over the indices, ascending; `bounds` as of a sum."""

    monoid: Expr
    indices: tuple[str, ...]
    body: Expr
    reassoc: bool = False
    bounds: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class TileReduce(Expr):
    """`reduce Max f32 over cols by halving do s`: combine a tile along one axis."""

    monoid: Expr
    axis: str
    by: str
    body: Expr


@dataclass(frozen=True, slots=True)
class Range(Node):
    """`lo .. hi`: the integers from `low` up to, not including, `high`."""

    low: Expr
    high: Expr


@dataclass(frozen=True, slots=True)
class Blocks(Node):
    """`blocks (lo .. hi) 16`: consecutive blocks of `size`, the last one may be shorter."""

    low: Expr
    high: Expr
    size: Expr


Domain = Range | Blocks | PatternVar
"""What a loop, a grid index or a fold runs over; a pattern may match it whole: `for i in $A do`."""


@dataclass(frozen=True, slots=True)
class Fold(Expr):
    """`fold k in lo .. hi from e as acc: T do body`: a running total, as a value.

    `index` and `accumulator` may be pattern variables and then start with `$`.
    """

    index: str
    domain: Domain
    start: Expr
    accumulator: str
    type: Type
    body: Expr
