"""Places in a program: paths to statements, the loops around them, and replacing what stands there.

Takes programs; gives paths and new programs. A path walks the positions of block bodies, as the
kernel's rules do: through loops, grids and inlined calls, and for an `if` 0 or 1 chooses the branch.
Must not change any statement but the ones it is told to replace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from cachet_verify.core.element import Arithmetic
from cachet_verify.core.ir import (
    Block,
    Declare,
    Fold,
    For,
    Grid,
    If,
    Inlined,
    Program,
    Stmt,
    Store,
    Value,
    values,
)

Path = tuple[int, ...]


def children(stmt: Stmt) -> tuple[tuple[Path, Block], ...]:
    """The blocks inside a statement, each with the path component that leads into it."""
    if isinstance(stmt, If):
        return (((0,), stmt.then), ((1,), stmt.orelse))
    if isinstance(stmt, (For, Grid, Inlined)):
        return (((), stmt.body),)
    if isinstance(stmt, Block):
        return (((), stmt),)
    return ()


def walk(block: Block, at: Path = ()) -> Iterator[tuple[Path, Stmt]]:
    """Every statement with its path, in textual order, outer ones first."""
    for position, stmt in enumerate(block.body):
        path = (*at, position)
        yield path, stmt
        for into, inner in children(stmt):
            yield from walk(inner, (*path, *into))


def statement_at(block: Block, path: Path) -> Stmt:
    """The statement at a path. Raises KeyError."""
    for found, stmt in walk(block):
        if found == path:
            return stmt
    raise KeyError(path)


def splice(block: Block, path: Path, count: int, new: Sequence[Stmt]) -> Block:
    """Replace `count` statements, from the one at `path` on, by others."""
    head, rest = path[0], path[1:]
    if not rest:
        return Block((*block.body[:head], *new, *block.body[head + count :]))
    return Block((*block.body[:head], _inside(block.body[head], rest, count, new), *block.body[head + 1 :]))


def _inside(stmt: Stmt, path: Path, count: int, new: Sequence[Stmt]) -> Stmt:
    if isinstance(stmt, If):
        if path[0] == 0:
            return replace(stmt, then=splice(stmt.then, path[1:], count, new))
        return replace(stmt, orelse=splice(stmt.orelse, path[1:], count, new))
    if isinstance(stmt, (For, Grid, Inlined)):
        return replace(stmt, body=splice(stmt.body, path, count, new))
    if isinstance(stmt, Block):
        return splice(stmt, path, count, new)
    raise KeyError(path)


def with_statements(program: Program, path: Path, count: int, new: Sequence[Stmt]) -> Program:
    """The program with `count` statements, from the one at `path` on, replaced by others."""
    return replace(program, body=splice(program.body, path, count, new))


def block_at(block: Block, path: Path) -> tuple[Stmt, ...]:
    """The statements of the block that holds the statement at `path`, from that one on."""
    found: list[Stmt] = []
    prefix, position = path[:-1], path[-1]
    for other, stmt in walk(block):
        if len(other) == len(path) and other[:-1] == prefix and other[-1] >= position:
            found.append(stmt)
    return tuple(found)


def around(block: Block, path: Path) -> tuple[tuple[Path, Stmt], ...]:
    """The statements that enclose the one at `path`, outermost first, with their paths."""
    return tuple((found, stmt) for found, stmt in walk(block) if len(found) < len(path) and path[: len(found)] == found)


def device_at(block: Block, path: Path, device: Arithmetic | None) -> Arithmetic | None:
    """What a grid at `path` has to name to run on a device: nothing inside a grid that runs there already."""
    on = next((stmt.device for _, stmt in reversed(around(block, path)) if isinstance(stmt, Grid) and stmt.device is not None), None)
    return None if on == device else device


def find(block: Block, wanted: Callable[[Stmt], bool]) -> Path | None:
    """The path of the first statement that meets a condition."""
    return next((path for path, stmt in walk(block) if wanted(stmt)), None)


def stored_value(stmt: Stmt) -> Value | None:
    """The value a statement writes, if it writes one."""
    if isinstance(stmt, Store):
        return stmt.value
    return stmt.init if isinstance(stmt, Declare) else None


@dataclass(frozen=True, slots=True)
class FoldPlace:
    """A fold that is the whole value of a statement."""

    path: Path
    stmt: Store | Declare
    fold: Fold


def find_loop(block: Block, name: str) -> tuple[Path, For] | None:
    """The loop whose counter or block has that name."""
    for path, stmt in walk(block):
        if isinstance(stmt, For) and stmt.counter == name:
            return path, stmt
    return None


def find_fold(block: Block, name: str) -> FoldPlace | None:
    """The statement whose value is a fold over that counter."""
    for path, stmt in walk(block):
        value = stored_value(stmt)
        if isinstance(stmt, (Store, Declare)) and isinstance(value, Fold) and value.counter == name:
            return FoldPlace(path, stmt, value)
    return None


def counters(block: Block) -> tuple[str, ...]:
    """The names of all loops, grid axes and folds, in textual order."""
    names: dict[str, None] = {}
    for _, stmt in walk(block):
        if isinstance(stmt, For):
            names[stmt.counter] = None
        elif isinstance(stmt, Grid):
            names.update((axis.counter, None) for axis in stmt.axes)
        value = stored_value(stmt)
        if value is not None:
            names.update((part.counter, None) for part in values(value) if isinstance(part, Fold))
    return tuple(names)
