"""Core terms and conditions back to syntax, with `g[k]` for an index inside a block.

Takes a program's loops and a term; gives an expression that elaborates to the same term, its
sum perhaps in another order. Must not simplify.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from cachet_verify.core.index import (
    ZERO,
    And,
    Compare,
    Const,
    Div,
    Formula,
    Index,
    Min,
    Mod,
    Not,
    Product,
    Sum,
    Truth,
    Var,
    conjuncts,
    negate,
)
from cachet_verify.core.ir import Blocks, Domain
from cachet_verify.syntax import ast


@dataclass(slots=True)
class TermLifter:
    """Knows the blocks that are open and which counter counts inside which block."""

    exact: frozenset[tuple[Index, Index]] = frozenset()
    depth: dict[str, int] = field(default_factory=dict)
    inside: dict[str, str] = field(default_factory=dict)

    def enter(self, counter: str, domain: Domain) -> None:
        """Note a loop, by its counter or the name of its block."""
        if isinstance(domain, Blocks):
            self.depth[counter] = len(self.depth)
        if domain.low == ZERO and isinstance(domain.high, Var) and domain.high.name.endswith(".len"):
            self.inside[counter] = domain.high.name.removesuffix(".len")

    def term(self, term: Index) -> ast.Expr:
        """A term as an expression."""
        if isinstance(term, Const):
            return number(term.value)
        if isinstance(term, Var):
            return self.variable(term.name)
        if isinstance(term, Sum):
            return self.sum(term)
        if isinstance(term, Product):
            return self.product(term)
        if isinstance(term, Div):
            quotient = ast.Binary("/", self.term(term.left), self.term(term.right))
            return quotient if self.is_exact(term) else call("floor", quotient)
        if isinstance(term, Mod):
            return ast.Binary("%", self.term(term.left), self.term(term.right))
        return call("min" if isinstance(term, Min) else "max", self.term(term.left), self.term(term.right))

    def is_exact(self, term: Div) -> bool:
        """Whether a requirement says that a quotient is whole: of this divisor, or of a multiple of it."""
        multiples = (by for left, by in self.exact if left == term.left)
        divisor = term.right
        return any(
            by == divisor or (isinstance(by, Const) and isinstance(divisor, Const) and divisor.value > 0 and by.value % divisor.value == 0)
            for by in multiples
        )

    def variable(self, name: str) -> ast.Expr:
        """A size, a counter, or a part of a block."""
        base, dot, part = name.rpartition(".")
        return ast.Field(ast.Name(base), part) if dot else ast.Name(name)

    def product(self, term: Product) -> ast.Expr:
        """A product; minus a term, and a quotient rounded up, in their own notation."""
        if term.left == Const(-1):
            if isinstance(term.right, Div) and _is_rounded_up(term.right):
                return call("ceil", ast.Binary("/", self.term(negate(term.right.left)), self.term(term.right.right)))
            return ast.Unary("-", self.term(term.right))
        if isinstance(term.left, Const) and term.left.value < 0 and isinstance(term.right, Div) and _is_rounded_up(term.right):
            return ast.Binary("*", number(-term.left.value), self.product(Product(Const(-1), term.right)))
        return ast.Binary("*", self.term(term.left), self.term(term.right))

    def sum(self, term: Sum) -> ast.Expr:
        """A sum: the first index of each block is joined with the index counted inside it."""
        parts: list[tuple[str, ast.Expr, bool]] = []
        for part in term.terms:
            key = part.name if isinstance(part, Var) else ""
            is_minus = _is_negative(part)
            parts.append((key, self.term(negate(part) if is_minus else part), is_minus))
        blocks = sorted(self.depth, key=lambda name: -self.depth[name])
        for block in blocks:
            self.join(block, parts)
        _, total, is_minus = parts[0]
        if is_minus:
            total = ast.Unary("-", total)
        for _, shown, is_minus in parts[1:]:
            total = ast.Binary("-" if is_minus else "+", total, shown)
        return total

    def join(self, block: str, parts: list[tuple[str, ast.Expr, bool]]) -> None:
        """Replace `g.lo` and the index counted inside `g` by `g[k]`; `g.lo` alone goes on as an index itself."""
        start = next((place for place, part in enumerate(parts) if part[0] == f"{block}.lo"), None)
        if start is None:
            return
        member = next((place for place, part in enumerate(parts) if self.inside.get(part[0]) == block and not part[2]), None)
        if member is None:
            parts[start] = (block, parts[start][1], parts[start][2])
            return
        parts[start] = (block, ast.Index(ast.Name(block), (parts[member][1],)), False)
        del parts[member]

    def formula(self, formula: Formula) -> ast.Expr:
        """A condition as an expression."""
        if isinstance(formula, Truth):
            return ast.BoolLit(formula.value)
        if isinstance(formula, Compare):
            return self.comparison(formula)
        if isinstance(formula, Not):
            return ast.Unary("not", self.formula(formula.body))
        return _joined("and" if isinstance(formula, And) else "or", [self.formula(part) for part in formula.parts])

    def comparison(self, formula: Compare) -> ast.Expr:
        """A comparison; a number stands on the right of `<`."""
        if isinstance(formula.left, Const) and formula.relation in ("<", "<="):
            flipped = ">" if formula.relation == "<" else ">="
            return ast.Binary(flipped, self.term(formula.right), self.term(formula.left))
        return ast.Binary(formula.relation, self.term(formula.left), self.term(formula.right))


def exact_quotients(conditions: Iterable[Formula]) -> frozenset[tuple[Index, Index]]:
    """The quotients that requirements such as `N % 8 == 0` make exact."""
    found = set()
    for condition in conditions:
        for part in conjuncts(condition):
            if isinstance(part, Compare) and part.relation == "==" and isinstance(part.left, Mod) and part.right == ZERO:
                found.add((part.left.left, part.left.right))
    return frozenset(found)


def number(value: int) -> ast.Expr:
    """An integer as an expression."""
    return ast.IntLit(value) if value >= 0 else ast.Unary("-", ast.IntLit(-value))


def call(name: str, *args: ast.Expr) -> ast.Apply:
    """A call by name."""
    return ast.Apply(ast.Name(name), (), args)


def _is_negative(term: Index) -> bool:
    if isinstance(term, Const):
        return term.value < 0
    is_rounded_up = isinstance(term, Product) and isinstance(term.right, Div) and _is_rounded_up(term.right)
    return isinstance(term, Product) and isinstance(term.left, Const) and term.left.value < 0 and not is_rounded_up


def _is_rounded_up(quotient: Div) -> bool:
    """Whether minus this quotient is one rounded up: its dividend starts with a minus."""
    first = quotient.left.terms[0] if isinstance(quotient.left, Sum) else quotient.left
    return _is_negative(first)


def _joined(operator: str, parts: list[ast.Expr]) -> ast.Expr:
    total = parts[0]
    for part in parts[1:]:
        total = ast.Binary(operator, total, part)
    return total
