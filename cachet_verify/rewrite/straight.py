"""The statements of an iteration as `distribute` takes them: stores and loops, locals declared first, guards right inside.

Takes blocks of statements; gives blocks that do the same, one level of loops and guards opened. Must not decide that
they do: the kernel compares the families.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from cachet_verify.core.index import ZERO, Formula, Index, Var, neg, variables
from cachet_verify.core.ir import Block, Blocks, Declare, For, If, Inlined, Range, Stmt, Store
from cachet_verify.rewrite.error import StepError, refuse
from cachet_verify.rewrite.hole import stmt_text
from cachet_verify.rewrite.hull import hull
from cachet_verify.rewrite.traverse import domain_mentions
from cachet_verify.source import Span

Fresh = Callable[[str], str]
"""A name that nothing has yet, like the one given."""


def refused(text: str, span: Span | None) -> StepError:
    """The error of a nest whose loops are not pushed in."""
    hint = "the loops over rows and columns stand right inside one another and hold statements and loops; split exactly"
    return refuse("no-match", f"rows and columns: {text}", span, hint)


def straight(block: Block, fresh: Fresh, span: Span | None) -> Iterator[Stmt]:
    """The statements with calls and blocks opened, and each local declared first and then stored to."""
    for stmt in block.body:
        if isinstance(stmt, Block) or (isinstance(stmt, Inlined) and stmt.instruction is None and not stmt.is_tile):
            yield from straight(stmt if isinstance(stmt, Block) else stmt.body, fresh, span)
        elif isinstance(stmt, Declare) and stmt.width is None and stmt.layout is None and stmt.level is None:
            yield replace(stmt, init=None, mutable=True)
            if stmt.init is not None:
                yield _filled(stmt, Store(stmt.name, (), stmt.init, span=stmt.span), fresh)
        elif isinstance(stmt, For):
            yield replace(stmt, body=Block(tuple(straight(stmt.body, fresh, span))))
        elif isinstance(stmt, If):
            yield from (_guarded(part, stmt, stmt.condition) for part in straight(stmt.then, fresh, span))
            yield from (_guarded(part, stmt, neg(stmt.condition)) for part in straight(stmt.orelse, fresh, span))
        elif isinstance(stmt, Store) and stmt.lanes is None:
            yield stmt
        else:
            raise refused(f"looks for stores, loops, guards and locals, found {stmt_text(stmt)}", span)


def _guarded(stmt: Stmt, guard: If, condition: Formula) -> Stmt:
    """One statement of a guarded block, the guard right around what it stores; a local is there in any case."""
    if isinstance(stmt, Declare):
        return stmt
    if isinstance(stmt, For):
        return replace(stmt, body=Block(tuple(_guarded(part, guard, condition) for part in stmt.body.body)))
    return replace(guard, condition=condition, then=Block((stmt,)), orelse=Block())


def _filled(stmt: Declare, store: Store, fresh: Fresh) -> Stmt:
    """The first words of a local, in loops over its cells."""
    names = tuple(fresh(f"{stmt.name}_{place}") for place in range(len(stmt.shape)))
    filled: Stmt = replace(store, index=tuple(Var(name) for name in names))
    for name, extent in reversed(list(zip(names, stmt.shape, strict=True))):
        filled = For(name, Range(ZERO, extent), Block((filled,)), stmt.span)
    return filled


def check_straight(body: Sequence[Stmt], sizes: frozenset[str], counters: frozenset[str], span: Span | None) -> None:
    """Raise StepError where a local's shape is not one that sizes give, or blocks that come outside speak of a counter."""
    for stmt in body:
        if isinstance(stmt, Declare) and any(not variables(extent) <= sizes for extent in stmt.shape):
            raise refused(f"the shape of {stmt.name} is not one that sizes give", span)
        if isinstance(stmt, For) and not is_elements(stmt):
            spoken = sorted(domain_mentions(stmt.domain) & counters)
            if spoken and isinstance(stmt.domain, Blocks):
                raise refused(f"the bounds of the blocks {stmt.counter} speak of {spoken[0]}", span)
            check_straight(stmt.body.body, sizes, counters, span)


def is_elements(loop: For) -> bool:
    """Whether a loop goes through cells of what its one statement stores, an index of the store being its counter."""
    names: list[str] = []
    stmt: Stmt = loop
    while isinstance(stmt, (For, If)):
        names += [stmt.counter] if isinstance(stmt, For) else []
        held = stmt.body.body if isinstance(stmt, For) else stmt.then.body
        if len(held) != 1:
            return False
        stmt = held[0]
    return isinstance(stmt, Store) and all(Var(name) in stmt.index for name in names)


def widened(loop: For, extents: Mapping[str, Index]) -> For:
    """A loop that may come outside of the counters' loops: over all indices, where its bounds speak of them, and guarded."""
    domain = loop.domain
    if not isinstance(domain, Range) or not domain_mentions(domain) & frozenset(extents):
        return loop
    whole, condition = hull(loop.counter, domain, extents)
    guard = If(condition, Block(), Block(), loop.span)
    return replace(loop, domain=whole, body=Block(tuple(_guarded(stmt, guard, condition) for stmt in loop.body.body)))
