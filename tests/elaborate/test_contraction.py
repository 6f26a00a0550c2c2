"""Contractions against programs written by hand from what the equations say."""

from __future__ import annotations

from cachet_verify.core.ir import Block, Declare, Load, Program, Word
from tests.elaborate.short import MATMUL, fold, load, loop, module, op, plus, program, store

F32_ZERO = Word("f32", 0x80000000)


def body(found: Program) -> Block:
    return found.body


def test_generic_matmul_is_a_fold_in_each_cell() -> None:
    found = program(MATMUL, "matmul")
    step = op("S.mul_add", "S.Value", load("a", "i", "k"), load("b", "k", "j"), Load("acc'0"))
    total = fold("k", "K", op("S.zero", "S.Value"), "acc'0", "S.Value", step)
    assert found.body == Block((loop("i", "M", loop("j", "N", store("c", ("i", "j"), total))),))
    assert found.sizes == ("M", "K", "N")
    assert [(param.name, param.mode, param.elem) for param in found.params] == [
        ("a", "reads", "S.Value"),
        ("b", "reads", "S.Value"),
        ("c", "out", "S.Value"),
    ]
    assert found.generics == (("S", "Semiring"),)


def test_matvec_on_f32_rounds_each_product_once_with_the_total() -> None:
    text = "contraction matvec (reads a: [f32; M, K]) (reads x: [f32; K]) -> out y: [f32; M] =\n  y[i] = sum k. a[i, k] * x[k]\n"
    step = op("fma", "f32", load("a", "i", "k"), load("x", "k"), Load("acc'0"))
    assert program(text, "matvec").body == Block((loop("i", "M", store("y", ("i",), fold("k", "K", F32_ZERO, "acc'0", "f32", step))),))


def test_transposed_operands_keep_their_own_index_order() -> None:
    text = "contraction t (reads a: [f64; K, M]) (reads b: [f64; N, K]) -> out c: [f64; M, N] =\n  c[i, j] = sum k. a[k, i] * b[j, k]\n"
    zero = Word("f64", 0x8000000000000000)
    step = op("fma", "f64", load("a", "k", "i"), load("b", "j", "k"), Load("acc'0"))
    assert program(text, "t").body == Block((loop("i", "M", loop("j", "N", store("c", ("i", "j"), fold("k", "K", zero, "acc'0", "f64", step)))),))
    assert program(text, "t").sizes == ("K", "M", "N")


def test_batched_matmul_has_a_loop_for_the_batch() -> None:
    text = (
        "contraction bmm (reads a: [f32; B, M, K]) (reads b: [f32; B, K, N]) -> out c: [f32; B, M, N] =\n"
        "  c[p, i, j] = sum k. a[p, i, k] * b[p, k, j]\n"
    )
    step = op("fma", "f32", load("a", "p", "i", "k"), load("b", "p", "k", "j"), Load("acc'0"))
    cell = store("c", ("p", "i", "j"), fold("k", "K", F32_ZERO, "acc'0", "f32", step))
    assert program(text, "bmm").body == Block((loop("p", "B", loop("i", "M", loop("j", "N", cell))),))


def test_outer_product_has_no_total() -> None:
    text = "contraction outer (reads x: [f32; M]) (reads y: [f32; N]) -> out c: [f32; M, N] =\n  c[i, j] = x[i] * y[j]\n"
    cell = store("c", ("i", "j"), op("mul", "f32", load("x", "i"), load("y", "j")))
    assert program(text, "outer").body == Block((loop("i", "M", loop("j", "N", cell)),))


def test_convolution_takes_the_range_of_r_from_the_weights() -> None:
    text = "contraction conv (reads x: [f32; N + R]) (reads w: [f32; R]) -> out y: [f32; N] =\n  y[i] = sum r. x[i + r] * w[r]\n"
    found = program(text, "conv")
    step = op("fma", "f32", load("x", plus("i", "r")), load("w", "r"), Load("acc'0"))
    assert found.body == Block((loop("i", "N", store("y", ("i",), fold("r", "R", F32_ZERO, "acc'0", "f32", step))),))
    assert found.params[0].shape == (plus("N", "R"),)
    assert found.sizes == ("N", "R")


def test_one_sum_over_two_indices_is_one_chain() -> None:
    text = (
        "contraction conv2 (reads x: [i32; H + R, W + Q]) (reads w: [i32; R, Q]) -> out y: [i32; H, W] =\n"
        "  y[i, j] = sum (r, q). x[i + r, j + q] * w[r, q]\n"
    )
    step = op("fma", "i32", load("x", plus("i", "r"), plus("j", "q")), load("w", "r", "q"), Load("acc'1"))
    inner = fold("q", "Q", Load("acc'0"), "acc'1", "i32", step)
    total = fold("r", "R", Word("i32", 0), "acc'0", "i32", inner)
    assert program(text, "conv2").body == Block((loop("i", "H", loop("j", "W", store("y", ("i", "j"), total))),))


def test_a_sum_of_sums_has_a_chain_for_each() -> None:
    text = "contraction ss (reads a: [f32; K, L]) -> out y: [f32; 1] =\n  y[i] = sum k. sum l. a[k, l]\n"
    inner = fold("l", "L", F32_ZERO, "acc'0", "f32", op("add", "f32", Load("acc'0"), load("a", "k", "l")))
    update = store("acc'1", (), op("add", "f32", Load("acc'1"), Load("total")))
    expected = loop(
        "i",
        1,
        Declare("acc'1", "f32", init=F32_ZERO, mutable=True),
        loop("k", "K", Declare("total", "f32", init=inner), update),
        store("y", ("i",), Load("acc'1")),
    )
    assert program(text, "ss").body == Block((expected,))


