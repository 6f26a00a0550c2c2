"""The sizes that a search tries: order, requirements, block sizes."""

from __future__ import annotations

from itertools import islice

from cachet_verify.core.index import Const, Var, eq, lt, mod
from cachet_verify.replay.size import SizeSearch, literals
from tests.core.nest import blocks, program
from tests.replay.blocked import blocked, registers


def test_small_sizes_come_by_their_sum() -> None:
    tried = list(islice(SizeSearch(program("f", "M N", ())).each(), 16))
    points = [(sizes["M"], sizes["N"]) for sizes in tried]
    assert points[:6] == [(0, 0), (0, 1), (1, 0), (0, 2), (1, 1), (2, 0)]
    assert sorted(points) == [(m, n) for m in range(4) for n in range(4)]
    assert [sum(point) for point in points] == sorted(sum(point) for point in points)


def test_block_sizes_are_approached_from_both_sides() -> None:
    source = program("f", "K", (), blocks("g", 0, "K", 16))
    tried = [sizes["K"] for sizes in SizeSearch(source).each()]
    assert {15, 16, 17, 32, 33} <= set(tried)
    assert len(tried) == len(set(tried))
    assert literals(source) == (16,)
    assert literals(blocked(512)) == (512,)
    assert literals(registers(masked=True)) == (4,)


def test_requirements_hold() -> None:
    source = program("f", "K N", (), blocks("g", 0, "K", 8), needs=(eq(mod(Var("K"), Const(8)), Const(0)), lt(Const(0), Var("N"))))
    search = SizeSearch(source)
    tried = list(search.each())
    assert {sizes["K"] for sizes in tried} == {0, 8, 16}
    assert all(sizes["N"] > 0 for sizes in tried)
    assert list(search.lower({"K": 8, "N": 2})) == [{"K": 0, "N": 2}, {"K": 8, "N": 1}]


def test_a_requirement_that_divides_by_zero_is_not_met() -> None:
    search = SizeSearch(program("f", "B K", (), needs=(eq(mod(Var("K"), Var("B")), Const(0)),)))
    assert not search.meets({"B": 0, "K": 4})
    assert search.meets({"B": 2, "K": 4})


def test_no_sizes_at_all() -> None:
    assert list(SizeSearch(program("f", "", ())).each()) == [{}]
