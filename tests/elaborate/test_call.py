"""Calls: what is put in place of them, what they need, and buffers lent twice."""

from __future__ import annotations

from cachet_verify.core.index import Const, Var, eq, lt, mul
from cachet_verify.core.ir import Inlined, Load, Word
from tests.elaborate.short import MATMUL, fold, load, loop, module, op, store

COPY = "fn copy (reads x: [f32; N]) (mut y: [f32; N])\nrequires N > 1\nproduces Init y\n=\n  for i in 0 .. N do\n    store y[i] = load x[i]\n"


def test_a_call_is_replaced_by_the_callees_body_with_names_and_sizes_of_the_caller() -> None:
    text = f"{COPY}fn f (M: Nat) (reads u: [f32; 2 * M]) (mut v: [f32; 2 * M]) =\n  for i in 0 .. 3 do\n    copy u v\n"
    found = module(text).programs["f"].program
    assert found is not None
    inner = loop("i'1", mul(Const(2), Var("M")), store("v", ("i'1",), load("u", "i'1")))
    (outer,) = found.body.body
    assert outer == loop("i", 3, Inlined("copy u v", type(found.body)((inner,))))


def test_a_call_needs_what_the_callee_requires_and_equal_extents() -> None:
    text = f"{COPY}fn f (reads u: [f32; A]) (mut v: [f32; B])\nrequires A == B\n=\n  copy u v\n"
    item = module(text).programs["f"]
    (call,) = item.calls
    assert [need.goal for need in call.requirements] == [eq(Var("B"), Var("A")), lt(Const(1), Var("A"))]
    assert eq(Var("A"), Var("B")) in call.requirements[0].premises
    assert (call.callee, call.text, call.buffers) == ("copy", "copy u v", ("u", "v"))
    assert item.rests_on == ("copy",)


def test_an_instance_is_called_with_the_words_of_its_implementation() -> None:
    text = f"{MATMUL}fn shortest (reads d: [f32; N, N]) (mut e: [f32; N, N])\nproduces Init e\n=\n  matmul @(S = MinPlus f32) d d e\n"
    item = module(text).programs["shortest"]
    assert item.program is not None
    step = op("min", "f32", Load("acc'0"), op("add", "f32", load("d", "i", "k"), load("d", "k", "j")))
    total = fold("k", "N", Word("f32", 0x7F800000), "acc'0", "f32", step)
    body = loop("i", "N", loop("j", "N", store("e", ("i", "j"), total)))
    assert item.program.body.body == (Inlined("matmul @(S = MinPlus f32) d d e", type(item.program.body)((body,))),)
    assert item.calls[0].overlaps == ()


def test_a_generic_caller_passes_its_own_semiring_on() -> None:
    text = f"{MATMUL}fn g {{T : Semiring}} (reads a: [T.Value; N, N]) (mut c: [T.Value; N, N]) =\n  matmul @(S = T) a a c\n"
    found = module(text).programs["g"].program
    assert found is not None
    (call,) = found.body.body
    assert isinstance(call, Inlined)
    step = op("T.mul_add", "T.Value", load("a", "i", "k"), load("a", "k", "j"), Load("acc'0"))
    total = fold("k", "N", op("T.zero", "T.Value"), "acc'0", "T.Value", step)
    assert call.body.body == (loop("i", "N", loop("j", "N", store("c", ("i", "j"), total))),)


def test_one_buffer_lent_twice_is_noted_with_the_extent_of_both() -> None:
    text = f"{MATMUL}fn f (mut a: [f32; 32, 32]) (reads b: [f32; 32, 32]) =\n  matmul @(S = PlusTimes f32) a b a\n"
    item = module(text).programs["f"]
    assert item.program is None
    assert item.unsupported == ()
    (overlap,) = item.calls[0].overlaps
    assert (overlap.first, overlap.second, overlap.root) == ("a", "a", "a")
    assert overlap.message == (
        "could not prove the call of matmul lends parts of one whole at once, which must be apart: "
        "Disjoint (interval a 0 (1024 * sizeof f32)) (interval a 0 (1024 * sizeof f32))"
    )


