"""Calls that write memory: arguments matched, conditions noted, the callee's body put in place.

Takes a call statement; gives an `Inlined` block and a `CallSite`. Must not let two arguments
that are one buffer pass unnoticed when one of them is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cachet_verify.core.index import ZERO, Const, Formula, Index, Var, eq, le, mul, substitute, substitute_formula, variables
from cachet_verify.core.ir import Declare, Inlined, Kept, Layout, OfIndex, Op, Print, Program, Stmt, Value
from cachet_verify.core.spell import spell, spell_requirement
from cachet_verify.elaborate.generic import bind, instantiate, words_of
from cachet_verify.elaborate.item import Argument, CallSite, Entry, Overlap, ProgramItem, ScheduleItem
from cachet_verify.elaborate.place import Place, source_text
from cachet_verify.elaborate.problem import IncompleteError, StopError, UnsupportedError
from cachet_verify.elaborate.replace import Replacement, binders, renaming
from cachet_verify.elaborate.scope import BufferEntity, GenericEntity, PoisonEntity, Scope, SideCondition, ValueType
from cachet_verify.elaborate.term import elaborate_index, is_index_expression, is_natural, same_term
from cachet_verify.elaborate.working_set import with_leases
from cachet_verify.syntax import ast

if TYPE_CHECKING:
    from cachet_verify.elaborate.statement import Statements

_WRITTEN = ("mut", "out")


@dataclass(slots=True)
class _Call:
    """A call while its arguments are matched."""

    body: Statements
    expr: ast.Apply
    name: str
    scope: Scope
    program: Program
    sizes: dict[str, Index] = field(default_factory=dict)
    buffers: dict[str, BufferEntity] = field(default_factory=dict)
    needs: list[SideCondition] = field(default_factory=list)


def elaborate_call(body: Statements, expr: ast.Apply, scope: Scope, found: list[Stmt]) -> None:
    """Add a call to `found`. Raises StopError, UnsupportedError."""
    context = body.context
    name = expr.function.name if isinstance(expr.function, ast.Name) else ""
    if name == "print":
        _print(body, expr, scope, found)
        return
    entry = context.unit.find(name)
    if entry is None:
        raise context.unknown(name, expr.function.span, scope)
    arguments, program = _callee(body, entry, expr, scope)
    call = _Call(body, expr, name, scope, program)
    given = () if expr.args == (ast.Tuple(()),) else expr.args
    if len(given) != len(arguments):
        wanted = " ".join(argument.name for argument in arguments)
        message = f"`{name}` takes {len(arguments)} arguments, not {len(given)}"
        raise context.stop("elaborate.call.arity", message, expr.span, f"`{name} {wanted}`")
    _match(call, arguments, given, found)
    overlaps = _overlaps(call, arguments, given)
    for need in program.requires:
        condition = substitute_formula(need.condition, call.sizes)
        text = f"{name} requires {spell_requirement(need.condition)}{_sizes_of(call, need.condition)}"
        call.needs.append(SideCondition(scope.facts, condition, text, expr.span))
    roots = tuple(entity.root for entity in call.buffers.values())
    context.calls.append(CallSite(name, source_text(expr), roots, tuple(call.needs), overlaps, expr.span))
    context.rests_on.append(name)
    if overlaps:
        raise IncompleteError(name)
    _inline(call, entry, found)


def _sizes_of(call: _Call, condition: Formula) -> str:
    """What the sizes in a requirement are at a call, where they are not called the same: ` at N = 30`."""
    given = {name: call.sizes[name] for name in sorted(variables(condition)) if name in call.sizes}
    shown = ", ".join(f"{name} = {spell(term)}" for name, term in given.items() if term != Var(name))
    return f" at {shown}" if shown else ""


def _print(body: Statements, expr: ast.Apply, scope: Scope, found: list[Stmt]) -> None:
    """`print x`: the host shows a word, or an integer as one of `i64`."""
    context = body.context
    context.host.append(expr.span)
    for arg in expr.args:
        if is_index_expression(arg, scope, context):
            found.append(Print(OfIndex("i64", elaborate_index(arg, scope, context)), expr.span))
            continue
        kind = body.known_type(arg, scope, "give a name its type with `let x: f32 = …`")
        found.append(Print(body.check(arg, kind, Place(scope, None, found)), expr.span))


def _callee(body: Statements, entry: Entry, expr: ast.Apply, scope: Scope) -> tuple[tuple[Argument, ...], Program]:
    """The callee's arguments and its program with generics bound; the program may still be a header."""
    context, decl = body.context, entry.declaration
    item: ProgramItem | ScheduleItem
    if isinstance(decl, (ast.Contraction, ast.Fn)):
        item = context.unit.program(entry, expr.span)
    elif isinstance(decl, ast.Schedule):
        item = context.unit.schedule(entry, expr.span)
    else:
        raise context.stop("elaborate.name.kind", f"`{entry.name}` cannot be called", expr.span)
    if item.failed:
        raise StopError(entry.name)
    applied = context.unit.applied(entry.name) if isinstance(decl, ast.Schedule) else None
    program = item.program if applied is None else applied
    if isinstance(item, ProgramItem) and item.waits_for and program is None:
        context.waits_for.extend(item.waits_for)
        raise IncompleteError(entry.name)
    if program is None:
        raise UnsupportedError(f"a call of `{entry.name}`, which has no meaning yet", expr.span)
    unbound, program = program, _bound(body, program, expr, scope, entry.name)
    own = {param.name: param.elem for param in program.params}
    elems = {old.elem: made.elem for old, made in zip(unbound.params, program.params, strict=True)}
    shapes = {made.name: made.shape for old, made in zip(unbound.params, program.params, strict=True) if made.shape != old.shape}
    arguments = tuple(
        replace(argument, elem=own.get(argument.name, elems.get(argument.elem, argument.elem)), shape=shapes.get(argument.name, argument.shape))
        for argument in item.arguments
    )
    return arguments, program


