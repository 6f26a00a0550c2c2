"""Patterns of step fns matched against a program.

Takes the `from` of a step with its arguments, and a program; gives the place that fits and what
each `$` variable stands for there. A loop named by an argument is found by its counter, wherever it
stands. Must not build anything, and must not match by luck: a `$` variable used twice stands for
one thing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cachet_verify.core.element import Arithmetic
from cachet_verify.core.index import Index, Var
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
    Load,
    Op,
    Range,
    Stmt,
    Store,
    Value,
)
from cachet_verify.rewrite.error import refuse
from cachet_verify.rewrite.expression import block_part, counter_name, index_of
from cachet_verify.rewrite.hole import (
    Body,
    Called,
    Cell,
    Condition,
    Match,
    Matched,
    Piece,
    Term,
    cell_text,
    domain_text,
    stmt_text,
    value_text,
)
from cachet_verify.syntax import ast

_OPERATORS = {"+": "add", "-": "sub", "*": "mul", "/": "div"}


class MismatchError(Exception):
    """The pattern does not fit here: what was looked for, and what stands there."""

    def __init__(self, wanted: str, found: str) -> None:
        super().__init__(f"looked for {wanted}, found {found}")
        self.wanted = wanted
        self.found = found


@dataclass(frozen=True, slots=True)
class Arguments:
    """What the parameters of a step stand for: a name (of a loop or a buffer) or a term."""

    names: Mapping[str, str]
    terms: Mapping[str, Index]

    def name(self, name: str) -> str:
        """The name in the program that a name in the pattern stands for."""
        return self.names.get(name, name)

    def __contains__(self, name: str) -> bool:
        return name in self.names or name in self.terms


def match_body(pattern: ast.Body, stmts: tuple[Stmt, ...], arguments: Arguments) -> Match:
    """Match the statements of a pattern, one after the other. Raises MismatchError."""
    matcher = _Matcher(arguments)
    count = matcher.body(pattern, stmts)
    return Match(matcher.holes, frozenset(matcher.bound), count)


class _Matcher:
    """Walks pattern and program together, filling holes."""

    def __init__(self, arguments: Arguments) -> None:
        self.arguments = arguments
        self.holes: dict[str, Matched] = {}
        self.bound: set[str] = set()

    def fill(self, name: str, piece: Matched) -> None:
        known = self.holes.setdefault(name, piece)
        if known != piece:
            raise MismatchError(f"${name} to stand for one thing", "two that differ")

    def bind(self, written: str, actual: str, what: str) -> None:
        """A binder of the pattern: a `$` name stands for any, a parameter for its argument."""
        if written.startswith("$"):
            self.fill(written[1:], Called(actual))
        elif self.arguments.name(written) != actual:
            raise MismatchError(f"{what} {self.arguments.name(written)}", f"{what} {actual}")
        self.bound.add(actual)

    # --- statements ---

    def body(self, pattern: ast.Body, stmts: tuple[Stmt, ...]) -> int:
        """Match a run of statements; give how many of them the pattern takes."""
        for place, wanted in enumerate(pattern):
            if isinstance(wanted, ast.ExprStatement) and isinstance(wanted.value, ast.PatternVar):
                if place + 1 != len(pattern):
                    text = f"${wanted.value.name} stands for all that follows: nothing may follow it"
                    raise refuse("step-definition", text, wanted.span, "put it last")
                self.fill(wanted.value.name, Body(stmts[place:]))
                return len(stmts)
            if place >= len(stmts):
                raise MismatchError(f"{len(pattern)} statements", f"{len(stmts)}")
            self.statement(wanted, stmts[place])
        return len(pattern)

    def whole(self, pattern: ast.Body, block: Block) -> None:
        """Match all statements of a block."""
        if self.body(pattern, block.body) != len(block.body):
            raise MismatchError("nothing more in the block", stmt_text(block.body[len(pattern)]))

    def statement(self, wanted: ast.Statement, stmt: Stmt) -> None:
        if isinstance(wanted, ast.For) and isinstance(stmt, For):
            self.bind(wanted.index, stmt.counter, "a loop over")
            self.domain(wanted.domain, stmt.domain)
            self.whole(wanted.body, stmt.body)
        elif isinstance(wanted, ast.Store) and isinstance(stmt, Store) and stmt.lanes is None:
            self.place(wanted.place, stmt.buffer, stmt.index)
            self.value(wanted.value, stmt.value, None)
        elif isinstance(wanted, ast.Assign) and isinstance(stmt, Store) and stmt.lanes is None:
            self.place(wanted.target, stmt.buffer, stmt.index)
            self.value(wanted.value, stmt.value, None)
        elif isinstance(wanted, (ast.Let, ast.Var)) and isinstance(stmt, Declare) and stmt.lanes is None:
            self.declaration(wanted, stmt)
        elif isinstance(wanted, ast.If) and isinstance(stmt, If):
            self.guard(wanted, stmt)
        elif isinstance(wanted, ast.Grid) and isinstance(stmt, Grid):
            self.grid(wanted, stmt)
        else:
            raise MismatchError(statement_pattern_text(wanted, self.arguments), stmt_text(stmt))

    def declaration(self, wanted: ast.Let | ast.Var, stmt: Declare) -> None:
        if isinstance(wanted, ast.Var) != stmt.mutable or (wanted.value is None) != (stmt.init is None):
            raise MismatchError(statement_pattern_text(wanted, self.arguments), stmt_text(stmt))
        self.bind(wanted.name, stmt.name, "a local")
        if wanted.storage is not None:
            self.type(wanted.storage.type, stmt.elem)
        if wanted.value is not None and stmt.init is not None:
            self.value(wanted.value, stmt.init, None)

    def guard(self, wanted: ast.If, stmt: If) -> None:
        if not isinstance(wanted.condition, ast.PatternVar):
            raise refuse("step-definition", "a condition in `from` is a `$` variable", wanted.span, "`if $p then`")
        self.fill(wanted.condition.name, Condition(stmt.condition))
        self.whole(wanted.then, stmt.then)
        self.whole(wanted.otherwise, stmt.orelse)

    def grid(self, wanted: ast.Grid, stmt: Grid) -> None:
        if len(wanted.indices) != len(stmt.axes) or wanted.tile is not None or not _runs_on(wanted.device, stmt.device):
            raise MismatchError(f"a grid over {len(wanted.indices)} indices", stmt_text(stmt))
        for index, axis in zip(wanted.indices, stmt.axes, strict=True):
            self.bind(index.name, axis.counter, "a grid index")
            self.domain(index.domain, axis.domain)
        self.whole(wanted.body, stmt.body)

    # --- the parts of statements ---

    def domain(self, wanted: ast.Domain, domain: Domain) -> None:
        if isinstance(wanted, ast.PatternVar):
            self.fill(wanted.name, domain)
        elif isinstance(wanted, ast.Range) and isinstance(domain, Range):
            self.term(wanted.low, domain.low)
            self.term(wanted.high, domain.high)
        elif isinstance(wanted, ast.Blocks) and isinstance(domain, Blocks):
            self.term(wanted.low, domain.low)
            self.term(wanted.high, domain.high)
            self.term(wanted.size, domain.size)
        else:
            raise MismatchError("a loop over " + ("blocks" if isinstance(wanted, ast.Blocks) else "a plain range"), domain_text(domain))

    def term(self, wanted: ast.Expr, term: Index) -> None:
        if isinstance(wanted, ast.PatternVar) and wanted.name not in self.holes:
            self.fill(wanted.name, Term(term))
        elif index_of(wanted, self.known_term) != term:
            raise MismatchError("other bounds", domain_text(Range(term, term)).partition(" ..")[0])

    def known_term(self, expr: ast.Expr) -> Index | None:
        if isinstance(expr, ast.PatternVar):
            piece = self.holes.get(expr.name)
            if isinstance(piece, Called):
                return Var(piece.name)
            return piece.term if isinstance(piece, Term) else None
        part = block_part(expr)
        if part is not None:
            name, _, field = part.rpartition(".")
            return Var(f"{self.arguments.name(name)}.{field}")
        name_of = counter_name(expr)
        if name_of is None:
            return None
        return self.arguments.terms.get(name_of, Var(self.arguments.name(name_of)))

    def type(self, wanted: ast.Expr, elem: str) -> None:
        if isinstance(wanted, ast.PatternVar):
            self.fill(wanted.name, Called(elem))
        elif _type_text(wanted) != elem:
            raise MismatchError(f"the element type {_type_text(wanted)}", elem)

    def place(self, wanted: ast.Expr, buffer: str, index: tuple[Index, ...]) -> None:
        if isinstance(wanted, ast.PatternVar):
            self.fill(wanted.name, Cell(buffer, index))
            return
        base, items = (wanted.base, wanted.items) if isinstance(wanted, ast.Index) else (wanted, ())
        self.base(base, buffer, index)
        if len(items) != len(index):
            raise MismatchError(f"a cell with {len(items)} indices", cell_text(buffer, index))
        for item, term in zip(items, index, strict=True):
            self.term(item, term)

    def base(self, wanted: ast.Expr, buffer: str, index: tuple[Index, ...]) -> None:
        if isinstance(wanted, ast.PatternVar):
            self.fill(wanted.name, Called(buffer))
        elif not isinstance(wanted, ast.Name) or self.arguments.name(wanted.name) != buffer:
            shown = self.arguments.name(wanted.name) if isinstance(wanted, ast.Name) else "a buffer"
            raise MismatchError(f"a cell of {shown}", cell_text(buffer, index))

    # --- values ---

    def value(self, wanted: ast.Expr, value: Value, total: str | None) -> None:
        if isinstance(wanted, ast.PatternVar):
            self.fill(wanted.name, Piece(value, total))
        elif isinstance(wanted, ast.Fold) and isinstance(value, Fold):
            self.fold(wanted, value)
        elif isinstance(wanted, ast.Load) and isinstance(value, Load):
            self.place(wanted.place, value.buffer, value.index)
        elif isinstance(wanted, ast.Name) and isinstance(value, Load):
            self.place(wanted, value.buffer, value.index)
        elif isinstance(wanted, ast.IfExpr) and isinstance(value, Choose) and isinstance(wanted.condition, ast.PatternVar):
            self.fill(wanted.condition.name, Condition(value.condition))
            self.value(wanted.then, value.then, total)
            self.value(wanted.otherwise, value.orelse, total)
        else:
            self.operation(wanted, value, total)

    def fold(self, wanted: ast.Fold, fold: Fold) -> None:
        self.bind(wanted.index, fold.counter, "a fold over")
        self.domain(wanted.domain, fold.domain)
        self.value(wanted.start, fold.init, None)
        self.bind(wanted.accumulator, fold.acc, "a total")
        self.type(wanted.type, fold.elem)
        self.value(wanted.body, fold.step, fold.acc)

    def operation(self, wanted: ast.Expr, value: Value, total: str | None) -> None:
        name, args = operation_of(wanted)
        if name is None or not isinstance(value, Op) or value.name != name or len(value.args) != len(args):
            raise MismatchError(value_pattern_text(wanted), value_text(value))
        for part, arg in zip(args, value.args, strict=True):
            self.value(part, arg, total)


def operation_of(expr: ast.Expr) -> tuple[str | None, tuple[ast.Expr, ...]]:
    """The core name of an operation written in a pattern, and its operands; no name for other forms."""
    if isinstance(expr, ast.Binary):
        return _OPERATORS.get(expr.operator), (expr.left, expr.right)
    if isinstance(expr, ast.Unary) and expr.operator == "-":
        return "neg", (expr.operand,)
    if isinstance(expr, ast.Apply) and not expr.implicit:
        args = () if expr.args == (ast.Tuple(()),) else expr.args
        return _type_text(expr.function), args
    return None, ()


def _type_text(expr: ast.Expr) -> str:
    if isinstance(expr, ast.Name):
        return expr.name
    return f"{_type_text(expr.base)}.{expr.name}" if isinstance(expr, ast.Field) else "another type"


def value_pattern_text(wanted: ast.Expr) -> str:
    """A pattern of a value in short."""
    if isinstance(wanted, ast.Fold):
        return "a fold from the cell it is stored to" if isinstance(wanted.start, ast.Load) else "a fold"
    if isinstance(wanted, ast.Load):
        return "a load of the cell itself" if isinstance(wanted.place, ast.PatternVar) else "a load"
    name, _ = operation_of(wanted)
    return f"the operation {name}" if name is not None else "another value"


def statement_pattern_text(wanted: ast.Statement, arguments: Arguments) -> str:
    """A pattern of a statement in short."""
    if isinstance(wanted, ast.For):
        return f"a loop over {arguments.name(wanted.index)}" if not wanted.index.startswith("$") else "a loop"
    if isinstance(wanted, ast.Store):
        return f"a store of {value_pattern_text(wanted.value)}"
    if isinstance(wanted, (ast.Let, ast.Var)):
        return "a declaration"
    return "a guard" if isinstance(wanted, ast.If) else "another statement"


def _runs_on(wanted: str | None, device: Arithmetic | None) -> bool:
    """Whether a grid runs on the device that a pattern names, where it names one."""
    return wanted is None or (device is not None and device.name == wanted)
