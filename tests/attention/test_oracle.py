"""Attention as the library has it, key by key, in blocks and in fused blocks, against exact arithmetic on random inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp

import pytest

from cachet_verify.core.meaning import run
from cachet_verify.core.numeral import float_of_word, word_of_float
from tests.attention.harness import Case, Numbers, Sees, device, distance, exact, program, shadow, words

HEAD = """    (reads q: [f32; N, D])
    (reads kt: [f32; D, K])
    (reads v: [f32; K, E])
    -> out y: [f32; N, E] =
  s[i, j] = sum c. q[i, c] * kt[c, j]
  y[i, d] = """
SOURCE = f"""import "cachet:attention"

contraction attend
{HEAD}normalised (reduce[reassoc] Online j. key (s[i, j]) (v[j, d]))

contraction causal
{HEAD}normalised_or_zero (reduce[reassoc] Online j where j <= i. key (s[i, j]) (v[j, d]))

contraction past
{HEAD}normalised_or_zero (reduce[reassoc] Online j where j + 2 <= i, i < j + 5. key (s[i, j]) (v[j, d]))

contraction odd
{HEAD}normalised_or_zero (reduce[reassoc] Online j where j % 2 == 1. key (s[i, j]) (v[j, d]))

schedule blocks of attend = regroup j by 3 as gj
schedule causal_blocks of causal = regroup j by 3 as gj
schedule past_blocks of past = regroup j by 2 as gj

schedule fused of attend =
  split j by 4 ragged
  reduce j.inner by (max: order, sum: order)

schedule causal_fused of causal =
  split j by 4 ragged
  reduce j.inner by (max: order, sum: order)

schedule causal_halved of causal =
  split j by 4 ragged
  reduce j.inner by (max: halving, sum: halving)

contraction not_subtracted
{HEAD}(sum j. exp (s[i, j] - largest[i]) * v[j, d]) / (sum j. exp (s[i, j]))
  largest[i] = reduce Max f32 j. s[i, j]

fn weighted_by_zero
    (reads q: [f32; N, D]) (reads kt: [f32; D, K]) (reads v: [f32; K, E]) -> out y: [f32; N, E]
=
  for i in 0 .. N do
    for d in 0 .. E do
      var l: f32 = -0.0
      var o: f32 = -0.0
      for j in 0 .. K do
        let s: f32 = fold c in 0 .. D from -0.0 as t: f32 do fma (load q[i, c]) (load kt[c, j]) t
        let w: f32 = if j <= i then exp s else 0.0
        l = l + w
        o = fma w (load v[j, d]) o
      store y[i, d] = if l == 0.0 then 0.0 else o / l
"""
SEES: dict[str, Sees] = {
    "attend": lambda _i, _j: True,
    "blocks": lambda _i, _j: True,
    "fused": lambda _i, _j: True,
    "causal": lambda i, j: j <= i,
    "causal_blocks": lambda i, j: j <= i,
    "causal_fused": lambda i, j: j <= i,
    "causal_halved": lambda i, j: j <= i,
    "past": lambda i, j: i - 5 < j <= i - 2,
    "past_blocks": lambda i, j: i - 5 < j <= i - 2,
    "odd": lambda _i, j: j % 2 == 1,
}
TILES = """module (platform = AppleSilicon)
import "cachet:platforms/apple-silicon"
import "cachet:attention"

contraction attend
    (reads q: [f32; N, 8])
    (reads kt: [f32; 8, K])
    (reads v: [f32; K, 8])
    -> out y: [f32; N, 8] =
  s[i, j] = sum c. q[i, c] * kt[c, j]
  y[i, d] = normalised (reduce[reassoc] Online j. key (s[i, j]) (v[j, d]))

schedule flash of attend on M4Gpu =
  split i by 8, j by 8, c by 8
  grid over i.outer
  compute s at j.outer
  reduce j.inner by (max: halving, sum: order)
  parts [8, 8]
  element [f32; 8, 8]

