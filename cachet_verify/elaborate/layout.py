"""Layouts: declared maps from indices to addresses, and what must hold of them.

Takes a layout; gives its address as a term and the conditions that make it one: no two cells
share an address, and every address lies inside the size. Must not assume either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cachet_verify.core.index import (
    ONE,
    ZERO,
    Formula,
    Index,
    Var,
    all_equal,
    conj,
    eq,
    implies,
    le,
    lt,
    mul,
    substitute,
)
from cachet_verify.core.spell import spell, spell_requirement
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.item import LayoutItem
from cachet_verify.elaborate.place import source_text
from cachet_verify.elaborate.scope import IndexEntity, Scope, SideCondition
from cachet_verify.elaborate.term import COMPARISONS, elaborate_condition, elaborate_index
from cachet_verify.syntax import ast

if TYPE_CHECKING:
    from cachet_verify.elaborate.world import Unit


def build_layout(unit: Unit, decl: ast.Layout) -> LayoutItem:
    """The item of a layout. Raises StopError, UnsupportedError."""
    context = Context(unit, unit.problems)
    extents = tuple(dim.name for dim in decl.dims if isinstance(dim, ast.Name))
    if len(extents) != len(decl.dims) or len({*extents, *decl.params, *decl.indices}) != len(extents) + len(decl.params) + len(decl.indices):
        raise unit.problems.stop(
            "elaborate.layout", "a layout names its extents, indices and numbers apart", decl.span, "`layout Rows : [R, C] (i, j) = i * C + j`"
        )
    if len(extents) != len(decl.indices):
        raise unit.problems.stop("elaborate.layout", "a layout has one index for each extent", decl.span)
    scope = Scope()
    for name in decl.params:
        scope = scope.bind(name, IndexEntity(Var(name))).assume(le(ONE, Var(name)))
    for name in extents:
        scope = scope.bind(name, IndexEntity(Var(name))).assume(le(ZERO, Var(name)))
    needs = tuple(elaborate_condition(need, scope, context) for need in decl.requires)
    scope = scope.assume(*needs)
    size = elaborate_index(decl.size, scope, context) if decl.size is not None else product([Var(name) for name in extents])
    inner = scope
    for name in decl.indices:
        inner = inner.bind(name, IndexEntity(Var(name)))
    address = elaborate_index(decl.address, inner.assume(*inside(decl.indices, [Var(name) for name in extents])), context)
    numbers: list[Index] = [Var(name) for name in decl.params]
    item = LayoutItem(decl.name, decl.params, extents, decl.indices, address, size, (), needs, decl.span)
    made = layout_conditions(item, numbers, [Var(name) for name in extents], scope.facts)
    return replace(item, conditions=(*context.conditions, *made), premises=scope.facts if needs else ())


def needed_at(decl: ast.Layout, numbers: Sequence[Index], extents: Sequence[Index], place: Scope, context: Context) -> Iterator[tuple[Formula, str]]:
    """What a layout requires where it is used with these numbers and extents, each with its text. Raises StopError.

    `context` is of the file that declares it; `place` is the scope of the use.
    """
    scope = Scope(facts=place.facts)
    names = (*decl.params, *(dim.name for dim in decl.dims if isinstance(dim, ast.Name)))
    for name, term in zip(names, (*numbers, *extents), strict=True):
        scope = scope.bind(name, IndexEntity(term))
    for need in decl.requires:
        goal = elaborate_condition(need, scope, context)
        yield goal, f"what the layout `{decl.name}` requires, {source_text(need)}: {_with_numbers(need, goal, scope, context)}"


def _with_numbers(need: ast.Expr, goal: Formula, scope: Scope, context: Context) -> str:
    """A requirement in terms of the place where the layout is used; both sides of a comparison stay as they are."""
    if not (isinstance(need, ast.Binary) and need.operator in COMPARISONS):
        return spell_requirement(goal)
    left, right = (spell(elaborate_index(side, scope, context)) for side in (need.left, need.right))
    return f"{left} {need.operator} {right}"


def product(terms: Sequence[Index]) -> Index:
    """The product of terms; one for none."""
    total: Index = ONE
    for term in terms:
        total = mul(total, term)
    return total


def inside(indices: Sequence[str], extents: Sequence[Index]) -> tuple[Formula, ...]:
    """That each index lies inside its extent."""
    return tuple(part for name, extent in zip(indices, extents, strict=True) for part in (le(ZERO, Var(name)), lt(Var(name), extent)))


def address_of(item: LayoutItem, numbers: Sequence[Index], extents: Sequence[Index], cell: Sequence[Index]) -> Index:
    """The address of a cell, for given numbers and extents."""
    return substitute(item.address, _meaning(item, numbers, extents) | dict(zip(item.indices, cell, strict=True)))


def size_of(item: LayoutItem, numbers: Sequence[Index], extents: Sequence[Index]) -> Index:
    """How many addresses a buffer of given extents takes."""
    return substitute(item.size, _meaning(item, numbers, extents))


def _meaning(item: LayoutItem, numbers: Sequence[Index], extents: Sequence[Index]) -> dict[str, Index]:
    return dict(zip(item.params, numbers, strict=True)) | dict(zip(item.extents, extents, strict=True))


def layout_conditions(item: LayoutItem, numbers: Sequence[Index], extents: Sequence[Index], facts: Sequence[Formula]) -> tuple[SideCondition, ...]:
    """That the map is injective and stays inside its size, for given numbers and extents."""
    primed = [f"{name}'" for name in item.indices]
    one: list[Index] = [Var(name) for name in item.indices]
    other: list[Index] = [Var(name) for name in primed]
    size = size_of(item, numbers, extents)
    first, second = address_of(item, numbers, extents, one), address_of(item, numbers, extents, other)
    cells = ", ".join(item.indices)
    here, there = inside(item.indices, extents), inside(primed, extents)
    bounded = conj((le(ZERO, first), lt(first, size)))
    apart = implies(eq(first, second), all_equal(one, other))
    return (
        SideCondition((*facts, *here), bounded, f"every address of ({cells}) lies inside the size", item.span),
        SideCondition((*facts, *here, *there), apart, f"no two cells ({cells}) share an address", item.span),
    )
