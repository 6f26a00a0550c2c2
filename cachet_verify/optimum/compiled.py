"""Conditions and costs as Python functions of the values, for the inner loop of a search.

Takes terms and the order of the names; gives functions. Must not compile text from outside: names
become numbered parameters, and the rest is operators and literals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from cachet_verify.core.index import And, Compare, Const, Div, Formula, Index, Max, Min, Not, Product, Sum, Truth, Var, conj

# Called with the values of all names but the last, the ends of the last, and the bound (top, bottom)
# of the cost; gives the costs as (numerator, denominator) with the value of the last name.
Sweep = Callable[[tuple[int, ...], int, int, int, int], list[tuple[int, int, int]]]


def sweep(names: tuple[str, ...], conditions: tuple[Formula, ...], numerator: Index, denominator: Index) -> Sweep:
    """The candidates along the last name that cost at most the bound; without a bound, `bottom` is 0 and `top` 1."""
    places = {name: f"v{place}" for place, name in enumerate(names)}
    test = _formula(conj(conditions), places)
    heads = ", ".join(f"v{place}" for place in range(len(names) - 1))
    unpack = f"({heads},) = values; " if heads else ""
    text = f"""
def sweep(values, low, high, top, bottom):
    {unpack}found = []
    for v{len(names) - 1} in range(low, high + 1):
        if {test}:
            n, d = {_term(numerator, places)}, {_term(denominator, places)}
            if d > 0 and n * bottom <= top * d:
                found.append((n, d, v{len(names) - 1}))
    return found
"""
    scope: dict[str, object] = {}
    exec(compile(text, "<search>", "exec"), scope)
    return cast(Sweep, scope["sweep"])


def _term(term: Index, places: dict[str, str]) -> str:
    if isinstance(term, Const):
        return f"({term.value})"
    if isinstance(term, Var):
        return places[term.name]
    if isinstance(term, Sum):
        return f"({' + '.join(_term(part, places) for part in term.terms)})"
    left, right = _term(term.left, places), _term(term.right, places)
    if isinstance(term, (Min, Max)):
        return f"({left} if {left} {'<=' if isinstance(term, Min) else '>='} {right} else {right})"
    sign = "*" if isinstance(term, Product) else "//" if isinstance(term, Div) else "%"
    return f"({left} {sign} {right})"


def _formula(formula: Formula, places: dict[str, str]) -> str:
    if isinstance(formula, Truth):
        return str(formula.value)
    if isinstance(formula, Compare):
        return f"({_term(formula.left, places)} {formula.relation} {_term(formula.right, places)})"
    if isinstance(formula, Not):
        return f"(not {_formula(formula.body, places)})"
    sign = " and " if isinstance(formula, And) else " or "
    return f"({sign.join(_formula(part, places) for part in formula.parts)})"
