"""Steps that are wrong: each is refused, by its scope or by an obligation that does not hold."""

from __future__ import annotations

import pytest

from cachet_verify.core.index import ZERO, Const, Var, add
from cachet_verify.core.ir import Block, For, Program, Range
from cachet_verify.rewrite.error import StepError
from tests.kernel.execute import run
from tests.rewrite.drive import apply, proved, refusal, same_words, scope
from tests.rewrite.nest import MATMUL, OUTER, at, fma, loop, out, program, put, reads

HOIST = """
step fn NAME (j, k) c =
  from
    for j in $a .. $b do
      store $cell = fold k in $lo .. $hi from (load $cell) as $acc: $E do $step
  to
    for k in KLO .. KHI do
      for j in JLO .. $b do
        let $acc = load $cell
        store $cell = STEP
  relate
    per cell c fold S.k
    per cell c fold T.k
    interchange S.j
"""


def hoist_like(name: str, **changed: str) -> str:
    text = HOIST.replace("NAME", name)
    for place, standard in {"KLO": "$lo", "KHI": "$hi", "JLO": "$a", "STEP": "$step[$acc]"}.items():
        text = text.replace(place, changed.get(place, standard))
    return text


def failed(definition: str, text: str) -> list[str]:
    name = definition.split()[2]
    applied = apply(f"zero (i, j) c\n{text.replace('NAME', name)}", MATMUL, scope(definition, schedule="swapped"))
    assert applied.is_linked()
    assert applied.last.name == f"swapped'1_{name}"
    return applied.failed()


TRIPS_K = "the loops at S.k and T.k run the same number of times"
TRIPS_J = "the loops at S.j and T.j run the same number of times"
BODY = "the two runs hold the same words in parameter 3 after each iteration of the loops at S.j and T.j"


def test_a_copy_of_hoist_is_as_good_as_hoist() -> None:
    assert failed(hoist_like("copied"), "NAME (j, k) c") == []


@pytest.mark.parametrize(
    ("name", "changed", "said"),
    [
        ("sloppy", {"KLO": "$lo + 1"}, TRIPS_K),
        ("short", {"KHI": "$hi - 1"}, TRIPS_K),
        ("long", {"KHI": "$hi + 1"}, TRIPS_K),
        ("narrow", {"JLO": "$a + 1"}, TRIPS_J),
        ("backwards", {"STEP": "$step[$acc][k := $hi - 1 - (k - $lo)]"}, BODY),
        ("shifted", {"STEP": "$step[$acc][k := k + 1]"}, BODY),
        ("stuck", {"STEP": "$step[$acc][k := $lo]"}, BODY),
        ("turned", {"STEP": "$step[$acc][j := $a + $b - 1 - j]"}, BODY),
    ],
)
def test_the_obligation_that_does_not_hold_is_named(name: str, changed: dict[str, str], said: str) -> None:
    subjects = failed(hoist_like(name, **changed), "NAME (j, k) c")
    assert subjects[0] == said


def test_names_in_sentences_are_those_of_the_step() -> None:
    renamed = hoist_like("sloppy", KLO="$lo + 1").replace("(j, k) c", "(x, y) d").replace("for j", "for x").replace("for k", "for y")
    renamed = renamed.replace("fold k", "fold y").replace("cell c", "cell d").replace("S.k", "S.y").replace("T.k", "T.y").replace("S.j", "S.x")
    assert failed(renamed, "NAME (j, k) c") == ["the loops at S.y and T.y run the same number of times"]


def test_a_recipe_that_forgets_the_sum_is_no_proof() -> None:
    forgetful = hoist_like("forgetful").replace("    per cell c fold S.k\n", "")
    assert refusal("zero (i, j) c\nforgetful (j, k) c", MATMUL, scope(forgetful))[0] == "rewrite.rule"


def test_a_step_without_a_recipe_is_still_checked() -> None:
    dropping = "step fn half i =\n  from\n    for i in $lo .. $hi do\n      $body\n  to\n    for i in $lo .. $hi - 1 do\n      $body\n"
    assert apply("half i", OUTER, scope(dropping)).failed() == ["the loops at S.i and T.i run the same number of times"]


