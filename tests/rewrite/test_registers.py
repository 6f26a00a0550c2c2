"""`registers`: the nest with a tile in vectors, masked tails, and tiles that do not fit."""

from __future__ import annotations

import pytest

from cachet_verify.core.index import Const, Index, Var, add, substitute
from cachet_verify.core.ir import Block, Declare, For, Lanes, Load, Program, Stmt, Store
from cachet_verify.kernel.well_formed import well_formed
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import find_loop
from cachet_verify.rewrite.tile import Tile, tiled
from tests.kernel.solve import invalid
from tests.rewrite.drive import apply, proved, refusal, same_words, scope
from tests.rewrite.nest import BATCHED, GENERIC, MATMUL, OUTER, TRANSPOSED, fma, loop, scratch

TILED = """
zero (i, j) c
split i by 4 as gi ragged
split j by 8 as gj ragged
order (gi, gj, i, j)
registers (i, j) into c rows 4 lanes 8 through fma
"""


def moved(term: Index, i: str, j: str) -> Index:
    return substitute(term, {"i": Var(i), "j": Var(j)})


def test_the_nest() -> None:
    after = proved(apply(TILED, MATMUL), 3)
    row, column = add(Var("gi.lo"), Var("i")), add(Var("gj.lo"), Var("j"))
    some, every = Var("gj.len"), Const(8)

    def cell(i: str, j: str) -> Load:
        return Load("c", (moved(row, i, j), moved(column, i, j)))

    def total(i: str, j: str) -> Load:
        return Load("acc'0", (Var(i), Var(j)))

    def store(to: Load, value: Load, lane: str, active: Index) -> Store:
        return Store(to.buffer, to.index, value, Lanes(lane, 8, active))

    body: tuple[Stmt, ...] = (
        Declare("acc'0", "f32", (Const(4),), 8, mutable=True),
        loop("i'1", "gi.len", store(total("i'1", "j'1"), cell("i'1", "j'1"), "j'1", some)),
        loop(
            "k",
            "K",
            Declare("lanes", "f32", (), 8, Load("b", (Var("k"), moved(column, "i", "j'3"))), lanes=Lanes("j'3", 8, some)),
            loop(
                "i",
                "gi.len",
                Declare("row", "f32", (), 8, Load("a", (row, Var("k"))), lanes=Lanes("j'4", 8, every)),
                Store(
                    "acc'0",
                    (Var("i"), Var("j")),
                    fma(Load("row", (Var("j"),)), Load("lanes", (Var("j"),)), total("i", "j")),
                    Lanes("j", 8, every),
                ),
            ),
        ),
        loop("i'2", "gi.len", store(cell("i'2", "j'2"), total("i'2", "j'2"), "j'2", some)),
    )
    tile = after.body.body[1].body.body[0]  # type: ignore[union-attr]
    assert isinstance(tile, For)
    assert tile.body == Block(body)


def test_past_the_ends_of_tiles() -> None:
    small = TILED.replace("by 4", "by 2").replace("by 8", "by 3").replace("rows 4 lanes 8", "rows 2 lanes 3")
    assert same_words(MATMUL, proved(apply(small, MATMUL), 1), 6)


def test_full_tiles_have_no_idle_lanes() -> None:
    exact = TILED.replace(" ragged", "")
    applied = apply(exact, MATMUL)
    assert "extend-lanes" not in applied.rules()
    proved(applied, 9)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_fewer_rows_than_the_tile_has(rows: int) -> None:
    proved(apply(TILED.replace("by 4", f"by {rows}"), MATMUL), 3)


def test_a_sum_that_starts_in_its_first_block() -> None:
    text = TILED.replace("zero (i, j) c", "split k by 2 as gk ragged").replace("(gi, gj", "(gk, gi, gj")
    proved(apply(text, MATMUL), 4)


def test_a_sum_that_starts_from_its_zero() -> None:
    proved(apply(TILED.replace("zero (i, j) c", ""), MATMUL), 4)


def test_a_batch_of_products() -> None:
    text = TILED.replace("zero (i, j) c", "zero (g, i, j) c").replace("order (gi, gj, i, j)", "order (gi, gj, g, i, j)")
    proved(apply(text, BATCHED), 3)


