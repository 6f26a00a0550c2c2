"""One step of a schedule, applied to a program.

Takes a program, a line of a schedule and the scope; gives the program after it and the goals that
relate the two. Built-in steps and library steps go the same way: what they propose is asked of the
kernel's rules. Must not decide whether a goal holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from cachet_verify.core.family import UnmodelledError
from cachet_verify.core.ir import Program
from cachet_verify.diagnostic import Note
from cachet_verify.kernel.claim import RuleError
from cachet_verify.rewrite.block_name import name_blocks
from cachet_verify.rewrite.compute import compute
from cachet_verify.rewrite.double_buffer import double_buffer
from cachet_verify.rewrite.element import element
from cachet_verify.rewrite.error import StepError, refuse
from cachet_verify.rewrite.expand import expand
from cachet_verify.rewrite.fuse import FusedBlock, fused
from cachet_verify.rewrite.grid import grid
from cachet_verify.rewrite.keep import keep
from cachet_verify.rewrite.library import apply_library_step
from cachet_verify.rewrite.order import order
from cachet_verify.rewrite.outcome import Chain, StepOutcome
from cachet_verify.rewrite.outer import outer_products
from cachet_verify.rewrite.pack import pack
from cachet_verify.rewrite.pack_lanes import pack_lanes
from cachet_verify.rewrite.parts import parts
from cachet_verify.rewrite.reduction import regroup
from cachet_verify.rewrite.registers import registers
from cachet_verify.rewrite.scope import Scope
from cachet_verify.rewrite.split import split
from cachet_verify.rewrite.stage import stage
from cachet_verify.rewrite.tiles import tiles
from cachet_verify.rewrite.traverse import taken
from cachet_verify.syntax import ast

_BUILT_IN: dict[str, Callable[[Program, ast.Step, Scope], Chain]] = {
    "grid": grid,
    "order": lambda program, step, scope: order(program, step),
    "pack": pack,
    "pack_lanes": pack_lanes,
    "keep": lambda program, step, scope: keep(program, step),
    "registers": registers,
    "regroup": regroup,
    "outer_products": outer_products,
    "tiles": tiles,
    "parts": parts,
    "element": element,
    "stage": stage,
    "compute": lambda program, step, scope: compute(program, step),
    "double_buffer": lambda program, step, scope: double_buffer(program, step),
}
"""Layout steps whose `to` is computed; the kernel checks them like any other."""


def apply_step(program: Program, step: ast.ScheduleLine, scope: Scope) -> StepOutcome:
    """Apply one primitive step. Raises StepError where it does not fit or a kernel rule refuses it."""
    try:
        chain = _chain(program, step, scope)
    except StepError as error:
        raise _placed(error, step) from error
    except RuleError as error:
        text = f"{_name(step)} is not a step that keeps every word: {error.why} ({error.rule})"
        raise refuse("rule", text, step.span) from error
    except UnmodelledError as error:
        raise refuse("rule", f"{_name(step)} meets what the rules do not model: {error}", step.span) from error
    added = tuple(need for need in chain.program.requires if need not in program.requires)
    return StepOutcome(chain.program, chain.goals, scope.step_name(_name(step)), added)


def apply_all(program: Program, lines: Iterable[ast.ScheduleLine], scope: Scope) -> Iterator[StepOutcome]:
    """Apply the lines of a schedule one after the other, schedule fns expanded. Raises StepError."""
    for step in name_blocks(expand(lines, scope), taken(program)):
        outcome = apply_step(program, step, scope)
        yield outcome
        program, scope = outcome.after, scope.advanced()


def _placed(error: StepError, step: ast.ScheduleLine) -> StepError:
    """The refusal at the line of the schedule; a place in the definition of the step becomes a note."""
    found, line = error.diagnostic, step.span
    if line is None or (found.span is not None and found.span.file is line.file and line.start <= found.span.start <= line.end):
        return error
    notes = found.notes if found.span is None else (*found.notes, Note("in the definition of the step", found.span))
    return type(error)(replace(found, span=line, notes=notes))


def _chain(program: Program, step: ast.ScheduleLine, scope: Scope) -> Chain:
    if isinstance(step, ast.Split):
        return split(program, step, scope)
    if isinstance(step, FusedBlock):
        return fused(program, step, scope)
    if not isinstance(step, ast.Step):
        raise refuse("not-a-step", "this line does not rewrite the program", step.span)
    if step.name in _BUILT_IN and step.name not in scope.step_fns:
        return _BUILT_IN[step.name](program, step, scope)
    return apply_library_step(program, step, scope)


def _name(step: ast.ScheduleLine) -> str:
    if isinstance(step, ast.Split):
        return "split"
    if isinstance(step, FusedBlock):
        return step.step.name
    return step.name if isinstance(step, ast.Step) else "admit"


__all__ = ["StepError", "StepOutcome", "apply_all", "apply_step", "expand"]
