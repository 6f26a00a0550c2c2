"""Implementations whose values are arrays, such as square matrices over a semiring.

Takes `impl {S : Semiring} Semiring for Matrix S 8 where const Value = [S.Value; 8, 8]`, each of whose functions is an equation for the
cells of what it gives; gives them as programs, and finds the one that `Matrix (PlusTimes f32) 8` names. Must not say what laws hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cachet_verify.core.index import Index
from cachet_verify.core.ir import Program
from cachet_verify.elaborate.context import Context, Names
from cachet_verify.elaborate.item import Implementation
from cachet_verify.elaborate.place import source_text
from cachet_verify.elaborate.problem import UnsupportedError
from cachet_verify.source import Span
from cachet_verify.syntax import ast

Generics = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ArrayImplementation:
    """An implementation of arrays of `shape`, of cells of type `elem`: a program for each function, from its operands to its result.

    `generics` are its parameters, those that nothing stands for yet.
    """

    interface: str
    name: str
    elem: str
    shape: tuple[Index, ...]
    members: Mapping[str, Program]
    generics: Generics = ()
    span: Span | None = field(default=None, compare=False)


Bound = Implementation | ArrayImplementation


def array_type(decl: ast.Impl) -> ast.ArrayType | None:
    """The type of the values, where they are arrays."""
    found = next((member.value for member in decl.members if isinstance(member, ast.Const) and member.name == "Value"), None)
    return found if isinstance(found, ast.ArrayType) else None


def read_array(unit: Names, decl: ast.Impl, context: Context) -> ArrayImplementation:
    """An implementation as it is declared. Raises StopError, UnsupportedError."""
    kind = array_type(decl)
    if kind is None:
        raise UnsupportedError(f"`{source_text(decl.target)}`, whose values are no arrays,", decl.span)
    from cachet_verify.elaborate.member import member_program

    members = {member.name: member_program(unit, decl, kind, member, context) for member in decl.members if isinstance(member, ast.Fn)}
    if not members:
        raise context.stop("elaborate.generic.member", f"`{source_text(decl.target)}` has no operations", decl.span)
    results = [program.params[-1] for program in members.values()]
    generics = tuple((generic.name, source_text(generic.interface)) for generic in decl.generics)
    return ArrayImplementation(source_text(decl.interface), source_text(decl.target), results[0].elem, results[0].shape, members, generics, decl.span)


# --- names ---


def named_implementation(expr: ast.Expr, interface: str, context: Context) -> Bound | None:
    """The implementation that an expression names, `Matrix (PlusTimes f32) 8`; None where there is none. Raises StopError, UnsupportedError."""
    from cachet_verify.elaborate.generic import words_of

    words = words_of(expr)
    if words is None:
        raise context.stop("elaborate.generic.missing", "the name of an implementation is wanted here", expr.span, "`PlusTimes f32`")
    for decl, path in context.unit.array_implementations(interface):
        found = matched(decl, expr)
        if found is None:
            continue
        bindings: dict[str, Bound] = {}
        for generic in decl.generics:
            inner = named_implementation(found[generic.name], source_text(generic.interface), context) if generic.name in found else None
            if inner is None:
                break
            bindings[generic.name] = inner
        else:
            made = read_array(context.unit_of(path), decl, context)
            return grounded(made, source_text(expr), bindings, context)
    return context.unit.implementation(words, interface)


def matched(decl: ast.Impl, expr: ast.Expr) -> dict[str, ast.Expr] | None:
    """What stands for the parameters of an implementation where an expression names it; None where it names another."""
    names = {generic.name for generic in decl.generics}
    pattern, given = _parts(decl.target), _parts(expr)
    if len(pattern) != len(given):
        return None
    found: dict[str, ast.Expr] = {}
    for ours, theirs in zip(pattern, given, strict=True):
        if isinstance(ours, ast.Name) and ours.name in names:
            if found.setdefault(ours.name, theirs) != theirs:
                return None
        elif ours != theirs:
            return None
    return found


def _parts(expr: ast.Expr) -> Sequence[ast.Expr]:
    return (expr.function, *expr.args) if isinstance(expr, ast.Apply) and not expr.implicit else (expr,)


def grounded(made: ArrayImplementation, name: str, bindings: Mapping[str, Bound], context: Context) -> ArrayImplementation:
    """An implementation with its parameters bound."""
    from cachet_verify.elaborate.generic import instantiate

    members = {member: instantiate(program, bindings, context) for member, program in made.members.items()}
    result = next(iter(members.values())).params[-1]
    generics = tuple(generic for generic in made.generics if generic[0] not in bindings)
    return ArrayImplementation(made.interface, name, result.elem, result.shape, members, generics, made.span)
