"""What is computed alike at every index of a counter, computed once.

Takes a chain whose program has one nest a statement, and which of its loops are copies of which counter; gives the
chain without the dimensions and the loops that make no difference. What depends on a counter is worked out here as
a proposal; the kernel asks for itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cachet_verify.core.family import lower
from cachet_verify.core.index import Formula, Index, variables
from cachet_verify.core.ir import (
    Block,
    Blocks,
    Choose,
    Declare,
    Domain,
    Fold,
    For,
    Grid,
    If,
    Inlined,
    Load,
    OfIndex,
    Stmt,
    Store,
    Value,
    statements,
    values,
)
from cachet_verify.kernel.uniform import Along, uniform
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import Path, children, statement_at, with_statements
from cachet_verify.rewrite.traverse import Change, bare

_NONE: frozenset[int] = frozenset()


def once(chain: Chain, path: Path, copies: Mapping[str, int], locals_: Sequence[str], count: int, inside: Sequence[str] = ()) -> Chain:
    """The chain with each of the locals along those counters only on which it depends.

    `copies` gives the place, of `count`, of the counter that a loop stands for; each local has a dimension for each
    counter, those first. Those of `inside` are declared in the loops, and have none.
    """
    dims: dict[str, tuple[int, ...]] = {name: tuple(range(count)) for name in locals_}
    needed = _needed(statement_at(chain.program.body, path), copies, {**dims, **dict.fromkeys(inside, ())})
    for counter in reversed(range(count)):
        spared = frozenset(name for name in locals_ if counter not in needed[name])
        if spared:
            chain = _spared(chain, path, copies, {name: dims[name].index(counter) for name in spared}, counter)
            dims.update({name: tuple(place for place in dims[name] if place != counter) for name in spared})
    return chain


# --- what depends on what ----------------------------------------------------------------------


def _needed(stmt: Stmt, copies: Mapping[str, int], dims: Mapping[str, tuple[int, ...]]) -> dict[str, frozenset[int]]:
    """The counters that each local depends on: the least that its stores need, and what these read."""
    needed: dict[str, frozenset[int]] = dict.fromkeys(dims, _NONE)
    stores = [(store, around) for store, around in _stores(stmt, copies) if store.buffer in dims]
    is_done = False
    while not is_done:
        is_done = True
        for store, around in stores:
            own = store.index[len(dims[store.buffer]) :]
            found = needed[store.buffer] | around | _of_terms(own, copies) | _of_value(store.value, copies, dims, needed)
            is_done = is_done and found == needed[store.buffer]
            needed[store.buffer] = found
    return needed


def _stores(stmt: Stmt, copies: Mapping[str, int], around: frozenset[int] = _NONE) -> list[tuple[Store, frozenset[int]]]:
    """The stores in a statement, each with the counters that guards and the bounds of loops around it speak of."""
    if isinstance(stmt, Store):
        return [(stmt, around)]
    if isinstance(stmt, Declare) and stmt.init is not None:
        return [(Store(stmt.name, (), stmt.init), around)]
    if isinstance(stmt, For):
        around |= _of_domain(stmt.domain, copies)
    if isinstance(stmt, If):
        around |= _of_condition(stmt.condition, copies)
    return [found for _, block in children(stmt) for part in block.body for found in _stores(part, copies, around)]


def _of_domain(domain: Domain, copies: Mapping[str, int]) -> frozenset[int]:
    size = (domain.size,) if isinstance(domain, Blocks) else ()
    return _of_terms((domain.low, domain.high, *size), copies)


def _of_terms(terms: Iterable[Index], copies: Mapping[str, int]) -> frozenset[int]:
    return frozenset(copies[name] for term in terms for name in bare(variables(term)) if name in copies)


def _of_condition(condition: Formula, copies: Mapping[str, int]) -> frozenset[int]:
    return frozenset(copies[name] for name in bare(variables(condition)) if name in copies)


def _of_value(value: Value, copies: Mapping[str, int], dims: Mapping[str, tuple[int, ...]], needed: Mapping[str, frozenset[int]]) -> frozenset[int]:
    """The counters that a value depends on, itself or by what it reads."""
    found = _NONE
    for part in values(value):
        if isinstance(part, Load):
            skipped = len(dims.get(part.buffer, ()))
            found |= _of_terms(part.index[skipped:], copies) | needed.get(part.buffer, _NONE)
        elif isinstance(part, OfIndex):
            found |= _of_terms((part.term,), copies)
        elif isinstance(part, Choose):
            found |= _of_condition(part.condition, copies)
        elif isinstance(part, Fold):
            found |= _of_domain(part.domain, copies)
    return found


# --- without the dimension ---------------------------------------------------------------------


def _spared(chain: Chain, path: Path, copies: Mapping[str, int], places: Mapping[str, int], counter: int) -> Chain:
    """The chain without a dimension of some locals, and without the loops over it."""
    program = chain.program
    grid = statement_at(program.body, path)
    gone = frozenset(
        loop.counter
        for loop in statements(Block((grid,)))
        if isinstance(loop, For) and copies.get(loop.counter) == counter and _stores_to(loop, copies) <= frozenset(places)
    )
    after = with_statements(program, path, 1, _once(grid, places, gone))
    buffers = lower(program).buffers
    along = {name: len(buffers[name].private) + place for name, place in places.items()}
    along.update({name: place for name, buffer in buffers.items() for place, outer in enumerate(buffer.private) if outer in gone})
    return chain.then(uniform(program, after, Along(along, gone)))


def _stores_to(loop: For, copies: Mapping[str, int]) -> frozenset[str]:
    """What a loop stores to and does not declare."""
    own = {stmt.name for stmt in statements(loop.body) if isinstance(stmt, Declare)}
    return frozenset(store.buffer for store, _ in _stores(loop, copies)) - own


def _once(stmt: Stmt, places: Mapping[str, int], gone: frozenset[str]) -> tuple[Stmt, ...]:
    """A statement without the loops that go, the arrays without the dimension."""

    def less(load: Load) -> Load:
        return Load(load.buffer, _less(load.index, places[load.buffer])) if load.buffer in places else load

    def inside(block: Block) -> Block:
        return Block(tuple(part for held in block.body for part in _once(held, places, gone)))

    if isinstance(stmt, (For, Grid, Inlined)):
        return inside(stmt.body).body if isinstance(stmt, For) and stmt.counter in gone else (replace(stmt, body=inside(stmt.body)),)
    if isinstance(stmt, If):
        return (replace(stmt, then=inside(stmt.then), orelse=inside(stmt.orelse)),)
    if isinstance(stmt, Block):
        return (inside(stmt),)
    if isinstance(stmt, Declare) and stmt.name in places:
        return (replace(stmt, shape=_less(stmt.shape, places[stmt.name])),)
    turned = Change(loads=less).stmt(stmt)
    if isinstance(turned, Store) and turned.buffer in places:
        turned = replace(turned, index=_less(turned.index, places[turned.buffer]))
    return (turned,)


def _less(terms: tuple[Index, ...], place: int) -> tuple[Index, ...]:
    return (*terms[:place], *terms[place + 1 :])
