"""Edits of integer terms, formulas and loop domains.

Takes a node and what is in scope; gives labelled nodes that differ from it by one edit. Must not
know where the node stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cachet_verify.core.index import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    And,
    Compare,
    Const,
    Div,
    Max,
    Min,
    Mod,
    Not,
    Or,
    Product,
    Sum,
    Var,
    add,
    conj,
    disj,
    div,
    mod,
    mul,
    neg,
    sub,
)
from cachet_verify.core.ir import Blocks, Lanes, Range
from tests.mutate.site import Names

Edit = tuple[str, Any]
TERMS = (Const, Var, Sum, Product, Div, Mod, Min, Max)
FORMULAS = (Compare, Not, And, Or)


def term_edits(term: Any, names: Names) -> Iterator[Edit]:
    """Offsets, other counters, other constants, other operations."""
    yield "plus one", add(term, ONE)
    yield "minus one", sub(term, ONE)
    if isinstance(term, Var):
        for other in names.integers:
            if other != term.name:
                yield f"counter {other}", Var(other)
        yield "counter dropped", ZERO
    elif isinstance(term, Const):
        yield "constant doubled", Const(2 * term.value)
        yield "constant negated", Const(-term.value)
    elif isinstance(term, Sum):
        for place in range(len(term.terms)):
            yield "summand dropped", add(*(part for at, part in enumerate(term.terms) if at != place))
            rest = [part for at, part in enumerate(term.terms) if at != place]
            yield "summand subtracted", sub(add(*rest), term.terms[place])
    else:
        yield from _binary_edits(term)


def _binary_edits(term: Any) -> Iterator[Edit]:
    left, right = term.left, term.right
    yield "left alone", left
    yield "right alone", right
    if isinstance(term, Div):
        yield "remainder for quotient", mod(left, right)
        yield "quotient rounded up", div(add(left, sub(right, ONE)), right)
    elif isinstance(term, Mod):
        yield "quotient for remainder", div(left, right)
    elif isinstance(term, Product):
        yield "product to sum", add(left, right)
        yield "factor plus one", mul(left, add(right, ONE))
    elif isinstance(term, Min):
        yield "larger for smaller", Max(left, right)
    else:
        yield "smaller for larger", Min(left, right)


def formula_edits(formula: Any, names: Names) -> Iterator[Edit]:
    """Guards that are dropped, negated, off by one or shut."""
    yield "guard dropped", TRUE
    yield "guard shut", FALSE
    yield "guard negated", neg(formula)
    if isinstance(formula, Compare):
        for relation in ("==", "!=", "<=", "<"):
            if relation != formula.relation:
                yield f"guard {relation}", Compare(relation, formula.left, formula.right)
        yield "guard sides exchanged", Compare(formula.relation, formula.right, formula.left)
    elif isinstance(formula, (And, Or)):
        other = disj if isinstance(formula, And) else conj
        yield "and for or", other(formula.parts)
        for place in range(len(formula.parts)):
            made = conj if isinstance(formula, And) else disj
            yield "part of a guard dropped", made(part for at, part in enumerate(formula.parts) if at != place)


def domain_edits(domain: Range | Blocks, names: Names) -> Iterator[Edit]:
    """Bounds that are off by one, blocks of another size, tails that are dropped or run twice."""
    low, high = domain.low, domain.high
    if isinstance(domain, Range):
        yield "starts one late", Range(add(low, ONE), high)
        yield "starts one early", Range(sub(low, ONE), high)
        yield "ends one early", Range(low, sub(high, ONE))
        yield "ends one late", Range(low, add(high, ONE))
        yield "runs nothing", Range(low, low)
        for other in names.integers:
            if other.endswith(".len") and Var(other) != high:
                yield f"as long as {other}", Range(low, Var(other))
        return
    size = domain.size
    yield "blocks end one early", Blocks(low, sub(high, ONE), size)
    yield "blocks end one late", Blocks(low, add(high, ONE), size)
    yield "blocks start one late", Blocks(add(low, ONE), high, size)
    yield "blocks one longer", Blocks(low, high, add(size, ONE))
    yield "blocks one shorter", Blocks(low, high, sub(size, ONE))
    yield "blocks twice as long", Blocks(low, high, mul(Const(2), size))
    yield "whole blocks only", Blocks(low, mul(size, div(sub(high, low), size)), size)
    yield "every index its own block", Blocks(low, high, ONE)


def lane_edits(lanes: Lanes, names: Names) -> Iterator[Edit]:
    """Other widths and other active counts."""
    counter, width, active = lanes.counter, lanes.width, lanes.active
    yield "one lane more", Lanes(counter, width, add(active, ONE))
    yield "one lane less", Lanes(counter, width, sub(active, ONE))
    yield "all lanes active", Lanes(counter, width, Const(width))
    yield "no lane active", Lanes(counter, width, ZERO)
    yield "wider", Lanes(counter, width + 1, active)
    yield "narrower", Lanes(counter, max(width - 1, 1), active)
    for other in names.integers:
        if other.endswith(".len") and Var(other) != active:
            yield f"active {other}", Lanes(counter, width, Var(other))
