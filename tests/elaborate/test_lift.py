"""Programs printed and read back: the same store families, in the article's notation."""

from __future__ import annotations

from pathlib import Path

import pytest

from cachet_verify.core.family import Families, lower, substitute_value
from cachet_verify.core.index import Var, substitute, substitute_formula
from cachet_verify.core.ir import Program
from cachet_verify.elaborate.lift import lift
from cachet_verify.judge.file import open_file
from tests.elaborate.short import MATMUL, module, printed, program

CORPUS = Path(__file__).parent / "nest.cachet"

BLOCKED = """\
fn blocked (reads a: [f32; M, K]) (reads b: [f32; K, N]) (mut c: [f32; M, N])
produces Init c
=
  for i in 0 .. M do
    for j in 0 .. N do
      store c[i, j] = -0.0
  for gk in blocks (0 .. K) 16 do
    for gi in blocks (0 .. M) 16 do
      for ui in blocks (0 .. gi.len) 4 do
        for i'1 in 0 .. ui.len do
          for j'1 in 0 .. N do
            for k in 0 .. gk.len do
              let acc = load c[gi[ui[i'1]], j'1]
              store c[gi[ui[i'1]], j'1] = fma (load a[gi[ui[i'1]], gk[k]]) (load b[gk[k], j'1]) acc
"""


def again(found: Program) -> Program:
    """The program that the printed text of a program elaborates to."""
    made = module(printed(found)).programs[found.name].program
    assert made is not None
    return made


def shape(families: Families) -> list[object]:
    """What a program does: names of families and lanes, and nesting of calls, left out."""
    found: list[object] = []
    for member in families.members:
        by = {name: Var("lane") for name in member.lanes()}
        loops = [part for part in member.moment if isinstance(part, str)]
        counters = [(by.get(counter.name, Var(counter.name)), counter.kind, counter.low, counter.high) for counter in member.counters]
        domain = [substitute_formula(part, by) for part in member.domain]
        cell = [substitute(term, by) for term in member.cell]
        found.append((counters, domain, loops, member.buffer, cell, substitute_value(member.value, by)))
    return found


def check(found: Program) -> None:
    made = again(found)
    assert shape(lower(made)) == shape(lower(found)), printed(found)
    assert [(p.name, p.mode, p.elem, p.shape, p.scratch, p.level) for p in made.params] == [
        (p.name, p.mode, p.elem, p.shape, p.scratch, p.level) for p in found.params
    ]
    assert set(made.sizes) == set(found.sizes)
    assert [need.condition for need in made.requires] == [need.condition for need in found.requires]
    assert made.generics == found.generics
    assert set(made.kept) == set(found.kept)


def test_a_blocked_nest_prints_as_it_was_written() -> None:
    assert printed(program(BLOCKED, "blocked")) == BLOCKED.rstrip("\n")


def test_a_generic_contraction_prints_as_a_fold_with_its_result_as_a_parameter() -> None:
    expected = """\
fn matmul {S : Semiring}
    (reads a: [S.Value; M, K])
    (reads b: [S.Value; K, N])
    (mut c: [S.Value; M, N])
produces Init c
=
  for i in 0 .. M do
    for j in 0 .. N do
      store c[i, j] = fold k in 0 .. K from S.zero () as acc'0: S.Value do S.mul_add (load a[i, k]) (load b[k, j]) acc'0"""
    assert printed(program(MATMUL, "matmul")) == expected


TEXTS = [
    BLOCKED,
    MATMUL,
    "contraction l (reads a: [f16; M, K]) -> out c: [f16; M] =\n  c[i] = max (sum k. a[i, k]) 1.5e-3\n",
    "contraction s (reads a: [f32; K, L]) -> out c: [f32; 1] =\n  c[i] = sum k. sum l. a[k, l]\n",
    "contraction s (reads a: [i8; K, L]) -> out c: [i8; 1] =\n  c[i] = sum (k, l). a[k, l] * -3\n",
    "contraction v (reads x: [f32; N + R]) (reads w: [f32; R]) -> out y: [f32; N] =\n  y[i] = sum r. x[i + r] * w[r]\n",
    "fn e (mut c: [f32; N])\nrequires N % 8 == 0\n=\n  for g in 0 .. N / 8 do\n    for i in 0 .. 8 do\n      store c[8 * g + i] = (g as f32) * 2.0\n",
    "fn d (mut c: [f64; N]) (reads a: [f32; N])\nrequires N > 0 and N != 7\n=\n  for i in 0 .. ceil (N / 4) do\n"
    "    if i < floor (N / 4) or i == 0 then\n      store c[min i 3] = (load a[i]) as f64\n    else\n      store c[max (i - 4) 0] = -1.0\n",
    "fn v (mut c: [f32; M, 8]) (mut p: [f32; 16, 8])\nscratch p\nworking_set\n  @L1 { keep p = descriptor p }\n=\n"
    "  for g in blocks (0 .. M) 4 do\n    var t: [Vec f32 8; 4]\n    lease mut q = p at L1\n    for i in 0 .. g.len do\n"
    "      t[i] = load c[g[i], 0 .. 8]\n    let row: Vec f32 8 = load q[0, 0 .. g.len]\n    let one: Vec f32 8 = splat (load q[0, 0])\n"
    "    for i in 0 .. g.len do\n      t[i] = fma row one t[i]\n      t[i, 0 .. g.len] = fma row t[i] (splat 0.5)\n"
    "    for i in 0 .. g.len do\n      store c[g[i], 0 .. g.len] = t[i]\n",
    "fn g (mut c: [f32; 16, 4]) =\n  grid i in 0 .. 4, j in 0 .. 2 writes c[4 * i .. 4 * i + 4, j] as w do\n    store w[3] = 0.0\n"
    "  grid i in 0 .. 16 do\n    view r[x] : [4] = c[i, 3 - x]\n    store r[0] = load r[1]\n",
    "fn b (reads a: [f32; N]) (mut m: [bool; N]) (mut u: [u32; N]) =\n  for i in 0 .. N do\n"
    "    store m[i] = not (load a[i] <= 1.0) or load a[i] == 0.5 and true\n    store u[i] = xor (to_bits (load a[i])) 0x7f\n"
    "    let y: f32 = if load m[i] then from_bits (load u[i]) else Num.infinity ()\n    let z: f32 = from_bits (0x7fc00001 as u32)\n"
    "    store u[i] = to_bits (max (abs y) (sqrt z))\n",
    "fn t (mut c: [f32; N]) =\n  for i in 0 .. N do\n    let s: f32 = if i == 0 then -0.0 else load c[i - 1]\n    store c[i] = s\n",
    f"{MATMUL}fn caller (reads d: [f32; N, N]) (mut e: [f32; N, N])\nproduces Init e\n=\n  matmul @(S = MinPlus f32) d d e\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_printed_elaborates_to_the_same_families(text: str) -> None:
    for item in module(text).programs.values():
        assert item.program is not None, item
        check(item.program)


@pytest.mark.parametrize("name", ["swapped", "tower", "packed", "wide", "first_block", "exact"])
def test_a_scheduled_program_reads_back(name: str) -> None:
    applied = open_file(CORPUS).applied[name]
    assert applied.stopped is None
    for outcome in applied.outcomes:
        text = printed(outcome.after)
        assert text.count("\n") > 3
        check(outcome.after)


def test_lifting_does_not_change_the_program() -> None:
    found = program(BLOCKED, "blocked")
    assert lift(found) == lift(found)
