"""A local of each iteration of some loops, as an array outside of them with a cell for each.

Takes a chain, where the outermost of the loops stands, their counters and extents, and the local; gives the chain
with the array declared right before the loops. Checks nothing: the kernel asks that every access moved alike.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    change = Change(loads=lambda load: Load(load.buffer, (*outer, *load.index)) if load.buffer == local.name else load)
    nest = _without(statement_at(program.body, path), local.name, outer, change)
    declared = replace(local, shape=(*extents, *local.shape))
    after = with_statements(program, path, 1, (declared, *nest))
    was, now = lower(program).buffers[local.name], lower(after).buffers[local.name]
    coordinates = {name: f"{name} of {local.name}" for name in was.private}
    indices = tuple(f"{place} of {local.name}" for place in range(len(local.shape)))
    terms = tuple(Var(coordinates[name]) for name in (*now.private, *names)) + tuple(Var(name) for name in indices)
    return chain.then(relocate_local(program, after, Places(local.name, local.name, (*coordinates.values(), *indices), terms)))


def _without(stmt: Stmt, name: str, outer: tuple[Index, ...], change: Change) -> tuple[Stmt, ...]:
    """A statement without the declaration of a local, whose cells are those of an array."""

    def inside(block: Block) -> Block:
        return Block(tuple(part for held in block.body for part in _without(held, name, outer, change)))

    if isinstance(stmt, Declare) and stmt.name == name:
        return ()
    if isinstance(stmt, (For, Grid, Inlined)):
        return (replace(stmt, body=inside(stmt.body)),)
    if isinstance(stmt, If):
        return (replace(stmt, then=inside(stmt.then), orelse=inside(stmt.orelse)),)
    if isinstance(stmt, Block):
        return (inside(stmt),)
    turned = change.stmt(stmt)
    if isinstance(turned, Store) and turned.buffer == name:
        turned = replace(turned, index=(*outer, *turned.index))
    return (turned,)
