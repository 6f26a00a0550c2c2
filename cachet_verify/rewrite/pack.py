"""`pack`: a copy of the part of an operand that a loop's body reads, into a scratch buffer.

Takes `pack a into packA along gi over (a0, a1)`; gives the program with a copy nest at the start of
the body of `gi`, before the first statement that reads `a`, and with the loads of `a` in that body
turned to the copy. The ranges of the copy are how far the loads reach. Whether the copy holds every
word that is read, and fits its buffer, is asked by the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cachet_verify.core.index import ZERO, Index, Var, add, sub
from cachet_verify.core.ir import Block, Domain, Fold, For, Grid, Lanes, Load, Param, Program, Range, Stmt, Store, Value, values
from cachet_verify.elaborate.collect import collected
from cachet_verify.kernel.claim import Goal
from cachet_verify.kernel.normal import same_families
from cachet_verify.kernel.stage import stage_in
from cachet_verify.rewrite.clause import Line
from cachet_verify.rewrite.error import refuse
from cachet_verify.rewrite.extent import Reach, ReachError, joined, reach
from cachet_verify.rewrite.hole import cell_text
from cachet_verify.rewrite.library import no_loop
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import Path, children, counters, find_loop, stored_value
from cachet_verify.rewrite.scope import Scope
from cachet_verify.rewrite.traverse import Change, taken
from cachet_verify.syntax import ast

FORM = "pack a into packA along gi over (a0, a1)"


@dataclass(frozen=True, slots=True)
class Use:
    """A load of the operand, and the loops between the copy and it."""

    load: Load
    loops: Mapping[str, Domain]


@dataclass(frozen=True, slots=True)
class Request:
    """What is copied, to where, inside which loop, by loops of which names."""

    line: Line
    operand: str
    buffer: str
    along: str
    names: tuple[str, ...]


def pack(program: Program, step: ast.Step, scope: Scope) -> Chain:
    """Apply a pack. Raises StepError where there is nothing to copy or it cannot be bounded."""
    return packed(Chain(program), request_of(Line(step, FORM)), scope)


def packed(chain: Chain, request: Request, scope: Scope) -> Chain:
    """The chain with the copy. Raises StepError where there is nothing to copy or it cannot be bounded."""
    step = request.line.step
    chain = with_buffers(chain, scope)
    found = find_loop(chain.program.body, request.along)
    if found is None:
        raise no_loop(step.name, request.along, counters(chain.program.body), step.span)
    path, loop = found
    _check_known(request, chain.program)
    start, uses = _uses(request, loop)
    used = taken(chain.program)
    for name in request.names:
        if name in used:
            raise refuse("name-taken", f"the name {name} is in use", step.span, f"`over` another name than {name}")
    param = _buffer(chain.program, request)
    copied = _dimensions(chain.program, request, uses, param)
    place = (*path, start)
    return chain.then(_staged(chain, place, loop.body.body[start:], request, copied))


def request_of(line: Line, *words: str) -> Request:
    """What a line asks for; `words` are clauses it may have besides. Raises StepError."""
    line.check_words("into", "along", "over", *words)
    operand = line.first_name("the name of an operand")
    return Request(line, operand, line.name("into"), line.name("along"), line.names(line.clause("over"), "the copy's loops"))


def with_buffers(chain: Chain, scope: Scope) -> Chain:
    """The program with all scratch buffers of the schedule's header, in the header's order."""
    known = {param.name for param in chain.program.params}
    new = tuple(replace(param, scratch=True) for param in scope.buffers if param.name not in known)
    if not new:
        return chain
    after = replace(chain.program, params=(*chain.program.params, *new))
    return chain.then(same_families(chain.program, after))


def _buffer(program: Program, request: Request) -> Param:
    """The scratch buffer to fill. Raises StepError where it cannot hold a copy of the operand."""
    span = request.line.step.span
    params = {param.name: param for param in program.params}
    param, operand = params.get(request.buffer), params.get(request.operand)
    if operand is None:
        raise refuse("unknown-name", f"{request.operand} is not a parameter", span, "pack a parameter of the contraction")
    if param is None or not param.scratch:
        hint = f"declare it in the schedule's header: (mut {request.buffer}: [{operand.elem}; …] at DRAM)"
        raise refuse("unknown-name", f"{request.buffer} is not a scratch buffer of the schedule", span, hint)
    if param.elem != operand.elem:
        text = f"{request.buffer} holds {param.elem} and {request.operand} holds {operand.elem}: a copy keeps the type"
        raise refuse("element-type", text, span, f"declare {request.buffer} with {operand.elem}")
    return param


# --- what is read ---


def uses_in(stmts: Sequence[Stmt], buffer: str) -> tuple[Use, ...]:
    """The loads of a buffer in statements, each with the loops inside them around it."""
    found: list[Use] = []
    for stmt in stmts:
        _collect(stmt, buffer, {}, found)
    return tuple(found)


def _collect(stmt: Stmt, buffer: str, loops: Mapping[str, Domain], found: list[Use]) -> None:
    value = stored_value(stmt)
    if value is not None:
        lanes = getattr(stmt, "lanes", None)
        inside = {**loops, lanes.counter: Range(ZERO, lanes.active)} if isinstance(lanes, Lanes) else loops
        _collect_value(value, buffer, inside, found)
    inner = {**loops, **_own_loops(stmt)}
    for _, block in children(stmt):
        for part in block.body:
            _collect(part, buffer, inner, found)


def _own_loops(stmt: Stmt) -> dict[str, Domain]:
    """The counters a statement binds for what it holds, with what they run over."""
    if isinstance(stmt, For):
        return {stmt.counter: stmt.domain}
    if isinstance(stmt, Grid):
        return {axis.counter: axis.domain for axis in stmt.axes}
    return {}


def _collect_value(value: Value, buffer: str, loops: Mapping[str, Domain], found: list[Use]) -> None:
    inside = dict(loops)
    for part in values(value):
        if isinstance(part, Fold):
            inside[part.counter] = part.domain
        elif isinstance(part, Load) and part.buffer == buffer:
            found.append(Use(part, dict(inside)))


def _check_known(request: Request, program: Program) -> None:
    """What is packed is a parameter. Raises StepError."""
    known = [param.name for param in program.params]
    if request.operand not in known:
        text = f"{request.operand} is not a parameter; there are {', '.join(known)}"
        raise refuse("unknown-name", text, request.line.step.span, "pack a parameter of the contraction")


def _uses(request: Request, loop: For) -> tuple[int, tuple[Use, ...]]:
    """Where the copy goes in the loop's body, and the loads it serves."""
    for place, stmt in enumerate(loop.body.body):
        if uses_in((stmt,), request.operand):
            return place, uses_in(loop.body.body[place:], request.operand)
    text = f"nothing inside the loop over {request.along} loads {request.operand}"
    raise refuse("no-match", text, request.line.step.span, "pack a parameter that is loaded there, along a loop around the loads, once")


