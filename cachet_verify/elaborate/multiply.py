"""Products of tiles: by an instruction in blocks, or as plain chains where there is none.

Takes `mma x y t`, or an instruction applied to tiles; gives the chains of each element, in ascending order
of the depth. Must not use anything of an instruction but its reference body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cachet_verify.core.index import ONE, ZERO, Const, Index, Var, div, eq, mod, mul
from cachet_verify.core.ir import Block, Fold, Load, Op, Range, Stmt, Store
from cachet_verify.core.spell import spell
from cachet_verify.elaborate import operation
from cachet_verify.elaborate.element import tile_shape
from cachet_verify.elaborate.instruction import match_operands, read_instruction, read_units, require_at
from cachet_verify.elaborate.reference import Product, Reference, blocks_of, multiplies_blocks, use_of
from cachet_verify.elaborate.scope import BufferEntity, DeviceEntity, Scope
from cachet_verify.syntax import ast

if TYPE_CHECKING:
    from cachet_verify.elaborate.tile import Tiles

Cell = tuple[Index, ...]
At = Callable[[Index, Index], Cell]


def multiply_into(tiles: Tiles, target: BufferEntity, expr: ast.Apply, scope: Scope) -> None:
    """Add the products of two tiles to the total of a third, into `target`. Raises StopError."""
    body = tiles.body
    reference, args = _named(tiles, expr)
    if len(args) != 3:
        raise body.context.stop("elaborate.call.arity", f"`mma` takes 3 operands, not {len(args)}", expr.span, "`mma x y t`")
    if tile_shape(body, expr, scope) is None:
        raise body.context.stop("elaborate.tile.shape", "`mma` multiplies tiles", expr.span, "`let x: [f32; 16, 8] = load a[…]` binds a block")
    left, right, total = (tiles.operand(arg, scope) for arg in args)
    _check_elements(tiles, expr, (left, right, total, target))
    goal = target if target.root not in (left.root, right.root) else tiles.new("product", target.elem, target.shape)
    if total.name != goal.name:
        _copy(tiles, goal, total, scope)
    if reference is None:
        reference = _of_device(tiles, (left, right), scope, expr)
    if reference is None:
        tiles.add(_chains(tiles, goal, (left, right)), "mma")
    else:
        _require(tiles, reference, expr, scope)
        _in_blocks(tiles, goal, (left, right), _Blocks(reference, tiles, expr, scope))
    if goal is not target:
        _copy(tiles, target, goal, scope)


def _named(tiles: Tiles, expr: ast.Apply) -> tuple[Reference | None, Sequence[ast.Expr]]:
    """The instruction that is applied by its name, and its operands; none for `mma`."""
    context = tiles.body.context
    if expr.function == ast.Name("mma") or not isinstance(expr.function, ast.Name):
        return None, expr.args
    entry = context.unit.find(expr.function.name)
    if entry is None or not isinstance(entry.declaration, ast.Fn):
        raise context.unknown(expr.function.name, expr.span)
    reference = _read(tiles, entry.declaration, entry.path)
    args = match_operands(tiles.body, reference, expr)
    return reference, tuple(args[name] for name in reference.operands)


def _read(tiles: Tiles, fn: ast.Fn, path: str) -> Reference:
    context = tiles.body.context
    return read_instruction(type(tiles.body)(context.within(context.unit_of(path), f"instr {fn.name}")), fn, path)


def _of_device(tiles: Tiles, factors: tuple[BufferEntity, BufferEntity], scope: Scope, expr: ast.Apply) -> Reference | None:
    """The first instruction of the device at hand whose blocks divide the tiles; None where it has none for these words."""
    device = scope.find(DeviceEntity.KEY)
    if not isinstance(device, DeviceEntity) or not device.name:
        return None
    found = read_units(tiles.body.context, device.name, expr.span)
    fitting = [reference for reference in found if all(kind.elem == factors[0].elem for kind in reference.operands.values())]
    for reference in fitting:
        if multiplies_blocks(reference) and _Blocks(reference, tiles, expr, scope).divide(factors):
            return reference
    if fitting:
        parts = f" and parts of {list(device.parts)}" if device.parts else ""
        shapes = " and ".join("[" + ", ".join(spell(extent) for extent in factor.shape) + "]" for factor in factors)
        hint = ", ".join(f"{reference.fn.name} takes {_shown(reference)}" for reference in fitting)
        raise tiles.body.context.stop(
            "elaborate.tile.block", f"no instruction of {device.name} has blocks that divide {shapes}{parts}", expr.span, hint
        )
    return None


def _shown(reference: Reference) -> str:
    rows, columns, depth = blocks_of(reference)
    return f"{rows} x {depth} by {depth} x {columns}"


def _require(tiles: Tiles, reference: Reference, expr: ast.Apply, scope: Scope) -> None:
    """Note what the instruction requires at this use."""
    if expr.function == ast.Name("mma"):
        if reference.numbers:
            hint = f"`{reference.fn.name} …` by its name, with a number for each of {', '.join(reference.numbers)}"
            raise tiles.body.context.stop("elaborate.call.arity", f"`{reference.fn.name}` takes numbers too", expr.span, hint)
        require_at(tiles.body, reference, {}, scope, Const(reference.result.width or 1), expr)
    else:
        require_at(tiles.body, reference, match_operands(tiles.body, reference, expr), scope, Const(reference.result.width or 1), expr)


def _check_elements(tiles: Tiles, expr: ast.Apply, entities: Sequence[BufferEntity]) -> None:
    """One float type for all of them."""
    elems = {entity.elem for entity in entities}
    if len(elems) != 1 or not operation.is_float(entities[0].elem):
        message = f"a product of tiles is of one float type, and these are of {', '.join(sorted(elems))}"
        raise tiles.body.context.stop("elaborate.type.mismatch", message, expr.span, "convert the tiles first: `let x: [f32; 16, 8] = y as f32`")


def _copy(tiles: Tiles, target: BufferEntity, source: BufferEntity, scope: Scope) -> None:
    inner = scope.bind("tile source", source)
    tiles.fill(target, ast.Name("tile source", span=tiles.node.span), inner)


# --- without an instruction --------------------------------------------------------------------


def _chains(tiles: Tiles, goal: BufferEntity, factors: tuple[BufferEntity, BufferEntity]) -> Block:
    """Rows and columns, and in each element the whole depth."""
    (rows, depth), (_, columns) = factors[0].shape, factors[1].shape
    take = tiles.body.context.fresh.take
    row, column = take("e0"), take("e1")
    cell = (Var(row), Var(column))
    stmt = _chain(tiles, goal, cell, depth, lambda step: (_load(factors[0], (Var(row), step)), _load(factors[1], (step, Var(column)))))
    return tiles.nested((row, column), (rows, columns), (stmt,))


def _load(entity: BufferEntity, cell: Cell) -> Load:
    return Load(entity.name, cell)


def _chain(tiles: Tiles, goal: BufferEntity, cell: Cell, depth: Index, words: Callable[[Index], tuple[Load, Load]]) -> Stmt:
    """One element goes on with its total through the depth."""
    take = tiles.body.context.fresh.take
    step, total = take("step"), take("total")
    value = Op("fma", goal.elem, (*words(Var(step)), Load(total)))
    return Store(goal.name, cell, Fold(step, Range(ZERO, depth), Load(goal.name, cell), total, goal.elem, value), span=tiles.node.span)


# --- by an instruction -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Blocks:
    """The blocks that an instruction multiplies: by place its first operand, its second and its total."""

    reference: Reference
    tiles: Tiles
    expr: ast.Apply
    scope: Scope

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, columns and depth of the blocks. Raises StopError where the instruction multiplies none."""
        if not multiplies_blocks(self.reference) or 0 in blocks_of(self.reference):
            message = f"`{self.reference.fn.name}` does not multiply tiles: its body is no `mma_block` whose total is the last operand"
            raise self.tiles.body.context.stop("elaborate.instruction.block", message, self.expr.span, "`mma_block a b acc`")
        return blocks_of(self.reference)

    def divide(self, factors: tuple[BufferEntity, BufferEntity]) -> bool:
        """Whether the blocks may divide two factors, and the groups' parts: constant extents do, others are not known yet."""
        rows, columns, depth = self.shape
        extents = ((factors[0].shape[0], rows), (factors[1].shape[1], columns), (factors[0].shape[1], depth))
        return self.share(factors) and all(not isinstance(extent, Const) or extent.value % block == 0 for extent, block in extents)

    def share(self, factors: tuple[BufferEntity, BufferEntity]) -> bool:
        """Whether each group has whole blocks: no block lies in the parts of two."""
        device = self.scope.find(DeviceEntity.KEY)
        if not isinstance(device, DeviceEntity) or len(device.parts) != 2:
            return True
        extents = (factors[0].shape[0], factors[1].shape[1])
        owned = zip(device.parts, extents, self.shape[:2], strict=True)
        return all((min(part, extent.value) if isinstance(extent, Const) else part) % block == 0 for part, extent, block in owned)


