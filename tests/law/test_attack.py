"""Laws written against the checker: names that it makes itself, and numbers that its search does not try first."""

from __future__ import annotations

from pathlib import Path

import cachet_verify
from cachet_verify.core.ir import Load, Op, Word
from cachet_verify.core.numeral import word_of_float
from cachet_verify.replay.law import Point, find_difference

TRIED = (-3.0, -2.0, -1.5, -1.0, -0.5, 0.25, 1.0, 2.0, 3.0, 7.0, 40.0, -40.0)


def verdict(text: str, folder: Path) -> str:
    path = folder / "law.cachet"
    path.write_text(text)
    (item,) = cachet_verify.check([path]).files[0].items
    return item.verdict.value


def test_a_variable_called_as_a_quotient_is_not_taken_for_it(tmp_path: Path) -> None:
    """q / b is q only where b is 1 or q is 0; the factor hides it from small numbers, and no name makes it true."""
    for number in range(3):
        name = f"quotient'{number}"
        hidden = " * ".join(f"(b - ({value}))" for value in TRIED)
        left, right = (f"(if b == 0.0 then 0.0 else {hidden} * {side})" for side in (f"({name} / b)", name))
        assert verdict(f"law bad ({name}: f32) (b: f32) over reals : {left} == {right}\n", tmp_path) != "proved"


def test_numbers_that_no_law_was_written_around_are_tried(tmp_path: Path) -> None:
    """The product is 0 at every number that is tried first."""
    hidden = " * ".join(f"(b - ({value}))" for value in (0.0, *TRIED))
    assert verdict(f"law zero (b: f32) over reals : {hidden} == 0.0\n", tmp_path) == "refused"


def test_true_laws_are_not_refused_for_digits_that_were_dropped(tmp_path: Path) -> None:
    """Signs change, and constants are read, without rounding: a tenth as a word of f64 has 55 digits."""
    logs = "(if 0.0 < x then log (1.0 / x) else x) == (if 0.0 < x then -(log x) else x)"
    assert verdict(f"law turned (x: f32) over reals : {logs}\n", tmp_path) == "proved"
    tenth = Word("f64", word_of_float(0.1, "f64"))
    a = Load("a", ())
    twice = Op("sub", "f64", (Op("mul", "f64", (tenth, a)), Op("mul", "f64", (Op("neg", "f64", (tenth,)), a))))
    once = Op("mul", "f64", (Word("f64", word_of_float(0.2, "f64")), a))
    assert find_difference("reals", (Point((("a", "f64"),)),), (twice,), (once,)) is None


def test_roots_are_tried(tmp_path: Path) -> None:
    """The root of a square is no number below 0; no reason makes it one."""
    assert verdict('law root (a: f32) over reals : sqrt (a * a) == a = "as a reader might think"\n', tmp_path) == "refused"


def test_what_cannot_be_computed_counts_as_no_trial(tmp_path: Path) -> None:
    """Words have no real reading: the law is trusted by its reason alone, false as it is."""
    path = tmp_path / "law.cachet"
    law = 'law bits (a: f32) over reals : same a == a + 1.0 = "a reason"\n'
    path.write_text(f"{law}fn same (a: f32) -> f32 = from_bits (to_bits a)\n")
    (item,) = [item for item in cachet_verify.check([path]).files[0].items if item.kind == "law"]
    assert item.verdict.value == "proved"
    assert [(entry.reason, entry.evidence) for entry in item.trusted] == [("a reason", None)]
