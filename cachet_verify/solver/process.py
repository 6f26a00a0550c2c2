"""One solver process, as its owner sees it: frames out, frames in, its end.

Takes the name of a solver; gives messages without ever blocking. Must not interpret answers.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_PROGRAM = Path(__file__).with_name("worker.py")
_CHUNK = 1 << 16
_LAST_WORDS = 2000  # bytes of standard error kept when a process ends

# A solver makes and drops megabytes per query; keeping them costs less than mapping them again.
_ALLOCATOR = {
    "MALLOC_TRIM_THRESHOLD_": "268435456",
    "MALLOC_MMAP_THRESHOLD_": "67108864",
    "MALLOC_TOP_PAD_": "8388608",
}


class SolverProcess:
    """A running worker. Its pipes do not block; `close` always ends it."""

    def __init__(self, solver: str, megabytes: int) -> None:
        command = [sys.executable, "-P", str(_PROGRAM), solver, str(megabytes)]
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            bufsize=0,
            env={**os.environ, **_ALLOCATOR},
        )
        if self.process.stdin is None or self.process.stdout is None:
            raise RuntimeError("a pipe to a solver process is missing")
        self.input, self.output = self.process.stdin.fileno(), self.process.stdout.fileno()
        os.set_blocking(self.input, False)
        os.set_blocking(self.output, False)
        self.unsent = bytearray()
        self.unread = bytearray()
        self.is_open = True
        self.last_words = ""

    def send(self, message: dict[str, Any]) -> None:
        """Queue a message and send what the pipe takes now."""
        body = json.dumps(message).encode()
        self.unsent += struct.pack(">I", len(body)) + body
        self.flush()

    def flush(self) -> None:
        """Send more of what is queued; a broken pipe is noticed when reading."""
        while self.unsent and self.is_open:
            try:
                sent = os.write(self.input, self.unsent)
            except BlockingIOError:
                return
            except BrokenPipeError:
                self.unsent.clear()
                return
            del self.unsent[:sent]

    def receive(self) -> Iterator[dict[str, Any]]:
        """The messages that have arrived; `is_open` turns false when the process has ended.

        Raises ValueError at a frame that is not JSON, once those before it are taken.
        """
        while self.is_open:
            try:
                chunk = os.read(self.output, _CHUNK)
            except BlockingIOError:
                break
            if not chunk:
                self.is_open = False
            self.unread += chunk
        while len(self.unread) >= 4:
            end = 4 + struct.unpack(">I", self.unread[:4])[0]
            if len(self.unread) < end:
                break
            body = bytes(self.unread[4:end])
            del self.unread[:end]
            yield json.loads(body)

    def close(self) -> int:
        """Kill the process if it runs, collect it and its last words; give its exit code (negative for a signal)."""
        self.is_open = False
        if not self.errors.closed:
            self.process.kill()
            self.process.wait()
            self.errors.seek(max(0, self.errors.seek(0, os.SEEK_END) - _LAST_WORDS))
            self.last_words = self.errors.read().decode(errors="replace")
            self.errors.close()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        return self.process.returncode