def _bound(body: Statements, program: Program, expr: ast.Apply, scope: Scope, name: str) -> Program:
    """The program with its generics bound, to implementations or to generics of the caller, who calls it `name`."""
    context = body.context
    passed: dict[str, str] = {}
    rest: list[ast.ImplicitArg] = []
    for arg in expr.implicit:
        words = words_of(arg.value) or ()
        generic = arg.name or (program.generics[0][0] if len(program.generics) == 1 else "")
        if len(words) == 1 and isinstance(scope.find(words[0]), GenericEntity) and generic in dict(program.generics):
            passed[generic] = words[0]
        else:
            rest.append(arg)
    bindings = bind(program, rest, context, expr.span)
    program = instantiate(program, bindings, context)
    for generic, interface in program.generics:
        if generic not in passed:
            hint = f"`{name} @({generic} = PlusTimes f32) …`"
            raise context.stop("elaborate.generic.unbound", f"`{name}` needs to know its `{generic}`, a `{interface}`", expr.span, hint)
    return _pass_generics(program, passed)


def _pass_generics(program: Program, passed: Mapping[str, str]) -> Program:
    if not passed:
        return program
    elems = {f"{old}.Value": f"{new}.Value" for old, new in passed.items()}

    def operation(op: Op) -> Value:
        generic, dot, member = op.name.partition(".")
        return replace(op, name=f"{passed[generic]}.{member}") if dot and generic in passed else op

    by = Replacement(elems=elems, operation=operation)
    params = tuple(replace(param, elem=elems.get(param.elem, param.elem)) for param in program.params)
    return replace(program, params=params, body=by.block(program.body), generics=())


# --- arguments ---------------------------------------------------------------------------------


