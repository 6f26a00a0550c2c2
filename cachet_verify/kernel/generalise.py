"""A stronger, linear obligation for one with products of variables or symbolic divisors.

Takes an obligation; gives one whose validity implies it. Products become variables of their own,
quotients by a symbolic positive divisor are named with their defining bounds, and instances of
the block lemma are added: for `B >= 0`, `u < v` implies `u*B + B <= v*B`, and `u <= v` implies `u*B <= v*B`. Must not weaken: every
premise it adds is true of the products it names, so what holds for all values of the new
variables holds for those. A model of it says nothing about the original.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import permutations

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
    Or,
    Product,
    Sum,
    Truth,
    Var,
    add,
    compare,
    conj,
    disj,
    div,
    eq,
    implies,
    le,
    lt,
    maximum,
    minimum,
    mul,
    neg,
)
from cachet_verify.kernel.obligation import Failed, Obligation, Proved, Undecided, Verdict
from cachet_verify.kernel.tighten import tighten

_MOST_LEMMAS = 3000
"""Instances beyond this many are left out, whole blocks at a time: fewer premises prove less, never more."""

Monomial = tuple[str, ...]
Polynomial = dict[Monomial, int]
BLOCK_LEMMAS = (
    Obligation(
        "the block lemma",
        (le(ZERO, Var("B")), le(ZERO, Var("w"))),
        le(add(Product(Var("u"), Var("B")), Var("B")), Product(add(Var("u"), Var("w"), ONE), Var("B"))),
    ),
    Obligation(
        "the monotone lemma",
        (le(ZERO, Var("B")), le(ZERO, Var("w"))),
        le(Product(Var("u"), Var("B")), Product(add(Var("u"), Var("w")), Var("B"))),
    ),
)
"""What the instances are instances of, with `v` as `u + w + 1` and `u + w`; the tests ask both solvers."""


def is_nonlinear(obligation: Obligation) -> bool:
    """Whether a product of two variables or a divisor that is not a literal occurs."""
    stack: list[Formula | Index] = [*obligation.premises, obligation.goal]
    while stack:
        node = stack.pop()
        if isinstance(node, (Const, Var, Truth)):
            continue
        if isinstance(node, (And, Or)):
            stack.extend(node.parts)
        elif isinstance(node, Sum):
            stack.extend(node.terms)
        elif isinstance(node, Not):
            stack.append(node.body)
        elif isinstance(node, Product) and isinstance(node.left, Const):
            stack.append(node.right)
        elif isinstance(node, (Div, Mod)) and isinstance(node.right, Const):
            stack.append(node.left)
        elif isinstance(node, (Compare, Min, Max)):
            stack.extend((node.left, node.right))
        else:
            return True
    return False


def generalise(obligation: Obligation) -> Obligation:
    """The linear obligation; the obligation itself where nothing is nonlinear."""
    if not is_nonlinear(obligation):
        return obligation
    naming = _Naming()
    premises = [naming.formula(premise) for premise in obligation.premises]
    goal = naming.formula(obligation.goal)
    facts = [*premises, *naming.definitions, *naming.lemmas()]
    return Obligation(obligation.subject, tuple(dict.fromkeys(facts)), goal, can_refute=False)


def rounded(obligation: Obligation) -> Obligation:
    """The linear obligation, with sums of its premises rounded. One that means the same where nothing is nonlinear."""
    return generalise(tighten(obligation))


def lift(obligation: Obligation, verdict: Verdict) -> Verdict:
    """The verdict on an obligation that a verdict on its linear form gives. Raises ValueError for a verdict on something else."""
    return _lifted(obligation, generalise(obligation), verdict)


def lift_rounded(obligation: Obligation, verdict: Verdict) -> Verdict:
    """As `lift`, for the form with rounded sums."""
    return _lifted(obligation, rounded(obligation), verdict)


def _lifted(obligation: Obligation, linear: Obligation, verdict: Verdict) -> Verdict:
    """Proved, or undecided; refuted too where nothing was nonlinear.

    The premises that were added then follow from the others, so a model of one is a model of both.
    """
    if verdict.digest != linear.digest():
        raise ValueError("the verdict is not on the generalised obligation")
    if isinstance(verdict, Proved):
        return Proved(obligation.digest(), verdict.answers)
    if isinstance(verdict, Failed):
        return Failed(obligation.digest(), verdict.reason, verdict.answers)
    if not is_nonlinear(obligation):
        return replace(verdict, digest=obligation.digest())
    return Undecided(obligation.digest(), "incomplete", verdict.answers)


class _Naming:
    """Names products and quotients, and collects what is true of them."""

    def __init__(self) -> None:
        self.definitions: list[Formula] = []
        self.products: dict[Monomial, None] = {}
        self.quotients: dict[tuple[Index, Index], str] = {}
        self.negated: dict[str, None] = {}
        self.factors: dict[Index, tuple[Polynomial, dict[Index, Polynomial]]] = {}
        self.above: dict[Index, dict[Index, Polynomial]] = {}

    def formula(self, formula: Formula) -> Formula:
        if isinstance(formula, Truth):
            return formula
        if isinstance(formula, Compare):
            left, right = self.polynomial(formula.left), self.polynomial(formula.right)
            if formula.relation in ("<", "<="):
                self.bound(left, right)
            return compare(formula.relation, self.linear(left), self.linear(right))
        if isinstance(formula, Not):
            return neg(self.formula(formula.body))
        if isinstance(formula, And):
            return conj(self.formula(part) for part in formula.parts)
        return disj(self.formula(part) for part in formula.parts)

    def term(self, term: Index) -> Index:
        return self.linear(self.polynomial(term))

    def linear(self, polynomial: Polynomial) -> Index:
        """A polynomial as a linear term over variables and named products."""
        parts: list[Index] = []
        for monomial, weight in sorted(polynomial.items()):
            if not monomial:
                parts.append(Const(weight))
                continue
            if len(monomial) > 1:
                self.products[monomial] = None
            parts.append(mul(Const(weight), Var("*".join(monomial))))
        return add(*parts)

    def polynomial(self, term: Index) -> Polynomial:
        if isinstance(term, Const):
            return {(): term.value} if term.value else {}
        if isinstance(term, Var):
            return {(term.name,): 1}
        if isinstance(term, Sum):
            return _summed(self.polynomial(part) for part in term.terms)
        if isinstance(term, Product):
            return self.product([self.polynomial(factor) for factor in _flat(term)])
        if isinstance(term, Div):
            return {(self.quotient(term.left, term.right),): 1}
        if isinstance(term, Mod):
            quotient: Polynomial = {(self.quotient(term.left, term.right),): 1}
            taken = _multiplied(quotient, self.polynomial(term.right))
            rest = _summed((self.polynomial(term.left), {monomial: -weight for monomial, weight in taken.items()}))
            self.bound(rest, self.polynomial(term.right))
            return rest
        one, other = self.term(term.left), self.term(term.right)
        made = minimum(one, other) if isinstance(term, Min) else maximum(one, other)
        if isinstance(made, Const):
            return {(): made.value} if made.value else {}
        return {(self.named(made, ("least" if isinstance(term, Min) else "most")),): 1}

    def product(self, factors: list[Polynomial]) -> Polynomial:
        """A product, with every run of its factors noted as a block of what stands right before or after it."""
        runs: dict[tuple[int, int], Polynomial] = {}
        for start in range(len(factors)):
            total: Polynomial = {(): 1}
            for end in range(start, len(factors)):
                total = runs[start, end + 1] = _multiplied(total, factors[end])
        for start, middle in runs:
            for end in range(middle + 1, len(factors) + 1):
                self.factor(runs[start, middle], runs[middle, end])
                self.factor(runs[middle, end], runs[start, middle])
        return runs[0, len(factors)]

    def factor(self, cofactor: Polynomial, block: Polynomial) -> None:
        """Note that a product was written as a cofactor of a block, neither of them a number."""
        if set(cofactor) <= {()} or set(block) <= {()}:
            return
        _, cofactors = self.factors.setdefault(self.linear(block), (block, {}))
        cofactors[self.linear(cofactor)] = cofactor

    def bound(self, term: Polynomial, above: Polynomial) -> None:
        """Note that a term was compared with one that is to be above it."""
        self.above.setdefault(self.linear(term), {})[self.linear(above)] = above

    def named(self, made: Index, word: str) -> str:
        """A variable that equals a linear term."""
        key = (made, ONE)
        if key not in self.quotients:
            name = self.quotients[key] = f"{word}!{len(self.quotients)}"
            self.definitions.append(eq(Var(name), made))
        return self.quotients[key]

    def quotient(self, left: Index, right: Index) -> str:
        """A variable for a floor quotient, with the bounds that define it."""
        dividend, divisor = self.term(left), self.term(right)
        key = (dividend, divisor)
        if key in self.quotients:
            return self.quotients[key]
        name = self.quotients[key] = f"quotient!{len(self.quotients)}"
        if isinstance(divisor, Const) and divisor.value != 0:
            self.definitions.append(eq(Var(name), div(dividend, divisor)))
            self.negated[name] = None
            return name
        self.factor({(name,): 1}, self.polynomial(right))
        whole = self.linear(_multiplied({(name,): 1}, self.polynomial(right)))
        bounds = conj((le(whole, dividend), lt(dividend, add(whole, divisor))))
        self.definitions.append(implies(lt(ZERO, divisor), bounds))
        self.negated[name] = None
        return name

    def lemmas(self) -> list[Formula]:
        """Instances of the lemmas: of variables, for every two cofactors, and of blocks as they are written."""
        found: list[Formula] = []
        for block, terms in (*self.variable_blocks(), *self.written_blocks()):
            if len(found) > _MOST_LEMMAS:
                break
            found.extend(self.instance(block, low, high) for low, high in permutations(terms, 2))
        return list(dict.fromkeys(found))

    def written_blocks(self) -> list[tuple[Polynomial, list[Polynomial]]]:
        """Blocks that are no variable, with the cofactors they are written with and what those stay below."""
        found = []
        for block, cofactors in self.factors.values():
            is_variable = len(block) == 1 and all(len(monomial) == 1 and weight == 1 for monomial, weight in block.items())
            if is_variable and all(len(cofactor) == 1 for cofactor in cofactors.values()):
                continue
            terms: dict[Index, Polynomial] = {ZERO: {}}
            for term, cofactor in cofactors.items():
                terms[term] = cofactor
                terms.update(self.above.get(term, {}))
            found.append((block, list(terms.values())))
        return found

    def variable_blocks(self) -> list[tuple[Polynomial, list[Polynomial]]]:
        """Each variable of a product, with all it is multiplied by, and the numbers next to 0."""
        cofactors: dict[str, dict[Monomial, None]] = {}
        for monomial in self.products:
            for place, name in enumerate(monomial):
                cofactors.setdefault(name, {})[monomial[:place] + monomial[place + 1 :]] = None
        found = []
        for block, others in sorted(cofactors.items()):
            terms: list[Polynomial] = [{}, {(): -1}, {(): 1}]
            for monomial in others:
                terms.append({monomial: 1})
                if len(monomial) == 1 and monomial[0] in self.negated:
                    terms.append({monomial: -1})
            size: Polynomial = {(block,): 1}
            terms += [above for above in self.bounds_of(others) if set(_multiplied(above, size)) <= {*self.products, (block,)}]
            found.append((size, terms))
        return found

    def bounds_of(self, cofactors: Iterable[Monomial]) -> list[Polynomial]:
        """What cofactors were compared with, where that is neither a number nor a cofactor itself."""
        found: dict[Index, Polynomial] = {}
        for monomial in cofactors:
            found.update(self.above.get(self.linear({monomial: 1}), {}))
        return [above for above in found.values() if len(above) > 1 or any(monomial and weight != 1 for monomial, weight in above.items())]

    def instance(self, block: Polynomial, low: Polynomial, high: Polynomial) -> Formula:
        low_whole, high_whole = _multiplied(low, block), _multiplied(high, block)
        small, large = self.linear(low), self.linear(high)
        return implies(
            le(ZERO, self.linear(block)),
            conj(
                (
                    implies(lt(small, large), le(self.linear(_summed((low_whole, block))), self.linear(high_whole))),
                    implies(le(small, large), le(self.linear(low_whole), self.linear(high_whole))),
                )
            ),
        )


def _flat(term: Index) -> list[Index]:
    """The factors of a product, in the order written."""
    if isinstance(term, Product):
        return [*_flat(term.left), *_flat(term.right)]
    return [term]


def _summed(parts: Iterable[Polynomial]) -> Polynomial:
    total: Polynomial = {}
    for part in parts:
        for monomial, weight in part.items():
            total[monomial] = total.get(monomial, 0) + weight
    return {monomial: weight for monomial, weight in total.items() if weight}


def _multiplied(left: Polynomial, right: Polynomial) -> Polynomial:
    product: Polynomial = {}
    for first, weight in left.items():
        for second, other in right.items():
            monomial = tuple(sorted((*first, *second)))
            product[monomial] = product.get(monomial, 0) + weight * other
    return {monomial: weight for monomial, weight in product.items() if weight}