def _in_blocks(tiles: Tiles, goal: BufferEntity, factors: tuple[BufferEntity, BufferEntity], blocks: _Blocks) -> None:
    """A use of the instruction for each block of the total and each block of the depth, ascending."""
    rows, columns, depth = blocks.shape
    left, right = factors
    if not blocks.share(factors):
        message = f"a block of `{blocks.reference.fn.name}`, {rows} x {columns}, would lie in the parts of two groups"
        raise tiles.body.context.stop("elaborate.tile.block", message, blocks.expr.span, f"parts that are multiples of {rows} and {columns}")
    take = tiles.body.context.fresh.take
    loops: list[tuple[str, Index]] = []
    starts: list[Index] = []
    for base, extent, block, what in (
        ("b0", left.shape[0], rows, "rows"),
        ("b1", right.shape[1], columns, "columns"),
        ("bk", left.shape[1], depth, "depth"),
    ):
        count = _count(blocks, extent, block, what)
        counter = take(base) if count != ONE else ""
        if counter:
            loops.append((counter, count))
        starts.append(mul(Const(block), Var(counter)) if counter else ZERO)
    names = (take("r"), take("s"), take("step"), take("total"))
    use = use_of(blocks.reference, Product(goal.name, left.name, right.name, (starts[0], starts[1], starts[2]), names, tiles.node.span))
    asked = blocks.expr.function.name if isinstance(blocks.expr.function, ast.Name) else ""
    tiles.add(tiles.nested([name for name, _ in loops], tuple(count for _, count in loops), (use,)), asked)


def _count(blocks: _Blocks, extent: Index, block: int, what: str) -> Index:
    """How many blocks an extent has. Reports where they cannot divide it, notes where nobody can tell."""
    context, name, scope = blocks.tiles.body.context, blocks.reference.fn.name, blocks.scope
    if isinstance(extent, Const):
        if extent.value % block:
            message = f"`{name}` takes blocks of {block} {what}, and {extent.value} is no multiple of {block}"
            raise context.stop("elaborate.tile.block", message, blocks.expr.span, f"a multiple of {block}")
        return Const(extent.value // block)
    text = f"`{name}` takes blocks of {block} {what}: {spell(extent)} % {block} == 0"
    context.require(scope, eq(mod(extent, Const(block)), ZERO), text, blocks.expr.span)
    return div(extent, Const(block))
