"""What a declaration rests on besides programs: facts of platforms, and constants chosen by search.

Takes a file's names and a declaration; gives both, through every name that it mentions. Must not
leave out a name that might be meant: a name that is hidden by a local one counts too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from cachet_verify.elaborate.problem import StopError
from cachet_verify.syntax import ast

if TYPE_CHECKING:
    from cachet_verify.elaborate.world import Unit


@dataclass(frozen=True, slots=True)
class Behind:
    """`facts` as claims list them, `AppleSilicon.lanes @Vec @f32 = 4`; `chosen` are the searched constants, by known name."""

    facts: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()


def is_asked(unit: Unit) -> bool:
    """Whether any file of the run has a platform or a searched constant: else nothing has anything behind it."""
    return any(_can_have(decl) for other in unit.world.units.values() for decl in other.loaded.tree.declarations)


def _can_have(decl: ast.Declaration) -> bool:
    return isinstance(decl, ast.SynthConst) or (isinstance(decl, ast.ModuleHeader) and bool(decl.settings))


def behind(unit: Unit, decl: ast.Declaration) -> Behind:
    """What is behind a declaration of a file, in the order in which it is met."""
    facts: dict[str, None] = {}
    chosen: dict[str, None] = {}
    seen: set[tuple[str, str]] = set()
    waiting: list[tuple[Unit, ast.Node]] = [(unit, decl)]
    while waiting:
        at, node = waiting.pop(0)
        for part in _nodes(node):
            facts.update(dict.fromkeys(_facts(at, part)))
            for name in _words(part):
                entry = at.find(name)
                if entry is None or (entry.path, name) in seen:
                    continue
                seen.add((entry.path, name))
                if isinstance(entry.declaration, ast.SynthConst) and entry.declaration is not decl:
                    chosen[_known(unit, entry.path, name)] = None
                waiting.append((at.file(entry.path), entry.declaration))
    return Behind(tuple(facts), tuple(chosen))


def _known(unit: Unit, path: str, name: str) -> str:
    from cachet_verify.elaborate.world import qualified

    return name if path == unit.world.root.loaded.path else qualified(path, name)


def _nodes(node: ast.Node) -> Iterator[ast.Node]:
    """A node and all nodes inside it, outermost first."""
    waiting: list[object] = [node]
    while waiting:
        item = waiting.pop(0)
        if isinstance(item, tuple):
            waiting[:0] = item
        elif isinstance(item, ast.Node):
            yield item
            waiting[:0] = [getattr(item, part.name) for part in fields(item) if part.name != "span"]


def _words(node: ast.Node) -> Iterator[str]:
    """Every word of a node itself that may be a name."""
    for part in fields(node):
        value = getattr(node, part.name)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, str):
                yield item


def _facts(unit: Unit, node: ast.Node) -> Iterator[str]:
    """The fact that a node names, with its value."""
    words: tuple[str, ...] = ()
    head: ast.Node = node
    if isinstance(node, ast.Apply):
        head = node.function
        words = tuple(arg.value.name for arg in node.implicit if isinstance(arg.value, ast.Name))
    if not (isinstance(head, ast.Field) and head.base == ast.Name("platform")):
        return
    try:
        platform = unit.platform()
    except StopError:
        return
    value = None if platform is None else platform.facts.get((head.name, *words))
    if platform is not None and value is not None:
        yield f"{' '.join((f'{platform.name}.{head.name}', *(f'@{word}' for word in words)))} = {value}"
