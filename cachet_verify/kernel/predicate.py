"""Predicate: a guarded store becomes a store of a choice, which writes its own word back otherwise.

Takes a program and the path of a guard around one store to a local; computes the program in which
every instance stores: the value where the guard holds, else the word that the cell has. This is
what a masked vector instruction that merges does.
"""

from __future__ import annotations

from cachet_verify.core.ir import Block, Choose, Fold, If, Load, Program, Store, values
from cachet_verify.kernel.ask import Asked
from cachet_verify.kernel.claim import Goal, RuleError, Same, issue
from cachet_verify.kernel.conflict import ask_no_races, touches
from cachet_verify.kernel.place import Path, inside, splice, statement_at
from cachet_verify.kernel.scope import bound_names, lowered

RULE = "predicate-store"


def predicate_store(program: Program, path: Path) -> Goal:
    """`if p then store cell = v` becomes `store cell = if p then v else load cell`, for a cell of a local.

    Raises RuleError where anything else stands at the path.
    """
    stmt = statement_at(RULE, program, path)
    if not isinstance(stmt, If) or stmt.orelse != Block() or len(stmt.then.body) != 1:
        raise RuleError(RULE, "no guard around a single store stands at the path", stmt)
    store = stmt.then.body[0]
    if not isinstance(store, Store) or store.lanes is not None or any(isinstance(part, Fold) for part in values(store.value)):
        raise RuleError(RULE, "no guard around a single store stands at the path", stmt)
    families = lowered(RULE, program)
    if any(families.buffers[member.buffer].is_param for member in inside(families, path)):
        raise RuleError(RULE, f"{store.buffer} is not a local", store)
    own = Load(store.buffer, store.index)
    after = splice(RULE, program, path, 1, (Store(store.buffer, store.index, Choose(stmt.condition, store.value, own), span=store.span),))
    new = lowered(RULE, after)
    asked = Asked(new.premises())
    seen = frozenset(touch.buffer for member in inside(new, path) for touch in touches(member))
    ask_no_races(asked, new, bound_names(RULE, after), seen)
    return issue(RULE, Same(program, after), asked.obligations())
