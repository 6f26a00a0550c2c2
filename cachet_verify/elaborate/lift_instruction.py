"""Uses of instructions on vectors back to syntax: the instruction applied to its operands.

Takes a declared local and the use that fills it; gives the expression, or None where the use is shown as what
it computes. Must not show what would elaborate to anything else.
"""

from __future__ import annotations

from cachet_verify.core.index import Const, Index
from cachet_verify.core.instruction import operands_of
from cachet_verify.core.ir import Declare, For, Inlined, Load, Store, Value
from cachet_verify.elaborate.lift_term import call
from cachet_verify.elaborate.lift_value import LiftError, ValueLifter
from cachet_verify.syntax import ast


def lift_use(declared: Declare, use: Inlined, values: ValueLifter) -> ast.Expr | None:
    """The instruction and its operands, where they are vectors and words; None where there are numbers, or blocks of tiles."""
    instruction, stmt = use.instruction, use.body.body[0] if len(use.body.body) == 1 else None
    if instruction is None or use.is_tile or declared.init is not None or declared.shape:
        return None
    if isinstance(stmt, Store) and stmt.lanes is not None and stmt.lanes.active != Const(stmt.lanes.width):
        return None
    found = operands_of(use.body, instruction)
    if found is None or set(found) != set(instruction.operands):
        return None
    try:
        return call(instruction.name, *(_operand(*found[name], stmt, values) for name in instruction.operands))
    except LiftError:
        return None


def _operand(index: tuple[Index, ...], value: Value, stmt: object, values: ValueLifter) -> ast.Expr:
    """One operand: a word, the lanes of a vector, or a whole vector by its name."""
    if isinstance(stmt, Store):
        return values.value(value) if not index and stmt.lanes is not None else values.value(value, stmt.lanes)
    if isinstance(stmt, For) and isinstance(value, Load) and len(value.index) == 1 and values.known[value.buffer].width is not None:
        return ast.Name(value.buffer)
    raise LiftError("an operand that is no vector")
