"""Idle lanes may hold anything that never reaches a store; what reaches one is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from cachet_verify.core.family import lower
from cachet_verify.core.index import Const, Formula, Var, add
from cachet_verify.core.ir import Block, For, Lanes, Program, Store
from cachet_verify.flow.evaluate import sizer
from cachet_verify.flow.live import propose_live
from cachet_verify.flow.source import propose_flow
from cachet_verify.kernel.initialised import initialised
from cachet_verify.kernel.obligation import Proved
from cachet_verify.solver.prover import Prover
from tests.flow import nest


@pytest.fixture(scope="module")
def prover() -> Iterator[Prover]:
    with Prover() as made:
        yield made


def is_initialised(prover: Prover, program: Program, *, with_live: bool) -> bool:
    families = lower(program)
    flow = propose_flow(families, sizer(families))
    live: dict[str, Formula] = propose_live(program, flow) if with_live else {}
    goal = initialised(program, flow, live)
    return all(isinstance(verdict, Proved) for verdict in prover.prove(goal.obligations))


def test_a_kernel_with_idle_lanes_is_initialised(prover: Prover) -> None:
    assert is_initialised(prover, nest.packed(), with_live=True)


def test_without_what_is_live_idle_lanes_stand_in_the_way(prover: Prover) -> None:
    assert not is_initialised(prover, nest.packed(), with_live=False)


def test_a_store_of_idle_lanes_is_not_initialised(prover: Prover) -> None:
    """The tile is stored whole into a wider c: the cells past N are made of nothing."""

    def walk(block: Block) -> Block:
        return Block(tuple(change(stmt) for stmt in block.body))

    def change(stmt: object) -> object:
        if isinstance(stmt, For):
            return replace(stmt, body=walk(stmt.body))
        if isinstance(stmt, Store) and stmt.buffer == "c" and stmt.lanes is not None:
            return replace(stmt, lanes=Lanes(stmt.lanes.counter, 8, Const(8)))
        return stmt

    made = nest.packed()
    wide = tuple(replace(p, mode="mut", shape=(Var("M"), add(Var("N"), Const(8)))) if p.name == "c" else p for p in made.params)
    assert not is_initialised(prover, replace(made, params=wide, body=walk(made.body)), with_live=True)
