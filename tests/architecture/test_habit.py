"""Habits that no linter rule holds: names, documented codes, no outside paths, no checks that `python -O` would drop, nothing left open."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cachet_verify.diagnostic import load_codes
from tests.architecture.tree import PACKAGE, ROOT, Module, module_of, modules

DRAWERS = {"utils", "util", "helpers", "helper", "common", "misc", "stuff"}
CODE = re.compile(r"[a-z]+(?:-[a-z]+)*(?:\.[a-z]+(?:-[a-z]+)*)+")
OUTSIDE_PATH = re.compile(r"(?<![\w.$}])/(?:home|root|work|Users|mnt)/")
# spelled in parts, so that this file does not hold what it forbids
LEFT_OPEN = re.compile(r"\b(?:TO" + "DO|FIX" + "ME|XX" + "X|NotImplemented" + "Error)\\b")
# calls whose first argument is a diagnostic code
CODED = {"Diagnostic", "fail"}
EACH_MODULE = pytest.mark.parametrize("module", modules(), ids=lambda module: module.name or "cachet_verify")


def tracked() -> list[Path]:
    """Give the text files of the project, as git lists them (new ones too); without git, what is in its folders."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, timeout=30, check=False
    ).stdout.splitlines()
    paths = [ROOT / name for name in listed] or [path for path in ROOT.rglob("*") if ".venv" not in path.parts]
    return [path for path in paths if path.is_file() and path.suffix in (".py", ".md", ".cachet", ".toml", ".txt", ".lark", "")]


def codes_in(module: Module) -> Iterator[tuple[str, int]]:
    """Give each literal diagnostic code of a module, with its line."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr if isinstance(node.func, ast.Attribute) else ""
            values = [word.value for word in node.keywords if word.arg == "code"]
            values += node.args[:1] if name in CODED else []
            for value in values:
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield value.value, value.lineno


@EACH_MODULE
def test_every_code_is_documented(module: Module) -> None:
    table = load_codes()
    assert [f"{module.shown}:{line}: {code}" for code, line in codes_in(module) if code not in table] == []


def test_codes_are_found_where_they_are_used() -> None:
    text = "fail('a.b', 'x')\nDiagnostic(code='c.d', message='x')\nreport.Diagnostic('e.f', 'x')\nRefusal(code='g.h')\nother('i.j')"
    assert [code for code, _ in codes_in(module_of(PACKAGE / "planted.py", text))] == ["a.b", "c.d", "e.f", "g.h"]


def test_the_table_of_codes_is_whole() -> None:
    for code, entry in load_codes().items():
        assert CODE.fullmatch(code), code
        assert entry.explanation.strip().endswith("."), code
        assert entry.example.strip(), code
        assert entry.remedy.strip().endswith("."), code


@EACH_MODULE
def test_no_assert_in_the_package(module: Module) -> None:
    assert [node.lineno for node in ast.walk(module.tree) if isinstance(node, ast.Assert)] == []


@EACH_MODULE
def test_only_commands_print(module: Module) -> None:
    calls = [node.func.id for node in ast.walk(module.tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    assert "print" not in calls
    if module.stage not in ("command", "cli", "__main__"):
        assert not re.search(r"\bsys\.(?:stdout|stderr)\b", module.text) or module.stage == "solver"


@EACH_MODULE
def test_names(module: Module) -> None:
    words = module.name.split(".")
    assert not DRAWERS & set(words)
    assert all(not word.startswith("new_") and not word.endswith("2") for word in words)
    defined = [node.name for node in ast.walk(module.tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    assert [name for name in defined if name.startswith("new_")] == []


@EACH_MODULE
def test_a_module_says_what_it_is(module: Module) -> None:
    assert (ast.get_docstring(module.tree) or "").strip() or not module.text.strip()


def test_nothing_names_an_outside_path() -> None:
    found = [str(path.relative_to(ROOT)) for path in tracked() if OUTSIDE_PATH.search(path.read_text(encoding="utf-8", errors="replace"))]
    assert found == []


def test_an_outside_path_would_be_seen() -> None:
    inside = "/".join(["", "home", "someone", "x"])
    assert OUTSIDE_PATH.search(f"see {inside}")
    assert OUTSIDE_PATH.search(f'open("{inside}")')
    assert not OUTSIDE_PATH.search(f"https://example.org{inside}")


def test_nothing_is_left_open() -> None:
    sources = [path for path in tracked() if path.suffix in (".py", ".cachet", ".lark")]
    assert [str(path.relative_to(ROOT)) for path in sources if LEFT_OPEN.search(path.read_text(encoding="utf-8", errors="replace"))] == []


def test_the_standard_library_states_no_axiom() -> None:
    # a law with a reason instead of a proof: law NAME … = "reason"
    stated = re.compile(r'^\s*law\b[^"]*"', re.MULTILINE)
    assert stated.search('law exp_sum over reals = "known"')
    assert [path.name for path in (ROOT / "stdlib").rglob("*.cachet") if stated.search(path.read_text(encoding="utf-8"))] == []
