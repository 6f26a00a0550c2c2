"""Attacks on goals and claims: each is refused, and for the reason that it is an attack.

The whole file also runs under `python -O`, where `assert` is gone: none of these checks may be one.
"""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace

import pytest

from cachet_verify.core.index import FALSE, TRUE, Var, eq
from cachet_verify.core.ir import Block, Param, Program, Store, Word
from cachet_verify.kernel.claim import (
    Claim,
    Computes,
    Entails,
    ForgedError,
    Goal,
    Mark,
    NotProvedError,
    Same,
    WellFormed,
    computes,
    discharge,
    entails,
    issue,
    reflexivity,
    transitivity,
)
from cachet_verify.kernel.obligation import Answer, Failed, Obligation, Proved, Refuted, Undecided, Verdict

ONE = Program("one", (), (Param("x", "out", "f32", ()),), Block((Store("x", (), Word("f32", 0)),)))
TWO = Program("two", (), (Param("x", "out", "f32", ()),), Block((Store("x", (), Word("f32", 1)),)))
WRONG = entails((), eq(Var("n"), Var("m")), "n is m")
UNSAT, SAT, UNKNOWN = (Answer("solver", "1", said) for said in ("unsat", "sat", "unknown"))  # type: ignore[arg-type]


def refused(attack: Callable[[], object], error: type[Exception], why: str) -> None:
    """Check with no `assert`, so that it counts under `python -O` too."""
    try:
        attack()
    except error as caught:
        if why in str(caught):
            return
        raise
    raise SystemExit(f"not refused: {why}")


def test_goals_and_claims_are_not_built_by_hand() -> None:
    refused(lambda: Goal("r", Same(ONE, TWO), (), (), frozenset()), ForgedError, "a goal is issued")
    refused(lambda: Claim("r", Same(ONE, TWO), (), frozenset(), (), ()), ForgedError, "a claim is made")
    refused(lambda: Goal("r", Same(ONE, TWO), (), (), frozenset(), object()), ForgedError, "a goal is issued")
    refused(lambda: Goal("r", Same(ONE, TWO), (), (), frozenset(), True), ForgedError, "a goal is issued")


def test_parts_are_not_replaced() -> None:
    """A goal without its obligations, or about other programs, would be discharged by nothing."""
    refused(lambda: replace(WRONG, obligations=()), ForgedError, "a goal is issued")
    refused(lambda: replace(reflexivity(ONE), statement=Same(ONE, TWO)), ForgedError, "a goal is issued")
    claim = discharge(reflexivity(ONE), {})
    refused(lambda: replace(claim, statement=Same(ONE, TWO)), ForgedError, "a claim is made")
    refused(lambda: replace(claim, trust=frozenset()), ForgedError, "a claim is made")
    refused(lambda: copy.replace(claim) if sys.version_info >= (3, 13) else replace(claim), ForgedError, "a claim is made")


def test_nothing_is_changed_in_place() -> None:
    def change() -> None:
        claim = discharge(reflexivity(ONE), {})
        claim.statement = Same(ONE, TWO)  # type: ignore[misc]

    refused(change, FrozenInstanceError, "statement")


def test_a_look_alike_is_no_premise() -> None:
    class Fake:
        statement = Same(TWO, ONE)
        trust: frozenset[Mark] = frozenset()
        sealed = None

    class Sub(Claim):
        __slots__ = ()

        def __post_init__(self, seal: object) -> None:
            pass

    fake: object = Fake()
    sub = Sub("r", Same(TWO, ONE), (), frozenset(), (), ())
    bare = object.__new__(Claim)
    real = discharge(reflexivity(TWO), {})
    refused(lambda: transitivity(real, fake), ForgedError, "no claim that the kernel made")  # type: ignore[arg-type]
    refused(lambda: transitivity(real, sub), ForgedError, "no claim that the kernel made")
    refused(lambda: issue("r", Same(ONE, TWO), (), (bare,)), ForgedError, "no claim that the kernel made")


def test_a_look_alike_is_not_discharged() -> None:
    class Sub(Goal):
        __slots__ = ()

        def __post_init__(self, seal: object) -> None:
            pass

    refused(lambda: discharge(Sub("r", Same(ONE, TWO), (), (), frozenset()), {}), ForgedError, "no goal that the kernel made")
    refused(lambda: discharge(object.__new__(Goal), {}), ForgedError, "no goal that the kernel made")
    refused(lambda: discharge(Same(ONE, TWO), {}), ForgedError, "no goal that the kernel made")  # type: ignore[arg-type]


