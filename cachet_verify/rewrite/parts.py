"""`parts`: the nests of a grid as statements on whole tiles, which groups share by parts.

Takes `parts [8, 16]` and a grid on a device whose body is a sequence of nests, one a statement; gives the grid by
tile. A local with one dimension becomes a row or a column of a tile. Must not decide whether the program after
computes the same: the kernel's rules are asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cachet_verify.core.family import lower
from cachet_verify.core.index import ONE, ZERO, Const, Index, Var, variables
from cachet_verify.core.ir import Block, Declare, For, Grid, Groups, Load, Program, Slice, Stmt, Store, Window
from cachet_verify.elaborate.term import difference
from cachet_verify.elaborate.window import infer_windows
from cachet_verify.kernel.normal import same_families
from cachet_verify.kernel.relocate import Places, relocate_local
from cachet_verify.kernel.unit_loop import unit_loops
from cachet_verify.rewrite.clause import Line
from cachet_verify.rewrite.error import refuse
from cachet_verify.rewrite.library import schedule_term
from cachet_verify.rewrite.outcome import Chain, divides
from cachet_verify.rewrite.parameter import shape_text
from cachet_verify.rewrite.place import Path, with_statements
from cachet_verify.rewrite.pushed_in import grid_at, pushed_in
from cachet_verify.rewrite.scope import Scope
from cachet_verify.rewrite.tile_load import loaded
from cachet_verify.rewrite.tile_nest import Nest, Reader, device_grid, is_multiple, nest
from cachet_verify.rewrite.tile_statement import marked
from cachet_verify.rewrite.traverse import Change, fresh, taken
from cachet_verify.syntax import ast

FORM = "parts [8, 16]"
ROWS, COLUMNS = 0, 1


def parts(program: Program, step: ast.Step, scope: Scope) -> Chain:
    """Apply parts. Raises StepError where there is no such grid, the parts do not divide its tile, or a statement is none on tiles."""
    line = Line(step, FORM)
    line.check_words()
    extents = _numbers(line, program, scope)
    reader = Reader("parts", step.span)
    found = device_grid(program, by_tile=False)
    if found is None:
        raise reader.wrong("there is no grid on a device to share out", "`grid over i.outer` first, in a schedule `on` a device")
    path, grid = found
    tile = _Window(line, grid, len(extents))
    chain = pushed_in(Chain(program), path, step.span)
    for part, extent in zip(extents, tile.extents(), strict=True):
        if isinstance(extent, Const) and extent.value % part:
            raise line.wrong(f"parts of {part} do not divide a tile of {extent.value}")
        if not is_multiple(extent, part):
            if spoken := variables(extent) - set(program.sizes):
                text = f"the last tile may be shorter, since its extent depends on {min(spoken)}, and parts do not divide it"
                raise reader.wrong(text, "tiles that are alike: an exact split, without `ragged`")
            chain = chain.requiring(divides(Const(part), extent), shape_text(step.name, step.args, step.clauses))
    chain = _opened(loaded(chain, path, reader), path)
    if any(len(one.loops) > 1 for one in reader.nests(grid_at(chain, path).body, path)):
        chain = _in_tiles(chain, path, reader)
    return _shared(chain, path, tile, extents, reader)


def _numbers(line: Line, program: Program, scope: Scope) -> tuple[int, ...]:
    """One constant or two, above 0."""
    given = line.step.args[0] if len(line.step.args) == 1 else None
    items = given.items if isinstance(given, ast.ListExpr) else ()
    terms = [schedule_term(item, scope, program) for item in items]
    found = tuple(term.value for term in terms if isinstance(term, Const) and term.value > 0)
    if len(found) != len(items) or len(items) not in (1, 2):
        raise line.wrong("parts have one extent or two, constants above 0")
    return found


# --- the tile that an iteration writes ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Window:
    """The grid, and the window that its groups share: a block of as many dimensions as there are parts."""

    line: Line
    grid: Grid
    dimensions: int

    def chosen(self) -> Window:
        """The first window that is such a block. Raises StepError."""
        for window in self.grid.windows or infer_windows(self.grid) or ():
            if sum(isinstance(part, Slice) for part in window.parts) == self.dimensions:
                return window
        blocks = "two dimensions" if self.dimensions == 2 else "one dimension"
        text = f"no iteration of the grid over {self.grid.axes[0].counter} writes a block of {blocks}"
        raise refuse("no-match", f"parts: {text}", self.line.step.span, "each iteration stores one block of its own, under no guard")

    def extents(self) -> tuple[Index, ...]:
        """The extents of the block."""
        return tuple(difference(part.high, part.low) for part in self.chosen().parts if isinstance(part, Slice))


def _named(grid: Grid, window: Window, alias: str) -> Grid:
    """The grid with the window under a name, by which its stores go."""
    windows = grid.windows or infer_windows(grid) or ()
    lows = tuple(part.low if isinstance(part, Slice) else part for part in window.parts)

    def through(stmt: Stmt) -> Stmt:
        if isinstance(stmt, For):
            return replace(stmt, body=Block(tuple(through(part) for part in stmt.body.body)))
        if not isinstance(stmt, Store) or stmt.buffer != window.buffer:
            return stmt
        places = tuple(difference(term, low) for term, low in zip(stmt.index, lows, strict=True))
        kept = tuple(place for place, part in zip(places, window.parts, strict=True) if isinstance(part, Slice))
        return replace(stmt, buffer=alias, index=kept)

    body = Block(tuple(through(stmt) for stmt in grid.body.body))
    return replace(grid, body=body, windows=tuple(replace(one, alias=alias) if one == window else one for one in windows))


# --- locals as tiles ---------------------------------------------------------------------------


def _opened(chain: Chain, path: Path) -> Chain:
    """Locals that start from one word, filled by a loop instead."""
    grid = grid_at(chain, path)
    used = taken(chain.program)

    def opened(block: Block) -> Block:
        nonlocal used
        made: list[Stmt] = []
        for stmt in block.body:
            if isinstance(stmt, For):
                made.append(replace(stmt, body=opened(stmt.body)))
            elif isinstance(stmt, Declare) and len(stmt.shape) == 1 and stmt.init is not None:
                name = fresh("e0", used)
                used |= {name}
                made.append(replace(stmt, init=None))
                made.append(nest(((name, stmt.shape[0]),), Store(stmt.name, (Var(name),), stmt.init, span=stmt.span), span=stmt.span))
            else:
                made.append(stmt)
        return Block(tuple(made))

    body = opened(grid.body)
    if body == grid.body:
        return chain
    return chain.then(same_families(chain.program, with_statements(chain.program, path, 1, (replace(grid, body=body),))))


def _in_tiles(chain: Chain, path: Path, reader: Reader) -> Chain:
    """Locals of one dimension as rows or columns of tiles, one after the other."""
    grid = grid_at(chain, path)
    found = tuple(reader.nests(grid.body, path))
    lines = {stmt.name: stmt for stmt in _declared(grid.body) if len(stmt.shape) == 1}
    axes = _axes(found, frozenset(lines), reader)
    for name, declared in lines.items():
        chain = _moved(chain, declared, axes.get(name, ROWS))
    return chain


def _declared(block: Block) -> Sequence[Declare]:
    """The locals of a body, in textual order."""
    inner = (stmt.body if isinstance(stmt, For) else Block() for stmt in block.body)
    own = tuple(stmt for stmt in block.body if isinstance(stmt, Declare))
    return (*own, *(stmt for part in inner for stmt in _declared(part)))


def _axes(nests: Sequence[Nest], lines: frozenset[str], reader: Reader) -> dict[str, int]:
    """Which locals of one dimension go along rows, and which along columns, as far as their uses with tiles tell."""
    axes: dict[str, int] = {}
    is_growing = True
    while is_growing:
        before = dict(axes)
        for found in nests:
            for counter in found.counters:
                uses = _uses(found, counter)
                told = {place for load, place, is_tile in uses if is_tile} | {axes[load] for load, _, _ in uses if load in axes}
                if len(found.counters) == 2:
                    told.add(_order(found).index(counter))
                mine = {load for load, _, is_tile in uses if not is_tile and load in lines}
                if len(told) > 1 and mine:
                    raise reader.wrong(f"{min(mine)} goes along rows of one tile and along columns of another", "locals of their own for the two")
                axes.update(dict.fromkeys(mine, *told) if len(told) == 1 else {})
        is_growing = axes != before
    return axes


def _order(found: Nest) -> tuple[str, ...]:
    """The counters in the order of the dimensions that they go along."""
    spoken = [name for term in found.store.index for name in found.counters if name in variables(term)]
    return tuple(spoken)


def _uses(found: Nest, counter: str) -> list[tuple[str, int, bool]]:
    """Where a counter is an index by itself: the buffer, the place, and whether the buffer has two indices."""
    store = found.store
    cells = [(store.buffer, store.index), *((load.buffer, load.index) for load in found.loads())]
    return [(name, index.index(Var(counter)), len(index) == 2) for name, index in cells if Var(counter) in index and len(index) in (1, 2)]


def _moved(chain: Chain, declared: Declare, axis: int) -> Chain:
    """One local as a row or a column of a tile of its own."""
    program, name = chain.program, declared.name
    wide = (declared.shape[0], ONE) if axis == ROWS else (ONE, declared.shape[0])

    def at(index: tuple[Index, ...]) -> tuple[Index, ...]:
        return (index[0], ZERO) if axis == ROWS else (ZERO, index[0])

    change = Change(loads=lambda load: Load(name, at(load.index)) if load.buffer == name else load)

    def turned(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Declare) and stmt.name == name:
            return replace(stmt, shape=wide)
        if isinstance(stmt, (For, Grid)):
            return replace(stmt, body=Block(tuple(turned(part) for part in stmt.body.body)))
        changed = change.stmt(stmt)
        return replace(changed, index=at(changed.index)) if isinstance(changed, Store) and changed.buffer == name else changed

    after = replace(program, body=Block(tuple(turned(stmt) for stmt in program.body.body)))
    used, coordinates = taken(program), list[str]()
    for base in (*lower(program).buffers[name].private, "place"):
        coordinates.append(fresh(f"{base} of {name}", used))
        used |= {coordinates[-1]}
    terms = tuple(map(Var, coordinates))
    return chain.then(relocate_local(program, after, Places(name, name, tuple(coordinates), (*terms[:-1], *at(terms[-1:])))))


# --- the statements as they are written --------------------------------------------------------


def _shared(chain: Chain, path: Path, tile: _Window, extents: tuple[int, ...], reader: Reader) -> Chain:
    """The same loops as statements on whole tiles, in a grid by tile."""
    grid = grid_at(chain, path)
    window, used = tile.chosen(), taken(chain.program)
    if window.alias is None:
        alias = fresh(f"{window.buffer}t", used)
        used |= {alias}
        grid = _named(grid, window, alias)
    names: list[str] = []
    for base in ("si", "sj")[: len(extents)]:
        names.append(fresh(base, used))
        used |= {names[-1]}
    roots = {part.alias: part.buffer for part in grid.windows or () if part.alias is not None}
    body = marked(grid.body, reader, used, roots)
    made = replace(grid, body=body, groups=Groups(tuple(names), extents))
    return chain.then(unit_loops(chain.program, with_statements(chain.program, path, 1, (made,))))


__all__ = ["parts"]
