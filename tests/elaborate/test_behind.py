"""What stands behind a declaration: platform facts and searched constants, through every name it mentions."""

from __future__ import annotations

from tests.elaborate.short import module

PLATFORM = """\
module (platform = P)
impl Platform for P where
  const lanes = Vec { f32 = 4 }
  const pipes = 2
"""
LANES, PIPES = "P.lanes @Vec @f32 = 4", "P.pipes = 2"


def test_facts_are_found_through_constants_and_each_once() -> None:
    constants = "const W : Nat = platform.lanes @Vec @f32\nconst D : Nat = W * W\n"
    found = module(f"{PLATFORM}{constants}proof p = assert D * platform.pipes > W\nproof q = assert 1 > 0\n").behind
    assert found["p"].facts == (PIPES, LANES)
    assert (found["D"].facts, found["q"].facts) == ((LANES,), ())


def test_facts_are_found_through_the_steps_of_a_schedule() -> None:
    text = f"""{PLATFORM}
const W : Nat = platform.lanes @Vec @f32
schedule fn blocked i =
  split i by W as gi
contraction copy (reads a: [f32; N]) -> out c: [f32; N] =
  c[i] = a[i]
schedule s of copy =
  blocked i
"""
    assert module(text).behind["s"].facts == (LANES,)


def test_without_a_platform_nothing_is_behind_anything() -> None:
    assert module("const W : Nat = 4\nproof p = assert W > 0\n").behind == {}
