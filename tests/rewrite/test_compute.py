"""Intermediates in buffers of their own: the nests by hand, the goals by a solver, the words by runs at small sizes.

Both solvers and the end-to-end route prove such schedules in the corpus (`compute-…`).
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from cachet_verify.core.element import Arithmetic
from cachet_verify.core.family import lower
from cachet_verify.core.index import ONE, Const, Index, Var, add, sub
from cachet_verify.core.ir import Axis, Block, Declare, For, Grid, Program, Store
from cachet_verify.elaborate.lift import lift
from cachet_verify.kernel.normal import canonical
from cachet_verify.kernel.reschedule import reschedule
from cachet_verify.kernel.well_formed import well_formed
from cachet_verify.rewrite.image import Hint, images
from cachet_verify.rewrite.place import statement_at, walk, with_statements
from cachet_verify.rewrite.traverse import Change
from cachet_verify.syntax.print import print_declaration
from tests.elaborate.short import program
from tests.kernel.execute import run
from tests.kernel.solve import invalid
from tests.rewrite.drive import apply, proved, refusal

MIX = """\
contraction mix (reads q: [f32; N, D]) (reads k: [f32; D, K]) (reads v: [f32; K, E]) -> out y: [f32; N, E] =
  s[i, j] = sum c. q[i, c] * k[c, j]
  y[i, d] = sum j. s[i, j] * v[j, d]
"""
SHIFTED = """\
import "cachet:monoid"
contraction shifted (reads x: [f32; N, D]) (reads w: [f32; D, K]) -> out y: [f32; N, K] =
  s[i, j] = sum c. x[i, c] * w[c, j]
  m[i] = reduce Max f32 j. s[i, j]
  y[i, j] = s[i, j] - m[i]
"""
BATCHES = """\
contraction batches (reads a: [f32; B, M, K]) (reads b: [f32; B, K, N]) (reads w: [f32; N, P]) -> out y: [f32; B, M, P] =
  s[h, i, j] = sum c. a[h, i, c] * b[h, c, j]
  y[h, i, p] = sum j. s[h, i, j] * w[j, p]
"""
CAUSAL = """\
contraction causal (reads q: [f32; N, D]) (reads k: [f32; D, N]) (reads v: [f32; N, E]) -> out y: [f32; N, E] =
  s[i, j] = sum c. q[i, c] * k[c, j]
  y[i, d] = sum j where j <= i. s[i, j] * v[j, d]
