"""The programs and schedules of a file, one at a time.

Takes a declaration and the names its file sees; gives its item, whatever happens: a program, a
construct without a meaning yet, or the mark that a fault was reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cachet_verify.core.element import Arithmetic
from cachet_verify.core.index import ZERO, Var, le
from cachet_verify.core.ir import Block, Grid, Instruction, Param, Program, arithmetics, statements
from cachet_verify.elaborate.array import ArrayImplementation, Bound
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.contraction import elaborate_contraction
from cachet_verify.elaborate.generic import bind, instantiate
from cachet_verify.elaborate.header import Header, elaborate_header
from cachet_verify.elaborate.instruction import elaborate_instruction, read_instruction, read_units
from cachet_verify.elaborate.invariant import invariant_rows
from cachet_verify.elaborate.item import Argument, Entry, ProgramItem, ScheduleItem
from cachet_verify.elaborate.problem import StopError, UnsupportedError
from cachet_verify.elaborate.proof import header_family
from cachet_verify.elaborate.scope import FreshNames, GenericEntity, IndexEntity, Scope
from cachet_verify.elaborate.statement import Statements
from cachet_verify.elaborate.value import Values
from cachet_verify.elaborate.working_set import with_leases
from cachet_verify.elaborate.world import Unit
from cachet_verify.syntax import ast


def is_word_function(fn: ast.Fn) -> bool:
    """Whether a function takes words and gives a word: it is inlined, and has no program."""
    has_memory = any(param.mode or (param.storage is not None and isinstance(param.storage.type, ast.ArrayType)) for param in fn.params)
    is_empty = not fn.params and fn.result is None
    return not has_memory and not is_empty


def build_program(unit: Unit, entry: Entry) -> ProgramItem:
    """The item of a contraction or a function."""
    decl = entry.declaration
    if isinstance(decl, ast.Contraction):
        return _guarded(unit, decl, "contraction")
    if isinstance(decl, ast.Fn):
        return _guarded(unit, decl, "instr fn" if decl.is_instr else "fn")
    raise unit.problems.stop("elaborate.name.kind", f"`{entry.name}` is no program", decl.span)


def _guarded(unit: Unit, decl: ast.Contraction | ast.Fn, kind: str) -> ProgramItem:
    context = Context(unit, unit.problems)
    known = len(unit.problems.found)
    item = ProgramItem(decl.name, kind, decl, span=decl.span)
    try:
        header, program = _elaborate(unit, decl, context)
        rows = invariant_rows(decl.contract, header.sizes, header.params, context)
        item = replace(item, arguments=header.arguments, program=program, invariants=rows, instruction=_instruction(unit, decl))
    except StopError:
        item = replace(item, failed=True)
    except RecursionError:
        report_depth(unit, decl)
    except UnsupportedError as error:
        item = replace(item, arguments=_arguments(decl, unit), unsupported=(error.unsupported,))
    failed = item.failed or len(unit.problems.found) > known
    unsupported = tuple(dict.fromkeys((*item.unsupported, *context.unsupported)))
    incomplete = failed or unsupported or context.gaps
    return replace(
        item,
        unsupported=unsupported,
        program=None if incomplete else item.program,
        conditions=tuple(context.conditions),
        calls=tuple(context.calls),
        waits_for=tuple(dict.fromkeys(context.waits_for)),
        rests_on=tuple(dict.fromkeys(unit.known_as(name) for name in context.rests_on)),
        is_host=bool(context.host),
        failed=failed,
    )


def _instruction(unit: Unit, decl: ast.Contraction | ast.Fn) -> Instruction | None:
    """An instruction as its uses carry it; None of anything else."""
    if not isinstance(decl, ast.Fn) or not decl.is_instr:
        return None
    return read_instruction(Values(Context(unit, unit.problems)), decl, unit.loaded.path).mark


def report_depth(unit: Unit, decl: ast.Declaration) -> None:
    """Report a declaration that nests more deeply than this program can follow."""
    unit.problems.report("elaborate.depth", "this nests too deeply, through the functions or constants that it names", decl.span, "shorten the chain")


def _elaborate(unit: Unit, decl: ast.Contraction | ast.Fn, context: Context) -> tuple[Header, Program]:
    if isinstance(decl, ast.Contraction):
        return elaborate_contraction(decl, context)
    if decl.is_instr:
        return elaborate_instruction(decl, context, unit.loaded.path)
    header = elaborate_header(context, decl.generics, decl.params, decl.result, decl.contract)
    body = with_leases(Statements(context).body(decl.body or (), header.scope), header.kept, context.fresh.take)
    program = Program(decl.name, header.sizes, header.params, body, header.requires, header.generics, header.kept, header.movement, span=decl.span)
    return header, replace(program, arithmetic=_arithmetic_of(body))


def _arithmetic_of(body: Block) -> Arithmetic | None:
    """The device's where all that a body computes is computed there; else the host's."""
    computed = set(arithmetics(body, None))
    if computed:
        return computed.pop() if len(computed) == 1 else None
    devices = {stmt.device for stmt in statements(body) if isinstance(stmt, Grid)}
    return devices.pop() if len(devices) == 1 else None


def _arguments(decl: ast.Contraction | ast.Fn, unit: Unit) -> tuple[Argument, ...]:
    """The arguments of an item whose body has no meaning yet, as far as its header has one."""
    try:
        return elaborate_header(Context(unit, unit.problems), decl.generics, decl.params, decl.result, decl.contract).arguments
    except (StopError, UnsupportedError):
        return ()


# --- schedules ---------------------------------------------------------------------------------


def build_schedule(unit: Unit, entry: Entry) -> ScheduleItem:
    """The item of a schedule, before its steps."""
    decl = entry.declaration
    if not isinstance(decl, ast.Schedule):
        raise unit.problems.stop("elaborate.name.kind", f"`{entry.name}` is no schedule", decl.span)
    context = Context(unit, unit.problems)
    known = len(unit.problems.found)
    of = decl.of.name if isinstance(decl.of, ast.Name) else ""
    item = ScheduleItem(decl.name, of, decl, None, {}, (), decl.lines, span=decl.span)
    try:
        item = _schedule(unit, decl, item, context)
    except StopError:
        item = replace(item, failed=True)
    except RecursionError:
        report_depth(unit, decl)
    except UnsupportedError as error:
        item = replace(item, unsupported=(error.unsupported,))
    return replace(item, conditions=tuple(context.conditions), failed=item.failed or len(unit.problems.found) > known)


def _schedule(unit: Unit, decl: ast.Schedule, item: ScheduleItem, context: Context) -> ScheduleItem:
    target = _target(unit, decl)
    if target.failed:
        raise StopError(target.name)
    if target.program is None:
        raise UnsupportedError(f"a schedule of `{target.name}`, which has no meaning yet", decl.of.span)
    bindings = bind(target.program, decl.implicit, context, decl.span)
    program = instantiate(target.program, bindings, context)
    header = _buffers(decl, program, bindings, context)
    buffers = tuple(replace(param, scratch=True) for param in header.params)
    device = None if decl.device is None else unit.device(decl.device, decl.span)
    arguments = tuple(_rebound(argument, program) for argument in target.arguments)
    return replace(
        item,
        program=_evaluated_in(device, replace(program, requires=(*program.requires, *header.requires), movement=header.movement)),
        bindings={name: implementation.name for name, implementation in bindings.items()},
        buffers=buffers,
        arguments=(*arguments, *(Argument(param.name, param.mode, param.elem, param.shape, param.layout) for param in buffers)),
        invariants=invariant_rows(decl.contract, program.sizes, program.params, context),
        families=tuple(header_family(unit, decl.name, family) for family in decl.contract.families),
        rests_on=(unit.known_as(target.name),),
        device=device,
        units=() if decl.device is None else read_units(context, decl.device, decl.span),
    )


def _evaluated_in(device: Arithmetic | None, program: Program) -> Program:
    """The meaning of a schedule on a device: the same program, evaluated in that device's arithmetic."""
    return program if device is None else replace(program, arithmetic=device)


