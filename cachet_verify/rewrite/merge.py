"""Arrays that are computed alike, as one: the uses of an intermediate inside one loop read the first array of it.

Takes a chain, where the loop stands, and the name of an equation; gives the chain without the arrays that the kernel agrees are
another one's words. Must not decide that they are: an array that the rule refuses stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

from cachet_verify.core.ir import Block, Declare, Fold, For, Grid, Load, Program, Stmt, Store, statements
from cachet_verify.kernel.claim import RuleError
from cachet_verify.kernel.normal import rename
from cachet_verify.kernel.share import share
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import Path, block_at, statement_at, with_statements
from cachet_verify.rewrite.traverse import Change, mentions, renaming, taken


def is_total(stmt: Stmt, name: str = "") -> TypeGuard[Declare]:
    """Whether a statement declares a local that holds a total; with a name, one that is called after that equation, `s` or `s'1`."""
    if not isinstance(stmt, Declare) or not (stmt.mutable or isinstance(stmt.init, Fold)):
        return False
    return not name or re.fullmatch(rf"{re.escape(name)}('\d+)?", stmt.name) is not None


def declared(stmts: Sequence[Stmt]) -> frozenset[str]:
    """The locals that statements declare, whatever they are inside of."""
    return frozenset(stmt.name for stmt in statements(Block(tuple(stmts))) if isinstance(stmt, Declare))


def written(stmt: Stmt) -> frozenset[str]:
    """What a statement declares itself or stores to."""
    stored = frozenset(part.buffer for part in statements(Block((stmt,))) if isinstance(part, Store))
    return stored | {stmt.name} if isinstance(stmt, Declare) else stored


def group_of(program: Program, path: Path, name: str) -> tuple[Stmt, ...]:
    """The statements of the block at a path that compute a local: those that write it, and what they need of locals that are declared there."""
    block = block_at(program.body, (*path[:-1], 0))
    here = {stmt.name for stmt in block if isinstance(stmt, Declare)}
    wanted, found = {name}, list[Stmt]()
    for stmt in reversed(block):
        own = written(stmt) - (declared((stmt,)) if not isinstance(stmt, Declare) else frozenset())
        if own & wanted:
            found.insert(0, stmt)
            wanted |= own | (mentions((stmt,)) & here)
    return tuple(found)


def merged(chain: Chain, at: Path, name: str) -> Chain:
    """The chain with the arrays of an equation right inside the loop at a path as one, as far as the kernel agrees."""
    names = [stmt.name for stmt in _body(chain.program, at) if is_total(stmt, name)]
    kept: list[str] = []
    for local in names:
        for other in kept:
            try:
                chain = chain.then(share(chain.program, _without(chain.program, at, other, local), other, local))
            except RuleError:
                continue
            break
        else:
            kept.append(local)
    return _named(chain, at, kept[0], name) if kept else chain


def _body(program: Program, at: Path) -> tuple[Stmt, ...]:
    loop = statement_at(program.body, at)
    return loop.body.body if isinstance(loop, (For, Grid)) else ()


def _without(program: Program, at: Path, kept: str, gone: str) -> Program:
    """The program without what computes one local alone, another one read in its place."""
    loop = statement_at(program.body, at)
    body = _body(program, at)
    group = group_of(program, (*at, 0), gone)
    others = [stmt for stmt in body if stmt not in group]
    group = tuple(stmt for stmt in group if gone in written(stmt) or not written(stmt) & mentions(others))
    change = Change(loads=lambda load: Load(kept, load.index) if load.buffer == gone else load)
    left = tuple(change.stmt(stmt) for stmt in body if stmt not in group)
    if not isinstance(loop, (For, Grid)):
        return program
    return with_statements(program, at, 1, (replace(loop, body=Block(left)),))


def _named(chain: Chain, at: Path, local: str, name: str) -> Chain:
    """The chain with a local called after its equation alone, where that name is free."""
    if local == name or name in taken(chain.program):
        return chain
    loop = statement_at(chain.program.body, at)
    return chain.then(rename(chain.program, with_statements(chain.program, at, 1, (renaming({local: name}).stmt(loop),))))