"""


def made(text: str) -> Program:
    return program(text, next(line.split()[1] for line in text.splitlines() if line.startswith("contraction")))


def nest(after: Program) -> str:
    """The nest as it is printed."""
    text = print_declaration(lift(after))
    return text[text.index("  for ") if "  for " in text else 0 :]


# --- by hand -----------------------------------------------------------------------------------


def test_by_row_a_cell_for_each_key_and_none_for_a_column() -> None:
    after = proved(apply("compute s at i", made(MIX)), 3)
    assert nest(after) == (
        "  for i in 0 .. N do\n"
        "    var s: [f32; K]\n"
        "    for j'1 in 0 .. K do\n"
        "      s[j'1] = fold c in 0 .. D from -0.0 as acc'0: f32 do fma (load q[i, c]) (load k[c, j'1]) acc'0\n"
        "    for d in 0 .. E do\n"
        "      var acc'1: f32 = -0.0\n"
        "      for j in 0 .. K do\n"
        "        acc'1 = fma s[j] (load v[j, d]) acc'1\n"
        "      store y[i, d] = acc'1"
    )


def test_by_block_of_keys_in_their_order() -> None:
    after = proved(apply("split j by 2 as gj ragged\ncompute s at gj", made(MIX)), 4)
    assert (
        "        var s: [f32; 2]\n"
        "        for j'1 in 0 .. gj.len do\n"
        "          s[j'1] = fold c in 0 .. D from -0.0 as acc'0: f32 do fma (load q[i, c]) (load k[c, gj[j'1]]) acc'0\n"
        "        for j in 0 .. gj.len do\n"
        "          acc'1 = fma s[j] (load v[gj[j], d]) acc'1\n"
    ) in nest(after)


def test_a_whole_reduction_is_computed_with_what_it_needs() -> None:
    after = proved(apply("compute m at i\ncompute s at i", made(SHIFTED)), 3)
    text = nest(after)
    assert text.index("    var m: f32 = ") < text.index("      m = max m s[j'1]\n") < text.index("    for j in 0 .. K do\n")
    assert "      store y[i, j] = s[j] - m" in text


@pytest.mark.parametrize(
    ("steps", "shape", "read"),
    [
        ("split j by 2 as gj ragged\ncompute s at i", "[f32; K]", "s[gj[j]]"),
        ("split j by 2 as gj ragged\ncompute s at gj\ncompute s at i", "[f32; K]", "s[gj[j]]"),
        ("split j by 4 as gj, 2 as uj ragged\ncompute s at i", "[f32; K]", "s[gj[uj[j]]]"),
        ("split j by 4 as gj, 2 as uj ragged\ncompute s at gj", "[f32; 4]", "s[uj[j]]"),
        ("split j by 2 as gj\ncompute s at i", "[f32; K / 2, 2]", "s[gj, j]"),
    ],
)
def test_blocks_that_may_be_shorter_lie_one_behind_the_other(steps: str, shape: str, read: str) -> None:
    text = nest(proved(apply(steps, made(MIX)), 4 if "4" not in steps else 3))
    assert f"var s: {shape}\n" in text
    assert f"acc'1 = fma {read} (load v[" in text


def test_a_total_for_each_block_is_counted_by_where_blocks_start() -> None:
    text = "contraction total (reads a: [i32; N, K]) -> out c: [i32; N] =\n  c[i] = sum k. a[i, k]\n"
    shadow = apply("regroup k by 3 as gk", made(text)).after
    after = proved(apply("compute part at i", shadow), 6)
    assert "var part: [i32; floor ((K + 2) / 3)]\n" in nest(after)
    assert "acc'0 = acc'0 + part[floor (gk.lo / 3)]" in nest(after)


@pytest.mark.parametrize("steps", ["compute s at i", "split j by 2 as gj ragged\ncompute s at i", "split i by 2 as gi ragged\ncompute s at gi"])
def test_what_is_printed_is_read_as_the_same_program(steps: str) -> None:
    after = apply(steps, made(MIX)).after
    read = program(print_declaration(lift(after)), "mix")
    assert canonical(lower(read)) == canonical(lower(after))


SOFTMAX = """\
import "cachet:monoid"
contraction softmax (reads x: [f32; N, D]) (reads w: [f32; D, K]) -> out y: [f32; N, K] =
  s[i, j] = sum c. x[i, c] * w[c, j]
  m[i] = reduce Max f32 j. s[i, j]
  l[i] = sum j. exp (s[i, j] - m[i])
  y[i, j] = exp (s[i, j] - m[i]) / l[i]
