"""How often a lease is entered at given sizes, counted by going through the loops around it.

Takes a lease with its loops and sizes; gives the number, or None where there is too much to go through. Serves
refusals: a budget is refused only by numbers that were counted. Must not bound or estimate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cachet_verify.core.index import evaluate, holds
from cachet_verify.core.ir import Blocks
from cachet_verify.core.lease import Around, Pull

_MOST_STEPS = 100_000


class _TooManyError(Exception):
    """More iterations than are gone through."""


def entries(pull: Pull, sizes: Mapping[str, int]) -> int | None:
    """How often a lease is entered at these sizes; None where that takes too long to count, or a divisor is 0."""
    left = [_MOST_STEPS]
    try:
        return sum(all(holds(fact, at) for fact in pull.under) for at in _iterations(pull.loops, dict(sizes), left))
    except (_TooManyError, ZeroDivisionError):
        return None


def _iterations(around: tuple[Around, ...], at: dict[str, int], left: list[int]) -> Iterator[dict[str, int]]:
    """The values of all counters, one choice after the other."""
    if not around:
        yield at
        return
    loop = around[0]
    if not all(holds(fact, at) for fact in loop.under):
        return
    for bound in _bound(loop, at):
        left[0] -= 1
        if left[0] < 0:
            raise _TooManyError
        yield from _iterations(around[1:], {**at, **bound}, left)


def _bound(loop: Around, at: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """What each iteration of a loop binds."""
    low, high = evaluate(loop.domain.low, at), evaluate(loop.domain.high, at)
    if not isinstance(loop.domain, Blocks):
        for value in range(low, high):
            yield {loop.counter: value}
        return
    size = evaluate(loop.domain.size, at)
    for ordinal, start in enumerate(range(low, high, size)) if size > 0 else ():
        yield {loop.counter: ordinal, f"{loop.counter}.lo": start, f"{loop.counter}.len": min(size, high - start)}
