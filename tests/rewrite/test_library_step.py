"""The library steps: what they make of a nest, written out by hand, and that their goals hold."""

from __future__ import annotations

import pytest

from cachet_verify.core.index import ZERO, Const, Var, add, div, eq, mod, mul
from cachet_verify.core.ir import Axis, Block, Declare, Grid, Load, Program, Require
from cachet_verify.rewrite.apply import _BUILT_IN
from cachet_verify.rewrite.library import COMPUTED
from tests.rewrite.drive import apply, proved, refusal
from tests.rewrite.nest import BATCHED, GENERIC, MATMUL, MATVEC, OUTER, ZERO_F32, C, at, blocks, chain, fma, loop, put


def with_body(program: Program, *body: object) -> Program:
    return Program(program.name, program.sizes, program.params, Block(body))  # type: ignore[arg-type]


ZERO_C = loop("zi", "M", loop("zj", "N", put(at("c", "zi", "zj"), ZERO_F32)))


def test_zero_writes_the_zeros_first_and_sums_start_from_their_cells() -> None:
    applied = apply("zero (i, j) c", MATMUL)
    total = chain("k", "K", at("a", "i", "k"), at("b", "k", "j"), C)
    assert proved(applied) == with_body(MATMUL, ZERO_C, loop("i", "M", loop("j", "N", put(C, total))))
    assert applied.rules() == ["open-fold", "reschedule", "close-fold"]


def test_hoist_visits_every_output_once_for_each_k() -> None:
    applied = apply("zero (i, j) c\nhoist (j, k) c", MATMUL)
    visit = (Declare("acc'0", "f32", init=C), put(C, fma(at("a", "i", "k"), at("b", "k", "j"), Load("acc'0"))))
    assert proved(applied) == with_body(MATMUL, ZERO_C, loop("i", "M", loop("k", "K", loop("j", "N", *visit))))


def test_steps_are_named_by_schedule_and_number() -> None:
    applied = apply("zero (i, j) c\nhoist (j, k) c", MATMUL)
    assert [outcome.name for outcome in applied.outcomes] == ["s'0_zero", "s'1_hoist"]


def test_hoist_goes_on_after_itself() -> None:
    applied = apply("zero (i, j) c\nhoist (j, k) c\ninterchange (i, k)", MATMUL)
    visit = (Declare("acc'0", "f32", init=C), put(C, fma(at("a", "i", "k"), at("b", "k", "j"), Load("acc'0"))))
    assert proved(applied) == with_body(MATMUL, ZERO_C, loop("k", "K", loop("i", "M", loop("j", "N", *visit))))


def test_a_generic_product_takes_the_same_steps() -> None:
    applied = apply("zero (i, j) c\nhoist (j, k) c", GENERIC)
    after = proved(applied)
    assert after.generics == GENERIC.generics
    assert Declare("acc'0", "S.Value", init=C) in after.body.body[1].body.body[0].body.body[0].body.body  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "program"),
    [("zero (i) y\nhoist (i, k) y", MATVEC), ("zero (g, i, j) c\nhoist (j, k) c\ninterchange (i, k)", BATCHED)],
)
def test_other_numbers_of_outputs(text: str, program: Program) -> None:
    proved(apply(text, program), 3)


def test_zero_of_a_nest_in_blocks() -> None:
    after = proved(apply("split i by 2 as gi ragged\nzero (gi, i, j) c", MATMUL), 4)
    zeros = put(Load("c", (add(Var("zi.lo"), Var("zj")), Var("zl"))), ZERO_F32)
    assert after.body.body[0] == blocks("zi", "M", 2, loop("zj", "zi.len", loop("zl", "N", zeros)))


def test_interchange_of_independent_loops() -> None:
    expected = loop("j", "N", loop("i", "M", OUTER.body.body[0].body.body[0].body.body[0]))  # type: ignore[union-attr]
    assert proved(apply("interchange (i, j)", OUTER)) == with_body(OUTER, expected)


