"""Functions of words applied to vectors: each lane is what the function gives of that lane's words, literals included."""

from __future__ import annotations

from pathlib import Path

import pytest

from cachet_verify.diagnostic import CachetError
from cachet_verify.judge.file import open_file
from cachet_verify.running import run_program

WORDS = "a=1.5,-0.0,nan,-2,0.25,inf,3 b=-1,0.0,1,2,nan,0.5,3 c=0.5,0.5,-0.0,4,1,-inf,2"
CALLS = {
    "relu": "relu {a}",
    "clamp": "clamp {b} {c} {a}",
    "lerp": "lerp {a} {b} {c}",
    "or_zero": "or_zero ({a} > {b}) {c}",
    "or_least": "or_least ({a} <= {b}) {c}",
    "own": "twice {a} + {b}",
}
HEADER = 'import "cachet:simd"\nfn twice x = 2.0 * (if x > 0.5 then x else -0.5)\n'
FN = "fn {name} (reads a: [f32; N]) (reads b: [f32; N]) (reads c: [f32; N]) (mut y: [f32; N]) produces Init y =\n"
BY_VECTOR = """  for g in blocks (0 .. N) 4 do
    let u: Vec f32 4 = load a[g.lo .. g.lo + g.len]
    let v: Vec f32 4 = load b[g.lo .. g.lo + g.len]
    let w: Vec f32 4 = load c[g.lo .. g.lo + g.len]
    let r: Vec f32 4 = {call}
    store y[g.lo .. g.lo + g.len] = r
"""
BY_WORD = "  for i in 0 .. N do\n    store y[i] = {call}\n"


@pytest.mark.parametrize("name", CALLS)
def test_a_vector_is_taken_lane_by_lane(name: str, tmp_path: Path) -> None:
    call, path = CALLS[name], tmp_path / "lanes.cachet"
    vectors = BY_VECTOR.format(call=call.format(a="u", b="v", c="w"))
    words = BY_WORD.format(call=call.format(a="(load a[i])", b="(load b[i])", c="(load c[i])"))
    path.write_text(HEADER + FN.format(name="vectors") + vectors + FN.format(name="words") + words, encoding="utf-8")
    arguments = ["N=7", *WORDS.split()]
    assert list(run_program(path, "vectors", arguments)) == list(run_program(path, "words", arguments))


@pytest.mark.parametrize(
    "text",
    [
        "fn f (reads x: [f32; 8]) (mut y: [f32; 8]) =\n  let v: Vec f32 8 = load x[0 .. 8]\n  let w: Vec f32 8 = max v 0.0\n  store y[0 .. 8] = w\n",
        "fn up (x: Vec f32 8) -> Vec f32 8 = x + 1.0\nfn f (reads x: [f32; 8]) (mut y: [f32; 8]) =\n  let v: Vec f32 8 = load x[0 .. 8]\n"
        "  let w: Vec f32 8 = up v\n  store y[0 .. 8] = w\n",
    ],
    ids=["in a statement", "in a function of vectors"],
)
def test_a_number_is_no_vector_elsewhere(text: str, tmp_path: Path) -> None:
    path = tmp_path / "number.cachet"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CachetError, match="a number is not a vector"):
        open_file(path)
