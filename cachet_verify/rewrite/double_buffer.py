"""`double_buffer`: two halves of shared memory in turn, the next block copied while this one is used.

Takes `double_buffer sA along k`, where `stage` made sA; gives the program in which the first block is copied before the
loop and each round copies the next one into the half that it does not read, in one region with the products. Checks
nothing: that no half is overwritten before all groups have read it is asked by the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cachet_verify.core.family import lower
from cachet_verify.core.index import ONE, Const, Index, Var, add, lt, minimum, mod, sub, substitute, variables
from cachet_verify.core.ir import Block, Declare, For, Grid, If, Inlined, Load, Program, Range, Stmt, Store
from cachet_verify.elaborate.collect import collected
from cachet_verify.kernel.claim import Goal
from cachet_verify.kernel.normal import same_families
from cachet_verify.kernel.reschedule import Image, reschedule
from cachet_verify.kernel.stage import stage_in
from cachet_verify.kernel.unstage import unstage
from cachet_verify.rewrite.by_group import Names, nest, over_groups
from cachet_verify.rewrite.clause import Line
from cachet_verify.rewrite.error import StepError, refuse
from cachet_verify.rewrite.image import Hint, image, images
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import Path, find, statement_at, with_statements
from cachet_verify.rewrite.stage import Shared, Site, share, site_of
from cachet_verify.rewrite.traverse import Change, mentions
from cachet_verify.syntax import ast

FORM = "double_buffer sA along k"
_HALVES = Const(2)


@dataclass(frozen=True, slots=True)
class _Buffer:
    """Shared memory that is filled once a round: its declaration, the copy and where it stands, the copy's source for a cell."""

    declared: Declare
    region: Path
    place: int
    copy: Inlined
    store: Store
    loops: tuple[str, ...]
    operand: str
    shape: tuple[int, ...]

    def source(self, cell: Sequence[Index]) -> Load:
        """The word of the operand that a cell holds."""
        by = {name: sub(wanted, substitute(term, {name: Const(0)})) for name, term, wanted in zip(self.loops, self.store.index, cell, strict=True)}
        index = self.store.value.index if isinstance(self.store.value, Load) else ()
        return Load(self.operand, tuple(collected(substitute(term, by)) for term in index))


def double_buffer(program: Program, step: ast.Step) -> Chain:
    """Apply a double_buffer. Raises StepError where nothing stages the buffer in that loop."""
    line = Line(step, FORM)
    line.check_words("along")
    if len(step.args) != 1:
        raise line.wrong("double_buffer is followed by the name of a buffer, or by names in parentheses")
    chain, along = Chain(program), line.name("along")
    for name in line.names(step.args, "buffers"):
        chain, site = site_of(chain, line, along)
        if not isinstance(site.loop.domain, Range):
            raise _refuse(line, f"the loop over {along} runs over blocks, and halves take turns by a counter", "split by a factor that divides")
        chain = _doubled(chain, site, _buffer(chain.program, site, line, name))
    return chain


def _refuse(line: Line, text: str, hint: str) -> StepError:
    return refuse("no-match", f"double_buffer: {text}", line.step.span, hint)


def _buffer(program: Program, site: Site, line: Line, name: str) -> _Buffer:
    """The buffer by its name, with the one statement that fills it."""
    along = site.loop.counter
    where = find(site.grid.body, lambda stmt: isinstance(stmt, Declare) and stmt.name == name)
    declared = statement_at(site.grid.body, where) if where is not None else None
    if not isinstance(declared, Declare) or declared.level is None:
        hint = f"`stage … into {name} along {along} at threadgroup` before it"
        raise _refuse(line, f"{name} is no memory that the groups of the tile share", hint)
    for position, region in enumerate(site.loop.body.body):
        for place, stmt in enumerate(region.body.body if isinstance(region, Grid) else ()):
            found = _copy(stmt, name)
            if found is not None and isinstance(stmt, Inlined):
                shape = tuple(size.value for size in declared.shape if isinstance(size, Const))
                loops, store, operand = found
                buffer = _Buffer(declared, (*site.along, position), place, stmt, store, loops, operand, shape)
                return _checked(program, site, line, buffer)
    raise _refuse(
        line, f"no statement in the loop over {along} copies a block into {name}", f"`double_buffer` once, along the loop of `stage … into {name}`"
    )


