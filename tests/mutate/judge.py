"""The checker, asked about mutants: whole files, and pairs of core programs.

Takes paths or programs; gives what the checker concluded. It runs the stages that `check` runs, with
one prover for all questions and every answer kept. Must not conclude anything itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, cast

from cachet_verify.core.index import Formula
from cachet_verify.core.ir import Program
from cachet_verify.diagnostic import CachetError
from cachet_verify.judge.conclude import Asking, conclude
from cachet_verify.judge.file import open_file, plans_of
from cachet_verify.judge.plan import Asked, Plan
from cachet_verify.judge.relation import compared, formed
from cachet_verify.kernel.claim import Goal, Same
from cachet_verify.kernel.obligation import Obligation, Proved
from cachet_verify.report.option import SilentProgress
from cachet_verify.report.record import ItemReport
from cachet_verify.session import _Verdicts
from cachet_verify.solver.prover import Prover, ProverOptions

_CHUNK = 8


@dataclass(frozen=True)
class Outcome:
    """What became of one mutant.

    `accepted`; `confirmed` (refused, and a run shows why); `refused` (no run that was tried shows a
    difference); `inapplicable` (refused because a step does not fit, before any proof); `undecided`;
    or `error` (the checker's own fault).
    """

    kind: str
    why: str
    plan: Plan | None = None


@dataclass(frozen=True)
class _Chunk:
    """A few obligations, as the session takes them from a plan."""

    items: tuple[Obligation, ...]
    name: str = ""

    def obligations(self) -> Iterator[tuple[None, Obligation]]:
        """Each of them."""
        return ((None, item) for item in self.items)


class Judge:
    """A prover that remembers. Use as a context manager."""

    def __init__(self, jobs: int = 2) -> None:
        self.prover = Prover(ProverOptions(jobs=jobs))
        self.verdicts = _Verdicts(self.prover, SilentProgress())
        self.known = self.verdicts.known
        self.possible: dict[tuple[Formula, ...], bool | None] = {}

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.prover.close()

    def file(self, path: Path, routes: str = "both") -> list[tuple[str, Outcome]]:
        """The outcome of every item of a file. Raises CachetError."""
        return [(plan.name, self.item(plan, whole=True)) for plan in plans_of(open_file(path), routes)]

    def pair(self, meaning: Program, program: Program) -> Outcome:
        """Whether a program is accepted as computing a meaning, by route B."""
        questions = formed(meaning, None) + formed(program, None) + compared("pair", meaning, program, None)
        premises = tuple(need.condition for need in program.requires)
        plan = Plan(
            program.name,
            "proof",
            None,
            asked=questions.asked,
            missing=questions.missing,
            meaning=meaning,
            program=program,
            of=meaning.name,
            requires=program.requires,
            premises=premises,
        )
        return self.item(plan)

    def goal(self, goal: Goal) -> Outcome:
        """Whether the goal of one step of route A is reached."""
        same = goal.statement
        if not isinstance(same, Same):
            raise TypeError("a goal that compares no programs")
        questions = formed(same.before, None)
        if same.after != same.before:
            questions += formed(same.after, None)
        asked = (*questions.asked, Asked(goal, "relation step: ", "relation.not-proved", "a", None))
        premises = tuple(need.condition for need in same.after.requires)
        return self.item(
            Plan(
                "step",
                "proof",
                None,
                asked=asked,
                missing=questions.missing,
                meaning=same.before,
                program=same.after,
                of=same.before.name,
                requires=same.after.requires,
                premises=premises,
            )
        )

    def item(self, plan: Plan, whole: bool = False) -> Outcome:
        """Conclude one plan. Unless `whole`, stop asking at the first obligation that is not proved."""
        is_done = self.ask([obligation for _, obligation in plan.obligations()], whole)
        report = self._concluded(plan)
        if not is_done and outcome_of(report, plan).kind not in ("accepted", "confirmed"):
            self.ask([obligation for _, obligation in plan.obligations()], True)
            report = self._concluded(plan)
        return outcome_of(report, plan)

    def ask(self, obligations: Sequence[Obligation], whole: bool) -> bool:
        """Ask what is not known yet; whether all of it was asked."""
        fresh = [item for item in dict.fromkeys(obligations) if item.digest() not in self.known]
        if not whole and any(not isinstance(self.known.get(item.digest(), None), (Proved, type(None))) for item in obligations):
            return False
        size = max(len(fresh), 1) if whole else _CHUNK
        for start in range(0, len(fresh), size):
            chunk = fresh[start : start + size]
            self._ask(chunk)
            if not whole and any(not isinstance(self.known[item.digest()], Proved) for item in chunk):
                return False
        return True

    def _ask(self, chunk: Sequence[Obligation]) -> None:
        """As the session does, in its own words: linear forms first, and what stays undecided in others."""
        self.verdicts.ask(cast("tuple[Plan]", (_Chunk(tuple(chunk)),)))

    def _concluded(self, plan: Plan) -> ItemReport:
        return conclude(plan, self.known, Asking(self.satisfiable))

    def satisfiable(self, premises: tuple[Formula, ...]) -> bool | None:
        """Whether premises can hold together."""
        if premises not in self.possible:
            self.possible[premises] = self.prover.satisfiable(premises)
        return self.possible[premises]


def outcome_of(report: ItemReport, plan: Plan) -> Outcome:
    """A report, sorted into the kinds that the campaign counts."""
    refusal = report.refusal
    why = refusal.message if refusal is not None else ""
    if str(report.verdict) == "proved":
        return Outcome("accepted", "", plan)
    if str(report.verdict) == "refused":
        if plan.settled is not None:
            return Outcome("inapplicable", why, plan)
        is_shown = refusal is not None and refusal.replay is not None and refusal.replay.confirmed
        return Outcome("confirmed" if is_shown else "refused", why, plan)
    if str(report.verdict) == "error":
        return Outcome("error", why, plan)
    reasons = [item.reason for item in report.obligations if item.reason]
    return Outcome("undecided", (why or (reasons[-1] if reasons else str(report.verdict)))[:300], plan)


def refusal_of(error: CachetError) -> Any:
    """The first diagnostic of a file that could not be read."""
    return error.diagnostics[0]
