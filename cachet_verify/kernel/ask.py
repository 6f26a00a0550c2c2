"""Collecting the obligations of a rule: deterministic order, no repeats, nothing trivial.

Takes premises and goals; gives obligations. May leave out only what holds syntactically: a goal
whose parts all stand among the premises, or premises that contain `false`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cachet_verify.core.family import Family
from cachet_verify.core.index import (
    FALSE,
    TRUE,
    Formula,
    Index,
    Substitution,
    Var,
    conj,
    conjuncts,
    substitute,
    substitute_formula,
)
from cachet_verify.kernel.obligation import Obligation


class Asked:
    """The obligations of one goal, in the order in which they were asked."""

    def __init__(self, premises: Iterable[Formula]) -> None:
        """Start from the premises that every obligation shares: sizes and requirements."""
        self._shared = tuple(part for premise in premises for part in conjuncts(premise))
        self._found: dict[tuple[tuple[Formula, ...], Formula], Obligation] = {}

    def ask(self, subject: str, premises: Iterable[Formula], goal: Formula, can_refute: bool = True) -> None:
        """Ask that the shared premises and `premises` entail the goal."""
        known = dict.fromkeys(self._shared)
        known.update(dict.fromkeys(part for premise in premises for part in conjuncts(premise)))
        if FALSE in known:
            return
        rest = conj(part for part in conjuncts(goal) if part not in known)
        if rest == TRUE:
            return
        key = (tuple(known), rest)
        if key not in self._found:
            self._found[key] = Obligation(subject, key[0], rest, can_refute)

    def obligations(self) -> tuple[Obligation, ...]:
        """What was asked, first things first."""
        return tuple(self._found.values())


def fresh(names: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """A second name for each name: primed until nothing else has it."""
    used = set(taken)
    found: dict[str, str] = {}
    for name in names:
        other = f"{name}'"
        while other in used:
            other = f"{other}'"
        used.add(other)
        found[name] = other
    return found


def renaming(names: Mapping[str, str]) -> dict[str, Index]:
    """The substitution that gives each name its second name."""
    return {name: Var(other) for name, other in names.items()}


def moved(terms: Iterable[Index], by: Substitution) -> tuple[Index, ...]:
    """Several terms with variables replaced."""
    return tuple(substitute(term, by) for term in terms)


def moved_formulas(formulas: Iterable[Formula], by: Substitution) -> tuple[Formula, ...]:
    """Several formulas with variables replaced."""
    return tuple(substitute_formula(formula, by) for formula in formulas)


def composed(first: Substitution, second: Substitution) -> dict[str, Index]:
    """Replace by the first substitution, then by the second."""
    return {name: substitute(term, second) for name, term in first.items()}


def identity(family: Family) -> dict[str, Index]:
    """Each counter of a family as itself."""
    return {name: Var(name) for name in family.names()}