def test_three_factors_multiply_the_first_two_and_add_the_third_with_one_rounding() -> None:
    text = (
        "contraction bilinear (reads x: [f32; M]) (reads a: [f32; M, N]) (reads y: [f32; N]) -> out z: [f32; 1] =\n"
        "  z[p] = sum (i, j). x[i] * a[i, j] * y[j]\n"
    )
    product = op("mul", "f32", load("x", "i"), load("a", "i", "j"))
    step = op("fma", "f32", product, load("y", "j"), Load("acc'1"))
    total = fold("i", "M", F32_ZERO, "acc'0", "f32", fold("j", "N", Load("acc'0"), "acc'1", "f32", step))
    assert program(text, "bilinear").body == Block((loop("p", 1, store("z", ("p",), total)),))


def test_any_other_body_is_added_after_the_total() -> None:
    text = "contraction s {S : Semiring} (reads a: [S.Value; K]) -> out y: [S.Value; 1] =\n  y[i] = sum k. a[k] + a[k]\n"
    term = op("S.add", "S.Value", load("a", "k"), load("a", "k"))
    total = fold("k", "K", op("S.zero", "S.Value"), "acc'0", "S.Value", op("S.add", "S.Value", Load("acc'0"), term))
    assert program(text, "s").body == Block((loop("i", 1, store("y", ("i",), total)),))


def test_an_epilogue_reads_the_total_from_a_local() -> None:
    text = "contraction layer (reads a: [f32; M, K]) (reads x: [f32; K]) -> out y: [f32; M] =\n  y[i] = max (sum k. a[i, k] * x[k]) 0.0\n"
    step = op("fma", "f32", load("a", "i", "k"), load("x", "k"), Load("acc'0"))
    expected = loop(
        "i",
        "M",
        Declare("total", "f32", init=fold("k", "K", F32_ZERO, "acc'0", "f32", step)),
        store("y", ("i",), op("max", "f32", Load("total"), Word("f32", 0))),
    )
    assert program(text, "layer").body == Block((expected,))


def test_an_intermediate_is_computed_where_it_is_used_at_the_indices_given() -> None:
    text = (
        "contraction two (reads q: [f32; M, D]) (reads k: [f32; D, N]) -> out y: [f32; N, M] =\n"
        "  s[i, j] = sum d. q[i, d] * k[d, j]\n"
        "  y[p, i] = -s[i, p]\n"
    )
    step = op("fma", "f32", load("q", "i", "d"), load("k", "d", "p"), Load("acc'0"))
    expected = loop(
        "p",
        "N",
        loop(
            "i",
            "M",
            Declare("s", "f32", init=fold("d", "D", F32_ZERO, "acc'0", "f32", step)),
            store("y", ("p", "i"), op("neg", "f32", Load("s"))),
        ),
    )
    assert program(text, "two").body == Block((expected,))


def test_a_sum_over_an_intermediate_takes_its_extent_from_the_operands_of_its_equation() -> None:
    text = (
        "contraction chain (reads a: [i32; M, K]) (reads b: [i32; K, L]) (reads c: [i32; L, N]) -> out y: [i32; M, N] =\n"
        "  t[i, l] = sum k. a[i, k] * b[k, l]\n"
        "  y[i, j] = sum l. t[i, l] * c[l, j]\n"
    )
    inner = fold("k", "K", Word("i32", 0), "acc'0", "i32", op("fma", "i32", load("a", "i", "k"), load("b", "k", "l"), Load("acc'0")))
    update = store("acc'1", (), op("fma", "i32", Load("t"), load("c", "l", "j"), Load("acc'1")))
    nest = (
        Declare("acc'1", "i32", init=Word("i32", 0), mutable=True),
        loop("l", "L", Declare("t", "i32", init=inner), update),
        store("y", ("i", "j"), Load("acc'1")),
    )
    assert program(text, "chain").body == Block((loop("i", "M", loop("j", "N", *nest)),))


def test_a_constant_is_a_number_and_no_size() -> None:
    text = "const T : Nat = 2 * 8\ncontraction f (reads a: [f32; M, T]) -> out y: [f32; M] =\n  y[i] = sum t. a[i, t]\n"
    found = program(text, "f")
    total = fold("t", 16, F32_ZERO, "acc'0", "f32", op("add", "f32", Load("acc'0"), load("a", "i", "t")))
    assert found.sizes == ("M",)
    assert found.body == Block((loop("i", "M", store("y", ("i",), total)),))


def test_names_that_clash_get_numbers() -> None:
    text = "contraction f (reads a: [f32; k, k]) -> out i: [f32; k] =\n  i[j] = sum k. a[j, k]\n"
    total = fold("k'1", "k", F32_ZERO, "acc'0", "f32", op("add", "f32", Load("acc'0"), load("a", "j", "k'1")))
    assert program(text, "f").body == Block((loop("j", "k", store("i", ("j",), total)),))


def test_constructs_without_a_meaning_yet_are_marked_and_no_fault() -> None:
    text = "contraction r (reads a: [f32; K]) -> out y: [f32; 1] =\n  y[i] = descriptor (a[i])\n"
    found = module(text)
    assert [item.construct for item in found.programs["r"].unsupported] == ["`descriptor`"]
    assert found.programs["r"].program is None
