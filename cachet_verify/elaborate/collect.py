"""Sums with equal parts added up.

Takes an integer term; gives an equal one. Must not change what a term is for any values.
"""

from __future__ import annotations

from cachet_verify.core.index import Const, Index, Product, Sum, add, mul


def collected(term: Index) -> Index:
    """A term with equal parts of its sum added up: `a + b - a` is `b`."""
    if not isinstance(term, Sum):
        return term
    counts: dict[Index, int] = {}
    constant = 0
    for part in term.terms:
        if isinstance(part, Const):
            constant += part.value
            continue
        factor, body = (part.left.value, part.right) if isinstance(part, Product) and isinstance(part.left, Const) else (1, part)
        counts[body] = counts.get(body, 0) + factor
    return add(*(mul(Const(count), body) for body, count in counts.items()), Const(constant))