def test_doing_everything_twice_is_no_step() -> None:
    twice = "step fn twice i =\n  from\n    for i in $A do\n      $body\n  to\n    for i in $A do\n      for x in 0 .. 2 do\n        $body\n"
    applied = apply("twice i", MATMUL, scope(twice))
    assert applied.failed() != []


def test_a_copied_body_is_renamed_apart_and_refused() -> None:
    both = "step fn both i =\n  from\n    for i in $A do\n      $body\n  to\n    for i in $A do\n      $body\n    for i in $A do\n      $body\n"
    assert refusal("both i", MATMUL, scope(both))[0] == "rewrite.rule"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("    interchange S.j\n    interchange S.j", "a recipe reorders once"),
        ("    interchange S.q", "no loop or sum over q is there"),
        ("    interchange T.j", "no kernel rule goes by `interchange T.j`"),
        ("    per cell c fold S.q\n    interchange S.j", "no loop or sum over q is there"),
        ("    trust S.j", "no kernel rule goes by `trust S.j`"),
    ],
)
def test_recipes_that_say_nothing_a_rule_can_do(line: str, said: str) -> None:
    text = hoist_like("told").replace("    interchange S.j", line)
    code, message, _ = refusal("zero (i, j) c\ntold (j, k) c", MATMUL, scope(text))
    assert code == "rewrite.recipe"
    assert said in message


def test_an_admitted_recipe_is_not_taken() -> None:
    text = hoist_like("trusting").replace("    interchange S.j\n", '    admit "seems fine"\n')
    assert refusal("zero (i, j) c\ntrusting (j, k) c", MATMUL, scope(text))[0] == "rewrite.recipe"


# --- scopes ---


def triangle() -> Program:
    store = put(at("c", "i", "j"), fma(at("x", "i"), at("y", "j"), at("c", "i", "j")))
    inner = For("j", Range(ZERO, add(Var("i"), Const(1))), Block((store,)))
    return program("triangle", "M", (reads("x", "M"), reads("y", "M"), out("c", "M", "M")), loop("i", "M", inner))


def test_a_bound_cannot_leave_its_loop() -> None:
    code, message, _ = refusal("interchange (i, j)", triangle())
    assert code == "rewrite.scope"
    assert message == "$B mentions i, which nothing binds where the step uses it"


def test_a_total_needs_a_value() -> None:
    bare = hoist_like("bare", STEP="$step").replace("        let $acc = load $cell\n", "")
    code, message, _ = refusal("zero (i, j) c\nbare (j, k) c", MATMUL, scope(bare))
    assert code == "rewrite.scope"
    assert "running total" in message


def test_a_fault_in_a_definition_is_told_at_the_line_that_uses_it() -> None:
    with pytest.raises(StepError) as caught:
        apply("zero (i, j) c\nlost (j, k) c", MATMUL, scope(hoist_like("lost").replace("let $acc = load $cell", "let $acc = load p")))
    found = caught.value.diagnostic
    assert found.span is not None
    assert (found.span.path, found.span.line) == ("steps", 2)
    assert [note.message for note in found.notes] == ["in the definition of the step"]


def test_an_argument_that_is_no_number() -> None:
    code, message, _ = refusal("strip i q (p, r)", MATMUL)
    assert code == "rewrite.scope"
    assert message == "q is no number, no constant and no loop around the place where the step uses it"


def test_a_buffer_has_to_be_there() -> None:
    code, message, _ = refusal(
        "zero (i, j) c\nlost (j, k) c", MATMUL, scope(hoist_like("lost").replace("let $acc = load $cell", "let $acc = load p"))
    )
    assert (code, message) == ("rewrite.scope", "nothing declares p where the step uses it")


