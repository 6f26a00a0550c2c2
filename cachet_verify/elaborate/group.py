"""Grids by tile: the groups that share an iteration, and the regions of a body between barriers.

Takes the tile clause and the body; gives the groups' parts and a core block. A body that speaks of its
groups becomes a grid over the groups for each region between two barriers; locals that live on have a cell
for each group. Must not let a barrier stand where only some groups come to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cachet_verify.core.index import ZERO, Const, Index, Var, div, eq, le, lt, mod, neg
from cachet_verify.core.ir import Axis, Block, Declare, For, Grid, Groups, If, Range, Slice, Stmt, Store, View, Window
from cachet_verify.core.spell import spell
from cachet_verify.elaborate.barrier import Around, Part, Wait, find_meeting, region_of
from cachet_verify.elaborate.problem import StopError, UnsupportedError
from cachet_verify.elaborate.range import children
from cachet_verify.elaborate.scope import BufferEntity, DeviceEntity, IndexEntity, PoisonEntity, Scope
from cachet_verify.elaborate.term import difference, elaborate_condition, elaborate_index, is_index_expression
from cachet_verify.syntax import ast

if TYPE_CHECKING:
    from cachet_verify.elaborate.statement import Statements

SHARED = ("threadgroup", "shared", "Shared")
"""Levels of scratch that all groups of one tile use."""

_INTEGERS = (ast.Name("Nat"), ast.Name("Int"))
_HINT = "put it outside the guard: every group has to come to it"


def elaborate_groups(body: Statements, statement: ast.Grid, windows: Sequence[Window], scope: Scope) -> tuple[Groups, Block]:
    """The groups of a grid by tile and its body. Raises StopError where the parts do not divide the tile."""
    clause = statement.tile
    if clause is None:
        raise StopError("tile")
    if len(set(clause.names)) != len(clause.names):
        raise body.context.stop("elaborate.name.duplicate", "the groups of a tile have a name for each dimension", clause.span, "`by tile (si, sj)`")
    parts = tuple(_part(body, expr, scope) for expr in clause.parts)
    counts = tuple(_count(body, clause, extent, part, scope) for extent, part in zip(_tile(body, clause, windows), parts, strict=True))
    groups = Groups(clause.names, parts)
    if not _speaks_of_groups(statement.body, clause.names):
        shared = scope.bind(DeviceEntity.KEY, DeviceEntity(statement.device or "", parts))
        return groups, body.body(statement.body, shared)
    found: list[Stmt] = []
    regions = _Regions(body, clause.names, counts)
    meeting = find_meeting(regions.sequence(statement.body, scope, found))
    if meeting is not None:
        message = f"groups may use `{meeting.buffer}` here while others are still at an earlier use of it: no barrier parts the two"
        fault = f"{message}\ntry: `barrier` between them; in a loop its end meets its start too"
        raise UnsupportedError("a missing barrier", meeting.span or statement.span, fault)
    return groups, Block(tuple(found))


def _part(body: Statements, expr: ast.Expr, scope: Scope) -> int:
    term = elaborate_index(expr, scope, body.context)
    if not isinstance(term, Const) or term.value < 1:
        raise body.context.stop("elaborate.tile.parts", "a part of a tile has constant extents above 0", expr.span, "`parts [8, 8]`")
    return term.value


def _tile(body: Statements, clause: ast.TileClause, windows: Sequence[Window]) -> tuple[Index, ...]:
    """The extents of the tile: those of the first window that is a block of as many dimensions as there are parts."""
    for window in windows:
        slices = [part for part in window.parts if isinstance(part, Slice)]
        if len(slices) == len(clause.parts):
            return tuple(difference(part.high, part.low) for part in slices)
    message = f"a grid by tile says which tile it writes, a block of {len(clause.parts)} dimensions"
    raise body.context.stop("elaborate.tile.parts", message, clause.span, "`writes c[gi * 16 .. gi * 16 + 16, gj * 16 .. gj * 16 + 16] as ct`")


def _count(body: Statements, clause: ast.TileClause, extent: Index, part: int, scope: Scope) -> Index:
    """How many parts an extent has."""
    if isinstance(extent, Const):
        if extent.value % part:
            message = f"parts of {part} do not divide a tile of {extent.value}"
            raise body.context.stop("elaborate.tile.parts", message, clause.span, "parts that divide the tile")
        return Const(extent.value // part)
    body.context.require(scope, eq(mod(extent, Const(part)), ZERO), f"parts of {part} divide the tile: {spell(extent)} % {part} == 0", clause.span)
    return div(extent, Const(part))


# --- what a body speaks of ---------------------------------------------------------------------


def _nodes(nodes: Sequence[ast.Node]) -> Iterator[ast.Node]:
    for node in nodes:
        yield node
        yield from _nodes(tuple(children(node)))


def _names(*nodes: ast.Node) -> frozenset[str]:
    """Every name that is used."""
    return frozenset(node.name for node in _nodes(nodes) if isinstance(node, ast.Name))


def _is_shared(node: ast.Node) -> bool:
    return isinstance(node, (ast.Let, ast.Var)) and node.storage is not None and node.storage.level in SHARED


def _has_barrier(node: ast.Node) -> bool:
    return any(isinstance(part, ast.Barrier) for part in _nodes((node,)))


def _speaks_of_groups(body: Sequence[ast.Statement], names: Sequence[str]) -> bool:
    """Whether what a body does has to be told group by group."""
    return any(isinstance(node, ast.Barrier) or _is_shared(node) for node in _nodes(body)) or bool(_names(*body) & frozenset(names))


# --- regions -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Kept:
    """A local that lives on behind a region: its buffer, with a cell for each group, and what a group sees of it."""

    name: str
    buffer: str
    seen: BufferEntity


@dataclass(slots=True)
class _Regions:
    """The regions of one body. `again` are the indices and aliases that each region binds anew, `uneven` the names that
    differ between groups, `words` those of locals."""

    body: Statements
    names: tuple[str, ...]
    counts: tuple[Index, ...]
    again: tuple[ast.Statement, ...] = ()
    kept: tuple[_Kept, ...] = ()
    uneven: frozenset[str] = field(default_factory=frozenset)
    words: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.uneven = self.uneven | frozenset(self.names)

    def sequence(self, stmts: Sequence[ast.Statement], scope: Scope, found: list[Stmt]) -> tuple[Part, ...]:
        """Statements in order, cut at their barriers; gives the regions and what is between them."""
        waiting: list[ast.Statement] = []
        parts: list[Part] = []
        for place, stmt in enumerate(stmts):
            rest = stmts[place + 1 :]
            if isinstance(stmt, (ast.Let, ast.Var, ast.View, ast.Lease)):
                self.check_name(stmt.name, stmt)
            if isinstance(stmt, ast.Barrier):
                parts += [*self.region(waiting, rest, scope, found), Wait()]
                waiting = []
            elif _has_barrier(stmt):
                parts += self.region(waiting, stmts[place:], scope, found)
                waiting = []
                parts.append(self.nested(stmt, scope, found))
            elif _is_shared(stmt) and isinstance(stmt, (ast.Let, ast.Var)):
                scope = self.scratch(stmt, scope, found)
            elif self.binds_again(stmt, scope):
                self.again = (*self.again, stmt)
                if isinstance(stmt, ast.Let) and not _names(stmt) & self.uneven:
                    scope = self.body.statement(stmt, scope, [])
                else:
                    self.uneven = self.uneven | {getattr(stmt, "name", "")}
                waiting.append(stmt)
            else:
                self.words = self.words | ({stmt.name} if isinstance(stmt, (ast.Let, ast.Var)) else set())
                waiting.append(stmt)
        return (*parts, *self.region(waiting, (), scope, found))

    def check_name(self, name: str, stmt: ast.Statement) -> None:
        """A name that regions bind for themselves is bound once: a later region could not tell which one is meant."""
        if name in self.names or name in {kept.name for kept in self.kept} | {getattr(again, "name", "") for again in self.again}:
            message = f"`{name}` already names something that the groups of this tile see behind barriers"
            raise self.body.context.stop("elaborate.name.duplicate", message, stmt.span, "choose another name")

    def binds_again(self, stmt: ast.Statement, scope: Scope) -> bool:
        """Whether a statement only names an index or memory, so that each region has it for itself."""
        if isinstance(stmt, (ast.Lease, ast.View)):
            return True
        if not isinstance(stmt, ast.Let) or stmt.value is None:
            return False
        is_index = is_index_expression(stmt.value, self.with_counters(scope, self.names), self.body.context)
        return is_index and not isinstance(stmt.value, ast.BoolLit) and (stmt.storage is None or stmt.storage.type in _INTEGERS)

    def with_counters(self, scope: Scope, counters: Sequence[str]) -> Scope:
        """The scope in which the groups' names stand for counters, and indices of earlier regions are indices."""
        for name, counter, count in zip(self.names, counters, self.counts, strict=True):
            scope = scope.bind(name, IndexEntity(Var(counter), "counter")).assume(le(ZERO, Var(counter)), lt(Var(counter), count))
        for stmt in self.again:
            if isinstance(stmt, ast.Let) and scope.find(stmt.name) is None:
                scope = scope.bind(stmt.name, IndexEntity(Var(stmt.name)))
        for name in self.words:
            scope = scope.bind(name, BufferEntity(name, "", ()))
        return scope

    def nested(self, stmt: ast.Statement, scope: Scope, found: list[Stmt]) -> Part:
        """A loop or a guard with a barrier inside: the same for all groups, so it stands around the regions."""
        inner = replace(self)
        if isinstance(stmt, ast.For) and not _names(stmt.domain) & self.uneven:
            self.check_name(stmt.index, stmt)
            domain, counter, within = self.body.domain(stmt.index, stmt.domain, scope)
            held: list[Stmt] = []
            parts = inner.sequence(stmt.body, within, held)
            found.append(For(counter, domain, Block(tuple(held)), stmt.span))
            return Around((parts,), True)
        if isinstance(stmt, ast.If) and not _names(stmt.condition) & self.uneven:
            condition = elaborate_condition(stmt.condition, scope, self.body.context)
            then: list[Stmt] = []
            orelse: list[Stmt] = []
            first = inner.sequence(stmt.then, scope.assume(condition), then)
            second = replace(self).sequence(stmt.otherwise, scope.assume(neg(condition)), orelse)
            found.append(If(condition, Block(tuple(then)), Block(tuple(orelse)), stmt.span))
            return Around((first, second), False)
        fault = f"this barrier stands where not every group comes to it\ntry: {_HINT}"
        raise UnsupportedError("a barrier that not every group comes to", _barrier(stmt).span, fault)

    def scratch(self, stmt: ast.Let | ast.Var, scope: Scope, found: list[Stmt]) -> Scope:
        """Memory that all groups of the tile share; its words are unspecified at first."""
        from cachet_verify.elaborate.header import check_level, elaborate_layout, elaborate_shape

        context = self.body.context
        if stmt.value is not None or stmt.storage is None or not isinstance(stmt.storage.type, ast.ArrayType):
            hint = "`var xs: [f32; 16, 8] at threadgroup`"
            raise context.stop("elaborate.tile.scratch", "shared scratch is an array without a value: the groups fill it", stmt.span, hint)
        kind = self.body.type_of(stmt.storage.type.element, scope)
        shape = elaborate_shape(stmt.storage.type.dims, scope, context)
        if kind.width is not None:
            raise UnsupportedError("shared scratch of vectors", stmt.span)
        layout, level = elaborate_layout(stmt.storage, shape, scope, context), stmt.storage.level
        check_level(level, stmt.span, context)
        name = context.fresh.take(stmt.name)
        found.append(Declare(name, kind.elem, shape, mutable=True, span=stmt.span, layout=layout, level=level))
        return scope.bind(stmt.name, BufferEntity(name, kind.elem, shape, None, True, False, name, "local", layout, level=level))

    # --- one region ---

    def region(self, stmts: Sequence[ast.Statement], rest: Sequence[ast.Statement], scope: Scope, found: list[Stmt]) -> tuple[Part, ...]:
        """A grid over the groups, in which statements run that no barrier parts; nothing where they only name things."""
        if all(stmt in self.again for stmt in stmts):
            return ()
        counters = tuple(self.body.context.fresh.take(name) for name in self.names)
        inner = scope
        for name, counter, count in zip(self.names, counters, self.counts, strict=True):
            inner = inner.bind(name, IndexEntity(Var(counter), "counter")).assume(le(ZERO, Var(counter)), lt(Var(counter), count))
        held: list[Stmt] = []
        for kept in self.kept:
            inner = self.see(kept, counters, inner, held)
        for stmt in self.again:
            inner = inner if stmt in stmts else self.statement(stmt, inner, held)
        later = _names(*rest)
        for stmt in stmts:
            start = len(held)
            inner = self.statement(stmt, inner, held)
            if isinstance(stmt, (ast.Let, ast.Var)) and stmt not in self.again and stmt.name in later:
                self.keep(stmt, inner, counters, (held, start), found)
        axes = tuple(Axis(counter, ZERO, count) for counter, count in zip(counters, self.counts, strict=True))
        grid = Grid(axes, Block(tuple(held)), span=stmts[0].span)
        found.append(grid)
        roots = {entity.name: entity.root for entity in scope.names.values() if isinstance(entity, BufferEntity)}
        return (region_of(grid, roots, frozenset(kept.buffer for kept in self.kept)),)

    def statement(self, stmt: ast.Statement, scope: Scope, held: list[Stmt]) -> Scope:
        """One statement as any other; what is refused poisons its name and leaves a gap."""
        try:
            return self.body.statement(stmt, scope, held)
        except (StopError, UnsupportedError) as error:
            self.body.context.gaps.append(stmt.span)
            if isinstance(error, UnsupportedError):
                self.body.context.unsupported.append(error.unsupported)
            return scope.bind(stmt.name, PoisonEntity()) if isinstance(stmt, (ast.Let, ast.Var, ast.Lease, ast.View)) else scope

    def see(self, kept: _Kept, counters: Sequence[str], scope: Scope, held: list[Stmt]) -> Scope:
        """What a group sees of a local that an earlier region declared."""
        alias = self.body.context.fresh.take(kept.name)
        held.append(self.own_part(alias, kept.buffer, kept.seen.shape, counters))
        return scope.bind(kept.name, replace(kept.seen, name=alias))

    def own_part(self, alias: str, buffer: str, shape: tuple[Index, ...], counters: Sequence[str]) -> View:
        """A group's own part of a buffer that has one for each group."""
        cells = tuple(self.body.context.fresh.take(f"v{place}") for place in range(len(shape)))
        index = (*(Var(counter) for counter in counters), *(Var(cell) for cell in cells))
        return View(alias, cells, buffer, index, shape)

    def keep(self, stmt: ast.Let | ast.Var, scope: Scope, counters: Sequence[str], at: tuple[list[Stmt], int], found: list[Stmt]) -> None:
        """Turn a local that later regions read into a part of a buffer declared outside."""
        held, start = at
        entity = scope.find(stmt.name)
        own = getattr(entity, "name", None)
        places = [start + place for place, made in enumerate(held[start:]) if isinstance(made, Declare) and made.name == own]
        declared = held[places[0]] if places else None
        if not isinstance(entity, BufferEntity) or not isinstance(declared, Declare):
            return
        if declared.width is not None:
            raise UnsupportedError("a vector that lives on behind a barrier", stmt.span)
        buffer = self.body.context.fresh.take(f"{stmt.name}_of_groups")
        found.append(Declare(buffer, declared.elem, (*self.counts, *declared.shape), mutable=True, span=stmt.span))
        view = self.own_part(declared.name, buffer, declared.shape, counters)
        held[places[0] : places[0] + 1] = [view, *self.initial(declared)]
        self.kept = (*self.kept, _Kept(stmt.name, buffer, replace(entity, root=buffer)))

    def initial(self, declared: Declare) -> tuple[Stmt, ...]:
        """The stores that give a local its first words."""
        if declared.init is None:
            return ()
        counters = tuple(self.body.context.fresh.take(f"e{place}") for place in range(len(declared.shape)))
        block = Block((Store(declared.name, tuple(Var(counter) for counter in counters), declared.init, span=declared.span),))
        for counter, extent in reversed(list(zip(counters, declared.shape, strict=True))):
            block = Block((For(counter, Range(ZERO, extent), block, declared.span),))
        return block.body


def _barrier(node: ast.Node) -> ast.Node:
    return next(part for part in _nodes((node,)) if isinstance(part, ast.Barrier))
