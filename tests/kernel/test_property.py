"""Random programs, random changes: whatever the rules let through leaves every word as it was.

Right and wrong rewrites are drawn from fixed seeds. Where all obligations of a goal are valid, both
programs run on uninterpreted words at all sizes up to 4; one difference fails the test. Each test
also says how many were let through and how many not, so that neither is empty.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from cachet_verify.core.family import Families, lower
from cachet_verify.core.index import ONE, ZERO, Const, Index, Var, add, div, lt, mod, mul, sub, substitute
from cachet_verify.core.ir import Axis, Block, Blocks, Choose, Declare, Fold, For, Grid, Lanes, Load, Op, Param, Program, Range, Stmt, Store, Value
from cachet_verify.kernel.claim import Goal, Same
from cachet_verify.kernel.fold import close_fold, open_fold, split_store
from cachet_verify.kernel.reschedule import Image, reschedule
from cachet_verify.kernel.split import indexed, split_fold
from cachet_verify.kernel.stage import stage_in, stage_through
from tests.kernel.sample import agrees
from tests.kernel.solve import answer, valid

M, N, i, j = Var("M"), Var("N"), Var("i"), Var("j")
PARAMS = (
    Param("x", "mut", "f32", (M, N)),
    Param("y", "mut", "f32", (M,)),
    Param("p", "mut", "f32", (M,), scratch=True),
)


def program(*body: Stmt) -> Program:
    return Program("random", ("M", "N"), PARAMS, Block(body))


class Draw:
    """Pieces of random programs."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def index(self) -> Index:
        return self.random.choice([i, i, j, j, add(i, ONE), sub(i, ONE), add(j, ONE), sub(j, ONE), ZERO, add(i, j), sub(i, j), div(i, Const(2))])

    def load(self) -> Load:
        return Load("x", (self.index(), self.index())) if self.random.random() < 0.6 else Load("y", (self.index(),))

    def value(self, name: str) -> Value:
        value: Value = Op(name, "f32", tuple(self.load() for _ in range(self.random.randint(0, 2))))
        if self.random.random() < 0.15:
            value = Choose(lt(self.index(), self.index()), value, self.load())
        return value

    def store(self, name: str) -> Store:
        cell = (i, j) if self.random.random() < 0.5 else (self.index(), self.index())
        return Store("x", cell, self.value(name)) if self.random.random() < 0.7 else Store("y", (self.index(),), self.value(name))

    def bounds(self) -> Range:
        return self.random.choice([Range(ZERO, N), Range(ZERO, N), Range(ZERO, i), Range(i, N), Range(ONE, N), Range(ZERO, Const(3))])

    def hint(self, term: Index) -> Index:
        return self.random.choice([term, term, term, term, term, add(term, ONE), ZERO])


def at(store: Store, by: dict[str, Index]) -> Store:
    """A store on other indices."""
    value = store.value
    for name, term in by.items():
        value = indexed(value, name, term)
    return replace(store, index=tuple(substitute(term, by) for term in store.index), value=value)


Change = Callable[[Draw, tuple[Store, ...], Range], "tuple[tuple[Stmt, ...], dict[str, Index], dict[str, Index]]"]


def swap(draw: Draw, stores: tuple[Store, ...], bounds: Range) -> tuple[tuple[Stmt, ...], dict[str, Index], dict[str, Index]]:
    square = Range(ZERO, N) if bounds.high in (i, N) and bounds.low in (ZERO, i) else bounds
    inner = Range(ZERO, M)
    if draw.random.random() < 0.7:
        inner = Range(add(j, ONE), M) if bounds == Range(ZERO, i) else inner
    return (For("j", square, Block((For("i", inner, Block(stores)),))),), {}, {}


def turn(draw: Draw, stores: tuple[Store, ...], bounds: Range) -> tuple[tuple[Stmt, ...], dict[str, Index], dict[str, Index]]:
    back = draw.hint(sub(sub(M, ONE), i))
    low, high = (substitute(term, {"i": back}) for term in (bounds.low, bounds.high))
    body = tuple(at(store, {"i": back}) for store in stores)
    return (For("i", Range(ZERO, M), Block((For("j", Range(low, high), Block(body)),))),), {"i": back}, {"i": back}


