"""The operations of a nest: how it is divided, how often each operation runs, and what it moves.

Takes a program; gives its operations in the order of the text. Must not count a block for less than it costs.

A loop repeats operations when it cuts sizes into blocks, or when two nests stand side by side in it; what is left under such
loops is an operation: a whole nest of loops over elements, or statements that hand each other values in registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from cachet_verify.core import ir
from cachet_verify.core.index import Div, Index, subterms, variables
from cachet_verify.traffic.block_sum import dearest_block
from cachet_verify.traffic.group import divides, flat, groups
from cachet_verify.traffic.quantity import ONCE, Quantity, loop_names
from cachet_verify.traffic.tally import Scope, Tally, after, block_tally, cut_of, entered, in_windows, outer_scope, scaled
from cachet_verify.traffic.term import holds

HOST = "host"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: it runs at most `count` times, each time moving at most `each`.

    `runs` is how often it does run, and `exact` what all its runs move together. Where runs differ, `each` may be of several.

    `kind` is `loop`, `grid`, or `statement` where no loop is left.
    """

    kind: str
    device: str
    count: Quantity
    each: Tally
    runs: Quantity
    exact: Tally


def operations_of(program: ir.Program) -> tuple[Operation, ...]:
    """The operations of a program. Raises TooManyStepsError, ZeroDivisionError."""
    full, exact = outer_scope(program, full=True), outer_scope(program, full=False)
    return tuple(_operations(program.body.body, _Scopes(full, exact, at_top=True)))


@dataclass(frozen=True, slots=True)
class _Scopes:
    """The two scopes an operation is counted in, and where it stands."""

    full: Scope
    exact: Scope
    device: str = HOST
    at_top: bool = False

    def after(self, stmts: Iterable[ir.Stmt]) -> _Scopes:
        """The scopes after some statements."""
        full, exact = self.full, self.exact
        for stmt in stmts:
            full, exact = after(stmt, full, self.at_top), after(stmt, exact, self.at_top)
        return replace(self, full=full, exact=exact)

    def inside(self, counter: str, domain: ir.Domain) -> _Scopes:
        """The scopes inside a loop."""
        return replace(self, full=entered(counter, domain, self.full)[1], exact=entered(counter, domain, self.exact)[1], at_top=False)

    def windowed(self, grid: ir.Grid) -> _Scopes:
        """The scopes inside a grid, its counters known already."""
        full, exact = in_windows(grid, self.full), in_windows(grid, self.exact)
        return replace(self, full=full, exact=exact, device=grid.device.name if grid.device else self.device, at_top=False)


_Loops = tuple[tuple[str, ir.Domain], ...]


def _operations(statements: Iterable[ir.Stmt], scopes: _Scopes) -> Iterator[Operation]:
    """The operations of statements that stand one after the other."""
    for group in groups(flat(statements), scopes.at_top):
        yield from _of_group(group, scopes)
        scopes = scopes.after(group)


def _of_group(group: Sequence[ir.Stmt], scopes: _Scopes) -> Iterator[Operation]:
    only = group[0] if len(group) == 1 else None
    if isinstance(only, ir.For | ir.Grid) and _repeats(only, scopes):
        yield from _repeated(_loops(only), only, scopes)
    elif isinstance(only, ir.If) and (divides(only.then) or divides(only.orelse)):
        condition = holds(only.condition, scopes.exact.ints)
        for body, met in ((only.then, condition), (only.orelse, ONCE - condition)):
            for operation in _operations(body.body, scopes):
                yield _changed(operation, lambda amount, met=met: amount * met)  # type: ignore[misc]
    else:
        operation = _operation(group, scopes)
        if operation.exact or operation.each:
            yield operation


def _loops(loop: ir.For | ir.Grid) -> _Loops:
    """A loop or the axes of a grid, outermost first."""
    if isinstance(loop, ir.For):
        return ((loop.counter, loop.domain),)
    return tuple((axis.counter, axis.domain) for axis in loop.axes)


def _repeats(loop: ir.For | ir.Grid, scopes: _Scopes) -> bool:
    """Whether a loop repeats operations, and is no part of one."""
    domains = [domain for _, domain in _loops(loop)]
    ends = [end for domain in domains for end in (domain.low, domain.high)]
    cuts = any(isinstance(domain, ir.Blocks) for domain in domains) or any(map(_is_quotient, ends))
    return (cuts and scopes.full.is_fixed(*ends)) or divides(loop.body)


def _is_quotient(end: Index) -> bool:
    """Whether a bound counts the parts that sizes are cut into."""
    return any(isinstance(part, Div) and variables(part) for part in subterms(end))


def _repeated(loops: _Loops, loop: ir.For | ir.Grid, scopes: _Scopes) -> Iterator[Operation]:
    """The operations of a loop's body, repeated by the loops that are left to enter."""
    if not loops:
        yield from _operations(loop.body.body, scopes.windowed(loop) if isinstance(loop, ir.Grid) else scopes)
        return
    counter, domain = loops[0]
    for operation in _repeated(loops[1:], loop, scopes.inside(counter, domain)):
        yield _over(counter, domain, scopes, operation)


def _over(counter: str, domain: ir.Domain, scopes: _Scopes, operation: Operation) -> Operation:
    """An operation repeated by a loop: its count grows; where runs differ in cost by more than a length, `each` does."""
    loop, exact = entered(counter, domain, scopes.full)[0], entered(counter, domain, scopes.exact)[0]
    operation = replace(operation, runs=exact(operation.runs), exact=scaled(operation.exact, exact))
    each = _dearest(counter, domain, scopes, operation.each)
    if each is not None:
        return replace(operation, count=loop(operation.count), each=each)
    count = operation.count
    if count.names() & loop_names(counter, isinstance(domain, ir.Blocks)):
        return replace(operation, count=ONCE, each=scaled(operation.each, lambda amount: loop(amount * count)))
    return replace(operation, each=scaled(operation.each, loop))


def _dearest(counter: str, domain: ir.Domain, scopes: _Scopes, tally: Tally) -> Tally | None:
    """What no iteration of a loop exceeds; None where its place matters."""
    found = {}
    for entry, amount in tally.items():
        most: Quantity | None = amount
        if amount.names() & loop_names(counter, isinstance(domain, ir.Blocks)):
            most = dearest_block(cut_of(counter, domain, scopes.full), amount) if isinstance(domain, ir.Blocks) else None
        if most is None:
            return None
        found[entry] = most
    return found


def _changed(operation: Operation, by: Callable[[Quantity], Quantity]) -> Operation:
    return replace(operation, each=scaled(operation.each, by), exact=scaled(operation.exact, by))


def _operation(group: Sequence[ir.Stmt], scopes: _Scopes) -> Operation:
    """Statements as one operation."""
    each, exact = block_tally(group, scopes.full, scopes.at_top), block_tally(group, scopes.exact, scopes.at_top)
    first = next((stmt for stmt in ir.statements(ir.Block(tuple(group))) if isinstance(stmt, ir.For | ir.Grid)), None)
    kind = "statement" if first is None else "grid" if isinstance(first, ir.Grid) else "loop"
    device = first.device.name if isinstance(first, ir.Grid) and first.device else scopes.device
    return Operation(kind, device, ONCE, each, ONCE, exact)
