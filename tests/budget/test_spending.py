"""Loops counted together: what the rule accepts, what a proposer cannot slip past it, and counts by going through the loops."""

from __future__ import annotations

import pytest

from cachet_verify.core import ir
from cachet_verify.core.index import ONE, ZERO, Const, Formula, Index, Var, add, ceil_div, div, eq, evaluate, lt, maximum, minimum, mul, sub
from cachet_verify.core.lease import pulls
from cachet_verify.elaborate.trip import pulled
from cachet_verify.judge.entry import entries
from cachet_verify.judge.spending import spendings
from cachet_verify.kernel.budget import within_budget
from cachet_verify.kernel.claim import Goal, RuleError
from cachet_verify.kernel.spending import Bound, Spend, factors
from tests.budget.test_rule import M, N, blocks, lease, loop, nest, row
from tests.kernel.solve import invalid

G, GLO, GLEN, H, HLO = (Var(name) for name in ("g", "g.lo", "g.len", "h", "h.lo"))
ROW, COL = Var("i"), Var("j")


def asked(program: ir.Program, bounds: tuple[Bound, ...], *rows: ir.Traffic) -> Goal:
    return within_budget(program, rows, "DRAM", {"a": bounds})


def guarded(condition: Formula, *body: ir.Stmt) -> ir.If:
    return ir.If(condition, ir.Block(body), ir.Block(()))


IN_BLOCKS = nest(blocks("g", M, Const(16), blocks("h", GLEN, Const(4), lease("a"))))
OUTER = Spend(maximum(ZERO, ceil_div(sub(M, GLO), Const(4))), "h")
INNER = Spend(maximum(ZERO, ceil_div(sub(GLEN, HLO), Const(4))))
EXACT = row(ceil_div(M, Const(4)))


def test_blocks_in_blocks_are_counted_exactly() -> None:
    assert invalid(asked(IN_BLOCKS, (OUTER, INNER), EXACT)) == []


@pytest.mark.parametrize(
    ("bounds", "rows"),
    [
        ((OUTER, INNER), row(ceil_div(M, Const(5)))),
        ((Spend(maximum(ZERO, ceil_div(sub(M, GLO), Const(5))), "h"), INNER), row(ceil_div(M, Const(5)))),
        ((Spend(maximum(ZERO, div(sub(M, GLO), Const(4))), "h"), INNER), row(div(M, Const(4)))),
        ((OUTER, Spend(ONE)), EXACT),
        ((OUTER, Spend(ZERO)), EXACT),
        ((Spend(ceil_div(M, Const(4)), "h"), INNER), EXACT),
        ((Spend(sub(ceil_div(sub(M, GLO), Const(4)), ONE), "h"), INNER), EXACT),
    ],
    ids=["the row is too low", "too few", "a short block is left out", "one of each block", "none", "nothing is ever spent", "debt"],
)
def test_what_is_no_count_leaves_an_obligation(bounds: tuple[Bound, ...], rows: ir.Traffic) -> None:
    assert invalid(asked(IN_BLOCKS, bounds, rows))


def test_a_loop_may_not_end_in_debt() -> None:
    """N - 1 - i goes down by one an iteration, and is one too low."""
    program = nest(loop("i", N, lease("a")))
    assert invalid(asked(program, (Spend(maximum(ZERO, sub(N, ROW))),), row(N))) == []
    program = nest(loop("i", N, lease("a")), requires=(ir.Require(lt(ZERO, N), "written"),))
    low = Spend(sub(sub(N, ONE), ROW))
    assert invalid(asked(program, (low,), row(N))) == ["the loop over i around a ends without debt"]


def test_blocks_that_do_not_fill_a_block_need_more() -> None:
    """Blocks of 6 in blocks of 16 are 3 in each: 33 has 7, and ceil (33 / 6) is 6."""
    program = nest(blocks("g", M, Const(16), blocks("h", GLEN, Const(6), lease("a"))))
    outer = Spend(maximum(ZERO, ceil_div(sub(M, GLO), Const(6))), "h")
    inner = Spend(maximum(ZERO, ceil_div(sub(GLEN, HLO), Const(6))))
    assert invalid(asked(program, (outer, inner), row(ceil_div(M, Const(6)))))


@pytest.mark.parametrize(
    ("condition", "left", "most"),
    [
        (lt(ROW, Const(3)), maximum(ZERO, sub(minimum(N, Const(3)), ROW)), Const(3)),
        (lt(ROW, ZERO), ZERO, ZERO),
        (eq(ROW, Const(7)), minimum(ONE, maximum(ZERO, sub(Const(8), ROW))), ONE),
    ],
)
def test_guards(condition: Formula, left: Index, most: Index) -> None:
    program = nest(loop("i", N, guarded(condition, lease("a"))))
    assert invalid(asked(program, (Spend(left),), row(most))) == []
    free = nest(loop("i", N, lease("a")))
    assert invalid(asked(free, (Spend(left),), row(most)))


def test_what_is_left_may_not_grow_where_nothing_is_entered() -> None:
    """It is entered once, at 0, where nothing is left: what is left grows behind it."""
    program = nest(loop("i", N, guarded(eq(ROW, ZERO), lease("a"))))
    grows = Spend(minimum(ONE, ROW))
    assert any("spends" in found for found in invalid(asked(program, (grows,), row(0))))


