"""The arrays that a block's elements are read from: of words, or of arrays of so many words, whose cells are arrays over the block each.

Takes expressions in `fn block`; gives elements, `v[j]`, and their cells, `v[j, 2]`. Must not give an element of another index than is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cachet_verify.core.index import Const, Index, Var
from cachet_verify.core.ir import Value
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.place import Place
from cachet_verify.elaborate.scope import BufferEntity, Scope, ValueType
from cachet_verify.elaborate.shape import Parts, Shape, part_name
from cachet_verify.elaborate.total import Totals
from cachet_verify.syntax import ast


class BlockArrays(Totals):
    """Reads the arrays of a block: `keys` are those of words, those of cells included, `arrays` what the elements of each are."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.keys: list[tuple[str, ValueType]] = []
        self.arrays: dict[str, Shape] = {}
        self.length = ""

    def extents(self, name: str) -> tuple[Index | None, ...] | None:
        """The arrays all go over the block."""
        return (Var(self.length),) if name in dict(self.keys) else None

    def array(self, name: str, shape: Shape, scope: Scope) -> Scope:
        """An array over the block, of words, or of arrays of so many: each cell is an array over the block then."""
        self.arrays[name] = shape
        extents: tuple[Index, ...] = (Var(self.length), *map(Const, shape.dims))
        scope = scope.bind(name, BufferEntity(name, shape.parts[0][1].elem, extents, loaded=False, root=name, kind="local"))
        for part, kind in shape.parts:
            own = part_name(name, part)
            self.keys.append((own, kind))
            scope = scope.bind(own, BufferEntity(own, kind.elem, (Var(self.length),), loaded=False, root=own, kind="local"))
        return scope

    # --- elements that are arrays ---

    def element(self, expr: ast.Expr, scope: Scope) -> Shape | None:
        """The shape of the elements of the array that an index is of, where they are arrays; None elsewhere."""
        base = expr.base if isinstance(expr, ast.Index) else None
        entity = scope.find(base.name) if isinstance(base, ast.Name) and base.name not in self.known else None
        found = self.arrays.get(entity.name) if isinstance(entity, BufferEntity) else None
        return found if found is not None and found.dims else None

    def told(self, expr: ast.Expr, scope: Scope) -> Shape | None:
        """The array that an element is, `v[j]`, or that a total of such is; else as elsewhere."""
        if isinstance(expr, ast.Index) and self.element(expr, scope) is not None:
            return self.element(expr, scope) if len(expr.items) == 1 else None
        if isinstance(expr, ast.Sum):
            return self.first_array((expr.body,), scope)
        if isinstance(expr, ast.Reduce):
            return super().told(expr, scope) or self.first_array((expr.body,), scope)
        return super().told(expr, scope)

    def array_at(self, expr: ast.Expr, place: Place) -> Parts | None:
        """The element `v[j]` of an array of arrays; else as elsewhere."""
        shape = self.told(expr, place.scope) if isinstance(expr, ast.Index) else None
        if shape is None or not isinstance(expr, ast.Index) or not isinstance(expr.base, ast.Name):
            return super().array_at(expr, place)
        cells = (ast.Index(ast.Name(part_name(expr.base.name, part), span=expr.span), expr.items, span=expr.span) for part, _ in shape.parts)
        return Parts(shape, tuple(self.read(cell, kind, place, with_load=False) for cell, (_, kind) in zip(cells, shape.parts, strict=True)))

    def indexed(self, expr: ast.Index, wanted: ValueType, place: Place) -> Value:
        """`v[j]`, where its cell is computed, and `v[j, 2]`; else as elsewhere."""
        shape = self.element(expr, place.scope)
        if shape is None:
            return super().indexed(expr, wanted, place)
        found = self.array_at(expr, place)
        if found is not None:
            return self.own_cell(found, wanted, expr)
        first, *rest = expr.items
        whole = ast.Index(expr.base, (first,), span=expr.span)
        return super().indexed(ast.Index(whole, tuple(rest), span=expr.span), wanted, place)

    @contextmanager
    def hiding(self, *names: str) -> Iterator[None]:
        """Take names for what a total binds, not for the records and arrays outside."""
        held, self.known = self.known, {name: parts for name, parts in self.known.items() if name not in names}
        try:
            yield
        finally:
            self.known = held
