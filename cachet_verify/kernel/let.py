"""A `let` and the one store that uses it, as one statement.

Takes a program and the path of a scalar `let` with a store right behind it; computes the program
with the value in place of the name. All reads of a store precede its writes, and nothing is
written between the two statements, so the value reads the same words in either place.
"""

from __future__ import annotations

from dataclasses import replace

from cachet_verify.core.ir import Choose, Declare, Fold, Load, Op, Program, Store, Value, values
from cachet_verify.kernel.claim import Goal, RuleError, Same, issue
from cachet_verify.kernel.place import Path, splice, statement_at
from cachet_verify.kernel.scope import lowered

RULE = "inline-let"


def inline_let(program: Program, path: Path) -> Goal:
    """`let x = e` and `store cell = … x …` become `store cell = … e …`; nothing has to be proved.

    Raises RuleError where `x` is no scalar `let`, is used anywhere else, or where the value would
    put a fold inside an operand.
    """
    stmt, store = statement_at(RULE, program, path), statement_at(RULE, program, (*path[:-1], path[-1] + 1))
    if not isinstance(stmt, Declare) or stmt.mutable or stmt.shape or stmt.width is not None or stmt.init is None:
        raise RuleError(RULE, "no scalar let stands at the path", stmt)
    if not isinstance(store, Store):
        raise RuleError(RULE, "no store stands behind the let", store)
    if any(isinstance(part, Fold) for part in values(stmt.init)) and store.value != Load(stmt.name):
        raise RuleError(RULE, "the let is a fold, and is not stored as it is", store)
    lowered(RULE, program)
    value = _with(store.value, Load(stmt.name), stmt.init)
    after = splice(RULE, program, path, 2, (replace(store, value=value),))
    lowered(RULE, after)  # refuses any use that is left of the name
    return issue(RULE, Same(program, after), ())


def _with(value: Value, use: Load, by: Value) -> Value:
    if value == use:
        return by
    if isinstance(value, Op):
        return Op(value.name, value.elem, tuple(_with(arg, use, by) for arg in value.args))
    if isinstance(value, Choose):
        return Choose(value.condition, _with(value.then, use, by), _with(value.orelse, use, by))
    if isinstance(value, Fold):
        return replace(value, init=_with(value.init, use, by), step=_with(value.step, use, by))
    return value
