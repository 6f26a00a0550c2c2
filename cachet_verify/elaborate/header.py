"""The header of a contraction, a function or a schedule: sizes, parameters, requirements.

Takes generics, parameters, a result and a contract; gives core parameters and the first scope.
Must not look into bodies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from cachet_verify.core.index import ONE, ZERO, Const, Index, Var, conjuncts, le
from cachet_verify.core.ir import Kept, Layout, Param, Require, Traffic
from cachet_verify.core.spell import spell
from cachet_verify.elaborate.context import Context, near_miss
from cachet_verify.elaborate.item import Argument
from cachet_verify.elaborate.layout import needed_at
from cachet_verify.elaborate.movement import elaborate_movement
from cachet_verify.elaborate.place import source_text
from cachet_verify.elaborate.platform import list_levels
from cachet_verify.elaborate.problem import StopError
from cachet_verify.elaborate.scope import BufferEntity, GenericEntity, IndexEntity, PoisonEntity, Scope, SideCondition
from cachet_verify.elaborate.term import check_natural, elaborate_condition, elaborate_index
from cachet_verify.elaborate.value import Values
from cachet_verify.source import Span
from cachet_verify.syntax import ast


@dataclass(frozen=True, slots=True)
class Header:
    """What a header declares; `scope` binds it all and knows that sizes are naturals."""

    sizes: tuple[str, ...]
    params: tuple[Param, ...]
    arguments: tuple[Argument, ...]
    generics: tuple[tuple[str, str], ...]
    requires: tuple[Require, ...]
    kept: tuple[Kept, ...]
    movement: tuple[Traffic, ...] | None
    scope: Scope


@dataclass(slots=True)
class _Builder:
    context: Context
    values: Values
    scope: Scope
    sizes: list[str] = field(default_factory=list)
    params: list[Param] = field(default_factory=list)
    arguments: list[Argument] = field(default_factory=list)


def elaborate_header(
    context: Context,
    generics: Sequence[ast.Generic],
    params: Sequence[ast.Param],
    result: ast.Result | None,
    contract: ast.Contract,
    start: Scope | None = None,
    known_sizes: Sequence[str] = (),
) -> Header:
    """The header. `start` and `known_sizes` are given where it continues another one, as a schedule's does."""
    builder = _Builder(context, Values(context), start or Scope(), list(known_sizes))
    first = len(context.conditions)
    bound = tuple(_bind_generic(builder, generic) for generic in generics)
    _collect_sizes(builder, params, result, len(known_sizes))
    outputs = _produced(context, contract)
    for param in params:
        _guarded(builder, param, "out" if param.name in outputs else param.mode, outputs)
    if result is not None and result.name is not None:
        _guarded(builder, ast.Param(result.name, "out", result.storage, span=result.span), "out", outputs)
    for name, span in outputs.items():
        context.problems.report("elaborate.contract", f"`{name}` is no parameter, so it cannot be produced", span, "name a `mut` parameter")
    last = len(context.conditions)
    requires = _requires(builder, contract)
    context.conditions[first:last] = [_given(condition, requires) for condition in context.conditions[first:last]]
    scratch = _scratch(builder, contract)
    for place, made in enumerate(builder.params):
        if made.name in scratch:
            builder.params[place] = replace(made, scratch=True)
    return Header(
        tuple(builder.sizes),
        tuple(builder.params),
        tuple(builder.arguments),
        bound,
        requires,
        _kept(builder, contract),
        elaborate_movement(contract.movement, [param.name for param in builder.params], builder.scope, context),
        builder.scope,
    )


def _bind_generic(builder: _Builder, generic: ast.Generic) -> tuple[str, str]:
    interface = source_text(generic.interface) if not isinstance(generic.interface, ast.Name) else generic.interface.name
    entry = builder.context.unit.find(interface)
    if entry is None:
        builder.context.unknown(interface, generic.interface.span)
    elif not isinstance(entry.declaration, ast.Interface):
        builder.context.problems.report("elaborate.name.kind", f"`{interface}` is not an interface", generic.interface.span, "`{S : Semiring}`")
    builder.scope = builder.scope.bind(generic.name, GenericEntity(generic.name, interface))
    builder.context.fresh.take(generic.name)
    return generic.name, interface


# --- sizes -------------------------------------------------------------------------------------


def dims_of(storage: ast.Storage | None) -> tuple[ast.Expr, ...]:
    """The extents a storage is declared with, those of arrays in an array after its own; none for a scalar."""
    return flat_type(storage.type)[1] if storage is not None else ()


