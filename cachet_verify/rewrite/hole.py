"""What the `$` variables of a pattern have matched, and the words for what was looked for and found.

Takes core pieces; gives records and short texts. Must not match or build anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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
    Lease,
    Load,
    Op,
    Stmt,
    Store,
    Value,
    View,
)
from cachet_verify.core.spell import spell, spell_formula
from cachet_verify.rewrite.traverse import bare, domain_mentions, mentions, value_mentions


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a buffer: what `$cell` stands for."""

    buffer: str
    index: tuple[Index, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A value; `total` is the name of the running total when it is the step of a fold."""

    value: Value
    total: str | None = None


@dataclass(frozen=True, slots=True)
class Body:
    """Statements: what `$body` stands for."""

    stmts: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """A formula: what `$p` stands for in `if $p then`."""

    formula: Formula


@dataclass(frozen=True, slots=True)
class Term:
    """An integer term: what `$lo` stands for."""

    term: Index


@dataclass(frozen=True, slots=True)
class Called:
    """A name, of a type, a counter or a total: what `$E`, `$k` and `$acc` stand for."""

    name: str


Matched = Cell | Piece | Body | Condition | Term | Called | Domain


@dataclass(frozen=True, slots=True)
class Match:
    """A pattern that fits: what each hole holds, and the names bound by the pattern itself.

    `bound` are the counters, totals and locals that the matched pattern binds in the program: a hole
    may mention them, and then only makes sense where they are bound again.
    """

    holes: Mapping[str, Matched] = field(default_factory=dict)
    bound: frozenset[str] = frozenset()
    count: int = 1


def mentioned(piece: Matched) -> frozenset[str]:
    """The index variables, buffers and totals a piece mentions."""
    if isinstance(piece, Cell):
        return bare(name for term in piece.index for name in variables(term)) | {piece.buffer}
    if isinstance(piece, Piece):
        return value_mentions(piece.value)
    if isinstance(piece, Body):
        return mentions(piece.stmts)
    if isinstance(piece, Condition):
        return bare(variables(piece.formula))
    if isinstance(piece, Term):
        return bare(variables(piece.term))
    return frozenset() if isinstance(piece, Called) else domain_mentions(piece)


def domain_text(domain: Domain) -> str:
    """`0 .. K`, `blocks (0 .. K) 16`."""
    limits = f"{spell(domain.low)} .. {spell(domain.high)}"
    return f"blocks ({limits}) {spell(domain.size, 3)}" if isinstance(domain, Blocks) else limits


def cell_text(buffer: str, index: tuple[Index, ...]) -> str:
    """`c[i, j]`, or the bare name of a scalar."""
    return f"{buffer}[{', '.join(spell(term) for term in index)}]" if index else buffer


def value_text(value: Value) -> str:
    """A value in short: operands of operations are left out."""
    if isinstance(value, Load):
        return f"load {cell_text(value.buffer, value.index)}"
    if isinstance(value, Fold):
        return f"fold {value.counter} in {domain_text(value.domain)} from {value_text(value.init)} …"
    if isinstance(value, Op):
        return f"{value.name} …" if value.args else value.name
    if isinstance(value, Choose):
        return f"if {spell_formula(value.condition)} then …"
    return f"a word of {value.elem}"


def stmt_text(stmt: Stmt) -> str:
    """A statement in short: what it holds is left out."""
    if isinstance(stmt, For):
        return f"for {stmt.counter} in {domain_text(stmt.domain)}"
    if isinstance(stmt, Store):
        return f"store {cell_text(stmt.buffer, stmt.index)} = {value_text(stmt.value)}"
    if isinstance(stmt, Declare):
        word = "var" if stmt.mutable else "let"
        return f"{word} {stmt.name}" if stmt.init is None else f"{word} {stmt.name} = {value_text(stmt.init)}"
    if isinstance(stmt, If):
        return f"if {spell_formula(stmt.condition)} then"
    if isinstance(stmt, Grid):
        return f"grid {', '.join(axis.counter for axis in stmt.axes)}"
    if isinstance(stmt, Lease):
        return f"lease {stmt.alias} = {stmt.root}"
    if isinstance(stmt, View):
        return f"view {stmt.alias}"
    if isinstance(stmt, Inlined):
        return f"the call {stmt.text}"
    return "a block" if isinstance(stmt, Block) else "a print"
