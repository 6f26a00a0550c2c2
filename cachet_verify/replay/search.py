"""The search for a replay: smallest sizes first, within a budget that does not depend on the machine.

Takes two programs, or one; gives a replay with sizes that cannot be lowered, or None. Must not
conclude anything from finding none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from cachet_verify.core.algebra import TermAlgebra
from cachet_verify.core.ir import Program
from cachet_verify.core.meaning import CELLS_PER_UPDATE, Executable, capacity, shape_of
from cachet_verify.core.memory import BudgetError, Cells, MeaningError, cell_text, unravel
from cachet_verify.replay.budget import Budget
from cachet_verify.replay.record import Replay
from cachet_verify.replay.size import Sizes, SizeSearch
from cachet_verify.replay.trial import Contest, fault_replay

UPDATES = 80_000
"""The default budget of a search, in updates executed and words set up."""

_MINIMISING = 4
"""Minimising may use this many times the budget of the search."""

_ONE_RUN = 16
"""A program without sizes may use this many times the budget of a search."""

Trial = Callable[[Mapping[str, int]], "Replay | None"]


def replay(meaning: Program, program: Program, updates: int = UPDATES) -> Replay | None:
    """A run, minimal in its sizes, in which `program` departs from `meaning`; None when none was found.

    Parameters are matched by name; scratch is not compared. Raises MeaningError where a program
    cannot be compiled (a name out of scope, an unknown operation).
    """
    budget = Budget(updates)
    contest = Contest(meaning, program, budget)
    return _search(SizeSearch(meaning, program), _forgiving(contest.at), budget, updates)


def replay_at(meaning: Program, program: Program, sizes: Mapping[str, int], updates: int = 10 * UPDATES) -> Replay | None:
    """The departure at these sizes, None when there is none or the budget does not reach. Raises as `replay`."""
    contest = Contest(meaning, program, Budget(updates))
    if not SizeSearch(meaning, program).meets(sizes):
        return None
    try:
        return _forgiving(contest.at)(sizes)
    except BudgetError:
        return None


def find_fault(program: Program, updates: int = UPDATES) -> Replay | None:
    """The smallest sizes found at which a program has no meaning, whatever its inputs; None when none was found.

    A program without sizes has one run only, which may be longer.
    """
    updates *= 1 if program.sizes else _ONE_RUN
    budget, algebra = Budget(updates), TermAlgebra()
    executable = Executable(program, algebra)

    def attempt(sizes: Mapping[str, int]) -> Replay | None:
        cells: dict[str, Cells] = {}
        try:
            for param in program.params:
                count = capacity(shape_of(param, sizes))
                is_unspecified = param.scratch or param.mode == "out"
                budget.spend(count // CELLS_PER_UPDATE if is_unspecified else count)
                cells[param.name] = [None if is_unspecified else algebra.cell(param.name, place) for place in range(count)]
            budget.run(executable, sizes, cells)
            _all_written(program, sizes, cells)
        except MeaningError as error:
            return fault_replay(error, sizes)
        return None

    return _search(SizeSearch(program), attempt, budget, updates)


def _all_written(program: Program, sizes: Mapping[str, int], cells: Mapping[str, Cells]) -> None:
    """Raise MeaningError where a cell of an `out` parameter was never written."""
    for param in program.params:
        if param.mode == "out" and not param.scratch and None in cells[param.name]:
            index = unravel(cells[param.name].index(None), shape_of(param, sizes))
            text = f"{cell_text(param.name, index)} is never written"
            raise MeaningError("unspecified", text, param.span, param.name, index)


def _forgiving(trial: Trial) -> Trial:
    """The trial, silent at sizes where a parameter has no shape."""

    def attempt(sizes: Mapping[str, int]) -> Replay | None:
        try:
            return trial(sizes)
        except MeaningError:
            return None

    return attempt


def _search(sizes: SizeSearch, trial: Trial, budget: Budget, updates: int) -> Replay | None:
    for candidate in sizes.each():
        try:
            found = trial(candidate)
        except BudgetError:
            if budget.left <= 0:
                return None
            continue
        if found is not None:
            budget.left = _MINIMISING * updates
            return _minimise(found, candidate, sizes, trial)
    return None


def _minimise(found: Replay, at: Sizes, sizes: SizeSearch, trial: Trial) -> Replay:
    """Lower one size after the other while a departure remains."""
    try:
        while True:
            lower = _lower(at, sizes, trial)
            if lower is None:
                return replace(found, minimal=True)
            found, at = lower
    except BudgetError:
        return found


def _lower(at: Sizes, sizes: SizeSearch, trial: Trial) -> tuple[Replay, Sizes] | None:
    for smaller in sizes.lower(at):
        found = trial(smaller)
        if found is not None:
            return found, smaller
    return None
