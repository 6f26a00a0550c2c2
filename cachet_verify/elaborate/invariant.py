"""`invariant c in M, N`: what it names, in a header and as a proof.

Takes the clause and the program it is about; gives rows with names that are checked. Must not judge
whether it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cachet_verify.core.index import Var, variables
from cachet_verify.core.ir import Param
from cachet_verify.core.spell import spell
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.item import InvariantItem, InvariantRow
from cachet_verify.elaborate.place import source_text
from cachet_verify.elaborate.problem import Unsupported
from cachet_verify.elaborate.proof import head_of, side_of
from cachet_verify.syntax import ast

if TYPE_CHECKING:
    from cachet_verify.elaborate.world import Unit

_CODE = "elaborate.invariant"


def build_invariant(unit: Unit, decl: ast.Proof, body: ast.InvariantProof) -> InvariantItem:
    """The item of `proof p = invariant c in M of F`. Raises StopError, UnsupportedError."""
    context = Context(unit, unit.problems)
    name, program, is_schedule = side_of(unit, body.of, context)
    rests_on = (unit.known_as(head_of(body.of).name),)
    start = program
    if start is None and is_schedule:
        entry = unit.find(name)
        scheduled = None if entry is None else unit.schedule(entry, decl.span)
        start = None if scheduled is None else scheduled.program
    row = InvariantRow(body.invariant.name, (), body.invariant.span)
    if start is None:
        lacking = Unsupported(f"an invariant of `{name}`, which has no meaning yet", decl.span)
        return InvariantItem(decl.name, name, None, row, (lacking,), rests_on, decl.span)
    row = invariant_row(body.invariant, start.sizes, start.params, context)
    return InvariantItem(decl.name, name, program, row, (), rests_on, decl.span)


def invariant_rows(contract: ast.Contract, sizes: Sequence[str], params: Sequence[Param], context: Context) -> tuple[InvariantRow, ...]:
    """The rows of a header. Raises StopError."""
    return tuple(invariant_row(clause, sizes, params, context) for clause in contract.invariants)


def invariant_row(clause: ast.Invariant, sizes: Sequence[str], params: Sequence[Param], context: Context) -> InvariantRow:
    """A result and sizes that its shape, and the shapes of the inputs, have for themselves. Raises StopError."""
    result = next((param for param in params if param.name == clause.name), None)
    if result is None or result.mode == "reads" or result.scratch:
        known = ", ".join(f"`{param.name}`" for param in params if param.mode != "reads" and not param.scratch)
        why = "is no result" if result is None or result.scratch else "is only read"
        message = f"`{clause.name}` {why}, so nothing can be said of what it depends on"
        raise context.stop(_CODE, message, clause.span, f"name {known}" if known else "")
    row = InvariantRow(clause.name, (), clause.span)
    for dim in clause.dims:
        if not isinstance(dim, ast.Name) or dim.name not in sizes or Var(dim.name) not in result.shape:
            extents = ", ".join(f"`{spell(term)}`" for term in result.shape if isinstance(term, Var))
            hint = f"its sizes are {extents}" if extents else "give it an extent that is a size"
            raise context.stop(_CODE, f"`{source_text(dim)}` is no size along which `{clause.name}` has parts", dim.span, hint)
        if dim.name in row.dims:
            raise context.stop(_CODE, f"`{dim.name}` stands there twice", dim.span)
        _check_parts(dim, params, context)
        row = replace(row, dims=(*row.dims, dim.name))
    return row


def _check_parts(dim: ast.Name, params: Sequence[Param], context: Context) -> None:
    """Report a parameter whose shape does not say which of its cells belong to a part."""
    for param in params:
        if param.scratch:
            continue
        if sum(term == Var(dim.name) for term in param.shape) > 1:
            message = f"`{param.name}` has `{dim.name}` twice among its extents, so which of its cells belong to a part is not said"
            raise context.stop(_CODE, message, dim.span, "give one of the two dimensions a size of its own")
        for term in param.shape:
            if dim.name in variables(term) and term != Var(dim.name):
                message = f"`{param.name}` has the extent `{spell(term)}`, so which of its cells belong to a part along `{dim.name}` is not said"
                raise context.stop(_CODE, message, dim.span, f"give the dimension a size of its own, or leave `{dim.name}` out")
