"""Well-formedness: bounds, divisors, blocks, races, windows, and names out of scope."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cachet_verify.core.index import ONE, ZERO, Const, Div, Formula, Index, Mod, Var, add, div, eq, le, lt, mod, mul, sub
from cachet_verify.core.ir import (
    Axis,
    Block,
    Blocks,
    Choose,
    Declare,
    Fold,
    For,
    Grid,
    If,
    Lanes,
    Load,
    OfIndex,
    Op,
    Param,
    Program,
    Range,
    Require,
    Slice,
    Stmt,
    Store,
    Value,
    View,
    Window,
    Word,
)
from cachet_verify.kernel.claim import RuleError
from cachet_verify.kernel.well_formed import well_formed
from tests.kernel.sample import MATMUL, ZERO_WORD, A, B, C, K, M, N, block, blocks, fma, i, j, k, loop, program
from tests.kernel.solve import claimed, invalid

PARAMS = (Param("x", "mut", "f32", (M,)), Param("y", "reads", "f32", (M,)))


def vectors(*body: Stmt, requires: tuple[Formula, ...] = ()) -> Program:
    return Program("v", ("M", "N"), PARAMS, Block(body), tuple(Require(need, "written") for need in requires))


def test_a_matrix_product_is_well_formed() -> None:
    claimed(well_formed(MATMUL))


def test_a_blocked_load_is_shown_as_it_is_written() -> None:
    at = (add(Var("gi.lo"), i), k)
    nest = blocks("gi", M, 16, loop("i", Var("gi.len"), loop("k", add(K, ONE), Store("c", (at[0], ZERO), Load("a", at)))))
    assert invalid(well_formed(program(nest))) == ["store c[gi.lo + i, 0] stays inside [M, N]", "load a[gi.lo + i, k] stays inside [M, K]"]


OUTSIDE: list[tuple[Stmt, str]] = [
    (Store("x", (ZERO,), ZERO_WORD), "store x[0] stays inside [M]"),
    (loop("i", M, Store("x", (add(i, ONE),), ZERO_WORD)), "store x[i + 1] stays inside [M]"),
    (loop("i", M, Store("x", (sub(i, ONE),), ZERO_WORD)), "store x[i - 1] stays inside [M]"),
    (loop("i", M, Store("x", (i,), Load("y", (add(i, ONE),)))), "load y[i + 1] stays inside [M]"),
    (loop("i", N, Store("x", (i,), ZERO_WORD)), "store x[i] stays inside [M]"),
    (Store("x", (i,), ZERO_WORD, Lanes("i", 8, Const(8))), "store x[i] stays inside [M]"),
    (loop("i", M, Declare("t", "f32", (Const(4),)), Store("t", (i,), ZERO_WORD)), "store t[i] stays inside [4]"),
    (loop("i", M, Store("x", (i,), Choose(lt(i, ONE), ZERO_WORD, Load("y", (add(i, ONE),))))), "load y[i + 1] stays inside [M]"),
]


@pytest.mark.parametrize(("stmt", "subject"), OUTSIDE)
def test_an_access_outside_is_refused(stmt: Stmt, subject: str) -> None:
    assert invalid(well_formed(vectors(stmt))) == [subject]


INSIDE: list[Stmt] = [
    loop("i", sub(M, ONE), Store("x", (add(i, ONE),), Load("y", (i,)))),
    loop("i", M, If(lt(i, sub(M, ONE)), block(Store("x", (add(i, ONE),), ZERO_WORD)), block())),
    loop("i", M, Store("x", (i,), Choose(lt(ZERO, i), Load("y", (sub(i, ONE),)), ZERO_WORD))),
    Store("x", (i,), ZERO_WORD, Lanes("i", 8, M)),
    blocks("g", M, 3, loop("i", Var("g.len"), Store("x", (add(Var("g.lo"), i),), ZERO_WORD))),
    loop("i", div(M, Const(4)), Store("x", (add(mod(i, Const(4)), i, i),), ZERO_WORD)),
    loop("i", Const(-5), Store("x", (Const(99),), ZERO_WORD)),
]


@pytest.mark.parametrize("stmt", INSIDE)
def test_an_access_inside_is_accepted(stmt: Stmt) -> None:
    claimed(well_formed(vectors(stmt)))


def test_a_requirement_helps() -> None:
    store = Store("x", (ZERO,), ZERO_WORD)
    claimed(well_formed(vectors(store, requires=(lt(ZERO, M),))))
    claimed(well_formed(vectors(loop("i", M, Store("x", (i,), ZERO_WORD)), requires=(eq(Mod(M, Const(4)), ZERO),))))
    assert invalid(well_formed(vectors(requires=(eq(Mod(M, N), ZERO),)))) == ["the divisor N is not zero"]


DIVIDING: list[Stmt] = [
    loop("i", Div(M, N), Store("x", (i,), ZERO_WORD)),
    loop("i", M, If(eq(Mod(i, N), ZERO), block(Store("x", (i,), ZERO_WORD)), block())),
    loop("i", M, If(eq(Mod(i, N), ZERO), block(), block(Store("x", (i,), ZERO_WORD)))),
    loop("i", M, Store("x", (i,), Choose(eq(Mod(i, N), ZERO), ZERO_WORD, Load("y", (i,))))),
    loop("i", M, Store("x", (i,), OfIndex("f32", Div(i, N)))),
    loop("i", Div(M, N)),
    loop("i", M, If(eq(Mod(i, N), ZERO), block(), block())),
    For("g", Blocks(ZERO, M, Div(M, N)), block()),
]


@pytest.mark.parametrize("stmt", DIVIDING)
def test_a_divisor_that_can_be_zero_is_refused(stmt: Stmt) -> None:
    assert "the divisor N is not zero" in invalid(well_formed(vectors(stmt)))
    guarded = If(lt(ZERO, N), block(stmt), block())
    assert "the divisor N is not zero" not in invalid(well_formed(vectors(guarded)))


@pytest.mark.parametrize("size", [N, sub(N, ONE), ZERO, Const(-1)])
def test_blocks_without_indices_are_refused(size: Index) -> None:
    nest = For("g", Blocks(ZERO, M, size), block(loop("i", Var("g.len"), Store("x", (add(Var("g.lo"), i),), ZERO_WORD))))
    assert "the blocks of g have at least one index" in invalid(well_formed(vectors(nest)))
    if size == N:
        claimed(well_formed(vectors(If(le(ONE, N), block(nest), block()))))


def test_blocks_inside_blocks_take_the_size_of_their_place() -> None:
    store = Store("x", (add(Var("g.lo"), Var("u.lo"), i),), ZERO_WORD)
    inner = For("u", Blocks(ZERO, Var("g.len"), Var("g.len")), block(loop("i", Var("u.len"), store)))
    claimed(well_formed(vectors(blocks("g", M, 4, inner))))
    bad = For("u", Blocks(ZERO, Var("g.len"), sub(Var("g.len"), ONE)), block())
    assert invalid(well_formed(vectors(blocks("g", M, 4, bad)))) == ["the blocks of u have at least one index"]


def test_blocks_of_a_fold_are_blocks() -> None:
    total = Fold("g", Blocks(ZERO, M, N), ZERO_WORD, "acc", "f32", Op("add", "f32", (Load("acc"), Load("y", (Var("g.lo"),)))))
    assert invalid(well_formed(vectors(loop("i", M, Store("x", (i,), total))))) == ["the blocks of g have at least one index"]


RACES: list[Stmt] = [
    Grid((Axis("i", ZERO, M),), block(If(lt(ZERO, M), block(Store("x", (ZERO,), ZERO_WORD)), block()))),
    Grid((Axis("i", ONE, M),), block(Store("x", (i,), Load("x", (sub(i, ONE),))))),
    Grid((Axis("i", ZERO, M), Axis("j", ZERO, N)), block(Store("x", (i,), ZERO_WORD))),
    Grid((Axis("i", ZERO, M),), block(Store("x", (i,), ZERO_WORD), Store("x", (sub(sub(M, ONE), i),), ZERO_WORD))),
    Store("x", (Div(i, Const(2)),), ZERO_WORD, Lanes("i", 4, M)),
]


@pytest.mark.parametrize("stmt", RACES)
def test_a_race_is_refused(stmt: Stmt) -> None:
    assert any("of another never touch one cell of x" in subject for subject in invalid(well_formed(vectors(stmt))))


def test_iterations_apart_are_accepted() -> None:
    claimed(well_formed(vectors(Grid((Axis("i", ZERO, M),), block(Store("x", (i,), Load("y", (i,)))), device=None))))
    own = block(Declare("t", "f32", mutable=True), Store("t", (), Load("x", (i,))), Store("x", (i,), Load("t")))
    claimed(well_formed(vectors(Grid((Axis("i", ZERO, M),), own))))
    claimed(well_formed(vectors(Store("x", (i,), Op("f", "f32", (Load("x", (i,)),)), Lanes("i", 4, M)))))


def windowed(window: Window, *body: Stmt) -> Program:
    return program(Grid((Axis("i", ZERO, M), Axis("j", ZERO, N)), block(*body), (window,)))


def test_a_window_is_kept() -> None:
    point = Window("c", (i, j), "ct")
    claimed(well_formed(windowed(point, loop("k", K, Store("ct", (), fma(A, B, Load("ct")))))))
    right = Store("c", (i, mod(add(j, ONE), N)), ZERO_WORD)
    sentence = "a grid iteration reaches only its own window: i == i && (j + 1) % N == j"
    assert sentence in invalid(well_formed(windowed(point, right)))
    with_slice = program(Grid((Axis("i", ZERO, M),), block(loop("j", N, Store("c", (i, j), ZERO_WORD))), (Window("c", (i, Slice(ZERO, N))),)))
    claimed(well_formed(with_slice))
    narrow = program(Grid((Axis("i", ZERO, M),), block(loop("j", N, Store("c", (i, j), ZERO_WORD))), (Window("c", (i, Slice(ONE, N))),)))
    assert invalid(well_formed(narrow)) == ["a grid iteration reaches only its own window: i == i && 1 <= j && j < N"]


def test_a_buffer_without_a_window_is_not_written() -> None:
    extra = windowed(Window("c", (i, j)), Store("d", (i, j), ZERO_WORD))
    params = (*extra.params, Param("d", "mut", "f32", (M, N)))
    assert invalid(well_formed(replace(extra, params=params))) == ["a grid iteration reaches only its own window: it has none of d"]


FOLD = Fold("k", Range(ZERO, M), ZERO_WORD, "acc", "f32", Load("acc"))
def test_windows_that_are_not_modelled_or_do_not_fit_are_refused() -> None:
    q, r = Var("q"), Var("r")
    stores = block(loop("j", N, Store("c", (i, j), ZERO_WORD)))
    for index in ((q, mul(Const(2), r)), (add(q, r), r), (q, mul(r, r)), (q, ZERO), (q, q), (div(q, Const(2)), r)):
        view = View("v", ("q", "r"), "c", index)
        body = Grid((Axis("i", ZERO, M),), stores, (Window("v", (Slice(i, add(i, ONE)), Slice(ZERO, N))),))
        with pytest.raises(RuleError, match="window of a view that is no box"):
            well_formed(program(view, body))
    with pytest.raises(RuleError, match="another number of dimensions"):
        well_formed(windowed(Window("c", (i,)), Store("c", (i, j), ZERO_WORD)))


NAMES: list[tuple[Stmt, str]] = [
    (Store("x", (i,), ZERO_WORD), "i is used in v where nothing binds it"),
    (loop("i", i, Store("x", (i,), ZERO_WORD)), "i is used in v where nothing binds it"),
    (loop("M", M), "M is bound twice in v"),
    (loop("x", M), "x is bound twice in v"),
    (loop("i", M, loop("i", M)), "i is bound twice in v"),
    (Store("z", (), ZERO_WORD), "z is used in v where nothing declares it"),
    (loop("i", M, Declare("t", "f32"), Store("x", (i,), Load("u"))), "u is used in v where nothing declares it"),
    (block(loop("i", M, Declare("t", "f32")), Store("t", (), ZERO_WORD)), "t is used in v where nothing declares it"),
    (block(Store("t", (), ZERO_WORD), Declare("t", "f32")), "t is used in v where nothing declares it"),
    (loop("g", M, Store("x", (Var("g.lo"),), ZERO_WORD)), "g.lo is used in v where nothing binds it"),
    (Store("x", (), ZERO_WORD), "x has 1 dimensions, 0 indices are given"),
    (Store("x", (ZERO, ZERO), ZERO_WORD), "x has 1 dimensions, 2 indices are given"),
    (loop("i", M, Store("y", (i,), ZERO_WORD)), "y is only read, and is stored to"),
    (Store("x", (ZERO,), Op("f", "f32", (FOLD,))), "do not model a fold inside an operand"),
]


@pytest.mark.parametrize(("stmt", "why"), NAMES)
def test_what_is_wrong_for_all_sizes_is_refused_outright(stmt: Stmt, why: str) -> None:
    with pytest.raises(RuleError) as caught:
        well_formed(vectors(stmt))
    assert why in caught.value.why


def test_one_access_asked_twice_is_one_obligation() -> None:
    twice = loop("i", N, Store("x", (i,), Op("add", "f32", (Load("y", (i,)), Load("y", (i,))))))
    assert len(well_formed(vectors(twice)).obligations) == 1  # `x` and `y` have one shape, so one formula


def test_a_local_of_an_inner_loop_is_seen_from_its_own_iteration_only() -> None:
    nest = program(loop("i", M, loop("j", N, Declare("t", "f32", (K,), mutable=True), loop("k", K, Store("t", (k,), A)), Store("c", (i, j), C))))
    claimed(well_formed(nest))


@pytest.mark.parametrize("name", ["div", "rem"])
@pytest.mark.parametrize("elem", ["i8", "i32", "i64", "u32"])
def test_an_integer_word_is_divided_by_a_literal_other_than_zero_only(name: str, elem: str) -> None:
    params = (Param("p", "mut", elem, (M,)), Param("q", "reads", elem, (M,)))

    def divided(by: Value) -> Program:
        body = Store("p", (i,), Choose(eq(i, ZERO), Word(elem, 1), Op(name, elem, (Load("q", (i,)), by))))
        return Program("d", ("M",), params, Block((loop("i", M, body),)))

    claimed(well_formed(divided(Word(elem, 3))))
    for by in (Load("p", (i,)), Word(elem, 0), OfIndex(elem, add(i, ONE)), Op("max", elem, (Load("q", (i,)), Word(elem, 1)))):
        with pytest.raises(RuleError, match="divided by one that may be 0"):
            well_formed(divided(by))


def test_words_of_a_float_are_divided_by_anything() -> None:
    claimed(well_formed(vectors(loop("i", M, Store("x", (i,), Op("div", "f32", (Load("y", (i,)), Word("f32", 0))))))))
