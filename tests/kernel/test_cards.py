"""Every rule of the kernel has a card in RULES.md, and every card a rule."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from cachet_verify import kernel

FOLDER = Path(kernel.__file__).parent
NO_RULES = {"discharge"}
"""Cards that are about no goal: the way from a goal to a claim."""


def rules() -> Iterator[str]:
    """The names that rules issue goals under: constants called `rule` or `RULE`, and first arguments of `issue` and its like."""
    for path in sorted(FOLDER.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                names = [target.id for target in node.targets if isinstance(target, ast.Name)]
                if {"rule", "RULE"} & set(names):
                    yield str(node.value.value)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("issue", "_compare"):
                if node.args and isinstance(node.args[0], ast.Constant):
                    yield str(node.args[0].value)


def test_every_rule_has_a_card_and_every_card_a_rule() -> None:
    text = (FOLDER / "RULES.md").read_text()
    cards = set(re.findall(r"^## ([a-z-]+)$", text, re.MULTILINE))
    also = {"rename", "rename-alias"} if "Also called `rename` (binders) and `rename-alias`" in text else set()
    assert set(rules()) - cards - also == set()
    assert cards - set(rules()) - NO_RULES == {"converse"}  # named after the goal that it turns
