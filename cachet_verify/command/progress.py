"""The progress bar of a long check, on standard error, with the obligation being proved.

Takes the session's announcements; draws nothing unless standard error is a terminal and the run is not over quickly.
Must not change what is checked, nor leave anything on the screen.
"""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Protocol

from cachet_verify.command.stream import is_colourful
from cachet_verify.report.option import Progress, SilentProgress

_QUIET_S = 0.5


class _Bar(Protocol):
    """What is used of rich's progress bar."""

    def start(self) -> None: ...
    def stop(self) -> None: ...
    def update(self, task_id: int, *, total: float, completed: float, description: str) -> None: ...


class TerminalProgress:
    """A `Progress` that draws a bar after half a second. Use it in a `with`, which clears the bar."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._total = 0
        self._done = 0
        self._what = ""
        self._bar: _Bar | None = None

    def __enter__(self) -> Progress:
        return self if is_colourful(sys.stderr) else SilentProgress()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def expect(self, count: int) -> None:
        """Announce `count` more obligations."""
        self._total += count
        self._draw()

    def begin(self, item: str, obligation: str) -> None:
        """Show the obligation being proved."""
        self._what = f"{item}: {obligation}"
        self._draw()

    def finish(self, count: int = 1) -> None:
        """Move the bar."""
        self._done += count
        self._draw()

    def _draw(self) -> None:
        if self._bar is None:
            if time.monotonic() - self._started < _QUIET_S:
                return
            self._bar = _new_bar()
            self._bar.start()
        self._bar.update(0, total=self._total, completed=self._done, description=self._what)


def _new_bar() -> _Bar:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as RichProgress
    from rich.table import Column

    what = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1))
    bar = RichProgress(BarColumn(bar_width=20), MofNCompleteColumn(), what, console=Console(stderr=True), transient=True, expand=True)
    bar.add_task("", total=None)
    return bar  # type: ignore[return-value]  # rich's task ids are integers under a name of its own