def _match(call: _Call, arguments: Sequence[Argument], given: Sequence[ast.Expr], found: list[Stmt]) -> None:
    """Match arguments with parameters: kinds, modes, element types, then shapes."""
    buffers: list[tuple[Argument, BufferEntity, ast.Expr]] = []
    for argument, expr in zip(arguments, given, strict=True):
        if argument.mode == "size":
            call.sizes[argument.name] = elaborate_index(expr, call.scope, call.body.context)
            continue
        entity = _scalar(call, argument, expr, found) if argument.mode == "value" else _buffer(call, argument, expr)
        call.buffers[argument.name] = entity
        buffers.append((argument, entity, expr))
    for argument, entity, _ in buffers:
        for wanted, actual in zip(argument.shape, entity.shape, strict=True):
            if isinstance(wanted, Var):
                call.sizes.setdefault(wanted.name, actual)
    for size in dict.fromkeys(call.sizes.values()):
        if not is_natural(size, call.scope):
            call.needs.append(SideCondition(call.scope.facts, le(ZERO, size), f"`{spell(size)}` is at least 0", call.expr.span))
    for argument, entity, expr in buffers:
        _match_layout(call, argument, entity, expr)
        _match_shape(call, argument, entity, expr)


def _scalar(call: _Call, argument: Argument, expr: ast.Expr, found: list[Stmt]) -> BufferEntity:
    """A word passed by value: a local of its own holds it."""
    context = call.body.context
    value = call.body.check(expr, ValueType(argument.elem), Place(call.scope, None, found))
    name = context.fresh.take(argument.name)
    found.append(Declare(name, argument.elem, init=value, span=expr.span))
    return BufferEntity(name, argument.elem, (), loaded=False, root=name, kind="local")


def _buffer(call: _Call, argument: Argument, expr: ast.Expr) -> BufferEntity:
    problems = call.body.context.problems
    entity = call.scope.find(expr.name) if isinstance(expr, ast.Name) else None
    if isinstance(entity, PoisonEntity):
        raise StopError(argument.name)
    if isinstance(expr, ast.Name) and entity is None:
        raise call.body.context.unknown(expr.name, expr.span, call.scope)
    if not isinstance(entity, BufferEntity) or entity.width is not None:
        message = f"`{call.name}` takes a buffer for `{argument.name}`, by its name"
        raise problems.stop("elaborate.call.argument", message, expr.span, "name a part of a buffer with `view` first")
    if entity.leased is not None:
        raise problems.stop("elaborate.lease.root", f"`{entity.name}` is leased as `{entity.leased}`", expr.span, f"pass `{entity.leased}`")
    if entity.elem != argument.elem:
        message = f"`{call.name}` wants `{argument.elem}` for `{argument.name}`, and `{entity.name}` holds `{entity.elem}`"
        raise problems.stop("elaborate.type.mismatch", message, expr.span)
    if len(entity.shape) != len(argument.shape):
        message = f"`{call.name}` wants {len(argument.shape)} dimensions for `{argument.name}`, and `{entity.name}` has {len(entity.shape)}"
        raise problems.stop("elaborate.call.shape", message, expr.span)
    if argument.mode in _WRITTEN and not entity.writable:
        message = f"`{call.name}` writes `{argument.name}`, and `{entity.name}` is read only here"
        raise problems.stop("elaborate.call.mode", message, expr.span, f"declare `{entity.name}` as `mut`")
    return entity


def _match_layout(call: _Call, argument: Argument, entity: BufferEntity, expr: ast.Expr) -> None:
    """The same layout, of the same file, with the same numbers once the callee's sizes are the caller's."""
    declared, actual = argument.layout, entity.layout
    wanted = None if declared is None else replace(declared, args=tuple(substitute(arg, call.sizes) for arg in declared.args))
    if wanted == actual:
        return
    if wanted is None or actual is None or replace(wanted, args=actual.args) != actual:
        other = ", of another file" if wanted is not None and actual is not None and wanted.name == actual.name else ""
        message = f"`{call.name}` wants `{argument.name}` {layout_text(wanted)}, and `{entity.name}` is {layout_text(actual)}{other}"
        raise call.body.context.stop("elaborate.call.layout", message, expr.span, "copy it into a buffer of the other layout")
    for expected, given in zip(wanted.args, actual.args, strict=True):
        text = f"`{spell(given)}`, a number of the layout of `{entity.name}`, is `{spell(expected)}`"
        call.needs.append(SideCondition(call.scope.facts, eq(given, expected), text, expr.span))


