"""Sums over blocks, the last of which may be shorter, in closed form where one is known.

Takes how a range is cut and what one block costs; gives what all cost. `over_blocks` is exact, and `full_blocks` and
`dearest_block` are never below. Must not lose a block.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cachet_verify.traffic.factor import ceil, floor, is_zero, least, remainder, trips
from cachet_verify.traffic.quantity import (
    NOTHING,
    ONCE,
    Factor,
    Monomial,
    Name,
    Quantity,
    Repeated,
    Rounded,
    Where,
    as_quantity,
    collect,
    loop_names,
    name,
    names_of,
    of_factor,
    of_monomial,
    spell,
    total,
)
from cachet_verify.traffic.range_sum import UNROLLED, grouped, is_natural, over_range
from cachet_verify.traffic.value import evaluate, substitute

LONGEST_TRIED = 4096
"""Blocks of at most so many indices have their cost compared at every length."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A loop over blocks: `counter` binds `g`, `g.lo` and `g.len` of the indices from `low` to below `high`."""

    counter: str
    low: Quantity
    high: Quantity
    size: Quantity

    @property
    def extent(self) -> Quantity:
        """How many indices there are."""
        return trips(self.low, self.high)

    @property
    def blocks(self) -> Quantity:
        """How many blocks there are."""
        return ceil(self.extent, self.size)

    @property
    def names(self) -> frozenset[str]:
        """The names it binds."""
        return loop_names(self.counter, blocks=True)

    @property
    def length(self) -> str:
        """The name of a block's length."""
        return f"{self.counter}.len"


def over_blocks(cut: Cut, body: Quantity) -> Quantity:
    """The sum of a cost over the blocks, the last one as long as it is."""
    return total(of_monomial(rest) * _block_group(cut, cost) for rest, cost in grouped(body, cut.names))


def full_blocks(cut: Cut, body: Quantity) -> Quantity:
    """A sum that is never below that over the blocks, and equals it where all are full: each costs what the dearest length does.

    Where the cost also depends on the block's place, it is the sum itself.
    """
    found = NOTHING
    for rest, cost in grouped(body, cut.names):
        dearest = dearest_length(cut, cost) if is_natural(of_monomial(rest)) else None
        found += of_monomial(rest) * (_block_group(cut, cost) if dearest is None else cut.blocks * dearest)
    return found


def dearest_block(cut: Cut, body: Quantity) -> Quantity | None:
    """A cost that no block exceeds, without the names of the block; None where its place matters, or none is known."""
    found = NOTHING
    for rest, cost in grouped(body, cut.names):
        dearest = cost if not cost.names() else dearest_length(cut, cost) if is_natural(of_monomial(rest)) else None
        if dearest is None:
            return None
        found += of_monomial(rest) * dearest
    return found


def dearest_length(cut: Cut, cost: Quantity) -> Quantity | None:
    """The most that one block costs, by its length alone; None where that is not known, or where its place matters."""
    if cut.length not in cost.names():
        return None if cost.names() & cut.names else cost
    if cost.names() & cut.names != {cut.length}:
        return None
    if all(n > 0 and all(_grows(factor, cut.length) for factor in factors) for factors, n in cost.terms):
        return substitute(cost, {cut.length: cut.size})
    longest = cut.size.value
    if cost.names() != {cut.length} or longest is None or longest > LONGEST_TRIED:
        return None
    return as_quantity(max(evaluate(cost, {cut.length: length}) for length in range(1, longest + 1)))


def _grows(factor: Factor, length: str) -> bool:
    """Whether a factor is never negative and never smaller at a longer block."""
    if length not in names_of(factor):
        return is_natural(of_factor(factor))
    if isinstance(factor, Name):
        return True
    if isinstance(factor, Rounded) and factor.how != "rem":
        by = factor.bottom.value
        terms = factor.top.terms
        return by is not None and by > 0 and all(n > 0 and all(_grows(part, length) for part in factors) for factors, n in terms)
    return False


def _block_group(cut: Cut, cost: Quantity) -> Quantity:
    """The exact sum of a cost in the names of a block, and perhaps others."""
    if not cost.names() & cut.names:
        return cut.blocks * cost
    listed = _listed(cut, cost)
    if listed is not None:
        return listed
    found, by_length, open_terms = NOTHING, [], []
    for factors, coefficient in cost.terms:
        placed = _first_block(cut, factors) or _by_place(cut, factors)
        if placed is not None:
            found += placed * coefficient
        elif of_monomial(factors).names() & cut.names <= {cut.length}:
            by_length.append((factors, coefficient))
        else:
            open_terms.append((factors, coefficient))
    if open_terms:
        found += of_factor(Repeated(cut.counter, cut.low, cut.high, cut.size, collect(open_terms)))
    return found + _by_length(cut, collect(by_length))


