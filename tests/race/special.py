"""Grids of well-known patterns, each as it should be and with its usual mistake.

Takes a source of chance and whether the mistake is wanted; gives nests. Must not judge.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.race.nest import Nest
from tests.race.term import both, ceiling, name, relation, smaller, whole

N, M = name("N"), name("M")
ROW, COLUMN, ELEMENT = name("i"), name("j"), name("k")


def red_black(chance: Random, is_broken: bool) -> Nest:
    """Cells of one colour are updated from their neighbours; without the guard, all of them."""
    nest = Nest(["N", "M"])
    nest.buffer("c", (N + 1, M + 1))
    with nest.grid([("i", whole(0), N), ("j", whole(0), M)]):
        loads = [("c", (ROW + 1, COLUMN)), ("c", (ROW, COLUMN + 1)), ("c", (ROW, COLUMN))]
        if is_broken:
            nest.store("c", (ROW, COLUMN), *loads)
        else:
            with nest.guard(relation((ROW + COLUMN) % 2, "==", chance.choice((0, 1)))):
                nest.store("c", (ROW, COLUMN), *loads)
    return nest


def mirrored(chance: Random, is_broken: bool) -> Nest:
    """Both halves of a symmetric matrix, from the indices below the diagonal; from all of them when broken."""
    nest = Nest(["N"])
    nest.buffer("c", (N, N))
    sign = chance.choice(("<", "<="))
    with nest.grid([("i", whole(0), N), ("j", whole(0), N)]):
        if is_broken:
            nest.store("c", (ROW, COLUMN))
            nest.store("c", (COLUMN, ROW))
        else:
            with nest.guard(relation(COLUMN, sign, ROW)):
                nest.store("c", (ROW, COLUMN))
                nest.store("c", (COLUMN, ROW))
    return nest


def pairs(chance: Random, is_broken: bool) -> Nest:
    """Even iterations swap a cell with the next one; all iterations when broken."""
    nest = Nest(["N"])
    nest.buffer("c", (N,))
    first = chance.choice((0, 1))
    with nest.grid([("i", whole(0), N)]):
        parts = (relation(ROW + 1, "<", N),) if is_broken else (relation(ROW % 2, "==", first), relation(ROW + 1, "<", N))
        with nest.guard(both(parts)):
            nest.store("c", (ROW,), ("c", (ROW + 1,)))
            nest.store("c", (ROW + 1,), ("c", (ROW,)))
    return nest


def halves(chance: Random, is_broken: bool) -> Nest:
    """The first half of a buffer from the second; the halves meet when broken."""
    nest = Nest(["N"])
    nest.buffer("c", (N * 2,))
    distance = chance.choice((1, 2, 3))
    other = N - distance + ROW if is_broken else N + ROW
    with nest.grid([("i", whole(0), N)]):
        if is_broken:
            with nest.guard(relation(N, ">=", distance)):
                nest.store("c", (ROW,), ("c", (other,)))
        else:
            nest.store("c", (ROW,), ("c", (other,)))
    return nest


def blocks(chance: Random, is_broken: bool) -> Nest:
    """A block an iteration, the last one shorter; one element too many when broken."""
    size = chance.choice((2, 3, 4, 8, 16))
    nest = Nest(["N"])
    nest.buffer("c", (N + 1,))
    nest.buffer("d", (ceiling(N, size),))
    more = 1 if is_broken else 0
    with nest.grid([("i", whole(0), ceiling(N, size))]):
        with nest.loop("k", ROW * size, smaller(ROW * size + size + more, N)):
            nest.store("c", (ELEMENT,), ("c", (ELEMENT,)))
            nest.store("d", (ROW,), ("c", (ELEMENT,)), ("d", (ROW,)))
    return nest


def cyclic(chance: Random, is_broken: bool) -> Nest:
    """Thread `i` of so many takes every so manieth cell; the step is one short when broken."""
    threads = chance.choice((2, 3, 4, 8))
    nest = Nest(["N"])
    nest.buffer("c", (N * threads,))
    step = threads - 1 if is_broken else threads
    with nest.grid([("i", whole(0), whole(threads))]), nest.loop("k", whole(0), N):
        nest.store("c", (ELEMENT * step + ROW,), ("c", (ELEMENT * step + ROW,)))
    return nest


def threads(chance: Random, is_broken: bool) -> Nest:
    """As many threads as a size says, each every so manieth cell; a pitch of another size when broken."""
    nest = Nest(["N", "M"])
    nest.buffer("c", (N * M + M + N,))
    with nest.grid([("i", whole(0), M)]), nest.loop("k", whole(0), N):
        nest.store("c", (ELEMENT * (N if is_broken else M) + ROW,))
    return nest


def triangle(chance: Random, is_broken: bool) -> Nest:
    """The cells below the diagonal, a row each; each row writes the first one too when broken."""
    nest = Nest(["N"])
    nest.buffer("c", (N, N))
    with nest.grid([("i", whole(0), N)]), nest.loop("j", whole(0), ROW + 1):
        nest.store("c", (ROW, COLUMN))
        if is_broken:
            nest.store("c", (whole(0), COLUMN), ("c", (ROW, COLUMN)))
    return nest


def dense(chance: Random, is_broken: bool) -> Nest:
    """One counter for two indices, decoded; by another number than that of the columns when broken."""
    columns = chance.choice((2, 3, 4, 5, 7, 8, 16))
    nest = Nest(["N"])
    nest.buffer("c", (N, whole(columns)))
    by = columns + chance.choice((1, 2)) if is_broken else columns
    with nest.grid([("i", whole(0), N * columns)]):
        if is_broken:
            nest.store("c", (ROW // by, smaller(ROW % by, whole(columns - 1))))
        else:
            nest.store("c", (ROW // by, ROW % by))
    return nest


def decoded(chance: Random, is_broken: bool) -> Nest:
    """The same with a symbolic number of columns; the quotient by one more when broken."""
    nest = Nest(["N", "M"])
    nest.buffer("c", (N, M))
    with nest.grid([("i", whole(0), N * M)]):
        nest.store("c", (ROW // (M + 1) if is_broken else ROW // M, ROW % M))
    return nest


def butterfly(chance: Random, is_broken: bool) -> Nest:
    """Pairs at one distance, block by block; without the guard the other half is touched by both."""
    distance = chance.choice((1, 2, 4))
    nest = Nest(["N"])
    nest.buffer("c", (N + distance,))
    with nest.grid([("i", whole(0), N)]):
        if is_broken:
            nest.store("c", (ROW,), ("c", (ROW + distance,)))
        else:
            with nest.guard(relation(ROW % (2 * distance), "<", distance)):
                nest.store("c", (ROW,), ("c", (ROW + distance,)))
                nest.store("c", (ROW + distance,), ("c", (ROW,)))
    return nest


def bordered(chance: Random, is_broken: bool) -> Nest:
    """The inside of a row is written, its border read; the border is written by the last iteration when broken."""
    nest = Nest(["N"])
    nest.buffer("c", (N + 2,))
    with nest.grid([("i", whole(1), N + 1)]):
        nest.store("c", (ROW + 1 if is_broken else ROW,), ("c", (whole(0),)), ("c", (N + 1,)))
    return nest


def windowed(chance: Random, is_broken: bool) -> Nest:
    """Declared windows of a few cells; they overlap by one when broken."""
    size = chance.choice((2, 3, 4, 8))
    pitch = size - 1 if is_broken else size + chance.choice((0, 0, 1))
    nest = Nest(["N"])
    nest.buffer("c", (N * size + size + N,))
    start = ROW * pitch
    with nest.grid([("i", whole(0), N)], f" writes c[{start.text} .. {(start + size).text}]"), nest.loop("k", whole(0), whole(size)):
        nest.store("c", (start + ELEMENT,), ("c", (start + ELEMENT,)))
    return nest


def tile_windows(chance: Random, is_broken: bool) -> Nest:
    """Tiles under a name of their own; the tiles of a row share a column when broken."""
    high, wide = chance.choice((2, 3, 4)), chance.choice((2, 4, 8))
    pitch = wide - 1 if is_broken else wide
    nest = Nest(["N", "M"])
    nest.buffer("c", (N * high, M * wide))
    top, left, inner = ROW * high, COLUMN * pitch, name("l")
    window = f" writes c[{top.text} .. {(top + high).text}, {left.text} .. {(left + wide).text}] as ct"
    with nest.grid([("i", whole(0), N), ("j", whole(0), M)], window):
        with nest.loop("k", whole(0), whole(high)), nest.loop("l", whole(0), whole(wide)):
            cell = (top + ELEMENT, left + inner)
            nest.line("store ct[k, l] = load ct[k, l]", nest.touch("c", cell, False), nest.touch("c", cell, True))
    return nest


def point_windows(chance: Random, is_broken: bool) -> Nest:
    """A cell of each of two buffers, one of them decoded; the quotient alone when broken."""
    columns = chance.choice((2, 3, 4, 8))
    nest = Nest(["N"])
    nest.buffer("c", (N, whole(columns)))
    nest.buffer("d", (N * columns,))
    place = whole(0) if is_broken else ROW % columns
    turned = N * columns - 1 - ROW
    with nest.grid([("i", whole(0), N * columns)], f" writes c[{(ROW // columns).text}, {place.text}], d[{turned.text}]"):
        nest.store("c", (ROW // columns, place), ("d", (turned,)))
        nest.store("d", (turned,))
    return nest


def staged(chance: Random, is_broken: bool) -> Nest:
    """A shared buffer with a slice for each iteration; without the slice all iterations share it."""
    size = chance.choice((2, 4, 8))
    nest = Nest(["N"])
    nest.buffer("s", (N, whole(size)))
    nest.buffer("c", (N,))
    row = whole(0) if is_broken else ROW
    with nest.grid([("i", whole(0), N)]):
        with nest.loop("k", whole(0), whole(size)):
            nest.store("s", (row, ELEMENT))
        with nest.loop("l", whole(0), whole(size)):
            nest.store("c", (ROW,), ("c", (ROW,)), ("s", (row, (name("l") + chance.choice((0, 1, 3))) % size)))
    return nest


SPECIAL: tuple[Callable[[Random, bool], Nest], ...] = (
    red_black,
    mirrored,
    pairs,
    halves,
    blocks,
    cyclic,
    threads,
    triangle,
    dense,
    decoded,
    butterfly,
    bordered,
    windowed,
    tile_windows,
    point_windows,
    staged,
)
