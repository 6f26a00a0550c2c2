"""Integer expressions of steps, in schedules and in patterns, as core terms and formulas.

Takes syntax and a way to look names up; gives core terms. A name that the look-up does not know is
a diagnostic. Must not evaluate anything but literals.
"""

from __future__ import annotations

from collections.abc import Callable

from cachet_verify.core.index import (
    Const,
    Formula,
    Index,
    Relation,
    Truth,
    add,
    ceil_div,
    compare,
    conj,
    disj,
    div,
    le,
    lt,
    maximum,
    minimum,
    mod,
    mul,
    neg,
    negate,
    sub,
)
from cachet_verify.rewrite.error import StepError, refuse
from cachet_verify.syntax import ast

Lookup = Callable[[ast.Expr], Index | None]
"""What a name, a `$` variable or a part of a block stands for; None when it is not known."""

_ARITHMETIC: dict[str, Callable[[Index, Index], Index]] = {"+": add, "-": sub, "*": mul, "/": div, "%": mod}
_RELATIONS: dict[str, Relation] = {"==": "==", "!=": "!=", "<=": "<=", "<": "<"}
_ROUNDED: dict[str, Callable[[Index, Index], Index]] = {"floor": div, "ceil": ceil_div}
_CALLS: dict[str, Callable[[Index, Index], Index]] = {"min": minimum, "max": maximum}


def index_of(expr: ast.Expr, lookup: Lookup) -> Index:
    """An integer expression as a term. Raises StepError, at the part that is not one."""
    known = lookup(expr)
    if known is not None:
        return known
    if isinstance(expr, ast.IntLit):
        return Const(expr.value)
    if isinstance(expr, ast.Unary) and expr.operator == "-":
        return negate(index_of(expr.operand, lookup))
    if isinstance(expr, ast.Binary) and expr.operator in _ARITHMETIC:
        return _ARITHMETIC[expr.operator](index_of(expr.left, lookup), index_of(expr.right, lookup))
    if isinstance(expr, ast.Index) and len(expr.items) == 1 and isinstance(expr.base, (ast.Name, ast.PatternVar)):
        start = lookup(ast.Field(expr.base, "lo"))
        if start is not None:
            return add(start, index_of(expr.items[0], lookup))
    if isinstance(expr, ast.Apply):
        return _call(expr, lookup)
    raise _not_an_integer(expr)


def _call(expr: ast.Apply, lookup: Lookup) -> Index:
    name = expr.function.name if isinstance(expr.function, ast.Name) else ""
    if name in _ROUNDED and len(expr.args) == 1:
        quotient = expr.args[0]
        if isinstance(quotient, ast.Binary) and quotient.operator == "/":
            return _ROUNDED[name](index_of(quotient.left, lookup), index_of(quotient.right, lookup))
    if name in _CALLS and len(expr.args) == 2:
        return _CALLS[name](index_of(expr.args[0], lookup), index_of(expr.args[1], lookup))
    raise _not_an_integer(expr)


def _not_an_integer(expr: ast.Expr) -> StepError:
    if isinstance(expr, (ast.Name, ast.PatternVar)):
        shown = f"${expr.name}" if isinstance(expr, ast.PatternVar) else expr.name
        hint = "" if isinstance(expr, ast.PatternVar) else f"a size, a number, or a constant of the file: `const {shown} : Nat = …`"
        return refuse("unknown-name", f"{shown} does not stand for an integer here", expr.span, hint)
    hint = "write sizes, counters, `g.lo`, `g.len`, `g[k]`, numbers, + - * / %, floor, ceil, min and max"
    return refuse("not-an-integer", "this is not an integer expression that a step can use", expr.span, hint)


def formula_of(expr: ast.Expr, lookup: Lookup) -> Formula:
    """A condition on integers as a formula. Raises StepError, at the part that is not one."""
    if isinstance(expr, ast.BoolLit):
        return Truth(expr.value)
    if isinstance(expr, ast.Unary) and expr.operator == "not":
        return neg(formula_of(expr.operand, lookup))
    if isinstance(expr, ast.Binary) and expr.operator in ("and", "or"):
        parts = (formula_of(expr.left, lookup), formula_of(expr.right, lookup))
        return conj(parts) if expr.operator == "and" else disj(parts)
    if isinstance(expr, ast.Binary):
        return _comparison(expr, lookup)
    raise refuse("not-a-condition", "this is not a condition on integers", expr.span, "a comparison, such as `$lo < $hi`")


def _comparison(expr: ast.Binary, lookup: Lookup) -> Formula:
    left, right = index_of(expr.left, lookup), index_of(expr.right, lookup)
    if expr.operator == ">":
        return lt(right, left)
    if expr.operator == ">=":
        return le(right, left)
    if expr.operator == "<":
        return lt(left, right)
    if expr.operator in _RELATIONS:
        return compare(_RELATIONS[expr.operator], left, right)
    raise refuse("not-a-condition", "this is not a condition on integers", expr.span, "a comparison, such as `$lo < $hi`")


def block_part(expr: ast.Expr) -> str | None:
    """`gk.len` as the name of the variable it is in the core; None for anything else."""
    if isinstance(expr, ast.Field) and isinstance(expr.base, ast.Name) and expr.name in ("lo", "len"):
        return f"{expr.base.name}.{expr.name}"
    return None


def counter_name(expr: ast.Expr) -> str | None:
    """`gk`, or `j.outer` and `j.inner` as a split without names leaves them; None for anything else."""
    if isinstance(expr, ast.Name):
        return expr.name
    if isinstance(expr, ast.Field) and isinstance(expr.base, ast.Name) and expr.name in ("outer", "inner"):
        return f"{expr.base.name}.{expr.name}"
    return None
