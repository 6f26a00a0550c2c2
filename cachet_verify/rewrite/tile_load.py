"""Blocks of memory in local tiles, for statements that combine them along an axis.

Takes a chain whose grid holds one nest a store; gives the chain in which each total over words of memory goes over
a local tile instead. Checks nothing: what does not fit shows in the goals.
"""

from __future__ import annotations

from collections.abc import Sequence

from cachet_verify.core.index import ZERO, Var, variables
from cachet_verify.core.ir import Declare, Fold, Load, Op, Range, Store
from cachet_verify.kernel.stage import stage_in
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import Path, statement_at
from cachet_verify.rewrite.pushed_in import grid_at
from cachet_verify.rewrite.tile import root_of
from cachet_verify.rewrite.tile_nest import Nest, Reader, is_own, nest
from cachet_verify.rewrite.traverse import Change, fresh, taken

TILE_NAMES = ("x", "z", "w", "u", "p", "h")
"""Names of tiles that are loaded: the first one that is free."""


def loaded(chain: Chain, path: Path, reader: Reader) -> Chain:
    """The chain with a tile loaded before each total over words of memory. Raises StepError where the body is none of nests."""
    while True:
        grid = grid_at(chain, path)
        nests = tuple(reader.nests(grid.body, path))
        found = next(((one, load) for one in nests if (load := _summed(chain, one)) is not None), None)
        if found is None:
            return chain
        chain = _staged(chain, *found)


def _summed(chain: Chain, found: Nest) -> Load | None:
    """The word of a parameter that each step of a nest's total takes in, by row and by column; None where it takes in anything else."""
    fold = found.store.value
    if not isinstance(fold, Fold) or not isinstance(fold.domain, Range) or fold.domain.low != ZERO or len(found.loops) != 1:
        return None
    if not variables(fold.domain.high) <= set(chain.program.sizes) or not isinstance(fold.step, Op) or len(fold.step.args) != 2:
        return None
    load = fold.step.args[1]
    if not isinstance(load, Load) or load.buffer not in {param.name for param in chain.program.params}:
        return None
    return load if is_own(found.counters[0], load.index) and is_own(fold.counter, load.index) else None


def _staged(chain: Chain, found: Nest, load: Load) -> Chain:
    program, fold, span = chain.program, found.store.value, found.store.span
    if not isinstance(fold, Fold):
        return chain
    used = taken(program)
    tile = first_free(TILE_NAMES, used)
    filled = (fresh("e0", used), fresh("e1", used))
    kept, along = found.counters[0], fold.counter
    places = {name: next(place for place, term in enumerate(load.index) if name in variables(term)) for name in (kept, along)}
    order = sorted(places, key=lambda name: places[name])
    extents = {kept: found.extents[0], along: fold.domain.high}
    shape = tuple(extents[name] for name in order)
    source = Change({name: Var(other) for name, other in zip(order, filled, strict=True)}).value(load)
    copied = Store(tile, tuple(map(Var, filled)), source, span=span)
    lead = (Declare(tile, fold.elem, shape, span=span), nest(tuple(zip(filled, shape, strict=True)), copied, span=span))
    now = Load(tile, tuple(map(Var, order)))
    region = Change(loads=lambda one: now if one == load else one).stmt(statement_at(program.body, found.path))
    return chain.then(stage_in(program, found.path, 1, root_of(program, load.buffer), tile, lead, (region,)))


def first_free(names: Sequence[str], used: frozenset[str]) -> str:
    """The first name that is free, or one like the first."""
    return next((name for name in names if name not in used), fresh(names[0], used))
