"""What divides a product, said beside an obligation whose premises say what divides its factors.

Takes an obligation; gives its linear form with a premise for each product of such factors: a multiple of c times a multiple
of d is a multiple of c * d. Must add nothing that is not true of all integers: so what it proves holds without it.
"""

from __future__ import annotations

from collections.abc import Iterator

from cachet_verify.core.index import ZERO, And, Compare, Const, Formula, Index, Mod, Product, conj, eq, implies, mod, subterms
from cachet_verify.kernel.generalise import generalise
from cachet_verify.kernel.obligation import Failed, Obligation, Proved, Undecided, Verdict


def multiples(obligation: Obligation) -> tuple[Formula, ...]:
    """For each product with a factor that a premise says a literal divides: if they divide, their product divides it."""
    known = dict(_divisors(obligation.premises))
    found: dict[Formula, None] = {}
    for formula in (*obligation.premises, obligation.goal):
        for term in subterms(formula):
            if isinstance(term, Product):
                factors = _factors(term)
                said = [(factor, known[factor]) for factor in factors if factor in known]
                if said and len(factors) > 1:
                    found[_multiple(term, factors, said)] = None
    return tuple(found)


def _multiple(term: Index, factors: list[Index], said: list[tuple[Index, int]]) -> Formula:
    """That the product is a multiple of what divides its factors, its literal factors among that."""
    whole = 1
    for _, divisor in said:
        whole *= divisor
    for factor in factors:
        whole *= abs(factor.value) if isinstance(factor, Const) and factor.value else 1
    return implies(conj(eq(mod(factor, Const(divisor)), ZERO) for factor, divisor in said), eq(mod(term, Const(whole)), ZERO))


def _divisors(premises: tuple[Formula, ...]) -> Iterator[tuple[Index, int]]:
    """The terms that premises call multiples of a positive literal, with that literal."""
    for premise in premises:
        if isinstance(premise, And):
            yield from _divisors(premise.parts)
        elif isinstance(premise, Compare) and premise.relation == "==" and ZERO in (premise.left, premise.right):
            term = premise.left if premise.right == ZERO else premise.right
            if isinstance(term, Mod) and isinstance(term.right, Const) and term.right.value > 1:
                yield term.left, term.right.value


def _factors(term: Index) -> list[Index]:
    """The factors of a product, in the order written."""
    return [*_factors(term.left), *_factors(term.right)] if isinstance(term, Product) else [term]


def linear(obligation: Obligation) -> Obligation:
    """The linear form of the obligation with these premises. A model of it says nothing about the obligation."""
    return generalise(Obligation(obligation.subject, (*obligation.premises, *multiples(obligation)), obligation.goal, can_refute=False))


def lift(obligation: Obligation, verdict: Verdict) -> Verdict:
    """The verdict on an obligation that one on this form gives: proved, failed or undecided.

    Raises ValueError for a verdict on something else.
    """
    if verdict.digest != linear(obligation).digest():
        raise ValueError("the verdict is not on the obligation with what divides its products")
    if isinstance(verdict, Proved):
        return Proved(obligation.digest(), verdict.answers)
    if isinstance(verdict, Failed):
        return Failed(obligation.digest(), verdict.reason, verdict.answers)
    return Undecided(obligation.digest(), "incomplete", verdict.answers)
