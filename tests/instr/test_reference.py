"""Reference bodies: what blocks multiply, what is refused of a declaration, and what a use requires."""

from __future__ import annotations

from fractions import Fraction

import pytest

from cachet_verify.core.element import ELEMENTS
from cachet_verify.core.ir import uses
from cachet_verify.core.meaning import run
from cachet_verify.elaborate.lift import lift
from cachet_verify.elaborate.reference import block_shape
from cachet_verify.kernel.claim import Same
from cachet_verify.kernel.normal import same_families
from cachet_verify.syntax.print import print_declaration
from tests.elaborate.short import faults, messages, program


@pytest.mark.parametrize(
    ("widths", "shape"),
    [
        ((64, 64, 64), (8, 8, 8)),
        ((32, 32, 64), (8, 8, 4)),
        ((128, 64, 128), (16, 8, 8)),
        ((256, 128, 128), (16, 8, 16)),
        ((6, 12, 8), (2, 4, 3)),
        ((1, 1, 1), (1, 1, 1)),
        ((64, 60, 64), None),
        ((2, 2, 2), None),
        ((3, 5, 7), None),
    ],
)
def test_rows_columns_and_depth_of_blocks(widths: tuple[int, int, int], shape: tuple[int, int, int] | None) -> None:
    if shape is not None:
        rows, columns, depth = shape
        assert (rows * depth, depth * columns, rows * columns) == widths
    assert block_shape(widths) == shape


def bits(value: int) -> int:
    """A small integer as a word of f64, by hand."""
    if value == 0:
        return 0
    exponent = abs(value).bit_length() - 1
    fraction = int((Fraction(abs(value), 2**exponent) - 1) * 2**52)
    return (int(value < 0) << 63) | ((exponent + 1023) << 52) | fraction


def test_a_block_is_rows_by_depth_times_depth_by_columns() -> None:
    """2 x 3 by 3 x 4, in integers that f64 holds exactly."""
    text = 'instr fn small (a: Vec f64 6) (b: Vec f64 12) (acc: Vec f64 8) -> Vec f64 8 =\n  mma_block a b acc\n  by_target own\n    "{result}"\n'
    a, b, acc = [1, -2, 3, 4, 5, -6], [7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9], [10, 20, 30, 40, 50, 60, 70, 80]
    want = [acc[4 * r + s] + sum(a[3 * r + k] * b[4 * k + s] for k in range(3)) for r in range(2) for s in range(4)]
    cells = {"a": list(map(bits, a)), "b": list(map(bits, b)), "acc": list(map(bits, acc)), "result": [None] * 8}
    run(program(text, "small"), {}, cells)
    assert cells["result"] == list(map(bits, want))


def test_a_chain_is_ascending_from_the_total() -> None:
    """(2^24 + 1) - 2^24 is 0 from the left in f32, and 1 from the right: a tie goes to the even neighbour."""
    text = 'instr fn dot (a: Vec f32 3) (b: Vec f32 3) (acc: Vec f32 1) -> Vec f32 1 =\n  mma_block a b acc\n  by_target own\n    "{result}"\n'
    big, one = 0x4B800000, 0x3F800000
    minus = big | 1 << 31
    cells = {"a": [big, one, minus], "b": [one] * 3, "acc": [0], "result": [None]}
    run(program(text, "dot"), {}, cells)
    assert cells["result"] == [0]
    cells = {"a": [big, minus, one], "b": [one] * 3, "acc": [0], "result": [None]}
    run(program(text, "dot"), {}, cells)
    assert cells["result"] == [one]
    assert ELEMENTS["f32"].width == 32


HEAD = "instr fn f (a: Vec f32 4) (b: Vec f32 4) (acc: Vec f32 4) -> Vec f32 4 =\n"
TAIL = '\n  by_target own\n    "{result} {a}"\n'


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (HEAD.replace("b: Vec f32 4", "b: Vec f32 3") + "  mma_block a b acc" + TAIL, "elaborate.instruction.block"),
        (HEAD + "  mma_block a b (a + acc)" + TAIL, "elaborate.instruction.block"),
        (HEAD + "  mma_block a b" + TAIL, "elaborate.instruction.block"),
        (HEAD.replace("b: Vec f32 4", "b: Vec f64 4") + "  mma_block a b acc" + TAIL, "elaborate.type.mismatch"),
        (HEAD + "  fma a b acc" + TAIL.replace("{a}", "{c}"), "elaborate.instruction.template"),
        (HEAD + "  fma a b acc" + TAIL + TAIL[1:], "elaborate.instruction.template"),
        (HEAD + "  fma a b c" + TAIL, "elaborate.name.unknown"),
        (HEAD.replace("(b: Vec f32 4)", "(a: Vec f32 4)") + "  fma a a acc" + TAIL, "elaborate.name.duplicate"),
        (HEAD.replace("b: Vec f32 4", "result: Vec f32 4") + "  fma a result acc" + TAIL, "elaborate.name.duplicate"),
        (HEAD.replace(" (b: Vec f32 4)", " b") + "  fma a b acc" + TAIL, "elaborate.type.unknown"),
        (HEAD + "  fma a b" + TAIL, "elaborate.call.arity"),
    ],
)
def test_what_is_wrong_with_a_declaration(text: str, code: str) -> None:
    assert [found for found, _ in faults(text)] == [code]


USED = HEAD + "  fma a b acc" + TAIL + "fn g (reads x: [f32; 4]) (mut y: [f32; 4]) =\n  let v: Vec f32 4 = load x[0 .. 4]\n"


@pytest.mark.parametrize(
    ("use", "code"),
    [
        ("f v v", "elaborate.call.arity"),
        ("mma v v v", "elaborate.name.kind"),
        ("mma_block v v v", "elaborate.name.kind"),
    ],
)
def test_what_is_wrong_with_a_use(use: str, code: str) -> None:
    assert [found for found, _ in faults(f"{USED}  store y[0 .. 4] = {use}\n")] == [code]


def test_a_product_of_vectors_takes_whole_vectors() -> None:
    text = USED.replace("fma a b acc", "mma_block a b acc") + "  for n in 0 .. 4 do\n    store y[0 .. n] = f v v v\n"
    (message,) = messages(text)
    assert "whole vectors" in message


LISTED = {
    "let r: Vec f32 4 = f v w v\n  store y[0 .. 4] = r": "let r: Vec f32 4 = f v w v",
    "let r: Vec f32 4 = f v (v + w) (splat 1.0)\n  store y[0 .. 4] = r": "let r: Vec f32 4 = f v (v + w) (splat 1.0)",
    "store y[0 .. 4] = v + f v w v": "var f_result: Vec f32 4 = f v w v",
    "store y[0 .. n] = f v w v": "= fma v w v",
}


@pytest.mark.parametrize("use", LISTED)
def test_a_use_is_listed_as_one_and_reads_back_as_the_same_program(use: str) -> None:
    """Where only some lanes are in use, what is shown is what is computed."""
    head = "fn g (reads x: [f32; 4]) (mut y: [f32; 4]) (n: Nat)\nrequires n <= 4\n=\n"
    head += "  let v: Vec f32 4 = load x[0 .. 4]\n  let w: Vec f32 4 = load y[0 .. 4]\n"
    instruction = HEAD + "  fma a b acc" + TAIL
    made = program(f"{instruction}{head}  {use}\n", "g")
    text = print_declaration(lift(made))
    assert LISTED[use] in text
    again = program(f"{instruction}{text}", "g")
    if "n]" not in use:
        assert [used.instruction for used in uses(again.body)] == [used.instruction for used in uses(made.body)]
    assert same_families(made, again).statement == Same(made, again)
