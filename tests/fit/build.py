"""Programs that keep buffers, and machines with room for so much, for tests of working sets."""

from __future__ import annotations

from cachet_verify.core.index import Const, Formula, Index, Var
from cachet_verify.core.ir import Block, For, If, Lease, Param, Program, Range, Require, Stmt
from cachet_verify.core.machine import Level, Machine
from cachet_verify.kernel.claim import Goal
from cachet_verify.kernel.fit import fits

N = Var("N")


def buffer(name: str, *shape: int | Index, elem: str = "f32", level: str | None = None) -> Param:
    """A parameter of these extents, row by row."""
    return Param(name, "mut", elem, tuple(Const(size) if isinstance(size, int) else size for size in shape), level=level)


def lease(root: str, level: str = "L1", alias: str | None = None) -> Lease:
    """A lease of a buffer, by a name of its own."""
    return Lease(alias or f"{root}_{level}", root, level, True)


def loop(counter: str, high: int | Index, *body: Stmt) -> For:
    """A loop from 0."""
    return For(counter, Range(Const(0), Const(high) if isinstance(high, int) else high), Block(body))


def guard(condition: Formula, then: Stmt, orelse: Stmt) -> If:
    """A choice between two statements."""
    return If(condition, Block((then,)), Block((orelse,)))


def program(params: tuple[Param, ...], *body: Stmt, sizes: tuple[str, ...] = (), requires: tuple[Formula, ...] = ()) -> Program:
    """A function over some buffers."""
    return Program("f", sizes, params, Block(body), tuple(Require(part, "written") for part in requires))


def machine(capacity: int, line: int = 64, sharers: int = 1, ways: int | None = None) -> Machine:
    """A machine with one level."""
    return Machine("M", (Level(("L1",), capacity, line, sharers, ways),))


def asked(made: Program, room: Machine) -> Goal:
    """The goal that it fits."""
    return fits(made, room, ())
