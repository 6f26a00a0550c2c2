"""Functions of arrays on arrays of so many cells, written out: what a law about them is read as.

Takes the program of a function and the cells of its operands; gives the cells of its result, with every total and choice of indices
written out. Must not simplify what a cell computes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from cachet_verify.core.index import Const, Index, evaluate, holds
from cachet_verify.core.ir import Choose, Fold, Load, Op, Program, Range, Value, Word
from cachet_verify.elaborate.cell import cells_of
from cachet_verify.elaborate.problem import UnsupportedError

MOST_CELLS = 256
"""Cells of an array that laws are read of."""


def places(shape: Sequence[Index]) -> tuple[tuple[int, ...], ...]:
    """Every cell of an array, in lexicographic order. Raises UnsupportedError for one that is too large."""
    extents = [extent.value if isinstance(extent, Const) else MOST_CELLS + 1 for extent in shape]
    count = 1
    for extent in extents:
        count *= extent
    if count > MOST_CELLS:
        raise UnsupportedError(f"a law about arrays of more than {MOST_CELLS} cells", None)
    return tuple(product(*(range(extent) for extent in extents)))


def written_out(member: Program, args: Sequence[Sequence[Value]]) -> tuple[Value, ...]:
    """The cells of a result. Raises UnsupportedError for what is not written out."""
    cells = cells_of(member)
    known = places(member.params[-1].shape)
    given = {name: dict(zip(known, values, strict=True)) for name, values in zip(cells.params, args, strict=True)}
    return tuple(_Writing(given).value(cells.value, dict(zip(cells.counters, at, strict=True)), {}) for at in known)


@dataclass(frozen=True, slots=True)
class _Writing:
    """One cell on its way: the cells of the operands, by name and place."""

    given: Mapping[str, Mapping[tuple[int, ...], Value]]

    def value(self, value: Value, at: Mapping[str, int], totals: Mapping[str, Value]) -> Value:
        if isinstance(value, Load):
            return self.read(value, at, totals)
        if isinstance(value, Word):
            return value
        if isinstance(value, Op):
            return Op(value.name, value.elem, tuple(self.value(arg, at, totals) for arg in value.args))
        if isinstance(value, Choose):
            return self.value(value.then if holds(value.condition, at) else value.orelse, at, totals)
        if isinstance(value, Fold) and isinstance(value.domain, Range):
            total = self.value(value.init, at, totals)
            for counter in range(evaluate(value.domain.low, at), evaluate(value.domain.high, at)):
                total = self.value(value.step, {**at, value.counter: counter}, {**totals, value.acc: total})
            return total
        raise UnsupportedError(f"a {type(value).__name__.lower()} in a law about arrays", None)

    def read(self, load: Load, at: Mapping[str, int], totals: Mapping[str, Value]) -> Value:
        """A total so far, or a cell of an operand."""
        if load.buffer in totals and not load.index:
            return totals[load.buffer]
        cells = self.given.get(load.buffer, {})
        place = tuple(evaluate(term, at) for term in load.index)
        if place not in cells:
            raise UnsupportedError(f"a cell outside of `{load.buffer}` in a function of arrays", None)
        return cells[place]