def _listed(cut: Cut, cost: Quantity) -> Quantity | None:
    """The sum block by block, where each is known and there are few."""
    low, high, size = cut.low.value, cut.high.value, cut.size.value
    if low is None or high is None or size is None or size <= 0 or -(-(high - low) // size) > UNROLLED:
        return None
    starts = enumerate(range(low, high, size))
    return total(substitute(cost, _block(cut, ordinal, start, min(size, high - start))) for ordinal, start in starts)


def _block(cut: Cut, ordinal: int, start: int, length: int) -> dict[str, Quantity]:
    values = {cut.counter: ordinal, f"{cut.counter}.lo": start, cut.length: length}
    return {text: as_quantity(value) for text, value in values.items()}


def _first_block(cut: Cut, factors: Monomial) -> Quantity | None:
    """The sum of a product that is zero but in the first block; None for any other."""
    start, here = name(f"{cut.counter}.lo"), name(cut.counter)
    for place, factor in enumerate(factors):
        if isinstance(factor, Where) and factor.relation == "==" and _same(factor.term, (start - cut.low, cut.low - start, here)):
            rest = of_monomial(factors[:place] + factors[place + 1 :])
            at = {cut.counter: NOTHING, f"{cut.counter}.lo": cut.low, cut.length: least(cut.size, cut.extent)}
            return substitute(rest, at) * least(ONCE, cut.blocks)
    return None


def _by_place(cut: Cut, factors: Monomial) -> Quantity | None:
    """The sum of a product that depends on where a block starts, and not on its length; None for any other, or without a closed form."""
    product = of_monomial(factors)
    if cut.length in product.names() or not product.names() & cut.names:
        return None
    start = cut.low + name(cut.counter, 0) * cut.size
    found = over_range(cut.counter, NOTHING, cut.blocks, substitute(product, {f"{cut.counter}.lo": start}))
    is_open = any(isinstance(factor, Repeated) and factor.counter == cut.counter for terms, _ in found.terms for factor in terms)
    return None if is_open else found


def _same(term: Quantity, others: Iterable[Quantity]) -> bool:
    """Whether a term is spelled as one of the others is: a name is one thing, whatever is known of its bounds."""
    return spell(term) in {spell(other) for other in others}


def _by_length(cut: Cut, cost: Quantity) -> Quantity:
    """The exact sum of a cost that depends on a block's length alone."""
    straight, bent = NOTHING, []
    for factors, coefficient in cost.terms:
        found = _straight(cut, factors)
        if found is None:
            bent.append((factors, coefficient))
        else:
            straight += found * coefficient
    return straight + _whole_and_last(cut, collect(bent)) if bent else straight


def _straight(cut: Cut, factors: Monomial) -> Quantity | None:
    """The sum of a product that comes to the same over a whole block as over its parts; None for any other."""
    own = [factor for factor in factors if cut.length in names_of(factor)]
    rest = of_monomial(tuple(factor for factor in factors if cut.length not in names_of(factor)))
    if not own:
        return rest * cut.blocks
    if len(own) > 1:
        return None
    if isinstance(own[0], Name):
        return rest * cut.extent
    part, size = _rounded_up(own[0], cut.length), cut.size.value
    return rest * ceil(cut.extent, as_quantity(part)) if part and size and size % part == 0 else None


def _rounded_up(factor: Factor, length: str) -> int | None:
    """The n of `ceil (length / n)`, None for any other factor."""
    if isinstance(factor, Rounded) and factor.how == "ceil" and spell(factor.top) == length:
        return factor.bottom.value
    return None


def _whole_and_last(cut: Cut, cost: Quantity) -> Quantity:
    """The sum over the blocks that are whole, and the cost of a shorter one at the end."""
    last = remainder(cut.extent, cut.size)
    whole = floor(cut.extent, cut.size) * substitute(cost, {cut.length: cut.size})
    at_the_end = substitute(cost, {cut.length: last})
    if substitute(cost, {cut.length: NOTHING}).value != 0:
        at_the_end *= ONCE - is_zero(last)
    return whole + at_the_end
