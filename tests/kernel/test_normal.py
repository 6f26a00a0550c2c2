"""Same families: what is only a name or a nesting, and what is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cachet_verify.core.element import Arithmetic
from cachet_verify.core.index import ONE, ZERO, Const, Var, add, lt, sub
from cachet_verify.core.ir import (
    Axis,
    Block,
    Blocks,
    Declare,
    For,
    Grid,
    If,
    Inlined,
    Lanes,
    Lease,
    Load,
    Op,
    Param,
    Program,
    Range,
    Store,
    View,
)
from cachet_verify.kernel.claim import RuleError
from cachet_verify.kernel.normal import rename, rename_alias, same_families
from tests.kernel.sample import MATMUL, PARAMS, K, M, N, agrees, block, i, j, loop, program
from tests.kernel.solve import claimed

x, y = Load("x", (i,)), Load("y", (i,))
VECTORS = (Param("x", "mut", "f32", (M,)), Param("y", "mut", "f32", (M,)))


def vectors(*body: object) -> Program:
    return Program("v", ("M",), VECTORS, Block(body))  # type: ignore[arg-type]


def test_other_names_of_loops_blocks_totals_and_locals() -> None:
    def named(counter: str, local: str, other: str) -> Program:
        at = add(Var(f"{counter}.lo"), Var(other))
        body = (Declare(local, "f32", init=Load("y", (at,))), Store("x", (at,), Load(local)))
        return vectors(For(counter, Blocks(ZERO, M, Const(2)), block(loop(other, Var(f"{counter}.len"), *body))))

    claimed(rename(named("g", "t", "i"), named("h", "u", "j")))


def test_names_may_not_be_mixed_up() -> None:
    before = program(loop("i", M, loop("j", N, Store("c", (i, j), Load("a", (i, j))))), sizes=("M", "N", "K"))
    after = program(loop("i", M, loop("j", N, Store("c", (i, j), Load("a", (j, i))))), sizes=("M", "N", "K"))
    with pytest.raises(RuleError, match="differs"):
        rename(before, after)


def test_blocks_calls_and_gaps_in_numbering_are_nothing() -> None:
    store = Store("x", (ZERO,), Load("y", (ZERO,)))
    last = Store("y", (ZERO,), Load("x", (ZERO,)))
    claimed(same_families(vectors(store, last), vectors(block(block(store), block()), Inlined("f x", block(last)))))
    claimed(same_families(vectors(Declare("t", "f32"), store), vectors(store)))


def test_the_order_of_statements_is_something() -> None:
    one, two = Store("x", (ZERO,), Load("y", (ZERO,))), Store("y", (ZERO,), Load("x", (ZERO,)))
    with pytest.raises(RuleError, match="differs"):
        same_families(vectors(one, two), vectors(two, one))


def test_one_loop_is_not_two_loops() -> None:
    a, b = Store("x", (i,), y), Store("y", (i,), x)
    fused = vectors(loop("i", M, a, b))
    p = Var("p")
    apart = vectors(loop("i", M, a), loop("p", M, Store("y", (p,), Load("x", (p,)))))
    with pytest.raises(RuleError, match="differs"):
        same_families(fused, apart)


def test_equal_statements_in_one_loop_or_in_two() -> None:
    """Families that look alike one by one: what differs is whether their loop is shared."""
    p = Var("p")
    step = Store("x", (ZERO,), Op("f", "f32", (Load("x", (ZERO,)),)))
    other = Store("x", (ZERO,), Op("g", "f32", (Load("x", (ZERO,)),)))
    fused, apart = vectors(loop("i", M, step, other)), vectors(loop("i", M, step), loop("i2", M, other))
    with pytest.raises(RuleError, match="differs"):
        same_families(fused, apart)
    assert not agrees(fused, apart)
    del p


DIFFERENT = [
    loop("i", M, Store("x", (i,), Op("f", "f32", (y,))), low=ONE),
    loop("i", sub(M, ONE), Store("x", (i,), Op("f", "f32", (y,)))),
    Grid((Axis("i", ZERO, M),), block(Store("x", (i,), Op("f", "f32", (y,))))),
    loop("i", M, Store("x", (i,), Op("g", "f32", (y,)))),
    loop("i", M, Store("x", (i,), Op("f", "f64", (y,)))),
    loop("i", M, Store("x", (i,), Op("f", "f32", (x,)))),
    loop("i", M, Store("y", (i,), Op("f", "f32", (y,)))),
    loop("i", M, If(lt(i, ONE), block(Store("x", (i,), Op("f", "f32", (y,)))), block())),
    loop("i", M, loop("q", ONE, Store("x", (i,), Op("f", "f32", (y,))))),
    For("i", Blocks(ZERO, M, Const(2)), block(Store("x", (i,), Op("f", "f32", (y,))))),
]


@pytest.mark.parametrize("stmt", DIFFERENT)
def test_anything_else_differs(stmt: object) -> None:
    base = vectors(loop("i", M, Store("x", (i,), Op("f", "f32", (y,)))))
    with pytest.raises(RuleError, match="differs"):
        same_families(base, vectors(stmt))


def test_lanes_are_not_a_loop() -> None:
    loop_ = vectors(loop("i", Const(4), Store("x", (i,), y)))
    lanes = vectors(Store("x", (i,), y, Lanes("i", 4, Const(4))))
    with pytest.raises(RuleError, match="differs"):
        same_families(loop_, lanes)


def test_where_a_local_is_declared_is_something() -> None:
    inside = vectors(loop("i", M, Declare("t", "f32", mutable=True), Store("x", (i,), Load("t")), Store("t", (), y)))
    outside = vectors(Declare("t", "f32", mutable=True), loop("i", M, Store("x", (i,), Load("t")), Store("t", (), y)))
    with pytest.raises(RuleError, match="differs"):
        same_families(inside, outside)


def test_two_locals_are_not_one() -> None:
    def body(second: str) -> Program:
        declared = [Declare(name, "f32", mutable=True) for name in ("t", "u")]
        return vectors(*declared, Store("t", (), Load("y", (ZERO,))), Store("u", (), Load("y", (ONE,))), Store("x", (ZERO,), Load(second)))

    with pytest.raises(RuleError, match="differs"):
        same_families(body("t"), body("u"))


def test_leases_and_views_are_names() -> None:
    before = vectors(loop("i", M, Store("x", (i,), y)))
    claimed(rename_alias(before, vectors(Lease("v", "y", "L1", False), loop("i", M, Store("x", (i,), Load("v", (i,)))))))
    shifted = vectors(View("w", ("q",), "y", (add(Var("q"), ONE),)), loop("i", M, Store("x", (i,), Load("w", (sub(i, ONE),)))))
    claimed(rename_alias(before, shifted))
    with pytest.raises(RuleError, match="differs"):
        rename_alias(before, vectors(Lease("v", "x", "L1", False), loop("i", M, Store("x", (i,), Load("v", (i,))))))


def test_parameters_may_not_change() -> None:
    wrong = [
        replace(MATMUL, params=PARAMS[:2]),
        replace(MATMUL, params=(*PARAMS[:2], replace(PARAMS[2], mode="mut"))),
        replace(MATMUL, params=(*PARAMS[:2], replace(PARAMS[2], shape=(N, M)))),
        replace(MATMUL, params=(*PARAMS, Param("d", "mut", "f32", (K,)))),
        replace(MATMUL, params=(*PARAMS[:2], replace(PARAMS[2], scratch=True))),
        replace(MATMUL, sizes=("M", "N"), params=PARAMS[:0]),
        replace(MATMUL, arithmetic=Arithmetic("M4Gpu")),
    ]
    for after in wrong:
        with pytest.raises(RuleError):
            same_families(MATMUL, after)
    claimed(same_families(MATMUL, replace(MATMUL, params=(*PARAMS, Param("d", "mut", "f32", (K,), scratch=True)))))


def test_range_and_total_of_a_fold_are_compared() -> None:
    store = MATMUL.body.body[0].body.body[0].body.body[0]  # type: ignore[union-attr]
    shorter = replace(store, value=replace(store.value, domain=Range(ONE, K)))  # type: ignore[union-attr]
    with pytest.raises(RuleError, match="differs"):
        same_families(MATMUL, program(loop("i", M, loop("j", N, shorter))))  # type: ignore[arg-type]
