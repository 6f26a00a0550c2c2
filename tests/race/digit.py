"""Injective maps from the digits of an iteration to the indices of a cell, by composing small ones.

Takes a source of chance and digits (a counter with its extent); gives maps, each a list of moves with
the guards it needs, and broken maps, whose race is there by construction. Must not run anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from tests.race.term import Term, ceiling, relation, smaller, whole


@dataclass(frozen=True)
class Digit:
    """A term from 0 to below `extent`; `literal` is the extent where it is a number."""

    term: Term
    extent: Term
    literal: int | None = None


@dataclass(frozen=True)
class State:
    """Digits on the way to becoming indices, and the guards under which the way is one to one."""

    digits: tuple[Digit, ...]
    guards: tuple[Term, ...] = ()

    def put(self, place: int, *digits: Digit) -> State:
        """Other digits instead of one."""
        return replace(self, digits=(*self.digits[:place], *digits, *self.digits[place + 1 :]))


Move = Callable[[State], State]


@dataclass(frozen=True)
class Map:
    """Moves in order. The same map takes the digits of any iteration to its cell."""

    moves: tuple[Move, ...]

    def at(self, digits: Sequence[Digit]) -> State:
        """The cell of an iteration, its extents and its guards."""
        state = State(tuple(digits))
        for move in self.moves:
            state = move(state)
        return state


def one_to_one(chance: Random, digits: int, wide: bool = True) -> Map:
    """A map under which no two iterations that meet its guards have one cell."""
    moves: list[Move] = []
    count = digits
    for _ in range(chance.choice((0, 1, 1, 2, 2, 3))):
        place = chance.randrange(count)
        kind = chance.choice(
            ("split", "split", "turn", "stride", "swap pairs", "shift", "merge", "merge", "skew", "rotate", "order", "coarse", "only", "fold")
        )
        number = chance.choice((2, 2, 3, 4, 8))
        if kind == "split" and count < 4:
            moves.append(_split(place, number))
            count += 1
        elif kind == "merge" and count > 1:
            moves.append(_merge(place % (count - 1), chance.choice((0, 0, 0, 1, 3))))
            count -= 1
        elif kind == "skew" and count > 1:
            moves.append(_skew(place % (count - 1), chance.choice((None, number))))
        elif kind == "order" and count > 1:
            moves.append(_order(place % (count - 1)))
        elif kind in _SINGLE:
            moves.append(_SINGLE[kind](place, number, chance))
    while count > (3 if wide else 1):
        moves.append(_merge(count - 2, 0))
        count -= 1
    return Map(tuple(moves))


def _split(place: int, by: int) -> Move:
    """`d` becomes `d / by` and `d % by`."""

    def move(state: State) -> State:
        digit = state.digits[place]
        high = Digit(digit.term // by, ceiling(digit.extent, by), None if digit.literal is None else -(-digit.literal // by))
        return state.put(place, high, Digit(digit.term % by, whole(by), by))

    return move


def _merge(place: int, more: int) -> Move:
    """Two digits become one, with a pitch of at least the extent of the second."""

    def move(state: State) -> State:
        first, second = state.digits[place : place + 2]
        pitch = second.extent + more
        literal = None if first.literal is None or second.literal is None else first.literal * (second.literal + more)
        extent = whole(literal) if literal is not None else first.extent * pitch
        joined = Digit(first.term * pitch + second.term, extent, literal)
        return replace(state, digits=(*state.digits[:place], joined, *state.digits[place + 2 :]))

    return move


def _skew(place: int, by: int | None) -> Move:
    """The second of two digits is moved on by the first; around, where it has a literal extent."""

    def move(state: State) -> State:
        first, second = state.digits[place : place + 2]
        if second.literal is not None and by is not None:
            return state.put(place + 1, replace(second, term=(first.term + second.term) % second.literal))
        return state.put(place + 1, Digit(first.term + second.term, first.extent + second.extent))

    return move


def _order(place: int) -> Move:
    def move(state: State) -> State:
        first, second = state.digits[place : place + 2]
        return replace(state, digits=(*state.digits[:place], second, first, *state.digits[place + 2 :]))

    return move


def _turn(place: int, _number: int, _chance: Random) -> Move:
    def move(state: State) -> State:
        digit = state.digits[place]
        return state.put(place, replace(digit, term=digit.extent - 1 - digit.term))

    return move


def _stride(place: int, number: int, chance: Random) -> Move:
    offset = chance.randrange(number)

    def move(state: State) -> State:
        digit = state.digits[place]
        return state.put(place, Digit(digit.term * number + offset, digit.extent * number))

    return move


def _shift(place: int, number: int, _chance: Random) -> Move:
    def move(state: State) -> State:
        digit = state.digits[place]
        return state.put(place, Digit(digit.term + number, digit.extent + number))

    return move


def _swap_pairs(place: int, _number: int, _chance: Random) -> Move:
    def move(state: State) -> State:
        digit = state.digits[place]
        return state.put(place, Digit(digit.term + 1 - (digit.term % 2) * 2, digit.extent + 1))

    return move


def _rotate(place: int, number: int, _chance: Random) -> Move:
    """Around the extent, by a number."""

    def move(state: State) -> State:
        digit = state.digits[place]
        return state.put(place, replace(digit, term=(digit.term + number) % digit.extent))

    return move


def _coarse(place: int, number: int, chance: Random) -> Move:
    """`d / n`, where `d % n` is one number."""
    rest = chance.randrange(number)

    def move(state: State) -> State:
        digit = state.digits[place]
        coarse = Digit(digit.term // number, ceiling(digit.extent, number))
        return replace(state.put(place, coarse), guards=(*state.guards, relation(digit.term % number, "==", rest)))

    return move


def _only(place: int, number: int, chance: Random) -> Move:
    """One iteration of the digit alone: at a number, or the last."""
    is_last = chance.random() < 0.4

    def move(state: State) -> State:
        digit = state.digits[place]
        condition = relation(digit.term + 1 if is_last else digit.term, "==", digit.extent if is_last else number - 2)
        one = Digit(whole(0), whole(1), 1)
        return replace(state.put(place, one), guards=(*state.guards, condition))

    return move


def _fold(place: int, number: int, _chance: Random) -> Move:
    """`d % n`, for those below `n`."""

    def move(state: State) -> State:
        digit = state.digits[place]
        return replace(state.put(place, Digit(digit.term % number, whole(number), number)), guards=(*state.guards, relation(digit.term, "<", number)))

    return move


_SINGLE: dict[str, Callable[[int, int, Random], Move]] = {
    "turn": _turn,
    "stride": _stride,
    "shift": _shift,
    "swap pairs": _swap_pairs,
    "rotate": _rotate,
    "coarse": _coarse,
    "only": _only,
    "fold": _fold,
}


# --- moves that bring two iterations to one cell ---


def spoilt(chance: Random, good: Map, digits: int) -> tuple[str, Map]:
    """A map with one move that is not one to one put in front of it, or without its guards."""
    place = chance.randrange(digits)
    kind = chance.choice(("drop", "halve", "clamp", "wrap", "no guard", "join", "overlap"))
    spoil: dict[str, Move] = {
        "drop": _dropped(place),
        "halve": _halved(place, chance.choice((2, 3, 4))),
        "clamp": _clamped(place, chance.choice((1, 2, 3))),
        "wrap": _wrapped(place, chance.choice((2, 3, 5, 8))),
        "join": _mixed(place),
        "overlap": _overlapping(place, chance.choice((1, 1, 2))),
    }
    if kind == "no guard":
        return kind, Map((*good.moves, lambda state: replace(state, guards=())))
    return kind, Map((spoil[kind], *good.moves))


def _dropped(place: int) -> Move:
    return lambda state: state.put(place, replace(state.digits[place], term=whole(0)))


def _halved(place: int, by: int) -> Move:
    return lambda state: state.put(place, replace(state.digits[place], term=state.digits[place].term // by))


def _clamped(place: int, most: int) -> Move:
    return lambda state: state.put(place, replace(state.digits[place], term=smaller(state.digits[place].term, whole(most))))


def _wrapped(place: int, by: int) -> Move:
    return lambda state: state.put(place, replace(state.digits[place], term=state.digits[place].term % by))


def _mixed(place: int) -> Move:
    """The sum of two digits instead of one of them, and nothing of the other."""

    def move(state: State) -> State:
        other = (place + 1) % len(state.digits)
        if other == place:
            return _halved(place, 2)(state)
        ours, theirs = state.digits[place], state.digits[other]
        joined = Digit(ours.term + theirs.term, ours.extent + theirs.extent)
        return state.put(place, joined).put(other, replace(theirs, term=whole(0)))

    return move


def _overlapping(place: int, short: int) -> Move:
    """Two digits in one, the pitch too small by one."""

    def move(state: State) -> State:
        other = (place + 1) % len(state.digits)
        ours, theirs = state.digits[place], state.digits[other]
        if other == place or theirs.literal is None or theirs.literal <= short:
            return _mixed(place)(state)
        joined = Digit(ours.term * (theirs.literal - short) + theirs.term, ours.extent * theirs.literal)
        return state.put(place, joined).put(other, replace(theirs, term=whole(0)))

    return move
