"""`run` stops at a call whose callee requires what does not hold there, and says where and at which values."""

from __future__ import annotations

from pathlib import Path

import pytest

from cachet_verify.diagnostic import CachetError
from cachet_verify.running import run_program

TEXT = """fn halves (reads x: [f32; N]) (mut y: [f32; N]) produces Init y
requires N % 2 == 0
=
  for i in 0 .. N do
    store y[i] = load x[i]

fn prefix (n: Nat) (reads x: [f32; N]) (mut y: [f32; N])
requires n <= N
=
  for i in 0 .. n do
    store y[i] = load x[i]

fn outer (reads x: [f32; N]) (mut y: [f32; N]) produces Init y =
  halves x y

fn main () =
  let a = alloc [f32; {extent}]
  let b = alloc [f32; {extent}]
  for i in 0 .. {extent} do
    store a[i] = 1.0
    store b[i] = 2.0
  {call}
  print (load b[0])
"""
LOOP = "for i in 0 .. 6 do\n    prefix i a b"


def lines(folder: Path, extent: int, call: str) -> list[str]:
    path = folder / "main.cachet"
    path.write_text(TEXT.format(extent=extent, call=call))
    return list(run_program(path, None, ()))


@pytest.mark.parametrize(("extent", "call"), [(4, "halves a b"), (4, "outer a b"), (5, LOOP), (4, "prefix 4 a b")])
def test_a_call_that_meets_what_is_required_runs(tmp_path: Path, extent: int, call: str) -> None:
    assert lines(tmp_path, extent, call) == ["1.0"]


@pytest.mark.parametrize(
    ("extent", "call", "line", "said"),
    [
        (3, "halves a b", 22, "`halves a b` may not be called here: halves requires N % 2 == 0"),
        (3, "outer a b", 14, "`halves x y` may not be called here: halves requires N % 2 == 0"),
        (4, "prefix 5 a b", 22, "`prefix 5 a b` may not be called here: prefix requires n <= N"),
        (4, LOOP, 23, "`prefix i a b` may not be called here: prefix requires n <= N"),
    ],
)
def test_a_call_that_does_not_stops_the_run(tmp_path: Path, extent: int, call: str, line: int, said: str) -> None:
    with pytest.raises(CachetError) as caught:
        lines(tmp_path, extent, call)
    (fault,) = caught.value.diagnostics
    assert fault.code == "run.requires"
    assert fault.message.startswith(said)
    assert fault.span is not None
    assert fault.span.line == line


def test_the_values_at_the_call_are_shown_by_their_names(tmp_path: Path) -> None:
    with pytest.raises(CachetError) as caught:
        lines(tmp_path, 4, LOOP)
    assert caught.value.diagnostics[0].message.endswith("; i = 5")
