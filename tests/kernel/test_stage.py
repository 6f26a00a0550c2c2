"""Copies aside: packs, register copies, totals held in registers; and copies that hold the wrong word."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cachet_verify.core.family import lower
from cachet_verify.core.index import ONE, ZERO, Const, Index, Var, add, div, lt, mod, mul, sub
from cachet_verify.core.ir import Axis, Block, Declare, Grid, If, Lanes, Lease, Load, Op, Param, Program, Stmt, Store
from cachet_verify.kernel.claim import Goal, RuleError, Same
from cachet_verify.kernel.fold import open_fold, split_store
from cachet_verify.kernel.lane import extend_lanes
from cachet_verify.kernel.normal import rename_alias, same_families
from cachet_verify.kernel.place import splice, statement_at
from cachet_verify.kernel.reschedule import Image, reschedule
from cachet_verify.kernel.split import split_fold
from cachet_verify.kernel.stage import stage_in, stage_through
from cachet_verify.kernel.well_formed import well_formed
from tests.kernel.sample import MATMUL, PARAMS, ZERO_WORD, A, B, C, K, M, N, agrees, block, blocks, fma, i, j, k, loop
from tests.kernel.solve import claimed, invalid

a0, a1 = Var("a0"), Var("a1")
PACK = Param("pack", "mut", "f32", (Const(2), Const(2)), scratch=True)
gi, gk = Var("gi.lo"), Var("gk.lo")
CELL = (add(gi, i), j)


def update(a: Load) -> Store:
    return Store("c", CELL, fma(a, Load("b", (add(gk, k), j)), Load("c", CELL)))


FROM_A = Load("a", (add(gi, i), add(gk, k)))


def nest(*inner: Stmt) -> Program:
    """`for gk in blocks of 2, for gi in blocks of 2`, around what is given."""
    body = block(blocks("gk", K, 2, blocks("gi", M, 2, *inner)))
    return Program("packed", ("M", "N", "K"), (*PARAMS, PACK), body)


def region(a: Load) -> Stmt:
    return loop("i", Var("gi.len"), loop("j", N, loop("k", Var("gk.len"), update(a))))


ROWS, COLUMNS, HELD = Var("gi.len"), Var("gk.len"), Load("pack", (i, k))


def copy(rows: Index = ROWS, columns: Index = COLUMNS, to: tuple[Index, ...] = (a0, a1), **at: Index) -> Stmt:
    source = Load("a", (at.get("row", add(gi, a0)), at.get("column", add(gk, a1))))
    return loop("a0", rows, loop("a1", columns, Store("pack", to, source)))


BEFORE = nest(region(FROM_A))
INSIDE = (0, 0, 0)


def packed(lead: tuple[Stmt, ...] | None = None, use: Load = HELD, before: Program = BEFORE) -> Goal:
    return stage_in(before, INSIDE, 1, "a", "pack", (copy(),) if lead is None else lead, (region(use),))


def after(goal: Goal) -> Program:
    assert isinstance(goal.statement, Same)
    return goal.statement.after


def test_a_block_is_packed_and_read_from_its_copy() -> None:
    goal = packed()
    claimed(goal)
    assert after(goal) == nest(copy(), region(Load("pack", (i, k))))
    assert agrees(BEFORE, after(goal), 5)
    claimed(well_formed(after(goal)))


def test_a_pack_may_store_transposed_or_in_another_order() -> None:
    goal = packed((copy(to=(a1, a0)),), Load("pack", (k, i)))
    claimed(goal)
    assert agrees(BEFORE, after(goal), 5)


WRONG: list[dict[str, Any]] = [
    {"use": Load("pack", (k, i))},
    {"use": Load("pack", (i, add(k, ONE)))},
    {"use": Load("pack", (ZERO, k))},
    {"lead": (copy(to=(a1, a0)),)},
    {"lead": (copy(row=gi),)},
    {"lead": (copy(row=a0),)},
    {"lead": (copy(column=a1),)},
    {"lead": (copy(rows=ONE),)},
    {"lead": (copy(columns=sub(Var("gk.len"), ONE)),)},
    {"lead": (copy(to=(ZERO, a1)),)},
    {"lead": (copy(to=(mod(a0, Const(1)), a1)),)},
]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_copy_that_does_not_hold_the_word_is_refused(wrong: dict[str, Any]) -> None:
    goal = packed(**wrong)
    assert invalid(goal) != []
    assert not agrees(BEFORE, after(goal), 5)


def test_a_pitch_that_folds_cells_onto_each_other_is_refused() -> None:
    """`pack[a0 * 1 + a1]` in one dimension: rows overlap."""
    flat = replace(BEFORE, params=(*PARAMS, Param("pack", "mut", "f32", (Const(4),), scratch=True)))

    def at(row: Index, column: Index, pitch: int) -> Index:
        return add(mul(Const(pitch), row), column)

    def goal(pitch: int) -> Goal:
        return packed((copy(to=(at(a0, a1, pitch),)),), Load("pack", (at(i, k, pitch),)), flat)

    assert "no cell of pack is filled from two places" in invalid(goal(1))


STRUCTURE: list[tuple[str, Program, tuple[Stmt, ...], Stmt]] = [
    ("not scratch", replace(BEFORE, params=(*PARAMS, replace(PACK, scratch=False))), (copy(),), region(Load("pack", (i, k)))),
    ("different types", replace(BEFORE, params=(*PARAMS, replace(PACK, elem="f64"))), (copy(),), region(Load("pack", (i, k)))),
    ("copy cells", BEFORE, (), region(Load("pack", (i, k)))),
    ("copy cells", BEFORE, (loop("a0", ONE, Store("pack", (a0, a0), ZERO_WORD)),), region(Load("pack", (i, k)))),
    ("computes something else", BEFORE, (copy(),), region(Load("b", (i, k)))),
    ("other indices", BEFORE, (copy(),), loop("i", ONE, loop("j", N, loop("k", Var("gk.len"), update(Load("pack", (i, k))))))),
    ("other loops", BEFORE, (copy(),), loop("i", ROWS, loop("k", COLUMNS, loop("j", N, update(HELD))))),
    ("another number", BEFORE, (copy(),), Block()),
]


@pytest.mark.parametrize(("why", "before", "lead", "body"), STRUCTURE)
def test_what_is_no_copy_is_refused_outright(why: str, before: Program, lead: tuple[Stmt, ...], body: Stmt) -> None:
    with pytest.raises(RuleError, match=why):
        stage_in(before, INSIDE, 1, "a", "pack", lead, (body,))


def test_a_buffer_in_use_is_no_place_for_a_copy() -> None:
    used = nest(Store("pack", (ZERO, ZERO), ZERO_WORD), region(FROM_A))
    with pytest.raises(RuleError, match="used already"):
        stage_in(used, (0, 0, 1), 1, "a", "pack", (copy(),), (region(Load("pack", (i, k))),))
    late = nest(region(FROM_A), Store("c", (ZERO, ZERO), Load("pack", (ZERO, ZERO))))
    with pytest.raises(RuleError, match="used already"):
        packed(before=late)


def test_a_source_that_is_written_meanwhile_is_refused() -> None:
    params = (Param("x", "mut", "f32", (M,)), Param("p", "mut", "f32", (M,), scratch=True))
    step = Store("x", (add(i, ONE),), Op("f", "f32", (Load("x", (i,)),)))
    before = Program("s", ("M",), params, block(loop("i", sub(M, ONE), step)))
    lead = loop("a0", M, Store("p", (a0,), Load("x", (a0,))))
    body = loop("i", sub(M, ONE), Store("x", (add(i, ONE),), Op("f", "f32", (Load("p", (i,)),))))
    with pytest.raises(RuleError, match="written while"):
        stage_in(before, (0,), 1, "x", "p", (lead,), (body,))


def test_a_shared_copy_inside_a_grid_is_a_race() -> None:
    update_all = loop("j", N, loop("k", K, Store("c", (i, j), fma(A, B, C))))
    rows = Program("s", ("M", "N", "K"), (*PARAMS, replace(PACK, shape=(K,))), block(Grid((Axis("i", ZERO, M),), block(update_all))))
    lead = loop("a0", K, Store("pack", (a0,), Load("a", (i, a0))))
    body = loop("j", N, loop("k", K, Store("c", (i, j), fma(Load("pack", (k,)), B, C))))
    assert invalid(stage_in(rows, (0, 0), 1, "a", "pack", (lead,), (body,))) != []
    own = (Declare("own", "f32", (K,), mutable=True), loop("a0", K, Store("own", (a0,), Load("a", (i, a0)))))
    private = loop("j", N, loop("k", K, Store("c", (i, j), fma(Load("own", (k,)), B, C))))
    goal = stage_in(rows, (0, 0), 1, "a", "own", own, (private,))
    claimed(goal)
    assert agrees(rows, after(goal), 3)


def test_a_change_of_meaning_behind_the_region_is_noticed() -> None:
    """The region names a view that later statements use: it may not come to mean another buffer."""
    lease, other = Lease("v", "a", "L1", False), Lease("v", "b", "L1", False)
    later = Store("c", (ZERO, ZERO), Load("v", (ZERO, ZERO)))
    before = nest(lease, region(FROM_A), later)
    goal = stage_in(before, INSIDE, 2, "a", "pack", (copy(),), (lease, region(Load("pack", (i, k)))))
    claimed(goal)
    with pytest.raises(RuleError, match="outside the region"):
        stage_in(before, INSIDE, 2, "a", "pack", (copy(),), (other, region(Load("pack", (i, k)))))


# A total held in registers, as the library step `registers` builds it.

LANE, ROW = Var("l"), Var("r")


def tile() -> Program:
    """The update nest with the loop over column blocks outside the rows."""
    at = (add(gi, i), add(Var("gj.lo"), j))
    step = Store("c", at, fma(FROM_A, Load("b", (add(gk, k), at[1])), Load("c", at)))
    return nest(blocks("gj", N, 4, loop("i", Var("gi.len"), loop("j", Var("gj.len"), loop("k", Var("gk.len"), step)))))


def held(**wrong: Any) -> Goal:
    """`c`'s block held in `acc: [Vec f32 4; 2]`; keywords replace parts by wrong ones."""
    rows, active = wrong.get("rows", Var("gi.len")), wrong.get("active", Var("gj.len"))
    out_rows, out_active = wrong.get("out_rows", rows), wrong.get("out_active", active)
    first = Store("acc", wrong.get("into", (ROW, LANE)), Load("c", (add(gi, ROW), add(Var("gj.lo"), LANE))), Lanes("l", 4, active))
    lead = (Declare("acc", "f32", (Const(2),), 4, mutable=True), loop("r", rows, first))
    cell = wrong.get("cell", (i, j))
    value = fma(FROM_A, Load("b", (add(gk, k), add(Var("gj.lo"), j))), Load("acc", wrong.get("read", cell)))
    body = loop("i", Var("gi.len"), loop("j", Var("gj.len"), loop("k", Var("gk.len"), Store("acc", cell, value))))
    q, m = Var("q"), Var("m")
    home = wrong.get("home", (add(gi, q), add(Var("gj.lo"), m)))
    back = Store("c", home, Load("acc", wrong.get("from_", (q, m))), Lanes("m", 4, out_active))
    return stage_through(tile(), (0, 0, 0, 0), 1, "c", "acc", lead, (body,), (loop("q", out_rows, back),))


