"""A worker that misbehaves on demand: the script says how. Run in place of the real one."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import struct
import sys
import time
from collections.abc import Callable


def write(message: object) -> None:
    body = json.dumps(message).encode()
    sys.stdout.buffer.write(struct.pack(">I", len(body)) + body)
    sys.stdout.buffer.flush()


def hang() -> None:
    time.sleep(1000)


def eat() -> None:
    sys.stderr.write("terminate called after throwing an instance of 'std::bad_alloc'")
    sys.stderr.flush()
    os.abort()


def speak_garbage() -> None:
    sys.stdout.buffer.write(b"\0\0\0\3{{{")
    sys.stdout.buffer.flush()
    hang()


def speak_a_list() -> None:
    write([1, 2])
    hang()


ACTS: dict[str, Callable[[], None]] = {
    "hang": hang,
    "crash": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "exit": lambda: os._exit(0),
    "exit as Z3 does": lambda: os._exit(101),
    "eat": eat,
    "garbage": speak_garbage,
    "list": speak_a_list,
}
LIES: dict[str, tuple[str, object]] = {
    "other digest": ("digest", "0" * 64),
    "other id": ("id", -1),
    "maybe": ("answer", "maybe"),
    "no model": ("answer", "sat"),
}


def misbehave(script: str, answer: dict[str, object]) -> None:
    """Change an answer, or do something else than answering."""
    if script in ACTS:
        ACTS[script]()
    if script in LIES:
        name, value = LIES[script]
        answer[name] = value


def main() -> None:
    solver = sys.argv[1]
    if os.environ.get("FAKE_WORKER") == "dead":
        sys.exit(1)
    write({"solver": "other" if os.environ.get("FAKE_WORKER") == "impostor" else solver, "version": "fake"})
    while head := sys.stdin.buffer.read(4):
        request = json.loads(sys.stdin.buffer.read(struct.unpack(">I", head)[0]))
        script = request["script"]
        answer: dict[str, object] = {"id": request["id"], "answer": "unsat", "reason": "", "resource": os.getpid(), "model": None}
        answer["digest"] = hashlib.sha256(script.encode()).hexdigest()
        misbehave(script, answer)
        write(answer)


if __name__ == "__main__":
    main()
