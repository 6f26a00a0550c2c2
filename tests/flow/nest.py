"""Matrix multiplications as core programs, written by hand: the meaning and optimised nests of it."""

from __future__ import annotations

from dataclasses import replace

from cachet_verify.core.index import ZERO, Const, Index, Var, add, lt
from cachet_verify.core.ir import (
    Block,
    Blocks,
    Declare,
    Fold,
    For,
    Lanes,
    Lease,
    Load,
    Op,
    Param,
    Program,
    Range,
    Require,
    Stmt,
    Store,
    Value,
    Word,
)

ZERO_WORD = Word("f32", 0x80000000)
ROW, COLUMN, K = Var("i"), Var("j"), Var("k")


def term(value: int | str) -> Index:
    """A literal, or a size by name."""
    return Var(value) if isinstance(value, str) else Const(value)


def within(block: str, index: Index) -> Index:
    """`block[index]`."""
    return add(Var(f"{block}.lo"), index)


def upto(high: Index) -> Range:
    """`0 .. high`."""
    return Range(ZERO, high)


def loop(counter: str, domain: Range | Blocks, *body: Stmt) -> For:
    """A loop over statements."""
    return For(counter, domain, Block(body))


def fma(left: Value, right: Value, total: Value) -> Op:
    """A fused multiply-add of f32."""
    return Op("fma", "f32", (left, right, total))


def program(name: str, *body: Stmt) -> Program:
    """A function of the shape of matmul."""
    params = (
        Param("a", "reads", "f32", (Var("M"), Var("K"))),
        Param("b", "reads", "f32", (Var("K"), Var("N"))),
        Param("c", "out", "f32", (Var("M"), Var("N"))),
    )
    return Program(name, ("M", "N", "K"), params, Block(body))


def zeroed() -> For:
    """The nest that zeroes c."""
    return loop("zi", upto(Var("M")), loop("zj", upto(Var("N")), Store("c", (Var("zi"), Var("zj")), ZERO_WORD)))


def matmul() -> Program:
    """The contraction's own nest."""
    step = fma(Load("a", (ROW, K)), Load("b", (K, COLUMN)), Load("acc'0"))
    total = Fold("k", upto(Var("K")), ZERO_WORD, "acc'0", "f32", step)
    return program("matmul", loop("i", upto(Var("M")), loop("j", upto(Var("N")), Store("c", (ROW, COLUMN), total))))


def swapped() -> Program:
    """Zero first, then the loop over j innermost."""
    update = Store("c", (ROW, COLUMN), fma(Load("a", (ROW, K)), Load("b", (K, COLUMN)), Load("acc'1")))
    body = (Declare("acc'1", "f32", init=Load("c", (ROW, COLUMN))), update)
    return program("swapped", zeroed(), loop("i", upto(Var("M")), loop("k", upto(Var("K")), loop("j", upto(Var("N")), *body))))


def tower(depth: int | str = 16, rows: int | str = 16, tile: int | str = 4, columns: int | str = 8) -> Program:
    """Blocked in every dimension, the depth outermost. Names of blocks become sizes above zero."""
    row, column = within("gi", within("ui", ROW)), within("gj", COLUMN)
    step = fma(Load("a", (row, within("gk", K))), Load("b", (within("gk", K), column)), Load("acc'0"))
    total = Fold("k", upto(Var("gk.len")), Load("c", (row, column)), "acc'0", "f32", step)
    inner = loop("i", upto(Var("ui.len")), loop("j", upto(Var("gj.len")), Store("c", (row, column), total)))
    panel = loop("gi", Blocks(ZERO, Var("M"), term(rows)), loop("ui", Blocks(ZERO, Var("gi.len"), term(tile)), inner))
    body = loop("gj", Blocks(ZERO, Var("N"), term(columns)), panel)
    made = program("tower", zeroed(), loop("gk", Blocks(ZERO, Var("K"), term(depth)), body))
    names = tuple(name for name in (depth, rows, tile, columns) if isinstance(name, str))
    needs = tuple(Require(lt(ZERO, Var(name)), "block size") for name in names)
    return replace(made, sizes=(*made.sizes, *names), requires=needs)


def _pack(target: str, source: str, rows: str, columns: str, counters: tuple[str, str]) -> For:
    first, second = counters
    copy = Store(target, (Var(first), Var(second)), Load(source, (within(rows, Var(first)), within(columns, Var(second)))))
    return loop(first, upto(Var(f"{rows}.len")), loop(second, upto(Var(f"{columns}.len")), copy))


def kernel(tile: int, columns: int) -> tuple[Stmt, ...]:
    """The register kernel: a tile of vectors loaded, updated over the block's depth and stored back."""
    width, live = columns, Var("gj.len")
    row, everything = within("gi", within("ui", Var("i1"))), Const(columns)
    load = Store("acc", (Var("i1"), Var("l1")), Load("c", (row, within("gj", Var("l1")))), Lanes("l1", width, live))
    update = Store(
        "acc",
        (Var("i2"), Var("l4")),
        fma(Load("row", (Var("l4"),)), Load("lanes", (Var("l4"),)), Load("acc", (Var("i2"), Var("l4")))),
        Lanes("l4", width, everything),
    )
    lanes = Declare("lanes", "f32", (), width, Load("packB_L1", (K, Var("l2"))), False, Lanes("l2", width, live))
    splat = Load("packA_L2", (within("ui", Var("i2")), K))
    spread = Declare("row", "f32", (), width, splat, False, Lanes("l3", width, everything))
    back = within("gi", within("ui", Var("i3")))
    store = Store("c", (back, within("gj", Var("l5"))), Load("acc", (Var("i3"), Var("l5"))), Lanes("l5", width, live))
    return (
        Declare("acc", "f32", (Const(tile),), width, mutable=True),
        loop("i1", upto(Var("ui.len")), load),
        loop("k", upto(Var("gk.len")), lanes, loop("i2", upto(Var("ui.len")), spread, update)),
        loop("i3", upto(Var("ui.len")), store),
    )


def packed(rows: int = 16, tile: int = 4, columns: int = 8, depth: int = 16) -> Program:
    """Packed operands and a register tile; B's panel outside A's."""
    inner = loop("ui", Blocks(ZERO, Var("gi.len"), term(tile)), *kernel(tile, columns))
    pack_a, pack_b = _pack("packA", "a", "gi", "gk", ("a0", "a1")), _pack("packB", "b", "gk", "gj", ("b0", "b1"))
    panel = loop("gi", Blocks(ZERO, Var("M"), term(rows)), pack_a, Lease("packA_L2", "packA", "L2", True), inner)
    body = loop("gj", Blocks(ZERO, Var("N"), term(columns)), pack_b, Lease("packB_L1", "packB", "L1", True), panel)
    made = program("packed", zeroed(), loop("gk", Blocks(ZERO, Var("K"), term(depth)), body))
    buffers = (
        Param("packA", "mut", "f32", (term(rows), term(depth)), scratch=True),
        Param("packB", "mut", "f32", (term(depth), term(columns)), scratch=True),
    )
    return replace(made, params=(*made.params, *buffers))
