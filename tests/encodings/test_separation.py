"""The two keys are apart: no shared code, and none of pySMT's faulty services."""

from __future__ import annotations

import ast
from pathlib import Path

import cachet_verify.encodings.first
import cachet_verify.encodings.second


def tree_of(module: object) -> ast.Module:
    return ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))  # type: ignore[attr-defined]


def imports_of(module: object) -> set[str]:
    found = set()
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return {name for name in found if name.split(".")[0] in ("cachet_verify", "pysmt", "z3", "cvc5")}


ALLOWED = {"cachet_verify.core", "cachet_verify.core.index", "cachet_verify.kernel.obligation", "cachet_verify.encodings.script"}


def test_the_first_encoder_shares_only_the_input() -> None:
    used = imports_of(cachet_verify.encodings.first) - ALLOWED
    assert used == {"pysmt.environment", "pysmt.smtlib.printers", "pysmt.typing", "pysmt.utils"}


def test_the_second_encoder_shares_only_the_input() -> None:
    assert imports_of(cachet_verify.encodings.second) <= ALLOWED


def test_the_second_encoder_uses_nothing_of_the_core_that_rewrites() -> None:
    used = {
        node.attr
        for node in ast.walk(tree_of(cachet_verify.encodings.second))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "index"
    }
    assert used == {"And", "Compare", "Const", "Div", "Max", "Min", "Mod", "Not", "Or", "Product", "Sum", "Truth", "Var", "evaluate"}


def test_pysmt_is_asked_only_to_build_and_to_print() -> None:
    used = {
        node.func.attr
        for node in ast.walk(tree_of(cachet_verify.encodings.first))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    assert not used & {"simplify", "substitute", "Div", "to_smtlib", "serialize", "get_free_variables", "is_sat", "is_valid", "solve"}
    assert {"Plus", "Times", "LE", "printer"} <= used
