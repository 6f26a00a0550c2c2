"""`pack` and `keep`: what is copied, where, and packs that do not hold what is read."""

from __future__ import annotations

import pytest

from cachet_verify.core.index import Const, Var, add
from cachet_verify.core.ir import Block, Kept, Lease, Load, Program
from cachet_verify.kernel.well_formed import well_formed
from tests.kernel.solve import invalid
from tests.rewrite.drive import apply, proved, refusal, same_words, scope
from tests.rewrite.nest import BATCHED, CONVOLUTION, CONVOLUTION_2D, MATMUL, MATVEC, STRIDED, TRANSPOSED, blocks, chain, loop, put, scratch

BLOCKED = """
zero (i, j) c
split k by 3 as gk ragged
split i by 4 as gi, 2 as ui ragged
split j by 3 as gj ragged
order (gk, gj, gi, ui, i, j)
"""
A, B = scratch("packA", 4, 3), scratch("packB", 3, 3)
PACK_A = "pack a into packA along gi over (a0, a1)\n"
PACK_B = "pack b into packB along gj over (b0, b1)\n"
KEEPS = "keep packA along gi within L2 into packA_L2\nkeep packB along gj within L1 into packB_L1\n"


def test_copies_stand_at_the_start_of_their_loops() -> None:
    after = proved(apply(BLOCKED + PACK_A + PACK_B + KEEPS, MATMUL, scope(buffers=(A, B))))
    depth = Var("gk.lo")
    copy_a = loop(
        "a0",
        "gi.len",
        loop("a1", "gk.len", put(Load("packA", (Var("a0"), Var("a1"))), Load("a", (add(Var("gi.lo"), Var("a0")), add(depth, Var("a1")))))),
    )
    copy_b = loop(
        "b0",
        "gk.len",
        loop("b1", "gj.len", put(Load("packB", (Var("b0"), Var("b1"))), Load("b", (add(depth, Var("b0")), add(Var("gj.lo"), Var("b1")))))),
    )
    cell = Load("c", (add(Var("gi.lo"), Var("ui.lo"), Var("i")), add(Var("gj.lo"), Var("j"))))
    total = chain("k", "gk.len", Load("packA_L2", (add(Var("ui.lo"), Var("i")), Var("k"))), Load("packB_L1", (Var("k"), Var("j"))), cell)
    rows = blocks("ui", "gi.len", 2, loop("i", "ui.len", loop("j", "gj.len", put(cell, total))))
    panel = blocks("gi", "M", 4, copy_a, Lease("packA_L2", "packA", "L2", True), rows)
    expected = blocks("gk", "K", 3, blocks("gj", "N", 3, copy_b, Lease("packB_L1", "packB", "L1", True), panel))
    assert after.body.body[1] == expected
    assert after.kept == (Kept("L2", "packA"), Kept("L1", "packB"))


def test_buffers_keep_the_order_of_the_header() -> None:
    applied = apply(BLOCKED + PACK_B, MATMUL, scope(buffers=(A, B)))
    assert [(param.name, param.scratch) for param in applied.after.params[3:]] == [("packA", True), ("packB", True)]
    assert applied.rules() == ["same-families", "stage-in"]


def test_past_the_ends_of_blocks() -> None:
    after = apply(BLOCKED + PACK_A + PACK_B + KEEPS, MATMUL, scope(buffers=(A, B))).after
    assert same_words(MATMUL, after, 6)


def test_a_whole_operand_packed_outside_its_blocks() -> None:
    """Along `gk` all rows are copied, as exact blocks of them run through exactly the rows."""
    text = "zero (i, j) c\nsplit k by 2 as gk ragged\nsplit i by 4 as gi, 2 as ui\norder (gk, gi, ui, i, j)\npack a into packA along gk over (a0, a1)"
    after = proved(apply(text, MATMUL, scope(buffers=(scratch("packA", "M", 2),))), 5)
    copy = after.body.body[1].body.body[0]  # type: ignore[union-attr]
    assert copy == loop(
        "a0", "M", loop("a1", "gk.len", put(Load("packA", (Var("a0"), Var("a1"))), Load("a", (Var("a0"), add(Var("gk.lo"), Var("a1"))))))
    )


