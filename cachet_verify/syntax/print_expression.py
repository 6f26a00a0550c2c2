"""Expressions to text.

Takes an `Expr` and how tightly its surroundings bind; gives text that parses back to it.
Must not lay out anything but expressions, and not break lines except for `let` blocks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from cachet_verify.syntax import expression as ex

ANY, OR, AND, NOT, COMPARE, ADD, MULTIPLY, CAST, UNARY, APPLY, POSTFIX = range(11)
STEP: Final = 2

_LEVEL_OF: Final = {
    "or": OR,
    "and": AND,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), COMPARE),
    "+": ADD,
    "-": ADD,
    "*": MULTIPLY,
    "/": MULTIPLY,
    "%": MULTIPLY,
}
FOLLOWING_WORDS: Final = frozenset(
    "over at from to by of where writes requires produces scratch working_set movement invariant family".split()
)
"""Words that may follow an expression; an argument that starts with one stands in parentheses."""

_QUOTED: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"})

# Where text follows on the same line, OR is asked for: a form that reaches as far right as it can then stands in
# parentheses, which also end a block inside it.

_FIRST_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_']*")

Printer = Callable[[Any, int], str]


def expression(node: ex.Expr, level: int = ANY, indent: int = 0) -> str:
    """Return an expression as text, in parentheses when it binds more loosely than `level`.

    `indent` is the column (from 0) of the statement it stands in. Raises KeyError for a class that is no expression.
    """
    own, printer = _PRINTERS[type(node)]
    if isinstance(node, ex.Binary):
        own = _LEVEL_OF[node.operator]
    elif isinstance(node, ex.Unary):
        own = NOT if node.operator == "not" else UNARY
    text = printer(node, indent)
    return f"({text})" if own < level else text


def argument(node: ex.Expr, indent: int = 0, words: frozenset[str] = FOLLOWING_WORDS) -> str:
    """Return an argument, in parentheses when its first word could be taken for one of `words`."""
    text = expression(node, POSTFIX, indent)
    start = _FIRST_WORD.match(text)
    return f"({text})" if start is not None and start[0] in words else text


def listed(nodes: Iterable[ex.Expr], indent: int = 0) -> str:
    """Return expressions with commas between them."""
    return ", ".join(expression(node, OR, indent) for node in nodes)


def quoted(text: str) -> str:
    """Return a text in quotes."""
    return f'"{text.translate(_QUOTED)}"'


def value(node: ex.Expr, indent: int) -> str:
    """Return what follows `=`, with the blank or the line break before it."""
    if isinstance(node, ex.LetExpr):
        return "\n" + _block(node, indent + STEP)
    return " " + expression(node, ANY, indent)


def _branch(node: ex.Expr, indent: int, level: int = ANY) -> str:
    """Return a branch or body, with the blank or line break before it."""
    if isinstance(node, ex.LetExpr):
        return "\n" + _block(node, indent + 2 * STEP)
    return " " + expression(node, level, indent)


def _block(node: ex.Expr, indent: int) -> str:
    """Return a chain of `let` and its last expression, a line each."""
    lines = []
    while isinstance(node, ex.LetExpr):
        kind = "" if node.type is None else f": {expression(node.type, APPLY, indent)}"
        lines.append(f"{' ' * indent}let {node.name}{kind} ={value(node.value, indent)}")
        node = node.body
    lines.append(" " * indent + expression(node, ANY, indent))
    return "\n".join(lines)


def domain(node: ex.Domain, indent: int = 0) -> str:
    """Return what a loop runs over."""
    if isinstance(node, ex.Range):
        return f"{expression(node.low, OR, indent)} .. {expression(node.high, OR, indent)}"
    if isinstance(node, ex.Blocks):
        bounds = f"{expression(node.low, OR, indent)} .. {expression(node.high, OR, indent)}"
        return f"blocks ({bounds}) {expression(node.size, POSTFIX, indent)}"
    return f"${node.name}"


def implicits(nodes: Iterable[ex.ImplicitArg], indent: int = 0) -> str:
    """Return implicit arguments, each run of named ones in one `@(…)`."""
    parts: list[str] = []
    named: list[str] = []
    for node in nodes:
        if node.name is not None:
            named.append(f"{node.name} = {expression(node.value, OR, indent)}")
            continue
        if named:
            parts.append(f"@({', '.join(named)})")
            named = []
        parts.append(f"@{expression(node.value, POSTFIX, indent)}")
    if named:
        parts.append(f"@({', '.join(named)})")
    return " ".join(parts)


def names(items: tuple[str, ...]) -> str:
    """Return one name, or several in parentheses."""
    return items[0] if len(items) == 1 else f"({', '.join(items)})"


# --- one printer for each class ----------------------------------------------------------------


def _base(node: ex.Expr, indent: int) -> str:
    text = expression(node, POSTFIX, indent)
    return f"({text})" if isinstance(node, ex.RecordLit | ex.StringLit) else text


def _apply(node: ex.Apply, indent: int) -> str:
    parts = [expression(node.function, POSTFIX, indent)]
    if node.implicit:
        parts.append(implicits(node.implicit, indent))
    parts.extend(argument(arg, indent) for arg in node.args)
    return " ".join(parts)


def _binary(node: ex.Binary, indent: int) -> str:
    own = _LEVEL_OF[node.operator]
    left = expression(node.left, own + 1 if own == COMPARE else own, indent)
    return f"{left} {node.operator} {expression(node.right, own + 1, indent)}"


def _unary(node: ex.Unary, indent: int) -> str:
    if node.operator == "not":
        return f"not {expression(node.operand, NOT, indent)}"
    return f"-{expression(node.operand, UNARY, indent)}"


def _record(node: ex.RecordLit, indent: int) -> str:
    fields = [
        field.name if field.value is None else f"{field.name} = {expression(field.value, OR, indent)}" for field in node.fields
    ]
    return f"{expression(node.type, POSTFIX, indent)} {{ {', '.join(fields)} }}"


def _substitute(node: ex.Substitute, indent: int) -> str:
    bindings = ", ".join(f"{item.name} := {expression(item.value, OR, indent)}" for item in node.bindings)
    return f"{_base(node.base, indent)}[{bindings}]"


def _labelled(node: ex.Labelled, indent: int) -> str:
    return "(" + ", ".join(f"{label.name}: {expression(label.value, OR, indent)}" for label in node.labels) + ")"


def _if(node: ex.IfExpr, indent: int) -> str:
    head = f"if {expression(node.condition, OR, indent)} then{_branch(node.then, indent, OR)}"
    between = f"\n{' ' * (indent + STEP)}" if isinstance(node.then, ex.LetExpr) else " "
    return f"{head}{between}else{_branch(node.otherwise, indent)}"


def _permission(reassoc: bool) -> str:
    return "[reassoc]" if reassoc else ""


def _sum(node: ex.Sum, indent: int) -> str:
    head = f"sum{_permission(node.reassoc)} {names(node.indices)}{_bounds(node.bounds, indent)}."
    return f"{head} {expression(node.body, ANY, indent)}"


def _bounds(bounds: tuple[ex.Expr, ...], indent: int) -> str:
    """Return the conditions on the indices of a sum or reduction."""
    return f" where {listed(bounds, indent)}" if bounds else ""


def _monoid(node: ex.Expr, indent: int) -> str:
    """Return a monoid; its arguments may stand beside it."""
    if isinstance(node, ex.Apply) and not node.implicit:
        return " ".join(argument(part, indent) for part in (node.function, *node.args))
    return argument(node, indent)


def _reduce(node: ex.Reduce, indent: int) -> str:
    indices = f"({node.indices[0]})" if node.indices == ("where",) else names(node.indices)
    head = f"reduce{_permission(node.reassoc)} {_monoid(node.monoid, indent)} {indices}{_bounds(node.bounds, indent)}."
    return f"{head} {expression(node.body, ANY, indent)}"


def _tile_reduce(node: ex.TileReduce, indent: int) -> str:
    head = f"reduce {_monoid(node.monoid, indent)} over {node.axis} by {node.by} do"
    return head + _branch(node.body, indent)


def _fold(node: ex.Fold, indent: int) -> str:
    head = f"fold {node.index} in {domain(node.domain, indent)} from {expression(node.start, UNARY, indent)}"
    kind = expression(node.type, APPLY, indent)
    return f"{head} as {node.accumulator}: {kind} do{_branch(node.body, indent)}"


_PRINTERS: Final[dict[type[ex.Expr], tuple[int, Printer]]] = {
    ex.Name: (POSTFIX, lambda n, _i: n.name),
    ex.PatternVar: (POSTFIX, lambda n, _i: f"${n.name}"),
    ex.IntLit: (POSTFIX, lambda n, _i: str(n.value)),
    ex.FloatLit: (POSTFIX, lambda n, _i: n.text),
    ex.BoolLit: (POSTFIX, lambda n, _i: "true" if n.value else "false"),
    ex.StringLit: (POSTFIX, lambda n, _i: quoted(n.value)),
    ex.Tuple: (POSTFIX, lambda n, i: f"({listed(n.items, i)})"),
    ex.ListExpr: (POSTFIX, lambda n, i: f"[{listed(n.items, i)}]"),
    ex.ArrayType: (POSTFIX, lambda n, i: f"[{expression(n.element, OR, i)}; {listed(n.dims, i)}]"),
    ex.Labelled: (POSTFIX, _labelled),
    ex.RecordLit: (POSTFIX, _record),
    ex.Field: (POSTFIX, lambda n, i: f"{_base(n.base, i)}.{n.name}"),
    ex.Index: (POSTFIX, lambda n, i: f"{_base(n.base, i)}[{listed(n.items, i)}]"),
    ex.Slice: (OR, lambda n, i: f"{expression(n.low, OR, i)} .. {expression(n.high, OR, i)}"),
    ex.Substitute: (POSTFIX, _substitute),
    ex.Apply: (APPLY, _apply),
    ex.Load: (APPLY, lambda n, i: f"load {expression(n.place, POSTFIX, i)}"),
    ex.Unary: (UNARY, _unary),
    ex.Binary: (ANY, _binary),
    ex.Cast: (CAST, lambda n, i: f"{expression(n.value, CAST, i)} as {expression(n.type, POSTFIX, i)}"),
    ex.IfExpr: (ANY, _if),
    ex.Sum: (ANY, _sum),
    ex.Reduce: (ANY, _reduce),
    ex.TileReduce: (ANY, _tile_reduce),
    ex.Fold: (ANY, _fold),
}
