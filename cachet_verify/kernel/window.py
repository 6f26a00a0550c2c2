"""Write windows of grids: an iteration writes only what its header says.

Takes a program and its families; asks, for every store in a grid with windows, that the cell lies
in one of them, and that no two iterations have windows that meet. What a body declares for itself
needs no window.
"""

from __future__ import annotations

from collections.abc import Iterator

from cachet_verify.core.family import Families, Family
from cachet_verify.core.index import ONE, Formula, Index, Substitution, Var, add, all_equal, conj, disj, eq, le, lt
from cachet_verify.core.ir import Block, Declare, For, Grid, If, Inlined, Load, Op, Program, Slice, View, Window, statements
from cachet_verify.kernel.ask import Asked, fresh, moved, moved_formulas, renaming
from cachet_verify.kernel.claim import RuleError
from cachet_verify.kernel.place import Path, context_of, inside, splice
from cachet_verify.kernel.scope import bound_names, lowered

Part = tuple[Index, Index | None]


def ask_windows(asked: Asked, rule: str, program: Program, families: Families) -> None:
    """Ask that every store in a grid with windows is in a window of its own iteration."""
    for path, grid in grids(program.body, ()):
        if grid.windows is None:
            continue
        windows = [_window(rule, program, path, window) for window in grid.windows]
        _ask_apart(asked, rule, program, (path, grid), windows)
        for member in inside(families, path):
            if grid.axes[0].counter not in families.buffers[member.buffer].private:
                allowed = [_within(rule, member, parts) for root, parts in windows if root == member.buffer]
                subject = f"a grid iteration writes {member.buffer} only in its own window"
                asked.ask(subject, member.domain, disj(allowed))


def _ask_apart(asked: Asked, rule: str, program: Program, at: tuple[Path, Grid], windows: list[tuple[str, tuple[Part, ...]]]) -> None:
    """Ask that the windows of two iterations are apart, whatever their bodies write."""
    path, grid = at
    domain, _ = context_of(rule, program, (*path, 0), ())
    axes = tuple(axis.counter for axis in grid.axes)
    other = renaming(fresh(axes, bound_names(rule, program)))
    one = all_equal((Var(name) for name in axes), moved((Var(name) for name in axes), other))
    for place, (root, parts) in enumerate(windows):
        for second, theirs in windows[: place + 1]:
            if second == root:
                there = tuple((_moved(low, other), None if high is None else _moved(high, other)) for low, high in theirs)
                meet = [part for ours, others in zip(parts, there, strict=True) for part in _meet(ours, others)]
                subject = f"the windows of {root} of two grid iterations are apart"
                asked.ask(subject, (*domain, *moved_formulas(domain, other), *meet), one)


def _moved(term: Index, by: Substitution) -> Index:
    return moved((term,), by)[0]


def _meet(ours: Part, theirs: Part) -> tuple[Formula, ...]:
    """That two parts of one dimension share an index."""
    (low, high), (first, last) = ours, theirs
    if high is None and last is None:
        return (eq(low, first),)
    end, stop = add(low, ONE) if high is None else high, add(first, ONE) if last is None else last
    return (lt(low, end), lt(first, stop), lt(low, stop), lt(first, end))


def grids(block: Block, way: Path) -> Iterator[tuple[Path, Grid]]:
    """Every grid of a block with its path, outermost first."""
    for position, stmt in enumerate(block.body):
        here = (*way, position)
        if isinstance(stmt, Grid):
            yield here, stmt
        if isinstance(stmt, If):
            yield from grids(stmt.then, (*here, 0))
            yield from grids(stmt.orelse, (*here, 1))
        elif isinstance(stmt, (For, Grid, Inlined)):
            yield from grids(stmt.body, here)
        elif isinstance(stmt, Block):
            yield from grids(stmt, here)


def _window(rule: str, program: Program, path: Path, window: Window) -> tuple[str, tuple[Part, ...]]:
    """The root buffer of a window and its parts, lowered: a load at each corner is put in the body."""
    aliases = {stmt.alias for stmt in statements(program.body) if isinstance(stmt, View)}
    aliases |= {other.alias or "" for _, grid in grids(program.body, ()) for other in grid.windows or ()}
    if window.buffer in aliases:
        raise RuleError(rule, "the proof rules do not model a window of a view", window)
    low = tuple(part.low if isinstance(part, Slice) else part for part in window.parts)
    high = tuple(part.high if isinstance(part, Slice) else part for part in window.parts)
    name = fresh(("corner",), bound_names(rule, program))["corner"]
    corners = Op("corners", "i64", (Load(window.buffer, low), Load(window.buffer, high)))
    probe = splice(rule, program, (*path, 0), 0, (Declare(name, "i64", init=corners),))
    (member,) = lowered(rule, probe).writers(name)
    args = member.value.args if isinstance(member.value, Op) else ()
    first, last = (arg for arg in args if isinstance(arg, Load))
    sliced = (False,) * (len(first.index) - len(window.parts)) + tuple(isinstance(part, Slice) for part in window.parts)
    bounds = zip(first.index, last.index, sliced, strict=True)
    return first.buffer, tuple((begin, end if wide else None) for begin, end, wide in bounds)


def _within(rule: str, member: Family, parts: tuple[Part, ...]) -> Formula:
    if len(parts) != len(member.cell):
        raise RuleError(rule, f"the window of {member.buffer} has another number of dimensions", member)
    found: list[Formula] = []
    for (low, high), term in zip(parts, member.cell, strict=True):
        found += [eq(term, low)] if high is None else [le(low, term), lt(term, high)]
    return conj(found)
