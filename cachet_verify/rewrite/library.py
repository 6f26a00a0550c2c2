"""Library steps: a `step fn`, from any file, applied to a program.

Takes a program and a line that names a step fn; gives the program after and the goals of its recipe.
Nothing here knows any step by name. Must not accept a match that leaves something out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cachet_verify.core.index import Index, Truth, Var, substitute, variables
from cachet_verify.core.ir import Block, Program, Stmt
from cachet_verify.rewrite.build import Built, build
from cachet_verify.rewrite.element_type import element_types
from cachet_verify.rewrite.error import StepError, refuse
from cachet_verify.rewrite.expression import counter_name, index_of
from cachet_verify.rewrite.hole import Called, Match, stmt_text
from cachet_verify.rewrite.image import Hint
from cachet_verify.rewrite.match import Arguments, MismatchError, match_body
from cachet_verify.rewrite.outcome import Chain, divides
from cachet_verify.rewrite.parameter import Bindings, bind, bind_clauses, shape_text
from cachet_verify.rewrite.place import Path, block_at, counters, device_at, find_loop, walk, with_statements
from cachet_verify.rewrite.recipe import Relation, relate
from cachet_verify.rewrite.scope import Scope
from cachet_verify.rewrite.term import all_block_parts
from cachet_verify.rewrite.traverse import taken
from cachet_verify.source import Span
from cachet_verify.syntax import ast

COMPUTED = (
    *("split", "order", "grid", "pack", "pack_lanes", "keep", "registers", "outer_products"),
    *("tiles", "parts", "element", "stage", "double_buffer", "reduce", "regroup", "compute"),
)
"""The steps whose result is computed, which no file defines: for those who misspell one."""


@dataclass(frozen=True, slots=True)
class _Found:
    """Where a pattern fits."""

    path: Path
    match: Match


def apply_library_step(program: Program, step: ast.Step, scope: Scope) -> Chain:
    """Apply a step fn. Raises StepError where it does not fit, RuleError where a rule does not apply."""
    definition, bindings = _definition(step, scope)
    arguments = _arguments(bindings, scope, program)
    found = _find(program, definition, arguments, step)
    device = device_at(program.body, found.path, scope.device)
    built = build(definition.target, found.match, arguments, taken(program), element_types(program), device)
    chain = _requirements(Chain(program), built, step)
    after = with_statements(chain.program, found.path, found.match.count, built.stmts)
    names = {**_hole_names(found.match), **arguments.names}
    relation = Relation(chain.program, after, names, _lowered_hints(built.hints, after.body))
    return chain.then(*relate(relation, definition.relate))


def _definition(step: ast.Step, scope: Scope) -> tuple[ast.StepFn, Bindings]:
    """The definition whose head has the shape of the line; the last one of that shape counts."""
    known = scope.step_fns.get(step.name, ())
    for definition in reversed(known):
        bindings = bind(definition.params, step.args)
        worded = bind_clauses(definition.clauses, step.clauses)
        if bindings is not None and worded is not None:
            return definition, {**bindings, **worded}
    given = shape_text(step.name, step.args, step.clauses)
    if not known:
        raise refuse("unknown-step", f"no step is named {step.name}", step.span, _near(step.name, scope))
    shapes = " or ".join(f"`{shape_text(item.name, item.params, item.clauses)}`" for item in known)
    raise refuse("arguments", f"{step.name} is written as `{given}`", step.span, shapes)


def _near(name: str, scope: Scope) -> str:
    from difflib import get_close_matches

    known = (*scope.step_fns, *scope.schedule_fns, *COMPUTED)
    near = get_close_matches(name, known, 1)
    if near or scope.step_fns:
        return f"did you mean `{near[0]}`?" if near else f"one of {', '.join(dict.fromkeys(known))}"
    return 'import "cachet:steps" for the library steps'


def _arguments(bindings: Bindings, scope: Scope, program: Program) -> Arguments:
    """A name stands for a loop, a buffer or a constant; anything else is an integer term."""
    names: dict[str, str] = {}
    terms: dict[str, Index] = {}
    for param, expr in bindings.items():
        name = counter_name(expr)
        if name is not None and scope.constant(name) is None:
            names[param] = name
        else:
            terms[param] = schedule_term(expr, scope, program)
    return Arguments(names, terms)


def schedule_term(expr: ast.Expr, scope: Scope, program: Program) -> Index:
    """An integer argument of a schedule's line: numbers, constants and sizes."""

    def known(part: ast.Expr) -> Index | None:
        if not isinstance(part, ast.Name):
            return None
        constant = scope.constant(part.name)
        if constant is not None:
            return constant
        return Var(part.name) if part.name in program.sizes else None

    return index_of(expr, known)