def _copy(stmt: Stmt, name: str) -> tuple[tuple[str, ...], Store, str] | None:
    """The loops and the store of a statement that fills a buffer with words of an operand."""
    loops: list[str] = []
    inner = stmt.body.body[0] if isinstance(stmt, Inlined) and len(stmt.body.body) == 1 else None
    while isinstance(inner, For) and len(inner.body.body) == 1:
        loops.append(inner.counter)
        inner = inner.body.body[0]
    if not isinstance(inner, Store) or inner.buffer != name or not isinstance(inner.value, Load) or len(loops) != len(inner.index):
        return None
    return tuple(loops), inner, inner.value.buffer


def _checked(program: Program, site: Site, line: Line, buffer: _Buffer) -> _Buffer:
    """The buffer, where each cell's source is told by the cell and the round alone."""
    region = statement_at(program.body, buffer.region)
    groups = {axis.counter for axis in region.axes} if isinstance(region, Grid) else set()
    plain = buffer.source(tuple(Var(f"{name} of {buffer.declared.name}") for name in buffer.loops))
    spoken = frozenset[str]().union(*(variables(term) for term in plain.index))
    if spoken & (groups | set(buffer.loops)):
        raise _refuse(line, f"a cell of {buffer.declared.name} is filled from a place that is not told by the cell", f"`{FORM}` right after `stage`")
    return buffer


# --- the steps ---------------------------------------------------------------------------------


def _doubled(chain: Chain, site: Site, buffer: _Buffer) -> Chain:
    """The copy for all groups at the head of a round, then from two halves, then a round earlier."""
    names = Names(chain.program)
    loops = tuple(names.take(name) for name in buffer.loops)
    chain = chain.then(_gathered(chain.program, site, buffer, loops))
    rest = _body(chain.program, site)[1:]
    chain = chain.then(_read_in_place(chain.program, site, buffer, rest))
    chain = chain.then(same_families(chain.program, _with_halves(chain.program, buffer)))
    half = mod(Var(site.loop.counter), _HALVES)
    name = buffer.declared.name
    halved = Change(loads=lambda load: Load(name, (half, *load.index)) if load.buffer == name else load)
    region = tuple(halved.stmt(stmt) for stmt in rest)
    lead = _filled(buffer, loops, (half,))
    chain = chain.then(stage_in(chain.program, (*site.along, 0), len(rest), buffer.operand, name, lead, region))
    return _earlier(chain, site, buffer, loops, region, names)


def _filled(buffer: _Buffer, loops: Sequence[str], half: tuple[Index, ...] = ()) -> tuple[Stmt, ...]:
    """The whole copy, in loops over the cells."""
    cell = tuple(map(Var, loops))
    store = Store(buffer.declared.name, (*half, *cell), buffer.source(cell), span=buffer.store.span)
    return nest([(name, Const(size)) for name, size in zip(loops, buffer.shape, strict=True)], store)


def _body(program: Program, site: Site) -> tuple[Stmt, ...]:
    """The statements of a round."""
    loop = statement_at(program.body, site.along)
    return loop.body.body if isinstance(loop, For) else ()


def _with_body(program: Program, site: Site, *stmts: Stmt) -> Program:
    return with_statements(program, site.along, 1, (replace(site.loop, body=Block(stmts)),))


def _gathered(program: Program, site: Site, buffer: _Buffer, loops: Sequence[str]) -> Goal:
    """The shares of the groups as one nest, first in the round."""
    body = list(site.loop.body.body)
    region = body[buffer.region[-1]]
    left = tuple(stmt for place, stmt in enumerate(region.body.body) if place != buffer.place) if isinstance(region, Grid) else ()
    body[buffer.region[-1]] = replace(region, body=Block(left)) if isinstance(region, Grid) else region
    kept = [stmt for place, stmt in enumerate(body) if left or place != buffer.region[-1]]
    after = _with_body(program, site, *_filled(buffer, loops), *kept)
    using = frozenset(buffer.loops)
    hints = [Hint(name, term, using) for name, term in zip(loops, buffer.store.index, strict=True)]
    back = images(lower(after), lower(program), hints)
    turned = {found.origin: Image(name, found.backward, found.forward) for name, found in back.items()}
    return reschedule(program, after, turned)


def _read_in_place(program: Program, site: Site, buffer: _Buffer, rest: Sequence[Stmt]) -> Goal:
    """The round without the copy: the operand is read where it lies."""
    name = buffer.declared.name
    change = Change(loads=lambda load: buffer.source(load.index) if load.buffer == name else load)
    region = tuple(change.stmt(stmt) for stmt in rest)
    return unstage(program, (*site.along, 0), (1, len(rest)), buffer.operand, name, region)