def flat_type(kind: ast.Type) -> tuple[ast.Type, tuple[ast.Expr, ...]]:
    """The words in a type, and its extents: of `[[f32; 8, 8]; M, K]`, an array of blocks, `f32` and `M, K, 8, 8`."""
    dims: tuple[ast.Expr, ...] = ()
    while isinstance(kind, ast.ArrayType):
        dims, kind = (*dims, *kind.dims), kind.element
    return kind, dims


def names_in(expr: ast.Expr) -> Iterator[ast.Name]:
    """The names in an extent, left to right; the functions it calls are left out."""
    if isinstance(expr, ast.Name):
        yield expr
    elif isinstance(expr, ast.Binary):
        yield from names_in(expr.left)
        yield from names_in(expr.right)
    elif isinstance(expr, ast.Unary):
        yield from names_in(expr.operand)
    elif isinstance(expr, ast.Apply):
        for arg in expr.args:
            yield from names_in(arg)


def _collect_sizes(builder: _Builder, params: Sequence[ast.Param], result: ast.Result | None, known: int) -> None:
    """Every name in an extent that is no constant is a size, in the order met."""
    context = builder.context
    plain: set[str] = set(builder.sizes[:known])
    first: dict[str, ast.Name] = {}
    storages = [param.storage for param in params] + ([result.storage] if result is not None else [])
    for param in params:
        if _is_natural(param):
            plain.add(param.name)
            first.setdefault(param.name, ast.Name(param.name, span=param.span))
    for dim in (dim for storage in storages for dim in dims_of(storage)):
        for name in names_in(dim):
            is_constant = context.unit.is_symbolic(name.name) or context.unit.constant(name.name, name.span) is not None
            if builder.scope.find(name.name) is None and not is_constant:
                first.setdefault(name.name, name)
            if dim is name:
                plain.add(name.name)
    for size, name in first.items():
        if size not in builder.sizes:
            builder.sizes.append(size)
            context.fresh.take(size)
            builder.scope = builder.scope.bind(size, IndexEntity(Var(size), "size")).assume(le(ZERO, Var(size)))
        if size not in plain:
            message = f"the size `{size}` stands only inside larger extents, so a call cannot tell it"
            context.problems.report("elaborate.size.unbound", message, name.span, f"give it an extent of its own, or a parameter `({size}: Nat)`")


def _is_natural(param: ast.Param) -> bool:
    return param.storage is not None and isinstance(param.storage.type, ast.Name) and param.storage.type.name == "Nat"


# --- parameters --------------------------------------------------------------------------------


def _guarded(builder: _Builder, param: ast.Param, mode: str, outputs: dict[str, Span | None]) -> None:
    """Add a parameter; when it is refused its name is poisoned, so that its uses say no more."""
    if any(param.name == made.name for made in builder.arguments):
        builder.context.problems.report("elaborate.name.duplicate", f"two parameters are named `{param.name}`", param.span)
        return
    try:
        _add_param(builder, param, mode)
    except StopError:
        builder.scope = builder.scope.bind(param.name, PoisonEntity())
    outputs.pop(param.name, None)


def _add_param(builder: _Builder, param: ast.Param, mode: str) -> None:
    context = builder.context
    if param.storage is None:
        hint = near_miss(param.name, ("requires", "produces", "scratch", "working_set", "movement", "invariant", "family", "on"))
        raise context.stop("elaborate.type.unknown", f"`{param.name}` needs a type", param.span, hint or f"`(reads {param.name}: [f32; N])`")
    if _is_natural(param):
        builder.arguments.append(Argument(param.name, "size"))
        return
    if param.name in builder.sizes:
        raise context.stop("elaborate.name.duplicate", f"`{param.name}` is both a size and a parameter", param.span)
    shape = elaborate_shape(dims_of(param.storage), builder.scope, context)
    is_array = isinstance(param.storage.type, ast.ArrayType)
    kind, _ = flat_type(param.storage.type)
    elem = builder.values.elem_name(kind, builder.scope)
    if is_array and not mode:
        raise context.stop(
            "elaborate.call.mode", f"say what `{param.name}` is for", param.span, f"`(reads {param.name}: …)` or `(mut {param.name}: …)`"
        )
    context.fresh.take(param.name)
    layout = elaborate_layout(param.storage, shape, builder.scope, context)
    check_level(param.storage.level, param.span, context)
    made = Param(param.name, mode or "reads", elem, shape, layout, param.storage.level, span=param.span)
    builder.params.append(made)
    builder.arguments.append(Argument(param.name, made.mode if mode else "value", elem, shape, layout))
    entity = BufferEntity(param.name, elem, shape, None, made.mode != "reads", bool(mode), param.name, layout=layout, level=made.level)
    builder.scope = builder.scope.bind(param.name, entity)


