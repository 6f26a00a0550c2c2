"""Solving equations between addresses for the counters of a writer, by mixed radix.

Takes an address as a term over unknown counters and the value it must have; gives each unknown
as a term. Must not be trusted: a wrong solution fails the kernel's check of the source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cachet_verify.core.index import (
    ONE,
    ZERO,
    Const,
    Div,
    Index,
    Mod,
    Product,
    Sum,
    Var,
    add,
    div,
    mod,
    mul,
    sub,
    substitute,
    variables,
)


def split_linear(term: Index, unknown: frozenset[str]) -> tuple[dict[str, Index], Index] | None:
    """A term as coefficients of the unknowns and a rest without them; None when it is not linear."""
    coefficients: dict[str, Index] = {}
    rest: Index = ZERO
    for part in _distributed(term):
        found = variables(part) & unknown
        if not found:
            rest = add(rest, part)
            continue
        factor = _factor(part, unknown)
        if factor is None:
            return None
        name, coefficient = factor
        coefficients[name] = add(coefficients.get(name, ZERO), coefficient)
    return {name: value for name, value in coefficients.items() if value != ZERO}, rest


def _distributed(term: Index) -> tuple[Index, ...]:
    """The summands of a term, products with sums multiplied out."""
    if isinstance(term, Sum):
        return tuple(part for item in term.terms for part in _distributed(item))
    if isinstance(term, Product):
        left, right = _distributed(term.left), _distributed(term.right)
        if len(left) > 1 or len(right) > 1:
            return tuple(part for a in left for b in right for part in _distributed(mul(a, b)))
    return (term,)


def _factor(part: Index, unknown: frozenset[str]) -> tuple[str, Index] | None:
    if isinstance(part, Var):
        return part.name, ONE
    if isinstance(part, Product):
        for inner, outer in ((part.left, part.right), (part.right, part.left)):
            if not variables(outer) & unknown:
                found = _factor(inner, unknown)
                return None if found is None else (found[0], mul(outer, found[1]))
    return None


def decode(
    address: Sequence[Index],
    value: Sequence[Index],
    unknown: Sequence[str],
    lows: Mapping[str, Index],
) -> dict[str, Index]:
    """Terms for those unknowns that the equations `address[d] == value[d]` determine.

    Unknowns are outermost first; where several stand in one address their coefficients are taken
    for a mixed radix, the largest first, each counter starting at its low.
    """
    equations, digits = _digits(_joined([(_reduced(ours), theirs) for ours, theirs in zip(address, value, strict=True)]), unknown)
    solved = _solved(equations, [part for name in unknown for part in _parts_of(name, digits)], lows)
    for name, radix in digits.items():
        high, low = solved.pop(f"{name}/", None), solved.pop(f"{name}%", None)
        if high is not None and low is not None:
            solved[name] = add(mul(Const(radix), high), low)
    return solved


Equations = list[tuple[Index, Index]]


def _reduced(term: Index) -> Index:
    """A term with its exact quotients worked out: `floor (8 * x / 8)` is `x`."""
    if isinstance(term, Sum):
        return add(*(_reduced(part) for part in term.terms))
    if isinstance(term, Product):
        return mul(_reduced(term.left), _reduced(term.right))
    if isinstance(term, Div) and isinstance(term.right, Const) and isinstance(term.left, Product) and isinstance(term.left.left, Const):
        factor, divisor = term.left.left.value, term.right.value
        if divisor and factor % divisor == 0:
            return mul(Const(factor // divisor), _reduced(term.left.right))
    return term


def _digits(equations: Equations, unknown: Sequence[str]) -> tuple[Equations, dict[str, int]]:
    """Equations with an unknown that stands only in quotients and remainders by one literal as two unknowns, and those literals."""
    radices: dict[str, set[int]] = {}
    for ours, _ in equations:
        _note_radices(ours, frozenset(unknown), radices)
    digits = {name: next(iter(found)) for name, found in radices.items() if len(found) == 1 and min(found) > 0}
    return [(_by_digit(ours, digits), theirs) for ours, theirs in equations] if digits else equations, digits


def _note_radices(term: Index, unknown: frozenset[str], found: dict[str, set[int]]) -> None:
    """Collect the literals that unknowns are divided by; 0 stands for an unknown by itself."""
    if isinstance(term, Var) and term.name in unknown:
        found.setdefault(term.name, set()).add(0)
    elif isinstance(term, (Div, Mod)) and isinstance(term.left, Var) and isinstance(term.right, Const) and term.left.name in unknown:
        found.setdefault(term.left.name, set()).add(term.right.value)
    elif isinstance(term, Sum):
        for part in term.terms:
            _note_radices(part, unknown, found)
    elif not isinstance(term, (Const, Var)):
        _note_radices(term.left, unknown, found)
        _note_radices(term.right, unknown, found)


def _by_digit(term: Index, digits: Mapping[str, int]) -> Index:
    if isinstance(term, (Div, Mod)) and isinstance(term.left, Var) and term.left.name in digits:
        return Var(f"{term.left.name}{'/' if isinstance(term, Div) else '%'}")
    if isinstance(term, Sum):
        return add(*(_by_digit(part, digits) for part in term.terms))
    if isinstance(term, Product):
        return mul(_by_digit(term.left, digits), _by_digit(term.right, digits))
    return term


def _parts_of(name: str, digits: Mapping[str, int]) -> tuple[str, ...]:
    return (f"{name}/", f"{name}%") if name in digits else (name,)


def _solved(equations: Equations, unknown: Sequence[str], lows: Mapping[str, Index]) -> dict[str, Index]:
    """Terms for the unknowns that the equations determine."""
    solved: dict[str, Index] = {}
    waiting = equations
    for _ in range(len(waiting) + 1):
        left: list[tuple[Index, Index]] = []
        for ours, theirs in waiting:
            ours = substitute(ours, solved)
            free = frozenset(name for name in unknown if name not in solved)
            parts = split_linear(ours, free)
            if parts is None or not parts[0]:
                if parts is None:
                    left.append((ours, theirs))
                continue
            if not _alike(parts, theirs, solved):
                _decode_one(parts[0], sub(theirs, parts[1]), unknown, lows, solved)
        if not left or left == waiting:
            break
        waiting = left
    return solved


def _joined(equations: list[tuple[Index, Index]]) -> list[tuple[Index, Index]]:
    """Equations for a quotient and a remainder of one term by one divisor, joined into one for the term."""
    for place, (ours, theirs) in enumerate(equations):
        if not isinstance(ours, Div):
            continue
        for other, (remainder, left) in enumerate(equations):
            if remainder == Mod(ours.left, ours.right):
                whole = (ours.left, add(mul(ours.right, theirs), left))
                rest = [pair for spot, pair in enumerate(equations) if spot not in (place, other)]
                return _joined([*rest, whole])
    return equations


def _alike(parts: tuple[dict[str, Index], Index], value: Index, solved: dict[str, Index]) -> bool:
    """Match the value's own summands by their coefficients, where it has just those coefficients."""
    wanted, rest = parts
    parameters = frozenset(name for coefficient in wanted.values() for name in variables(coefficient))
    given = split_linear(value, variables(value) - parameters)
    if given is None or given[1] != rest or len(set(wanted.values())) != len(wanted):
        return False
    holders = {coefficient: name for name, coefficient in given[0].items()}
    if len(holders) != len(given[0]) or set(holders) != set(wanted.values()):
        return False
    solved.update({name: Var(holders[coefficient]) for name, coefficient in wanted.items()})
    return True


