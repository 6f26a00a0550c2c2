"""Small programs for the kernel's tests: a matrix product and its relatives, built by hand.

Takes nothing; gives core programs and abbreviations for writing them.
"""

from __future__ import annotations

from itertools import product

from cachet_verify.core.index import ZERO, Const, Index, Var, holds
from cachet_verify.core.ir import Block, Blocks, Fold, For, Load, Op, Param, Program, Range, Stmt, Store, Value, Word
from tests.kernel.execute import run

M, N, K = Var("M"), Var("N"), Var("K")
i, j, k = Var("i"), Var("j"), Var("k")
ZERO_WORD = Word("f32", 0x80000000)


def block(*stmts: Stmt) -> Block:
    return Block(stmts)


def loop(counter: str, high: Index, *body: Stmt, low: Index = ZERO) -> For:
    return For(counter, Range(low, high), Block(body))


def blocks(counter: str, high: Index, size: int, *body: Stmt) -> For:
    return For(counter, Blocks(ZERO, high, Const(size)), Block(body))


def fma(a: Value, b: Value, c: Value) -> Op:
    return Op("fma", "f32", (a, b, c))


A, B, C = Load("a", (i, k)), Load("b", (k, j)), Load("c", (i, j))
PARAMS = (
    Param("a", "reads", "f32", (M, K)),
    Param("b", "reads", "f32", (K, N)),
    Param("c", "out", "f32", (M, N)),
)


def program(*body: Stmt, params: tuple[Param, ...] = PARAMS, sizes: tuple[str, ...] = ("M", "N", "K")) -> Program:
    return Program("sample", sizes, params, Block(body))


TOTAL = Fold("k", Range(ZERO, K), ZERO_WORD, "acc", "f32", fma(A, B, Load("acc")))
MATMUL = program(loop("i", M, loop("j", N, Store("c", (i, j), TOTAL))))


def agrees(before: Program, after: Program, limit: int = 4) -> bool:
    """Whether two programs leave the same words for all sizes below a limit that meet the requirements after."""
    for point in product(range(limit), repeat=len(after.sizes)):
        sizes = dict(zip(after.sizes, point, strict=True))
        if all(holds(need.condition, sizes) for need in after.requires):
            words = run(before, sizes)
            if words != run(after, sizes) or words != run(after, sizes, backwards=True):
                return False
    return True
