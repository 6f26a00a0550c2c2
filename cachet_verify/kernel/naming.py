"""Quotients, extremes, sums and products of integer terms under names of their own, with what defines them.

Takes terms and formulas; gives polynomials over names, and linear terms in which a product is a name. Must not lose
anything: each definition it collects is true of what the name stands for.
"""

from __future__ import annotations

from collections.abc import Iterable

from cachet_verify.core.index import (
    ONE,
    ZERO,
    And,
    Compare,
    Const,
    Div,
    Formula,
    Index,
    Max,
    Min,
    Mod,
    Not,
    Product,
    Sum,
    Truth,
    Var,
    add,
    compare,
    conj,
    disj,
    eq,
    implies,
    le,
    lt,
    maximum,
    minimum,
    mul,
    neg,
)

Monomial = tuple[str, ...]
Polynomial = dict[Monomial, int]


class Naming:
    """Names quotients, extremes and products, and collects what defines them."""

    def __init__(self) -> None:
        self.definitions: list[Formula] = []
        self.units: dict[tuple[str, Index, Index], str] = {}
        self.rounded: dict[str, int] = {}
        """The divisor of a named quotient, where it is a number."""

    def formula(self, formula: Formula) -> Formula:
        """A formula in which every comparison is of linear terms."""
        if isinstance(formula, Truth):
            return formula
        if isinstance(formula, Compare):
            return compare(formula.relation, self.linear(self.polynomial(formula.left)), self.linear(self.polynomial(formula.right)))
        if isinstance(formula, Not):
            return neg(self.formula(formula.body))
        parts = [self.formula(part) for part in formula.parts]
        return conj(parts) if isinstance(formula, And) else disj(parts)

    def linear(self, polynomial: Polynomial) -> Index:
        """A polynomial as a linear term over variables and named products."""
        return add(*(mul(Const(weight), product_of(monomial)) for monomial, weight in sorted(polynomial.items())))

    def polynomial(self, term: Index) -> Polynomial:
        """A term as a sum of products of names, each with its weight."""
        if isinstance(term, Const):
            return {(): term.value} if term.value else {}
        if isinstance(term, Var):
            return {(term.name,): 1}
        if isinstance(term, Sum):
            return summed(self.polynomial(part) for part in term.terms)
        if isinstance(term, Product):
            return self.product([self.polynomial(factor) for factor in _flat(term)])
        left, right = self.polynomial(term.left), self.polynomial(term.right)
        if isinstance(term, Div):
            return self.quotient(left, right)
        if isinstance(term, Mod):
            return summed((left, scaled(multiplied(self.quotient(left, right), right), -1)))
        return self.extreme(term, left, right)

    def product(self, factors: list[Polynomial]) -> Polynomial:
        """A product: a sum among its factors has a name, and the product is what multiplying out gives."""
        whole: Polynomial = {(): 1}
        short: Polynomial = {(): 1}
        for factor in factors:
            whole = multiplied(whole, factor)
            short = multiplied(short, self.named(factor, "sum") if len(factor) > 1 else factor)
        if len(short) == 1 and len(whole) > 1 and len(next(iter(short))) > 1:
            self.definitions.append(eq(self.linear(short), self.linear(whole)))
            return short
        return whole

    def named(self, polynomial: Polynomial, word: str) -> Polynomial:
        """A sum under a name."""
        made = self.linear(polynomial)
        key = (word, made, ONE)
        if key not in self.units:
            self.units[key] = f"{word}!{len(self.units)}"
            self.definitions.append(eq(Var(self.units[key]), made))
        return {(self.units[key],): 1}

    def quotient(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """A floor quotient; that of a term with negative weights alone is minus one rounded up, which has the name."""
        is_ceil = bool(left) and all(weight < 0 for weight in left.values())
        top, bottom = self.linear(scaled(left, -1) if is_ceil else left), self.linear(right)
        key = ("ceil" if is_ceil else "floor", top, bottom)
        if key not in self.units:
            name = self.units[key] = f"{key[0]}!{len(self.units)}"
            if isinstance(bottom, Const):
                self.rounded[name] = bottom.value
            whole = self.linear(multiplied({(name,): 1}, right))
            ends = (le(top, whole), lt(whole, add(top, bottom))) if is_ceil else (le(whole, top), lt(top, add(whole, bottom)))
            self.definitions.append(implies(lt(ZERO, bottom), conj(ends)))
            natural = conj((le(ZERO, Var(name)), le(Var(name), top)))
            self.definitions.append(implies(conj((lt(ZERO, bottom), le(ZERO, top))), natural))
        return {(self.units[key],): -1 if is_ceil else 1}

    def extreme(self, term: Min | Max, left: Polynomial, right: Polynomial) -> Polynomial:
        """A smaller or larger of two terms, under a name."""
        one, other = self.linear(left), self.linear(right)
        made = minimum(one, other) if isinstance(term, Min) else maximum(one, other)
        if isinstance(made, Const):
            return {(): made.value} if made.value else {}
        key = ("extreme", made, ONE)
        if key not in self.units:
            self.units[key] = f"extreme!{len(self.units)}"
            self.definitions.append(eq(Var(self.units[key]), made))
        return {(self.units[key],): 1}


def _flat(term: Index) -> list[Index]:
    """The factors of a product, in the order written."""
    return [*_flat(term.left), *_flat(term.right)] if isinstance(term, Product) else [term]


def product_of(monomial: Monomial) -> Index:
    """The name of a product; 1 for the empty one."""
    return Var("*".join(monomial)) if monomial else ONE


def summed(parts: Iterable[Polynomial]) -> Polynomial:
    """The sum of polynomials."""
    total: Polynomial = {}
    for part in parts:
        for monomial, weight in part.items():
            total[monomial] = total.get(monomial, 0) + weight
    return {monomial: weight for monomial, weight in total.items() if weight}


def scaled(polynomial: Polynomial, by: int) -> Polynomial:
    """A number times a polynomial."""
    return {monomial: weight * by for monomial, weight in polynomial.items()}


def multiplied(left: Polynomial, right: Polynomial) -> Polynomial:
    """The product of two polynomials."""
    product: Polynomial = {}
    for first, weight in left.items():
        for second, other in right.items():
            monomial = tuple(sorted((*first, *second)))
            product[monomial] = product.get(monomial, 0) + weight * other
    return {monomial: weight for monomial, weight in product.items() if weight}
