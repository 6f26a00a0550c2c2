"""Nests of a body as statements on whole tiles: element by element, reductions along an axis, products left as loops.

Takes the body of a grid; gives the same stores in the same order, marked, each tile declared where it first gets its
words. Must not move a store, nor leave a statement that it does not know unsaid: that is a refusal that shows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from cachet_verify.core.index import ONE, ZERO, Const, Index, Var, add
from cachet_verify.core.ir import Block, Declare, Fold, For, Inlined, Load, Op, Range, Stmt, Store, Value, Word, statements
from cachet_verify.elaborate.monoid import is_combining
from cachet_verify.rewrite.hole import cell_text, stmt_text
from cachet_verify.rewrite.tile_nest import Nest, Reader, has_fold, nest
from cachet_verify.rewrite.traverse import Change, fresh, mentions

TREE = "halves in place, on a copy: `w[i, h] = max w[i, h] w[i, h + 4]` for each half, and `top[i] = w[i, 0]` behind it"
CHAIN = "`l[i] = fold j in 0 .. 8 from -0.0 as t: f32 do t + e[i, j]`, in order, from the identity, over an array `e`"
PRODUCT = "`o[i, d] = fold j in 0 .. 8 from … as t: f32 do fma e[i, j] (load v[j, d]) t`"


def marked(body: Block, reader: Reader, used: frozenset[str]) -> Block:
    """The body as tile statements. Raises StepError at a statement that is none."""
    written: dict[str, int] = {}
    for stmt in statements(body):
        if isinstance(stmt, Store):
            written[stmt.buffer] = written.get(stmt.buffer, 0) + 1
    return _Marking(reader, written, used).block(body)


@dataclass(slots=True)
class _Marking:
    """Walks a body once; `waiting` are locals that no statement has used yet."""

    reader: Reader
    written: Mapping[str, int]
    used: frozenset[str]
    waiting: dict[str, Declare] = field(default_factory=dict)

    def block(self, block: Block) -> Block:
        made: list[Stmt] = []
        outer, self.waiting = self.waiting, {}
        place, body = 0, block.body
        while place < len(body):
            stmt, tree = body[place], find_tree(self.reader, body[place:])
            if tree is not None:
                made += self.tree(tree)
                place += tree.count
                continue
            place += 1
            if isinstance(stmt, Declare) and stmt.init is None and stmt.shape:
                self.waiting[stmt.name] = stmt
                continue
            found = self.reader.nest(stmt, ()) if isinstance(stmt, For) else None
            if found is not None:
                made += self.nest(found, stmt)
            else:
                made += self.declared(stmt)
                made.append(replace(stmt, body=self.block(stmt.body)) if isinstance(stmt, For) else stmt)
        made += self.waiting.values()
        self.waiting = outer
        return Block(tuple(made))

    def declared(self, *stmts: Stmt) -> list[Stmt]:
        """The locals that wait and that statements use."""
        return [self.waiting.pop(name) for name in sorted(mentions(stmts) & set(self.waiting))]

    def nest(self, found: Nest, stmt: Stmt) -> list[Stmt]:
        """One nest, with the local that it fills declared before it."""
        store, value = found.store, found.store.value
        if is_product(found):
            return [*self.declared(stmt), stmt]
        if isinstance(value, Fold):
            self.check_chain(found, value)
            return [*self.declared(stmt), _tile(stmt, store)]
        self.check_elements(found)
        wide = self.whole(found)
        own = self.waiting.get(store.buffer)
        if own is None or not covers(wide, own):
            return [*self.declared(stmt), _tile(self.loops(wide), store)]
        del self.waiting[store.buffer]
        if isinstance(value, Word):
            return [*self.declared(stmt), replace(own, init=value, mutable=True)]
        once = replace(own, mutable=self.written[store.buffer] > 1)
        return [*self.declared(stmt), once, _tile(self.loops(wide), store)]

    def whole(self, found: Nest) -> Nest:
        """The nest with a loop for each dimension of what it stores: one that runs once for a dimension of one element."""
        index = found.store.index
        if len(found.loops) != 1 or len(index) != 2 or ZERO not in index or Var(found.counters[0]) not in index:
            return found
        name = fresh("e1" if index[1] == ZERO else "e0", self.used)
        self.used |= {name}
        once = For(name, Range(ZERO, ONE), Block(), found.loops[0].span)
        return replace(found, loops=(*found.loops, once) if index[1] == ZERO else (once, *found.loops))

    def loops(self, found: Nest) -> Stmt:
        return nest(tuple(zip(found.counters, found.extents, strict=True)), found.store, span=found.loops[0].span)

    # --- element by element ---

    def check_elements(self, found: Nest) -> None:
        """All elements at once read nothing that another one writes."""
        store = found.store
        if has_fold(store.value):
            raise self.reader.wrong(
                f"`{stmt_text(store)}` goes through a range in the middle of a value", "a total in an array of its own, before it"
            )
        for load in found.loads():
            if load.buffer == store.buffer and load.index != store.index:
                text = f"`{stmt_text(store)}` reads `{cell_text(load.buffer, load.index)}`, which another element writes"
                raise self.reader.wrong(text, f"statements element by element; a tree {TREE}")

    # --- along an axis ---

    def check_chain(self, found: Nest, fold: Fold) -> None:
        """A row or a column combined in order, from the identity."""
        step, text = fold.step, f"`{stmt_text(found.store)}` is no reduction of a row or a column, and no product"
        element = step.args[1] if isinstance(step, Op) and len(step.args) == 2 and step.args[0] == Load(fold.acc) else None
        if not isinstance(element, Load) or not isinstance(step, Op) or len(found.loops) != 1:
            raise self.reader.wrong(text, f"{CHAIN}; or {PRODUCT}")
        cell = {Var(found.counters[0]), Var(fold.counter)}
        is_whole = isinstance(fold.domain, Range) and fold.domain.low == ZERO and len(element.index) == 2 and set(element.index) == cell
        if not is_whole or not is_combining(step, fold.init):
            raise self.reader.wrong(text, f"{CHAIN}; or {PRODUCT}")

    def tree(self, tree: Tree) -> list[Stmt]:
        """A copy, and the tree on it."""
        self.waiting.update((stmt.name, stmt) for stmt in tree.locals)
        self.check_elements(tree.fill)
        before = self.declared(tree.copied, *tree.levels)
        own = [stmt for stmt in before if isinstance(stmt, Declare) and stmt.name == tree.fill.store.buffer]
        others = [stmt for stmt in before if stmt not in own]
        return [*others, *own, _tile(tree.copied, tree.fill.store), _tile(Block(tree.levels), tree.last)]


def covers(found: Nest, declared: Declare) -> bool:
    """Whether a nest stores each cell of a local once."""
    if found.extents != declared.shape or found.store.buffer != declared.name:
        return False
    cells = zip(found.store.index, found.counters, declared.shape, strict=True)
    return all(term == Var(counter) or (term == ZERO and extent == ONE) for term, counter, extent in cells)


def is_product(found: Nest) -> bool:
    """Whether each element of a tile goes on with a total by products of two words."""
    fold = found.store.value
    if not isinstance(fold, Fold) or len(found.loops) != 2 or not isinstance(fold.step, Op) or fold.step.name != "fma":
        return False
    return fold.step.args[2] == Load(fold.acc) and isinstance(fold.domain, Range) and fold.domain.low == ZERO


def _tile(stmt: Stmt, store: Store) -> Inlined:
    block = stmt if isinstance(stmt, Block) else Block((stmt,))
    return Inlined(stmt_text(store), block, store.span, is_tile=True)


# --- trees -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tree:
    """A copy of a tile, the nests that halve it along an axis and take what is left, and the locals declared between."""

    fill: Nest
    copied: Stmt
    levels: tuple[Stmt, ...]
    last: Store
    locals: tuple[Declare, ...]
    count: int


def find_tree(reader: Reader, stmts: Sequence[Stmt]) -> Tree | None:
    """The tree that starts at the first of some statements; None where none does."""
    first = reader.nest(stmts[0], ()) if isinstance(stmts[0], For) else None
    if first is None or len(first.loops) != 2 or first.store.index != tuple(map(Var, first.counters)):
        return None
    for axis in (1, 0):
        found = _along(reader, first, stmts, axis)
        if found is not None:
            return found
    return None


def _along(reader: Reader, first: Nest, stmts: Sequence[Stmt], axis: int) -> Tree | None:
    """The tree along one axis: halves in place until one element is left."""
    name, extent = first.store.buffer, first.extents[axis]
    if not isinstance(extent, Const) or extent.value < 2:
        return None
    left, combined = extent.value, None
    levels: list[Stmt] = []
    between: list[Declare] = []
    for place, stmt in enumerate(stmts[1:], 2):
        if isinstance(stmt, Declare) and stmt.init is None:
            between.append(stmt)
            continue
        found = reader.nest(stmt, ()) if isinstance(stmt, For) else None
        if found is None:
            return None
        levels.append(stmt)
        if left == 1:
            kept = Var(found.counters[0])
            is_last = len(found.loops) == 1 and found.store.value == Load(name, _cell(axis, kept, ZERO))
            is_last = is_last and found.store.index == _cell(axis, kept, ZERO) and found.extents == (first.extents[1 - axis],)
            return Tree(first, stmts[0], tuple(levels), found.store, tuple(between), place) if is_last else None
        half = (left + 1) // 2
        word = _level(found, name, axis, (first.extents[1 - axis], Const(left - half)), half)
        if word is None or (combined is not None and combined != word):
            return None
        left, combined = half, word
    return None


def _cell(axis: int, kept: Index, along: Index) -> tuple[Index, Index]:
    return (kept, along) if axis == 1 else (along, kept)


def _level(found: Nest, name: str, axis: int, extents: tuple[Index, Index], half: int) -> Value | None:
    """How one half takes in the other, over `a` and `b`; None where the nest does anything else."""
    if found.extents != extents or found.store.buffer != name:
        return None
    kept, along = map(Var, found.counters)
    mine, other = Load(name, _cell(axis, kept, along)), Load(name, _cell(axis, kept, add(along, Const(half))))
    if found.store.index != mine.index or any(load not in (mine, other) for load in found.loads()):
        return None
    by = {mine: Load("a"), other: Load("b")}
    return Change(loads=lambda load: by.get(load, load)).value(found.store.value)
