"""A local of each iteration of some loops, as an array outside of them with a cell for each.

Takes a chain, where the outermost of the loops stands, their counters and extents, and the local; gives the chain
with the array declared right before the loops. Checks nothing: the kernel asks that every access moved alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from cachet_verify.core.family import lower
from cachet_verify.core.index import Index, Var
from cachet_verify.core.ir import Block, Declare, For, Grid, If, Inlined, Load, Stmt, Store
from cachet_verify.kernel.relocate import Places, relocate_local
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import Path, statement_at, with_statements
from cachet_verify.rewrite.traverse import Change


def relocated(chain: Chain, path: Path, names: Sequence[str], local: Declare, extents: tuple[Index, ...]) -> Chain:
    """A local of each iteration of the nest at `path` as an array outside of it, a cell an iteration."""
    program = chain.program
    outer = tuple(Var(name) for name in names)
    nest = accessed(statement_at(program.body, path), local.name, lambda index: (*outer, *index), is_declared=False)
    declared = replace(local, shape=(*extents, *local.shape))
    after = with_statements(program, path, 1, (declared, *nest))
    was, now = lower(program).buffers[local.name], lower(after).buffers[local.name]
    coordinates, indices = coordinates_of(local.name, was.private, len(local.shape))
    known = dict(zip(was.private, coordinates, strict=True))
    terms = tuple(Var(known[name]) for name in (*now.private, *names)) + tuple(Var(name) for name in indices)
    return chain.then(relocate_local(program, after, Places(local.name, local.name, (*coordinates, *indices), terms)))


def coordinates_of(name: str, private: Sequence[str], rank: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names for the coordinates of a local: the loops around its declaration, and its indices."""
    return tuple(f"{name}.in.{counter}" for counter in private), tuple(f"{name}.at.{place}" for place in range(rank))


def accessed(stmt: Stmt, name: str, turn: Callable[[tuple[Index, ...]], tuple[Index, ...]], is_declared: bool = True) -> tuple[Stmt, ...]:
    """A statement with the indices of every access of a local turned; without its declaration, where that moves elsewhere."""

    def inside(block: Block) -> Block:
        return Block(tuple(part for held in block.body for part in accessed(held, name, turn, is_declared)))

    if isinstance(stmt, Declare) and stmt.name == name:
        return (stmt,) if is_declared else ()
    if isinstance(stmt, (For, Grid, Inlined)):
        return (replace(stmt, body=inside(stmt.body)),)
    if isinstance(stmt, If):
        return (replace(stmt, then=inside(stmt.then), orelse=inside(stmt.orelse)),)
    if isinstance(stmt, Block):
        return (inside(stmt),)
    turned = Change(loads=lambda load: Load(load.buffer, turn(load.index)) if load.buffer == name else load).stmt(stmt)
    if isinstance(turned, Store) and turned.buffer == name:
        turned = replace(turned, index=turn(turned.index))
    return (turned,)