def verdicts() -> list[tuple[str, Verdict | None]]:
    digest = WRONG.obligations[0].digest()
    other = Obligation("n is m", (), TRUE).digest()
    return [
        ("no verdict", None),
        ("undecided", Undecided(digest, "rlimit")),
        ("refuted", Refuted(digest, {"n": 0, "m": 1}, (SAT,))),
        ("failed", Failed(digest, "our fault")),
        ("proved without an answer", Proved(digest, ())),
        ("proved by an unknown", Proved(digest, (UNKNOWN,))),
        ("proved by a sat", Proved(digest, (SAT,))),
        ("proved although one says sat", Proved(digest, (UNSAT, SAT))),
        ("the verdict of another obligation", Proved(other, (UNSAT,))),
    ]


@pytest.mark.parametrize(("what", "verdict"), verdicts())
def test_only_a_backed_proof_discharges(what: str, verdict: Verdict | None) -> None:
    digest = WRONG.obligations[0].digest()
    given = {} if verdict is None else {digest: verdict}
    refused(lambda: discharge(WRONG, given), NotProvedError, "n is m")


def test_a_verdict_under_another_key_is_none() -> None:
    digest = WRONG.obligations[0].digest()
    refused(lambda: discharge(WRONG, {"x": Proved(digest, (UNSAT,))}), NotProvedError, "n is m")


def test_a_verdict_is_no_truth_value() -> None:
    digest = WRONG.obligations[0].digest()
    for verdict in (Proved(digest, (UNSAT,)), Undecided(digest, "x"), Failed(digest, "x"), Refuted(digest, {}, ())):
        refused(lambda verdict=verdict: bool(verdict), TypeError, "more than two values")  # type: ignore[misc]


def test_the_subject_proves_nothing() -> None:
    """Two obligations of one text differ by their formulas, and of one formula are one."""
    if Obligation("easy", (), TRUE).digest() == Obligation("easy", (), FALSE).digest():
        raise SystemExit("the subject alone identifies an obligation")
    if Obligation("a", (), FALSE).digest() != Obligation("b", (), FALSE).digest():
        raise SystemExit("the subject changes an obligation")


def test_trust_cannot_be_dropped_on_the_way() -> None:
    mark = Mark("admitted", "somewhere")
    tainted = discharge(issue("r", Same(ONE, ONE), (), (), (mark,)), {})
    chain = discharge(transitivity(tainted, discharge(reflexivity(ONE), {})), {})
    if chain.trust != {mark} or discharge(transitivity(discharge(reflexivity(ONE), {}), chain), {}).trust != {mark}:
        raise SystemExit("trust was dropped")


def test_a_claim_about_a_schedule_needs_its_parts() -> None:
    one, two = (discharge(issue("w", WellFormed(program), ()), {}) for program in (ONE, TWO))
    same = discharge(reflexivity(ONE), {})
    refused(lambda: computes((one, two), ()), Exception, "no route was taken")
    refused(lambda: computes((one, two), (same,)), Exception, "does not compare these programs")
    refused(lambda: computes((same, two), (same,)), Exception, "well formed")
    if discharge(computes((one, one), (same,)), {}).statement != Computes(ONE, ONE):
        raise SystemExit("a right claim is refused")


def test_pickling_gives_no_way_round() -> None:
    """A pickled claim comes back without the seal of this process, or not at all."""
    claim = discharge(reflexivity(ONE), {})
    try:
        back = pickle.loads(pickle.dumps(claim))  # noqa: S301
    except Exception:  # noqa: BLE001
        return
    refused(lambda: transitivity(back, back), ForgedError, "no claim that the kernel made")


def test_entailment_is_what_is_asked() -> None:
    goal = entails((eq(Var("n"), Var("m")),), eq(Var("m"), Var("n")), "turned")
    if goal.statement != Entails((eq(Var("n"), Var("m")),), eq(Var("m"), Var("n"))) or len(goal.obligations) != 1:
        raise SystemExit("another formula is asked")


def test_all_of_this_holds_without_assertions() -> None:
    tests = "test_goals test_parts test_nothing test_a_look test_only test_a_verdict test_the_subject test_trust"
    tests += " test_a_claim test_pickling test_entailment"
    program = (
        "import sys, importlib.util\n"
        f"spec = importlib.util.spec_from_file_location('forge', {__file__!r})\n"
        "module = importlib.util.module_from_spec(spec); sys.modules['forge'] = module; spec.loader.exec_module(module)\n"
        f"names = [n for n in dir(module) if n.startswith(tuple({tests.split()!r}))]\n"
        "done = 0\n"
        "for name in names:\n"
        "    test = getattr(module, name)\n"
        "    for case in (module.verdicts() if name == 'test_only_a_backed_proof_discharges' else [()]):\n"
        "        test(*case); done += 1\n"
        "print(sys.flags.optimize, done)\n"
    )
    ran = subprocess.run([sys.executable, "-O", "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    optimised, done = ran.stdout.split()
    assert optimised == "1"
    assert int(done) >= 20
