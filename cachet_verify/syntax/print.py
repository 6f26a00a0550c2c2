"""Syntax tree to text.

Takes a tree; gives Cachet text that parses back to the same tree.
Must not print comments, nor write to any stream.
"""

from __future__ import annotations

from cachet_verify.syntax.declaration import Declaration, File, Import, ModuleHeader
from cachet_verify.syntax.expression import Expr
from cachet_verify.syntax.print_declaration import declaration
from cachet_verify.syntax.print_expression import expression
from cachet_verify.syntax.print_statement import body, schedule_line
from cachet_verify.syntax.schedule import ScheduleLine
from cachet_verify.syntax.statement import Body


def print_file(node: File) -> str:
    """Return a file as text: its `module` and `import` lines together, other declarations apart."""
    parts: list[str] = []
    previous: Declaration | None = None
    for item in node.declarations:
        if previous is not None and not (_is_head(previous) and _is_head(item)):
            parts.append("")
        parts.append(print_declaration(item))
        previous = item
    return "".join(f"{part}\n" for part in parts)


def _is_head(node: Declaration) -> bool:
    return isinstance(node, ModuleHeader | Import)


def print_declaration(node: Declaration) -> str:
    """Return a declaration as text, without a line end after it."""
    return "\n".join(declaration(node))


def print_statements(node: Body) -> str:
    """Return statements as text, a line end after each line."""
    return "".join(f"{line}\n" for line in body(node, 0))


def print_steps(node: tuple[ScheduleLine, ...]) -> str:
    """Return lines of a schedule as text, a line end after each."""
    return "".join(f"{schedule_line(line)}\n" for line in node)


def print_expression(node: Expr) -> str:
    """Return an expression or a type as text."""
    return expression(node)
