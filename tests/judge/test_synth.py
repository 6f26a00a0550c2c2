"""Searched constants, checked whole: what is chosen, what is refused and why, and what rests on what."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from cachet_verify.optimum.problem import Candidate, Found, Infeasible, Outcome
from cachet_verify.report.record import ItemReport
from tests.judge.asking import items, verdicts

PLATFORM = 'module (platform = AppleSilicon)\nimport "cachet:platforms/apple-silicon"\n'
WIDTH = """
const MR : Nat = {rows}
synth const NR : Nat =
  minimize n in (n): n where
    n > 0, n <= {most},
    n % platform.lanes @Vec @f32 == 0,
    MR * ceil (n / platform.lanes @Vec @f32) >=
      platform.fma_pipes @Vec * platform.fma_latency @Vec
"""
COPY = """
contraction copy (reads a: [f32; N]) -> out c: [f32; N] =
  c[i] = a[i]
schedule blocked of copy =
  split i by NR as g ragged
"""


def sentence(item: ItemReport) -> str:
    return item.refusal.message if item.refusal is not None else item.claim.sentence if item.claim is not None else item.reason


@pytest.mark.parametrize(("rows", "width"), [(4, 16), (2, 32), (16, 4), (3, 24), (5, 16)])
def test_the_least_width_by_hand(rows: int, width: int, tmp_path: Path) -> None:
    # Sixteen vectors of four: ceil (16 / rows) vectors a row.
    found = items(tmp_path, PLATFORM + WIDTH.format(rows=rows, most=64) + f"proof it = assert NR == {width}\n")
    assert sentence(found["NR"]) == f"{width}, minimal"
    assert found["it"].verdict.value == "proved"
    assert found["NR"].claim is not None
    assert found["NR"].claim.assumes == tuple(f"AppleSilicon.{fact} = 4" for fact in ("lanes @Vec @f32", "fma_pipes @Vec", "fma_latency @Vec"))
    assert len(found["NR"].claim.strength.solvers) == 2


def test_the_rest_of_the_file_is_checked_with_the_number_and_lists_the_facts(tmp_path: Path) -> None:
    found = items(tmp_path, PLATFORM + WIDTH.format(rows=4, most=64) + COPY)
    claim = found["blocked"].claim
    assert claim is not None
    assert "AppleSilicon.fma_pipes @Vec = 4" in claim.assumes


def test_conditions_in_conflict_are_named_and_what_uses_the_constant_is_undecided(tmp_path: Path) -> None:
    text = PLATFORM + WIDTH.format(rows=4, most=12) + COPY + "const W : Nat = NR + 1\nproof p = assert W > 0\nproof q = assert 1 > 0\n"
    found = items(tmp_path, text)
    assert found["NR"].refusal is not None
    assert found["NR"].refusal.code == "synth.infeasible"
    long = "MR * ceil (n / platform.lanes @Vec @f32) >= platform.fma_pipes @Vec * platform.fma_latency @Vec"
    assert sentence(found["NR"]).split("\n") == [
        f"could not choose synth const NR: no n satisfies n <= 12, {long}",
        "leave any one of these conditions out, and the others can be met",
    ]
    assert [found[name].verdict.value for name in ("copy", "blocked", "p", "q")] == ["proved", "undecided", "undecided", "proved"]
    assert found["p"].reason.startswith("not-supported: `NR`, which has no value")


@pytest.mark.parametrize(
    ("conditions", "says"),
    [
        ("n % 4 == 0", "nothing bounds n from above"),
        ("n <= m, m > 0", "nothing bounds n from above"),
        ("n <= 10", "nothing bounds m from above"),
    ],
)
def test_a_name_without_a_bound_is_named(conditions: str, says: str, tmp_path: Path) -> None:
    found = items(tmp_path, f"synth const A : Nat = minimize n in (n, m): n + m where {conditions}\n")["A"]
    assert found.refusal is not None
    assert found.refusal.code == "synth.unbounded"
    assert sentence(found).startswith(f"could not choose synth const A: {says}\n")


def test_integers_have_no_bound_of_their_own(tmp_path: Path) -> None:
    text = "synth const D : Int = minimize d in (d): d where d <= 3\nsynth const E : Int = minimize d in (d): d * d - d where d >= -3, d <= 3\n"
    found = items(tmp_path, text)
    assert sentence(found["D"]).startswith("could not choose synth const D: nothing bounds d from below")
    assert sentence(found["E"]) == "0, minimal"  # 0 and 1 cost nothing


def test_several_are_chosen_together_at_least_cost(tmp_path: Path) -> None:
    # p * q <= 32 and p + q least for the product: 1 / p + 1 / q is least at 5 * 6 (11 / 30 < 12 / 32).
    text = "synth const (A, B) : (Nat, Nat) =\n  minimize (q, 2 * p) in (p, q): (p + q) / (p * q) where p > 0, q > 0, p * q <= 32\n"
    found = items(tmp_path, f"{text}proof both = assert A == 6 and B == 10\n")
    assert (sentence(found["A"]), sentence(found["B"])) == ("6 with B = 10, minimal", "10 with A = 6, minimal")
    assert found["both"].verdict.value == "proved"


@pytest.mark.parametrize(
    ("cost", "chosen"),
    [
        ("0.5 * n - 0.25 * m", "(1, 8)"),
        ("n / m", "(1, 8)"),
        ("-(m / n)", "(1, 8)"),
        ("floor (n / 4) + 0.5 * (9 - m)", "(1, 8)"),
        ("2 / n + 1 / m", "(8, 8)"),
    ],
)
def test_costs_are_rationals(cost: str, chosen: str, tmp_path: Path) -> None:
    text = f"synth const (A, B) : (Nat, Nat) = minimize (n, m) in (n, m): {cost} where n > 0, m > 0, n <= 8, m <= 8\n"
    assert verdicts(tmp_path, f"{text}proof p = assert A == {chosen[1]} and B == {chosen[4]}\n")["p"] == "proved"


def test_a_cost_whose_divisor_can_be_zero_or_less_is_refused(tmp_path: Path) -> None:
    found = items(tmp_path, "synth const A : Int = minimize n in (n): 1 / n where n >= -2, n <= 4\n")["A"]
    assert found.refusal is not None
    assert found.refusal.code == "synth.not-minimal"
    assert sentence(found).startswith("could not prove synth const A: the divisor of the cost is above 0")


def test_a_bare_quotient_in_a_condition_must_be_exact(tmp_path: Path) -> None:
    exact = "synth const A : Nat = minimize n in (n): n where n <= 64, n % 4 == 0, n / 4 >= 3\n"
    bare = "synth const B : Nat = minimize n in (n): n where n <= 64, n / 4 >= 3\n"
    found = items(tmp_path, exact + bare)
    assert sentence(found["A"]) == "12, minimal"
    assert found["B"].refusal is not None
    assert found["B"].refusal.code == "program.side-condition"


def test_a_search_that_uses_another_one_rests_on_it(tmp_path: Path) -> None:
    text = "synth const A : Nat = minimize n in (n): n where n > 4, n <= 9\nsynth const B : Nat = minimize n in (n): n where n > 2 * A, n <= 99\n"
    assert sentence(items(tmp_path, text)["B"]) == "11, minimal"
    assert sentence(items(tmp_path, text, only=("B",))["B"]) == "11, minimal"


def test_a_search_of_another_file_is_proved_for_its_users(tmp_path: Path) -> None:
    lib = "synth const W : Nat = minimize n in (n): n where n > 4, n <= 9\nsynth const X : Nat = minimize n in (n): n where n > 9, n <= 9\n"
    text = 'import "lib.cachet"\nproof p = assert W == 5\nproof q = assert X == 5\n'
    found = items(tmp_path, text, lib=lib)
    assert [found[name].verdict.value for name in ("p", "q")] == ["proved", "undecided"]
    assert any("nothing smaller satisfies" in part.says for part in found["p"].obligations)


def test_a_member_of_a_family_is_searched_for_itself(tmp_path: Path) -> None:
    text = "const MR : Nat = 4\nsynth const NR : Nat = minimize n in (n): n where n * MR >= 16, n <= 16\n"
    text += f"{COPY}proof listed = family MR in {{2, 4}} of blocked\nproof open = family MR > 0 of blocked\n"
    text += "proof none = family MR in {0, 4} of blocked\n"
    found = items(tmp_path, text)
    assert [found[name].verdict.value for name in ("listed", "open", "none")] == ["proved", "undecided", "undecided"]
    assert any("n = 8 satisfies the conditions" in part.says for part in found["listed"].obligations)


def test_three_names_and_a_million_choices(tmp_path: Path) -> None:
    text = """