def strip(draw: Draw, stores: tuple[Store, ...], bounds: Range) -> tuple[tuple[Stmt, ...], dict[str, Index], dict[str, Index]]:
    here = add(Var("g.lo"), i)
    low, high = (substitute(term, {"i": here}) for term in (bounds.low, bounds.high))
    body = tuple(at(store, {"i": here}) for store in stores)
    extent = draw.random.choice([Var("g.len"), Var("g.len"), Const(2)])
    loops = For("g", Blocks(ZERO, M, Const(2)), Block((For("i", Range(ZERO, extent), Block((For("j", Range(low, high), Block(body)),))),)))
    if draw.random.random() < 0.4 and not {"i"} & {str(bounds.low), str(bounds.high)} and bounds in (Range(ZERO, N), Range(ONE, N)):
        loops = For("g", Blocks(ZERO, M, Const(2)), Block((For("j", bounds, Block((For("i", Range(ZERO, extent), Block(body)),))),)))
    return (loops,), {"i": draw.hint(add(mul(Const(2), Var("g")), i))}, {"g": div(i, Const(2)), "i": draw.hint(mod(i, Const(2)))}


def grid(draw: Draw, stores: tuple[Store, ...], bounds: Range) -> tuple[tuple[Stmt, ...], dict[str, Index], dict[str, Index]]:
    return (Grid((Axis("i", ZERO, M),), Block((For("j", bounds, Block(stores)),))),), {}, {}


def turn_statements(draw: Draw, stores: tuple[Store, ...], bounds: Range) -> tuple[tuple[Stmt, ...], dict[str, Index], dict[str, Index]]:
    return (For("i", Range(ZERO, M), Block((For("j", bounds, Block(stores[::-1])),))),), {}, {}


def lanes(draw: Draw, stores: tuple[Store, ...], bounds: Range) -> tuple[tuple[Stmt, ...], dict[str, Index], dict[str, Index]]:
    """Only for a last loop of three steps over one store."""
    vector = replace(stores[0], lanes=Lanes("j", 4, Const(3)))
    return (For("i", Range(ZERO, M), Block((vector, *stores[1:]))),), {}, {}


def shift(draw: Draw, stores: tuple[Store, ...], bounds: Range) -> tuple[tuple[Stmt, ...], dict[str, Index], dict[str, Index]]:
    before = sub(i, ONE)
    low, high = (substitute(term, {"i": before}) for term in (bounds.low, bounds.high))
    body = tuple(at(store, {"i": before}) for store in stores)
    top = draw.random.choice([add(M, ONE), add(M, ONE), M])
    return (For("i", Range(ONE, top), Block((For("j", Range(low, high), Block(body)),))),), {"i": before}, {"i": add(i, ONE)}


CHANGES: list[Change] = [swap, turn, strip, grid, turn_statements, lanes, shift]


def by_operation(families: Families) -> dict[str, str]:
    """The name of each family by the operation it applies, which is its own."""
    found = {}
    for member in families.members:
        value = member.value.then if isinstance(member.value, Choose) else member.value
        assert isinstance(value, Op)
        found[value.name] = member.name
    return found


@pytest.mark.parametrize("change", CHANGES)
def test_reordering_keeps_every_word(change: Change) -> None:
    accepted = refused = 0
    for seed in range(45):
        draw = Draw(seed)
        stores = tuple(draw.store(f"f{place}") for place in range(draw.random.randint(1, 2)))
        bounds = Range(ZERO, Const(3)) if change is lanes else draw.bounds()
        if change is lanes:
            stores = stores[:1]
        before = program(For("i", Range(ZERO, M), Block((For("j", bounds, Block(stores)),))))
        body, forward, backward = change(draw, stores, bounds)
        after = program(*body)
        old, new = by_operation(lower(before)), by_operation(lower(after))
        goal = reschedule(before, after, {new[name]: Image(old[name], forward, backward) for name in new})
        if not valid(goal):
            refused += 1
            continue
        accepted += 1
        assert agrees(before, after, 5), (seed, before, after)
    assert accepted >= 2
    assert refused >= 2


