"""Contractions as core nests, and words for writing expected nests by hand.

Takes nothing; gives core programs: what the elaborator gives for each contraction, written out.
"""

from __future__ import annotations

from cachet_verify.core.index import ZERO, Const, Index, Var, add, mul
from cachet_verify.core.ir import Block, Blocks, Fold, For, Load, Op, Param, Program, Range, Stmt, Store, Value, Word

ZERO_F32 = Word("f32", 0x80000000)


def v(name: str) -> Index:
    return Var(name)


def loop(counter: str, high: Index | str | int, *body: Stmt) -> For:
    return For(counter, Range(ZERO, extent(high)), Block(body))


def blocks(counter: str, high: Index | str, size: int, *body: Stmt) -> For:
    return For(counter, Blocks(ZERO, extent(high), Const(size)), Block(body))


def extent(high: Index | str | int) -> Index:
    return Const(high) if isinstance(high, int) else Var(high) if isinstance(high, str) else high


def at(buffer: str, *index: Index | str) -> Load:
    return Load(buffer, tuple(extent(term) for term in index))


def put(cell: Load, value: Value) -> Store:
    return Store(cell.buffer, cell.index, value)


def fma(left: Value, right: Value, total: Value) -> Op:
    return Op("fma", "f32", (left, right, total))


def chain(counter: str, high: Index | str, left: Value, right: Value, init: Value = ZERO_F32, acc: str = "acc'0") -> Fold:
    return Fold(counter, Range(ZERO, extent(high)), init, acc, "f32", fma(left, right, Load(acc)))


def reads(name: str, *shape: Index | str) -> Param:
    return Param(name, "reads", "f32", tuple(extent(size) for size in shape))


def out(name: str, *shape: Index | str) -> Param:
    return Param(name, "out", "f32", tuple(extent(size) for size in shape))


def scratch(name: str, *shape: int | str | Index) -> Param:
    return Param(name, "mut", "f32", tuple(extent(size) for size in shape), scratch=True)


def program(name: str, sizes: str, params: tuple[Param, ...], *body: Stmt) -> Program:
    return Program(name, tuple(sizes.split()), params, Block(body))


C = at("c", "i", "j")
MATMUL = program(
    "matmul_PlusTimes_f32",
    "M N K",
    (reads("a", "M", "K"), reads("b", "K", "N"), out("c", "M", "N")),
    loop("i", "M", loop("j", "N", put(C, chain("k", "K", at("a", "i", "k"), at("b", "k", "j"))))),
)

_GENERIC = Fold(
    "k",
    Range(ZERO, Var("K")),
    Op("S.zero", "S.Value"),
    "acc'0",
    "S.Value",
    Op("S.mul_add", "S.Value", (at("a", "i", "k"), at("b", "k", "j"), Load("acc'0"))),
)
GENERIC = Program(
    "matmul",
    ("M", "N", "K"),
    tuple(Param(param.name, param.mode, "S.Value", param.shape) for param in MATMUL.params),
    Block((loop("i", "M", loop("j", "N", put(C, _GENERIC))),)),
    generics=(("S", "Semiring"),),
)

MATVEC = program(
    "matvec",
    "M K",
    (reads("a", "M", "K"), reads("x", "K"), out("y", "M")),
    loop("i", "M", put(at("y", "i"), chain("k", "K", at("a", "i", "k"), at("x", "k")))),
)

BATCHED = program(
    "batched",
    "B M N K",
    (reads("a", "B", "M", "K"), reads("b", "B", "K", "N"), out("c", "B", "M", "N")),
    loop("g", "B", loop("i", "M", loop("j", "N", put(at("c", "g", "i", "j"), chain("k", "K", at("a", "g", "i", "k"), at("b", "g", "k", "j")))))),
)

TRANSPOSED = program(
    "transposed",
    "M N K",
    (reads("a", "K", "M"), reads("b", "N", "K"), out("c", "M", "N")),
    loop("i", "M", loop("j", "N", put(C, chain("k", "K", at("a", "k", "i"), at("b", "j", "k"))))),
)

CONVOLUTION = program(
    "convolution",
    "N R",
    (reads("x", add(Var("N"), Var("R"))), reads("w", "R"), out("y", "N")),
    loop("i", "N", put(at("y", "i"), chain("r", "R", at("x", add(Var("i"), Var("r"))), at("w", "r")))),
)

CONVOLUTION_2D = program(
    "convolution_2d",
    "M N R T",
    (reads("x", add(Var("M"), Var("R")), add(Var("N"), Var("T"))), reads("w", "R", "T"), out("y", "M", "N")),
    loop(
        "i",
        "M",
        loop(
            "j",
            "N",
            Store(
                "y",
                (Var("i"), Var("j")),
                ZERO_F32,
            ),
            loop(
                "r",
                "R",
                put(
                    at("y", "i", "j"),
                    chain("t", "T", at("x", add(Var("i"), Var("r")), add(Var("j"), Var("t"))), at("w", "r", "t"), at("y", "i", "j")),
                ),
            ),
        ),
    ),
)

OUTER = program(
    "outer",
    "M N",
    (reads("x", "M"), reads("y", "N"), out("c", "M", "N")),
    loop("i", "M", loop("j", "N", put(C, Op("mul", "f32", (at("x", "i"), at("y", "j")))))),
)

STRIDED = program(
    "strided",
    "N R",
    (reads("x", add(mul(Const(2), Var("N")), Var("R"))), reads("w", "R"), out("y", "N")),
    loop("i", "N", put(at("y", "i"), chain("r", "R", at("x", add(mul(Const(2), Var("i")), Var("r"))), at("w", "r")))),
)
