"""The solver program itself: answers, reasons, and counts that do not depend on what came before."""

from __future__ import annotations

import hashlib
import json
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cachet_verify.solver import worker

PROGRAM = Path(worker.__file__)
HEAD = "(set-logic QF_NIA)\n(declare-fun x () Int)\n(declare-fun |y'0| () Int)\n"
UNSAT = HEAD + "(assert (and (< x |y'0|) (< |y'0| (+ x 1))))\n(check-sat)\n"
SAT = HEAD + "(assert (= (* x |y'0|) 35))\n(assert (< 1 x |y'0|))\n(check-sat)\n"
PRODUCT = HEAD + "(assert (not (= |y'0| 0)))\n(assert (not (= (div (* x |y'0|) |y'0|) x)))\n(check-sat)\n"
CUBES = HEAD + "(declare-fun z () Int)\n(assert (= (+ (* x x x) (* |y'0| |y'0| |y'0|) (* z z z)) 33))\n(check-sat)\n"


class Direct:
    """One worker process, spoken to by its own protocol."""

    def __init__(self, solver: str, megabytes: int = 500) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(PROGRAM), solver, str(megabytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
        )
        self.hello = self.read()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        head = self.process.stdout.read(4)
        message: dict[str, Any] = json.loads(self.process.stdout.read(struct.unpack(">I", head)[0])) if head else {}
        return message

    def ask(self, script: str, limit: int = 1_000_000, guard: int = 60) -> dict[str, Any]:
        assert self.process.stdin is not None
        body = json.dumps({"id": 5, "script": script, "symbols": ["x", "y'0"], "limit": limit, "guard": guard}).encode()
        self.process.stdin.write(struct.pack(">I", len(body)) + body)
        self.process.stdin.flush()
        return self.read()

    def close(self) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        code = self.process.wait(timeout=10)
        self.process.stdout.close()
        return code


@pytest.fixture(params=["z3", "cvc5"])
def direct(request: pytest.FixtureRequest) -> Iterator[Direct]:
    made = Direct(request.param)
    yield made
    assert made.close() == 0


def test_it_says_who_it_is(direct: Direct) -> None:
    versions = {"z3": "5.4.1", "cvc5": "1.4.2"}
    assert direct.hello["version"].startswith(versions[direct.hello["solver"]])


def test_unsat_and_sat_with_a_model(direct: Direct) -> None:
    answer = direct.ask(UNSAT)
    assert (answer["answer"], answer["reason"], answer["model"]) == ("unsat", "", None)
    answer = direct.ask(SAT)
    assert answer["answer"] == "sat"
    assert answer["model"] == {"x": "5", "y'0": "7"}
    assert answer["digest"] == hashlib.sha256(SAT.encode()).hexdigest()
    assert answer["id"] == 5


def test_the_limit_is_a_count_and_unknown_keeps_its_reason(direct: Direct) -> None:
    answer = direct.ask(CUBES, limit=20_000)
    assert (answer["answer"], answer["reason"]) == ("unknown", "rlimit")
    assert 15_000 < answer["resource"] < 60_000


@pytest.mark.parametrize("text", [PRODUCT, UNSAT, SAT, CUBES])
def test_answer_and_count_repeat_whatever_came_before(direct: Direct, text: str) -> None:
    first = direct.ask(text, limit=50_000)
    assert direct.ask(text, limit=50_000) == first
    for other in (CUBES, SAT, "(", PRODUCT, UNSAT):
        direct.ask(other, limit=30_000)
    assert direct.ask(text, limit=50_000) == first
    fresh = Direct(direct.hello["solver"])
    assert fresh.ask(text, limit=50_000) == first
    assert fresh.close() == 0
    assert first["resource"] > 0


@pytest.mark.parametrize(
    "text",
    ["(", "", "not a script", HEAD + "(assert (< x w))\n(check-sat)\n", HEAD + "(assert x)\n(check-sat)\n", HEAD + "(assert (< x 1)\n(check-sat)\n"],
)
def test_what_is_no_script_fails_or_is_not_unsat(direct: Direct, text: str) -> None:
    answer = direct.ask(text)
    if text:
        assert (answer["answer"], answer["reason"]) == ("failed", "solver-error")
    assert answer["answer"] != "unsat"
    assert direct.ask(UNSAT)["answer"] == "unsat"


def test_a_nonlinear_term_in_a_linear_logic_fails(direct: Direct) -> None:
    assert direct.ask(SAT.replace("QF_NIA", "QF_LIA"))["answer"] == "failed"


def test_its_own_alarm_ends_it_when_nobody_does(direct: Direct) -> None:
    other = Direct(direct.hello["solver"])
    assert other.ask(CUBES, limit=2_000_000_000, guard=1) == {}
    assert other.process.wait(timeout=10) == -14
    other.close()
