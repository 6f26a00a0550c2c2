"""`parts` and `element`: attention from its plain loops to tiles, other programs, and what the listings read back as."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from cachet_verify.core.meaning import run
from cachet_verify.core.word import word_of_decimal
from tests.elaborate.short import program as elaborated
from tests.judge.asking import items
from tests.tile.tiling import GPU, H200, applied, grid_of, reads_back

# --- attention ---------------------------------------------------------------------------------


def shadow(rows: object, width: object, keys: object, columns: object, block: int, elem: str = "f32") -> str:
    """The plain loops of attention: a block of keys at a time, its maximum by halving, its sum in order."""
    levels, left = "", block
    while left > 1:
        half = (left + 1) // 2
        levels += f"        for h{half} in 0 .. {left - half} do\n          w[h{half}] = max w[h{half}] w[h{half} + {half}]\n"
        left = half
    return f"""\
fn shadow
    (reads q: [{elem}; {rows}, {width}]) (reads kt: [{elem}; {width}, {keys}]) (reads v: [{elem}; {keys}, {columns}])
    (mut y: [{elem}; {rows}, {columns}])
requires {keys} % {block} == 0, {columns} % 16 == 0
produces Init y
=
  for i in 0 .. {rows} do
    for d in 0 .. {columns} do
      var m: {elem} = -1.0
      var l: {elem} = -0.0
      var o: {elem} = -0.0
      for gj in 0 .. {keys} / {block} do
        var s: [{elem}; {block}]
        for j in 0 .. {block} do
          s[j] = fold c in 0 .. {width} from -0.0 as t: {elem} do fma (load q[i, c]) (load kt[c, gj * {block} + j]) t
        var w: [{elem}; {block}]
        for jw in 0 .. {block} do
          w[jw] = s[jw]
{levels}        let top: {elem} = w[0]
        let m2: {elem} = max m top
        var e: [{elem}; {block}]
        for je in 0 .. {block} do
          e[je] = s[je] - m2
        let alpha: {elem} = m - m2
        l = l * alpha + (fold j2 in 0 .. {block} from -0.0 as t2: {elem} do t2 + e[j2])
        o = fold j3 in 0 .. {block} from (o * alpha) as t3: {elem} do fma e[j3] (load v[gj * {block} + j3, d]) t3
        m = m2
      store y[i, d] = o / l

"""


FLASH = "schedule s of shadow on M4Gpu =\n  split i by 32, c by 16\n  grid over i.outer\n  parts [8, 16]\n  element [f32; 8, 8]\n"

LISTING = """\
  grid on M4Gpu gi in 0 .. 2
      by tile (si, sj) parts [8, 16]
      writes y[32 * gi .. 32 * gi + 32, 0 .. 16] as yt do
    var m: [f32; 32, 1] = repeat (-1.0)
    var l: [f32; 32, 1] = repeat (-0.0)
    var o: [f32; 32, 16] = repeat (-0.0)
    for gj in 0 .. 4 do
      var s: [f32; 32, 8] = repeat (-0.0)
      let x: [f32; 32, 16] = load q[32 * gi .. 32 * gi + 32, 0 .. 16]
      let z: [f32; 16, 8] = load kt[0 .. 16, 8 * gj .. 8 * gj + 8]
      s = mma x z s
      let m2: [f32; 32, 1] = max m (reduce Max f32 over cols by halving do s)
      let e: [f32; 32, 8] = s - m2
      let alpha: [f32; 32, 1] = m - m2
      l = l * alpha + (reduce Sum f32 over cols by order do e)
      o = o * alpha
      let u: [f32; 8, 16] = load v[8 * gj .. 8 * gj + 8, 0 .. 16]
      o = mma e u o
      m = m2
    store yt = o / l
