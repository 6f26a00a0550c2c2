"""What two answers amount to: the only place in the product that makes a `Proved`.

Takes an obligation, the two scripts that were asked and the replies; gives a verdict. Must not ask,
and must not accept an answer to any other script.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from cachet_verify.core.index import FALSE, holds, variables
from cachet_verify.encodings.script import Script
from cachet_verify.kernel.obligation import Answer, Failed, Obligation, Proved, RealObligation, Refuted, Undecided, Verdict
from cachet_verify.solver.pool import SOLVERS, Reply

Policy = Literal["both", "any"]
Scripts = tuple[Script, Script]
Replies = tuple[Reply, Reply]

# When neither solver decides, the reason that says most about what to do comes first.
_REASONS = ("not-supported", "killed", "memory", "solver-error", "rlimit", "incomplete")


def decide(obligation: Obligation, scripts: Scripts, replies: Replies, policy: Policy) -> Verdict:
    """The verdict of Z3's reply to the first script and cvc5's to the second, in that order."""
    digest = obligation.digest()
    answers = (replies[0].answer, replies[1].answer)
    for solver, script, answer in zip(SOLVERS, scripts, answers, strict=True):
        if answer.solver != solver or answer.script != script.digest():
            return Failed(digest, "an answer to another script", answers)
    said = (answers[0].answer, answers[1].answer)
    if "sat" in said and isinstance(obligation, RealObligation):
        if "unsat" in said:
            return Failed(digest, "solver disagreement: one says unsat, the other sat", answers)
        return Undecided(digest, "incomplete", answers)
    if "sat" in said:
        return _decide_model(obligation, scripts, replies, answers)
    if said == ("unsat", "unsat") or ("unsat" in said and policy == "any"):
        return Proved(digest, answers)
    if "unsat" in said:
        return Undecided(digest, "single-solver", answers)
    return Undecided(digest, _reason(answers), answers)


def _decide_model(obligation: Obligation, scripts: Scripts, replies: Replies, answers: tuple[Answer, Answer]) -> Verdict:
    """The verdict when a solver answered `sat`: never taken at its word, always evaluated."""
    digest = obligation.digest()
    checks = [
        (model, _is_counterexample(obligation, model))
        for script, reply in zip(scripts, replies, strict=True)
        if reply.answer.answer == "sat" and (model := _model_of(obligation, script, reply)) is not None
    ]
    if "unsat" in (answers[0].answer, answers[1].answer):
        if checks and all(found == "undefined" for _, found in checks):
            return Undecided(digest, "incomplete", answers)
        return Failed(digest, "solver disagreement: one says unsat, the other sat", answers)
    if any(found == "no" for _, found in checks):
        return Failed(digest, "encoder disagreement: a model that is no counterexample", answers)
    for model, found in checks:
        if found == "yes":
            return Refuted(digest, model, answers)
    return Undecided(digest, _reason(answers), answers)


def _model_of(obligation: Obligation, script: Script, reply: Reply) -> dict[str, int] | None:
    """A reply's model in the obligation's variables; none when a value is missing."""
    model = reply.model
    if model is None or any(symbol not in model for _, symbol in script.symbols):
        return None
    values = {name: model[symbol] for name, symbol in script.symbols}
    names = variables(obligation.goal).union(*(variables(premise) for premise in obligation.premises))
    return values if names <= values.keys() else None


def _is_counterexample(obligation: Obligation, model: Mapping[str, int]) -> Literal["yes", "no", "undefined"]:
    """Whether premises hold and the goal does not; undefined where a division by zero is met."""
    try:
        premises = all(holds(premise, model) for premise in obligation.premises)
        return "yes" if premises and not holds(obligation.goal, model) else "no"
    except ZeroDivisionError:
        return "undefined"


def _reason(answers: tuple[Answer, Answer]) -> str:
    reasons = {answer.reason for answer in answers if answer.answer in ("unknown", "failed")}
    return next((reason for reason in _REASONS if reason in reasons), "incomplete")


def is_satisfiable(premises: Obligation, verdict: Verdict) -> bool | None:
    """What a verdict on `premises entail false` says about the premises."""
    if premises.goal != FALSE or verdict.digest != premises.digest():
        return None
    if isinstance(verdict, Refuted):
        return True
    return False if isinstance(verdict, Proved) else None
