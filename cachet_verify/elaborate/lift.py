"""Core programs back to functions of the language, for `scheduled` and for messages.

Takes a program; gives a tree that prints, parses and elaborates to a program with the same store
families. Must not print, and not hide a statement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce

from cachet_verify.core.index import Const, Index, Var, variables
from cachet_verify.core.ir import (
    Axis,
    Block,
    Declare,
    For,
    Grid,
    If,
    Inlined,
    Lanes,
    Layout,
    Lease,
    Load,
    Param,
    Print,
    Program,
    Slice,
    Stmt,
    Store,
    Traffic,
    Value,
    View,
    Window,
    statements,
    values,
)
from cachet_verify.core.outer import OuterProduct, outer_product_of, outer_tiles
from cachet_verify.elaborate.lift_instruction import lift_use
from cachet_verify.elaborate.lift_reduction import Reduced, count_loads, lift_reduction, loads_in, with_reduction
from cachet_verify.elaborate.lift_term import TermLifter, call, exact_quotients
from cachet_verify.elaborate.lift_tile import lift_fill, lift_tile, shape_of
from cachet_verify.elaborate.lift_value import Known, LiftError, ValueLifter, lift_domain, type_of
from cachet_verify.elaborate.term import difference
from cachet_verify.elaborate.window import infer_windows
from cachet_verify.syntax import ast

__all__ = ["LiftError", "lift", "lift_body"]


def lift(program: Program) -> ast.Fn:
    """A program as a function. Raises LiftError for one the language has no notation for."""
    lifter = _lifter(program)
    terms = lifter.values.terms
    sizes = [ast.Param(size, "", ast.Storage(ast.Name("Nat"))) for size in _unplaced(program)]
    params = [_param(param, terms) for param in program.params]
    rows: dict[str, list[ast.Keep]] = {}
    for kept in program.kept:
        rows.setdefault(kept.level, []).append(ast.Keep(kept.buffer, call("descriptor", ast.Name(kept.buffer))))
    contract = ast.Contract(
        requires=tuple(terms.formula(need.condition) for need in program.requires),
        produces=tuple(call("Init", ast.Name(param.name)) for param in program.params if param.mode == "out"),
        scratch=tuple(param.name for param in program.params if param.scratch),
        working_set=tuple(ast.WorkingSetRow(level, tuple(keeps)) for level, keeps in sorted(rows.items())),
        movement=tuple(_traffic(row, terms) for row in program.movement or ()),
    )
    generics = tuple(ast.Generic(name, ast.Name(interface)) for name, interface in program.generics)
    return ast.Fn(program.name, generics, (*sizes, *params), None, contract, lifter.block(program.body))


def _traffic(row: Traffic, terms: TermLifter) -> ast.Traffic:
    """A row of `movement`: its factors in their order, and the lines of the span last."""
    lines: ast.Expr = call("lines", call("span_bytes", ast.Field(ast.Name(row.buffer), "span")))
    factors = [terms.term(factor) for factor in row.factors]
    count = reduce(lambda left, right: ast.Binary("*", left, right), (*factors, lines))
    return ast.Traffic(row.name, count, row.source, row.target, row.is_back)


def lift_body(program: Program) -> ast.Body:
    """The statements of a program alone."""
    return _lifter(program).block(program.body)


def _lifter(program: Program) -> _Lifter:
    terms = TermLifter(exact_quotients(need.condition for need in program.requires))
    known = {param.name: Known(param.elem, True) for param in program.params}
    return _Lifter(ValueLifter(terms, known), dict(outer_tiles(program.body)), loads=count_loads(program.body))


def _unplaced(program: Program) -> list[str]:
    """The sizes that are no extent by themselves, and so are parameters."""
    placed = {extent.name for param in program.params for extent in param.shape if isinstance(extent, Var)}
    return [size for size in program.sizes if size not in placed]


def _param(param: Param, terms: TermLifter) -> ast.Param:
    kind = type_of(param.elem)
    if param.shape:
        kind = ast.ArrayType(kind, tuple(terms.term(extent) for extent in param.shape))
    mode = "reads" if param.mode == "reads" else "mut"
    return ast.Param(param.name, mode, ast.Storage(kind, _layout(param.layout, terms), param.level))


def _layout(layout: Layout | None, terms: TermLifter) -> ast.Expr | None:
    if layout is None or not layout.args:
        return None if layout is None else ast.Name(layout.name)
    return ast.Apply(ast.Name(layout.name), (), tuple(terms.term(arg) for arg in layout.args))


@dataclass(slots=True)
class _Lifter:
    """Walks a program once, in textual order; `shapes` are the extents of arrays and windows that it has come by."""

    values: ValueLifter
    blocks: Mapping[str, OuterProduct] = field(default_factory=dict)
    """The locals that outer products update."""
    shapes: dict[str, tuple[Index, ...]] = field(default_factory=dict)
    loads: Mapping[str, int] = field(default_factory=dict)
    """How many loads of each buffer the program's text has."""

    def block(self, block: Block) -> ast.Body:
        """The statements of a block; those of calls and of plain blocks stand in their place, a tile is declared with its value."""
        made: list[ast.Statement] = []
        place = 0
        while place < len(block.body):
            reduced = self.reduction(block.body, place)
            if reduced is not None:
                made += reduced[0]
                place = reduced[1]
                continue
            declared = self.tile(block.body[place : place + 2])
            made += self.statement(block.body[place]) if declared is None else (declared,)
            place += 1 if declared is None else 2
        return tuple(made)

    def reduction(self, body: tuple[Stmt, ...], place: int) -> tuple[ast.Body, int] | None:
        """A reduction of a tile, inside the statement behind it where that alone reads its results, and the place after; else None."""
        own, start = self.arrays(body, place)
        found = lift_reduction(body[start : start + 2], self.values, self.shapes, self.loads) if start < len(body) else None
        if found is None or not found.own <= set(own):
            return None
        target, end = found.target, start + found.count
        rest = {name: stmt for name, stmt in own.items() if name not in found.own}
        if target not in rest:
            return ((*map(self.declare, rest.values()), ast.Assign(ast.Name(target), found.value)), end)
        more, after = self.arrays(body, end)
        reader = body[after] if after < len(body) else None
        if isinstance(reader, Inlined) and reader.is_tile and self.loads.get(target) == 1 == loads_in(reader, target):
            others = {name: stmt for name, stmt in (*rest.items(), *more.items()) if name != target}
            made = self.reading(others, reader, found)
            if made is not None:
                return made, after + 1
        held = rest.pop(target)
        return ((*map(self.declare, rest.values()), self.named(held, found.value)), end)

    def arrays(self, body: tuple[Stmt, ...], place: int) -> tuple[dict[str, Declare], int]:
        """The local arrays without a value that are declared from a place on, and the place after."""
        found: dict[str, Declare] = {}
        while place < len(body):
            stmt = body[place]
            if not isinstance(stmt, Declare) or stmt.init is not None or not shape_of(stmt):
                break
            self.values.known[stmt.name] = Known(stmt.elem, False)
            self.shapes[stmt.name] = stmt.shape
            found[stmt.name] = stmt
            place += 1
        return found, place

    def reading(self, declared: dict[str, Declare], reader: Inlined, found: Reduced) -> ast.Body | None:
        """The statement that reads a reduction, with the reduction in it; None where it reads it otherwise than as a tile."""
        filled = lift_fill(reader, self.values, self.shapes)
        if filled is not None and filled[0] in declared:
            value = with_reduction(filled[1], found.target, found.value)
            own = declared[filled[0]]
            others = (self.declare(stmt) for name, stmt in declared.items() if name != filled[0])
            return (*others, self.named(own, value)) if value != filled[1] else None
        made = lift_tile(reader, self.values, self.shapes)
        if not isinstance(made, (ast.Assign, ast.Store)):
            return None
        value = with_reduction(made.value, found.target, found.value)
        return (*map(self.declare, declared.values()), replace(made, value=value)) if value != made.value else None

    def named(self, declared: Declare, value: ast.Expr) -> ast.Statement:
        """A local tile with its value."""
        kind = ast.ArrayType(type_of(declared.elem), tuple(self.values.terms.term(extent) for extent in declared.shape))
        made = ast.Var if declared.mutable else ast.Let
        return made(declared.name, ast.Storage(kind), value)

    def tile(self, pair: tuple[Stmt, ...]) -> ast.Statement | None:
        """A local tile and its value as one statement; None where the two statements are anything else."""
        declared, filling = pair if len(pair) == 2 else (None, None)
        if not isinstance(declared, Declare) or not isinstance(filling, Inlined):
            return None
        if filling.instruction is not None:
            return self.use(declared, filling)
        if not filling.is_tile:
            return None
        if declared.init is not None or not shape_of(declared):
            return None
        self.values.known[declared.name] = Known(declared.elem, False)
        self.shapes[declared.name] = declared.shape
        filled = lift_fill(filling, self.values, self.shapes)
        if filled is None or filled[0] != declared.name:
            return None
        return self.named(declared, filled[1])

    def use(self, declared: Declare, filling: Inlined) -> ast.Statement | None:
        """A local and the instruction that gives it its words; None where that is shown as what it computes."""
        applied = lift_use(declared, filling, self.values)
        if applied is None:
            return None
        self.values.known[declared.name] = Known(declared.elem, False, declared.width)
        kind = ast.Storage(type_of(declared.elem, declared.width))
        return ast.Var(declared.name, kind, applied) if declared.mutable else ast.Let(declared.name, kind, applied)

    def statement(self, stmt: Stmt) -> ast.Body:
        """The statements that a core statement is."""
        if isinstance(stmt, Inlined):
            tile = lift_tile(stmt, self.values, self.shapes) if stmt.is_tile else None
            return self.block(stmt.body) if tile is None else (tile,)
        if isinstance(stmt, Block):
            return self.block(stmt)
        outer = outer_product_of(stmt) if isinstance(stmt, Store) else None
        if isinstance(stmt, Store) and outer is not None:
            return self.outer(stmt, outer)
        return (self.single(stmt),)

    def outer(self, stmt: Store, outer: OuterProduct) -> ast.Body:
        """An outer product, after how many of the block's rows and columns are active."""
        terms = self.values.terms
        spoken = variables(outer.rows) | variables(outer.cols) | frozenset().union(*(variables(term) for term in stmt.index))
        rows, cols = ("rows", "cols") if not {"rows", "cols"} & (spoken | set(self.values.known)) else ("rows'1", "cols'1")
        target = self.values.place(stmt.buffer, stmt.index, stmt.lanes, False)
        total = self.values.place(outer.total.buffer, outer.total.index, stmt.lanes, False)
        operands = (ast.Name(outer.column), ast.Name(outer.row), total, ast.Name(rows), ast.Name(cols))
        return (
            ast.Let(rows, None, terms.term(outer.rows)),
            ast.Let(cols, None, terms.term(outer.cols)),
            ast.Assign(target, call(outer.primitive, *operands)),
        )

    def single(self, stmt: Stmt) -> ast.Statement:
        """The one statement that a core statement is."""
        if isinstance(stmt, Store):
            return self.store(stmt)
        if isinstance(stmt, Declare):
            return self.declare(stmt)
        if isinstance(stmt, For):
            domain = lift_domain(self.values.terms, stmt.domain)
            self.values.terms.enter(stmt.counter, stmt.domain)
            return ast.For(stmt.counter, domain, self.block(stmt.body))
        if isinstance(stmt, If):
            return ast.If(self.values.terms.formula(stmt.condition), self.block(stmt.then), self.block(stmt.orelse))
        if isinstance(stmt, Grid):
            return self.grid(stmt)
        if isinstance(stmt, Lease):
            self.values.known[stmt.alias] = self.values.known[stmt.root]
            return ast.Lease(stmt.alias, stmt.mutable, ast.Name(stmt.root), stmt.level)
        if isinstance(stmt, View):
            return self.view(stmt)
        if isinstance(stmt, Print):
            return ast.ExprStatement(call("print", self.values.value(stmt.value)))
        raise LiftError(type(stmt).__name__)

    def store(self, stmt: Store) -> ast.Statement:
        """A store to memory, or an assignment to a local; a slice of the target says how many lanes."""
        info = self.values.known[stmt.buffer]
        if stmt.lanes is not None and not any(stmt.lanes.counter in variables(term) for term in stmt.index):
            raise LiftError("lanes that write one cell")
        is_partial = stmt.lanes is not None and info.width is not None and stmt.lanes.active != Const(stmt.lanes.width)
        target = self.values.place(stmt.buffer, stmt.index, stmt.lanes, is_partial)
        value = self.values.value(stmt.value, stmt.lanes)
        return ast.Store(target, value) if info.is_memory else ast.Assign(target, value)

    def declare(self, stmt: Declare) -> ast.Statement:
        """A `let` or a `var`."""
        kind = type_of(stmt.elem, stmt.width, self.blocks.get(stmt.name))
        value = None if stmt.init is None else self.initial(stmt, stmt.init)
        if stmt.shape:
            kind = ast.ArrayType(kind, tuple(self.values.terms.term(extent) for extent in stmt.shape))
        self.values.known[stmt.name] = Known(stmt.elem, False, stmt.width)
        self.shapes[stmt.name] = shape_of(stmt)
        storage = ast.Storage(kind, _layout(stmt.layout, self.values.terms), stmt.level)
        if stmt.mutable or value is None:
            return ast.Var(stmt.name, storage, value)
        is_plain = isinstance(stmt.init, Load) and stmt.width is None and not stmt.shape
        return ast.Let(stmt.name, None if is_plain else storage, value)

    def initial(self, stmt: Declare, init: Value) -> ast.Expr:
        """What a local starts from."""
        if stmt.shape:
            return call("repeat", self.values.value(init))
        if stmt.width is not None and stmt.lanes is None:
            return call("splat", self.values.value(init))
        return self.values.value(init, stmt.lanes, self.needs_slice(init, stmt.lanes))

    def needs_slice(self, init: Value, lanes: Lanes | None) -> bool:
        """Whether no slice of memory tells how many lanes are active, though some are not."""
        if lanes is None or lanes.active == Const(lanes.width):
            return False
        loads = [part for part in values(init) if isinstance(part, Load) and self.values.known[part.buffer].is_memory]
        return not any(lanes.counter in variables(term) for part in loads for term in part.index)

    def grid(self, stmt: Grid) -> ast.Statement:
        """A grid with its windows: those that its header declares, or what its stores reach where that can be told."""
        indices = tuple(self.index(axis) for axis in stmt.axes)
        windows = tuple(self.window(window) for window in (infer_windows(stmt) if stmt.windows is None else stmt.windows) or ())
        tile = None
        if stmt.groups is not None and not any(isinstance(part, Grid) for part in statements(stmt.body)):
            tile = ast.TileClause(stmt.groups.names, tuple(ast.IntLit(part) for part in stmt.groups.parts))
        return ast.Grid(None if stmt.device is None else stmt.device.name, indices, tile, windows, self.block(stmt.body))

    def index(self, axis: Axis) -> ast.GridIndex:
        """One index of a grid, over a range or over blocks."""
        domain = lift_domain(self.values.terms, axis.domain)
        self.values.terms.enter(axis.counter, axis.domain)
        return ast.GridIndex(axis.counter, domain)

    def window(self, window: Window) -> ast.Window:
        """A window with its alias."""
        terms = self.values.terms
        items = tuple(
            ast.Slice(terms.term(part.low), terms.term(part.high)) if isinstance(part, Slice) else terms.term(part) for part in window.parts
        )
        if window.alias is not None:
            self.values.known[window.alias] = self.values.known[window.buffer]
            self.shapes[window.alias] = tuple(difference(part.high, part.low) for part in window.parts if isinstance(part, Slice))
        return ast.Window(ast.Index(ast.Name(window.buffer), items) if items else ast.Name(window.buffer), window.alias)

    def view(self, stmt: View) -> ast.Statement:
        """A view."""
        self.values.known[stmt.alias] = self.values.known[stmt.root]
        self.shapes[stmt.alias] = stmt.shape
        terms = self.values.terms
        place = self.values.place(stmt.root, stmt.index, None, False)
        return ast.View(stmt.alias, stmt.counters, tuple(terms.term(extent) for extent in stmt.shape), place)