def _with_halves(program: Program, buffer: _Buffer) -> Program:
    """The buffer declared with two halves."""
    declared = replace(buffer.declared, shape=(_HALVES, *buffer.declared.shape))
    path = find(program.body, lambda stmt: stmt == buffer.declared)
    return program if path is None else with_statements(program, path, 1, (declared,))


# --- a round earlier ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Share:
    """One group's share of a copy, and what the counters of the whole copy are there."""

    copied: Stmt
    loops: tuple[str, ...]
    hints: tuple[Hint, ...]


def _earlier(chain: Chain, site: Site, buffer: _Buffer, loops: Sequence[str], rest: Sequence[Stmt], names: Names) -> Chain:
    """The first block before the loop, each next one in the region that uses the one before it.

    First in a loop of at most one round, whose counter tells the first block from the others; then under a guard.
    """
    name, domain, counter = buffer.declared.name, site.loop.domain, site.loop.counter
    before = statement_at(chain.program.body, (*site.along[:-1], site.along[-1] - 1)) if site.along[-1] else None
    joined = before if isinstance(before, Grid) and name not in mentions((before,)) else None
    groups = tuple(axis.counter for axis in joined.axes) if joined is not None else tuple(names.take(group) for group in site.names)
    once = names.take(counter)
    first = _share(site, buffer, loops, groups, Var(once), names)
    body, hints = _overlapped(site, buffer, loops, rest, names)
    path, count = (*site.along[:-1], site.along[-1] - (joined is not None)), 1 if joined is None else 2
    held = () if joined is None else joined.body.body

    def program(start: Stmt) -> Program:
        region = over_groups(groups, site.counts, *held, start)
        return with_statements(chain.program, path, count, (region, replace(site.loop, body=body)))

    one_round = Range(domain.low, minimum(domain.high, add(domain.low, ONE)))
    looped = program(For(once, one_round, Block((first.copied,))))
    guarded = program(If(lt(domain.low, domain.high), Block((Change({once: domain.low}).stmt(first.copied),)), Block(())))
    moved = _moved(chain.program, looped, name, (*first.hints, *hints))
    only = Hint(once, domain.low, frozenset(first.loops))
    return chain.then(moved, reschedule(looped, guarded, images(lower(looped), lower(guarded), (only,))))


def _overlapped(site: Site, buffer: _Buffer, loops: Sequence[str], rest: Sequence[Stmt], names: Names) -> tuple[Block, tuple[Hint, ...]]:
    """A round that copies the next block in the region that uses its own."""
    following = add(Var(site.loop.counter), ONE)
    found: list[Stmt] = list(rest)
    place = next(place for place, stmt in enumerate(rest) if buffer.declared.name in mentions((stmt,)))
    user = found[place]
    own = tuple(axis.counter for axis in user.axes) if isinstance(user, Grid) else tuple(names.take(group) for group in site.names)
    share = _share(site, buffer, loops, own, following, names)
    copied = If(lt(following, site.loop.domain.high), Block((share.copied,)), Block(()))
    if isinstance(user, Grid):
        found[place] = replace(user, body=Block((copied, *user.body.body)))
    else:
        found.insert(place, over_groups(own, site.counts, copied))
    return Block(tuple(found)), share.hints


def _moved(program: Program, after: Program, name: str, hints: Sequence[Hint]) -> Goal:
    """Both copies come from the one before; everything else is where it was."""
    old, new = lower(program), lower(after)
    origin = next(member for member in old.members if member.buffer == name)
    moved = {member.name: image(origin, member, hints) for member in new.members if member.buffer == name}
    return reschedule(program, after, {**images(old, new), **moved})


def _share(site: Site, buffer: _Buffer, loops: Sequence[str], groups: Sequence[str], at: Index, names: Names) -> _Share:
    """A group's share of the copy for the round `at`."""
    new = tuple(names.take(name) for name in buffer.loops)
    cell = tuple(map(Var, new))
    half = mod(Var(site.loop.counter), _HALVES)
    store = Store(buffer.declared.name, (half, *cell), buffer.source(cell), span=buffer.store.span)
    shared = Shared(new, buffer.shape, share(site.counts, buffer.shape) or (0,) * len(site.counts), store)
    own = frozenset((*groups, *new))
    places = zip(loops, shared.places(site.counts, groups), strict=True)
    hints = (Hint(site.loop.counter, at, own), *(Hint(name, term, own) for name, (_, _, term) in places))
    return _Share(Change({site.loop.counter: at}).stmt(shared.copied(site.counts, groups)), new, hints)
