"""Proofs: what is asserted, what is related to what, which constants vary."""

from __future__ import annotations

import pytest

from cachet_verify.core.index import FALSE, TRUE, Const, Var, conj, lt
from cachet_verify.elaborate.item import AdmitItem, AssertItem, FamilyItem, RelateItem
from cachet_verify.elaborate.load import load_text
from cachet_verify.elaborate.module import elaborate
from tests.elaborate.short import MATMUL, faults, load, module

PLATFORM = 'module (platform = AppleSilicon)\nimport "cachet:platforms/apple-silicon"\n'
CHAINS = """\
const MR : Nat = 4
const NR : Nat = {}
proof enough_chains =
  assert MR * ceil (NR / platform.lanes @Vec @f32) >=
    platform.fma_pipes @Vec * platform.fma_latency @Vec
"""


@pytest.mark.parametrize(("width", "formula"), [(8, FALSE), (12, FALSE), (13, TRUE), (16, TRUE)])
def test_an_assertion_about_the_platform(width: int, formula: object) -> None:
    # Four rows of ceil (NR / 4) vectors against four pipes of four cycles: 16 chains are enough.
    (item,) = module(PLATFORM + CHAINS.format(width)).proofs
    assert isinstance(item, AssertItem)
    assert item.formula == formula
    assert item.text == "MR * ceil (NR / platform.lanes Vec f32) >= platform.fma_pipes @Vec * platform.fma_latency @Vec"


@pytest.mark.parametrize(
    ("claim", "sides"),
    [
        ("3 < 4", ""),
        ("5 < 4", "the left side is 5, the right side is 4"),
        ("1 < 2 and 7 % 4 == 2 and 9 < 8", "the left side is 3, the right side is 2"),
        ("not 1 < 2", ""),
    ],
)
def test_both_sides_of_what_fails_are_worked_out(claim: str, sides: str) -> None:
    (item,) = module(f"proof p = assert {claim}\n").proofs
    assert isinstance(item, AssertItem)
    assert item.sides == sides


COPIES = """\
fn one (reads x: [f32; N]) (mut y: [f32; N])
produces Init y
=
  for i in 0 .. N do
    store y[i] = load x[i]
fn two (reads u: [f32; L]) (mut t: [f32; 8]) (mut v: [f32; L])
produces Init v
scratch t
=
  for i in 0 .. L do
    store v[i] = load u[i]
"""


def test_parameters_match_by_position_and_scratch_is_left_out() -> None:
    text = COPIES.replace("(mut t: [f32; 8]) (mut v: [f32; L])", "(mut v: [f32; L]) (mut t: [f32; 8])")
    (item,) = module(f"{text}proof p = relate two to one\n").proofs
    assert isinstance(item, RelateItem)
    assert item.program is not None
    assert item.meaning is not None
    assert [param.name for param in item.meaning.params] == ["u", "v"]
    assert item.meaning.sizes == ("L",)
    assert load("u", "i'1") in [stmt.value for loop in item.meaning.body.body for stmt in loop.body.body]  # type: ignore[union-attr]


def test_parameters_match_by_name_first() -> None:
    text = (
        COPIES.replace("u: [f32; L]", "x: [f32; L]").replace("v: [f32; L]", "y: [f32; L]").replace("load u", "load x").replace("store v", "store y")
    )
    text = text.replace("Init v", "Init y")
    (item,) = module(f"{text}proof p = relate two to one\n").proofs
    assert isinstance(item, RelateItem)
    assert item.meaning is not None
    assert [param.name for param in item.meaning.params] == ["x", "y"]


@pytest.mark.parametrize("proof", ["relate one to two", "relate two to matmul"])
def test_sides_that_do_not_correspond_are_refused(proof: str) -> None:
    assert faults(f"{COPIES}{MATMUL}proof p = {proof}\n") == [("elaborate.proof", 17)]


def test_a_buffer_that_only_the_program_has_must_be_scratch() -> None:
    text = COPIES.replace("(mut t: [f32; 8]) (mut v: [f32; L])", "(mut v: [f32; L]) (mut t: [f32; 8])").replace("scratch t\n", "")
    assert faults(f"{text}proof p = relate two to one\n") == [("elaborate.proof", 11)]


def test_a_schedule_is_related_once_its_steps_are_applied() -> None:
    text = f"{MATMUL}schedule s of matmul @(S = PlusTimes f32) =\n  zero (i, j) c\nproof p = relate s to matmul @(S = PlusTimes f32)\n"
    loaded = load_text(text)
    first = elaborate(loaded)
    (item,) = first.proofs
    assert isinstance(item, RelateItem)
    assert (item.program, item.schedules) == (None, ("s",))
    start = first.schedules["s"].program
    assert start is not None
    (item,) = elaborate(loaded, {"s": start}).proofs
    assert isinstance(item, RelateItem)
    assert item.program == start
    assert item.meaning_name == "matmul_PlusTimes_f32"


def test_a_listed_family_has_a_set_for_each_constant() -> None:
    proof = "proof f = family (MC, NC) in {4, 8} * {8} of tower\n"
    text = f"const MC : Nat = 4\nconst NC : Nat = 8\n{MATMUL}schedule tower of matmul =\n  split i by MC as gi\n{proof}"
    (item,) = module(text).proofs
    assert isinstance(item, FamilyItem)
    assert (item.of, item.names, item.choices) == ("tower", ("MC", "NC"), ((4, 8), (8,)))


def test_an_open_family_leaves_its_constants_symbolic() -> None:
    text = (
        f"const MC : Nat = 4\n{MATMUL}schedule tower of matmul @(S = PlusTimes f32)\n    (mut p: [f32; MC, K]) =\n  split i by MC as gi\n"
        "proof f = family MC > 0, MC < 9 of tower\n"
    )
    (item,) = module(text).proofs
    assert isinstance(item, FamilyItem)
    assert item.choices is None
    assert item.condition == conj((lt(Const(0), Var("MC")), lt(Var("MC"), Const(9))))
    buffers = elaborate(load_text(text), symbolic=item.names).schedules["tower"].buffers
    assert buffers[0].shape == (Var("MC"), Var("K"))


def test_an_admission_keeps_its_reason() -> None:
    (item,) = module('proof p = admit "measured on the bench"\n').proofs
    assert isinstance(item, AdmitItem)
    assert item.reason == "measured on the bench"


DIFFERENCE = """
fn {name} (reads {x}: [f32; N]) (reads {y}: [f32; N]) (mut {z}: [f32; N]) =
  for i in 0 .. N do
    store {z}[i] = (load p[i]) - (load q[i])
"""


def test_parameters_whose_names_agree_are_matched_by_name_though_others_are_not() -> None:
    text = DIFFERENCE.format(name="f", x="p", y="q", z="c") + DIFFERENCE.format(name="g", x="q", y="p", z="d")
    (item,) = module(f"{text}proof p = relate f to g\n").proofs
    assert isinstance(item, RelateItem)
    assert item.meaning is not None
    assert [param.name for param in item.meaning.params] == ["q", "p", "c"]


def test_a_meaning_that_writes_scratch_alone_is_compared_with_nothing() -> None:
    text = "fn f (mut s: [f32; N])\nscratch s\n=\n  for i in 0 .. N do\n    store s[i] = 0.0\n"
    assert ("elaborate.proof", 6) in faults(f"{text}proof p = relate f to f\n")
