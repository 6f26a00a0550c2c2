"""The interpreter on hand-computed programs: loops, blocks, folds, lanes, names, printing, arithmetic."""

from __future__ import annotations

from random import Random

import pytest

from cachet_verify.core.algebra import TermAlgebra, WordAlgebra
from cachet_verify.core.index import Const, Formula, Index, Var, conj, div, eq, le, lt, minimum, mod, ne, neg, sub
from cachet_verify.core.index import add as plus
from cachet_verify.core.index import mul as times
from cachet_verify.core.ir import (
    Axis,
    Block,
    Blocks,
    Choose,
    Declare,
    Fold,
    Grid,
    Inlined,
    Lanes,
    Lease,
    Load,
    OfIndex,
    Op,
    Print,
    Program,
    Range,
    Slice,
    Store,
    View,
    Window,
)
from cachet_verify.core.meaning import Cells, Executable, run
from cachet_verify.core.word import FLUSH, text_of_word, word_of_float
from cachet_verify.replay.instance import min_plus, plus_times
from tests.core.fault_case import chain_dot
from tests.core.nest import add, block, blocks, fma, generic_matmul, guard, lit, load, loop, matmul, mul, param, program, store, var, words
from tests.oracle import hardware


def texts(cells: Cells, elem: str) -> list[str]:
    return ["?" if word is None else text_of_word(word, elem) for word in cells]


def ints(*values: int) -> Cells:
    return [value & 0xFFFFFFFF for value in values]


def test_a_product_of_two_matrices() -> None:
    # [1 2; 3 4] * [5 6; 7 8] = [19 22; 43 50]
    a, b = words("f32", "1", "2", "3", "4"), words("f32", "5", "6", "7", "8")
    c: Cells = [None] * 4
    run(matmul(), {"M": 2, "K": 2, "N": 2}, {"a": a, "b": b, "c": c})
    assert texts(c, "f32") == ["19.0", "22.0", "43.0", "50.0"]


def test_without_products_a_sum_is_its_zero_with_its_sign() -> None:
    c: Cells = [None] * 6
    run(matmul(), {"M": 2, "K": 0, "N": 3}, {"a": [], "b": [], "c": c})
    assert c == [0x80000000] * 6


def test_zero_sizes_store_nothing() -> None:
    run(matmul(), {"M": 0, "K": 2, "N": 3}, {"a": [], "b": words("f32", *"123456"), "c": []})
    executable = Executable(matmul())
    executable.run({"M": 3, "K": 5, "N": 0}, {"a": words("f32", *"1" * 15), "b": [], "c": []})
    assert executable.executed == 3  # the iterations over i


def test_the_multiply_add_rounds_once() -> None:
    # (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24 exactly; a rounded product would give 0.
    near, minus = word_of_float(1 + 2**-12, "f32"), word_of_float(-(1 + 2**-11), "f32")
    params = (param("a", "reads", "f32"), param("c", "reads", "f32"), param("y", "out", "f32", 2))
    both = program(
        "both",
        "",
        params,
        store("y", (0,), fma(load("a"), load("a"), load("c"))),
        store("y", (1,), add(mul(load("a"), load("a")), load("c"))),
    )
    y: Cells = [None, None]
    run(both, {}, {"a": [near], "c": [minus], "y": y})
    assert y == [word_of_float(2**-24, "f32"), 0]


@pytest.mark.parametrize("elem", ["f32", "f64"])
def test_products_of_matrices_are_chains_of_hardware_fma(elem: str) -> None:
    rng, width = Random(5), {"f32": 32, "f64": 64}[elem]
    one = word_of_float(1.0, elem)
    bits = {"f32": 23, "f64": 52}[elem]

    def word() -> int:
        return rng.getrandbits(1) << (width - 1) | (one + (rng.randrange(-6, 7) << bits)) | rng.getrandbits(bits)

    for m, k, n in [(1, 1, 1), (2, 0, 2), (3, 17, 2), (4, 40, 3)]:
        a, b = [word() for _ in range(m * k)], [word() for _ in range(k * n)]
        c: Cells = [None] * (m * n)
        run(matmul(elem), {"M": m, "K": k, "N": n}, {"a": list(a), "b": list(b), "c": c})
        assert c == [hardware.chain(elem, a[i * k : i * k + k], b[j::n]) for i in range(m) for j in range(n)]


