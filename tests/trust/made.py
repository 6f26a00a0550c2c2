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
