"""`tiles` and statements on tiles: listings, what they read back as, results in the interpreter, and faults."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import pytest

from cachet_verify.core.ir import Program
from cachet_verify.core.meaning import run
from cachet_verify.core.word import word_of_decimal
from cachet_verify.session import scheduled
from tests.elaborate.short import faults, messages, program
from tests.judge.asking import items

GPU = 'module (platform = AppleSilicon)\nimport "cachet:platforms/apple-silicon"\n\n'
MATMUL = "contraction matmul (reads a: [f32; M, K]) (reads b: [f32; K, N]) -> out c: [f32; M, N] =\n  c[i, j] = sum k. a[i, k] * b[k, j]\n\n"
LAYER = MATMUL.replace("matmul", "layer").replace("sum k. a[i, k] * b[k, j]", "max (sum k. a[i, k] * b[k, j]) 0.0")
STEPS = "  grid over (i, j)\n  tiles (i, j, k) (16, 16) (8, 8)\n"
FILE = f"{GPU}{MATMUL}{LAYER}schedule tiled of matmul on M4Gpu =\n{STEPS}schedule relued of layer on M4Gpu =\n{STEPS}"

LISTING = """\
fn tiled (reads a: [f32; M, K]) (reads b: [f32; K, N]) (mut c: [f32; M, N])
requires M % 16 == 0
requires N % 16 == 0
requires K % 8 == 0
produces Init c
=
  grid on M4Gpu gi in 0 .. M / 16, gj in 0 .. N / 16
      by tile (si, sj) parts [8, 8]
      writes c[16 * gi .. 16 * gi + 16, 16 * gj .. 16 * gj + 16] as ct_2 do
    var t: [f32; 16, 16] = repeat (-0.0)
    for k in 0 .. K / 8 do
      let x: [f32; 16, 8] = load a[16 * gi .. 16 * gi + 16, 8 * k .. 8 * k + 8]
      let y: [f32; 8, 16] = load b[8 * k .. 8 * k + 8, 16 * gj .. 16 * gj + 16]
      t = mma x y t
    store ct_2 = t
"""


def listed(folder: Path, name: str) -> str:
    path = folder / "main.cachet"
    path.write_text(FILE)
    return scheduled(path, name, None, False, False, False)


def test_the_listing_of_a_tiled_product_and_what_it_rests_on(tmp_path: Path) -> None:
    text = listed(tmp_path, "tiled")
    assert text.startswith(LISTING)
    claim = [line.strip() for line in text.removeprefix(LISTING).splitlines()]
    assert "tiled: bits of matmul" in claim
    assert [line for line in claim if line.startswith("trusted")] == ["trusted: template simdgroup_mma8 (evidence: none)"]


def test_an_epilogue_changes_the_last_line_only(tmp_path: Path) -> None:
    changed = LISTING.replace("fn tiled", "fn relued").replace("store ct_2 = t\n", "store ct_2 = max t 0.0\n")
    assert listed(tmp_path, "relued").startswith(changed)


def test_a_listing_read_back_is_proved_against_the_meaning_with_the_same_trust(tmp_path: Path) -> None:
    found = items(tmp_path, f"{GPU}{MATMUL}{LISTING}\nproof again = relate tiled to matmul\n", only=("again", "tiled"))
    for name in ("again", "tiled"):
        assert found[name].verdict.value == "proved"
        assert [entry.name for entry in found[name].trusted] == ["simdgroup_mma8"]


# --- in the interpreter ------------------------------------------------------------------------


def words(count: int, chance: Random) -> list[int | None]:
    return [word_of_decimal(chance.choice(("1e8", "-1e8", "1", "-1", "3", "0.1", "-0.0")), "f32") for _ in range(count)]


def cells(made: Program, a: list[int | None], b: list[int | None], count: int) -> list[int | None]:
    buffers = {"a": list(a), "b": list(b), "c": [None] * count}
    return buffers["c"] if run(made, {"M": 8, "N": 4, "K": 6}, buffers) is None else []


HAND = """\
fn f (reads a: [f32; M, K]) (reads b: [f32; K, N]) (mut c: [f32; M, N])
requires M % 4 == 0, N % 4 == 0, K % 2 == 0
produces Init c =
  grid gi in 0 .. M / 4, gj in 0 .. N / 4 writes c[gi * 4 .. gi * 4 + 4, gj * 4 .. gj * 4 + 4] as ct do
    var t: [f32; 4, 4] = repeat (-0.0)
    for k in 0 .. K / 2 do
      let x: [f32; 4, 2] = load a[gi * 4 .. gi * 4 + 4, k * 2 .. k * 2 + 2]
      let y: [f32; 2, 4] = load b[k * 2 .. k * 2 + 2, gj * 4 .. gj * 4 + 4]
      t = mma x y t
    store ct = t
