"""Cells of locals elsewhere: out of the loops around them, in blocks; and maps that lose or mix cells."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cachet_verify.core.index import ONE, ZERO, Const, Index, Var, add, div, lt, mod, mul
from cachet_verify.core.ir import Axis, Block, Declare, Grid, Lanes, Load, Op, Param, Program, Require, Stmt, Store
from cachet_verify.kernel.claim import RuleError
from cachet_verify.kernel.relocate import Places, relocate_local
from tests.kernel.sample import ZERO_WORD, M, N, agrees, fma, loop
from tests.kernel.solve import claimed, invalid

i, j, k, lane = Var("i"), Var("j"), Var("k"), Var("l")
u, v, w, x = Var("u"), Var("v"), Var("w"), Var("x")
PARAMS = (Param("a", "reads", "f32", (M, N)), Param("c", "out", "f32", (M, N)))


def program(*body: Stmt) -> Program:
    return Program("p", ("M", "N"), PARAMS, Block(body))


# --- a total out of the loops around it ---


def outputs(total: Load, *lead: Stmt) -> Stmt:
    """For each output: the total from zero, three steps, the store."""
    name, at = total.buffer, total.index
    steps = loop("k", Const(3), Store(name, at, fma(Load("a", (i, j)), Load("a", (i, j)), total)))
    return loop("i", M, loop("j", N, *lead, Store(name, at, ZERO_WORD), steps, Store("c", (i, j), total)))


PRIVATE = program(outputs(Load("t"), Declare("t", "f32", mutable=True)))
SAME = Places("t", "t", ("u", "v"), (u, v))


def outside(*index: Index, shape: tuple[Index, ...] = (M, N)) -> Program:
    return program(Declare("t", "f32", shape, mutable=True), outputs(Load("t", index)))


def test_a_private_total_becomes_a_cell_of_an_array() -> None:
    goal = relocate_local(PRIVATE, outside(i, j), SAME)
    claimed(goal)
    assert agrees(PRIVATE, outside(i, j))


def test_and_back_where_the_array_is_large_enough() -> None:
    claimed(relocate_local(outside(i, j), PRIVATE, SAME))
    small = outside(i, j, shape=(ONE, N))
    assert set(invalid(relocate_local(small, PRIVATE, SAME))) == {"store t[i, j] is inside t"}


def test_one_cell_for_all_is_no_place_for_many() -> None:
    """Every output has the total in one cell: the words are still right here, but no rule about places can say so."""
    shared = outside(ZERO, ZERO, shape=(ONE, ONE))
    goal = relocate_local(PRIVATE, shared, Places("t", "t", ("u", "v"), (ZERO, ZERO)))
    assert invalid(goal) == ["no two cells of t are at one place of t"]


def test_a_place_that_only_one_loop_has() -> None:
    goal = relocate_local(PRIVATE, outside(i, shape=(M,)), Places("t", "t", ("u", "v"), (u,)))
    assert invalid(goal) == ["no two cells of t are at one place of t"]


def test_a_grid_may_share_an_array_by_cells() -> None:
    def grid(total: Load, *lead: Stmt) -> Stmt:
        inner = (*lead, Store("t", total.index, Load("a", (i, ZERO))), Store("c", (i, ZERO), total))
        return Grid((Axis("i", ZERO, M),), Block(inner))

    own = program(grid(Load("t"), Declare("t", "f32", mutable=True)))
    shared = program(Declare("t", "f32", (M,), mutable=True), grid(Load("t", (i,))))
    claimed(relocate_local(own, shared, Places("t", "t", ("u",), (u,))))
    goal = relocate_local(own, program(Declare("t", "f32", (ONE,), mutable=True), grid(Load("t", (ZERO,)))), Places("t", "t", ("u",), (ZERO,)))
    assert invalid(goal) != []


# --- a tile in blocks ---


def tile(name: str, shape: tuple[Index, ...], width: int, at: tuple[Index, ...], read: tuple[Index, ...] | None = None) -> Program:
    """Fill a tile of 4 rows and 6 lanes from a, store it to c, both masked; `at` is cell (i, lane) of it, `read` what is stored back."""
    back = at if read is None else read
    return program(
        Declare(name, "f32", shape, width, mutable=True),
        loop("i", Const(4), Store(name, at, Op("f", "f32", (Load("a", (i, lane)),)), Lanes("l", 6, N))),
        loop("j", Const(4), Store("c", (j, k), Load(name, tuple(_to_j(term) for term in back)), Lanes("k", 6, N))),
    )


def _to_j(term: Index) -> Index:
    from cachet_verify.core.index import substitute

    return substitute(term, {"i": j, "l": k})


ROWS = tile("t", (Const(4),), 6, (i, lane))


def blocked(row: Index, lane: Index, columns: int = 2, rows: int = 2, wide: int = 3) -> tuple[Index, ...]:
    """A cell of blocks of 2 by 3, two of them side by side."""
    q = add(mul(Const(columns), div(row, Const(rows))), div(lane, Const(wide)))
    return q, add(mul(Const(wide), mod(row, Const(rows))), mod(lane, Const(wide)))


BLOCKS = Places("t", "b", ("u", "v"), blocked(u, v))


def test_a_tile_in_blocks() -> None:
    after = tile("b", (Const(4),), 6, blocked(i, lane))
    claimed(relocate_local(ROWS, after, BLOCKS))
    four_rows = replace(ROWS, params=tuple(replace(param, shape=(Const(4), N)) for param in PARAMS), requires=(Require(lt(N, Const(7)), "w"),))
    assert agrees(four_rows, replace(four_rows, body=after.body), 8)


def test_blocks_that_lie_on_each_other() -> None:
    """One block in a row instead of two: block (0, 1) is block (1, 0)."""
    terms = blocked(u, v, columns=1)
    goal = relocate_local(ROWS, tile("b", (Const(4),), 6, blocked(i, lane, columns=1)), Places("t", "b", ("u", "v"), terms))
    assert invalid(goal) == ["no two cells of t are at one place of b"]


def test_rows_of_blocks_that_lie_on_each_other() -> None:
    terms = blocked(u, v, rows=3)
    goal = relocate_local(ROWS, tile("b", (Const(4),), 6, blocked(i, lane, rows=3)), Places("t", "b", ("u", "v"), terms))
    claimed(goal)
    terms = (terms[0], add(mul(Const(2), mod(u, Const(3))), mod(v, Const(3))))
    at = (blocked(i, lane, rows=3)[0], add(mul(Const(2), mod(i, Const(3))), mod(lane, Const(3))))
    assert invalid(relocate_local(ROWS, tile("b", (Const(4),), 9, at), Places("t", "b", ("u", "v"), terms))) != []


def test_swapped_blocks_are_not_one_map() -> None:
    """Stored back from block (1, 0) what went to block (0, 1)."""
    swapped = (add(div(i, Const(2)), mul(Const(2), div(lane, Const(3)))), blocked(i, lane)[1])
    with pytest.raises(RuleError, match="where the cells of the local are"):
        relocate_local(ROWS, tile("b", (Const(4),), 6, blocked(i, lane), swapped), BLOCKS)


@pytest.mark.parametrize(
    ("after", "places", "why"),
    [
        (tile("b", (Const(4),), 6, (i, lane)), BLOCKS, "where the cells of the local are"),
        (tile("b", (Const(4),), 6, blocked(i, lane)), Places("t", "b", ("u",), (u, v)), "number of coordinates"),
        (tile("b", (Const(4),), 6, blocked(i, lane)), Places("t", "b", ("u", "u"), (u, u)), "number of coordinates"),
        (tile("b", (Const(4),), 6, blocked(i, lane)), Places("t", "b", ("i", "v"), blocked(i, v)), "named like something"),
        (tile("b", (Const(4),), 6, blocked(i, lane)), Places("t", "b", ("u", "v"), (w, x)), "more than coordinates"),
        (tile("b", (Const(4),), 6, blocked(i, lane)), Places("c", "b", ("u", "v"), (u, v)), "not locals"),
        (tile("b", (Const(4),), 6, blocked(i, lane)), Places("t", "c", ("u", "v"), (u, v)), "not locals"),
        (program(*ROWS.body.body[:2]), replace(BLOCKS, target="t"), "another number of store families"),
        (program(ROWS.body.body[0], *ROWS.body.body[:0:-1]), replace(SAME, source="t"), "other loops|other indices|where the cells"),
    ],
)
def test_what_is_no_relocation_is_refused(after: Program, places: Places, why: str) -> None:
    with pytest.raises(RuleError, match=why):
        relocate_local(ROWS, after, places)


def test_another_type_mask_or_local_is_refused() -> None:
    after = tile("b", (Const(4),), 6, blocked(i, lane))
    first, *rest = after.body.body
    assert isinstance(first, Declare)
    with pytest.raises(RuleError, match="different types"):
        relocate_local(ROWS, program(replace(first, elem="f64"), *rest), BLOCKS)
    with pytest.raises(RuleError, match="more than one local"):
        relocate_local(ROWS, program(Declare("z", "f32"), *after.body.body), BLOCKS)
    with pytest.raises(RuleError, match="requirement"):
        relocate_local(replace(ROWS, requires=(Require(lt(ZERO, M), "written"),)), after, BLOCKS)
    wide = program(first, loop("i", Const(4), Store("b", blocked(i, lane), Op("f", "f32", (Load("a", (i, lane)),)), Lanes("l", 6, M))), rest[1])
    with pytest.raises(RuleError, match="other indices"):
        relocate_local(ROWS, wide, BLOCKS)


def test_a_shape_that_a_loop_gives_is_not_read() -> None:
    inner = Declare("t", "f32", (i,), mutable=True)
    nest = program(loop("i", M, inner, Store("t", (ZERO,), ZERO_WORD), Store("c", (i, ZERO), Load("t", (ZERO,)))))
    with pytest.raises(RuleError, match="speaks of more than sizes"):
        relocate_local(nest, nest, Places("t", "t", ("u", "v"), (u, v)))
