"""What campaigns found: inputs on which the checker once failed, and that it now answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cachet_verify.core.index import ZERO, Const, Mod, Var, add
from cachet_verify.core.ir import Block, Blocks, For, Load, Op, Param, Program, Range, Stmt, Store
from tests.mutate.judge import Judge

PARAMS = (Param("x", "reads", "f32", (Var("N"),)), Param("y", "mut", "f32", (Var("N"),)))


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge() as made:
        yield made


def program(*body: Stmt) -> Program:
    return Program("square", ("N",), PARAMS, Block(body))


def square(index: Var | Mod) -> Store:
    return Store("y", (index,), Op("mul", "f32", (Load("x", (index,)), Load("x", (index,)))))


def whole(*body: Stmt) -> For:
    return For("i", Range(ZERO, Var("N")), Block(body))


def test_a_name_out_of_scope_is_no_proof_and_no_fault(judge: Judge) -> None:
    loose = For("j", Range(ZERO, Var("N")), Block((square(Var("i")),)))
    outcome = judge.pair(program(whole(square(Var("i")))), program(loose))
    assert outcome.kind == "undecided"


def test_a_loop_whose_start_follows_its_block_is_answered(judge: Judge) -> None:
    """Every cell is read back by a second nest, so that the last writer of a blocked loop is asked for."""
    inner = For("i", Range(Var("g.lo"), add(Var("g.lo"), Var("g.len"))), Block((square(Var("i")),)))
    blocked = For("g", Blocks(ZERO, Var("N"), Const(2)), Block((inner,)))
    again = For("j", Range(ZERO, Var("N")), Block((Store("y", (Var("j"),), Op("add", "f32", (Load("y", (Var("j"),)), Load("y", (ZERO,))))),)))
    outcome = judge.pair(program(whole(square(Var("i"))), again), program(blocked, again))
    assert outcome.kind in ("accepted", "undecided")


def test_a_division_by_the_literal_zero_is_no_proof_and_no_fault(judge: Judge) -> None:
    outcome = judge.pair(program(whole(square(Var("i")))), program(whole(square(Mod(Var("i"), Const(0))))))
    assert outcome.kind in ("confirmed", "undecided", "refused")


def test_a_step_that_loads_a_type_is_refused(judge: Judge, tmp_path: Path) -> None:
    path = tmp_path / "step.cachet"
    path.write_text(
        """
contraction matvec (reads a: [f32; M, K]) (reads x: [f32; K]) -> out y: [f32; M] =
  y[i] = sum k. a[i, k] * x[k]

step fn odd (j) c =
  from
    for j in $a .. $b do
      store $cell = fold $k in $K from $zero as $acc: $E do $step
  to
    for j in $a .. $b do
      let t = load $E
      store $cell = t
  relate
    per cell c fold S.k

schedule s of matvec =
  odd (i) y
""",
        encoding="utf-8",
    )
    outcomes = dict(judge.file(path))
    assert outcomes["s"].kind == "inapplicable"
    assert "nothing declares $E" in outcomes["s"].why
