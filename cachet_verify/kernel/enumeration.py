"""Entailment by going through the values: every choice of integers in some ranges is evaluated.

Takes premises, a goal and a range for each variable; gives a goal. Must not choose the ranges: what
is proposed is asked of the solvers, and everything inside is evaluated here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from cachet_verify.core.compiled import defined, formula_text
from cachet_verify.core.index import Const, Formula, Var, conj, conjuncts, le, neg, variables
from cachet_verify.kernel.claim import Entails, Goal, RuleError, issue
from cachet_verify.kernel.obligation import Obligation

RULE = "by-values"
MOST_VALUES = 3_000_000
_MOST_NAMES = 12
Range = tuple[str, int, int]
"""A variable with the least and the greatest value it can have."""


def in_ranges(premises: tuple[Formula, ...], ranges: Sequence[Range]) -> list[Obligation]:
    """That the premises leave no other values; a model only shows that the proposal was wrong."""
    return [
        Obligation(f"{name} is from {low} to {high}", premises, conj((le(Const(low), Var(name)), le(Var(name), Const(high)))), can_refute=False)
        for name, low, high in ranges
    ]


def by_values(premises: tuple[Formula, ...], goal: Formula, ranges: tuple[Range, ...], bounding: tuple[Formula, ...]) -> Goal:
    """The entailment, where no choice of values in the ranges meets the premises and not the goal.

    `bounding` are the premises that are asked to leave no values outside of the ranges. Raises
    RuleError for a choice that does, a variable without a range, a divisor of 0, and too many values.
    """
    names = tuple(name for name, _, _ in ranges)
    parts = tuple(part for premise in (*premises, neg(goal)) for part in conjuncts(premise))
    if not set(bounding) <= set(premises):
        raise RuleError(RULE, "what bounds the variables is no premise")
    loose = frozenset[str]().union(*(variables(part) for part in parts)) - frozenset(names)
    if loose or len(set(names)) != len(names) or not 0 < len(names) <= _MOST_NAMES:
        raise RuleError(RULE, f"a range for each variable is wanted, of {_MOST_NAMES} at most", *sorted(loose))
    count = 1
    for _, low, high in ranges:
        count *= max(0, high - low + 1)
    if count > MOST_VALUES:
        raise RuleError(RULE, f"more than {MOST_VALUES} values")
    try:
        found = first_values(parts, ranges)
    except ZeroDivisionError:
        raise RuleError(RULE, "a divisor is 0") from None
    if found is not None:
        raise RuleError(RULE, "some values meet the premises and not the goal", found)
    return issue(RULE, Entails(premises, goal), in_ranges(bounding, ranges))


def first_values(parts: Sequence[Formula], ranges: Sequence[Range]) -> tuple[int, ...] | None:
    """The first values in the ranges that meet all parts, in lexicographic order. Raises ZeroDivisionError."""
    return cast("tuple[int, ...] | None", defined(_text(parts, ranges), "search")())


def _text(parts: Sequence[Formula], ranges: Sequence[Range]) -> str:
    """A function that gives the first values that meet all parts; a part is tested once its variables have values."""
    places = {name: place for place, (name, _, _) in enumerate(ranges)}
    lines = ["def search():"]
    for place, (_, low, high) in enumerate(ranges):
        lines.append(f"{'  ' * (place + 1)}for v{place} in range({low}, {high + 1}):")
        indent = "  " * (place + 2)
        tested = [part for part in parts if max((places[name] for name in variables(part)), default=0) == place]
        lines += [f"{indent}if not {formula_text(part, places)}: continue" for part in tested]
    values = ", ".join(f"v{place}" for place in range(len(ranges)))
    return "\n".join([*lines, f"{'  ' * (len(ranges) + 1)}return ({values},)", "  return None", ""])
