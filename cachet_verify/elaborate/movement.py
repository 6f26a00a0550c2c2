"""The rows of a `movement` clause: how many lines a function may move between memory levels.

Takes rows as written and the scope of a header; gives core rows. Must not count what is moved.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cachet_verify.core.index import Index
from cachet_verify.core.ir import Traffic
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.place import source_text
from cachet_verify.elaborate.problem import StopError
from cachet_verify.elaborate.scope import Scope
from cachet_verify.elaborate.term import check_natural, elaborate_index
from cachet_verify.syntax import ast

HOME = "DRAM"
"""Where buffers live that say nothing else, where no platform says what its outermost level is."""

_FORM = "`traffic 8 * lines (span_bytes a.span) from DRAM to L1 and back`"


def elaborate_movement(rows: Sequence[ast.Traffic], params: Collection[str], scope: Scope, context: Context) -> tuple[Traffic, ...] | None:
    """The rows of a clause; None where there is none. A row that is refused is reported and left out."""
    found: list[Traffic] = []
    for row in rows:
        try:
            made = _row(row, params, scope, context)
        except StopError:
            continue
        if made.name is not None and any(made.name == other.name for other in found):
            context.problems.report("elaborate.name.duplicate", f"two rows of traffic are named `{made.name}`", row.span)
        found.append(made)
    return tuple(found) if rows else None


def home_of(levels: Sequence[str], capacities: Collection[str]) -> str:
    """The outermost of a platform's levels, nearest first: the last one without a capacity, or the last one."""
    endless = [level for level in levels if level not in capacities]
    return endless[-1] if endless else levels[-1] if levels else HOME


def _row(row: ast.Traffic, params: Collection[str], scope: Scope, context: Context) -> Traffic:
    lines: list[str] = []
    factors: list[Index] = []
    texts: list[str] = []
    for part in _factors(row.count):
        buffer = _lines_of(part, context)
        if buffer is not None:
            lines.append(buffer)
            continue
        factor = elaborate_index(part, scope, context)
        check_natural(factor, part, scope, context)
        factors.append(factor)
        texts.append(_as_factor(part))
    if len(lines) != 1:
        message = "a row of traffic is a number times the lines of one buffer"
        raise context.stop("elaborate.movement", message, row.count.span or row.span, _FORM)
    if lines[0] not in params:
        known = ", ".join(f"`{name}`" for name in params)
        message = f"`{lines[0]}` is no parameter, so nobody can say what moves of it"
        raise context.stop("elaborate.movement", message, row.count.span or row.span, f"one of {known}" if known else "")
    _check_levels(row, context)
    return Traffic(lines[0], tuple(factors), row.source, row.target, row.back, row.name, " * ".join(texts) or "1", row.span)


def _factors(expr: ast.Expr) -> list[ast.Expr]:
    """The factors of a product, in the order written."""
    if isinstance(expr, ast.Binary) and expr.operator == "*":
        return [*_factors(expr.left), *_factors(expr.right)]
    return [expr]


def _as_factor(expr: ast.Expr) -> str:
    return f"({source_text(expr)})" if isinstance(expr, (ast.Binary, ast.Unary)) else source_text(expr)


def _lines_of(expr: ast.Expr, context: Context) -> str | None:
    """The buffer of `lines (span_bytes x.span)`; None for anything else."""
    if not _is_call(expr, "lines"):
        return None
    inner = expr.args[0] if isinstance(expr, ast.Apply) and len(expr.args) == 1 else expr
    place = inner.args[0] if _is_call(inner, "span_bytes") and isinstance(inner, ast.Apply) and len(inner.args) == 1 else None
    if isinstance(place, ast.Field) and place.name == "span" and isinstance(place.base, ast.Name):
        return place.base.name
    raise context.stop("elaborate.movement", "`lines` counts the lines of a buffer's span", expr.span, "`lines (span_bytes a.span)`")


def _is_call(expr: ast.Expr, name: str) -> bool:
    return isinstance(expr, ast.Apply) and expr.function == ast.Name(name)


def _check_levels(row: ast.Traffic, context: Context) -> None:
    """Both levels are the platform's, and the target is nearer than the source."""
    levels = context.unit.levels()
    known = f"one of {', '.join(levels)}"
    for level in (row.source, row.target):
        if levels and level not in levels:
            raise context.stop("elaborate.platform.level", f"the platform has no memory level `{level}`", row.span, known)
    is_outward = bool(levels) and levels.index(row.source) < levels.index(row.target)
    if row.source == row.target or is_outward:
        message = f"traffic goes to a nearer level, and `{row.target}` is not nearer than `{row.source}`"
        back = " and back" if row.back else ""
        hint = f"`from {row.target} to {row.source}{back}`" if is_outward else "`from DRAM to L1`"
        raise context.stop("elaborate.movement", message, row.span, hint)
