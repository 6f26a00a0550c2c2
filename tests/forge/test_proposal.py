"""A proposal to route B cannot borrow names: of counters it does not speak of, of other writes, or of sizes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cachet_verify.core.family import lower
from cachet_verify.core.index import ZERO, Const, Var, eq
from cachet_verify.core.ir import Block, Load, Op, Param, Program, Store
from cachet_verify.flow.propose import propose
from cachet_verify.kernel.claim import RuleError
from cachet_verify.kernel.dataflow import Proposal, Source, dataflow
from cachet_verify.kernel.initialised import initialised
from tests.flow.nest import loop, upto

PARAMS = (Param("x", "reads", "f32", (Var("N"),)), Param("y", "mut", "f32", (Var("N"),)))
CELL = Load("x", (Var("i"),))
DOUBLED = Program("f", ("N",), PARAMS, Block((loop("i", upto(Var("N")), Store("y", (Var("i"),), Op("add", "f32", (CELL, CELL)))),)))


def proposed() -> Proposal:
    return propose(DOUBLED, DOUBLED).proposal


def test_the_honest_proposal_is_taken() -> None:
    assert dataflow(DOUBLED, DOUBLED, proposed()).obligations


@pytest.mark.parametrize("name", ["W.T.i", "S.i", "T.i", "z"])
def test_a_source_of_the_end_speaks_of_the_cell_only(name: str) -> None:
    honest = proposed()
    (kept,) = honest.program.finals["y"][:1]
    split = (replace(kept, guard=eq(Var(name), ZERO)), *honest.program.finals["y"])
    forged = replace(honest, program=replace(honest.program, finals={**honest.program.finals, "y": split}))
    with pytest.raises(RuleError, match="not in scope"):
        dataflow(DOUBLED, DOUBLED, forged)


def test_where_a_writer_stands_is_told_in_terms_of_the_reader() -> None:
    honest = proposed()
    pieces = tuple(replace(piece, at=tuple((name, Var("W.T.i")) for name, _ in piece.at)) for piece in honest.program.finals["y"])
    forged = replace(honest, program=replace(honest.program, finals={**honest.program.finals, "y": pieces}))
    with pytest.raises(RuleError, match="not in scope"):
        dataflow(DOUBLED, DOUBLED, forged)


def test_a_relation_speaks_of_its_two_instances_only() -> None:
    honest = proposed()
    relation = {pair: eq(Var("y.0"), Const(0)) for pair in honest.relation}
    with pytest.raises(RuleError, match="not in scope"):
        dataflow(DOUBLED, DOUBLED, replace(honest, relation=relation))


def test_what_is_live_is_told_in_terms_of_the_family() -> None:
    (family,) = lower(DOUBLED).members
    flow = replace(proposed().program, finals={"y": (Source(eq(ZERO, ZERO)),)}, loads={(family.name, 0): (), (family.name, 1): ()})
    with pytest.raises(RuleError, match="not in scope"):
        initialised(DOUBLED, flow, {family.name: eq(Var("W.i"), ZERO)})


@pytest.mark.parametrize("name", ["S.i", "T.i", "W.S.i"])
def test_no_size_reads_like_a_counter_of_a_side(name: str) -> None:
    sized = replace(DOUBLED, sizes=("N", name))
    with pytest.raises(RuleError, match="name of this rule's own"):
        dataflow(sized, sized, proposed())
