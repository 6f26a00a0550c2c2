"""Where a schedule stops at a step of the file's own: whose fault it is, and where it is shown."""

from __future__ import annotations

from pathlib import Path

from tests.judge.asking import items

TEXT = """
contraction outer (reads x: [f32; M]) (reads y: [f32; N]) -> out c: [f32; M, N] =
  c[i, j] = x[i] * y[j]

step fn misspelt i =
  from
    for i in $lo .. $hi do
      $body
  to
    for i in $lo .. $hi do
      $body
  relate
    trust me

step fn elsewhere i =
  from
    for i in $lo .. $hi do
      $body
  to
    for i in $lo .. $hi do
      $body

schedule s of outer =
  misspelt i

schedule t of outer =
  elsewhere q
"""


def test_a_step_whose_recipe_is_none_is_refused_where_it_is_written(tmp_path: Path) -> None:
    found = items(tmp_path, TEXT)
    step, schedule = found["misspelt"].refusal, found["s"].refusal
    assert step is not None
    assert schedule is not None
    assert (step.code, step.line, step.column) == ("rewrite.recipe", 13, 5)
    assert (schedule.code, schedule.line, schedule.column) == ("rewrite.recipe", 24, 3)
    assert schedule.message.split("\n")[1] == f"in the definition of the step, at {tmp_path}/main.cachet:13:5"


def test_a_step_that_finds_nothing_to_match_is_unused(tmp_path: Path) -> None:
    found = items(tmp_path, TEXT)
    assert found["elsewhere"].verdict.value == "unused"
    refusal = found["t"].refusal
    assert refusal is not None
    assert (refusal.code, refusal.line) == ("rewrite.no-loop", 27)


def test_an_admission_claims_nothing_but_what_it_trusts(tmp_path: Path) -> None:
    claim = items(tmp_path, 'proof later = admit "measured"\n')["later"].claim
    assert claim is not None
    assert claim.parts == ()
    assert [(entry.kind, entry.name, entry.reason) for entry in claim.trusted] == [("admitted", "later", "measured")]
