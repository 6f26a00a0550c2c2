"""Arguments of steps and schedule fns bound to parameters, by the shape of the line.

Takes the head of a definition and a line that uses it; gives the expression for each parameter.
Must not interpret an argument.
"""

from __future__ import annotations

from collections.abc import Sequence

from cachet_verify.syntax import ast

Bindings = dict[str, ast.Expr]


def bind(params: Sequence[ast.Expr], args: Sequence[ast.Expr]) -> Bindings | None:
    """What each parameter stands for; None when the shapes differ."""
    if len(params) != len(args):
        return None
    found: Bindings = {}
    for param, arg in zip(params, args, strict=True):
        if isinstance(param, ast.Name):
            if isinstance(arg, ast.Tuple):
                return None
            found[param.name] = arg
        elif isinstance(param, ast.Tuple) and isinstance(arg, ast.Tuple):
            inner = bind(param.items, arg.items)
            if inner is None:
                return None
            found.update(inner)
        elif param != arg:
            return None
    return found


def bind_clauses(params: Sequence[ast.Clause], args: Sequence[ast.Clause]) -> Bindings | None:
    """The same for the clauses of a step, which stand in the order of the head."""
    if [clause.word for clause in params] != [clause.word for clause in args]:
        return None
    found: Bindings = {}
    for param, arg in zip(params, args, strict=True):
        inner = bind(param.args, arg.args)
        if inner is None:
            return None
        found.update(inner)
    return found


def shape_text(name: str, params: Sequence[ast.Expr], clauses: Sequence[ast.Clause] = ()) -> str:
    """A line or a head as text: `hoist (j, k) c`."""
    words = [name, *(_text(param) for param in params)]
    for clause in clauses:
        words.extend((clause.word, *(_text(arg) for arg in clause.args)))
    return " ".join(words)


def _text(expr: ast.Expr) -> str:
    if isinstance(expr, ast.Name):
        return expr.name
    if isinstance(expr, ast.IntLit):
        return str(expr.value)
    if isinstance(expr, ast.Field):
        return f"{_text(expr.base)}.{expr.name}"
    if isinstance(expr, ast.Tuple):
        return f"({', '.join(_text(item) for item in expr.items)})"
    if isinstance(expr, ast.ListExpr):
        return f"[{', '.join(_text(item) for item in expr.items)}]"
    if isinstance(expr, ast.ArrayType):
        return f"[{_text(expr.element)}; {', '.join(_text(item) for item in expr.dims)}]"
    return "(…)"
