"""What a reduction in a contraction means: runs against 50-digit decimals, and against folds by hand, word for word."""

from __future__ import annotations

from decimal import Context, Decimal
from functools import cache
from pathlib import Path
from random import Random

import pytest

from cachet_verify.core.element import ELEMENTS
from cachet_verify.core.ir import Program
from cachet_verify.core.meaning import run
from cachet_verify.core.numeral import float_of_word, word_of_float
from cachet_verify.core.word import function_of
from cachet_verify.judge.file import open_file

DIGITS = Context(prec=50, Emin=-(10**6), Emax=10**6)
ROOT = Path(__file__).parents[2]
FAR = Decimal("3e-6")
"""How far a row of `attend` with scores of a few units may be from the exact one, relative to its largest value."""


@cache
def program(file: str, name: str) -> Program:
    found = open_file(ROOT / "proofs" / "accept" / f"{file}.cachet").program(name)
    assert found is not None
    return found


def words(numbers: list[float]) -> list[int]:
    return [word_of_float(number, "f32") for number in numbers]


def computed(made: Program, sizes: dict[str, int], result: str, count: int, **given: list[int]) -> list[int]:
    cells: dict[str, list[int | None]] = {name: list(value) for name, value in given.items()}
    cells[result] = [None] * count
    run(made, sizes, cells)
    return [word for word in cells[result] if word is not None]


def attention(q: list[float], kt: list[float], v: list[float], n: int, d: int, k: int, e: int) -> list[Decimal]:
    """softmax (q kt) v, exactly up to fifty digits."""
    found = []
    for i in range(n):
        scores = [sum((DIGITS.multiply(Decimal(q[i * d + c]), Decimal(kt[c * k + j])) for c in range(d)), Decimal(0)) for j in range(k)]
        weights = [DIGITS.exp(score - max(scores)) for score in scores]
        for col in range(e):
            total = sum((DIGITS.multiply(weight, Decimal(v[j * e + col])) for j, weight in enumerate(weights)), Decimal(0))
            found.append(DIGITS.divide(total, sum(weights)))
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["attend_all", "blocks"])
def test_attention_is_near_the_exact_softmax(name: str, seed: int) -> None:
    random = Random(seed)
    n, d, k, e = random.randint(1, 3), random.randint(1, 5), random.randint(1, 20), random.randint(1, 3)
    given = {key: [float_of_word(word_of_float(random.gauss(0, 1), "f32"), "f32") for _ in range(size)] for key, size in
             {"q": n * d, "kt": d * k, "v": k * e}.items()}  # fmt: skip
    sizes = {"N": n, "D": d, "K": k, "E": e}
    found = computed(program("reduce-attention", name), sizes, "y", n * e, **{key: words(value) for key, value in given.items()})
    exact = attention(given["q"], given["kt"], given["v"], n, d, k, e)
    largest = max(abs(Decimal(number)) for number in given["v"])
    assert len(found) == len(exact)
    assert all(abs(Decimal(float_of_word(word, "f32")) - value) <= FAR * largest for word, value in zip(found, exact, strict=True))


def test_scores_that_would_overflow_do_not() -> None:
    """e^1000 is no f32; the weights are those of 0 and -1000, the second of which is 0."""
    found = computed(program("reduce-attention", "attend_all"), {"N": 1, "D": 1, "K": 2, "E": 1}, "y", 1, q=words([1.0]), kt=words([1000.0, 0.0]),
                     v=words([3.0, 7.0]))  # fmt: skip
    assert found == words([3.0])


def test_no_keys_give_a_nan() -> None:
    """The empty summary is normalised as 0 / 0."""
    found = computed(program("reduce-attention", "attend_all"), {"N": 1, "D": 1, "K": 0, "E": 1}, "y", 1, q=words([1.0]), kt=[], v=[])
    assert found == [ELEMENTS["f32"].nan]


@pytest.mark.parametrize("count", [0, 1, 7])
def test_the_largest_of_a_row_starts_from_minus_infinity(count: int) -> None:
    row = [float(number) for number in (-3, 5, -1, 4, 9, -2, 6)][:count]
    found = computed(program("reduce-split_k", "largest"), {"M": 1, "N": count}, "c", 1, a=words(row))
    assert found == words([max(row, default=float("-inf"))])


def test_softmax_is_near_the_exact_one_and_its_two_forms_agree_nearly() -> None:
    random = Random(5)
    row = [float_of_word(word_of_float(random.uniform(-8, 8), "f32"), "f32") for _ in range(9)]
    weights = [DIGITS.exp(Decimal(number)) for number in row]
    for name in ("softmax", "running"):
        found = computed(program("reduce-softmax", name), {"M": 1, "N": 9}, "c", 9, a=words(row))
        for word, weight in zip(found, weights, strict=True):
            assert abs(Decimal(float_of_word(word, "f32")) - weight / sum(weights)) <= Decimal("1e-6")


def test_layer_norm_divides_by_the_spread() -> None:
    found = computed(program("reduce-softmax", "layer_norm"), {"M": 1, "N": 4}, "c", 4, a=words([1.0, 3.0, 5.0, 7.0]))
    exact = [DIGITS.divide(Decimal(value), DIGITS.sqrt(Decimal(5) + Decimal("0.00001"))) for value in (-3, -1, 1, 3)]
    assert all(abs(Decimal(float_of_word(word, "f32")) - value) <= Decimal("1e-6") for word, value in zip(found, exact, strict=True))


def test_keys_are_combined_one_by_one_in_ascending_order() -> None:
    """Word for word the loop by hand, with the standard library's exponential computed by a function of its own."""
    random = Random(11)
    scores, values = ([float_of_word(word_of_float(random.gauss(0, 3), "f32"), "f32") for _ in range(6)] for _ in range(2))
    add, sub, mul, div, top = (function_of(name, "f32") for name in ("add", "sub", "mul", "div", "max"))
    low, minus = word_of_float(float("-inf"), "f32"), word_of_float(-0.0, "f32")
    m, weight, mix = low, minus, minus
    for s, v in zip(words(scores), words(values), strict=True):
        new = top(m, s)
        x = 0 if m == low else exponential(sub(m, new))
        y = exponential(sub(s, new))
        m, weight, mix = new, add(mul(weight, x), mul(words([1.0])[0], y)), add(mul(mix, x), mul(v, y))
    found = computed(program("reduce-attention", "attend_all"), {"N": 1, "D": 1, "K": 6, "E": 1}, "y", 1, q=words([1.0]), kt=words(scores),
                     v=words(values))  # fmt: skip
    assert found == [div(mix, weight)]


@cache
def exponential(word: int) -> int:
    """`exp` of the standard library, in a program that does nothing else."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "each.cachet"
        path.write_text("contraction each (reads x: [f32; N]) -> out y: [f32; N] =\n  y[i] = exp (x[i])\n")
        made = open_file(path).program("each")
    assert made is not None
    return computed(made, {"N": 1}, "y", 1, x=[word])[0]
