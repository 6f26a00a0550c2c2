"""Loops over rows and columns pushed into what they hold: one nest a statement, and locals as arrays.

Takes a chain of goals, where a grid stands whose iteration is a nest of counting loops, and the counters of that
nest; gives the chain with each statement in loops over the counters of its own, where it depends on them, and each
local with one more dimension for each. Checks nothing: what does not fit shows in the goals.

Level by level, from the outside in: the locals declared there become arrays, outside the counters' loops
(`relocate-local`); then each statement gets loops of its own, and loops over something else come outside of
the counters' loops (`reschedule`). At the end, what does not depend on a counter is computed once (`uniform`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cachet_verify.core.family import lower
from cachet_verify.core.index import ZERO, Index, Var, variables
from cachet_verify.core.ir import Block, Declare, For, Grid, Program, Range, Stmt
from cachet_verify.kernel.normal import same_families
from cachet_verify.kernel.reschedule import reschedule
from cachet_verify.rewrite.alike import once
from cachet_verify.rewrite.hole import stmt_text
from cachet_verify.rewrite.image import Hint, images
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import Path, statement_at, with_statements
from cachet_verify.rewrite.relocated import relocated
from cachet_verify.rewrite.straight import check_straight, is_elements, refused, straight, widened
from cachet_verify.rewrite.tidy import tidied
from cachet_verify.rewrite.traverse import Change, fresh, taken
from cachet_verify.source import Span


class Copies:
    """The names that loops over the counters have got, and names that nothing in the program has yet."""

    def __init__(self, program: Program, loops: Sequence[For]) -> None:
        """Start from the nest as it stands."""
        self._used = taken(program)
        self.loops = tuple(loops)
        self.of: dict[str, int] = {loop.counter: place for place, loop in enumerate(loops)}
        self._free: list[list[str]] = [[] for _ in loops]

    def take(self) -> tuple[str, ...]:
        """A counter for each loop: those of a nest that is gone, else new ones."""
        return tuple(free.pop() if free else self._new(place) for place, free in enumerate(self._free))

    def give(self, names: Sequence[str]) -> None:
        """Say that the nest over these counters goes."""
        for free, name in zip(self._free, names, strict=True):
            free.append(name)

    def fresh(self, base: str) -> str:
        """The name itself, or one like it."""
        name = fresh(base, self._used)
        self._used |= {name}
        return name

    def _new(self, place: int) -> str:
        name = self.fresh(self.loops[place].counter)
        self.of[name] = place
        return name

    @property
    def extents(self) -> tuple[Index, ...]:
        """How many indices each counter has."""
        return tuple(loop.domain.high for loop in self.loops)

    def nest(self, names: Sequence[str], stmt: Stmt) -> Stmt:
        """A statement in loops of its own."""
        for loop, name in reversed(list(zip(self.loops, names, strict=True))):
            stmt = replace(loop, counter=name, body=Block((stmt,)))
        return stmt


def distribute(chain: Chain, path: Path, counters: Sequence[str], span: Span | None = None) -> Chain:
    """The chain with the loops at `counters`, which the grid at `path` holds, pushed in. Raises StepError."""
    loops = _loops(statement_at(chain.program.body, path), counters, chain.program, span)
    at = (*path, 0)
    inner = at + (0,) * (len(loops) - 1)
    body = tuple(straight(loops[-1].body, Copies(chain.program, loops).fresh, span))
    check_straight(body, frozenset(chain.program.sizes), frozenset(counters), span)
    spelled = with_statements(chain.program, inner, 1, (replace(loops[-1], body=Block(body)),))
    if spelled != chain.program:
        chain = chain.then(same_families(chain.program, spelled))
    copies = Copies(chain.program, loops)
    chain, locals_ = _level(chain, at, copies)
    chain = once(chain, path, copies.of, locals_, len(loops))
    return tidied(chain, path, copies.of, counters)


# --- what is distributed -----------------------------------------------------------------------


def _loops(grid: Stmt, counters: Sequence[str], program: Program, span: Span | None) -> tuple[For, ...]:
    """The loops over the counters, the outermost first. Raises StepError where they are no nest, or do not count from 0."""
    found: list[For] = []
    block = grid.body if isinstance(grid, (Grid, For)) else Block()
    for counter in counters:
        stmt = block.body[0] if len(block.body) == 1 else None
        if not isinstance(stmt, For) or stmt.counter != counter:
            held = ", ".join(stmt_text(part) for part in block.body) or "nothing"
            raise refused(f"looks for a loop over {counter} and nothing else, found {held}", span)
        domain = stmt.domain
        if not isinstance(domain, Range) or domain.low != ZERO or not variables(domain.high) <= frozenset(program.sizes):
            raise refused(f"the loop over {counter} does not count from 0 to a number that sizes give", span)
        found.append(stmt)
        block = stmt.body
    if not found:
        raise refused("no loop is named", span)
    return tuple(found)


# --- level by level ----------------------------------------------------------------------------


def _level(chain: Chain, path: Path, copies: Copies) -> tuple[Chain, tuple[str, ...]]:
    """The nest at `path` as one nest a statement, here and in the loops that it holds; and the locals that it held."""
    names, body = _held(statement_at(chain.program.body, path), len(copies.loops))
    locals_ = tuple(stmt for stmt in body if isinstance(stmt, Declare))
    for count, local in enumerate(locals_):
        chain = relocated(chain, (*path[:-1], path[-1] + count), names, local, copies.extents)
    at = (*path[:-1], path[-1] + len(locals_))
    _, moved = _held(statement_at(chain.program.body, at), len(copies.loops))
    chain = _apart(chain, path, _in_place(body, moved, copies.extents), names, copies)
    found = [local.name for local in locals_]
    for place, stmt in enumerate(body):
        if isinstance(stmt, For) and not is_elements(stmt):
            chain, inner = _level(chain, (*path[:-1], path[-1] + place, 0), copies)
            found += inner
    return chain, tuple(found)


def _held(stmt: Stmt, depth: int) -> tuple[tuple[str, ...], tuple[Stmt, ...]]:
    """The counters of a nest of that depth, and the statements in it."""
    names: list[str] = []
    body: tuple[Stmt, ...] = (stmt,)
    for _ in range(depth):
        loop = body[0]
        if not isinstance(loop, For):
            raise TypeError(f"no nest of {depth} loops stands there")
        names.append(loop.counter)
        body = loop.body.body
    return tuple(names), body


def _in_place(body: Sequence[Stmt], moved: Sequence[Stmt], extents: tuple[Index, ...]) -> tuple[Stmt, ...]:
    """The statements after, with the arrays declared where the locals were."""
    rest = iter(moved)
    return tuple(replace(stmt, shape=(*extents, *stmt.shape)) if isinstance(stmt, Declare) else next(rest) for stmt in body)


def _apart(chain: Chain, path: Path, body: Sequence[Stmt], names: tuple[str, ...], copies: Copies) -> Chain:
    """Each statement in loops over the counters of its own; loops that hold more come outside of them."""
    program = chain.program
    copies.give(names)
    units: list[Stmt] = []
    hints: list[Hint] = []
    for stmt in body:
        if isinstance(stmt, Declare):
            units.append(stmt)
            continue
        own = copies.take()
        by: Mapping[str, Index] = {old: Var(new) for old, new in zip(names, own, strict=True)}
        hints += [Hint(old, Var(new), frozenset(own)) for old, new in zip(names, own, strict=True)]
        turned = Change(by).stmt(stmt)
        if isinstance(turned, For) and not is_elements(turned):
            turned = widened(turned, dict(zip(own, copies.extents, strict=True)))
            units.append(replace(turned, body=Block((_around(copies, own, turned.body.body),))))
        else:
            units.append(copies.nest(own, turned))
    declared = sum(isinstance(stmt, Declare) for stmt in body)
    after = with_statements(program, path, declared + 1, units)
    return chain.then(reschedule(program, after, images(lower(program), lower(after), hints)))


def _around(copies: Copies, names: Sequence[str], body: Sequence[Stmt]) -> Stmt:
    """Several statements in one nest."""
    first, *outer = reversed(list(zip(copies.loops, names, strict=True)))
    stmt: Stmt = replace(first[0], counter=first[1], body=Block(tuple(body)))
    for loop, name in outer:
        stmt = replace(loop, counter=name, body=Block((stmt,)))
    return stmt
