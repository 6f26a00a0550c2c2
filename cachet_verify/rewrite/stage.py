"""`stage`: a block of an operand in memory that the groups of a tile share.

Takes `stage a into sA along k at threadgroup`, where `k` is a loop in a grid by tile; gives the program in which the
groups copy what the body of `k` reads of `a`, each its share, before the region that then reads the copy. Whether the
copy holds every word that is read is asked by the kernel; that a region waits for all groups of the one before is
what a region means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from cachet_verify.core.family import lower
from cachet_verify.core.index import ZERO, Const, Index, Var, add, mul
from cachet_verify.core.ir import Block, Declare, For, Grid, Inlined, Load, Program, Store, statements
from cachet_verify.core.spell import spell
from cachet_verify.elaborate.group import SHARED
from cachet_verify.kernel.normal import same_families
from cachet_verify.kernel.reschedule import reschedule
from cachet_verify.kernel.stage import stage_in
from cachet_verify.rewrite.by_group import Names, by_group, is_by_group, nest, over_groups
from cachet_verify.rewrite.clause import Line
from cachet_verify.rewrite.error import StepError, refuse
from cachet_verify.rewrite.image import Hint, images
from cachet_verify.rewrite.library import no_loop
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.pack import Dimension, Request, reaching, turned, uses_in
from cachet_verify.rewrite.place import Path, around, counters, find_loop, statement_at, walk, with_statements
from cachet_verify.rewrite.scope import Scope
from cachet_verify.rewrite.traverse import Change, taken
from cachet_verify.syntax import ast

FORM = "stage a into sA along k at threadgroup"


@dataclass(frozen=True, slots=True)
class Site:
    """Where the groups of a tile go through a loop: the grid by tile, the loop in it, and how many groups there are."""

    path: Path
    grid: Grid
    along: Path
    loop: For
    counts: tuple[int, ...]
    names: tuple[str, ...]


def stage(program: Program, step: ast.Step, scope: Scope) -> Chain:
    """Apply a stage. Raises StepError where no groups share the loop, nothing is read there, or the copy cannot be shared out."""
    line = Line(step, FORM)
    line.check_words("into", "along", "at")
    operand, buffer, level = line.first_name("the name of an operand"), line.name("into"), line.name("at")
    if level not in SHARED:
        raise line.wrong(f"the groups of a tile share memory at {SHARED[0]} or {SHARED[1]}, not at {level}")
    if buffer in taken(program):
        raise refuse("name-taken", f"the name {buffer} is in use", step.span, f"`into` another name than {buffer}")
    if operand not in {param.name for param in program.params}:
        raise refuse("unknown-name", f"{operand} is not a parameter", step.span, "stage an operand of the contraction")
    chain, site = site_of(Chain(program), line, line.name("along"))
    return _staged(chain, site, _Copy(line, operand, buffer, level))


def site_of(chain: Chain, line: Line, along: str) -> tuple[Chain, Site]:
    """The chain with the grid told by groups, and the loop in it. Raises StepError."""
    span, name = line.step.span, line.step.name
    found = find_loop(chain.program.body, along)
    tiles = [path for path, stmt in walk(chain.program.body) if isinstance(stmt, Grid) and stmt.groups is not None]
    if found is None and tiles:
        raise no_loop(name, along, counters(chain.program.body), span)
    outer = [
        (path, stmt) for path, stmt in around(chain.program.body, found[0] if found is not None else ()) if isinstance(stmt, Grid) and path in tiles
    ]
    if not outer:
        text = f"{along} is no loop in a grid by tile, so no groups share memory there"
        raise refuse("no-match", f"{name}: {text}", span, "`grid over (i, j)` and `tiles (i, j, k) …` first, on a device; or `pack`")
    path, tile = outer[-1]
    if not is_by_group(tile):
        told = by_group(chain, path)
        if told is None:
            text = f"{name}: the body of the tile is not what `tiles` leaves: a start, products, a store"
            raise refuse("no-match", text, span, f"`{name}` right after `tiles`")
        chain = told
    found = find_loop(chain.program.body, along)
    grid = statement_at(chain.program.body, path)
    if found is None or not isinstance(grid, Grid) or grid.groups is None:
        raise no_loop(name, along, counters(chain.program.body), span)
    return chain, Site(path, grid, found[0], found[1], _counts(grid), grid.groups.names)


def _counts(grid: Grid) -> tuple[int, ...]:
    """How many groups a tile has, by the regions in its body."""
    regions = (stmt for stmt in statements(grid.body) if isinstance(stmt, Grid))
    return next((tuple(axis.high.value for axis in region.axes if isinstance(axis.high, Const)) for region in regions), ())


# --- the copy ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Copy:
    """What is copied, and to where."""

    line: Line
    operand: str
    buffer: str
    level: str

    def refuse(self, text: str, hint: str = "") -> StepError:
        """A refusal at the line."""
        return refuse("no-match", f"stage: {text}", self.line.step.span, hint)


def _staged(chain: Chain, site: Site, copy: _Copy) -> Chain:
    """The chain with the copy."""
    region = [place for place, stmt in enumerate(site.loop.body.body) if uses_in((stmt,), copy.operand)]
    if not region:
        raise copy.refuse(
            f"nothing inside the loop over {site.loop.counter} loads {copy.operand}", "stage an operand once, along a loop around its loads"
        )
    stmts = site.loop.body.body[region[0] :]
    names = Names(chain.program)
    uses = uses_in(stmts, copy.operand)
    rank = len(uses[0].load.index)
    loops = tuple(names.take(f"e{place}") for place in range(rank))
    dimensions = reaching(chain.program, Request(copy.line, copy.operand, copy.buffer, site.loop.counter, loops), uses)
    moving = [dimension for dimension in dimensions if dimension.name is not None]
    shape = tuple(_extent(copy, site, dimension) for dimension in moving)
    sharing = share(site.counts, shape)
    if sharing is None:
        groups, block = " x ".join(map(str, site.counts)), " x ".join(map(str, shape))
        raise copy.refuse(f"{groups} groups cannot share a copy of {block} words evenly", "another tile, parts or depth")
    elem = next(param.elem for param in chain.program.params if param.name == copy.operand)
    declared = Declare(copy.buffer, elem, tuple(map(Const, shape)), mutable=True, span=copy.line.step.span, level=copy.level)
    body = Block((declared, *site.grid.body.body))
    chain = chain.then(same_families(chain.program, with_statements(chain.program, site.path, 1, (replace(site.grid, body=body),))))
    along = _behind(site)
    filled = _fill(copy, dimensions)
    request = Request(copy.line, copy.operand, copy.buffer, site.loop.counter, loops)
    now = {use.load: turned(request, dimensions, chain.program, use) for use in uses}
    change = Change({}, lambda load: now.get(load, load))
    read = tuple(change.stmt(stmt) for stmt in stmts)
    source = nest([(dimension.name or "", Const(size)) for dimension, size in zip(moving, shape, strict=True)], filled)
    place = (*along, region[0])
    chain = chain.then(stage_in(chain.program, place, len(stmts), copy.operand, copy.buffer, source, read))
    return shared_out(chain, place, site, Shared(tuple(dimension.name or "" for dimension in moving), shape, sharing, filled), names)


def _behind(site: Site) -> Path:
    """Where the loop is with one more statement at the head of the grid's body."""
    depth = len(site.path)
    return (*site.along[:depth], site.along[depth] + 1, *site.along[depth + 1 :])


