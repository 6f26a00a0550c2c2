"""Import direction: the arrows of cachet_verify/README.md as data. A new arrow fails until it is written down here and there."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.architecture.tree import PACKAGE, Module, imports, module_of, modules

TEXT = {"source", "diagnostic"}

# part of the package -> the parts it may import. A part is a folder or a module directly under cachet_verify.
ARROWS: dict[str, set[str]] = {
    "version": set(),
    "source": set(),
    "diagnostic": {"source"},
    "resource_path": set(),
    "core": {"source"},
    "kernel": {"core"},
    "syntax": TEXT,
    "optimum": {"core"},
    "elaborate": TEXT | {"resource_path", "syntax", "core", "optimum"},
    "rewrite": TEXT | {"syntax", "elaborate", "core", "kernel"},
    "flow": TEXT | {"core", "kernel"},
    "replay": {"source", "core"},
    "encodings": {"core", "kernel"},
    "solver": {"core", "kernel", "encodings"},
    "report": TEXT | {"version"},
    "exit_code": {"report"},
    "ledger": TEXT | {"resource_path", "core"},
    "measure": TEXT | {"core", "ledger"},
    "judge": TEXT | {"ledger", "core", "kernel", "syntax", "optimum", "elaborate", "rewrite", "flow", "replay", "report"},
    "listing": TEXT | {"core", "syntax", "elaborate", "judge", "report"},
    "synthesis": TEXT | {"elaborate", "optimum", "judge", "report"},
    "fitting": TEXT | {"core", "kernel", "elaborate", "judge"},
    "running": TEXT | {"core", "judge"},
    "measuring": TEXT | {"core", "resource_path", "syntax", "elaborate", "judge", "ledger", "measure"},
    "trusting": TEXT | {"core", "syntax", "elaborate", "judge", "ledger", "report"},
    "traffic": TEXT | {"core", "judge", "report"},
    "session": TEXT
    | {"resource_path", "core", "kernel", "ledger", "judge", "listing", "fitting", "running", "synthesis", "traffic", "solver", "report"}
    | {"measuring", "trusting"},
    "command": TEXT | {"report", "exit_code", "session"},
    "cli": {"version", "command"},
    "__main__": {"cli"},
    "": {"version", "session", "report"},
}

# package that is not of the standard library -> the parts that may import it
OUTSIDE = {
    "click": {"cli", "command"},
    "rich": {"command"},
    "lark": {"syntax"},
    "pysmt": {"encodings", "solver"},
    "z3": {"solver"},
    "cvc5": {"solver"},
    "llvmlite": {"measure"},
}


def part_of(name: str) -> str | None:
    """Give the part of the package that a dotted import names, None for an import from elsewhere."""
    words = name.split(".")
    if words[0] != "cachet_verify":
        return None
    known = [path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()]
    return words[1] if len(words) > 1 and words[1] in (*known, *ARROWS) else ""


def wrong_imports(module: Module) -> Iterator[str]:
    """Give a sentence for each import that no arrow allows."""
    for name, line in imports(module):
        part = part_of(name)
        outside = name.split(".")[0]
        if part is None:
            if outside not in sys.stdlib_module_names and module.stage not in OUTSIDE.get(outside, set()):
                yield f"{module.shown}:{line}: {module.stage or 'the package'} may not import {outside}"
        elif part != module.stage and part not in ARROWS.get(module.stage, set()):
            yield f"{module.shown}:{line}: {module.stage or 'the package'} may not import {part or 'the package itself'}"


def test_every_part_is_in_the_table() -> None:
    assert {module.stage for module in modules()} <= set(ARROWS)


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.name or "cachet_verify")
def test_imports_follow_the_arrows(module: Module) -> None:
    assert list(wrong_imports(module)) == []


def test_arrows_go_down_only() -> None:
    # the order of cachet_verify/README.md, lowest first; every arrow points to something earlier
    order: list[str] = []
    while len(order) < len(ARROWS):
        ready = [part for part, below in ARROWS.items() if part not in order and below <= set(order)]
        assert ready, f"a circle among {sorted(set(ARROWS) - set(order))}"
        order += ready


@pytest.mark.parametrize(
    ("place", "text", "says"),
    [
        ("core/planted.py", "from cachet_verify.syntax import ast", "core may not import syntax"),
        ("kernel/planted.py", "def f():\n    import cachet_verify.solver.run", "kernel may not import solver"),
        ("kernel/planted.py", "from cachet_verify import session", "kernel may not import session"),
        ("core/planted.py", "import numpy as np", "core may not import numpy"),
        ("report/planted.py", "from z3 import Solver", "report may not import z3"),
        ("kernel/planted.py", "from cachet_verify import __version__", "kernel may not import the package itself"),
    ],
)
def test_a_planted_import_is_caught(place: str, text: str, says: str) -> None:
    (sentence,) = wrong_imports(module_of(PACKAGE / place, text))
    assert sentence.endswith(says)


def test_what_is_allowed_is_not_caught() -> None:
    for place, text in [
        ("kernel/planted.py", "from cachet_verify.core import ir\nimport hashlib"),
        ("core/planted.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from cachet_verify.kernel import claim"),
        ("command/planted.py", "import click\ndef f():\n    from rich.text import Text"),
    ]:
        assert list(wrong_imports(module_of(PACKAGE / place, text))) == []