def test_totals_are_held_in_registers() -> None:
    goal = held()
    claimed(goal)
    assert agrees(tile(), after(goal), 6)
    claimed(well_formed(after(goal)))


HELD_WRONG: list[dict[str, Any]] = [
    {"rows": ONE},
    {"active": ONE},
    {"out_rows": ONE},
    {"out_active": ONE},
    {"out_active": sub(Var("gj.len"), ONE)},
    {"into": (ROW, ZERO)},
    {"into": (ZERO, LANE)},
    {"cell": (ZERO, j)},
    {"read": (i, ZERO)},
    {"home": (add(gi, Var("q")), Var("m"))},
    {"from_": (ZERO, Var("m"))},
]


@pytest.mark.parametrize("wrong", HELD_WRONG)
def test_totals_held_wrongly_are_refused(wrong: dict[str, Any]) -> None:
    goal = held(**wrong)
    assert invalid(goal) != []
    assert not agrees(tile(), after(goal), 6)


def test_storing_back_lanes_that_were_not_loaded_is_refused() -> None:
    """Idle lanes hold anything: storing them back past the mask would change cells of the caller."""
    assert invalid(held(out_active=Const(4))) != []


def test_the_source_itself_may_not_be_used_while_it_is_held() -> None:
    there, back = (Var("p"), Var("q")), (Var("s"), Var("t"))
    lead = (Declare("acc", "f32", (M, N), mutable=True), loop("p", M, loop("q", N, Store("acc", there, Load("c", there)))))
    trail = loop("s", M, loop("t", N, Store("c", back, Load("acc", back))))
    before = Program("s", ("M", "N", "K"), PARAMS, block(loop("i", M, loop("j", N, loop("k", K, Store("c", (i, j), fma(A, B, C)))))))
    body = loop("i", M, loop("j", N, loop("k", K, Store("acc", (i, j), fma(A, B, C)))))
    with pytest.raises(RuleError, match="still uses c"):
        stage_through(before, (0,), 1, "c", "acc", lead, (body,), (trail,))


