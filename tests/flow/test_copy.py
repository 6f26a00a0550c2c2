"""Copies carried round loops are members of the relation: what they let through, and forged relations that fail."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cachet_verify.core.index import ONE, TRUE, ZERO, Const, Formula, Index, Var, conj, eq, sub
from cachet_verify.core.ir import Block, Declare, Load, Param, Program, Range, Stmt, Store, Value, Word
from cachet_verify.flow.propose import propose
from cachet_verify.kernel.claim import RuleError
from cachet_verify.kernel.dataflow import INITIAL, LITERAL, Node, dataflow
from tests.flow.nest import loop, upto
from tests.kernel.solve import invalid, valid

N, ROW = Var("N"), Var("i")
TWO = Word("f32", 0x40000000)


def program(*body: Stmt, mode: str = "mut") -> Program:
    params = (Param("x", "reads", "f32", (N,)), Param("y", mode, "f32", (N,)))
    return Program("f", ("N",), params, Block(body))


def filled(low: int, value: Value) -> Program:
    """`for i in low .. N do store y[i] = value`."""
    return program(loop("i", Range(Const(low), N), Store("y", (ROW,), value)))


def down(step: int = 1) -> Program:
    """Every cell from `step` on takes the word of the one `step` before."""
    return filled(step, Load("y", (sub(ROW, Const(step)),)))


def handed(start: Value | None) -> Program:
    """A local hands its word to itself through another one, and to a cell each time."""
    copied = (Store("t", (), Load("p")), Store("p", (), Load("t")))
    body = loop("i", upto(N), Store("y", (ROW,), Load("p")), *copied)
    return program(Declare("p", "f32", init=start, mutable=True), Declare("t", "f32", mutable=True), body, mode="out")


def first(at: Index = ZERO) -> Program:
    """Every cell from 1 on takes the first word of `y`."""
    return filled(1, Load("y", (at,)))


def is_same(meaning: Program, made: Program) -> bool:
    return valid(dataflow(meaning, made, propose(meaning, made).proposal))


def test_a_word_handed_down_a_buffer_is_the_first_one() -> None:
    assert is_same(first(), down())
    assert is_same(down(), first())
    assert is_same(down(), replace(down(), name="g"))


def test_a_word_handed_on_by_locals_is_the_literal_they_started_from() -> None:
    everywhere = program(loop("i", upto(N), Store("y", (ROW,), TWO)), mode="out")
    assert is_same(everywhere, handed(TWO))
    assert not is_same(everywhere, handed(Word("f32", 0x3F800000)))


@pytest.mark.parametrize(
    ("meaning", "made"),
    [
        (filled(2, Load("y", (ZERO,))), down()),  # cell 1 is left alone by the one, overwritten by the other
        (first(), down(2)),  # odd cells take the word of cell 1
        (filled(1, Load("x", (ZERO,))), down()),
        (filled(1, TWO), down()),
        (down(2), down()),
    ],
)
def test_words_handed_on_from_elsewhere_are_not_the_same(meaning: Program, made: Program) -> None:
    assert not is_same(meaning, made)
    assert not is_same(made, meaning)


def test_a_word_that_nobody_wrote_is_not_the_same_however_it_is_handed_on() -> None:
    assert not is_same(handed(None), handed(None))


def forged(relation: dict[tuple[Node, Node], Formula]) -> list[str]:
    """What fails of `down` against the first word, with another relation."""
    meaning, made = first(), down()
    return invalid(dataflow(meaning, made, replace(propose(meaning, made).proposal, relation=relation)))


def proposed() -> tuple[Node, Node]:
    """The one pair that is needed: the first cell, and the copy."""
    relation = propose(first(), down()).proposal.relation
    (pair,) = relation
    assert pair[0] == (f"{INITIAL}y", ())
    return pair


def test_a_relation_without_the_copy_or_with_another_cell_fails() -> None:
    pair = proposed()
    cell, literal = Var("S.y.0"), (f"{LITERAL}f32 {TWO.bits}", ())
    assert forged({pair: eq(cell, ZERO)}) == []
    assert "every cell of y ends with the same word" in forged({})
    assert "every cell of y ends with the same word" in forged({pair: eq(cell, ONE)})
    assert "every cell of y ends with the same word" in forged({(literal, pair[1]): TRUE})
    assert "a copy carried round a loop is the same word in both programs" in forged({pair: TRUE})
    assert "a copy carried round a loop is the same word in both programs" in forged({pair: eq(cell, Var("T.i"))})


def test_what_is_no_copy_cannot_be_forged_into_one() -> None:
    """Two cells of the caller, or a cell and a literal, are never related by saying so; nor is a literal without bits one."""
    pair = proposed()
    sound = {pair: eq(Var("S.y.0"), ZERO)}
    cell, literal = (f"{INITIAL}y", ()), (f"{LITERAL}f32 {TWO.bits}", ())
    for made in ((cell, cell), (cell, literal), (literal, literal)):
        assert "a value and a value are never related" in forged({**sound, made: TRUE})
    with pytest.raises(RuleError, match="without its bits"):
        forged({**sound, ((f"{LITERAL}f32", ()), pair[1]): TRUE})
    with pytest.raises(RuleError, match="not in scope"):
        forged({pair: conj((eq(Var("S.y.0"), ZERO), eq(Var("S.x.0"), ZERO)))})