"""


MUTANTS = (
    ("k * 2 .. k * 2 + 2]\n      let y", "K - 2 * k - 2 .. K - 2 * k]\n      let y"),
    ("let y: [f32; 2, 4] = load b[k * 2 .. k * 2 + 2", "let y: [f32; 2, 4] = load b[0 .. 2"),
    ("t = mma x y t", "let z: [f32; 4, 4] = repeat (-0.0)\n      t = mma x y z"),
    ("store ct = t", "store ct = -t"),
)
"""One edit each, and the result differs."""


def test_a_product_in_tiles_gives_the_words_of_the_contraction() -> None:
    made, meaning = program(MATMUL + HAND, "f"), program(MATMUL, "matmul")
    chance = Random(1)
    for _ in range(5):
        a, b = words(48, chance), words(24, chance)
        assert cells(made, a, b, 32) == cells(meaning, a, b, 32)


@pytest.mark.parametrize(("old", "new"), MUTANTS)
def test_one_edit_gives_other_words(old: str, new: str) -> None:
    assert HAND.count(old) == 1
    changed, meaning = program(MATMUL + HAND.replace(old, new), "f"), program(MATMUL, "matmul")
    chance = Random(2)
    rounds = [(words(48, chance), words(24, chance)) for _ in range(5)]
    assert any(cells(changed, a, b, 32) != cells(meaning, a, b, 32) for a, b in rounds)


def reduced(text: str, values: tuple[str, ...]) -> int | None:
    made = program(f'import "cachet:monoid"\nfn f (reads s: [f32; 1, 4]) (mut y: [f32; 1, 1]) produces Init y =\n  {text}\n', "f")
    buffers = {"s": [word_of_decimal(value, "f32") for value in values], "y": [None]}
    run(made, {}, buffers)
    return buffers["y"][0]


def test_a_sum_by_halves_and_one_in_order_by_hand() -> None:
    """((1e8 + 1) - 1e8) + 1 is 1, since 1e8 + 1 rounds to 1e8; (1e8 - 1e8) + (1 + 1) is 2."""
    values = ("1e8", "1", "-1e8", "1")
    line = "store y[0 .. 1, 0 .. 1] = reduce Sum f32 over cols by {} do load s[0 .. 1, 0 .. 4]"
    assert reduced(line.format("order"), values) == word_of_decimal("1", "f32")
    assert reduced(line.format("halving"), values) == word_of_decimal("2", "f32")


def test_a_statement_reads_a_tile_before_it_overwrites_it() -> None:
    """A block moved by one column over itself, and a product into one of its own factors."""
    text = "fn f (mut c: [f32; 1, 4]) =\n  store c[0 .. 1, 1 .. 4] = load c[0 .. 1, 0 .. 3]\n"
    buffers = {"c": [1, 2, 3, 4]}
    run(program(text, "f"), {}, buffers)
    assert buffers["c"] == [1, 1, 2, 3]
    head = "fn f (reads a: [f32; 2, 2]) (mut c: [f32; 2, 2]) =\n  var x: [f32; 2, 2] = load a[0 .. 2, 0 .. 2]\n"
    square = f"{head}  x = mma x x x\n  store c[0 .. 2, 0 .. 2] = x\n"
    a = [1, 2, 3, 4]
    want = [a[2 * r + s] + sum(a[2 * r + k] * a[2 * k + s] for k in range(2)) for r, s in product(range(2), repeat=2)]
    lent = {"a": [word_of_decimal(str(value), "f32") for value in a], "c": [None] * 4}
    run(program(square, "f"), {}, lent)
    assert lent["c"] == [word_of_decimal(str(value), "f32") for value in want]


def test_another_view_of_a_tile_is_read_before_the_tile_is_overwritten() -> None:
    """Rows turned round: in place, by a product with the unit block, and by a reduction of one column."""
    head = "fn f (reads a: [f32; 2, 2]) (mut c: [f32; 2, 2]) =\n  var t: [f32; 2, 2] = load a[0 .. 2, 0 .. 2]\n"
    head += "  view v[i, j] : [2, 2] = t[1 - i, j]\n  var u: [f32; 2, 2] = repeat 0.0\n  u[0, 0] = 1.0\n  u[1, 1] = 1.0\n"
    zero = "  let z: [f32; 2, 2] = repeat 0.0\n"
    words = [word_of_decimal(str(value), "f32") for value in (1, 2, 3, 4)]
    for line in ("  t = v\n", f"{zero}  t = mma u v z\n", f"{zero}  t = mma v u z\n", "  t = v * 1.0\n", f"{zero}  t = v + z\n"):
        lent = {"a": list(words), "c": [None] * 4}
        run(program(f"{head}{line}  store c[0 .. 2, 0 .. 2] = t\n", "f"), {}, lent)
        assert lent["c"] == [*words[2:], *words[:2]], line


# --- faults ------------------------------------------------------------------------------------

TILES = "fn f (reads a: [f32; 8, 8]) (reads d: [f64; 8, 8]) (mut c: [f32; 8, 8]) =\n  var t: [f32; 4, 4] = repeat 0.0\n"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("let x: [f32; 4, 2] = load a[0 .. 4, 0 .. 4]", "elaborate.tile.shape"),
        ("t = t + load a[0 .. 4, 0 .. 2]", "elaborate.tile.shape"),
        ("t = mma t (load a[0 .. 2, 0 .. 4]) t", "elaborate.tile.shape"),
        ("t = mma t t", "elaborate.call.arity"),
        ("t = load d[0 .. 4, 0 .. 4]", "elaborate.type.mismatch"),
        ("t = mma (load d[0 .. 4, 0 .. 4]) t t", "elaborate.type.mismatch"),
        ("store a[0 .. 4, 0 .. 4] = t", "elaborate.assign"),
        ("barrier", "elaborate.barrier"),
        ("let m = reduce Max f32 over lines by order do t", "elaborate.tile.axis"),
        ("let m: [f32; 4, 1] = reduce Max f32 over cols by thirds do t", "elaborate.tile.axis"),
        ("let m: [f32; 4, 1] = reduce Most f32 over cols by order do t", "elaborate.generic.missing"),
    ],
)
def test_what_is_wrong_with_a_statement_on_tiles(line: str, code: str) -> None:
    assert [found for found, _ in faults(f"{TILES}  {line}\n")] == [code]


def test_a_tile_that_an_instruction_does_not_divide_is_told_with_its_blocks() -> None:
    text = f"{GPU}fn f (reads a: [f32; 8, 8]) (mut c: [f32; 12, 8]) =\n  grid on M4Gpu g in 0 .. 1 writes c[0 .. 12, 0 .. 8] as ct do\n"
    text += "    var t: [f32; 12, 8] = repeat 0.0\n    let y: [f32; 8, 8] = load a[0 .. 8, 0 .. 8]\n    t = mma t y t\n    store ct = t\n"
    (message,) = messages(text)
    assert "[12, 8] and [8, 8]" in message
    assert "simdgroup_mma8 takes 8 x 8 by 8 x 8" in message


GROUPS = """\
fn f (reads a: [f32; 4]) (mut c: [f32; 4, 2]) =
  grid g in 0 .. 1
      by tile (si, sj) parts [2, 1]
      writes c[0 .. 4, 0 .. 2] as ct do
