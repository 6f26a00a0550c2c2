"""Nests of a body as statements on whole tiles: element by element, reductions along an axis, products left as loops.

Takes the body of a grid; gives the same stores in the same order, marked, each tile declared where it first gets its
words. Must not move a store, nor leave a statement that it does not know unsaid: that is a refusal that shows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from cachet_verify.core.index import ONE, ZERO, Var
from cachet_verify.core.ir import Block, Declare, Fold, For, Inlined, Range, Stmt, Store, Word, statements
from cachet_verify.elaborate.tree import Tree, find_chain, find_tree
from cachet_verify.rewrite.hole import cell_text, stmt_text
from cachet_verify.rewrite.tile_nest import Nest, Reader, has_fold, is_product_step, nest
from cachet_verify.rewrite.traverse import fresh, mentions

TREE = "halves in place, on a copy: `w[i, h] = max w[i, h] w[i, h + 4]` for each half, and `top[i] = w[i, 0]` behind it"
CHAIN = "`l[i] = fold j in 0 .. 8 from -0.0 as t: f32 do t + e[i, j]`, in order, from the identity, over an array `e`"
PRODUCT = "`o[i, d] = fold j in 0 .. 8 from … as t: f32 do fma e[i, j] (load v[j, d]) t`"


def marked(body: Block, reader: Reader, used: frozenset[str], roots: Mapping[str, str]) -> Block:
    """The body as tile statements; `roots` are the buffers behind windows' names. Raises StepError at a statement that is none."""
    written: dict[str, int] = {}
    for stmt in statements(body):
        if isinstance(stmt, Store):
            written[stmt.buffer] = written.get(stmt.buffer, 0) + 1
    return _Marking(reader, written, used, roots).block(body)


@dataclass(slots=True)
class _Marking:
    """Walks a body once; `waiting` are locals that no statement has used yet."""

    reader: Reader
    written: Mapping[str, int]
    used: frozenset[str]
    roots: Mapping[str, str]
    waiting: dict[str, Declare] = field(default_factory=dict)

    def block(self, block: Block) -> Block:
        made: list[Stmt] = []
        outer, self.waiting = self.waiting, {}
        place, body = 0, block.body
        while place < len(body):
            stmt = body[place]
            found = self.reader.nest(stmt, ()) if isinstance(stmt, For) else None
            tree = find_tree(found.store.buffer, found.extents, body[place + 1 :]) if found is not None and _is_whole(found) else None
            if found is not None and tree is not None:
                made += self.tree(found, stmt, tree)
                place += tree.count + 1
                continue
            place += 1
            if isinstance(stmt, Declare) and stmt.init is None and stmt.shape:
                self.waiting[stmt.name] = stmt
                continue
            if found is not None:
                made += self.nest(found, stmt)
            else:
                made += self.declared(stmt)
                made.append(replace(stmt, body=self.block(stmt.body)) if isinstance(stmt, For) else stmt)
        made += self.waiting.values()
        self.waiting = outer
        return Block(tuple(made))

    def declared(self, *stmts: Stmt) -> list[Declare]:
        """The locals that wait and that statements use."""
        return [self.waiting.pop(name) for name in sorted(mentions(stmts) & set(self.waiting))]

    def nest(self, found: Nest, stmt: Stmt) -> list[Stmt]:
        """One nest, with the local that it fills declared before it."""
        store, value = found.store, found.store.value
        if is_product(found):
            return [*self.declared(stmt), stmt]
        if isinstance(value, Fold):
            self.check_chain(found, stmt)
            return [*map(self.final, self.declared(stmt)), _tile(stmt, store)]
        self.check_elements(found)
        wide = self.whole(found)
        own = self.waiting.get(store.buffer)
        if own is None or not covers(wide, own):
            return [*self.declared(stmt), _tile(self.loops(wide), store)]
        del self.waiting[store.buffer]
        if isinstance(value, Word):
            return [*self.declared(stmt), replace(own, init=value, mutable=True)]
        return [*self.declared(stmt), self.final(own), _tile(self.loops(wide), store)]

    def final(self, declared: Declare) -> Declare:
        """A local that is written once is a `let`."""
        return replace(declared, mutable=declared.mutable and self.written.get(declared.name, 0) > 1)

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
        root = self.roots.get(store.buffer, store.buffer)
        for load in found.loads():
            is_own = load.buffer == store.buffer and load.index == store.index
            if self.roots.get(load.buffer, load.buffer) == root and not is_own:
                text = f"`{stmt_text(store)}` reads `{cell_text(load.buffer, load.index)}`, which another element writes"
                raise self.reader.wrong(text, f"statements element by element; a tree {TREE}")

    # --- along an axis ---

    def check_chain(self, found: Nest, stmt: Stmt) -> None:
        """A row or a column combined in order, from the identity."""
        if find_chain(stmt) is None:
            text = f"`{stmt_text(found.store)}` is no reduction of a row or a column, and no product"
            raise self.reader.wrong(text, f"{CHAIN}; or {PRODUCT}")

    def tree(self, fill: Nest, copied: Stmt, tree: Tree) -> list[Stmt]:
        """A copy, and the tree on it."""
        self.waiting.update((stmt.name, stmt) for stmt in tree.locals)
        self.check_elements(fill)
        before = self.declared(copied, *tree.levels)
        before.sort(key=lambda stmt: stmt.name == fill.store.buffer)
        return [*map(self.final, before), _tile(copied, fill.store), _tile(Block(tree.levels), tree.last)]


def _is_whole(found: Nest) -> bool:
    """Whether a nest goes along the dimensions of what it stores, in their order."""
    return found.store.index == tuple(map(Var, found.counters))


def covers(found: Nest, declared: Declare) -> bool:
    """Whether a nest stores each cell of a local once."""
    if found.extents != declared.shape or found.store.buffer != declared.name:
        return False
    cells = zip(found.store.index, found.counters, declared.shape, strict=True)
    return all(term == Var(counter) or (term == ZERO and extent == ONE) for term, counter, extent in cells)


def is_product(found: Nest) -> bool:
    """Whether each element of a tile goes on with a total by products of two words."""
    fold = found.store.value
    if not isinstance(fold, Fold) or len(found.loops) != 2:
        return False
    return is_product_step(fold) and isinstance(fold.domain, Range) and fold.domain.low == ZERO


def _tile(stmt: Stmt, store: Store) -> Inlined:
    block = stmt if isinstance(stmt, Block) else Block((stmt,))
    return Inlined(stmt_text(store), block, store.span, is_tile=True)
