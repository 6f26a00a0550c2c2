"""`compute`: an intermediate of a contraction in a buffer of its own, filled inside a loop before it is used.

Takes `compute s at i`; gives the program in which each use of the equation `s` inside the loop over `i` reads an array, which copies
of the loops between fill right before the statement that holds the use: a cell for each index that `s` depends on. Must not decide
that every word stays: the locals become arrays by one rule of the kernel, are filled earlier by another, and lose dimensions by a third.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cachet_verify.core.family import lower
from cachet_verify.core.index import ZERO, Index, Var, neg, variables
from cachet_verify.core.ir import Block, Declare, Domain, For, Grid, If, Inlined, Program, Range, Stmt, Store, statements
from cachet_verify.kernel.claim import RuleError
from cachet_verify.kernel.normal import same_families
from cachet_verify.kernel.reschedule import Describe, reschedule
from cachet_verify.rewrite.alike import once
from cachet_verify.rewrite.clause import Line
from cachet_verify.rewrite.error import StepError, refuse
from cachet_verify.rewrite.flat import flattened
from cachet_verify.rewrite.hole import stmt_text
from cachet_verify.rewrite.hull import count, most
from cachet_verify.rewrite.image import Hint, images
from cachet_verify.rewrite.library import no_loop
from cachet_verify.rewrite.merge import declared, group_of, is_total, merged, written
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import Path, around, block_at, counters, statement_at, walk, with_statements
from cachet_verify.rewrite.relocated import relocated
from cachet_verify.rewrite.straight import straight
from cachet_verify.rewrite.tidy import numbered
from cachet_verify.rewrite.traverse import fresh, mentions, renaming, taken
from cachet_verify.syntax import ast

FORM = "compute s at i"


@dataclass(frozen=True, slots=True)
class Site:
    """The line, what it names, and the loop or grid at which it computes."""

    line: Line
    name: str
    at: str

    def path(self, program: Program) -> Path:
        """Where the loop stands. Raises StepError."""
        for path, stmt in walk(program.body):
            if self.at in _counters(stmt):
                return path
        known = counters(program.body)
        if self.at in known:
            raise self.refuse(f"{self.at} is the index of a total that is one expression, in which nothing else is computed", "`at` a loop around it")
        raise no_loop("compute", self.at, known, self.line.step.span)

    def refuse(self, text: str, hint: str = "") -> StepError:
        """A refusal at the line."""
        return refuse("no-match", f"compute: {text}", self.line.step.span, hint)


@dataclass(frozen=True, slots=True)
class Counted:
    """One counter between the loop at hand and a use: what it runs over, and how many indices that are at most."""

    name: str
    domain: Domain
    extent: Index


def compute(program: Program, step: ast.Step) -> Chain:
    """Apply a compute. Raises StepError where there is no such intermediate inside the loop, or it cannot be computed there."""
    line = Line(step, FORM)
    line.check_words("at")
    site = Site(line, line.first_name("the name of an equation"), line.name("at"))
    chain = Chain(program)
    for local in _locals(program, site):
        chain = _computed(chain, site, local)
    return merged(chain, site.path(chain.program), site.name)


def _counters(stmt: Stmt) -> tuple[str, ...]:
    """The counters that a statement binds around its body."""
    if isinstance(stmt, For):
        return (stmt.counter,)
    return tuple(axis.counter for axis in stmt.axes) if isinstance(stmt, Grid) else ()


# --- what is meant -----------------------------------------------------------------------------


def _locals(program: Program, site: Site) -> tuple[str, ...]:
    """The locals inside the loop that hold the intermediate, one for each use, and are computed further in. Raises StepError."""
    at = site.path(program)
    found = [(path, stmt) for path, stmt in walk(program.body) if is_total(stmt, site.name)]
    inside = [(path, stmt) for path, stmt in found if path[: len(at)] == at]
    if not found:
        raise _unknown(program, site)
    if not inside:
        loops = [name for _, stmt in around(program.body, found[0][0]) for name in _counters(stmt)]
        held = f"inside the loops over {', '.join(loops)}" if loops else "outside of all loops"
        raise site.refuse(f"nothing inside the loop over {site.at} computes `{site.name}`; that is done {held}", "`at` a loop around its use")
    further = [(path, stmt.name) for path, stmt in inside if any(_counters(part) for _, part in _between(program, at, path))]
    if not further:
        raise site.refuse(f"`{site.name}` is computed at {site.at} already", "`at` a loop further out")
    groups = {name: group_of(program, path, name) for path, name in further}
    return tuple(name for _, name in further if not any(name in declared(stmts) for other, stmts in groups.items() if other != name))


def _unknown(program: Program, site: Site) -> StepError:
    """The refusal of a name that no total has."""
    names = [stmt.name.partition("'")[0] for _, stmt in walk(program.body) if is_total(stmt)]
    known = dict.fromkeys(name for name in names if name != "acc")
    shown = ", ".join(f"`{name}`" for name in known)
    text = f"no total in {program.name} is that of an equation `{site.name}`; what is no sum or reduction stands inside the expressions that use it"
    return site.refuse(text, f"one of {shown}" if shown else "no equation in between has a total there")


def _between(program: Program, at: Path, path: Path) -> tuple[tuple[Path, Stmt], ...]:
    """The statements between the loop at one path and the statement at another, the outermost first."""
    return tuple((found, stmt) for found, stmt in around(program.body, path) if len(found) > len(at))


# --- one local ---------------------------------------------------------------------------------


def _computed(chain: Chain, site: Site, name: str) -> Chain:
    """The chain with one local as an array that is filled at the loop."""
    at, path, _ = _placed(chain.program, site, name)
    counted = _counted(chain.program, site, at, path)
    chain = _stored(chain, site, name)
    at, path, local = _placed(chain.program, site, name)
    own = tuple(found.name for found in counted)
    _check(chain.program, site, path, name)
    depth = len(at) + 1
    chain = relocated(chain, path[:depth], own, local, tuple(found.extent for found in counted))
    user = (*at, path[depth - 1] + 1)
    chain, copies, helpers = _filled(chain, user, (*user, *path[depth:]), own, name)
    places = {copy: place for place, copy in enumerate(copies)}
    try:
        chain = once(chain, at, places, (name,), len(copies), helpers)
    except RuleError as error:
        text = f"`{name}` is the same in all iterations of a loop between, and cannot be computed once for them: {error.why}"
        raise site.refuse(text, "put `compute` before the step that cuts the loop, or `at` a loop further in") from error
    return _started(flattened(numbered(chain, at, places, own), name), (*at, path[depth - 1]), name)


def _placed(program: Program, site: Site, name: str) -> tuple[Path, Path, Declare]:
    """Where the loop stands, and the local."""
    for path, stmt in walk(program.body):
        if isinstance(stmt, Declare) and stmt.name == name:
            return site.path(program), path, stmt
    raise site.refuse(f"`{name}` is no local any more")


def _stored(chain: Chain, site: Site, name: str) -> Chain:
    """The chain with the local declared first and then stored to."""
    _, path, local = _placed(chain.program, site, name)
    if local.width is not None or local.lanes is not None or local.layout is not None or local.level is not None:
        raise site.refuse(f"`{name}` is laid out as {stmt_text(local)}", "put `compute` before the steps that lay it out")
    names = taken(chain.program)

    def take(base: str) -> str:
        nonlocal names
        made = fresh(base, names)
        names |= {made}
        return made

    after = with_statements(chain.program, path, 1, tuple(straight(Block((local,)), take, site.line.step.span)))
    return chain if after == chain.program else chain.then(same_families(chain.program, after))


def _check(program: Program, site: Site, path: Path, name: str) -> None:
    """Raise StepError where something else has a part in the statements that compute a local, or they need what stands further in."""
    group = group_of(program, path, name)
    block = block_at(program.body, (*path[:-1], 0))
    rest = mentions(tuple(stmt for stmt in block if stmt not in group))
    own = declared(group)
    for stmt in group:
        for other in sorted(written(stmt) - {name}):
            if other not in own or other in rest:
                raise site.refuse(f"what computes `{name}` also writes `{other}`, which is used besides: {stmt_text(stmt)}")
    loops = [stmt for _, stmt in _between(program, site.path(program), path)]
    outside = {local.name: stmt for stmt in loops for local in _direct(stmt)}
    for read in sorted(mentions(group) & frozenset(outside) - own):
        text = f"`{name}` is computed from `{read}`, which stands further in, at {', '.join(_counters(outside[read])) or 'a guard'}"
        raise site.refuse(text, f"`compute {read} at {site.at}` before it, where `{read}` is an intermediate too")


def _direct(stmt: Stmt) -> Iterator[Declare]:
    """The locals that a statement declares right in its body."""
    body = stmt.body.body if isinstance(stmt, (For, Grid, Inlined)) else (*stmt.then.body, *stmt.orelse.body) if isinstance(stmt, If) else ()
    yield from (part for part in body if isinstance(part, Declare))


# --- the loops between -------------------------------------------------------------------------


def _counted(program: Program, site: Site, at: Path, path: Path) -> tuple[Counted, ...]:
    """The counters between the loop and a local. Raises StepError for one that an array cannot have a dimension for."""
    sizes = frozenset(program.sizes)
    known: list[tuple[str, Domain]] = []
    found: list[Counted] = []
    for place, stmt in around(program.body, path):
        if isinstance(stmt, Grid) and len(place) > len(at) and stmt.device is not None:
            raise site.refuse("the grid inside runs on a device, and what is computed outside of it does not", "`at` a loop of the device")
        for name, domain in _domains(stmt):
            if len(place) > len(at):
                if isinstance(domain, Range) and domain.low != ZERO:
                    raise site.refuse(f"the loop over {name} does not start at 0", "split it, or compute at a loop further in")
                extent = most(count(domain), known)
                if not variables(extent) <= sizes:
                    spoken = sorted(variables(extent) - sizes)[0]
                    raise site.refuse(f"how far the loop over {name} goes depends on {spoken}, and no size bounds it", "`at` a loop further in")
                found.append(Counted(name, domain, extent))
            known.append((name, domain))
    return tuple(found)


def _domains(stmt: Stmt) -> tuple[tuple[str, Domain], ...]:
    if isinstance(stmt, For):
        return ((stmt.counter, stmt.domain),)
    return tuple((axis.counter, axis.domain) for axis in stmt.axes) if isinstance(stmt, Grid) else ()


def _filled(chain: Chain, user: Path, path: Path, own: Sequence[str], name: str) -> tuple[Chain, tuple[str, ...], tuple[str, ...]]:
    """The chain with the local filled in front of the statement at `user`, in loops of its own; their counters, and the locals in them.

    `path` is in the block that holds what computes it.
    """
    program = chain.program
    start = (*path[:-1], 0)
    group = group_of(program, start, name)
    nest: tuple[Stmt, ...] = group
    for place, stmt in reversed(around(program.body, path)):
        if len(place) >= len(user):
            nest = _around(stmt, nest, is_then=path[len(place)] == 0)
    used = taken(program)
    names: dict[str, str] = {}
    for counter in own:
        names[counter] = fresh(counter, used)
        used |= {names[counter]}
    block = block_at(program.body, start)
    after = program
    for position in reversed(range(len(block))):
        if block[position] in group:
            after = with_statements(after, (*path[:-1], position), 1, ())
    filled = renaming(names).block(Block(nest)).body
    after = with_statements(after, user, 0, filled)
    copies = tuple(names.values())
    hints = [Hint(old, Var(new), frozenset(copies)) for old, new in names.items()]
    told = Describe(order=f"`{name}` is computed in front of what uses it, from the words that it was computed from")
    maps = images(lower(program), lower(after), hints)
    chain = chain.then(reschedule(program, after, maps, told))
    return chain, copies, tuple(sorted(declared(group)))


def _around(stmt: Stmt, body: tuple[Stmt, ...], is_then: bool) -> tuple[Stmt, ...]:
    """Statements in the loops or under the guard of a statement, and in nothing else of it."""
    if isinstance(stmt, For):
        return (replace(stmt, body=Block(body)),)
    if isinstance(stmt, Grid):
        for axis in reversed(stmt.axes):
            body = (For(axis.counter, axis.domain, Block(body), stmt.span),)
        return body
    if isinstance(stmt, If):
        return (If(stmt.condition if is_then else neg(stmt.condition), Block(body), Block(), stmt.span),)
    return body


def _started(chain: Chain, path: Path, name: str) -> Chain:
    """The chain with the first word of a local that is no array where it is declared."""
    local, first = statement_at(chain.program.body, path), statement_at(chain.program.body, (*path[:-1], path[-1] + 1))
    if not isinstance(local, Declare) or local.shape or not isinstance(first, Store) or first.buffer != name:
        return chain
    stores = sum(part.buffer == name for part in statements(chain.program.body) if isinstance(part, Store))
    made = replace(local, init=first.value, mutable=stores > 1)
    return chain.then(same_families(chain.program, with_statements(chain.program, path, 2, (made,))))
