"""Instances of generic programs: `matmul @(S = PlusTimes f32)`.

Takes a program and an implementation for each of its parameters; gives the program in which the
opaque element type and operations are the implementation's. Must not simplify what it inlines.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from cachet_verify.core.ir import Blockwise, Op, Program, Reduction, Value
from cachet_verify.elaborate.array import ArrayImplementation, Bound, named_implementation
from cachet_verify.elaborate.cell import spelled_out
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.item import Implementation
from cachet_verify.elaborate.replace import Replacement
from cachet_verify.elaborate.semiring import call_member
from cachet_verify.source import Span
from cachet_verify.syntax import ast


def words_of(expr: ast.Expr) -> tuple[str, ...] | None:
    """`PlusTimes f32`, `Matrix S 8` as words; None for anything but names and numbers."""
    if isinstance(expr, ast.Name):
        return (expr.name,)
    if isinstance(expr, ast.IntLit):
        return (str(expr.value),)
    if isinstance(expr, ast.Apply) and not expr.implicit:
        parts = [words_of(part) for part in (expr.function, *expr.args)]
        return tuple(word for part in parts if part is not None for word in part) if None not in parts else None
    return None


def bind(program: Program, implicit: Sequence[ast.ImplicitArg], context: Context, span: Span | None) -> dict[str, Bound]:
    """The implementations that `@(S = …)` names, by parameter. Raises StopError."""
    interfaces = dict(program.generics)
    found: dict[str, Bound] = {}
    for arg in implicit:
        name = arg.name or (program.generics[0][0] if len(program.generics) == 1 else "")
        if name not in interfaces:
            known = ", ".join(f"`{generic}`" for generic in interfaces)
            message = f"`{program.name}` has no parameter `{arg.name or ''}`"
            raise context.stop("elaborate.generic.parameter", message, arg.span or span, f"it has {known}" if known else "leave `@(…)` out")
        words = words_of(arg.value)
        if words is None:
            raise context.stop("elaborate.generic.missing", "the name of an implementation is wanted here", arg.span, "`PlusTimes f32`")
        implementation = named_implementation(arg.value, interfaces[name], context)
        if implementation is None:
            message = f"`{' '.join(words)}` is no implementation of `{interfaces[name]}`"
            alike = [f"`{known}`" for known in context.unit.implementations(interfaces[name]) if known.split()[0] == words[0]]
            hint = f"one of {', '.join(alike)}" if alike else context.unit.remedy(words[0])
            raise context.stop("elaborate.generic.missing", message, arg.span, hint)
        found[name] = implementation
    return found


def instantiate(program: Program, bindings: Mapping[str, Bound], context: Context) -> Program:
    """The instance of a program; it is named after the program and the implementations."""
    if not bindings:
        return program
    names = [re.sub(r"\W+", "_", bindings[name].name).strip("_") for name, _ in program.generics if name in bindings]
    made = replace(program, name="_".join((program.name, *names)))
    for name, implementation in bindings.items():
        if isinstance(implementation, ArrayImplementation):
            made = spelled_out(made, name, implementation)
    return _of_words(made, {name: item for name, item in bindings.items() if isinstance(item, Implementation)}, context)


def _of_words(program: Program, bindings: Mapping[str, Implementation], context: Context) -> Program:
    """The instance at implementations whose values are words."""
    by_elem = {f"{name}.Value": implementation.elem for name, implementation in bindings.items()}

    def operation(op: Op) -> Value:
        generic, dot, member = op.name.partition(".")
        if not dot or generic not in bindings:
            return op
        return call_member(context, bindings[generic], member, op.args, program.span)

    by = Replacement(elems=by_elem, operation=operation)
    params = tuple(replace(param, elem=by_elem.get(param.elem, param.elem)) for param in program.params)
    generics = tuple(generic for generic in program.generics if generic[0] not in bindings)
    made = replace(program, params=params, body=by.block(program.body), generics=generics)
    return replace(made, reductions=tuple(_reduction(reduction, by) for reduction in program.reductions))


def _reduction(reduction: Reduction, by: Replacement) -> Reduction:
    """What a reduction of an instance combines, a whole block at once included."""
    parts = tuple((name, by.elem(elem)) for name, elem in reduction.parts)
    empty, combined = tuple(map(by.value, reduction.empty)), tuple(map(by.value, reduction.combined))
    block = None if reduction.block is None else _blockwise(reduction.block, by)
    return replace(reduction, parts=parts, empty=empty, combined=combined, block=block)


def _blockwise(form: Blockwise, by: Replacement) -> Blockwise:
    keys = tuple((name, by.elem(elem)) for name, elem in form.keys)
    terms = tuple(replace(term, elem=by.elem(term.elem), value=by.value(term.value)) for term in form.terms)
    return replace(form, keys=keys, element=tuple(map(by.value, form.element)), terms=terms, result=tuple(map(by.value, form.result)))
