"""Integer terms and conditions of the core as quantities.

Takes a term and what its variables stand for; gives a quantity, or for a condition one that is 1 where it holds and else 0.
Must not know about loops.
"""

from __future__ import annotations

from collections.abc import Mapping

from cachet_verify.core.index import And, Compare, Const, Div, Formula, Index, Min, Mod, Not, Product, Sum, Truth, Var
from cachet_verify.traffic.factor import floor, is_at_most_zero, is_zero, least, most, remainder
from cachet_verify.traffic.quantity import NOTHING, ONCE, Quantity, as_quantity, name, total

Integers = Mapping[str, Quantity]


def quantity_of(term: Index, at: Integers) -> Quantity:
    """A term as a quantity; a variable that stands for nothing else is a name that may have any value."""
    if isinstance(term, Const):
        return as_quantity(term.value)
    if isinstance(term, Var):
        return at[term.name] if term.name in at else name(term.name)
    if isinstance(term, Sum):
        return total(quantity_of(part, at) for part in term.terms)
    left, right = quantity_of(term.left, at), quantity_of(term.right, at)
    if isinstance(term, Product):
        return left * right
    if isinstance(term, Div):
        return floor(left, right)
    if isinstance(term, Mod):
        return remainder(left, right)
    return least(left, right) if isinstance(term, Min) else most(left, right)


def holds(formula: Formula, at: Integers) -> Quantity:
    """1 where a condition holds, and 0 where it does not."""
    if isinstance(formula, Truth):
        return ONCE if formula.value else NOTHING
    if isinstance(formula, Compare):
        return _compared(formula, at)
    if isinstance(formula, Not):
        return ONCE - holds(formula.body, at)
    if isinstance(formula, And):
        both = ONCE
        for part in formula.parts:
            both *= holds(part, at)
        return both
    neither = ONCE
    for part in formula.parts:
        neither *= ONCE - holds(part, at)
    return ONCE - neither


def _compared(formula: Compare, at: Integers) -> Quantity:
    difference = quantity_of(formula.left, at) - quantity_of(formula.right, at)
    if formula.relation == "==":
        return is_zero(difference)
    if formula.relation == "!=":
        return ONCE - is_zero(difference)
    return is_at_most_zero(difference if formula.relation == "<=" else difference + 1)
