"""Reported faults of kernels: the values of both programs, worked out by hand or given in the reports."""

from __future__ import annotations

import pytest

from cachet_verify.core.ir import Program
from cachet_verify.core.meaning import Cells, run
from cachet_verify.core.word import text_of_word, word_of_float
from tests.core.fault_case import accumulate, axpy, chain_dot, count_up, dot, halves, read_ahead, read_elsewhere, shifted, staged_dot
from tests.core.nest import words


def after(source: Program, sizes: dict[str, int], buffer: str, **given: Cells) -> Cells:
    """The words of one buffer after a run; buffers that are not given hold unspecified words."""
    cells = {name: list(content) for name, content in given.items()}
    for param in source.params:
        if param.name not in cells:
            count = 1
            for extent in param.shape:
                count *= sizes[str(getattr(extent, "name", ""))] if hasattr(extent, "name") else int(getattr(extent, "value", 0))
            cells[param.name] = [None] * count
    run(source, sizes, cells)
    return cells[buffer]


def test_interchange_over_a_read_ahead() -> None:
    sizes = {"M": 2, "N": 3}
    assert after(read_ahead(False), sizes, "a", a=[0, 0, 8], x=[1]) == [10, 9, 8]
    assert after(read_ahead(True), sizes, "a", a=[0, 0, 8], x=[1]) == [1, 9, 8]
    for swapped in (False, True):
        assert after(read_elsewhere(swapped), sizes, "a", a=[0, 0, 8], b=[0, 0, 8], x=[1]) == [1, 9, 8]


def test_partial_sums() -> None:
    given = {"a": words("f32", "1e8", "1", "-1e8", "1"), "b": words("f32", *"1111")}
    assert after(dot(), {"K": 4}, "s", **given) == words("f32", "1")
    assert after(halves(), {"K": 4}, "s", **given) == words("f32", "0")


def test_partial_sums_of_integers() -> None:
    given: dict[str, Cells] = {"a": [3, 0xFFFFFFFF, 7, 2], "b": [5, 4, 0x80000000, 1]}
    assert after(halves("i32"), {"K": 4}, "s", **given) == [(15 - 4 + 7 * 0x80000000 + 2) & 0xFFFFFFFF]


def test_a_tail_that_rounds_twice() -> None:
    near, minus = word_of_float(1 + 2**-12, "f32"), word_of_float(-(1 + 2**-11), "f32")
    given: dict[str, Cells] = {"a": [near] * 5, "b": [near] * 5, "c": [minus] * 5}
    low = word_of_float(2**-24, "f32")
    assert after(axpy(), {"N": 5}, "y", **given) == [low] * 5
    assert after(axpy("fused"), {"N": 5}, "y", **given) == [low] * 5
    assert after(axpy("unfused"), {"N": 5}, "y", **given) == [low] * 4 + [0]


def test_a_result_over_its_own_input() -> None:
    rows = [max(i - 1, 0) for i in range(4)]
    a = words("f32", *["1" if k == row else "0" for row in rows for k in range(4)])
    b = words("f32", *"1234")
    assert after(shifted(False), {}, "c", a=a, b=b) == words("f32", *"1123")
    assert after(shifted(True), {}, "b", a=a, b=b) == words("f32", *"1111")


def test_an_empty_sum_onto_what_is_there() -> None:
    given: dict[str, Cells] = {"a": [], "b": [], "c": words("f32", "5"), "beta": words("f32", "1")}
    sizes = {"M": 1, "K": 0, "N": 1}
    assert after(accumulate(), sizes, "c", **given) == words("f32", "5")
    assert after(accumulate("all"), sizes, "c", **given) == words("f32", "0")
    assert after(accumulate("outer"), sizes, "c", **given) == words("f32", "5")


@pytest.mark.parametrize("swapped", [False, True])
def test_equal_steps_in_any_order(swapped: bool) -> None:
    """19 * 4 additions of 1 to 2^24 - 3: three are exact, then 2^24 + 1 rounds back to 2^24."""
    start = [word_of_float(2.0**24 - 3, "f32")]
    assert after(count_up(swapped), {"n": 19}, "a", a=start) == [word_of_float(2.0**24, "f32")]
    assert after(count_up(swapped), {"n": 0}, "a", a=start) == start


def test_unequal_steps_in_another_order() -> None:
    x = words("f32", "1e8", "1", "-1e8", "1")
    assert after(count_up(False, matrix=True), {"n": 2}, "a", a=words("f32", "0"), x=x) == words("f32", "1")
    assert after(count_up(True, matrix=True), {"n": 2}, "a", a=words("f32", "0"), x=x) == words("f32", "2")


def test_staged_tiles_with_a_guard_and_without() -> None:
    given = {"a": words("f32", "-1e-30"), "b": words("f32", "1e-30")}
    assert after(chain_dot(), {"K": 1}, "s", **given) == [0x80000000]
    assert after(staged_dot(True), {"K": 1}, "s", **given) == [0x80000000]
    assert after(staged_dot(False), {"K": 1}, "s", **given) == [0x00000000]


@pytest.mark.parametrize("size", range(12))
def test_staged_tiles_are_the_chain_for_every_length(size: int) -> None:
    """-1, 2, -3, ... times itself; by hand the sum of squares, and -0.0 of nothing."""
    numbers = [str((-1) ** k * k) for k in range(1, size + 1)]
    given = {"a": words("f32", *numbers), "b": words("f32", *numbers)}
    expected = "-0.0" if size == 0 else repr(float(sum(k * k for k in range(1, size + 1))))
    (total,) = after(staged_dot(True), {"K": size}, "s", **given)
    assert total is not None
    assert text_of_word(total, "f32") == expected
