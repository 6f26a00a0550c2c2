"""What a refused budget says, in exact words, and that what it proposes does pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from cachet_verify.report.record import ItemReport, Refusal
from cachet_verify.report.text import item_lines
from tests.budget.sample import HEAD, MATMUL, caller
from tests.judge.asking import items

LINES = "lines (span_bytes x.span) from DRAM to L1"


def refused(item: ItemReport) -> Refusal:
    assert item.refusal is not None, item
    return item.refusal


def leasing(rows: str, body: str, params: str = "(mut x: [f32; 8]) (mut y: [f32; M])", more: str = "") -> str:
    return f"{HEAD}fn f {params}\n{more}movement\n{rows}=\n{body}"


LOOP = "  for p in 0 .. M do\n    lease mut near = x at L1\n    store near[0] = 1.0\n"


def test_the_article_word_for_word(tmp_path: Path) -> None:
    """2 x 4 x 2 packs of A at 32 x 32, where eight are allowed; then sixteen."""
    found = items(tmp_path, HEAD + MATMUL + caller("product", "8", "8", ("32", "32", "32")) + caller("enough", "8", "16", ("32", "32", "32")))
    made = refused(found["product"])
    assert made.message.splitlines() == [
        "could not prove declared traffic row at DRAM:",
        "    ceil (32 / 16) * ceil (32 / 8) * line_ceil bytes_0 128",
        "  + ceil (32 / 16) * ceil (32 / 8) * ceil (32 / 16) * line_ceil bytes_1 128",
        "  <= 8 * line_ceil bytes_0 128 + 8 * line_ceil bytes_1 128",
    ]
    assert made.counterexample == {"bytes_0": 0, "bytes_1": 1}
    assert made.replay is None
    assert [line.text for line in item_lines(found["product"], "main.cachet")][4:6] == [
        "  counterexample: bytes_0 = 0, bytes_1 = 1",
        "  every word is right, and this is about cost alone: packA goes from DRAM to L2 16 times, and 8 are allowed",
    ]
    assert made.hints[1] == "the least that one row has to allow: `traffic 16 * lines (span_bytes packA.span) from DRAM to L2 and back`"
    assert found["enough"].verdict.value == "proved"


MATVEC = """contraction matvec (reads a: [f32; M, K]) (reads x: [f32; K]) -> out y: [f32; M] =
  y[i] = sum k. a[i, k] * x[k]

schedule tiled of matvec (mut part: [f32; 16]) =
  zero (i) y
  split i by 16 as gi ragged
  split k by 16 as gk ragged
  order (gi, gk, i, k)
  pack x into part along gk over (p)
  keep part along gk within L1 into near

fn f (reads a: [f32; M, K]) (reads x: [f32; K]) (mut y: [f32; M]) (mut part: [f32; 16])
produces Init y
movement
  traffic ceil (K / 16) * lines (span_bytes part.span) from DRAM to L1 and back
=
  tiled a x y part