def test_strip_counts_by_groups_and_asks_for_whole_ones() -> None:
    applied = apply("strip i 4 (p, r)", OUTER)
    after = proved(applied, 9)
    need = Require(eq(mod(Var("M"), Const(4)), ZERO), "strip i 4 (p, r)")
    assert applied.last.requires == (need,) == after.requires
    row = add(mul(Const(4), Var("p")), Var("r"))
    store = put(at("c", row, "j"), OUTER.body.body[0].body.body[0].body.body[0].value)  # type: ignore[union-attr]
    value = store.value.__class__("mul", "f32", (at("x", row), at("y", "j")))  # type: ignore[call-arg]
    expected = loop("p", div(Var("M"), Const(4)), loop("r", 4, loop("j", "N", put(at("c", row, "j"), value))))
    assert after.body == Block((expected,))


def test_strip_of_a_range_with_a_requirement_adds_none() -> None:
    applied = apply("split i by 4 as gi\nstrip i 2 (p, r)", OUTER)
    assert [str(need.origin) for need in proved(applied, 9).requires] == ["split i by 4"]


def test_parallel_makes_a_grid() -> None:
    applied = apply("parallel i", MATMUL)
    body = MATMUL.body.body[0].body  # type: ignore[union-attr]
    assert proved(applied).body == Block((Grid((Axis("i", ZERO, Var("M")),), body),))


def test_parallel_over_a_sum_is_not_proved() -> None:
    assert apply("zero (i, j) c\nhoist (j, k) c\nparallel k", MATMUL).failed() != []


def test_interchange_that_turns_updates_is_not_proved() -> None:
    """Splitting the sum exactly makes two loops; taking the inner one outside reorders the sum."""
    applied = apply("zero (i, j) c\nsplit k by 2 as gk\norder (gk, k, i, j)", MATMUL)
    proved(applied, 5)
    assert apply("zero (i, j) c\nsplit k by 2 as gk\norder (gk, k, i, j)\ninterchange (gk, k)", MATMUL).failed() != []


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("hoist (j, k) c", "rewrite.no-match", "looked for a load of the cell itself, found a word of f32"),
        ("hoist (q, k) c", "rewrite.no-loop", "hoist looks for a loop over q; there are i, j, k"),
        ("hoits (j, k) c", "rewrite.unknown-step", "no step is named hoits"),
        ("zero (i, l) c", "rewrite.no-loop", "zero looks for a loop over l; there are i, j, k"),
        ("hoist j k c", "rewrite.arguments", "hoist is written as `hoist j k c`"),
        ("interchange (j, i)", "rewrite.no-match", "looked for a loop over i, found store c[i, j]"),
        ("zero (i) c", "rewrite.no-match", "found for j in 0 .. N"),
        ("strip i 4 (j, r)", "rewrite.name-taken", "the name j is in use"),
        ("zero (i, j) c\nhoist (j, k) b", "rewrite.recipe", "the sum over k goes to c, not to b"),
        ("split i by 4 as gi ragged\nstrip gi 4 (p, r)", "rewrite.no-match", "looked for a loop over a plain range"),
    ],
)
def test_refusals_say_what_was_looked_for(text: str, code: str, said: str) -> None:
    got, message, _ = refusal(text, MATMUL)
    assert got == code
    assert said in message


def test_hints_say_what_to_type() -> None:
    assert refusal("hoits (j, k) c", MATMUL)[2] == "did you mean `hoist`?"
    assert refusal("hoist (j, k) c", MATMUL)[2].startswith("put `zero (…) c` first")
    assert refusal("hoist j k c", MATMUL)[2] == "`hoist (j, k) c`"


def test_a_misspelt_step_is_told_every_step_that_is_computed() -> None:
    assert set(COMPUTED) == {*_BUILT_IN, "split", "reduce"}
