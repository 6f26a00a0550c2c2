"""Places in a program: paths to statements, replacing statements, what stands inside.

Takes programs and paths; gives statements and new programs. Must not judge: rules do.
"""

from __future__ import annotations

from dataclasses import replace

from cachet_verify.core.family import Families, Family
from cachet_verify.core.index import Formula, Index
from cachet_verify.core.ir import Block, Declare, For, Grid, If, Inlined, OfIndex, Op, Program, Stmt
from cachet_verify.kernel.ask import fresh
from cachet_verify.kernel.claim import RuleError
from cachet_verify.kernel.scope import bound_names, lowered

Path = tuple[int, ...]


def statement_at(rule: str, program: Program, path: Path) -> Stmt:
    """The statement at a path. Raises RuleError where there is none.

    A path walks positions in blocks, through the bodies of loops, grids, calls and nested blocks;
    at an `If`, one more component chooses `then` (0) or `orelse` (1).
    """
    block, position = parent(rule, program.body, path)
    if position == len(block.body):
        raise RuleError(rule, "no statement stands at the path", path)
    return block.body[position]


def parent(rule: str, block: Block, path: Path) -> tuple[Block, int]:
    """The block that directly holds the statement at a path, and its position there; the end counts."""
    rest = path
    while rest:
        if len(rest) == 1 and 0 <= rest[0] <= len(block.body):
            return block, rest[0]
        if not 0 <= rest[0] < len(block.body):
            break
        inner, used = _inner(rule, block.body[rest[0]], rest[1:])
        block, rest = inner, rest[1 + used :]
    raise RuleError(rule, "no statement stands at the path", path)


def _inner(rule: str, stmt: Stmt, rest: Path) -> tuple[Block, int]:
    """The block that a path goes on in, and how many components the statement itself takes."""
    if isinstance(stmt, Block):
        return stmt, 0
    if isinstance(stmt, (For, Grid, Inlined)):
        return stmt.body, 0
    if isinstance(stmt, If) and len(rest) > 1 and rest[0] in (0, 1):
        return (stmt.then, stmt.orelse)[rest[0]], 1
    raise RuleError(rule, "the path goes into a statement that holds none", rest)


def splice(rule: str, program: Program, path: Path, count: int, new: tuple[Stmt, ...]) -> Program:
    """The program with `count` statements from a path on replaced by others."""
    block, position = parent(rule, program.body, path)
    if count < 0 or position + count > len(block.body):
        raise RuleError(rule, "the statements to replace are not all there", path)
    return replace(program, body=_splice(program.body, path, count, new))


def _splice(block: Block, path: Path, count: int, new: tuple[Stmt, ...]) -> Block:
    position = path[0]
    if len(path) == 1:
        return Block((*block.body[:position], *new, *block.body[position + count :]))
    stmt = block.body[position]
    changed: Stmt
    if isinstance(stmt, Block):
        changed = _splice(stmt, path[1:], count, new)
    elif isinstance(stmt, If):
        if path[1] == 0:
            changed = replace(stmt, then=_splice(stmt.then, path[2:], count, new))
        else:
            changed = replace(stmt, orelse=_splice(stmt.orelse, path[2:], count, new))
    elif isinstance(stmt, (For, Grid, Inlined)):
        changed = replace(stmt, body=_splice(stmt.body, path[1:], count, new))
    else:
        changed = stmt
    return Block((*block.body[:position], changed, *block.body[position + 1 :]))


def position_of(family: Family) -> Path:
    """The textual positions of a family's statement, without the counters between them."""
    return tuple(part for part in family.moment if isinstance(part, int))


def inside(families: Families, path: Path, count: int = 1) -> tuple[Family, ...]:
    """The families of `count` statements from a path on."""
    depth = len(path)
    found: list[Family] = []
    for member in families.members:
        where = position_of(member)
        if len(where) >= depth and where[: depth - 1] == path[:-1] and path[-1] <= where[depth - 1] < path[-1] + count:
            found.append(member)
    return tuple(found)


def enclosing(rule: str, program: Program, path: Path) -> tuple[Stmt, ...]:
    """The statements that hold the one at a path, outermost first."""
    found: list[Stmt] = []
    block, rest = program.body, path
    while len(rest) > 1:
        if not 0 <= rest[0] < len(block.body):
            raise RuleError(rule, "no statement stands at the path", path)
        found.append(block.body[rest[0]])
        block, used = _inner(rule, block.body[rest[0]], rest[1:])
        rest = rest[1 + used :]
    return tuple(found)


def context_of(
    rule: str, program: Program, path: Path, terms: tuple[Index, ...]
) -> tuple[tuple[Formula, ...], tuple[Index, ...]]:
    """The constraints that hold where a path leads, and terms of that place with blocks written out.

    A local that holds the terms is put there and lowered, so that one module alone says what
    blocks mean.
    """
    name = fresh(("term",), bound_names(rule, program))["term"]
    held = Op("terms", "i64", tuple(OfIndex("i64", term) for term in terms))
    probe = splice(rule, program, path, 0, (Declare(name, "i64", init=held),))
    (member,) = lowered(rule, probe).writers(name)
    args = member.value.args if isinstance(member.value, Op) else ()
    return member.domain, tuple(arg.term for arg in args if isinstance(arg, OfIndex))