"""


def test_a_swap_of_two_loops_that_passes_is_named(tmp_path: Path) -> None:
    """With the depth outside, each part of x is packed once; no number in the row would do for all sizes."""
    made = refused(items(tmp_path, HEAD + MATVEC)["f"])
    swap = "in tiled, write `order (gk, gi, i, k)` for `order (gi, gk, i, k)`"
    assert made.hints[1:] == (f"it would pass so: {swap}",)
    assert items(tmp_path, HEAD + MATVEC.replace("order (gi, gk, i, k)", "order (gk, gi, i, k)"))["f"].verdict.value == "proved"


def test_a_block_that_passes_is_named_with_its_buffers(tmp_path: Path) -> None:
    """One block of depth for 32: half as many packs. The buffers hold it only if they grow as well."""
    text = HEAD + MATMUL + caller("f", "4", "8", ("32", "32", "32"))
    (hint,) = [hint for hint in refused(items(tmp_path, text)["f"]).hints if "pass so" in hint]
    assert hint == (
        "it would pass so: in packed, write `blocks (i, j, k) c (16, 4, 8, 32)` for `blocks (i, j, k) c (16, 4, 8, 16)`, "
        "with `packA: [f32; 16, 32]` and `packB: [f32; 32, 8]`"
    )
    changed = text.replace("(16, 4, 8, 16)", "(16, 4, 8, 32)").replace("[f32; 16, 16]", "[f32; 16, 32]").replace("[f32; 16, 8]", "[f32; 32, 8]")
    assert items(tmp_path, changed)["f"].verdict.value == "proved"


def test_a_budget_that_fails_at_0_alone_names_the_requirement(tmp_path: Path) -> None:
    rows = "  traffic 2 * M * " + LINES + " and back\n"
    text = leasing(rows, "  lease mut first = x at L1\n  store first[0] = 1.0\n")
    made = refused(items(tmp_path, text)["f"])
    assert made.counterexample == {"M": 0, "bytes_0": 1}
    assert made.hints[1] == "the budget is met where nothing is empty: `requires M > 0` is enough"
    enough = items(tmp_path, text.replace("movement\n", "requires M > 0\nmovement\n", 1))["f"]
    assert enough.verdict.value == "proved"


def test_nothing_is_proposed_where_nothing_passes(tmp_path: Path) -> None:
    made = refused(items(tmp_path, leasing(f"  traffic 8 * {LINES} and back\n", LOOP))["f"])
    assert made.counterexample == {"M": 9, "bytes_0": 1}
    assert len(made.hints) == 1


def test_only_the_level_that_fails_is_shown(tmp_path: Path) -> None:
    body = "  lease mut outer = x at L2\n  for p in 0 .. 3 do\n    lease mut inner = outer at L1\n    store inner[0] = 1.0\n"
    rows = "  traffic 1 * lines (span_bytes x.span) from DRAM to L2 and back\n  traffic 2 * lines (span_bytes x.span) from L2 to L1 and back\n"
    made = refused(items(tmp_path, leasing(rows, body))["f"])
    assert made.message.splitlines() == [
        "could not prove declared traffic row at L2:",
        "    3 * line_ceil bytes_0 128",
        "  <= 2 * line_ceil bytes_0 128",
    ]


def test_a_row_to_another_level_pays_for_nothing(tmp_path: Path) -> None:
    rows = "  traffic M * lines (span_bytes x.span) from DRAM to L2 and back\n"
    made = refused(items(tmp_path, leasing(rows, LOOP))["f"])
    assert made.message.splitlines()[1:] == ["    M * line_ceil bytes_0 128", "  <= 0"]


def test_a_local_buffer_has_no_row_to_propose(tmp_path: Path) -> None:
    body = "  var t: [f32; 8] = repeat (0.0)\n  lease mut near = t at L1\n  near[0] = 1.0\n  store y[0] = near[0]\n"
    found = items(tmp_path, leasing(f"  traffic M * {LINES} and back\n", body, more="requires M > 0\n"))["f"]
    made = refused(found)
    assert made.code == "cost.traffic"
    assert len(made.hints) == 1


def test_without_a_platform_lines_have_no_size(tmp_path: Path) -> None:
    text = leasing(f"  traffic 8 * {LINES} and back\n", LOOP).replace(HEAD, "")
    assert refused(items(tmp_path, text)["f"]).message.splitlines()[1:] == ["    M * lines bytes_0", "  <= 8 * lines bytes_0"]


def test_a_divisor_that_may_be_0(tmp_path: Path) -> None:
    found = items(tmp_path, leasing(f"  traffic floor (7 / M) * M * {LINES} and back\n", LOOP))["f"]
    assert found.verdict.value == "refused"
    assert refused(found).code == "cost.traffic"


def test_values_come_before_cost(tmp_path: Path) -> None:
    """A store out of bounds is told, and the budget is not."""
    made = refused(items(tmp_path, leasing(f"  traffic 8 * {LINES} and back\n", LOOP.replace("near[0]", "near[p]")))["f"])
    assert made.code == "program.not-well-formed"
    assert made.hints == ()


def test_a_caller_of_a_function_of_another_file_rests_on_its_budget(tmp_path: Path) -> None:
    lib = leasing(f"  traffic 8 * {LINES} and back\n", LOOP)
    main = HEAD + 'import "lib.cachet"\nfn g (mut x: [f32; 8]) (mut y: [f32; M]) =\n  f x y\n'
    assert items(tmp_path, main, lib=lib)["g"].verdict.value != "proved"
    good = items(tmp_path, main, lib=lib.replace("traffic 8", "traffic M"))["g"]
    assert good.verdict.value == "proved"


FAMILY = """const MC : Nat = 8