def _decode_one(
    coefficients: Mapping[str, Index],
    value: Index,
    unknown: Sequence[str],
    lows: Mapping[str, Index],
    solved: dict[str, Index],
) -> None:
    names = [name for name in unknown if name in coefficients]
    names.sort(key=lambda name: -_weight(coefficients[name]))
    for name in names:
        low = substitute(lows.get(name, ZERO), solved)
        if low != ZERO and not variables(low) & set(names):
            value = sub(value, mul(coefficients[name], low))
    for name in names:
        coefficient, low = coefficients[name], substitute(lows.get(name, ZERO), solved)
        if coefficient == Const(-1) and len(names) == 1:
            solved[name] = sub(low, value) if low != ZERO else mul(Const(-1), value)
            return
        quotient = div(value, coefficient)
        solved[name] = add(low, quotient) if low != ZERO else quotient
        value = mod(value, coefficient) if coefficient != ONE else ZERO


def _weight(coefficient: Index) -> int:
    """A rank for coefficients: literals by size, symbolic ones above them by their degree."""
    if isinstance(coefficient, Const):
        return coefficient.value
    return (1 << 40) * len(list(_variables_with_repeats(coefficient)))


def _variables_with_repeats(term: Index) -> list[str]:
    if isinstance(term, Var):
        return [term.name]
    if isinstance(term, Product):
        return _variables_with_repeats(term.left) + _variables_with_repeats(term.right)
    if isinstance(term, Sum):
        return max((_variables_with_repeats(part) for part in term.terms), key=len, default=[])
    return []
