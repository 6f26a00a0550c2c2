"""How often a lease is entered at given sizes, counted by going through the loops around it.

Takes a lease with its loops and sizes; gives the number, or None where there is too much to go through. Serves
refusals: a budget is refused only by numbers that were counted. Must not bound or estimate: iterations are counted
as alike only where nothing further in, no guard and no loop, can tell one from the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from cachet_verify.core.index import Formula, evaluate, holds, variables
from cachet_verify.core.ir import Blocks
from cachet_verify.core.lease import Around, Pull, domain_facts

_MOST_STEPS = 100_000


class _TooManyError(Exception):
    """More iterations than are gone through."""


def entries(pull: Pull, sizes: Mapping[str, int]) -> int | None:
    """How often a lease is entered at these sizes; None where that takes too long to count, or a divisor is 0."""
    own = {fact for loop in pull.loops for fact in domain_facts(loop.counter, loop.domain)}
    try:
        return _Count(tuple(fact for fact in pull.under if fact not in own)).entered(pull.loops, dict(sizes))
    except (_TooManyError, ZeroDivisionError):
        return None


class _Count:
    """Counting under the guards that stand between the loops, with the steps that are left."""

    def __init__(self, guards: tuple[Formula, ...]) -> None:
        self.guards = guards
        self.left = _MOST_STEPS

    def entered(self, loops: tuple[Around, ...], at: dict[str, int]) -> int:
        """How often the lease is entered by the loops that are left, with what those outside them bind."""
        if not loops:
            return int(all(holds(guard, at) for guard in self.guards))
        loop, rest = loops[0], loops[1:]
        if not all(holds(fact, at) for fact in loop.under):
            return 0
        total = 0
        for bound, times in _alike(loop, at, self._seen(loop, rest)):
            self.left -= 1
            if self.left < 0:
                raise _TooManyError
            total += times * self.entered(rest, {**at, **bound})
        return total

    def _seen(self, loop: Around, rest: tuple[Around, ...]) -> set[str]:
        """What the loops further in and the guards can see of a loop."""
        own = {loop.counter, f"{loop.counter}.lo", f"{loop.counter}.len"}
        terms = [term for other in rest for term in (other.domain.low, other.domain.high)]
        terms += [other.domain.size for other in rest if isinstance(other.domain, Blocks)]
        return own & {name for node in (*terms, *self.guards) for name in variables(node)}


def _alike(loop: Around, at: Mapping[str, int], seen: set[str]) -> Iterator[tuple[dict[str, int], int]]:
    """What the iterations of a loop bind, those that cannot be told apart once, with how many they are."""
    low, high = evaluate(loop.domain.low, at), evaluate(loop.domain.high, at)
    if not isinstance(loop.domain, Blocks):
        last = high if seen else min(high, low + 1)
        for value in range(low, last):
            yield {loop.counter: value}, 1 if seen else high - low
        return
    size = evaluate(loop.domain.size, at)
    if size <= 0 or low >= high:
        return
    count = -(-(high - low) // size)
    by_length = not seen - {f"{loop.counter}.len"}
    if not by_length:
        groups: Iterable[tuple[int, int]] = ((ordinal, 1) for ordinal in range(count))
    elif count > 1:
        groups = [(0, count - 1), (count - 1, 1)]
    else:
        groups = [(0, 1)]
    for ordinal, times in groups:
        start = low + ordinal * size
        yield {loop.counter: ordinal, f"{loop.counter}.lo": start, f"{loop.counter}.len": min(size, high - start)}, times