def _find(program: Program, definition: ast.StepFn, arguments: Arguments, step: ast.Step) -> _Found:
    """The first place that fits; where none does, the closest failure is told."""
    closest: tuple[MismatchError, Stmt] | None = None
    for path, stmt in walk(program.body):
        try:
            return _Found(path, match_body(definition.source, block_at(program.body, path), arguments))
        except MismatchError as error:
            if closest is None or _is_closer(definition.source, stmt, arguments):
                closest = (error, stmt)
    raise _no_match(program, definition, arguments, step, closest)


def _is_closer(pattern: ast.Body, stmt: Stmt, arguments: Arguments) -> bool:
    """Whether a statement is the loop that the pattern starts with."""
    first = pattern[0]
    return isinstance(first, ast.For) and getattr(stmt, "counter", None) == arguments.name(first.index)


def _no_match(
    program: Program, definition: ast.StepFn, arguments: Arguments, step: ast.Step, closest: tuple[MismatchError, Stmt] | None
) -> StepError:
    first = definition.source[0]
    known = counters(program.body)
    if isinstance(first, ast.For) and not first.index.startswith("$"):
        name = arguments.name(first.index)
        if find_loop(program.body, name) is None:
            return no_loop(step.name, name, known, step.span)
    for index in _looked_for(definition.source):
        if arguments.name(index) not in known:
            return no_loop(step.name, arguments.name(index), known, step.span)
    if closest is None:
        return refuse("no-match", f"{step.name} finds nothing to match: the program is empty", step.span)
    error, stmt = closest
    text = f"{step.name} does not fit at `{stmt_text(stmt)}`: looked for {error.wanted}, found {error.found}"
    return refuse("no-match", text, step.span, _remedy(error))


def _looked_for(pattern: ast.Body) -> Iterator[str]:
    """The loops that a pattern names, one inside the other."""
    for stmt in pattern:
        if isinstance(stmt, ast.For):
            if not stmt.index.startswith("$"):
                yield stmt.index
            yield from _looked_for(stmt.body)


def no_loop(step: str, name: str, known: Sequence[str], span: Span | None) -> StepError:
    """The refusal of a step that names a loop which is not there."""
    if name in known:
        text = f"{step} needs a loop over {name}; here {name} is an index of a grid or of a sum"
        return refuse("no-loop", text, span, "apply the step before the loop becomes a grid, or after the sum has become a loop")
    return refuse("no-loop", f"{step} looks for a loop over {name}; there are {', '.join(known) or 'no loops'}", span, "name one of these loops")


def _remedy(error: MismatchError) -> str:
    if "from the cell" in error.wanted or "cell itself" in error.wanted:
        return "put `zero (…) c` first, so that the sum starts from its cell"
    if error.wanted == "a loop over a plain range" and error.found.startswith("blocks "):
        return "split without `ragged`, which gives a plain range"
    return ""


def _hole_names(match: Match) -> dict[str, str]:
    """The names that `$k`, `$acc` stand for, for the recipe."""
    return {name: piece.name for name, piece in match.holes.items() if isinstance(piece, Called)}


def _requirements(chain: Chain, built: Built, step: ast.Step) -> Chain:
    """Exact quotients in `to` ask that the division is exact, where that is a matter of sizes."""
    sizes = frozenset(chain.program.sizes)
    for extent, size in built.divided:
        condition = divides(size, extent)
        if isinstance(condition, Truth) or not variables(condition) <= sizes:
            continue
        chain = chain.requiring(condition, shape_text(step.name, step.args, step.clauses))
    return chain


def _lowered_hints(hints: Sequence[Hint], body: Block) -> tuple[Hint, ...]:
    """Hints in terms of ordinals alone."""
    parts = all_block_parts(body)
    return tuple(Hint(hint.counter, substitute(hint.term, parts), hint.using, hint.always) for hint in hints)