ACROSS = nest(blocks("g", M, Const(16), loop("j", N, blocks("h", GLEN, Const(4), lease("a")))))


def test_a_loop_between_multiplies() -> None:
    assert invalid(asked(ACROSS, (OUTER, N, INNER), row(ceil_div(M, Const(4)), N))) == []
    assert invalid(asked(ACROSS, (OUTER, N, INNER), EXACT))


@pytest.mark.parametrize(
    "bounds",
    [
        (OUTER, N, Spend(maximum(ZERO, sub(COL, HLO)))),
        (Spend(GLEN, "h"), N, INNER),
        (Spend(HLO, "h"), N, INNER),
        (Spend(ceil_div(sub(M, GLO), GLO), "h"), N, INNER),
        (Spend(OUTER.left, "j"), N, INNER),
        (Spend(OUTER.left, "g"), N, INNER),
        (Spend(OUTER.left, "h"), Spend(sub(N, COL), "h"), INNER),
        (OUTER, N, ceil_div(Const(16), Const(4))),
        (OUTER, N, Spend(INNER.left, "g")),
        (Spend(OUTER.left), N, INNER),
        (OUTER, INNER),
    ],
    ids=[
        "of a loop between",
        "of its own length",
        "of a loop inside",
        "by a counter",
        "inside a plain bound",
        "inside itself",
        "twice",
        "inside no spending",
        "backwards",
        "another's block, apart from it",
        "one too few",
    ],
)
def test_chains_that_are_none(bounds: tuple[Bound, ...]) -> None:
    with pytest.raises(RuleError):
        asked(ACROSS, bounds, row(ceil_div(M, Const(4)), N))


def test_blocks_in_blocks_as_one_loop_have_no_spending() -> None:
    """There are four blocks in each block: were the two loops one, what is left of four would do for all of them."""
    one = Spend(maximum(ZERO, sub(Const(4), H)))
    with pytest.raises(RuleError):
        asked(IN_BLOCKS, (one,), row(4))
    assert invalid(asked(IN_BLOCKS, (Spend(Const(4)), one), row(4, 4)))


def test_two_loops_met_on_a_diagonal_are_not_counted_as_one() -> None:
    """Each of i and j is met N times, i == j N times in all: the bound is their product, and no sum of both."""
    program = nest(loop("i", N, loop("j", N, guarded(eq(ROW, COL), lease("a")))))
    each = tuple(Spend(maximum(ZERO, sub(N, counter))) for counter in (ROW, COL))
    assert invalid(asked(program, each, row(N, N))) == []
    assert invalid(asked(program, each, row(mul(Const(2), N))))


NESTS = {
    "blocks": IN_BLOCKS,
    "across": ACROSS,
    "cells": nest(blocks("g", M, Const(16), blocks("h", GLEN, Const(4), loop("i", Var("h.len"), lease("a"))))),
    "first": nest(loop("i", M, guarded(lt(ROW, Const(3)), lease("a")))),
    "last": nest(loop("i", M, guarded(lt(N, ROW), lease("a")))),
    "one": nest(loop("j", N, loop("i", M, guarded(eq(ROW, Const(2)), lease("a"))))),
    "first block": nest(blocks("g", M, Const(4), guarded(eq(GLO, ZERO), lease("a")))),
}


@pytest.mark.parametrize("name", NESTS)
def test_proposals_are_what_is_counted(name: str) -> None:
    """What is proposed for nests of these forms is proved, and comes to what going through the loops counts."""
    program = NESTS[name]
    (item,) = pulled(program, "DRAM")
    bounds = spendings(item.pull, item.bounds, frozenset(program.sizes))
    assert bounds is not None
    terms = factors(item.pull, bounds)
    assert invalid(asked(program, bounds, row(*terms))) == []
    (pull,) = pulls(program, "DRAM")
    for sizes in ({"M": m, "N": n} for m in (0, 1, 3, 4, 5, 16, 17, 20, 33) for n in (0, 1, 2, 7)):
        total = 1
        for term in terms:
            total *= evaluate(term, sizes)
        assert total == entries(pull, sizes), sizes


@pytest.mark.parametrize("by", [1, 2])
def test_quotients_by_a_counter_are_bounded_by_the_least_it_can_be(by: int) -> None:
    """floor (M / (i + by)) is floor (M / by) at most, and that at i = 0."""
    program = nest(loop("i", N, loop("j", div(M, add(ROW, Const(by))), lease("a"))))
    (item,) = pulled(program, "DRAM")
    assert item.bounds == (N, div(M, Const(by)))


@pytest.mark.parametrize("divisor", [ROW, sub(ROW, ONE), sub(M, N)], ids=["0 at first", "below 0 at first", "nothing is known"])
def test_quotients_by_what_may_be_0_are_not_bounded(divisor: Index) -> None:
    (item,) = pulled(nest(loop("i", N, loop("j", div(M, divisor), lease("a")))), "DRAM")
    assert item.unbounded == "j"
