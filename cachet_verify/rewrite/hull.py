"""A loop whose bounds speak of counters that are to come inside of it: over all indices that any of them has.

Takes the loop and how many indices each counter has, from 0; gives the range and the condition that picks the
loop's own indices out of it. A guess by the ends of the counters: that no index is lost the kernel asks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cachet_verify.core.index import ONE, ZERO, Const, Formula, Index, Var, add, conj, div, le, lt, sub, substitute, variables
from cachet_verify.core.ir import Blocks, Domain, Range
from cachet_verify.rewrite.term import linear


def hull(counter: str, domain: Range, extents: Mapping[str, Index]) -> tuple[Range, Formula]:
    """The range that holds every range, and the condition under which an index is in the one at hand."""
    low, high = _end(domain.low, extents, is_last=False), _end(domain.high, extents, is_last=True)
    own = (le(domain.low, Var(counter)), lt(Var(counter), domain.high))
    changed = (domain.low != low, domain.high != high)
    return Range(low, high), conj(part for part, is_asked in zip(own, changed, strict=True) if is_asked)


def _end(term: Index, extents: Mapping[str, Index], is_last: bool) -> Index:
    """The largest value of a term, or the least: taken to rise with a counter, unless it is seen to fall."""
    for name in sorted(variables(term) & frozenset(extents)):
        form = linear(term, frozenset((name,)))
        factor = form.coefficients.get(name) if form is not None else None
        falls = isinstance(factor, Const) and factor.value < 0
        term = substitute(term, {name: sub(extents[name], ONE) if is_last != falls else ZERO})
    return term


def count(domain: Domain) -> Index:
    """How many indices a counter has."""
    length = sub(domain.high, domain.low)
    return div(sub(add(length, domain.size), ONE), domain.size) if isinstance(domain, Blocks) else length


def most(term: Index, known: Sequence[tuple[str, Domain]]) -> Index:
    """A bound of a term over sizes, where the counters around it, the outermost first, give one."""
    for name, domain in reversed(known):
        if isinstance(domain, Blocks):
            term = substitute(term, {f"{name}.len": domain.size, f"{name}.lo": sub(domain.high, ONE)})
        if name in variables(term):
            whole, _ = hull("", Range(ZERO, term), {name: add(count(domain), domain.low if isinstance(domain, Range) else ZERO)})
            term = whole.high
    return term
