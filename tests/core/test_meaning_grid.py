"""Grids in the interpreter: blocks as axes, windows that meet, and operations under a device's arithmetic."""

from __future__ import annotations

from random import Random

import pytest

from cachet_verify.core.element import Arithmetic
from cachet_verify.core.index import Const, Index, Var
from cachet_verify.core.index import add as plus
from cachet_verify.core.ir import Axis, Block, For, Grid, Inlined, Load, Op, Param, Program, Range, Slice, Store, Window, arithmetics
from cachet_verify.core.meaning import Cells, Executable, run
from cachet_verify.core.memory import MeaningError

N = Var("N")
X, Y = Param("x", "reads", "f32", (N,)), Param("y", "mut", "f32", (N,))
FLUSHING = Arithmetic("Gpu", flushes=True)


def copied(size: int, high: Index, width: Index) -> Program:
    """`grid g in blocks (0 .. N) size writes y[g.lo .. high] do for i in 0 .. width do store y[g[i]] = load x[g[i]]`."""
    cell = (plus(Var("g.lo"), Var("i")),)
    body = Block((For("i", Range(Const(0), width), Block((Store("y", cell, Load("x", cell)),))),))
    grid = Grid((Axis("g", Const(0), N, Const(size)),), body, (Window("y", (Slice(Var("g.lo"), high),)),))
    return Program("copied", ("N",), (X, Y), Block((grid,)))


@pytest.mark.parametrize("size", [1, 3, 4, 9])
def test_blocks_are_visited_each_once_the_last_one_shorter(size: int) -> None:
    cells: Cells = [None] * 8
    whole = copied(size, plus(Var("g.lo"), Var("g.len")), Var("g.len"))
    run(whole, {"N": 8}, {"x": list(range(8)), "y": cells})
    assert cells == list(range(8))


def test_windows_that_share_a_cell_are_a_fault_whatever_is_stored() -> None:
    wide = copied(3, plus(Var("g.lo"), Const(4)), Var("g.len"))
    with pytest.raises(MeaningError, match=r"the windows of iterations \(0\) and \(1\) share y\[3\]") as caught:
        run(wide, {"N": 8}, {"x": list(range(8)), "y": [None] * 8})
    assert (caught.value.kind, caught.value.buffer, caught.value.index) == ("window", "y", (3,))


def test_blocks_without_an_index_are_a_fault() -> None:
    with pytest.raises(MeaningError, match="would have 0 indices each"):
        run(copied(0, Var("g.lo"), Var("g.len")), {"N": 8}, {"x": [0] * 8, "y": [None] * 8})


def doubled(name: str) -> Store:
    return Store(name, (Var("i"),), Op("add", "f32", (Load("x", (Var("i"),)), Load("x", (Var("i"),)))))


def test_only_what_stands_in_a_grid_on_a_device_is_computed_there() -> None:
    """2^-149 + 2^-149 is 2^-148 on the host, and zero where subnormals are flushed; calls inside are the device's too."""
    inner = Grid((Axis("i", Const(0), N),), Block((Inlined("twice", Block((doubled("y"),))),)), None, FLUSHING)
    z = Param("z", "mut", "f32", (N,))
    both = Program("both", ("N",), (X, Y, z), Block((inner, For("i", Range(Const(0), N), Block((doubled("z"),))))))
    assert list(arithmetics(both.body, None)) == [FLUSHING, None]
    y: Cells = [None]
    kept: Cells = [None]
    run(both, {"N": 1}, {"x": [1], "y": y, "z": kept})
    assert (y, kept) == ([0], [2])


def test_iterations_over_blocks_may_run_in_any_order() -> None:
    whole = copied(3, plus(Var("g.lo"), Var("g.len")), Var("g.len"))
    for seed in range(5):
        cells: Cells = [None] * 8
        Executable(whole).run({"N": 8}, {"x": list(range(8)), "y": cells}, shuffle=Random(seed))
        assert cells == list(range(8))
