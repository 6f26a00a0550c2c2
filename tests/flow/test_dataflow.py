"""Route B: right nests close with both solvers; each broken one does not, and a run shows it differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from cachet_verify.core.index import ONE, TRUE, ZERO, Const, Var, add, sub
from cachet_verify.core.ir import Block, Fold, For, Load, Program, Store
from cachet_verify.flow.propose import propose
from cachet_verify.kernel.claim import RuleError, Same, discharge
from cachet_verify.kernel.dataflow import Source, dataflow
from cachet_verify.kernel.generalise import BLOCK_LEMMAS, generalise, lift
from cachet_verify.kernel.obligation import Proved, Verdict
from cachet_verify.replay.search import replay
from cachet_verify.solver.prover import Prover
from tests.flow import nest


@pytest.fixture(scope="module")
def prover() -> Iterator[Prover]:
    with Prover() as made:
        yield made


def verdicts(prover: Prover, meaning: Program, program: Program) -> dict[str, Verdict]:
    goal = dataflow(meaning, program, propose(meaning, program).proposal)
    found = {}
    asked = [generalise(obligation) for obligation in goal.obligations]
    for obligation, verdict in zip(goal.obligations, prover.prove(asked), strict=True):
        found[obligation.digest()] = lift(obligation, verdict)
    return found


def is_proved(prover: Prover, meaning: Program, program: Program) -> bool:
    found = verdicts(prover, meaning, program)
    return all(isinstance(verdict, Proved) for verdict in found.values())


RIGHT: list[Callable[[], Program]] = [
    nest.matmul,
    nest.swapped,
    nest.tower,
    lambda: nest.tower(256, 512, 4, 16),
    nest.packed,
    lambda: nest.packed(512, 4, 16, 256),
    lambda: nest.tower("KC", "MC", "MR", "NC"),
]


@pytest.mark.parametrize("build", RIGHT)
def test_a_right_nest_is_proved_for_all_sizes(prover: Prover, build: Callable[[], Program]) -> None:
    meaning, program = nest.matmul(), build()
    goal = dataflow(meaning, program, propose(meaning, program).proposal)
    claim = discharge(goal, verdicts(prover, meaning, program))
    assert claim.statement == Same(meaning, program)
    assert claim.trust == frozenset()


def edited(program: Program, change: Callable[[object], object]) -> Program:
    """The program with one kind of statement replaced, wherever it stands."""

    def walk(block: Block) -> Block:
        return Block(tuple(inner(change(stmt)) for stmt in block.body))

    def inner(stmt: object) -> object:
        return replace(stmt, body=walk(stmt.body)) if isinstance(stmt, For) else stmt

    return replace(program, body=walk(program.body))


def wrong_row() -> Program:
    """The kernel reads the packed panel's first rows for every tile."""

    def change(stmt: object) -> object:
        if getattr(stmt, "name", "") == "row":
            return replace(stmt, init=Load("packA_L2", (Var("i2"), Var("k"))))
        return stmt

    return edited(nest.packed(), change)


def reset_per_block() -> Program:
    """The total starts from zero in every block."""

    def change(stmt: object) -> object:
        if isinstance(stmt, Store) and isinstance(stmt.value, Fold):
            return replace(stmt, value=replace(stmt.value, init=nest.ZERO_WORD))
        return stmt

    return edited(nest.tower(), change)


def descending() -> Program:
    """Inside a block the depth is visited from its end."""

    def change(stmt: object) -> object:
        if isinstance(stmt, Store) and isinstance(stmt.value, Fold):
            depth = add(Var("gk.lo"), sub(sub(Var("gk.len"), ONE), Var("k")))
            row, column = stmt.index
            step = nest.fma(Load("a", (row, depth)), Load("b", (depth, column)), Load("acc'0"))
            return replace(stmt, value=replace(stmt.value, step=step))
        return stmt

    return edited(nest.tower(), change)


def zero_last() -> Program:
    """c is zeroed after the work."""
    tower = nest.tower()
    return replace(tower, body=Block(tuple(reversed(tower.body.body))))


def one_short() -> Program:
    """The depth stops one index early."""

    def change(stmt: object) -> object:
        if isinstance(stmt, For) and stmt.counter == "gk":
            return replace(stmt, domain=replace(stmt.domain, high=sub(Var("K"), ONE)))
        return stmt

    return edited(nest.tower(), change)


