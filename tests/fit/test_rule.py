"""The rule of working sets: rows counted by hand, at the edge and one line over it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cachet_verify.core.element import IEEE
from cachet_verify.core.index import ONE, ZERO, Const, Var, add, ceil_div, eq, le, mod, mul
from cachet_verify.core.ir import (
    Axis,
    Block,
    Declare,
    Grid,
    Inlined,
    Instruction,
    Kept,
    Layout,
    Load,
    Slice,
    Store,
    View,
    Window,
)
from cachet_verify.core.machine import Footprint, Level, Machine
from cachet_verify.kernel.claim import RuleError
from cachet_verify.kernel.fit import fits
from tests.fit.build import N, asked, buffer, guard, lease, loop, machine, program
from tests.kernel.solve import valid

A, B = buffer("a", 64), buffer("b", 32)  # 256 and 128 bytes: 5 and 3 lines of 64


@pytest.mark.parametrize(("capacity", "fits_"), [(320, True), (319, False), (256, False)])
def test_the_edge_is_whole_lines_and_one_more(capacity: int, fits_: bool) -> None:
    assert valid(asked(program((A,), lease("a")), machine(capacity))) is fits_


@pytest.mark.parametrize(("capacity", "fits_"), [(8 * 64, True), (8 * 64 - 1, False)])
def test_what_lives_together_counts_together(capacity: int, fits_: bool) -> None:
    assert valid(asked(program((A, B), lease("a"), lease("b")), machine(capacity))) is fits_


def test_what_lives_one_after_another_does_not() -> None:
    apart = program((A, B), loop("i", 2, lease("a")), loop("j", 2, lease("b")))
    inside = program((A, B), loop("i", 2, lease("a"), loop("j", 2, lease("b"))))
    assert valid(asked(apart, machine(320)))
    assert not valid(asked(inside, machine(320)))


def test_a_lease_ends_with_its_block_and_not_before() -> None:
    behind = program((A, B), loop("i", 2, lease("a"), loop("j", 2)), lease("b"))
    assert valid(asked(behind, machine(320)))
    later = program((A, B), loop("i", 2, lease("a"), loop("j", 2), lease("b")))
    assert not valid(asked(later, machine(320)))


def test_branches_are_apart() -> None:
    assert valid(asked(program((A, B), guard(le(N, Const(3)), lease("a"), lease("b")), sizes=("N",)), machine(320)))


def test_one_buffer_under_several_names_counts_once() -> None:
    view = View("v", ("i",), "a", (Var("i"),), (Const(64),))
    made = program((A,), lease("a"), lease("a_L1", alias="again"), view, lease("v", alias="third"))
    assert valid(asked(made, machine(320)))
    assert not valid(asked(made, machine(319)))


def test_calls_are_walked_and_end_where_they_end() -> None:
    held = Inlined("f b", Block((lease("b"),)))
    assert not valid(asked(program((A, B), lease("a"), held), machine(320)))
    assert valid(asked(program((A, B), held, loop("i", 1, lease("a"))), machine(320)))


@pytest.mark.parametrize(("sharers", "fits_"), [(2, True), (3, False)])
def test_a_shared_level_has_a_part_for_each(sharers: int, fits_: bool) -> None:
    assert valid(asked(program((A,), lease("a")), machine(640, sharers=sharers))) is fits_


@pytest.mark.parametrize(
    ("buffers", "ways", "fits_"),
    # 16 lines; with 4 ways 4 sets: 5 lines of a take 2 ways, 3 of b take 1
    [(("a",), 4, True), (("a", "b"), 4, True), (("a", "b", "c"), 4, True), (("a", "b", "c", "d"), 4, False), (("a", "b", "c", "d"), 16, True)],
)
def test_every_set_has_room(buffers: tuple[str, ...], ways: int, fits_: bool) -> None:
    params = (A, B, buffer("c", 16), buffer("d", 16))  # c and d: 2 lines each, 12 lines in all: capacity alone would do
    made = program(params, *(lease(name) for name in buffers))
    assert valid(asked(made, machine(1024, ways=ways))) is fits_


def test_those_that_share_a_level_share_its_ways() -> None:
    made = program((buffer("a", 16),), lease("a"))  # 2 lines in 4 sets: 1 way
    assert valid(asked(made, machine(1024, sharers=4, ways=4)))
    assert not valid(asked(made, machine(1024, sharers=5, ways=4)))


def test_memory_without_lines_counts_bytes() -> None:
    made = program((A, B), lease("a"), lease("b"))
    assert valid(asked(made, machine(384, line=1)))
    assert not valid(asked(made, machine(383, line=1)))


def test_a_level_without_a_bound_holds_anything() -> None:
    assert valid(asked(program((buffer("a", 1 << 40),), lease("a", "DRAM")), machine(64)))


def test_a_parameter_or_local_on_a_level_is_kept_there_throughout() -> None:
    there = buffer("a", 64, level="L1")
    local = Declare("b", "f32", (Const(32),), mutable=True, level="L1")
    assert valid(asked(program((there,)), machine(320)))
    assert not valid(asked(program((there,), loop("i", 1, local)), machine(320)))


@pytest.mark.parametrize(("most", "fits_"), [(128, True), (129, False)])
def test_a_size_is_bounded_by_what_is_required(most: int, fits_: bool) -> None:
    made = program((buffer("a", N),), lease("a"), sizes=("N",), requires=(le(N, Const(most)),))  # 128 words: 8 lines and one
    assert valid(asked(made, machine(9 * 64))) is fits_


def test_the_bounds_of_loops_around_a_lease_hold_there() -> None:
    local = Declare("t", "f32", (add(Var("i"), ONE),), mutable=True)
    made = program((), loop("i", 128, local, lease("t")))
    assert valid(asked(made, machine(9 * 64)))
    assert not valid(asked(made, machine(9 * 64 - 1)))
    assert valid(asked(program((A,), loop("i", 0, lease("a"))), machine(64)))  # never reached


def test_a_negative_size_does_not_make_room() -> None:
    short = Declare("t", "f32", (add(N, Const(-400)),), mutable=True)
    made = program((A,), lease("a"), short, lease("t"), sizes=("N",), requires=(le(N, Const(300)),))  # -100 words at most
    assert not valid(asked(made, machine(320)))


def test_elements_count_by_their_width() -> None:
    for elem, capacity in (("f64", 9), ("f16", 3), ("i8", 2)):  # 512, 128 and 64 bytes
        made = program((buffer("a", 64, elem=elem),), lease("a"))
        assert valid(asked(made, machine(capacity * 64)))
        assert not valid(asked(made, machine(capacity * 64 - 1)))


def test_elements_of_a_type_that_is_a_parameter_may_be_any_number_of_bytes() -> None:
    made = program((buffer("a", 64, elem="S.Value"),), lease("a"))
    assert not valid(asked(made, machine(1 << 20)))


# --- layouts -----------------------------------------------------------------------------------

PANELS = Footprint("Panels", "f", ("n",), ("R", "C"), mul(mul(ceil_div(Var("R"), Var("n")), Var("n")), Var("C")))


def test_a_layout_takes_its_padding_too() -> None:
    made = program((replace(buffer("a", 5, 4), layout=Layout("Panels", (Const(4),), "f")),), lease("a"))  # 8 rows of 4: 128 bytes
    assert valid(fits(made, machine(192), (PANELS,)))
    assert not valid(fits(made, machine(191), (PANELS,)))


@pytest.mark.parametrize(
    "footprint",
    [None, replace(PANELS, source="g"), replace(PANELS, extents=("R",)), replace(PANELS, params=()), replace(PANELS, size=Var("other"))],
)
def test_a_layout_of_unknown_size_is_no_layout_of_size_nothing(footprint: Footprint | None) -> None:
    made = program((replace(buffer("a", 5, 4), layout=Layout("Panels", (Const(4),), "f")),), lease("a"))
    with pytest.raises(RuleError, match="layout Panels"):
        fits(made, machine(1 << 30), () if footprint is None else (footprint,))


def test_a_local_in_a_layout_takes_what_the_layout_says() -> None:
    local = Declare("t", "f32", (Const(5), Const(4)), mutable=True, layout=Layout("Panels", (Const(4),), "f"))
    assert not valid(fits(program((), local, lease("t")), machine(191), (PANELS,)))


# --- what is left to callers -------------------------------------------------------------------


def test_only_what_is_passed_on_is_left_out() -> None:
    made = program((A, buffer("b", N)), lease("a"), lease("b"), sizes=("N",))
    assert not valid(asked(made, machine(320)))
    assert valid(fits(made, machine(320), (), (Kept("L1", "b"),)))
    assert not valid(fits(made, machine(319), (), (Kept("L1", "b"),)))
    assert not valid(fits(made, machine(320), (), (Kept("L2", "b"),)))


# --- registers ---------------------------------------------------------------------------------


def tile(name: str, rows: int, width: int, elem: str = "f32", mutable: bool = True) -> Declare:
    return Declare(name, elem, (Const(rows),), width, mutable=mutable)


def registers(count: int | None, accumulators: tuple[tuple[str, int], ...] = ()) -> Machine:
    return Machine("M", (), (("f32", 4), ("f64", 2)), count, accumulators)


@pytest.mark.parametrize(
    ("made", "count"),
    [
        (program((), tile("t", 4, 8)), 8),  # 2 registers a row
        (program((), tile("t", 4, 9)), 12),  # 3, the last one not full
        (program((), tile("t", 4, 8, "f64")), 16),
        (program((), tile("t", 4, 8), tile("u", 3, 4)), 11),
        (program((), loop("i", 1, tile("t", 4, 8)), loop("j", 1, tile("u", 3, 4))), 8),
    ],
)
def test_tiles_that_live_together_share_the_registers(made: object, count: int) -> None:
    assert valid(asked(made, registers(count)))  # type: ignore[arg-type]
    assert not valid(asked(made, registers(count - 1)))  # type: ignore[arg-type]


def test_temporaries_and_tiles_of_devices_take_no_vector_registers() -> None:
    on_device = Grid((Axis("g", ZERO, Const(4)),), Block((tile("t", 99, 99),)), device=IEEE)
    on_host = replace(on_device, device=None)
    assert valid(asked(program((), tile("t", 99, 99, mutable=False)), registers(1)))
    assert valid(asked(program((), on_device), registers(1)))
    assert not valid(asked(program((), on_host), registers(1)))
    assert valid(asked(program((), tile("t", 99, 99)), registers(None)))


def test_a_tile_that_an_instruction_keeps_counts_in_its_accumulator() -> None:
    use = Inlined("outer", Block((Store("t", (ZERO, ZERO), Load("t", (ZERO, ZERO))),)), instruction=Instruction("outer"))
    made = program((), tile("t", 4, 8), use)  # 128 bytes, or 8 registers
    assert valid(asked(made, registers(1, (("outer", 128),))))
    assert not valid(asked(made, registers(99, (("outer", 127),))))
    assert not valid(asked(made, registers(1, (("inner", 128),))))
    both = program((), tile("t", 4, 8), use, tile("u", 2, 8))
    assert valid(asked(both, registers(4, (("outer", 128),))))
    assert not valid(asked(both, registers(3, (("outer", 128),))))


def test_a_width_that_the_machine_does_not_state_is_asked_of_nobody() -> None:
    with pytest.raises(RuleError, match="i8"):
        asked(program((), tile("t", 4, 8, "i8")), registers(32))


# --- grids -------------------------------------------------------------------------------------


def test_each_iteration_of_a_grid_keeps_its_own_in_its_share() -> None:
    window = Window("a", (Slice(ZERO, Const(64)),), "w")
    grid = Grid((Axis("g", ZERO, Const(4)),), Block((lease("w", alias="w_L1"), lease("b"))), (window,))
    made = program((A, B), grid)
    assert valid(asked(made, machine(8 * 64 * 4, sharers=4)))
    assert not valid(asked(made, machine(8 * 64 * 4 - 4, sharers=4)))
    guarded = program((A, B), Grid((Axis("g", ZERO, Const(4)),), Block((guard(eq(mod(Var("g"), Const(2)), ZERO), lease("a"), lease("b")),))))
    assert valid(asked(guarded, machine(320)))


# --- forged numbers ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "forged",
    [
        Machine("M", (Level(("L1",), 0),)),
        Machine("M", (Level(("L1",), 64, 0),)),
        Machine("M", (Level(("L1",), 64, 1, 0),)),
        Machine("M", (Level(("L1",), 64, 1, -1),)),
        Machine("M", (Level(("L1",), 64, 1, 1, 0),)),
        Machine("M", (), (("f32", 0),), 4),
        Machine("M", (), (), None, (("outer", 0),)),
    ],
)
def test_a_machine_of_no_numbers_is_refused(forged: Machine) -> None:
    with pytest.raises(RuleError, match="below 1"):
        asked(program((A,), lease("a")), forged)