contraction causal
    (reads q: [f32; N, 8])
    (reads kt: [f32; 8, K])
    (reads v: [f32; K, 8])
    -> out y: [f32; N, 8] =
  s[i, j] = sum c. q[i, c] * kt[c, j]
  y[i, d] = normalised_or_zero (reduce[reassoc] Online j where j + 2 <= i. key (s[i, j]) (v[j, d]))

schedule causal_flash of causal on M4Gpu =
  split j by 8 ragged
  grid over (i, d)
  compute s at j.outer
  reduce j.inner by (max: halving, sum: order)
"""
MANY = ("attend", "blocks")
EMPTY_IS_NAN = {"attend", "blocks", "fused"}


@cache
def written(name: str, text: str) -> Path:
    path = Path(mkdtemp()) / name
    path.write_text(text)
    return path


def source() -> Path:
    return written("attention.cachet", SOURCE)


def tiles() -> Path:
    return written("tiles.cachet", TILES)


def rounded(number: float) -> float:
    return float_of_word(word_of_float(number, "f32"), "f32")


def table(chance: Random, rows: int, columns: int, size: float) -> Numbers:
    return [[rounded(chance.uniform(-size, size)) for _ in range(columns)] for _ in range(rows)]


def cases(count: int) -> Iterator[Case]:
    """Scores of size 1 and of up to 30, all equal, one far above the others, and no keys at all now and then."""
    chance = Random(60)
    for number in range(count):
        queries, depth, keys, width = chance.randint(1, 5), chance.randint(1, 4), chance.randint(0 if number % 7 == 0 else 1, 8), chance.randint(1, 2)
        kind = ("plain", "wide", "equal", "dominating")[number % 4]
        size = 1.0 if kind == "plain" else (30.0 / depth) ** 0.5
        q, kt = table(chance, queries, depth, size), table(chance, depth, keys, size)
        if kind == "equal":
            kt = [[row[0]] * keys if keys else [] for row in kt]
        if kind == "dominating" and keys:
            q = [[abs(x) + 1.0 for x in row] for row in q]
            one = chance.randrange(keys)
            kt = [[rounded(-abs(x)) if j != one else 30.0 for j, x in enumerate(row)] for row in kt]
        yield Case([[rounded(x) for x in row] for row in q], kt, table(chance, keys, width, 3.0))


def reached(name: str, count: int = 100) -> float:
    """How much of the bound is used at most. The widths of values are unknown where there are no keys: such a case is left out."""
    found = [distance(program(source(), name), case, SEES[name], empty="nan" if name in EMPTY_IS_NAN else "zero") for case in cases(count) if case.v]
    return float(max(found))


@pytest.mark.parametrize("name", SEES)
def test_words_stay_within_the_bound_of_exact_attention(name: str) -> None:
    assert reached(name, 100 if name in MANY else 30) <= 1


def test_the_bound_is_close() -> None:
    """Of the size of a value, at most 2^-12 is allowed anywhere, for scores of some hundreds of roundings."""
    bounds = [(cell.bound, max(abs(x) for row in case.v for x in row)) for case in cases(100) for row in exact(case, SEES["causal"]) for cell in row]
    assert all(bound <= Decimal(2) ** -12 * Decimal(size) for bound, size in bounds)


def test_other_programs_are_seen() -> None:
    """A wrong divisor, a mask off by one either way, and no summary of its own."""
    some = [case for case in cases(12) if len(case.v) > 2 and len(case.q) > 2]
    assert max(distance(program(source(), "not_subtracted"), case, SEES["attend"]) for case in some) > 10
    assert max(distance(program(source(), "causal"), case, lambda i, j: j < i) for case in some) > 10
    assert max(distance(program(source(), "causal"), case, lambda i, j: j <= i + 1) for case in some) > 10
    assert max(distance(program(source(), "attend"), case, SEES["attend"], empty="zero") for case in cases(12) if case.v) <= 1


def test_what_no_query_sees_reaches_no_word() -> None:
    """Infinities and NaNs behind every query's keys; a weight of zero is no mask."""
    case = next(case for case in cases(100) if len(case.v) > len(case.q))
    last = len(case.q)
    poisoned = Case(case.q, case.kt, [row if j < last else [float("inf"), float("nan")][: len(row)] for j, row in enumerate(case.v)])
    kept, hidden = words(program(source(), "causal"), case), words(program(source(), "causal"), poisoned)
    assert kept == hidden
    assert distance(program(source(), "causal"), poisoned, SEES["causal"]) <= 1
    assert distance(program(source(), "weighted_by_zero"), case, SEES["causal"]) <= 10
    assert distance(program(source(), "weighted_by_zero"), poisoned, SEES["causal"]) == Decimal("Infinity")


