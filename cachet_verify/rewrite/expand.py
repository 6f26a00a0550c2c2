"""Schedule fns expanded into the steps they stand for.

Takes the lines of a schedule; gives primitive steps, one by one. Must not apply any step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from cachet_verify.rewrite.error import refuse
from cachet_verify.rewrite.parameter import bind, shape_text
from cachet_verify.rewrite.scope import Scope
from cachet_verify.syntax import ast


def expand(lines: Iterable[ast.ScheduleLine], scope: Scope) -> tuple[ast.ScheduleLine, ...]:
    """The lines with every call of a schedule fn replaced by its steps. Raises StepError.

    `admit` is no step: it marks the claim, and leaves nothing out of its proof.
    """
    return tuple(step for line in lines for step in _line(line, scope, ()))


def admits(lines: Iterable[ast.ScheduleLine], scope: Scope, inside: tuple[str, ...] = ()) -> tuple[ast.Admit, ...]:
    """Every `admit` of the lines, and of the schedule fns that they call, in order."""
    found: list[ast.Admit] = []
    for line in lines:
        if isinstance(line, ast.Admit):
            found.append(line)
        elif isinstance(line, ast.Step) and line.name in scope.schedule_fns and line.name not in inside:
            found.extend(admits(scope.schedule_fns[line.name].lines, scope, (*inside, line.name)))
    return tuple(found)


def _line(line: ast.ScheduleLine, scope: Scope, inside: tuple[str, ...]) -> tuple[ast.ScheduleLine, ...]:
    if isinstance(line, ast.Admit):
        return ()
    if not isinstance(line, ast.Step) or line.name not in scope.schedule_fns:
        return (line,)
    if line.name in inside:
        chain = " -> ".join((*inside, line.name))
        raise refuse("recursive-schedule-fn", f"the schedule fn {line.name} calls itself: {chain}", line.span, "write the steps out")
    definition = scope.schedule_fns[line.name]
    bindings = None if line.clauses else bind(definition.params, line.args)
    if bindings is None:
        wanted = shape_text(definition.name, definition.params)
        given = shape_text(line.name, line.args, line.clauses)
        raise refuse("arguments", f"{line.name} is called as `{given}`", line.span, f"`{wanted}`")
    steps = (replace_names(step, bindings) for step in definition.lines)
    return tuple(part for step in steps for part in _line(step, scope, (*inside, line.name)))


def replace_names(line: ast.ScheduleLine, by: Mapping[str, ast.Expr]) -> ast.ScheduleLine:
    """A line of a schedule fn with its parameters replaced."""
    if isinstance(line, ast.Split):
        parts = tuple(replace(part, factors=tuple(replace(factor, name=_name(factor, by)) for factor in part.factors)) for part in line.parts)
        line = replace(line, parts=parts)
    return with_exprs(line, lambda expr: by.get(expr.name) if isinstance(expr, ast.Name) else None)


def _name(factor: ast.Factor, by: Mapping[str, ast.Expr]) -> str | None:
    if factor.name is None or factor.name not in by:
        return factor.name
    given = by[factor.name]
    if isinstance(given, ast.Name):
        return given.name
    raise refuse("arguments", f"{factor.name} names a block, so its argument must be a name", given.span)


def with_exprs(line: ast.ScheduleLine, change: Callable[[ast.Expr], ast.Expr | None]) -> ast.ScheduleLine:
    """A line with expressions replaced, outer ones first; those that `change` gives None for stay, their parts asked in turn."""
    if isinstance(line, ast.Step):
        clauses = tuple(replace(clause, args=_all(clause.args, change)) for clause in line.clauses)
        return replace(line, args=_all(line.args, change), clauses=clauses)
    if isinstance(line, ast.Split):
        return replace(line, parts=tuple(_part(part, change) for part in line.parts))
    return line


_Change = Callable[[ast.Expr], "ast.Expr | None"]


def _part(part: ast.SplitPart, change: _Change) -> ast.SplitPart:
    factors = tuple(replace(factor, size=_expr(factor.size, change)) for factor in part.factors)
    return replace(part, index=_expr(part.index, change), factors=factors)


def _all(exprs: Iterable[ast.Expr], change: _Change) -> tuple[ast.Expr, ...]:
    return tuple(_expr(expr, change) for expr in exprs)


def _expr(expr: ast.Expr, change: _Change) -> ast.Expr:
    """Replace in the forms that arguments of steps have; anything else holds no name of a line."""
    found = change(expr)
    if found is not None:
        return found
    if isinstance(expr, (ast.Tuple, ast.ListExpr)):
        return replace(expr, items=_all(expr.items, change))
    if isinstance(expr, ast.Binary):
        return replace(expr, left=_expr(expr.left, change), right=_expr(expr.right, change))
    if isinstance(expr, ast.Unary):
        return replace(expr, operand=_expr(expr.operand, change))
    if isinstance(expr, ast.Field):
        return replace(expr, base=_expr(expr.base, change))
    if isinstance(expr, ast.Index):
        return replace(expr, base=_expr(expr.base, change), items=_all(expr.items, change))
    if isinstance(expr, ast.ArrayType):
        return replace(expr, dims=_all(expr.dims, change))
    if isinstance(expr, ast.Apply):
        return replace(expr, function=_expr(expr.function, change), args=_all(expr.args, change))
    if isinstance(expr, ast.Labelled):
        return replace(expr, labels=tuple(replace(label, value=_expr(label.value, change)) for label in expr.labels))
    return expr
