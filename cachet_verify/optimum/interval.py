"""Narrowing the ranges of integers by the conditions on them.

Takes formulas and a box of ranges; gives a smaller box that holds the same solutions, or none when
there is no solution. Must not lose a solution; what it keeps need not be one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cachet_verify.core.index import And, Compare, Const, Div, Formula, Index, Max, Min, Mod, Not, Or, Product, Sum, Truth, Var, neg

Interval = tuple[int, int]
Box = dict[str, Interval]

FAR = 10**18
"""A bound this far from 0 counts as none."""
_END = 10**40
EVERYTHING: Interval = (-_END, _END)
_ROUNDS = 24


class EmptyError(Exception):
    """No solution is left."""


def is_bounded(side: int) -> bool:
    """Whether an end of a range is a bound."""
    return -FAR < side < FAR


def narrow(conditions: Iterable[Formula], box: Mapping[str, Interval]) -> Box | None:
    """The box after the conditions have been used until nothing changes, or often enough; None when it is empty."""
    parts = tuple(conditions)
    found = dict(box)
    try:
        for _ in range(_ROUNDS):
            before = dict(found)
            for part in parts:
                _assume(part, found)
            if found == before:
                break
    except EmptyError:
        return None
    return found


def _assume(formula: Formula, box: Box) -> None:
    """Use one condition. Raises EmptyError."""
    if isinstance(formula, Truth):
        if not formula.value:
            raise EmptyError
    elif isinstance(formula, Compare):
        _compare(formula, box)
    elif isinstance(formula, And):
        for part in formula.parts:
            _assume(part, box)
    elif isinstance(formula, Not):
        _assume_not(formula.body, box)
    else:
        _assume_one(formula.parts, box)


def _assume_not(body: Formula, box: Box) -> None:
    if isinstance(body, And):
        _assume_one(tuple(neg(part) for part in body.parts), box)
    elif isinstance(body, Or):
        for part in body.parts:
            _assume(neg(part), box)
    else:
        _assume(neg(body), box)


def _assume_one(parts: tuple[Formula, ...], box: Box) -> None:
    """One of the parts holds: the ranges that some part leaves."""
    left: list[Box] = []
    for part in parts:
        tried = dict(box)
        try:
            _assume(part, tried)
        except EmptyError:
            continue
        left.append(tried)
    if not left:
        raise EmptyError
    for name in box:
        box[name] = (min(tried[name][0] for tried in left), max(tried[name][1] for tried in left))


def _compare(formula: Compare, box: Box) -> None:
    left, right = enclose(formula.left, box), enclose(formula.right, box)
    if formula.relation == "!=":
        if left == right and left[0] == left[1]:
            raise EmptyError
        return
    if formula.relation == "==":
        both = _meet(left, right)
        _restrict(formula.left, both, box)
        _restrict(formula.right, both, box)
        return
    gap = 1 if formula.relation == "<" else 0
    _restrict(formula.left, (-_END, right[1] - gap), box)
    _restrict(formula.right, (left[0] + gap, _END), box)


def _meet(one: Interval, other: Interval) -> Interval:
    low, high = max(one[0], other[0]), min(one[1], other[1])
    if low > high:
        raise EmptyError
    return low, high


def _clamped(low: int, high: int) -> Interval:
    return max(low, -_END), min(high, _END)


# --- upwards: the range of a term --------------------------------------------------------------


def enclose(term: Index, box: Mapping[str, Interval]) -> Interval:
    """A range that holds every value of a term."""
    if isinstance(term, Const):
        return term.value, term.value
    if isinstance(term, Var):
        return box[term.name]
    if isinstance(term, Sum):
        parts = [enclose(part, box) for part in term.terms]
        return _clamped(sum(low for low, _ in parts), sum(high for _, high in parts))
    left, right = enclose(term.left, box), enclose(term.right, box)
    if isinstance(term, Product):
        ends = [a * b for a in left for b in right]
        return _clamped(min(ends), max(ends))
    if isinstance(term, Min):
        return min(left[0], right[0]), min(left[1], right[1])
    if isinstance(term, Max):
        return max(left[0], right[0]), max(left[1], right[1])
    return _quotient(left, right) if isinstance(term, Div) else _remainder(left, right)


def _quotient(left: Interval, right: Interval) -> Interval:
    if right[0] <= 0 <= right[1]:
        return EVERYTHING
    ends = [a // b for a in left for b in right]
    return _clamped(min(ends), max(ends))


def _remainder(left: Interval, right: Interval) -> Interval:
    if right[0] <= 0 <= right[1]:
        return EVERYTHING
    if right[0] == right[1] and left[0] // right[0] == left[1] // right[0]:
        return tuple(sorted((left[0] % right[0], left[1] % right[0])))  # type: ignore[return-value]
    if right[0] > 0:
        return (0, min(left[1], right[1] - 1)) if left[0] >= 0 else (0, right[1] - 1)
    return right[0] + 1, 0


# --- downwards: what the range of a term says about its variables ------------------------------


def _restrict(term: Index, wanted: Interval, box: Box) -> None:
    """Use that a term lies in a range. Raises EmptyError."""
    found = _meet(enclose(term, box), wanted)
    if isinstance(term, Var):
        box[term.name] = found
    elif isinstance(term, Sum):
        for place, part in enumerate(term.terms):
            others = [enclose(other, box) for where, other in enumerate(term.terms) if where != place]
            low, high = sum(end for end, _ in others), sum(end for _, end in others)
            _restrict(part, (_far(found[0], -1) - high, _far(found[1], 1) - low), box)
    elif isinstance(term, Product):
        _restrict_factor(term.left, term.right, found, box)
        _restrict_factor(term.right, term.left, found, box)
    elif isinstance(term, Div):
        _restrict_dividend(term, found, box)
    elif isinstance(term, Min):
        _restrict(term.left, (found[0], _END), box)
        _restrict(term.right, (found[0], _END), box)
    elif isinstance(term, Max):
        _restrict(term.left, (-_END, found[1]), box)
        _restrict(term.right, (-_END, found[1]), box)
    elif isinstance(term, Mod):
        _restrict_remainder(term, found, box)


def _far(end: int, side: int) -> int:
    """An end that is no bound, far beyond whatever is taken from it."""
    return end if is_bounded(end) else side * _END * _END


def _restrict_factor(factor: Index, other: Index, product: Interval, box: Box) -> None:
    by = enclose(other, box)
    if by[0] <= 0 <= by[1] or isinstance(factor, Const):
        return
    low, high = _far(product[0], -1), _far(product[1], 1)
    ends = [(-(-a // b), a // b) for a in (low, high) for b in by]
    _restrict(factor, (min(up for up, _ in ends), max(down for _, down in ends)), box)


def _restrict_dividend(term: Div, quotient: Interval, box: Box) -> None:
    by = enclose(term.right, box)
    if by[0] <= 0:
        return
    low, high = _far(quotient[0], -1), _far(quotient[1], 1) + 1
    _restrict(term.left, (min(low * by[0], low * by[1]), max(high * by[0], high * by[1]) - 1), box)


def _restrict_remainder(term: Mod, found: Interval, box: Box) -> None:
    """The ends of the dividend, moved to where the remainder is right, when it can have one value only."""
    by, left = enclose(term.right, box), enclose(term.left, box)
    if by[0] != by[1] or by[0] <= 0 or found[0] != found[1]:
        return
    low = left[0] + (found[0] - left[0]) % by[0] if is_bounded(left[0]) else left[0]
    high = left[1] - (left[1] - found[0]) % by[0] if is_bounded(left[1]) else left[1]
    _restrict(term.left, (low, high), box)
