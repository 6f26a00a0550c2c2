"""Dimensions of an array that go over blocks and over the places in them, as one dimension over all indices.

Takes a chain and the name of an array whose indices are counters; gives the chain with `s[gj[j]]` for `s[gj, j]`. Checks nothing:
the kernel asks that no two cells come together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cachet_verify.core.family import lower
from cachet_verify.core.index import ZERO, Index, Var, add, div, mul, sub
from cachet_verify.core.ir import Blocks, Declare, Domain, For, Grid, Load, Program, Range, Store, values
from cachet_verify.kernel.relocate import Places, relocate_local
from cachet_verify.kernel.reschedule import reschedule
from cachet_verify.rewrite.hull import most
from cachet_verify.rewrite.image import images
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import Path, around, stored_value, walk, with_statements
from cachet_verify.rewrite.relocated import accessed, coordinates_of


@dataclass(frozen=True, slots=True)
class _Pair:
    """A dimension over blocks and the one over the places in them: where they stand, and the blocks."""

    outer: int
    inner: int
    blocks: Blocks
    extent: Index

    def turned(self, index: tuple[Index, ...], blocks: Mapping[str, Domain]) -> tuple[Index, ...]:
        """An index with the two as one."""
        first = index[self.outer]
        domain = blocks.get(first.name) if isinstance(first, Var) else None
        start = sub(Var(f"{first.name}.lo"), domain.low) if isinstance(first, Var) and isinstance(domain, Blocks) else mul(self.blocks.size, first)
        return self.without(tuple(add(start, index[self.inner]) if place == self.outer else term for place, term in enumerate(index)))

    def without(self, terms: Sequence[Index]) -> tuple[Index, ...]:
        """Terms without that of the places."""
        return tuple(term for place, term in enumerate(terms) if place != self.inner)


def flattened(chain: Chain, name: str) -> Chain:
    """The chain with the array over all indices where it goes over blocks, as far as each block's places are a dimension too."""
    heads = _heads(chain.program, name)
    while True:
        pair = _pair(chain.program, name, heads)
        if pair is None:
            return _spelled(chain, name)
        chain = _joined(chain, name, pair)
        heads = [head for place, head in enumerate(heads) if place != pair.inner]


def _domains(program: Program) -> dict[str, Domain]:
    """What each counter runs over."""
    found: dict[str, Domain] = {}
    for _, stmt in walk(program.body):
        if isinstance(stmt, For):
            found[stmt.counter] = stmt.domain
        elif isinstance(stmt, Grid):
            found.update((axis.counter, axis.domain) for axis in stmt.axes)
    return found


def _heads(program: Program, name: str) -> list[str]:
    """The counter of each dimension where the array is filled; empty for any other term."""
    store = next((stmt for _, stmt in walk(program.body) if isinstance(stmt, Store) and stmt.buffer == name), None)
    return [term.name if isinstance(term, Var) else "" for term in (store.index if store is not None else ())]


def _pair(program: Program, name: str, heads: Sequence[str]) -> _Pair | None:
    """The innermost blocks of which both dimensions are there."""
    domains = _domains(program)
    for outer in reversed(range(len(heads))):
        blocks = domains.get(heads[outer])
        places = Range(ZERO, Var(f"{heads[outer]}.len"))
        if not isinstance(blocks, Blocks):
            continue
        for inner, head in enumerate(heads):
            domain = domains.get(head)
            if domain is not None and Range(domain.low, domain.high) == places:
                return _Pair(outer, inner, blocks, most(sub(blocks.high, blocks.low), _known(program, heads[outer])))
    return None


def _known(program: Program, counter: str) -> list[tuple[str, Domain]]:
    """The counters around a loop, the outermost first, and what they run over."""
    path: Path = next(found for found, stmt in walk(program.body) if isinstance(stmt, For) and stmt.counter == counter)
    known: list[tuple[str, Domain]] = []
    for _, stmt in around(program.body, path):
        if isinstance(stmt, For):
            known.append((stmt.counter, stmt.domain))
        elif isinstance(stmt, Grid):
            known += [(axis.counter, axis.domain) for axis in stmt.axes]
    return known


def _joined(chain: Chain, name: str, pair: _Pair) -> Chain:
    """The chain with two dimensions as one."""
    program, domains = chain.program, _domains(chain.program)
    path, local = next((found, stmt) for found, stmt in walk(program.body) if isinstance(stmt, Declare) and stmt.name == name)
    shape = pair.without(tuple(pair.extent if place == pair.outer else extent for place, extent in enumerate(local.shape)))
    after = with_statements(program, path, 1, (replace(local, shape=shape),))
    turned = tuple(part for stmt in after.body.body for part in accessed(stmt, name, lambda index: pair.turned(index, domains)))
    after = replace(after, body=replace(after.body, body=turned))
    private, indices = coordinates_of(name, lower(program).buffers[name].private, len(local.shape))
    terms = pair.turned(tuple(Var(index) for index in indices), {})
    return chain.then(relocate_local(program, after, Places(name, name, (*private, *indices), (*map(Var, private), *terms))))


def _spelled(chain: Chain, name: str) -> Chain:
    """The chain with the number of a block, where it is an index of its own, told by where the block starts."""
    program, domains = chain.program, _domains(chain.program)

    def turned(index: tuple[Index, ...]) -> tuple[Index, ...]:
        return tuple(_number(term, domains) for term in index)

    body = tuple(part for stmt in program.body.body for part in accessed(stmt, name, turned))
    after = replace(program, body=replace(program.body, body=body))
    if after == program or not _is_accessed(after, name):
        return chain
    return chain.then(reschedule(program, after, images(lower(program), lower(after))))


def _number(term: Index, domains: Mapping[str, Domain]) -> Index:
    domain = domains.get(term.name) if isinstance(term, Var) else None
    return div(sub(Var(f"{term.name}.lo"), domain.low), domain.size) if isinstance(term, Var) and isinstance(domain, Blocks) else term


def _is_accessed(program: Program, name: str) -> bool:
    stored = (stored_value(stmt) for _, stmt in walk(program.body))
    return any(isinstance(part, Load) and part.buffer == name for value in stored if value is not None for part in values(value))
