"""The configuration does what it says: each lint rule catches a planted violation, CI runs the README's command."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib

import pytest

from tests.architecture.tree import ROOT

HEAD = '"""A planted module."""\n\n'
BRANCHES = "\n".join(f"    if x == {n}:\n        y += {n}" for n in range(13))
STATEMENTS = "\n".join(f"    x += {n}" for n in range(51))
PLANTED = {
    "C901": f'def f(x: int) -> int:\n    """Do it."""\n    y = 0\n{BRANCHES}\n    return y\n',
    "PLR0912": f'def f(x: int) -> int:\n    """Do it."""\n    y = 0\n{BRANCHES}\n    return y\n',
    "PLR0915": f'def f(x: int) -> int:\n    """Do it."""\n{STATEMENTS}\n    return x\n',
    "TID251": "import z3\n\nx = z3\n",
    "TID252": "from . import source\n\nx = source\n",
    "T201": 'print("x")\n',
    "S101": "assert True\n",
    "BLE001": "try:\n    x = 1\nexcept Exception:\n    x = 2\n",
    "B006": 'def f(x: list[int] = []) -> None:\n    """Do it."""\n',
    "A001": "list = 3\n",
    "D103": "def f() -> None:\n    x = 1\n    del x\n",
    "D100": None,
    "PT018": "def test_f() -> None:\n    assert 1 == 1 and 2 == 2\n",
    "I001": "import sys\nimport os\n\nx = (os, sys)\n",
    "UP007": "from typing import Union\n\nx: Union[int, str] = 3\n",
    "F403": "from os import *\n",
}


def violations(text: str, name: str) -> set[str]:
    """Give the codes ruff finds in a text that would stand at `name`."""
    command = [sys.executable, "-m", "ruff", "check", "--output-format", "json", "--no-cache", "--stdin-filename", name, "-"]
    result = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True, timeout=60, check=False)
    return {row["code"] for row in json.loads(result.stdout)}


@pytest.mark.parametrize("code", list(PLANTED))
def test_a_planted_violation_is_caught(code: str) -> None:
    text = PLANTED[code]
    name = "tests/report/test_planted.py" if code.startswith("PT") else "cachet_verify/planted.py"
    assert code in violations("x = 1\n" if text is None else HEAD + text, name)


def test_a_folder_that_is_no_package_is_caught() -> None:
    assert "INP001" in violations(HEAD + "x = 1\n", "cachet_verify/nowhere/planted.py")


def test_the_rules_of_the_project_are_all_selected() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]["lint"]
    assert set("C901 PLR0912 PLR0915 TID251 TID252 T20 S101 BLE B A INP D1 PT I UP".split()) <= set(settings["select"])
    exempt = {pattern for pattern, codes in settings["per-file-ignores"].items() if "S101" in codes}
    assert exempt == {"tests/*"}


def test_tests_may_assert_and_only_they() -> None:
    assert "S101" not in violations(HEAD + "def test_f() -> None:\n    assert 1 == 1\n", "tests/report/test_planted.py")


def test_type_checking_is_strict() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    assert settings["strict"] is True
    assert "ignore_errors" not in json.dumps(settings)


def test_solvers_are_pinned_exactly() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    everything = project["dependencies"] + [row for rows in project["optional-dependencies"].values() for row in rows]
    assert [row for row in everything if not re.fullmatch(r"[a-z0-9-]+==[0-9.]+", row)] == []
    assert {"z3-solver", "cvc5"} <= {row.split("==")[0] for row in project["dependencies"]}


def test_ci_runs_the_readme_s_test_command() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"```sh\n(.*?)\n```", readme, re.DOTALL)
    main_job, tests = commands
    assert main_job.endswith("cachet-verify check --regress proofs/")
    assert "\n" not in main_job + tests
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert f"  {tests}\n" in script
    assert "set -euo pipefail" in script


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "cachet_verify/README.md"])
def test_links_between_documents_lead_somewhere(name: str) -> None:
    page = ROOT / name
    targets = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_changelog_fragments_have_a_name_that_sorts_them() -> None:
    names = [path.name for path in (ROOT / "changelog.d").iterdir()]
    assert names
    assert [name for name in names if not re.fullmatch(r"\d+-[a-z0-9-]+\.(?:added|changed|fixed|removed)\.md", name)] == []


def test_decisions_are_numbered_without_a_gap() -> None:
    names = sorted(path.name for path in (ROOT / "docs" / "decisions").iterdir())
    assert [name[:5] for name in names] == [f"{number:04}-" for number in range(1, len(names) + 1)]
