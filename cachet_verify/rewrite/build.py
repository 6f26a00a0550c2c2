"""The `to` of a step fn built into statements, given what the `$` variables of its `from` matched.

Takes syntax, arguments and a match; gives core statements and what is known of the counters that the
step replaced. Every hole is checked where it is used: all it mentions must be bound there. Must not
rename anything that the rest of the program can see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from cachet_verify.core.element import Arithmetic
from cachet_verify.core.index import Formula, Index, Var, div, variables
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
    Load,
    Op,
    Range,
    Stmt,
    Store,
    Value,
)
from cachet_verify.rewrite.element_type import type_of
from cachet_verify.rewrite.error import refuse
from cachet_verify.rewrite.expression import block_part, counter_name, formula_of, index_of
from cachet_verify.rewrite.hole import Body, Called, Cell, Condition, Match, Matched, Piece, Term, mentioned
from cachet_verify.rewrite.image import Hint
from cachet_verify.rewrite.match import Arguments, operation_of
from cachet_verify.rewrite.traverse import BLOCK_PARTS, Change, bare, bound_in_value, fresh, fresh_copy, renaming
from cachet_verify.source import Span
from cachet_verify.syntax import ast


@dataclass(frozen=True, slots=True)
class Built:
    """The statements of `to`, and for each counter it expressed anew how it did so."""

    stmts: tuple[Stmt, ...]
    hints: tuple[Hint, ...]
    divided: tuple[tuple[Index, Index], ...]


@dataclass(slots=True)
class _Site:
    """Where the builder stands: names bound around it, and what counters are replaced by."""

    scope: frozenset[str] = frozenset()
    names: dict[str, str] = field(default_factory=dict)


def build(
    target: ast.Body, match: Match, arguments: Arguments, used: frozenset[str], types: Mapping[str, str], device: Arithmetic | None = None
) -> Built:
    """Build the `to` of a step. `used` are all names of the program, `types` the types of its buffers.

    `device` is what grids run on. Raises StepError where a `$` variable is used out of its scope, or
    `to` says what no step can build.
    """
    builder = _Builder(match, arguments, used, types)
    builder.device = device
    return Built(builder.body(target), tuple(builder.hints), tuple(builder.divided))


class _Builder:
    """Builds one `to`; every use of a hole is checked against the scope it is used in."""

    def __init__(self, match: Match, arguments: Arguments, used: frozenset[str], types: Mapping[str, str]) -> None:
        self.match = match
        self.arguments = arguments
        self.used = used
        self.types = dict(types)
        self.device: Arithmetic | None = None
        self.site = _Site()
        self.hints: list[Hint] = []
        self.placed: set[str] = set()
        self.bound: set[str] = set()
        self.divided: list[tuple[Index, Index]] = []

    # --- names ---

    def binder(self, written: str, span: Span | None) -> str:
        """The name a binder of `to` gets: its argument's, its hole's, or a new one."""
        if written.startswith("$"):
            piece = self.hole(ast.PatternVar(written[1:], span=span))
            if not isinstance(piece, Called):
                raise refuse("step-definition", f"{written} is not a name", span)
            actual = piece.name
        else:
            actual = self.arguments.names.get(written, written)
        if actual not in self.match.bound and written in self.arguments.names and actual in self.used:
            raise refuse("name-taken", f"the name {actual} is in use", span, f"call the new loop something else than {actual}")
        if actual not in self.match.bound or actual in self.bound:
            actual = fresh(actual, self.used)
        self.used |= {actual}
        self.bound.add(actual)
        return actual

    @contextmanager
    def binding(self, written: str, actual: str) -> Iterator[None]:
        """Stand inside a binder."""
        outer = self.site
        original = self.original(written)
        self.site = _Site(outer.scope | {actual}, {**outer.names, original: actual})
        try:
            yield
        finally:
            self.site = outer

    def original(self, written: str) -> str:
        """The name in the program before that a name written in the step stands for."""
        if written.startswith("$"):
            piece = self.match.holes.get(written[1:])
            return piece.name if isinstance(piece, Called) else written
        return self.arguments.names.get(written, written)

    def hole(self, var: ast.PatternVar) -> Matched:
        piece = self.match.holes.get(var.name)
        if piece is None:
            raise refuse("unbound-hole", f"${var.name} is not matched in `from`", var.span, "use only the `$` variables of `from`")
        return piece

    # --- holes in place ---

    def placed_change(self, var: ast.PatternVar, piece: Matched, by: Mapping[str, Index]) -> Change:
        """How a hole's content changes to stand here. Raises StepError when it would lose a name."""
        moved = {old: new for old, new in self.site.names.items() if old != new and old not in by and old in self.match.bound}
        terms: dict[str, Index] = dict(renaming(moved).terms)
        terms.update(by)
        own = frozenset() if not isinstance(piece, Piece) or piece.total is None else frozenset((piece.total,))
        here = self.site.scope | frozenset(self.site.names) | frozenset(by) | own
        lost = sorted((mentioned(piece) & self.match.bound) - here)
        if lost:
            text = f"${var.name} mentions {lost[0]}, which nothing binds where the step uses it"
            raise refuse("scope", text, var.span, f"keep ${var.name} inside the loop over {lost[0]}, or give it a value: [{lost[0]} := …]")
        self.note(moved, by)
        return Change(terms, None, moved)

    def note(self, moved: Mapping[str, str], by: Mapping[str, Index]) -> None:
        """Remember how counters of the program before are expressed here, as a hint for index maps."""
        renamed = ((old, Var(new)) for old, new in moved.items())
        for counter, term in (*renamed, *((name, term) for name, term in by.items() if bare((name,)) == {name})):
            using = frozenset(name for name in variables(term) if name in self.site.scope)
            hint = Hint(counter, term, using, always=False)
            if hint not in self.hints:
                self.hints.append(hint)

    def rebound(self, bindings: tuple[ast.Rebinding, ...]) -> dict[str, Index]:
        """The terms that `[k := e]` gives to counters of the program before; a block for a block, whole."""
        found: dict[str, Index] = {}
        for binding in bindings:
            name = self.original(binding.name)
            if name not in self.match.bound:
                raise refuse("unbound-hole", f"{binding.name} is not bound by the pattern, so it cannot be replaced", binding.span)
            term = self.term(binding.value)
            found[name] = term
            if isinstance(term, Var):
                found.update({f"{name}.{part}": Var(f"{term.name}.{part}") for part in BLOCK_PARTS})
        return found

    def copied(self, name: str, stmts: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """Statements of a hole; a second use gets binders of its own."""
        if name not in self.placed:
            self.placed.add(name)
            return stmts
        copy, names = fresh_copy(stmts, self.used)
        self.used |= frozenset(names.values())
        return copy

    # --- statements ---

    def body(self, target: ast.Body) -> tuple[Stmt, ...]:
        """The statements of a block; a local declared in it is in scope of what follows."""
        outer = self.site
        built: list[Stmt] = []
        for stmt in target:
            built.extend(self.statement(stmt))
        self.site = outer
        return tuple(built)

    def statement(self, stmt: ast.Statement) -> tuple[Stmt, ...]:
        if isinstance(stmt, ast.ExprStatement):
            return self.spread(stmt.value)
        if isinstance(stmt, ast.For):
            domain = self.domain(stmt.domain)
            name = self.binder(stmt.index, stmt.span)
            with self.binding(stmt.index, name):
                return (For(name, domain, Block(self.body(stmt.body)), stmt.span),)
        if isinstance(stmt, (ast.Store, ast.Assign)):
            place = stmt.place if isinstance(stmt, ast.Store) else stmt.target
            cell = self.cell(place)
            return (Store(cell.buffer, cell.index, self.value(stmt.value), span=stmt.span),)
        if isinstance(stmt, (ast.Let, ast.Var)):
            return (self.declare(stmt),)
        if isinstance(stmt, ast.If):
            condition = self.condition(stmt.condition)
            return (If(condition, Block(self.body(stmt.then)), Block(self.body(stmt.otherwise)), stmt.span),)
        if isinstance(stmt, ast.Grid):
            return (self.grid(stmt),)
        raise refuse("step-definition", "a step cannot build this statement", stmt.span)

    def spread(self, expr: ast.Expr) -> tuple[Stmt, ...]:
        """`$body`, `$body[k := e]` as statements."""
        var, by = self.taken_apart(expr)
        piece = self.hole(var)
        if not isinstance(piece, Body):
            raise refuse("step-definition", f"${var.name} does not stand for statements", var.span)
        change = self.placed_change(var, piece, by)
        return tuple(change.stmt(stmt) for stmt in self.copied(var.name, piece.stmts))

    def taken_apart(self, expr: ast.Expr) -> tuple[ast.PatternVar, dict[str, Index]]:
        """A hole with the replacements written behind it."""
        by: dict[str, Index] = {}
        while isinstance(expr, ast.Substitute):
            by.update(self.rebound(expr.bindings))
            expr = expr.base
        if not isinstance(expr, ast.PatternVar):
            raise refuse("step-definition", "`[… := …]` stands behind a `$` variable", expr.span)
        return expr, by

    def declare(self, stmt: ast.Let | ast.Var) -> Declare:
        value = None if stmt.value is None else self.value(stmt.value)
        name = self.binder(stmt.name, stmt.span)
        if stmt.storage is not None:
            elem = self.type(stmt.storage.type)
        elif value is not None:
            elem = type_of(value, self.types)
        else:
            raise refuse("step-definition", f"{stmt.name} has no type", stmt.span)
        self.types[name] = elem
        original = self.original(stmt.name)
        self.site = _Site(self.site.scope | {name}, {**self.site.names, original: name})
        return Declare(name, elem, init=value, mutable=isinstance(stmt, ast.Var), span=stmt.span)

    def grid(self, stmt: ast.Grid) -> Grid:
        if stmt.tile is not None or stmt.windows or stmt.device is not None or len(stmt.indices) != 1:
            text = "a grid in `to` has one index; its windows are inferred, and the schedule says where it runs"
            raise refuse("step-definition", text, stmt.span, "`grid t in $lo .. $hi do`")
        index = stmt.indices[0]
        domain = self.domain(index.domain)
        size = domain.size if isinstance(domain, Blocks) else None
        name = self.binder(index.name, stmt.span)
        with self.binding(index.name, name):
            return Grid((Axis(name, domain.low, domain.high, size),), Block(self.body(stmt.body)), None, self.device, stmt.span)

    # --- terms ---

    def domain(self, domain: ast.Domain) -> Domain:
        if isinstance(domain, ast.PatternVar):
            piece = self.hole(domain)
            if not isinstance(piece, (Range, Blocks)):
                raise refuse("step-definition", f"${domain.name} does not stand for the bounds of a loop", domain.span)
            return self.placed_change(domain, piece, {}).domain(piece)
        low, high = self.term(domain.low), self.term(domain.high)
        return Blocks(low, high, self.term(domain.size)) if isinstance(domain, ast.Blocks) else Range(low, high)

    def term(self, expr: ast.Expr) -> Index:
        """An integer expression of `to`."""
        return index_of(expr, self.known_term)

    def known_term(self, expr: ast.Expr) -> Index | None:
        """What a leaf stands for; an exact quotient is remembered."""
        if isinstance(expr, ast.Binary) and expr.operator == "/":
            left, right = self.term(expr.left), self.term(expr.right)
            self.divided.append((left, right))
            return div(left, right)
        if isinstance(expr, (ast.PatternVar, ast.Substitute)):
            return self.hole_term(expr)
        part = block_part(expr)
        if part is not None:
            name, _, field_ = part.rpartition(".")
            return Var(f"{self.in_scope(name)}.{field_}")
        name_of = counter_name(expr)
        if name_of is None:
            return None
        if name_of in self.arguments.terms:
            return self.arguments.terms[name_of]
        return Var(self.in_scope(name_of))

    def hole_term(self, expr: ast.PatternVar | ast.Substitute) -> Index | None:
        var, by = self.taken_apart(expr)
        piece = self.hole(var)
        if isinstance(piece, Called):
            return Var(self.site.names.get(piece.name, piece.name))
        if not isinstance(piece, Term):
            return None
        return self.placed_change(var, piece, by).term(piece.term)

    def in_scope(self, written: str) -> str:
        """The name here of a counter written in the step. Raises StepError when none is in scope."""
        original = self.original(written)
        actual = self.site.names.get(original, original)
        if actual not in self.site.scope and written in self.arguments.names:
            raise refuse("scope", f"{actual} is no number, no constant and no loop around the place where the step uses it")
        if actual not in self.site.scope:
            raise refuse("scope", f"nothing binds {written} where the step uses it", None, "name a loop that stands around it")
        return actual

    def condition(self, expr: ast.Expr) -> Formula:
        if isinstance(expr, ast.PatternVar):
            piece = self.hole(expr)
            if isinstance(piece, Condition):
                return self.placed_change(expr, piece, {}).formula(piece.formula)
        return formula_of(expr, self.known_term)

    def type(self, expr: ast.Expr) -> str:
        if isinstance(expr, ast.PatternVar):
            piece = self.hole(expr)
            if isinstance(piece, Called):
                return piece.name
        if isinstance(expr, ast.Name):
            return expr.name
        raise refuse("step-definition", "an element type is a name or a `$` variable", expr.span)

    # --- cells and values ---

    def cell(self, place: ast.Expr) -> Cell:
        if isinstance(place, (ast.PatternVar, ast.Substitute)):
            var, by = self.taken_apart(place)
            piece = self.hole(var)
            if isinstance(piece, Cell):
                change = self.placed_change(var, piece, by)
                return Cell(change.name(piece.buffer), change.many(piece.index))
            return Cell(self.buffer(var), ())
        base, items = (place.base, place.items) if isinstance(place, ast.Index) else (place, ())
        return Cell(self.buffer(base), tuple(self.term(item) for item in items))

    def declared(self, original: str, written: str, expr: ast.Expr) -> str:
        """The name here of a buffer, a local or a running total. Raises StepError when it is none of them."""
        actual = self.site.names.get(original, original)
        if actual not in self.types:
            remedy = "name a buffer of the program, or a local of the step"
            raise refuse("scope", f"nothing declares {written} where the step uses it", expr.span, remedy)
        return actual

    def buffer(self, expr: ast.Expr) -> str:
        if isinstance(expr, ast.PatternVar):
            piece = self.hole(expr)
            if isinstance(piece, Called):
                return self.declared(piece.name, f"${expr.name}", expr)
        if isinstance(expr, ast.Name):
            return self.declared(self.arguments.name(expr.name), expr.name, expr)
        raise refuse("step-definition", "a cell is a `$` variable, a buffer or `buffer[…]`", expr.span)

    def value(self, expr: ast.Expr) -> Value:
        if isinstance(expr, ast.Load):
            cell = self.cell(expr.place)
            return Load(cell.buffer, cell.index)
        if isinstance(expr, ast.Fold):
            return self.fold(expr)
        if isinstance(expr, ast.IfExpr):
            return Choose(self.condition(expr.condition), self.value(expr.then), self.value(expr.otherwise))
        if isinstance(expr, (ast.PatternVar, ast.Substitute, ast.Index)):
            return self.piece(expr)
        if isinstance(expr, ast.Name):
            return Load(self.buffer(expr), ())
        name, args = operation_of(expr)
        if name is None:
            raise refuse("step-definition", "a step cannot build this value", expr.span)
        built = tuple(self.value(arg) for arg in args)
        if not built:
            raise refuse("step-definition", f"the type of {name} is not known here", expr.span, "match the value with a `$` variable")
        return Op(name, type_of(built[0], self.types), built)

    def piece(self, expr: ast.Expr) -> Value:
        """`$step`, `$step[$acc]`, `$step[$acc][k := e]`, `$acc` as values."""
        by: dict[str, Index] = {}
        while isinstance(expr, ast.Substitute):
            by.update(self.rebound(expr.bindings))
            expr = expr.base
        total: Value | None = None
        if isinstance(expr, ast.Index) and isinstance(expr.base, ast.PatternVar) and len(expr.items) == 1:
            total, expr = self.value(expr.items[0]), expr.base
        if not isinstance(expr, ast.PatternVar):
            raise refuse("step-definition", "`[…]` stands behind a `$` variable that matched the step of a fold", expr.span)
        found = self.hole(expr)
        if isinstance(found, Called):
            return Load(self.declared(found.name, f"${expr.name}", expr), ())
        if not isinstance(found, Piece):
            raise refuse("step-definition", f"${expr.name} does not stand for a value", expr.span)
        return self.placed_value(expr, found, by, total)

    def placed_value(self, var: ast.PatternVar, piece: Piece, by: Mapping[str, Index], total: Value | None) -> Value:
        if total is not None and piece.total is None:
            raise refuse("step-definition", f"${var.name} is not the step of a fold: it has no running total", var.span)
        change = self.placed_change(var, piece, by)
        value = change.value(piece.value)
        if piece.total is None:
            return self.unbound_value(var, value)
        if total is None:
            if change.name(piece.total) not in self.site.scope:
                text = f"${var.name} mentions its running total, which nothing binds where the step uses it"
                raise refuse("scope", text, var.span, f"say what the total is: ${var.name}[…]")
            return value
        return Change({}, _replacing(change.name(piece.total), total)).value(value)

    def unbound_value(self, var: ast.PatternVar, value: Value) -> Value:
        """A value whose own folds are renamed when it is used a second time."""
        inner = bound_in_value(value)
        if var.name not in self.placed or not inner:
            self.placed.add(var.name)
            return value
        names = {name: fresh(name, self.used) for name in inner}
        self.used |= frozenset(names.values())
        return renaming(names).value(value)

    def fold(self, expr: ast.Fold) -> Fold:
        domain, init, elem = self.domain(expr.domain), self.value(expr.start), self.type(expr.type)
        counter = self.binder(expr.index, expr.span)
        with self.binding(expr.index, counter):
            total = self.binder(expr.accumulator, expr.span)
            self.types[total] = elem
            with self.binding(expr.accumulator, total):
                return Fold(counter, domain, init, total, elem, self.value(expr.body))


def _replacing(total: str, value: Value) -> Callable[[Load], Value]:
    def replaced(load: Load) -> Value:
        return value if load.buffer == total and not load.index else load

    return replaced
