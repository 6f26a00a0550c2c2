"""An obligation at one choice of values: refuted there, it is refuted.

Takes an obligation and values for its variables; gives the narrower one, and what a verdict on it says.
Must not take a proof of the narrower one for a proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cachet_verify.core.index import Const, Var, eq
from cachet_verify.kernel.obligation import Obligation, Refuted, Verdict


def at_point(obligation: Obligation, values: Mapping[str, int]) -> Obligation:
    """The obligation with the values of its variables among its premises."""
    known = tuple(eq(Var(name), Const(value)) for name, value in sorted(values.items()))
    return Obligation(obligation.subject, (*obligation.premises, *known), obligation.goal, obligation.can_refute)


def refuted_at(obligation: Obligation, values: Mapping[str, int], verdict: Verdict) -> Refuted | None:
    """The refutation that one at some values is; none for any other verdict. Raises ValueError for a verdict on something else."""
    if verdict.digest != at_point(obligation, values).digest():
        raise ValueError("the verdict is not on the obligation at these values")
    return replace(verdict, digest=obligation.digest()) if isinstance(verdict, Refuted) else None
