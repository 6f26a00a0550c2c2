"""Every example of the pages on the language, steps and attention parses, prints, and parses back; lists of words are those of the code."""

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

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "language.md").read_text(encoding="utf-8")


def examples(page: str) -> list[tuple[str, str]]:
    """The texts of a page that are in the language, each a file or a body."""
    return re.findall(r"```(cachet(?:-body)?)\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


EXAMPLES = [example for page in ("language.md", "steps.md", "attention.md") for example in examples(page)]


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
    assert len(examples("language.md")) >= 7


def test_the_words_and_limits_of_the_reference_are_those_of_the_code() -> None:
    flat = " ".join(PAGE.split())
    assert " ".join(sorted(KEYWORDS)) in flat
    assert f"`{' '.join(CLAUSE_WORDS)}`" in flat
    assert f"{MAX_DIGITS:,} digits" in flat
    assert f"{MAX_DEPTH} deep" in flat
