"""Functions against programs written by hand: loops, blocks, locals, vectors, grids, guards."""

from __future__ import annotations

from cachet_verify.core.index import Const, Div, Mod, Var, conj, eq, le, lt, mul
from cachet_verify.core.ir import (
    Axis,
    Block,
    Blocks,
    Choose,
    Declare,
    For,
    Grid,
    If,
    Lanes,
    Lease,
    Load,
    OfIndex,
    Require,
    Slice,
    Store,
    View,
    Window,
    Word,
)
from tests.elaborate.short import fold, load, loop, module, op, plus, program, store, term

HEAD = "fn f (reads a: [f32; M, K]) (mut c: [f32; M]) (mut p: [f32; 16, 8]) =\n"


def body(text: str) -> tuple[object, ...]:
    return program(HEAD + text, "f").body.body


def test_nested_blocks_index_through_both() -> None:
    found = body(
        "  for g in blocks (0 .. M) 16 do\n    for u in blocks (0 .. g.len) 4 do\n      for i in 0 .. u.len do\n        store c[g[u[i]]] = 0.0\n"
    )
    inner = loop("i", "u.len", store("c", (plus("g.lo", "u.lo", "i"),), Word("f32", 0)))
    middle = For("u", Blocks(Const(0), Var("g.len"), Const(4)), Block((inner,)))
    assert found == (For("g", Blocks(Const(0), Var("M"), Const(16)), Block((middle,))),)


def test_counters_that_repeat_get_numbers() -> None:
    found = body("  for i in 0 .. M do\n    store c[i] = 0.0\n  for i in 0 .. M do\n    store c[i] = 1.0\n")
    one = Word("f32", 0x3F800000)
    assert found == (loop("i", "M", store("c", ("i",), Word("f32", 0))), loop("i'1", "M", store("c", ("i'1",), one)))


def test_a_variable_is_declared_then_assigned() -> None:
    found = body("  var t: f32 = -0.0\n  for k in 0 .. K do\n    t = t + load a[0, k]\n  store c[0] = t\n")
    assert found == (
        Declare("t", "f32", init=Word("f32", 0x80000000), mutable=True),
        loop("k", "K", store("t", (), op("add", "f32", Load("t"), load("a", 0, "k")))),
        store("c", (0,), Load("t")),
    )


def test_a_fold_in_a_store_and_one_in_an_operand() -> None:
    text = "fold k in 0 .. K from -0.0 as acc: f32 do fma (load a[0, k]) (load a[0, k]) acc"
    found = body(f"  store c[0] = {text}\n  store c[1] = max ({text}) 0.0\n")
    zero = Word("f32", 0x80000000)

    def total(counter: str, acc: str) -> object:
        return fold(counter, "K", zero, acc, "f32", op("fma", "f32", load("a", 0, counter), load("a", 0, counter), Load(acc)))

    assert found == (
        store("c", (0,), total("k", "acc")),  # type: ignore[arg-type]
        Declare("total", "f32", init=total("k'1", "acc'1")),  # type: ignore[arg-type]
        store("c", (1,), op("max", "f32", Load("total"), Word("f32", 0))),
    )


def test_a_slice_shorter_than_the_vector_is_a_mask() -> None:
    found = body(
        "  for g in blocks (0 .. M) 8 do\n    let v: Vec f32 8 = load c[g.lo .. g.lo + g.len]\n    store c[g.lo .. g.lo + g.len] = fma v v v\n"
    )
    lane, other = "lane", "lane'1"
    inner = (
        Declare("v", "f32", (), 8, load("c", plus("g.lo", lane)), False, Lanes(lane, 8, Var("g.len"))),
        Store(
            "c",
            (plus("g.lo", other),),
            op("fma", "f32", load("v", other), load("v", other), load("v", other)),
            Lanes(other, 8, Var("g.len")),
        ),
    )
    assert found == (For("g", Blocks(Const(0), Var("M"), Const(8)), Block(inner)),)


def test_arithmetic_between_vectors_computes_every_lane() -> None:
    found = body("  var t: [Vec f32 8; 4]\n  let row: Vec f32 8 = splat (load c[0])\n  t[1] = fma row row t[1]\n")
    assert found[1] == Declare("row", "f32", (), 8, load("c", 0), False, Lanes("lane", 8, Const(8)))
    fused = op("fma", "f32", load("row", "lane'1"), load("row", "lane'1"), load("t", 1, "lane'1"))
    assert found[2] == Store("t", (Const(1), Var("lane'1")), fused, Lanes("lane'1", 8, Const(8)))


def test_a_slice_longer_than_the_vector_must_be_disproved() -> None:
    item = module(HEAD + "  let v: Vec f32 8 = load c[0 .. M]\n").programs["f"]
    assert [(condition.goal, condition.text) for condition in item.conditions] == [(le(Var("M"), Const(8)), "`M` words fit 8 lanes")]


