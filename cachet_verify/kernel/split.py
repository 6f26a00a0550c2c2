"""A running total worked through in blocks: it carries on from one block to the next in its cell.

Takes a program, the path of a store of a fold and a block size; computes the program with a loop
over blocks around a store of a fold over one block. No addition is regrouped: the steps come in
the order they had, and the total is the cell between blocks.
"""

from __future__ import annotations

from cachet_verify.core.index import ZERO, Formula, Index, Var, add, div, eq, lt, mul, sub, substitute, substitute_formula
from cachet_verify.core.ir import (
    Block,
    Blocks,
    Choose,
    Domain,
    Fold,
    For,
    Load,
    OfIndex,
    Op,
    Program,
    Range,
    Store,
    Value,
    values,
)
from cachet_verify.kernel.ask import Asked, moved
from cachet_verify.kernel.claim import Goal, RuleError, Same, issue
from cachet_verify.kernel.fold import ask_apart, fold_at
from cachet_verify.kernel.place import Path, context_of, splice
from cachet_verify.kernel.scope import lowered

RULE = "split-fold"


def split_fold(
    program: Program, path: Path, size: Index, block: str, inner: str, exact: bool = False, count: Index | None = None
) -> Goal:
    """`store cell = fold k in lo .. hi …` becomes a loop over blocks, each a fold from the cell.

    Where the total starts from its cell, every block does; else the first block starts from
    `init`, and the range is asked not to be empty, because an empty one runs no block at all.
    `exact` gives `count` blocks (by default the quotient) of exactly `size` indices, asked to
    cover the range; otherwise the last block may be shorter. `inner` may be `k` itself.
    """
    store, fold = fold_at(RULE, program, path)
    if not isinstance(fold.domain, Range):
        raise RuleError(RULE, "the fold runs over blocks already", store)
    low, high = fold.domain.low, fold.domain.high
    number = count if count is not None else div(sub(high, low), size)
    domain, (size_, low_, high_, number_) = context_of(RULE, program, path, (size, low, high, number))
    asked = Asked(lowered(RULE, program).premises())
    asked.ask("blocks have at least one index", domain, lt(ZERO, size_))
    if exact:
        asked.ask("whole blocks cover the range", domain, eq(mul(size_, number_), sub(high_, low_)))
    cell = Load(store.buffer, store.index)
    first = fold.init
    if fold.init != cell:
        if any(isinstance(part, Fold) for part in values(fold.init)):
            raise RuleError(RULE, "the total starts from a fold", store)
        asked.ask(f"the sum over {fold.counter} has at least one step", domain, lt(low_, high_))
        at_first = eq(Var(block), ZERO) if exact else eq(Var(f"{block}.lo"), low)
        first = Choose(at_first, fold.init, cell)
    ask_apart(RULE, asked, program, path)
    start = add(low, mul(size, Var(block))) if exact else Var(f"{block}.lo")
    step = indexed(fold.step, fold.counter, add(start, Var(inner)))
    extent = size if exact else Var(f"{block}.len")
    total = Fold(inner, Range(ZERO, extent), first, fold.acc, fold.elem, step)
    blocks: Domain = Range(ZERO, number) if exact else Blocks(low, high, size)
    body = Block((Store(store.buffer, store.index, total, span=store.span),))
    after = splice(RULE, program, path, 1, (For(block, blocks, body, store.span),))
    lowered(RULE, after)
    return issue(RULE, Same(program, after), asked.obligations())


def indexed(value: Value, name: str, term: Index) -> Value:
    """A value with an index variable replaced by a term, in folds too."""
    by = {name: term}
    if isinstance(value, Load):
        return Load(value.buffer, moved(value.index, by))
    if isinstance(value, OfIndex):
        return OfIndex(value.elem, substitute(value.term, by))
    if isinstance(value, Op):
        return Op(value.name, value.elem, tuple(indexed(arg, name, term) for arg in value.args))
    if isinstance(value, Choose):
        condition: Formula = substitute_formula(value.condition, by)
        return Choose(condition, indexed(value.then, name, term), indexed(value.orelse, name, term))
    if isinstance(value, Fold):
        init, step = indexed(value.init, name, term), indexed(value.step, name, term)
        return Fold(value.counter, _indexed_domain(value.domain, by), init, value.acc, value.elem, step)
    return value


def _indexed_domain(domain: Domain, by: dict[str, Index]) -> Domain:
    low, high = substitute(domain.low, by), substitute(domain.high, by)
    return Blocks(low, high, substitute(domain.size, by)) if isinstance(domain, Blocks) else Range(low, high)
