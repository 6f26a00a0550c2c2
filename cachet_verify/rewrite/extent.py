"""How far an index reaches: the range of a linear form over the loops inside a place.

Takes the index terms of loads and the loops around them; gives, for each dimension, what is fixed
from outside and the first and last index reached from inside. A block and the position in it are
put together first, so that all blocks of a range reach exactly that range. Must not approximate in
silence: what cannot be bounded is refused with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cachet_verify.core.index import (
    ONE,
    ZERO,
    Compare,
    Const,
    Div,
    Index,
    Min,
    Mod,
    Var,
    add,
    maximum,
    minimum,
    mul,
    sub,
    variables,
)
from cachet_verify.core.ir import Blocks, Domain, Program
from cachet_verify.elaborate.collect import collected
from cachet_verify.rewrite.term import linear
from cachet_verify.rewrite.traverse import bare


@dataclass(frozen=True, slots=True)
class Reach:
    """One dimension of a load: `outer` is fixed outside the place, `inner` varies in it.

    `inner` runs from `low` to below `high` over all iterations inside.
    """

    outer: Index
    inner: Index
    low: Index
    high: Index


@dataclass(frozen=True, slots=True)
class _Digit:
    """A variable of the inner form: its coefficient and its range."""

    factor: Index
    low: Index
    high: Index


class ReachError(Exception):
    """An index cannot be bounded; the text says why."""


def reach(term: Index, loops: Mapping[str, Domain], program: Program) -> Reach:
    """Take an index apart at a place. `loops` are the loops between the place and the load.

    Raises ReachError.
    """
    names = frozenset(loops) | frozenset(f"{name}.{part}" for name in loops for part in ("lo", "len"))
    form = linear(term, names)
    if form is None or any(variables(factor) & names for factor in form.coefficients.values()):
        raise ReachError("it is not a sum of multiples of the loops' counters")
    digits = {name: _digit(name, factor, loops) for name, factor in form.coefficients.items()}
    inner = add(*(mul(factor, Var(name)) for name, factor in form.coefficients.items()))
    low, high = _span(_merged(digits, loops, program), names)
    return Reach(form.rest, inner, low, high)


def _digit(name: str, factor: Index, loops: Mapping[str, Domain]) -> _Digit:
    domain = loops.get(name)
    if domain is not None and not isinstance(domain, Blocks):
        return _Digit(factor, domain.low, domain.high)
    block = name.rpartition(".")[0]
    if name.endswith(".lo") and block in loops:
        return _Digit(factor, loops[block].low, loops[block].high)
    raise ReachError(f"it uses {name}, which has no plain range")


def _merged(digits: Mapping[str, _Digit], loops: Mapping[str, Domain], program: Program) -> tuple[_Digit, ...]:
    """Put blocks and positions together until nothing more fits."""
    left = dict(digits)
    while True:
        pair = next(
            ((outer, inner) for inner in left for outer in left if outer != inner and _joined(left, outer, inner, loops, program)),
            None,
        )
        if pair is None:
            return tuple(left.values())
        outer, inner = pair
        digit = _joined(left, outer, inner, loops, program)
        del left[inner]
        if digit is not None:
            left[outer] = digit


def _joined(digits: Mapping[str, _Digit], outer: str, inner: str, loops: Mapping[str, Domain], program: Program) -> _Digit | None:
    """The range that a block and a position in it run through together; None where they do not fit.

    A position that is itself cut into blocks has to be put together first.
    """
    left, right = digits[outer], digits[inner]
    own = inner.removesuffix(".lo")
    cut = any(own in bare(variables(digit.low) | variables(digit.high)) for digit in digits.values())
    if right.low != ZERO or cut:
        return None
    if outer.endswith(".lo"):
        return left if left.factor == right.factor and right.high == Var(f"{outer[:-3]}.len") else None
    if left.low == ZERO and left.factor == mul(right.factor, right.high):
        return _Digit(right.factor, ZERO, whole(right.high, left.high, program))
    return None


def whole(size: Index, count: Index, program: Program) -> Index:
    """`size * count`, as the range it came from where a requirement says that the blocks are full."""
    if isinstance(count, Div) and count.right == size:
        for need in program.requires:
            if need.condition == Compare("==", Mod(count.left, size), ZERO):
                return count.left
        if isinstance(count.left, Const) and isinstance(size, Const) and size.value and count.left.value % size.value == 0:
            return count.left
    return mul(size, count)


def _span(digits: tuple[_Digit, ...], names: frozenset[str]) -> tuple[Index, Index]:
    """The first index reached and the one after the last."""
    low: Index = ZERO
    high: Index = ZERO
    for digit in digits:
        if (variables(digit.low) | variables(digit.high)) & names:
            raise ReachError("the bounds of an inner loop depend on another inner loop")
        if not isinstance(digit.factor, Const):
            raise ReachError("a counter is multiplied by something that is not a number")
        first, last = mul(digit.factor, digit.low), mul(digit.factor, sub(digit.high, ONE))
        if digit.factor.value < 0:
            first, last = last, first
        low, high = add(low, first), add(high, last)
    return collected(low), collected(add(high, ONE))


def joined(first: Reach, second: Reach) -> tuple[Reach, Index]:
    """One reach for two loads, and by how much the second stands apart from the first.

    Raises ReachError where they do not move together.
    """
    apart = collected(sub(second.outer, first.outer))
    if not isinstance(apart, Const):
        raise ReachError("two loads of it are not a fixed distance apart")
    low, high = add(second.low, apart), add(second.high, apart)
    return Reach(first.outer, first.inner, minimum(first.low, low), maximum(first.high, high)), apart


def longest(domain: Domain, blocks: Mapping[str, Domain]) -> Index | None:
    """How many iterations a loop has at most: a number, or the size of the block it runs through.

    `blocks` are the loops around it. None where there is no such bound.
    """
    extent = collected(sub(domain.high, domain.low))
    if isinstance(extent, Const):
        return Const(max(extent.value, 0))
    if isinstance(extent, Min):
        sides = [side for side in (extent.left, extent.right) if isinstance(side, Const)]
        return min(sides, key=lambda side: side.value) if sides else None
    if isinstance(extent, Var) and extent.name.endswith(".len"):
        around = blocks.get(extent.name[: -len(".len")])
        return around.size if isinstance(around, Blocks) else None
    return extent if isinstance(extent, Var) else None
