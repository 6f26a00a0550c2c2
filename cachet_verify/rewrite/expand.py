"""Schedule fns expanded into the steps they stand for.

Takes the lines of a schedule; gives primitive steps, one by one. Must not apply any step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    if isinstance(line, ast.Step):
        clauses = tuple(replace(clause, args=_all(clause.args, by)) for clause in line.clauses)
        return replace(line, args=_all(line.args, by), clauses=clauses)
    if isinstance(line, ast.Split):
        return replace(line, parts=tuple(_part(part, by) for part in line.parts))
    return line


def _part(part: ast.SplitPart, by: Mapping[str, ast.Expr]) -> ast.SplitPart:
    factors = tuple(replace(factor, size=_expr(factor.size, by), name=_name(factor, by)) for factor in part.factors)
    return replace(part, index=_expr(part.index, by), factors=factors)


def _name(factor: ast.Factor, by: Mapping[str, ast.Expr]) -> str | None:
    if factor.name is None or factor.name not in by:
        return factor.name
    given = by[factor.name]
    if isinstance(given, ast.Name):
        return given.name
    raise refuse("arguments", f"{factor.name} names a block, so its argument must be a name", given.span)


def _all(exprs: Iterable[ast.Expr], by: Mapping[str, ast.Expr]) -> tuple[ast.Expr, ...]:
    return tuple(_expr(expr, by) for expr in exprs)


def _expr(expr: ast.Expr, by: Mapping[str, ast.Expr]) -> ast.Expr:
    """Replace names in the forms that arguments of steps have; anything else holds no parameter."""
    if isinstance(expr, ast.Name):
        return by.get(expr.name, expr)
    if isinstance(expr, (ast.Tuple, ast.ListExpr)):
        return replace(expr, items=_all(expr.items, by))
    if isinstance(expr, ast.Binary):
        return replace(expr, left=_expr(expr.left, by), right=_expr(expr.right, by))
    if isinstance(expr, ast.Unary):
        return replace(expr, operand=_expr(expr.operand, by))
    if isinstance(expr, ast.Field):
        return replace(expr, base=_expr(expr.base, by))
    if isinstance(expr, ast.Index):
        return replace(expr, base=_expr(expr.base, by), items=_all(expr.items, by))
    if isinstance(expr, ast.Apply):
        return replace(expr, function=_expr(expr.function, by), args=_all(expr.args, by))
    if isinstance(expr, ast.Labelled):
        return replace(expr, labels=tuple(replace(label, value=_expr(label.value, by)) for label in expr.labels))
    return expr
