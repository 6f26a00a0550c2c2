"""Over what the indices of an equation run, read off the operands they index.

Takes equations and the extents of operands; gives the extent of each index.
Must not guess: an index whose uses disagree, or that no operand has by itself, is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields

from cachet_verify.core.index import Index
from cachet_verify.core.spell import spell
from cachet_verify.diagnostic import Note
from cachet_verify.elaborate.problem import Problems, indexed
from cachet_verify.elaborate.term import same_term
from cachet_verify.source import Span
from cachet_verify.syntax import ast

Extents = Callable[[str], "tuple[Index | None, ...] | None"]
"""The extents of an operand by name, each None when unknown; None for a name that is no operand."""


@dataclass(frozen=True, slots=True)
class Use:
    """An operand's whole dimension indexed by one name."""

    extent: Index
    place: ast.Index


def children(node: ast.Node) -> Iterator[ast.Node]:
    """The nodes directly inside a node, in order."""
    for part in fields(node):
        value = getattr(node, part.name)
        if isinstance(value, ast.Node):
            yield value
        elif isinstance(value, tuple):
            yield from (item for item in value if isinstance(item, ast.Node))


def plain_uses(name: str, body: ast.Node, extents: Extents) -> Iterator[Use]:
    """Where `name` alone is an index of an operand; inner sums that bind the name hide it."""
    if isinstance(body, (ast.Sum, ast.Reduce)) and name in body.indices:
        return
    if isinstance(body, ast.Index) and isinstance(body.base, ast.Name):
        shape = extents(body.base.name)
        if shape is not None and len(shape) == len(body.items):
            for item, extent in zip(body.items, shape, strict=True):
                if item == ast.Name(name) and extent is not None:
                    yield Use(extent, body)
    for child in children(body):
        yield from plain_uses(name, child, extents)


def find_range(name: str, body: ast.Node, extents: Extents) -> Index | None:
    """The extent of the first plain use, where all agree; None when there is none or they differ."""
    uses = list(plain_uses(name, body, extents))
    if not uses or not all(same_term(uses[0].extent, use.extent) for use in uses[1:]):
        return None
    return uses[0].extent


def _misused(body: ast.Node, extents: Extents) -> Iterator[tuple[ast.Index, str, int]]:
    """Where an operand has another number of indices than dimensions: its name and the latter."""
    if isinstance(body, ast.Index) and isinstance(body.base, ast.Name):
        shape = extents(body.base.name)
        if shape is not None and len(shape) != len(body.items):
            yield body, body.base.name, len(shape)
    for child in children(body):
        yield from _misused(child, extents)


def summed_range(name: str, body: ast.Node, extents: Extents, problems: Problems, span: Span | None) -> Index:
    """The extent of a summed index. Raises StopError after reporting why there is none."""
    uses = list(plain_uses(name, body, extents))
    if not uses:
        for place, operand, rank in _misused(body, extents):
            wanted = "1 index" if rank == 1 else f"{rank} indices"
            message = f"`{operand}` takes {wanted}, not {len(place.items)}"
            raise problems.stop("elaborate.index.rank", message, place.span or span, indexed(operand, rank))
        message = f"over what `{name}` runs cannot be told: no operand is indexed by `{name}` alone"
        raise problems.stop("elaborate.range.unknown", message, span, f"index some operand by `{name}` alone, such as `w[{name}]`")
    first = uses[0]
    for use in uses[1:]:
        if not same_term(first.extent, use.extent):
            message = f"`{name}` runs over `{spell(first.extent)}` in one operand and over `{spell(use.extent)}` in another"
            note = Note(f"here it runs over `{spell(first.extent)}`", first.place.span)
            raise problems.stop("elaborate.range.disagree", message, use.place.span or span, "declare both with the same size", note)
    return first.extent
