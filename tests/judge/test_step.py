"""What a step of the user's own puts into a program has the types it has in the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.judge.asking import verdicts


@pytest.mark.parametrize(("elem", "verdict"), [("f32", "proved"), ("f16", "undecided"), ("i32", "undecided")])
def test_a_local_of_a_step_holds_words_of_its_type(elem: str, verdict: str, tmp_path: Path) -> None:
    text = f"""
contraction outer (reads x: [f32; M]) (reads y: [f32; N]) -> out c: [f32; M, N] =
  c[i, j] = x[i] * y[j]

step fn through i =
  from
    for i in $lo .. $hi do
      store $cell = $v
  to
    for i in $lo .. $hi do
      let t: {elem} = $v
      store $cell = t
  relate
    per cell c fold T.i

schedule s of outer =
  through j
"""
    assert verdicts(tmp_path, text)["s"] == verdict


def test_a_new_loop_of_a_step_may_be_called_like_a_buffer_of_the_program(tmp_path: Path) -> None:
    text = """
contraction outer (reads x: [f32; M]) (reads y: [f32; N]) -> out c: [f32; M, N] =
  c[i, j] = x[i] * y[j]

step fn once i =
  from
    for i in $lo .. $hi do
      $body
  to
    for x in 0 .. 1 do
      for i in $lo .. $hi do
        $body

schedule s of outer =
  once i
"""
    assert verdicts(tmp_path, text) == {"outer": "proved", "once": "proved", "s": "proved"}
