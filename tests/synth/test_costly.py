"""Searches with remainders, quotients and products over many choices: chosen and certified as brute force says."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from tests.judge.asking import items

BOUNDS = "a > 0, a <= {most}, b > 0, b <= {most}, c > 0, c <= {most}"
# (cost in the language, cost, further conditions in the language, conditions)
COSTLY = [
    ("(37 * a + 61 * b + 83 * c) % 101", lambda a, b, c: (37 * a + 61 * b + 83 * c) % 101, "a + b + c >= 60", lambda a, b, c: a + b + c >= 60),
    (
        "a % 7 + b % 11 + c % 13 + (a * b + c) % 17",
        lambda a, b, c: a % 7 + b % 11 + c % 13 + (a * b + c) % 17,
        "(a * b) % c > 0, a + b > c",
        lambda a, b, c: a * b % c > 0 and a + b > c,
    ),
    (
        "ceil (1000 / a) * ceil (1000 / b) * ceil (1000 / c) * (a + b)",
        lambda a, b, c: -(-1000 // a) * -(-1000 // b) * -(-1000 // c) * (a + b),
        "a * b + b * c <= 600",
        lambda a, b, c: a * b + b * c <= 600,
    ),
    (
        "(a + b) / (a * b) + 1 / c",
        lambda a, b, c: Fraction(a + b, a * b) + Fraction(1, c),
        "a * b + c <= 200, a % 4 == 0",
        lambda a, b, c: a * b + c <= 200 and a % 4 == 0,
    ),
]


@pytest.mark.parametrize(("text", "cost", "more", "meets"), COSTLY)
def test_the_choice_is_the_first_of_the_cheapest(tmp_path: Path, text: str, cost: object, more: str, meets: object) -> None:
    most = 30
    choices = [values for values in product(range(1, most + 1), repeat=3) if meets(*values)]  # type: ignore[operator]
    expected = min(choices, key=lambda values: (cost(*values), values))  # type: ignore[operator]
    where = f"{BOUNDS.format(most=most)}, {more}"
    written = f"synth const (A, B, C) : (Nat, Nat, Nat) =\n  minimize (a, b, c) in (a, b, c): {text} where\n    {where}\n"
    found = items(tmp_path, written)
    assert {name: item.verdict.value for name, item in found.items()} == {"A": "proved", "B": "proved", "C": "proved"}
    chosen = found["A"].claim
    assert chosen is not None
    assert chosen.sentence == f"{expected[0]} with B = {expected[1]}, C = {expected[2]}, minimal"
    assert len(chosen.strength.solvers) == 2


def test_a_million_choices_of_a_remainder_in_seconds(tmp_path: Path) -> None:
    # Every remainder from 0 occurs, so the cost is 0 and the values come first in order: by the same loop in Python.
    expected = next((a, b, c) for a in range(1, 101) for b in range(1, 101) for c in range(1, 101) if (7 * a + 11 * b + 13 * c) % 97 == 0)
    where = BOUNDS.format(most=100)
    text = f"synth const (A, B, C) : (Nat, Nat, Nat) =\n  minimize (a, b, c) in (a, b, c): (7 * a + 11 * b + 13 * c) % 97 where\n    {where}\n"
    claim = items(tmp_path, text)["A"].claim
    assert claim is not None
    assert claim.sentence == f"{expected[0]} with B = {expected[1]}, C = {expected[2]}, minimal"


def test_one_name_under_a_square(tmp_path: Path) -> None:
    # The squares modulo 1009 repeat: n = 1009 gives 0, and 1009 % 7 == 1; the first multiple that is 3 modulo 7 is 3027.
    text = "synth const N : Nat =\n  minimize n in (n): n * n % 1009 where\n    n > 0, n <= 100000, n % 7 == 3\n"
    claim = items(tmp_path, text)["N"].claim
    assert claim is not None
    assert claim.sentence == "3027, minimal"


def test_no_square_is_two_more_than_a_multiple_of_three_and_the_ends_do_not_matter(tmp_path: Path) -> None:
    text = "synth const N : Nat =\n  minimize n in (n): n where\n    n > 5, n <= 40000, n % 2 == 0, n * n % 3 == 2\n"
    refusal = items(tmp_path, text)["N"].refusal
    assert refusal is not None
    assert refusal.code == "synth.infeasible"
    assert "n % 2 == 0" not in refusal.message
    assert "n * n % 3 == 2" in refusal.message