def _extent(copy: _Copy, site: Site, dimension: Dimension) -> int:
    size = dimension.extent
    if isinstance(size, Const):
        return size.value
    text = f"one iteration of {site.loop.counter} reads {spell(size)} of {copy.operand} along one dimension, and shared scratch has constant extents"
    raise copy.refuse(text, "stage along an inner loop, or split by constants that divide")


def _fill(copy: _Copy, dimensions: Sequence[Dimension]) -> Store:
    cell = tuple(Var(dimension.name) for dimension in dimensions if dimension.name is not None)
    return Store(copy.buffer, cell, Load(copy.operand, tuple(dimension.source for dimension in dimensions)), span=copy.line.step.span)


# --- each group its share ----------------------------------------------------------------------


def share(counts: Sequence[int], shape: Sequence[int]) -> tuple[int, ...] | None:
    """For each dimension of the groups the dimension of a block that it divides; None where no choice divides the block evenly."""
    own = [place if place < len(shape) else len(shape) - 1 for place in range(len(counts))]
    for chosen in (tuple(own), *product(range(len(shape)), repeat=len(counts))):
        pieces = [1] * len(shape)
        for count, place in zip(counts, chosen, strict=True):
            pieces[place] *= count
        if all(size % piece == 0 for size, piece in zip(shape, pieces, strict=True)):
            return chosen
    return None


@dataclass(frozen=True, slots=True)
class Shared:
    """A copy by the groups: the counters of its nest, its extents, which dimension each dimension of groups divides, the store."""

    loops: tuple[str, ...]
    shape: tuple[int, ...]
    sharing: tuple[int, ...]
    store: Store

    def places(self, counts: Sequence[int], groups: Sequence[str]) -> tuple[tuple[str, int, Index], ...]:
        """For each counter of the nest: how far a group's own goes, and the counter as the group and its own."""
        found: list[tuple[str, int, Index]] = []
        for place, (name, size) in enumerate(zip(self.loops, self.shape, strict=True)):
            which: Index = ZERO
            pieces = 1
            for count, group, chosen in zip(counts, groups, self.sharing, strict=True):
                if chosen == place:
                    which = add(mul(Const(count), which), Var(group))
                    pieces *= count
            own = size // pieces
            found.append((name, own, add(mul(Const(own), which), Var(name))))
        return tuple(found)

    def copied(self, counts: Sequence[int], groups: Sequence[str]) -> Inlined:
        """What one group copies."""
        places = self.places(counts, groups)
        change = Change({name: term for name, _, term in places})
        return Inlined("load", Block(nest([(name, Const(own)) for name, own, _ in places], change.stmt(self.store))), is_tile=True)


def shared_out(chain: Chain, place: Path, site: Site, shared: Shared, names: Names) -> Chain:
    """The nest at the place as a region in which each group copies its share, in the region before it where that only copies."""
    program = chain.program
    before = statement_at(program.body, (*place[:-1], place[-1] - 1)) if place[-1] else None
    if isinstance(before, Grid) and copies(before):
        groups = tuple(axis.counter for axis in before.axes)
        region = replace(before, body=Block((*before.body.body, shared.copied(site.counts, groups))))
        after = with_statements(program, (*place[:-1], place[-1] - 1), 2, (region,))
    else:
        groups = tuple(names.take(name) for name in site.names)
        after = with_statements(program, place, 1, (over_groups(groups, site.counts, shared.copied(site.counts, groups)),))
    own = frozenset((*groups, *shared.loops))
    hints = [Hint(name, term, own) for name, _, term in shared.places(site.counts, groups)]
    return chain.then(reschedule(program, after, images(lower(program), lower(after), hints)))


def copies(region: Grid) -> bool:
    """Whether all that a region does is to copy: statements on whole parts that only hand words on."""
    return all(isinstance(stmt, Inlined) and stmt.text == "load" for stmt in region.body.body)
