"""A session that answers from a script, so that the command line is tested by itself.

Takes the report or the error to answer with; gives what a real session gives, and remembers how it was asked.
Must not check anything.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import cachet_verify
from cachet_verify.report.option import CheckOptions, Progress
from cachet_verify.report.record import Report


class FakeSession:
    """Answers `check` with `report`, `scheduled` with `listing`, `run` with `values`; raises `error` instead when it is set."""

    def __init__(self) -> None:
        self.report = Report(())
        self.listing = "for i in 0 .. M do\n"
        self.values: tuple[str, ...] = ()
        self.error: BaseException | None = None
        self.asked: list[Any] = []

    def check(self, paths: Sequence[Path], options: CheckOptions, progress: Progress) -> Report:
        self._answer(("check", tuple(paths), options))
        progress.expect(1)
        progress.begin("item", "obligation")
        progress.finish()
        return self.report

    def scheduled(self, path: Path, name: str, step: int | None, all_steps: bool, relate: bool, shadow: bool) -> str:
        self._answer(("scheduled", path, name, step, all_steps, relate, shadow))
        return self.listing

    def run(self, path: Path, name: str | None, args: Sequence[str]) -> Iterator[str]:
        self._answer(("run", path, name, tuple(args)))
        yield from self.values

    def _answer(self, asked: Any) -> None:
        self.asked.append(asked)
        if self.error is not None:
            raise self.error


def install(monkeypatch: pytest.MonkeyPatch) -> FakeSession:
    """Put a fake session in the place of `cachet_verify.session`."""
    fake = FakeSession()
    module: Any = ModuleType("cachet_verify.session")
    module.check, module.scheduled, module.run = fake.check, fake.scheduled, fake.run
    monkeypatch.setitem(sys.modules, "cachet_verify.session", module)
    monkeypatch.setattr(cachet_verify, "session", module, raising=False)
    return fake
