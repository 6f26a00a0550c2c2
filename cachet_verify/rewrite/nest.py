"""Perfect nests: loops one right inside the other, found by the names that a step gives.

Takes a line of a schedule and a program; gives the names and the nest that holds them. Must not
look inside the body of a nest, nor change anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cachet_verify.core.ir import Block, For, Program, Stmt
from cachet_verify.rewrite.error import StepError, refuse
from cachet_verify.rewrite.expression import counter_name
from cachet_verify.rewrite.hole import stmt_text
from cachet_verify.rewrite.library import no_loop
from cachet_verify.rewrite.place import Path, counters, find_loop
from cachet_verify.rewrite.traverse import domain_mentions
from cachet_verify.source import Span
from cachet_verify.syntax import ast


@dataclass(frozen=True, slots=True)
class Nest:
    """A perfect nest: its path, its loops from the outside in, and what the innermost holds."""

    path: Path
    loops: tuple[For, ...]
    body: Block


def loop_names(step: str, given: ast.Expr | None, span: Span | None, hint: str) -> tuple[str, ...]:
    """The loops that an argument names, `i` or `(i, j)`, each once. Raises StepError."""
    items = given.items if isinstance(given, ast.Tuple) else (given,) if given is not None else ()
    names = tuple(name for name in (counter_name(item) for item in items) if name is not None)
    if not names or len(names) != len(items) or len(set(names)) != len(names):
        raise refuse("arguments", f"{step} needs the names of loops, each once", span, hint)
    return names


def find_nest(step: str, program: Program, names: Sequence[str], span: Span | None) -> Nest:
    """The perfect nest from the outermost named loop to the innermost. Raises StepError where there is none."""
    found = {name: find_loop(program.body, name) for name in names}
    for name, loop in found.items():
        if loop is None:
            raise no_loop(step, name, counters(program.body), span)
    places = [loop for loop in found.values() if loop is not None]
    path, stmt = min(places, key=lambda place: len(place[0]))
    loops = [stmt]
    waiting = set(names) - {stmt.counter}
    while waiting:
        inner = loops[-1].body.body
        if len(inner) != 1 or not isinstance(inner[0], For):
            raise _not_nested(step, loops[-1], inner, sorted(waiting)[0], span)
        loops.append(inner[0])
        waiting.discard(inner[0].counter)
    return Nest(path, tuple(loops), loops[-1].body)


def _not_nested(step: str, loop: For, inner: Sequence[Stmt], name: str, span: Span | None) -> StepError:
    held = "; ".join(stmt_text(stmt) for stmt in inner) or "nothing"
    text = f"{step} needs one loop right inside the other; the loop over {loop.counter} holds {held}, not just a loop on the way to {name}"
    return refuse("not-nested", text, span, "name loops of one perfect nest")


def check_bounds(nest: Nest, loops: Sequence[For], span: Span | None) -> None:
    """Every bound must still have around it the loops of the nest it speaks of. Raises StepError."""
    own: Mapping[str, For] = {loop.counter: loop for loop in nest.loops}
    around: set[str] = set()
    for loop in loops:
        missing = sorted((domain_mentions(loop.domain) & set(own)) - around)
        if missing:
            text = f"the bounds of {loop.counter} speak of {missing[0]}, so {loop.counter} has to stay inside it"
            raise refuse("scope", text, span, f"name {missing[0]} before {loop.counter}")
        around.add(loop.counter)
