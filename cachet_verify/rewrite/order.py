"""`order`: the loops of a nest put in another order.

Takes `order (gk, gj, gi, ui, i, j)`; gives the nest with the named loops in that order, in the places
they held; loops that are not named stay where they are. The index of a sum that starts from its cell
may be named too: its steps then become updates of the cell. Must not look inside the nest's body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cachet_verify.core.family import lower
from cachet_verify.core.ir import Block, For, Load, Program, Store
from cachet_verify.kernel.fold import open_fold
from cachet_verify.kernel.reschedule import Describe, reschedule
from cachet_verify.rewrite.error import refuse
from cachet_verify.rewrite.image import images
from cachet_verify.rewrite.nest import Nest, check_bounds, find_nest, loop_names
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import find_fold, with_statements
from cachet_verify.source import Span
from cachet_verify.syntax import ast


def order(program: Program, step: ast.Step) -> Chain:
    """Reorder a nest. Raises StepError where the names are not one nest or a loop would lose its bounds."""
    names = _names(step)
    chain = _sums_opened(Chain(program), names, step.span)
    nest = find_nest("order", chain.program, names, step.span)
    loops = _placed(nest, names)
    check_bounds(nest, loops, step.span)
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
    return loop_names("order", given, step.span, "`order (k, i, j)`")


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


def _placed(nest: Nest, names: Sequence[str]) -> tuple[For, ...]:
    """The loops from the outside in, after."""
    by_name = {loop.counter: loop for loop in nest.loops}
    wanted = iter(names)
    return tuple(by_name[next(wanted)] if loop.counter in names else loop for loop in nest.loops)
