"""Parts of vectors, and the primitive that updates a block of totals: what their lanes hold.

Takes calls of `slice_lanes` and of an outer product; gives the value of the lane at hand. Must not
give an inactive cell any word but its own.
"""

from __future__ import annotations

from cachet_verify.core.family import substitute_value
from cachet_verify.core.index import Const, Index, Var, add, div, mod
from cachet_verify.core.ir import Value
from cachet_verify.core.outer import PRIMITIVES, active_cell, outer_value
from cachet_verify.elaborate.place import LaneUse, Place, source_text
from cachet_verify.elaborate.scope import ValueType
from cachet_verify.elaborate.term import elaborate_index
from cachet_verify.elaborate.value import Values
from cachet_verify.syntax import ast

_NOTHING = (ast.Tuple(()),)


def check_arity(values: Values, expr: ast.Apply, name: str, count: int) -> None:
    """Report unless a call has so many operands."""
    given = 0 if expr.args == _NOTHING else len(expr.args)
    if given != count:
        operands = "1 operand" if count == 1 else f"{count} operands"
        hint = f"`{name} {' '.join('abcdefgh'[:count])}`"
        raise values.context.stop("elaborate.call.arity", f"`{name}` takes {operands}, not {given}", expr.span, hint)


def sliced(values: Values, expr: ast.Apply, wanted: ValueType, place: Place) -> Value:
    """`slice_lanes v n`: as many lanes of `v` as are wanted, from lane `n` on. That `v` has them is a bound like any other."""
    check_arity(values, expr, "slice_lanes", 2)
    vector, first = expr.args
    found = values.infer(vector, place.scope)
    if wanted.width is None or place.lane is None:
        raise values.context.stop("elaborate.type.mismatch", "`slice_lanes` gives a vector, and one word is wanted here", expr.span)
    if found is None or found.width is None or values.vector_at(vector, place.scope) is None:
        message = f"`slice_lanes` takes a vector, and `{source_text(vector)}` is none by name"
        raise values.context.stop("elaborate.type.mismatch", message, vector.span, "`slice_lanes v 8`, with `let v: Vec f32 16 = …`")
    values.expect(ValueType(found.elem, wanted.width), wanted, expr)
    lane = LaneUse(place.lane.counter, found.width, Const(found.width))
    whole = values.check(vector, found, Place(place.scope, lane, place.before))
    start = elaborate_index(first, place.scope, values.context)
    return substitute_value(whole, {lane.counter: add(start, Var(lane.counter))})


def outer_product(values: Values, name: str, expr: ast.Apply, wanted: ValueType, place: Place) -> Value:
    """`outer_fma_primitive column row totals rows cols`: one step of a block of totals, on its first `rows` rows and `cols` columns."""
    check_arity(values, expr, name, 5)
    column, row, total, rows, cols = expr.args
    if wanted.width is None or place.lane is None:
        raise values.context.stop("elaborate.type.mismatch", f"`{name}` gives a vector, and one word is wanted here", expr.span)
    height, width = _lanes(values, name, column, place), _lanes(values, name, row, place)
    if height * width != wanted.width or width < 2:
        message = f"a column of {height} and a row of {width} update a block of {height * width}, and `{wanted.text()}` is wanted here"
        hint = f"`Vec {wanted.elem} ({height} * {width})`, with at least two columns"
        raise values.context.stop("elaborate.vector.width", message, expr.span, hint)
    values.defined(PRIMITIVES[name], wanted, expr)
    cell = Var(place.lane.counter)
    active = active_cell(cell, width, *(elaborate_index(part, place.scope, values.context) for part in (rows, cols)))
    operands = (
        _operand(values, column, ValueType(wanted.elem, height), place, div(cell, Const(width))),
        _operand(values, row, ValueType(wanted.elem, width), place, mod(cell, Const(width))),
        values.check(total, wanted, place),
    )
    return outer_value(name, wanted.elem, operands, active)


def _lanes(values: Values, name: str, expr: ast.Expr, place: Place) -> int:
    """The number of lanes of an operand, which is a vector by name."""
    entity = values.vector_at(expr, place.scope)
    if entity is None or entity.width is None:
        message = f"`{name}` takes vectors, and `{source_text(expr)}` is none by name"
        raise values.context.stop("elaborate.type.mismatch", message, expr.span, "bind it first: `let column: Vec f64 8 = …`")
    return entity.width


def _operand(values: Values, expr: ast.Expr, kind: ValueType, place: Place, lane: Index) -> Value:
    """The word in one lane of an operand."""
    use = LaneUse(place.lane.counter if place.lane is not None else "", kind.width or 0, Const(kind.width or 0))
    return substitute_value(values.check(expr, kind, Place(place.scope, use, place.before)), {use.counter: lane})


