"""Records made by hand, and files with a template each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cachet_verify.ledger.record import Evidence, Inputs
from cachet_verify.measuring import Asked, Kept, measure_file

BODY = "x + x"
TEXT = """\
instr fn twice4 (x: Vec f32 4) -> Vec f32 4 =
  {body}
  by_target host "{text}"

fn use (reads x: [f32; 4]) (mut y: [f32; 4]) produces Init y =
  let v: Vec f32 4 = load x[0 .. 4]
  store y[0 .. 4] = twice4 v
"""
RIGHT = "{result} = fadd <4 x float> {x}, {x};"
WRONG = "{result} = fmul <4 x float> {x}, {x};"


COPIED = """\
instr fn copied4 (x: Vec {elem} 4) -> Vec {elem} 4 =
  x
  by_target host "{{result}} = shufflevector <4 x {llvm}> {{x}}, <4 x {llvm}> {{x}}, <4 x i32> <i32 0, i32 1, i32 2, i32 3>;"

fn use (reads x: [{elem}; 4]) (mut y: [{elem}; 4]) produces Init y =
  let v: Vec {elem} 4 = load x[0 .. 4]
  store y[0 .. 4] = copied4 v
"""


def two_of_a_name(folder: Path) -> tuple[Path, Path]:
    """A project with two files, each with an instruction of one name; their reference bodies are the same statement on words of other types."""
    (folder / "pyproject.toml").touch()
    paths = (folder / "single.cachet", folder / "double.cachet")
    for path, elem, llvm in zip(paths, ("f32", "f64"), ("float", "double"), strict=True):
        path.write_text(COPIED.format(elem=elem, llvm=llvm))
    return paths


def project(folder: Path, body: str = BODY, text: str = RIGHT) -> Path:
    """A project with one file."""
    (folder / "pyproject.toml").touch()
    path = folder / "own.cachet"
    path.write_text(TEXT.format(body=body, text=text))
    return path


def measure(path: Path, **asked: Any) -> tuple[Kept, ...]:
    """Measure what a file has for the host."""
    return measure_file(path, None, Asked("host", words=asked.pop("words", 400), **asked))


def record(**changes: Any) -> Evidence:
    """A record made by hand."""
    whole: dict[str, Any] = {
        "template": "twice4",
        "target": "host",
        "device": "some machine",
        "day": "2026-01-31",
        "template_digest": "a" * 64,
        "reference_digest": "b" * 64,
        "arithmetic": "ieee",
        "reference": "the interpreter",
        "samples": 4,
        "seed": 1,
        "inputs": (Inputs("random", 1, 4, 0), Inputs("NaN", 1, 4, 1, nan=2)),
    }
    return Evidence(**{**whole, **changes})
