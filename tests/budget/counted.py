"""Traffic counted by running: the interpreter with a counter at every lease.

Takes a program and sizes; gives how often each lease was entered. Must not use what it is compared with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from cachet_verify.core import ir
from cachet_verify.core.meaning import Action, Executable, capacity, shape_of
from cachet_verify.core.valuation import Scope


class Leasing(Executable):
    """Runs a program and counts how often each lease is entered, by its name."""

    def __init__(self, program: ir.Program) -> None:
        self.entered: Counter[str] = Counter()
        super().__init__(program)

    def _statement(self, stmt: ir.Stmt, scope: Scope) -> tuple[Action | None, Scope]:
        action, scope = super()._statement(stmt, scope)
        if not isinstance(stmt, ir.Lease):
            return action, scope

        def enter() -> None:
            self.entered[stmt.alias] += 1

        return enter, scope


def skeleton(program: ir.Program) -> ir.Program:
    """The program without what it computes: loops, guards and leases alone, and no loop that holds no lease."""

    def kept(block: ir.Block) -> ir.Block:
        return ir.Block(tuple(made for stmt in block.body for made in of(stmt)))

    def of(stmt: ir.Stmt) -> tuple[ir.Stmt, ...]:
        if isinstance(stmt, ir.Lease):
            return (stmt,)
        if isinstance(stmt, ir.If):
            return (replace(stmt, then=kept(stmt.then), orelse=kept(stmt.orelse)),)
        if isinstance(stmt, (ir.For, ir.Grid, ir.Inlined)):
            body = kept(stmt.body)
            return (replace(stmt, body=body),) if body.body else ()
        return kept(stmt).body if isinstance(stmt, ir.Block) else ()

    return replace(program, body=kept(program.body))


def entered(program: ir.Program, sizes: Mapping[str, int]) -> Counter[str]:
    """How often each lease is entered in a run on buffers of ones."""
    machine = Leasing(program)
    machine.run(sizes, {param.name: [1] * capacity(shape_of(param, sizes)) for param in program.params})
    return machine.entered
