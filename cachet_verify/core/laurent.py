"""Polynomials with whole exponents, negative ones too: a normal form of real terms.

Takes real terms; gives sums of monomials, and terms again. A negative exponent stands only for a variable
whose inverse is known to exist. Must not decide whether a law holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from cachet_verify.core.real import NOUGHT, UNIT, Real, RealConst, RealSum, RealVar, real_add, real_mul

Monomial = tuple[tuple[str, int], ...]
Laurent = Mapping[Monomial, Fraction]


def laurent_of(term: Real, inverses: Mapping[str, str]) -> dict[Monomial, Fraction]:
    """The normal form of a term; `inverses` maps the name of an inverse to the variable it is the inverse of."""
    if isinstance(term, RealConst):
        return {(): term.value} if term.value else {}
    if isinstance(term, RealVar):
        base = inverses.get(term.name)
        return {((term.name, 1),) if base is None else ((base, -1),): Fraction(1)}
    left, right = laurent_of(term.left, inverses), laurent_of(term.right, inverses)
    return _plus(left, right) if isinstance(term, RealSum) else _times(left, right)


def _plus(left: Laurent, right: Laurent) -> dict[Monomial, Fraction]:
    total = dict(left)
    for monomial, weight in right.items():
        total[monomial] = total.get(monomial, Fraction(0)) + weight
    return {monomial: weight for monomial, weight in total.items() if weight}


def _times(left: Laurent, right: Laurent) -> dict[Monomial, Fraction]:
    total: dict[Monomial, Fraction] = {}
    for one, weight in left.items():
        for other, factor in right.items():
            powers = dict(one)
            for name, power in other:
                powers[name] = powers.get(name, 0) + power
            monomial = tuple(sorted((name, power) for name, power in powers.items() if power))
            total[monomial] = total.get(monomial, Fraction(0)) + weight * factor
    return {monomial: weight for monomial, weight in total.items() if weight}


def real_of(form: Laurent, inverses: Mapping[str, str]) -> Real:
    """The term of a normal form: monomials in sorted order, a negative power as powers of the inverse."""
    named = {base: name for name, base in inverses.items()}
    total: Real = NOUGHT
    for monomial, weight in sorted(form.items()):
        product: Real = UNIT
        for name, power in monomial:
            factor = RealVar(name if power > 0 else named[name])
            for _ in range(abs(power)):
                product = real_mul(product, factor)
        total = real_add(total, real_mul(RealConst(weight), product))
    return total
