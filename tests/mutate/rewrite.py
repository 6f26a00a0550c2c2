"""Rewrites of nests that optimisers make, with no question asked whether they are right here.

Takes a program; gives labelled programs: loops reversed, cut into blocks, made unordered, fused, cut in
two, vectorised, and buffers reached through leases and views. Some keep every word and some do not,
which is what a checker has to find out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from cachet_verify.core.index import ONE, ZERO, Const, Index, Var, add, sub
from cachet_verify.core.ir import Axis, Block, Blocks, Fold, For, Grid, Lanes, Lease, Load, Program, Range, Store, View
from tests.mutate.site import binders, renamed, replaced, sites


def rewrites(program: Program) -> Iterator[tuple[str, Program]]:
    """Every rewrite at every loop and buffer."""
    for site in sites(program):
        if isinstance(site.node, For):
            for label, made in _of_loop(site.node):
                yield label, replaced(program, site.path, made)
        elif isinstance(site.node, Block):
            for label, made in _of_block(site.node):
                yield label, replaced(program, site.path, made)
    yield from _of_buffers(program)


def _of_loop(loop: For) -> Iterator[tuple[str, Any]]:
    if not isinstance(loop.domain, Range):
        return
    low, high = loop.domain.low, loop.domain.high
    turned = sub(add(low, high), add(Var(loop.counter), ONE))
    yield "loop reversed", replace(loop, body=with_index(loop.body, loop.counter, turned))
    yield "loop made a grid", Grid((Axis(loop.counter, low, high),), loop.body)
    for size in (2, 3):
        block, inner = f"g{loop.counter}", Var(loop.counter)
        start, length = Var(f"{block}.lo"), Var(f"{block}.len")
        body = with_index(loop.body, loop.counter, add(start, inner))
        cut = For(block, Blocks(low, high, Const(size)), Block((For(loop.counter, Range(ZERO, length), body),)))
        yield f"loop in blocks of {size}", cut
        lanes = _vectorised(loop, block, size)
        if lanes is not None:
            yield f"loop in lanes of {size}", lanes
    inner_loop = loop.body.body[0] if len(loop.body.body) == 1 else None
    if isinstance(inner_loop, For):
        yield "loops interchanged", replace(inner_loop, body=Block((replace(loop, body=inner_loop.body),)))


def _vectorised(loop: For, block: str, size: int) -> For | None:
    """A loop over one plain store, as stores of whole vectors."""
    only = loop.body.body[0] if len(loop.body.body) == 1 else None
    if not isinstance(only, Store) or isinstance(only.value, Fold) or only.lanes is not None:
        return None
    lane = f"l{loop.counter}"
    at = add(Var(f"{block}.lo"), Var(lane))
    store = with_index(only, loop.counter, at)
    wide = replace(store, lanes=Lanes(lane, size, Var(f"{block}.len")))
    return For(block, Blocks(loop.domain.low, loop.domain.high, Const(size)), Block((wide,)))


def _of_block(block: Block) -> Iterator[tuple[str, Block]]:
    body = block.body
    for place, stmt in enumerate(body):
        before, after = body[:place], body[place + 1 :]
        if isinstance(stmt, For) and len(stmt.body.body) == 2:
            one, two = (replace(stmt, body=Block((part,))) for part in stmt.body.body)
            again = renamed(two, {name: f"{name}_2" for name in binders(two) if "." not in name})
            yield "loop cut in two", Block((*before, one, again, *after))
        following = after[0] if after else None
        if isinstance(stmt, For) and isinstance(following, For) and stmt.domain == following.domain:
            moved = renamed(following.body, {following.counter: stmt.counter})
            yield "loops fused", Block((*before, replace(stmt, body=Block((*stmt.body.body, *moved.body))), *after[1:]))


def _of_buffers(program: Program) -> Iterator[tuple[str, Program]]:
    for param in program.params:
        alias = f"{param.name}_v"
        body = _through(program.body, param.name, alias)
        counters = tuple(f"{alias}{place}" for place in range(len(param.shape)))
        straight: tuple[Index, ...] = tuple(Var(name) for name in counters)
        yield "through a lease", replace(program, body=Block((Lease(alias, param.name, "L1", True), *body.body)))
        yield "through a view", replace(program, body=Block((View(alias, counters, param.name, straight, param.shape), *body.body)))
        turned = (sub(sub(param.shape[0], ONE), straight[0]), *straight[1:])
        yield "through a view turned round", replace(program, body=Block((View(alias, counters, param.name, turned, param.shape), *body.body)))


def _through(node: Any, buffer: str, alias: str) -> Any:
    """A node that reaches a buffer under another name."""
    if isinstance(node, tuple):
        return tuple(_through(item, buffer, alias) for item in node)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    made = replace(node, **{part.name: _through(getattr(node, part.name), buffer, alias) for part in fields(node) if part.name != "span"})
    if isinstance(made, (Load, Store)) and made.buffer == buffer:
        return replace(made, buffer=alias)
    return made


def with_index(node: Any, name: str, term: Index) -> Any:
    """A node with an integer variable replaced by a term; nothing in it binds the variable."""
    if isinstance(node, Var):
        return term if node.name == name else node
    if isinstance(node, tuple):
        return tuple(with_index(item, name, term) for item in node)
    if is_dataclass(node) and not isinstance(node, type):
        return replace(node, **{part.name: with_index(getattr(node, part.name), name, term) for part in fields(node) if part.name != "span"})
    return node
