"""Premises that follow from two others by rounding, which solvers look for in vain.

Takes an obligation; gives one with more premises, each entailed by two of its own: two inequalities
are added so that a variable falls out, and what is left is divided by the greatest common divisor
of its weights and rounded: `4*g < N` and `N <= 4*G` give `g < G`. Must not change what holds: an
assignment meets the new premises exactly when it meets the old ones.
"""

from __future__ import annotations

from itertools import combinations
from math import gcd

from cachet_verify.core.index import ZERO, Compare, Const, Formula, Index, Product, Sum, Var, add, le, mul
from cachet_verify.kernel.obligation import Obligation

_MOST_PREMISES = 60
"""Obligations with more inequalities than this are left as they are."""

Weights = dict[Index, int]
Inequality = tuple[Weights, int]
"""The sum of the weighted terms and the number is at most 0."""


def tighten(obligation: Obligation) -> Obligation:
    """The obligation with its rounded sums; the same obligation where there are none."""
    known = [part for premise in obligation.premises for part in _inequalities(premise)]
    if len(known) > _MOST_PREMISES:
        return obligation
    found: dict[Formula, None] = {}
    units = [frozenset(term for term, weight in weights.items() if weight in (1, -1)) for weights, _ in known]
    for (one, ours), (other, theirs) in combinations(zip(known, units, strict=True), 2):
        if not (ours <= other[0].keys() and theirs <= one[0].keys()):
            continue  # a weight of one is left over, and nothing is rounded
        made = _rounded(_joined(one, other))
        if made is not None and made not in obligation.premises:
            found[made] = None
    if not found:
        return obligation
    return Obligation(obligation.subject, (*obligation.premises, *found), obligation.goal, obligation.can_refute)


def _inequalities(premise: Formula) -> list[Inequality]:
    """A premise as one inequality, or as two where it is an equation."""
    if not isinstance(premise, Compare) or premise.relation == "!=":
        return []
    weights: Weights = {}
    number = _collect(premise.left, 1, weights) + _collect(premise.right, -1, weights)
    if premise.relation == "<":
        return [(weights, number + 1)]
    if premise.relation == "<=":
        return [(weights, number)]
    return [(weights, number), ({term: -weight for term, weight in weights.items()}, -number)]


def _collect(term: Index, by: int, weights: Weights) -> int:
    """Add a term to the weights, `by` times; give the part of it that is a number. What is not linear counts as a variable."""
    if isinstance(term, Const):
        return by * term.value
    if isinstance(term, Sum):
        return sum(_collect(part, by, weights) for part in term.terms)
    if isinstance(term, Product) and isinstance(term.left, Const):
        return _collect(term.right, by * term.left.value, weights)
    if isinstance(term, Product) and isinstance(term.right, Const):
        return _collect(term.left, by * term.right.value, weights)
    weights[term] = weights.get(term, 0) + by
    return 0


def _joined(one: Inequality, other: Inequality) -> Inequality | None:
    """The sum of two inequalities, when a variable falls out and nothing else becomes of it."""
    weights = dict(one[0])
    for term, weight in other[0].items():
        weights[term] = weights.get(term, 0) + weight
    falls = any(isinstance(term, Var) and weights[term] == 0 and one[0][term] != 0 for term in one[0])
    return ({term: weight for term, weight in weights.items() if weight}, one[1] + other[1]) if falls else None


def _rounded(made: Inequality | None) -> Formula | None:
    """An inequality divided by what all its weights share; none where that rounds nothing."""
    if made is None or len(made[0]) < 2:
        return None
    weights, number = made
    common = gcd(*weights.values())
    if common == 1 or number % common == 0:
        return None
    parts = [mul(Const(weight // common), term) for term, weight in weights.items()]
    return le(add(*parts, Const(-(-number // common))), ZERO)
