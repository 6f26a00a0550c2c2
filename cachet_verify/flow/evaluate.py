"""Terms and formulas compiled to Python functions, and points drawn from an iteration domain.

Takes core terms and families; gives fast evaluators and sample points. Must not be trusted: what
is proposed from samples is checked by the kernel.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cachet_verify.core.family import Counter, Families, Family
from cachet_verify.core.index import (
    And,
    Compare,
    Const,
    Div,
    Formula,
    Index,
    Min,
    Mod,
    Not,
    Product,
    Sum,
    Truth,
    Var,
    conj,
    conjuncts,
    subterms,
    variables,
)

Point = Mapping[str, int]
_LONGEST = 1 << 24
_MANGLE = re.compile(r"[^A-Za-z0-9]")


def _name(name: str) -> str:
    return "v_" + _MANGLE.sub(lambda found: f"_{ord(found.group()):x}_", name)


def _term(term: Index) -> str:
    """A term as Python. A divisor that is 0 is replaced by some number: a sample at which it is says nothing."""
    if isinstance(term, Const):
        return f"({term.value})"
    if isinstance(term, Var):
        return _name(term.name)
    if isinstance(term, Sum):
        return "(" + "+".join(_term(part) for part in term.terms) + ")"
    left, right = _term(term.left), _term(term.right)
    if isinstance(term, Product):
        return f"({left}*{right})"
    if isinstance(term, (Div, Mod)):
        sign = "//" if isinstance(term, Div) else "%"
        return f"({left}{sign}{right})" if isinstance(term.right, Const) and term.right.value != 0 else f"({left}{sign}({right} or {_LONGEST}))"
    return f"{'min' if isinstance(term, Min) else 'max'}({left},{right})"


def _formula(formula: Formula) -> str:
    if isinstance(formula, Truth):
        return str(formula.value)
    if isinstance(formula, Compare):
        return f"({_term(formula.left)} {formula.relation} {_term(formula.right)})"
    if isinstance(formula, Not):
        return f"(not {_formula(formula.body)})"
    word = " and " if isinstance(formula, And) else " or "
    return "(" + word.join(_formula(part) for part in formula.parts) + ")"


def compile_terms(names: Sequence[str], terms: Iterable[Index]) -> Callable[..., tuple[int, ...]]:
    """A function of the named variables, in order, giving the terms' values."""
    body = "".join(_term(term) + "," for term in terms)
    made: Callable[..., tuple[int, ...]] = eval(f"lambda {','.join(map(_name, names))}: ({body})")  # noqa: S307
    return made


def compile_formula(names: Sequence[str], formula: Formula) -> Callable[..., bool]:
    """A function of the named variables, in order, giving the formula's truth."""
    made: Callable[..., bool] = eval(f"lambda {','.join(map(_name, names))}: {_formula(formula)}")  # noqa: S307
    return made


def constants(families: Families) -> tuple[int, ...]:
    """The positive literals that occur in a program's domains and cells, ascending."""
    found: set[int] = set()
    for member in families.members:
        for part in member.domain:
            found.update(term.value for term in subterms(part) if isinstance(term, Const))
        for term in member.cell:
            found.update(part.value for part in subterms(term) if isinstance(part, Const))
    for need in families.program.requires:
        found.update(term.value for term in subterms(need.condition) if isinstance(term, Const))
    return tuple(sorted({abs(value) for value in found if value != 0}))


@dataclass(frozen=True, slots=True)
class Sizer:
    """Draws sizes that meet the requirements, around the literals of the programs."""

    sizes: tuple[str, ...]
    requires: Callable[..., bool]
    literals: tuple[int, ...]
    alone: tuple[Callable[..., bool], ...] = ()
    below: tuple[tuple[str, str], ...] = ()
    drawn: dict[int, tuple[random.Random, list[dict[str, int] | None]]] = field(default_factory=dict, compare=False)

    def nth(self, seed: int, number: int) -> dict[str, int] | None:
        """The sizes of that number in the sequence of a seed; every family is sampled at the same ones."""
        if seed not in self.drawn:
            self.drawn[seed] = (random.Random(seed), [])
        chance, found = self.drawn[seed]
        while len(found) <= number:
            found.append(self.draw(chance))
        return found[number]

    def draw(self, chance: random.Random, tries: int = 400) -> dict[str, int] | None:
        """Sizes as a dictionary; None when none of the tries met the requirements."""
        for _ in range(tries):
            at = {size: self._fitting(place, chance) for place, size in enumerate(self.sizes)}
            for size, bound in self.below:
                at[size] = _inside(at[bound], chance)
            if self.requires(*(at[size] for size in self.sizes)):
                return at
        return None

    def _fitting(self, place: int, chance: random.Random) -> int:
        """A size that meets what is required of it alone, where one comes up soon."""
        value = self._one(chance)
        for _ in range(60):
            if not self.alone or self.alone[place](value):
                break
            value = self._one(chance)
        return value

    def _one(self, chance: random.Random) -> int:
        kind = int(chance.random() * 5)
        if kind == 0 or not self.literals:
            return _SMALL[int(chance.random() * len(_SMALL))]
        literal = self.literals[int(chance.random() * len(self.literals))]
        if kind == 1:
            return literal * (1 + int(chance.random() * 3))
        if kind == 2:
            return int(chance.random() * (4 * literal + 2))
        return max(0, literal * (1 + int(chance.random() * 2)) + _BESIDE[int(chance.random() * 4)])