def test_flushing_arithmetic() -> None:
    # 2^-100 * 2^-40 underflows to the subnormal 2^-140, which is kept or flushed; the sign stays.
    small = {"a": word_of_float(-(2.0**-100), "f32"), "b": word_of_float(2.0**-40, "f32")}
    kept: Cells = [None]
    run(chain_dot(), {"K": 1}, {"a": [small["a"]], "b": [small["b"]], "s": kept})
    assert kept == [1 << 31 | 1 << 9]  # 2^-140 = 2^9 * 2^-149
    flushed: Cells = [None]
    run(chain_dot(), {"K": 1}, {"a": [small["a"]], "b": [small["b"]], "s": flushed}, FLUSH)
    assert flushed == [1 << 31]


def test_a_shortest_path_in_a_ring() -> None:
    """Edges 0 -> 1 of length 1, 1 -> 2 of length 2, 2 -> 3 of length 4, 3 -> 0 of length 8."""
    far = "inf"
    d = words("f32", "0", "1", far, far, far, "0", "2", far, far, far, "0", "4", "8", far, far, "0")
    e: Cells = [None] * 16
    algebra = WordAlgebra(instances={"S": min_plus("f32")})
    Executable(generic_matmul(), algebra).run({"M": 4, "K": 4, "N": 4}, {"a": list(d), "b": list(d), "c": e})
    assert texts(e, "f32")[2] == "3.0"
    assert texts(e, "f32") == ["0.0", "1.0", "3.0", "inf", "inf", "0.0", "2.0", "6.0", "12.0", "inf", "0.0", "4.0", "8.0", "9.0", "inf", "0.0"]


def test_a_generic_program_at_plus_times_is_the_concrete_one() -> None:
    a, b = words("f64", "0.1", "0.7", "-3"), words("f64", "1e17", "0.3", "11")
    generic: Cells = [None]
    concrete: Cells = [None]
    sizes = {"M": 1, "K": 3, "N": 1}
    algebra = WordAlgebra(instances={"S": plus_times("f64", "-0.0")})
    Executable(generic_matmul(), algebra).run(sizes, {"a": list(a), "b": list(b), "c": generic})
    run(matmul("f64"), sizes, {"a": list(a), "b": list(b), "c": concrete})
    assert generic == concrete == [hardware.chain("f64", [w for w in a if w is not None], [w for w in b if w is not None])]


def test_blocks_end_with_a_shorter_one() -> None:
    """40 indices in blocks of 16: 16, 16 and 8 of them, from 0, 16 and 32."""
    trace = program(
        "trace",
        "K",
        (param("out", "out", "i32", 3, 3),),
        blocks(
            "g",
            0,
            "K",
            16,
            store("out", ("g", 0), OfIndex("i32", Var("g"))),
            store("out", ("g", 1), OfIndex("i32", Var("g.lo"))),
            store("out", ("g", 2), OfIndex("i32", Var("g.len"))),
        ),
    )
    out: Cells = [None] * 9
    run(trace, {"K": 40}, {"out": out})
    assert out == ints(0, 0, 16, 1, 16, 16, 2, 32, 8)
    exact: Cells = [None] * 9
    run(trace, {"K": 32}, {"out": exact})
    assert exact == [*ints(0, 0, 16, 1, 16, 16), None, None, None]


def test_a_fold_over_blocks_and_a_fold_in_a_fold() -> None:
    """Each block adds its length and its first index: 0 + 3 + 3 + 3 + 6 + 1 = 16; then the sum of i * j over a triangle."""
    step = add(load("n"), add(OfIndex("i32", Var("g.lo")), OfIndex("i32", Var("g.len")), "i32"), "i32")
    total = Fold("g", Blocks(Const(0), Var("K"), Const(3)), lit("0", "i32"), "n", "i32", step)
    inner = Fold("j", Range(Const(0), Var("i")), Load("p"), "q", "i32", add(Load("q"), OfIndex("i32", times(Var("i"), Var("j"))), "i32"))
    outer = Fold("i", Range(Const(0), Const(4)), lit("0", "i32"), "p", "i32", inner)
    both = program("both", "K", (param("out", "out", "i32", 2),), store("out", (0,), total), store("out", (1,), outer))
    out: Cells = [None, None]
    run(both, {"K": 7}, {"out": out})
    assert out == ints(3 + 6 + 7, 2 * 1 + 3 * 1 + 3 * 2)


