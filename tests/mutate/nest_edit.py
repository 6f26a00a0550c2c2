"""One-edit mutants of core programs: values, statements, loops.

Takes a program; gives labelled programs, each different from it in one place. The interface (sizes,
caller's parameters) is left alone; a requirement may be dropped, never added.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

from cachet_verify.core.index import ONE, ZERO, Const, add, minimum, variables
from cachet_verify.core.ir import (
    Axis,
    Block,
    Blocks,
    Choose,
    Declare,
    Domain,
    Fold,
    For,
    Grid,
    If,
    Lanes,
    Lease,
    Load,
    Op,
    Program,
    Range,
    Require,
    Slice,
    Store,
    Word,
)
from tests.mutate.site import Names, Site, binders, counted, renamed, replaced, sites
from tests.mutate.term_edit import FORMULAS, TERMS, Edit, domain_edits, formula_edits, lane_edits, term_edits

_OTHER_OPERATIONS = {"fma": ("add",), "add": ("sub", "mul", "max"), "mul": ("add",), "sub": ("add",), "max": ("min",), "min": ("max",)}


def nest_mutants(program: Program) -> Iterator[tuple[str, Program]]:
    """Every mutant, each once, in the order of the text."""
    seen = {program}
    for site in sites(program):
        for label, node in _edits(site):
            if isinstance(site.node, Require):
                mutant = replace(program, requires=tuple(need for need in program.requires if need != site.node))
            else:
                mutant = replaced(program, site.path, node)
            if mutant not in seen:
                seen.add(mutant)
                yield label, mutant


def _edits(site: Site) -> Iterator[Edit]:
    node, names = site.node, site.names
    if isinstance(node, TERMS):
        yield from term_edits(node, names)
    elif isinstance(node, FORMULAS):
        yield from formula_edits(node, names)
    elif isinstance(node, (Range, Blocks)):
        yield from domain_edits(node, names)
    elif isinstance(node, Lanes):
        yield from lane_edits(node, names)
    elif isinstance(node, Require):
        yield "requirement dropped", None
    elif isinstance(node, (Load, Word, Op, Choose, Fold)):
        yield from value_edits(node, names)
    else:
        yield from statement_edits(node, names)


def value_edits(value: Any, names: Names) -> Iterator[Edit]:
    """Operands exchanged, other operations and words, other buffers, other starts of totals."""
    if isinstance(value, Load):
        yield from _load_edits(value, names)
    elif isinstance(value, Word):
        sign = 1 << {"f16": 15, "bf16": 15, "f32": 31, "f64": 63}.get(value.elem, 0)
        yield "sign of a literal", Word(value.elem, value.bits ^ sign)
        yield "literal plus one bit", Word(value.elem, value.bits ^ 1)
    elif isinstance(value, Op):
        yield from _operation_edits(value)
    elif isinstance(value, Choose):
        yield "branches exchanged", Choose(value.condition, value.orelse, value.then)
        yield "always the first branch", value.then
        yield "always the second branch", value.orelse
    elif isinstance(value, Fold):
        zero = Op("S.zero", value.elem) if "." in value.elem else Word(value.elem, 0x80000000 if value.elem == "f32" else 0)
        yield "total reset", replace(value, init=zero)
        yield "total never read", replace(value, step=value.init)


def _load_edits(load: Load, names: Names) -> Iterator[Edit]:
    index = load.index
    for first in range(len(index)):
        for second in range(first + 1, len(index)):
            moved = list(index)
            moved[first], moved[second] = index[second], index[first]
            yield "indices exchanged", Load(load.buffer, tuple(moved))
    mine = names.buffers.get(load.buffer)
    for other, kind in names.buffers.items():
        if kind == mine and other != load.buffer:
            yield f"load of {other}", Load(other, index)


def _operation_edits(op: Op) -> Iterator[Edit]:
    args = op.args
    for first in range(len(args)):
        for second in range(first + 1, len(args)):
            moved = list(args)
            moved[first], moved[second] = args[second], args[first]
            yield "operands exchanged", replace(op, args=tuple(moved))
    if op.name == "fma":
        yield "fma split in two", Op("add", op.elem, (Op("mul", op.elem, args[:2]), args[2]))
        yield "fma split, sum reversed", Op("add", op.elem, (args[2], Op("mul", op.elem, args[:2])))
    if op.name == "S.mul_add":
        yield "fma split in two", Op("S.add", op.elem, (args[2], Op("S.mul", op.elem, args[:2])))
    for other in _OTHER_OPERATIONS.get(op.name, ()):
        yield f"operation {other}", replace(op, name=other, args=args[:2])
    for arg in args:
        yield "operation dropped", arg


def statement_edits(stmt: Any, names: Names) -> Iterator[Edit]:
    """Statements dropped, doubled, moved; loops exchanged; writes to other cells; starts of locals."""
    if isinstance(stmt, Block):
        yield from _block_edits(stmt)
    elif isinstance(stmt, For):
        yield from _loop_edits(stmt)
    elif isinstance(stmt, Store):
        yield from _store_edits(stmt, names)
    elif isinstance(stmt, Declare):
        yield from _declare_edits(stmt)
    elif isinstance(stmt, If):
        yield "branches of an if exchanged", replace(stmt, then=stmt.orelse, orelse=stmt.then)
        yield "if dropped", stmt.then
    elif isinstance(stmt, Lease):
        for other, kind in names.buffers.items():
            if other != stmt.root and kind == names.buffers.get(stmt.root):
                yield f"lease of {other}", replace(stmt, root=other)
    elif isinstance(stmt, Grid):
        yield from _grid_edits(stmt)


def _grid_edits(grid: Grid) -> Iterator[Edit]:
    """Axes that run no, one or two iterations more or less, windows wider, narrower or undeclared, and what comes after taken in."""
    yield "axis of a grid dropped", replace(grid, axes=tuple(Axis(axis.counter, axis.low, axis.low) for axis in grid.axes))
    for place, axis in enumerate(grid.axes):
        for label, low, high in (
            ("one late", add(axis.low, ONE), axis.high),
            ("one early", axis.low, add(axis.high, Const(-1))),
            ("one more", axis.low, add(axis.high, ONE)),
        ):
            yield f"axis {label}", replace(grid, axes=(*grid.axes[:place], Axis(axis.counter, low, high), *grid.axes[place + 1 :]))
        if len(grid.axes) > 1:
            inner = replace(grid, axes=(*grid.axes[:place], *grid.axes[place + 1 :]), windows=None)
            yield "axis made a loop outside", For(axis.counter, Range(axis.low, axis.high), Block((inner,)))
    for place, window in enumerate(grid.windows or ()):
        windows = grid.windows or ()
        yield "window dropped", replace(grid, windows=(*windows[:place], *windows[place + 1 :]) or None)
        for spot, part in enumerate(window.parts):
            if isinstance(part, Slice):
                for label, made in (("wider", Slice(part.low, add(part.high, ONE))), ("narrower", Slice(part.low, add(part.high, Const(-1))))):
                    parts = (*window.parts[:spot], made, *window.parts[spot + 1 :])
                    yield f"window {label}", replace(grid, windows=(*windows[:place], replace(window, parts=parts), *windows[place + 1 :]))


def _block_edits(block: Block) -> Iterator[Edit]:
    body = block.body
    for place, stmt in enumerate(body):
        before, after = body[:place], body[place + 1 :]
        yield "statement dropped", Block((*before, *after))
        yield "statement doubled", Block((*before, stmt, _renewed(stmt), *after))
        if after:
            yield "statements exchanged", Block((*before, after[0], stmt, *after[1:]))
        if isinstance(stmt, For) and stmt.body.body:
            inner = stmt.body.body
            if len(inner) > 1:
                yield "first statement moved out", Block((*before, _first(stmt, inner[:1]), replace(stmt, body=Block(inner[1:])), *after))
                yield "last statement moved out", Block((*before, replace(stmt, body=Block(inner[:-1])), _first(stmt, inner[-1:]), *after))
                yield "loop cut in two", Block((*before, replace(stmt, body=Block(inner[:1])), _again(stmt, inner[1:]), *after))
            yield "first iteration only", Block((*before, _first(stmt, inner), *after))
            yield "first iteration run before", Block((*before, _first(stmt, inner), stmt, *after))
    if len(body) > 1:
        yield "statements reversed", Block(tuple(reversed(body)))


def _renewed(stmt: Any) -> Any:
    """A statement with names of its own for all that it binds."""
    return renamed(stmt, {name: f"{name}_2" for name in binders(stmt) if "." not in name})


def _again(loop: For, body: tuple[Any, ...]) -> For:
    """Another loop over the same iterations."""
    made = replace(loop, body=Block(body))
    return cast(For, _renewed(made))


def _first(loop: For, body: tuple[Any, ...]) -> For:
    """The first iteration of a loop, under other names."""
    low, high = loop.domain.low, loop.domain.high
    if isinstance(loop.domain, Blocks):
        domain: Range | Blocks = Blocks(low, minimum(high, add(low, loop.domain.size)), loop.domain.size)
    else:
        domain = Range(low, minimum(high, add(low, ONE)))
    return _again(replace(loop, domain=domain), body)


def _loop_edits(loop: For) -> Iterator[Edit]:
    again = For(f"{loop.counter}_2", Range(ZERO, Const(2)), Block((loop,)))
    yield "loop run twice", again
    if isinstance(loop.domain, Range):
        yield "iterations unordered", Grid((Axis(loop.counter, loop.domain.low, loop.domain.high),), loop.body)
    inner = loop.body.body
    if not inner or not isinstance(inner[-1], For) or _names(inner[-1].domain) & {*counted(loop.counter, loop.domain)}:
        return
    if len(inner) == 1:
        yield "loops interchanged", replace(inner[0], body=Block((replace(loop, body=inner[0].body),)))
    else:
        yield "loops interchanged", replace(inner[-1], body=Block((replace(loop, body=Block((*inner[:-1], *inner[-1].body.body))),)))


def _names(domain: Domain) -> frozenset[str]:
    terms = (domain.low, domain.high) if isinstance(domain, Range) else (domain.low, domain.high, domain.size)
    return frozenset(name for term in terms for name in variables(term))


def _store_edits(stmt: Store, names: Names) -> Iterator[Edit]:
    index = stmt.index
    for first in range(len(index)):
        for second in range(first + 1, len(index)):
            moved = list(index)
            moved[first], moved[second] = index[second], index[first]
            yield "store at exchanged indices", replace(stmt, index=tuple(moved))
    mine = names.buffers.get(stmt.buffer)
    for other, kind in names.buffers.items():
        if kind == mine and other != stmt.buffer:
            yield f"store to {other}", replace(stmt, buffer=other)
    if stmt.lanes is not None:
        yield "lanes dropped", For(stmt.lanes.counter, Range(ZERO, stmt.lanes.active), Block((replace(stmt, lanes=None),)))
    yield "store of its own word", replace(stmt, value=Load(stmt.buffer, stmt.index))


def _declare_edits(stmt: Declare) -> Iterator[Edit]:
    if stmt.init is not None:
        yield "local without a start", replace(stmt, init=None, lanes=None)
        if not isinstance(stmt.init, Word) and stmt.elem == "f32":
            yield "local reset", replace(stmt, init=Word("f32", 0x80000000))
    if stmt.width is not None:
        yield "vector one narrower", replace(stmt, width=max(stmt.width - 1, 1))
        yield "vector one wider", replace(stmt, width=stmt.width + 1)
