"""The statements of functions over buffers: loops, guards, locals, stores, grids, leases, views.

Takes a body and its scope; gives a core block in which every binder has a name of its own.
Must not reorder statements, nor evaluate anything that the text does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from cachet_verify.core.index import ZERO, Const, Formula, Index, Var, add, compare, conj, eq, le, lt, mul, neg
from cachet_verify.core.ir import (
    Axis,
    Block,
    Blocks,
    Declare,
    Domain,
    Fold,
    For,
    Grid,
    If,
    Load,
    Range,
    Slice,
    Stmt,
    Store,
    Value,
    View,
    Window,
)
from cachet_verify.core.ir import Lease as CoreLease
from cachet_verify.elaborate import operation
from cachet_verify.elaborate.call import elaborate_call
from cachet_verify.elaborate.group import elaborate_groups
from cachet_verify.elaborate.header import check_level
from cachet_verify.elaborate.local import declare_local
from cachet_verify.elaborate.place import Place
from cachet_verify.elaborate.problem import IncompleteError, StopError, UnsupportedError
from cachet_verify.elaborate.scope import BlockEntity, BufferEntity, DeviceEntity, IndexEntity, PoisonEntity, Scope, ValueType
from cachet_verify.elaborate.term import difference, elaborate_condition, elaborate_index, is_index_expression
from cachet_verify.elaborate.tile import Tiles, written_tile
from cachet_verify.elaborate.value import Values
from cachet_verify.elaborate.vector import begin_lanes, end_lanes
from cachet_verify.elaborate.view import inferred
from cachet_verify.syntax import ast


class Statements(Values):
    """Elaborates the body of one function."""

    # --- bodies ---

    def body(self, body: Sequence[ast.Statement], scope: Scope) -> Block:
        """A block of statements; a statement that is refused leaves its name poisoned."""
        found: list[Stmt] = []
        for statement in body:
            try:
                scope = self.statement(statement, scope, found)
            except (StopError, UnsupportedError, IncompleteError) as error:
                self.context.gaps.append(statement.span)
                if isinstance(error, UnsupportedError):
                    self.context.unsupported.append(error.unsupported)
                if isinstance(statement, (ast.Let, ast.Var, ast.Lease, ast.View)):
                    scope = scope.bind(statement.name, PoisonEntity())
        return Block(tuple(found))

    def statement(self, statement: ast.Statement, scope: Scope, found: list[Stmt]) -> Scope:
        """Add a statement to `found`; give the scope of what follows it."""
        if isinstance(statement, (ast.Let, ast.Var)):
            return declare_local(self, statement, scope, found)
        if isinstance(statement, ast.Lease):
            return self.lease(statement, scope, found)
        if isinstance(statement, ast.View):
            return self.view(statement, scope, found)
        for kind, method in self.simple():
            if isinstance(statement, kind):
                method(statement, scope, found)
                return scope
        raise UnsupportedError("this statement", statement.span)

    def simple(self) -> tuple[tuple[type, Callable[..., None]], ...]:
        """The method for each class of statement that binds nothing after itself."""
        return (
            (ast.For, self.loop),
            (ast.Store, self.store),
            (ast.Assign, self.assign),
            (ast.If, self.guard),
            (ast.ExprStatement, self.call),
            (ast.Grid, self.grid),
            (ast.Barrier, self.barrier),
        )

    def barrier(self, statement: ast.Barrier, _scope: Scope, _found: list[Stmt]) -> None:
        """A barrier that no grid by tile has taken: there is nobody to wait for."""
        hint = "a barrier stands in the body of a `grid … by tile`, under loops and guards that are the same for all groups"
        raise self.context.stop("elaborate.barrier", "no groups share this place, so there is nothing to wait for", statement.span, hint)

    # --- stores ---

    def store(self, statement: ast.Store, scope: Scope, found: list[Stmt]) -> None:
        """`store PLACE = E`."""
        self.write(statement.place, statement.value, scope, found, statement)

    def assign(self, statement: ast.Assign, scope: Scope, found: list[Stmt]) -> None:
        """`x = E` and `t[p] = E`: locals only."""
        base = statement.target.base if isinstance(statement.target, ast.Index) else statement.target
        entity = scope.find(base.name) if isinstance(base, ast.Name) else None
        if isinstance(entity, BufferEntity) and entity.loaded:
            message = "this is memory, which is written by `store`"
            raise self.context.stop("elaborate.assign", message, statement.target.span, "store PLACE = VALUE")
        self.write(statement.target, statement.value, scope, found, statement)

    def write(self, target: ast.Expr, value: ast.Expr, scope: Scope, found: list[Stmt], statement: ast.Statement) -> None:
        """Write a cell, a vector's worth of them, or a tile."""
        tile = written_tile(self, target, value, scope)
        if tile is not None:
            Tiles(self, statement, found).write(target, value, tile, scope)
            return
        width = self.width_of(target, value, scope)
        lane = begin_lanes(self.context, width)
        place = Place(scope, lane, found)
        entity, index, _ = self.resolve(target, place)
        if not entity.writable:
            why = "a `let`, which is never assigned again" if not entity.loaded else "read only here"
            hint = "declare it with `var`" if not entity.loaded else "declare the parameter `mut`"
            raise self.context.stop("elaborate.assign", f"`{entity.name}` is {why}", target.span, hint)
        if lane is not None and lane.active is None:
            lane.active = Const(lane.width)
        word = self.top(value, ValueType(entity.elem, width), place)
        found.append(Store(entity.name, index, word, end_lanes(lane), statement.span))

    def width_of(self, target: ast.Expr, value: ast.Expr, scope: Scope) -> int | None:
        """How many lanes a write has: those of its target's elements, or of its value."""
        base = target.base if isinstance(target, ast.Index) else target
        entity = scope.find(base.name) if isinstance(base, ast.Name) else None
        if isinstance(entity, BufferEntity) and entity.width is not None:
            return entity.width
        if isinstance(target, ast.Index) and any(isinstance(item, ast.Slice) for item in target.items):
            kind = self.infer(value, scope)
            if kind is None or kind.width is None:
                hint = "bind the value first: `let x: Vec f32 8 = …`"
                raise self.context.stop("elaborate.vector.width", "how wide the vector stored here is cannot be told", value.span, hint)
            return kind.width
        return None

    # --- folds ---

    def top(self, expr: ast.Expr, wanted: ValueType, place: Place) -> Value:
        """The value of a whole statement: a fold there stands by itself."""
        return self.total(expr, wanted, place) if isinstance(expr, ast.Fold) else self.check(expr, wanted, place)

    def fold(self, expr: ast.Fold, wanted: ValueType, place: Place) -> Value:
        """A fold inside an operand: a local holds its total."""
        value = self.total(expr, wanted, place)
        if not isinstance(value, Fold):
            return value
        name = self.context.fresh.take("total")
        self.before(place, expr).append(Declare(name, wanted.elem, init=value, span=expr.span))
        return Load(name)

    def before(self, place: Place, expr: ast.Expr) -> list[Stmt]:
        """The statements in front of the one at hand."""
        if place.before is None:
            raise UnsupportedError("a `fold` in one branch of an `if`", expr.span)
        return place.before

    def total(self, expr: ast.Fold, wanted: ValueType, place: Place) -> Value:
        """A fold; as loops over a variable where its step needs statements of its own."""
        if wanted.width is not None:
            raise UnsupportedError("a `fold` of vectors", expr.span)
        self.expect(ValueType(self.elem_name(expr.type, place.scope)), wanted, expr)
        start = self.top(expr.start, wanted, place)
        domain, counter, scope = self.domain(expr.index, expr.domain, place.scope)
        acc = self.context.fresh.take(expr.accumulator)
        scope = scope.bind(expr.accumulator, BufferEntity(acc, wanted.elem, (), loaded=False, root=acc, kind="local"))
        inner: list[Stmt] = []
        step = self.top(expr.body, wanted, Place(scope, None, inner))
        if not inner:
            return Fold(counter, domain, start, acc, wanted.elem, step)
        body = Block((*inner, Store(acc, (), step, span=expr.span)))
        self.before(place, expr).extend(
            (Declare(acc, wanted.elem, init=start, mutable=True, span=expr.span), For(counter, domain, body, expr.span)),
        )
        return Load(acc)

    # --- loops and guards ---

    def domain(self, name: str, domain: ast.Domain, scope: Scope) -> tuple[Domain, str, Scope]:
        """What a loop runs over, the unique name of its counter, and the scope of its body."""
        if isinstance(domain, ast.PatternVar):
            raise self.context.stop("elaborate.name.kind", f"`${domain.name}` stands only in a step", domain.span)
        low = elaborate_index(domain.low, scope, self.context)
        high = elaborate_index(domain.high, scope, self.context)
        counter = self.context.fresh.take(name)
        if isinstance(domain, ast.Range):
            inner = scope.bind(name, IndexEntity(Var(counter), "counter"))
            return Range(low, high), counter, inner.assume(le(low, Var(counter)), lt(Var(counter), high))
        size = elaborate_index(domain.size, scope, self.context)
        block = BlockEntity(counter)
        inner = scope.bind(name, block).assume(*block_facts(block, low, high, size))
        return Blocks(low, high, size), counter, inner

    def loop(self, statement: ast.For, scope: Scope, found: list[Stmt]) -> None:
        """`for k in DOMAIN do`."""
        domain, counter, inner = self.domain(statement.index, statement.domain, scope)
        found.append(For(counter, domain, self.body(statement.body, inner), statement.span))

    def guard(self, statement: ast.If, scope: Scope, found: list[Stmt]) -> None:
        """`if p then` on integers."""
        if not is_index_expression(statement.condition, scope, self.context):
            raise UnsupportedError("an `if` statement on words (a value can be chosen: `x = if p then a else b`)", statement.span)
        condition = elaborate_condition(statement.condition, scope, self.context)
        then = self.body(statement.then, scope.assume(condition))
        orelse = self.body(statement.otherwise, scope.assume(neg(condition)))
        found.append(If(condition, then, orelse, statement.span))

    # --- grids ---

    def grid(self, statement: ast.Grid, scope: Scope, found: list[Stmt]) -> None:
        """A grid on the host or on a device, with or without windows."""
        device = None if statement.device is None else self.context.unit.device(statement.device, statement.span)
        axes: list[Axis] = []
        inner = scope if statement.device is None else scope.bind(DeviceEntity.KEY, DeviceEntity(statement.device))
        for index in statement.indices:
            domain, counter, inner = self.domain(index.name, index.domain, inner)
            axes.append(Axis(counter, domain.low, domain.high, domain.size if isinstance(domain, Blocks) else None))
        windows: list[Window] = []
        for window in statement.windows:
            made, inner = self.window(window, inner)
            windows.append(made)
        if statement.tile is None:
            groups, body = None, self.body(statement.body, inner)
        else:
            groups, body = elaborate_groups(self, statement, windows, inner)
        found.append(Grid(tuple(axes), body, tuple(windows) or None, device, statement.span, groups))

    def window(self, window: ast.Window, scope: Scope) -> tuple[Window, Scope]:
        """A window, and the scope in which its alias is bound."""
        place = window.place
        base = place.base if isinstance(place, ast.Index) else place
        items = place.items if isinstance(place, ast.Index) else ()
        entity = scope.find(base.name) if isinstance(base, ast.Name) else None
        if not isinstance(entity, BufferEntity) or not entity.writable:
            raise self.context.stop("elaborate.grid.window", "a window is a part of memory that is written", window.span, "writes c[i, j] as ct")
        if len(items) != len(entity.shape):
            raise self.context.stop("elaborate.index.rank", f"`{entity.name}` takes {len(entity.shape)} indices, not {len(items)}", window.span)
        parts: list[Index | Slice] = []
        extents: list[Index] = []
        for item in items:
            if isinstance(item, ast.Slice):
                low, high = elaborate_index(item.low, scope, self.context), elaborate_index(item.high, scope, self.context)
                parts.append(Slice(low, high))
                extents.append(difference(high, low))
            else:
                parts.append(elaborate_index(item, scope, self.context))
        if window.name is None:
            return Window(entity.name, tuple(parts)), scope
        alias = self.context.fresh.take(window.name)
        bound = BufferEntity(alias, entity.elem, tuple(extents), None, True, True, entity.root, "alias")
        return Window(entity.name, tuple(parts), alias), scope.bind(window.name, bound)

    # --- other names of memory ---

    def lease(self, statement: ast.Lease, scope: Scope, found: list[Stmt]) -> Scope:
        """`lease mut x = packA at L2`: the buffer goes by that name for the rest of the block."""
        entity = scope.find(statement.buffer.name) if isinstance(statement.buffer, ast.Name) else None
        if not isinstance(entity, BufferEntity) or entity.leased is not None or not isinstance(statement.buffer, ast.Name):
            raise self.context.stop("elaborate.lease.root", "a lease names a whole buffer", statement.buffer.span, "lease mut x = buffer at L2")
        if statement.mutable and not entity.writable:
            raise self.context.stop("elaborate.call.mode", f"`{entity.name}` is read only, so a `mut` lease of it is not", statement.span)
        check_level(statement.level, statement.span, self.context)
        alias = self.context.fresh.take(statement.name)
        found.append(CoreLease(alias, entity.name, statement.level, statement.mutable, statement.span))
        bound = replace(entity, name=alias, writable=statement.mutable, level=statement.level)
        if statement.mutable:
            scope = _lent(scope, entity.root, statement.name)
        return scope.bind(statement.name, bound)

    def extents_of(self, statement: ast.View, scope: Scope) -> tuple[Index, ...]:
        """The extents of a view that does not say them."""
        inner = scope
        for name in statement.indices:
            inner = inner.bind(name, IndexEntity(Var(name)))
        entity, cell, _ = self.resolve(statement.place, Place(inner))
        return inferred(statement.indices, cell, entity.shape, scope, self.context, statement.span)

    def view(self, statement: ast.View, scope: Scope, found: list[Stmt]) -> Scope:
        """`view v[i, j] : [R, C] = c[E, E]`; extents that are not written are those of the dimensions that its indices run along."""
        written = tuple(elaborate_index(dim, scope, self.context) for dim in statement.dims)
        shape = written or self.extents_of(statement, scope)
        inner, counters = scope, list[str]()
        for name, extent in zip(statement.indices, shape, strict=False):
            counter = self.context.fresh.take(name)
            counters.append(counter)
            inner = inner.bind(name, IndexEntity(Var(counter))).assume(le(ZERO, Var(counter)), lt(Var(counter), extent))
        if len(counters) != len(shape) or len(counters) != len(statement.indices):
            raise self.context.stop("elaborate.index.rank", "a view has one index for each extent", statement.span)
        entity, index, _ = self.resolve(statement.place, Place(inner))
        for term, extent in zip(index, entity.shape, strict=True):
            goal = conj((le(ZERO, term), lt(term, extent)))
            self.context.require(inner, goal, f"the view `{statement.name}` stays inside `{entity.name}`", statement.span)
        alias = self.context.fresh.take(statement.name)
        found.append(View(alias, tuple(counters), entity.name, index, shape, statement.span))
        bound = BufferEntity(alias, entity.elem, shape, entity.width, entity.writable, entity.loaded, entity.root, "view")
        return scope.bind(statement.name, bound)

    # --- calls ---

    def call(self, statement: ast.ExprStatement, scope: Scope, found: list[Stmt]) -> None:
        """A call of a contraction, a function or a schedule."""
        expr = statement.value
        if isinstance(expr, ast.PatternVar):
            raise self.context.stop("elaborate.name.kind", f"`${expr.name}` stands only in a step", expr.span)
        if not isinstance(expr, ast.Apply) or not isinstance(expr.function, ast.Name):
            message = "this value is not used"
            raise self.context.stop("elaborate.statement", message, statement.span, "`store c[i] = …`, `let x = …`, or a call")
        if expr.function.name in operation.LATER:
            raise UnsupportedError(f"`{expr.function.name}`", expr.span)
        elaborate_call(self, expr, scope, found)


def _lent(scope: Scope, root: str, lease: str) -> Scope:
    """The scope in which no name of a buffer, of a part of it neither, is used while its `mut` lease lasts."""
    names = {
        name: replace(entity, leased=lease) if isinstance(entity, BufferEntity) and entity.root == root else entity
        for name, entity in scope.names.items()
    }
    return replace(scope, names=names)


def block_facts(block: BlockEntity, low: Index, high: Index, size: Index) -> tuple[Formula, ...]:
    """What holds of a block: where it starts, that it is not empty, and how long it is."""
    ordinal, end = Var(block.name), add(block.low, block.length)
    return (
        le(ZERO, ordinal),
        eq(block.low, add(low, mul(size, ordinal))),
        lt(block.low, high),
        compare("<", ZERO, block.length),
        le(block.length, size),
        le(end, high),
    )
