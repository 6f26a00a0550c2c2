"""How far an extent of a buffer that is kept could grow, everything else as it is.

Takes a program, a machine and one extent of one of its buffers; gives the largest number with which the rows that the
buffer is in still fit. Proposes only: nothing here is a proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cachet_verify.core.element import ELEMENTS
from cachet_verify.core.index import Const, Index, Var, evaluate, variables
from cachet_verify.core.ir import Block, Declare, For, Grid, If, Inlined, Param, Program, Stmt, statements
from cachet_verify.core.machine import Footprint, Machine
from cachet_verify.kernel.claim import RuleError
from cachet_verify.kernel.fit import Row, rows

_MOST_TRIED = 100_000
_NAME = "extent'"


@dataclass(frozen=True, slots=True)
class Extent:
    """Extent `place` of `buffer`, from 1: what it is, and the `largest` that fits; 0 where none above 0 does."""

    buffer: str
    place: int
    now: int
    largest: int


def extents(program: Program, machine: Machine, footprints: tuple[Footprint, ...]) -> Iterator[Extent]:
    """Every extent that is a number of every buffer and tile in a row of numbers, with the largest that fits."""
    kept = dict.fromkeys(part.buffer for row in rows(program, machine, footprints) for part in row.parts)
    for buffer in kept:
        made = _made(program, buffer)
        for place, size in enumerate(made.shape):
            largest = _largest(program, machine, footprints, made, place) if isinstance(size, Const) else None
            if isinstance(size, Const) and largest is not None:
                yield Extent(buffer, place + 1, size.value, largest)


def _made(program: Program, buffer: str) -> Param | Declare:
    for stmt in statements(program.body):
        if isinstance(stmt, Declare) and stmt.name == buffer:
            return stmt
    return program.param(buffer)


def _largest(program: Program, machine: Machine, footprints: tuple[Footprint, ...], made: Param | Declare, place: int) -> int | None:
    """The largest extent with which the buffer's rows fit; None where that depends on sizes, or too many are to be tried."""
    open_ = _with_extent(program, made.name, place, Var(_NAME))
    try:
        found = rows(replace(open_, sizes=(*open_.sizes, _NAME)), machine, footprints)
    except RuleError:
        return None
    mine = [row for row in found if any(part.buffer == made.name for part in row.parts)]
    if any(variables(row.total) - {_NAME} for row in mine):
        return None
    most = min(_most(row, made, place) for row in mine if row.unit != "ways")  # a row of ways stands beside one of bytes
    for size in range(most, max(0, most - _MOST_TRIED), -1):
        if all(evaluate(row.total, {_NAME: size}) <= row.limit for row in mine):
            return size
    return 0 if most <= _MOST_TRIED else None


def _most(row: Row, made: Param | Declare, place: int) -> int:
    """A bound on the extent in a row: a layout gives each cell an address of its own, so the cells alone have to fit."""
    room = row.limit - sum(evaluate(part.takes, {}) for part in row.parts if part.buffer != made.name)
    cell = 1
    for at, size in enumerate(made.shape):
        cell *= size.value if at != place and isinstance(size, Const) else 1
    if row.unit != "registers":
        known = ELEMENTS.get(made.elem)
        width = made.width if isinstance(made, Declare) else None
        cell *= (width or 1) * (1 if known is None else -(-known.width // 8))
    return max(0, room // max(1, cell))


def _with_extent(program: Program, buffer: str, place: int, extent: Index) -> Program:
    """The program with another extent of one of its buffers."""

    def changed(made: tuple[Index, ...]) -> tuple[Index, ...]:
        return (*made[:place], extent, *made[place + 1 :])

    def block(body: Block) -> Block:
        return Block(tuple(statement(stmt) for stmt in body.body))

    def statement(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Declare):
            return replace(stmt, shape=changed(stmt.shape)) if stmt.name == buffer else stmt
        if isinstance(stmt, If):
            return replace(stmt, then=block(stmt.then), orelse=block(stmt.orelse))
        if isinstance(stmt, (For, Grid, Inlined)):
            return replace(stmt, body=block(stmt.body))
        return block(stmt) if isinstance(stmt, Block) else stmt

    params = tuple(replace(param, shape=changed(param.shape)) if param.name == buffer else param for param in program.params)
    return replace(program, params=params, body=block(program.body))
