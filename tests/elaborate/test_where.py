"""Sums and reductions under conditions, run and compared with sums filtered in Python; no skipped element is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

import pytest

from cachet_verify.core.index import evaluate
from cachet_verify.core.ir import Program
from cachet_verify.core.meaning import run
from tests.elaborate.short import faults, messages, program

SIZES = (0, 1, 2, 3, 5)
Skip = Callable[..., bool]

SUMS: dict[str, tuple[str, str, Skip]] = {
    "causal": ("[i32; 4, K]", "sum k where k <= i. a[i, k]", lambda _n, i, k: k <= i),
    "strictly": ("[i32; 4, K]", "sum k where k < i. a[i, k]", lambda _n, i, k: k < i),
    "from the row on": ("[i32; 4, K]", "sum k where i <= k. a[i, k]", lambda _n, i, k: i <= k),
    "after the row": ("[i32; 4, K]", "sum k where k > i. a[i, k]", lambda _n, i, k: k > i),
    "window": ("[i32; 4, K]", "sum k where k <= i, i < k + 2. a[i, k]", lambda _n, i, k: i - 2 < k <= i),
    "window in one condition": ("[i32; 4, K]", "sum k where k <= i and i < k + 2. a[i, k]", lambda _n, i, k: i - 2 < k <= i),
    "empty window": ("[i32; 4, K]", "sum k where k <= i - 3. a[i, k]", lambda _n, i, k: k <= i - 3),
    "one": ("[i32; 4, K]", "sum k where k == 2 * i. a[i, k]", lambda _n, i, k: k == 2 * i),
    "both sides": ("[i32; 4, K]", "sum k where 3 - k >= i - 2 * k. a[i, k]", lambda _n, i, k: 3 - k >= i - 2 * k),
    "falling": ("[i32; 4, K]", "sum k where k + i < 4. a[i, k]", lambda _n, i, k: k + i < 4),
    "number": ("[i32; 4, K]", "sum k where k < 2. a[i, k]", lambda _n, _i, k: k < 2),
    "even": ("[i32; 4, K]", "sum k where k % 2 == 0. a[i, k]", lambda _n, _i, k: k % 2 == 0),
    "not itself": ("[i32; 4, K]", "sum k where k != i. a[i, k]", lambda _n, i, k: k != i),
    "either": ("[i32; 4, K]", "sum k where k < i or k > i + 1. a[i, k]", lambda _n, i, k: k < i or k > i + 1),
    "twice": ("[i32; 4, K]", "sum k where 2 * k <= i + 1. a[i, k]", lambda _n, i, k: 2 * k <= i + 1),
    "bound and guard": ("[i32; 4, K]", "sum k where k <= i, (k + i) % 3 != 1. a[i, k]", lambda _n, i, k: k <= i and (k + i) % 3 != 1),
    "never": ("[i32; 4, K]", "sum k where k < k. a[i, k]", lambda _n, _i, _k: False),
    "maximum": ("[i32; 4, K]", "sum k where k >= max i 1. a[i, k]", lambda _n, i, k: k >= max(i, 1)),
}


class Watched(list[int | None]):
    """Memory that notes which cells were read."""

    def __init__(self, words: list[int | None]) -> None:
        super().__init__(words)
        self.read: set[int] = set()

    def __getitem__(self, place):  # type: ignore[no-untyped-def]
        if isinstance(place, int):
            self.read.add(place)
        return super().__getitem__(place)


def memory(found: Program, sizes: dict[str, int]) -> Mapping[str, Watched]:
    counts = {}
    for param in found.params:
        counts[param.name] = 1
        for dim in param.shape:
            counts[param.name] *= evaluate(dim, sizes)
    return {name: Watched([(17 * place + 5) % 101 for place in range(count)]) for name, count in counts.items()}


@pytest.mark.parametrize("name", SUMS)
def test_a_sum_under_conditions_is_the_sum_of_what_meets_them(name: str) -> None:
    shape, text, counts = SUMS[name]
    found = program(f"contraction f (reads a: {shape}) -> out c: [i32; 4] =\n  c[i] = {text}\n", "f")
    for width in SIZES:
        buffers = memory(found, {"K": width})
        run(found, {"K": width}, buffers)
        wanted = {(i, k) for i in range(4) for k in range(width) if counts(width, i, k)}
        assert list(buffers["c"]) == [sum((17 * (i * width + k) + 5) % 101 for k in range(width) if (i, k) in wanted) for i in range(4)], width
        assert buffers["a"].read == {i * width + k for i, k in wanted}, width


def test_a_total_over_two_indices_keeps_its_order() -> None:
    """`t = 3 t + e` shows the order: e of the pairs that count, row by row."""
    text = """\
