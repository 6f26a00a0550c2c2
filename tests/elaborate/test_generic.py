"""Instances of generic programs, at each semiring that is shipped."""

from __future__ import annotations

import pytest

from cachet_verify.core.ir import Fold, For, Load, Op, Program, Store, Value, Word
from tests.elaborate.short import MATMUL, load, module, op

INFINITY, NEGATIVE_INFINITY = Word("f32", 0x7F800000), Word("f32", 0xFF800000)
A, B, ACC = load("a", "i", "k"), load("b", "k", "j"), Load("acc'0")

INSTANCES = [
    ("PlusTimes f32", "matmul_PlusTimes_f32", Word("f32", 0x80000000), op("fma", "f32", A, B, ACC)),
    ("PlusTimes f64", "matmul_PlusTimes_f64", Word("f64", 0x8000000000000000), op("fma", "f64", A, B, ACC)),
    ("PlusTimes f16", "matmul_PlusTimes_f16", Word("f16", 0x8000), op("fma", "f16", A, B, ACC)),
    ("PlusTimes bf16", "matmul_PlusTimes_bf16", Word("bf16", 0x8000), op("fma", "bf16", A, B, ACC)),
    ("PlusTimes i8", "matmul_PlusTimes_i8", Word("i8", 0), op("fma", "i8", A, B, ACC)),
    ("PlusTimes u32", "matmul_PlusTimes_u32", Word("u32", 0), op("fma", "u32", A, B, ACC)),
    ("MinPlus f32", "matmul_MinPlus_f32", INFINITY, op("min", "f32", ACC, op("add", "f32", A, B))),
    ("MaxPlus f32", "matmul_MaxPlus_f32", NEGATIVE_INFINITY, op("max", "f32", ACC, op("add", "f32", A, B))),
    ("Boolean", "matmul_Boolean", Word("bool", 0), op("or_", "bool", ACC, op("and_", "bool", A, B))),
]


def total(found: Program) -> Fold:
    outer = found.body.body[0]
    assert isinstance(outer, For)
    inner = outer.body.body[0]
    assert isinstance(inner, For)
    cell = inner.body.body[0]
    assert isinstance(cell, Store)
    assert isinstance(cell.value, Fold)
    return cell.value


@pytest.mark.parametrize(("words", "name", "zero", "step"), INSTANCES)
def test_an_instance_computes_with_the_functions_of_its_implementation(words: str, name: str, zero: Value, step: Op) -> None:
    item = module(f"{MATMUL}schedule s of matmul @(S = {words}) =\n  zero (i, j) c\n").schedules["s"]
    found = item.program
    assert found is not None
    assert found.name == name
    assert found.generics == ()
    assert {param.elem for param in found.params} == {step.elem}
    assert (total(found).init, total(found).step, total(found).elem) == (zero, step, step.elem)
    assert item.bindings == {"S": words}


def test_a_schedule_without_binding_keeps_the_program_generic() -> None:
    item = module(f"{MATMUL}schedule s of matmul\n    (mut p: [S.Value; 16, K]) =\n  zero (i, j) c\n").schedules["s"]
    assert item.program is not None
    assert item.program.name == "matmul"
    assert [(param.elem, param.scratch) for param in item.buffers] == [("S.Value", True)]


def test_a_schedules_buffers_take_the_bound_element_type() -> None:
    item = module(f"{MATMUL}schedule s of matmul @(S = MinPlus f64)\n    (mut p: [S.Value; M, 4]) =\n  zero (i, j) c\n").schedules["s"]
    assert [param.elem for param in item.buffers] == ["f64"]
    assert [(argument.name, argument.mode, argument.elem) for argument in item.arguments] == [
        ("a", "reads", "f64"),
        ("b", "reads", "f64"),
        ("c", "out", "f64"),
        ("p", "mut", "f64"),
    ]


def test_a_semiring_of_ones_own() -> None:
    text = (
        "fn first (a: f32) (b: f32) -> f32 = max a (min a b)\n"
        "impl Semiring for Odd f32 where\n  const Value = f32\n  fn zero () = 3.0\n  fn one () = 1.0\n  fn add a b = first b a\n"
        "  fn mul a b = a - b\n  fn mul_add a b acc =\n    let p = a * b\n    first p acc\n"
    )
    item = module(f"{text}{MATMUL}schedule s of matmul @(S = Odd f32) =\n  zero (i, j) c\n").schedules["s"]
    assert item.program is not None
    product = op("mul", "f32", A, B)
    assert total(item.program).step == op("max", "f32", product, op("min", "f32", product, ACC))
    assert total(item.program).init == Word("f32", 0x40400000)


def test_an_implementation_said_again_is_harmless_and_another_one_is_not() -> None:
    same = (
        "impl Semiring for PlusTimes f32 where\n  const Value = f32\n  fn zero () = -0.0\n  fn one () = 1.0\n  fn add a b = a + b\n"
        "  fn mul a b = a * b\n  fn mul_add a b acc = fma a b acc\n  law add associative over reals\n"
    )
    assert [law.text for law in module(same).laws] == ["PlusTimes f32: add associative over reals"]
