"""One command run and measured: wall time, processor time, and the peak memory of every process.

Takes a command line; gives what it took. Linux only for the memory (it reads /proc). Must not know
what it runs.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
CHECKER = (sys.executable, "-m", "cachet_verify")


@dataclass(frozen=True)
class Run:
    """Seconds of wall and of processor (children included), the exit code, and megabytes by process."""

    wall: float
    processor: float
    code: int
    megabytes: dict[str, float] = field(default_factory=dict)
    output: str = ""

    @property
    def peak(self) -> float:
        """The most memory that any one process used, in megabytes."""
        return max(self.megabytes.values(), default=0.0)


def measured(command: Sequence[str], environment: dict[str, str] | None = None) -> Run:
    """Run a command to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    process = subprocess.Popen(  # noqa: S603 - the command is ours
        list(command), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **(environment or {})}
    )
    peaks: dict[str, float] = {}
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(process.pid, peaks, done), daemon=True)
    watcher.start()
    output, _ = process.communicate()
    wall = time.perf_counter() - began
    done.set()
    watcher.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(wall, used, process.returncode, peaks, output)


def repeated(command: Sequence[str], times: int) -> tuple[Run, list[float]]:
    """The run of median wall time among several, and all wall times."""
    runs = sorted((measured(command) for _ in range(times)), key=lambda run: run.wall)
    return runs[len(runs) // 2], [run.wall for run in runs]


def middle(values: Sequence[float]) -> float:
    """The median."""
    return median(values)


def _watch(root: int, peaks: dict[str, float], done: threading.Event) -> None:
    while not done.is_set():
        for pid in _tree(root):
            found = _peak(pid)
            if found is not None:
                name = f"{_command(pid)} {pid}"
                peaks[name] = max(peaks.get(name, 0.0), found)
        done.wait(0.02)


def _tree(root: int) -> list[int]:
    """A process and all below it."""
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        try:
            for task in Path(f"/proc/{pid}/task").iterdir():
                waiting.extend(int(child) for child in (task / "children").read_text().split())
        except OSError:
            continue
    return found


def _peak(pid: int) -> float | None:
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        return None
    return None


def _command(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return "ended"
    text = " ".join(word.decode(errors="replace") for word in words[1:] if word)
    return next((name for name in ("z3", "cvc5") if name in text), "check")
