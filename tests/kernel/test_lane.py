"""Idle lanes: extra lanes that nobody reads, and extra lanes that somebody does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cachet_verify.core.index import ONE, ZERO, Const, Index, Var, add, lt, mod, sub
from cachet_verify.core.ir import Axis, Block, Declare, Grid, Lanes, Load, Op, Param, Program, Require, Stmt, Store
from cachet_verify.kernel.claim import Goal, RuleError
from cachet_verify.kernel.lane import extend_lanes, narrow_lanes
from tests.kernel.sample import M, N, agrees, block, loop
from tests.kernel.solve import claimed, invalid

p, q = Var("p"), Var("q")
PARAMS = (Param("x", "mut", "f32", (M,)), Param("y", "reads", "f32", (M,)))
FIRST = Declare("v", "f32", width=4, init=Load("y", (Var("w"),)), lanes=Lanes("w", 4, M))


def vectors(*body: Stmt) -> Program:
    return Program("v", ("M", "N"), PARAMS, Block(body))


def computed(active: Index, read: Index = q, out: Index = M) -> Program:
    """Load masked lanes, compute `active` of them, store masked lanes back, lane `read` for lane `q`."""
    work = Store("v", (p,), Op("f", "f32", (Load("v", (p,)),)), Lanes("p", 4, active))
    return vectors(FIRST, work, Store("x", (q,), Load("v", (read,)), Lanes("q", 4, out)))


def test_arithmetic_may_compute_every_lane() -> None:
    claimed(extend_lanes(computed(M), computed(Const(4))))
    assert agrees(computed(M), computed(Const(4)), 6)


def test_a_lane_that_is_read_is_not_idle() -> None:
    """`x[q] = v[q]` with a mask of 4 reads lanes past `M` that the program before left alone."""
    wide = Store("x", (ZERO,), Load("v", (Const(3),)))
    before = vectors(FIRST, Store("v", (p,), Load("y", (ZERO,)), Lanes("p", 4, M)), wide)
    after = vectors(FIRST, Store("v", (p,), Load("y", (ZERO,)), Lanes("p", 4, Const(4))), wide)
    assert invalid(extend_lanes(before, after)) == ["load v[3] reads no idle lane of v"]
    assert not agrees(before, after)


def test_a_shifted_read_finds_an_idle_lane() -> None:
    shifted = add(q, ONE)
    assert invalid(extend_lanes(computed(M, mod(shifted, Const(4))), computed(Const(4), mod(shifted, Const(4))))) != []


def test_fewer_lanes_are_refused() -> None:
    assert "every lane of v that is computed without the extra ones is computed with them" in invalid(extend_lanes(computed(M), computed(ONE)))


def test_a_parameter_has_no_idle_lanes() -> None:
    with pytest.raises(RuleError, match="x is not a local"):
        extend_lanes(computed(M), computed(M, out=Const(4)))


@pytest.mark.parametrize("changed", [computed(Const(4), read=ZERO), vectors(FIRST), vectors(*computed(M).body.body[::-1])])
def test_any_other_difference_is_refused(changed: Program) -> None:
    with pytest.raises(RuleError):
        extend_lanes(computed(M), changed)


def test_another_buffer_or_shape_is_refused() -> None:
    wider = vectors(replace(FIRST, width=8), *computed(Const(4)).body.body[1:])
    with pytest.raises(RuleError, match="more than the lanes"):
        extend_lanes(computed(M), wider)


def test_extra_lanes_in_a_grid_may_not_race() -> None:
    """The local is outside the grid: iterations share it, and an extra lane lands on a neighbour's."""

    def grid(active: Index) -> Goal | Program:
        work = Store("t", (add(Var("g"), p),), Load("y", (Var("g"),)), Lanes("p", 2, active))
        use = Store("x", (Var("g"),), Load("y", (Var("g"),)))
        return vectors(Declare("t", "f32", (add(M, ONE),), mutable=True), Grid((Axis("g", ZERO, M),), block(work, use)))

    before, after = grid(ONE), grid(Const(2))
    assert isinstance(before, Program)
    assert isinstance(after, Program)
    assert invalid(extend_lanes(before, after)) != []


def test_each_iteration_has_lanes_of_its_own() -> None:
    def nest(active: Index) -> Program:
        work = Store("v", (p,), Op("f", "f32", (Load("v", (p,)),)), Lanes("p", 4, active))
        return vectors(loop("n", N, FIRST, work, Store("x", (q,), Load("v", (q,)), Lanes("q", 4, M))))

    claimed(extend_lanes(nest(M), nest(Const(4))))


def test_a_requirement_is_not_lost() -> None:
    needs = replace(computed(M), requires=(Require(lt(ZERO, M), "written"),))
    with pytest.raises(RuleError, match="requirement"):
        extend_lanes(needs, computed(Const(4)))


# --- lanes left out ---


def test_lanes_that_nobody_reads_may_be_left_out() -> None:
    claimed(narrow_lanes(computed(Const(4)), computed(M)))


def test_a_lane_that_is_read_stays() -> None:
    """All four lanes are stored, and only the first `M` would be computed."""
    wide = Store("x", (ZERO,), Load("v", (Const(3),)))
    every = vectors(FIRST, Store("v", (p,), Load("y", (ZERO,)), Lanes("p", 4, Const(4))), wide)
    some = vectors(FIRST, Store("v", (p,), Load("y", (ZERO,)), Lanes("p", 4, M)), wide)
    assert invalid(narrow_lanes(every, some)) == ["load v[3] reads no idle lane of v"]
    assert not agrees(every, some)


def test_a_mask_one_too_narrow_is_refused() -> None:
    less = sub(M, ONE)
    assert invalid(narrow_lanes(computed(Const(4)), computed(less))) != []
    assert not agrees(computed(Const(4)), computed(less), 4)


def test_leaving_out_is_no_way_to_add_lanes() -> None:
    assert invalid(narrow_lanes(computed(ONE), computed(M))) != []


@pytest.mark.parametrize("changed", [computed(M, read=ZERO), vectors(FIRST), computed(M, out=ONE)])
def test_what_differs_in_more_than_lanes_of_locals_is_refused(changed: Program) -> None:
    with pytest.raises(RuleError):
        narrow_lanes(computed(Const(4)), changed)


def test_lanes_left_out_keep_requirements() -> None:
    needs = replace(computed(Const(4)), requires=(Require(lt(ZERO, M), "written"),))
    with pytest.raises(RuleError, match="requirement"):
        narrow_lanes(needs, computed(M))
