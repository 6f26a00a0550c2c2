"""Which instance of a store before a step is which instance after it.

Takes two lowered programs and what a step knows of its counters; gives, for each family after, the
family it comes from and the index maps both ways. Nothing here is believed: the kernel asks that
the maps are inverse, stay in the domains and keep the words.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from cachet_verify.core.family import Counter, Families, Family
from cachet_verify.core.index import ONE, ZERO, Index, Var, div, mod, sub, substitute, variables
from cachet_verify.core.ir import Choose, Load, OfIndex, Op, Value
from cachet_verify.kernel.reschedule import Image
from cachet_verify.rewrite.term import linear


@dataclass(frozen=True, slots=True)
class Hint:
    """A counter of the program before, as a term over the counters (ordinals) of the one after.

    It speaks of the families that have all the counters of `using`. `always` is false where a loop
    of the same name after, if it runs over the same bounds, is the better guess.
    """

    counter: str
    term: Index
    using: frozenset[str]
    always: bool = True


def skeleton(value: Value) -> Hashable:
    """What a value is, its index terms left out: operations, types, words and buffers."""
    if isinstance(value, Load):
        return value.buffer
    if isinstance(value, Op):
        return (value.name, value.elem, tuple(skeleton(arg) for arg in value.args))
    if isinstance(value, OfIndex):
        return ("index", value.elem)
    if isinstance(value, Choose):
        return ("choose", skeleton(value.then), skeleton(value.orelse))
    return value


def images(before: Families, after: Families, hints: Sequence[Hint] = ()) -> dict[str, Image]:
    """An image for each family after that has a counterpart before: the same kind of store, in order."""
    waiting: dict[Hashable, list[Family]] = {}
    for member in before.members:
        waiting.setdefault((member.buffer, skeleton(member.value)), []).append(member)
    found: dict[str, Image] = {}
    for member in after.members:
        origins = waiting.get((member.buffer, skeleton(member.value)), [])
        if origins:
            found[member.name] = image(origins.pop(0), member, hints)
    return found


def image(origin: Family, target: Family, hints: Sequence[Hint]) -> Image:
    """The maps between the counters of two families, by name where names agree, else by hint."""
    forward = {counter.name: _forward(counter, target, hints) for counter in origin.counters}
    return Image(origin.name, forward, _backward(forward, target))


def _forward(counter: Counter, target: Family, hints: Sequence[Hint]) -> Index:
    names = frozenset(target.names())
    known = [hint for hint in hints if hint.counter == counter.name and hint.using <= names]
    same = next((other for other in target.counters if other.name == counter.name), None)
    if same is not None:
        unchanged = (same.low, same.high) == (counter.low, counter.high)
        known = [hint for hint in known if hint.always or not unchanged]
    if known:
        return known[0].term
    return Var(counter.name) if same is not None else ZERO


def _backward(forward: Mapping[str, Index], target: Family) -> dict[str, Index]:
    back: dict[str, Index] = {name: Var(name) for name, term in forward.items() if term == Var(name)}
    names = target.names()
    for name, term in forward.items():
        new = tuple(other for other in names if other in variables(term) and other not in back)
        back.update(_digits(Var(name), term, new, back))
    return {name: back.get(name, ZERO) for name in names}


def _digits(value: Index, term: Index, names: tuple[str, ...], known: Mapping[str, Index]) -> dict[str, Index]:
    """Solve `value == term` for counters, outermost first: digits of a mixed radix number."""
    form = linear(term, frozenset(names))
    if form is None:
        return {}
    remaining = sub(value, substitute(form.rest, known))
    digits: dict[str, Index] = {}
    for place, name in enumerate(names):
        factor = form.coefficients[name]
        digits[name] = div(remaining, factor) if factor != ONE else remaining
        if place + 1 < len(names):
            remaining = mod(remaining, factor)
    return digits
