"""Integer terms and formulas as Python text, to be evaluated many times over.

Takes terms and a numbering of their variables; gives text of operators, literals and `v0`, `v1`, ….
Must mean what `evaluate` and `holds` say, and hold nothing else of what users wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cachet_verify.core.index import And, Compare, Const, Div, Formula, Index, Max, Min, Not, Product, Sum, Truth, Var


def term_text(term: Index, places: Mapping[str, int]) -> str:
    """A term as an expression. Raises KeyError for a variable without a place."""
    if isinstance(term, Const):
        return f"({term.value})"
    if isinstance(term, Var):
        return f"v{places[term.name]}"
    if isinstance(term, Sum):
        return f"({' + '.join(term_text(part, places) for part in term.terms)})"
    left, right = term_text(term.left, places), term_text(term.right, places)
    if isinstance(term, (Min, Max)):
        return f"{'min' if isinstance(term, Min) else 'max'}({left}, {right})"
    sign = "*" if isinstance(term, Product) else "//" if isinstance(term, Div) else "%"
    return f"({left} {sign} {right})"


def formula_text(formula: Formula, places: Mapping[str, int]) -> str:
    """A formula as an expression; parts are evaluated in order, as far as needed."""
    if isinstance(formula, Truth):
        return str(formula.value)
    if isinstance(formula, Compare):
        return f"({term_text(formula.left, places)} {formula.relation} {term_text(formula.right, places)})"
    if isinstance(formula, Not):
        return f"(not {formula_text(formula.body, places)})"
    sign = " and " if isinstance(formula, And) else " or "
    return f"({sign.join(formula_text(part, places) for part in formula.parts)})"


def defined(text: str, name: str) -> Callable[..., object]:
    """The function `name` that a text made here defines."""
    scope: dict[str, object] = {"__builtins__": {"range": range, "min": min, "max": max}}
    exec(compile(text, "<terms>", "exec"), scope)  # noqa: S102 - operators, literals and numbered names only
    found = scope[name]
    if not callable(found):
        raise TypeError(f"{name} is no function")
    return found
