"""Printing a tree and parsing the text gives the tree back: every listing, and random trees of every class."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from cachet_verify.source import SourceFile
from cachet_verify.syntax import ast
from cachet_verify.syntax.parse import parse_expression, parse_file, parse_statements, parse_steps, parse_text
from cachet_verify.syntax.print import print_expression, print_file, print_statements, print_steps
from tests.syntax.declaration_strategy import FILES
from tests.syntax.strategy import BODIES, EXPRESSIONS, LINES, tuples

LISTINGS = sorted((Path(__file__).parent / "listing").iterdir())
SETTINGS = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@pytest.mark.parametrize("path", LISTINGS, ids=lambda path: path.name)
def test_a_listing_parses_prints_and_parses_back(path: Path) -> None:
    source = SourceFile(path.name, path.read_text(encoding="utf-8"))
    if path.suffix == ".cachet":
        tree = parse_file(source)
        text = print_file(tree)
        assert parse_text(text) == tree
        assert print_file(parse_text(text)) == text
    else:
        nest = parse_statements(source)
        text = print_statements(nest)
        assert parse_statements(SourceFile("printed", text)) == nest


@given(EXPRESSIONS)
@SETTINGS
def test_expressions(tree: ast.Expr) -> None:
    assert parse_expression(SourceFile("printed", print_expression(tree))) == tree


@given(BODIES)
@SETTINGS
def test_statements(tree: ast.Body) -> None:
    assert parse_statements(SourceFile("printed", print_statements(tree))) == tree


@given(tuples(LINES, 1))
@SETTINGS
def test_steps(tree: tuple[ast.ScheduleLine, ...]) -> None:
    assert parse_steps(SourceFile("printed", print_steps(tree))) == tree


@given(FILES)
@SETTINGS
def test_files(tree: ast.File) -> None:
    assert parse_text(print_file(tree)) == tree
