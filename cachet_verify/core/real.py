"""Real terms and the formulas over them: what laws over the reals are stated in.

Takes nothing from the rest of the package; gives immutable terms, evaluation with exact fractions, and
canonical text. Must not know about words, laws or solvers.

Quotients and exponentials are no terms: each is a variable of its own, and the premises of an
obligation say what is known of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal


@dataclass(frozen=True, slots=True)
class RealConst:
    """A rational literal."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class RealVar:
    """A real number, by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class RealSum:
    """The sum of two terms."""

    left: Real
    right: Real


@dataclass(frozen=True, slots=True)
class RealProduct:
    """The product of two terms."""

    left: Real
    right: Real


Real = RealConst | RealVar | RealSum | RealProduct


@dataclass(frozen=True, slots=True)
class RealCompare:
    """A comparison of two real terms."""

    relation: Literal["==", "<=", "<"]
    left: Real
    right: Real


@dataclass(frozen=True, slots=True)
class RealNot:
    """The negation of a formula."""

    body: RealFormula


@dataclass(frozen=True, slots=True)
class RealAll:
    """The conjunction of formulas."""

    parts: tuple[RealFormula, ...]


RealFormula = RealCompare | RealNot | RealAll
REAL_FORMULAS = (RealCompare, RealNot, RealAll)

NOUGHT, UNIT = RealConst(Fraction(0)), RealConst(Fraction(1))


def real_add(left: Real, right: Real) -> Real:
    """A sum; literals are added, and 0 is left out."""
    if isinstance(left, RealConst) and isinstance(right, RealConst):
        return RealConst(left.value + right.value)
    if left == NOUGHT:
        return right
    return left if right == NOUGHT else RealSum(left, right)


def real_mul(left: Real, right: Real) -> Real:
    """A product; literals are multiplied, 1 is left out, and 0 absorbs."""
    if isinstance(left, RealConst) and isinstance(right, RealConst):
        return RealConst(left.value * right.value)
    if NOUGHT in (left, right):
        return NOUGHT
    if left == UNIT:
        return right
    return left if right == UNIT else RealProduct(left, right)


def real_neg(term: Real) -> Real:
    """Minus a term."""
    return real_mul(RealConst(Fraction(-1)), term)


def real_variables(node: Real | RealFormula) -> frozenset[str]:
    """The names of the variables of a term or a formula."""
    return frozenset(part.name for part in real_parts(node) if isinstance(part, RealVar))


def real_parts(node: Real | RealFormula) -> Iterator[Real | RealFormula]:
    """A term or formula and everything inside it, outermost first."""
    stack: list[Real | RealFormula] = [node]
    while stack:
        item = stack.pop()
        yield item
        if isinstance(item, (RealSum, RealProduct, RealCompare)):
            stack += (item.right, item.left)
        elif isinstance(item, RealNot):
            stack.append(item.body)
        elif isinstance(item, RealAll):
            stack += item.parts


def real_value(term: Real, at: Mapping[str, Fraction]) -> Fraction:
    """The value of a term. Raises KeyError for a variable without a value."""
    if isinstance(term, RealConst):
        return term.value
    if isinstance(term, RealVar):
        return at[term.name]
    left, right = real_value(term.left, at), real_value(term.right, at)
    return left + right if isinstance(term, RealSum) else left * right


def real_holds(formula: RealFormula, at: Mapping[str, Fraction]) -> bool:
    """Whether a formula holds. Raises KeyError for a variable without a value."""
    if isinstance(formula, RealNot):
        return not real_holds(formula.body, at)
    if isinstance(formula, RealAll):
        return all(real_holds(part, at) for part in formula.parts)
    left, right = real_value(formula.left, at), real_value(formula.right, at)
    if formula.relation == "==":
        return left == right
    return left <= right if formula.relation == "<=" else left < right


def spell_real(node: Real | RealFormula) -> str:
    """Canonical text: one text has one meaning, and every compound part is in parentheses."""
    if isinstance(node, RealConst):
        return f"({node.value})" if node.value < 0 or node.value.denominator != 1 else str(node.value)
    if isinstance(node, RealVar):
        return node.name
    if isinstance(node, RealSum):
        return f"({spell_real(node.left)} +. {spell_real(node.right)})"
    if isinstance(node, RealProduct):
        return f"({spell_real(node.left)} *. {spell_real(node.right)})"
    if isinstance(node, RealNot):
        return f"not. {spell_real(node.body)}"
    if isinstance(node, RealAll):
        return "(all. " + ", ".join(spell_real(part) for part in node.parts) + ")"
    return f"({spell_real(node.left)} {node.relation}. {spell_real(node.right)})"
