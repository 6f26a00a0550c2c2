"""Reductions of the grammar to declarations.

Takes the children of a rule and its place; gives a `Declaration`, or a part of one.
Must not look at the text: what the grammar cannot refuse is refused here, with its place.
"""

from __future__ import annotations

from typing import Any, Final

from cachet_verify.diagnostic import fail
from cachet_verify.source import Span
from cachet_verify.syntax import declaration as de
from cachet_verify.syntax import expression as ex
from cachet_verify.syntax.build_expression import EXPRESSION_BUILDERS, Builder, first, one_or_names, plain_list, text_list, text_of
from cachet_verify.syntax.build_statement import STATEMENT_BUILDERS
from cachet_verify.syntax.statement import Assign, Let, View
from cachet_verify.syntax.token import unquote

# --- headers -----------------------------------------------------------------------------------


def _param(children: list[Any], where: Span) -> de.Param:
    name, storage = children
    return de.Param(name.text, "", storage, span=where)


def _param_mode(children: list[Any], where: Span) -> de.Param:
    mode, name, storage = children
    return de.Param(name.text, mode.text, storage, span=where)


def _params(children: list[de.Param | None], where: Span) -> tuple[de.Param, ...]:
    """Return the parameters; `()`, which stands for none, stands alone."""
    params = tuple(child for child in children if child is not None)
    if len(params) != len(children) and len(children) > 1:
        raise fail("syntax.form", "`()` stands for no parameters, and stands alone", where, "leave out the `()`")
    return params


def _contract(*groups: tuple[de.Contract, ...] | None) -> de.Contract:
    """Return all clauses of a header as one contract."""
    clauses = [clause for group in groups if group is not None for clause in group]
    if not clauses:
        return de.NO_CONTRACT
    first_span, last_span = clauses[0].span, clauses[-1].span
    return de.Contract(
        requires=tuple(item for clause in clauses for item in clause.requires),
        produces=tuple(item for clause in clauses for item in clause.produces),
        scratch=tuple(item for clause in clauses for item in clause.scratch),
        working_set=tuple(item for clause in clauses for item in clause.working_set),
        movement=tuple(item for clause in clauses for item in clause.movement),
        invariants=tuple(item for clause in clauses for item in clause.invariants),
        families=tuple(item for clause in clauses for item in clause.families),
        span=first_span.to(last_span) if first_span is not None and last_span is not None else None,
    )


def _clauses(children: list[Any], _where: Span) -> tuple[de.Contract, ...]:
    wrapped = []
    for child in children:
        if isinstance(child, de.Invariant):
            wrapped.append(de.Contract(invariants=(child,), span=child.span))
        elif isinstance(child, de.Family):
            wrapped.append(de.Contract(families=(child,), span=child.span))
        else:
            wrapped.append(child)
    return tuple(wrapped)


def _traffic_named(children: list[Any], where: Span) -> de.Traffic:
    name, count, source, target, back = children
    return de.Traffic(name.text, count, source.text, target.text, back, span=where)


def _traffic_unnamed(children: list[Any], where: Span) -> de.Traffic:
    count, source, target, back = children
    return de.Traffic(None, count, source.text, target.text, back, span=where)


def _family_listed(children: list[Any], where: Span) -> de.Family:
    head, choices = children
    items = head.items if isinstance(head, ex.Tuple) else (head,)
    names = tuple(item.name for item in items if isinstance(item, ex.Name))
    if len(names) != len(items) or len(choices) != len(names):
        hint = "one set for each name: `family (MC, NC) in {4, 8} * {8, 16}`"
        raise fail("syntax.form", "a listed family has names and as many sets", where, hint)
    return de.Family(names, choices, (), span=where)


# --- functions ---------------------------------------------------------------------------------


def _contraction(children: list[Any], where: Span) -> de.Contraction:
    name, generics, params, before, result, after, body = children
    if result.name is None:
        raise fail("syntax.form", "a contraction names its result", result.span, "`-> out c: [f32; M, N]`")
    for statement in body:
        if not (isinstance(statement, Let | View) or isinstance(statement, Assign) and _is_equation(statement)):
            hint = "after a header that ends in `=`, an equation for each output element: `c[i, j] = sum k. a[i, k] * b[k, j]`"
            raise fail("syntax.form", "the body of a contraction is equations", statement.span, hint)
    return de.Contraction(name.text, generics, params, result, _contract(before, after), body, span=where)


