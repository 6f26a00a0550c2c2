"""Integer terms and the formulas over them: bounds, indices, guards, side conditions.

Takes nothing from the rest of the package; gives immutable terms, constructors that fold
constants, substitution and evaluation. Must not know about programs, words or solvers.

Terms are mathematical integers. `Div` is floor division and `Mod` its remainder, for all sign
pairs; a divisor that can be zero is its own obligation (`divisors`). There are no binders, so
substitution cannot capture.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Const:
    """An integer literal."""

    value: int


@dataclass(frozen=True, slots=True)
class Var:
    """A size, a constant kept symbolic, or a loop counter, by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of two or more terms."""

    terms: tuple[Index, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """The product of two terms."""

    left: Index
    right: Index


@dataclass(frozen=True, slots=True)
class Div:
    """Floor division."""

    left: Index
    right: Index


@dataclass(frozen=True, slots=True)
class Mod:
    """The remainder of floor division: it has the sign of the divisor."""

    left: Index
    right: Index


@dataclass(frozen=True, slots=True)
class Min:
    """The smaller of two terms."""

    left: Index
    right: Index


@dataclass(frozen=True, slots=True)
class Max:
    """The larger of two terms."""

    left: Index
    right: Index


Index = Const | Var | Sum | Product | Div | Mod | Min | Max
Binary = (Product, Div, Mod, Min, Max)
Relation = Literal["==", "!=", "<=", "<"]


@dataclass(frozen=True, slots=True)
class Truth:
    """A constant formula."""

    value: bool


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison of two terms."""

    relation: Relation
    left: Index
    right: Index


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of a formula."""

    body: Formula


@dataclass(frozen=True, slots=True)
class And:
    """The conjunction of two or more formulas."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """The disjunction of two or more formulas."""

    parts: tuple[Formula, ...]


Formula = Truth | Compare | Not | And | Or

TRUE = Truth(True)
FALSE = Truth(False)
ZERO = Const(0)
ONE = Const(1)


def add(*terms: Index) -> Index:
    """Add terms, flattening sums and folding constants; the constant, if any, stands last."""
    flat: list[Index] = []
    constant = 0
    for term in terms:
        for part in term.terms if isinstance(term, Sum) else (term,):
            if isinstance(part, Const):
                constant += part.value
            else:
                flat.append(part)
    if constant or not flat:
        flat.append(Const(constant))
    return flat[0] if len(flat) == 1 else Sum(tuple(flat))


def mul(left: Index, right: Index) -> Index:
    """Multiply two terms, folding constants; a constant factor stands first."""
    if isinstance(right, Const):
        left, right = right, left
    if isinstance(left, Const):
        if isinstance(right, Const):
            return Const(left.value * right.value)
        if left.value == 0:
            return ZERO
        if left.value == 1:
            return right
        if isinstance(right, Product) and isinstance(right.left, Const):
            return mul(Const(left.value * right.left.value), right.right)
    return Product(left, right)


def negate(term: Index) -> Index:
    """Minus a term."""
    return mul(Const(-1), term)


def sub(left: Index, right: Index) -> Index:
    """The difference of two terms."""
    if left == right:
        return ZERO
    if isinstance(right, Sum):
        return add(left, *(negate(part) for part in right.terms))
    return add(left, negate(right))


def div(left: Index, right: Index) -> Index:
    """Floor division; folds literals with a divisor that is not zero."""
    if isinstance(right, Const) and right.value != 0:
        if isinstance(left, Const):
            return Const(left.value // right.value)
        if right.value == 1:
            return left
    return Div(left, right)


def mod(left: Index, right: Index) -> Index:
    """The remainder of floor division; folds literals with a divisor that is not zero."""
    if isinstance(right, Const) and right.value != 0:
        if isinstance(left, Const):
            return Const(left.value % right.value)
        if right.value == 1:
            return ZERO
    return Mod(left, right)


def ceil_div(left: Index, right: Index) -> Index:
    """The quotient rounded up, as `-floor(-left / right)`."""
    return negate(div(negate(left), right))


def minimum(left: Index, right: Index) -> Index:
    """The smaller of two terms; folds literals."""
    if isinstance(left, Const) and isinstance(right, Const):
        return Const(min(left.value, right.value))
    return left if left == right else Min(left, right)


def maximum(left: Index, right: Index) -> Index:
    """The larger of two terms; folds literals."""
    if isinstance(left, Const) and isinstance(right, Const):
        return Const(max(left.value, right.value))
    return left if left == right else Max(left, right)


_HOLDS = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<=": lambda a, b: a <= b,
    "<": lambda a, b: a < b,
}


def compare(relation: Relation, left: Index, right: Index) -> Formula:
    """A comparison; folds literals and equal sides."""
    if isinstance(left, Const) and isinstance(right, Const):
        return Truth(_HOLDS[relation](left.value, right.value))
    if left == right:
        return Truth(relation in ("==", "<="))
    return Compare(relation, left, right)


def eq(left: Index, right: Index) -> Formula:
    """Equality of two terms."""
    return compare("==", left, right)


def ne(left: Index, right: Index) -> Formula:
    """Inequality of two terms."""
    return compare("!=", left, right)


def le(left: Index, right: Index) -> Formula:
    """`left <= right`."""
    return compare("<=", left, right)


def lt(left: Index, right: Index) -> Formula:
    """`left < right`; a minimum that is added on the right becomes two comparisons."""
    if isinstance(right, Min):
        return conj((lt(left, right.left), lt(left, right.right)))
    if isinstance(right, Sum):
        for place, part in enumerate(right.terms):
            if isinstance(part, Min):
                rest = right.terms[:place] + right.terms[place + 1 :]
                return conj((lt(left, add(part.left, *rest)), lt(left, add(part.right, *rest))))
    return compare("<", left, right)


def conj(parts: Iterable[Formula]) -> Formula:
    """The conjunction: flat, without repeats, true when empty."""
    flat: dict[Formula, None] = {}
    for part in parts:
        if isinstance(part, Truth):
            if not part.value:
                return FALSE
        elif isinstance(part, And):
            flat.update(dict.fromkeys(part.parts))
        else:
            flat[part] = None
    if not flat:
        return TRUE
    return next(iter(flat)) if len(flat) == 1 else And(tuple(flat))


def disj(parts: Iterable[Formula]) -> Formula:
    """The disjunction: flat, without repeats, false when empty."""
    flat: dict[Formula, None] = {}
    for part in parts:
        if isinstance(part, Truth):
            if part.value:
                return TRUE
        elif isinstance(part, Or):
            flat.update(dict.fromkeys(part.parts))
        else:
            flat[part] = None
    if not flat:
        return FALSE
    return next(iter(flat)) if len(flat) == 1 else Or(tuple(flat))


def neg(body: Formula) -> Formula:
    """The negation, pushed into a single comparison."""
    if isinstance(body, Truth):
        return Truth(not body.value)
    if isinstance(body, Not):
        return body.body
    if isinstance(body, Compare):
        if body.relation == "==":
            return Compare("!=", body.left, body.right)
        if body.relation == "!=":
            return Compare("==", body.left, body.right)
        if body.relation == "<=":
            return Compare("<", body.right, body.left)
        return Compare("<=", body.right, body.left)
    return Not(body)


def implies(premise: Formula, conclusion: Formula) -> Formula:
    """Material implication."""
    return disj((neg(premise), conclusion))


def all_equal(left: Iterable[Index], right: Iterable[Index]) -> Formula:
    """Equality of two tuples of terms of one length."""
    return conj(eq(a, b) for a, b in zip(left, right, strict=True))


def conjuncts(formula: Formula) -> tuple[Formula, ...]:
    """The parts of a conjunction; none for truth."""
    if isinstance(formula, And):
        return formula.parts
    if isinstance(formula, Truth) and formula.value:
        return ()
    return (formula,)


Substitution = Mapping[str, Index]


def substitute(term: Index, by: Substitution) -> Index:
    """Replace variables by terms, all at once."""
    if isinstance(term, Var):
        return by.get(term.name, term)
    if isinstance(term, Const):
        return term
    if isinstance(term, Sum):
        return add(*(substitute(part, by) for part in term.terms))
    return _REBUILD[type(term)](substitute(term.left, by), substitute(term.right, by))


_REBUILD = {Product: mul, Div: div, Mod: mod, Min: minimum, Max: maximum}


def substitute_formula(formula: Formula, by: Substitution) -> Formula:
    """Replace variables by terms in a formula."""
    if isinstance(formula, Truth):
        return formula
    if isinstance(formula, Compare):
        left, right = substitute(formula.left, by), substitute(formula.right, by)
        return lt(left, right) if formula.relation == "<" else compare(formula.relation, left, right)
    if isinstance(formula, Not):
        return neg(substitute_formula(formula.body, by))
    if isinstance(formula, And):
        return conj(substitute_formula(part, by) for part in formula.parts)
    return disj(substitute_formula(part, by) for part in formula.parts)


def subterms(node: Index | Formula) -> Iterator[Index]:
    """Every integer term in a term or formula, outermost first."""
    stack: list[Index | Formula] = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, (And, Or)):
            stack.extend(reversed(item.parts))
        elif isinstance(item, Not):
            stack.append(item.body)
        elif isinstance(item, Compare):
            stack.extend((item.right, item.left))
        elif not isinstance(item, Truth):
            yield item
            if isinstance(item, Sum):
                stack.extend(reversed(item.terms))
            elif isinstance(item, Binary):
                stack.extend((item.right, item.left))


def variables(node: Index | Formula) -> frozenset[str]:
    """The names of the variables that occur."""
    return frozenset(term.name for term in subterms(node) if isinstance(term, Var))


def divisors(node: Index | Formula) -> tuple[Index, ...]:
    """Every divisor that is not a non-zero literal, in order, without repeats."""
    found: dict[Index, None] = {}
    for term in subterms(node):
        if isinstance(term, (Div, Mod)) and not (isinstance(term.right, Const) and term.right.value != 0):
            found[term.right] = None
    return tuple(found)


Valuation = Mapping[str, int]


def evaluate(term: Index, at: Valuation) -> int:
    """The value of a term. Raises KeyError for a variable without a value, ZeroDivisionError."""
    if isinstance(term, Const):
        return term.value
    if isinstance(term, Var):
        return at[term.name]
    if isinstance(term, Sum):
        return sum(evaluate(part, at) for part in term.terms)
    left, right = evaluate(term.left, at), evaluate(term.right, at)
    if isinstance(term, Product):
        return left * right
    if isinstance(term, Div):
        return left // right
    if isinstance(term, Mod):
        return left % right
    return min(left, right) if isinstance(term, Min) else max(left, right)


def holds(formula: Formula, at: Valuation) -> bool:
    """Whether a formula is true at a valuation."""
    if isinstance(formula, Truth):
        return formula.value
    if isinstance(formula, Compare):
        return bool(_HOLDS[formula.relation](evaluate(formula.left, at), evaluate(formula.right, at)))
    if isinstance(formula, Not):
        return not holds(formula.body, at)
    if isinstance(formula, And):
        return all(holds(part, at) for part in formula.parts)
    return any(holds(part, at) for part in formula.parts)