"""
"""As the hand-written program of `proofs/accept/relations-attention_tiles.cachet`, with plain weights and the whole depth at once."""


def test_attention_in_tiles_as_one_would_write_it() -> None:
    done = applied(f"{GPU}{shadow(64, 16, 32, 16, 8)}{FLASH}")
    assert done.stopped is None
    assert grid_of(done.program) == LISTING
    assert reads_back(done.program)


def test_all_sizes_at_once_and_the_depth_in_blocks_of_the_instruction() -> None:
    done = applied(f"{GPU}{shadow('N', 'D', 'K', 'E', 8)}{FLASH.replace(', c by 16', '')}")
    assert done.stopped is None
    assert [need.origin for need in done.program.requires][-2:] == ["split i by 32", "element [f32; 8, 8]"]
    text = grid_of(done.program)
    assert "      for gc in 0 .. D / 8 do\n        let x: [f32; 32, 8] = load q[32 * gi .. 32 * gi + 32, 8 * gc .. 8 * gc + 8]\n" in text
    assert "    var o: [f32; 32, E] = repeat (-0.0)\n" in text
    assert reads_back(done.program)


@pytest.mark.parametrize(("block", "written"), [((8, 8), "mma_f64_m8n8k4 x z s"), ((16, 8), "mma x z s")])
def test_the_unit_of_another_device_by_its_name_where_mma_means_another(block: tuple[int, int], written: str) -> None:
    lines = f"  split i by 16\n  grid over i.outer\n  parts [16, 8]\n  element [f64; {block[0]}, {block[1]}]\n"
    done = applied(f"{H200}{shadow(32, 8, 24, 16, 8, 'f64')}schedule s of shadow on H200 =\n{lines}")
    assert done.stopped is None
    assert f"      s = {written}\n" in grid_of(done.program)
    assert reads_back(done.program, H200)


def test_blocks_that_no_power_of_two_divides_and_no_product_by_a_unit() -> None:
    lines = "  split i by 12\n  grid over i.outer\n  parts [6, 8]\n"
    done = applied(f"{GPU}{shadow(48, 'D', 40, 32, 5)}schedule s of shadow on M4Gpu =\n{lines}")
    assert done.stopped is None
    text = grid_of(done.program)
    assert "reduce Max f32 over cols by halving do s" in text
    assert "          s[i'3, j] = fold c in 0 .. D from -0.0" in text
    assert reads_back(done.program)


def test_attention_in_tiles_gives_the_words_of_its_plain_loops() -> None:
    lines = FLASH.replace("i by 32, c by 16", "i by 8").replace("parts [8, 16]", "parts [8, 8]")
    done = applied(f"{GPU}{shadow(8, 8, 16, 16, 8)}{lines}")
    assert done.stopped is None
    chance = Random(3)
    for _ in range(3):
        given = [[word_of_decimal(chance.choice(("1e3", "-1e3", "1", "-3", "0.1", "7e-3")), "f32") for _ in range(count)] for count in (64, 128, 256)]
        ends: list[list[int | None]] = []
        for program in (done.start, done.program):
            buffers: dict[str, list[int | None]] = {**dict(zip(("q", "kt", "v"), map(list, given), strict=True)), "y": [None] * 128}
            run(program, {}, buffers)
            ends.append(buffers["y"])
        assert ends[0] == ends[1]
        assert len(set(ends[0])) > 8


def test_columns_in_tiles_as_well() -> None:
    lines = FLASH.replace("i by 32, c by 16", "i by 32, d by 8\n  order (i.outer, d.outer, i.inner, d.inner)").replace(
        "over i.outer", "over (i.outer, d.outer)"
    )
    done = applied(f"{GPU}{shadow(64, 16, 32, 16, 8)}{lines.replace('parts [8, 16]', 'parts [8, 8]')}")
    assert done.stopped is None
    text = grid_of(done.program)
    assert "grid on M4Gpu gi in 0 .. 2, gd in 0 .. 2\n" in text
    assert "      let u: [f32; 8, 8] = load v[8 * gj .. 8 * gj + 8, 8 * gd .. 8 * gd + 8]\n      o = mma e u o\n" in text
    assert reads_back(done.program)


# --- other programs ----------------------------------------------------------------------------

LAYER = f"""\
{GPU}contraction layer (reads a: [f32; M, K]) (reads b: [f32; K, N]) -> out c: [f32; M, N] =
  c[i, j] = max (sum k. a[i, k] * b[k, j]) 0.0

