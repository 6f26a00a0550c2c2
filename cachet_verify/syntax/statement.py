"""The statements of function bodies and of the patterns of steps.

Takes nothing but its parts; gives frozen values that compare without their places.
Must not parse, print, resolve a name or give a meaning.
"""

from __future__ import annotations

from dataclasses import dataclass

from cachet_verify.syntax.expression import Domain, Expr, Node, Type


@dataclass(frozen=True, slots=True)
class Statement(Node):
    """A statement. A name it binds may be a pattern variable and then starts with `$`."""


Body = tuple[Statement, ...]
"""An indented block, at least one statement; the last may be an `ExprStatement`, its value."""


@dataclass(frozen=True, slots=True)
class Storage(Node):
    """`[f32; 16, 16] in PanelMajor 4 at DRAM`: a type, a layout and a level, the last two optional."""

    type: Type
    layout: Expr | None = None
    level: str | None = None


@dataclass(frozen=True, slots=True)
class Let(Statement):
    """`let x = e`, `let x: Vec f32 8 = load b[k, 0 .. n]`."""

    name: str
    storage: Storage | None
    value: Expr


@dataclass(frozen=True, slots=True)
class Var(Statement):
    """`var acc'0: f32 = -0.0`; without a value it is an array nobody has written yet."""

    name: str
    storage: Storage | None
    value: Expr | None


@dataclass(frozen=True, slots=True)
class Assign(Statement):
    """`acc'0 = e`, `t[p] = e`: assignment to a `var` or to a cell of one.

    In a contraction the same form is an equation, `c[i, j] = sum k. …`.
    """

    target: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class Store(Statement):
    """`store c[i, j] = e`."""

    place: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class ExprStatement(Statement):
    """A call (`rows a b c`, `print x`), a pattern variable (`$body`), or the value of a body."""

    value: Expr


@dataclass(frozen=True, slots=True)
class For(Statement):
    """`for k in 0 .. K do` with a block, or with one statement on the same line."""

    index: str
    domain: Domain
    body: Body


@dataclass(frozen=True, slots=True)
class If(Statement):
    """`if p then` block, and `else` block (empty when there is none).

    An `if` that stands alone as a statement is always this class, never an `IfExpr`.
    """

    condition: Expr
    then: Body
    otherwise: Body


@dataclass(frozen=True, slots=True)
class GridIndex(Node):
    """`gi in 0 .. M / 16` in the header of a grid."""

    name: str
    domain: Domain


@dataclass(frozen=True, slots=True)
class TileClause(Node):
    """`by tile (si, sj) parts [8, 8]`."""

    names: tuple[str, ...]
    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Window(Node):
    """`c[i, j] as ct`, `c[lo .. hi, j]` after `writes`; `name` None when it is not named."""

    place: Expr
    name: str | None


@dataclass(frozen=True, slots=True)
class Grid(Statement):
    """`grid on M4Gpu i in 0 .. M, j in 0 .. N by tile (si, sj) parts [8, 8] writes c[i, j] as ct do`.

    `device` None is the host; no windows means that they are inferred.
    """

    device: str | None
    indices: tuple[GridIndex, ...]
    tile: TileClause | None
    windows: tuple[Window, ...]
    body: Body


@dataclass(frozen=True, slots=True)
class Lease(Statement):
    """`lease mut packA_L2 = packA at L2`; without `mut` the lease only reads."""

    name: str
    mutable: bool
    buffer: Expr
    level: str


@dataclass(frozen=True, slots=True)
class View(Statement):
    """`view v[i, j] = c[2 * i, j]`, `view v[i, j] : [R, C] = c[i, C - 1 - j]`.

    `dims` are the extents of the view, empty when left to inference.
    """

    name: str
    indices: tuple[str, ...]
    dims: tuple[Expr, ...]
    place: Expr


@dataclass(frozen=True, slots=True)
class Barrier(Statement):
    """`barrier`: the groups of a tile wait for one another."""
