"""The body of a grid as a sequence of loop nests, one a statement, each over the elements of one tile.

Takes a grid; gives its locals and nests with their paths. A loop belongs to a nest where its counter is an index
of what the nest stores, one by one; any other loop is gone through in order, and holds nests itself. Must not
decide what a nest computes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cachet_verify.core.index import ONE, ZERO, Const, Index, Product, Sum, Var, variables
from cachet_verify.core.ir import Block, Declare, Fold, For, Grid, Inlined, Load, Op, Program, Range, Stmt, Store, Value, statements, values
from cachet_verify.rewrite.error import StepError, refuse
from cachet_verify.rewrite.hole import stmt_text
from cachet_verify.rewrite.place import Path, walk
from cachet_verify.rewrite.term import linear
from cachet_verify.source import Span

LOOKED_FOR = "a body of tile statements: one loop nest for each, over the elements that it stores, after `grid over` and `reduce`"


@dataclass(frozen=True, slots=True)
class Nest:
    """Loops right inside one another, from 0, around one store whose indices their counters are."""

    path: Path
    loops: tuple[For, ...]
    store: Store

    @property
    def counters(self) -> tuple[str, ...]:
        """The counters, outermost first."""
        return tuple(loop.counter for loop in self.loops)

    @property
    def extents(self) -> tuple[Index, ...]:
        """How often each loop runs."""
        return tuple(loop.domain.high for loop in self.loops)

    @property
    def at(self) -> Path:
        """The path of the store."""
        return (*self.path, *(0 for _ in self.loops))

    def fills(self, declared: Declare) -> bool:
        """Whether each cell of a local is stored once, all of them."""
        is_plain = self.store.buffer == declared.name and self.store.lanes is None
        return is_plain and self.store.index == tuple(map(Var, self.counters)) and self.extents == declared.shape

    def loads(self) -> Iterator[Load]:
        """The loads of the stored value."""
        return (part for part in values(self.store.value) if isinstance(part, Load))


def nest(loops: tuple[tuple[str, Index], ...], *stmts: Stmt, span: Span | None = None) -> Stmt:
    """Statements inside loops from 0, the first one outermost."""
    block = Block(stmts)
    for name, extent in reversed(loops):
        block = Block((For(name, Range(ZERO, extent), block, span),))
    return block.body[0] if len(block.body) == 1 else block


def device_grid(program: Program, by_tile: bool) -> tuple[Path, Grid] | None:
    """The first grid on a device, shared by groups or not yet."""
    for path, stmt in walk(program.body):
        if isinstance(stmt, Grid) and stmt.device is not None and (stmt.groups is not None) == by_tile:
            return path, stmt
    return None


def is_own(counter: str, index: tuple[Index, ...]) -> bool:
    """Whether a counter goes along one dimension of what is indexed, one by one."""
    places = [term for term in index if counter in variables(term)]
    form = linear(places[0], frozenset((counter,))) if len(places) == 1 else None
    return form is not None and dict(form.coefficients) == {counter: ONE}


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads bodies for one step, and refuses at its line."""

    step: str
    span: Span | None

    def wrong(self, text: str, hint: str = LOOKED_FOR) -> StepError:
        """The refusal of a statement."""
        return refuse("no-match", f"{self.step}: {text}", self.span, hint)

    def nests(self, block: Block, at: Path) -> Iterator[Nest]:
        """The nests of a block, in textual order. Raises StepError at a statement that is none."""
        for place, stmt in enumerate(block.body):
            path = (*at, place)
            if isinstance(stmt, Declare):
                self.check_local(stmt)
            elif isinstance(stmt, For):
                found = self.nest(stmt, path)
                if found is not None:
                    yield found
                else:
                    yield from self.nests(stmt.body, path)
            elif isinstance(stmt, Block) or (isinstance(stmt, Inlined) and not stmt.is_tile and stmt.instruction is None):
                yield from self.nests(stmt if isinstance(stmt, Block) else stmt.body, path)
            elif not isinstance(stmt, Inlined):
                raise self.wrong(f"`{stmt_text(stmt)}` stands in no loop over the elements of a tile")

    def check_local(self, stmt: Declare) -> None:
        """A local holds words that every element may read, or is a tile of one or two dimensions."""
        if stmt.width is not None or len(stmt.shape) > 2:
            raise self.wrong(f"the local {stmt.name} is no tile: its elements are vectors, or it has more than two dimensions")

    def nest(self, loop: For, path: Path) -> Nest | None:
        """The nest that starts at a loop; None where the loop is gone through in order."""
        loops, stmt = [loop], loop.body.body[0] if len(loop.body.body) == 1 else None
        while isinstance(stmt, For) and isinstance(stmt.domain, Range):
            loops.append(stmt)
            stmt = stmt.body.body[0] if len(stmt.body.body) == 1 else None
        if not isinstance(stmt, Store):
            self.check_in_order(loop)
            return None
        owned = [is_own(part.counter, stmt.index) for part in loops]
        if not owned[0]:
            return None
        if not all(owned) or len(loops) > 2:
            inner = next((part.counter for part, own in zip(loops, owned, strict=True) if not own), loops[-1].counter)
            raise self.wrong(f"the loop over {inner} stands inside loops over elements, around `{stmt_text(stmt)}`")
        for part in loops:
            if not isinstance(part.domain, Range) or part.domain.low != ZERO or variables(part.domain.high) & {other.counter for other in loops}:
                raise self.wrong(f"the loop over {part.counter} does not run from 0 to one and the same extent", "extents from 0, alike in all rows")
        if stmt.lanes is not None:
            raise self.wrong(f"`{stmt_text(stmt)}` stores lanes", "`parts` before vectors are made")
        return Nest(path, tuple(loops), stmt)

    def check_in_order(self, loop: For) -> None:
        """A loop that holds several statements is none over elements."""
        own = {stmt.name for stmt in statements(loop.body) if isinstance(stmt, Declare)}
        for stmt in statements(loop.body):
            if isinstance(stmt, Store) and stmt.buffer not in own and is_own(loop.counter, stmt.index):
                raise self.wrong(f"the loop over {loop.counter} does more for each element than `{stmt_text(stmt)}`")


def has_fold(value: Value) -> bool:
    """Whether a value goes through a range."""
    return any(isinstance(part, Fold) for part in values(value))


def is_multiple(term: Index, size: int) -> bool:
    """Whether a term is a multiple of a number by its form alone."""
    if isinstance(term, Const):
        return term.value % size == 0
    if isinstance(term, Product):
        return is_multiple(term.left, size) or is_multiple(term.right, size)
    return isinstance(term, Sum) and all(is_multiple(part, size) for part in term.terms)


def is_product_step(fold: Fold) -> bool:
    """Whether a total goes on by products of two values, each added with one rounding."""
    return isinstance(fold.step, Op) and fold.step.name == "fma" and fold.step.args[2] == Load(fold.acc)