schedule s of layer on M4Gpu =
  split k by 16, j by 16
  split i by 32
  order (i.outer, j.outer, i.inner, j.inner)
  grid over (i.outer, j.outer)
  parts [16, 8]
  element [f32; 8, 8]
"""

SUMS_TO_MEMORY = f"""\
{GPU}contraction sums (reads x: [f32; N, 6]) -> out y: [f32; N] =
  y[i] = sum j. x[i, j]

schedule s of sums on M4Gpu =
  split i by 4
  grid over i.outer
  parts [2]
"""

SUMS = f"""\
{GPU}fn sums (reads x: [f32; N, 6]) (mut y: [f32; N])
produces Init y
=
  for i in 0 .. N do
    let m: f32 = fold j in 0 .. 6 from -0.0 as t: f32 do t + (load x[i, j])
    store y[i] = m * m

schedule s of sums on M4Gpu =
  split i by 4
  grid over i.outer
  parts [2]
"""

COLUMNS = f"""\
{GPU}fn columns (reads x: [f32; 4, N]) (mut y: [f32; 4, N])
produces Init y
=
  grid on M4Gpu gj in 0 .. N / 2 writes y[0 .. 4, gj * 2 .. gj * 2 + 2] do
    var w: [f32; 4, 2]
    for i in 0 .. 4 do
      for j in 0 .. 2 do
        w[i, j] = load x[i, gj * 2 + j]
    for j1 in 0 .. 2 do
      for h in 0 .. 2 do
        w[h, j1] = min w[h, j1] w[h + 2, j1]
    for j2 in 0 .. 2 do
      for h2 in 0 .. 1 do
        w[h2, j2] = min w[h2, j2] w[h2 + 1, j2]
    var top: [f32; 2]
    for j3 in 0 .. 2 do
      top[j3] = w[0, j3]
    for i4 in 0 .. 4 do
      for j4 in 0 .. 2 do
        store y[i4, gj * 2 + j4] = (load x[i4, gj * 2 + j4]) - top[j4]

schedule s of columns on M4Gpu =
  parts [2, 2]
"""


def test_a_product_with_something_behind_it(tmp_path: Path) -> None:
    done = applied(LAYER)
    assert grid_of(done.program).splitlines()[-6:] == [
        "    var total: [f32; 32, 16] = repeat (-0.0)",
        "    for gk in 0 .. K / 16 do",
        "      let x: [f32; 32, 16] = load a[32 * gi .. 32 * gi + 32, 16 * gk .. 16 * gk + 16]",
        "      let z: [f32; 16, 16] = load b[16 * gk .. 16 * gk + 16, 16 * gj .. 16 * gj + 16]",
        "      total = mma x z total",
        "    store ct = max total 0.0",
    ]
    assert reads_back(done.program)
    found = items(tmp_path, LAYER, only=("s",))["s"]
    assert found.verdict.value == "proved"
    assert [entry.name for entry in found.trusted] == ["simdgroup_mma8"]


def test_tiles_of_one_dimension_whose_rows_are_summed() -> None:
    done = applied(SUMS)
    text = grid_of(done.program)
    assert "by tile (si) parts [2] writes y[4 * gi .. 4 * gi + 4] as yt do\n" in text
    assert text.splitlines()[1:] == [
        "    let z: [f32; 4, 6] = load x[4 * gi .. 4 * gi + 4, 0 .. 6]",
        "    let m: [f32; 4, 1] = reduce Sum f32 over cols by order do z",
        "    store yt = m[0 .. 4, 0] * m[0 .. 4, 0]",
    ]
    assert reads_back(done.program)


def test_sums_that_go_to_memory_have_their_totals_in_a_tile() -> None:
    done = applied(SUMS_TO_MEMORY)
    assert grid_of(done.program).splitlines()[1:] == [
        "    let z: [f32; 4, 6] = load x[4 * gi .. 4 * gi + 4, 0 .. 6]",
        "    let total: [f32; 4, 1] = reduce Sum f32 over cols by order do z",
        "    store yt = total[0 .. 4, 0]",
    ]
    assert reads_back(done.program)
    plain = LAYER.replace("max (sum k. a[i, k] * b[k, j]) 0.0", "sum k. a[i, k] * b[k, j]").replace("split k by 16, j by 16", "split j by 16")
    done = applied(plain)
    assert grid_of(done.program).splitlines()[3:] == [
        "    var total: [f32; 32, 16] = repeat (-0.0)",
        "    for gk in 0 .. K / 8 do",
        "      let x: [f32; 32, 8] = load a[32 * gi .. 32 * gi + 32, 8 * gk .. 8 * gk + 8]",
        "      let z: [f32; 8, 16] = load b[8 * gk .. 8 * gk + 8, 16 * gj .. 16 * gj + 16]",
        "      total = mma x z total",
        "    store ct = total",
    ]


MASKED = f"""\
{GPU}fn masked (reads x: [f32; 8, 4]) (mut y: [f32; 8, 4])
produces Init y
=
  for i in 0 .. 8 do
    var s: [f32; 4]
    for j in 0 .. 4 do
      s[j] = load x[i, j]
    for j2 in 0 .. 4 do
      if i < j2 then
        s[j2] = -Num.infinity ()
    let top: f32 = fold j3 in 0 .. 4 from -Num.infinity () as t: f32 do max t s[j3]
    for j4 in 0 .. 4 do
      store y[i, j4] = s[j4] - top

