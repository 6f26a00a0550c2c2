"""A blocked, packed product of matrices written by hand, and one-edit variants of it.

Takes a variant's name; gives core programs. Must not import the interpreter.
"""

from __future__ import annotations

from cachet_verify.core.index import Const, Var, div, sub
from cachet_verify.core.index import add as plus
from cachet_verify.core.index import mul as times
from cachet_verify.core.ir import Declare, Lanes, Load, Program, Stmt, Store
from tests.core.nest import blocks, fma, lit, load, loop, param, program, store


def blocked(size: int, variant: str = "", elem: str = "f32") -> Program:
    """c starts at -0.0; blocks of k, each with its rows of b packed, add to the cells.

    Variants: `reset` clears c in each block, `first` always reads the first block of a, `full`
    leaves out the last shorter block, `beyond` runs every block to its full length, `down` takes
    k in a block backwards, `unpacked` packs one row less, `gap` packs to every second row.
    """
    clear = store("c", ("zi", "zj"), lit("-0.0", elem))
    zero = loop("zi", 0, "M", loop("zj", 0, "N", clear))
    at = plus(Var("g.lo"), Var("k"))
    if variant == "first":
        at = Var("k")
    row = Var("k")
    if variant == "down":
        at, row = (plus(base, sub(sub(Var("g.len"), Const(1)), Var("k"))) for base in (Var("g.lo"), Const(0)))
    product = fma(load("a", "i", at), load("pack", row, "j"), Load("c", (Var("i"), Var("j"))), elem)
    length = Const(size) if variant == "beyond" else Var("g.len")
    update = loop("i", 0, "M", loop("j", 0, "N", loop("k", 0, length, store("c", ("i", "j"), product))))
    rows = sub(Var("g.len"), Const(1)) if variant == "unpacked" else Var("g.len")
    place = times(Const(2), Var("p")) if variant == "gap" else Var("p")
    pack = loop("p", 0, rows, loop("q", 0, "N", store("pack", (place, "q"), load("b", plus(Var("g.lo"), Var("p")), "q"))))
    body: list[Stmt] = [pack, update]
    if variant == "reset":
        body.insert(0, loop("ri", 0, "M", loop("rj", 0, "N", store("c", ("ri", "rj"), lit("-0.0", elem)))))
    end = times(Const(size), div(Var("K"), Const(size))) if variant == "full" else Var("K")
    params = (
        param("a", "reads", elem, "M", "K"),
        param("b", "reads", elem, "K", "N"),
        param("c", "out", elem, "M", "N"),
        param("pack", "mut", elem, size, "N", scratch=True),
    )
    return program("blocked", "M K N", params, zero, blocks("g", 0, end, size, *body))


def registers(masked: bool) -> Program:
    """A row of four lanes held in a local over all of k; `masked` says whether the store keeps to the live lanes."""
    active = Var("g.len") if masked else Const(4)
    lane = plus(Var("g.lo"), Var("l"))
    product = fma(load("a", "i", "k"), load("b", "k", plus(Var("g.lo"), Var("m"))), load("acc", "m"))
    body = (
        Declare("acc", "f32", (), 4, init=lit("-0.0"), mutable=True),
        loop("k", 0, "K", Store("acc", (Var("m"),), product, Lanes("m", 4, Var("g.len")))),
        Store("c", (Var("i"), lane), load("acc", "l"), Lanes("l", 4, active)),
    )
    params = (param("a", "reads", "f32", "M", "K"), param("b", "reads", "f32", "K", "N"), param("c", "out", "f32", "M", "N"))
    return program("registers", "M K N", params, loop("i", 0, "M", blocks("g", 0, "N", 4, *body)))
