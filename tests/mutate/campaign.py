"""A campaign: cases drawn from every stream in turn, each checked, each accepted one held against the oracle.

Takes a seed, a number and a log file; gives one record a case, appended to the log, so that a campaign
that was stopped goes on where it was. Must not decide what a record means: `summary` counts them.
"""

from __future__ import annotations

import json
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

from cachet_verify.core.ir import Program
from cachet_verify.diagnostic import CachetError
from cachet_verify.kernel.claim import RuleError
from tests.mutate.case import Case, streams
from tests.mutate.judge import Judge, Outcome
from tests.mutate.oracle import Oracle

WEIGHTS = {"nest": 2, "step": 2, "rule": 3, "random": 25}
"""How many cases of a stream are drawn in each turn, by the first word of its name."""


@dataclass(frozen=True)
class Record:
    """What became of a case. `departs` says how a run differs from the meaning, where one was made and does.

    `kind` is `accepted`, `confirmed` (refused, with a run that shows the difference), `refused`
    (without one), `undecided`, `unreadable` (bad input), `error` (the checker says so) or `crashed`.
    """

    key: str
    stream: str
    label: str
    kind: str
    why: str
    departs: str | None


def cases(seed: int, only: str = "", weights: Mapping[str, int] = WEIGHTS) -> Iterator[Case]:
    """Cases of all streams, one or a few of each in turn; each case once."""
    open_streams = {name: stream(seed) for name, stream in streams().items() if name.startswith(only)}
    seen: set[str] = set()
    while open_streams:
        for name in list(open_streams):
            drawn = list(islice(open_streams[name], weights.get(name.split()[0], 1)))
            if not drawn:
                del open_streams[name]
            for case in drawn:
                if case.key not in seen:
                    seen.add(case.key)
                    yield case


class Campaign:
    """Runs cases; oracles are kept, one for each meaning."""

    def __init__(self, judge: Judge, folder: Path) -> None:
        self.judge = judge
        self.file = folder / "mutant.cachet"
        self.oracles: dict[Program, Oracle] = {}

    def record(self, case: Case) -> Record:
        """Check one case; where it is accepted, or refused without a run, ask the oracle too."""
        try:
            outcome = self._outcome(case)
        except CachetError as error:
            return self._made(case, Outcome("unreadable", error.diagnostics[0].code), None)
        except Exception as error:  # noqa: BLE001 - any other exception is what a campaign looks for
            where = traceback.extract_tb(error.__traceback__)[-1]
            return self._made(case, Outcome("crashed", f"{error!r} at {Path(where.filename).name}:{where.lineno}"), None)
        departs = None
        program = outcome.plan.program if outcome.plan is not None else None
        if outcome.kind == "accepted":
            departs = self._departure(case, outcome)
        elif outcome.kind in ("refused", "undecided") and program is not None:
            departs = self._oracle(case.meaning).departure(program, most=60)
        return self._made(case, outcome, departs)

    def _made(self, case: Case, outcome: Outcome, departs: str | None) -> Record:
        return Record(case.key, case.stream, case.label, outcome.kind, outcome.why.splitlines()[0][:200] if outcome.why else "", departs)

    def _outcome(self, case: Case) -> Outcome:
        if case.program is not None:
            return self.judge.pair(case.meaning, case.program)
        if case.call is not None:
            try:
                return self.judge.goal(case.call.goal())
            except RuleError as error:
                return Outcome("inapplicable", error.why)
        self.file.write_text(case.text, encoding="utf-8")
        found = dict(self.judge.file(self.file))
        return found[case.names[0]]

    def _departure(self, case: Case, outcome: Outcome) -> str | None:
        plan = outcome.plan
        if plan is None or plan.program is None or plan.of != case.meaning.name:
            return f"the claim names {plan.of if plan is not None else 'nothing'}, not {case.meaning.name}"
        return self._oracle(case.meaning).departure(plan.program)

    def _oracle(self, meaning: Program) -> Oracle:
        if meaning not in self.oracles:
            if len(self.oracles) > 40:
                self.oracles.clear()
            self.oracles[meaning] = Oracle(meaning)
        return self.oracles[meaning]


def run(seed: int, count: int, log: Path, only: str = "", part: tuple[int, int] = (0, 1)) -> Iterator[Record]:
    """Run `count` cases, but for those that the log has an answer for; give each new record as it is written.

    `part` is one of so many processes that share the cases out among them. Stops at a wrong acceptance.
    """
    known = {record.key for record in logged(log) if record.kind not in ("error", "crashed")}
    log.parent.mkdir(parents=True, exist_ok=True)
    with Judge() as judge, tempfile.TemporaryDirectory() as folder, log.open("a", encoding="utf-8") as out:
        campaign = Campaign(judge, Path(folder))
        for place, case in enumerate(cases(seed, only)):
            if place >= count:
                return
            if case.key in known or place % part[1] != part[0]:
                continue
            record = campaign.record(case)
            out.write(json.dumps(asdict(record)) + "\n")
            out.flush()
            yield record


def logged(*logs: Path) -> list[Record]:
    """The records of logs, the last one of each case."""
    found: dict[str, Record] = {}
    for log in logs:
        for line in log.read_text(encoding="utf-8").splitlines() if log.is_file() else ():
            fields: Mapping[str, str] = json.loads(line)
            record = Record(**fields)
            found[record.key] = record
    return list(found.values())


def wrong(record: Record) -> bool:
    """Whether a record is the one fault that is not forgiven: accepted, and it departs from its meaning."""
    return record.kind == "accepted" and record.departs is not None
