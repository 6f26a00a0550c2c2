"""A file with one thing changed: two loops of an order swapped, or a block halved or doubled.

Takes an opened file and the schedules that may change; gives changed files, the smaller changes first,
each with what to type. Proposals only: nothing here says that a changed file is right, or cheaper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TypeVar

from cachet_verify.core.index import ZERO, Var
from cachet_verify.core.ir import For, Program, Store, statements
from cachet_verify.diagnostic import CachetError
from cachet_verify.elaborate.item import ScheduleItem
from cachet_verify.judge.file import Opened, open_loaded, scope_of
from cachet_verify.rewrite.error import StepError
from cachet_verify.rewrite.expand import expand
from cachet_verify.syntax import ast
from cachet_verify.syntax.print import print_declaration, print_steps

_Node = TypeVar("_Node")


@dataclass(frozen=True, slots=True)
class Variant:
    """A changed file; `says` is what to type."""

    says: str
    opened: Opened


def swaps(opened: Opened, schedules: tuple[str, ...]) -> Iterator[Variant]:
    """The file with two neighbours of an `order` swapped, of each order of the schedules in turn, the innermost loops first."""
    for item in _items(opened, schedules):
        for step in _steps(opened, item):
            if isinstance(step, ast.Step) and step.name == "order":
                yield from _swapped(opened, step)


def resizes(opened: Opened, schedules: tuple[str, ...]) -> Iterator[Variant]:
    """The file with one block of the schedules halved, or else doubled, and the buffers that hold it with it."""
    for item in _items(opened, schedules):
        for step in _steps(opened, item):
            if isinstance(step, ast.Split):
                for part in step.parts:
                    for factor in part.factors:
                        yield from _resized(opened, item, factor)


def _items(opened: Opened, schedules: tuple[str, ...]) -> Iterator[ScheduleItem]:
    for name in schedules:
        if name in opened.module.schedules and name in opened.applied:
            yield opened.module.schedules[name]


def _steps(opened: Opened, item: ScheduleItem) -> tuple[ast.ScheduleLine, ...]:
    try:
        return expand(item.lines, scope_of(opened.module, item))
    except StepError:
        return ()


def _reopened(opened: Opened, declarations: Mapping[int, ast.Declaration], says: str) -> Iterator[Variant]:
    """The file with declarations replaced, by their place; nothing where it is no longer well made."""
    tree = opened.loaded.tree
    made = tuple(declarations.get(place, decl) for place, decl in enumerate(tree.declarations))
    try:
        yield Variant(says, open_loaded(replace(opened.loaded, tree=replace(tree, declarations=made)), other=opened))
    except CachetError:
        return


# --- orders ------------------------------------------------------------------------------------


def _swapped(opened: Opened, step: ast.Step) -> Iterator[Variant]:
    """Each swap of two neighbours in the line of the file that a step comes from."""
    for place, decl in enumerate(opened.loaded.tree.declarations):
        if not isinstance(decl, (ast.Schedule, ast.ScheduleFn)):
            continue
        for at, line in enumerate(decl.lines):
            if not isinstance(line, ast.Step) or line.span is None or line.span != step.span:
                continue
            loops = line.args[0] if len(line.args) == 1 else None
            if not isinstance(loops, ast.Tuple):
                continue
            for left in reversed(range(len(loops.items) - 1)):
                items = list(loops.items)
                items[left], items[left + 1] = items[left + 1], items[left]
                changed = replace(line, args=(replace(loops, items=tuple(items)),))
                lines = (*decl.lines[:at], changed, *decl.lines[at + 1 :])
                says = f"in {decl.name}, write `{_line(changed)}` for `{_line(line)}`"
                yield from _reopened(opened, {place: replace(decl, lines=lines)}, says)


def _line(line: ast.ScheduleLine) -> str:
    return " ".join(print_steps((line,)).split())


# --- blocks ------------------------------------------------------------------------------------


def _resized(opened: Opened, item: ScheduleItem, factor: ast.Factor) -> Iterator[Variant]:
    """A block halved and doubled, where its size is one number of the file."""
    site = _number(opened, factor.size)
    if site is None or factor.name is None:
        return
    sizes = [size for size in (site.value // 2, site.value * 2) if size > 0 and (size == site.value * 2 or site.value % 2 == 0)]
    for size in sizes:
        yield from _with_size(opened, item, factor.name, site, size)


def _number(opened: Opened, size: ast.Expr) -> ast.IntLit | None:
    """The number that a block's size is: written there, or a constant of the file."""
    if isinstance(size, ast.IntLit):
        return size
    if not isinstance(size, ast.Name):
        return None
    for decl in opened.loaded.tree.declarations:
        if isinstance(decl, ast.Const) and decl.name == size.name and isinstance(decl.value, ast.IntLit):
            return decl.value
    return None


