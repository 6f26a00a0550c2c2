"""The model that a refusal shows: of the failing part alone, with values as small as they go.

Takes an obligation and a solver's model of its failure; gives values by name. Must not decide: that
there is a model the solver found, and every one that is shown instead is evaluated first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cachet_verify.core.index import Formula, conj, conjuncts, holds, neg, variables
from cachet_verify.kernel.obligation import Obligation

_MOST = 20_000
"""How many valuations are tried before the solver's own model is shown."""


def least_model(obligation: Obligation, model: Mapping[str, int]) -> dict[str, int | str]:
    """The values of the variables that the failing part is about, and of those that bound them: the least sum that fails."""
    wanted = _about(obligation.goal, obligation.premises)
    found = _least(obligation, model, wanted)
    failing = [part for part in conjuncts(obligation.goal) if not _holds(part, found)]
    about = _about(conj(failing), obligation.premises) if failing else wanted
    return {name: found[name] for name in sorted(about) if name in found}


def _about(goal: Formula, premises: tuple[Formula, ...]) -> frozenset[str]:
    """The variables of a formula, and of the premises that mention one of them."""
    own = variables(goal)
    return own.union(*(variables(premise) for premise in premises if variables(premise) & own))


def _least(obligation: Obligation, model: Mapping[str, int], wanted: frozenset[str]) -> dict[str, int]:
    names = sorted(name for name in wanted if name in model)
    premises = tuple(premise for premise in obligation.premises if variables(premise) & wanted)
    fails = conj((*premises, neg(conj(conjuncts(obligation.goal)))))
    tried = 0
    for values in _by_sum(len(names), sum(abs(model[name]) for name in names)):
        tried += 1
        if tried > _MOST:
            break
        at = {**model, **dict(zip(names, values, strict=True))}
        if _holds(fails, at):
            return at
    return dict(model)


def _by_sum(count: int, most: int) -> Iterator[tuple[int, ...]]:
    """All tuples of naturals, the least sums first, within a sum each in lexicographic order."""
    for total in range(most + 1):
        yield from _summing(count, total)


def _summing(count: int, total: int) -> Iterator[tuple[int, ...]]:
    if count == 0:
        if total == 0:
            yield ()
        return
    for first in range(total + 1) if count > 1 else (total,):
        for rest in _summing(count - 1, total - first):
            yield (first, *rest)


def _holds(formula: Formula, at: Mapping[str, int]) -> bool:
    """Whether a formula is true; where it cannot be evaluated it is not."""
    try:
        return holds(formula, at)
    except (KeyError, ZeroDivisionError):
        return False
