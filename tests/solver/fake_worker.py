"""A worker that misbehaves on demand: the script says how. Run in place of the real one."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import struct
import sys
import time


def write(message: object) -> None:
    body = json.dumps(message).encode()
    sys.stdout.buffer.write(struct.pack(">I", len(body)) + body)
    sys.stdout.buffer.flush()


def misbehave(script: str, answer: dict[str, object]) -> None:
    """Change an answer, or do something else than answering."""
    if "hang" in script:
        time.sleep(1000)
    elif "crash" in script:
        os.kill(os.getpid(), signal.SIGSEGV)
    elif "killed" in script:
        os.kill(os.getpid(), signal.SIGKILL)
    elif "exit" in script:
        os._exit(0)
    elif "eat" in script:
        eaten = bytearray(80 << 20)
        eaten[:: 1 << 12] = b"x" * len(eaten[:: 1 << 12])
        os.abort()
    elif "garbage" in script:
        sys.stdout.buffer.write(b"\0\0\0\3{{{")
        sys.stdout.buffer.flush()
        time.sleep(1000)
    elif "other digest" in script:
        answer["digest"] = "0" * 64
    elif "other id" in script:
        answer["id"] = -1
    elif "maybe" in script:
        answer["answer"] = "maybe"
    elif "no model" in script:
        answer["answer"] = "sat"
    elif "list" in script:
        write([1, 2])
        time.sleep(1000)


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
