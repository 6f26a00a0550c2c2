"""Reductions of the grammar to statements and to the lines of schedules.

Takes the children of a rule and its place; gives a `Statement`, a `ScheduleLine`, or a part of one.
Must not look at the text: what the grammar cannot refuse is refused here, with its place.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, Final

from cachet_verify.diagnostic import fail
from cachet_verify.source import Span
from cachet_verify.syntax import expression as ex
from cachet_verify.syntax import schedule as sc
from cachet_verify.syntax import statement as st
from cachet_verify.syntax.build_expression import Builder, first, plain_list, text_of
from cachet_verify.syntax.token import unquote

STATEMENT_WORDS: Final = ("let", "var", "store", "for", "grid", "lease", "view", "if", "barrier", "load")
FOREIGN_WORDS: Final = {
    "return": "leave out `return`: the last line of a body is its value",
    "while": "`for i in 0 .. n do`",
    "def": "`fn name (reads a: [f32; N]) =`",
    "int": "`let n = …`",
    "float": "`var x: f32 = …`",
    "double": "`var x: f64 = …`",
    "struct": "`record Name = { field: f32 }`",
    "type": "`record Name = { field: f32 }`",
    "end": "leave out `end`: a block ends with its indentation",
}
"""Words of other languages that start a line, and what to type instead."""


def _expr_statement(children: list[Any], where: Span) -> st.Statement:
    """Return an expression as a statement; an `if` alone is always the statement `If`."""
    value = children[0]
    if isinstance(value, st.If):
        return value
    if isinstance(value, ex.IfExpr):
        return st.If(value.condition, _as_body(value.then), _as_body(value.otherwise), span=where)
    if isinstance(value, ex.Apply) and isinstance(value.function, ex.Name) and value.function.name in ("return", "while", "def"):
        word = value.function.name
        raise fail("syntax.expected", f"expected a statement, found `{word}`", value.function.span or where, FOREIGN_WORDS[word])
    return st.ExprStatement(value, span=where)


def _as_body(value: ex.Expr) -> st.Body:
    """Return a branch that is a value as a block."""
    if isinstance(value, ex.LetExpr):
        storage = None if value.type is None else st.Storage(value.type, span=value.type.span)
        return (st.Let(value.name, storage, value.value, span=value.span), *_as_body(value.body))
    if isinstance(value, ex.IfExpr):
        return (st.If(value.condition, _as_body(value.then), _as_body(value.otherwise), span=value.span),)
    return (st.ExprStatement(value, span=value.span),)


def _assign(children: list[Any], where: Span) -> st.Assign:
    target, value = children
    if isinstance(target, ex.Name | ex.PatternVar) or (isinstance(target, ex.Index) and _is_place(target.base)):
        return st.Assign(target, value, span=where)
    raise fail("syntax.assign", "this cannot be assigned to", target.span or where, _assign_hint(target))


def _is_place(node: ex.Expr) -> bool:
    return isinstance(node, ex.Name | ex.PatternVar | ex.Field) or (isinstance(node, ex.Index) and _is_place(node.base))


def _assign_hint(target: ex.Expr) -> str:
    """Return what was meant: a statement word with a slip in it, a comparison, or an assignment."""
    if isinstance(target, ex.Apply) and isinstance(target.function, ex.Name):
        if target.function.name in FOREIGN_WORDS:
            return FOREIGN_WORDS[target.function.name]
        near = get_close_matches(target.function.name, STATEMENT_WORDS, n=1, cutoff=0.6)
        if near:
            return f"`{near[0]}` in place of `{target.function.name}`"
        if len(target.args) == 1:
            return f"`let` to name a value, or `var` for a total; types follow the name: `let {_shown(target.args[0])}: T = …`"
    if isinstance(target, ex.Load):
        return "`store` writes a place: `store c[i, j] = e`"
    if isinstance(target, ex.Binary):
        return "compare with `==`; `=` binds a name or writes a cell"
    return "a name or a cell stands left of `=`: `acc = e`, `t[p] = e`, `store c[i, j] = e`"


def _shown(node: ex.Expr) -> str:
    return node.name if isinstance(node, ex.Name) else "x"


def _grid(children: list[Any], where: Span) -> st.Grid:
    device, *indices, tile, windows, body = children
    return st.Grid(device, tuple(indices), tile, windows, body, span=where)


def _tile(children: list[Any], where: Span) -> st.TileClause:
    names, parts = children
    if len(names) != len(parts):
        raise fail("syntax.form", "a tile has as many names as parts", where, "`by tile (si, sj) parts [8, 8]`")
    return st.TileClause(names, parts, span=where)


def _view(children: list[Any], where: Span) -> st.View:
    name, indices, dims, place = children
    if dims is not None and len(dims) != len(indices):
        raise fail("syntax.form", "a view has an extent for each index", where, "`view v[i, j] : [R, C] = c[i, 2 * j]`")
    return st.View(name.text, indices, dims or (), place, span=where)


# --- schedules ---------------------------------------------------------------------------------


def _step(children: list[Any], where: Span) -> sc.Step:
    name, args, clauses = children
    return sc.Step(name.text, args, clauses, span=where)


def _split(children: list[Any], where: Span) -> sc.Split:
    """Return the parts of a split: each `index by factor` starts one, each other factor joins it."""
    *items, ragged = children
    parts: list[sc.SplitPart] = []
    for item in items:
        if isinstance(item, sc.SplitPart):
            parts.append(item)
        elif not parts:
            raise fail("syntax.form", "a split names its index and its block size", item.span, "`split k by 16 as gk ragged`")
        else:
            last = parts.pop()
            span = last.span.to(item.span) if last.span is not None else None
            parts.append(sc.SplitPart(last.index, (*last.factors, item), span=span))
    return sc.Split(tuple(parts), ragged, span=where)


def _recipe_word(children: list[Any], _where: Span) -> str:
    return ".".join(token.text for token in children)


STATEMENT_BUILDERS: Final[dict[str, Builder]] = {
    "body": plain_list,
    "statements": plain_list,
    "storage": lambda c, w: st.Storage(c[0], c[1], text_of(c[2]), span=w),
    "let": lambda c, w: st.Let(c[0].text, c[1], c[2], span=w),
    "var": lambda c, w: st.Var(c[0].text, c[1], c[2], span=w),
    "store": lambda c, w: st.Store(c[0], c[1], span=w),
    "for_loop": lambda c, w: st.For(c[0].text, c[1], c[2], span=w),
    "lease_shared": lambda c, w: st.Lease(c[0].text, False, c[1], c[2].text, span=w),
    "lease_mut": lambda c, w: st.Lease(c[0].text, True, c[1], c[2].text, span=w),
    "view": _view,
    "dims_group": first,
    "barrier": lambda _c, w: st.Barrier(span=w),
    "expr_statement": _expr_statement,
    "assign": _assign,
    "grid": _grid,
    "grid_index": lambda c, w: st.GridIndex(c[0].text, c[1], span=w),
    "device": lambda c, _w: text_of(c[0]),
    "tile_none": lambda _c, _w: None,
    "tile": _tile,
    "windows": lambda c, _w: tuple(item for item in c if item is not None),
    "window": lambda c, w: st.Window(c[0], text_of(c[1]), span=w),
    "lines": plain_list,
    "step_lines": plain_list,
    "admit": lambda c, w: sc.Admit(unquote(c[0].text), span=w),
    "step": _step,
    "step_name": first,
    "step_args": plain_list,
    "step_clauses": plain_list,
    "step_clause": lambda c, w: sc.Clause(c[0].text, c[1], span=w),
    "clause_word": first,
    "split": _split,
    "split_part": lambda c, w: sc.SplitPart(c[0], (c[1],), span=w),
    "factor": lambda c, w: sc.Factor(c[0], text_of(c[1]), span=w),
    "ragged_no": lambda _c, _w: False,
    "ragged_yes": lambda _c, _w: True,
    "recipe": plain_list,
    "recipe_words": lambda c, w: sc.RecipeLine(tuple(c), span=w),
    "recipe_word": _recipe_word,
    "recipe_part": first,
}
