"""Whatever a solver process does, every question gets one reply, and never an `unsat` it did not earn."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from cachet_verify.encodings.script import Script
from cachet_verify.solver import process
from cachet_verify.solver.pool import Limits, Pool, Reply

FAKE = Path(__file__).with_name("fake_worker.py")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_PROGRAM", FAKE)


def replies_of(pool: Pool, texts: list[str], seconds: float = 30.0) -> list[Reply]:
    """Ask Z3 all texts at once; its replies in the order of the texts."""
    for ticket, text in enumerate(texts):
        pool.ask("z3", ticket, Script(text, ()))
    found: dict[int, Reply] = {}
    end = time.monotonic() + seconds
    while len(found) < len(texts):
        assert time.monotonic() < end, f"replies so far: {found}"
        for ticket, solver, reply in pool.poll(0.2):
            assert solver == "z3"
            assert ticket not in found, "two replies to one question"
            found[ticket] = reply
    return [found[ticket] for ticket in range(len(texts))]


def said(replies: list[Reply]) -> list[tuple[str, str]]:
    return [(reply.answer.answer, reply.answer.reason) for reply in replies]


GOOD = ("unsat", "")


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("hang", "killed"),
        ("crash", "solver-error"),
        ("killed", "killed"),
        ("exit", "solver-error"),
        ("eat", "memory"),
        ("exit as Z3 does", "memory"),
        ("garbage", "solver-error"),
        ("other digest", "solver-error"),
        ("other id", "solver-error"),
        ("maybe", "solver-error"),
        ("no model", "solver-error"),
        ("list", "solver-error"),
    ],
)
def test_a_misbehaving_process_fails_its_question_alone(text: str, reason: str) -> None:
    pool = Pool(Limits(guard_seconds=1, megabytes=100))
    replies = replies_of(pool, ["a", "b", text, "c", "d", "e", "f", text, "g"])
    pool.close()
    assert said(replies) == [GOOD, GOOD, ("failed", reason), GOOD, GOOD, GOOD, GOOD, ("failed", reason), GOOD]
    before, after = replies[0].answer.resource, replies[8].answer.resource
    assert before != after, "the process was not replaced"


@pytest.mark.usefixtures("fake")
def test_several_processes_share_the_work() -> None:
    pool = Pool(Limits(guard_seconds=2), per_solver=3)
    pool.start()
    replies = replies_of(pool, [f"question {number}" for number in range(30)])
    pool.close()
    assert said(replies) == [GOOD] * 30
    assert len({reply.answer.resource for reply in replies}) == 3


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize("manner", ["dead", "impostor"])
def test_a_solver_that_does_not_start_is_given_up(manner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_WORKER", manner)
    pool = Pool(Limits())
    replies = replies_of(pool, ["a", "b", "c"])
    assert said(replies) == [("failed", "solver-error")] * 3
    assert said(replies_of(pool, ["d"])) == [("failed", "solver-error")]
    pool.close()


def test_a_program_that_is_missing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_PROGRAM", FAKE.with_name("no_such_program.py"))
    pool = Pool(Limits())
    assert said(replies_of(pool, ["a"])) == [("failed", "solver-error")]
    pool.close()


@pytest.mark.usefixtures("fake")
def test_large_questions_do_not_block() -> None:
    pool = Pool(Limits(guard_seconds=5))
    large = "; " + "x" * 3_000_000
    replies = replies_of(pool, [f"{large} {number}" for number in range(8)])
    pool.close()
    assert said(replies) == [GOOD] * 8


@pytest.mark.usefixtures("fake")
def test_closing_ends_every_process_and_forgets_replies() -> None:
    pool = Pool(Limits(), per_solver=2)
    pool.ask("z3", 1, Script("hang", ()))
    pool.ask("z3", 2, Script("a", ()))
    pool.poll(0.5)
    numbers = [slot.process.process.pid for slots in pool.slots.values() for slot in slots]
    assert numbers
    pool.close()
    for number in numbers:
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)
    assert said(replies_of(pool, ["b"])) == [GOOD]
    pool.close()


HARD = """(set-logic QF_NIA)
(declare-fun x () Int)
(declare-fun y () Int)
(declare-fun z () Int)
(assert (= (+ (* x x x) (* y y y) (* z z z)) 33))
(check-sat)
"""
EASY = "(set-logic QF_LIA)\n(declare-fun x () Int)\n(assert (< x x))\n(check-sat)\n"


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_a_stuck_solver_is_killed_and_replaced(solver: str) -> None:
    pool = Pool(Limits(resource=2_000_000_000, guard_seconds=2))
    for ticket, text in enumerate((EASY, HARD, EASY)):
        pool.ask(solver, ticket, Script(text, ()))
    found = {}
    while len(found) < 3:
        found.update({ticket: reply for ticket, _, reply in pool.poll(0.2)})
    pool.close()
    assert said([found[0], found[1], found[2]]) == [GOOD, ("failed", "killed"), GOOD]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_solver_killed_from_outside_is_undecided(number: int) -> None:
    pool = Pool(Limits(resource=2_000_000_000, guard_seconds=60))
    pool.ask("z3", 0, Script(HARD, ()))
    while not pool.slots["z3"] or not pool.slots["z3"][0].version:
        assert pool.poll(0.1) == []
    time.sleep(0.3)
    os.kill(pool.slots["z3"][0].process.process.pid, number)
    found: list[tuple[int, str, Reply]] = []
    while not found:
        found = pool.poll(0.2)
    pool.close()
    assert said([found[0][2]]) == [("failed", "killed")]


def wide_script(count: int) -> str:
    """A script that takes about 100 MB to hold."""
    lines = ["(set-logic QF_LIA)"] + [f"(declare-fun v{i} () Int)" for i in range(count)]
    lines += [f"(assert (or (< v{i} v{i * 7 % count}) (< (+ v{i} v{(i + 5) % count}) {i})))" for i in range(count)]
    return "\n".join([*lines, "(check-sat)", ""])


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_memory_is_bounded(solver: str) -> None:
    pool = Pool(Limits(megabytes=100))
    for ticket, text in enumerate((EASY, wide_script(20_000), EASY)):
        pool.ask(solver, ticket, Script(text, ()))
    found = {}
    while len(found) < 3:
        found.update({ticket: reply for ticket, _, reply in pool.poll(0.2)})
    pool.close()
    assert said([found[0], found[1], found[2]]) == [GOOD, ("failed", "memory"), GOOD]