synth const (A, B, C) : (Nat, Nat, Nat) =
  minimize (a, b, k) in (a, b, k): (a + b) / (a * b) + 2 / k where
    a >= 1, b >= 1, k >= 1, a <= 100, b <= 100, k <= 100, b % 4 == 0,
    a * ceil (b / 4) >= 16, a * ceil (b / 4) + ceil (b / 4) + 1 <= 32, 4 * k * (a + b) <= 8192
"""
    costs = {
        ((a + b) * k + 2 * a * b) / (a * b * k): (a, b, k)
        for a in range(1, 101)
        for b in range(4, 101, 4)
        for k in (1, min(100, 8192 // (4 * (a + b))))
        if k > 0 and a * (b // 4) >= 16 and a * (b // 4) + b // 4 + 1 <= 32
    }
    a, b, k = costs[min(costs)]
    assert sentence(items(tmp_path, text)["A"]) == f"{a} with B = {b}, C = {k}, minimal"


LIAR = "synth const A : Nat = minimize n in (n): n where n > 4, n <= 9\nproof p = assert A > 4\n"


@pytest.mark.parametrize(
    "lie",
    [
        Found((Candidate(Fraction(6), (6,)),)),
        Found((Candidate(Fraction(4), (4,)),)),
        Found((Candidate(Fraction(4), (5,)),)),
        Found((Candidate(Fraction(10), (10,)),)),
        Infeasible((1, 2), True),
        Infeasible((1,), False),
    ],
)
def test_what_a_search_says_is_not_believed(lie: Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cachet_verify.elaborate.synth.search", lambda problem: lie)
    found = items(tmp_path, LIAR)
    assert found["A"].verdict.value in ("undecided", "refused")
    assert found["A"].refusal is None or found["A"].refusal.code == "synth.not-minimal"
    assert found["p"].verdict.value in ("undecided", "refused")
