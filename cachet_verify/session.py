"""Runs the stages in order: files to modules, items to plans, plans to verdicts.

Takes paths and options; gives a report, a listing, or what a program prints. It alone knows every
stage. Must not decide a verdict: `judge.conclude` does, from what the kernel discharged.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cachet_verify.diagnostic import CachetError
from cachet_verify.report.message import diagnostic_report
from cachet_verify.report.option import CheckOptions, Progress, SilentProgress
from cachet_verify.report.record import FileReport, ItemReport, Report, Verdict
from cachet_verify.report.tool import tool_versions
from cachet_verify.resource_path import list_sources

if TYPE_CHECKING:
    from cachet_verify.core.index import Formula
    from cachet_verify.fitting import Table
    from cachet_verify.judge.file import FilePlan, Opened
    from cachet_verify.judge.plan import Plan
    from cachet_verify.kernel import obligation as kernel
    from cachet_verify.ledger.record import Evidence
    from cachet_verify.solver.prover import Prover
    from cachet_verify.synthesis import Synthesis
    from cachet_verify.traffic.record import Account


def check(paths: Sequence[Path], options: CheckOptions | None = None, progress: Progress | None = None) -> Report:
    """Check every item of files and folders. Raises CachetError for paths that cannot be used."""
    began = time.monotonic()
    options = options if options is not None else CheckOptions()
    sources = list_sources(paths)
    with _prover(options) as prover:
        prover.start()
        files = [_opened(path) for path in sources]
        verdicts = _Verdicts(prover, progress if progress is not None else SilentProgress())
        verdicts.ask(plan for file in files for plan in _planning(file, options))
        reports = tuple(_reported(file, verdicts, options.only) for file in files)
    return Report(reports, tool_versions(), {"wall_s": round(time.monotonic() - began, 3)})


def scheduled(path: Path, name: str, step: int | None, all_steps: bool, relate: bool, shadow: bool) -> str:
    """The listing of a schedule's function, or of a contraction, with its claim last."""
    from cachet_verify.listing import listing

    return listing(path, name, step, all_steps, relate, shadow, check)


def account(path: Path, name: str, exact: bool = False, at: str = "") -> Account:
    """What each operation of a program moves and computes; `at` gives sizes, `M=1024,N=8`. Raises CachetError, ItemRefusedError."""
    from cachet_verify.traffic.file import account_in_file

    return account_in_file(path, name, exact, at, check)


def synthesis(path: Path, most: int = 5) -> Synthesis:
    """What each `synth const` of a file chooses, with up to `most` candidates in order. Raises CachetError."""
    from cachet_verify.synthesis import synthesis as searched

    return searched(path, most, check)


def synthesis_shown(path: Path, most: int) -> tuple[Report, str, dict[str, object]]:
    """The report of the searches of a file, and the searches as text and as a document."""
    from cachet_verify.synthesis import document, rendered

    found = synthesis(path, most)
    return found.report, rendered(found), document(found)


def fit(paths: Sequence[Path], platforms: Sequence[str] = ()) -> tuple[Table, ...]:
    """Which schedules fit which platforms; without names, those that the files name. Raises CachetError."""
    from cachet_verify.fitting import tables

    return tables(list_sources(paths), platforms)


def fit_shown(paths: Sequence[Path], platforms: Sequence[str]) -> tuple[str, dict[str, object], frozenset[str]]:
    """Which schedules fit which platforms, as text and as a document, and every verdict among them. Raises CachetError."""
    from cachet_verify.fitting import document, rendered, verdicts

    found = fit(paths, platforms)
    return rendered(found), document(found), verdicts(found)


def trust_shown(
    paths: Sequence[Path], options: CheckOptions, progress: Progress | None = None, whole: bool = False
) -> tuple[Report, str, dict[str, object]]:
    """Check, and give what the claims rest on as text (a page, or every row: `whole`) and as a document. Raises CachetError."""
    from cachet_verify.ledger.page import document, page, rendered
    from cachet_verify.trusting import ledger

    report = check(paths, options, progress)
    found = ledger(report)
    return report, rendered(found) if whole else page(found), document(found)


def evidence_shown(path: Path, name: str | None, target: str, words: int, seed: int, output: Path | None) -> tuple[str, list[dict[str, object]], int]:
    """Measure templates for a target: the records as text and as documents, and how many words differed. Raises CachetError."""
    from cachet_verify.measuring import Asked, document, measure_file, rendered

    kept = measure_file(path, name, Asked(target, words, seed, output))
    return rendered(kept), document(kept), sum(one.record.mismatches for one in kept)


def account_shown(path: Path, name: str, exact: bool, at: str) -> tuple[str, dict[str, object]]:
    """The account as text and as a document."""
    from cachet_verify.traffic.show import as_document, as_text

    found = account(path, name, exact, at)
    return as_text(found), as_document(found)


