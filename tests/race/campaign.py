"""Generated grids through the checker: what it said of each, held against brute force.

Takes a seed and a number; gives one record a case. Must not decide what is allowed: the command and the tests do.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from cachet_verify.diagnostic import CachetError
from tests.mutate.judge import Judge, Outcome
from tests.race.grid_case import Case, cases
from tests.race.tile_case import tile_cases


@dataclass(frozen=True)
class Record:
    """A case, what became of it (as in the campaign of mutants), why, and the seconds it took."""

    case: Case
    kind: str
    why: str
    seconds: float

    def is_wrong(self) -> bool:
        """A race that was accepted."""
        return self.case.is_racy and self.kind == "accepted"

    def is_alarm(self) -> bool:
        """No race, and not proved."""
        return not self.case.is_racy and self.kind != "accepted"


def run(seed: int, count: int, skip: int = 0, tiles: bool = False) -> Iterator[Record]:
    """Check `count` cases of a seed one by one, but for the first few; grids, or grids by tile."""
    drawn = tile_cases(seed) if tiles else cases(seed)
    with Judge() as judge, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "grid.cachet"
        for case in islice(drawn, skip, count):
            started = time.monotonic()
            outcome = _outcome(judge, file, case)
            yield Record(case, outcome.kind, outcome.why, time.monotonic() - started)


def _outcome(judge: Judge, file: Path, case: Case) -> Outcome:
    file.write_text(case.text, encoding="utf-8")
    try:
        return dict(judge.file(file))[f"grid{case.number}"]
    except CachetError as error:
        return Outcome("unreadable", f"{error.diagnostics[0].code}: {error.diagnostics[0].message}")


def table(records: Sequence[Record]) -> str:
    """The counts, as text."""
    lines = []
    for title, group in (("with a race", True), ("free of races", False)):
        mine = [record for record in records if record.case.is_racy == group]
        kinds = ", ".join(f"{number} {kind}" for kind, number in Counter(record.kind for record in mine).most_common())
        lines.append(f"{title}: {len(mine)}: {kinds}")
    features = Counter(mark for record in records for mark in record.case.features)
    lines.append("shares: " + ", ".join(f"{mark} {number / max(len(records), 1):.0%}" for mark, number in sorted(features.items())))
    return "\n".join(lines) + "\n"
