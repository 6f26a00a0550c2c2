"""Instructions as their uses see them: operands, reference bodies, and one use of a product of blocks.

Takes nothing of a program; gives records, and the statements of a use. Must not look names up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isqrt

from cachet_verify.core.index import ZERO, Const, Formula, Index, Var, add, div, mod, mul
from cachet_verify.core.ir import Block, Fold, For, Inlined, Instruction, Load, Op, Range, Store
from cachet_verify.elaborate.scope import ValueType
from cachet_verify.source import Span
from cachet_verify.syntax import ast

Cell = tuple[Index, ...]


@dataclass(frozen=True, slots=True)
class Chains:
    """`mma_block left right total`: each output is a chain of `depth` fmas, in ascending order, from its total.

    `left` has `rows` times `depth` words, `right` `depth` times `columns`, `total` `rows` times `columns`, row by row.
    """

    left: str
    right: str
    total: str
    rows: int
    columns: int
    depth: int


@dataclass(frozen=True, slots=True)
class Reference:
    """An instruction, read: its operands that are words or vectors, its numbers, its result, and its body where that is `mma_block`.

    `needs` is what it requires, each with its text, where all lanes of its result are in use; `conditions` say it for `active` lanes.
    """

    fn: ast.Fn
    path: str
    operands: Mapping[str, ValueType]
    numbers: tuple[str, ...]
    result: ValueType
    chains: Chains | None
    body: Block | None = None
    needs: tuple[tuple[Formula, str], ...] = ()
    conditions: tuple[Formula, ...] = ()

    @property
    def mark(self) -> Instruction:
        """The instruction as programs carry it."""
        templates = tuple((template.target, template.text) for template in self.fn.templates)
        names = tuple(param.name for param in self.fn.params)
        types = (self.operands[name].text() if name in self.operands else "Nat" for name in names)
        return Instruction(self.fn.name, templates, self.body, names, (*types, self.result.text()), self.conditions)


def block_shape(widths: Sequence[int]) -> tuple[int, int, int] | None:
    """Rows, columns and depth of blocks with so many words (left, right, total); None where there are none."""
    left, right, total = widths
    volume = isqrt(left * right * total)
    if volume == 0 or any(volume % width for width in widths):
        return None
    rows, columns, depth = volume // right, volume // left, volume // total
    return (rows, columns, depth) if (rows * depth, depth * columns, rows * columns) == (left, right, total) else None


@dataclass(frozen=True, slots=True)
class Product:
    """One use of an instruction on blocks of three tiles: the tiles by name and the first row, column and step of the blocks.

    `names` are the counters of the loops over rows, columns and steps, and the total of the chains.
    """

    goal: str
    left: str
    right: str
    starts: tuple[Index, Index, Index]
    names: tuple[str, str, str, str]
    span: Span | None = None


def multiplies_blocks(reference: Reference) -> bool:
    """Whether an instruction adds the product of its first two operands to its last, which it then gives."""
    chains, operands = reference.chains, tuple(reference.operands)
    return chains is not None and len(operands) == 3 and chains.total == operands[2] and {chains.left, chains.right} == set(operands[:2])


def blocks_of(reference: Reference) -> tuple[int, int, int]:
    """Rows, columns and depth of the blocks that the operands are by their places; zeros where they are none."""
    widths = [kind.width or 1 for kind in reference.operands.values()]
    return (block_shape(widths) if len(widths) == 3 else None) or (0, 0, 0)


def use_of(reference: Reference, product: Product) -> Inlined:
    """The reference body on one block: a chain of fmas for each element of the goal. For instructions that multiply blocks."""
    _, columns, depth = blocks_of(reference)
    first, second = tuple(reference.operands)[:2]
    row, column, step, total = product.names
    (i0, j0, k0), elem = product.starts, reference.result.elem
    at = {first: (product.left, _block_at((i0, k0), depth)), second: (product.right, _block_at((k0, j0), columns))}
    chains = reference.chains
    if chains is None:
        raise ValueError(f"{reference.fn.name} multiplies no blocks")
    (one, left), (other, right) = at[chains.left], at[chains.right]
    words = (Load(one, left(Var(row), Var(step), chains.depth)), Load(other, right(Var(step), Var(column), chains.columns)))
    cell = _block_at((i0, j0), columns)(Var(row), Var(column), chains.columns)
    chain = Fold(step, Range(ZERO, Const(chains.depth)), Load(product.goal, cell), total, elem, Op("fma", elem, (*words, Load(total))))
    inner = For(column, Range(ZERO, Const(chains.columns)), Block((Store(product.goal, cell, chain, span=product.span),)), product.span)
    outer = For(row, Range(ZERO, Const(chains.rows)), Block((inner,)), product.span)
    return Inlined(reference.fn.name, Block((outer,)), product.span, reference.mark)


def _block_at(start: tuple[Index, Index], width: int) -> Callable[[Index, Index, int], Cell]:
    """Where an element of a block lies in its tile, told by its row and column in a block of another width."""

    def at(row: Index, column: Index, of: int) -> Cell:
        if of == width:
            return (add(start[0], row), add(start[1], column))
        flat = add(mul(Const(of), row), column)
        return (add(start[0], div(flat, Const(width))), add(start[1], mod(flat, Const(width))))

    return at