def test_fission_keeps_every_word() -> None:
    accepted = refused = 0
    for seed in range(60):
        draw = Draw(seed)
        stores = tuple(draw.store(f"f{place}") for place in range(2))
        bounds = draw.bounds()
        before = program(For("i", Range(ZERO, M), Block((For("j", bounds, Block(stores)),))))
        u, v = Var("u"), Var("v")
        second = at(stores[1], {"i": u, "j": v})
        low, high = (substitute(term, {"i": u}) for term in (bounds.low, bounds.high))
        first = For("i", Range(ZERO, M), Block((For("j", bounds, Block(stores[:1])),)))
        last = For("u", Range(ZERO, M), Block((For("v", Range(low, high), Block((second,))),)))
        after = program(first, last)
        old, new = by_operation(lower(before)), by_operation(lower(after))
        moved = Image(old["f1"], {"i": u, "j": v}, {"u": i, "v": j})
        goals = [reschedule(before, after, {new["f0"]: Image(old["f0"]), new["f1"]: moved})]
        goals.append(reschedule(after, before, {old["f0"]: Image(new["f0"]), old["f1"]: Image(new["f1"], {"u": i, "v": j}, {"i": u, "j": v})}))
        for goal in goals:
            if not valid(goal):
                refused += 1
            else:
                accepted += 1
                assert isinstance(goal.statement, Same)
                assert agrees(goal.statement.before, goal.statement.after, 5), seed
    assert accepted >= 10
    assert refused >= 10


def test_totals_keep_every_word() -> None:
    accepted = refused = 0
    for seed in range(80):
        draw = Draw(seed)
        step = Op("f", "f32", (Load("acc"), indexed(draw.load(), "j", Var("k"))))
        init: Value = draw.random.choice([Load("x", (i, j)), draw.load(), Op("zero", "f32")])
        total = Fold("k", Range(draw.random.choice([ZERO, ONE, i]), N), init, "acc", "f32", step)
        before = program(For("i", Range(ZERO, M), Block((For("j", Range(ZERO, M), Block((Store("x", (i, j), total),))),))))
        for goal in _total_goals(before):
            if not valid(goal):
                refused += 1
                continue
            accepted += 1
            assert isinstance(goal.statement, Same)
            assert agrees(goal.statement.before, goal.statement.after, 4), (seed, goal.rule)
    assert accepted >= 30
    assert refused >= 30


def _total_goals(before: Program) -> list[Goal]:
    goals = [open_fold(before, (0, 0, 0)), split_fold(before, (0, 0, 0), Const(2), "g", "k")]
    opened = goals[0].statement
    assert isinstance(opened, Same)
    last = len(opened.after.body.body[0].body.body[0].body.body) - 1  # type: ignore[union-attr]
    goals.append(close_fold(opened.after, (0, 0, last), "acc", "f32"))
    if last == 1:  # the total starts from something else than its cell
        goals.append(split_store(before, (0, 0, 0)))
    return goals


def test_copies_keep_every_word() -> None:
    accepted = refused = 0
    for seed in range(160):
        draw = Draw(seed)
        choose = draw.random.choice
        offset, reach = choose([ZERO, ONE, Const(2)]), choose([M, M, add(M, ONE), add(M, Const(2)), sub(M, ONE)])
        start, place, read = choose([ZERO, ZERO, ONE]), choose([ZERO, ONE]), choose([ZERO, ONE, Const(-1)])
        direct = Store("x", (i, j), Op("f", "f32", (Load("y", (add(i, offset),)), Load("x", (i, j)))))
        before = program(For("j", Range(ZERO, N), Block((For("i", Range(ZERO, M), Block((direct,))),))))
        c = Var("c")
        copy = For("c", Range(start, reach), Block((Store("p", (add(c, place),), Load("y", (c,))),)))
        use = Store("x", (i, j), Op("f", "f32", (Load("p", (add(i, read),)), Load("x", (i, j)))))
        copy = replace(copy, body=Block((Store("p", (c,), Load("y", (sub(c, place),))),))) if seed % 2 else copy
        path = choose([(0,), (0, 0)])
        inner = For("i", Range(ZERO, M), Block((use,)))
        region = For("j", Range(ZERO, N), Block((inner,))) if path == (0,) else inner
        goal = stage_in(before, path, 1, "y", "p", (copy,), (region,))
        if not valid(goal):
            refused += 1
            continue
        accepted += 1
        assert isinstance(goal.statement, Same)
        assert agrees(before, goal.statement.after, 4), seed
    assert accepted >= 5
    assert refused >= 50