def test_a_query_without_keys_has_a_zero_where_the_masked_form_is_used() -> None:
    case = next(case for case in cases(100) if len(case.q) > 2)
    assert [row[0] for row in words(program(source(), "past"), case)[:2]] == [0, 0]
    none = Case(case.q, [[] for _ in case.kt], [])
    sizes = {**none_sizes(case), "K": 0}
    assert stored("causal", none, sizes) == {0}
    assert stored("attend", none, sizes) == {0x7FC00000}


def none_sizes(case: Case) -> dict[str, int]:
    return {"N": len(case.q), "D": len(case.kt), "E": 2}


def stored(name: str, case: Case, sizes: dict[str, int]) -> set[int | None]:
    """The words that a program stores without keys."""
    cells: dict[str, list[int | None]] = {"q": [word_of_float(x, "f32") for row in case.q for x in row], "kt": [], "v": []}
    cells["y"] = [None] * (sizes["N"] * sizes["E"])
    run(program(source(), name), sizes, cells)
    return set(cells["y"])


@pytest.mark.parametrize("name", ["blocks", "causal_blocks", "fused", "causal_fused", "causal_halved"])
def test_a_shadow_and_its_program_are_the_same_in_every_word(name: str) -> None:
    of, reference = program(source(), name), shadow(source(), name)
    for case in cases(8):
        if case.v:
            assert words(of, case) == words(reference, case, device(of))


def in_tiles(count: int) -> Iterator[Case]:
    """One or two tiles of queries, one to three blocks of keys: scores of several sizes, all equal ones, and words below the normal numbers."""
    chance = Random(64)
    for number in range(count):
        queries, keys = 8 * chance.randint(1, 2), 8 * chance.randint(1, 3)
        size = (1.0, 2.0, 0.5, 1e-38, 1e-20)[number % 5]
        q, kt = table(chance, queries, 8, size), table(chance, 8, keys, 1.0 if size < 1e-30 else size)
        if number % 5 == 2:
            kt = [[row[0]] * keys for row in kt]
        yield Case(q, kt, table(chance, keys, 8, 1e-38 if number % 10 == 3 else 3.0))


ON_A_DEVICE: Mapping[str, Sees] = {"flash": SEES["attend"], "causal_flash": lambda i, j: j + 2 <= i}
"""The schedule of the tiles, and one of masked rows, two of which see no key."""


def disagreements(name: str, count: int) -> list[int]:
    """The inputs for which a program is not its shadow in every word, or is further from exact attention than the bound."""
    of, reference = program(tiles(), name), shadow(tiles(), name)
    assert device(of).flushes
    found = []
    for number, case in enumerate(in_tiles(count)):
        same = words(of, case) == words(reference, case, device(of))
        if not same or (number % 10 < 5 and distance(of, case, ON_A_DEVICE[name]) > 1):
            found.append(number)
    return found


@pytest.mark.parametrize("name", ON_A_DEVICE)
def test_attention_on_a_device_is_its_shadow_in_every_word(name: str) -> None:
    """Some of the inputs of `python -m tests.attention.campaign`. The device flushes what is below the normal numbers."""
    assert disagreements(name, 5) == []
