"""What is searched, and what a search can come to.

Takes nothing; gives frozen records. Must not search.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from cachet_verify.core.index import Formula, Index


@dataclass(frozen=True, slots=True)
class Problem:
    """Integers by name, the conditions on them, and a cost `numerator / denominator`, whose denominator is to be above 0."""

    names: tuple[str, ...]
    conditions: tuple[Formula, ...]
    numerator: Index
    denominator: Index


@dataclass(frozen=True, slots=True, order=True)
class Candidate:
    """Values that meet the conditions; candidates are in order of cost, then of values."""

    cost: Fraction
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """The first candidates in order, at least one."""

    best: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Infeasible:
    """Nothing meets the conditions at these places together; `is_least` says that without any one of them something was seen to."""

    conflict: tuple[int, ...]
    is_least: bool


@dataclass(frozen=True, slots=True)
class Unbounded:
    """No bound of a name can be derived from the conditions; `side` is "above" or "below"."""

    name: str
    side: str


@dataclass(frozen=True, slots=True)
class TooMany:
    """The search was given up after so many candidates."""

    limit: int


Outcome = Found | Infeasible | Unbounded | TooMany