def test_integers_in_indices_floor() -> None:
    terms: list[Index] = [
        div(Var("x"), Const(-4)),
        mod(Var("x"), Const(-4)),
        div(sub(Const(0), Var("x")), Const(4)),
        mod(sub(Const(0), Var("x")), Const(4)),
        minimum(Var("x"), Const(3)),
        plus(Var("x"), Var("x"), Const(5)),
    ]
    body = [store("out", (place,), OfIndex("i32", value)) for place, value in enumerate(terms)]
    out: Cells = [None] * 6
    run(program("terms", "x", (param("out", "out", "i32", 6),), *body), {"x": 7}, {"out": out})
    assert out == ints(-2, -1, -2, 1, 3, 19)


@pytest.mark.parametrize(
    ("condition", "chosen"),
    [
        (lt(Var("x"), Const(8)), True),
        (lt(Var("x"), Const(7)), False),
        (le(Var("x"), Const(7)), True),
        (eq(Var("x"), Const(7)), True),
        (ne(Var("x"), Const(7)), False),
        (neg(conj((lt(Var("x"), Const(9)), lt(Const(3), Var("x"))))), False),
        (conj((lt(Var("x"), Const(9)), lt(Const(3), Var("x")))), True),
    ],
)
def test_conditions(condition: Formula, chosen: bool) -> None:
    """As a choice of values and as a guard of statements; what is not chosen is not evaluated."""
    yes, no = (lit("1", "i32"), load("out", 99)) if chosen else (load("out", 99), lit("0", "i32"))
    one, two = store("out", (1,), lit("1", "i32")), store("out", (1,), lit("0", "i32"))
    both = program(
        "both", "x", (param("out", "out", "i32", 2),), store("out", (0,), Choose(condition, yes, no)), guard(condition, one, orelse=(two,))
    )
    out: Cells = [None, None]
    run(both, {"x": 7}, {"out": out})
    assert out == [int(chosen)] * 2


def lanes(active: Index | int, width: int = 4) -> Lanes:
    return Lanes("l", width, Const(active) if isinstance(active, int) else active)


def test_lanes_read_before_they_write() -> None:
    """Shifting three cells up by one: in a loop the first word would run through."""
    moved = Store("a", (plus(Var("l"), Const(1)),), load("a", "l"), lanes(3))
    shift = program("shift", "", (param("a", "mut", "i32", 4),), moved)
    a = ints(1, 2, 3, 4)
    run(shift, {}, {"a": a})
    assert a == ints(1, 1, 2, 3)


def test_idle_lanes_touch_nothing() -> None:
    masked = Store("a", (Var("l"),), load("b", "l"), lanes(Var("N")))
    copy = program("copy", "N", (param("b", "reads", "i32", "N"), param("a", "mut", "i32", 4)), masked)
    for n in (0, 1, 3, 4):
        a = ints(9, 9, 9, 9)
        run(copy, {"N": n}, {"b": ints(*range(1, n + 1)), "a": a})
        assert a == ints(*range(1, n + 1), *[9] * (4 - n))


def test_vectors_of_an_array() -> None:
    """Two rows of four lanes; `v` fills two lanes, the array all of them, with one word."""
    body = (
        Declare("rows", "i32", (Const(2),), 4, init=lit("7", "i32"), mutable=True),
        Declare("v", "i32", (), 4, init=load("b", "l"), lanes=lanes(2)),
        Store("rows", (Const(1), Var("m")), load("v", "m"), Lanes("m", 4, Const(2))),
        loop("i", 0, 2, Store("out", (Var("i"), Var("n")), load("rows", "i", "n"), Lanes("n", 4, Const(4)))),
    )
    rows = program("rows", "", (param("b", "reads", "i32", 2), param("out", "out", "i32", 2, 4)), *body)
    out: Cells = [None] * 8
    run(rows, {}, {"b": ints(1, 2), "out": out})
    assert out == ints(7, 7, 7, 7, 1, 2, 7, 7)


def test_a_local_is_new_in_each_iteration() -> None:
    body = loop("i", 0, 2, var("t", "i32", lit("0", "i32")), store("t", (), add(load("t"), lit("1", "i32"), "i32")), store("out", ("i",), load("t")))
    out: Cells = [None, None]
    run(program("fresh", "", (param("out", "out", "i32", 2),), body), {}, {"out": out})
    assert out == ints(1, 1)


def test_names_of_parts_of_a_buffer() -> None:
    """The diagonal of a 3 x 3 matrix from (1, 1) on, through a lease, then backwards through a view of the view."""
    body = (
        Lease("kept", "m", "L2", True),
        View("diagonal", ("d",), "kept", (plus(Var("d"), Const(1)), plus(Var("d"), Const(1))), (Const(2),)),
        View("reversed", ("r",), "diagonal", (sub(Const(1), Var("r")),)),
        store("reversed", (0,), lit("5", "i32")),
        store("diagonal", (0,), load("reversed", 0)),
        store("kept", (0, 2), load("diagonal", 0)),
    )
    m = ints(*[0] * 9)
    run(program("parts", "", (param("m", "mut", "i32", 3, 3),), *body), {}, {"m": m})
    assert m == ints(0, 0, 5, 0, 5, 0, 0, 0, 5)