def test_holding_keeps_every_word() -> None:
    accepted = refused = 0
    for seed in range(160):
        choose = Draw(seed).random.choice
        span, first, back = choose([N, N, add(N, ONE), sub(N, ONE)]), choose([ZERO, ZERO, ONE]), choose([N, N, add(N, ONE)])
        moved, given, taken = choose([ZERO, ONE]), choose([ZERO, ONE]), choose([ZERO, ZERO, ONE])
        c, d = Var("c"), Var("d")

        def nest(cell: Load) -> Stmt:
            store = Store(cell.buffer, cell.index, Op("f", "f32", (cell, Load("x", (i, j)))))
            return For("i", Range(ZERO, M), Block((For("j", Range(ZERO, N), Block((store,))),)))

        before = program(nest(Load("y", (j,))))
        copy = Store("t", (add(c, moved),), Load("y", (c,))) if moved == ZERO else Store("t", (c,), Load("y", (sub(c, ONE),)))
        lead = (Declare("t", "f32", (N,), mutable=True), For("c", Range(first, span), Block((copy,))))
        region = nest(Load("t", (add(j, given),)))
        trail = (For("d", Range(ZERO, back), Block((Store("y", (d,), Load("t", (add(d, taken),))),))),)
        goal = stage_through(before, (0,), 1, "y", "t", lead, (region,), trail)
        if not valid(goal):
            refused += 1
            continue
        accepted += 1
        assert isinstance(goal.statement, Same)
        assert agrees(before, goal.statement.after, 4), seed
    assert accepted >= 2
    assert refused >= 50


def test_locals_follow_their_iterations() -> None:
    """A local declared at one of three levels before and after; its uses in either order; loops moved."""
    accepted = refused = 0
    for seed in range(150):
        draw = Draw(seed)
        choose = draw.random.choice
        give = Store("t", (), Op("f0", "f32", (draw.load(),)))
        take = Store("x", (i, j), Op("f1", "f32", (Load("t"), draw.load())))
        uses = choose([(give, take), (give, take), (take, give)])
        moved = choose([uses, uses, uses[::-1]])
        level = choose([0, 1, 2])
        before = _nest(("i", M), ("j", N), uses, level)
        kind = choose(["same", "swap", "turn"])
        outer, inner = (("j", N), ("i", M)) if kind == "swap" else (("i", M), ("j", N))
        back: dict[str, Index] = {"j": sub(sub(N, ONE), j)} if kind == "turn" else {}
        after = _nest(outer, inner, tuple(at(store, back) for store in moved), choose([level, 0, 1, 2]))
        old, new = by_operation(lower(before)), by_operation(lower(after))
        goal = reschedule(before, after, {new[name]: Image(old[name], back, back) for name in new})
        if not valid(goal):
            refused += 1
            continue
        accepted += 1
        assert agrees(before, after, 4), seed
    assert accepted >= 10
    assert refused >= 30


def _nest(outer: tuple[str, Index], inner: tuple[str, Index], uses: tuple[Store, ...], level: int) -> Program:
    here = [(Declare("t", "f32", mutable=True),) if level == place else () for place in range(3)]
    body = For(inner[0], Range(ZERO, inner[1]), Block((*here[2], *uses)))
    return program(*here[0], For(outer[0], Range(ZERO, outer[1]), Block((*here[1], body))))


def test_lanes_become_a_loop_only_where_no_word_passes_between_them() -> None:
    accepted = refused = 0
    for seed in range(60):
        draw = Draw(seed)
        store = draw.store("f0")
        before = program(For("i", Range(ZERO, M), Block((replace(store, lanes=Lanes("j", 4, Const(3))),))))
        after = program(For("i", Range(ZERO, M), Block((For("j", Range(ZERO, Const(3)), Block((store,))),))))
        goal = reschedule(before, after, {lower(after).members[0].name: Image(lower(before).members[0].name)})
        if not valid(goal):
            refused += 1
            continue
        accepted += 1
        if _has_no_race(before):
            assert agrees(before, after, 4), seed
    assert accepted >= 10
    assert refused >= 5


def _has_no_race(program_: Program) -> bool:
    from cachet_verify.kernel.well_formed import well_formed

    return all("never touch one cell" not in o.subject or answer(o) == "unsat" for o in well_formed(program_).obligations)
