"""Loops around a lease counted together: blocks in blocks, and loops whose guards hold for some iterations only.

Takes a lease with a bound on each loop around it; gives what loops may spend in their place. Proposals: the kernel asks
that each is one. Must not propose where the form of the loops says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cachet_verify.core.index import (
    ONE,
    ZERO,
    Compare,
    Const,
    Index,
    Product,
    Sum,
    Var,
    add,
    ceil_div,
    maximum,
    minimum,
    mul,
    negate,
    sub,
    variables,
)
from cachet_verify.core.ir import Blocks
from cachet_verify.core.lease import Around, Pull, domain_facts
from cachet_verify.kernel.spending import Bound, Spend


def spendings(pull: Pull, bounds: Sequence[Index], sizes: frozenset[str]) -> tuple[Bound, ...] | None:
    """A bound for each loop of the program, those that are counted together, or that guards cut short, as spendings; None where none is either."""
    made: dict[str, Spend] = {}
    for chain in _chains(pull.loops):
        if len(chain) > 1 and _is_over(sizes, chain[0]):
            made.update(_together(chain))
    guards = [fact for fact in pull.under if fact not in {own for loop in pull.loops for own in domain_facts(loop.counter, loop.domain)}]
    for loop in pull.loops:
        if loop.counter not in made and _is_over(sizes, loop):
            ends = [end for guard in guards if isinstance(guard, Compare) for end in _ends(guard, loop, sizes)]
            if ends:
                made[loop.counter] = Spend(_within(loop, ends))
    known: dict[str, Bound] = {loop.counter: bound for loop, bound in zip(pull.around, bounds, strict=True)} | made
    is_whole = made and all(loop.counter in known for loop in pull.loops)
    return tuple(known[loop.counter] for loop in pull.loops) if is_whole else None


def _is_over(sizes: frozenset[str], loop: Around) -> bool:
    domain = loop.domain
    found = variables(domain.low) | variables(domain.high) | (variables(domain.size) if isinstance(domain, Blocks) else frozenset())
    return found <= sizes


def _position(loop: Around) -> Var:
    """The first index of a block, or the counter."""
    return Var(f"{loop.counter}.lo") if isinstance(loop.domain, Blocks) else Var(loop.counter)


# --- blocks in blocks --------------------------------------------------------------------------


def _chains(around: Sequence[Around]) -> Iterator[list[Around]]:
    """Loops each of which runs over the block of the one before, as far as whole blocks of the last fit in all others."""
    left = list(around)
    while left:
        chain = [left[0]]
        for loop in left[1:]:
            if _runs_over(loop, chain[-1]):
                chain.append(loop)
        while len(chain) > 1 and not all(_fits(chain[-1], outer) for outer in chain[:-1]):
            chain.pop()
        yield chain
        left = [loop for loop in left if loop not in chain]


def _runs_over(loop: Around, outer: Around) -> bool:
    low, length = Var(f"{outer.counter}.lo"), Var(f"{outer.counter}.len")
    ends = (loop.domain.low, loop.domain.high)
    return isinstance(outer.domain, Blocks) and ends in ((ZERO, length), (low, add(low, length)))


def _unit(loop: Around) -> Index:
    return loop.domain.size if isinstance(loop.domain, Blocks) else ONE


def _fits(inner: Around, outer: Around) -> bool:
    unit, block = _unit(inner), _unit(outer)
    if unit == ONE:
        return True
    return isinstance(unit, Const) and isinstance(block, Const) and unit.value > 0 and block.value % unit.value == 0


def _together(chain: Sequence[Around]) -> Iterator[tuple[str, Spend]]:
    unit = _unit(chain[-1])
    for loop, inner in zip(chain, (*chain[1:], None), strict=True):
        left = maximum(ZERO, ceil_div(sub(loop.domain.high, _position(loop)), unit))
        yield loop.counter, Spend(left, "" if inner is None else inner.counter)


# --- guards ------------------------------------------------------------------------------------

_End = tuple[Index, bool]
"""A number that a position is below, or one that it is at least, where the second is true."""


def _within(loop: Around, ends: Sequence[_End]) -> Index:
    """How many iterations from here on are between the ends; blocks are cut at the upper ones only."""
    high: Index = loop.domain.high
    low: Index = _position(loop)
    for end, is_lower in ends:
        if not is_lower:
            high = minimum(high, end)
        elif not isinstance(loop.domain, Blocks):
            low = maximum(low, end)
    return maximum(ZERO, ceil_div(sub(high, low), _unit(loop)))


def _ends(guard: Compare, loop: Around, sizes: frozenset[str]) -> Iterator[_End]:
    """The ends that a guard sets to the position of a loop: `position + rest <= 0`, or `rest - position <= 0`."""
    if guard.relation == "!=":
        return
    position = _position(loop)
    weight, rest = _split(sub(guard.left, guard.right), position)
    if weight not in (1, -1) or variables(rest) - sizes:
        return
    rest = add(rest, ONE) if guard.relation == "<" else rest
    if weight == 1 or guard.relation == "==":
        yield add(negate(mul(Const(weight), rest)), ONE), False
    if weight == -1 or guard.relation == "==":
        yield negate(mul(Const(weight), rest)), True


def _split(term: Index, position: Var) -> tuple[int, Index]:
    """The weight of a position in a sum, and the rest of the sum."""
    weight, rest = 0, []
    for part in term.terms if isinstance(term, Sum) else (term,):
        if part == position:
            weight += 1
        elif isinstance(part, Product) and isinstance(part.left, Const) and part.right == position:
            weight += part.left.value
        else:
            rest.append(part)
    return weight, add(*rest)
