"""Faults that kernel authors met, as pairs of core programs: the meaning, and what was run instead.

Gives programs only; the values that they give are in the tests, from the reports of the faults.
Must not import the interpreter.
"""

from __future__ import annotations

from cachet_verify.core.index import Const, Var, div, eq, lt, sub
from cachet_verify.core.index import add as plus
from cachet_verify.core.index import mul as times
from cachet_verify.core.ir import Choose, Load, Program, Stmt
from tests.core.nest import add, fma, fold, guard, lit, load, loop, mul, param, program, store, var

CELLS = param("a", "mut", "i32", "N")


def read_ahead(swapped: bool) -> Program:
    """`A[i] = A[i+1] + x` under two loops, in either order."""
    update = store("a", ("i",), add(load("a", plus(Var("i"), Const(1))), load("x"), "i32"))
    last = sub(Var("N"), Const(1))
    nest = loop("i", 0, last, loop("m", 0, "M", update)) if swapped else loop("m", 0, "M", loop("i", 0, last, update))
    return program("read_ahead", "M N", (CELLS, param("x", "reads", "i32")), nest)


def read_elsewhere(swapped: bool) -> Program:
    """The twin: the right-hand side reads another array."""
    update = store("a", ("i",), add(load("b", plus(Var("i"), Const(1))), load("x"), "i32"))
    last = sub(Var("N"), Const(1))
    nest = loop("i", 0, last, loop("m", 0, "M", update)) if swapped else loop("m", 0, "M", loop("i", 0, last, update))
    return program("read_elsewhere", "M N", (CELLS, param("b", "reads", "i32", "N"), param("x", "reads", "i32")), nest)


DOT = (param("a", "reads", "f32", "K"), param("b", "reads", "f32", "K"), param("s", "out", "f32"))


def dot() -> Program:
    step = fma(load("a", "k"), load("b", "k"), load("acc"))
    return program("dot", "K", DOT, store("s", (), fold("k", 0, "K", lit("0"), step)))


def halves(elem: str = "f32") -> Program:
    """Two partial sums, combined at the end; for an even number of products."""
    half = div(Var("K"), Const(2))
    upper = plus(half, Var("k"))
    zero = lit("0", elem)
    return program(
        "halves",
        "K",
        tuple(param(p.name, p.mode, elem, *p.shape) for p in DOT),
        var("p0", elem, zero),
        var("p1", elem, zero),
        loop(
            "k",
            0,
            half,
            store("p0", (), fma(load("a", "k"), load("b", "k"), Load("p0"), elem)),
            store("p1", (), fma(load("a", upper), load("b", upper), Load("p1"), elem)),
        ),
        store("s", (), add(Load("p0"), Load("p1"), elem)),
        needs=(eq(plus(half, half), Var("K")),),
    )


def axpy(tail: str | None = None) -> Program:
    """`y = fma a b c` for each cell; with a tail, the last few in another way: `fused` or `unfused`."""
    params = tuple(param(name, "reads", "f32", "N") for name in "abc") + (param("y", "out", "f32", "N"),)
    fused = fma(load("a", "i"), load("b", "i"), load("c", "i"))
    if tail is None:
        return program("axpy", "N", params, loop("i", 0, "N", store("y", ("i",), fused)))
    other = add(mul(load("a", "j"), load("b", "j")), load("c", "j")) if tail == "unfused" else fma(load("a", "j"), load("b", "j"), load("c", "j"))
    whole = times(div(Var("N"), Const(4)), Const(4))
    return program("axpy", "N", params, loop("i", 0, whole, store("y", ("i",), fused)), loop("j", whole, "N", store("y", ("j",), other)))


def shifted(in_place: bool) -> Program:
    """A 4 x 4 matrix times a vector, the result apart or over the vector itself."""
    target = "b" if in_place else "c"
    params = [param("a", "reads", "f32", 4, 4), param("b", "mut", "f32", 4)]
    if not in_place:
        params.append(param("c", "out", "f32", 4))
    total = fold("k", 0, 4, lit("0"), fma(load("a", "i", "k"), load("b", "k"), load("acc")))
    return program("shifted", "", tuple(params), loop("i", 0, 4, store(target, ("i",), total)))


def accumulate(shortcut: str | None = None) -> Program:
    """`C = beta * C + A B`; a shortcut fills C with 0 when a size is 0: any (`all`) or M or N (`outer`)."""
    params = (
        param("a", "reads", "f32", "M", "K"),
        param("b", "reads", "f32", "K", "N"),
        param("c", "mut", "f32", "M", "N"),
        param("beta", "reads", "f32"),
    )
    start = mul(load("beta"), load("c", "i", "j"))
    total = fold("k", 0, "K", start, fma(load("a", "i", "k"), load("b", "k", "j"), load("acc")))
    nest: Stmt = loop("i", 0, "M", loop("j", 0, "N", store("c", ("i", "j"), total)))
    if shortcut is not None:
        for size in "MNK" if shortcut == "all" else "MN":
            zi, zj = f"zi{size}", f"zj{size}"
            fill = loop(zi, 0, "M", loop(zj, 0, "N", store("c", (zi, zj), lit("0"))))
            nest = guard(eq(Var(size), Const(0)), fill, orelse=(nest,))
    return program("accumulate", "M K N", params, nest)


def count_up(swapped: bool, matrix: bool = False) -> Program:
    """`a = a + 1.0`, or `a = a + x[i, j]`, under two loops in either order."""
    params = (param("x", "reads", "f32", "n", 2),) if matrix else ()
    update = store("a", (), add(load("a"), load("x", "i", "j") if matrix else lit("1")))
    inner = 2 if matrix else 4
    nest = loop("j", 0, inner, loop("i", 0, "n", update)) if swapped else loop("i", 0, "n", loop("j", 0, inner, update))
    return program("count_up", "n", (*params, param("a", "mut", "f32")), nest)


def staged_dot(guarded: bool) -> Program:
    """A dot product by tiles of 4, staged with zeros past the end, which a guard leaves out or not."""
    at = plus(times(Const(4), Var("ko")), Var("kt"))
    inside = lt(at, Var("K"))
    stage = [store(f"{name}s", ("kt",), Choose(inside, load(name, at), lit("0"))) for name in "ab"]
    later = plus(times(Const(4), Var("ko")), Var("ku"))
    update = store("total", (), fma(load("as", "ku"), load("bs", "ku"), Load("total")))
    inner: Stmt = guard(lt(later, Var("K")), update) if guarded else update
    return program(
        "staged_dot",
        "K",
        (*DOT, param("as", "mut", "f32", 4, scratch=True), param("bs", "mut", "f32", 4, scratch=True)),
        var("total", "f32", lit("-0.0")),
        loop("ko", 0, div(plus(Var("K"), Const(3)), Const(4)), loop("kt", 0, 4, *stage), loop("ku", 0, 4, inner)),
        store("s", (), Load("total")),
    )


def chain_dot() -> Program:
    """A dot product as one chain from -0.0."""
    step = fma(load("a", "k"), load("b", "k"), load("acc"))
    return program("chain_dot", "K", DOT, store("s", (), fold("k", 0, "K", lit("-0.0"), step)))
