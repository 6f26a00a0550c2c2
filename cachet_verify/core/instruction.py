"""Uses of an instruction: whether statements are its reference body on some operands.

Takes the body of a use and the reference body; says whether the one is the other with memory and values in the
place of the operands. Must not take a body for a use where a target that reads all operands first would
compute anything else.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cachet_verify.core.index import Const, Index, Sum, Var, substitute, substitute_formula, variables
from cachet_verify.core.ir import Block, Choose, Fold, For, Instruction, Load, OfIndex, Op, Range, Stmt, Store, Value, values


def is_use(body: Block, instruction: Instruction) -> bool:
    """Whether a body is the reference body of an instruction on some operands."""
    return operands_of(body, instruction) is not None


def operands_of(body: Block, instruction: Instruction) -> dict[str, tuple[tuple[Index, ...], Value]] | None:
    """What stands for each operand: its first word in the reference body, by index, and the value there; None where a body is no use."""
    match = _Match()
    if instruction.reference is None or not match.block(instruction.reference, body):
        return None
    return {name: found[0] for name, found in match.operands.items()}


@dataclass(slots=True)
class _Match:
    """What stands for what: counters and totals of the reference body, its operands, and where its result goes."""

    counters: dict[str, Index] = field(default_factory=dict)
    totals: dict[str, str] = field(default_factory=dict)
    operands: dict[str, list[tuple[tuple[Index, ...], Value]]] = field(default_factory=dict)
    result: Load | None = None

    def block(self, there: Block, here: Block) -> bool:
        """One statement on either side."""
        return len(there.body) == 1 == len(here.body) and self.statement(there.body[0], here.body[0])

    def statement(self, there: Stmt, here: Stmt) -> bool:
        """A loop for a loop, or for the lanes of a vector; then the store."""
        if isinstance(there, For) and isinstance(there.domain, Range):
            if isinstance(here, For) and here.domain == there.domain:
                self.counters[there.counter] = Var(here.counter)
                return self.block(there.body, here.body)
            if isinstance(here, Store) and here.lanes is not None and there.domain == Range(there.domain.low, _width(here)):
                self.counters[there.counter] = Var(here.lanes.counter)
                return len(there.body.body) == 1 and self.store(there.body.body[0], here)
            return False
        return isinstance(there, Store) and isinstance(here, Store) and self.store(there, here)

    def store(self, there: Stmt, here: Store) -> bool:
        """The result in cells of its own, the value that of the reference body, and no operand overwritten before it is read."""
        if not isinstance(there, Store) or (there.index and not self.is_place(there.index, here.index)):
            return False
        self.result = Load(here.buffer, here.index)
        return self.value(there.value, here.value) and all(self.is_apart(value) for found in self.operands.values() for _, value in found)

    def is_apart(self, value: Value) -> bool:
        """Whether an operand is read in no cell of the result but the one that is being written."""
        result = self.result
        loads = (part for part in values(value) if isinstance(part, Load))
        return result is None or all(load == result or load.buffer != result.buffer for load in loads)

    def is_place(self, there: tuple[Index, ...], here: tuple[Index, ...]) -> bool:
        """Whether cells are one for one those of the reference body: by the same index, or each counter alone in an index of its own."""
        if here == tuple(substitute(term, self.counters) for term in there):
            return True
        wanted = {term.name for name, term in self.counters.items() if isinstance(term, Var) and any(name in variables(part) for part in there)}
        own = {term.name for term in self.counters.values() if isinstance(term, Var)}
        used: list[str] = []
        for term in here:
            parts = term.terms if isinstance(term, Sum) else (term,)
            mine = [part.name for part in parts if isinstance(part, Var) and part.name in own]
            if len(mine) > 1 or variables(term) & own != set(mine):
                return False
            used += mine
        return sorted(used) == sorted(wanted)

    def value(self, there: Value, here: Value) -> bool:
        """The same operations; an operand of the reference body stands for what is there."""
        if isinstance(there, Load):
            if there.buffer in self.totals:
                return here == Load(self.totals[there.buffer])
            return self.operand(there, here)
        if isinstance(there, Op) and isinstance(here, Op):
            alike = (there.name, there.elem, len(there.args)) == (here.name, here.elem, len(here.args))
            return alike and all(self.value(*pair) for pair in zip(there.args, here.args, strict=True))
        if isinstance(there, Fold) and isinstance(here, Fold):
            return self.fold(there, here)
        if isinstance(there, Choose) and isinstance(here, Choose):
            condition = substitute_formula(there.condition, self.counters)
            return condition == here.condition and self.value(there.then, here.then) and self.value(there.orelse, here.orelse)
        if isinstance(there, OfIndex) and isinstance(here, OfIndex):
            return there.elem == here.elem and substitute(there.term, self.counters) == here.term
        return not isinstance(there, (Op, Fold, Choose, OfIndex)) and there == here

    def fold(self, there: Fold, here: Fold) -> bool:
        """The same chain."""
        if there.domain != here.domain or there.elem != here.elem or not self.value(there.init, here.init):
            return False
        self.counters[there.counter] = Var(here.counter)
        self.totals[there.acc] = here.acc
        return self.value(there.step, here.step)

    def operand(self, there: Load, here: Value) -> bool:
        """A word of an operand: a cell of memory one for one, or lane by lane any value; the same one wherever the word is used."""
        known = self.operands.setdefault(there.buffer, [])
        is_cell = isinstance(here, Load) and self.is_place(there.index, here.index)
        if not is_cell and (len(there.index) > 1 or any(not isinstance(term, Var) for term in there.index)):
            return False
        for index, value in known:
            if index == there.index and value != here:
                return False
            same = isinstance(value, Load) and isinstance(here, Load) and value.buffer == here.buffer
            flat = isinstance(here, Load) and here.index == tuple(substitute(term, self.counters) for term in there.index)
            if index != there.index and not (same and flat):
                return False
        known.append((there.index, here))
        return True


def _width(store: Store) -> Index:
    """How many lanes a store has."""
    return Const(store.lanes.width if store.lanes is not None else 0)