"""


@pytest.mark.parametrize("names", ["lms", "slm"])
def test_all_uses_read_one_array_whatever_comes_first(names: str) -> None:
    after = proved(apply("".join(f"compute {name} at i\n" for name in names), made(SOFTMAX)), 2)
    shapes = {stmt.name: stmt.shape for _, stmt in walk(after.body) if isinstance(stmt, Declare) and not stmt.name.startswith("x")}
    assert shapes == {"s": (Var("K"),), "m": (), "l": ()}


def test_uses_in_other_words_keep_arrays_of_their_own() -> None:
    text = MIX.replace("s[i, j] * v[j, d]", "s[i, j] * s[j, i] * v[j, d]").replace("[f32; K, E]", "[f32; N, E]").replace("[f32; D, K]", "[f32; D, N]")
    after = proved(apply("compute s at i", made(text)), 3)
    values = [stmt.value for _, stmt in walk(after.body) if isinstance(stmt, Store) and stmt.buffer in ("s", "s'1")]
    assert len(values) == len({repr(value) for value in values}) == 2


# --- at all small sizes ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (MIX, "order (d, i)\ncompute s at d"),
        (MIX, "split i by 2 as gi\ncompute s at gi\ngrid over gi"),
        (MIX, "split j by 2 as gj ragged\ncompute s at i"),
        (MIX, "compute s at i\nsplit j by 2 as gj ragged\nsplit d by 2 as gd ragged\ngrid over i"),
        (MIX, "grid over i\ncompute s at i"),
        (MIX, "compute s at i\nsplit c by 2 as gc ragged"),
        (MIX, "split c by 2 as gc ragged\ncompute s at i"),
        (SHIFTED, "compute s at i\ncompute m at i\ngrid over i"),
        (CAUSAL, "compute s at i"),
        (CAUSAL, "split j by 2 as gj ragged\ncompute s at gj"),
    ],
)
def test_every_word_stays(text: str, steps: str) -> None:
    proved(apply(steps, made(text)), 3)


@pytest.mark.parametrize("steps", ["compute s at h", "compute s at i", "order (p, h, i)\ncompute s at p"])
def test_three_indices(steps: str) -> None:
    before = made(BATCHES)
    applied = apply(steps, before)
    assert applied.is_linked()
    assert applied.failed() == []
    for sizes in ({"B": 2, "M": 2, "K": 2, "N": 3, "P": 2}, {"B": 1, "M": 2, "K": 0, "N": 1, "P": 0}, {"B": 1, "M": 1, "K": 1, "N": 0, "P": 2}):
        assert run(before, sizes) == run(applied.after, sizes)


# --- wrong proposals ---------------------------------------------------------------------------


def declared(after: Program, high: Index) -> Program:
    """The program with an array of another length."""
    path, local = next((path, stmt) for path, stmt in walk(after.body) if isinstance(stmt, Declare) and stmt.name == "s")
    return with_statements(after, path, 1, (replace(local, shape=(high,)),))


def test_an_array_that_is_too_small_is_not_well_formed() -> None:
    after = apply("compute s at i", made(MIX)).after
    assert invalid(well_formed(declared(after, Var("K")))) == []
    assert invalid(well_formed(declared(after, sub(Var("K"), ONE)))) != []
    blocks = apply("split j by 4 as gj ragged\ncompute s at gj", made(MIX)).after
    assert invalid(well_formed(declared(blocks, Const(4)))) == []
    assert invalid(well_formed(declared(blocks, Const(3)))) != []


def filled(shift: Index, is_late: bool) -> tuple[Program, Program]:
    """The program with its array, and one that fills it at other places, or behind the loop that reads it."""
    after = apply("compute s at i", made(MIX)).after
    path, loop = next((path, stmt) for path, stmt in walk(after.body) if isinstance(stmt, For) and stmt.counter == "j'1")
    store = loop.body.body[0]
    assert isinstance(store, Store)
    moved = replace(store, index=(add(Var("z"), shift),), value=Change({"j'1": Var("z")}).value(store.value))
    turned = replace(loop, counter="z", body=Block((moved,)))
    user = statement_at(after.body, (*path[:-1], path[-1] + 1))
    return after, with_statements(after, path, 2, (user, turned) if is_late else (turned, user))


@pytest.mark.parametrize(("shift", "is_late", "holds"), [(Const(0), False, True), (ONE, False, False), (Const(0), True, False)])
def test_an_array_filled_one_off_or_too_late_is_not_proved(shift: Index, is_late: bool, holds: bool) -> None:
    before, after = filled(shift, is_late)
    maps = images(lower(before), lower(after), [Hint("j'1", Var("z"), frozenset({"z"}))])
    assert (invalid(reschedule(before, after, maps)) == []) == holds


# --- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "steps", "code", "said"),
    [
        (MIX, "compute r at i", "no-match", "no total in mix is that of an equation `r`"),
        (MIX, "compute y at i", "no-match", "what is no sum or reduction stands inside"),
        (MIX, "compute s at j", "no-match", "`s` is computed at j already"),
        (MIX, "compute s at i\ncompute s at i", "no-match", "`s` is computed at i already"),
        (MIX, "compute s at c", "no-match", "c is the index of a total that is one expression"),
        (MIX, "compute s at z", "no-loop", "compute looks for a loop over z"),
        (MIX, "compute s at i\ncompute s at d", "no-match", "nothing inside the loop over d computes `s`; that is done inside the loops over i"),
        (MIX, "compute s along i", "arguments", "compute has no clause `along`"),
        (MIX, "compute (s, y) at i", "arguments", "compute is followed by the name of an equation"),
        (MIX, "split d by 2 as gd ragged\ncompute s at i", "no-match", "the bounds of the loop at d'1 speak of more than sizes"),
        (MIX.replace("sum j.", "sum j where 2 <= j."), "compute s at i", "no-match", "the loop over j does not start at 0"),
    ],
)
def test_refusals_say_what_stands_there(text: str, steps: str, code: str, said: str) -> None:
    got, message, _ = refusal(steps, made(text))
    assert got == f"rewrite.{code}"
    assert said in message


def test_a_refused_name_is_told_those_that_there_are() -> None:
    assert refusal("compute r at i", made(SHIFTED))[2] == "one of `s`, `m`"


def test_a_total_is_no_equation() -> None:
    text = MIX.replace("sum c. q[i, c] * k[c, j]", "1.0 + sum c. q[i, c] * k[c, j]")
    with pytest.raises(AssertionError, match="no step was refused"):
        refusal("order (i, d)", made(text))
    assert "no total in mix is that of an equation `s`" in refusal("compute s at i", made(text))[1]


def test_a_local_that_holds_no_total_is_told_by_none() -> None:
    """The parameters of a function that is inlined are locals too, here one called `s`, and words of records have names of their own."""
    text = (
        'import "cachet:attention"\n'
        "contraction record (reads a: [f32; N, K]) -> out y: [f32; N, K] =\n"
        "  w[i] = reduce Online k. key (a[i, k]) 1.0\n"
        "  y[i, j] = a[i, j] - w[i].m\n"
    )
    assert refusal("compute s at i", made(text))[1:] == refusal("compute s at j", made(text))[1:]
    assert refusal("compute s at i", made(text))[2] == refusal("compute w at i", made(text))[2] == "one of `m`, `l`, `o`"
    proved(apply("compute m at i", made(text)), 3)


def test_what_is_computed_from_a_total_further_in_waits_for_it() -> None:
    text = (
        "contraction twice (reads a: [f32; N, K]) (reads b: [f32; K, L]) (reads u: [f32; L, P]) (reads v: [f32; P, E]) -> out y: [f32; N, E] =\n"
        "  s[i, j] = sum c. a[i, c] * b[c, j]\n"
        "  t[i, p] = sum j. s[i, j] * u[j, p]\n"
        "  y[i, d] = sum p. t[i, p] * v[p, d]\n"
    )
    before = made(text)
    assert "`t` is computed from `s`, which stands further in, at d" in refusal("compute s at d\ncompute t at i", before)[1]
    for steps in ("compute t at i", "compute t at i\ncompute s at i", "compute s at i\ncompute t at i", "compute s at p\ncompute t at i"):
        proved(apply(steps, before), 2)


def test_a_device_does_not_share_its_grid_with_the_host() -> None:
    host = apply("split d by 2 as gd\norder (gd, i, d)", made(MIX)).after
    path, loop = next((path, stmt) for path, stmt in walk(host.body) if isinstance(stmt, For) and stmt.counter == "i")
    grid = Grid((Axis("i", loop.domain.low, loop.domain.high),), loop.body, None, Arithmetic("Elsewhere"))
    said = refusal("compute s at gd", with_statements(host, path, 1, (grid,)))
    assert said[:2] == ("rewrite.no-match", "compute: the grid inside runs on a device, and what is computed outside of it does not")