def test_a_packed_transposed_operand() -> None:
    """`b[j, k]` is not read along its rows by j: packed the other way round it cannot be, so it is refused."""
    code, message, _ = refusal(TILED, TRANSPOSED)
    assert code == "rewrite.no-match"
    assert "`b[gj.lo + j, k]` is not read along its last index by j" in message
    packed = TILED.replace("registers", "pack a into packA along gi over (a0, a1)\nregisters")
    assert refusal(packed, TRANSPOSED, scope(buffers=(scratch("packA", "K", 4),)))[0] == "rewrite.no-match"
    rows_in_lanes = TILED.replace("order (gi, gj, i, j)", "order (gi, gj, j, i)").replace(
        "(i, j) into c rows 4 lanes 8", "(j, i) into c rows 8 lanes 4"
    )
    assert "`c[gi.lo + i, gj.lo + j]` is not read along its last index by i" in refusal(rows_in_lanes, TRANSPOSED)[1]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("through fma", "through add", "the sum over k goes on through fma, not through add"),
        ("lanes 8", "lanes 4", "the loop over j runs up to 8 times, and the tile has 4 lanes"),
        ("rows 4", "rows 2", "the loop over i runs up to 4 times, and the tile has 2 rows"),
        ("into c", "into a", "the sum goes to c, not to a"),
        ("(gi, gj, i, j)", "(gi, i, gj, j)", "looks for the loop over j right inside the loop over i, found for gj"),
        ("split i by 4 as gi ragged", "", "order looks for a loop over gi"),
        ("registers (i, j)", "registers (gi, gj)", "found for i in 0 .. gi.len"),
        ("registers (i, j)", "registers i", "a tile has two loops"),
        ("rows 4", "rows 0", "followed by a number above 0"),
        ("rows 4", "rows M", "the loop over i runs up to 4 times, and the tile has M rows"),
        ("rows 4 ", "", "`rows` is missing"),
    ],
)
def test_refusals(old: str, new: str, said: str) -> None:
    assert said in refusal(TILED.replace(old, new), MATMUL)[1]


def test_a_loop_without_a_fixed_bound() -> None:
    assert "the loop over i has no fixed bound" in refusal("zero (i, j) c\nregisters (i, j) into c rows 4 lanes 8 through fma", MATMUL)[1]


def test_a_generic_sum_has_no_registers() -> None:
    code, message, hint = refusal(TILED, GENERIC)
    assert code == "rewrite.no-match"
    assert "goes on through S.mul_add, not through fma" in message
    assert "@(S = PlusTimes f32)" in hint


def test_an_output_without_a_sum() -> None:
    assert "looks for the store of a sum" in refusal(TILED.replace("zero (i, j) c", ""), OUTER)[1]


# --- the kernel does not rely on those checks ---


def forced(rows: int, width: int) -> tuple[Program, Chain]:
    """A tile of a size that the step itself would refuse."""
    before = apply(TILED.rpartition("registers")[0], MATMUL).after
    found = find_loop(before.body, "i")
    assert found is not None
    path, row = found
    column = row.body.body[0]
    assert isinstance(column, For)
    store = column.body.body[0]
    assert isinstance(store, Store)
    return before, tiled(Chain(before), Tile(path, row, column, store, store.value, Const(rows), width))  # type: ignore[arg-type]


def test_too_few_lanes_are_not_proved() -> None:
    _, chain = forced(4, 4)
    assert any(invalid(goal) for goal in chain.goals)


def test_too_few_rows_are_out_of_bounds() -> None:
    _, chain = forced(2, 8)
    assert any("acc'0" in said for said in invalid(well_formed(chain.program)))


def test_a_tile_of_the_right_size_is_proved() -> None:
    before, chain = forced(4, 8)
    assert all(invalid(goal) == [] for goal in chain.goals)
    assert same_words(before, chain.program, 3)


def test_a_second_time_is_told_as_such() -> None:
    again = f"{TILED}registers (i, j) into c rows 4 lanes 8 through fma"
    assert "the totals of i and j are in vectors already, in acc'0" in refusal(again, MATMUL)[1]
