"""The versions of a report are those the project pins."""

from __future__ import annotations

import tomllib
from pathlib import Path

from cachet_verify import __version__
from cachet_verify.report.tool import tool_versions


def test_versions_are_the_pinned_ones() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = dict(row.split("==") for row in project["dependencies"])
    found = tool_versions()
    assert found.pop("cachet-verify") == __version__
    assert found.pop("z3") == pinned["z3-solver"]
    assert found == {name: pinned[name] for name in ("cvc5", "pysmt", "lark", "llvmlite")}