def _is_equation(statement: Assign) -> bool:
    return isinstance(statement.target, ex.Index | ex.Name)


def _fn(children: list[Any], where: Span) -> de.Fn:
    name, generics, params, before, result, after, body = children
    return de.Fn(name.text, generics, params, result, _contract(before, after), body, span=where)


def _instr_fn(children: list[Any], where: Span) -> de.Fn:
    name, generics, params, before, result, after, (body, templates) = children
    contract = _contract(before, after)
    return de.Fn(name.text, generics, params, result, contract, body, True, templates, span=where)


def _instr_body(children: list[Any], _where: Span) -> tuple[tuple[Any, ...], tuple[de.Template, ...]]:
    templates = tuple(child for child in children if isinstance(child, de.Template))
    return tuple(child for child in children if not isinstance(child, de.Template)), templates


# --- schedules ---------------------------------------------------------------------------------


def _schedule(children: list[Any], where: Span) -> de.Schedule:
    name, of, implicit, device, params, clauses, lines = children
    return de.Schedule(name.text, of, implicit, device, params, _contract(clauses), lines, span=where)


def _schedule_fn(children: list[Any], where: Span) -> de.ScheduleFn:
    name, params, lines = children
    _check_patterns(params, where)
    return de.ScheduleFn(name.text, params, lines, span=where)


def _check_patterns(params: tuple[ex.Expr, ...], where: Span) -> None:
    """Refuse a parameter of a schedule or step function that is no name and no tuple of names."""
    for param in params:
        items = param.items if isinstance(param, ex.Tuple) and param.items else (param,)
        if not all(isinstance(item, ex.Name) for item in items):
            hint = "`schedule fn block (i, j, k) c (MC, NC) =`"
            raise fail("syntax.form", "a parameter here is a name or a tuple of names", param.span or where, hint)


def _step_fn(children: list[Any], where: Span) -> de.StepFn:
    name, params, clauses, source, target, relate = children
    _check_patterns(params, where)
    for clause in clauses:
        _check_patterns(clause.args, where)
    return de.StepFn(name.text, params, clauses, source, target, relate or (), span=where)


# --- the rest ----------------------------------------------------------------------------------


def _synth_const(children: list[Any], where: Span) -> de.SynthConst:
    names, kind, (result, variables, cost, conditions) = children
    return de.SynthConst(names, kind, result, variables, cost, conditions, span=where)


def _law(children: list[Any], where: Span) -> de.Law:
    words, params, domain, statement, reason = children
    text = None if reason is None else unquote(reason.text)
    return de.Law(words, params, text_of(domain), statement, text, span=where)


def _proof(children: list[Any], where: Span) -> de.Proof:
    """Return a proof; only an assertion is for all of some numbers, and about what is required of them."""
    name, params, clauses, body = children
    contract = _contract(clauses)
    is_plain = all(param.mode == "" and param.storage is not None and param.storage.type == ex.Name("Nat") for param in params)
    if contract != de.Contract(requires=contract.requires) or not is_plain:
        hint = "`proof p (N: Nat) requires N > 0 = assert ceil (N / 8) * 8 >= N`"
        raise fail("syntax.form", "a proof is for all numbers `(N: Nat)`, and `requires` some of them", where, hint)
    if (params or contract.requires) and not isinstance(body, de.AssertProof):
        raise fail("syntax.form", "only `assert` is for all of some numbers", where, "leave them out: a relation is for all sizes as it stands")
    return de.Proof(name.text, body, params, contract.requires, span=where)


def _layout(children: list[Any], where: Span) -> de.Layout:
    name, params, dims, indices, requires, size, address = children
    if len(dims) != len(indices):
        raise fail("syntax.form", "a layout has an index for each extent", where, "`layout RowMajor : [R, C] (i, j) = i * C + j`")
    return de.Layout(name.text, params, dims, indices, requires or (), size, address, span=where)


def _record(children: list[Any], where: Span) -> de.Record:
    name, *fields = children
    return de.Record(name.text, tuple(fields), span=where)


def _interface(children: list[Any], where: Span) -> de.Interface:
    name, generics, members = children
    return de.Interface(name.text, generics, members, span=where)


