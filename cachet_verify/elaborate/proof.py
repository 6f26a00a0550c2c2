"""`proof` declarations: assertions about numbers, relations of two functions, families.

Takes a proof; gives its item, with core programs and formulas. Must not judge whether it holds.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from cachet_verify.core.index import FALSE, ZERO, Const, Formula, Index, Var, conj, divisors, eq, implies, le, ne, substitute, substitute_formula
from cachet_verify.core.ir import Param, Program, Require
from cachet_verify.core.spell import spell
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.count import Counts
from cachet_verify.elaborate.generic import bind, instantiate
from cachet_verify.elaborate.item import AdmitItem, AssertItem, FamilyItem, ProofItem, RelateItem
from cachet_verify.elaborate.place import source_text
from cachet_verify.elaborate.problem import StopError, Unsupported, UnsupportedError
from cachet_verify.elaborate.replace import Replacement, binders, renaming
from cachet_verify.elaborate.scope import FreshNames, IndexEntity, Scope, SideCondition
from cachet_verify.elaborate.term import COMPARISONS, elaborate_condition, elaborate_index, same_term
from cachet_verify.syntax import ast

if TYPE_CHECKING:
    from cachet_verify.elaborate.world import Unit

_MANY_WORDS = re.compile(r"(platform\.\w+)((?: @\w+){2,})")


def build_proof(unit: Unit, decl: ast.Proof) -> ProofItem:
    """The item of a proof. Raises StopError, UnsupportedError."""
    body = decl.body
    if isinstance(body, ast.AssertProof):
        return _assertion(unit, decl, body)
    if isinstance(body, ast.RelateProof):
        return _relate(unit, decl, body)
    if isinstance(body, ast.AdmitProof):
        return AdmitItem(decl.name, body.reason, decl.span)
    if isinstance(body, ast.FamilyProof):
        return build_family(unit, decl.name, body.family, body.of)
    from cachet_verify.elaborate.invariant import build_invariant

    if isinstance(body, ast.InvariantProof):
        return build_invariant(unit, decl, body)
    raise UnsupportedError("this proof", decl.span)


def _assertion(unit: Unit, decl: ast.Proof, body: ast.AssertProof) -> AssertItem:
    """For all numbers that the proof names, and all sizes of functions that it speaks of."""
    context = Context(unit, unit.problems)
    counts, bound = Counts(unit, context), Scope()
    for param in decl.params:
        if bound.find(param.name) is not None or unit.find(param.name) is not None:
            raise context.stop("elaborate.name.duplicate", f"`{param.name}` already names something else", param.span, "give it another name")
        bound = bound.bind(param.name, IndexEntity(Var(param.name), "size")).assume(le(ZERO, Var(param.name)))
    scope = counts.scope(bound)
    for need in decl.requires:
        scope = scope.assume(elaborate_condition(need, scope, context))
    formula = elaborate_condition(body.claim, scope, context)
    needed = [implies(conj(condition.premises), condition.goal) for condition in context.conditions]
    whole = conj((*(ne(divisor, ZERO) for divisor in divisors(formula)), *needed, formula))
    sides = _sides(body.claim, scope, context)
    premises = (*scope.facts, *counts.facts)
    text = assertion_text(body.claim)
    return AssertItem(decl.name, whole, text, sides, decl.span, premises, tuple(counts.conditions), tuple(counts.assumes))


def assertion_text(claim: ast.Expr) -> str:
    """An assertion as messages show it: a fact with several words is shown without their `@`."""
    return _MANY_WORDS.sub(lambda match: match[1] + match[2].replace("@", ""), source_text(claim))


def _sides(claim: ast.Expr, scope: Scope, context: Context) -> str:
    """What the two sides of the first comparison that fails come to; empty where there is none."""
    if isinstance(claim, ast.Binary) and claim.operator == "and":
        return _sides(claim.left, scope, context) or _sides(claim.right, scope, context)
    if not (isinstance(claim, ast.Binary) and claim.operator in COMPARISONS) or elaborate_condition(claim, scope, context) != FALSE:
        return ""
    left, right = (elaborate_index(side, scope, context) for side in (claim.left, claim.right))
    return f"the left side is {spell(left)}, the right side is {spell(right)}"


# --- families ----------------------------------------------------------------------------------


def build_family(unit: Unit, name: str, family: ast.Family, of: ast.Expr) -> FamilyItem:
    """The constants that vary, with their values, or open with a condition. Raises StopError where `of` names nothing."""
    context = Context(unit, unit.problems)
    if isinstance(of, ast.Name) and unit.find(of.name) is None:
        raise context.unknown(of.name, of.span)
    if family.names:
        for known in family.names:
            if not _is_constant(unit, known):
                raise context.unknown(known, family.span)
        choices = tuple(tuple(_number(item, context) for item in choice) for choice in family.choices)
        return FamilyItem(name, source_text(of), family.names, choices, conj(()), family.span)
    scope = Scope()
    names: list[str] = []
    for condition in family.conditions:
        for item in _names(condition):
            if item not in names and _is_constant(unit, item):
                names.append(item)
                scope = scope.bind(item, IndexEntity(Var(item)))
    formula = conj(elaborate_condition(condition, scope, context) for condition in family.conditions)
    return FamilyItem(name, source_text(of), tuple(names), None, formula, family.span)


def header_family(unit: Unit, name: str, family: ast.Family) -> FamilyItem:
    """A family in a schedule's header: it declares the names that vary, for the schedule's own lines."""
    context = Context(unit, unit.problems)
    if family.names:
        choices = tuple(tuple(_number(item, context) for item in choice) for choice in family.choices)
        return FamilyItem(name, name, family.names, choices, conj(()), family.span)
    for condition in family.conditions:
        fixed = _names(condition)
        if fixed and all(_is_constant(unit, item) for item in fixed):
            message = f"`{fixed[0]}` is a constant already, and a family in a header has names of its own that vary"
            hint = f"another name, or `proof p = family {fixed[0]} > 0 of {name}`"
            raise context.stop("elaborate.name.duplicate", message, condition.span or family.span, hint)
    names = tuple(dict.fromkeys(item for condition in family.conditions for item in _names(condition) if not _is_constant(unit, item)))
    scope = Scope()
    for item in names:
        scope = scope.bind(item, IndexEntity(Var(item)))
    formula = conj(elaborate_condition(condition, scope, context) for condition in family.conditions)
    return FamilyItem(name, name, names, None, formula, family.span)


def _is_constant(unit: Unit, name: str) -> bool:
    entry = unit.find(name)
    return entry is not None and isinstance(entry.declaration, ast.Const)


def _number(expr: ast.Expr, context: Context) -> int:
    term = elaborate_index(expr, Scope(), context)
    if not isinstance(term, Const):
        raise context.stop("elaborate.constant", "a number is wanted here", expr.span)
    return term.value


def _names(expr: ast.Node) -> list[str]:
    from cachet_verify.elaborate.range import children

    found = [expr.name] if isinstance(expr, ast.Name) else []
    return found + [name for child in children(expr) for name in _names(child)]


# --- relations ---------------------------------------------------------------------------------


def _relate(unit: Unit, decl: ast.Proof, body: ast.RelateProof) -> RelateItem:
    context = Context(unit, unit.problems)
    first, second = side_of(unit, body.program, context), side_of(unit, body.meaning, context)
    rests_on = tuple(unit.known_as(head_of(side).name) for side in (body.program, body.meaning))
    item = RelateItem(decl.name, first[0], second[0], None, None, rests_on=rests_on, span=decl.span)
    schedules = tuple(name for name, _, is_schedule in (first, second) if is_schedule)
    lacking = tuple(
        Unsupported(f"a relation with `{name}`, which has no meaning yet", decl.span)
        for name, program, is_schedule in (first, second)
        if program is None and not is_schedule
    )
    program, meaning = first[1], second[1]
    if program is None or meaning is None:
        return replace(item, program=program, meaning=meaning, schedules=schedules, unsupported=lacking)
    held = held_sizes(program, meaning, decl, context)
    meaning, conditions = match_parameters(program, meaning, decl, context)
    return replace(item, program=program, meaning=meaning, conditions=conditions, schedules=schedules, held=held)


def head_of(side: ast.Expr) -> ast.Name:
    """The name that a side starts with, its `@(…)` left out; an empty one where it is no name."""
    head = side.function if isinstance(side, ast.Apply) else side
    return head if isinstance(head, ast.Name) else ast.Name("")


def side_of(unit: Unit, expr: ast.Expr, context: Context) -> tuple[str, Program | None, bool]:
    """The name of a side, its program where there is one, and whether it is a schedule."""
    head, implicit = (expr.function, expr.implicit) if isinstance(expr, ast.Apply) else (expr, ())
    if not isinstance(head, ast.Name):
        raise context.stop("elaborate.proof", "the name of a function is wanted here", expr.span, "`proof p = relate f to g`")
    entry = unit.find(head.name)
    if entry is None:
        raise context.unknown(head.name, head.span)
    if isinstance(entry.declaration, ast.Schedule):
        applied = unit.applied(head.name)
        if applied is None:
            return head.name, None, True
        bound = instantiate(applied, bind(applied, implicit, context, expr.span), context)
        return bound.name, bound, True
    if not isinstance(entry.declaration, (ast.Contraction, ast.Fn)):
        raise context.stop("elaborate.proof", f"`{head.name}` is no function", head.span)
    found = unit.program(entry, head.span)
    if found.failed:
        raise StopError(head.name)
    if found.program is None:
        return head.name, None, False
    bindings = bind(found.program, implicit, context, expr.span)
    program = instantiate(found.program, bindings, context)
    return program.name, program, False


def match_parameters(program: Program, meaning: Program, decl: ast.Proof, context: Context) -> tuple[Program, tuple[SideCondition, ...]]:
    """`meaning` with its parameters and sizes named as in `program`, and the equalities of extents.

    Parameters match by name where the names agree, then by position; what `program` has besides
    must be scratch.
    """
    pairs = _pairs(program, meaning, decl, context)
    sizes = _sizes(pairs)
    fresh = FreshNames([*program.sizes, *(param.name for param in program.params), *binders(program.body)])
    names = {binder: fresh.take(binder) for binder in binders(meaning.body)}
    by = Replacement({**renaming(names), **sizes}, {**names, **{theirs.name: ours.name for theirs, ours in pairs}})
    conditions = [condition for theirs, ours in pairs for condition in _shapes(theirs, ours, sizes, decl)]
    params = tuple(replace(theirs, name=ours.name, shape=ours.shape) for theirs, ours in pairs)
    requires = tuple(replace(need, condition=substitute_formula(need.condition, sizes)) for need in meaning.requires)
    left = tuple(size for size in meaning.sizes if size not in sizes and size not in program.sizes)
    renamed = replace(meaning, params=params, sizes=(*program.sizes, *left), body=by.block(meaning.body), requires=requires)
    return renamed, tuple(conditions)


def held_sizes(program: Program, meaning: Program, decl: ast.Proof, context: Context) -> tuple[Require, ...]:
    """What the shapes of `program` hold the sizes of `meaning` to: two of them to one size, or one to a number or a term."""
    sizes = _sizes(_pairs(program, meaning, decl, context))
    free = [term for term in sizes.values() if isinstance(term, Var)]
    held = {name: term for name, term in sizes.items() if not isinstance(term, Var) or (free.count(term) > 1 and name != term.name)}
    return tuple(Require(eq(Var(f"{meaning.name}.{name}"), term), "shapes") for name, term in held.items())


def _sizes(pairs: list[tuple[Param, Param]]) -> dict[str, Index]:
    """The extents that the sizes of the meaning stand for."""
    sizes: dict[str, Index] = {}
    for theirs, ours in pairs:
        for wanted, actual in zip(theirs.shape, ours.shape, strict=True):
            if isinstance(wanted, Var):
                sizes.setdefault(wanted.name, actual)
    return sizes


def _pairs(program: Program, meaning: Program, decl: ast.Proof, context: Context) -> list[tuple[Param, Param]]:
    problems = context.problems
    if all(param.mode == "reads" or param.scratch for param in meaning.params):
        raise problems.stop("elaborate.proof", f"`{meaning.name}` leaves nothing to compare: it writes scratch alone", decl.span)
    partners = _partners(program, meaning)
    if len(partners) != len(meaning.params):
        raise problems.stop("elaborate.proof", f"`{meaning.name}` has more parameters than `{program.name}`", decl.span)
    for param in program.params:
        if param not in partners and not param.scratch:
            message = f"`{param.name}` of `{program.name}` has no counterpart in `{meaning.name}`"
            raise problems.stop("elaborate.proof", message, decl.span, f"list it: `scratch {param.name}`")
    for theirs, mine in zip(meaning.params, partners, strict=True):
        is_written = (theirs.mode == "reads") == (mine.mode == "reads")
        if theirs.elem != mine.elem or len(theirs.shape) != len(mine.shape) or not is_written:
            message = f"`{mine.name}` of `{program.name}` and `{theirs.name}` of `{meaning.name}` differ in type or mode"
            raise problems.stop("elaborate.proof", message, decl.span)
        if theirs.mode != mine.mode:
            kept, name = (program.name, mine.name) if mine.mode == "mut" else (meaning.name, theirs.name)
            message = f"`{name}` may keep old content in `{kept}`, and on the other side it is produced"
            raise problems.stop("elaborate.proof", message, decl.span, f"`produces Init {name}` in the header of `{kept}`")
    if program.generics != meaning.generics:
        raise problems.stop(
            "elaborate.proof", "both sides must have the same parameters such as `S`, or none", decl.span, "bind them: `relate f to g @(S = …)`"
        )
    return list(zip(meaning.params, partners, strict=True))


def _partners(program: Program, meaning: Program) -> list[Param]:
    """A parameter of `program` for each of `meaning`, as far as there are any: of its name, else the next whose name nobody has."""
    ours = {param.name: param for param in program.params}
    named = {param.name for param in meaning.params}
    others = iter([param for param in program.params if param.name not in named])
    found = (ours[param.name] if param.name in ours else next(others, None) for param in meaning.params)
    return [param for param in found if param is not None]


def _shapes(theirs: Param, ours: Param, sizes: dict[str, Index], decl: ast.Proof) -> list[SideCondition]:
    found: list[SideCondition] = []
    for wanted, actual in zip(theirs.shape, ours.shape, strict=True):
        expected = substitute(wanted, sizes)
        if not same_term(expected, actual):
            goal: Formula = eq(expected, actual)
            found.append(SideCondition((), goal, f"the extents of `{ours.name}` agree: {spell(expected)} == {spell(actual)}", decl.span))
    return found
