"""The complete example's numbers from a second program: C's fmaf, and nothing of the package.

Takes sizes; gives the inputs of `examples/matmul.cachet` and elements of its products. Must not
import `cachet_verify`.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import math
from collections.abc import Iterable

_LIBM = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")
_LIBM.fmaf.restype = ctypes.c_float
_LIBM.fmaf.argtypes = (ctypes.c_float, ctypes.c_float, ctypes.c_float)


def rounded(value: float) -> float:
    """A double rounded to single precision: a quotient of two small integers is rounded twice without harm."""
    return ctypes.c_float(value).value


def operand_a(i: int, k: int) -> float:
    """The element `a[i, k]` that the example's `main` stores."""
    return rounded(((i * 7 + k * 5) % 31 - 15) / 31)


def operand_b(k: int, j: int) -> float:
    """The element `b[k, j]` that the example's `main` stores."""
    return rounded(((j * 11 + k * 3) % 29 - 14) / 29)


def product(i: int, j: int, order: Iterable[int]) -> float:
    """Element (i, j) of the product: one fma for each k in the order given, from the negative zero."""
    total = -0.0
    for k in order:
        total = _LIBM.fmaf(operand_a(i, k), operand_b(k, j), total)
    return float(total)


def tiny_product(i: int, j: int, depth: int, is_flushed: bool) -> float:
    """The same where `a` is divided by no number but multiplied by 1e-38, on a device that flushes or on the host."""
    total = -0.0
    for k in range(depth):
        a = rounded(rounded(float((i * 7 + k * 5) % 31 - 15)) * rounded(1e-38))
        total = _LIBM.fmaf(flushed(a) if is_flushed else a, operand_b(k, j), total)
        total = flushed(total) if is_flushed else total
    return float(total)


def flushed(value: float) -> float:
    """A subnormal single as the zero of its sign; any other number as it is."""
    return math.copysign(0.0, value) if abs(value) < 2.0**-126 else value


def shortest(distances: list[list[float]], start: int, end: int) -> float:
    """The shortest way of at most two edges between two nodes, zeros on the diagonal."""
    return min(distances[start][middle] + distances[middle][end] for middle in range(len(distances)))
