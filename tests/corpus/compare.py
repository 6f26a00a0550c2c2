"""Programs against their meanings in the interpreter, at sizes around their blocks and on hostile words.

Takes pairs of programs; gives the first difference as text, or None. It shares nothing with the
search for counterexamples: sizes and words are chosen here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import product
from math import prod
from random import Random

from cachet_verify.core.algebra import Instance, WordAlgebra
from cachet_verify.core.element import ELEMENTS
from cachet_verify.core.index import Const, holds
from cachet_verify.core.ir import Declare, Lanes, Op, Param, Program, Store, statements, values
from cachet_verify.core.meaning import Executable, arithmetic_of, shape_of
from cachet_verify.core.memory import BudgetError, Cells, MeaningError
from cachet_verify.core.word import word_of_decimal
from cachet_verify.replay.instance import SEMIRINGS

Sizes = dict[str, int]
PRIMES = (2, 3, 5, 7)
_HOSTILE = ("-0.0", "0.0", "1", "-1", "1e-30", "-1e-30", "1e8", "-1e8", "1.00024414", "inf", "nan", "3", "-0.1", "7.5")
_ASCENDING = (("0.0", "-0.0", "-1"), ("-inf", "-1", "-2"))
_LARGE = ("1e8", "1", "-1e8", "1", "3", "-0.0", "1e-30", "-1e-30")
KINDS = ("full", "large", "hostile")
_MOST_CELLS = 1_500
_MOST_STEPS, _FEW = 25_000, 12
"""How many statements a run executes at most, where one has so few operations or fewer; where one has more, as many times fewer."""


def blocks(*programs: Program) -> list[int]:
    """The numbers above 1 in bounds, blocks, shapes and lanes."""
    found: set[int] = set()
    waiting: list[object] = [part for program in programs for part in (program.body, program.params, program.requires)]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Const):
            found.add(abs(item.value))
        elif isinstance(item, tuple):
            waiting.extend(item)
        elif is_dataclass(item):
            found.update({item.width} if isinstance(item, Lanes) else ())
            waiting.extend(getattr(item, part.name) for part in fields(item) if part.name != "span")
    return sorted(value for value in found if 1 < value < 64)


def operations(program: Program) -> int:
    """How many operations the largest statement of a program has."""
    found = [stmt.value if isinstance(stmt, Store) else stmt.init for stmt in statements(program.body) if isinstance(stmt, (Store, Declare))]
    return max((sum(isinstance(part, Op) for part in values(value)) for value in found if value is not None), default=0)


def sizes_of(program: Program, meaning: Program | None, chance: Random) -> Iterator[Sizes]:
    """0, 1, primes, and each block with its neighbours: all sizes alike, one of them in turn, and some at random."""
    sides = [program] if meaning is None else [program, meaning]
    names = tuple(dict.fromkeys(name for side in sides for name in side.sizes))
    cuts = blocks(*sides)
    values = sorted({0, 1, *PRIMES, *(value + by for value in cuts for by in (-1, 0, 1)), *(2 * value for value in cuts)})
    points = [(value,) * len(names) for value in values]
    for place in range(len(names)):
        points += [(*(3,) * place, value, *(2,) * (len(names) - place - 1)) for value in values]
    points += list(product((0, 1, 2), repeat=len(names))) if len(names) <= 4 else []
    points += [tuple(chance.choice(values) for _ in names) for _ in range(25)]
    for point in dict.fromkeys(points):
        sizes = dict(zip(names, point, strict=True))
        if all(_meets(side, sizes) for side in sides):
            yield sizes


def _meets(program: Program, sizes: Sizes) -> bool:
    try:
        if not all(holds(need.condition, sizes) for need in program.requires):
            return False
        return sum(prod(shape_of(param, sizes)) for param in program.params) <= _MOST_CELLS
    except (ZeroDivisionError, MeaningError):
        return False


def words(param: Param, instance: Instance | None, count: int, chance: Random, kind: str) -> Cells:
    """Words for a buffer, of the instance's type where the program leaves it open; scratch holds none.

    `full` words have every bit of the significand and exponents near 0; `large` ones cancel; `hostile` ones are special. One hostile
    buffer of four ascends: zeros of both signs behind lower words, or negative numbers behind minus infinities.
    """
    if param.scratch:
        return [None] * count
    elem = param.elem if param.elem in ELEMENTS or instance is None else instance.elem
    element = ELEMENTS[elem]
    if element.kind != "float":
        return [chance.getrandbits(element.width) for _ in range(count)]
    if kind == "full":
        return [word_of_decimal(repr(chance.choice((-1, 1)) * chance.uniform(0.25, 4)), elem) for _ in range(count)]
    if kind == "hostile" and chance.random() < 0.25:
        few = chance.choice(_ASCENDING)
        return [word_of_decimal(text, elem) for text in sorted((chance.choice(few) for _ in range(count)), key=float)]
    return [word_of_decimal(chance.choice(_LARGE if kind == "large" else _HOSTILE), elem) for _ in range(count)]


def difference(program: Program, meaning: Program | None, rounds: int = 1) -> str | None:
    """The first difference from the meaning, or fault of the program, over all sizes tried; None where there is none.

    Every size is tried on each kind of words, so many rounds.
    """
    sides = (program,) if meaning is None else (meaning, program)
    contests = [Contest(sides, instance) for instance in (SEMIRINGS if program.generics else (None,))]
    chance = Random(program.name)
    for sizes in sizes_of(program, meaning, chance):
        for kind in KINDS * rounds:
            for contest in contests:
                found = contest.at(sizes, chance, kind)
                if found is not None:
                    return found
    return None


class Contest:
    """One or two programs, compiled over words, at one instance of what they are generic in."""

    def __init__(self, sides: tuple[Program, ...], instance: Instance | None) -> None:
        self.sides = sides
        self.instance = instance
        self.params = {param.name: param for side in sides for param in side.params}
        self.runs = [Executable(side, self._algebra(side)) for side in sides]
        self.budget = _MOST_STEPS * _FEW // max(_FEW, *(operations(side) for side in sides))

    def at(self, sizes: Sizes, chance: Random, kind: str) -> str | None:
        """A fault, or the first parameter that ends with other words; None where there is none, or the run is long."""
        before = {name: words(param, self.instance, prod(shape_of(param, sizes)), chance, kind) for name, param in self.params.items()}
        after: list[dict[str, Cells]] = []
        for side, executable in zip(self.sides, self.runs, strict=True):
            cells = {param.name: list(before[param.name]) for param in side.params}
            try:
                executable.run(sizes, cells, budget=self.budget)
            except MeaningError as error:
                return f"{side.name} at {sizes}: {error.text}"
            except BudgetError:
                return None
            after.append(cells)
        for param in self.sides[0].params:
            first, last = after[0][param.name], after[-1][param.name]
            if not param.scratch and first != last:
                return f"{param.name} at {sizes}: {first} by the meaning, {last} by the program"
        return None

    def _algebra(self, side: Program) -> WordAlgebra:
        bound = {} if self.instance is None else {name: self.instance for name, _ in side.generics}
        return WordAlgebra(arithmetic_of(side), bound)