def layout_text(layout: Layout | None) -> str:
    """A layout in words."""
    return "row by row" if layout is None else " ".join(("in", layout.name, *(spell(arg, 3) for arg in layout.args)))


def _match_shape(call: _Call, argument: Argument, entity: BufferEntity, expr: ast.Expr) -> None:
    for place, (wanted, actual) in enumerate(zip(argument.shape, entity.shape, strict=True)):
        expected = substitute(wanted, call.sizes)
        if same_term(expected, actual):
            continue
        text = f"extent {place + 1} of `{entity.name}`, `{spell(actual)}`, is `{spell(expected)}`"
        if isinstance(expected, Const) and isinstance(actual, Const):
            message = f"extent {place + 1} of `{entity.name}` is {spell(actual)}, and `{call.name}` wants {spell(expected)} for `{argument.name}`"
            raise call.body.context.stop("elaborate.call.shape", message, expr.span)
        call.needs.append(SideCondition(call.scope.facts, eq(actual, expected), text, expr.span))


def _overlaps(call: _Call, arguments: Sequence[Argument], given: Sequence[ast.Expr]) -> tuple[Overlap, ...]:
    """The pairs of arguments that are one buffer though one of them is written."""
    lent = [(argument, call.buffers[argument.name], expr) for argument, expr in zip(arguments, given, strict=True) if argument.name in call.buffers]
    found: list[Overlap] = []
    for place, (first, one, text) in enumerate(lent):
        for second, other, other_text in lent[place + 1 :]:
            if one.root == other.root and (first.mode in _WRITTEN or second.mode in _WRITTEN):
                message = (
                    f"could not prove the call of {call.name} lends parts of one whole at once, which must be apart: "
                    f"Disjoint {_interval(one)} {_interval(other)}"
                )
                found.append(Overlap(source_text(text), source_text(other_text), one.root, message))
    return tuple(found)


def _interval(entity: BufferEntity) -> str:
    count: Index = Const(1)
    for extent in entity.shape:
        count = mul(count, extent)
    region = "(allocated region)" if entity.kind in ("local", "allocated") else entity.root
    return f"(interval {region} 0 ({spell(count, 2)} * sizeof {entity.elem}))"


# --- the body ----------------------------------------------------------------------------------


def _inline(call: _Call, entry: Entry, found: list[Stmt]) -> None:
    context = call.body.context
    program = call.program
    if isinstance(entry.declaration, ast.Schedule) and context.unit.applied(entry.name) is None:
        context.waits_for.append(entry.name)
        raise IncompleteError(entry.name)
    names = {binder: context.fresh.take(binder) for binder in binders(program.body)}
    passed = {name: entity.name for name, entity in call.buffers.items()}
    by = Replacement({**renaming(names), **call.sizes}, {**names, **passed})
    body = with_leases(by.block(program.body), _levels(call), context.fresh.take)
    needs = tuple((need.goal, need.text) for need in call.needs)
    found.append(Inlined(source_text(call.expr), body, call.expr.span, needs=needs))


def _levels(call: _Call) -> Iterator[Kept]:
    """The arguments that live on another level here than the callee says: they are kept there while it runs."""
    levels = call.body.context.unit.levels()
    outermost = levels[-1] if levels else None
    for param in call.program.params:
        entity = call.buffers.get(param.name)
        if entity is not None and param.level is not None and param.level not in (entity.level, outermost):
            yield Kept(param.level, entity.name)