def test_two_copies_of_one_cell_are_refused_when_written() -> None:
    """Each element of `t` is held for itself, so the two elements of one cell would drift apart."""
    params = (Param("x", "mut", "f32", (ONE,)),)
    step = Store("x", (ZERO,), Op("f", "f32", (Load("x", (ZERO,)),)))
    before = Program("s", ("M",), params, block(loop("i", M, step)))
    lead = (Declare("t", "f32", (M,), mutable=True), loop("p", M, Store("t", (Var("p"),), Load("x", (ZERO,)))))
    body = loop("i", M, Store("t", (i,), Op("f", "f32", (Load("t", (i,)),))))
    back = loop("q", M, Store("x", (ZERO,), Load("t", (Var("q"),))))
    goal = stage_through(before, (0,), 1, "x", "t", lead, (body,), (back,))
    assert "no cell is held in two places of t" in invalid(goal)
    assert not agrees(before, after(goal))


def test_from_the_definition_to_packed_registers() -> None:
    """The chain of `packed` at small sizes: each step proved, and the two ends run alike."""
    begun = after(split_store(MATMUL, (0, 0, 0)))
    goals = [split_fold(begun, (0, 0, 1), Const(2), "gk", "k")]
    goals.append(open_fold(after(goals[-1]), (0, 0, 1, 0)))
    start = replace(after(goals[-1]), params=(*PARAMS, PACK))
    goals.append(same_families(after(goals[-1]), start))
    zi, zj = Var("zi"), Var("zj")
    zero = loop("zi", M, loop("zj", N, Store("c", (zi, zj), ZERO_WORD)))
    ordered = replace(tile(), body=Block((zero, *tile().body.body)))
    gi_, gj_ = mul(Const(2), Var("gi")), mul(Const(4), Var("gj"))
    maps = Image(
        "c@0.0.1.0.0",
        {"i": add(gi_, i), "j": add(gj_, j)},
        {"gi": div2(i, 2), "i": mod(i, Const(2)), "gj": div2(j, 4), "j": mod(j, Const(4))},
    )
    names = {"c@0.0.0": Image("c@0.0.0", {"i": zi, "j": zj}, {"zi": i, "zj": j}), lower(ordered).members[1].name: maps}
    goals.append(reschedule(start, replace(ordered, name=start.name), names))
    goals += _pack_and_hold(after(goals[-1]))
    for goal in goals:
        claimed(goal)
    for first, second in zip(goals, goals[1:], strict=False):
        assert isinstance(second.statement, Same)
        assert after(first) == second.statement.before
    assert agrees(MATMUL, after(goals[-1]), 5)
    claimed(well_formed(after(goals[-1])))


