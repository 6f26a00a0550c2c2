"""The codes that only a command gives: what `run` and `scheduled` refuse, and where in the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from cachet_verify.diagnostic import CachetError
from cachet_verify.session import run, scheduled

TEXT = """\
fn outside (reads x: [f32; N]) (mut y: [f32; N]) =
  for i in 0 .. N do
    store y[i] = load x[i + 1]

fn unspecified (mut y: [f32; 1]) =
  var t: f32
  store y[0] = t

fn race (mut y: [f32; 4]) =
  grid i in 0 .. 4 do
    store y[0] = 1.0

fn window (mut y: [f32; 4]) =
  grid i in 0 .. 4 writes y[i] as w do
    store y[(i + 1) % 4] = 1.0

fn division (mut y: [f32; N]) =
  for i in 0 .. N do
    store y[i % (i - 2)] = 1.0

fn block (mut y: [f32; N]) =
  for g in blocks (0 .. N) (N - 3) do
    store y[g.lo] = 1.0

fn negative (mut y: [f32; N]) =
  var t: [f32; N - 3]
  store y[0] = 1.0

fn waiting (mut y: [f32; 4]) =
  if load y[0] < 1.0 then
    store y[0] = 1.0

fn eights (mut y: [f32; N])
requires N % 8 == 0
=
  for g in 0 .. N / 8 do
    store y[8 * g] = 1.0

contraction total {S : Semiring} (reads x: [S.Value; N]) -> out y: [S.Value; 1] =
  y[i] = sum k. x[k]

schedule later of total @(S = PlusTimes f32) =
  compute y at i

schedule misspelt of total @(S = PlusTimes f32) =
  zeroo i y
"""

# name -> the command's words, the code, the line (None where the message has no place)
COMMANDS: dict[str, tuple[str, str, int | None]] = {
    "bounds": ("run outside N=3", "run.bounds", 3),
    "unspecified": ("run unspecified", "run.unspecified", 7),
    "race": ("run race", "run.race", 11),
    "window": ("run window", "run.window", 15),
    "division": ("run division N=3", "run.division", 19),
    "block": ("run block N=3", "run.block", 22),
    "size": ("run negative N=2", "run.size", 26),
    "requirement": ("run eights N=6", "run.requirement", None),
    "no main": ("run", "run.name", None),
    "generic": ("run total N=2", "run.generic", 39),
    "no size": ("run eights", "run.argument", None),
    "no number": ("run eights N=-8", "run.argument", None),
    "no form": ("run eights N", "run.argument", None),
    "twice": ("run eights N=8 N=8", "run.argument", None),
    "no parameter": ("run eights N=8 q=1", "run.argument", None),
    "too few cells": ("run eights N=8 y=1.0,2.0", "run.argument", None),
    "too many cells": ("run eights N=999999992", "run.argument", None),
    "not supported": ("run waiting", "run.not-supported", 29),
    "nothing to compute": ("run later N=2", "rewrite.no-match", 43),
    "a step that does not apply": ("run misspelt N=2", "rewrite.unknown-step", 46),
    "no nest": ("scheduled nothing", "listing.name", None),
    "no step": ("scheduled eights --step 1", "listing.step", None),
    "no shadow": ("scheduled eights --shadow", "listing.shadow.none", None),
}


def _command(command: str, path: Path, given: list[str]) -> None:
    """Carry out `run NAME NAME=VALUE…` or `scheduled NAME` with its flags."""
    if command == "run":
        list(run(path, *given[:1], arguments=given[1:]))
    else:
        scheduled(path, given[0], 1 if "--step" in given else None, False, False, "--shadow" in given)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_refused_with_its_code(name: str, tmp_path: Path) -> None:
    words, code, line = COMMANDS[name]
    path = tmp_path / "kernels.cachet"
    path.write_text(TEXT)
    command, *given = words.split()
    with pytest.raises(CachetError) as caught:
        _command(command, path, given)
    (found,) = caught.value.diagnostics
    assert (found.code, None if found.span is None else found.span.line) == (code, line)
