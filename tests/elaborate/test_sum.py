"""Contractions on integers, run and compared with nested sums written in Python."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from cachet_verify.core.meaning import run
from tests.elaborate.short import program

Cells = dict[tuple[int, ...], int]
SIZES = (0, 1, 2, 3)


def value(name: str, *index: int) -> int:
    """A cell's content: small, different from place to place, negative at times."""
    total = sum(ord(letter) for letter in name)
    for place, part in enumerate(index):
        total = total * 31 + (place + 2) * part + 7
    return total % 23 - 11


def a(*index: int) -> int:
    return value("a", *index)


def b(*index: int) -> int:
    return value("b", *index)


def w(*index: int) -> int:
    return value("w", *index)


CASES: dict[str, tuple[str, Callable[..., int]]] = {
    "matmul": (
        "(reads a: [i32; M, K]) (reads b: [i32; K, N]) -> out c: [i32; M, N] =\n  c[i, j] = sum k. a[i, k] * b[k, j]",
        lambda n, i, j: sum(a(i, k) * b(k, j) for k in range(n["K"])),
    ),
    "convolution": (
        "(reads a: [i32; N + R]) (reads w: [i32; R]) -> out c: [i32; N] =\n  c[i] = sum r. a[i + r] * w[r]",
        lambda n, i: sum(a(i + r) * w(r) for r in range(n["R"])),
    ),
    "strided convolution": (
        "(reads a: [i32; 2 * N + R]) (reads w: [i32; R]) -> out c: [i32; N] =\n  c[i] = sum r. a[2 * i + r] * w[r]",
        lambda n, i: sum(a(2 * i + r) * w(r) for r in range(n["R"])),
    ),
    "two dimensions": (
        "(reads a: [i32; H + R, W + Q]) (reads w: [i32; R, Q]) -> out c: [i32; H, W] =\n  c[i, j] = sum (r, q). a[i + r, j + q] * w[r, q]",
        lambda n, i, j: sum(a(i + r, j + q) * w(r, q) for r in range(n["R"]) for q in range(n["Q"])),
    ),
    "sum of sums": (
        "(reads a: [i32; M, K]) (reads b: [i32; K, N]) -> out c: [i32; M] =\n  c[i] = sum k. a[i, k] * (sum j. b[k, j])",
        lambda n, i: sum(a(i, k) * sum(b(k, j) for j in range(n["N"])) for k in range(n["K"])),
    ),
    "bilinear": (
        "(reads a: [i32; M, K]) (reads b: [i32; K]) (reads w: [i32; M]) -> out c: [i32; 2] =\n  c[p] = sum (i, k). w[i] * a[i, k] * b[k]",
        lambda n, _p: sum(w(i) * a(i, k) * b(k) for i in range(n["M"]) for k in range(n["K"])),
    ),
    "diagonal": (
        "(reads a: [i32; N, N]) -> out c: [i32; N] =\n  c[i] = a[i, i] - (sum k. a[k, k])",
        lambda n, i: a(i, i) - sum(a(k, k) for k in range(n["N"])),
    ),
    "intermediates": (
        "(reads a: [i32; M, K]) (reads b: [i32; K, N]) (reads w: [i32; N, M]) -> out c: [i32; M, M] =\n"
        "  t[i, j] = sum k. a[i, k] * b[k, j]\n  u[i] = max (sum j. t[i, j]) 0\n  c[i, l] = u[i] + (sum j. t[l, j] * w[j, i])",
        lambda n, i, m: (
            max(sum(sum(a(i, k) * b(k, j) for k in range(n["K"])) for j in range(n["N"])), 0)
            + sum(sum(a(m, k) * b(k, j) for k in range(n["K"])) * w(j, i) for j in range(n["N"]))
        ),
    ),
    "view": (
        "(reads a: [i32; N, N]) (reads b: [i32; N]) -> out c: [i32; N] =\n  view t[i, j] : [N, N] = a[j, i]\n  c[i] = sum k. t[i, k] * b[k]",
        lambda n, i: sum(a(k, i) * b(k) for k in range(n["N"])),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_contraction_computes_its_nested_sums(name: str) -> None:
    text, expected = CASES[name]
    found = program(f"contraction f {text}\n", "f")
    for chosen in product(SIZES, repeat=len(found.sizes)):
        sizes = dict(zip(found.sizes, chosen, strict=True))
        shapes = {param.name: [extent(dim, sizes) for dim in param.shape] for param in found.params}
        buffers = {key: [value(key, *at) & 0xFFFFFFFF for at in product(*map(range, shape))] for key, shape in shapes.items()}
        run(found, sizes, buffers)
        result = [expected(sizes, *at) & 0xFFFFFFFF for at in product(*map(range, shapes["c"]))]
        assert buffers["c"] == result, (name, sizes)


def extent(dim: object, sizes: dict[str, int]) -> int:
    from cachet_verify.core.index import evaluate

    return evaluate(dim, sizes)  # type: ignore[arg-type]
