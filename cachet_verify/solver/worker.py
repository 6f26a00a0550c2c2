"""The program of one solver process: scripts in, answers out, through pipes.

Takes frames (four bytes of length, big-endian, then JSON) on standard input; gives frames on
standard output. Run as a file, by path: it must import nothing of the package, so that it starts
fast and cannot disturb, nor be disturbed by, the main program.

A request is {"id", "script", "symbols", "limit", "guard"}; an answer {"id", "digest", "answer",
"reason", "resource", "model"}. Each script gets a fresh solver, so that its answer and its
resource count do not depend on what was asked before.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import resource
import signal
import struct
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

Answer = dict[str, Any]
Ask = Callable[[str, list[str], int], Answer]

_MEGABYTE = 1 << 20
_CVC5_REASONS = {"RESOURCEOUT": "rlimit", "MEMOUT": "memory", "TIMEOUT": "killed", "INTERRUPTED": "killed"}


def start_z3(megabytes: int) -> tuple[str, Ask]:
    """Load Z3; give its version and the function that asks it."""
    import z3

    z3.set_param("memory_max_size", megabytes)

    def ask(script: str, symbols: list[str], limit: int) -> Answer:
        context = z3.Context()
        # The bare SMT core: on our queries it is as strong as the tactics Z3 picks, and 2 to 10 times faster.
        solver = z3.SimpleSolver(ctx=context)
        solver.set("rlimit", limit)
        solver.from_string(script)
        before = _z3_count(solver)
        result = solver.check()
        spent = _z3_count(solver) - before
        if result == z3.unsat:
            return _answer("unsat", "", spent)
        if result != z3.sat:
            return _answer("unknown", _z3_reason(solver.reason_unknown()), spent)
        model = solver.model()
        values = {name: str(model.eval(z3.Int(name, context), model_completion=True).as_long()) for name in symbols}
        return _answer("sat", "", spent, values)

    return z3.get_full_version(), ask


def _z3_count(solver: Any) -> int:
    statistics = solver.statistics()
    return int(statistics.get_key_value("rlimit count")) if "rlimit count" in statistics.keys() else 0


def _z3_reason(text: str) -> str:
    """Our word for why Z3 does not know."""
    if "memout" in text or "memory" in text:
        return "memory"
    if "cancel" in text or "resource" in text or "rlimit" in text:
        return "rlimit"
    return "incomplete"


def start_cvc5(_megabytes: int) -> tuple[str, Ask]:
    """Load cvc5; give its version and the function that asks it."""
    import cvc5

    def ask(script: str, symbols: list[str], limit: int) -> Answer:
        terms = cvc5.TermManager()
        solver = cvc5.Solver(terms)
        solver.setOption("produce-models", "true")
        solver.setOption("rlimit", str(limit))
        names = cvc5.SymbolManager(terms)
        result = _cvc5_run(cvc5, solver, names, script)
        spent = int(solver.getStatistics()["resource::resourceUnitsUsed"]["value"])
        if result.isUnsat():
            return _answer("unsat", "", spent)
        if not result.isSat():
            return _answer("unknown", _CVC5_REASONS.get(result.getUnknownExplanation().name, "incomplete"), spent)
        wanted = set(symbols)
        declared = [term for term in names.getDeclaredTerms() if term.getSymbol() in wanted]
        values = {term.getSymbol(): str(solver.getValue(term).getIntegerValue()) for term in declared}
        return _answer("sat", "", spent, values)

    solver = cvc5.Solver(cvc5.TermManager())
    version = solver.getVersion()
    return (version.decode() if isinstance(version, bytes) else str(version)), ask


def _cvc5_run(cvc5: Any, solver: Any, names: Any, script: str) -> Any:
    """Run the commands of a script; the result of its one `check-sat`. Raises RuntimeError."""
    parser = cvc5.InputParser(solver, names)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "script")
    results = []
    while not (command := parser.nextCommand()).isNull():
        if command.getCommandName() == "check-sat":
            results.append(solver.checkSat())
        elif said := command.invoke(solver, names):
            raise RuntimeError(said)
    if len(results) != 1:
        raise RuntimeError(f"{len(results)} check-sat commands")
    return results[0]


def _answer(answer: str, reason: str, spent: int, model: dict[str, str] | None = None) -> Answer:
    return {"answer": answer, "reason": reason, "resource": spent, "model": model}


def _serve(ask: Ask, incoming: BinaryIO, outgoing: BinaryIO) -> None:
    """Answer requests until the other end closes."""
    while (request := _read(incoming)) is not None:
        script = request["script"]
        signal.alarm(request["guard"])
        try:
            answer = ask(script, request["symbols"], request["limit"])
        except MemoryError:
            answer = _answer("failed", "memory", 0)
        except Exception as error:  # noqa: BLE001 - whatever a solver raises is an answer: it failed
            text = str(error)
            answer = _answer("failed", "memory" if "out of memory" in text or "bad_alloc" in text else "solver-error", 0)
            answer["message"] = text[:500]
        signal.alarm(0)
        answer["id"] = request["id"]
        answer["digest"] = hashlib.sha256(script.encode()).hexdigest()
        _write(outgoing, answer)


def _read(stream: BinaryIO) -> dict[str, Any] | None:
    head = stream.read(4)
    if len(head) < 4:
        return None
    body = stream.read(struct.unpack(">I", head)[0])
    message: dict[str, Any] = json.loads(body)
    return message


def _write(stream: BinaryIO, message: dict[str, Any]) -> None:
    body = json.dumps(message).encode()
    stream.write(struct.pack(">I", len(body)) + body)
    stream.flush()


def main(solver: str, megabytes: int) -> None:
    """Serve one solver within an address space of that many megabytes, until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    outgoing = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a solver prints must not mix with the frames
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (megabytes * _MEGABYTE, megabytes * _MEGABYTE))
    sys.set_int_max_str_digits(0)
    start = {"z3": start_z3, "cvc5": start_cvc5}[solver]
    version, ask = start(max(megabytes - 150, megabytes // 2))
    gc.freeze()
    _write(outgoing, {"solver": solver, "version": version})
    _serve(ask, sys.stdin.buffer, outgoing)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
