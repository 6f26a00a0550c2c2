"""Replies kept from run to run, in one SQLite file.

Takes keys and replies; gives them back, or nothing. Must never raise over a bad file, and never give
back a row that is not, byte for byte, what was stored under that key.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from cachet_verify.encodings.script import Script
from cachet_verify.solver.pool import Limits, Reply, record_of, reply_of

if TYPE_CHECKING:
    import sqlite3

FILE = "verdicts.sqlite3"
_TABLE = "CREATE TABLE IF NOT EXISTS reply (key TEXT PRIMARY KEY, body TEXT NOT NULL, seal TEXT NOT NULL) WITHOUT ROWID"
_LASTING = frozenset({"", "rlimit", "incomplete"})  # reasons that would come again: a kill or a crash might not


@cache
def solver_builds() -> tuple[str, ...]:
    """For each solver its package version and a digest of the file list of its build."""
    builds = []
    for package in ("z3-solver", "cvc5"):
        distribution = metadata.distribution(package)
        record = distribution.read_text("RECORD") or ""
        builds.append(f"{package} {distribution.version} {hashlib.sha256(record.encode()).hexdigest()}")
    return tuple(builds)


@cache
def source_digest() -> str:
    """SHA-256 over the sources that turn an obligation into scripts, and replies into verdicts."""
    package = Path(__file__).parent.parent
    paths = [package / "core" / "index.py", package / "kernel" / "obligation.py"]
    paths += sorted((package / "encodings").glob("*.py")) + sorted((package / "solver").glob("*.py"))
    total = hashlib.sha256()
    for path in paths:
        body = path.read_bytes()
        total.update(f"{path.relative_to(package).as_posix()} {len(body)}\n".encode() + body)
    return total.hexdigest()


def key_of(scripts: Iterable[Script], limits: Limits, builds: Iterable[str], sources: str) -> str:
    """The key of one question: both texts, who answers, within what, and what made the texts."""
    parts = [
        [script.text for script in scripts],
        [limits.resource, limits.megabytes, limits.guard_seconds],
        list(builds),
        sources,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class Cache:
    """A file of replies. A file that cannot be read is replaced; one that cannot be written is left.

    What is stored is written with the next commit, at once: nobody else who has the file open waits for a whole run.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self.connection = self._open() or self._rebuild()
        self.pending: dict[str, tuple[str, str]] = {}

    def _open(self) -> sqlite3.Connection | None:
        import sqlite3

        connection = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=10.0)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute(_TABLE)
            connection.execute("SELECT key, body, seal FROM reply LIMIT 1").fetchone()
        except (sqlite3.Error, OSError):
            if connection is not None:
                connection.close()
            return None
        return connection

    def _rebuild(self) -> sqlite3.Connection | None:
        """Drop the file and begin anew; none when even that fails, and nothing is kept then."""
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        return self._open()

    def find(self, key: str) -> tuple[Reply, Reply] | None:
        """The replies stored under a key, when their row is intact."""
        import sqlite3

        if self.connection is None:
            return None
        try:
            row = self.pending.get(key) or self.connection.execute("SELECT body, seal FROM reply WHERE key = ?", (key,)).fetchone()
            if row is None or row[1] != _seal(key, row[0]):
                return None
            first, second = (reply_of(record) for record in json.loads(row[0]))
        except sqlite3.DatabaseError:
            self.close()
            self.connection = self._rebuild()
            return None
        except (ValueError, TypeError, KeyError, AttributeError):
            return None
        return first, second

    def store(self, key: str, replies: tuple[Reply, Reply]) -> None:
        """Keep replies that would come again; those of a killed or crashed solver are not kept."""
        if self.connection is None or not all(_is_lasting(reply) for reply in replies):
            return
        body = json.dumps([record_of(reply) for reply in replies], sort_keys=True)
        self.pending[key] = (body, _seal(key, body))

    def commit(self) -> None:
        """Make what was stored last."""
        import sqlite3

        rows, self.pending = [(key, *row) for key, row in self.pending.items()], {}
        if self.connection is not None and rows:
            with contextlib.suppress(sqlite3.Error), self.connection:
                self.connection.executemany("INSERT OR REPLACE INTO reply VALUES (?, ?, ?)", rows)

    def close(self) -> None:
        """Commit and close the file."""
        self.commit()
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _is_lasting(reply: Reply) -> bool:
    return reply.answer.answer != "failed" and reply.answer.reason in _LASTING


def _seal(key: str, body: object) -> str:
    return hashlib.sha256(f"{key}\n{body}".encode()).hexdigest()
