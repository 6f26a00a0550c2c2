"""What a user may ask of `check`, and how progress is told.

Takes the flags of the command line as typed values; gives them to the session.
Must not read the environment or a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, get_args

Solvers = Literal["both", "any"]
Routes = Literal["both", "a"]


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """How much is asked of a check, and with what means.

    `jobs` is the number of worker processes (None: one a core). `limit` is a solver resource count (None: the default). `cache` is the folder of
    the verdict cache (None: the default folder), used unless `use_cache` is False. `save_scripts` is where each solver script is written.
    `only` keeps the items of these names (empty: all). ValueError for what is none of these: nothing is checked in another way than was asked.
    """

    solvers: Solvers = "both"
    routes: Routes = "both"
    jobs: int | None = None
    limit: int | None = None
    cache: Path | None = None
    use_cache: bool = True
    save_scripts: Path | None = None
    only: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        for name, known in (("solvers", get_args(Solvers)), ("routes", get_args(Routes))):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is {' or '.join(repr(word) for word in known)}, not {getattr(self, name)!r}")
        for name in ("jobs", "limit"):
            count = getattr(self, name)
            if count is not None and (not isinstance(count, int) or isinstance(count, bool) or count < 1):
                raise ValueError(f"{name} is a number from 1 or None, not {count!r}")
        names: object = self.only
        if isinstance(names, str):
            raise ValueError(f"only is a tuple of names, not the text {self.only!r}")


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