def rows_grid(body_row: Index | str = "i") -> Program:
    """Each iteration of a grid fills its own row through an alias of its window."""
    window = Window("m", (Var("i"), Slice(Const(1), Var("N"))), "row")
    fill = loop("j", 0, sub(Var("N"), Const(1)), store("row", ("j",), OfIndex("i32", plus(times(Const(10), Var("i")), Var("j")))))
    grid = Grid((Axis("i", Const(0), Var("M")),), Block((fill,)), (window,))
    return program("rows", "M N", (param("m", "mut", "i32", "M", "N"),), grid)


def test_grids_in_order_and_shuffled() -> None:
    expected = ints(0, 0, 1, 0, 10, 11, 0, 20, 21)
    for shuffle in (None, Random(1), Random(2)):
        m = ints(*[0] * 9)
        Executable(rows_grid()).run({"M": 3, "N": 3}, {"m": m}, shuffle=shuffle)
        assert m == expected


def test_grids_of_two_axes_whose_second_depends_on_the_first() -> None:
    cell = store("m", ("i", "j"), lit("1", "i32"))
    grid = Grid((Axis("i", Const(0), Const(3)), Axis("j", Const(0), plus(Var("i"), Const(1)))), block(cell))
    m = ints(*[0] * 9)
    Executable(program("triangle", "", (param("m", "mut", "i32", 3, 3),), grid)).run({}, {"m": m}, shuffle=Random(3))
    assert m == ints(1, 0, 0, 1, 1, 0, 1, 1, 1)


def test_printing() -> None:
    body = (
        Print(fma(lit("2"), lit("3"), lit("-0.0"))),
        Print(load("flags", 1)),
        Inlined("f x", block(Print(Choose(lt(Var("n"), Const(3)), load("x"), lit("9"))))),
        Print(Op("lt f32", "bool", (lit("1"), lit("2")))),
    )
    lines: list[str] = []
    shown = program("shown", "n", (param("flags", "reads", "bool", 2), param("x", "reads", "f64")), *body)
    run(shown, {"n": 2}, {"flags": [0, 1], "x": words("f64", "1.751874327659607")}, on_print=lines.append)
    assert lines == ["6.0", "true", "1.751874327659607", "true"]


def test_the_arithmetic_that_a_program_names() -> None:
    source = chain_dot()
    named = Program(source.name, source.sizes, source.params, source.body, arithmetic=FLUSH)
    total: Cells = [None]
    run(named, {"K": 1}, {"a": words("f32", "1e-30"), "b": words("f32", "1e-10"), "s": total})
    assert total == [0]


def test_terms_tell_the_order_of_a_chain() -> None:
    """a0 b0 + a1 b1, ascending from -0.0 and descending."""
    terms = TermAlgebra()
    ascending, descending = chain_dot(), chain_dot()
    turned = sub(sub(Var("K"), Const(1)), Var("k"))
    step = fma(load("a", turned), load("b", turned), load("acc"))
    total = Fold("k", Range(Const(0), Var("K")), lit("-0.0"), "acc", "f32", step)
    descending = Program("down", ("K",), ascending.params, Block((store("s", (), total),)))
    results: dict[tuple[str, int], int | None] = {}
    for side in (ascending, descending):
        for size in (0, 1, 2):
            cells: dict[str, Cells] = {name: [terms.cell(name, place) for place in range(size)] for name in "ab"}
            cells["s"] = [None]
            Executable(side, terms).run({"K": size}, cells)
            results[side.name, size] = cells["s"][0]
    assert results["chain_dot", 0] == results["down", 0]
    assert results["chain_dot", 1] == results["down", 1]
    up, down = results["chain_dot", 2], results["down", 2]
    assert up is not None
    assert down is not None
    assert up != down
    assert terms.text(up, "f32") == "fma(a[1], b[1], fma(a[0], b[0], -0.0))"
    assert terms.text(down, "f32") == "fma(a[0], b[0], fma(a[1], b[1], -0.0))"
    assert set(terms.leaves(up)) == {("a", 0), ("a", 1), ("b", 0), ("b", 1)}
