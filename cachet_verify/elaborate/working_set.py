"""Where a body keeps what its header, or that of what it calls, says is kept.

Takes a body and rows of a working set; gives the body with a lease for each row that no lease of its own meets.
Must not take a lease away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from cachet_verify.core.ir import Block, Grid, Kept, Lease, View, statements


def with_leases(body: Block, kept: Iterable[Kept], name: Callable[[str], str]) -> Block:
    """The body with what nothing in it leases at its level leased throughout; `name` makes a name of its own."""
    known = _leased(body)
    missing = [row for row in kept if row not in known]
    leases = tuple(Lease(name(f"{row.buffer}_{row.level}"), row.buffer, row.level, False) for row in missing)
    return Block((*leases, *body.body)) if leases else body


def _leased(body: Block) -> frozenset[Kept]:
    """What the leases of a body keep, by the buffers behind their names."""
    roots: dict[str, str] = {}
    found: set[Kept] = set()
    for stmt in statements(body):
        if isinstance(stmt, Lease):
            roots[stmt.alias] = _root(stmt.root, roots)
            found.add(Kept(stmt.level, roots[stmt.alias]))
        elif isinstance(stmt, View):
            roots[stmt.alias] = _root(stmt.root, roots)
        elif isinstance(stmt, Grid):
            roots.update({window.alias: _root(window.buffer, roots) for window in stmt.windows or () if window.alias is not None})
    return frozenset(found)


def _root(name: str, roots: Mapping[str, str]) -> str:
    return roots.get(name, name)
