"""Write windows of grids: an iteration writes only what its header says.

Takes a program and its families; asks, for every store in a grid with windows, that the cell lies
in one of them, and that no two iterations have windows that meet. What a body declares for itself
needs no window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from cachet_verify.core.family import Families, Family
from cachet_verify.core.index import ONE, Formula, Index, Substitution, Sum, Var, add, all_equal, conj, disj, eq, le, lt, substitute, variables
from cachet_verify.core.ir import Block, Declare, For, Grid, If, Inlined, Load, Op, Program, Range, Slice, Stmt, Window
from cachet_verify.kernel.ask import Asked, fresh, moved, moved_formulas, renaming
from cachet_verify.kernel.claim import RuleError
from cachet_verify.kernel.place import Path, context_of, inside, splice
from cachet_verify.kernel.scope import bound_names, lowered

Part = tuple[Index, Index | None]


Show = Callable[[Index], str]


def ask_windows(asked: Asked, rule: str, program: Program, families: Families, show: Show) -> None:
    """Ask that every store in a grid with windows is in a window of its own iteration; `show` spells a term."""
    for path, grid in grids(program.body, ()):
        if grid.windows is None:
            continue
        windows = [_window(rule, program, path, window) for window in grid.windows]
        _ask_apart(asked, rule, program, (path, grid), windows)
        for member in inside(families, path):
            if grid.axes[0].counter not in families.buffers[member.buffer].private:
                own = [parts for root, parts in windows if root == member.buffer]
                allowed = [_within(rule, member, parts) for parts in own]
                asked.ask(_reaches(member, own, show), member.domain, disj(allowed))


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
    """The root buffer of a window and its parts, lowered: a load of any cell of it is put in the body.

    Through views and windows of outer grids a window is modelled where it is a box of the root too:
    each slice moves along one dimension, one step at a time.
    """
    names = fresh(("corner", *(f"along.{place}" for place in range(len(window.parts)))), bound_names(rule, program))
    along = {names[f"along.{place}"]: part for place, part in enumerate(window.parts) if isinstance(part, Slice)}
    index = tuple(Var(names[f"along.{place}"]) if isinstance(part, Slice) else part for place, part in enumerate(window.parts))
    probe: Stmt = Declare(names["corner"], "i64", init=Op("corner", "i64", (Load(window.buffer, index),)))
    for name, part in along.items():
        probe = For(name, Range(part.low, part.high), Block((probe,)))
    (member,) = lowered(rule, splice(rule, program, (*path, 0), 0, (probe,))).writers(names["corner"])
    load = member.value.args[0] if isinstance(member.value, Op) else None
    if not isinstance(load, Load):
        raise RuleError(rule, "the window of a grid names no cell", window)
    bounds = {counter.name: (counter.low, counter.high) for counter in member.counters}
    taken = [name for term in load.index for name in variables(term) if name in along]
    if sorted(taken) != sorted(along):
        raise RuleError(rule, "the proof rules do not model a window of a view that is no box of its buffer", window)
    return load.buffer, tuple(_extent(rule, term, [name for name in variables(term) if name in along], bounds) for term in load.index)


def _extent(rule: str, term: Index, along: list[str], bounds: Mapping[str, tuple[Index, Index | None]]) -> Part:
    """The indices that a term takes: one, or those from where a slice starts to where it ends."""
    if not along:
        return term, None
    parts = term.terms if isinstance(term, Sum) else (term,)
    low, high = bounds[along[0]]
    if len(along) != 1 or Var(along[0]) not in parts or high is None or any(along[0] in variables(part) for part in parts if part != Var(along[0])):
        raise RuleError(rule, "the proof rules do not model a window of a view that is no box of its buffer", term)
    return substitute(term, {along[0]: low}), substitute(term, {along[0]: high})


def _reaches(member: Family, windows: list[tuple[Part, ...]], show: Show) -> str:
    """The sentence that a store keeps to the windows of its iteration, index by index."""
    said = " || ".join(" && ".join(_keeps(term, part, show) for term, part in zip(member.cell, parts, strict=False)) for parts in windows)
    return f"a grid iteration reaches only its own window: {said or f'it has none of {member.buffer}'}"


def _keeps(term: Index, part: Part, show: Show) -> str:
    low, high = part
    return f"{show(term)} == {show(low)}" if high is None else f"{show(low)} <= {show(term)} && {show(term)} < {show(high)}"


def _within(rule: str, member: Family, parts: tuple[Part, ...]) -> Formula:
    if len(parts) != len(member.cell):
        raise RuleError(rule, f"the window of {member.buffer} has another number of dimensions", member)
    found: list[Formula] = []
    for (low, high), term in zip(parts, member.cell, strict=True):
        found += [eq(term, low)] if high is None else [le(low, term), lt(term, high)]
    return conj(found)
