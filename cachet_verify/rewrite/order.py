"""`order`: the loops of a nest put in another order.

Takes `order (gk, gj, gi, ui, i, j)`; gives the nest with the named loops in that order, in the places
they held; loops that are not named stay where they are. The index of a sum that starts from its cell
may be named too: its steps then become updates of the cell. Must not look inside the nest's body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cachet_verify.core.family import lower
from cachet_verify.core.ir import Block, For, Load, Program, Stmt, Store
from cachet_verify.kernel.fold import open_fold
from cachet_verify.kernel.reschedule import Describe, reschedule
from cachet_verify.rewrite.error import refuse
from cachet_verify.rewrite.expression import counter_name
from cachet_verify.rewrite.hole import stmt_text
from cachet_verify.rewrite.image import images
from cachet_verify.rewrite.library import no_loop
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import Path, counters, find_fold, find_loop, with_statements
from cachet_verify.rewrite.traverse import domain_mentions
from cachet_verify.source import Span
from cachet_verify.syntax import ast


@dataclass(frozen=True, slots=True)
class _Nest:
    """A perfect nest: its path, its loops from the outside in, and what the innermost holds."""

    path: Path
    loops: tuple[For, ...]
    body: Block


def order(program: Program, step: ast.Step) -> Chain:
    """Reorder a nest. Raises StepError where the names are not one nest or a loop would lose its bounds."""
    names = _names(step)
    chain = _sums_opened(Chain(program), names, step.span)
    nest = _nest(chain.program, names, step.span)
    loops = _placed(nest, names)
    _check_bounds(nest, loops, step.span)
    body = nest.body
    for loop in reversed(loops):
        body = Block((replace(loop, body=body),))
    after = with_statements(chain.program, nest.path, 1, body.body)
    if after == chain.program:
        return chain
    told = Describe(order=f"the order ({', '.join(names)}) keeps every pair of conflicting accesses in the order it had")
    maps = images(lower(chain.program), lower(after))
    return chain.then(reschedule(chain.program, after, maps, told))


def _names(step: ast.Step) -> tuple[str, ...]:
    """The loops named by the line, each once."""
    given = step.args[0] if len(step.args) == 1 and not step.clauses else None
    items = given.items if isinstance(given, ast.Tuple) else (given,) if given is not None else ()
    names = tuple(name for name in (counter_name(item) for item in items) if name is not None)
    if not names or len(names) != len(items) or len(set(names)) != len(names):
        raise refuse("arguments", "order needs the names of loops, each once", step.span, "`order (k, i, j)`")
    return names


def _sums_opened(chain: Chain, names: Sequence[str], span: Span | None) -> Chain:
    """Sums whose index is named become loops of updates."""
    for name in names:
        place = find_fold(chain.program.body, name)
        if place is None:
            continue
        if not isinstance(place.stmt, Store) or place.fold.init != Load(place.stmt.buffer, place.stmt.index):
            text = f"the sum over {name} does not start from the cell it is stored to, so its steps cannot be moved apart"
            raise refuse("no-match", text, span, "put `zero (…) c` before it")
        chain = chain.then(open_fold(chain.program, place.path))
    return chain


def _nest(program: Program, names: Sequence[str], span: Span | None) -> _Nest:
    """The perfect nest from the outermost named loop to the innermost."""
    found = {name: find_loop(program.body, name) for name in names}
    for name, loop in found.items():
        if loop is None:
            raise no_loop("order", name, counters(program.body), span)
    places = [loop for loop in found.values() if loop is not None]
    path, stmt = min(places, key=lambda place: len(place[0]))
    loops = [stmt]
    waiting = set(names) - {stmt.counter}
    while waiting:
        inner = loops[-1].body.body
        if len(inner) != 1 or not isinstance(inner[0], For):
            raise _not_nested(loops[-1], inner, sorted(waiting)[0], span)
        loops.append(inner[0])
        waiting.discard(inner[0].counter)
    return _Nest(path, tuple(loops), loops[-1].body)


def _not_nested(loop: For, inner: Sequence[Stmt], name: str, span: Span | None) -> Exception:
    held = "; ".join(stmt_text(stmt) for stmt in inner) or "nothing"
    text = f"order needs one loop right inside the other; the loop over {loop.counter} holds {held}, not just a loop on the way to {name}"
    return refuse("not-nested", text, span, "name loops of one perfect nest")


def _placed(nest: _Nest, names: Sequence[str]) -> tuple[For, ...]:
    """The loops from the outside in, after."""
    by_name = {loop.counter: loop for loop in nest.loops}
    wanted = iter(names)
    return tuple(by_name[next(wanted)] if loop.counter in names else loop for loop in nest.loops)


def _check_bounds(nest: _Nest, loops: Sequence[For], span: Span | None) -> None:
    """Every bound must still have around it the loops it speaks of."""
    own: Mapping[str, For] = {loop.counter: loop for loop in nest.loops}
    around: set[str] = set()
    for loop in loops:
        missing = sorted((domain_mentions(loop.domain) & set(own)) - around)
        if missing:
            text = f"the bounds of {loop.counter} speak of {missing[0]}, so {loop.counter} has to stay inside it"
            raise refuse("scope", text, span, f"name {missing[0]} before {loop.counter}")
        around.add(loop.counter)