def _inside(bound: int, chance: random.Random) -> int:
    """A size that has to be less than another one: the last, the first, or any."""
    kind = chance.randrange(6)
    return max(0, bound - 1) if kind < 2 else 0 if kind == 2 or bound < 2 else chance.randrange(bound)


_SMALL = (0, 0, 1, 1, 2, 3, 4, 5, 7)
_BESIDE = (-1, 1, 2, 3)


def sizer(*sides: Families) -> Sizer:
    """The sizes of programs that are compared, with the requirements of all of them."""
    sizes = tuple(dict.fromkeys(size for side in sides for size in side.program.sizes))
    needs = conj(need.condition for side in sides for need in side.program.requires)
    alone = tuple(compile_formula((size,), conj(part for part in conjuncts(needs) if variables(part) == {size})) for size in sizes)
    literals = tuple(sorted({value for side in sides for value in constants(side)}))
    return Sizer(sizes, compile_formula(sizes, needs), literals, alone, tuple(_below(needs, frozenset(sizes))))


def _below(needs: Formula, sizes: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Pairs of sizes of which the first is required to be less than the second."""
    for part in conjuncts(needs):
        if isinstance(part, Compare) and part.relation == "<" and isinstance(part.left, Var) and isinstance(part.right, Var):
            if {part.left.name, part.right.name} <= sizes:
                yield part.left.name, part.right.name


class Drawer:
    """Draws points of one family's domain."""

    def __init__(self, family: Family, sizes: tuple[str, ...], literals: tuple[int, ...] = ()) -> None:
        """Compile the bounds of each counter in terms of the sizes and the counters outside it."""
        self.literals = literals
        self.names = (*sizes, *family.names())
        self.sizes = sizes
        self.counters = family.counters
        self.bounds = [self._bound(family, place) for place in range(len(family.counters))]
        self.domain = compile_formula(self.names, conj(family.domain))

    def _bound(self, family: Family, place: int) -> tuple[Callable[..., tuple[int, ...]], Callable[..., bool] | None]:
        counter: Counter = family.counters[place]
        outer = (*self.sizes, *(other.name for other in family.counters[:place]))
        if counter.high is not None:
            return compile_terms(outer, (counter.low, counter.high)), None
        holding = conj(part for part in family.domain if _mentions_only(part, {*outer, counter.name}))
        return compile_terms(outer, (counter.low,)), compile_formula((*outer, counter.name), holding)

    def draw(self, sizes: Point, chance: random.Random) -> tuple[int, ...] | None:
        """The sizes and counters of one point, in the order of `names`; None when unlucky."""
        point = [sizes[size] for size in self.sizes]
        for bound, holding in self.bounds:
            if holding is None:
                low, high = bound(*point)
            else:
                low = bound(*point)[0]
                high = low + _extent(holding, tuple(point), low)
            if high <= low:
                return None
            point.append(self._counter(low, high, chance))
        return tuple(point) if self.domain(*point) else None

    def _counter(self, low: int, high: int, chance: random.Random) -> int:
        """The first, the last, any, or one beside a multiple of a literal of the program."""
        kind = int(chance.random() * 5)
        if kind == 0:
            return low
        if kind == 1:
            return high - 1
        if kind == 2 and self.literals:
            literal = self.literals[int(chance.random() * len(self.literals))]
            value = int(chance.random() * 4) * literal + int(chance.random() * 3) - 1
            if low <= value < high:
                return value
        return low + int(chance.random() * (high - low))


def _extent(test: Callable[..., bool], outer: tuple[int, ...], low: int) -> int:
    """How many consecutive values from `low` pass a test that holds on a prefix."""
    if not test(*outer, low):
        return 0
    step = 1
    while step < _LONGEST and test(*outer, low + step):
        step *= 2
    left, right = step // 2, step
    while right - left > 1:
        middle = (left + right) // 2
        if test(*outer, low + middle):
            left = middle
        else:
            right = middle
    return right


def _mentions_only(formula: Formula, names: set[str]) -> bool:
    return all(term.name in names for term in subterms(formula) if isinstance(term, Var))