def test_a_cell_cannot_leave_its_loop() -> None:
    text = "step fn early j =\n  from\n    for j in $A do\n      store $cell = $v\n  to\n    store $cell = $v\n"
    code, message, hint = refusal("early j", MATMUL, scope(text))
    assert (code, hint) == ("rewrite.scope", "keep $cell inside the loop over j, or give it a value: [j := …]")
    assert "$cell mentions j" in message


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("step fn s i =\n  from\n    for i in $A do\n      $body\n  to\n    $other\n", "rewrite.unbound-hole"),
        ("step fn s i =\n  from\n    for i in $A do\n      $body\n  to\n    for i in $A do\n      $body[q := 1]\n", "rewrite.unbound-hole"),
        ("step fn s i =\n  from\n    for i in $A do\n      $body\n  to\n    for i in 0 .. q do\n      $body\n", "rewrite.scope"),
        ("step fn s i =\n  from\n    for i in $A do\n      $body\n  to\n    $A\n", "rewrite.step-definition"),
        ("step fn s i =\n  from\n    for i in $A do\n      $body\n      $rest\n  to\n    $body\n", "rewrite.step-definition"),
    ],
)
def test_definitions_that_say_nothing_a_step_can_do(text: str, code: str) -> None:
    assert refusal("s i", OUTER, scope(text))[0] == code


def test_a_variable_used_twice_stands_for_one_thing() -> None:
    text = """
step fn same (i, j) =
  from
    for i in 0 .. $n do
      for j in 0 .. $n do
        $body
  to
    for j in 0 .. $n do
      for i in 0 .. $n do
        $body
"""
    same = scope(text)
    assert refusal("same (i, j)", MATMUL, same)[0] == "rewrite.no-match"
    square = Program(
        OUTER.name,
        ("M",),
        (reads("x", "M"), reads("y", "M"), out("c", "M", "M")),
        Block((loop("i", "M", loop("j", "M", OUTER.body.body[0].body.body[0].body.body[0])),)),
    )  # type: ignore[union-attr]
    proved(apply("same (i, j)", square, same))


# --- steps of one's own ---


def test_updates_may_be_moved_once_more() -> None:
    """After `hoist` the sum is a loop of updates with a `let`; a recipe reads that as updates on both sides."""
    text = """
step fn lower (k, j) c =
  from
    for k in $K do
      for j in $J do
        let $t = load $cell
        store $cell = $v
  to
    for j in $J do
      for k in $K do
        let $t = load $cell
        store $cell = $v
  relate
    per cell c fold S.k
    per cell c fold T.k
    interchange S.k
"""
    applied = apply("zero (i, j) c\nhoist (j, k) c\nlower (k, j) c", MATMUL, scope(text))
    proved(applied)
    assert applied.rules() == ["inline-let", "reschedule", "converse of inline-let"]


def test_a_step_that_counts_down_is_proved_where_order_does_not_matter() -> None:
    text = """
step fn mirrored i =
  from
    for i in $lo .. $hi do
      $body
  to
    for t in $lo .. $hi do
      $body[i := $hi - 1 - (t - $lo)]
  relate
    recount S.i
"""
    applied = apply("mirrored i", MATMUL, scope(text))
    proved(applied)
    broken = apply("zero (i, j) c\norder (k, i, j)\nmirrored k", MATMUL, scope(text))
    assert broken.failed() != []
    assert not same_words(MATMUL, broken.after, 3)


def test_a_split_written_as_a_step() -> None:
    text = """
step fn halves i n (g, r) =
  from
    for i in $lo .. $hi do
      $body
  to
    for g in blocks ($lo .. $hi) n do
      for r in 0 .. g.len do
        $body[i := g[r]]
  relate
    recount S.i
"""
    applied = apply("halves i 3 (g, r)", MATMUL, scope(text))
    by_split = apply("split i by 3 as g ragged", MATMUL).after
    assert run(proved(applied, 5), {"M": 7, "N": 1, "K": 2}) == run(by_split, {"M": 7, "N": 1, "K": 2})


def test_the_last_definition_of_a_shape_counts() -> None:
    own = hoist_like("hoist", KLO="$lo + 1")
    assert failed(own, "NAME (j, k) c") == [TRIPS_K]