# --- what is copied ---


@dataclass(frozen=True, slots=True)
class Dimension:
    """One dimension of the operand: how far it is read, and the loop that copies it, if any."""

    reach: Reach
    name: str | None

    @property
    def extent(self) -> Index:
        """How many indices are read."""
        return collected(sub(self.reach.high, self.reach.low))

    @property
    def source(self) -> Index:
        """The index that the copy reads: the first one, plus its loop's counter."""
        start = collected(add(self.reach.outer, self.reach.low))
        return start if self.name is None else add(start, Var(self.name))


def _dimensions(program: Program, request: Request, uses: Sequence[Use], param: Param) -> tuple[Dimension, ...]:
    rank = len(uses[0].load.index)
    reaches = tuple(_reach(program, request, uses, place) for place in range(rank))
    moving = [reach for reach in reaches if reach.inner != ZERO]
    names = request.names
    if len(names) == rank:
        chosen = list(reaches)
    elif len(names) == len(moving):
        chosen = moving
    else:
        raise request.line.wrong(f"{request.operand} has {rank} dimensions, {len(moving)} of them vary inside {request.along}")
    if len(param.shape) != len(names):
        raise request.line.wrong(f"{request.buffer} has {len(param.shape)} dimensions")
    waiting = iter(names)
    return tuple(Dimension(reach, next(waiting) if any(reach is item for item in chosen) else None) for reach in reaches)


def reaching(program: Program, request: Request, uses: Sequence[Use]) -> tuple[Dimension, ...]:
    """How far the loads reach in each dimension; one that varies has the request's loop for that dimension. Raises StepError."""
    reaches = (_reach(program, request, uses, place) for place in range(len(uses[0].load.index)))
    return tuple(Dimension(found, None if found.inner == ZERO else name) for found, name in zip(reaches, request.names, strict=True))


def _reach(program: Program, request: Request, uses: Sequence[Use], place: int) -> Reach:
    """How far all loads together reach in one dimension."""
    try:
        found = reach(uses[0].load.index[place], uses[0].loops, program)
        for use in uses[1:]:
            found, _ = joined(found, reach(use.load.index[place], use.loops, program))
    except ReachError as error:
        shown = cell_text(uses[0].load.buffer, uses[0].load.index)
        text = f"{request.line.step.name} cannot bound index {place + 1} of `load {shown}` inside {request.along}: {error}"
        raise refuse("no-match", text, request.line.step.span) from error
    return found


# --- the copy ---


def turned(request: Request, dimensions: Sequence[Dimension], program: Program, use: Use) -> Load:
    """Where a load of the operand finds its word in the copy."""
    index: list[Index] = []
    for term, dimension in zip(use.load.index, dimensions, strict=True):
        if dimension.name is None:
            continue
        own = reach(term, use.loops, program)
        apart = collected(sub(own.outer, dimension.reach.outer))
        index.append(collected(add(own.inner, apart, sub(ZERO, dimension.reach.low))))
    return Load(request.buffer, tuple(index))


def _copy(request: Request, dimensions: Sequence[Dimension]) -> Stmt:
    """The nest that fills the copy."""
    loops = [(dimension.name, dimension.extent) for dimension in dimensions if dimension.name is not None]
    source = tuple(dimension.source for dimension in dimensions)
    cell = tuple(Var(name) for name, _ in loops)
    nest: Stmt = Store(request.buffer, cell, Load(request.operand, source))
    for name, extent in reversed(loops):
        nest = For(name, Range(ZERO, extent), Block((nest,)))
    return nest


def _staged(chain: Chain, path: Path, region: Sequence[Stmt], request: Request, dimensions: Sequence[Dimension]) -> Goal:
    """The kernel's goal for the copy and the region that reads it."""
    uses = uses_in(region, request.operand)
    now = {use.load: turned(request, dimensions, chain.program, use) for use in uses}
    change = Change({}, lambda load: now.get(load, load))
    changed = tuple(change.stmt(stmt) for stmt in region)
    copy = _copy(request, dimensions)
    return stage_in(chain.program, path, len(region), request.operand, request.buffer, (copy,), changed)