def div2(term: Index, by: int) -> Index:
    return div(term, Const(by))


def _pack_and_hold(before: Program) -> list[Goal]:
    """Pack `a`, hold `c` in registers, put `k` outside, in lanes, with a row and lanes of their own."""
    inner = before.body.body[1].body.body[0].body.body[0]  # type: ignore[union-attr]
    q, m = Var("q"), Var("m")
    lo = Var("gj.lo")
    packed_ = stage_in(before, (1, 0, 0), 1, "a", "pack", (copy(),), (_with_pack(inner),))
    lead = (
        Declare("acc", "f32", (Const(2),), 4, mutable=True),
        loop("r", Var("gi.len"), Store("acc", (ROW, LANE), Load("c", (add(gi, ROW), add(lo, LANE))), Lanes("l", 4, Var("gj.len")))),
    )
    trail = (loop("q", Var("gi.len"), Store("c", (add(gi, q), add(lo, m)), Load("acc", (q, m)), Lanes("m", 4, Var("gj.len")))),)
    body = loop("i", Var("gi.len"), loop("j", Var("gj.len"), loop("k", Var("gk.len"), _step(Load("pack", (i, k))))))
    held_ = stage_through(after(packed_), (1, 0, 1, 0), 1, "c", "acc", lead, (body,), trail)
    lanes = Lanes("j", 4, Var("gj.len"))
    moved = _replace_at(after(held_), loop("k", COLUMNS, loop("i", ROWS, replace(_step(HELD), lanes=lanes))))
    olds, news = lower(after(held_)).members, lower(moved).members
    turned = reschedule(after(held_), moved, {ours.name: Image(theirs.name) for ours, theirs in zip(news, olds, strict=True)})
    row = Declare("row", "f32", width=4, init=Load("pack", (i, k)))
    use = replace(_step(Load("row", (j,))), lanes=lanes)
    rows = stage_in(moved, (1, 0, 1, 2, 0, 0), 1, "pack", "row", (row,), (use,))
    lane = Declare("lanes", "f32", width=4, init=Load("b", (add(gk, k), add(lo, Var("w")))), lanes=Lanes("w", 4, Var("gj.len")))
    last = Store("acc", (i, j), fma(Load("row", (j,)), Load("lanes", (j,)), Load("acc", (i, j))), lanes)
    both = stage_in(after(rows), (1, 0, 1, 2, 0), 1, "b", "lanes", (lane,), (loop("i", Var("gi.len"), row, last),))
    whole = _replace_at(after(both), loop("k", Var("gk.len"), lane, loop("i", Var("gi.len"), row, replace(last, lanes=Lanes("j", 4, Const(4))))))
    kept = _kept(whole)
    return [packed_, held_, turned, rows, both, extend_lanes(after(both), whole), rename_alias(whole, kept)]