def test_another_name_of_the_buffer_does_not_hide_it() -> None:
    text = (
        f"{COPY}fn f (mut a: [f32; 8]) =\n  view r[i] : [8] = a[7 - i]\n  copy r a\nfn g (mut a: [f32; 8]) =\n  lease mut r = a at L1\n  copy r r\n"
    )
    found = module(text).programs
    assert [overlap.root for name in ("f", "g") for call in found[name].calls for overlap in call.overlaps] == ["a", "a"]


def test_two_that_are_only_read_may_be_one() -> None:
    dot = "fn dot (reads x: [f32; N]) (reads y: [f32; N]) (mut z: [f32; 1]) =\n  store z[0] = load x[0]\n"
    text = f"{dot}fn f (reads x: [f32; N]) (mut z: [f32; 1]) =\n  dot x x z\n"
    item = module(text).programs["f"]
    assert item.calls[0].overlaps == ()
    assert item.program is not None


def test_host_code_allocates_calls_and_prints() -> None:
    text = (
        f"{MATMUL}fn main () =\n  let a = alloc [f32; 2, 2]\n  let b = alloc [f32; 2, 2]\n  for i in 0 .. 2 do\n    for j in 0 .. 2 do\n"
        "      store a[i, j] = (i + 2 * j) as f32\n  matmul @(S = PlusTimes f32) a a b\n  print (load b[1, 1])\n  print (2 + 3)\n"
    )
    item = module(text).programs["main"]
    assert item.is_host
    assert item.program is not None
    lines: list[str] = []
    from cachet_verify.core.meaning import Executable

    Executable(item.program).run({}, {}, lines.append)
    # a is [[0, 2], [1, 3]], and the last cell of its square is 1 * 2 + 3 * 3.
    assert lines == ["11.0", "5"]


def test_host_code_that_lends_a_buffer_twice_is_found_after_a_call_that_waits() -> None:
    main = "fn main () =\n  let a = alloc [f32; 4, 4]\n  let b = alloc [f32; 4, 4]\n  s a a b\n  s a b a\n"
    text = f"{MATMUL}schedule s of matmul @(S = PlusTimes f32) =\n  zero (i, j) c\n{main}"
    item = module(text).programs["main"]
    assert item.waits_for == ("s",)
    assert item.unsupported == ()
    assert [len(call.overlaps) for call in item.calls] == [0, 1]
    assert "Disjoint (interval (allocated region) 0 (16 * sizeof f32))" in item.calls[1].overlaps[0].message


def test_a_schedule_is_put_in_place_once_its_program_is_known() -> None:
    from cachet_verify.elaborate.load import load_text
    from cachet_verify.elaborate.module import elaborate

    text = f"{MATMUL}schedule s of matmul @(S = PlusTimes f32) =\n  zero (i, j) c\nfn f (reads a: [f32; N, N]) (mut b: [f32; N, N]) =\n  s a a b\n"
    loaded = load_text(text)
    first = elaborate(loaded)
    start = first.schedules["s"].program
    assert first.programs["f"].program is None
    assert start is not None
    second = elaborate(loaded, {"s": start})
    found = second.programs["f"].program
    assert found is not None
    (call,) = found.body.body
    assert isinstance(call, Inlined)
    step = op("fma", "f32", load("a", "i", "k"), load("a", "k", "j"), Load("acc'0"))
    total = fold("k", "N", Word("f32", 0x80000000), "acc'0", "f32", step)
    assert call.body.body == (loop("i", "N", loop("j", "N", store("b", ("i", "j"), total))),)


def test_a_call_of_a_schedule_needs_what_its_steps_require() -> None:
    from dataclasses import replace

    from cachet_verify.core.index import lt as below
    from cachet_verify.core.ir import Require
    from cachet_verify.elaborate.load import load_text
    from cachet_verify.elaborate.module import elaborate

    text = f"{MATMUL}schedule s of matmul =\n  zero (i, j) c\nfn f (reads a: [f32; N, N]) (mut b: [f32; N, N]) =\n  s @(S = PlusTimes f32) a a b\n"
    loaded = load_text(text)
    start = elaborate(loaded).schedules["s"].program
    assert start is not None
    applied = replace(start, requires=(Require(below(Const(0), Var("K")), "first block"),))
    (call,) = elaborate(loaded, {"s": applied}).programs["f"].calls
    assert [need.goal for need in call.requirements] == [lt(Const(0), Var("N"))]
