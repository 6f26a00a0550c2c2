"""The extents of a view that does not say them: how far each index runs inside the buffer it looks into.

Takes the cell of the buffer as terms of the view's indices; gives extents. Must not guess: an index
that steps along one dimension alone, by a fixed stride, runs to the end of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from cachet_verify.core.index import ONE, ZERO, Const, Index, Var, add, ceil_div, le, mul, substitute, variables
from cachet_verify.core.spell import spell
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.scope import Scope
from cachet_verify.elaborate.term import difference, is_natural, same_term
from cachet_verify.source import Span


def inferred(
    counters: Sequence[str], cell: Sequence[Index], shape: Sequence[Index], scope: Scope, context: Context, span: Span | None
) -> tuple[Index, ...]:
    """An extent for each index: `ceil ((N - first) / stride)`. Raises StopError where an index has no such run."""
    found: list[Index] = []
    for counter in counters:
        along = [place for place, term in enumerate(cell) if counter in variables(term)]
        run = _run(cell[along[0]], counter) if len(along) == 1 else None
        if run is None or variables(run[0]) & set(counters):
            hint = "`view v[i, j] : [R, C] = c[i, 2 * j]`"
            raise context.stop("elaborate.view", f"how far `{counter}` runs is not plain from the cell it looks at", span, hint)
        first, stride = run
        left = difference(shape[along[0]], first)
        extent = left if stride == ONE else ceil_div(left, stride)
        if not is_natural(extent, scope):
            context.require(scope, le(ZERO, extent), f"the extent of `{counter}` in the view, `{spell(extent)}`, is at least 0", span)
        found.append(extent)
    return tuple(found)


def _run(term: Index, counter: str) -> tuple[Index, Const] | None:
    """Where a term starts and by what it grows with its counter; none where it does not grow by a fixed number above 0."""
    first = substitute(term, {counter: ZERO})
    stride = difference(substitute(term, {counter: ONE}), first)
    if not isinstance(stride, Const) or stride.value < 1 or not same_term(term, add(first, mul(stride, Var(counter)))):
        return None
    return first, stride