def _kept(program_: Program) -> Program:
    """The pack is leased for the rest of its block, and read under the name of the lease."""
    tile_ = statement_at("test", program_, (1, 0, 1))
    text = splice("test", program_, (1, 0, 1), 1, (Lease("pack_L2", "pack", "L2", True), _leased(tile_)))
    return text


def _leased(stmt: Any) -> Any:
    if isinstance(stmt, Declare) and stmt.init is not None:
        assert isinstance(stmt.init, Load)
        return replace(stmt, init=replace(stmt.init, buffer="pack_L2")) if stmt.init.buffer == "pack" else stmt
    if isinstance(stmt, (Store, Declare)):
        return stmt
    return replace(stmt, body=Block(tuple(_leased(inner) for inner in stmt.body.body)))


def _step(a: Load) -> Store:
    return Store("acc", (i, j), fma(a, Load("b", (add(gk, k), add(Var("gj.lo"), j))), Load("acc", (i, j))))


def _with_pack(stmt: Any) -> Any:
    if isinstance(stmt, Store):
        assert isinstance(stmt.value, Op)
        return replace(stmt, value=replace(stmt.value, args=(Load("pack", (i, k)), *stmt.value.args[1:])))
    return replace(stmt, body=Block(tuple(_with_pack(inner) for inner in stmt.body.body)))


