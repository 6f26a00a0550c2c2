"""One comparison: two programs run at the same sizes, on the same inputs.

Takes two programs; gives the first cell in which they differ, or what went wrong. Must not
choose sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from cachet_verify.core.algebra import Instance, TermAlgebra, WordAlgebra
from cachet_verify.core.ir import Param, Program
from cachet_verify.core.meaning import CELLS_PER_UPDATE, Executable, arithmetic_of, capacity, shape_of
from cachet_verify.core.memory import Cells, MeaningError, unravel
from cachet_verify.core.word import ELEMENTS, text_of_word
from cachet_verify.replay.budget import Budget
from cachet_verify.replay.input import ROUNDS, fill
from cachet_verify.replay.instance import SEMIRINGS
from cachet_verify.replay.record import Input, Replay

_FEW = 12
"""A replay lists its inputs when there are at most so many."""


class Contest:
    """Two programs, compiled for terms and for words, that are to agree on the parameters they share.

    Raises MeaningError where one cannot be compiled.
    """

    def __init__(self, meaning: Program, program: Program, budget: Budget) -> None:
        self.programs = (meaning, program)
        self.budget = budget
        self.terms = TermAlgebra()
        self.term_runs = tuple(Executable(side, self.terms) for side in self.programs)
        self._word_runs: dict[Instance | None, tuple[Executable, ...] | None] = {}
        params = [param for side in self.programs for param in side.params]
        self.params = {param.name: param for param in params}
        self.order = tuple(self.params)
        scratch = {param.name for param in params if param.scratch}
        shared = {param.name for param in meaning.params} - scratch
        self.compared = tuple(param for param in program.params if param.name in shared)
        self.is_mixed = meaning.arithmetic != program.arithmetic
        self.is_generic = any(side.generics for side in self.programs)

    def at(self, sizes: Mapping[str, int]) -> Replay | None:
        """The first departure at these sizes. Raises BudgetError.

        Nothing is said (None) where the meaning has none at these sizes. Raises MeaningError where
        a parameter has no shape.
        """
        names = dict.fromkeys(name for side in self.programs for name in side.sizes)
        meeting = Meeting(self, {name: sizes[name] for name in names})
        unfit = meeting.unfit()
        if unfit is not None:
            return unfit
        outcome = meeting.in_terms()
        if outcome is None and not (self.is_mixed and meeting.terms):
            return None
        if outcome is not None and outcome.kind == "fault":
            return outcome
        for instance in SEMIRINGS if self.is_generic else (None,):
            found = meeting.in_words(instance)
            if found is not None:
                return found
        return outcome if self.is_generic else None

    def word_runs(self, instance: Instance | None) -> tuple[Executable, ...] | None:
        """The programs under one instance for all their generics; None where it lacks an operation."""
        if instance not in self._word_runs:
            try:
                made = tuple(Executable(side, word_algebra(side, instance)) for side in self.programs)
                self._word_runs[instance] = made
            except MeaningError:
                self._word_runs[instance] = None
        return self._word_runs[instance]


class Meeting:
    """The two programs of a contest at one choice of sizes."""

    def __init__(self, contest: Contest, sizes: Mapping[str, int]) -> None:
        self.contest = contest
        self.sizes = sizes
        self.shapes = {name: shape_of(param, sizes) for name, param in contest.params.items()}
        self.terms: list[dict[str, Cells]] = []

    def unfit(self) -> Replay | None:
        """A fault where a shared parameter has another shape in the meaning."""
        meaning, program = self.contest.programs
        for param in self.contest.compared:
            ours, theirs = shape_of(param, self.sizes), shape_of(meaning.param(param.name), self.sizes)
            if ours != theirs:
                text = f"`{param.name}` has the shape {list(ours)}, but {list(theirs)} in `{meaning.name}`"
                return fault_replay(MeaningError("size", text, param.span, param.name), self.sizes)
        return None

    def in_terms(self) -> Replay | None:
        """The first cell that ends with another term, or the program's fault; None where there is neither."""
        algebra = self.contest.terms
        before: dict[str, Cells] = {
            name: self._unspecified(name) if param.scratch else [algebra.cell(name, place) for place in range(self._count(name))]
            for name, param in self.contest.params.items()
        }
        fault, self.terms = self._run(self.contest.term_runs, before)
        if fault is not None or not self.terms:
            return fault
        for param, place, left, right in self._pairs(self.terms):
            if left != right:
                algebra.shapes.update(self.shapes)
                texts = algebra.text(left, param.elem), algebra.text(right, param.elem)
                replay = self._departure("operations", param, place)
                return replace(replay, elem=param.elem, values=texts)
        return None

    def in_words(self, instance: Instance | None) -> Replay | None:
        """The first filling under which a cell ends with another word, or the program has a fault."""
        runs = self.contest.word_runs(instance)
        if runs is None:
            return None
        for kind in range(ROUNDS):
            before = {name: self._filled(kind, param, instance) for name, param in self.contest.params.items()}
            fault, after = self._run(runs, before)
            if fault is not None:
                return replace(fault, inputs=self._listed(before, instance, None), instance=name_of(instance))
            for param, place, left, right in self._pairs(after):
                elem = concrete(param.elem, instance)
                if not same_word(left, right, elem):
                    replay = self._departure("difference", param, place)
                    inputs = self._listed(before, instance, self._leaves(param.name, place))
                    values = text_of_word(left, elem), text_of_word(right, elem)
                    return replace(replay, elem=elem, words=(left, right), values=values, inputs=inputs, instance=name_of(instance))
        return None

    def _run(self, runs: tuple[Executable, ...], before: Mapping[str, Cells]) -> tuple[Replay | None, list[dict[str, Cells]]]:
        """The program's fault, and the cells after both runs; neither where the meaning has a fault."""
        budget = self.contest.budget
        after: list[dict[str, Cells]] = []
        for executable in runs:
            budget.spend(sum(map(len, before.values())) // CELLS_PER_UPDATE)
            cells = {param.name: list(before[param.name]) for param in executable.program.params}
            try:
                budget.run(executable, self.sizes, cells)
            except MeaningError as error:
                return (fault_replay(error, self.sizes) if after else None), []
            after.append(cells)
        return None, after

    def _pairs(self, after: list[dict[str, Cells]]) -> Iterable[tuple[Param, int, int, int]]:
        """The words of every compared cell after both runs."""
        for param in self.contest.compared if after else ():
            for place, (left, right) in enumerate(zip(after[0][param.name], after[1][param.name], strict=True)):
                if left is not None and right is not None:
                    yield param, place, left, right

    def _departure(self, kind: str, param: Param, place: int) -> Replay:
        index = unravel(place, self.shapes[param.name])
        is_words = kind == "difference"
        return Replay("difference" if is_words else "operations", tuple(self.sizes.items()), param.name, index)

    def _count(self, name: str) -> int:
        count = capacity(self.shapes[name])
        self.contest.budget.spend(count)
        return count

    def _unspecified(self, name: str) -> Cells:
        count = capacity(self.shapes[name])
        self.contest.budget.spend(count // CELLS_PER_UPDATE)
        return [None] * count

    def _filled(self, kind: int, param: Param, instance: Instance | None) -> Cells:
        if param.scratch:
            return self._unspecified(param.name)
        elem, position = concrete(param.elem, instance), self.contest.order.index(param.name)
        return list(fill(kind, elem, self._count(param.name), position))

    def _leaves(self, buffer: str, place: int) -> tuple[tuple[str, int], ...]:
        """The initial cells that either program's word of a cell is made of."""
        words = [side[buffer][place] for side in self.terms]
        return tuple(dict.fromkeys(leaf for word in words if word is not None for leaf in self.contest.terms.leaves(word)))

    def _listed(self, before: Mapping[str, Cells], instance: Instance | None, leaves: Iterable[tuple[str, int]] | None) -> tuple[Input, ...]:
        """The initial words of some cells, or of all of them; none where they are many."""
        if leaves is None:
            leaves = [(name, place) for name, cells in before.items() for place in range(len(cells))]
        listed: list[Input] = []
        for name, place in sorted(leaves, key=lambda leaf: (self.contest.order.index(leaf[0]), leaf[1])):
            word, elem = before[name][place], concrete(self.contest.params[name].elem, instance)
            if word is not None:
                listed.append(Input(name, unravel(place, self.shapes[name]), elem, word, text_of_word(word, elem)))
        return tuple(listed) if len(listed) <= _FEW else ()


def fault_replay(error: MeaningError, sizes: Mapping[str, int]) -> Replay:
    """A run that has no meaning, as a replay."""
    return Replay("fault", tuple(sizes.items()), error.buffer, error.index, fault=error.kind, reason=error.text, span=error.span)


def word_algebra(program: Program, instance: Instance | None) -> WordAlgebra:
    """The program's own arithmetic, with one instance for all its generics."""
    names = [name for name, _ in program.generics]
    return WordAlgebra(arithmetic_of(program), {} if instance is None else dict.fromkeys(names, instance))


def name_of(instance: Instance | None) -> str | None:
    """The instance's name, where there is one."""
    return None if instance is None else instance.name


def concrete(elem: str, instance: Instance | None) -> str:
    """The type that stands for a generic's `Value`; a concrete type is itself."""
    return elem if elem in ELEMENTS or instance is None else instance.elem


def same_word(left: int, right: int, elem: str) -> bool:
    """Equality of words; all NaNs count as one."""
    element = ELEMENTS[elem]
    return left == right or (element.is_nan(left) and element.is_nan(right))
