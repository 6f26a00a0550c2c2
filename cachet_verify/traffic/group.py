"""Which statements of a block belong together: those that hand values on in registers, and those between two nests.

Takes statements; gives groups of them in order, and whether a block holds nests side by side. Must not count anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cachet_verify.core import ir

Group = tuple[ir.Stmt, ...]


def flat(statements: Iterable[ir.Stmt]) -> tuple[ir.Stmt, ...]:
    """Statements with blocks and calls replaced by what they hold."""
    return tuple(_flattened(statements))


def _flattened(statements: Iterable[ir.Stmt]) -> Iterator[ir.Stmt]:
    for stmt in statements:
        if isinstance(stmt, ir.Block):
            yield from _flattened(stmt.body)
        elif isinstance(stmt, ir.Inlined):
            yield from _flattened(stmt.body.body)
        else:
            yield stmt


def groups(statements: Sequence[ir.Stmt], at_top: bool) -> tuple[Group, ...]:
    """Statements in groups: from a register to its last use, each nest apart, and what holds no loop together.

    At the top of a function a local array is memory, and ties nothing.
    """
    found: list[list[ir.Stmt]] = []
    end = -1
    for place, stmt in enumerate(statements):
        bare = not holds_loop(stmt)
        if place <= end or (found and bare and not any(holds_loop(other) for other in found[-1])):
            found[-1].append(stmt)
        else:
            found.append([stmt])
        end = max(end, _last_use(place, statements, at_top))
    return tuple(tuple(group) for group in found)


def _last_use(place: int, statements: Sequence[ir.Stmt], at_top: bool) -> int:
    """Where the register that a statement introduces is used last; the statement's own place for any other."""
    stmt = statements[place]
    if not isinstance(stmt, ir.Declare) or (at_top and stmt.shape and stmt.width is None):
        return place
    names, last = {stmt.name}, place
    for later in range(place + 1, len(statements)):
        if names & set(_used((statements[later],))):
            last = later
            names |= {other.alias for other in statements[later : later + 1] if isinstance(other, ir.Lease | ir.View)}
    return last


def _used(statements: Iterable[ir.Stmt]) -> Iterator[str]:
    """The names of buffers and locals that statements touch."""
    for stmt in ir.statements(ir.Block(tuple(statements))):
        if isinstance(stmt, ir.Store):
            yield stmt.buffer
        if isinstance(stmt, ir.Lease | ir.View):
            yield stmt.root
        if isinstance(stmt, ir.Grid):
            yield from (window.buffer for window in stmt.windows or ())
        for value in _values(stmt):
            yield from (part.buffer for part in ir.values(value) if isinstance(part, ir.Load))


def _values(stmt: ir.Stmt) -> tuple[ir.Value, ...]:
    if isinstance(stmt, ir.Store | ir.Print):
        return (stmt.value,)
    return (stmt.init,) if isinstance(stmt, ir.Declare) and stmt.init is not None else ()


def holds_loop(stmt: ir.Stmt) -> bool:
    """Whether a statement is a loop or holds one."""
    return any(isinstance(inner, ir.For | ir.Grid) for inner in ir.statements(ir.Block((stmt,))))


def divides(block: ir.Block) -> bool:
    """Whether two nests stand side by side in a block, or in a loop that is the only nest in it."""
    nests = [group for group in groups(flat(block.body), at_top=False) if any(map(holds_loop, group))]
    if len(nests) != 1 or len(nests[0]) != 1:
        return len(nests) > 1
    only = nests[0][0]
    if isinstance(only, ir.If):
        return divides(only.then) or divides(only.orelse)
    return isinstance(only, ir.For | ir.Grid) and divides(only.body)
