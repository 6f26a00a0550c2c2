"""Replays: what is found, that it is minimal, that it repeats, and that equal programs give none."""

from __future__ import annotations

import pytest

from cachet_verify.core.index import Const, Var, eq, mod, sub
from cachet_verify.core.ir import Axis, Block, Fold, Grid, Op, Program, Range
from cachet_verify.core.meaning import Cells, MeaningError, run
from cachet_verify.core.word import FLUSH, word_of_float
from cachet_verify.replay import Replay, find_fault, replay, replay_at
from tests.core.fault_case import accumulate, axpy, chain_dot, count_up, dot, halves, read_ahead, read_elsewhere, staged_dot
from tests.core.nest import add, fma, generic_matmul, lit, load, loop, matmul, param, program, store
from tests.replay.blocked import blocked, registers


def found(meaning: Program, other: Program) -> Replay:
    """The replay, after checking that it repeats and that no size can be lowered by 1."""
    first = replay(meaning, other)
    assert first is not None
    assert replay(meaning, other) == first
    sizes = dict(first.sizes)
    at = replay_at(meaning, other, sizes)
    assert at is not None
    assert (at.kind, at.cell, at.words) == (first.kind, first.cell, first.words)
    assert first.minimal
    for name, value in sizes.items():
        assert value == 0 or replay_at(meaning, other, {**sizes, name: value - 1}) is None
    return first


def again(side: Program, shown: Replay) -> int | None:
    """The word of the replay's cell when `side` runs on the replay's inputs; other cells hold 0."""
    sizes = dict(shown.sizes)
    cells: dict[str, Cells] = {}
    shapes: dict[str, list[int]] = {}
    for given in side.params:
        shapes[given.name] = [sizes[extent.name] if isinstance(extent, Var) else int(getattr(extent, "value", -1)) for extent in given.shape]
        count = 1
        for extent in shapes[given.name]:
            count *= extent
        cells[given.name] = [None if given.scratch else 0] * count

    def place(name: str, index: tuple[int, ...]) -> int:
        total = 0
        for value, extent in zip(index, shapes[name], strict=True):
            total = total * extent + value
        return total

    for word in shown.inputs:
        cells[word.buffer][place(word.buffer, word.index)] = word.word
    run(side, sizes, cells)
    assert shown.buffer is not None
    return cells[shown.buffer][place(shown.buffer, shown.index)]