def pack_outside() -> Program:
    """A's panel is packed once for all row blocks, from the first of them."""
    made = nest.packed()

    def change(stmt: object) -> object:
        if isinstance(stmt, For) and stmt.counter == "gi":
            return For("gi", stmt.domain, Block(stmt.body.body[1:]))
        if isinstance(stmt, For) and stmt.counter == "gj":
            copy = Store("packA", (Var("a0"), Var("a1")), Load("a", (Var("a0"), nest.within("gk", Var("a1")))))
            inner = nest.loop("a0", nest.upto(Const(16)), nest.loop("a1", nest.upto(Var("gk.len")), copy))
            return For("gj", stmt.domain, Block((inner, *stmt.body.body)))
        return stmt

    return edited(made, change)


def swapped_operands() -> Program:
    """The factors of the product change places."""

    def change(stmt: object) -> object:
        if isinstance(stmt, Store) and isinstance(stmt.value, Fold):
            left, right, total = stmt.value.step.args
            return replace(stmt, value=replace(stmt.value, step=nest.fma(right, left, total)))
        return stmt

    return edited(nest.tower(), change)


def other_zero() -> Program:
    """Totals start from +0.0 instead of -0.0."""

    def change(stmt: object) -> object:
        if isinstance(stmt, Store) and stmt.value == nest.ZERO_WORD:
            return replace(stmt, value=replace(nest.ZERO_WORD, bits=0))
        return stmt

    return edited(nest.tower(), change)


BROKEN = [wrong_row, reset_per_block, descending, zero_last, one_short, pack_outside, swapped_operands, other_zero]


@pytest.mark.parametrize("build", BROKEN)
def test_a_broken_nest_is_never_proved(prover: Prover, build: Callable[[], Program]) -> None:
    assert not is_proved(prover, nest.matmul(), build())


@pytest.mark.parametrize("build", [reset_per_block, descending, zero_last, one_short, other_zero])
def test_a_run_confirms_that_a_broken_nest_differs(build: Callable[[], Program]) -> None:
    found = replay(nest.matmul(), build())
    assert found is not None
    assert found.kind == "difference"


def test_both_solvers_prove_the_block_lemmas(prover: Prover) -> None:
    for verdict in prover.prove(BLOCK_LEMMAS):
        assert isinstance(verdict, Proved)
        assert {answer.solver for answer in verdict.answers if answer.answer == "unsat"} == {"z3", "cvc5"}


def test_a_wrong_source_does_not_close(prover: Prover) -> None:
    meaning, program = nest.matmul(), nest.swapped()
    proposal = propose(meaning, program).proposal
    key = ("acc'1@1.0.0.0", 0)
    pieces = proposal.program.loads[key]
    moved = tuple((name, ZERO if name == "T.k" else value) for name, value in pieces[0].at)
    loads = {**proposal.program.loads, key: (replace(pieces[0], at=moved), *pieces[1:])}
    goal = dataflow(meaning, program, replace(proposal, program=replace(proposal.program, loads=loads)))
    assert not all(isinstance(verdict, Proved) for verdict in prover.prove(goal.obligations))


def test_a_source_that_names_another_buffer_is_refused() -> None:
    meaning, program = nest.matmul(), nest.swapped()
    proposal = propose(meaning, program).proposal
    loads = {**proposal.program.loads, ("c@1.0.0.1", 0): (Source(TRUE, "c@0.0.0", ()),)}
    with pytest.raises(RuleError, match="does not fit its writer"):
        dataflow(meaning, program, replace(proposal, program=replace(proposal.program, loads=loads)))


def test_an_empty_relation_does_not_close(prover: Prover) -> None:
    meaning, program = nest.matmul(), nest.swapped()
    goal = dataflow(meaning, program, replace(propose(meaning, program).proposal, relation={}))
    assert not all(isinstance(verdict, Proved) for verdict in prover.prove(goal.obligations))


def test_a_missing_requirement_is_refused() -> None:
    needy = nest.tower("KC", "MC", "MR", "NC")
    with pytest.raises(RuleError, match="requirement"):
        dataflow(needy, replace(needy, requires=()), propose(needy, needy).proposal)
