"""Sizes: no file over 600 lines, no function over 60."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.tree import PACKAGE, ROOT, Module, module_of, modules

FILE_LINES = 600
FUNCTION_LINES = 60
PYTHON = sorted(path for folder in ("cachet_verify", "tests", "bench", "examples") for path in (ROOT / folder).rglob("*.py"))


def long_functions(module: Module) -> Iterator[str]:
    """Give each function that is too long; a docstring does not count."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1 - docstring_lines(node)
            if lines > FUNCTION_LINES:
                yield f"{module.shown}:{node.lineno}: {node.name} has {lines} lines"


def docstring_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return (first.end_lineno or first.lineno) - first.lineno + 1
    return 0


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_is_too_long(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= FILE_LINES


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.name or "cachet_verify")
def test_no_function_is_too_long(module: Module) -> None:
    assert list(long_functions(module)) == []


def test_a_planted_long_function_is_caught() -> None:
    body = "\n".join(f"    a{number} = {number}" for number in range(FUNCTION_LINES))
    path = PACKAGE / "core" / "planted.py"
    assert list(long_functions(module_of(path, f"def f():\n{body}"))) == ["cachet_verify/core/planted.py:1: f has 61 lines"]
    short = body.rsplit("\n", 1)[0]
    assert list(long_functions(module_of(path, f'def f():\n    """Do it."""\n{short}'))) == []
