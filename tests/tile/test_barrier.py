"""Missing barriers against every way through small bodies: a meeting is found exactly where some way has one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from cachet_verify.elaborate.barrier import Around, Part, Region, Wait, find_meeting

NAMES = ("x", "y")


def region(reads: str, writes: str) -> Region:
    return Region(frozenset(reads), frozenset(writes))


def ways(parts: Sequence[Part]) -> Iterator[tuple[Region | Wait, ...]]:
    """Every way through a body: loops run none, one, two or three times, each time some way; guards go either way."""
    if not parts:
        yield ()
        return
    first, rest = parts[0], parts[1:]
    if isinstance(first, Around):
        inner = [way for body in first.ways for way in ways(body)]
        counts = range(4) if first.repeats else (1,)
        chosen = [sum(times, ()) for count in counts for times in product(inner, repeat=count)]
    else:
        chosen = [(first,)]
    for tail in ways(rest):
        for head in dict.fromkeys(chosen):
            yield (*head, *tail)


def meets(way: Sequence[Region | Wait]) -> bool:
    """Whether two regions without a barrier between use one buffer, and one of them writes."""
    for place, first in enumerate(way):
        for second in way[place + 1 :]:
            if isinstance(second, Wait) or isinstance(first, Wait):
                break
            if first.writes & (second.reads | second.writes) or first.reads & second.writes:
                return True
    return False


buffers = st.sets(st.sampled_from(NAMES), max_size=1).map(frozenset)
leaves = st.one_of(st.builds(Region, buffers, buffers), st.just(Wait()))


def bodies(deeper: st.SearchStrategy[Part]) -> st.SearchStrategy[tuple[Part, ...]]:
    return st.lists(deeper, max_size=3).map(tuple)


part = st.one_of(
    leaves,
    st.builds(lambda body: Around((body,), True), bodies(leaves)),
    st.builds(lambda one, other: Around((one, other), False), bodies(leaves), bodies(leaves)),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(part, max_size=4))
def test_a_meeting_is_found_exactly_where_some_way_through_has_one(parts: list[Part]) -> None:
    assert (find_meeting(parts) is not None) == any(meets(way) for way in ways(parts))


def test_a_loop_that_starts_with_a_barrier_is_apart_from_what_stands_before_but_not_from_what_follows() -> None:
    loop = Around(((Wait(), region("x", "")),), True)
    assert find_meeting((region("", "x"), loop)) is None
    found = find_meeting((loop, region("", "x")))
    assert found is not None
    assert found.buffer == "x"


def test_two_that_only_read_may_meet() -> None:
    assert find_meeting((region("x", ""), region("x", ""))) is None
