"""Definitions that make no program of their own, checked where they stand.

Takes functions of words and implementations; reports what is wrong with them even when nothing
uses them. Must not report what depends on how they would be used.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from cachet_verify.core.ir import Load
from cachet_verify.elaborate.application import MOST_CALLS, inline_function, last_value, parameter_type
from cachet_verify.elaborate.array import array_type, read_array
from cachet_verify.elaborate.blockwise import BLOCK, law_of_block
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.generic import words_of
from cachet_verify.elaborate.header import flat_type
from cachet_verify.elaborate.place import LaneUse, Place
from cachet_verify.elaborate.problem import Problems, StopError, UnsupportedError
from cachet_verify.elaborate.record import Records
from cachet_verify.elaborate.scope import Scope, ValueEntity, ValueType
from cachet_verify.elaborate.shape import Parts, part_name, word_shape
from cachet_verify.elaborate.value import Values
from cachet_verify.syntax import ast

if TYPE_CHECKING:
    from cachet_verify.elaborate.world import Unit

_FOLLOWED = 500
"""Calls that are followed from a definition nobody may use; a use follows them all."""
_ALWAYS_WRONG = ("elaborate.name.unknown", "elaborate.name.kind", "elaborate.call.arity", "elaborate.call.recursion")


def check_function(unit: Unit, fn: ast.Fn) -> None:
    """Report what is wrong with a function of words whatever its arguments are."""
    if fn.body is None or fn.is_instr or fn.generics:
        return
    typed = all(param.storage is not None for param in fn.params) and fn.result is not None
    context = Context(unit, Problems())
    context.inlined.extend([fn.span] * (MOST_CALLS - _FOLLOWED))
    try:
        _apply(context, fn, unit.loaded.path, ValueType("f32"))
    except (StopError, UnsupportedError):
        pass
    certain = [item for item in context.problems.found if (typed and item.code != "elaborate.size") or item.code in _ALWAYS_WRONG]
    unit.problems.found.update(dict.fromkeys(certain))


def is_value_function(unit: Unit, fn: ast.Fn) -> bool:
    """Whether a function takes or gives arrays of so many words, and they are values.

    No parameter says what memory is for, the extents of its arrays are numbers, and its last line is no call of a program:
    else the words for memory have been left out.
    """
    storages = [*(param.storage for param in fn.params), fn.result.storage if fn.result is not None else None]
    arrays = [storage.type for storage in storages if storage is not None and isinstance(storage.type, ast.ArrayType)]
    if not arrays or fn.is_instr or fn.contract != ast.Contract() or any(param.mode for param in fn.params):
        return False
    dims = (dim for kind in arrays for dim in flat_type(kind)[1])
    if not all(isinstance(dim, ast.IntLit) or (isinstance(dim, ast.Name) and _is_number(unit, dim.name)) for dim in dims):
        return False
    value = last_value(fn.body[-1]) if fn.body else None
    called = unit.find(value.function.name) if isinstance(value, ast.Apply) and isinstance(value.function, ast.Name) else None
    decl = None if called is None else called.declaration
    is_program = isinstance(decl, (ast.Contraction, ast.Schedule)) or (isinstance(decl, ast.Fn) and any(param.mode for param in decl.params))
    return value is not None and not is_program


def _is_number(unit: Unit, name: str) -> bool:
    entry = unit.find(name)
    return entry is not None and isinstance(entry.declaration, (ast.Const, ast.SynthConst))


def check_value_function(unit: Unit, fn: ast.Fn) -> None:
    """Report what is wrong with a function of arrays that are values, whatever its arguments are."""
    problems = Problems()
    values = Records(Context(unit, problems))
    try:
        kinds = [word_shape(ValueType("f32")) if param.storage is None else values.shape_of(param.storage.type) for param in fn.params]
        names = [param.name for param in fn.params]
        given = [Parts(kind, tuple(Load(part_name(name, part)) for part, _ in kind.parts)) for name, kind in zip(names, kinds, strict=True)]
        if fn.result is not None:
            values.applied_to(fn, unit.loaded.path, given, values.shape_of(fn.result.storage.type))
        else:
            values.known = {name: parts for name, parts in zip(names, given, strict=True) if parts.shape.record}
            value = last_value(fn.body[-1]) if fn.body else None
            told = None if value is None else values.told(value, Scope())
            values.applied_to(fn, unit.loaded.path, given, told or word_shape(ValueType("f32")))
    except (StopError, UnsupportedError):
        pass
    typed = all(param.storage is not None for param in fn.params) and fn.result is not None
    certain = [item for item in problems.found if (typed and item.code != "elaborate.size") or item.code in _ALWAYS_WRONG]
    unit.problems.found.update(dict.fromkeys(certain))


def _apply(context: Context, fn: ast.Fn, path: str, default: ValueType) -> None:
    values = Values(context)
    kinds = [parameter_type(values, param) or default for param in fn.params]
    result = default if fn.result is None else values.type_of(fn.result.storage.type, Scope())
    arguments = [ValueEntity(Load(param.name), kind) for param, kind in zip(fn.params, kinds, strict=True)]
    lane = None if result.width is None else LaneUse("lane", result.width)
    inline_function(values, fn, path, arguments, result, Place(Scope(), lane))


# --- implementations ---------------------------------------------------------------------------


def check_implementation(unit: Unit, decl: ast.Impl) -> None:
    """Report what an implementation lacks of its interface, and what is wrong with its functions."""
    interface = " ".join(words_of(decl.interface) or ())
    target = words_of(decl.target)
    entry = unit.find(interface)
    if target is None or entry is None or not isinstance(entry.declaration, ast.Interface):
        if entry is None and target is not None:
            hint = unit.remedy(interface)
            unit.problems.report("elaborate.name.unknown", f"the interface `{interface}` is not defined", decl.interface.span, hint)
        elif target is not None:
            unit.problems.report("elaborate.name.kind", f"`{interface}` is not an interface", decl.interface.span)
        return
    if interface == "Platform":
        return
    wanted = {member.name: member for member in entry.declaration.members if isinstance(member, ast.Fn)}
    given = {member.name: member for member in decl.members if isinstance(member, ast.Fn)}
    for name, member in wanted.items():
        if name not in given:
            hint = " ".join(("fn", name, *(param.name for param in member.params), "= …"))
            unit.problems.report("elaborate.generic.member", f"`{' '.join(target)}` lacks the operation `{name}`", decl.span, hint)
        elif len(given[name].params) != len(member.params):
            message = f"`{name}` of `{interface}` takes {len(member.params)} operands, not {len(given[name].params)}"
            unit.problems.report("elaborate.call.arity", message, given[name].span)
    is_monoid = interface == "Monoid"
    _check_members(unit, decl, target, interface, {name: fn for name, fn in given.items() if not (is_monoid and name == BLOCK)})
    if is_monoid and BLOCK in given:
        _check_block(unit, target)


def _check_block(unit: Unit, target: tuple[str, ...]) -> None:
    """Report what is wrong with how a block is combined."""
    with suppress(StopError, UnsupportedError):
        found = unit.implementation(target, "Monoid", is_any=True)
        if found is not None:
            law_of_block(Context(unit, unit.problems), found)


def _check_members(unit: Unit, decl: ast.Impl, target: tuple[str, ...], interface: str, given: dict[str, ast.Fn]) -> None:
    context = Context(unit, unit.problems)
    if array_type(decl) is not None:
        with suppress(StopError, UnsupportedError):
            read_array(unit, decl, context)
        return
    try:
        implementation = unit.implementation(target, interface)
    except UnsupportedError:
        return
    if implementation is None:
        unit.problems.report("elaborate.generic.member", f"`{' '.join(target)}` does not say what its values are", decl.span, "const Value = f32")
        return
    for fn in given.values():
        try:
            _apply(context, fn, unit.loaded.path, ValueType(implementation.elem))
        except (StopError, UnsupportedError):
            continue
