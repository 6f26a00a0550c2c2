"""Names of blocks that a split does not name: `gi` for the blocks of `i`, which later lines call `i.outer`.

Takes the lines of a schedule; gives the lines with every block named, and `i.outer` and `i.inner` replaced by the
counters that they are. Must not apply any line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cachet_verify.rewrite.expand import with_exprs
from cachet_verify.rewrite.expression import counter_name
from cachet_verify.rewrite.traverse import fresh
from cachet_verify.syntax import ast


def name_blocks(lines: Sequence[ast.ScheduleLine], used: frozenset[str]) -> tuple[ast.ScheduleLine, ...]:
    """The lines with a name for each block, unlike those that are used and those that lines speak of."""
    used |= frozenset(name for line in lines for name in _spoken(line))
    blocks: dict[str, str] = {}
    made: list[ast.ScheduleLine] = []
    for line in lines:
        known = dict(blocks)

        def resolved(expr: ast.Expr, known: dict[str, str] = known) -> ast.Expr | None:
            """`i.outer` and `i.inner` of an earlier split."""
            name = counter_name(expr)
            index, _, part = (name or "").partition(".")
            if index not in known or part not in ("outer", "inner"):
                return None
            return ast.Name(known[index] if part == "outer" else index, span=expr.span)

        line = with_exprs(line, resolved)
        if isinstance(line, ast.Split):
            parts: list[ast.SplitPart] = []
            for part in line.parts:
                index = counter_name(part.index)
                if index is None or all(factor.name is not None for factor in part.factors):
                    parts.append(part)
                    continue
                blocks[index] = fresh(f"g{index.replace('.', '_')}", used)
                used |= {blocks[index]}
                parts.append(replace(part, factors=tuple(replace(factor, name=factor.name or blocks[index]) for factor in part.factors)))
            line = replace(line, parts=tuple(parts))
        made.append(line)
    return tuple(made)


def _spoken(line: ast.ScheduleLine) -> Iterator[str]:
    """The names in a line, those that it gives included."""
    found: list[str] = []

    def note(expr: ast.Expr) -> None:
        if isinstance(expr, ast.Name):
            found.append(expr.name)

    with_exprs(line, note)
    if isinstance(line, ast.Split):
        found += [factor.name for part in line.parts for factor in part.factors if factor.name is not None]
    yield from found
