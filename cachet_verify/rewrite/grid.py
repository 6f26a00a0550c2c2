"""`grid over`: loops of a nest whose iterations may run in any order, on the schedule's device.

Takes `grid over (i, j)` or `grid over i`; gives the nest with a grid of the named loops where they
stood, and an alias for the one cell that each iteration writes, where that is all it writes. Must not
decide whether iterations are independent: the kernel asks that every conflict keeps its order.
"""

from __future__ import annotations

from dataclasses import replace

from cachet_verify.core.family import lower
from cachet_verify.core.index import Index
from cachet_verify.core.ir import Axis, Block, Blocks, For, Grid, If, Inlined, Load, Program, Slice, Stmt, Store, Window
from cachet_verify.elaborate.window import infer_windows
from cachet_verify.kernel.reschedule import Describe, reschedule
from cachet_verify.rewrite.error import refuse
from cachet_verify.rewrite.image import images
from cachet_verify.rewrite.nest import Nest, check_bounds, find_nest, loop_names
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import device_at, with_statements
from cachet_verify.rewrite.scope import Scope
from cachet_verify.rewrite.traverse import Change, fresh, taken
from cachet_verify.syntax import ast


def grid(program: Program, step: ast.Step, scope: Scope) -> Chain:
    """Turn loops into a grid. Raises StepError where the names are not loops right inside one another."""
    names = _names(step)
    nest = find_nest("grid", program, names, step.span)
    between = [loop.counter for loop in nest.loops if loop.counter not in names]
    if between:
        text = f"grid needs loops right inside one another; {between[0]} stands between the loops that are named"
        raise refuse("not-nested", text, step.span, f"put {between[0]} outside or inside of them first, with `order`")
    loops = tuple(next(loop for loop in nest.loops if loop.counter == name) for name in names)
    check_bounds(nest, loops, step.span)
    axes = tuple(_axis(loop) for loop in loops)
    made = _with_alias(Grid(axes, nest.body, None, device_at(program.body, nest.path, scope.device), step.span), program)
    return _placed(program, nest, made, names)


def _names(step: ast.Step) -> tuple[str, ...]:
    clause = step.clauses[0] if len(step.clauses) == 1 and not step.args else None
    given = clause.args[0] if clause is not None and clause.word == "over" and len(clause.args) == 1 else None
    return loop_names("grid", given, step.span, "`grid over (i, j)`")


def _axis(loop: For) -> Axis:
    size = loop.domain.size if isinstance(loop.domain, Blocks) else None
    return Axis(loop.counter, loop.domain.low, loop.domain.high, size)


def _placed(program: Program, nest: Nest, made: Grid, names: tuple[str, ...]) -> Chain:
    after = with_statements(program, nest.path, 1, (made,))
    shown = f"({', '.join(names)})" if len(names) > 1 else names[0]
    told = Describe(order=f"no iteration of the grid over {shown} touches what another one writes")
    return Chain(program).then(reschedule(program, after, images(lower(program), lower(after)), told))


def _with_alias(grid: Grid, program: Program) -> Grid:
    """The grid with its window, under a name for it, where an iteration writes one cell and nothing else."""
    windows = infer_windows(grid)
    if windows is None or len(windows) != 1 or any(isinstance(part, Slice) for part in windows[0].parts) or not windows[0].parts:
        return grid
    window = windows[0]
    cell = tuple(part for part in window.parts if not isinstance(part, Slice))
    alias = fresh(f"{window.buffer}t", taken(program))
    change = Change(loads=lambda load: Load(alias) if (load.buffer, load.index) == (window.buffer, cell) else load)
    body = Block(tuple(_through(change.stmt(stmt), window.buffer, cell, alias) for stmt in grid.body.body))
    return replace(grid, body=body, windows=(Window(window.buffer, window.parts, alias),))


def _through(stmt: Stmt, buffer: str, cell: tuple[Index, ...], alias: str) -> Stmt:
    """The statement with every store to the cell going by the alias."""
    if isinstance(stmt, Store):
        return replace(stmt, buffer=alias, index=()) if (stmt.buffer, stmt.index) == (buffer, cell) else stmt
    if isinstance(stmt, If):
        then, orelse = (Block(tuple(_through(part, buffer, cell, alias) for part in block.body)) for block in (stmt.then, stmt.orelse))
        return replace(stmt, then=then, orelse=orelse)
    if isinstance(stmt, (For, Grid, Inlined)):
        return replace(stmt, body=Block(tuple(_through(part, buffer, cell, alias) for part in stmt.body.body)))
    return Block(tuple(_through(part, buffer, cell, alias) for part in stmt.body)) if isinstance(stmt, Block) else stmt
