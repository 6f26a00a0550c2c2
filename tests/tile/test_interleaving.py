"""Bodies of groups against groups that really take turns: whatever the order between barriers, the words are those of the program.

The groups are simulated apart from the checker: each runs its own text one access at a time, in a random order, and all wait at barriers.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cachet_verify.core.meaning import run
from cachet_verify.core.memory import MeaningError
from cachet_verify.core.word import word_of_decimal
from tests.elaborate.short import module

GROUPS = 3
Op = tuple[Any, ...]

HEAD = f"""\
fn f (mut c: [f32; {GROUPS}, 1]) =
  grid g in 0 .. 1
      by tile (si, sj) parts [1, 1]
      writes c[0 .. {GROUPS}, 0 .. 1] as ct do
    var xs: [f32; {GROUPS}] at threadgroup
    var t: f32 = si as f32
    xs[si] = t
    barrier
"""

leaf = st.one_of(
    st.tuples(st.just("write"), st.integers(0, GROUPS - 1), st.integers(1, 3)),
    st.tuples(st.just("read"), st.integers(0, GROUPS - 1)),
    st.just(("wait",)),
    st.just(("wait",)),
)
op = st.one_of(
    leaf,
    st.tuples(st.just("loop"), st.integers(0, 2), st.lists(leaf, min_size=1, max_size=4).map(tuple)),
    st.tuples(st.just("when"), st.booleans(), st.lists(leaf, min_size=1, max_size=3).map(tuple), st.lists(leaf, max_size=2).map(tuple)),
)
bodies = st.lists(op, min_size=1, max_size=5)


def text(ops: list[Op] | tuple[Op, ...], depth: int, names: Iterator[int]) -> list[str]:
    """The body as lines."""
    lines: list[str] = []
    for item in ops:
        pad = "  " * depth
        if item[0] == "write":
            lines.append(f"{pad}xs[(si + {item[1]}) % {GROUPS}] = t + {item[2]}.0")
        elif item[0] == "read":
            lines.append(f"{pad}t = t + t + xs[(si + {item[1]}) % {GROUPS}]")
        elif item[0] == "wait":
            lines.append(f"{pad}barrier")
        elif item[0] == "loop":
            lines += [f"{pad}for k{next(names)} in 0 .. {item[1]} do", *text(item[2], depth + 1, names)]
        else:
            lines += [f"{pad}if g < {int(item[1])} then", *text(item[2], depth + 1, names)]
            lines += [f"{pad}else", *text(item[3], depth + 1, names)] if item[3] else []
    return lines


def steps(ops: list[Op] | tuple[Op, ...], group: int, total: list[int], shared: list[int]) -> Iterator[str]:
    """One group, stopping after every access and at every barrier; `g` is 0."""
    for item in ops:
        if item[0] == "write":
            shared[(group + item[1]) % GROUPS] = total[group] + item[2]
            yield "ran"
        elif item[0] == "read":
            total[group] = 2 * total[group] + shared[(group + item[1]) % GROUPS]
            yield "ran"
        elif item[0] == "wait":
            yield "waits"
        elif item[0] == "loop":
            for _ in range(item[1]):
                yield from steps(item[2], group, total, shared)
        else:
            yield from steps(item[2] if item[1] else item[3], group, total, shared)


def simulated(ops: list[Op], chance: Random) -> list[int]:
    """The totals at the end, the groups taking turns at random between barriers."""
    total, shared = list(range(GROUPS)), list(range(GROUPS))
    running = {group: steps(ops, group, total, shared) for group in range(GROUPS)}
    waiting: set[int] = set()
    while running:
        ready = [group for group in running if group not in waiting]
        if not ready:
            waiting.clear()
            continue
        group = chance.choice(ready)
        said = next(running[group], None)
        if said is None:
            del running[group]
        elif said == "waits":
            waiting.add(group)
    return total


def accepted(ops: list[Op]) -> list[int | None] | None:
    """The words of the program; None where a barrier is missing or two groups race."""
    lines = [*text(ops, 2, iter(range(100))), "    store ct[si, 0] = t"]
    cells: list[int | None] = [None] * GROUPS
    item = module(HEAD + "\n".join(lines) + "\n").programs["f"]
    if item.program is None:
        assert all(part.fault for part in item.unsupported)
        return None
    try:
        run(item.program, {}, {"c": cells})
    except MeaningError as error:
        if error.kind != "race":
            raise
        return None
    return cells


@settings(max_examples=250, deadline=None)
@given(bodies, st.integers(0, 1_000_000))
def test_what_is_accepted_gives_one_result_in_every_order(ops: list[Op], seed: int) -> None:
    cells = accepted(ops)
    chance = Random(seed)
    if cells is None:
        return
    for _ in range(12):
        assert [word_of_decimal(str(value), "f32") for value in simulated(ops, chance)] == cells