def run(path: Path, name: str | None = None, arguments: Sequence[str] = ()) -> Iterator[str]:
    """The lines that `main`, or one function, prints in the interpreter."""
    from cachet_verify.running import run_program

    return run_program(path, name, arguments)


def _prover(options: CheckOptions) -> Prover:
    from cachet_verify.solver.prover import Prover, ProverOptions

    made = ProverOptions(
        solvers=options.solvers,
        cache_dir=_cache_folder(options),
        save_scripts=options.save_scripts,
        jobs=2 if options.jobs is None else options.jobs,
    )
    return Prover(made if options.limit is None else replace(made, rlimit=options.limit))


def _cache_folder(options: CheckOptions) -> Path | None:
    if not options.use_cache:
        return None
    if options.cache is not None:
        return options.cache
    root = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(root) if root else Path.home() / ".cache") / "cachet-verify"


@dataclass(slots=True)
class _File:
    """A file on its way to a report: what is wrong with it, or the plans of its items as they are made."""

    path: Path
    error: CachetError | None = None
    opened: Opened | None = None
    records: tuple[Evidence, ...] = ()
    plans: list[Plan] = field(default_factory=list)


def _opened(path: Path) -> _File:
    from cachet_verify.judge.file import open_file
    from cachet_verify.judge.plan import faulted
    from cachet_verify.ledger.store import folders_of, read_folders

    try:
        return _File(path, None, open_file(path), read_folders(folders_of(path)))
    except CachetError as error:
        return _File(path, error)
    except Exception as error:  # noqa: BLE001 - a fault in one file must not take the others along
        return _File(path, plans=[faulted(path.stem, "fn", None, error)])


def _planning(file: _File, options: CheckOptions) -> Iterator[Plan]:
    """The plans of a file, each kept as it is made; what `only` neither names nor needs is not asked."""
    from cachet_verify.judge.file import plans_of

    if file.opened is None:
        return
    try:
        for plan in plans_of(file.opened, options.routes, options.only):
            file.plans.append(plan)
            yield plan
    except CachetError as error:
        file.error = error


@dataclass(slots=True)
class _Verdicts:
    """Asks obligations as they are made and keeps what was answered."""

    prover: Prover
    progress: Progress
    known: dict[str, kernel.Verdict] = field(default_factory=dict)
    possible: dict[tuple[Formula, ...], bool | None] = field(default_factory=dict)

    def ask(self, plans: Iterable[Plan]) -> None:
        """Ask every obligation that was not asked before; what is nonlinear in its linear forms first, then as it stands."""
        asked: dict[str, kernel.Obligation] = {}
        items: dict[str, str] = {}

        def stream() -> Iterator[kernel.Obligation]:
            for plan in plans:
                for _, obligation in plan.obligations():
                    if obligation.digest() not in asked and obligation.digest() not in self.known:
                        asked[obligation.digest()] = obligation
                        items[obligation.digest()] = plan.name
                        self.progress.expect(1)
                        yield _forms(obligation)[0].make(obligation)

        self._settle(asked.values(), 0, self._prove(stream(), items))
        self._ask_at_points([item for item in asked.values() if item.digest() not in self.known], items)
        for place in range(1, _MOST_FORMS):
            again = [item for item in asked.values() if item.digest() not in self.known]
            self._settle(again, place, self._prove([_forms(item)[place].make(item) for item in again], items))
        self._ask_with_residues(asked.values(), items)

    def _ask_at_points(self, hard: Iterable[kernel.Obligation], items: Mapping[str, str]) -> None:
        """Ask what small values break at those values: a refutation there is one."""
        from cachet_verify.kernel.obligation import RealObligation
        from cachet_verify.kernel.point import at_point, refuted_at
        from cachet_verify.solver.point import small_point

        hard = [item for item in hard if not isinstance(item, RealObligation)]
        tried = [(item, values) for item in hard if item.can_refute and (values := small_point(item)) is not None]
        verdicts = self._prove([at_point(item, values) for item, values in tried], items)
        for (item, values), verdict in zip(tried, verdicts, strict=True):
            refuted = refuted_at(item, values, verdict)
            if refuted is not None:
                self.known[item.digest()] = refuted

    def _ask_with_residues(self, asked: Iterable[kernel.Obligation], items: Mapping[str, str]) -> None:
        """Ask what is undecided once more, in its linear form and with what small divisors leave said outright."""
        from cachet_verify.kernel import generalise, residue
        from cachet_verify.kernel.obligation import Proved, RealObligation, Undecided

        asked = [item for item in asked if not isinstance(item, RealObligation)]
        undecided = [item for item in asked if isinstance(self.known[item.digest()], Undecided) and residue.applies(item)]
        linear = [generalise.generalise(item) for item in undecided]
        again = [(item, form) for item, form in zip(undecided, linear, strict=True) if residue.residues(form)]
        verdicts = self._prove([residue.with_residues(form) for _, form in again], items)
        for (item, form), verdict in zip(again, verdicts, strict=True):
            if isinstance(verdict, Proved):
                lifted = residue.lift(form, verdict)
                self.known[item.digest()] = lifted if form is item else generalise.lift(item, lifted)

    def _settle(self, asked: Iterable[kernel.Obligation], place: int, verdicts: Iterable[kernel.Verdict]) -> None:
        """Take the verdicts on one form of each obligation: what a linear form proves is proved, and the last form decides."""
        from cachet_verify.kernel.obligation import Proved, Refuted

        for obligation, verdict in zip(asked, verdicts, strict=True):
            forms = _forms(obligation)
            is_decided = isinstance(verdict, Proved) or (isinstance(verdict, Refuted) and forms[place] is _ITSELF)
            if place == len(forms) - 1 or is_decided:
                self.known[obligation.digest()] = forms[place].lift(obligation, verdict)

    def proves(self, plan: Plan) -> bool:
        """Whether everything that a plan asks is proved; it is asked now."""
        from cachet_verify.kernel.claim import NotProvedError, discharge

        self.ask((plan,))
        try:
            for asked in plan.asked:
                discharge(asked.goal, self.known)
        except NotProvedError:
            return False
        return plan.settled is None and not plan.missing

    def _prove(self, asked: Iterable[kernel.Obligation], items: Mapping[str, str]) -> tuple[kernel.Verdict, ...]:
        def tell(done: int, taken: int, obligation: kernel.Obligation) -> None:
            self.progress.begin(items.get(obligation.digest(), ""), obligation.subject)
            self.progress.finish()

        return self.prover.prove(asked, tell)

    def satisfiable(self, premises: tuple[Formula, ...]) -> bool | None:
        """Whether premises can hold together; each set is asked once."""
        if premises not in self.possible:
            self.possible[premises] = self.prover.satisfiable(premises)
        return self.possible[premises]