"""


@pytest.mark.parametrize(
    "lines",
    [
        ("for si in 0 .. 2 do", "  barrier", "  store ct[si, sj] = 0.0"),
        ("let r = si", "for r in 0 .. 1 do", "  barrier", "  store ct[r, sj] = 0.0"),
        ("let r = si", "let q = r + 1", "let r = sj", "barrier", "store ct[q, r] = 0.0"),
        ("var t: f32 = 0.0", "barrier", "let u = t", "let t = si", "barrier", "store ct[t, sj] = u"),
    ],
)
def test_a_name_that_regions_bind_anew_is_bound_once(lines: tuple[str, ...]) -> None:
    text = GROUPS + "".join(f"    {line}\n" for line in lines)
    assert [found for found, _ in faults(text)][:1] == ["elaborate.name.duplicate"]


def test_groups_have_a_name_for_each_dimension() -> None:
    assert [found for found, _ in faults(GROUPS.replace("(si, sj)", "(si, si)") + "    barrier\n")] == ["elaborate.name.duplicate"]


def test_groups_keep_their_locals_and_indices_behind_a_barrier() -> None:
    """Each of 2 x 2 groups hands its number on: cell (r, s) ends as what the group across holds, 10 * row + column."""
    first = ("var xs: [f32; 2, 2] at threadgroup", "let row = 1 - si", "var own: f32 = load a[0]", "own = 10.0 * (si as f32) + (sj as f32)")
    then = ("let given = own", "xs[si, sj] = given", "barrier", "let held = given", "own = held", "own = own + xs[row, 1 - sj]")
    lines = (*first, *then, "store ct[2 * row, sj] = own", "store ct[2 * row + 1, sj] = own")
    text = GROUPS + "".join(f"    {line}\n" for line in lines)
    buffers = {"a": [0, 0, 0, 0], "c": [None] * 8}
    run(program(text, "f"), {}, buffers)
    number = [[10 * row + column for column in range(2)] for row in range(2)]
    want = [number[1 - r // 2][s] + number[r // 2][1 - s] for r in range(4) for s in range(2)]
    assert buffers["c"] == [word_of_decimal(str(value), "f32") for value in want]
