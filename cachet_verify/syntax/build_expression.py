"""Reductions of the grammar to expressions.

Takes the children of a rule and its place; gives an `Expr`, or a part of one.
Must not look at the text: what the grammar cannot refuse is refused here, with its place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from cachet_verify.diagnostic import fail
from cachet_verify.source import Span
from cachet_verify.syntax import expression as ex
from cachet_verify.syntax.statement import Body, ExprStatement, If, Let
from cachet_verify.syntax.token import Token, unquote

Builder = Callable[[list[Any], Span], Any]


def plain_list(children: list[Any], _where: Span) -> tuple[Any, ...]:
    """Return the children of a rule that is only a list."""
    return tuple(children)


def text_list(children: list[Token], _where: Span) -> tuple[str, ...]:
    """Return the texts of a list of names."""
    return tuple(token.text for token in children)


def one_or_names(children: list[Any], _where: Span) -> tuple[str, ...]:
    """Return the names of `j` or of `(j, k)`."""
    head = children[0]
    return (head.text,) if isinstance(head, Token) else head


def first(children: list[Any], _where: Span) -> Any:
    """Return the one child there is."""
    return children[0]


def text_of(token: Token | None) -> str | None:
    """Return the text of an optional token."""
    return None if token is None else token.text


# --- blocks as values --------------------------------------------------------------------------


def value_of(body: Body, where: Span) -> ex.Expr:
    """Return a block of `let` lines and a last expression as one value.

    Raises CachetError at the first statement that can be no part of a value.
    """
    last = body[-1]
    if isinstance(last, If):
        value = _if_as_value(last)
    elif isinstance(last, ExprStatement):
        value = last.value
    else:
        raise fail("syntax.value", "a value ends in an expression", last.span or where, "put the value on the last line")
    for statement in reversed(body[:-1]):
        if not isinstance(statement, Let):
            hint = "inside a value only `let` lines stand before the last expression"
            raise fail("syntax.value", "a statement inside a value", statement.span or where, hint)
        if statement.storage is not None and (statement.storage.layout or statement.storage.level):
            raise fail("syntax.value", "a value has no layout and no level", statement.storage.span or where)
        kind = None if statement.storage is None else statement.storage.type
        value = ex.LetExpr(statement.name, kind, statement.value, value, span=statement.span)
    return value


def _if_as_value(node: If) -> ex.Expr:
    """Return an `if` statement as an expression."""
    where = node.span
    if not node.otherwise or where is None:
        raise fail("syntax.value", "an `if` without `else` has no value", where, "add `else` and the other value")
    return ex.IfExpr(node.condition, value_of(node.then, where), value_of(node.otherwise, where), span=where)


def _let_inner(children: list[Any], where: Span) -> ex.Expr:
    let, body = children
    return value_of((let, ExprStatement(body, span=where)), where)


# --- atoms -------------------------------------------------------------------------------------


def _int_literal(children: list[Token], where: Span) -> ex.IntLit:
    return ex.IntLit(int(children[0].text, 0 if children[0].text[:2] in ("0x", "0X") else 10), span=where)


def _labelled(children: list[ex.Label], where: Span) -> ex.Labelled:
    return ex.Labelled(tuple(children), span=where)


def _record_literal(children: list[Any], where: Span) -> ex.RecordLit:
    kind, *fields = children
    if not isinstance(kind, ex.Name | ex.Field):
        raise fail("syntax.form", "a record starts with the name of its type", kind.span, "`Weights { m, l = e }`")
    return ex.RecordLit(kind, tuple(fields), span=where)


# --- postfix forms, application ----------------------------------------------------------------


def _index(children: list[Any], where: Span) -> ex.Expr:
    base, items = children
    bindings = [item for item in items if isinstance(item, ex.Rebinding)]
    if not bindings:
        return ex.Index(base, items, span=where)
    if len(bindings) != len(items):
        raise fail("syntax.form", "indices and `:=` in one pair of brackets", where, "`$step[$acc][k := e]`")
    return ex.Substitute(base, items, span=where)


def _apply(children: list[Any], where: Span) -> ex.Apply:
    function, *rest = children
    implicit = [arg for item in rest if isinstance(item, tuple) for arg in item]
    args = tuple(item for item in rest if not isinstance(item, tuple))
    return ex.Apply(function, tuple(implicit), args, span=where)


def _implicits(children: list[tuple[ex.ImplicitArg, ...]], _where: Span) -> tuple[ex.ImplicitArg, ...]:
    return tuple(arg for group in children for arg in group)


def _implicit_name(children: list[Token], where: Span) -> tuple[ex.ImplicitArg, ...]:
    return (ex.ImplicitArg(None, ex.Name(children[0].text, span=where), span=where),)


# --- operators ---------------------------------------------------------------------------------


def _binary(children: list[Any], where: Span) -> ex.Binary:
    left, operator, right = children
    return ex.Binary(operator.text, left, right, span=where)


def _operator(children: list[Token], _where: Span) -> Token:
    token = children[0]
    return token._replace(text=token.kind)


def _named_binary(operator: str) -> Builder:
    return lambda children, where: ex.Binary(operator, children[0], children[1], span=where)


# --- forms with a body -------------------------------------------------------------------------


def _if_then_else(children: list[Any], where: Span) -> ex.Expr | If:
    """Return an expression when both branches are values, else the statement."""
    condition, then, otherwise = children
    if _is_value(then) and _is_value(otherwise):
        return ex.IfExpr(condition, value_of(then, where), value_of(otherwise, where), span=where)
    return If(condition, then, otherwise, span=where)


def _is_value(body: Body) -> bool:
    """Say whether a branch is `let` lines and a last expression."""
    last = body[-1]
    ends = isinstance(last, ExprStatement) or (
        isinstance(last, If) and bool(last.otherwise) and _is_value(last.then) and _is_value(last.otherwise)
    )
    return ends and all(isinstance(statement, Let) and _is_plain(statement) for statement in body[:-1])


def _is_plain(statement: Let) -> bool:
    """Say whether a `let` names a value that is placed nowhere."""
    storage = statement.storage
    return storage is None or (storage.layout is None and storage.level is None)


def _reassoc(children: list[Token | None], where: Span) -> bool:
    token = children[0]
    if token is not None and token.text != "reassoc":
        raise fail("syntax.form", f"`[{token.text}]` after a sum or reduction", where, "the only permission is `[reassoc]`")
    return token is not None


def _reduce_of(children: list[Any], where: Span) -> ex.Reduce:
    reassoc, operands, bounds, body = children
    *monoid, indices = operands
    names = _index_names(indices)
    if names is None or not monoid:
        hint = "`reduce Online j. e`: the monoid, the index, a dot and a blank, the body"
        raise fail("syntax.form", "a reduction names its monoid and its index", indices.span, hint)
    return ex.Reduce(_monoid(monoid), names, body, reassoc, bounds, span=where)


def _index_names(node: ex.Expr) -> tuple[str, ...] | None:
    """Return the names of `j` or `(j, k)`."""
    items = node.items if isinstance(node, ex.Tuple) else (node,)
    names = tuple(item.name for item in items if isinstance(item, ex.Name))
    return names if names and len(names) == len(items) else None


def _monoid(operands: list[ex.Expr]) -> ex.Expr:
    if len(operands) == 1:
        return operands[0]
    head, last = operands[0].span, operands[-1].span
    span = head.to(last) if head is not None and last is not None else None
    return ex.Apply(operands[0], (), tuple(operands[1:]), span=span)


def _tile_reduce(children: list[Any], where: Span) -> ex.TileReduce:
    reassoc, operands, axis, way, body = children
    if reassoc:
        hint = "the permission belongs to the contraction's own `reduce[reassoc]`"
        raise fail("syntax.form", "a reduction of a tile takes no `[reassoc]`", where, hint)
    return ex.TileReduce(_monoid(list(operands)), axis.text, way.text, value_of(body, where), span=where)


def _domain_pattern(children: list[Any], where: Span) -> ex.PatternVar:
    if isinstance(children[0], ex.PatternVar):
        return children[0]
    hint = "`0 .. N` counts from 0 to N - 1; `blocks (0 .. N) 16` goes by blocks"
    raise fail("syntax.form", "a loop runs over a range", children[0].span or where, hint)


def _fold(children: list[Any], where: Span) -> ex.Fold:
    index, domain, start, accumulator, kind, body = children
    return ex.Fold(index.text, domain, start, accumulator.text, kind, value_of(body, where), span=where)


EXPRESSION_BUILDERS: Final[dict[str, Builder]] = {
    "name": lambda c, w: ex.Name(c[0].text, span=w),
    "pattern_var": lambda c, w: ex.PatternVar(c[0].text[1:], span=w),
    "int_literal": _int_literal,
    "float_literal": lambda c, w: ex.FloatLit(c[0].text, span=w),
    "string_literal": lambda c, w: ex.StringLit(unquote(c[0].text), span=w),
    "true": lambda _c, w: ex.BoolLit(True, span=w),
    "false": lambda _c, w: ex.BoolLit(False, span=w),
    "unit": lambda _c, w: ex.Tuple((), span=w),
    "tuple": lambda c, w: ex.Tuple(tuple(c), span=w),
    "list": lambda c, w: ex.ListExpr(c[0], span=w),
    "array_type": lambda c, w: ex.ArrayType(c[0], c[1], span=w),
    "labelled": _labelled,
    "label": lambda c, w: ex.Label(c[0].text, c[1], span=w),
    "label_name": first,
    "record_literal": _record_literal,
    "field_init": lambda c, w: ex.FieldInit(c[0].text, c[1], span=w),
    "field": lambda c, w: ex.Field(c[0], c[1].text, span=w),
    "index": _index,
    "slice": lambda c, w: ex.Slice(c[0], c[1], span=w),
    "rebinding": lambda c, w: ex.Rebinding(c[0].text, c[1], span=w),
    "items": plain_list,
    "apply": _apply,
    "apply_plain": _apply,
    "implicits": _implicits,
    "implicit": plain_list,
    "implicit_name": _implicit_name,
    "implicit_arg": lambda c, w: ex.ImplicitArg(c[0].text, c[1], span=w),
    "load": lambda c, w: ex.Load(c[0], span=w),
    "negate": lambda c, w: ex.Unary("-", c[0], span=w),
    "not_": lambda c, w: ex.Unary("not", c[0], span=w),
    "binary": _binary,
    "comparing": _operator,
    "adding": _operator,
    "multiplying": _operator,
    "or_else": _named_binary("or"),
    "and_also": _named_binary("and"),
    "cast": lambda c, w: ex.Cast(c[0], c[1], span=w),
    "if_then": lambda c, w: If(c[0], c[1], (), span=w),
    "if_then_else": _if_then_else,
    "reassoc": _reassoc,
    "indices": one_or_names,
    "bounds": lambda c, _w: c[0] or (),
    "postfixes": plain_list,
    "sum_of": lambda c, w: ex.Sum(c[1], c[3], c[0], c[2], span=w),
    "reduce_of": _reduce_of,
    "tile_reduce": _tile_reduce,
    "fold": _fold,
    "range": lambda c, w: ex.Range(c[0], c[1], span=w),
    "blocks": lambda c, w: ex.Blocks(c[0], c[1], c[2], span=w),
    "domain_pattern": _domain_pattern,
    "let_inner": _let_inner,
    "names": text_list,
    "exprs": plain_list,
}
