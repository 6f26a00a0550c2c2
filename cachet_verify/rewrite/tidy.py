"""Names that a nest reads well with: copies of a loop numbered as they stand, a grid's outputs by an alias.

Takes a chain and where a grid stands; gives the chain with other names. Must not change what a program does: the
kernel compares the families.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cachet_verify.core.index import ZERO, Index, Sum, add
from cachet_verify.core.ir import Block, For, Grid, If, Load, Slice, Stmt, Store, Window, statements
from cachet_verify.elaborate.window import infer_windows
from cachet_verify.kernel.normal import rename, rename_alias
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import Path, statement_at, with_statements
from cachet_verify.rewrite.traverse import Change, fresh, renaming, taken


def numbered(chain: Chain, path: Path, copies: Mapping[str, int], bases: Sequence[str]) -> Chain:
    """The chain with the loops that are copies named `i`, `i'1` and so on, in the order in which they stand."""
    program = chain.program
    grid = statement_at(program.body, path)
    loops = [stmt.counter for stmt in statements(Block((grid,))) if isinstance(stmt, For) and stmt.counter in copies]
    used = taken(program) - frozenset(loops)
    names: dict[str, str] = {}
    for loop in loops:
        names[loop] = fresh(bases[copies[loop]], used)
        used |= {names[loop]}
    if all(old == new for old, new in names.items()):
        return chain
    return chain.then(rename(program, with_statements(program, path, 1, (renaming(names).stmt(grid),))))


def aliased(chain: Chain, path: Path) -> Chain:
    """The chain with an alias for each part of a buffer that an iteration of the grid at `path` writes, where it has none."""
    program = chain.program
    grid = statement_at(program.body, path)
    windows = infer_windows(grid) if isinstance(grid, Grid) and grid.windows is None else None
    if not isinstance(grid, Grid) or windows is None or len({window.buffer for window in windows}) < len(windows):
        return chain
    used = taken(program)
    for place, window in enumerate(windows):
        alias = fresh(f"{window.buffer}t", used)
        used |= {alias}
        body = Block(tuple(_by(stmt, replace(window, alias=alias)) for stmt in grid.body.body))
        named = (*windows[:place], replace(window, alias=alias), *windows[place + 1 :])
        windows = named if body != grid.body else windows
        grid = replace(grid, body=body, windows=windows)
    return chain.then(rename_alias(program, with_statements(program, path, 1, (grid,))))


def _by(stmt: Stmt, window: Window) -> Stmt:
    """The statement with every access of a cell of the window by the alias, where it is seen to be one."""

    def read(load: Load) -> Load:
        inside = _inside(load.buffer, load.index, window)
        return load if inside is None else Load(window.alias or load.buffer, inside)

    if isinstance(stmt, For):
        return replace(stmt, body=Block(tuple(_by(part, window) for part in stmt.body.body)))
    if isinstance(stmt, If):
        return replace(stmt, then=Block(tuple(_by(part, window) for part in stmt.then.body)))
    turned = Change(loads=read).stmt(stmt)
    inside = _inside(turned.buffer, turned.index, window) if isinstance(turned, Store) else None
    if not isinstance(turned, Store) or inside is None:
        return turned
    return replace(turned, buffer=window.alias or turned.buffer, index=inside)


def _inside(buffer: str, index: tuple[Index, ...], window: Window) -> tuple[Index, ...] | None:
    """The index by the alias, none where the terms do not start at the window's corner."""
    if buffer != window.buffer or len(index) != len(window.parts):
        return None
    found: list[Index] = []
    for term, part in zip(index, window.parts, strict=True):
        if not isinstance(part, Slice):
            if term != part:
                return None
            continue
        inner = _behind(part.low, term)
        if inner is None:
            return None
        found.append(inner)
    return tuple(found)


def _behind(low: Index, term: Index) -> Index | None:
    """What a term adds to another one, none where it is not written so."""
    if low == ZERO:
        return term
    rest = list(term.terms if isinstance(term, Sum) else (term,))
    for part in low.terms if isinstance(low, Sum) else (low,):
        if part not in rest:
            return None
        rest.remove(part)
    inner = add(*rest)
    return inner if add(low, inner) == term else None


def tidied(chain: Chain, path: Path, copies: Mapping[str, int], bases: Sequence[str]) -> Chain:
    """The chain with both."""
    return aliased(numbered(chain, path, copies, bases), path)
