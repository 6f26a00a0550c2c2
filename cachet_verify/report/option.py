"""What a user may ask of `check`, and how progress is told.

Takes the flags of the command line as typed values; gives them to the session.
Must not read the environment or a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

Solvers = Literal["both", "any"]
Routes = Literal["both", "a"]


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """How much is asked of a check, and with what means.

    `jobs` is the number of worker processes (None: one a core). `limit` is a solver resource count (None: the default). `cache` is the folder of
    the verdict cache (None: the default folder), used unless `use_cache` is False. `save_scripts` is where each solver script is written.
    `only` keeps the items of these names (empty: all).
    """

    solvers: Solvers = "both"
    routes: Routes = "both"
    jobs: int | None = None
    limit: int | None = None
    cache: Path | None = None
    use_cache: bool = True
    save_scripts: Path | None = None
    only: tuple[str, ...] = ()


class Progress(Protocol):
    """Told of obligations as they are found and answered. Called from one thread; must not raise."""

    def expect(self, count: int) -> None:
        """Announce `count` more obligations."""

    def begin(self, item: str, obligation: str) -> None:
        """Say which obligation is being proved now."""

    def finish(self, count: int = 1) -> None:
        """Say that `count` obligations have been answered."""


class SilentProgress:
    """A `Progress` that tells nobody."""

    def expect(self, count: int) -> None:
        """Ignore the announcement."""

    def begin(self, item: str, obligation: str) -> None:
        """Ignore the start."""

    def finish(self, count: int = 1) -> None:
        """Ignore the answer."""