contraction matvec (reads a: [f32; M, K]) (reads x: [f32; K]) -> out y: [f32; M] =
  y[i] = sum k. a[i, k] * x[k]

schedule rows of matvec
    (mut part: [f32; 16, K])
family MC in {8, 16}
movement
  traffic ceil (M / BLOCK) * lines (span_bytes part.span) from DRAM to L2 and back
=
  zero (i) y
  split i by MC as gi ragged
  order (gi, i, k)
  pack a into part along gi over (p, q)
  keep part along gi within L2 into near
"""


@pytest.mark.parametrize(("block", "verdict"), [("8", "proved"), ("16", "refused")])
def test_every_member_of_a_family_meets_the_budget(tmp_path: Path, block: str, verdict: str) -> None:
    """Blocks of 8 rows are packed twice as often as blocks of 16."""
    text = (HEAD + FAMILY).replace("BLOCK", block).replace("family MC", "requires K <= 64\nfamily MC")
    found = items(tmp_path, text)["rows"]
    assert found.verdict.value == verdict
    if verdict == "refused":
        assert refused(found).code == "cost.traffic"


def nested(row: str) -> str:
    body = "  for g in 0 .. M do\n    for h in 0 .. g do\n      lease mut near = x at L1\n      store near[0] = 1.0\n"
    return leasing(f"  traffic {row} * {LINES} and back\n", body)


def test_what_only_a_bound_exceeds_is_not_refused(tmp_path: Path) -> None:
    """Pairs g, h with h < g < M are M (M - 1) / 2; what is derived is M for each g."""
    assert items(tmp_path, nested("M * M"))["f"].verdict.value == "proved"
    found = items(tmp_path, nested("floor (M * M / 2)"))["f"]
    assert (found.verdict.value, found.refusal) == ("undecided", None)


def test_what_is_enough_is_not_called_the_least_where_it_may_not_be(tmp_path: Path) -> None:
    """A block of 10 holds three blocks of 4, and a length of 5 two: two a length would do, three are what can be proved."""
    body = "  for g in blocks (0 .. M) 10 do\n    for h in blocks (0 .. g.len) 4 do\n      lease mut near = x at L1\n      store near[0] = 1.0\n"
    made = refused(items(tmp_path, leasing(f"  traffic ceil (M / 5) * {LINES} and back\n", body))["f"])
    assert made.counterexample == {"M": 5, "bytes_0": 1}
    assert made.hints[1].startswith("enough in one row: `traffic 3 * ceil (M / 5) * ")


def test_the_least_of_blocks_in_blocks_is_said(tmp_path: Path) -> None:
    """Blocks of 4 in blocks of 16 are as many as blocks of 4, of which two lengths of 5 hold three: two a length."""
    body = "  for g in blocks (0 .. M) 16 do\n    for h in blocks (0 .. g.len) 4 do\n      lease mut near = x at L1\n      store near[0] = 1.0\n"
    made = refused(items(tmp_path, leasing(f"  traffic ceil (M / 5) * {LINES} and back\n", body))["f"])
    assert made.hints[1].startswith("the least that one row has to allow: `traffic 2 * ceil (M / 5) * ")


def test_no_number_is_looked_for_where_what_is_needed_grows(tmp_path: Path) -> None:
    """A row over N alone is never enough for M * N, whatever its number; eight times ceil (M / 8) are enough for M."""
    across = "  for p in 0 .. M do\n    for q in 0 .. N do\n      lease mut near = x at L1\n      store near[0] = 1.0\n"
    body = leasing(f"  traffic N * {LINES} and back\n", across, "(mut x: [f32; 8]) (mut y: [f32; M, N])")
    assert refused(items(tmp_path, body)["f"]).hints[1:] == ()
    enough = leasing(f"  traffic ceil (M / 8) * {LINES} and back\n", LOOP)
    assert refused(items(tmp_path, enough)["f"]).hints[1:] == (f"the least that one row has to allow: `traffic 8 * ceil (M / 8) * {LINES} and back`",)