def _replace_at(program_: Program, stmt: Stmt) -> Program:
    return splice("test", program_, (1, 0, 1, 2), 1, (stmt,))


def test_a_region_under_a_guard_and_its_paths() -> None:
    params = (Param("x", "out", "f32", (M,)), Param("y", "reads", "f32", (M,)))
    use = Store("x", (i,), Op("f", "f32", (Load("y", (i,)), Load("y", (i,)))))
    before = Program("s", ("M",), params, block(loop("i", M, If(lt(i, Const(2)), block(), block(use)))))
    once = Declare("t", "f32", init=Load("y", (i,)))
    goal = stage_in(before, (0, 0, 1, 0), 1, "y", "t", (once,), (Store("x", (i,), Op("f", "f32", (Load("t"), Load("t")))),))
    claimed(goal)
    assert agrees(before, after(goal), 5)


def through(lead: tuple[Stmt, ...], body: Stmt, trail: tuple[Stmt, ...], buffer: str = "t") -> Goal:
    """Hold `x` in `t` while `x[i] = f x[i]` runs."""
    return stage_through(UPDATING, (0,), 1, "x", buffer, lead, (body,), trail)


def cells(name: str, counter: str) -> Load:
    return Load(name, (Var(counter),))


def copying(counter: str, to: str, value: Load) -> Stmt:
    return loop(counter, M, Store(to, (Var(counter),), value))


VECTORS = (Param("x", "mut", "f32", (M,)), Param("y", "mut", "f32", (M,)), Param("s", "mut", "f32", (M,), scratch=True))
UPDATING = Program("s", ("M",), VECTORS, block(loop("i", M, Store("x", (i,), Op("f", "f32", (cells("x", "i"),))))))
LOCAL = Declare("t", "f32", (M,), mutable=True)
COPY_IN, COPY_OUT = copying("p", "t", cells("x", "p")), copying("q", "x", cells("t", "q"))
HELD_STEP = loop("i", M, Store("t", (i,), Op("f", "f32", (cells("t", "i"),))))


def test_a_vector_is_held_and_stored_back() -> None:
    goal = through((LOCAL, COPY_IN), HELD_STEP, (COPY_OUT,))
    claimed(goal)
    assert agrees(UPDATING, after(goal))
    filled = through((LOCAL, loop("f", M, Store("t", (Var("f"),), ZERO_WORD)), COPY_IN), HELD_STEP, (COPY_OUT,))
    claimed(filled)
    assert agrees(UPDATING, after(filled))


NO_STAGE: list[tuple[str, tuple[Stmt, ...], Stmt, tuple[Stmt, ...]]] = [
    ("not one store family", (LOCAL, COPY_IN), HELD_STEP, ()),
    ("not one store family", (LOCAL, COPY_IN), HELD_STEP, (COPY_OUT, copying("u", "y", cells("t", "u")))),
    ("do not copy t back", (LOCAL, COPY_IN), HELD_STEP, (copying("u", "y", cells("t", "u")),)),
    ("do not copy t back", (LOCAL, COPY_IN), HELD_STEP, (copying("u", "x", cells("y", "u")),)),
    ("do more than fill", (LOCAL, COPY_IN, loop("f", M, Store("t", (Var("f"),), ZERO_WORD))), HELD_STEP, (COPY_OUT,)),
    ("do more than fill", (LOCAL, loop("f", M, Store("y", (Var("f"),), ZERO_WORD)), COPY_IN), HELD_STEP, (COPY_OUT,)),
    ("do more than fill", (LOCAL, loop("f", M, Store("t", (Var("f"),), Op("g", "f32", (cells("t", "f"),)))), COPY_IN), HELD_STEP, (COPY_OUT,)),
    ("stores to y", (LOCAL, COPY_IN), loop("i", M, Store("y", (i,), Op("f", "f32", (cells("t", "i"),)))), (COPY_OUT,)),
    ("not two buffers", (COPY_IN,), HELD_STEP, (COPY_OUT,)),
]


