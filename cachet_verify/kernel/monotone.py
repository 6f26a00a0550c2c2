"""A stronger, linear obligation for a comparison of products of counts.

Takes an obligation whose goal is `left <= right`; gives one whose validity implies it. Quotients get
names with the bounds that define them, products get names too, and instances of two lemmas are added:
for naturals, `p*x <= q*y` implies `p*x*B <= q*y*B`, and a product of naturals is one. Must not weaken:
all it adds is true of what it names. A model of it says nothing about the original.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations

from cachet_verify.core.index import (
    ZERO,
    Compare,
    Const,
    Div,
    Formula,
    Index,
    Product,
    Var,
    add,
    conj,
    implies,
    le,
    lt,
    mul,
    subterms,
)
from cachet_verify.kernel.naming import Monomial, Naming, Polynomial, product_of, scaled, summed
from cachet_verify.kernel.obligation import Failed, Obligation, Proved, Undecided, Verdict

_MOST_LEMMAS = 1500
"""Instances beyond this many are left out: fewer premises prove less, never more."""
_MOST_FACTORS = 4
"""Products that differ in more factors than this are not compared factor by factor."""

PRODUCT_LEMMAS = (
    Obligation(
        "the product lemma",
        (le(ZERO, Var("B")), le(ZERO, Var("w"))),
        le(Product(Var("x"), Var("B")), Product(add(Var("x"), Var("w")), Var("B"))),
    ),
    Obligation(
        "a quotient of naturals, rounded up, is a natural and no more than what is divided",
        (lt(ZERO, Var("n")), le(ZERO, Var("x")), le(Var("x"), Product(Var("q"), Var("n"))), lt(Product(Var("q"), Var("n")), add(Var("x"), Var("n")))),
        conj((le(ZERO, Var("q")), le(Var("q"), Var("x")))),
    ),
    Obligation(
        "a quotient of naturals, rounded down, is a natural and no more than what is divided",
        (lt(ZERO, Var("n")), le(ZERO, Var("x")), le(Product(Var("q"), Var("n")), Var("x")), lt(Var("x"), add(Product(Var("q"), Var("n")), Var("n")))),
        conj((le(ZERO, Var("q")), le(Var("q"), Var("x")))),
    ),
    Obligation("a product of naturals is one", (le(ZERO, Var("x")), le(ZERO, Var("B"))), le(ZERO, Product(Var("x"), Var("B")))),
)
"""What the instances are instances of; in the first, `x` is `p*x` and `w` is `q*y - p*x`. The tests ask both solvers."""


def compares_products(obligation: Obligation) -> bool:
    """Whether the goal is one comparison in which a product of two terms occurs that are no numbers."""
    goal = obligation.goal
    return isinstance(goal, Compare) and goal.relation in ("<=", "<") and any(_factors(goal))


def has_quotients(obligation: Obligation) -> bool:
    """Whether a quotient is a factor of a product in the goal: that is what counts of blocks look like."""
    return any(isinstance(part, Div) for product in _factors(obligation.goal) for part in subterms(product))


def _factors(goal: Formula) -> Iterator[Product]:
    """The products of a formula whose factors are no numbers."""
    return (term for term in subterms(goal) if isinstance(term, Product) and not isinstance(term.left, Const))


def monotone(obligation: Obligation) -> Obligation:
    """The linear obligation."""
    naming = Naming()
    premises = [naming.formula(premise) for premise in obligation.premises]
    goal = naming.formula(obligation.goal)
    facts = [*premises, *naming.definitions, *_instances(naming, obligation)]
    return Obligation(obligation.subject, tuple(dict.fromkeys(facts)), goal, can_refute=False)


def lift(obligation: Obligation, verdict: Verdict) -> Verdict:
    """The verdict on an obligation that a verdict on its linear form gives: proved, or undecided.

    Raises ValueError for a verdict on something else.
    """
    if verdict.digest != monotone(obligation).digest():
        raise ValueError("the verdict is not on the linear form of the obligation")
    if isinstance(verdict, Proved):
        return Proved(obligation.digest(), verdict.answers)
    if isinstance(verdict, Failed):
        return Failed(obligation.digest(), verdict.reason, verdict.answers)
    return Undecided(obligation.digest(), "incomplete", verdict.answers)


# --- instances of the lemmas -------------------------------------------------------------------


def _instances(naming: Naming, obligation: Obligation) -> list[Formula]:
    """What is known of the products that occur, and of those between them."""
    goal = obligation.goal
    if not isinstance(goal, Compare):
        return []
    rest = summed((naming.polynomial(goal.right), scaled(naming.polynomial(goal.left), -1)))
    known = [monomial for premise in obligation.premises for monomial in _products(naming, premise)]
    below = list(dict.fromkeys((*(monomial for monomial, weight in rest.items() if weight < 0), *known)))
    above = list(dict.fromkeys((*(monomial for monomial, weight in rest.items() if weight > 0), (), *known)))
    bounds = _Bounds(naming, obligation.premises)
    found: dict[Formula, None] = {}
    seen: dict[Monomial, None] = dict.fromkeys((*below, *above))
    for low in below:
        found.update(dict.fromkeys(_gathered(low, rest)))
        for high in above:
            if low != high and len(found) < _MOST_LEMMAS:
                for formula, middle in _chained(low, high, bounds):
                    found[formula] = None
                    seen[middle] = None
    return [*found, *(_natural(monomial) for monomial in seen if len(monomial) > 1)]


def _products(naming: Naming, formula: Formula) -> Iterator[Monomial]:
    """The products of two or more that occur in a premise."""
    if isinstance(formula, Compare):
        for term in (formula.left, formula.right):
            yield from (monomial for monomial in naming.polynomial(term) if len(monomial) > 1)


def _natural(monomial: Monomial) -> Formula:
    """A product of naturals is one."""
    return implies(_all_natural(monomial), le(ZERO, product_of(monomial)))


def _all_natural(monomial: Monomial) -> Formula:
    return conj(le(ZERO, Var(name)) for name in dict.fromkeys(monomial))


def _gathered(low: Monomial, rest: Polynomial) -> Iterator[Formula]:
    """A product and those that differ from it in one factor: what holds of those factors' sum holds of the products'."""
    for place, name in enumerate(low):
        block = low[:place] + low[place + 1 :]
        if not block or name in low[:place]:
            continue
        sides: dict[bool, list[tuple[Index, Index]]] = {True: [], False: []}
        for monomial, weight in rest.items():
            factor = _without(monomial, block)
            if factor is not None and len(factor) < 2:
                sides[weight > 0].append((mul(Const(abs(weight)), product_of(factor)), mul(Const(abs(weight)), product_of(monomial))))
        small, large = (add(*(term for term, _ in sides[side])) for side in (False, True))
        small_whole, large_whole = (add(*(term for _, term in sides[side])) for side in (False, True))
        yield implies(conj((_all_natural(block), le(small, large))), le(small_whole, large_whole))


def _chained(low: Monomial, high: Monomial, bounds: _Bounds) -> Iterator[tuple[Formula, Monomial]]:
    """From one product to another, a factor at a time, in every pairing of the factors they do not share."""
    ours, theirs = list(low), list(high)
    for name in low:
        if name in theirs:
            ours.remove(name)
            theirs.remove(name)
    shared = list(low)
    for name in ours:
        shared.remove(name)
    count = max(len(ours), len(theirs))
    if count > _MOST_FACTORS:
        return
    ours += [""] * (count - len(ours))
    for paired in dict.fromkeys(permutations(theirs + [""] * (count - len(theirs)))):
        for place in range(count):
            block = tuple(sorted((*shared, *(name for name in (*paired[:place], *ours[place + 1 :]) if name))))
            yield from _stepped(ours[place], paired[place], block, bounds)


def _stepped(factor: str, other: str, block: Monomial, bounds: _Bounds) -> Iterator[tuple[Formula, Monomial]]:
    """The product lemma for one factor against another, at each ratio that may hold between them."""
    small, large = _with(factor, block), _with(other, block)
    for p, q in bounds.ratios(factor, other):
        premise = le(mul(Const(p), product_of((factor,) if factor else ())), mul(Const(q), product_of((other,) if other else ())))
        conclusion = le(mul(Const(p), product_of(small)), mul(Const(q), product_of(large)))
        yield implies(conj((_all_natural(block), premise)), conclusion), large


def _with(name: str, block: Monomial) -> Monomial:
    return tuple(sorted((*block, name))) if name else block


def _without(monomial: Monomial, block: Monomial) -> Monomial | None:
    """The factors of a product that are left when those of a block are taken out; None where it lacks one."""
    left = list(monomial)
    for name in block:
        if name not in left:
            return None
        left.remove(name)
    return tuple(left)


class _Bounds:
    """Ratios that may hold between two factors. Guesses: an instance says what follows if one does."""

    def __init__(self, naming: Naming, premises: Iterable[Formula]) -> None:
        self.rounded = naming.rounded
        self.numbers: dict[str, tuple[int | None, int | None]] = {}
        for premise in premises:
            self._note(premise)
        for (kind, top, bottom), name in naming.units.items():
            if isinstance(top, Var) and isinstance(bottom, Const) and bottom.value > 0 and top.name in self.numbers:
                ends = (None if end is None else _round(kind, end, bottom.value) for end in self.numbers[top.name])
                self.numbers[name] = (next(ends), next(ends))

    def _note(self, premise: Formula) -> None:
        if not isinstance(premise, Compare) or premise.relation == "!=":
            return
        left, right = premise.left, premise.right
        off = 1 if premise.relation == "<" else 0
        if isinstance(left, Var) and isinstance(right, Const):
            low = self.numbers.get(left.name, (None, None))[0]
            self.numbers[left.name] = (right.value if premise.relation == "==" else low, right.value - off)
        elif isinstance(left, Const) and isinstance(right, Var):
            high = self.numbers.get(right.name, (None, None))[1]
            self.numbers[right.name] = (left.value + off, left.value if premise.relation == "==" else high)

    def ratios(self, factor: str, other: str) -> list[tuple[int, int]]:
        """Pairs `p, q` such that `p` times the one may be at most `q` times the other; an empty name is 1."""
        found = [(1, 1)]
        if not other:
            high = self.numbers.get(factor, (None, None))[1]
            found += [(1, high)] if high is not None and high > 1 else []
        elif not factor:
            low = self.numbers.get(other, (None, None))[0]
            found += [(low, 1)] if low is not None and low > 1 else []
        else:
            ours, theirs = self.rounded.get(factor, 1), self.rounded.get(other, 1)
            found += [(1, -(-theirs // ours))] if 0 < ours < theirs else []
            found += [(ours // theirs, 1)] if 0 < theirs < ours else []
        return found


def _round(kind: str, top: int, bottom: int) -> int:
    return -(-top // bottom) if kind == "ceil" else top // bottom
