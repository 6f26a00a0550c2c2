"""Every example of docs/language.md parses, prints, and parses back; its lists of words are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cachet_verify.source import SourceFile
from cachet_verify.syntax.engine import MAX_DEPTH
from cachet_verify.syntax.parse import parse_statements, parse_text
from cachet_verify.syntax.print import print_file, print_statements
from cachet_verify.syntax.schedule import CLAUSE_WORDS
from cachet_verify.syntax.token import KEYWORDS, MAX_DIGITS

PAGE = (Path(__file__).parents[2] / "docs" / "language.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```(cachet(?:-body)?)\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_of_the_reference_parses_and_prints(example: tuple[str, str]) -> None:
    kind, text = example
    if kind == "cachet":
        tree = parse_text(text)
        assert parse_text(print_file(tree)) == tree
    else:
        body = parse_statements(SourceFile("example", text))
        assert parse_statements(SourceFile("printed", print_statements(body))) == body


def test_the_reference_has_examples() -> None:
    assert len(EXAMPLES) >= 7


def test_the_words_and_limits_of_the_reference_are_those_of_the_code() -> None:
    flat = " ".join(PAGE.split())
    assert " ".join(sorted(KEYWORDS)) in flat
    assert f"`{' '.join(CLAUSE_WORDS)}`" in flat
    assert f"{MAX_DIGITS:,} digits" in flat
    assert f"{MAX_DEPTH} deep" in flat
