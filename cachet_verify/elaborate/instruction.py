"""Instructions: what their reference bodies compute, as programs and where they are used.

Takes an `instr fn`; gives its program, and at a use the statements of its reference body, marked with
its templates. Must not let a template change what a use means.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from cachet_verify.core.index import ONE, ZERO, Const, Formula, Index, Var, add, conj, le, mul, substitute_formula
from cachet_verify.core.ir import Block, Declare, Fold, For, Inlined, Lanes, Load, Op, Param, Program, Range, Require, Stmt, Store, Value
from cachet_verify.core.spell import spell_requirement
from cachet_verify.elaborate import operation
from cachet_verify.elaborate.application import inline_function
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.header import Header, elaborate_header
from cachet_verify.elaborate.item import Argument
from cachet_verify.elaborate.place import LaneUse, Place, source_text
from cachet_verify.elaborate.problem import UnsupportedError
from cachet_verify.elaborate.reference import Chains, Reference, block_shape
from cachet_verify.elaborate.scope import BufferEntity, FreshNames, IndexEntity, Scope, ValueEntity, ValueType
from cachet_verify.elaborate.term import elaborate_condition, elaborate_index
from cachet_verify.elaborate.value import Values
from cachet_verify.source import Span
from cachet_verify.syntax import ast

RESULT = "result"
ACTIVE = "active"
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z_0-9']*)\}")


def read_instruction(values: Values, fn: ast.Fn, path: str) -> Reference:
    """An instruction's header and the form of its body. Raises StopError, UnsupportedError."""
    context = values.context
    if fn.generics:
        raise UnsupportedError("a generic `instr fn`", fn.span)
    operands: dict[str, ValueType] = {}
    numbers: list[str] = []
    for param in fn.params:
        if param.name in operands or param.name in numbers or param.name in (RESULT, ACTIVE):
            message = f"`{param.name}` names something else in an instruction already"
            raise context.stop("elaborate.name.duplicate", message, param.span, "give the operand another name")
        if param.storage is None or param.mode:
            raise context.stop("elaborate.type.unknown", f"the operand `{param.name}` needs a type", param.span, f"`({param.name}: Vec f32 64)`")
        if param.storage.type == ast.Name("Nat"):
            numbers.append(param.name)
        else:
            operands[param.name] = values.type_of(param.storage.type, Scope())
    if fn.result is None or fn.result.name is not None:
        raise context.stop("elaborate.type.unknown", f"`{fn.name}` says what it gives", fn.span, "`-> Vec f32 64`")
    result = values.type_of(fn.result.storage.type, Scope())
    _check_templates(context, fn)
    found = Reference(fn, path, operands, tuple(numbers), result, _chains(context, fn, operands, result))
    own = Values(replace(context, fresh=FreshNames((RESULT, *operands))))
    body = Block(_reference_body(own, found, RESULT, {name: name for name in operands}, _numbered(numbers)))
    width = Const(result.width or 1)
    inside = _numbered(numbers).assume(conj((le(ONE, Var(ACTIVE)), le(Var(ACTIVE), width))))
    conditions = tuple(condition for condition, _ in preconditions(context, found, inside, Var(ACTIVE)))
    whole = (substitute_formula(condition, {ACTIVE: width}) for condition in conditions)
    return replace(found, body=body, needs=tuple((need, _required(fn, need)) for need in whole), conditions=conditions)


def _required(fn: ast.Fn, condition: Formula) -> str:
    return f"{fn.name} requires {spell_requirement(condition)}"


def _numbered(numbers: Sequence[str]) -> Scope:
    """The scope in which an instruction's numbers are integers."""
    scope = Scope()
    for name in numbers:
        scope = scope.bind(name, IndexEntity(Var(name), "size")).assume(le(ZERO, Var(name)))
    return scope


def _check_templates(context: Context, fn: ast.Fn) -> None:
    """Each target once, and no placeholder that is not there."""
    known = {RESULT, *(param.name for param in fn.params)}
    seen: set[str] = set()
    for template in fn.templates:
        if template.target in seen:
            message = f"`{fn.name}` has two templates for `{template.target}`"
            raise context.stop("elaborate.instruction.template", message, template.span, "leave one of them out")
        seen.add(template.target)
        for name in _PLACEHOLDER.findall(template.text):
            if name not in known:
                message = f"`{{{name}}}` in the template for `{template.target}` is no operand of `{fn.name}`"
                raise context.stop(
                    "elaborate.instruction.template", message, template.span, "one of " + ", ".join(f"`{{{item}}}`" for item in sorted(known))
                )


