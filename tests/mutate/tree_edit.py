"""One-edit mutants of schedules and of steps, as syntax trees.

Takes a declaration; gives labelled declarations that differ from it in one place. Contractions are
never given here: the meaning is not mutated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from cachet_verify.syntax import ast
from tests.mutate.site import Path, parts, replaced

Edit = tuple[str, Any]


def schedule_mutants(schedule: ast.Schedule) -> Iterator[tuple[str, ast.Schedule]]:
    """Mutants of a schedule: its lines and its scratch buffers, not its name or its contraction."""
    yield from _mutants(schedule, ["lines", "params"])


def step_mutants(step: ast.StepFn) -> Iterator[tuple[str, ast.StepFn]]:
    """Mutants of a step: what it matches, what it puts there, and its recipe."""
    yield from _mutants(step, ["target", "relate", "source"])


def function_mutants(function: ast.Fn) -> Iterator[tuple[str, ast.Fn]]:
    """Mutants of a function's body."""
    yield from _mutants(function, ["body"])


def _mutants(root: Any, kept: list[str]) -> Iterator[tuple[str, Any]]:
    seen = {root}
    pool = _Pool(root)
    for name in kept:
        value = getattr(root, name)
        for label, changed in _sequence_edits(name, value):
            yield from _fresh(label, replace(root, **{name: changed}), seen)
        for place, item in enumerate(value):
            for path, node in _nodes(((name, place),), item):
                for label, made in _edits(node, pool):
                    yield from _fresh(label, replaced(root, path, made), seen)


def _fresh(label: str, mutant: Any, seen: set[Any]) -> Iterator[tuple[str, Any]]:
    if mutant not in seen:
        seen.add(mutant)
        yield label, mutant


def _nodes(path: Path, node: Any) -> Iterator[tuple[Path, Any]]:
    yield path, node
    for part in fields(node):
        value = getattr(node, part.name)
        if part.name == "span":
            continue
        if isinstance(value, tuple):
            for place, item in enumerate(value):
                if is_dataclass(item):
                    yield from _nodes((*path, (part.name, place)), item)
        elif is_dataclass(value):
            yield from _nodes((*path, (part.name, None)), value)


class _Pool:
    """The names, pattern variables and recipe words of a declaration, to exchange for one another."""

    def __init__(self, root: Any) -> None:
        nodes = list(parts(root))
        types = {"f32", "f64", getattr(getattr(root, "of", None), "name", "")}
        self.names = sorted(({node.name for node in nodes if isinstance(node, ast.Name)} | _bound(nodes)) - types)
        self.memory = _memory(root)
        self.indices = _indices(root)
        self.variables = sorted({node.name for node in nodes if isinstance(node, ast.PatternVar)})
        self.words = sorted({word for node in nodes if isinstance(node, ast.RecipeLine) for word in node.words})

    def alike(self, node: Any) -> list[str]:
        """What can stand for a name: in a function, names of the same sort; elsewhere any name."""
        if isinstance(node, ast.PatternVar):
            return self.variables
        if not self.memory:
            return self.names
        return next((group for group in (self.memory, self.indices) if node.name in group), [])


def _memory(root: Any) -> list[str]:
    """The parameters and locals of a function."""
    if not isinstance(root, ast.Fn):
        return []
    return sorted({item.name for item in parts(root) if isinstance(item, (ast.Param, ast.Let, ast.Var)) and isinstance(item.name, str)})


def _indices(root: Any) -> list[str]:
    """The loop indices and sizes of a function."""
    loops = {item.index for item in parts(root) if isinstance(item, ast.For)}
    shapes = [item for param in getattr(root, "params", ()) for item in parts(param)]
    return sorted(loops | {item.name for item in shapes if isinstance(item, ast.Name) and item.name[:1].isupper()})


def _bound(nodes: list[Any]) -> set[str]:
    found = {node.index for node in nodes if isinstance(node, ast.For)}
    return found | {node.name for node in nodes if isinstance(node, ast.Factor) and node.name is not None}


def _edits(node: Any, pool: _Pool) -> Iterator[Edit]:
    if isinstance(node, ast.IntLit):
        for label, value in (("plus one", node.value + 1), ("minus one", max(node.value - 1, 0)), ("doubled", 2 * node.value)):
            yield f"number {label}", replace(node, value=value)
    elif isinstance(node, (ast.Name, ast.PatternVar, ast.Factor)):
        for other in pool.alike(node):
            yield f"name {other}", replace(node, name=other)
    elif isinstance(node, ast.RecipeLine):
        yield from _recipe_edits(node, pool)
    elif isinstance(node, (ast.Range, ast.Blocks)):
        yield from _domain_edits(node)
    else:
        yield from _tree_edits(node)


def _tree_edits(node: Any) -> Iterator[Edit]:
    if isinstance(node, ast.Split):
        yield "ragged to exact" if node.ragged else "exact to ragged", replace(node, ragged=not node.ragged)
    if isinstance(node, ast.Binary):
        yield "operands exchanged", replace(node, left=node.right, right=node.left)
        yield "left operand alone", node.left
        yield "right operand alone", node.right
        for other in ("+", "-", "*", "/"):
            if other != node.operator and node.operator in "+-*/":
                yield f"operator {other}", replace(node, operator=other)
    elif isinstance(node, ast.Substitute):
        yield "substitution dropped", node.base
    elif isinstance(node, ast.Fold):
        yield "total never read", replace(node, body=node.start)
    elif isinstance(node, ast.For) and len(node.body) == 1 and isinstance(node.body[0], ast.For):
        inner = node.body[0]
        yield "loops interchanged", replace(inner, body=(replace(node, body=inner.body),))
    for part in fields(node):
        if isinstance(getattr(node, part.name), tuple):
            yield from _within(part.name, node)


def _within(name: str, node: Any) -> Iterator[Edit]:
    for label, changed in _sequence_edits(name, getattr(node, name)):
        yield label, replace(node, **{name: changed})


def _sequence_edits(name: str, items: tuple[Any, ...]) -> Iterator[Edit]:
    """One item dropped or doubled, two exchanged, all reversed."""
    if not all(is_dataclass(item) for item in items):
        return
    for place in range(len(items)):
        yield f"one of {name} dropped", (*items[:place], *items[place + 1 :])
        yield f"one of {name} doubled", (*items[: place + 1], *items[place:])
        for other in range(place + 1, len(items)):
            moved = list(items)
            moved[place], moved[other] = items[other], items[place]
            yield f"two of {name} exchanged", tuple(moved)
    if len(items) > 2:
        yield f"{name} reversed", tuple(reversed(items))


def _recipe_edits(line: ast.RecipeLine, pool: _Pool) -> Iterator[Edit]:
    for place, word in enumerate(line.words):
        for other in pool.words:
            if other != word and ("." in other) == ("." in word):
                yield f"recipe word {other}", replace(line, words=(*line.words[:place], other, *line.words[place + 1 :]))
        if word.startswith(("S.", "T.")):
            flipped = ("T" if word[0] == "S" else "S") + word[1:]
            yield "recipe side", replace(line, words=(*line.words[:place], flipped, *line.words[place + 1 :]))


def _domain_edits(domain: ast.Range | ast.Blocks) -> Iterator[Edit]:
    one = ast.IntLit(1)
    yield "starts one late", replace(domain, low=ast.Binary("+", domain.low, one))
    yield "ends one early", replace(domain, high=ast.Binary("-", domain.high, one))
    yield "ends one late", replace(domain, high=ast.Binary("+", domain.high, one))
    yield "ends where it starts", replace(domain, high=domain.low)
