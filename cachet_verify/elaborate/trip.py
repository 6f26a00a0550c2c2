"""How often each lease of a program is entered at most, as a product of trip counts over the sizes.

Takes a program; gives, for each lease, a bound on every loop around it, and the rows of `movement`
that a generated function declares. Proposals only: the kernel asks that each bound holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from cachet_verify.core.family import UnmodelledError
from cachet_verify.core.index import (
    ONE,
    ZERO,
    Const,
    Div,
    Index,
    Max,
    Min,
    Mod,
    Product,
    Sum,
    Var,
    add,
    ceil_div,
    div,
    maximum,
    minimum,
    mul,
    negate,
    sub,
    variables,
)
from cachet_verify.core.ir import Blocks, Domain, Program, Traffic
from cachet_verify.core.lease import Around, Pull, pulls
from cachet_verify.core.spell import spell

_FACTOR, _DIVISOR = 2, 3
"""How tightly the operands of `*` and the divisor of `/` bind."""


@dataclass(frozen=True, slots=True)
class Trips:
    """At most how many iterations a loop has, over the sizes alone; `text` shows the count before numbers are put together."""

    term: Index
    text: str


@dataclass(frozen=True, slots=True)
class Pulled:
    """A lease with a bound on each loop around it, the outermost first; `unbounded` names the loop that has none."""

    pull: Pull
    trips: tuple[Trips, ...]
    unbounded: str = ""

    @property
    def bounds(self) -> tuple[Index, ...]:
        """The bounds as terms."""
        return tuple(trips.term for trips in self.trips)


def pulled(program: Program, home: str) -> tuple[Pulled, ...]:
    """The leases of a program, bounded as far as sizes bound them. Raises UnmodelledError."""
    return tuple(_bounded(pull, program.sizes) for pull in pulls(program, home))


def rows_of(program: Program, home: str) -> tuple[Traffic, ...] | None:
    """The rows a generated function declares, one a lease of a parameter; None where it has none or a loop is not bounded."""
    try:
        found = pulled(program, home)
    except UnmodelledError:
        return None
    params = {param.name for param in program.params}
    if not found or any(item.unbounded or item.pull.root not in params for item in found):
        return None
    rows: list[Traffic] = []
    taken: set[str] = set()
    for item in found:
        name = _name(f"{item.pull.root}_pull", taken)
        text = " * ".join(trips.text for trips in item.trips) or "1"
        pull = item.pull
        factors = tuple(part for bound in item.bounds for part in _flat(bound))
        rows.append(Traffic(pull.root, factors, pull.source, pull.target, pull.is_back, name, text, pull.span))
    return tuple(rows)


def declared(program: Program, home: str) -> Program:
    """A generated function, with the rows it declares."""
    return replace(program, movement=rows_of(program, home))


def _flat(term: Index) -> tuple[Index, ...]:
    """The factors of a product; a quotient rounded up is one factor."""
    if isinstance(term, Product) and not (isinstance(term.left, Const) and term.left.value < 0):
        return (*_flat(term.left), *_flat(term.right))
    return (term,)


def _name(base: str, taken: set[str]) -> str:
    name, number = base, 1
    while name in taken:
        name, number = f"{base}'{number}", number + 1
    taken.add(name)
    return name


def _bounded(pull: Pull, sizes: tuple[str, ...]) -> Pulled:
    known: dict[str, _Ends] = {size: (Var(size), Var(size)) for size in sizes}
    found: list[Trips] = []
    counted = {loop.counter: loop.domain for loop in pull.around}
    for loop in pull.loops:
        if loop.counter in counted:
            trips = _trips(counted[loop.counter], known)
            if trips is None:
                return Pulled(pull, tuple(found), loop.counter)
            found.append(trips)
        known.update(_ends_of(loop, known))
    return Pulled(pull, tuple(found))


def _trips(domain: Domain, known: Mapping[str, _Ends]) -> Trips | None:
    low, high = _least(domain.low, known), _greatest(domain.high, known)
    if low is None or high is None:
        return None
    count = sub(high, low)
    text = spell(count, _FACTOR)
    if isinstance(domain, Blocks):
        if variables(domain.size) - {name for name, ends in known.items() if ends[0] == Var(name)}:
            return None
        text = f"ceil ({text} / {spell(domain.size, _DIVISOR)})"
        count = ceil_div(count, domain.size)
    if _is_natural(count):
        return Trips(count, text)
    made = maximum(ZERO, count)
    return Trips(made, spell(made, _FACTOR))


# --- ends of what terms can be -----------------------------------------------------------------

_Ends = tuple["Index | None", "Index | None"]
"""The least and the greatest value of a variable, over the sizes; None where none is known."""


def _ends_of(loop: Around, known: Mapping[str, _Ends]) -> dict[str, _Ends]:
    """The ends of a counter, or of a block's ordinal, first index and length."""
    domain = loop.domain
    low, high = _least(domain.low, known), _greatest(domain.high, known)
    inside: _Ends = (low, None if high is None else sub(high, ONE))
    if not isinstance(domain, Blocks):
        return {loop.counter: inside}
    return {loop.counter: (ZERO, None), f"{loop.counter}.lo": inside, f"{loop.counter}.len": (ONE, _greatest(domain.size, known))}


