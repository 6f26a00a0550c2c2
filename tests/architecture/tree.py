"""The package as the architecture tests see it: its modules, parsed once.

Takes nothing; gives modules with their syntax trees and what they import.
Must not import the package: a module that does not even load is checked too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "cachet_verify"


@dataclass(frozen=True)
class Module:
    """One module: its file, its dotted name below `cachet_verify` ("" for the package itself), its text and tree."""

    path: Path
    name: str
    text: str
    tree: ast.Module

    @property
    def stage(self) -> str:
        """The part of the package it belongs to: the first word of its name."""
        return self.name.partition(".")[0]

    @property
    def shown(self) -> str:
        """The file's path from the root of the checkout."""
        return str(self.path.relative_to(ROOT))


def module_of(path: Path, text: str) -> Module:
    """Parse one module."""
    words = list(path.relative_to(PACKAGE).with_suffix("").parts)
    if words[-1] == "__init__":
        words.pop()
    return Module(path, ".".join(words), text, ast.parse(text, str(path)))


@cache
def modules() -> tuple[Module, ...]:
    """Give every module of the package."""
    return tuple(module_of(path, path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py")))


def imports(module: Module) -> Iterator[tuple[str, int]]:
    """Give the dotted name and the line of everything a module imports, also inside functions; what is only for type checkers is left out."""
    skipped = {id(node) for test in ast.walk(module.tree) if is_for_types(test) for node in ast.walk(test)}
    for node in ast.walk(module.tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            for alias in node.names:
                yield f"{node.module}.{alias.name}", node.lineno


def is_for_types(node: ast.AST) -> bool:
    """True for `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