@pytest.mark.parametrize(("why", "lead", "body", "trail"), NO_STAGE)
def test_what_holds_nothing_is_refused_outright(why: str, lead: tuple[Stmt, ...], body: Stmt, trail: tuple[Stmt, ...]) -> None:
    with pytest.raises(RuleError, match=r"nothing declares it" if why == "not two buffers" else why):
        through(lead, body, trail)


def test_names_that_are_no_buffers_are_refused() -> None:
    with pytest.raises(RuleError, match="not two buffers"):
        through((LOCAL, COPY_IN), HELD_STEP, (COPY_OUT,), buffer="nothing")
    with pytest.raises(RuleError, match="not two buffers"):
        through((LOCAL, COPY_IN), HELD_STEP, (COPY_OUT,), buffer="x")


def test_other_stores_of_the_region_stay_where_they_were() -> None:
    both = loop("i", M, Store("x", (i,), Op("f", "f32", (cells("x", "i"),))), Store("y", (i,), cells("x", "i")))
    before = replace(UPDATING, body=block(both))

    def held_(cell: Index) -> Stmt:
        return loop("i", M, Store("t", (i,), Op("f", "f32", (cells("t", "i"),))), Store("y", (cell,), cells("t", "i")))

    claimed(stage_through(before, (0,), 1, "x", "t", (LOCAL, COPY_IN), (held_(i),), (COPY_OUT,)))
    with pytest.raises(RuleError, match="stores elsewhere"):
        stage_through(before, (0,), 1, "x", "t", (LOCAL, COPY_IN), (held_(ZERO),), (COPY_OUT,))
    reading = replace(UPDATING, body=block(copying("i", "y", cells("x", "i"))))
    with pytest.raises(RuleError, match="stores elsewhere"):
        stage_in(reading, (0,), 1, "x", "t", (LOCAL, COPY_IN), (loop("i", M, Store("y", (ZERO,), cells("t", "i"))),))


def test_a_local_of_the_region_stays_in_its_iteration() -> None:
    """Moved out of the loop, `u` would carry a word from one iteration to the next."""
    own = Declare("u", "f32", mutable=True)
    keep, use = Store("u", (), cells("x", "i")), Store("y", (i,), Load("u"))
    reading = replace(UPDATING, body=block(loop("i", M, own, use, keep)))
    moved = (own, loop("i", M, use, Store("u", (), cells("t", "i"))))
    with pytest.raises(RuleError, match="u is not declared as it was"):
        stage_in(reading, (0,), 1, "x", "t", (LOCAL, COPY_IN), moved)


def test_a_shared_copy_that_is_written_in_a_grid_is_a_race() -> None:
    grid = replace(UPDATING, body=block(Grid((Axis("i", ZERO, M),), block(Store("x", (i,), Op("f", "f32", (cells("x", "i"),)))))))

    def goal(at: Index, own: tuple[Stmt, ...], name: str) -> Goal:
        held_ = Load(name, (at,))
        lead = (*own, Store(name, (at,), cells("x", "i")))
        return stage_through(grid, (0, 0), 1, "x", name, lead, (Store(name, (at,), Op("f", "f32", (held_,))),), (Store("x", (i,), held_),))

    claimed(goal(i, (), "s"))
    assert invalid(goal(ZERO, (), "s")) != []
    claimed(goal(ZERO, (Declare("t", "f32", (ONE,), mutable=True),), "t"))
