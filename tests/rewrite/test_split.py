"""`split` of loops and of sums: ragged and exact, in one and in several factors, with and without `zero`."""

from __future__ import annotations

import pytest

from cachet_verify.core.index import ZERO, Const, Var, add, div, eq, lt, mod, mul
from cachet_verify.core.ir import Block, Blocks, Choose, For, Load, Op, Program, Range, Require, Stmt
from tests.rewrite.drive import apply, proved, refusal, scope
from tests.rewrite.nest import MATMUL, OUTER, ZERO_F32, C, at, blocks, chain, loop, put

ZERO_C = loop("zi", "M", loop("zj", "N", put(at("c", "zi", "zj"), ZERO_F32)))


def body_of(program: Program) -> tuple[Stmt, ...]:
    return program.body.body


def outer_store(row: object) -> Stmt:
    return put(Load("c", (row, Var("j"))), Op("mul", "f32", (Load("x", (row,)), at("y", "j"))))  # type: ignore[arg-type]


def test_a_ragged_loop() -> None:
    after = proved(apply("split i by 3 as gi ragged", OUTER), 8)
    row = add(Var("gi.lo"), Var("i"))
    assert body_of(after) == (blocks("gi", "M", 3, loop("i", "gi.len", loop("j", "N", outer_store(row)))),)
    assert after.requires == ()


def test_a_ragged_loop_in_two_levels() -> None:
    after = proved(apply("split i by 4 as gi, 2 as ui ragged", OUTER), 8)
    row = add(Var("gi.lo"), Var("ui.lo"), Var("i"))
    assert body_of(after) == (blocks("gi", "M", 4, blocks("ui", "gi.len", 2, loop("i", "ui.len", loop("j", "N", outer_store(row))))),)


def test_a_level_that_does_not_divide_the_one_above() -> None:
    proved(apply("split i by 5 as gi, 3 as ui, 2 as vi ragged", OUTER), 12)


def test_an_exact_loop_asks_for_whole_blocks() -> None:
    applied = apply("split i by 4 as gi", OUTER)
    need = Require(eq(mod(Var("M"), Const(4)), ZERO), "split i by 4")
    assert applied.last.requires == (need,)
    row = add(mul(Const(4), Var("gi")), Var("i"))
    assert body_of(proved(applied, 9)) == (loop("gi", div(Var("M"), Const(4)), loop("i", 4, loop("j", "N", outer_store(row)))),)


def test_an_exact_loop_in_two_levels_cuts_full_blocks() -> None:
    after = proved(apply("split i by 6 as gi, 4 as ui", OUTER), 13)
    row = add(mul(Const(6), Var("gi")), Var("ui.lo"), Var("i"))
    inner = For("ui", Blocks(ZERO, Const(6), Const(4)), Block((loop("i", "ui.len", loop("j", "N", outer_store(row))),)))
    assert body_of(after) == (loop("gi", div(Var("M"), Const(6)), inner),)
    assert [need.condition for need in after.requires] == [eq(mod(Var("M"), Const(6)), ZERO)]


def test_an_exact_split_of_a_number_needs_no_requirement() -> None:
    fixed = Program(
        OUTER.name,
        ("N",),
        tuple(p.__class__(p.name, p.mode, p.elem, tuple(Const(8) if s == Var("M") else s for s in p.shape)) for p in OUTER.params),
        Block((loop("i", 8, *body_of(OUTER)[0].body.body),)),
    )  # type: ignore[union-attr]
    assert proved(apply("split i by 4 as gi", fixed), 3).requires == ()


def test_a_sum_after_zero_goes_on_from_its_cell() -> None:
    after = proved(apply("zero (i, j) c\nsplit k by 3 as gk ragged", MATMUL), 5)
    at_k = add(Var("gk.lo"), Var("k"))
    total = chain("k", "gk.len", at("a", "i", at_k), at("b", at_k, "j"), C)
    assert body_of(after) == (ZERO_C, loop("i", "M", loop("j", "N", blocks("gk", "K", 3, put(C, total)))))
    assert after.requires == ()


