"""Entailment by cases, and the least values of a bounded search.

Takes conditions, a cost and chosen values; gives goals. Must not search: what is chosen, and the
ranges of the cases, are proposals, and every one of them is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cachet_verify.core.index import (
    FALSE,
    ZERO,
    Const,
    Formula,
    Index,
    Var,
    conj,
    conjuncts,
    disj,
    divisors,
    eq,
    lt,
    mul,
    ne,
    neg,
    substitute_formula,
)
from cachet_verify.kernel.claim import Claim, Entails, Goal, Minimal, RuleError, issue
from cachet_verify.kernel.enumeration import Range, in_ranges
from cachet_verify.kernel.obligation import Obligation

_MOST_CASES = 100_000
_TOGETHER = 16
"""Cases that are asked in one obligation."""


def by_cases(premises: tuple[Formula, ...], goal: Formula, ranges: tuple[Range, ...], subject: str) -> Goal:
    """The entailment, for each choice of values in the ranges; that there are no other values is asked too."""
    found = in_ranges(premises, ranges)
    count = 1
    for _, low, high in ranges:
        count *= max(0, high - low + 1)
    if count > _MOST_CASES:
        raise RuleError("by-cases", f"more than {_MOST_CASES} cases")
    cases = list(_open_cases((*premises, neg(goal)), ranges))
    for start in range(0, len(cases), _TOGETHER):
        some = disj(cases[start : start + _TOGETHER])
        found.append(Obligation(subject, tuple(conjuncts(some)), FALSE, can_refute=False))
    return issue("by-cases", Entails(premises, goal), found)


def _open_cases(parts: tuple[Formula, ...], ranges: tuple[Range, ...]) -> Iterator[Formula]:
    """What is left of a conjunction for each choice of values, where evaluating its numbers does not make it false."""
    if not ranges:
        yield conj(parts)
        return
    (name, low, high), *rest = ranges
    for value in range(low, high + 1):
        left = []
        for part in parts:
            left.append(substitute_formula(part, {name: Const(value)}))
            if left[-1] == FALSE:
                break
        else:
            yield from _open_cases(tuple(left), tuple(rest))


# --- the least values --------------------------------------------------------------------------


def smaller(statement: Minimal) -> Formula:
    """Less cost than the chosen values have, or equal cost and values before them in lexicographic order."""
    top, bottom = statement.cost
    left, right = mul(Const(top), statement.denominator), mul(Const(bottom), statement.numerator)
    return disj((lt(right, left), conj((eq(right, left), _before(statement.names, statement.values)))))


def _before(names: tuple[str, ...], values: tuple[int, ...]) -> Formula:
    terms = [(Var(name), Const(value)) for name, value in zip(names, values, strict=True)]
    return disj(conj((*(eq(*pair) for pair in terms[:place]), lt(*terms[place]))) for place in range(len(terms)))


def needed(statement: Minimal) -> tuple[tuple[Entails, str], ...]:
    """The entailments that a choice is least by, each with its subject; the last says that nothing smaller satisfies."""
    chosen = tuple(eq(Var(name), Const(value)) for name, value in zip(statement.names, statement.values, strict=True))
    text = ", ".join(f"{name} = {value}" for name, value in zip(statement.names, statement.values, strict=True))
    top, bottom = statement.cost
    costs = eq(mul(Const(bottom), statement.numerator), mul(Const(top), statement.denominator))
    found = [(Entails(chosen, condition), f"{text} satisfies the conditions") for condition in statement.conditions]
    found.append((Entails(chosen, costs), f"the cost at {text}"))
    for place, condition in enumerate(statement.conditions):
        found += _non_zero(statement.conditions[:place], divisors(condition))
    found += _non_zero(statement.conditions, (*divisors(eq(statement.numerator, ZERO)), *divisors(eq(statement.denominator, ZERO))))
    found.append((Entails(statement.conditions, lt(ZERO, statement.denominator)), "the divisor of the cost is above 0"))
    found.append((Entails((*statement.conditions, smaller(statement)), FALSE), "nothing smaller satisfies"))
    return tuple(found)


def _non_zero(premises: tuple[Formula, ...], terms: Iterable[Index]) -> list[tuple[Entails, str]]:
    return [(Entails(premises, ne(term, ZERO)), "a divisor is not 0") for term in terms]


def minimal(statement: Minimal, claims: tuple[Claim, ...]) -> Goal:
    """Join the claims of every entailment that is needed."""
    if len(statement.names) != len(statement.values) or len(set(statement.names)) != len(statement.names):
        raise RuleError("minimal", "a value for each name is wanted", statement)
    if statement.cost[1] <= 0:
        raise RuleError("minimal", "the cost is no fraction with a positive denominator", statement)
    known = {claim.statement for claim in claims}
    for wanted, subject in needed(statement):
        if wanted not in known:
            raise RuleError("minimal", f"not claimed: {subject}", wanted)
    return issue("minimal", statement, (), claims)
