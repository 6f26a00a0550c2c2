"""`pack_lanes`: a copy like that of `pack`, a vector of neighbours at a time.

Takes `pack_lanes b into packB along gj over (b0, b1, bt) lanes 16`; gives the program with a copy nest
whose last dimension runs over panels `b1` of 16 lanes, each copied through the vector `bt`; a short
last panel is masked. The copy is that of `pack`, its last loop put into lanes by a reordering, and
its words held in the vector by another copy. Must not copy lanes past the end of what is read.
"""

from __future__ import annotations

from dataclasses import replace

from cachet_verify.core.family import lower
from cachet_verify.core.index import ZERO, Const, Index, Var, add, mul, variables
from cachet_verify.core.ir import Block, Blocks, Declare, Domain, For, Lanes, Load, Program, Range, Stmt, Store
from cachet_verify.kernel.reschedule import reschedule
from cachet_verify.kernel.stage import stage_in
from cachet_verify.rewrite.clause import Line
from cachet_verify.rewrite.error import refuse
from cachet_verify.rewrite.hole import cell_text
from cachet_verify.rewrite.image import Hint, images
from cachet_verify.rewrite.library import schedule_term
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.pack import Request, packed, request_of
from cachet_verify.rewrite.place import Path, statement_at, walk, with_statements
from cachet_verify.rewrite.scope import Scope
from cachet_verify.rewrite.traverse import Change, fresh, taken
from cachet_verify.syntax import ast

FORM = "pack_lanes b into packB along gj over (b0, b1, bt) lanes 16"


def pack_lanes(program: Program, step: ast.Step, scope: Scope) -> Chain:
    """Apply a pack by vectors. Raises StepError where there is nothing to copy or lanes are no neighbours."""
    line = Line(step, FORM)
    request = request_of(line, "lanes")
    width = schedule_term(line.number("lanes"), scope, program)
    if not isinstance(width, Const) or width.value <= 0:
        raise line.wrong("`lanes` is followed by a number above 0")
    if len(request.names) < 2:
        raise line.wrong("`over` names the loops of the copy, the last of them over panels, and then the vector")
    *outer, panel, vector = request.names
    used = taken(program)
    for name in (panel, vector):
        if name in used:
            raise refuse("name-taken", f"the name {name} is in use", step.span, f"`over` another name than {name}")
    lane = fresh("lane", used)
    chain = packed(Chain(program), replace(request, names=(*outer, lane)), scope)
    chain, path = _in_lanes(chain, request, (panel, lane), width.value)
    return _through_vector(chain, path, vector)


def _in_lanes(chain: Chain, request: Request, names: tuple[str, str], width: int) -> tuple[Chain, Path]:
    """Put the copy's last loop into panels of lanes; give the path of the store."""
    panel, lane = names
    path, loop, store = _copy(chain.program, lane)
    source = store.value
    if not isinstance(source, Load) or lane not in variables(source.index[-1]):
        shown = cell_text(request.operand, source.index if isinstance(source, Load) else ())
        text = f"the lanes of `load {shown}` would not be neighbours: {lane} is not in its last index"
        raise refuse("no-match", text, request.line.step.span, "use `pack`, which copies single words")
    high = loop.domain.high
    exact = isinstance(high, Const) and high.value % width == 0
    domain: Domain = Range(ZERO, Const(high.value // width)) if isinstance(high, Const) and exact else Blocks(ZERO, high, Const(width))
    start: Index = mul(Const(width), Var(panel)) if exact else Var(f"{panel}.lo")
    active: Index = Const(width) if exact else Var(f"{panel}.len")
    moved = Change({lane: add(start, Var(lane))}).stmt(store)
    copied: Stmt = replace(moved, lanes=Lanes(lane, width, active)) if isinstance(moved, Store) else moved
    after = with_statements(chain.program, path, 1, (For(panel, domain, Block((copied,)), loop.span),))
    hint = Hint(lane, add(mul(Const(width), Var(panel)), Var(lane)), frozenset(names))
    return chain.then(reschedule(chain.program, after, images(lower(chain.program), lower(after), (hint,)))), (*path, 0)


def _copy(program: Program, counter: str) -> tuple[Path, For, Store]:
    """The copy's last loop and the store it holds."""
    for path, stmt in walk(program.body):
        inner = stmt.body.body[0] if isinstance(stmt, For) and stmt.counter == counter else None
        if isinstance(stmt, For) and isinstance(inner, Store):
            return path, stmt, inner
    raise KeyError(counter)


def _through_vector(chain: Chain, path: Path, vector: str) -> Chain:
    """Hold the lanes of a copy in a vector between load and store."""
    program = chain.program
    store = statement_at(program.body, path)
    if not isinstance(store, Store) or store.lanes is None or not isinstance(store.value, Load):
        raise KeyError(path)
    lane = fresh("lane", taken(program))
    lanes = replace(store.lanes, counter=lane)
    value = Change({store.lanes.counter: Var(lane)}).value(store.value)
    elem = next(param.elem for param in program.params if param.name == store.value.buffer)
    declared = Declare(vector, elem, (), lanes.width, value, lanes=lanes, span=store.span)
    stored = replace(store, value=Load(vector, (Var(store.lanes.counter),)))
    return chain.then(stage_in(program, path, 1, store.value.buffer, vector, (declared,), (stored,)))