@dataclass(frozen=True, slots=True)
class _Form:
    """A form in which an obligation is asked, and what a verdict on it says of the obligation."""

    make: Callable[[kernel.Obligation], kernel.Obligation]
    lift: Callable[[kernel.Obligation, kernel.Verdict], kernel.Verdict]


_MOST_FORMS = 4
_ITSELF = _Form(lambda obligation: obligation, lambda _, verdict: verdict)


def _forms(obligation: kernel.Obligation) -> tuple[_Form, ...]:
    """The forms in which an obligation is asked, one after the other; the last is the obligation itself, or one that means the same."""
    from cachet_verify.kernel import generalise, monotone, multiple

    rounded = _Form(generalise.rounded, generalise.lift_rounded)
    if not generalise.is_nonlinear(obligation):
        return (_ITSELF, rounded)
    is_multiple = bool(multiple.multiples(obligation))
    linear = _Form(multiple.linear, multiple.lift) if is_multiple else _Form(generalise.generalise, generalise.lift)
    if not monotone.compares_products(obligation):
        return (linear, rounded, _ITSELF)
    products = _Form(monotone.monotone, monotone.lift)
    return (products, linear, rounded, _ITSELF) if monotone.has_quotients(obligation) else (linear, products, rounded, _ITSELF)


def _reported(file: _File, verdicts: _Verdicts, only: tuple[str, ...]) -> FileReport:
    from cachet_verify.judge.conclude import Asking, conclude
    from cachet_verify.judge.file import file_plan

    shown = str(file.path)
    if file.error is not None:
        return FileReport(shown, tuple(diagnostic_report(item, shown) for item in file.error.diagnostics))
    planned = file_plan(file.plans)
    asking = Asking(verdicts.satisfiable, proves=verdicts.proves, opened=file.opened, records=file.records)
    done = [conclude(plan, verdicts.known, asking) for plan in planned.plans]
    return FileReport(shown, (), tuple(item for item in _resting(planned, done) if not only or item.name in only))


def _resting(planned: FilePlan, done: Sequence[ItemReport]) -> Iterator[ItemReport]:
    """An item that rests on one that is not proved is not proved either."""
    from cachet_verify.report.record import ObligationReport

    verdicts = {item.name: item.verdict for item in done}
    for plan, item in zip(planned.plans, done, strict=True):
        loose = [name for name in planned.reaches(plan) if verdicts.get(name) != Verdict.PROVED]
        if item.verdict == Verdict.PROVED and loose:
            reason = f"rests on {loose[0]}, which is {verdicts.get(loose[0], 'not checked')}"
            why = ObligationReport(f"{item.name}.rests-on", f"what {item.name} rests on", Verdict.UNDECIDED, reason)
            yield replace(item, verdict=Verdict.UNDECIDED, claim=None, obligations=(*item.obligations, why))
        else:
            yield item