def _greatest(term: Index, known: Mapping[str, _Ends]) -> Index | None:
    return _end(term, known, 1)


def _least(term: Index, known: Mapping[str, _Ends]) -> Index | None:
    return _end(term, known, 0)


def _end(term: Index, known: Mapping[str, _Ends], side: int) -> Index | None:
    """The least (side 0) or greatest (side 1) value of a term; None where none is known."""
    if isinstance(term, Const):
        return term
    if isinstance(term, Var):
        return known.get(term.name, (None, None))[side]
    if isinstance(term, Sum):
        parts = [_end(part, known, side) for part in term.terms]
        return None if None in parts else add(*(part for part in parts if part is not None))
    if isinstance(term, Product):
        return _end_of_product(term, known, side)
    if isinstance(term, Div):
        return _end_of_quotient(term, known, side)
    if isinstance(term, Mod):
        if not _is_positive(term.right, known):
            return None
        return ZERO if side == 0 else sub(term.right, ONE)
    return _end_of_extreme(term, known, side)


def _end_of_product(term: Product, known: Mapping[str, _Ends], side: int) -> Index | None:
    if isinstance(term.left, Const):
        inner = _end(term.right, known, side if term.left.value >= 0 else 1 - side)
        return None if inner is None else mul(term.left, inner)
    lows = _least(term.left, known), _least(term.right, known)
    if any(low is None or not _is_natural(low) for low in lows):
        return None
    left, right = _end(term.left, known, side), _end(term.right, known, side)
    return None if left is None or right is None else mul(left, right)


def _end_of_quotient(term: Div, known: Mapping[str, _Ends], side: int) -> Index | None:
    """By a divisor that stays the same, or, of naturals, by the least that the divisor can be; 0 is their least."""
    top = _end(term.left, known, side)
    if top is None or _is_positive(term.right, known):
        return None if top is None else div(top, term.right)
    lows = _least(term.left, known), _least(term.right, known)
    if lows[0] is None or not _is_natural(lows[0]) or not isinstance(lows[1], Const) or lows[1].value < 1:
        return None
    return ZERO if side == 0 else div(top, lows[1])


def _end_of_extreme(term: Min | Max, known: Mapping[str, _Ends], side: int) -> Index | None:
    left, right = _end(term.left, known, side), _end(term.right, known, side)
    if left is not None and right is not None:
        return minimum(left, right) if isinstance(term, Min) else maximum(left, right)
    one_is_enough = isinstance(term, Min) == (side == 1)
    return (left if left is not None else right) if one_is_enough else None


def _is_positive(term: Index, known: Mapping[str, _Ends]) -> bool:
    """Whether a divisor is a number above 0, or a size, which is positive where its loop is well formed."""
    if isinstance(term, Var):
        return known.get(term.name) == (term, term)
    return isinstance(term, Const) and term.value > 0


def _is_natural(term: Index) -> bool:
    """Whether a term over sizes is at least 0 by its form; False may still be at least 0."""
    if isinstance(term, Const):
        return term.value >= 0
    if isinstance(term, Var):
        return True
    if isinstance(term, Sum):
        return all(_is_natural(part) for part in term.terms)
    if isinstance(term, Product) and isinstance(term.left, Const) and term.left.value < 0:
        inner = term.right
        return isinstance(inner, Div) and _is_natural(negate(inner.left)) and _is_natural(inner.right)
    left, right = _is_natural(term.left), _is_natural(term.right)
    return left or right if isinstance(term, Max) else left and right