import "cachet:monoid"
impl Monoid for Digits where
  const Value = i32
  fn empty () = 0
  fn combine a b = 3 * a + b
contraction f (reads a: [i32; M, N]) -> out c: [i32; 1] =
  c[z] = reduce Digits (i, j) where j <= i, i + j != 3. a[i, j]
"""
    found = program(text, "f")
    for rows, columns in product((0, 1, 3, 4), (0, 2, 3)):
        buffers = memory(found, {"M": rows, "N": columns})
        run(found, {"M": rows, "N": columns}, buffers)
        pairs = [(i, j) for i in range(rows) for j in range(columns) if j <= i and i + j != 3]
        total = 0
        for i, j in pairs:
            total = (3 * total + (17 * (i * columns + j) + 5) % 101) % 2**32
        assert (list(buffers["c"]), buffers["a"].read) == ([total], {i * columns + j for i, j in pairs})


def test_records_and_intermediates_of_skipped_elements_are_never_computed() -> None:
    text = """\
import "cachet:attention"
contraction f (reads q: [f32; N, D]) (reads kt: [f32; D, K]) (reads v: [f32; K, E]) -> out y: [f32; N, E] =
  s[i, j] = sum c. q[i, c] * kt[c, j]
  y[i, d] = normalised (reduce Online j where j <= i, j != 1. key (s[i, j]) (v[j, d]))
"""
    found = program(text, "f")
    buffers = memory(found, {"N": 3, "D": 2, "K": 5, "E": 1})
    run(found, {"N": 3, "D": 2, "K": 5, "E": 1}, buffers)
    assert buffers["v"].read == {0, 2}
    assert buffers["kt"].read == {0, 2, 5, 7}


def test_a_size_of_any_operand_may_bound_an_index() -> None:
    text = "contraction f (reads a: [i32; K]) (reads b: [i32; L]) -> out c: [i32; 1] =\n  c[z] = (sum k where k < L. a[k]) + (sum l. b[l])\n"
    found = program(text, "f")
    for width, length in product((0, 2, 4), (0, 1, 3)):
        buffers = memory(found, {"K": width, "L": length})
        run(found, {"K": width, "L": length}, buffers)
        assert buffers["a"].read == set(range(min(width, length)))


FAULTS = {
    "sum k where a[k] > 0. a[k]": "reads a word",
    "sum k where i < 2. a[k]": "says nothing of `k`",
    "sum k where k < 3 and i < 2. a[k]": "`i < 2` says nothing of `k`",
    "sum (k, l) where i > 0. a[k] * a[l]": "says nothing of `k` or `l`",
    "sum k where k. a[k]": "a condition on integers",
    "sum k where q <= k. a[k]": "`q`",
    "sum k where k < K / 0. a[k]": "the divisor is 0",
}


@pytest.mark.parametrize("text", FAULTS)
def test_a_condition_that_is_none_is_named(text: str) -> None:
    source = f"contraction f (reads a: [i32; K]) -> out c: [i32; 4] =\n  c[i] = {text}\n"
    assert [line for _, line in faults(source)] == [2]
    assert FAULTS[text] in messages(source)[0]