def test_guards_and_choices_are_on_integers() -> None:
    found = body(
        "  for i in 0 .. M do\n    if i < K and i != 3 then\n      store c[i] = 0.0\n"
        "    else\n      store c[i] = if i == 0 then 1.0 else load c[i - 1]\n"
    )
    condition = conj((lt(Var("i"), Var("K")), term_ne("i", 3)))
    choice = Choose(eq(Var("i"), Const(0)), Word("f32", 0x3F800000), load("c", plus("i", -1)))
    guard = If(condition, Block((store("c", ("i",), Word("f32", 0)),)), Block((store("c", ("i",), choice),)))
    assert found == (loop("i", "M", guard),)


def term_ne(name: str, value: int) -> object:
    from cachet_verify.core.index import ne

    return ne(Var(name), Const(value))


def test_a_choice_on_words_evaluates_both() -> None:
    found = body("  store c[0] = if load c[0] > 0.0 then load c[1] else -(load c[0])\n")
    positive = op("lt f32", "bool", Word("f32", 0), load("c", 0))
    assert found == (store("c", (0,), op("select", "f32", positive, load("c", 1), op("neg", "f32", load("c", 0)))),)


def test_conversions_are_operations_and_integers_become_words() -> None:
    found = body("  for i in 0 .. M do\n    let x = (load c[i]) as f64\n    store c[i] = ((i + 1) as f32) + (x as f32)\n")
    convert = op("convert f64 f32", "f32", Load("x"))
    assert found == (
        loop(
            "i",
            "M",
            Declare("x", "f64", init=op("convert f32 f64", "f64", load("c", "i"))),
            store("c", ("i",), op("add", "f32", OfIndex("f32", plus("i", 1)), convert)),
        ),
    )


def test_bits_and_infinities_are_words() -> None:
    found = body("  store c[0] = from_bits (4286578688 as u32)\n  store c[1] = Num.infinity ()\n  store c[2] = -Num.infinity ()\n")
    assert [stmt.value for stmt in found] == [Word("f32", 0xFF800000), Word("f32", 0x7F800000), Word("f32", 0xFF800000)]  # type: ignore[attr-defined]


def test_a_lease_and_a_view_are_other_names() -> None:
    found = body("  lease mut x = p at L2\n  store x[1, 2] = 0.0\n  view r[i] : [8] = x[15, 7 - i]\n  store r[0] = load x[1, 2]\n")
    assert found == (
        Lease("x", "p", "L2", True),
        store("x", (1, 2), Word("f32", 0)),
        View("r", ("i",), "x", (Const(15), plus(mul(Const(-1), Var("i")), 7)), (Const(8),)),
        store("r", (0,), load("x", 1, 2)),
    )


def test_a_grid_keeps_its_windows_and_their_aliases() -> None:
    found = body("  grid i in 0 .. 4, j in 0 .. 2 writes p[4 * i .. 4 * i + 4, j] as w do\n    store w[3] = 0.0\n")
    low = mul(Const(4), Var("i"))
    window = Window("p", (Slice(low, plus(low, 4)), Var("j")), "w")
    axes = (Axis("i", Const(0), Const(4)), Axis("j", Const(0), Const(2)))
    assert found == (Grid(axes, Block((store("w", (3,), Word("f32", 0)),)), (window,)),)
    assert body("  grid i in 0 .. M do\n    store c[i] = 0.0\n") == (
        Grid((Axis("i", Const(0), Var("M")),), Block((store("c", ("i",), Word("f32", 0)),)), None),
    )


def test_a_bare_quotient_must_be_exact_and_a_rounded_one_need_not() -> None:
    item = module(HEAD + "  for i in 0 .. M / 8 do\n    store c[floor (i / 3) + i % 5] = 0.0\n").programs["f"]
    assert item.program is not None
    target = plus(Div(Var("i"), Const(3)), Mod(Var("i"), Const(5)))
    assert item.program.body.body == (For("i", item.program.body.body[0].domain, Block((store("c", (target,), Word("f32", 0)),))),)  # type: ignore[union-attr]
    assert [condition.goal for condition in item.conditions] == [eq(Mod(Var("M"), Const(8)), Const(0))]
    assert le(Const(0), Var("M")) in item.conditions[0].premises


def test_a_difference_used_as_an_extent_must_not_be_negative() -> None:
    header = "fn f (reads x: [f32; N + R - 1]) (reads w: [f32; R]) (mut y: [f32; N])\nrequires N + R > 0\n=\n"
    item = module(f"{header}  store y[0] = 0.0\n").programs["f"]
    extent = plus("N", "R", -1)
    assert [(condition.goal, condition.text) for condition in item.conditions] == [(le(Const(0), extent), "`N + R - 1` is at least 0")]
    assert item.program is not None
    assert item.program.requires == (Require(lt(Const(0), plus("N", "R")), "written"),)


def test_an_index_can_be_named_and_is_no_word() -> None:
    found = body("  for i in 0 .. M do\n    let r = 2 * i + 1\n    store c[r % M] = 0.0\n")
    target = Mod(plus(mul(Const(2), Var("i")), 1), Var("M"))
    assert found == (loop("i", "M", store("c", (target,), Word("f32", 0))),)


