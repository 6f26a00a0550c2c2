"""Schedules, their steps, and the definitions of steps.

Takes nothing but its parts; gives frozen values that compare without their places.
Must not parse, print, or know what any step does.
"""

from __future__ import annotations

from dataclasses import dataclass

from cachet_verify.syntax.expression import Expr, Node


@dataclass(frozen=True, slots=True)
class ScheduleLine(Node):
    """One line of a schedule."""


@dataclass(frozen=True, slots=True)
class Clause(Node):
    """A word and what follows it: `into packA`, `over (a0, a1)`, `rows 4`, `ragged`."""

    word: str
    args: tuple[Expr, ...]


CLAUSE_WORDS = (
    "by", "as", "ragged", "into", "along", "over", "within", "rows", "lanes",
    "through", "at", "from", "to", "with", "using", "on", "after", "before",
)  # fmt: skip
"""The words that start a clause of a step; everywhere else they are free as names."""


@dataclass(frozen=True, slots=True)
class Step(ScheduleLine):
    """`pack a into packA along gi over (a0, a1)`: a step, or a call of a `schedule fn`.

    Arguments are names, dotted names, numbers, tuples, lists, labels or parenthesised
    expressions. `name` is any word: a built-in, library or user step.
    """

    name: str
    args: tuple[Expr, ...]
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Factor(Node):
    """`16 as gi`: a block size and the name of its block index (None: `i.outer` is used)."""

    size: Expr
    name: str | None


@dataclass(frozen=True, slots=True)
class SplitPart(Node):
    """`i by 16 as gi, 4 as ui`: one index and its factors, outermost first."""

    index: Expr
    factors: tuple[Factor, ...]


@dataclass(frozen=True, slots=True)
class Split(ScheduleLine):
    """`split i by 16 as gi, 4 as ui ragged`, `split i by 32, j by 8, c by 16`.

    `ragged` covers every factor of every part; without it each split is exact.
    """

    parts: tuple[SplitPart, ...]
    ragged: bool


@dataclass(frozen=True, slots=True)
class Admit(ScheduleLine):
    """`admit "reason"`: as a step, a line of a recipe, or the body of a proof."""

    reason: str


@dataclass(frozen=True, slots=True)
class RecipeLine(Node):
    """`per cell c fold S.k`: words, names, numbers and dotted paths, as written."""

    words: tuple[str, ...]
