"""`keep`: a packed buffer kept in a cache level, under a name of its own from then on.

Takes `keep packA along gi within L2 into packA_L2`; gives the program with a lease right behind the
nest that fills the buffer, loads through it, and a row in the working set. A lease is only a name,
so the kernel finds the same stores; whether the buffer fits is for the cache model.
"""

from __future__ import annotations

from dataclasses import replace

from cachet_verify.core.ir import Block, Kept, Lease, Load, Program, Stmt, Store, Value, statements
from cachet_verify.kernel.normal import same_families
from cachet_verify.rewrite.clause import Line
from cachet_verify.rewrite.error import refuse
from cachet_verify.rewrite.library import no_loop
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import counters, find_loop, splice
from cachet_verify.rewrite.traverse import Change, mentions, taken
from cachet_verify.syntax import ast

FORM = "keep packA along gi within L2 into packA_L2"


def keep(program: Program, step: ast.Step) -> Chain:
    """Apply a keep. Raises StepError where nothing fills the buffer inside the loop."""
    line = Line(step, FORM)
    line.check_words("along", "within", "into")
    buffer, alias, level = line.first_name("the name of a buffer"), line.name("into"), line.name("within")
    if alias in taken(program):
        raise refuse("name-taken", f"the name {alias} is in use", step.span, f"`into` another name than {alias}")
    found = find_loop(program.body, line.name("along"))
    if found is None:
        raise no_loop("keep", line.name("along"), counters(program.body), step.span)
    path, loop = found
    fills = [place for place, stmt in enumerate(loop.body.body) if _stores(stmt, buffer)]
    if not fills:
        hint = f"put `pack … into {buffer} along {loop.counter} over (…)` before it"
        raise refuse("no-match", f"nothing in the body of the loop over {loop.counter} fills {buffer}", step.span, hint)
    place = fills[-1] + 1
    rest = loop.body.body[place:]
    if buffer not in mentions(rest):
        raise refuse("no-match", f"nothing reads {buffer} after it is filled", step.span)
    change = Change({}, lambda load: _through(load, buffer, alias))
    leased: tuple[Stmt, ...] = (Lease(alias, buffer, level, True, step.span), *(change.stmt(stmt) for stmt in rest))
    body = splice(program.body, (*path, place), len(rest), leased)
    after = replace(program, body=body, kept=(*program.kept, Kept(level, buffer)))
    return Chain(program).then(same_families(program, after))


def _stores(stmt: Stmt, buffer: str) -> bool:
    return any(isinstance(part, Store) and part.buffer == buffer for part in statements(Block((stmt,))))


def _through(load: Load, buffer: str, alias: str) -> Value:
    return Load(alias, load.index) if load.buffer == buffer else load