DIFFERENT = {
    "interchange over a read ahead": (read_ahead(False), read_ahead(True), {"M": 2, "N": 3}, "a[0]"),
    "partial sums": (dot(), halves(), {"K": 2}, "s"),
    "a tail that rounds twice": (axpy(), axpy("unfused"), {"N": 1}, "y[0]"),
    "an empty sum": (accumulate(), accumulate("all"), {"M": 1, "K": 0, "N": 1}, "c[0, 0]"),
    "unequal steps": (count_up(False, matrix=True), count_up(True, matrix=True), {"n": 2}, "a"),
    "padding with zeros": (chain_dot(), staged_dot(False), {"K": 1}, "s"),
    "k backwards in a block": (matmul(), blocked(4, "down"), {"M": 1, "K": 2, "N": 1}, "c[0, 0]"),
    "the ragged block dropped": (matmul(), blocked(4, "full"), {"M": 1, "K": 1, "N": 1}, "c[0, 0]"),
    "cleared in each block": (matmul(), blocked(4, "reset"), {"M": 1, "K": 5, "N": 1}, "c[0, 0]"),
    "always the first block": (matmul(), blocked(4, "first"), {"M": 1, "K": 5, "N": 1}, "c[0, 0]"),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_difference_is_found_at_the_least_sizes(name: str) -> None:
    """The sizes are the least at which the two computations are not the same, by hand."""
    meaning, other, sizes, cell = DIFFERENT[name]
    shown = found(meaning, other)
    assert (shown.kind, dict(shown.sizes), shown.cell) == ("difference", sizes, cell)
    assert shown.words is not None
    assert shown.words[0] != shown.words[1]
    assert (again(meaning, shown), again(other, shown)) == shown.words


@pytest.mark.parametrize(("variant", "value"), [("reset", 4), ("reset", 16), ("first", 16), ("reset", 512), ("first", 512)])
def test_a_difference_behind_the_first_block(variant: str, value: int) -> None:
    shown = found(matmul(), blocked(value, variant))
    assert dict(shown.sizes) == {"M": 1, "K": value + 1, "N": 1}
    assert len(shown.inputs) in (0, 2 * (value + 1))  # all of the cells behind c[0, 0], or none when many


FAULTS = {
    "beyond": ({"M": 1, "K": 1, "N": 1}, "bounds", "a[0, 1] is outside of [1, 1]"),
    "unpacked": ({"M": 1, "K": 1, "N": 1}, "unspecified", "the word stored to c[0, 0] is unspecified"),
    "gap": ({"M": 0, "K": 3, "N": 1}, "bounds", "pack[4, 0] is outside of [4, 1]"),
}


@pytest.mark.parametrize("variant", FAULTS)
def test_a_fault_is_a_replay_of_its_own_kind(variant: str) -> None:
    sizes, fault, reason = FAULTS[variant]
    shown = found(matmul(), blocked(4, variant))
    assert (shown.kind, dict(shown.sizes), shown.fault, shown.reason) == ("fault", sizes, fault, reason)
    alone = find_fault(blocked(4, variant))
    assert alone is not None
    assert (dict(alone.sizes), alone.fault, alone.reason) == (sizes, fault, reason)


def test_an_unmasked_store_is_out_of_bounds() -> None:
    shown = found(matmul(), registers(masked=False))
    assert (dict(shown.sizes), shown.reason) == ({"M": 1, "K": 0, "N": 1}, "c[0, 1] is outside of [1, 1]")


EQUAL = {
    "itself": (matmul("f64"), matmul("f64")),
    "another array": (read_elsewhere(False), read_elsewhere(True)),
    "a fused tail": (axpy(), axpy("fused")),
    "a shortcut that stores nothing": (accumulate(), accumulate("outer")),
    "equal steps": (count_up(False), count_up(True)),
    "staged with a guard": (chain_dot(), staged_dot(True)),
    "blocked and packed": (matmul(), blocked(4)),
    "in lanes": (matmul(), registers(masked=True)),
    "a generic one with itself": (generic_matmul(), generic_matmul()),
}


@pytest.mark.parametrize("name", EQUAL)
def test_equal_programs_have_no_replay(name: str) -> None:
    meaning, other = EQUAL[name]
    assert replay(meaning, other, updates=20_000) is None
    for side in (meaning, other):
        assert find_fault(side, updates=10_000) is None


def test_partial_sums_of_integers_agree() -> None:
    """The terms differ, no words do."""
    total = Fold("k", Range(Const(0), Var("K")), lit("0", "i32"), "acc", "i32", fma(load("a", "k"), load("b", "k"), load("acc"), "i32"))
    params = tuple(param(p.name, p.mode, "i32", *p.shape) for p in dot().params)
    assert replay(program("dot", "K", params, store("s", (), total)), halves("i32")) is None


def test_requirements_bound_the_sizes() -> None:
    """With K a multiple of 4 the dropped block is never missed, and the first sizes that show a reset are 8."""
    four = eq(mod(Var("K"), Const(4)), Const(0))
    full = blocked(4, "full")
    needy = program("full", "M K N", full.params, *full.body.body, needs=(four,))
    assert replay(matmul(), needy, updates=20_000) is None
    assert replay_at(matmul(), needy, {"M": 1, "K": 1, "N": 1}) is None
    reset = blocked(4, "reset")
    shown = found(matmul(), program("reset", "M K N", reset.params, *reset.body.body, needs=(four,)))
    assert dict(shown.sizes) == {"M": 1, "K": 8, "N": 1}


def turned(step: Op) -> Program:
    source = generic_matmul()
    total = Fold("k", Range(Const(0), Var("K")), Op("S.zero", "S.Value"), "acc", "S.Value", step)
    nest = loop("i", 0, "M", loop("j", 0, "N", store("c", ("i", "j"), total)))
    return Program("turned", source.sizes, source.params, Block((nest,)), generics=source.generics)


def test_a_generic_program_is_replayed_at_plus_times() -> None:
    down = sub(sub(Var("K"), Const(1)), Var("k"))
    backwards = turned(Op("S.mul_add", "S.Value", (load("a", "i", down), load("b", down, "j"), load("acc"))))
    shown = found(generic_matmul(), backwards)
    assert (shown.kind, shown.instance, shown.elem, dict(shown.sizes)) == ("difference", "PlusTimes f32", "f32", {"M": 1, "K": 2, "N": 1})


def test_what_no_instance_shows_is_shown_in_operations() -> None:
    """No semiring tried here tells a * b from b * a; one that does may be given to S."""
    swapped = turned(Op("S.mul_add", "S.Value", (load("b", "k", "j"), load("a", "i", "k"), load("acc"))))
    shown = found(generic_matmul(), swapped)
    assert (shown.kind, shown.words, shown.cell) == ("operations", None, "c[0, 0]")
    assert shown.values == ("S.mul_add(a[0, 0], b[0, 0], S.zero())", "S.mul_add(b[0, 0], a[0, 0], S.zero())")


def test_two_arithmetics_differ_where_one_flushes() -> None:
    """The terms are the same; a subnormal is kept by one of the two and flushed by the other."""
    source = chain_dot()
    flushing = Program("flushing", source.sizes, source.params, source.body, arithmetic=FLUSH)
    shown = found(source, flushing)
    assert (shown.kind, dict(shown.sizes)) == ("difference", {"K": 1})
    assert shown.words is not None
    assert (again(source, shown), again(flushing, shown)) == shown.words
    assert shown.words[1] in (0, 1 << 31)


def test_a_race_is_a_fault() -> None:
    """Every iteration over k adds to the one cell."""
    grid = Grid((Axis("k", Const(0), Var("K")),), Block((store("s", (), fma(load("a", "k"), load("b", "k"), load("s"))),)))
    racing = program("racing", "K", chain_dot().params, store("s", (), lit("-0.0")), grid)
    shown = found(chain_dot(), racing)
    assert (shown.fault, dict(shown.sizes), shown.cell) == ("race", {"K": 2}, "s")
    assert shown.reason == "iteration (1) reads s, which iteration (0) writes"


def test_a_division_by_an_input_of_zero() -> None:
    x = (param("x", "reads", "i32", 1), param("y", "out", "i32", 1))
    one = store("y", (0,), lit("0", "i32"))
    ratio = store("y", (0,), Op("rem", "i32", (load("x", 0), load("x", 0))))
    shown = replay(program("zero", "", x, one), program("ratio", "", x, ratio))
    assert shown is not None
    assert (shown.fault, shown.sizes, [given.word for given in shown.inputs if given.buffer == "x"]) == ("division", (), [0])


def test_shapes_that_differ() -> None:
    wide = program("wide", "N", (param("y", "out", "i32", "N", 2),))
    tall = program("tall", "N", (param("y", "out", "i32", 2, "N"),))
    shown = replay(wide, tall)
    assert shown is not None
    assert (shown.fault, shown.reason) == ("size", "`y` has the shape [2, 0], but [0, 2] in `wide`")


def test_sizes_without_a_meaning_say_nothing() -> None:
    """The meaning reads out of bounds unless N is at least 2, so its first sizes to differ are 2."""
    params = (param("x", "reads", "i32", "N"), param("y", "out", "i32"))
    meaning = program("second", "N", params, store("y", (), load("x", 1)))
    other = program("first", "N", params, store("y", (), load("x", 0)))
    shown = replay(meaning, other)
    assert shown is not None
    assert dict(shown.sizes) == {"N": 2}
    assert replay_at(meaning, other, {"N": 1}) is None


def test_all_nans_are_one_word() -> None:
    """`neg` keeps a NaN's sign, which no comparison sees; the sign of a number it turns is seen."""
    params = (param("x", "reads", "f32"), param("y", "out", "f32"))
    infinite = Op("sub", "f32", (lit("inf"), lit("inf")))
    meaning = program("plain", "", params, store("y", (), infinite))
    assert replay(meaning, program("negated", "", params, store("y", (), Op("neg", "f32", (infinite,))))) is None
    shown = replay(program("x", "", params, store("y", (), load("x"))), program("-x", "", params, store("y", (), Op("neg", "f32", (load("x"),)))))
    assert shown is not None
    assert shown.words is not None
    assert shown.words[0] ^ shown.words[1] == 1 << 31


def test_a_sum_without_its_zero_needs_a_zero_to_show() -> None:
    """+0.0 in place of -0.0 changes the word of an empty sum."""
    shown = found(matmul(), matmul(zero="0.0"))
    assert (dict(shown.sizes), shown.words, shown.inputs) == ({"M": 1, "K": 0, "N": 1}, (0x80000000, 0), ())


def test_a_program_that_does_not_compile() -> None:
    with pytest.raises(MeaningError, match="`i` is not in scope here"):
        replay(matmul(), program("stray", "M", (), loop("j", 0, "i")))


def test_texts() -> None:
    shown = found(dot(), halves())
    lines = list(shown.lines())
    assert lines[0] == "at K = 2"
    assert lines[-1].startswith("  s is ")
    assert len(lines) == 2 + len(shown.inputs)
    exact = Replay("difference", (("N", 3),), "y", (2,), "f32", (word_of_float(1.0, "f32"), 0), ("1.0", "0.0"))
    assert list(exact.lines()) == ["at N = 3", "  y[2] is 1.0 (0x3f800000) by the meaning, 0.0 (0x00000000) by the program"]
    assert exact.hexes == ("0x3f800000", "0x00000000")
    fault = find_fault(blocked(4, "beyond"))
    assert fault is not None
    assert list(fault.lines()) == ["at M = 1, K = 1, N = 1", "  a[0, 1] is outside of [1, 1]"]


def test_more_words_than_needed_are_not_listed() -> None:
    """y = x[0] + ... depends on K cells; beyond a dozen none is shown."""
    params = (param("x", "reads", "i32", "K"), param("y", "out", "i32"))
    total = Fold("k", Range(Const(0), Var("K")), lit("0", "i32"), "acc", "i32", add(load("acc"), load("x", "k"), "i32"))
    meaning = program("sum", "K", params, store("y", (), total))
    other = program("zero", "K", params, store("y", (), lit("0", "i32")))
    for size, listed in ((1, 1), (12, 12), (13, 0)):
        shown = replay_at(meaning, other, {"K": size})
        assert shown is not None
        assert len(shown.inputs) == listed
