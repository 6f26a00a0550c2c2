"""`synth const`: the conditions and the cost of a search as core terms, and the values found.

Takes a declaration; gives its item. Must not believe the search: the item is what is to be proved.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from cachet_verify.core.index import (
    ONE,
    TRUE,
    ZERO,
    Const,
    Formula,
    Index,
    Var,
    add,
    conjuncts,
    le,
    mul,
    negate,
    substitute,
    substitute_formula,
    variables,
)
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.item import SynthCondition, SynthItem
from cachet_verify.elaborate.place import source_text
from cachet_verify.elaborate.problem import UnsupportedError
from cachet_verify.elaborate.scope import IndexEntity, Scope
from cachet_verify.elaborate.term import elaborate_condition, elaborate_index
from cachet_verify.optimum.problem import Found, Outcome, Problem
from cachet_verify.optimum.search import search
from cachet_verify.syntax import ast

if TYPE_CHECKING:
    from cachet_verify.elaborate.world import Unit

_EXAMPLE = "`synth const (A, B) : (Nat, Nat) = minimize (a, b) in (a, b): a * b where …`"


def build_synth(unit: Unit, decl: ast.SynthConst) -> SynthItem:
    """The item of a `synth const`. Raises StopError, UnsupportedError."""
    context = Context(unit, unit.problems)
    naturals = _naturals(decl, context)
    if len(set(decl.variables)) != len(decl.variables):
        raise context.stop("elaborate.name.duplicate", "a name is searched twice", decl.span, "give each its own name")
    scope = Scope({name: IndexEntity(Var(name)) for name in decl.variables})
    found: list[SynthCondition] = []
    if all(naturals):
        found = [SynthCondition(le(ZERO, Var(name)), f"0 <= {name}", decl.span) for name in decl.variables]
    scope = scope.assume(*(item.formula for item in found))
    for written in decl.conditions:
        for part in _conjuncts(written):
            formula = elaborate_condition(part, scope, context)
            found += [SynthCondition(piece, source_text(part), part.span) for piece in conjuncts(formula)]
            scope = scope.assume(formula)
    numerator, denominator = _ratio(decl.cost, scope, context)
    problem = Problem(decl.variables, tuple(item.formula for item in found), numerator, denominator)
    _check_closed(problem, decl)
    outcome = _searched(problem, decl, context)
    values = _values(decl, naturals, outcome.best[0].values, unit) if isinstance(outcome, Found) else ()
    return SynthItem(decl.names, values, problem, tuple(found), tuple(context.conditions), outcome, decl.span)


def _naturals(decl: ast.SynthConst, context: Context) -> tuple[bool, ...]:
    """For each name, whether it is a `Nat`; else it is an `Int`."""
    kinds = decl.type.items if isinstance(decl.type, ast.Tuple) else (decl.type,)
    if len(kinds) != len(decl.names) or not all(kind in (ast.Name("Nat"), ast.Name("Int")) for kind in kinds):
        raise context.stop("elaborate.constant", "each searched constant is a `Nat` or an `Int`", decl.span, _EXAMPLE)
    return tuple(kind == ast.Name("Nat") for kind in kinds)


def _conjuncts(expr: ast.Expr) -> Iterator[ast.Expr]:
    if isinstance(expr, ast.Binary) and expr.operator == "and":
        yield from _conjuncts(expr.left)
        yield from _conjuncts(expr.right)
    else:
        yield expr


def _check_closed(problem: Problem, decl: ast.SynthConst) -> None:
    """Refuse what depends on a constant that a family leaves open."""
    parts: tuple[Formula | Index, ...] = (*problem.conditions, problem.numerator, problem.denominator)
    free = frozenset[str]().union(*(variables(part) for part in parts)) - frozenset(problem.names)
    if free:
        raise UnsupportedError(f"a `synth const` that depends on `{min(free)}`, which is left open", decl.span)


def _searched(problem: Problem, decl: ast.SynthConst, context: Context) -> Outcome:
    try:
        return search(problem)
    except ZeroDivisionError:
        hint = "put a condition before it that rules it out, such as `m > 0`"
        raise context.stop("elaborate.index.zero-divisor", "a divisor can be 0 where the conditions before it hold", decl.span, hint) from None


# --- the cost: a quotient of integers ----------------------------------------------------------


def _ratio(expr: ast.Expr, scope: Scope, context: Context) -> tuple[Index, Index]:
    """A cost as numerator and denominator: `/` is the exact quotient of rationals here."""
    if isinstance(expr, ast.FloatLit):
        value = Fraction(expr.text)
        return Const(value.numerator), Const(value.denominator)
    if isinstance(expr, ast.Unary) and expr.operator == "-":
        top, bottom = _ratio(expr.operand, scope, context)
        return negate(top), bottom
    if not isinstance(expr, ast.Binary) or expr.operator not in ("+", "-", "*", "/"):
        return elaborate_index(expr, scope, context), ONE
    top, bottom = _ratio(expr.left, scope, context)
    over, under = _ratio(expr.right, scope, context)
    if expr.operator == "*":
        return mul(top, over), mul(bottom, under)
    if expr.operator == "/":
        if over == ZERO:
            raise context.stop("elaborate.index.zero-divisor", "the divisor is 0", expr.span)
        return mul(top, under), mul(bottom, over)
    over = negate(over) if expr.operator == "-" else over
    if bottom == under:
        return add(top, over), bottom
    return add(mul(top, under), mul(over, bottom)), mul(bottom, under)


# --- the values --------------------------------------------------------------------------------


def _values(decl: ast.SynthConst, naturals: tuple[bool, ...], chosen: tuple[int, ...], unit: Unit) -> tuple[int, ...]:
    """What the result comes to at the chosen values. Raises StopError where it is no integer, or no natural number."""
    context = Context(unit, unit.problems)
    results = decl.result.items if isinstance(decl.result, ast.Tuple) else (decl.result,)
    if len(results) != len(decl.names):
        message = f"{len(decl.names)} constants are named, and {len(results)} values are minimized"
        raise context.stop("elaborate.constant", message, decl.result.span or decl.span, _EXAMPLE)
    scope = Scope({name: IndexEntity(Var(name)) for name in decl.variables})
    by = {name: Const(value) for name, value in zip(decl.variables, chosen, strict=True)}
    found = []
    for name, expr, is_natural in zip(decl.names, results, naturals, strict=True):
        value = substitute(elaborate_index(expr, scope, context), by)
        if not isinstance(value, Const):
            raise context.stop("elaborate.constant", f"`{name}` is not a number", expr.span or decl.span)
        if is_natural and value.value < 0:
            raise context.stop("elaborate.constant", f"`{name}` is a `Nat`, and comes to {value.value}", expr.span or decl.span)
        found.append(value.value)
    for condition in context.conditions:
        if substitute_formula(condition.goal, by) != TRUE:
            raise context.stop("elaborate.constant", f"this must hold, and does not: {condition.text}", condition.span or decl.span)
    return tuple(found)
