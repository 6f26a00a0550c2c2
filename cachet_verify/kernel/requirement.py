"""Requirements, and reading a comparison of two programs from right to left.

Takes programs, goals and claims; gives goals. Must not weaken a requirement.
"""

from __future__ import annotations

from dataclasses import replace

from cachet_verify.core.ir import Program, Require
from cachet_verify.kernel.claim import Claim, Goal, RuleError, Same, Statement, check_requirements, issue
from cachet_verify.kernel.scope import lowered


def add_requirement(program: Program, require: Require) -> Goal:
    """The program with one more requirement, last: the same, wherever it may be called."""
    after = program if require in program.requires else replace(program, requires=(*program.requires, require))
    lowered("add-requirement", after)
    return issue("add-requirement", Same(program, after), ())


def symmetry(claim: Claim) -> Goal:
    """Two programs that are the same are so the other way round.

    Both must have the same sizes, requirements and parameters, and the one that then stands after
    must leave nothing unordered: a claim lets a program before have races, never one after.
    """
    return issue("symmetry", _turned("symmetry", claim.statement), (), (claim,))


def converse(goal: Goal) -> Goal:
    """A goal about two programs read from right to left, with the same obligations.

    As `symmetry`, but rules that move no access in time may leave grids and lanes in place.
    """
    turned = _reversed("converse", goal.statement) if goal.rule in _TIMELESS else _turned("converse", goal.statement)
    return issue(f"converse of {goal.rule}", turned, goal.obligations, goal.premises, goal.trust)


_TIMELESS = frozenset(("reflexivity", "inline-let", "same-families", "rename", "rename-alias"))


def _turned(rule: str, statement: Statement) -> Same:
    turned = _reversed(rule, statement)
    for member in lowered(rule, turned.after).members:
        if member.grids() or member.lanes():
            raise RuleError(rule, "the program before has iterations or lanes without an order", member)
    return turned


def _reversed(rule: str, statement: Statement) -> Same:
    if not isinstance(statement, Same):
        raise RuleError(rule, "the statement compares no two programs", statement)
    check_requirements(rule, statement.after, statement.before)
    return Same(statement.after, statement.before)
