"""What two answers amount to, case by case; and that nothing else makes a `Proved`."""

from __future__ import annotations

import ast
from itertools import product
from pathlib import Path

import pytest

import cachet_verify
from cachet_verify.core import index
from cachet_verify.core.index import Const, Var
from cachet_verify.encodings import second
from cachet_verify.encodings.first import FirstEncoder
from cachet_verify.kernel.obligation import Answer, Failed, Obligation, Proved, Refuted, Undecided, Verdict
from cachet_verify.solver.policy import Policy, Replies, decide, is_satisfiable
from cachet_verify.solver.pool import Reply

PACKAGE = Path(cachet_verify.__file__).parent
x, y = Var("x"), Var("y")
# true for x = 0 only; the answers below are made up, so what solvers would say does not matter
OBLIGATION = Obligation("x is not positive", (index.le(Const(0), x),), index.le(x, Const(0)))
SCRIPTS = (FirstEncoder().encode(OBLIGATION), second.encode(OBLIGATION))
GOOD, BAD = {"x": 3}, {"x": 0}


def reply(place: int, answer: str, model: dict[str, int] | None = None, reason: str = "") -> Reply:
    solver = ("z3", "cvc5")[place]
    if answer in ("unknown", "failed") and not reason:
        reason = {"unknown": "rlimit", "failed": "killed"}[answer]
    return Reply(Answer(solver, "1", answer, reason, 1, SCRIPTS[place].digest()), model)  # type: ignore[arg-type]


def verdict(first: str, other: str, policy: Policy = "both", model: dict[str, int] | None = None) -> Verdict:
    replies = tuple(reply(place, answer, model if answer == "sat" else None) for place, answer in enumerate((first, other)))
    return decide(OBLIGATION, SCRIPTS, (replies[0], replies[1]), policy)


# the verdict on (Z3, cvc5), models being real counterexamples
TABLE = {
    ("unsat", "unsat"): "proved",
    ("unsat", "sat"): "failed",
    ("unsat", "unknown"): "single-solver",
    ("unsat", "failed"): "single-solver",
    ("sat", "unsat"): "failed",
    ("sat", "sat"): "refuted",
    ("sat", "unknown"): "refuted",
    ("sat", "failed"): "refuted",
    ("unknown", "unsat"): "single-solver",
    ("unknown", "sat"): "refuted",
    ("unknown", "unknown"): "rlimit",
    ("unknown", "failed"): "killed",
    ("failed", "unsat"): "single-solver",
    ("failed", "sat"): "refuted",
    ("failed", "unknown"): "killed",
    ("failed", "failed"): "killed",
}


def short(found: Verdict) -> str:
    return found.reason if isinstance(found, Undecided) else type(found).__name__.lower()


def test_the_table_is_whole() -> None:
    assert set(TABLE) == set(product(("unsat", "sat", "unknown", "failed"), repeat=2))


@pytest.mark.parametrize("pair", TABLE, ids="-".join)
def test_both(pair: tuple[str, str]) -> None:
    assert short(verdict(*pair, model=GOOD)) == TABLE[pair]


@pytest.mark.parametrize("pair", TABLE, ids="-".join)
def test_any(pair: tuple[str, str]) -> None:
    expected = "proved" if TABLE[pair] == "single-solver" else TABLE[pair]
    found = verdict(*pair, policy="any", model=GOOD)
    assert short(found) == expected
    if isinstance(found, Proved):
        assert tuple(answer.answer for answer in found.answers) == pair, "the claim must tell by whom"


def test_a_refutation_carries_its_model_and_digest() -> None:
    found = verdict("sat", "sat", model=GOOD)
    assert isinstance(found, Refuted)
    assert found.model == {"x": 3}
    assert found.digest == OBLIGATION.digest()


@pytest.mark.parametrize("pair", [("sat", "sat"), ("sat", "unknown"), ("failed", "sat")], ids="-".join)
@pytest.mark.parametrize("policy", ["both", "any"])
def test_a_model_that_is_no_counterexample_is_our_fault(pair: tuple[str, str], policy: Policy) -> None:
    found = verdict(*pair, policy=policy, model=BAD)
    assert isinstance(found, Failed)
    assert found.reason.startswith("encoder disagreement")


