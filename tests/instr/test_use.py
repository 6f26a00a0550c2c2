"""What is marked as an instruction is its reference body on some operands; the kernel makes no goal about anything else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from cachet_verify.core.index import ONE, ZERO, Const, Index, Var, add, mul
from cachet_verify.core.instruction import is_use
from cachet_verify.core.ir import Block, Fold, For, Inlined, Instruction, Lanes, Load, Op, Param, Program, Range, Stmt, Store, Value
from cachet_verify.kernel.claim import RuleError, reflexivity

TWO = Const(2)


def loops(names: tuple[str, ...], stmt: Stmt, extent: Index = TWO) -> Block:
    block = Block((stmt,))
    for name in reversed(names):
        block = Block((For(name, Range(ZERO, extent), block),))
    return block


def chain(target: Load, left: Load, right: Load, start: Load | None = None, length: Index = TWO) -> Store:
    step = Op("fma", "f32", (left, right, Load("sum")))
    return Store(target.buffer, target.index, Fold("k", Range(ZERO, length), start or target, "sum", "f32", step))


def flat(buffer: str, row: str, column: str) -> Load:
    return Load(buffer, (add(mul(TWO, Var(row)), Var(column)),))


REFERENCE = loops(("r", "s"), chain(flat("result", "r", "s"), flat("a", "r", "k"), flat("b", "k", "s"), flat("acc", "r", "s")))
MULTIPLY = Instruction("multiply2", (("own", "m({result}, {a}, {b}, {acc});"),), REFERENCE)
I0, J0, K0 = Var("i0"), Var("j0"), Const(4)


def cell(buffer: str, first: Index, second: Index) -> Load:
    return Load(buffer, (first, second))


def product(left: Load | None = None, right: Load | None = None, target: Load | None = None, start: Load | None = None) -> Block:
    """The product of blocks of x and y into one of t, with one part in another form."""
    at = target or cell("t", add(I0, Var("r")), add(J0, Var("s")))
    factors = (left or cell("x", add(I0, Var("r")), add(K0, Var("k"))), right or cell("y", add(K0, Var("k")), add(J0, Var("s"))))
    return loops(("r", "s"), chain(at, *factors, start))


def test_blocks_of_tiles_and_whole_vectors_are_uses() -> None:
    assert is_use(REFERENCE, MULTIPLY)
    assert is_use(product(), MULTIPLY)
    assert is_use(product(left=cell("x", add(K0, Var("k")), add(I0, Var("r")))), MULTIPLY)
    assert is_use(product(start=cell("u", add(I0, Var("r")), add(J0, Var("s")))), MULTIPLY)


@pytest.mark.parametrize(
    "body",
    [
        product(left=cell("x", add(I0, Var("s")), add(K0, Var("k")))),
        product(left=cell("x", add(I0, Var("r")), K0)),
        product(left=cell("x", add(I0, Var("r"), Var("k")), K0)),
        product(left=cell("x", mul(TWO, Var("r")), Var("k"))),
        product(right=cell("t", add(K0, Var("k")), add(J0, Var("s")))),
        product(start=cell("t", add(I0, Var("r")), add(J0, Var("s"), ONE))),
        product(target=cell("t", I0, add(J0, Var("s")))),
        loops(("r", "s"), chain(cell("t", Var("r"), Var("s")), cell("x", Var("r"), Var("k")), cell("y", Var("k"), Var("s")), length=ONE)),
        loops(("r", "s"), chain(cell("t", Var("r"), Var("s")), cell("x", Var("r"), Var("k")), cell("y", Var("k"), Var("s"))), Const(3)),
        loops(("r",), chain(cell("t", Var("r"), ZERO), cell("x", Var("r"), Var("k")), cell("y", Var("k"), ZERO))),
        Block((*product().body, *product().body)),
        Block(()),
    ],
)
def test_anything_else_is_none(body: Block) -> None:
    assert not is_use(body, MULTIPLY)


def lanes(make: Callable[[Value, Value], Value], width: int = 4, index: Index | None = None) -> Block:
    first, second = Load("v", (Var("m"),)), Load("p", (add(I0, Var("m")),))
    at = (Var("m") if index is None else index,)
    return Block((Store("w", at, make(first, second), Lanes("m", width, Const(width))),))


def scaled(one: Value, other: Value, again: Value) -> Value:
    return Op("add", "f32", (Op("mul", "f32", (one, other)), again))


OWN = scaled(Load("a", (Var("l"),)), Load("b", (Var("l"),)), Load("a", (Var("l"),)))
SQUARE = Instruction("scaled4", (("own", "s({result}, {a}, {b});"),), loops(("l",), Store("result", (Var("l"),), OWN), Const(4)))


def test_lanes_take_any_operand_the_same_one_each_time() -> None:
    assert is_use(lanes(lambda v, p: scaled(v, p, v)), SQUARE)
    assert is_use(lanes(lambda v, p: scaled(Op("neg", "f32", (v,)), p, Op("neg", "f32", (v,)))), SQUARE)
    assert not is_use(lanes(lambda v, p: scaled(v, p, p)), SQUARE)
    assert not is_use(lanes(lambda v, p: Op("add", "f32", (v, Op("mul", "f32", (v, p))))), SQUARE)
    assert not is_use(lanes(lambda v, p: scaled(v, p, v), width=3), SQUARE)
    assert not is_use(lanes(lambda v, p: scaled(v, p, v), index=ZERO), SQUARE)
    assert not is_use(lanes(lambda v, p: scaled(Load("w", (ONE,)), p, Load("w", (ONE,)))), SQUARE)


def program(use: Inlined) -> Program:
    params = [Param(name, "mut", "f32", (Const(8), Const(8))) for name in ("t", "x", "y")]
    return Program("p", (), tuple(params), Block((use,)))


def test_the_kernel_makes_no_goal_about_a_body_that_is_marked_as_what_it_is_not() -> None:
    right = Inlined("multiply2", product(), instruction=MULTIPLY)
    assert {mark.name for mark in reflexivity(program(right)).trust} == {"multiply2"}
    for wrong in (replace(right, body=product(left=cell("x", I0, Var("k")))), replace(right, instruction=replace(MULTIPLY, reference=None))):
        with pytest.raises(RuleError, match="is not its reference body"):
            reflexivity(program(wrong))
