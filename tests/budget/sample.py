"""Programs for the tests of budgets, read from text as a user writes it.

Takes texts; gives core programs. Must not ask any solver.
"""

from __future__ import annotations

from pathlib import Path

from cachet_verify.core.ir import Program
from cachet_verify.judge.file import open_file

HEAD = """module (platform = AppleSilicon)
import "cachet:platforms/apple-silicon"
import "cachet:layouts"
import "cachet:steps"

"""

MATMUL = """contraction matmul {S : Semiring} (reads a: [S.Value; M, K]) (reads b: [S.Value; K, N]) -> out c: [S.Value; M, N] =
  c[i, j] = sum k. a[i, k] * b[k, j]

schedule fn blocks (i, j, k) c (MC, MR, NC, KC) =
  zero (i, j) c
  split k by KC as gk ragged
  split i by MC as gi, MR as ui ragged
  split j by NC as gj ragged
  order (gk, gj, gi, ui, i, j)

schedule packed of matmul @(S = PlusTimes f32)
    (mut packA: [f32; 16, 16] in PanelMajor 4 at DRAM)
    (mut packB: [f32; 16, 8] at DRAM) =
  blocks (i, j, k) c (16, 4, 8, 16)
  pack a into packA along gi over (a0, a1)
  keep packA along gi within L2 into packA_L2
  pack b into packB along gj over (b0, b1)
  keep packB along gj within L1 into packB_L1

"""

CALLER = """fn NAME (reads a: [f32; M_, K_]) (reads b: [f32; K_, N_]) (mut c: [f32; M_, N_])
    (mut packA: [f32; 16, 16] in PanelMajor 4 at DRAM)
    (mut packB: [f32; 16, 8] at DRAM)
REQUIRES
produces Init c
movement
  traffic ROW_B * lines (span_bytes packB.span) from DRAM to L1 and back
  traffic ROW_A * lines (span_bytes packA.span) from DRAM to L2 and back
=
  packed a b c packA packB

"""


def caller(name: str, row_b: str, row_a: str, sizes: tuple[str, str, str] = ("M", "N", "K"), requires: str = "") -> str:
    """A function that calls `packed` at sizes of its own, under a budget of a row for each buffer."""
    text = CALLER.replace("NAME", name).replace("ROW_B", row_b).replace("ROW_A", row_a)
    for letter, size in zip("MNK", sizes, strict=True):
        text = text.replace(f"{letter}_", size)
    return text.replace("REQUIRES\n", f"requires {requires}\n" if requires else "")


def program_of(folder: Path, text: str, name: str) -> Program:
    """The program of a name in a file of that text."""
    path = folder / "sample.cachet"
    path.write_text(HEAD + text)
    found = open_file(path).program(name)
    if found is None:
        raise KeyError(name)
    return found


def leasing(body: str, movement: str = "", params: str = "(mut x: [f32; 8]) (mut y: [f32; N, M])") -> str:
    """A function `f` over `x` and `y` with a body, and rows of traffic."""
    clause = f"movement\n{movement}" if movement else ""
    return f"fn f {params}\n{clause}=\n{body}"