def test_one_wrong_model_is_enough_to_fail() -> None:
    replies = (reply(0, "sat", GOOD), reply(1, "sat", BAD))
    assert isinstance(decide(OBLIGATION, SCRIPTS, replies, "both"), Failed)


@pytest.mark.parametrize("model", [None, {}, {"y": 3}])
def test_a_model_without_a_value_refutes_nothing(model: dict[str, int] | None) -> None:
    assert short(verdict("sat", "sat", model=model)) == "incomplete"
    assert short(verdict("sat", "unknown", model=model)) == "rlimit"
    assert short(verdict("sat", "unsat", model=model)) == "failed"


def test_a_model_that_divides_by_zero_refutes_nothing() -> None:
    """What is not zero is another obligation; here the two encodings may differ, and neither is wrong."""
    divided = Obligation("", (index.le(index.Div(x, y), Const(3)),), index.FALSE)
    scripts = (FirstEncoder().encode(divided), second.encode(divided))
    made = [Answer(name, "1", "sat", "", 1, script.digest()) for name, script in zip(("z3", "cvc5"), scripts, strict=True)]
    models: list[dict[str, int] | None] = [{"x": 1, "y": 0}, {"x": 1, "y": 0}]
    replies = (Reply(made[0], models[0]), Reply(made[1], models[1]))
    assert short(decide(divided, scripts, replies, "both")) == "incomplete"
    unsat = Reply(Answer("cvc5", "1", "unsat", "", 1, scripts[1].digest()))
    assert short(decide(divided, scripts, (replies[0], unsat), "any")) == "incomplete"


def forged() -> dict[str, Replies]:
    """Replies that look like two `unsat` and are not: another script, another solver, one solver twice."""
    first, other = reply(0, "unsat"), reply(1, "unsat")
    elsewhere = Reply(Answer("cvc5", "1", "unsat", "", 1, "0" * 64))
    return {
        "another script": (first, elsewhere),
        "no script": (first, Reply(Answer("cvc5", "1", "unsat"))),
        "swapped": (other, first),
        "one solver twice": (first, Reply(Answer("z3", "1", "unsat", "", 1, SCRIPTS[1].digest()))),
        "a third solver": (first, Reply(Answer("yices", "1", "unsat", "", 1, SCRIPTS[1].digest()))),
    }


@pytest.mark.parametrize("name", forged())
@pytest.mark.parametrize("policy", ["both", "any"])
def test_a_forged_answer_proves_nothing(name: str, policy: Policy) -> None:
    found = decide(OBLIGATION, SCRIPTS, forged()[name], policy)
    assert isinstance(found, Failed)
    assert found.reason == "an answer to another script"


def test_answers_to_another_obligation_prove_nothing() -> None:
    other = Obligation("", (), index.le(Const(0), y))
    scripts = (FirstEncoder().encode(other), second.encode(other))
    assert isinstance(decide(other, scripts, (reply(0, "unsat"), reply(1, "unsat")), "both"), Failed)


def test_outside_the_kernel_only_the_policy_makes_a_proved() -> None:
    makers = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and (getattr(node.func, "id", "") == "Proved" or getattr(node.func, "attr", "") == "Proved"):
                makers.append(path.relative_to(PACKAGE).as_posix())
    assert [maker for maker in makers if not maker.startswith("kernel/")] == ["solver/policy.py"]


def test_a_verdict_is_no_truth_value() -> None:
    for pair in (("unsat", "unsat"), ("sat", "sat"), ("unknown", "unknown"), ("sat", "unsat")):
        with pytest.raises(TypeError):
            bool(verdict(*pair, model=GOOD))


def test_satisfiable_is_read_off_the_right_obligation_only() -> None:
    premises = Obligation("", (index.le(Const(0), x),), index.FALSE)
    assert is_satisfiable(premises, Refuted(premises.digest(), {"x": 0}, ())) is True
    assert is_satisfiable(premises, Proved(premises.digest(), ())) is False
    assert is_satisfiable(premises, Undecided(premises.digest(), "rlimit")) is None
    assert is_satisfiable(premises, Failed(premises.digest(), "")) is None
    assert is_satisfiable(premises, Refuted(OBLIGATION.digest(), {"x": 0}, ())) is None
    assert is_satisfiable(OBLIGATION, Refuted(OBLIGATION.digest(), {"x": 3}, ())) is None
