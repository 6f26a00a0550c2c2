"""What every integer leaves when it is divided by a small number, said beside an obligation.

Takes an obligation; gives one with a premise for each quotient and remainder by a literal: the remainder is
one of 0 .. literal - 1. Must add nothing that is not true of all integers: so both are valid alike.
"""

from __future__ import annotations

from cachet_verify.core.index import Const, Div, Formula, Index, Mod, disj, eq, mod, subterms
from cachet_verify.kernel.obligation import Obligation, Proved, Undecided, Verdict

_LARGEST = 16
"""Larger divisors would be cut into more cases than they are worth."""


def residues(obligation: Obligation) -> tuple[Formula, ...]:
    """For each `x / c` and `x % c` with a small positive literal: `x % c` is 0, or 1, and so on."""
    found: dict[Formula, None] = {}
    for formula in (*obligation.premises, obligation.goal):
        for term in subterms(formula):
            if isinstance(term, (Div, Mod)) and isinstance(term.right, Const) and 1 < term.right.value <= _LARGEST:
                found[_cases(term.left, term.right.value)] = None
    return tuple(found)


def applies(obligation: Obligation) -> bool:
    """Whether it is about integers: there is no remainder among the reals."""
    return type(obligation) is Obligation


def _cases(dividend: Index, divisor: int) -> Formula:
    rest = mod(dividend, Const(divisor))
    return disj(eq(rest, Const(value)) for value in range(divisor))


def with_residues(obligation: Obligation) -> Obligation:
    """The obligation with these premises. A model of it says nothing beyond what one of the obligation says."""
    return Obligation(obligation.subject, (*obligation.premises, *residues(obligation)), obligation.goal, can_refute=False)


def lift(obligation: Obligation, verdict: Verdict) -> Verdict:
    """The verdict on an obligation that one on its form with residues gives: proved, or undecided.

    Raises ValueError for a verdict on something else.
    """
    if verdict.digest != with_residues(obligation).digest():
        raise ValueError("the verdict is not on the obligation with its residues")
    if isinstance(verdict, Proved):
        return Proved(obligation.digest(), verdict.answers)
    return Undecided(obligation.digest(), "incomplete", verdict.answers)