def _rebound(argument: Argument, program: Program) -> Argument:
    """An argument of the target, with the element type of the instance, and the dimensions where elements are arrays."""
    param = next((param for param in program.params if param.name == argument.name), None)
    return argument if param is None else replace(argument, elem=param.elem, shape=param.shape)


def _target(unit: Unit, decl: ast.Schedule) -> ProgramItem:
    if not isinstance(decl.of, ast.Name):
        raise UnsupportedError("a schedule of a dotted name", decl.of.span)
    entry = unit.find(decl.of.name)
    if entry is None:
        hint = unit.remedy(decl.of.name)
        raise unit.problems.stop("elaborate.name.unknown", f"`{decl.of.name}` is not defined", decl.of.span, hint)
    if not isinstance(entry.declaration, (ast.Contraction, ast.Fn)):
        raise unit.problems.stop(
            "elaborate.name.kind", f"a schedule is of a contraction or a function, and `{decl.of.name}` is neither", decl.of.span
        )
    return unit.program(entry, decl.of.span)


def _buffers(decl: ast.Schedule, program: Program, bindings: Mapping[str, Bound], context: Context) -> Header:
    """The schedule's own buffers, in terms of the sizes of what it schedules."""
    scope = Scope()
    for size in program.sizes:
        scope = scope.bind(size, IndexEntity(Var(size), "size")).assume(le(ZERO, Var(size)))
    for name, interface in (*program.generics, *((name, made.interface) for name, made in bindings.items())):
        scope = scope.bind(name, GenericEntity(name, interface))
    context.fresh = FreshNames([*program.sizes, *(param.name for param in program.params)])
    taken = {param.name for param in program.params}
    for param in decl.params:
        if param.name in taken:
            raise context.stop("elaborate.name.duplicate", f"`{param.name}` is already a parameter of `{program.name}`", param.span)
        if param.mode != "mut":
            raise context.stop("elaborate.call.mode", "a schedule's own buffers are `mut`", param.span, f"`(mut {param.name}: …)`")
    header = elaborate_header(context, (), decl.params, None, decl.contract, scope, program.sizes)
    for size in header.sizes[len(program.sizes) :]:
        known = ", ".join(f"`{item}`" for item in program.sizes)
        raise context.stop("elaborate.size.unbound", f"`{size}` is no size of `{program.name}`", decl.span, f"it has {known}" if known else "")
    made_of = {f"{name}.Value": made for name, made in bindings.items()}
    return replace(header, params=tuple(_cells(param, made_of.get(param.elem)) for param in header.params))


def _cells(param: Param, made: Bound | None) -> Param:
    """A buffer at what stands for the type of its elements."""
    if made is None:
        return param
    return replace(param, elem=made.elem, shape=(*param.shape, *(made.shape if isinstance(made, ArrayImplementation) else ())))