def test_a_sum_without_zero_starts_in_its_first_block() -> None:
    applied = apply("split k by 3 as gk ragged", MATMUL)
    at_k = add(Var("gk.lo"), Var("k"))
    first = Choose(eq(Var("gk.lo"), ZERO), ZERO_F32, C)
    total = chain("k", "gk.len", at("a", "i", at_k), at("b", at_k, "j"), first)
    after = proved(applied, 5)
    assert body_of(after) == (loop("i", "M", loop("j", "N", blocks("gk", "K", 3, put(C, total)))),)
    assert [need.condition for need in after.requires] == [lt(ZERO, Var("K"))]


def test_an_exact_sum() -> None:
    after = proved(apply("zero (i, j) c\nsplit k by 2 as gk", MATMUL), 5)
    at_k = add(mul(Const(2), Var("gk")), Var("k"))
    total = chain("k", Const(2), at("a", "i", at_k), at("b", at_k, "j"), C)
    assert body_of(after) == (ZERO_C, loop("i", "M", loop("j", "N", loop("gk", div(Var("K"), Const(2)), put(C, total)))))
    assert [need.condition for need in after.requires] == [eq(mod(Var("K"), Const(2)), ZERO)]


@pytest.mark.parametrize("first", ["zero (i, j) c", ""])
def test_a_sum_in_three_levels(first: str) -> None:
    proved(apply(f"{first}\nsplit k by 5 as gk, 3 as uk, 2 as vk ragged", MATMUL), 7 if first else 6)


def test_several_indices_in_one_line() -> None:
    one = apply("split i by 2 as gi, j by 3 as gj ragged", MATMUL).after
    two = apply("split i by 2 as gi ragged\nsplit j by 3 as gj ragged", MATMUL).after
    assert one == two


def test_constants_are_sizes_of_blocks() -> None:
    assert apply("split i by MC as gi ragged", OUTER, scope(MC=3)).after == apply("split i by 3 as gi ragged", OUTER).after


def test_a_block_without_a_name_is_the_outer_part() -> None:
    after = proved(apply("split i by 2", OUTER), 5)
    assert body_of(after)[0] == loop(
        "gi", div(Var("M"), Const(2)), loop("i", 2, loop("j", "N", outer_store(add(mul(Const(2), Var("gi")), Var("i")))))
    )


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("split q by 4 as gq ragged", "rewrite.no-loop", "split looks for a loop over q; there are i, j, k"),
        ("split i by 4 as j ragged", "rewrite.name-taken", "the name j is in use"),
        ("split i by 4 as g, 2 as g ragged", "rewrite.name-taken", "the name g is in use"),
        ("split i by 0 as gi ragged", "rewrite.arguments", "a block holds at least one index, and this one 0"),
        ("zero (i, j) c\nsplit k by (0 - 1) as gk", "rewrite.arguments", "a block holds at least one index, and this one -1"),
        ("split i by MC as gi ragged", "rewrite.unknown-name", "MC does not stand for an integer here"),
        ("split i by 4 as gi ragged\nsplit gi by 2 as hi ragged", "rewrite.no-match", "gi runs over blocks (0 .. M) 4"),
    ],
)
def test_refusals(text: str, code: str, said: str) -> None:
    got, message, _ = refusal(text, MATMUL)
    assert got == code
    assert said in message


def test_a_range_that_does_not_start_at_zero() -> None:
    shifted = Program(OUTER.name, OUTER.sizes, OUTER.params, Block((For("i", Range(Const(2), Var("M")), body_of(OUTER)[0].body),)))  # type: ignore[union-attr]
    proved(apply("split i by 3 as gi, 2 as ui ragged", shifted), 9)
    proved(apply("split i by 3 as gi", shifted), 9)