def _impl(children: list[Any], where: Span) -> de.Impl:
    generics, interface, target, members = children
    for member in members:
        if isinstance(member, de.Fn) and member.body is None or isinstance(member, de.Const) and member.value is None:
            raise fail("syntax.form", f"`{member.name}` has no definition", member.span, "`fn add a b = a + b`")
    return de.Impl(generics, interface, target, members, span=where)


DECLARATION_BUILDERS: Final[dict[str, Builder]] = {
    "module_header": lambda c, w: de.ModuleHeader(c[0] or (), span=w),
    "settings": plain_list,
    "setting": lambda c, w: de.Setting(c[0].text, c[1], span=w),
    "import_line": lambda c, w: de.Import(unquote(c[0].text), span=w),
    "generics": lambda c, _w: tuple(item for group in c for item in group),
    "generic_group": plain_list,
    "generic": lambda c, w: de.Generic(c[0].text, c[1], span=w),
    "params": _params,
    "param_bare": lambda c, w: de.Param(c[0].text, "", None, span=w),
    "param_unit": lambda _c, _w: None,
    "param_plain": _param,
    "param_mode": _param_mode,
    "mode": first,
    "result_named": lambda c, w: de.Result(c[0].text, c[1], span=w),
    "result_plain": lambda c, w: de.Result(None, c[0], span=w),
    "clauses": _clauses,
    "requires": lambda c, w: de.Contract(requires=c[0], span=w),
    "produces": lambda c, w: de.Contract(produces=c[0], span=w),
    "scratch": lambda c, w: de.Contract(scratch=c[0], span=w),
    "working_set": lambda c, w: de.Contract(working_set=c[0], span=w),
    "working_set_rows": plain_list,
    "working_set_row": lambda c, w: de.WorkingSetRow(c[0].text, tuple(c[1:]), span=w),
    "keep": lambda c, w: de.Keep(c[0].text, c[1], span=w),
    "movement": lambda c, w: de.Contract(movement=c[0], span=w),
    "movement_rows": plain_list,
    "traffic_named": _traffic_named,
    "traffic_unnamed": _traffic_unnamed,
    "back_no": lambda _c, _w: False,
    "back_yes": lambda _c, _w: True,
    "invariant": lambda c, w: de.Invariant(c[0].text, c[1], span=w),
    "family_open": lambda c, w: de.Family((), (), c[0], span=w),
    "family_listed": _family_listed,
    "choices": plain_list,
    "choice": first,
    "contraction": _contraction,
    "fn": _fn,
    "fn_member": _fn,
    "instr_fn": _instr_fn,
    "instr_body": _instr_body,
    "template": lambda c, w: de.Template(c[0].text, unquote(c[1].text), span=w),
    "schedule": _schedule,
    "schedule_fn": _schedule_fn,
    "step_fn": _step_fn,
    "interface": _interface,
    "impl": _impl,
    "members": plain_list,
    "law": _law,
    "law_words": text_list,
    "law_params": plain_list,
    "const": lambda c, w: de.Const(c[0].text, c[1], c[2], span=w),
    "const_member": lambda c, w: de.Const(c[0].text, c[1], c[2], span=w),
    "synth_const": _synth_const,
    "synth_names": one_or_names,
    "minimize": plain_list,
    "conditions": lambda c, _w: c[0] or (),
    "proof": _proof,
    "assert_proof": lambda c, w: de.AssertProof(c[0], span=w),
    "relate_proof": lambda c, w: de.RelateProof(c[0], c[1], span=w),
    "admit_proof": lambda c, w: de.AdmitProof(unquote(c[0].text), span=w),
    "family_proof": lambda c, w: de.FamilyProof(c[0], c[1], span=w),
    "invariant_proof": lambda c, w: de.InvariantProof(c[0], c[1], span=w),
    "record": _record,
    "record_field": lambda c, w: de.RecordField(c[0].text, c[1], span=w),
    "layout": _layout,
    "layout_params": text_list,
    "layout_requires": first,
    "layout_size": first,
}

BUILDERS: Final[dict[str, Builder]] = {**EXPRESSION_BUILDERS, **STATEMENT_BUILDERS, **DECLARATION_BUILDERS}
"""What each rule of the grammar that is not a mere alternative builds."""
