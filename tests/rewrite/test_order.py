"""`order`: loops of one nest in another order, sums taken out, and orders that change a sum refused."""

from __future__ import annotations

import pytest

from cachet_verify.core.index import Const, Var, add
from cachet_verify.core.ir import Block, Load, Program
from tests.rewrite.drive import apply, proved, refusal, same_words
from tests.rewrite.nest import BATCHED, MATMUL, OUTER, ZERO_F32, C, at, blocks, chain, fma, loop, put

ZERO_C = loop("zi", "M", loop("zj", "N", put(at("c", "zi", "zj"), ZERO_F32)))
TOWER = """
zero (i, j) c
split k by 16 as gk ragged
split i by 16 as gi, 4 as ui ragged
split j by 8 as gj ragged
order (gk, gj, gi, ui, i, j)
"""


def test_the_blocks_of_depth_come_outside() -> None:
    applied = apply(TOWER, MATMUL)
    row, column, depth = add(Var("gi.lo"), Var("ui.lo"), Var("i")), add(Var("gj.lo"), Var("j")), add(Var("gk.lo"), Var("k"))
    cell = Load("c", (row, column))
    total = chain("k", "gk.len", Load("a", (row, depth)), Load("b", (depth, column)), cell)
    rows = blocks("gi", "M", 16, blocks("ui", "gi.len", 4, loop("i", "ui.len", loop("j", "gj.len", put(cell, total)))))
    expected = blocks("gk", "K", 16, blocks("gj", "N", 8, rows))
    assert proved(applied, 3).body == Block((ZERO_C, expected))


def test_past_the_ends_of_blocks() -> None:
    small = TOWER.replace("16 as gk", "2 as gk").replace("16 as gi, 4", "3 as gi, 2").replace("by 8", "by 3")
    applied = apply(small, MATMUL)
    assert applied.failed() == []
    assert same_words(MATMUL, applied.after, 5)


def test_a_sum_taken_out_becomes_updates() -> None:
    after = proved(apply("zero (i, j) c\norder (k, i, j)", MATMUL))
    update = put(C, fma(at("a", "i", "k"), at("b", "k", "j"), C))
    assert after.body == Block((ZERO_C, loop("k", "K", loop("i", "M", loop("j", "N", update)))))


def test_loops_that_are_not_named_stay_where_they_are() -> None:
    after = apply("order (j, g)", BATCHED).after
    stmt = BATCHED.body.body[0].body.body[0].body.body[0].body.body[0]  # type: ignore[union-attr]
    assert proved(apply("order (j, g)", BATCHED), 3) == after
    assert after.body == Block((loop("j", "N", loop("i", "M", loop("g", "B", stmt))),))


def test_the_order_it_has_needs_no_proof() -> None:
    applied = apply("order (i, j)", OUTER)
    assert applied.after == OUTER
    assert applied.last.goals == ()


def test_a_blocked_sum_inside_out_is_not_proved() -> None:
    applied = apply("zero (i, j) c\nsplit k by 2 as gk\norder (k, gk, i, j)", MATMUL)
    assert applied.failed() != []
    assert all("keeps every pair of conflicting accesses in the order it had" in said for said in applied.failed())
    assert not same_words(MATMUL, applied.after, 5)


def test_a_first_block_moves_with_its_loop() -> None:
    proved(apply("split k by 2 as gk ragged\norder (gk, i, j)", MATMUL))


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("order (i, q)", "rewrite.no-loop", "order looks for a loop over q"),
        ("order (k, i, j)", "rewrite.no-match", "the sum over k does not start from the cell"),
        ("zero (i, j) c\norder (zi, i)", "rewrite.not-nested", "the loop over zj holds store c[zi, zj]"),
        ("split i by 4 as gi, 2 as ui ragged\norder (ui, gi, i)", "rewrite.scope", "the bounds of ui speak of gi"),
        ("zero (i, j) c\nsplit k by 2 as gk ragged\norder (k, gk, i, j)", "rewrite.scope", "the bounds of k speak of gk"),
        ("order (i, i)", "rewrite.arguments", "each once"),
        ("order i j", "rewrite.arguments", "the names of loops"),
    ],
)
def test_refusals(text: str, code: str, said: str) -> None:
    got, message, _ = refusal(text, MATMUL)
    assert got == code
    assert said in message


def test_a_recurrence_keeps_its_order() -> None:
    """Each row is made from the one above, so rows may not be visited last to first or inside columns shifted left."""
    program = Program(
        "below",
        ("M", "N"),
        (OUTER.params[2],),
        Block((loop("i", "M", loop("j", "N", put(at("c", add(Var("i"), Const(1)), "j"), Load("c", (Var("i"), add(Var("j"), Const(1))))))),)),
    )
    assert apply("interchange (i, j)", program).failed() != []
    straight = put(at("c", add(Var("i"), Const(1)), "j"), C)
    assert (
        apply("interchange (i, j)", Program("straight", ("M", "N"), program.params, Block((loop("i", "M", loop("j", "N", straight)),)))).failed()
        == []
    )
