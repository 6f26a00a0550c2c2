"""docs/operations.md names every operation there is, on the types it is defined on, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cachet_verify.core.word import OPERATIONS
from cachet_verify.elaborate import operation

PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
KINDS = {"float": {"float"}, "integer": {"signed", "unsigned"}, "bool": {"bool"}}
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in PAGE.splitlines() if line.startswith("| ")]


def words_of(row: list[str]) -> dict[str, set[str]]:
    """The operations of a row of the first table, with the kinds it gives them."""
    if len(row) != 4 or row[2] in ("types", "any"):
        return {}
    kinds = set().union(*(KINDS.get(word, set()) for word in row[2].split(", ")))
    return {name: kinds for name in re.findall(r"`(\w+)`", row[1])}


def test_every_operation_is_there_with_its_types() -> None:
    found: dict[str, set[str]] = {}
    for row in ROWS:
        found |= words_of(row)
    assert found == {name: set(known.kinds) for name, known in OPERATIONS.items()}


@pytest.mark.parametrize("name", sorted({*operation.RESERVED, *operation.ELEMENTARY}))
def test_every_reserved_function_is_there(name: str) -> None:
    assert re.search(rf"`[^`]*\b{name}\b[^`]*`", PAGE)