def _chains(context: Context, fn: ast.Fn, operands: Mapping[str, ValueType], result: ValueType) -> Chains | None:
    """The body where it is `mma_block a b acc` of three operands; None for any other body."""
    last = fn.body[-1] if fn.body else None
    call = last.value if isinstance(last, ast.ExprStatement) else None
    if not isinstance(call, ast.Apply) or call.function != ast.Name("mma_block"):
        return None
    names = [arg.name for arg in call.args if isinstance(arg, ast.Name) and arg.name in operands]
    if len(call.args) != 3 or len(names) != 3 or fn.body is None or len(fn.body) != 1:
        raise context.stop(
            "elaborate.instruction.block", "`mma_block` takes three operands of the instruction, by name", call.span, "`mma_block a b acc`"
        )
    kinds = [operands[name] for name in names]
    if any(kind.elem != result.elem for kind in kinds) or kinds[2] != result or not operation.is_float(result.elem):
        message = f"`mma_block` works on vectors of one float type, and its total is as wide as its result, `{result.text()}`"
        raise context.stop("elaborate.type.mismatch", message, call.span, "give the operands one element type")
    shape = block_shape([kind.width or 1 for kind in kinds])
    if shape is None:
        widths = ", ".join(str(kind.width or 1) for kind in kinds)
        message = f"no blocks of {widths} words multiply: they have rows times depth, depth times columns, and rows times columns words"
        raise context.stop("elaborate.instruction.block", message, call.span, "8 x 8 blocks are `Vec f32 64` each")
    return Chains(names[0], names[1], names[2], *shape)


def read_units(context: Context, device: str, span: Span | None) -> tuple[Reference, ...]:
    """The instructions that a device multiplies tiles with, in the order it states them. Raises StopError, UnsupportedError."""
    found = context.unit.matrix_units(device, span)
    return tuple(read_instruction(Values(context.within(context.unit_of(path), f"instr {fn.name}")), fn, path) for fn, path in found)


# --- the instruction's own program -------------------------------------------------------------


def elaborate_instruction(fn: ast.Fn, context: Context, path: str) -> tuple[Header, Program]:
    """The reference body as a program: from `reads` arrays of the operands to an array `result`. Raises StopError."""
    values = Values(context)
    reference = read_instruction(values, fn, path)
    sizes = reference.numbers
    scope = Scope()
    for size in sizes:
        scope = scope.bind(size, IndexEntity(Var(size), "size")).assume(le(ZERO, Var(size)))
    params = [Param(name, "reads", kind.elem, _extent(kind), span=fn.span) for name, kind in reference.operands.items()]
    params.append(Param(RESULT, "out", reference.result.elem, _extent(reference.result), span=fn.span))
    for name in (*sizes, *(param.name for param in params)):
        context.fresh.take(name)
    needs = tuple(Require(goal, "written") for goal, _ in preconditions(context, reference, scope, Const(reference.result.width or 1)))
    body = Block(_reference_body(values, reference, RESULT, {name: name for name in reference.operands}, scope))
    arguments = tuple(Argument(param.name, param.mode, param.elem, param.shape) for param in params)
    program = Program(fn.name, sizes, tuple(params), body, needs, span=fn.span)
    header = elaborate_header(context, (), (), None, ast.Contract(), scope)
    return replace(header, sizes=sizes, params=tuple(params), arguments=arguments, requires=needs), program


def _extent(kind: ValueType) -> tuple[Index, ...]:
    return () if kind.width is None else (Const(kind.width),)


def _reference_body(values: Values, reference: Reference, target: str, names: Mapping[str, str], scope: Scope) -> tuple[Stmt, ...]:
    """The reference body from whole operands, by the names of the memory they lie in, into `target`."""
    take = values.context.fresh.take
    if reference.chains is not None:
        return (_chain_loops(reference, reference.chains, target, names, (take("row"), take("column"), take("depth"), take("total"))),)
    width = reference.result.width
    lane = None if width is None else LaneUse(take("lane"), width)
    arguments = []
    for name, kind in reference.operands.items():
        index: tuple[Index, ...] = () if kind.width is None or lane is None else (Var(lane.counter),)
        arguments.append(ValueEntity(Load(names[name], index), kind))
    value = lane_value(values, reference, arguments, reference.result, Place(scope, lane))
    if lane is None:
        return (Store(target, (), value, span=reference.fn.span),)
    store = Store(target, (Var(lane.counter),), value, span=reference.fn.span)
    return (For(lane.counter, Range(ZERO, Const(lane.width)), Block((store,)), reference.fn.span),)


