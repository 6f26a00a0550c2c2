"""The rule of budgets: what is read off a program, and what a proposer cannot slip past it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cachet_verify.core import ir
from cachet_verify.core.index import ONE, ZERO, Const, Index, Var, ceil_div, eq
from cachet_verify.core.lease import pulls
from cachet_verify.elaborate.trip import pulled, rows_of
from cachet_verify.kernel.budget import allowed, within_budget
from cachet_verify.kernel.claim import Goal, RuleError, WithinBudget
from tests.budget.sample import MATMUL, program_of
from tests.kernel.solve import claimed, invalid

M, N = Var("M"), Var("N")
X = ir.Param("x", "mut", "f32", (Const(8),))
NEAR = ir.Param("y", "mut", "f32", (Const(8),), level="L2")


def nest(*body: ir.Stmt, requires: tuple[ir.Require, ...] = ()) -> ir.Program:
    return ir.Program("f", ("M", "N"), (X, NEAR), ir.Block(body), requires)


def loop(counter: str, high: Index, *body: ir.Stmt) -> ir.For:
    return ir.For(counter, ir.Range(ZERO, high), ir.Block(body))


def blocks(counter: str, high: Index, size: Index, *body: ir.Stmt) -> ir.For:
    return ir.For(counter, ir.Blocks(ZERO, high, size), ir.Block(body))


def lease(alias: str, root: str = "x", level: str = "L1", mutable: bool = True) -> ir.Lease:
    return ir.Lease(alias, root, level, mutable)


def row(*factors: Index | int, buffer: str = "x", source: str = "DRAM", target: str = "L1", is_back: bool = True) -> ir.Traffic:
    terms = tuple(Const(factor) if isinstance(factor, int) else factor for factor in factors)
    return ir.Traffic(buffer, terms, source, target, is_back)


def asked(program: ir.Program, *rows: ir.Traffic) -> Goal:
    return within_budget(program, rows, "DRAM", {item.pull.alias: item.bounds for item in pulled(program, "DRAM")})


TWICE = nest(loop("i", M, loop("j", N, lease("a"))))


def test_an_exact_row_is_enough_and_the_claim_says_so() -> None:
    claim = claimed(asked(TWICE, row(M, N)))
    assert claim.statement == WithinBudget(TWICE, (row(M, N),), "DRAM")


@pytest.mark.parametrize(
    "rows",
    [
        (),
        (row(M),),
        (row(N, N),),
        (row(M, N, buffer="y"),),
        (row(M, N, source="L2"),),
        (row(M, N, target="L2"),),
        (row(M, N, is_back=False),),
        (row(M, N, is_back=False), row(M, is_back=True)),
    ],
)
def test_rows_that_do_not_cover_it(rows: tuple[ir.Traffic, ...]) -> None:
    assert invalid(asked(TWICE, *rows))


def test_rows_of_one_way_add_up() -> None:
    program = nest(loop("i", M, lease("a")), loop("j", N, lease("b")))
    assert invalid(asked(program, row(M), row(N))) == []
    assert invalid(asked(program, row(M)))


def test_a_lease_that_is_not_mut_does_not_go_back() -> None:
    program = nest(loop("i", M, lease("a", mutable=False)))
    assert invalid(asked(program, row(M, is_back=False))) == []


@pytest.mark.parametrize("name", ["x", "v"])
def test_what_is_written_while_a_lease_lasts_goes_back(name: str) -> None:
    """By its own name or that of a view, in a loop or a call; what is written before the lease does not."""
    view = ir.View("v", ("p",), "x", (Var("p"),), (Const(8),))
    store = ir.Store(name, (ZERO,), ir.Word("f32", 0))
    inner = loop("j", N, ir.Inlined("g x", ir.Block((store,))))
    during = nest(view, loop("i", M, lease("a", mutable=False), inner))
    before = nest(view, loop("i", M, inner, lease("a", mutable=False)))
    assert invalid(asked(during, row(M, is_back=False)))
    assert invalid(asked(during, row(M))) == []
    assert invalid(asked(before, row(M, is_back=False))) == []


def test_home_is_where_a_buffer_is_declared() -> None:
    program = nest(lease("a", "y"))
    assert invalid(asked(program, row(1, buffer="y", source="L2"))) == []
    assert invalid(asked(program, row(1, buffer="y", source="DRAM")))


def test_a_lease_of_a_lease_goes_from_the_level_of_the_first() -> None:
    program = nest(lease("a", "x", "L2"), loop("i", M, lease("b", "a", "L1")))
    assert [(pull.root, pull.source, pull.target) for pull in pulls(program, "DRAM")] == [("x", "DRAM", "L2"), ("x", "L2", "L1")]
    assert invalid(asked(program, row(1, target="L2"), row(M, source="L2"))) == []
    assert invalid(asked(program, row(1, target="L2"), row(M, source="DRAM")))


def test_a_view_moves_the_whole_buffer() -> None:
    view = ir.View("v", ("p",), "x", (Var("p"),), (Const(2),))
    (pull,) = pulls(nest(view, lease("a", "v")), "DRAM")
    assert (pull.root, pull.source) == ("x", "DRAM")


def test_nothing_moves_to_where_it_is() -> None:
    assert pulls(nest(lease("a", level="DRAM")), "DRAM") == ()


def test_both_branches_count_and_calls_are_their_bodies() -> None:
    guarded = ir.If(eq(Var("i"), ZERO), ir.Block((lease("a"),)), ir.Block((lease("b"),)))
    program = nest(loop("i", M, ir.Inlined("g x", ir.Block((guarded,)))))
    assert invalid(asked(program, row(2, M))) == []
    assert invalid(asked(program, row(M)))


def test_ragged_blocks_round_up() -> None:
    program = nest(blocks("g", M, Const(4), lease("a")))
    assert invalid(asked(program, row(ceil_div(M, Const(4))))) == []
    assert invalid(asked(program, row(ceil_div(M, Const(5)))))


# --- what a proposer cannot slip past ----------------------------------------------------------


def test_a_bound_that_is_too_low_is_asked_and_fails() -> None:
    assert invalid(within_budget(TWICE, (row(M),), "DRAM", {"a": (M, ONE)}))


def test_a_negative_bound_does_not_pay_for_others() -> None:
    program = nest(loop("i", M, lease("a")), ir.For("j", ir.Range(Const(5), ZERO), ir.Block((lease("b"),))))
    assert invalid(within_budget(program, (row(ZERO),), "DRAM", {"a": (M,), "b": (Const(-5),)}))


def test_a_bound_speaks_of_sizes() -> None:
    with pytest.raises(RuleError, match="sizes alone"):
        within_budget(TWICE, (row(M, N),), "DRAM", {"a": (M, Var("i"))})


def test_a_row_speaks_of_sizes() -> None:
    with pytest.raises(RuleError, match="sizes alone"):
        within_budget(TWICE, (row(M, Var("i")),), "DRAM", {"a": (M, N)})


@pytest.mark.parametrize("bounds", [{}, {"a": (M,)}, {"a": (M, N, ONE)}, {"b": (M, N)}])
def test_every_loop_has_its_bound(bounds: dict[str, tuple[Index, ...]]) -> None:
    with pytest.raises(RuleError, match="no bound is proposed"):
        within_budget(TWICE, (row(M, N),), "DRAM", bounds)


def test_a_divisor_that_may_be_0_is_asked() -> None:
    program = nest(blocks("g", M, N, lease("a")))
    count = ceil_div(M, N)
    assert "a divisor in a count of traffic is not 0" in invalid(within_budget(program, (row(count),), "DRAM", {"a": (count,)}))


def test_names_have_to_be_in_order() -> None:
    with pytest.raises(RuleError, match="bound twice"):
        within_budget(nest(lease("a"), lease("a")), (row(2),), "DRAM", {"a": ()})


def test_a_statement_that_is_not_known_is_refused() -> None:
    with pytest.raises(RuleError, match="do not model"):
        within_budget(nest(ir.Print(ir.Word("f32", 0))), (), "DRAM", {})


def test_rows_of_another_budget_are_another_statement() -> None:
    honest = claimed(asked(TWICE, row(M, N))).statement
    assert honest != WithinBudget(TWICE, (row(M),), "DRAM")
    assert honest != WithinBudget(replace(TWICE, body=ir.Block()), (row(M, N),), "DRAM")
    assert honest != WithinBudget(TWICE, (row(M, N),), "L2")


def test_what_rows_allow_by_hand() -> None:
    rows = (row(2), row(3, is_back=False), row(5, target="L2"), row(7, buffer="y"))
    assert allowed(rows, ("x", "DRAM", "L1", False)) == Const(5)
    assert allowed(rows, ("x", "DRAM", "L1", True)) == Const(2)
    assert allowed(rows, ("y", "L2", "L1", False)) == ZERO


def test_declared_rows_are_in_the_order_of_the_nest(tmp_path: Path) -> None:
    rows = rows_of(program_of(tmp_path, MATMUL, "packed"), "DRAM") or ()
    assert [(made.name, made.text, made.source, made.target, made.is_back) for made in rows] == [
        ("packB_pull", "ceil (K / 16) * ceil (N / 8)", "DRAM", "L1", True),
        ("packA_pull", "ceil (K / 16) * ceil (N / 8) * ceil (M / 16)", "DRAM", "L2", True),
    ]
