"""Places in memory: which cell a text names, and what reading it gives.

Takes places as written and a scope; gives buffers, indices and loads. Must not let a slice stand
for more or fewer lanes than its statement has.
"""

from __future__ import annotations

from dataclasses import dataclass

from cachet_verify.core.index import ZERO, Index, Var, add, conj, le, lt
from cachet_verify.core.index import Const as IndexConst
from cachet_verify.core.ir import Declare, Lanes, Load, Stmt, Value
from cachet_verify.core.spell import spell
from cachet_verify.elaborate import operation
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.problem import StopError, UnsupportedError, indexed
from cachet_verify.elaborate.scope import BufferEntity, PoisonEntity, Scope, ValueType
from cachet_verify.elaborate.term import difference, elaborate_index, same_term
from cachet_verify.syntax import ast

_PART = "a part of a buffer is a vector, and one word is wanted here"
_VECTOR = "one index for each dimension; a local of type `Vec f32 8` holds a vector"


@dataclass(slots=True)
class LaneUse:
    """The lane of the vector statement at hand, and how many of its lanes are active.

    `active` is None until the first slice, or the target of the statement, has told.
    """

    counter: str
    width: int
    active: Index | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a statement's value is computed: the names, the lane, and what it must run first.

    `before` collects statements that the value needs in front of it; None where none can stand. `is_each` says that
    the text speaks of one lane, as that of a function of words does that is applied to a vector.
    """

    scope: Scope
    lane: LaneUse | None = None
    before: list[Stmt] | None = None
    is_each: bool = False

    def scalar(self) -> Place:
        """The same place without its lane."""
        return Place(self.scope, None, self.before)

    def assuming(self, scope: Scope) -> Place:
        """The same place under further facts, where no statement can be put in front."""
        return Place(scope, self.lane, None, self.is_each)


class Places:
    """Resolves the places of one item, and the types of what they hold."""

    def __init__(self, context: Context) -> None:
        self.context = context

    # --- faults ---

    def mismatch(self, found: ValueType, wanted: ValueType, expr: ast.Expr) -> StopError:
        """Report that an expression has another type than its surroundings ask for."""
        hint = ""
        if found.width == wanted.width and operation.is_known(found.elem) and operation.is_known(wanted.elem):
            hint = f"convert it: `{source_text(expr)} as {wanted.elem}`"
        elif found.width is None and wanted.width is not None:
            hint = f"fill the lanes with it: `splat ({source_text(expr)})`"
        message = f"this is `{found.text()}`, and `{wanted.text()}` is wanted here"
        return self.context.stop("elaborate.type.mismatch", message, expr.span, hint)

    def expect(self, found: ValueType, wanted: ValueType, expr: ast.Expr) -> None:
        """Report unless the two types are one."""
        if found != wanted:
            raise self.mismatch(found, wanted, expr)

    # --- reading ---

    def read(self, expr: ast.Expr, wanted: ValueType, place: Place, with_load: bool) -> Value:
        """The word, or the lane's word, that a place holds."""
        length = self.other_length(expr, place)
        if length is not None and place.lane is not None:
            return self.part(expr, wanted, place, with_load, length)
        entity, index, sliced = self.resolve(expr, place)
        if entity.loaded and not with_load:
            raise self.context.stop("elaborate.type.load", f"`{source_text(expr)}` is a place in memory", expr.span, f"`load {source_text(expr)}`")
        found = ValueType(entity.elem, wanted.width) if sliced and wanted.width is not None else entity.value_type
        if sliced and place.lane is None:
            raise self.context.stop("elaborate.vector.slice", _PART, expr.span, _VECTOR)
        self.expect(found, wanted, expr)
        return Load(entity.name, index)

    def vector_at(self, expr: ast.Expr, scope: Scope) -> BufferEntity | None:
        """The local that holds a whole vector at a place; None where something else stands."""
        base, items = (expr.base, expr.items) if isinstance(expr, ast.Index) else (expr, ())
        entity = scope.find(base.name) if isinstance(base, ast.Name) else None
        is_vector = isinstance(entity, BufferEntity) and entity.width is not None and len(items) == len(entity.shape)
        return entity if is_vector and isinstance(entity, BufferEntity) and not any(isinstance(item, ast.Slice) for item in items) else None

    def other_length(self, expr: ast.Expr, place: Place) -> Index | None:
        """The length of a slice that is not as long as the statement has active lanes; None for any other place."""
        slices = [item for item in expr.items if isinstance(item, ast.Slice)] if isinstance(expr, ast.Index) else []
        if len(slices) != 1 or place.lane is None or place.lane.active is None:
            return None
        low, high = (elaborate_index(part, place.scope, self.context) for part in (slices[0].low, slices[0].high))
        length = difference(high, low)
        return None if same_term(length, place.lane.active) else length

    def part(self, expr: ast.Expr, wanted: ValueType, place: Place, with_load: bool, length: Index) -> Value:
        """A slice of another length, read into a vector of its own: its further lanes are unspecified."""
        if place.before is None or place.lane is None:
            raise UnsupportedError("slices of different lengths in one branch of an `if`", expr.span)
        lane = LaneUse(self.context.fresh.take("lane"), place.lane.width, length)
        value = self.read(expr, wanted, Place(place.scope, lane, place.before), with_load)
        name = self.context.fresh.take("part")
        lanes = Lanes(lane.counter, lane.width, length)
        place.before.append(Declare(name, wanted.elem, (), lane.width, value, False, lanes, expr.span))
        return Load(name, (Var(place.lane.counter),))

    def resolve(self, expr: ast.Expr, place: Place) -> tuple[BufferEntity, tuple[Index, ...], bool]:
        """The buffer of a place, the indices of the cell, and whether a slice stands for the lane."""
        base = expr.base if isinstance(expr, ast.Index) else expr
        items = expr.items if isinstance(expr, ast.Index) else ()
        if not isinstance(base, ast.Name):
            raise self.context.stop("elaborate.name.kind", "a place in memory is wanted here, such as `c[i, j]`", expr.span)
        entity = place.scope.find(base.name)
        if isinstance(entity, PoisonEntity):
            raise StopError(base.name)
        if entity is None and self.context.unit.find(base.name) is None:
            raise self.context.unknown(base.name, base.span, place.scope)
        if not isinstance(entity, BufferEntity):
            raise self.context.stop("elaborate.name.kind", f"`{base.name}` is not memory", expr.span)
        if entity.leased is not None:
            message = f"`{base.name}` is leased as `{entity.leased}`, and is not used by its own name while the lease lasts"
            raise self.context.stop("elaborate.lease.root", message, expr.span, f"use `{entity.leased}`")
        return self.cell(entity, base.name, items, expr, place)

    def cell(
        self, entity: BufferEntity, name: str, items: tuple[ast.Expr, ...], expr: ast.Expr, place: Place
    ) -> tuple[BufferEntity, tuple[Index, ...], bool]:
        """The indices of a cell; a slice gives its first index plus the lane."""
        rank = len(entity.shape)
        has_lane = entity.width is not None and len(items) == rank + 1 and isinstance(items[-1], ast.Slice)
        if len(items) != rank and not has_lane:
            wanted = "no index" if rank == 0 else "1 index" if rank == 1 else f"{rank} indices"
            raise self.context.stop("elaborate.index.rank", f"`{name}` takes {wanted}, not {len(items)}", expr.span, indexed(name, rank))
        slices = [item for item in items if isinstance(item, ast.Slice)]
        if len(slices) > 1 or (slices and entity.width is not None and not has_lane):
            raise UnsupportedError("a block of more than one dimension", expr.span)
        index = tuple(
            self.slice_index(item, place) if isinstance(item, ast.Slice) else elaborate_index(item, place.scope, self.context) for item in items
        )
        if entity.kind == "view":
            self.inside_view(entity, name, index, expr, place)
        if entity.width is not None and not has_lane:
            if place.lane is None or place.lane.width != entity.width:
                lane = "one word" if place.lane is None else f"`Vec {entity.elem} {place.lane.width}`"
                message = f"this is `{entity.value_type.text()}`, and {lane} is wanted here"
                raise self.context.stop("elaborate.type.mismatch", message, expr.span)
            index = (*index, Var(place.lane.counter))
        return entity, index, bool(slices)

    def inside_view(self, entity: BufferEntity, name: str, index: tuple[Index, ...], expr: ast.Expr, place: Place) -> None:
        """Note that a cell lies inside the extents of a view: its root is larger, so nobody else will ask."""
        scope = place.scope
        if place.lane is not None and place.lane.active is not None:
            lane = Var(place.lane.counter)
            scope = scope.assume(le(ZERO, lane), lt(lane, IndexConst(place.lane.width)), lt(lane, place.lane.active))
        for term, extent in zip(index, entity.shape, strict=True):
            goal = conj((le(ZERO, term), lt(term, extent)))
            self.context.require(scope, goal, f"`{spell(term)}` is an index of the view `{name}`", expr.span)

    def slice_index(self, item: ast.Slice, place: Place) -> Index:
        """`lo .. hi` under a lane: `lo + lane`, with `hi - lo` lanes in use."""
        if place.lane is None:
            raise self.context.stop("elaborate.vector.slice", _PART, item.span, _VECTOR)
        low = elaborate_index(item.low, place.scope, self.context)
        length = difference(elaborate_index(item.high, place.scope, self.context), low)
        width = IndexConst(place.lane.width)
        if length != width:
            self.context.require(place.scope, le(length, width), f"`{spell(length)}` words fit {place.lane.width} lanes", item.span)
        if place.lane.active is None:
            place.lane.active = length
        return add(low, Var(place.lane.counter))


def source_text(expr: ast.Node) -> str:
    """A piece of syntax as written, on one line."""
    if expr.span is not None:
        return " ".join(expr.span.text.split())
    return expr.name if isinstance(expr, ast.Name) else "this"