def _chain_loops(reference: Reference, chains: Chains, target: str, names: Mapping[str, str], fresh: tuple[str, str, str, str]) -> Stmt:
    """A loop over rows and columns around the chain of each output, on vectors row by row."""
    row, column, depth, total = fresh
    left = Load(names[chains.left], (add(mul(Const(chains.depth), Var(row)), Var(depth)),))
    right = Load(names[chains.right], (add(mul(Const(chains.columns), Var(depth)), Var(column)),))
    cell = (add(mul(Const(chains.columns), Var(row)), Var(column)),)
    elem, span = reference.result.elem, reference.fn.span
    step = Op("fma", elem, (left, right, Load(total)))
    chain = Fold(depth, Range(ZERO, Const(chains.depth)), Load(names[chains.total], cell), total, elem, step)
    inner = For(column, Range(ZERO, Const(chains.columns)), Block((Store(target, cell, chain, span=span),)), span)
    return For(row, Range(ZERO, Const(chains.rows)), Block((inner,)), span)


def lane_value(values: Values, reference: Reference, arguments: list[ValueEntity], wanted: ValueType, place: Place) -> Value:
    """A reference body that goes lane by lane, at the lane of the place."""
    bare = replace(reference.fn, params=tuple(param for param in reference.fn.params if param.name in reference.operands))
    return inline_function(values, bare, reference.path, arguments, wanted, place)


def preconditions(context: Context, reference: Reference, scope: Scope, active: Index) -> list[tuple[Formula, str]]:
    """What the instruction requires, where its numbers are bound in `scope` and `active` lanes are in use."""
    inner = scope.bind(ACTIVE, IndexEntity(active))
    found = []
    for expr in reference.fn.contract.requires:
        condition = elaborate_condition(expr, inner, context)
        found.append((condition, _required(reference.fn, condition)))
    return found


# --- uses in vector statements -----------------------------------------------------------------


def apply_instruction(values: Values, reference: Reference, expr: ast.Apply, wanted: ValueType, place: Place) -> Value:
    """A use as an operand: its result is held in a local of its own, which the reference body fills."""
    name = values.context.fresh.take(f"{reference.fn.name}_result")
    fill_instruction(values, reference, expr, place, Declare(name, wanted.elem, (), wanted.width, mutable=True, span=expr.span))
    return Load(name, () if place.lane is None else (Var(place.lane.counter),))


def fill_instruction(values: Values, reference: Reference, expr: ast.Apply, place: Place, declared: Declare) -> None:
    """Declare a local and let the reference body give it its words. Raises StopError, UnsupportedError."""
    if place.before is None:
        raise UnsupportedError("an instruction in one branch of an `if`", expr.span)
    wanted = ValueType(declared.elem, declared.width)
    args = match_operands(values, reference, expr)
    lanes = wanted.width if reference.result.width is None else reference.result.width
    values.expect(ValueType(reference.result.elem, lanes), wanted, expr)
    if place.lane is not None and place.lane.active is None:
        place.lane.active = Const(place.lane.width)
    active: Index = Const(1) if place.lane is None else place.lane.active or Const(place.lane.width)
    require_at(values, reference, args, place.scope, active, expr)
    if reference.chains is None:
        body: tuple[Stmt, ...] = (_lane_store(values, reference, args, declared.name, wanted, place, expr),)
    else:
        body = _whole(values, reference, args, declared.name, place, expr)
    place.before.extend((declared, Inlined(source_text(expr), Block(body), expr.span, reference.mark)))


def applied_instruction(values: Values, expr: ast.Expr | None, scope: Scope) -> Reference | None:
    """The instruction that an expression applies; None where it is anything else."""
    if not isinstance(expr, ast.Apply) or not isinstance(expr.function, ast.Name) or scope.find(expr.function.name) is not None:
        return None
    entry = values.context.unit.find(expr.function.name)
    if entry is None or not isinstance(entry.declaration, ast.Fn) or not entry.declaration.is_instr:
        return None
    own = type(values)(values.context.within(values.context.unit_of(entry.path), f"instr {expr.function.name}"))
    return read_instruction(own, entry.declaration, entry.path)