def test_functions_of_words_are_inlined() -> None:
    text = "fn relu x = max x 0.0\nfn twice (x: f32) -> f32 =\n  let y = relu x\n  y + y\n"
    found = program(f"{text}fn f (mut c: [f32; M]) =\n  store c[0] = twice (load c[1])\n", "f").body.body
    clipped = op("max", "f32", load("c", 1), Word("f32", 0))
    assert found == (store("c", (0,), op("add", "f32", clipped, clipped)),)


def test_facts_of_blocks_are_premises_of_what_stands_inside() -> None:
    item = module(HEAD + "  for g in blocks (0 .. M) 8 do\n    let v: Vec f32 8 = load c[g.lo .. g.lo + g.len]\n").programs["f"]
    (condition,) = item.conditions
    assert condition.goal == le(Var("g.len"), Const(8))
    assert condition.goal in condition.premises
    assert lt(Var("g.lo"), Var("M")) in condition.premises


def test_a_parameter_that_is_a_number_is_a_size() -> None:
    found = program("fn f (n: Nat) (mut c: [f32; 2 * n]) =\n  for i in 0 .. n do\n    store c[2 * i] = 0.0\n", "f")
    assert found.sizes == ("n",)
    assert found.params[0].shape == (mul(Const(2), term("n")),)


def test_an_assignment_reads_a_shorter_slice_into_a_vector_whose_other_lanes_are_unspecified() -> None:
    found = body("  var t: Vec f32 8 = splat 0.0\n  t = load c[0 .. M]\n")
    assert found[1:] == (
        Declare("part", "f32", (), 8, load("c", "lane'2"), False, Lanes("lane'2", 8, Var("M"))),
        Store("t", (Var("lane'1"),), load("part", "lane'1"), Lanes("lane'1", 8, Const(8))),
    )


def test_a_slice_of_the_target_writes_those_lanes_and_keeps_the_others() -> None:
    found = body("  var t: Vec f32 8 = splat 0.0\n  t[0 .. M] = load c[0 .. M]\n")
    assert found[1:] == (Store("t", (Var("lane'1"),), load("c", "lane'1"), Lanes("lane'1", 8, Var("M"))),)


def test_a_store_writes_as_many_words_as_its_target_has() -> None:
    found = body("  let v: Vec f32 4 = load c[0 .. 4]\n  store p[0, 0 .. 4] = fma v (load c[0 .. M]) v\n")
    part = Declare("part", "f32", (), 4, load("c", "lane'2"), False, Lanes("lane'2", 4, Var("M")))
    fused = op("fma", "f32", load("v", "lane'1"), load("part", "lane'1"), load("v", "lane'1"))
    assert found[1:] == (part, Store("p", (Const(0), Var("lane'1")), fused, Lanes("lane'1", 4, Const(4))))


def test_an_index_of_a_view_lies_inside_the_view_and_not_only_inside_its_root() -> None:
    item = module(HEAD + "  view r[i] : [4] = p[0, i]\n  store r[M] = 0.0\n").programs["f"]
    inside = conj((le(Const(0), Var("M")), lt(Var("M"), Const(4))))
    assert [condition.goal for condition in item.conditions] == [conj((le(Const(0), Var("i")), lt(Var("i"), Const(8)))), inside]


def test_a_word_function_may_share_its_name_with_an_operation_it_uses() -> None:
    text = (
        "fn add a b = max a b\nimpl Semiring for Top f32 where\n  const Value = f32\n  fn zero () = 0.0\n  fn one () = 0.0\n"
        "  fn add a b = add b a\n  fn mul a b = a\n  fn mul_add a b acc = acc\n"
    )
    assert module(text).others == ()


def test_a_constant_may_be_a_word() -> None:
    found = program("const alpha : f32 = 0.5\nfn f (mut c: [f32; M]) =\n  let x = alpha\n  store c[0] = x * alpha\n", "f").body.body
    half = Word("f32", 0x3F000000)
    assert found == (Declare("x", "f32", init=half), store("c", (0,), op("mul", "f32", Load("x"), half)))


def test_a_function_of_vectors_is_inlined_lane_by_lane() -> None:
    text = "fn g (v: Vec f32 4) (x: f32) -> Vec f32 4 = fma v (splat x) v\nfn f (mut c: [f32; 4]) =\n"
    text += "  let w: Vec f32 4 = load c[0 .. 4]\n  store c[0 .. 4] = g w (load c[3])\n"
    lane = "lane'1"
    fused = op("fma", "f32", load("w", lane), load("c", 3), load("w", lane))
    assert program(text, "f").body.body[1] == Store("c", (Var(lane),), fused, Lanes(lane, 4, Const(4)))


def test_bits_of_words_compare_as_integers() -> None:
    found = body("  store c[0] = if to_bits (load c[0]) == to_bits (load c[1]) then 0.0 else 1.0\n")
    bits = [op("to_bits f32", "u32", load("c", place)) for place in (0, 1)]
    same = op("eq u32", "bool", *bits)
    assert found == (store("c", (0,), op("select", "f32", same, Word("f32", 0), Word("f32", 0x3F800000))),)
