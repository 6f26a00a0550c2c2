"""Integer terms as steps need them: linear forms, block variables resolved, the ends of loops.

Takes core terms and programs; gives core terms. Everything here only proposes: where a term cannot
be taken apart the answer is None, never an approximation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cachet_verify.core.index import (
    ONE,
    ZERO,
    Index,
    Product,
    Sum,
    Var,
    add,
    minimum,
    mul,
    sub,
    substitute,
    variables,
)
from cachet_verify.core.ir import Block, Blocks, Domain, Fold, For, Grid, values
from cachet_verify.rewrite.place import stored_value, walk


@dataclass(frozen=True, slots=True)
class Linear:
    """`rest` plus each coefficient times its variable; neither mentions any of the variables."""

    coefficients: Mapping[str, Index]
    rest: Index

    def term(self) -> Index:
        """The sum, as a term."""
        return add(*(mul(factor, Var(name)) for name, factor in self.coefficients.items()), self.rest)


def linear(term: Index, names: frozenset[str]) -> Linear | None:
    """A term as a linear form in the named variables; None when it is not one."""
    if not variables(term) & names:
        return Linear({}, term)
    if isinstance(term, Var):
        return Linear({term.name: ONE}, ZERO)
    if isinstance(term, Sum):
        parts = [linear(part, names) for part in term.terms]
        return _added([part for part in parts if part is not None]) if None not in parts else None
    if isinstance(term, Product):
        factor, form = (term.left, linear(term.right, names)) if not variables(term.left) & names else (term.right, linear(term.left, names))
        if variables(factor) & names or form is None:
            return None
        return Linear({name: mul(factor, part) for name, part in form.coefficients.items()}, mul(factor, form.rest))
    return None


def _added(forms: list[Linear]) -> Linear:
    coefficients: dict[str, Index] = {}
    for form in forms:
        for name, factor in form.coefficients.items():
            coefficients[name] = add(coefficients[name], factor) if name in coefficients else factor
    return Linear(coefficients, add(*(form.rest for form in forms)))


def block_parts(name: str, blocks: Blocks) -> dict[str, Index]:
    """What `g.lo` and `g.len` stand for in a loop over blocks, with `g` the ordinal."""
    start = add(blocks.low, mul(blocks.size, Var(name)))
    return {f"{name}.lo": start, f"{name}.len": minimum(blocks.size, sub(blocks.high, start))}


def all_block_parts(block: Block) -> dict[str, Index]:
    """The starts and lengths of all blocks of a program, in terms of ordinals alone.

    Names are unique in a program, so one table does for all places.
    """
    known: dict[str, Index] = {}

    def enter(name: str, domain: Domain) -> None:
        if isinstance(domain, Blocks):
            low, high, size = (substitute(term, known) for term in (domain.low, domain.high, domain.size))
            known.update(block_parts(name, Blocks(low, high, size)))

    for _, stmt in walk(block):
        if isinstance(stmt, For):
            enter(stmt.counter, stmt.domain)
        elif isinstance(stmt, Grid):
            for axis in stmt.axes:
                enter(axis.counter, axis.domain)
        value = stored_value(stmt)
        for part in values(value) if value is not None else ():
            if isinstance(part, Fold):
                enter(part.counter, part.domain)
    return known
