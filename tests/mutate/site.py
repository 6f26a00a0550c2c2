"""Places in a core program that an edit can be made at, and programs with one place replaced.

Takes programs; gives every node of the body with the names that are in scope there. Must not judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from cachet_verify.core.ir import Block, Blocks, Declare, Domain, Fold, For, Grid, Lanes, Lease, Program, Range, Store, View

Path = tuple[tuple[str, int | None], ...]
"""Fields from the program down to a node, each with the position in it where it is a tuple."""


@dataclass(frozen=True)
class Names:
    """What can be named at a place: integer variables, and buffers with element type and rank."""

    integers: tuple[str, ...]
    buffers: Mapping[str, tuple[str, int]]

    def with_integers(self, *names: str) -> Names:
        return Names((*self.integers, *names), self.buffers)

    def with_buffer(self, name: str, elem: str, rank: int) -> Names:
        return Names(self.integers, {**self.buffers, name: (elem, rank)})


@dataclass(frozen=True)
class Site:
    """One node of a program."""

    path: Path
    node: Any
    names: Names


def sites(program: Program) -> Iterator[Site]:
    """Every node of a program's body, and the shapes of its scratch parameters."""
    buffers = {param.name: (param.elem, len(param.shape)) for param in program.params}
    names = Names(tuple(program.sizes), buffers)
    for place, param in enumerate(program.params):
        if param.scratch:
            for axis, size in enumerate(param.shape):
                yield from _below((("params", place), ("shape", axis)), size, names)
    for place, need in enumerate(program.requires):
        yield Site((("requires", place),), need, names)
    yield from _below((("body", None),), program.body, names)


def _below(path: Path, node: Any, names: Names) -> Iterator[Site]:
    yield Site(path, node, names)
    if isinstance(node, Block):
        yield from _block(path, node, names)
    elif is_dataclass(node):
        for part in fields(node):
            if part.name != "span":
                yield from _field(path, part.name, getattr(node, part.name), _inside(node, part.name, names))


def _field(path: Path, name: str, value: Any, names: Names) -> Iterator[Site]:
    if isinstance(value, tuple):
        for place, item in enumerate(value):
            if is_dataclass(item):
                yield from _below((*path, (name, place)), item, names)
    elif is_dataclass(value):
        yield from _below((*path, (name, None)), value, names)


def _block(path: Path, block: Block, names: Names) -> Iterator[Site]:
    for place, stmt in enumerate(block.body):
        yield from _below((*path, ("body", place)), stmt, names)
        if isinstance(stmt, Declare):
            names = names.with_buffer(stmt.name, stmt.elem, len(stmt.shape) + (stmt.width is not None))
        elif isinstance(stmt, Lease):
            names = names.with_buffer(stmt.alias, *names.buffers.get(stmt.root, ("", -1)))
        elif isinstance(stmt, View):
            names = names.with_buffer(stmt.alias, names.buffers.get(stmt.root, ("", -1))[0], len(stmt.counters))


def _inside(node: Any, part: str, names: Names) -> Names:
    """The names in scope in one field of a node."""
    if isinstance(node, For) and part == "body":
        return names.with_integers(*counted(node.counter, node.domain))
    if isinstance(node, Fold) and part == "step":
        return names.with_integers(*counted(node.counter, node.domain)).with_buffer(node.acc, node.elem, 0)
    if isinstance(node, (Store, Declare)) and node.lanes is not None and part in ("index", "value", "init"):
        return names.with_integers(node.lanes.counter)
    if isinstance(node, Grid) and part == "body":
        return names.with_integers(*(axis.counter for axis in node.axes))
    if isinstance(node, View) and part == "index":
        return names.with_integers(*node.counters)
    return names


def counted(counter: str, domain: Domain) -> tuple[str, ...]:
    """The integer variables that a loop brings."""
    return (counter,) if isinstance(domain, Range) else (counter, f"{counter}.lo", f"{counter}.len")


def replaced(root: Any, path: Path, new: Any) -> Any:
    """The tree with the node at a path replaced."""
    if not path:
        return new
    (name, place), rest = path[0], path[1:]
    value = getattr(root, name)
    if place is None:
        return replace(root, **{name: replaced(value, rest, new)})
    return replace(root, **{name: (*value[:place], replaced(value[place], rest, new), *value[place + 1 :])})


def binders(node: Any) -> tuple[str, ...]:
    """The names that a statement or value binds."""
    found: list[str] = []
    for item in parts(node):
        if isinstance(item, (For, Fold)):
            found.extend(counted(item.counter, item.domain))
        if isinstance(item, (Declare,)):
            found.append(item.name)
        elif isinstance(item, Fold):
            found.append(item.acc)
        elif isinstance(item, Lanes):
            found.append(item.counter)
        elif isinstance(item, (Lease, View)):
            found.append(item.alias)
        elif isinstance(item, Grid):
            found.extend(axis.counter for axis in item.axes)
    return tuple(dict.fromkeys(found))


def parts(node: Any) -> Iterator[Any]:
    """A node and everything in it."""
    stack = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, tuple):
            stack.extend(item)
        elif is_dataclass(item):
            yield item
            stack.extend(getattr(item, part.name) for part in fields(item) if part.name != "span")


def renamed(node: Any, by: Mapping[str, str]) -> Any:
    """A node with every name in `by` replaced, wherever it stands; `g.lo` and `g.len` follow `g`."""
    if isinstance(node, str):
        head, dot, tail = node.partition(".")
        return by[node] if node in by else f"{by[head]}.{tail}" if dot and head in by else node
    if isinstance(node, tuple):
        return tuple(renamed(item, by) for item in node)
    if is_dataclass(node) and not isinstance(node, type):
        changed = {part.name: renamed(getattr(node, part.name), by) for part in fields(node) if part.name != "span"}
        return replace(node, **changed)
    return node


def is_blocks(node: Any) -> bool:
    """Whether a node is the domain of a block loop."""
    return isinstance(node, Blocks)
