"""Statements on whole tiles back to syntax: blocks, arithmetic on tiles, products.

Takes the loops of a statement that is marked as one on tiles; gives the statement, or None where they are
not of a form that is known here and are shown as loops. Must not show what would elaborate to anything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cachet_verify.core.index import ONE, ZERO, Index, Sum, Var, add, variables
from cachet_verify.core.ir import Choose, Declare, Fold, For, Inlined, Lanes, Load, OfIndex, Op, Range, Store, Value
from cachet_verify.elaborate.lift_term import call
from cachet_verify.elaborate.lift_value import LiftError, ValueLifter
from cachet_verify.syntax import ast

Shapes = Mapping[str, tuple[Index, ...]]
Loops = tuple[tuple[str, Index], ...]


def lift_fill(stmt: Inlined, values: ValueLifter, shapes: Shapes) -> tuple[str, ast.Expr] | None:
    """The local tile that a statement fills as a whole, and with what; None where it does anything else."""
    loops, store = _nest(stmt)
    if store is None or values.known[store.buffer].is_memory:
        return None
    shape = shapes.get(store.buffer, ())
    if isinstance(store.value, Fold) or stmt.text == "mma" or tuple(extent for _, extent in loops) != shape or not loops:
        return None
    cells = zip(store.index, loops, strict=False)
    if len(store.index) != len(loops) or not all(term == Var(name) or (term == ZERO and extent == ONE) for term, (name, extent) in cells):
        return None
    value = _tile_value(store.value, loops, values, shapes)
    return None if value is None else (store.buffer, value)


def lift_tile(stmt: Inlined, values: ValueLifter, shapes: Shapes) -> ast.Statement | None:
    """The statement that the loops are; None where they are shown as loops."""
    product = _product(stmt, shapes)
    if product is not None:
        return product
    filled = lift_fill(stmt, values, shapes)
    if filled is not None:
        return ast.Assign(ast.Name(filled[0]), filled[1])
    loops, store = _nest(stmt)
    if store is None or isinstance(store.value, Fold):
        return None
    target = _Elements(values.terms, values.known, loops, shapes).tile(store.buffer, store.index)
    value = _tile_value(store.value, loops, values, shapes)
    if target is None or value is None:
        return None
    return ast.Store(target, value) if values.known[store.buffer].is_memory else ast.Assign(target, value)


def _nest(stmt: Inlined) -> tuple[Loops, Store | None]:
    """The loops from 0 around the one store of a statement; no store where there is more."""
    loops: list[tuple[str, Index]] = []
    block = stmt.body
    while len(block.body) == 1:
        inner = block.body[0]
        if isinstance(inner, Store) and inner.lanes is None:
            return tuple(loops), inner
        if not isinstance(inner, For) or not isinstance(inner.domain, Range) or inner.domain.low != ZERO:
            break
        loops.append((inner.counter, inner.domain.high))
        block = inner.body
    return tuple(loops), None


# --- products ----------------------------------------------------------------------------------


def _product(stmt: Inlined, shapes: Shapes) -> ast.Statement | None:
    """`t = mma x y t`, or an instruction by its name, where the loops are those of such a product."""
    loops = stmt
    while len(loops.body.body) == 1 and not isinstance(loops.body.body[0], Store):
        inner = loops.body.body[0]
        if isinstance(inner, Inlined):
            loops = inner
            continue
        if not isinstance(inner, For):
            return None
        loops = Inlined(loops.text, inner.body)
    store = loops.body.body[0] if len(loops.body.body) == 1 else None
    if not isinstance(store, Store) or not isinstance(store.value, Fold) or not isinstance(store.value.step, Op):
        return None
    factors, total = store.value.step.args[:-1], store.value.step.args[-1]
    is_chain = store.value.init == Load(store.buffer, store.index) and total == Load(store.value.acc) and store.value.step.name == "fma"
    left, right = factors if len(factors) == 2 else (None, None)
    if not is_chain or not isinstance(left, Load) or not isinstance(right, Load):
        return None
    names = (left.buffer, right.buffer, store.buffer)
    is_plain = all(len(shapes.get(name, ())) == 2 for name in names) and left.index[0] == store.index[0] and right.index[1] == store.index[1]
    if not is_plain or left.index[1] != right.index[0]:
        return None
    return ast.Assign(ast.Name(store.buffer), call(stmt.text, *(ast.Name(name) for name in names)))


# --- elements ----------------------------------------------------------------------------------


def _tile_value(value: Value, loops: Loops, values: ValueLifter, shapes: Shapes) -> ast.Expr | None:
    lifter = _Elements(values.terms, values.known, loops, shapes)
    try:
        return lifter.value(value)
    except LiftError:
        return None


@dataclass(slots=True)
class _Elements(ValueLifter):
    """Turns the value of one element into an expression on tiles."""

    loops: Loops = ()
    shapes: Shapes = field(default_factory=dict)

    def value(self, value: Value, lanes: Lanes | None = None, explicit: bool = False) -> ast.Expr:
        """The expression. Raises LiftError where the element's place is used for anything but tiles."""
        counters = frozenset(name for name, _ in self.loops)
        if isinstance(value, Load) and any(variables(term) & counters for term in value.index):
            tile = self.tile(value.buffer, value.index)
            if tile is None:
                raise LiftError("elements of a tile in another order")
            return ast.Load(tile) if self.known[value.buffer].is_memory else tile
        if isinstance(value, Fold) or (isinstance(value, OfIndex) and variables(value.term) & counters):
            raise LiftError("an element's place as a word")
        if isinstance(value, Choose) and variables(value.condition) & counters:
            raise LiftError("a choice by element")
        return ValueLifter.value(self, value, lanes, explicit)

    def tile(self, buffer: str, index: tuple[Index, ...]) -> ast.Expr | None:
        """A tile or a block of memory by the index of its element; None where that is no neighbour of its neighbours."""
        shape = self.shapes.get(buffer)
        own = tuple(Var(name) for name, _ in self.loops)
        if (
            shape is not None
            and len(shape) == len(index) == len(own)
            and all(
                term == counter and (self.known[buffer].is_memory or extent in (wide, ONE)) or (extent == ONE and term == ZERO)
                for term, counter, extent, (_, wide) in zip(index, own, shape, self.loops, strict=True)
            )
        ):
            return ast.Name(buffer)
        return self.block(buffer, index)

    def block(self, buffer: str, index: tuple[Index, ...]) -> ast.Expr | None:
        """A part of a buffer: a slice for each loop, in the order of the loops."""
        left = list(self.loops)
        items: list[ast.Expr] = []
        for term in index:
            spoken = variables(term) & frozenset(name for name, _ in self.loops)
            if not spoken:
                items.append(self.terms.term(term))
                continue
            if not left or spoken != {left[0][0]}:
                return None
            counter, extent = left.pop(0)
            parts = term.terms if isinstance(term, Sum) else (term,)
            rest = [part for part in parts if part != Var(counter)]
            if len(rest) != len(parts) - 1 or any(counter in variables(part) for part in rest):
                return None
            low = add(*rest)
            items.append(ast.Slice(self.terms.term(low), self.terms.term(add(low, extent))))
        return None if left else ast.Index(ast.Name(buffer), tuple(items))


def shape_of(stmt: Declare) -> tuple[Index, ...]:
    """The extents of a local array of words; none for anything else."""
    return () if stmt.width is not None else stmt.shape
