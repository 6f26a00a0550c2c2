"""Asking obligations of a solver in tests, by an encoding of its own.

Takes obligations; says which of them are valid. Independent of the encoders of the package.
"""

from __future__ import annotations

from typing import Any

import z3

from cachet_verify.core.index import And, Compare, Const, Div, Formula, Index, Max, Min, Mod, Not, Or, Product, Sum, Truth, Var
from cachet_verify.kernel.claim import Claim, Goal, discharge
from cachet_verify.kernel.obligation import Answer, Obligation, Proved


def term(node: Index) -> Any:
    if isinstance(node, Const):
        return z3.IntVal(node.value)
    if isinstance(node, Var):
        return z3.Int(node.name)
    if isinstance(node, Sum):
        return z3.Sum([term(part) for part in node.terms])
    left, right = term(node.left), term(node.right)
    if isinstance(node, Product):
        return left * right
    if isinstance(node, Min):
        return z3.If(left <= right, left, right)
    if isinstance(node, Max):
        return z3.If(left <= right, right, left)
    floor = z3.If(right > 0, left / right, -left / -right)
    if isinstance(node, Div):
        return floor
    assert isinstance(node, Mod)
    return left - right * floor


def formula(node: Formula) -> Any:
    if isinstance(node, Truth):
        return z3.BoolVal(node.value)
    if isinstance(node, Compare):
        left, right = term(node.left), term(node.right)
        return {"==": left == right, "!=": left != right, "<=": left <= right, "<": left < right}[node.relation]
    if isinstance(node, Not):
        return z3.Not(formula(node.body))
    if isinstance(node, And):
        return z3.And([formula(part) for part in node.parts])
    assert isinstance(node, Or)
    return z3.Or([formula(part) for part in node.parts])


def answer(obligation: Obligation) -> str:
    """`unsat` where the obligation is valid, `sat` where it is not, else `unknown`."""
    solver = z3.Solver()
    solver.set("timeout", 2000)
    for premise in obligation.premises:
        solver.add(formula(premise))
    solver.add(z3.Not(formula(obligation.goal)))
    return str(solver.check())


def invalid(goal: Goal) -> list[str]:
    """The subjects of the obligations that are not valid, each with what the solver said when it does not know."""
    answers = [(obligation.subject, answer(obligation)) for obligation in goal.obligations]
    return [subject if said == "sat" else f"{subject} ({said})" for subject, said in answers if said != "unsat"]


def valid(goal: Goal) -> bool:
    """Whether every obligation is valid; stops at the first that is not."""
    return all(answer(obligation) == "unsat" for obligation in goal.obligations)


def claimed(goal: Goal) -> Claim:
    """The claim of a goal all of whose obligations are valid."""
    assert invalid(goal) == []
    said = Answer("test", "1", "unsat")
    return discharge(goal, {o.digest(): Proved(o.digest(), (said,)) for o in goal.obligations})