def elaborate_shape(dims: Sequence[ast.Expr], scope: Scope, context: Context) -> tuple[Index, ...]:
    """The extents as terms; a difference among them must not be negative."""
    shape: list[Index] = []
    for dim in dims:
        term = elaborate_index(dim, scope, context)
        check_natural(term, dim, scope, context)
        shape.append(term)
    return tuple(shape)


def elaborate_layout(storage: ast.Storage, shape: Sequence[Index], scope: Scope, context: Context) -> Layout | None:
    """The layout a storage names, with its arguments; None for row by row. Notes what it requires of them and of the extents."""
    expr = storage.layout
    if expr is None:
        return None
    head, args = (expr.function, expr.args) if isinstance(expr, ast.Apply) else (expr, ())
    if not isinstance(head, ast.Name):
        raise context.stop("elaborate.layout", "the name of a layout is wanted here", expr.span, "`in PanelMajor 4`")
    entry = context.unit.find(head.name)
    if entry is None:
        raise context.unknown(head.name, head.span)
    layout = entry.declaration
    if not isinstance(layout, ast.Layout):
        raise context.stop("elaborate.layout", f"`{head.name}` is not a layout", head.span)
    if len(args) != len(layout.params) or len(shape) != len(layout.dims):
        message = f"`{head.name}` takes {len(layout.params)} numbers and lays out {len(layout.dims)} dimensions"
        raise context.stop("elaborate.layout", message, expr.span)
    numbers = tuple(elaborate_index(arg, scope, context) for arg in args)
    for term, arg in zip(numbers, args, strict=True):
        if not isinstance(term, Const) or term.value < 1:
            context.require(scope, le(ONE, term), f"`{spell(term)}`, a number of the layout `{head.name}`, is at least 1", arg.span)
    for goal, text in needed_at(layout, numbers, shape, scope, context.within(context.unit_of(entry.path), head.name)):
        context.require(scope, goal, text, expr.span)
    return Layout(head.name, numbers, entry.path)


def check_level(level: str | None, span: Span | None, context: Context) -> None:
    """Report a memory level that the platform does not have; without a platform any name will do."""
    levels = context.unit.levels()
    if level is not None and levels and level not in levels:
        known = list_levels(levels)
        raise context.stop("elaborate.platform.level", f"the platform has no memory level `{level}`", span, f"one of {known}")


# --- the contract ------------------------------------------------------------------------------


def _produced(context: Context, contract: ast.Contract) -> dict[str, Span | None]:
    names: dict[str, Span | None] = {}
    for expr in contract.produces:
        is_init = isinstance(expr, ast.Apply) and expr.function == ast.Name("Init") and len(expr.args) == 1
        target = expr.args[0] if isinstance(expr, ast.Apply) and is_init else None
        if isinstance(target, ast.Name):
            names[target.name] = target.span
        else:
            context.problems.report("elaborate.contract", "`produces` says which buffer is filled", expr.span, "`produces Init c`")
    return names


def _requires(builder: _Builder, contract: ast.Contract) -> tuple[Require, ...]:
    found: list[Require] = []
    for expr in contract.requires:
        try:
            condition = elaborate_condition(expr, builder.scope, builder.context)
        except StopError:
            continue
        found.append(Require(condition, "written"))
        builder.scope = builder.scope.assume(condition)
    return tuple(found)


def _given(condition: SideCondition, requires: Sequence[Require]) -> SideCondition:
    """What the parameters need, where what is required holds: it is written behind them."""
    return replace(condition, premises=(*condition.premises, *(part for need in requires for part in conjuncts(need.condition))))


def _scratch(builder: _Builder, contract: ast.Contract) -> set[str]:
    names = {param.name for param in builder.params if param.mode == "mut"}
    for name in contract.scratch:
        if name not in names:
            message = f"`{name}` is not a `mut` parameter, so it cannot be scratch"
            builder.context.problems.report("elaborate.contract", message, None if not builder.params else builder.params[0].span)
    return set(contract.scratch)


def _kept(builder: _Builder, contract: ast.Contract) -> tuple[Kept, ...]:
    found: list[Kept] = []
    names = {param.name for param in builder.params}
    for row in contract.working_set:
        for keep in row.keeps:
            if keep.name not in names:
                message = f"`{keep.name}` is no parameter, so it cannot be kept"
                builder.context.problems.report("elaborate.contract", message, keep.span or row.span, "keep a parameter")
            else:
                found.append(Kept(row.level, keep.name))
        check_level(row.level, row.span, builder.context)
    return tuple(found)