@pytest.mark.parametrize(
    ("program", "text", "buffer"),
    [
        (TRANSPOSED, BLOCKED + PACK_A, scratch("packA", 3, 4)),
        (TRANSPOSED, BLOCKED + PACK_B, scratch("packB", 3, 3)),
        (MATVEC, "zero (i) y\nsplit k by 3 as gk ragged\norder (gk, i)\npack x into packX along gk over x0", scratch("packX", 3)),
        (
            BATCHED,
            "zero (g, i, j) c\nsplit i by 2 as gi, k by 2 as gk ragged\norder (g, gk, gi, i, j)\npack a into packA along gi over (a0, a1)",
            scratch("packA", 2, 2),
        ),
        (
            BATCHED,
            "zero (g, i, j) c\nsplit i by 2 as gi ragged\npack a into packA along gi over (a0, a1, a2)",
            scratch("packA", 1, 2, "K"),
        ),
        (CONVOLUTION, "split i by 3 as gi ragged\npack x into packX along gi over x0", scratch("packX", add(Var("R"), Const(3)))),
        (STRIDED, "split i by 3 as gi ragged\npack x into packX along gi over x0", scratch("packX", add(Var("R"), Const(6)))),
        (
            CONVOLUTION_2D,
            "split i by 2 as gi ragged\nsplit j by 2 as gj ragged\npack x into packX along gj over (x0, x1)",
            scratch("packX", add(Var("R"), Const(2)), add(Var("T"), Const(2))),
        ),
    ],
)
def test_other_contractions(program: Program, text: str, buffer: object) -> None:
    limit = {4: 3, 3: 4, 2: 6}[len(program.sizes)]
    proved(apply(text, program, scope(buffers=(buffer,))), limit)  # type: ignore[arg-type]


def test_a_window_is_as_long_as_its_block_and_its_taps() -> None:
    after = apply(
        "split i by 3 as gi ragged\npack x into packX along gi over x0", CONVOLUTION, scope(buffers=(scratch("packX", add(Var("R"), Const(3))),))
    ).after
    copy = after.body.body[0].body.body[0]  # type: ignore[union-attr]
    assert copy == loop("x0", add(Var("gi.len"), Var("R"), Const(-1)), put(Load("packX", (Var("x0"),)), Load("x", (add(Var("gi.lo"), Var("x0")),))))


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 2)])
def test_a_buffer_that_is_too_small_is_out_of_bounds(shape: tuple[int, int]) -> None:
    applied = apply(BLOCKED + PACK_A, MATMUL, scope(buffers=(scratch("packA", *shape), B)))
    assert any("packA" in said for said in invalid(well_formed(applied.after)))


def test_packing_along_the_wrong_loop_does_not_fit() -> None:
    applied = apply(BLOCKED + PACK_A.replace("along gi", "along gj"), MATMUL, scope(buffers=(A, B)))
    assert any("packA" in said for said in invalid(well_formed(applied.after)))


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("pack a into packA along gq over (a0, a1)", "rewrite.no-loop", "pack looks for a loop over gq"),
        ("pack q into packA along gi over (a0, a1)", "rewrite.unknown-name", "q is not a parameter; there are a, b, c"),
        ("pack packB into packA along gi over (a0, a1)", "rewrite.no-match", "nothing inside the loop over gi loads packB"),
        ("pack a into packC along gi over (a0, a1)", "rewrite.unknown-name", "packC is not a scratch buffer"),
        ("pack a into c along gi over (a0, a1)", "rewrite.unknown-name", "c is not a scratch buffer"),
        ("pack a into packA along gi over (a0, a1, a2)", "rewrite.arguments", "a has 2 dimensions, 2 of them vary inside gi"),
        ("pack a into packA along gi over (a0, k)", "rewrite.name-taken", "the name k is in use"),
        ("pack a into packA along gi", "rewrite.arguments", "`over` is missing"),
        ("pack a into packA along gi over (a0, a1) within L2", "rewrite.arguments", "pack has no clause `within`"),
        (PACK_A + PACK_A.replace("a0, a1", "d0, d1"), "rewrite.rule", "packA is used already"),
        ("keep packA along gi within L2 into packA_L2", "rewrite.no-match", "nothing in the body of the loop over gi fills packA"),
        (PACK_A + "keep packA along gj within L2 into packA_L2", "rewrite.no-match", "nothing reads packA after it is filled"),
        (PACK_A + "keep packA along gi within L2 into c", "rewrite.name-taken", "the name c is in use"),
    ],
)
def test_refusals(text: str, code: str, said: str) -> None:
    got, message, _ = refusal(BLOCKED + text, MATMUL, scope(buffers=(A, B)))
    assert got == code
    assert said in message


def test_a_buffer_of_another_type() -> None:
    wide = A.__class__("packA", "mut", "f64", A.shape, scratch=True)
    assert refusal(BLOCKED + PACK_A, MATMUL, scope(buffers=(wide,)))[0] == "rewrite.element-type"


def test_an_operand_that_the_region_writes_is_not_packed() -> None:
    """An in-place sum reads cells that it has written: a copy would be stale."""
    program = Program(
        "prefix",
        ("N",),
        (MATMUL.params[2].__class__("y", "mut", "f32", (add(Var("N"), Const(1)),)),),
        Block((loop("i", "N", put(Load("y", (add(Var("i"), Const(1)),)), Load("y", (Var("i"),)))),)),
    )
    text = "split i by 2 as gi ragged\npack y into packY along gi over y0"
    assert refusal(text, program, scope(buffers=(scratch("packY", 2),)))[0] == "rewrite.rule"
