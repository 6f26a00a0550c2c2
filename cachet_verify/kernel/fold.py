"""A running total as updates of its cell, and back.

Takes a program and the path of a store of a fold; computes the program with the total kept in the
stored cell itself. The only thing that can go wrong is that the steps read that cell: then they
would see the total grow, so every such read is asked to be of another cell.
"""

from __future__ import annotations

from cachet_verify.core.family import Family, accesses
from cachet_verify.core.index import all_equal, lt, neg
from cachet_verify.core.ir import (
    Block,
    Choose,
    Fold,
    For,
    Grid,
    Load,
    Op,
    Program,
    Store,
    Value,
)
from cachet_verify.kernel.ask import Asked
from cachet_verify.kernel.claim import Goal, RuleError, Same, issue
from cachet_verify.kernel.place import Path, context_of, enclosing, inside, position_of, splice, statement_at
from cachet_verify.kernel.scope import lowered


def fold_at(rule: str, program: Program, path: Path) -> tuple[Store, Fold]:
    """The store of a fold at a path. Raises RuleError where something else stands there."""
    stmt = statement_at(rule, program, path)
    if not isinstance(stmt, Store) or not isinstance(stmt.value, Fold) or stmt.lanes is not None:
        raise RuleError(rule, "no store of a fold stands at the path", stmt)
    return stmt, stmt.value


def open_fold(program: Program, path: Path) -> Goal:
    """`store cell = fold k from init as acc do step` becomes updates of the cell.

    The program after has `store cell = init`, left out where `init` is the cell itself, then a
    loop over `k` with `store cell = step`, in which the cell stands for the total.
    """
    rule = "open-fold"
    return _opened(rule, program, path)


def _opened(rule: str, program: Program, path: Path) -> Goal:
    store, fold = fold_at(rule, program, path)
    asked = Asked(lowered(rule, program).premises())
    ask_apart(rule, asked, program, path)
    cell = Load(store.buffer, store.index)
    update = Store(store.buffer, store.index, replaced(fold.step, fold.acc, cell), span=store.span)
    loop = For(fold.counter, fold.domain, Block((update,)), store.span)
    start = () if fold.init == cell else (Store(store.buffer, store.index, fold.init, span=store.span),)
    after = splice(rule, program, path, 1, (*start, loop))
    lowered(rule, after)
    return issue(rule, Same(program, after), asked.obligations())


def split_store(program: Program, path: Path) -> Goal:
    """`store cell = fold … from init …` becomes `store cell = init`, then the fold from the cell."""
    rule = "split-store"
    store, fold = fold_at(rule, program, path)
    asked = Asked(lowered(rule, program).premises())
    ask_apart(rule, asked, program, path)
    cell = Load(store.buffer, store.index)
    if fold.init == cell:
        raise RuleError(rule, "the total starts from its cell already", store)
    start = Store(store.buffer, store.index, fold.init, span=store.span)
    total = Fold(fold.counter, fold.domain, cell, fold.acc, fold.elem, fold.step)
    rest = Store(store.buffer, store.index, total, span=store.span)
    after = splice(rule, program, path, 1, (start, rest))
    lowered(rule, after)
    return issue(rule, Same(program, after), asked.obligations())


def close_fold(program: Program, path: Path, acc: str, elem: str) -> Goal:
    """A loop that updates one cell becomes a store of a fold: `open_fold`, read backwards.

    At the path stands a loop whose body is one store of a cell that reads itself; `acc` names the
    total and `elem` its element type. Where the statement before sets the cell, `split_store` and
    this make the fold start from it. In a grid the loop is asked to run at least once, since the
    fold stores its cell even when it runs no step.
    """
    rule = "close-fold"
    stmt = statement_at(rule, program, path)
    inner = stmt.body.body if isinstance(stmt, For) else ()
    if not isinstance(stmt, For) or len(inner) != 1 or not isinstance(inner[0], Store) or inner[0].lanes is not None:
        raise RuleError(rule, "no loop over a single store stands at the path", stmt)
    store = inner[0]
    cell = Load(store.buffer, store.index)
    step = _totalled(store.value, cell, acc)
    total = Fold(stmt.counter, stmt.domain, cell, acc, elem, step)
    after = splice(rule, program, path, 1, (Store(store.buffer, store.index, total, span=stmt.span),))
    reopened = _opened(rule, after, path)
    if not isinstance(reopened.statement, Same) or reopened.statement.after != program:
        raise RuleError(rule, "opening the fold again does not give the program back", after)
    asked = Asked(lowered(rule, program).premises())
    if any(isinstance(outer, Grid) for outer in enclosing(rule, program, path)):
        _ask_runs(rule, asked, after, path, stmt)
    return issue(rule, Same(program, after), (*reopened.obligations, *asked.obligations()))


