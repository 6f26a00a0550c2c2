"""Statements and the lines of schedules to text.

Takes a `Statement` or a `ScheduleLine`, and its indentation; gives lines that parse back to it.
Must not break long lines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from cachet_verify.syntax import schedule as sc
from cachet_verify.syntax import statement as st
from cachet_verify.syntax.print_expression import (
    ANY,
    APPLY,
    OR,
    POSTFIX,
    STEP,
    argument,
    domain,
    expression,
    listed,
    quoted,
    value,
)

Lines = list[str]

_CLAUSE_WORDS = frozenset(sc.CLAUSE_WORDS)


def body(statements: st.Body, indent: int) -> Lines:
    """Return the lines of a block."""
    lines: Lines = []
    for statement in statements:
        lines.extend(_PRINTERS[type(statement)](statement, indent))
    return lines


def storage(node: st.Storage, indent: int = 0) -> str:
    """Return a type with its layout and level."""
    text = expression(node.type, APPLY, indent)
    if node.layout is not None:
        text += f" in {expression(node.layout, APPLY, indent)}"
    return text if node.level is None else f"{text} at {node.level}"


def _typed(node: st.Storage | None, indent: int) -> str:
    return "" if node is None else f": {storage(node, indent)}"


def _line(indent: int, text: str) -> Lines:
    return [" " * indent + text]


def _let(node: st.Let, indent: int) -> Lines:
    return _line(indent, f"let {node.name}{_typed(node.storage, indent)} ={value(node.value, indent)}")


def _var(node: st.Var, indent: int) -> Lines:
    text = f"var {node.name}{_typed(node.storage, indent)}"
    return _line(indent, text if node.value is None else f"{text} ={value(node.value, indent)}")


def _assign(node: st.Assign, indent: int) -> Lines:
    return _line(indent, f"{expression(node.target, POSTFIX, indent)} ={value(node.value, indent)}")


def _store(node: st.Store, indent: int) -> Lines:
    return _line(indent, f"store {expression(node.place, POSTFIX, indent)} ={value(node.value, indent)}")


def _for(node: st.For, indent: int) -> Lines:
    head = f"for {node.index} in {domain(node.domain, indent)} do"
    return [*_line(indent, head), *body(node.body, indent + STEP)]


def _if(node: st.If, indent: int) -> Lines:
    lines = _line(indent, f"if {expression(node.condition, OR, indent)} then")
    lines.extend(body(node.then, indent + STEP))
    if node.otherwise:
        lines.extend(_line(indent, "else"))
        lines.extend(body(node.otherwise, indent + STEP))
    return lines


def _grid(node: st.Grid, indent: int) -> Lines:
    device = "" if node.device is None else f"on {node.device} "
    parts = ["grid " + device + ", ".join(f"{item.name} in {domain(item.domain, indent)}" for item in node.indices)]
    if node.tile is not None:
        parts.append(f"by tile ({', '.join(node.tile.names)}) parts [{listed(node.tile.parts, indent)}]")
    if node.windows:
        windows = [
            expression(item.place, POSTFIX, indent) + ("" if item.name is None else f" as {item.name}") for item in node.windows
        ]
        parts.append(f"writes {', '.join(windows)}")
    whole = " ".join(parts)
    head = [whole] if indent + len(whole) <= 96 else [parts[0], *(" " * (indent + 2 * STEP) + part for part in parts[1:])]
    head[-1] += " do"
    return [*_line(indent, head[0]), *head[1:], *body(node.body, indent + STEP)]


def _lease(node: st.Lease, indent: int) -> Lines:
    mutable = "mut " if node.mutable else ""
    return _line(indent, f"lease {mutable}{node.name} = {expression(node.buffer, POSTFIX, indent)} at {node.level}")


def _view(node: st.View, indent: int) -> Lines:
    dims = f" : [{listed(node.dims, indent)}]" if node.dims else ""
    return _line(indent, f"view {node.name}[{', '.join(node.indices)}]{dims} = {expression(node.place, POSTFIX, indent)}")


_PRINTERS: Final[dict[type[st.Statement], Callable[[Any, int], Lines]]] = {
    st.Let: _let,
    st.Var: _var,
    st.Assign: _assign,
    st.Store: _store,
    st.ExprStatement: lambda n, i: _line(i, expression(n.value, ANY, i)),
    st.For: _for,
    st.If: _if,
    st.Grid: _grid,
    st.Lease: _lease,
    st.View: _view,
    st.Barrier: lambda _n, i: _line(i, "barrier"),
}


# --- schedules ---------------------------------------------------------------------------------


def schedule_line(node: sc.ScheduleLine) -> str:
    """Return a line of a schedule, without indentation."""
    if isinstance(node, sc.Split):
        return "split " + ", ".join(_split_part(part) for part in node.parts) + (" ragged" if node.ragged else "")
    if isinstance(node, sc.Admit):
        return f"admit {quoted(node.reason)}"
    if isinstance(node, sc.Step):
        return " ".join([node.name, *_step_rest(node.args, node.clauses)])
    raise TypeError(f"no line of a schedule: {node!r}")


def step_head(name: str, args: tuple[Any, ...], clauses: tuple[sc.Clause, ...]) -> str:
    """Return the head of a step function, which has the shape of the step."""
    return " ".join([name, *_step_rest(args, clauses)])


def _step_rest(args: tuple[Any, ...], clauses: tuple[sc.Clause, ...]) -> list[str]:
    parts = [argument(arg, words=_CLAUSE_WORDS) for arg in args]
    for clause in clauses:
        parts.append(clause.word)
        parts.extend(argument(arg, words=_CLAUSE_WORDS) for arg in clause.args)
    return parts


def _split_part(node: sc.SplitPart) -> str:
    factors = [
        expression(factor.size, POSTFIX) + ("" if factor.name is None else f" as {factor.name}") for factor in node.factors
    ]
    return f"{expression(node.index, POSTFIX)} by {', '.join(factors)}"


def recipe_line(node: sc.RecipeLine | sc.Admit) -> str:
    """Return a line of a recipe."""
    return " ".join(node.words) if isinstance(node, sc.RecipeLine) else f"admit {quoted(node.reason)}"