def match_operands(values: Values, reference: Reference, expr: ast.Apply) -> dict[str, ast.Expr]:
    """The arguments by the names of the parameters. Reports a wrong number of them."""
    params = reference.fn.params
    given = () if expr.args == (ast.Tuple(()),) else expr.args
    if len(given) != len(params):
        wanted = " ".join(param.name for param in params)
        message = f"`{reference.fn.name}` takes {len(params)} operands, not {len(given)}"
        raise values.context.stop("elaborate.call.arity", message, expr.span, f"`{reference.fn.name} {wanted}`")
    return {param.name: arg for param, arg in zip(params, given, strict=True)}


def require_at(values: Values, reference: Reference, args: Mapping[str, ast.Expr], scope: Scope, active: Index, expr: ast.Expr) -> None:
    """Note what the instruction requires at a use."""
    context = values.context
    inner = scope
    for number in reference.numbers:
        inner = inner.bind(number, IndexEntity(elaborate_index(args[number], scope, context)))
    for goal, text in preconditions(context, reference, inner, active):
        context.require(scope, goal, text, expr.span)


def _lane_store(
    values: Values, reference: Reference, args: Mapping[str, ast.Expr], name: str, wanted: ValueType, place: Place, expr: ast.Apply
) -> Stmt:
    arguments = []
    by_lane = reference.result.width is None
    for operand, kind in reference.operands.items():
        if by_lane and place.lane is not None:
            kind = ValueType(kind.elem, wanted.width)
        here = place if kind.width is not None else place.scalar()
        arguments.append(ValueEntity(values.check(args[operand], kind, here), kind))
    lane = place.lane
    if lane is None:
        return Store(name, (), lane_value(values, reference, arguments, wanted, place), span=expr.span)
    own = LaneUse(lane.counter, lane.width, lane.active)
    value = lane_value(values, reference, arguments, wanted, Place(place.scope, own, place.before))
    counter = values.context.fresh.take("lane")
    moved = _at_lane(value, lane.counter, counter)
    return Store(name, (Var(counter),), moved, Lanes(counter, lane.width, lane.active or Const(lane.width)), expr.span)


def _at_lane(value: Value, old: str, new: str) -> Value:
    from cachet_verify.elaborate.replace import Replacement

    return Replacement({old: Var(new)}).value(value)


def _whole(values: Values, reference: Reference, args: Mapping[str, ast.Expr], name: str, place: Place, expr: ast.Apply) -> tuple[Stmt, ...]:
    """A body that looks at other lanes than its own: every operand is a local, all lanes of it."""
    lane = place.lane
    if lane is None or lane.active != Const(lane.width) or place.before is None:
        message = f"`{reference.fn.name}` works on whole vectors, and only some lanes are in use here"
        raise values.context.stop("elaborate.vector.width", message, expr.span, "bind its result first: `let r: Vec f32 64 = …`")
    names = {operand: _held(values, args[operand], kind, place, place.before) for operand, kind in reference.operands.items()}
    return _reference_body(values, reference, name, names, place.scope)


def _held(values: Values, arg: ast.Expr, kind: ValueType, place: Place, before: list[Stmt]) -> str:
    """The local that holds an operand: the argument itself where it is one."""
    entity = place.scope.find(arg.name) if isinstance(arg, ast.Name) else None
    if isinstance(entity, BufferEntity) and not entity.loaded and not entity.shape and entity.value_type == kind:
        return entity.name
    take = values.context.fresh.take
    name = take("operand")
    if kind.width is None:
        before.append(Declare(name, kind.elem, init=values.check(arg, kind, place.scalar()), span=arg.span))
        return name
    lane = LaneUse(take("lane"), kind.width)
    value = values.check(arg, kind, Place(place.scope, lane, before))
    if lane.active not in (None, Const(kind.width)):
        raise values.context.stop("elaborate.vector.width", "only some lanes of this operand are in use", arg.span, "load a whole vector")
    before.append(Declare(name, kind.elem, (), kind.width, value, lanes=Lanes(lane.counter, kind.width, Const(kind.width)), span=arg.span))
    return name
