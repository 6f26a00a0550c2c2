"""Small values that break an obligation, tried before a hard question is put to the solvers.

Takes an obligation; gives values of its variables, or none. Must not be believed: the solvers are asked at them.
"""

from __future__ import annotations

from cachet_verify.core.index import conjuncts, neg, variables
from cachet_verify.kernel.enumeration import first_values
from cachet_verify.kernel.obligation import Obligation

_MOST = {1: 200, 2: 60, 3: 30, 4: 14, 5: 8, 6: 6, 7: 5, 8: 3, 9: 3}
"""How far each variable is tried, from 0, by how many there are; with more variables nothing is."""


def small_point(obligation: Obligation) -> dict[str, int] | None:
    """The first small naturals that meet the premises and not the goal; none where there are none, or a divisor is 0."""
    parts = tuple(part for formula in (*obligation.premises, neg(obligation.goal)) for part in conjuncts(formula))
    names = sorted(frozenset[str]().union(*(variables(part) for part in parts)))
    if len(names) not in _MOST:
        return None
    try:
        found = first_values(parts, [(name, 0, _MOST[len(names)]) for name in names])
    except ZeroDivisionError:
        return None
    return None if found is None else dict(zip(names, found, strict=True))
