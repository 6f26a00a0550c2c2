"""An implementation computes what the file that declares it says, not what another file's of that name does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.judge.asking import items, verdicts

LIBRARY = """
fn helper a b = a {operator} b
impl Semiring for My f32 where
  const Value = f32
  fn zero () = 0.0
  fn one () = 1.0
  fn add a b = helper a b
  fn mul a b = a * b
  fn mul_add a b c = helper (a * b) c
contraction {name} {{S : Semiring}} (reads a: [S.Value; N]) -> out c: [S.Value; 1] =
  c[i] = sum k. a[k]
fn {name}_of (reads a: [f32; N]) (mut c: [f32; 1]) =
  {name} @(S = My f32) a c
"""
WRAPPER = 'import "{inner}.cachet"\nfn {name} (reads a: [f32; N]) (mut c: [f32; 1]) =\n  {called} a c\n'


def files(operator: str) -> dict[str, str]:
    """Two libraries that declare one implementation in the same words, behind files that hide their names."""
    return {
        "first": LIBRARY.format(operator="+", name="sums"),
        "second": LIBRARY.format(operator=operator, name="others"),
        "one": WRAPPER.format(inner="first", name="f", called="sums_of"),
        "two": WRAPPER.format(inner="second", name="g", called="others_of"),
    }


@pytest.mark.parametrize("operator", ["-", "+"])
def test_the_same_words_may_mean_something_else_in_another_file(operator: str, tmp_path: Path) -> None:
    text = 'import "one.cachet"\nimport "two.cachet"\nproof p = relate f to g\n'
    with pytest.raises(ValueError, match="`My f32` implements `Semiring` twice, in different ways"):
        items(tmp_path, text, **files(operator))


def test_the_same_words_on_the_same_names_are_one_implementation(tmp_path: Path) -> None:
    direct = {stem: text.replace("helper a b", "a + b", 2).replace("helper (a * b) c", "a * b + c") for stem, text in files("+").items()}
    direct = {stem: text.replace("fn a + b = a + b\n", "") for stem, text in direct.items()}
    text = 'import "one.cachet"\nimport "two.cachet"\nproof p = relate f to g\n'
    assert verdicts(tmp_path, text, **direct) == {"p": "proved"}
