"""Attention by exact arithmetic, and how far a program's words may lie from it.

Takes a file, the name of a program of it, and which keys each query sees; runs the interpreter and a calculation of 60
digits on the same words. Must not compute anything of the exact side with the package.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import cache
from pathlib import Path

from cachet_verify.core.element import IEEE, Arithmetic
from cachet_verify.core.ir import Program, arithmetics
from cachet_verify.core.meaning import run
from cachet_verify.core.numeral import float_of_word, word_of_float
from cachet_verify.judge.file import Opened, open_file

DIGITS = Context(prec=60, Emin=-(10**9), Emax=10**9, traps=[])
UNIT = Decimal(2) ** -24
"""The largest relative error of one rounding to f32."""
EXP = Decimal("1.10")
"""The stated error of `exp` on f32, in units in the last place; one of those is at most two UNITs of the word."""
ABOVE = Decimal("1.01")
"""For what is left out where `log (1 + e)` is taken for `e`."""

Numbers = Sequence[Sequence[float]]
Sees = Callable[[int, int], bool]


@dataclass(frozen=True, slots=True)
class Case:
    """Queries, transposed keys and values, f32 numbers all."""

    q: Numbers
    kt: Numbers
    v: Numbers

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes of symbolic programs: `N` queries of width `D`, `K` keys, values of width `E`."""
        return {"N": len(self.q), "D": len(self.kt), "K": len(self.v), "E": len(self.v[0])}


@dataclass(frozen=True, slots=True)
class Exact:
    """One output: its value, and how far a word may be from it; None where the query sees no key."""

    value: Decimal | None
    bound: Decimal


@cache
def opened(path: Path) -> Opened:
    """A file, read once."""
    return open_file(path)


def program(path: Path, name: str) -> Program:
    """The program of a contraction, a function or a schedule."""
    found = opened(path).program(name)
    assert found is not None
    return found


def shadow(path: Path, name: str) -> Program:
    """The reference loops of a schedule that regroups, in the arithmetic that the schedule computes in."""
    applied = opened(path).applied[name]
    assert applied.regrouped is not None
    return applied.start


def device(of: Program) -> Arithmetic:
    """The arithmetic that a program computes in."""
    found = {kind for kind in arithmetics(of.body, of.arithmetic) if kind is not None}
    assert len(found) <= 1
    return found.pop() if found else IEEE


def words(of: Program, case: Case, arithmetic: Arithmetic | None = None) -> list[list[int | None]]:
    """What a program stores for each query, word by word."""
    buffers: dict[str, list[int | None]] = {name: [word_of_float(x, "f32") for row in rows for x in row] for name, rows in _operands(case)}
    width = case.sizes["E"]
    buffers["y"] = [None] * (case.sizes["N"] * width)
    run(of, {name: case.sizes[name] for name in of.sizes}, buffers, arithmetic)
    return [buffers["y"][at : at + width] for at in range(0, len(buffers["y"]), width)]


def _operands(case: Case) -> tuple[tuple[str, Numbers], ...]:
    return ("q", case.q), ("kt", case.kt), ("v", case.v)


def exact(case: Case, sees: Sees, least: Decimal = Decimal(2) ** -149) -> list[list[Exact]]:
    """Attention of every query over the keys that it sees, with the bound of the derivation below.

    Let u be UNIT. A score is a chain of D fused steps, so it is off by at most `D u / (1 - D u)` times the sum of its products' sizes, and D `least`;
    call the largest of these errors of a query's scores d. Say a program keeps its summary in steps, of a key or of a block, and combines at
    most as many summaries as there are keys: every weight meets at most T = 2 (K + 1) of these. In each it meets a factor
    `exp (m - m')`, a product and a sum, which is 2 EXP u + 2 u in the logarithm, or less. The arguments of those factors, and
    that of its own exponential, are each rounded once; as the largest score only rises, their sizes add up to at most R, the
    distance of the score from the largest one, so their errors to R u. Its own exponential and the product with its value are among
    the T. So in the sum of the weights, and in that of the weights times values, each weight is right up to a factor e^a with

        |a| <= t = d + 1.01 u (R + T (2 EXP + 2))

    but not the same factor in both. The quotient of two such sums is off by at most `(e^(2 t) - 1) A`, where A is the mean of the sizes of the
    values with the exact weights; the division rounds once more. Where words are below the normal numbers an error is not relative: each of
    at most 4 T operations adds `least` at most, times the largest size of a value, and the sum of the weights is at least 1/2.
    """
    return [_row(case, row, [j for j in range(len(case.v)) if sees(row, j)], least) for row in range(len(case.q))]


def _row(case: Case, row: int, keys: list[int], least: Decimal) -> list[Exact]:
    width = len(case.v[0])
    if not keys:
        return [Exact(None, Decimal(0))] * width
    depth = len(case.kt)
    products = [[Decimal(case.q[row][c]) * Decimal(case.kt[c][j]) for c in range(depth)] for j in keys]
    scores = [sum(part, Decimal(0)) for part in products]
    chain = depth * UNIT / (1 - depth * UNIT)
    off = max(chain * sum(map(abs, part), Decimal(0)) for part in products) + depth * least
    top = max(scores)
    steps = 2 * (len(case.v) + 1)
    spread = top - min(scores) + 2 * off
    slack = off + ABOVE * UNIT * (spread + steps * (2 * EXP + 2))
    weights = [DIGITS.exp(score - top) for score in scores]
    total = sum(weights)
    found = []
    for d in range(width):
        values = [Decimal(case.v[j][d]) for j in keys]
        mean = sum(weight * value for weight, value in zip(weights, values, strict=True)) / total
        size = sum(weight * abs(value) for weight, value in zip(weights, values, strict=True)) / total
        small = 8 * steps * least * (1 + max(map(abs, values)))
        found.append(Exact(mean, (DIGITS.exp(2 * slack + ABOVE * UNIT) - 1) * size + small))
    return found


def distance(of: Program, case: Case, sees: Sees, arithmetic: Arithmetic | None = None, empty: str = "zero") -> Decimal:
    """The largest error of a program's words as a part of what is allowed. Above 1 the program is not what it is taken for.

    A query that sees no key has `+0.0`, or the canonical NaN where `empty` is `nan`; any other word there counts as infinitely far.
    """
    least = Decimal(2) ** (-126 if (arithmetic or device(of)).flushes else -149)
    worst = Decimal(0)
    for found, wanted in zip(words(of, case, arithmetic), exact(case, sees, least), strict=True):
        for word, cell in zip(found, wanted, strict=True):
            worst = max(worst, _apart(word, cell, 0x7FC00000 if empty == "nan" else 0))
    return worst


def _apart(word: int | None, wanted: Exact, empty: int) -> Decimal:
    if wanted.value is None:
        return Decimal(0) if word == empty else Decimal("Infinity")
    number = Decimal("NaN") if word is None else Decimal(float_of_word(word, "f32"))
    return abs(number - wanted.value) / wanted.bound if number.is_finite() else Decimal("Infinity")
