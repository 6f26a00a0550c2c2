"""Element types: no copy stands for a conversion, whatever a schedule's step puts between two cells."""

from __future__ import annotations

import pytest

from cachet_verify.core.index import ZERO, Var, eq
from cachet_verify.core.ir import Block, Choose, Declare, Fold, Load, OfIndex, Op, Param, Program, Range, Stmt, Store, Value, Word
from cachet_verify.kernel.claim import RuleError
from cachet_verify.kernel.well_formed import well_formed
from tests.kernel.solve import claimed

PARAMS = (
    Param("x", "reads", "f32", ()),
    Param("h", "reads", "f16", ()),
    Param("y", "mut", "f32", ()),
    Param("g", "reads", "S.Value", ()),
    Param("n", "reads", "i32", ()),
    Param("b", "reads", "bool", ()),
)
X, H, G, N, B = Load("x"), Load("h"), Load("g"), Load("n"), Load("b")


def program(*body: Stmt) -> Program:
    return Program("typed", ("N",), PARAMS, Block(body))


def stored(value: Value) -> Program:
    return program(Store("y", (), value))


RIGHT: list[Value] = [
    X,
    Word("f32", 0xFFFFFFFF),
    OfIndex("f32", Var("N")),
    Op("fma", "f32", (X, X, Load("y"))),
    Op("convert f16 f32", "f32", (H,)),
    Op("select", "f32", (Op("lt f32", "bool", (X, X)), X, Word("f32", 0))),
    Op("select", "f32", (B, X, X)),
    Choose(eq(Var("N"), ZERO), X, Op("neg", "f32", (X,))),
    Op("from_bits f32", "f32", (Op("to_bits f32", "u32", (X,)),)),
    Op("unheard of", "f32", (H, G)),
]
WRONG: list[Value] = [
    H,
    N,
    G,
    B,
    Word("f64", 0),
    Word("f32", 1 << 32),
    Word("f32", -1),
    OfIndex("i32", Var("N")),
    Op("fma", "f16", (H, H, H)),
    Op("fma", "f32", (X, X, H)),
    Op("fma", "f32", (X, X)),
    Op("convert f16 f32", "f32", (X,)),
    Op("convert f32 f16", "f32", (X,)),
    Op("select", "f32", (N, X, X)),
    Op("select", "f32", (Op("lt f16", "bool", (X, X)), X, X)),
    Op("lt f32", "f32", (X, X)),
    Op("xor", "f32", (X, X)),
    Op("from_bits f32", "f32", (N,)),
    Op("S.add", "f32", (G, G)),
    Choose(eq(Var("N"), ZERO), X, H),
    Choose(eq(Var("N"), ZERO), H, X),
    Op("unheard of", "f32", (Op("add", "f32", (H, H)),)),
]


@pytest.mark.parametrize("value", RIGHT)
def test_words_of_the_type_of_their_place(value: Value) -> None:
    claimed(well_formed(stored(value)))


@pytest.mark.parametrize("value", WRONG)
def test_words_of_another_type_than_their_place(value: Value) -> None:
    with pytest.raises(RuleError, match="well-formed"):
        well_formed(stored(value))


def test_operations_of_an_interface_take_its_words() -> None:
    def into(value: Value) -> Program:
        return program(Declare("t", "S.Value", init=value))

    claimed(well_formed(into(Op("S.mul_add", "S.Value", (G, G, Op("S.zero", "S.Value", ()))))))
    for value in (Op("S.add", "S.Value", (G, X)), Op("T.add", "S.Value", (G, G)), X):
        with pytest.raises(RuleError, match="well-formed"):
            well_formed(into(value))


def test_a_local_between_two_cells_converts_nothing() -> None:
    with pytest.raises(RuleError, match="f32 stands where one of type f16 is wanted"):
        well_formed(program(Declare("t", "f16", init=X), Store("y", (), Load("t"))))


def test_a_total_has_the_type_of_its_steps() -> None:
    def summed(elem: str) -> Program:
        return stored(Fold("k", Range(ZERO, Var("N")), Word("f32", 0), "acc", elem, Op("add", "f32", (Load("acc"), X))))

    claimed(well_formed(summed("f32")))
    with pytest.raises(RuleError, match="well-formed"):
        well_formed(summed("f64"))
