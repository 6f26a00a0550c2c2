"""Declarations to text.

Takes a `Declaration` and its indentation; gives lines that parse back to it.
Must not print comments, and not break long lines but those of headers and of rows of traffic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from cachet_verify.syntax import declaration as de
from cachet_verify.syntax import expression as ex
from cachet_verify.syntax.print_expression import APPLY, OR, POSTFIX, STEP, expression, implicits, listed, names, quoted, value
from cachet_verify.syntax.print_statement import Lines, body, recipe_line, schedule_line, step_head, storage
from cachet_verify.syntax.statement import ExprStatement

WIDTH: Final = 96


def declaration(node: de.Declaration, indent: int = 0) -> Lines:
    """Return the lines of a declaration."""
    return _PRINTERS[type(node)](node, indent)


# --- headers -----------------------------------------------------------------------------------


def _header(start: str, pieces: Iterable[str], contract: de.Contract, indent: int, ends: bool = True) -> Lines:
    """Return the lines of a header: on one line when it fits, else a piece a line; then its clauses."""
    all_pieces = [piece for piece in pieces if piece]
    whole = " ".join([start, *all_pieces])
    pad = " " * indent
    if indent + len(whole) + 2 <= WIDTH:
        lines = [pad + whole]
    else:
        lines = [pad + start, *(f"{pad}    {piece}" for piece in all_pieces)]
    clauses = _contract(contract, indent + STEP if indent else 0)
    if not clauses:
        if ends:
            lines[-1] += " ="
        return lines
    tail = [" " * (indent + STEP if indent else 0) + "="] if ends else []
    return [*lines, *clauses, *tail]


def _contract(node: de.Contract, indent: int) -> Lines:
    """Return the clauses of a contract, a line each."""
    pad = " " * indent
    lines = [f"{pad}requires {expression(item, OR, indent)}" for item in node.requires]
    lines += [f"{pad}produces {expression(item, OR, indent)}" for item in node.produces]
    if node.scratch:
        lines.append(f"{pad}scratch {', '.join(node.scratch)}")
    if node.working_set:
        lines.append(f"{pad}working_set")
        lines += [f"{pad}  {_working_set_row(row, indent)}" for row in node.working_set]
    if node.movement:
        lines.append(f"{pad}movement")
        lines += [f"{pad}  {_traffic(row, indent)}" for row in node.movement]
    lines += [f"{pad}{_invariant(item)}" for item in node.invariants]
    lines += [f"{pad}{_family(item)}" for item in node.families]
    return lines


def _working_set_row(row: de.WorkingSetRow, indent: int) -> str:
    keeps = ", ".join(f"keep {item.name} = {expression(item.value, OR, indent)}" for item in row.keeps)
    return f"@{row.level} {{ {keeps} }}"


def _traffic(row: de.Traffic, indent: int) -> str:
    """Return a row; one that is long goes on under its last `*`."""
    name = "" if row.name is None else f"{row.name} = "
    back = " and back" if row.back else ""
    ways = f"from {row.source} to {row.target}{back}"
    whole = f"traffic {name}{expression(row.count, OR, indent)} {ways}"
    if indent + 2 + len(whole) <= WIDTH or not isinstance(row.count, ex.Binary) or row.count.operator != "*":
        return whole
    left, right = row.count.left, row.count.right
    if isinstance(right, ex.Binary) or (isinstance(left, ex.Binary) and left.operator != "*"):
        return whole
    return f"traffic {name}{expression(left, OR, indent)} *\n{' ' * (indent + 4)}{expression(right, OR, indent)} {ways}"


def _invariant(node: de.Invariant) -> str:
    return f"invariant {node.name} in {listed(node.dims)}"


def _family(node: de.Family) -> str:
    if not node.names:
        return f"family {listed(node.conditions)}"
    sets = " * ".join(f"{{{listed(choice)}}}" for choice in node.choices)
    return f"family {names(node.names)} in {sets}"


def _generics(generics: tuple[de.Generic, ...]) -> str:
    return " ".join(f"{{{item.name} : {expression(item.interface, OR)}}}" for item in generics)


def _param(node: de.Param) -> str:
    if node.storage is None:
        return node.name
    mode = f"{node.mode} " if node.mode else ""
    return f"({mode}{node.name}: {storage(node.storage)})"


def _result(node: de.Result | None) -> str:
    if node is None:
        return ""
    return f"-> {storage(node.storage)}" if node.name is None else f"-> out {node.name}: {storage(node.storage)}"


# --- functions ---------------------------------------------------------------------------------


def _contraction(node: de.Contraction, indent: int) -> Lines:
    start = " ".join(part for part in ("contraction", node.name, _generics(node.generics)) if part)
    head = _header(start, [*map(_param, node.params), _result(node.result)], node.contract, indent)
    return [*head, *body(node.body, indent + STEP)]


def _fn(node: de.Fn, indent: int) -> Lines:
    word = "instr fn" if node.is_instr else "fn"
    start = " ".join(part for part in (word, node.name, _generics(node.generics)) if part)
    params = [_param(item) for item in node.params] or ["()"]
    head = _header(start, [*params, _result(node.result)], node.contract, indent, ends=node.body is not None)
    inside = body(node.body or (), indent + STEP)
    if len(inside) == 1 and head[-1].endswith(" =") and isinstance(node.body[0] if node.body else None, ExprStatement):
        if not node.templates and len(head[-1]) + 1 + len(inside[0].strip()) <= WIDTH:
            return [*head[:-1], f"{head[-1]} {inside[0].strip()}"]
    pad = " " * (indent + STEP)
    templates = [f"{pad}by_target {item.target} {quoted(item.text)}" for item in node.templates]
    return [*head, *inside, *templates]


# --- schedules ---------------------------------------------------------------------------------


def _schedule(node: de.Schedule, indent: int) -> Lines:
    parts = ["schedule", node.name, "of", expression(node.of, POSTFIX)]
    if node.implicit:
        parts.append(implicits(node.implicit))
    if node.device is not None:
        parts.append(f"on {node.device}")
    head = _header(" ".join(parts), map(_param, node.params), node.contract, indent)
    return [*head, *_schedule_lines(node.lines, indent)]


def _schedule_fn(node: de.ScheduleFn, indent: int) -> Lines:
    head = " ".join(["schedule fn", step_head(node.name, node.params, ())])
    return [f"{' ' * indent}{head} =", *_schedule_lines(node.lines, indent)]


def _schedule_lines(lines: Iterable[Any], indent: int) -> Lines:
    return [" " * (indent + STEP) + schedule_line(line) for line in lines]


def _step_fn(node: de.StepFn, indent: int) -> Lines:
    pad = " " * indent
    lines = [f"{pad}step fn {step_head(node.name, node.params, node.clauses)} ="]
    lines += [f"{pad}  from", *body(node.source, indent + 2 * STEP)]
    lines += [f"{pad}  to", *body(node.target, indent + 2 * STEP)]
    if node.relate:
        lines += [f"{pad}  relate", *(f"{pad}    {recipe_line(line)}" for line in node.relate)]
    return lines


# --- constants and proofs ----------------------------------------------------------------------


def _const(node: de.Const, indent: int) -> Lines:
    text = f"{' ' * indent}const {node.name}"
    if node.type is not None:
        text += f" : {expression(node.type, APPLY, indent)}"
    return [text if node.value is None else f"{text} ={value(node.value, indent)}"]


def _synth_const(node: de.SynthConst, indent: int) -> Lines:
    pad = " " * indent
    where = " where" if node.conditions else ""
    conditions = [f"{pad}    {expression(item, OR, indent + 2 * STEP)}," for item in node.conditions]
    if conditions:
        conditions[-1] = conditions[-1].removesuffix(",")
    return [
        f"{pad}synth const {names(node.names)} : {expression(node.type, APPLY)} =",
        f"{pad}  minimize {expression(node.result, OR)} in ({', '.join(node.variables)}): {expression(node.cost, OR)}{where}",
        *conditions,
    ]


def _proof_body(node: de.ProofBody) -> str:
    if isinstance(node, de.AssertProof):
        return f"assert {expression(node.claim, OR)}"
    if isinstance(node, de.RelateProof):
        return f"relate {expression(node.program, APPLY)} to {expression(node.meaning, APPLY)}"
    if isinstance(node, de.AdmitProof):
        return f"admit {quoted(node.reason)}"
    if isinstance(node, de.FamilyProof):
        return f"{_family(node.family)} of {expression(node.of, APPLY)}"
    if isinstance(node, de.InvariantProof):
        return f"{_invariant(node.invariant)} of {expression(node.of, APPLY)}"
    raise TypeError(f"no body of a proof: {node!r}")


def _proof(node: de.Proof, indent: int) -> Lines:
    head = " ".join(("proof", node.name, *map(_param, node.params)))
    needs = f" requires {', '.join(expression(need, OR) for need in node.requires)}" if node.requires else ""
    return [f"{' ' * indent}{head}{needs} =", f"{' ' * indent}  {_proof_body(node.body)}"]


# --- records, layouts, interfaces --------------------------------------------------------------


def _record(node: de.Record, indent: int) -> Lines:
    fields = ", ".join(f"{item.name}: {expression(item.type, APPLY)}" for item in node.fields)
    return [f"{' ' * indent}record {node.name} = {{ {fields} }}"]


def _layout(node: de.Layout, indent: int) -> Lines:
    head = " ".join(["layout", node.name, *node.params])
    needs = f" requires {', '.join(expression(need, OR) for need in node.requires)}" if node.requires else ""
    size = "" if node.size is None else f" size {expression(node.size, OR)}"
    text = f"{head} : [{listed(node.dims)}] ({', '.join(node.indices)}){needs}{size} ={value(node.address, indent)}"
    return [" " * indent + text]


def _law(node: de.Law, indent: int) -> Lines:
    parts = ["law", *node.words, *map(_param, node.params)]
    if node.domain is not None:
        parts.append(f"over {node.domain}")
    if node.statement is not None:
        parts.append(f": {expression(node.statement, OR)}")
    if node.reason is not None:
        parts.append(f"= {quoted(node.reason)}")
    return [" " * indent + " ".join(parts)]


def _interface(node: de.Interface, indent: int) -> Lines:
    head = " ".join(part for part in ("interface", node.name, _generics(node.generics), "where") if part)
    return [" " * indent + head, *_members(node.members, indent)]


def _impl(node: de.Impl, indent: int) -> Lines:
    parts = ("impl", _generics(node.generics), expression(node.interface, APPLY), "for", expression(node.target, APPLY), "where")
    return [" " * indent + " ".join(part for part in parts if part), *_members(node.members, indent)]


def _members(members: Iterable[de.Declaration], indent: int) -> Lines:
    return [line for member in members for line in declaration(member, indent + STEP)]


def _module_header(node: de.ModuleHeader, indent: int) -> Lines:
    settings = ", ".join(f"{item.name} = {expression(item.value, OR)}" for item in node.settings)
    return [" " * indent + (f"module ({settings})" if settings else "module")]


_PRINTERS: Final[dict[type[de.Declaration], Callable[[Any, int], Lines]]] = {
    de.ModuleHeader: _module_header,
    de.Import: lambda n, i: [f"{' ' * i}import {quoted(n.path)}"],
    de.Contraction: _contraction,
    de.Fn: _fn,
    de.Schedule: _schedule,
    de.ScheduleFn: _schedule_fn,
    de.StepFn: _step_fn,
    de.Const: _const,
    de.SynthConst: _synth_const,
    de.Proof: _proof,
    de.Record: _record,
    de.Layout: _layout,
    de.Law: _law,
    de.Interface: _interface,
    de.Impl: _impl,
}