def _with_size(opened: Opened, item: ScheduleItem, block: str, site: ast.IntLit, size: int) -> Iterator[Variant]:
    changed: dict[int, ast.Declaration] = {}
    says = ""
    held = _held(opened, item, block)
    for place, decl in enumerate(opened.loaded.tree.declarations):
        made: ast.Declaration = _put(decl, lambda node: ast.IntLit(size, span=node.span) if node is site else node)
        if made != decl:
            says = _said(decl, made)
        made = _with_buffers(made, _buffers_of(opened, item, decl, held), site.value, size)
        if made != decl:
            changed[place] = made
    if says:
        yield from _reopened(opened, changed, says + _buffers_said(opened, changed))


def _said(decl: ast.Declaration, made: ast.Declaration) -> str:
    """What to type for a changed line of a schedule, or a changed constant."""
    if isinstance(decl, (ast.Schedule, ast.ScheduleFn)) and isinstance(made, type(decl)):
        pairs = zip(decl.lines, made.lines, strict=True)
        line, other = next(pair for pair in pairs if pair[0] != pair[1])
        return f"in {decl.name}, write `{_line(other)}` for `{_line(line)}`"
    return f"write `{' '.join(print_declaration(made).split())}`"


def _buffers_said(opened: Opened, changed: Mapping[int, ast.Declaration]) -> str:
    """The buffers that change along."""
    found: dict[str, None] = {}
    for place, made in changed.items():
        before = opened.loaded.tree.declarations[place]
        if isinstance(made, (ast.Schedule, ast.Fn)) and isinstance(before, (ast.Schedule, ast.Fn)):
            for old, new in zip(before.params, made.params, strict=True):
                if old != new:
                    found[f"`{new.name}: {_type_text(new)}`"] = None
    return f", with {' and '.join(found)}" if found else ""


def _type_text(param: ast.Param) -> str:
    from cachet_verify.syntax.print import print_expression

    return print_expression(param.storage.type).strip() if param.storage is not None else ""


def _held(opened: Opened, item: ScheduleItem, block: str) -> dict[str, tuple[int, ...]]:
    """The dimensions of each buffer that run over the indices inside a block."""
    program = opened.program(item.name)
    return {} if program is None else {param.name: _dimensions(program, param.name, block) for param in item.buffers}


def _dimensions(program: Program, buffer: str, block: str) -> tuple[int, ...]:
    inside = {
        stmt.counter
        for stmt in statements(program.body)
        if isinstance(stmt, For) and (stmt.domain.low, stmt.domain.high) == (ZERO, Var(f"{block}.len"))
    }
    found: dict[int, None] = {}
    for stmt in statements(program.body):
        if isinstance(stmt, Store) and stmt.buffer == buffer:
            found.update((place, None) for place, term in enumerate(stmt.index) if isinstance(term, Var) and term.name in inside)
    return tuple(found)


def _buffers_of(opened: Opened, item: ScheduleItem, decl: ast.Declaration, held: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """The parameters of a declaration that are, or are passed as, buffers of a schedule that hold a block."""
    if isinstance(decl, ast.Schedule) and decl.name == item.name:
        return dict(held)
    program = opened.module.programs.get(decl.name) if isinstance(decl, ast.Fn) else None
    passed: dict[str, tuple[int, ...]] = {}
    names = [argument.name for argument in item.arguments if argument.mode != "size"]
    for site in program.calls if program is not None else ():
        if site.callee == item.name:
            passed.update((root, held[name]) for name, root in zip(names, site.buffers, strict=False) if held.get(name))
    return passed


def _with_buffers(decl: ast.Declaration, held: Mapping[str, tuple[int, ...]], old: int, new: int) -> ast.Declaration:
    """A declaration whose buffers are as large as a changed block, where they were just that large."""
    if not held or not isinstance(decl, (ast.Schedule, ast.Fn)):
        return decl
    return replace(decl, params=tuple(_with_dims(param, held.get(param.name, ()), old, new) for param in decl.params))


def _with_dims(param: ast.Param, places: tuple[int, ...], old: int, new: int) -> ast.Param:
    storage = param.storage
    if not places or storage is None or not isinstance(storage.type, ast.ArrayType):
        return param
    dims = list(storage.type.dims)
    for place in places:
        dim = dims[place]
        if isinstance(dim, ast.IntLit) and dim.value == old:
            dims[place] = ast.IntLit(new, span=dim.span)
    return replace(param, storage=replace(storage, type=replace(storage.type, dims=tuple(dims))))


def _put(node: _Node, change: Callable[[object], object]) -> _Node:
    """A piece of syntax with its parts changed, the innermost first; what does not change stays the same object."""
    if isinstance(node, tuple):
        parts = tuple(_put(part, change) for part in node)
        same = all(part is old for part, old in zip(parts, node, strict=True))
        return node if same else parts  # type: ignore[return-value]
    if not isinstance(node, ast.Node) or not is_dataclass(node):
        return node
    made = {part.name: _put(getattr(node, part.name), change) for part in fields(node) if part.name != "span"}
    same = all(value is getattr(node, name) for name, value in made.items())
    return change(node if same else replace(node, **made))  # type: ignore[return-value]
