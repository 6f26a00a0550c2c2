"""Conditions on the indices of a sum or reduction, as bounds of what an index runs over, and a guard for the rest.

Takes the conditions after `where` and the indices with their extents; gives a range for each index, and the guard
under which a step is taken. Must not let a condition speak of words, nor widen what an index runs over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cachet_verify.core.index import (
    ONE,
    TRUE,
    ZERO,
    Compare,
    Const,
    Formula,
    Index,
    Product,
    Sum,
    Var,
    add,
    conj,
    le,
    lt,
    maximum,
    minimum,
    variables,
)
from cachet_verify.core.ir import Range
from cachet_verify.elaborate.collect import collected
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.place import source_text
from cachet_verify.elaborate.range import children
from cachet_verify.elaborate.scope import IndexEntity, Scope
from cachet_verify.elaborate.term import difference, elaborate_condition, is_index_expression, is_natural
from cachet_verify.syntax import ast

FORM = "`sum k where k <= i. a[i, k]`: comparisons of indices and sizes"


@dataclass(frozen=True, slots=True)
class Running:
    """One index of a sum: its name in the text, its counter, and the extent of the operands it indexes."""

    index: str
    counter: str
    extent: Index


@dataclass(frozen=True, slots=True)
class Bounded:
    """What the indices run over, outermost first, the guard of a step, and the scope inside it."""

    counters: tuple[tuple[str, Range], ...]
    guard: Formula
    scope: Scope

    @property
    def ends(self) -> tuple[tuple[str, Index], ...]:
        """Each counter with the index it stops before."""
        return tuple((counter, domain.high) for counter, domain in self.counters)


def bounded(indices: Sequence[Running], bounds: Sequence[ast.Expr], scope: Scope, context: Context) -> Bounded:
    """The ranges of indices under conditions, all of which hold. Raises StopError.

    A comparison that has the innermost of its indices by itself bounds that index; any other condition is part of the guard.
    """
    scopes = [scope]
    for one in indices:
        inner = scopes[-1].bind(one.index, IndexEntity(Var(one.counter), "counter"))
        scopes.append(inner.assume(le(ZERO, Var(one.counter)), lt(Var(one.counter), one.extent)))
    ranges = [Range(ZERO, one.extent) for one in indices]
    guard: list[Formula] = []
    known: list[Formula] = []
    for part in (part for bound in bounds for part in _conjuncts(bound)):
        place = _innermost(part, indices, scopes[-1], context)
        formula = elaborate_condition(part, scopes[place + 1], context)
        limits = _limits(formula, indices[place].counter)
        if limits is None:
            guard.append(formula)
        else:
            ranges[place] = _narrowed(ranges[place], limits, scopes[place])
        known.append(formula)
    counters = tuple((one.counter, range_) for one, range_ in zip(indices, ranges, strict=True))
    return Bounded(counters, conj(guard) if guard else TRUE, scopes[-1].assume(*known))


def _conjuncts(bound: ast.Expr) -> Iterator[ast.Expr]:
    if isinstance(bound, ast.Binary) and bound.operator == "and":
        yield from _conjuncts(bound.left)
        yield from _conjuncts(bound.right)
    else:
        yield bound


def _innermost(part: ast.Expr, indices: Sequence[Running], scope: Scope, context: Context) -> int:
    """The place of the innermost index that a condition speaks of. Raises StopError where there is none."""
    if not is_index_expression(part, scope, context):
        message = f"`{source_text(part)}` reads a word, and what an index runs over does not depend on words"
        hint = "compare indices and sizes; a choice by words is part of the value: `if … then … else …`"
        raise context.stop("elaborate.equation.where", message, part.span, hint)
    found = [place for place, one in enumerate(indices) if _speaks_of(part, one.index)]
    if not found:
        names = " or ".join(f"`{one.index}`" for one in indices)
        raise context.stop("elaborate.equation.where", f"`{source_text(part)}` says nothing of {names}", part.span, FORM)
    return found[-1]


def _speaks_of(node: ast.Node, name: str) -> bool:
    return node == ast.Name(name) or any(_speaks_of(child, name) for child in children(node))


def _limits(formula: Formula, counter: str) -> tuple[Index | None, Index | None] | None:
    """The least value of a counter, and the one above its greatest, where a comparison is about it alone; None where it is not."""
    if not isinstance(formula, Compare) or formula.relation == "!=":
        return None
    left, right = _isolated(formula.left, counter), _isolated(formula.right, counter)
    if left is None or right is None or abs(left[0] - right[0]) != 1:
        return None
    is_above = left[0] - right[0] == -1
    value = _plain(left[1], right[1]) if is_above else _plain(right[1], left[1])
    if formula.relation == "==":
        return value, add(value, ONE)
    if is_above:
        return (value if formula.relation == "<=" else add(value, ONE)), None
    return None, (value if formula.relation == "<" else add(value, ONE))


def _plain(high: Index, low: Index) -> Index:
    return collected(difference(high, low))


def _isolated(term: Index, counter: str) -> tuple[int, Index] | None:
    """A term as a multiple of a counter and the rest; None where it is no such sum."""
    if term == Var(counter):
        return 1, ZERO
    if isinstance(term, Sum):
        factor, rest = 0, list[Index]()
        for part in term.terms:
            found = _isolated(part, counter)
            if found is None:
                return None
            factor += found[0]
            rest.append(found[1])
        return factor, add(*rest)
    if isinstance(term, Product) and isinstance(term.left, Const) and term.right == Var(counter):
        return term.left.value, ZERO
    return None if counter in variables(term) else (0, term)


def _narrowed(old: Range, limits: tuple[Index | None, Index | None], scope: Scope) -> Range:
    """A range with a further bound below and above; what the range has already is left out."""
    low, high = limits
    start, end = old.low, old.high
    if low is not None and low != ZERO:
        start = low if start == ZERO and is_natural(low, scope) else maximum(start, low)
    if high is not None:
        end = minimum(end, high)
    return Range(start, end)
