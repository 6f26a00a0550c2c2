"""Loops over the elements of tiles, pushed in until each holds one store.

Takes the body of a grid; gives it with loops over elements inside loops that go on with each element, one nest a
store, and without loops in order that run once. Must not decide whether stores may move: the kernel asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from cachet_verify.core.family import lower
from cachet_verify.core.index import ONE, ZERO, Var, variables
from cachet_verify.core.ir import Block, Declare, Fold, For, Grid, If, Load, Range, Stmt, Store, statements, values
from cachet_verify.kernel.fold import start_fold
from cachet_verify.kernel.normal import same_families
from cachet_verify.kernel.predicate import predicate_store
from cachet_verify.kernel.reschedule import reschedule
from cachet_verify.kernel.unit_loop import unit_loops
from cachet_verify.rewrite.distribute import distribute
from cachet_verify.rewrite.image import Hint, images
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import Path, statement_at, walk, with_statements
from cachet_verify.rewrite.tile_nest import is_own, is_product_step
from cachet_verify.rewrite.traverse import Change, fresh, taken
from cachet_verify.source import Span


def grid_at(chain: Chain, path: Path) -> Grid:
    """The grid, as it stands now."""
    grid = statement_at(chain.program.body, path)
    if not isinstance(grid, Grid):
        raise KeyError(path)
    return grid


def pushed_in(chain: Chain, path: Path, span: Span | None) -> Chain:
    """The chain with one nest a store in the grid at a path, as far as that can be. Raises StepError where pushing in is refused."""
    chain = _predicated(_outermost(_with_totals(chain, path), path, span), path)
    grid = grid_at(chain, path)
    body = _once(grid.body)
    if body != grid.body:
        grid = replace(grid, body=body)
        chain = chain.then(unit_loops(chain.program, with_statements(chain.program, path, 1, (grid,))))
    pushing = _Pushing(taken(chain.program))
    body = pushing.block(grid.body)
    if body == grid.body:
        return chain
    after = with_statements(chain.program, path, 1, (replace(grid, body=body),))
    return chain.then(reschedule(chain.program, after, images(lower(chain.program), lower(after), pushing.hints)))


def _with_totals(chain: Chain, path: Path) -> Chain:
    """Sums that are stored to memory, each with its total in a local that is stored behind it."""
    grid, used = grid_at(chain, path), taken(chain.program)
    own = {stmt.name for stmt in statements(grid.body) if isinstance(stmt, Declare)}
    reduced: list[str] = []

    def spelled(block: Block) -> Block:
        nonlocal used
        made: list[Stmt] = []
        for stmt in block.body:
            if isinstance(stmt, For):
                made.append(replace(stmt, body=spelled(stmt.body)))
            elif isinstance(stmt, Store) and isinstance(stmt.value, Fold) and stmt.buffer not in own and stmt.lanes is None:
                name, fold = fresh("total", used), stmt.value
                used |= {name}
                reduced.extend(() if is_product_step(fold) else (name,))
                made.append(Declare(name, fold.elem, mutable=True, span=stmt.span))
                made.append(Store(name, (), fold.init, span=stmt.span))
                made.append(Store(name, (), replace(fold, init=Load(name)), span=stmt.span))
                made.append(replace(stmt, value=Load(name)))
            else:
                made.append(stmt)
        return Block(tuple(made))

    body = spelled(grid.body)
    if body == grid.body:
        return chain
    chain = chain.then(same_families(chain.program, with_statements(chain.program, path, 1, (replace(grid, body=body),))))
    for name in reduced:
        start = next((at for at, stmt in walk(chain.program.body) if isinstance(stmt, Store) and stmt.buffer == name), None)
        chain = chain if start is None else chain.then(start_fold(chain.program, start))
    return chain


def _outermost(chain: Chain, path: Path, span: Span | None) -> Chain:
    """Loops over rows and columns of the output, around several statements and their locals."""
    loops, inner = list[str](), grid_at(chain, path).body.body
    while len(inner) == 1 and isinstance(inner[0], For):
        loops.append(inner[0].counter)
        inner = inner[0].body.body
    written = _written(inner)
    counters = tuple(takewhile(lambda name: all(is_own(name, stmt.index) for stmt in written), loops[:2]))
    if len(inner) < 2 or not written or not counters:
        return chain
    return distribute(chain, path, counters, span)


def _predicated(chain: Chain, path: Path) -> Chain:
    """Guards around one store to a local, as choices of the word that is stored."""
    own = {stmt.name for stmt in statements(grid_at(chain, path).body) if isinstance(stmt, Declare)}
    while True:
        at = next((at for at, stmt in walk(chain.program.body) if at[: len(path)] == path and isinstance(stmt, If) and _guards(stmt, own)), None)
        if at is None:
            return chain
        chain = chain.then(predicate_store(chain.program, at))


def _guards(stmt: If, own: set[str]) -> bool:
    """Whether a guard stands around one store to a local of the grid, of a value without a range."""
    store = stmt.then.body[0] if len(stmt.then.body) == 1 and stmt.orelse == Block() else None
    if not isinstance(store, Store) or store.lanes is not None or store.buffer not in own:
        return False
    return not any(isinstance(part, Fold) for part in values(store.value))


def _written(stmts: Sequence[Stmt]) -> tuple[Store, ...]:
    """The stores of statements to what they do not declare themselves."""
    found = tuple(statements(Block(tuple(stmts))))
    own = {stmt.name for stmt in found if isinstance(stmt, Declare)}
    return tuple(stmt for stmt in found if isinstance(stmt, Store) and stmt.buffer not in own)


def _goes_along(loop: For) -> bool:
    """Whether all that a loop stores has its counter as an index: it is one over elements."""
    written = _written(loop.body.body)
    return bool(written) and all(is_own(loop.counter, stmt.index) for stmt in written)


def _once(block: Block) -> Block:
    """A block without loops that go on with elements and run once."""
    made: list[Stmt] = []
    for stmt in block.body:
        if isinstance(stmt, For):
            inner = _once(stmt.body)
            if stmt.domain == Range(ZERO, ONE) and not _goes_along(stmt):
                made += Change({stmt.counter: ZERO}).block(inner).body
            else:
                made.append(replace(stmt, body=inner))
        else:
            made.append(stmt)
    return Block(tuple(made))


@dataclass(slots=True)
class _Pushing:
    """Pushes loops in; `hints` say which counter a copy of a loop stands for."""

    used: frozenset[str]
    hints: list[Hint] = field(default_factory=list)
    placed: set[str] = field(default_factory=set)

    def block(self, block: Block) -> Block:
        """A block with all loops over elements pushed in."""
        return Block(tuple(part for stmt in block.body for part in self.statement(stmt)))

    def statement(self, stmt: Stmt) -> Sequence[Stmt]:
        if not isinstance(stmt, For):
            return (stmt,)
        if not _goes_along(stmt):
            return (replace(stmt, body=self.block(stmt.body)),)
        if not all(isinstance(part, (For, Store)) for part in statements(stmt.body)):
            return (stmt,)
        return self.pushed((stmt,), stmt.body)

    def pushed(self, loops: tuple[For, ...], block: Block) -> Sequence[Stmt]:
        """What loops over elements hold, each store in loops of its own."""
        made: list[Stmt] = []
        for stmt in block.body:
            if isinstance(stmt, For) and _goes_along(stmt):
                made += self.pushed((*loops, stmt), stmt.body)
            elif isinstance(stmt, For):
                made.append(replace(stmt, body=Block(tuple(self.pushed(loops, stmt.body)))))
            else:
                made.append(self.around(loops, stmt))
        return made

    def around(self, loops: tuple[For, ...], stmt: Stmt) -> Stmt:
        """A store in loops of its own, in the order of its indices: the first store keeps their counters."""
        if isinstance(stmt, Store):
            loops = _in_order(loops, stmt)
        names: dict[str, str] = {}
        for loop in loops:
            if loop.counter in self.placed:
                names[loop.counter] = fresh(loop.counter, self.used)
                self.used |= {names[loop.counter]}
                self.hints.append(Hint(loop.counter, Var(names[loop.counter]), frozenset((names[loop.counter],))))
            self.placed.add(loop.counter)
        made = Change({old: Var(new) for old, new in names.items()}, names=names).stmt(stmt)
        for loop in reversed(loops):
            made = replace(loop, counter=names.get(loop.counter, loop.counter), body=Block((made,)))
        return made


def _in_order(loops: tuple[For, ...], store: Store) -> tuple[For, ...]:
    """Loops in the order of the indices that they go along; one along which elements are combined in place comes last."""
    others = (load for load in values(store.value) if isinstance(load, Load) and load.buffer == store.buffer)
    combined = {place for load in others for place, term in enumerate(load.index) if term != store.index[place]}

    def rank(loop: For) -> tuple[bool, int]:
        place = next(place for place, term in enumerate(store.index) if loop.counter in variables(term))
        return place in combined, place

    return tuple(sorted(loops, key=rank))
