"""Generated grids: half of them free of races by construction, the others with one built in.

Takes a seed; gives cases without end, each with its label. Must not judge: brute force confirms the label.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from random import Random

from tests.race.brute import Found, found
from tests.race.digit import Digit, Map, State, one_to_one, spoilt
from tests.race.nest import Nest
from tests.race.special import SPECIAL
from tests.race.term import Term, both, ceiling, name, relation, smaller, whole

RACY = 0.4


@dataclass(frozen=True)
class Case:
    """A grid: `kind` says how it was made, `is_racy` what brute force confirmed."""

    number: int
    kind: str
    is_racy: bool
    text: str
    race: Found | None
    features: frozenset[str]


class Faulty(Exception):
    """The generator made something that is not what its label says."""


def cases(seed: int) -> Iterator[Case]:
    """Cases one after the other, with the shares of kinds that are wanted."""
    number = 0
    while True:
        chance = Random(f"{seed} {number}")
        yield _case(chance, number, chance.random() < RACY)
        number += 1


def _case(chance: Random, number: int, is_racy: bool) -> Case:
    for _ in range(200):
        kind, nest = _special(chance, is_racy) if chance.random() < 0.3 else _Writer(chance, is_racy).made()
        fault = found(nest)
        if fault is not None and (fault.kind == "bounds" or not is_racy):
            raise Faulty(f"{kind}: {fault}\n{nest.text('f')}")
        if is_racy and fault is None:
            continue  # what was to break it does not: drawn again
        text = nest.text(f"grid{number}")
        return Case(number, kind, is_racy, text, fault, _features(text, nest))
    raise Faulty(f"no race in 200 tries of number {number}")


def _features(text: str, nest: Nest) -> frozenset[str]:
    body = text.partition("=\n")[2]
    marks = {
        "division": any(sign in body for sign in ("floor", " % ")),
        "guard": "if " in body,
        "two buffers": sum(mode != "reads" for mode in nest.modes.values()) > 1,
        "symbolic": bool(nest.sizes),
        "loop": "for " in body,
        "nested": body.count("grid ") > 1,
        "windows": " writes " in body,
    }
    return frozenset(mark for mark, is_set in marks.items() if is_set)


def _special(chance: Random, is_racy: bool) -> tuple[str, Nest]:
    make = chance.choice(SPECIAL)
    return f"{make.__name__}{', broken' if is_racy else ''}", make(chance, is_racy)


class _Writer:
    """One grid from maps: counters, the statements of its body, and one thing that is wrong with it, or nothing."""

    def __init__(self, chance: Random, is_racy: bool) -> None:
        self.chance = chance
        self.is_racy = is_racy
        self.nest = Nest(["N", "M", "P"][: chance.choice((1, 1, 2, 2, 3))])
        self.counters = 0
        self.kind = ""

    def made(self) -> tuple[str, Nest]:
        """The kind, and the nest."""
        with ExitStack() as stack:
            if self.chance.random() < 0.1:  # steps of a loop around the grid: each may touch everything again
                stack.enter_context(self.nest.loop("step", whole(0), name("N")))
            own = self.axes(stack)
            body = self.chance.choice((self.one, self.one, self.two, self.two, self.copied, self.again, self.branches, self.phases, self.total))
            self.kind = body.__name__
            body(stack, own)
        return self.kind, self.nest

    def counter(self) -> str:
        self.counters += 1
        return "ijklpqrstuvw"[self.counters - 1]

    # --- counters ---

    def size(self) -> Term:
        return name(self.chance.choice(self.nest.sizes))

    def axes(self, stack: ExitStack) -> list[Digit]:
        """The grid, and a digit for each axis; at times one axis is cut into blocks with a loop inside."""
        count = self.chance.choice((1, 1, 2, 2, 3))
        made: list[tuple[str, Term, Term]] = []
        digits: list[Digit] = []
        for place in range(count):
            axis, kind = self.counter(), self.chance.choice(("size", "size", "size", "more", "offset", "blocks", "number"))
            if kind == "number" and place:
                literal = self.chance.choice((2, 3, 4, 8))
                made.append((axis, whole(0), whole(literal)))
                digits.append(Digit(name(axis), whole(literal), literal))
                continue
            size = self.size()
            low, high = {"more": (whole(0), size + 1), "offset": (whole(2), size + 2), "blocks": (whole(0), ceiling(size, 4))}.get(
                kind, (whole(0), size)
            )
            made.append((axis, low, high))
            digits.append(Digit(name(axis) - low, {"more": size + 1, "blocks": ceiling(size, 4)}.get(kind, size)))
        is_nested = len(made) > 1 and self.chance.random() < 0.15
        for axes in [made[:1], made[1:]] if is_nested else [made]:
            stack.enter_context(self.nest.grid(axes))
        if self.chance.random() < 0.3:
            place = self.chance.randrange(len(digits))
            digits[place] = self.let(digits[place])
        return digits

    def let(self, digit: Digit) -> Digit:
        bound = self.counter()
        self.nest.let(bound, digit.term)
        return replace(digit, term=name(bound))

    def inner(self, stack: ExitStack, own: Sequence[Digit]) -> list[Digit]:
        """Loops inside the iteration: the elements of its block, with or without a tail, or a range of their own."""
        found = list(own)
        for _ in range(self.chance.choice((0, 1, 1, 2)) if len(own) < 3 else self.chance.choice((0, 1))):
            counter, kind = self.counter(), self.chance.choice(("number", "size", "tail", "guarded tail"))
            block = self.chance.choice((2, 3, 4, 8))
            place = self.chance.randrange(len(own))
            if kind == "number":
                stack.enter_context(self.nest.loop(counter, whole(0), whole(block)))
                found.append(Digit(name(counter), whole(block), block))
            elif kind == "size" or found[place] is not own[place]:
                size = self.size()
                stack.enter_context(self.nest.loop(counter, whole(0), size))
                found.append(Digit(name(counter), size))
            else:
                found[place] = self.tail(stack, counter, own[place], block, kind == "tail")
        return found

    def tail(self, stack: ExitStack, counter: str, outer: Digit, block: int, is_bound: bool) -> Digit:
        """The elements of block `outer`, those below an extent that its blocks just cover, less a few."""
        whole_extent = outer.extent * block
        extent = whole_extent
        if outer.literal is None and self.chance.random() < 0.5:
            self.nest.requires.append(relation(outer.extent, ">=", 1))
            extent = whole_extent - 1
        start = outer.term * block
        if is_bound:
            stack.enter_context(self.nest.loop(counter, start, smaller(start + block, extent)))
            return Digit(name(counter), extent)
        stack.enter_context(self.nest.loop(counter, whole(0), whole(block)))
        stack.enter_context(self.nest.guard(relation(start + name(counter), "<", extent)))
        return Digit(start + name(counter), extent)

    # --- stores ---

    def map(self, digits: Sequence[Digit]) -> Map:
        return one_to_one(self.chance, len(digits))

    def broken(self, digits: Sequence[Digit], good: Map) -> Map:
        """The map, or where this case is to have a race and has none yet, a broken one."""
        if not self.is_racy or "," in self.kind:
            return good
        why, bad = spoilt(self.chance, good, len(digits))
        self.kind += f", {why}"
        return bad

    def buffer(self, buffer: str, state: State, mode: str = "mut") -> None:
        self.nest.buffer(buffer, [digit.extent for digit in state.digits], mode)

    def reads(self, digits: Sequence[Digit]) -> tuple[str, tuple[Term, ...]]:
        """A load of a buffer that is only read."""
        digit = self.chance.choice(digits)
        self.nest.buffer("x", (digit.extent,), "reads")
        return "x", (digit.term,)

    def put(self, buffer: str, state: State, *loads: tuple[str, Sequence[Term]]) -> None:
        with ExitStack() as stack:
            if state.guards:
                stack.enter_context(self.nest.guard(both(state.guards)))
            self.nest.store(buffer, cell(state), *loads)

    def one(self, stack: ExitStack, own: Sequence[Digit]) -> None:
        """One store; where there is to be a race, a broken map or a load of a neighbour's cell."""
        digits = self.inner(stack, own)
        good = self.map(digits)
        if self.is_racy and self.chance.random() < 0.3:
            self.beside(digits, own, good)
            return
        state = self.broken(digits, good).at(digits)
        self.buffer("c", state)
        loads = self.chance.choice(((), (("c", cell(state)),), (self.reads(digits), ("c", cell(state)))))
        self.put("c", state, *loads)

    def beside(self, digits: Sequence[Digit], own: Sequence[Digit], good: Map) -> None:
        """A store, and a load of the cell of the next iteration."""
        self.kind += ", neighbour"
        place = self.chance.randrange(len(own))
        step = self.chance.choice((1, 1, 2))
        other = [replace(digit, term=digit.term + step) if spot == place else digit for spot, digit in enumerate(digits)]
        ours, theirs = good.at(digits), good.at(other)
        self.buffer("c", ours)
        with self.nest.guard(both((relation(other[place].term, "<", digits[place].extent), *ours.guards, *theirs.guards))):
            self.nest.store("c", cell(ours), ("c", cell(theirs)))

    def two(self, stack: ExitStack, own: Sequence[Digit]) -> None:
        """Stores to two buffers, by two maps."""
        digits = self.inner(stack, own)
        maps = [self.map(digits), self.map(digits)]
        broken = self.chance.randrange(2)
        maps[broken] = self.broken(digits, maps[broken])
        first, second = (made.at(digits) for made in maps)
        self.buffer("c", first)
        self.buffer("d", second)
        self.put("c", first, *self.chance.choice(((), (("c", cell(first)),))))
        self.put("d", second, *self.chance.choice(((), (self.reads(digits),), (("d", cell(second)),))))

    def copied(self, stack: ExitStack, own: Sequence[Digit]) -> None:
        """One buffer is written, another read as one likes; or, to make a race, written as well."""
        digits = self.inner(stack, own)
        state = self.broken(digits, self.map(digits)).at(digits)
        _, anywhere = spoilt(self.chance, self.map(digits), len(digits))
        read = anywhere.at(digits)
        self.buffer("c", state)
        self.buffer("d", read)
        self.put("c", state, ("d", cell(read)))

    def again(self, stack: ExitStack, own: Sequence[Digit]) -> None:
        """A loop writes the cells of the iteration, another one reads them back."""
        block = self.chance.choice((2, 3, 4))
        first, second = self.counter(), self.counter()
        digits = [*own, Digit(name(first), whole(block), block)]
        made = self.broken(digits, self.map(digits))
        state, theirs = made.at(digits), made.at([*own, Digit(name(second), whole(block), block)])
        total = self.map(own).at(own)
        self.buffer("c", state)
        self.buffer("d", total)
        with self.nest.loop(first, whole(0), whole(block)):
            self.put("c", state)
        with self.nest.loop(second, whole(0), whole(block)):
            self.put("d", replace(total, guards=(*total.guards, *theirs.guards)), ("d", cell(total)), ("c", cell(theirs)))

    def branches(self, stack: ExitStack, own: Sequence[Digit]) -> None:
        """Two branches write one buffer, by one map."""
        digits = self.inner(stack, own)
        made = self.broken(digits, self.map(digits))
        state = made.at(digits)
        self.buffer("c", state)
        self.buffer("d", state)
        digit = self.chance.choice(digits)
        condition = self.chance.choice(
            (relation(digit.term % 2, "==", 0), relation(digit.term + 1, "<", digit.extent), relation(digit.term, ">=", 2))
        )
        with self.nest.guard(condition):
            self.put("c", state)
        with self.nest.otherwise():
            self.put(self.chance.choice("cd"), state, self.reads(digits))

    def phases(self, stack: ExitStack, own: Sequence[Digit]) -> None:
        """A store, and after the grid another grid that reads what it wrote, by any map."""
        state = self.broken(own, self.map(own)).at(own)
        self.buffer("c", state)
        self.put("c", state, self.reads(own))
        stack.close()
        counter, size = self.counter(), self.size()
        target = self.map([Digit(name(counter), size)]).at([Digit(name(counter), size)])
        self.buffer("d", target)
        first = [smaller(name(counter), digit.extent - 1) for digit in state.digits]
        with self.nest.grid([(counter, whole(0), size)]):
            inside = [relation(digit.extent, ">", 0) for digit in state.digits]
            self.put("d", replace(target, guards=(*target.guards, *inside)), ("c", first))

    def total(self, stack: ExitStack, own: Sequence[Digit]) -> None:
        """A loop that no index of the store mentions, and one cell a grid iteration."""
        counter, size = self.counter(), self.size()
        state = self.broken(own, self.map(own)).at(own)
        self.buffer("c", state)
        self.nest.buffer("x", (size,), "reads")
        with self.nest.loop(counter, whole(0), size):
            self.put("c", state, ("c", cell(state)), ("x", (name(counter),)))


def cell(state: State) -> tuple[Term, ...]:
    """The indices."""
    return tuple(digit.term for digit in state.digits)
