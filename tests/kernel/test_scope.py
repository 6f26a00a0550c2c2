"""Names: every place that binds one refuses a name that is taken, every place that uses one a name that nothing binds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cachet_verify.core.index import ONE, ZERO, Const, Index, Var, lt
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
    Inlined,
    Lanes,
    Lease,
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
    View,
    Window,
    Word,
)
from cachet_verify.kernel.claim import RuleError
from cachet_verify.kernel.normal import same_families
from cachet_verify.kernel.scope import bound_names
from tests.kernel.sample import block, loop

M, LOST = Var("M"), Var("lost")
WORD = Word("f32", 0)
X = Load("x", (ZERO,))
STORE = Store("x", (ZERO,), WORD)


def program(*body: Stmt) -> Program:
    return Program("p", ("M",), (Param("x", "mut", "f32", (M,)),), Block(body))


def fold(counter: str = "k", high: Index = M, acc: str = "acc", name: str = "acc") -> Fold:
    return Fold(counter, Range(ZERO, high), X, acc, "f32", Op("f", "f32", (Load(name),)))


TAKEN: list[Stmt] = [
    loop("x", M),
    loop("M", M),
    For("g", Blocks(ZERO, M, ONE), block(loop("g.lo", M))),
    For("g", Blocks(ZERO, M, ONE), block(loop("g.len", M))),
    Grid((Axis("M", ZERO, M),), block(STORE)),
    Grid((Axis("i", ZERO, M), Axis("i", ZERO, M)), block(STORE)),
    Store("x", (ZERO,), WORD, Lanes("M", 4, M)),
    Declare("x", "f32"),
    block(Declare("t", "f32", (M,)), loop("t.0", M)),
    block(Declare("t", "f32", width=4), loop("t.lane", M)),
    Declare("t", "f32", width=4, init=X, lanes=Lanes("M", 4, M)),
    Lease("x", "x", "L1", True),
    View("x", (), "x", (ZERO,)),
    View("v", ("M",), "x", (ZERO,)),
    Grid((Axis("i", ZERO, M),), block(STORE), (Window("x", (ZERO,), "M"),)),
    Grid((Axis("i", ZERO, M),), block(loop("w.0", M)), (Window("x", (ZERO,), "w"),)),
    Store("x", (ZERO,), fold(counter="M")),
    Store("x", (ZERO,), fold(acc="x", name="x")),
    block(loop("i", M), loop("i", M)),
    If(lt(ZERO, M), block(loop("i", M)), block(loop("i", M))),
    Inlined("f x", block(loop("M", M))),
]


@pytest.mark.parametrize("stmt", TAKEN)
def test_a_name_is_bound_once(stmt: Stmt) -> None:
    with pytest.raises(RuleError, match="is bound twice"):
        bound_names("test", program(stmt))


UNBOUND: list[Stmt] = [
    loop("i", LOST),
    loop("i", M, low=LOST),
    For("g", Blocks(ZERO, M, LOST), block()),
    For("g", Blocks(LOST, M, ONE), block()),
    Grid((Axis("i", ZERO, LOST),), block()),
    Grid((Axis("i", LOST, M),), block()),
    Store("x", (LOST,), WORD),
    Store("x", (ZERO,), WORD, Lanes("l", 4, LOST)),
    Store("x", (ZERO,), WORD, Lanes("lost'", 4, Var("lost'"))),
    Store("x", (ZERO,), Load("x", (LOST,))),
    Store("x", (ZERO,), OfIndex("f32", LOST)),
    Store("x", (ZERO,), Op("f", "f32", (OfIndex("f32", LOST),))),
    Store("x", (ZERO,), Choose(lt(LOST, M), WORD, WORD)),
    Store("x", (ZERO,), Choose(lt(ZERO, M), OfIndex("f32", LOST), WORD)),
    Store("x", (ZERO,), Choose(lt(ZERO, M), WORD, OfIndex("f32", LOST))),
    Store("x", (ZERO,), fold(high=LOST)),
    Store("x", (Var("k"),), fold()),
    Declare("t", "f32", (LOST,)),
    Declare("t", "f32", init=OfIndex("f32", LOST)),
    If(lt(LOST, M), block(), block()),
    If(lt(ZERO, M), block(Store("x", (LOST,), WORD)), block()),
    If(lt(ZERO, M), block(), block(Store("x", (LOST,), WORD))),
    Inlined("f x", block(Store("x", (LOST,), WORD))),
    View("v", ("q",), "x", (LOST,)),
    View("v", ("q",), "x", (Var("q"),), (LOST,)),
    Grid((Axis("i", ZERO, M),), block(), (Window("x", (LOST,)),)),
    Grid((Axis("i", ZERO, M),), block(), (Window("x", (Slice(ZERO, LOST),)),)),
    Grid((Axis("i", ZERO, M),), block(), (Window("x", (Slice(LOST, M),)),)),
    Grid((Axis("i", ZERO, M),), block(Store("x", (LOST,), WORD))),
]


@pytest.mark.parametrize("stmt", UNBOUND)
def test_an_index_is_in_scope(stmt: Stmt) -> None:
    with pytest.raises(RuleError, match="where nothing binds it"):
        bound_names("test", program(stmt))


UNDECLARED: list[Stmt] = [
    Store("z", (), WORD),
    Store("x", (ZERO,), Load("z")),
    Store("x", (ZERO,), fold(name="z")),
    Declare("t", "f32", init=Load("z")),
    Lease("v", "z", "L1", True),
    View("v", (), "z", ()),
    Grid((Axis("i", ZERO, M),), block(), (Window("z", ()),)),
    block(block(Declare("t", "f32")), Store("t", (), WORD)),
    block(Inlined("f", block(Lease("v", "x", "L1", True))), Store("v", (ZERO,), WORD)),
    block(Grid((Axis("i", ZERO, M),), block(), (Window("x", (ZERO,), "w"),)), Store("w", (), WORD)),
    block(Store("x", (ZERO,), fold()), Store("x", (ONE,), Load("acc"))),
]


@pytest.mark.parametrize("stmt", UNDECLARED)
def test_a_buffer_is_in_scope(stmt: Stmt) -> None:
    with pytest.raises(RuleError, match="where nothing declares it"):
        bound_names("test", program(stmt))


def test_shapes_and_requirements_speak_of_sizes() -> None:
    fine = program(STORE)
    with pytest.raises(RuleError, match="lost is used"):
        bound_names("test", replace(fine, params=(Param("x", "mut", "f32", (LOST,)),)))
    with pytest.raises(RuleError, match="lost is used"):
        bound_names("test", replace(fine, requires=(Require(lt(LOST, M), "written"),)))
    with pytest.raises(RuleError, match="x is bound twice"):
        bound_names("test", replace(fine, params=(*fine.params, *fine.params)))


def test_a_program_in_order_gives_its_names() -> None:
    body = (Declare("t", "f32", (M,), 4), For("g", Blocks(ZERO, M, Const(2)), block(Store("x", (Var("g.lo"),), fold()))))
    assert bound_names("test", program(*body)) == {"M", "x", "t", "t.0", "t.lane", "g", "g.lo", "g.len", "k", "acc"}


def test_a_statement_more_is_a_difference() -> None:
    with pytest.raises(RuleError, match="1 store families before, 2 after"):
        same_families(program(STORE), program(STORE, STORE))
