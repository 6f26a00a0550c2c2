"""Integer terms and formulas as text, in the language's own notation.

Takes core terms; gives text that the parser reads back to the same term. Must not simplify.
"""

from __future__ import annotations

from cachet_verify.core.index import (
    And,
    Compare,
    Const,
    Div,
    Formula,
    Index,
    Min,
    Mod,
    Not,
    Or,
    Product,
    Sum,
    Truth,
    Var,
    negate,
)

_SUM, _PRODUCT, _ATOM = 1, 2, 3


def spell(term: Index, tight: int = 0) -> str:
    """A term as text; `tight` is the binding strength its surroundings ask for."""
    if isinstance(term, Const):
        text = str(term.value)
        return f"({text})" if term.value < 0 and tight >= _PRODUCT else text
    if isinstance(term, Var):
        return term.name
    if isinstance(term, Sum):
        return _wrap(_spell_sum(term), _SUM, tight)
    if isinstance(term, Product):
        if _is_rounded_up(term):
            return _spell_rounded_up(term, tight)
        if isinstance(term.left, Const) and term.left.value == -1:
            return _wrap("-" + spell(term.right, _ATOM), _SUM, tight)
        return _wrap(f"{spell(term.left, _PRODUCT)} * {spell(term.right, _ATOM)}", _PRODUCT, tight)
    if isinstance(term, Div):
        return _wrap(f"floor ({spell(term.left, _PRODUCT)} / {spell(term.right, _ATOM)})", _ATOM - 1, tight)
    if isinstance(term, Mod):
        return _wrap(f"{spell(term.left, _PRODUCT)} % {spell(term.right, _ATOM)}", _PRODUCT, tight)
    word = "min" if isinstance(term, Min) else "max"
    return _wrap(f"{word} {spell(term.left, _ATOM)} {spell(term.right, _ATOM)}", _ATOM - 1, tight)


def _is_rounded_up(term: Product) -> bool:
    """Whether a product is minus a number times a floor of minus something: so many times that, rounded up."""
    return isinstance(term.left, Const) and term.left.value < 0 and isinstance(term.right, Div) and _looks_negative(term.right.left)


def _looks_negative(term: Index) -> bool:
    """Whether a term is written as minus something."""
    if isinstance(term, Div):
        return _looks_negative(term.left)
    if not (isinstance(term, Product) and isinstance(term.left, Const)):
        return False
    return (term.left.value < 0) != (isinstance(term.right, Div) and _looks_negative(term.right))


def _spell_rounded_up(term: Product, tight: int) -> str:
    quotient, count = term.right, term.left
    if not (isinstance(quotient, Div) and isinstance(count, Const)):
        raise TypeError(f"not rounded up: {term!r}")
    text = f"ceil ({spell(negate(quotient.left), _PRODUCT)} / {spell(quotient.right, _ATOM)})"
    return _wrap(text, _ATOM - 1, tight) if count.value == -1 else _wrap(f"{-count.value} * ({text})", _PRODUCT, tight)


def _wrap(text: str, own: int, tight: int) -> str:
    return f"({text})" if own < tight else text


def _spell_sum(term: Sum) -> str:
    text = ""
    for part in term.terms:
        sign, body = "+", spell(part, _SUM)
        if body.startswith("-"):
            sign, body = "-", body[1:]
        if text:
            text = f"{text} {sign} {body}"
        else:
            text = body if sign == "+" else "-" + body
    return text


def spell_formula(formula: Formula, tight: int = 0) -> str:
    """A formula as text; `tight` 1 asks for a conjunct, 2 for an operand of `not`."""
    if isinstance(formula, Truth):
        return "true" if formula.value else "false"
    if isinstance(formula, Compare):
        text = f"{spell(formula.left)} {formula.relation} {spell(formula.right)}"
        return f"({text})" if tight >= 2 else text
    if isinstance(formula, Not):
        return f"not {spell_formula(formula.body, 2)}"
    if isinstance(formula, And):
        text = " and ".join(spell_formula(part, 1) for part in formula.parts)
        return f"({text})" if tight >= 2 else text
    if isinstance(formula, Or):
        text = " or ".join(spell_formula(part, 1) for part in formula.parts)
        return f"({text})" if tight >= 1 else text
    raise TypeError(f"not a formula: {formula!r}")


def spell_requirement(formula: Formula) -> str:
    """A requirement as text, as one writes it: the numbers on the right, `K > 0`."""
    if isinstance(formula, And):
        return " and ".join(f"({spell_formula(part)})" if isinstance(part, Or) else spell_requirement(part) for part in formula.parts)
    if isinstance(formula, Compare) and isinstance(formula.left, Const) and not isinstance(formula.right, Const):
        return f"{spell(formula.right)} {_MIRRORED[formula.relation]} {spell(formula.left)}"
    return spell_formula(formula)


_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">="}
