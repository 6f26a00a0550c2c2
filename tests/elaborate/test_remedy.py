"""What a message says to type instead, where a first guess would lead astray."""

from __future__ import annotations

from pathlib import Path

import pytest

from cachet_verify.diagnostic import CachetError
from cachet_verify.listing import listing
from cachet_verify.report.message import ItemRefusedError
from cachet_verify.running import run_program
from cachet_verify.session import check

MATMUL = """contraction mm (reads a: [f32; M, K]) (reads b: [f32; K, N]) -> out c: [f32; M, N] =
  c[i, j] = sum k. a[i, k] * b[k, j]
"""
GENERIC = """contraction mm {S : Semiring} (reads a: [S.Value; M]) (reads b: [S.Value; M]) -> out c: [S.Value; 1] =
  c[i] = sum k. a[k] * b[k]
schedule cut of mm =
  split k by 4 as g ragged
fn f (reads a: [f32; M]) (mut c: [f32; 1]) =
  cut a a c
"""


def _written(folder: Path, text: str) -> Path:
    path = folder / "a.cachet"
    path.write_text(text, encoding="utf-8")
    return path


def _diagnostics(folder: Path, text: str) -> list[tuple[str, str, str]]:
    found = check([_written(folder, text)]).files[0].diagnostics
    return [(item.code, item.message, item.hint) for item in found]


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (MATMUL.replace("sum k.", "sun k."), "syntax.expected", "`sum` in place of `sun`"),
        (MATMUL.replace("out c", "c"), "syntax.expected", "`-> out c: TYPE`"),
        (MATMUL.replace("sum k. ", ""), "elaborate.name.unknown", "`sum k.` or a loop binds an index"),
        (MATMUL.replace("b[k, j]", "b[k, l]"), "elaborate.name.unknown", "`sum l.` or a loop binds an index"),
        (GENERIC, "elaborate.generic.unbound", "`cut @(S = PlusTimes f32) …`"),
    ],
)
def test_the_remedy_is_what_to_type(tmp_path: Path, text: str, code: str, said: str) -> None:
    assert [(found, hint) for found, _, hint in _diagnostics(tmp_path, text)] == [(code, said)]


def test_a_platform_that_is_not_there_is_one_fault_and_others_are_named(tmp_path: Path) -> None:
    ((code, _, hint),) = _diagnostics(tmp_path, "module (platform = Appel)\n" + MATMUL)
    assert code == "elaborate.platform.missing"
    assert "AppleSilicon" in hint


def test_a_word_of_the_language_is_not_offered_for_itself(tmp_path: Path) -> None:
    text = "fn f (mut c: [f32; 4, 4]) =\n  let z: [f32; 4, 4] = repeat 0.0\n  store c[0 .. 4, 0 .. 4] = repeat z\n"
    ((code, message, hint),) = _diagnostics(tmp_path, text)
    assert (code, message) == ("elaborate.name.kind", "`repeat` gives nothing that can stand here")
    assert "repeat" not in hint


def test_a_quotient_that_is_not_exact_says_how_to_round(tmp_path: Path) -> None:
    report = check([_written(tmp_path, "fn f (reads a: [f32; N]) (mut c: [f32; N]) =\n  for i in 0 .. N / 2 do\n    store c[i] = load a[i]\n")])
    refusal = report.files[0].items[0].refusal
    assert refusal is not None
    assert "`floor (N / 2)` rounds down" in refusal.message


def test_a_refused_function_is_not_said_to_be_absent(tmp_path: Path) -> None:
    path = _written(tmp_path, MATMUL + "fn twice (reads a: [f32; 4, 4]) (mut c: [f32; 4, 4]) produces Init c =\n  mm a c c\n")
    with pytest.raises(ItemRefusedError) as caught:
        listing(path, "twice", None, all_steps=False, relate=False, shadow=False, check=check)
    assert caught.value.item.name == "twice"


def test_an_unknown_argument_is_told_before_a_missing_one(tmp_path: Path) -> None:
    with pytest.raises(CachetError, match="no size or parameter Q"):
        list(run_program(_written(tmp_path, MATMUL), "mm", ["Q=3"]))