schedule s of masked on M4Gpu =
  split i by 4
  grid over i.outer
  parts [2, 4]
"""


def test_a_guard_around_an_element_chooses_its_word() -> None:
    done = applied(MASKED)
    assert [line.strip() for line in grid_of(done.program).splitlines()[3:]] == [
        "var s: [f32; 4, 4] = load x[4 * gi .. 4 * gi + 4, 0 .. 4]",
        "for i'1 in 0 .. 4 do",
        "for j2 in 0 .. 4 do",
        "s[i'1, j2] = if 4 * gi + i'1 < j2 then from_bits (4286578688 as u32) else s[i'1, j2]",
        "store yt = s - (reduce Max f32 over cols by order do s)",
    ]
    assert reads_back(done.program)


def test_a_guard_around_what_memory_gets_is_refused() -> None:
    text = MASKED.replace("      store y[i, j4] = s[j4] - top\n", "      if j4 < 3 then\n        store y[i, j4] = s[j4] - top\n")
    stopped = applied(text).stopped
    assert stopped is not None
    assert stopped.diagnostic.code == "rewrite.no-match"
    assert "no iteration of the grid over gi writes a block of two dimensions" in stopped.diagnostic.message


def test_a_reduction_over_rows_inside_the_statement_that_reads_it() -> None:
    done = applied(COLUMNS)
    block = "load x[0 .. 4, 2 * gj .. 2 * gj + 2]"
    assert grid_of(done.program).splitlines()[3:] == [f"    store yt = {block} - (reduce Min f32 over rows by halving do {block})"]
    assert reads_back(done.program)


def test_words_in_the_interpreter_are_those_before() -> None:
    """Sums of six words, in order, squared: worked out here in exact integers."""
    after = applied(SUMS).program
    rows = [[3, -1, 4, 1, -5, 9], [2, 6, 5, 3, 5, 8], [0, 0, 0, 0, 0, 1], [-7, 9, 3, 2, -3, 8]]
    words = [word_of_decimal(str(value), "f32") for row in rows for value in row]
    for program in (after, elaborated(SUMS, "sums")):
        buffers: dict[str, list[int | None]] = {"x": list(words), "y": [None] * 4}
        run(program, {"N": 4}, buffers)
        assert buffers["y"] == [word_of_decimal(str(sum(row) ** 2), "f32") for row in rows]
