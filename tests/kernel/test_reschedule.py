"""The law of reordering: what it accepts, and every wrong order, map or statement it must not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cachet_verify.core.family import lower
from cachet_verify.core.index import ONE, ZERO, Const, Mod, Var, add, div, eq, le, lt, mod, mul, sub
from cachet_verify.core.ir import Axis, Block, Choose, Declare, For, Grid, If, Lanes, Load, Op, Param, Program, Range, Store, Value, Word
from cachet_verify.kernel.claim import RuleError
from cachet_verify.kernel.reschedule import Describe, Image, reschedule
from tests.kernel.sample import ZERO_WORD, A, B, C, K, M, N, agrees, block, blocks, fma, i, j, k, loop, program
from tests.kernel.solve import claimed, invalid

UPDATE = Store("c", (i, j), fma(A, B, C))
NEST = program(loop("i", M, loop("j", N, loop("k", K, UPDATE))))
SWAPPED = program(loop("i", M, loop("k", K, loop("j", N, UPDATE))))
g = Var("g")


def only(program_: Program) -> str:
    (member,) = lower(program_).members
    return member.name


def same_names(before: Program, after: Program) -> dict[str, Image]:
    """Images that take every counter for itself, families in order."""
    return {ours.name: Image(theirs.name) for ours, theirs in zip(lower(after).members, lower(before).members, strict=True)}


def vector(*body: Store, name: str = "x") -> Program:
    """A program over one parameter with one dimension."""
    params = (Param("x", "mut", "f32", (M,)), Param("y", "reads", "f32", (M,)))
    return Program("vector", ("M",), params, Block(body))


def test_loops_over_disjoint_updates_may_swap() -> None:
    claimed(reschedule(NEST, SWAPPED, same_names(NEST, SWAPPED)))
    assert agrees(NEST, SWAPPED)


def test_a_permutation_of_loops_asks_two_small_things() -> None:
    """Writes against writes, and reads against writes, of the one cell that is updated."""
    assert len(reschedule(NEST, SWAPPED, same_names(NEST, SWAPPED)).obligations) == 2


def test_splitting_a_loop_with_a_ragged_end() -> None:
    inner = Store("c", (i, add(Var("g.lo"), j)), fma(A, Load("b", (k, add(Var("g.lo"), j))), Load("c", (i, add(Var("g.lo"), j)))))
    after = program(loop("i", M, blocks("g", N, 3, loop("j", Var("g.len"), loop("k", K, inner)))))
    maps = Image(only(NEST), {"j": add(mul(Const(3), g), j)}, {"g": div(j, Const(3)), "j": mod(j, Const(3))})
    claimed(reschedule(NEST, after, {only(after): maps}))
    assert agrees(NEST, after, 5)


def test_a_block_that_loses_its_tail_is_refused() -> None:
    inner = Store("c", (i, add(Var("g.lo"), j)), fma(A, Load("b", (k, add(Var("g.lo"), j))), Load("c", (i, add(Var("g.lo"), j)))))
    after = program(loop("i", M, loop("g", div(N, Const(3)), loop("j", Const(3), loop("k", K, _at(inner, mul(Const(3), g)))))))
    maps = Image(only(NEST), {"j": add(mul(Const(3), g), j)}, {"g": div(j, Const(3)), "j": mod(j, Const(3))})
    assert invalid(reschedule(NEST, after, {only(after): maps})) != []


def _at(store: Store, start: object) -> Store:
    at = add(start, j)  # type: ignore[arg-type]
    return Store("c", (i, at), fma(A, Load("b", (k, at)), Load("c", (i, at))))


def test_a_sum_in_reverse_is_refused_with_the_sentence_of_the_body() -> None:
    back = sub(K, add(k, ONE))
    reverse = Store("c", (i, j), fma(Load("a", (i, back)), Load("b", (back, j)), C))
    after = program(loop("i", M, loop("k", K, loop("j", N, reverse))))
    told = Describe(body="the two runs hold the same words in parameter 3")
    assert invalid(reschedule(NEST, after, same_names(NEST, after), told)) == ["the two runs hold the same words in parameter 3"]
    undone = {only(after): Image(only(NEST), {"k": back}, {"k": back})}
    assert len(invalid(reschedule(NEST, after, undone))) == 2
    assert not agrees(NEST, after)


def test_a_lost_iteration_is_refused_with_the_sentence_of_its_loop() -> None:
    after = program(loop("i", M, For("k", Range(ONE, K), block(loop("j", N, UPDATE)))))
    told = Describe(trips={"k": "the loops at S.k and T.k run the same number of times"}, body="body")
    assert invalid(reschedule(NEST, after, same_names(NEST, after), told)) == [told.trips["k"]]


def test_a_loop_that_runs_further_is_refused() -> None:
    after = program(loop("i", M, loop("k", add(K, ONE), loop("j", N, UPDATE))))
    assert len(invalid(reschedule(NEST, after, same_names(NEST, after)))) == 1


def test_swapping_a_triangular_nest_needs_the_right_bounds() -> None:
    """`for i do for j in 0 .. i`: the inner bound mentions the loop that moves."""
    params = (Param("t", "mut", "f32", (M, M)),)
    store = Store("t", (i, j), Word("f32", 0))
    before = Program("triangle", ("M",), params, block(loop("i", M, loop("j", i, store))))
    square = Program("triangle", ("M",), params, block(loop("j", M, loop("i", M, store))))
    right = Program("triangle", ("M",), params, block(loop("j", M, loop("i", M, store, low=add(j, ONE)))))
    captured = Program("triangle", ("M",), params, block(loop("j", i, loop("i", M, store))))
    assert invalid(reschedule(before, square, same_names(before, square))) != []
    claimed(reschedule(before, right, same_names(before, right)))
    with pytest.raises(RuleError, match="i is used in triangle where nothing binds it"):
        reschedule(before, captured, {"t@0.0.0": Image("t@0.0.0")})


def test_a_nest_of_its_own_for_the_first_store() -> None:
    zero = Store("c", (i, j), ZERO_WORD)
    before = program(loop("i", M, loop("j", N, zero, loop("k", K, UPDATE))))
    zi, zj = Var("zi"), Var("zj")
    zeroes = loop("zi", M, loop("zj", N, Store("c", (zi, zj), ZERO_WORD)))
    after = program(zeroes, loop("i", M, loop("j", N, loop("k", K, UPDATE))))
    late = program(loop("i", M, loop("j", N, loop("k", K, UPDATE))), zeroes)
    maps = Image("c@0.0.0", {"i": zi, "j": zj}, {"zi": i, "zj": j})
    goal = reschedule(before, after, {"c@0.0.0": maps, "c@1.0.0.0": Image("c@0.0.1.0")})
    claimed(goal)
    assert agrees(before, after)
    wrong = reschedule(before, late, {"c@1.0.0": maps, "c@0.0.0.0": Image("c@0.0.1.0")})
    assert invalid(wrong) != []


def test_zeroing_a_transposed_cell_is_refused() -> None:
    square = tuple(replace(param, shape=(M, M)) for param in NEST.params)
    zero = Store("c", (i, j), ZERO_WORD)
    before = Program("s", ("M",), square, block(loop("i", M, loop("j", M, zero))))
    after = Program("s", ("M",), square, block(loop("i", M, loop("j", M, Store("c", (j, i), ZERO_WORD)))))
    assert invalid(reschedule(before, after, same_names(before, after))) != []
    claimed(reschedule(before, after, {"c@0.0.0": Image("c@0.0.0", {"i": j, "j": i}, {"i": j, "j": i})}))


@pytest.mark.parametrize(
    "changed",
    [
        Store("c", (i, j), fma(B, A, C)),
        Store("c", (i, j), Op("fma", "f64", (A, B, C))),
        Store("c", (i, j), Op("add", "f32", (Op("mul", "f32", (A, B)), C))),
        Store("c", (i, j), fma(A, B, Load("a", (i, k)))),
        Store("c", (i, j), ZERO_WORD),
        Store("a", (i, k), fma(A, B, C)),
    ],
)
def test_another_statement_is_refused_outright(changed: Store) -> None:
    after = program(loop("i", M, loop("k", K, loop("j", N, changed))))
    with pytest.raises(RuleError, match=r"differ|accessed"):
        reschedule(NEST, after, {only(after): Image(only(NEST))})


@pytest.mark.parametrize(
    "changed",
    [
        Store("c", (i, j), fma(Load("a", (i, add(k, ONE))), B, C)),
        Store("c", (i, j), fma(A, Load("b", (k, ZERO)), C)),
        Store("c", (i, add(j, ONE)), fma(A, B, C)),
        Store("c", (j, i), fma(A, B, C)),
    ],
)
def test_other_indices_are_asked_and_fail(changed: Store) -> None:
    after = program(loop("i", M, loop("k", K, loop("j", N, changed))))
    assert invalid(reschedule(NEST, after, same_names(NEST, after))) != []


def test_maps_that_are_not_one_to_one_are_refused() -> None:
    """Every iteration of `k` stands for the first one: domains fit, yet iterations are lost."""
    assert invalid(reschedule(NEST, NEST, {only(NEST): Image(only(NEST), {"k": ZERO}, {"k": k})})) != []
    assert invalid(reschedule(NEST, NEST, {only(NEST): Image(only(NEST), {"k": k}, {"k": ZERO})})) != []


def test_a_statement_may_not_be_lost_doubled_or_without_image() -> None:
    first = loop("i", M, loop("j", N, Store("c", (i, j), ZERO_WORD)))
    second = loop("p", M, loop("q", N, Store("c", (Var("p"), Var("q")), ZERO_WORD)))
    twice, once = program(first, second), program(first)
    with pytest.raises(RuleError, match="missing after"):
        reschedule(twice, once, {"c@0.0.0": Image("c@0.0.0")})
    with pytest.raises(RuleError, match="stands for no store before it"):
        reschedule(once, twice, {"c@0.0.0": Image("c@0.0.0")})
    back = Image("c@0.0.0", {"i": Var("p"), "j": Var("q")}, {"p": i, "q": j})
    assert "no iteration of store c[i, j] is there twice" in invalid(reschedule(once, twice, {"c@0.0.0": Image("c@0.0.0"), "c@1.0.0": back}))
    with pytest.raises(RuleError, match="does not have"):
        reschedule(once, once, {"c@0.0.0": Image("c@0.0.0"), "c@7": Image("c@0.0.0")})
    with pytest.raises(RuleError, match="not in scope"):
        reschedule(once, once, {"c@0.0.0": Image("c@0.0.0", {"i": Var("elsewhere")})})


def test_one_statement_may_become_several_that_cover_it() -> None:
    store = Store("x", (i,), Load("y", (i,)))
    before = vector(loop("i", M, store))
    p, q = Var("p"), Var("q")
    parts = vector(
        loop("p", Var("M"), If(lt(p, Const(2)), block(Store("x", (p,), Load("y", (p,)))), block())),
        loop("q", M, Store("x", (q,), Load("y", (q,))), low=Const(2)),
    )
    images = {"x@0.0.0.0": Image("x@0.0", {"i": p}, {"p": i}), "x@1.0": Image("x@0.0", {"i": q}, {"q": i})}
    claimed(reschedule(before, parts, images))
    assert agrees(before, parts, 5)
    gap = replace(parts, body=block(parts.body.body[0], loop("q", M, Store("x", (q,), Load("y", (q,))), low=Const(3))))
    assert "every iteration of store x[i] is still there" in invalid(reschedule(before, gap, images))
    overlap = replace(parts, body=block(parts.body.body[0], loop("q", M, Store("x", (q,), Load("y", (q,))), low=ONE)))
    assert "no iteration of store x[i] is there twice" in invalid(reschedule(before, overlap, images))


def test_a_shift_of_a_recurrence_may_not_turn_round() -> None:
    step = Store("x", (add(i, ONE),), Op("f", "f32", (Load("x", (i,)),)))
    before = vector(loop("i", sub(M, ONE), step))
    back = sub(sub(M, Const(2)), i)
    turned = vector(loop("i", sub(M, ONE), Store("x", (add(back, ONE),), Op("f", "f32", (Load("x", (back,)),)))))
    goal = reschedule(before, turned, {"x@0.0": Image("x@0.0", {"i": back}, {"i": back})})
    assert invalid(goal) != []
    assert not agrees(before, turned)


def test_a_last_write_must_stay_last() -> None:
    """Two writes to one cell and nobody reading: the order of the writes is what is left."""
    store = Store("x", (ZERO,), Load("y", (i,)))
    before = vector(loop("i", M, store))
    back = sub(sub(M, ONE), i)
    after = vector(loop("i", M, Store("x", (ZERO,), Load("y", (back,)))))
    assert invalid(reschedule(before, after, {"x@0.0": Image("x@0.0", {"i": back}, {"i": back})})) != []


def test_equal_updates_of_one_cell_may_be_permuted_and_others_may_not() -> None:
    """`a = a + 1` in every iteration against `a = a + x[i, j]`."""
    params = (Param("a", "mut", "f32", ()), Param("x", "reads", "f32", (M, N)))
    one = Op("add", "f32", (Load("a"), Word("f32", 0x3F800000)))
    other = Op("add", "f32", (Load("a"), Load("x", (i, j))))

    def nest(value: Op, outer: str, inner: str) -> Program:
        highs = {"i": M, "j": N}
        return Program("p", ("M", "N"), params, block(loop(outer, highs[outer], loop(inner, highs[inner], Store("a", (), value)))))

    claimed(reschedule(nest(one, "i", "j"), nest(one, "j", "i"), {"a@0.0.0": Image("a@0.0.0")}))
    assert agrees(nest(one, "i", "j"), nest(one, "j", "i"))
    assert invalid(reschedule(nest(other, "i", "j"), nest(other, "j", "i"), {"a@0.0.0": Image("a@0.0.0")})) != []
    assert not agrees(nest(other, "i", "j"), nest(other, "j", "i"))


def test_equal_updates_in_a_grid_are_a_race_all_the_same() -> None:
    params = (Param("a", "mut", "f32", ()),)
    one = Store("a", (), Op("add", "f32", (Load("a"), Word("f32", 0x3F800000))))
    before = Program("p", ("M",), params, block(loop("i", M, one)))
    after = Program("p", ("M",), params, block(Grid((Axis("i", ZERO, M),), block(one))))
    assert invalid(reschedule(before, after, {"a@0.0": Image("a@0.0")})) != []


def test_equal_updates_seen_in_between_may_not_be_permuted() -> None:
    """A reader between two equal updates keeps its place among them."""
    params = (Param("a", "mut", "f32", ()), Param("x", "out", "f32", (M,)))
    one = Store("a", (), Op("add", "f32", (Load("a"), Word("f32", 0x3F800000))))
    before = Program("p", ("M",), params, block(loop("i", M, one, Store("x", (i,), Load("a")))))
    p = Var("p")
    after = Program("p", ("M",), params, block(loop("i", M, one), loop("p", M, Store("x", (p,), Load("a")))))
    goal = reschedule(before, after, {"a@0.0": Image("a@0.0"), "x@1.0": Image("x@0.1", {"i": p}, {"p": i})})
    assert invalid(goal) != []
    assert not agrees(before, after)


def test_a_grid_of_disjoint_cells_is_accepted_and_one_of_shared_cells_is_not() -> None:
    rows = program(Grid((Axis("i", ZERO, M), Axis("j", ZERO, N)), block(loop("k", K, UPDATE))))
    claimed(reschedule(NEST, rows, same_names(NEST, rows)))
    shared = program(Grid((Axis("i", ZERO, M), Axis("k", ZERO, K)), block(loop("j", N, UPDATE))))
    assert invalid(reschedule(NEST, shared, same_names(NEST, shared))) != []


def test_lanes_of_one_vector_operation_read_before_they_write() -> None:
    """`x[l] = f x[l]` is fine in lanes; `x[l + 1] = f x[l]` passes a word from lane to lane."""
    p = Var("p")

    def pair(target: object) -> tuple[Program, Program]:
        at = add(p, target)  # type: ignore[arg-type]
        store = Store("x", (at,), Op("f", "f32", (Load("x", (p,)),)))
        lanes = replace(store, lanes=Lanes("p", 4, M))
        return vector(loop("p", Const(4), If(lt(p, M), block(store), block()))), vector(lanes)

    before, after = pair(ZERO)
    claimed(reschedule(before, after, {"x@0": Image("x@0.0.0.0")}))
    assert agrees(before, after, 6)
    before, after = pair(ONE)
    assert invalid(reschedule(before, after, {"x@0": Image("x@0.0.0.0")})) != []


def test_lanes_that_leave_out_the_mask_are_refused() -> None:
    p = Var("p")
    store = Store("x", (p,), Load("y", (p,)))
    before = vector(loop("p", M, store))
    narrow = vector(replace(store, lanes=Lanes("p", 4, M)))
    assert invalid(reschedule(before, narrow, {"x@0": Image("x@0.0")})) != []


TEMPORARY = Declare("t", "f32", mutable=True)
GIVE, TAKE = Store("t", (), Load("y", (i,))), Store("x", (i,), Load("t"))


def test_a_local_follows_its_iteration() -> None:
    before = vector(loop("i", M, TEMPORARY, GIVE, TAKE))
    same = vector(blocks("g", M, 2, loop("i", Var("g.len"), TEMPORARY, _shifted(GIVE), _shifted(TAKE))))
    maps = {"i": add(mul(Const(2), g), i)}, {"g": div(i, Const(2)), "i": mod(i, Const(2))}
    images = {"t@0.0.1": Image("t@0.1", *maps), "x@0.0.2": Image("x@0.2", *maps)}
    claimed(reschedule(before, same, images))
    assert agrees(before, same, 6)


def _shifted(store: Store) -> Store:
    at = add(Var("g.lo"), i)
    value = Load("y", (at,)) if store is GIVE else store.value
    return Store(store.buffer, (at,) if store.index else (), value)


def test_one_local_for_all_iterations_still_carries_the_right_word_and_is_refused_when_it_does_not() -> None:
    """Hoisting the declaration makes one cell of many; the cells of the program before were apart."""
    before = vector(loop("i", M, TEMPORARY, GIVE, TAKE))
    outside = vector(TEMPORARY, loop("i", M, GIVE, TAKE))
    assert "each iteration has a t of its own, as before" in invalid(
        reschedule(before, outside, {"t@1.0": Image("t@0.1"), "x@1.1": Image("x@0.2")})
    )
    p = Var("p")
    torn = vector(TEMPORARY, loop("i", M, GIVE), loop("p", M, Store("x", (p,), Load("t"))))
    images = {"t@1.0": Image("t@0.1"), "x@2.0": Image("x@0.2", {"i": p}, {"p": i})}
    assert invalid(reschedule(before, torn, images)) != []
    assert not agrees(before, torn)


def test_a_local_that_carried_a_word_from_one_iteration_to_the_next_must_go_on_doing_so() -> None:
    before = vector(TEMPORARY, loop("i", M, TAKE, GIVE))
    private = vector(loop("i", M, TEMPORARY, TAKE, GIVE))
    goal = reschedule(before, private, {"x@0.1": Image("x@1.0"), "t@0.2": Image("t@1.1")})
    assert invalid(goal) != []


def test_a_requirement_may_be_used_and_may_not_be_lost() -> None:
    from cachet_verify.core.ir import Require

    exact = Require(eq(Mod(N, Const(3)), ZERO), "exact split")
    at = add(mul(Const(3), g), j)
    inner = Store("c", (i, at), fma(A, Load("b", (k, at)), Load("c", (i, at))))
    after = program(loop("i", M, loop("g", div(N, Const(3)), loop("j", Const(3), loop("k", K, inner)))))
    maps = {only(after): Image(only(NEST), {"j": at}, {"g": div(j, Const(3)), "j": mod(j, Const(3))})}
    assert invalid(reschedule(NEST, after, maps)) != []
    needs = replace(NEST, requires=(exact,))
    claimed(reschedule(needs, replace(after, requires=(exact,)), maps))
    with pytest.raises(RuleError, match="requirement"):
        reschedule(needs, after, maps)
    assert agrees(needs, replace(after, requires=(exact,)), 4)


def test_obligations_come_in_one_order() -> None:
    def texts() -> list[str]:
        return [obligation.statement() for obligation in reschedule(NEST, SWAPPED, same_names(NEST, SWAPPED)).obligations]

    assert texts() == texts()


def test_guards_are_part_of_what_runs() -> None:
    store = Store("x", (i,), Load("y", (i,)))
    before = vector(loop("i", M, If(le(i, Const(2)), block(store), block())))
    dropped = vector(loop("i", M, store))
    assert invalid(reschedule(before, dropped, {"x@0.0": Image("x@0.0.0.0")})) != []


def test_equal_updates_are_counted() -> None:
    """`x[0] = f x[0]` for every `i`: only that the maps undo each other keeps the number of iterations."""
    step = Store("x", (ZERO,), Op("f", "f32", (Load("x", (ZERO,)),)))
    once, twice = vector(loop("i", M, step)), vector(loop("i", mul(Const(2), M), step))
    half, double = div(i, Const(2)), mul(Const(2), i)
    more = reschedule(once, twice, {"x@0.0": Image("x@0.0", {"i": half}, {"i": double})})
    fewer = reschedule(twice, once, {"x@0.0": Image("x@0.0", {"i": double}, {"i": half})})
    for goal in (more, fewer):
        assert invalid(goal) == ["each iteration of store x[0] stands for one iteration before, and the reverse"]
    assert not agrees(once, twice)


def test_hints_that_fit_nothing_are_refused() -> None:
    once = program(loop("i", M, loop("j", N, Store("c", (i, j), ZERO_WORD))))
    renamed = program(loop("p", M, loop("j", N, Store("c", (Var("p"), j), ZERO_WORD))))
    with pytest.raises(RuleError, match="which iteration of i it stands for is not known, in a store to c"):
        reschedule(once, renamed, {"c@0.0.0": Image("c@0.0.0")})
    with pytest.raises(RuleError, match="does not have"):
        reschedule(once, once, {"c@0.0.0": Image("c@0.0.0", {"q": i})})
    with pytest.raises(RuleError, match="no family before is named nothing"):
        reschedule(once, once, {"c@0.0.0": Image("nothing")})


def test_a_local_stays_what_it_is() -> None:
    def nest(local: Declare, index: tuple[Const, ...] = ()) -> Program:
        return vector(loop("i", M, local, Store("t", index, Load("y", (i,))), Store("x", (i,), Load("t", index))))

    before = nest(TEMPORARY)
    images = {"t@0.1": Image("t@0.1"), "x@0.2": Image("x@0.2")}
    with pytest.raises(RuleError, match="same kind of buffer"):
        reschedule(before, nest(replace(TEMPORARY, elem="f64")), images)
    with pytest.raises(RuleError, match="another number of dimensions"):
        reschedule(before, nest(replace(TEMPORARY, shape=(ONE,)), (ZERO,)), images)


def test_a_choice_may_go_where_its_condition_is_known() -> None:
    first, other = Load("y", (i,)), Load("x", (i,))

    def nest(value: Value) -> Program:
        return vector(loop("i", M, Store("x", (i,), value)))

    chosen = nest(Choose(lt(i, M), first, other))
    for before, after in ((chosen, nest(first)), (nest(first), chosen)):
        claimed(reschedule(before, after, {"x@0.0": Image("x@0.0")}))
    assert agrees(chosen, nest(first))
    wrong = nest(Choose(lt(i, Const(2)), first, other))
    assert invalid(reschedule(wrong, nest(first), {"x@0.0": Image("x@0.0")})) != []
    assert invalid(reschedule(wrong, nest(Choose(lt(i, Const(3)), first, other)), {"x@0.0": Image("x@0.0")})) != []
    claimed(reschedule(wrong, nest(Choose(le(i, ONE), first, other)), {"x@0.0": Image("x@0.0")}))
    with pytest.raises(RuleError, match="the values differ"):
        reschedule(chosen, nest(ZERO_WORD), {"x@0.0": Image("x@0.0")})
