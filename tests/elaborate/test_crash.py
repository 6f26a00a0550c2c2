"""Mutated files: each elaborates, or says what is wrong at a place; nothing else ever happens."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random

import pytest

from cachet_verify.diagnostic import CachetError, Diagnostic, load_codes
from cachet_verify.elaborate.load import load_text
from cachet_verify.elaborate.module import elaborate
from tests.elaborate.short import MATMUL, faults
from tests.elaborate.test_lift import TEXTS

NEST = (Path(__file__).parent / "nest.cachet").read_text()
WORDS = [
    "i",
    "k",
    "c",
    "a",
    "M",
    "f32",
    "f64",
    "0",
    "0.0",
    "load",
    "fma",
    "S",
    "Vec",
    "8",
    "gk",
    "gk.lo",
    "(",
    ")",
    "[",
    "]",
    "..",
    "+",
    "/",
    "max",
    "==",
]
FAMILY = 25
"""Mutants of each text."""


def mutants(text: str, seed: int) -> list[str]:
    """Texts with a word replaced, dropped, doubled or swapped with its neighbour."""
    random = Random(seed)
    found: list[str] = []
    words = text.split(" ")
    while len(found) < FAMILY:
        made = list(words)
        place = random.randrange(len(made) - 1)
        kind = random.randrange(4)
        if kind == 0:
            made[place] = random.choice(WORDS)
        elif kind == 1:
            del made[place]
        elif kind == 2:
            made.insert(place, made[place])
        else:
            made[place], made[place + 1] = made[place + 1], made[place]
        found.append(" ".join(made))
    return found


@pytest.mark.parametrize("number", range(len(TEXTS) + 1))
def test_a_mutant_elaborates_or_says_what_is_wrong(number: int) -> None:
    known = load_codes()
    for text in mutants([*TEXTS, NEST][number], number):
        began = time.monotonic()
        for item in reported(text):
            assert item.span is not None, (item, text)
            assert item.code in known
            assert item.message
        assert time.monotonic() - began < 5


def reported(text: str) -> tuple[Diagnostic, ...]:
    """What is wrong with a text; nothing when it elaborates."""
    try:
        elaborate(load_text(text))
    except CachetError as error:
        return error.diagnostics or (Diagnostic("none", ""),)
    return ()


HEAD = "fn f (mut c: [f32; N]) =\n"
DEEP = [
    ("".join(f"const A{k} : Nat = A{k + 1}\n" for k in range(500)) + "const A500 : Nat = 1\n", "elaborate.depth"),
    (
        "".join(f"fn f{k} (mut c: [f32; N]) = f{k + 1} c\n" for k in range(400)) + "fn f400 (mut c: [f32; N]) =\n  store c[0] = 0.0\n",
        "elaborate.depth",
    ),
    (
        "fn g x0 =\n" + "".join(f"  let x{k + 1} = x{k} + x{k}\n" for k in range(40)) + f"  x40\n{HEAD}  store c[0] = g (load c[0])\n",
        "elaborate.size",
    ),
    (
        "fn g0 x = x + x\n" + "".join(f"fn g{k} x = g{k - 1} (g{k - 1} x)\n" for k in range(1, 30)) + f"{HEAD}  store c[0] = g29 (load c[0])\n",
        "elaborate.size",
    ),
]


@pytest.mark.parametrize(("text", "code"), DEEP)
def test_what_grows_without_bound_is_a_fault(text: str, code: str) -> None:
    assert code in {found for found, _ in faults(text)}


def test_files_with_nothing_in_them() -> None:
    for text in ("", "\n", "// nothing\n", MATMUL):
        assert faults(text) == []
