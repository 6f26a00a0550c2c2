"""The shipped parse table is that of the grammar, and reading it costs little."""

from __future__ import annotations

import json
import subprocess
import sys
from cProfile import Profile
from pathlib import Path

import pytest

from cachet_verify.source import SourceFile
from cachet_verify.syntax import table as table_module
from cachet_verify.syntax.build_declaration import BUILDERS
from cachet_verify.syntax.layout import CONTRACT_WORDS, DECLARATION_WORDS
from cachet_verify.syntax.parse import parse
from cachet_verify.syntax.schedule import CLAUSE_WORDS
from cachet_verify.syntax.table import build_plain, load_table
from cachet_verify.syntax.token import KEYWORDS

FOLDER = Path(table_module.__file__).parent
LISTING = Path(__file__).parent / "listing"


@pytest.fixture(scope="module")
def plain() -> dict[str, object]:
    return json.loads(json.dumps(build_plain()))


def test_the_shipped_table_is_current(plain: dict[str, object]) -> None:
    assert json.loads((FOLDER / "table.json").read_text(encoding="utf-8")) == plain, "run python -m cachet_verify.syntax.table"


def test_a_changed_grammar_is_not_read_from_the_old_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    grammar = tmp_path / "cachet.lark"
    text = (FOLDER / "cachet.lark").read_text(encoding="utf-8")
    grammar.write_text(text.replace('"contraction" NAME', '"equation" NAME'), encoding="utf-8")
    monkeypatch.setattr(table_module, "_GRAMMAR", grammar)
    fresh = load_table.__wrapped__()
    assert "equation" in fresh.words
    assert "contraction" not in fresh.words


def test_every_rule_that_builds_has_a_builder() -> None:
    rules = load_table().rules
    building = {rule.name for rule in rules if not rule.splice and not (rule.expand and len(rule.slots) == 1)}
    assert building == set(BUILDERS)


def test_the_word_lists_are_words_of_the_grammar() -> None:
    words = load_table().words
    assert words >= KEYWORDS
    assert words >= DECLARATION_WORDS | CONTRACT_WORDS
    assert words >= set(CLAUSE_WORDS)


def in_a_process(program: str) -> str:
    """Run a program in a fresh interpreter and return what it prints."""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=FOLDER.parents[1])
    return found.stdout.strip()


def test_reading_trees_and_parsing_import_no_lark() -> None:
    program = "import sys; import cachet_verify.syntax.ast; print('lark' in sys.modules, 'cachet_verify.syntax.parse' in sys.modules)"
    assert in_a_process(program) == "False False"
    program = "import sys; from cachet_verify.syntax.parse import parse_text; parse_text('const x = 1'); print('lark' in sys.modules)"
    assert in_a_process(program) == "False"


def test_work_grows_with_the_length_of_the_text() -> None:
    text = (LISTING / "library.cachet").read_text(encoding="utf-8")
    calls = []
    for copies in (1, 10):
        with Profile() as profile:
            parse(SourceFile("copies", text * copies))
        calls.append(sum(entry.callcount for entry in profile.getstats()))
    assert calls[1] < 12 * calls[0]