def start_fold(program: Program, path: Path) -> Goal:
    """`store cell = init`, then a fold from the cell, becomes a fold from `init`: `split_store` read backwards."""
    rule = "start-fold"
    store, fold = fold_at(rule, program, (*path[:-1], path[-1] + 1))
    start = statement_at(rule, program, path)
    if not isinstance(start, Store) or start.lanes is not None:
        raise RuleError(rule, "no store stands at the path", start)
    total = Fold(fold.counter, fold.domain, start.value, fold.acc, fold.elem, fold.step)
    after = splice(rule, program, path, 2, (Store(store.buffer, store.index, total, span=store.span),))
    split = split_store(after, path)
    if not isinstance(split.statement, Same) or split.statement.after != program:
        raise RuleError(rule, "the fold does not start from the cell that is set", start, store)
    return issue(rule, Same(program, after), split.obligations)


def _ask_runs(rule: str, asked: Asked, after: Program, path: Path, loop: For) -> None:
    domain, (low, high) = context_of(rule, after, path, (loop.domain.low, loop.domain.high))
    asked.ask(f"the loop at {loop.counter} runs at least once", domain, lt(low, high))


def replaced(value: Value, acc: str, cell: Load) -> Value:
    """A step with its total read from a cell."""
    if isinstance(value, Load):
        return cell if value == Load(acc) else value
    if isinstance(value, Op):
        return Op(value.name, value.elem, tuple(replaced(arg, acc, cell) for arg in value.args))
    if isinstance(value, Choose):
        return Choose(value.condition, replaced(value.then, acc, cell), replaced(value.orelse, acc, cell))
    if isinstance(value, Fold):
        init, step = replaced(value.init, acc, cell), replaced(value.step, acc, cell)
        return Fold(value.counter, value.domain, init, value.acc, value.elem, step)
    return value


def _totalled(value: Value, cell: Load, acc: str) -> Value:
    """A step with its cell read from a total."""
    if isinstance(value, Load):
        return Load(acc) if value == cell else value
    if isinstance(value, Op):
        return Op(value.name, value.elem, tuple(_totalled(arg, cell, acc) for arg in value.args))
    if isinstance(value, Choose):
        return Choose(value.condition, _totalled(value.then, cell, acc), _totalled(value.orelse, cell, acc))
    if isinstance(value, Fold):
        init, step = _totalled(value.init, cell, acc), _totalled(value.step, cell, acc)
        return Fold(value.counter, value.domain, init, value.acc, value.elem, step)
    return value


def ask_apart(rule: str, asked: Asked, program: Program, path: Path) -> None:
    """Ask that no step of the fold at a path reads the cell that the total is stored in."""
    families = lowered(rule, program)
    members = inside(families, path)
    stored = [member for member in members if position_of(member) == (*path, 2)]
    store, fold = fold_at(rule, program, path)
    if _goes_on(members, path) and fold.init == Load(store.buffer, store.index):
        stored = list(members)
    if len(stored) != 1:
        raise RuleError(rule, "no store of a fold stands at the path", path)
    last = stored[0]
    if families.buffers[last.buffer].elem != fold.elem:
        raise RuleError(rule, f"the total is of type {fold.elem}, its cell is not", last)
    for member in members:
        if position_of(member)[: len(path) + 1] == (*path, 1):
            _ask_elsewhere(asked, member, last)


def _goes_on(members: tuple[Family, ...], path: Path) -> bool:
    """Whether the steps were lowered to updates of the local that they go on with: only where none of them reads that local."""
    return len(members) == 1 and position_of(members[0]) == (*path, 0)


def _ask_elsewhere(asked: Asked, step: Family, last: Family) -> None:
    for access in accesses(step.value):
        if access.buffer == last.buffer:
            subject = f"no step of the total reads the cell of {last.buffer} that it is stored in"
            asked.ask(subject, (*step.domain, *access.under), neg(all_equal(access.cell, last.cell)))
