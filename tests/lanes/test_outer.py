"""`outer_products`: tiles in blocks, of several shapes and types, ragged both ways; tiles that are none, refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cachet_verify.core.index import ZERO, Const, Var
from cachet_verify.core.ir import Declare, Fold, For, Lanes, Load, Op, Program, Range, Store, Word, statements
from cachet_verify.core.outer import outer_product_of, outer_tiles
from tests.rewrite.drive import apply, proved, refusal, same_words, scope
from tests.rewrite.nest import BATCHED, MATMUL, TRANSPOSED, at, chain, loop, out, program, put, reads, scratch

TILED = """
zero (i, j) c
split i by 4 as gi ragged
split j by 6 as gj ragged
order (gi, gj, i, j)
registers (i, j) into c rows 4 lanes 6 through fma
outer_products i c 2 3 outer_fma_primitive
"""
RULES = ["narrow-lanes", "unstage", "unstage", "relocate-local", "reschedule", "predicate-store", "reschedule", *["stage-in"] * 4]


def outer_store(after: Program) -> Store:
    (found,) = [stmt for stmt in statements(after.body) if isinstance(stmt, Store) and outer_product_of(stmt) is not None]
    return found


def declared(after: Program, name: str) -> Declare:
    (found,) = [stmt for stmt in statements(after.body) if isinstance(stmt, Declare) and stmt.name == name]
    return found


def test_the_nest() -> None:
    applied = apply(TILED, MATMUL)
    assert applied.rules() == RULES
    after = proved(applied, 3)
    product = outer_product_of(outer_store(after))
    assert product is not None
    assert (product.height, product.width, product.primitive) == (2, 3, "outer_fma_primitive")
    assert (product.column, product.row, product.total) == ("column", "row", Load("blocks_2", (Var("q"), Var("lane"))))
    assert dict(outer_tiles(after.body)) == {"blocks_2": product}
    tile = declared(after, "blocks_2")
    assert (tile.shape, tile.width) == ((Const(4),), 6)
    assert (declared(after, "column_all").width, declared(after, "row_all").width) == (4, 6)
    assert (declared(after, "column").width, declared(after, "row").width) == (2, 3)
    assert declared(after, "column_all").lanes == Lanes("lane'1", 4, Var("gi.len"))
    names = [stmt.counter for stmt in statements(after.body) if isinstance(stmt, For)]
    assert names == ["zi", "zj", "gi", "gj", "down", "across", "r", "k", "q", "down'1", "across'1", "r'1"]


def test_past_the_ends_of_tiles_and_blocks() -> None:
    """Tiles of 2 by 3 in blocks of 2 by 2: sizes up to 4 go past a tile each way, with every remainder of a block."""
    small = TILED.replace("by 4", "by 2").replace("by 6", "by 3").replace("rows 4 lanes 6", "rows 2 lanes 3").replace("c 2 3", "c 2 2")
    assert same_words(MATMUL, proved(apply(small, MATMUL), 1), 5)


@pytest.mark.parametrize(
    ("tile", "block"),
    [((4, 6), (4, 6)), ((3, 5), (2, 2)), ((5, 3), (4, 4)), ((2, 4), (1, 2))],
)
def test_tiles_and_blocks_of_other_shapes(tile: tuple[int, int], block: tuple[int, int]) -> None:
    """Blocks that fill a tile, that do not divide it, and that are larger than it."""
    text = TILED.replace("i by 4", f"i by {tile[0]}").replace("j by 6", f"j by {tile[1]}")
    text = text.replace("rows 4 lanes 6", f"rows {tile[0]} lanes {tile[1]}").replace("c 2 3", f"c {block[0]} {block[1]}")
    after = proved(apply(text, MATMUL), 4)
    across, down = -(-tile[1] // block[1]), -(-tile[0] // block[0])
    assert declared(after, "blocks_2").shape == (Const(across * down),)


def test_whole_tiles_have_no_idle_lanes() -> None:
    applied = apply(TILED.replace(" ragged", ""), MATMUL)
    assert applied.rules() == RULES[1:]
    proved(applied, 7)


def test_fewer_rows_than_the_tile_has() -> None:
    proved(apply(TILED.replace("i by 4", "i by 3"), MATMUL), 4)


def test_a_sum_that_starts_in_its_first_block() -> None:
    text = TILED.replace("zero (i, j) c", "split k by 2 as gk ragged").replace("(gi, gj", "(gk, gi, gj")
    after = proved(apply(text, MATMUL), 4)
    assert [need.origin for need in after.requires] == ["the sum over k starts in its first block"]


def test_a_sum_that_starts_from_its_zero() -> None:
    proved(apply(TILED.replace("zero (i, j) c", ""), MATMUL), 4)


def test_packed_operands_in_a_grid() -> None:
    text = """
    split k by 2 as gk ragged
    split j by 6 as gj ragged
    split i by 4 as gi
    order (gk, gj, gi, i, j)
    parallel gi
    pack a into packA along gk over (a0, a1)
    pack_lanes b into packB along gj over (b0, b1, bt) lanes 3
    keep packB along gj within L2 into packB_L2
    registers (i, j) into c rows 4 lanes 6 through fma
    outer_products i c 2 3 outer_fma_primitive
    """
    proved(apply(text, MATMUL, scope(buffers=(scratch("packA", "M", 2), scratch("packB", 2, 6)))), 5)


def test_other_types_and_a_batch() -> None:
    def halved(elem: str) -> Program:
        params = tuple(replace(param, elem=elem) for param in MATMUL.params)
        step = Op("fma", elem, (at("a", "i", "k"), at("b", "k", "j"), Load("acc'0")))
        fold = Fold("k", Range(ZERO, Var("K")), Word(elem, 0), "acc'0", elem, step)
        return program("half", "M N K", params, loop("i", "M", loop("j", "N", put(at("c", "i", "j"), fold))))

    for elem in ("f16", "f64"):
        assert declared(proved(apply(TILED, halved(elem)), 1), "blocks_2").elem == elem
    text = TILED.replace("zero (i, j) c", "zero (g, i, j) c").replace("order (gi, gj, i, j)", "order (gi, gj, g, i, j)")
    proved(apply(text, BATCHED), 3)


SWAPPED = program(
    "swapped",
    "M N K",
    (reads("a", "M", "K"), reads("b", "K", "N"), out("c", "M", "N")),
    loop("i", "M", loop("j", "N", put(at("c", "i", "j"), chain("k", "K", at("b", "k", "j"), at("a", "i", "k"))))),
)
SQUARES = program(
    "squares",
    "M N K",
    (reads("a", "M", "K"), reads("b", "K", "M", "N"), out("c", "M", "N")),
    loop("i", "M", loop("j", "N", put(at("c", "i", "j"), chain("k", "K", at("a", "i", "k"), at("b", "k", "i", "j"))))),
)


def test_the_column_comes_first() -> None:
    """`fma b a total` is another operation than `fma a b total` to whoever looks at every bit of a NaN."""
    assert "lanes differs from lane to lane" in refusal(TILED, SWAPPED)[1]


def test_a_product_that_is_no_outer_one() -> None:
    """`b[k, i, j]` varies by row and by column: no row of it serves all rows of a block."""
    assert refusal(TILED, SQUARES)[0] == "rewrite.no-match"


def test_a_packed_operand_read_down_its_columns() -> None:
    """`a[k, i]`: the column of a is along its rows there, which is no concern of the proof."""
    text = TILED.replace("split j", "split j")
    by_rows = program(
        "by_rows",
        "M N K",
        (reads("a", "K", "M"), reads("b", "K", "N"), out("c", "M", "N")),
        loop("i", "M", loop("j", "N", put(at("c", "i", "j"), chain("k", "K", at("a", "k", "i"), at("b", "k", "j"))))),
    )
    proved(apply(text, by_rows), 4)
    assert TRANSPOSED.params[0].shape == by_rows.params[0].shape


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("outer_products i c 2 3 outer_fma_primitive", "outer_products i c 2 3 fma", "the primitive is one of outer_fma_primitive"),
        ("outer_products i c 2 3", "outer_products i c 2", "a primitive are wanted"),
        ("outer_products i c 2 3", "outer_products i c 0 3", "at least one row and two columns"),
        ("outer_products i c 2 3", "outer_products i c 2 1", "at least one row and two columns"),
        ("outer_products i c 2 3", "outer_products i c M 3", "at least one row and two columns"),
        ("outer_products i c", "outer_products j c", "looks for a loop over j"),
        ("outer_products i c", "outer_products gj c", "looks for a vector statement in the loop over gj"),
        ("outer_products i c", "outer_products i a", "store it to a behind"),
        ("registers (i, j) into c rows 4 lanes 6 through fma", "", "looks for a vector statement in the loop over i"),
    ],
)
def test_refusals(old: str, new: str, said: str) -> None:
    assert said in refusal(TILED.replace(old, new), MATMUL)[1]


def test_a_tile_is_put_in_blocks_once() -> None:
    code, message, _ = refusal(f"{TILED}outer_products i c 2 3 outer_fma_primitive", MATMUL)
    assert (code, "i" in message) == ("rewrite.no-loop", True)
