"""Both solvers at work: queries out to their processes, replies back, stuck ones killed.

Takes scripts; gives one reply per script and solver, whatever happens to a process. Must not decide
what replies amount to.
"""

from __future__ import annotations

import select
import signal
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from cachet_verify.encodings.script import Script
from cachet_verify.kernel.obligation import Answer
from cachet_verify.solver.process import SolverProcess

SOLVERS = ("z3", "cvc5")
_AHEAD = 3  # queries sent to a process beyond the one it works on
_START_SECONDS = 60.0
_STARTS = 3  # failed starts in a row after which a solver is given up
_Z3_MEMORY_EXIT = 101  # how Z3 leaves when the system gives it no more memory
_CVC5_SHARE = 20  # Z3 counts about twenty times as many units a second as cvc5


@dataclass(frozen=True, slots=True)
class Limits:
    """What one query may use: `resource` in Z3's units, wall-clock seconds only against a stuck process."""

    resource: int = 10_000_000
    guard_seconds: int = 60
    megabytes: int = 500

    def units(self, solver: str) -> int:
        """The resource limit in a solver's own units."""
        return self.resource if solver == "z3" else max(1, self.resource // _CVC5_SHARE)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, and on `sat` the values of the script's symbols."""

    answer: Answer
    model: dict[str, int] | None = None


@dataclass(frozen=True, slots=True)
class _Query:
    ticket: int
    script: Script


@dataclass(slots=True)
class _Slot:
    """One process and the queries it holds, the first of which it is working on."""

    process: SolverProcess
    since: float
    version: str = ""
    held: deque[_Query] = field(default_factory=deque)


class Pool:
    """The solver processes. They start on the first query, or on `start`, and end on `close`."""

    def __init__(self, limits: Limits, per_solver: int = 1) -> None:
        self.limits = limits
        self.per_solver = per_solver
        self.waiting: dict[str, deque[_Query]] = {solver: deque() for solver in SOLVERS}
        self.slots: dict[str, list[_Slot]] = {solver: [] for solver in SOLVERS}
        self.failed_starts = dict.fromkeys(SOLVERS, 0)
        self.replies: list[tuple[int, str, Reply]] = []

    def start(self) -> None:
        """Start the processes without waiting for them."""
        for solver in SOLVERS:
            self._fill(solver)

    def ask(self, solver: str, ticket: int, script: Script) -> None:
        """Queue a script for a solver; its reply comes back under the ticket."""
        self.waiting[solver].append(_Query(ticket, script))

    def poll(self, seconds: float) -> list[tuple[int, str, Reply]]:
        """Move messages for at most that long; give the replies that came, with ticket and solver."""
        self._feed()
        if not self.replies:
            self._wait(seconds)
            for solver in SOLVERS:
                for slot in list(self.slots[solver]):
                    self._attend(solver, slot)
            self._feed()
        replies, self.replies = self.replies, []
        return replies

    def close(self) -> None:
        """End every process; queries in flight are dropped."""
        for solver in SOLVERS:
            for slot in self.slots[solver]:
                slot.process.close()
            self.slots[solver].clear()
            self.waiting[solver].clear()
            self.failed_starts[solver] = 0
        self.replies.clear()

    def _feed(self) -> None:
        """Hand waiting queries to processes, the emptiest first, starting processes as needed."""
        for solver in SOLVERS:
            waiting = self.waiting[solver]
            if waiting:
                self._fill(solver)
            while waiting and self.slots[solver]:
                slot = min(self.slots[solver], key=lambda slot: len(slot.held))
                if len(slot.held) > _AHEAD:
                    break
                self._send(solver, slot, waiting.popleft())

    def _fill(self, solver: str) -> None:
        while len(self.slots[solver]) < self.per_solver and self.failed_starts[solver] < _STARTS:
            try:
                process = SolverProcess(solver, self.limits.megabytes)
            except OSError:
                self.failed_starts[solver] += 1
            else:
                self.slots[solver].append(_Slot(process, time.monotonic()))
        if self.failed_starts[solver] >= _STARTS and not self.slots[solver]:
            while self.waiting[solver]:
                self._give_up(solver, self.waiting[solver].popleft(), "solver-error", "")

    def _send(self, solver: str, slot: _Slot, query: _Query) -> None:
        if not slot.held and slot.version:
            slot.since = time.monotonic()
        slot.held.append(query)
        message: dict[str, Any] = {
            "id": query.ticket,
            "script": query.script.text,
            "symbols": [symbol for _, symbol in query.script.symbols],
            "limit": self.limits.units(solver),
            "guard": self.limits.guard_seconds + 5,
        }
        slot.process.send(message)

    def _wait(self, seconds: float) -> None:
        """Sleep until a process says something, can be sent more, or is due."""
        poller = select.poll()
        now = time.monotonic()
        for slots in self.slots.values():
            for slot in slots:
                poller.register(slot.process.output, select.POLLIN)
                if slot.process.unsent:
                    poller.register(slot.process.input, select.POLLOUT)
                if slot.held or not slot.version:
                    seconds = min(seconds, max(0.0, self._due(slot) - now))
        poller.poll(seconds * 1000)

    def _due(self, slot: _Slot) -> float:
        return slot.since + (self.limits.guard_seconds if slot.version else _START_SECONDS)

    def _attend(self, solver: str, slot: _Slot) -> None:
        """Take what a process says; bury it when it has ended, breaks the protocol or is stuck."""
        slot.process.flush()
        try:
            for message in slot.process.receive():
                self._take(solver, slot, message)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):
            self._bury(solver, slot, "solver-error")
            return
        if not slot.process.is_open:
            self._bury(solver, slot, "")
        elif (slot.held or not slot.version) and time.monotonic() >= self._due(slot):
            self._bury(solver, slot, "killed")

    def _take(self, solver: str, slot: _Slot, message: dict[str, Any]) -> None:
        """Take one message. Raises when it is not the answer to what the process holds."""
        slot.since = time.monotonic()
        if not slot.version:
            if message["solver"] != solver or not message["version"]:
                raise ValueError("another program than the one that was started")
            slot.version = str(message["version"])
            self.failed_starts[solver] = 0
            return
        query = slot.held[0]
        digest = query.script.digest()
        if message["id"] != query.ticket or message["digest"] != digest:
            raise ValueError("an answer to something else")
        kind = message["answer"]
        if kind not in ("unsat", "sat", "unknown", "failed"):
            raise ValueError("not an answer")
        answer = Answer(solver, slot.version, kind, str(message["reason"]), int(message["resource"]), digest)
        model = {str(name): int(value) for name, value in message["model"].items()} if kind == "sat" else None
        slot.held.popleft()
        self.replies.append((query.ticket, solver, Reply(answer, model)))

    def _bury(self, solver: str, slot: _Slot, reason: str) -> None:
        """Collect an ended or stuck process: the query it worked on failed, the others wait again."""
        code = slot.process.close()
        self.slots[solver].remove(slot)
        if not slot.version:
            self.failed_starts[solver] += 1
        elif slot.held:
            self._give_up(solver, slot.held.popleft(), reason or self._cause(slot, code), slot.version)
        self.waiting[solver].extendleft(reversed(slot.held))
        if self.waiting[solver]:
            self._fill(solver)

    def _cause(self, slot: _Slot, code: int) -> Literal["memory", "killed", "solver-error"]:
        """Why a process ended by itself, as far as can be told from outside."""
        words = slot.process.last_words.lower()
        if code == _Z3_MEMORY_EXIT or "bad_alloc" in words or "memory" in words:
            return "memory"
        deaths = (signal.SIGKILL, signal.SIGTERM, signal.SIGALRM, signal.SIGXCPU, signal.SIGHUP)
        return "killed" if -code in deaths else "solver-error"

    def _give_up(self, solver: str, query: _Query, reason: str, version: str) -> None:
        answer = Answer(solver, version or "not started", "failed", reason, 0, query.script.digest())
        self.replies.append((query.ticket, solver, Reply(answer)))


def reply_of(record: dict[str, Any]) -> Reply:
    """A reply out of its stored form. Raises KeyError, TypeError or ValueError on anything else."""
    kind = record["answer"]
    if kind not in ("unsat", "sat", "unknown", "failed"):
        raise ValueError("not an answer")
    answer = Answer(
        str(record["solver"]),
        str(record["version"]),
        cast(Literal["unsat", "sat", "unknown", "failed"], kind),
        str(record["reason"]),
        int(record["resource"]),
        str(record["script"]),
    )
    model = record["model"]
    return Reply(answer, None if model is None else {str(name): int(value) for name, value in model.items()})


def record_of(reply: Reply) -> dict[str, Any]:
    """A reply in the form that is stored."""
    answer = reply.answer
    model = None if reply.model is None else {name: str(value) for name, value in reply.model.items()}
    return {
        "solver": answer.solver,
        "version": answer.version,
        "answer": answer.answer,
        "reason": answer.reason,
        "resource": answer.resource,
        "script": answer.script,
        "model": model,
    }
