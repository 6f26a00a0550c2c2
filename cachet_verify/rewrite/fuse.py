"""`reduce j.inner by (max: halving, sum: order)`: a reduction worked through in blocks, each combined at once.

Takes the lines of a schedule; gathers those that say how a reduction is fused: its `split`, what is computed for each block, and the
orders of the block's totals; gives the nest. Must not decide whether that may be: the kernel's rule asks for the law of blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from cachet_verify.core.index import Const, Index, Truth, sub
from cachet_verify.core.ir import Blockwise, Choose, Declare, Fold, For, If, Program, Reduction, Require, Stmt, Store
from cachet_verify.elaborate.shape import local_name
from cachet_verify.kernel.claim import Goal, RuleError
from cachet_verify.kernel.fuse import ORDERS, Cut, fuse
from cachet_verify.rewrite.error import StepError, refuse
from cachet_verify.rewrite.expression import counter_name
from cachet_verify.rewrite.library import no_loop, schedule_term
from cachet_verify.rewrite.outcome import Chain, check_askable, divides
from cachet_verify.rewrite.place import Path, counters, statement_at
from cachet_verify.rewrite.reduction import Place, is_regrouping, permission, place_of, shadow_name
from cachet_verify.rewrite.scope import Scope
from cachet_verify.rewrite.traverse import fresh, taken
from cachet_verify.source import Span
from cachet_verify.syntax import ast

INNER, OUTER = ".inner", ".outer"
FORM = "reduce j.inner by (max: halving, sum: order)"


@dataclass(frozen=True, slots=True)
class Computed:
    """`compute s at j.outer`: an intermediate that is computed for each block."""

    name: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class FusedBlock(ast.ScheduleLine):
    """The lines that together say how the reduction over `index` is fused: its factor in a `split`, what is computed, the orders."""

    index: str
    factor: ast.Factor | None
    is_ragged: bool
    computed: tuple[Computed, ...]
    step: ast.Step


def gathered(lines: Iterable[ast.ScheduleLine]) -> tuple[ast.ScheduleLine, ...]:
    """The lines that change an order first, as one line a reduction, then all others, each in the order written."""
    found = list(lines)
    first: list[ast.ScheduleLine] = []
    for line in tuple(found):
        if isinstance(line, ast.Step) and line.name == "reduce":
            found.remove(line)
            first.append(_gather(line, found))
        elif is_regrouping(line):
            found.remove(line)
            first.append(line)
    return (*first, *found)


def changes_order(line: ast.ScheduleLine) -> bool:
    """Whether a line changes the order in which totals are combined."""
    return isinstance(line, FusedBlock) or is_regrouping(line)


def index_of(line: ast.ScheduleLine) -> str:
    """The index of the reduction that a line is about; empty where it names none."""
    if isinstance(line, FusedBlock):
        return line.index
    name = counter_name(line.args[0]) if isinstance(line, ast.Step) and line.args else None
    return name or ""


def _gather(step: ast.Step, others: list[ast.ScheduleLine]) -> FusedBlock:
    """Take what belongs to one `reduce` out of the other lines."""
    index = (index_of(step)).removesuffix(INNER)
    factor, ragged = _split_taken(index, others)
    computed: list[Computed] = []
    for line in tuple(others):
        if isinstance(line, ast.Step) and line.name == "compute" and _at(line) in (f"{index}{OUTER}", factor.name if factor is not None else None):
            others.remove(line)
            computed.append(Computed(counter_name(line.args[0]) or "" if len(line.args) == 1 else "", line.span))
    return FusedBlock(index, factor, ragged, tuple(computed), step, span=step.span)


def _at(line: ast.Step) -> str:
    clause = next((clause for clause in line.clauses if clause.word == "at"), None)
    name = counter_name(clause.args[0]) if clause is not None and len(clause.args) == 1 else None
    return name or ""


def _split_taken(index: str, others: list[ast.ScheduleLine]) -> tuple[ast.Factor | None, bool]:
    """The one factor by which a `split` cuts the index; its part of that line goes."""
    for place, line in enumerate(others):
        if isinstance(line, ast.Split):
            part = next((part for part in line.parts if counter_name(part.index) == index and len(part.factors) == 1), None)
            if part is not None:
                rest = tuple(other for other in line.parts if other is not part)
                others[place : place + 1] = [replace(line, parts=rest)] if rest else []
                return part.factors[0], line.ragged
    return None, False


# --- the step ---


def fused(program: Program, line: FusedBlock, scope: Scope) -> Chain:
    """Apply the lines. Raises StepError where they do not fit, or the contraction does not permit it."""
    step = line.step
    if len(step.args) != 1 or not line.index:
        raise _wrong(step, "a step combines the blocks of one index, and names it")
    reduction, form, place = _reduced(program, line)
    size, whole, need = _size(program, place.domain, line, scope)
    orders = _orders(form, step)

    def made(used: frozenset[str]) -> Goal:
        take = _taking(used)
        block = take((line.factor.name if line.factor is not None else None) or f"g{line.index}")
        cut = Cut(size, block, whole, orders, _arrays(form, reduction, line, take), need)
        return fuse(program, place.path, reduction, place.element, cut, take, shadow_name(scope))

    used = taken(program)
    gone = _computed_inside(program, place.path) & frozenset(reduction.given)
    try:
        goal = made(used - gone)
    except RuleError:
        if not gone:
            raise
        goal = made(used)
    return Chain(getattr(goal.statement, "after", program), (goal,))


def _reduced(program: Program, line: FusedBlock) -> tuple[Reduction, Blockwise, Place]:
    """The reduction, how its blocks are combined, and where it stands. Raises StepError."""
    step = line.step
    reduction = next((found for found in program.reductions if found.counter == line.index), None)
    if reduction is None:
        raise no_loop("reduce", line.index or "it names", counters(program.body), step.span)
    if not reduction.is_permitted:
        text = f"a fused block of `{line.index}` combines a block's keys at once, regrouping the reduction, which it permits with `[reassoc]`, "
        raise refuse("reassoc", f"{text}`{permission(reduction)}`", step.span)
    form = reduction.block
    if form is None:
        text = f"`{reduction.monoid or 'sum'}` does not say how a whole block is combined"
        raise refuse("no-block", text, step.span, "`fn block` and `law block over reals` in its `impl`")
    place = place_of(program, line.index, reduction)
    if place is None or index_of(step) != f"{line.index}{INNER}":
        raise _wrong(step, f"`{line.index}{INNER}` is what is reduced at once")
    if line.factor is None:
        raise refuse("no-split", f"no `split` cuts `{line.index}` into blocks, once", step.span, f"`split {line.index} by 8` before it")
    if _is_guarded(statement_at(program.body, place.path)):
        text = f"the elements of `{line.index}` stand under a condition that is no bound of it"
        raise refuse("no-match", text, step.span, f"bounds such as `where {line.index} <= i`, or `regroup {line.index} by 8`")
    return reduction, form, place


def _is_guarded(stmt: Stmt) -> bool:
    """Whether the steps of a reduction are taken under a guard."""
    if isinstance(stmt, For):
        return any(isinstance(part, If) for part in stmt.body.body)
    value = stmt.value if isinstance(stmt, Store) else stmt.init if isinstance(stmt, Declare) else None
    return isinstance(value, Fold) and isinstance(value.step, Choose)


def _taking(used: frozenset[str]) -> Callable[[str], str]:
    """What gives names like those asked for that nothing has."""
    names = set(used)

    def take(base: str) -> str:
        name = fresh(base, frozenset(names))
        names.add(name)
        return name

    return take


def _computed_inside(program: Program, path: Path) -> frozenset[str]:
    """The locals of one step of a loop: their names are free where the steps of a block write arrays in their place."""
    loop = statement_at(program.body, path)
    return frozenset(stmt.name for stmt in loop.body.body if isinstance(stmt, Declare)) if isinstance(loop, For) else frozenset()


def _wrong(step: ast.Step, why: str) -> StepError:
    return refuse("arguments", why, step.span, f"`{FORM}`")


def _size(program: Program, domain: tuple[Index, Index], line: FusedBlock, scope: Scope) -> tuple[Index, bool, Require | None]:
    """The size of a block, whether each is whole, and what that requires."""
    if line.factor is None:
        raise _wrong(line.step, f"`{line.index}` is not cut into blocks")
    size = schedule_term(line.factor.size, scope, program)
    if isinstance(size, Const) and size.value < 1:
        raise refuse("arguments", f"a block holds at least one index, and this one {size.value}", line.factor.span, "a size of 1 or more")
    if line.is_ragged:
        return size, False, None
    condition = divides(size, sub(domain[1], domain[0]))
    check_askable(program, condition, f"that the blocks of {line.index} are full", line.factor.span, "`ragged`: the last block may be shorter")
    return size, True, None if condition == Truth(True) else Require(condition, f"split {line.index}")


def _arrays(form: Blockwise, reduction: Reduction, line: FusedBlock, take: Callable[[str], str]) -> tuple[str, ...]:
    """A name for the array of each parameter of an element: that of the intermediate that is computed for the block, else the parameter's."""
    known = dict(zip((name for name, _ in form.keys), reduction.given, strict=False))
    for computed in line.computed:
        if not computed.name:
            raise refuse("arguments", "a `compute` names one intermediate", computed.span, "`compute s at j.outer`")
        if computed.name not in known.values():
            shown = ", ".join(f"`{name}`" for name in known.values() if name)
            hint = f"one of {shown}" if shown else "name the elements' parameters by equations of the contraction"
            raise refuse("no-match", f"no element of `{line.index}` is made of `{computed.name}`", computed.span, hint)
    return tuple(take(known.get(name) or local_name(name)) for name, _ in form.keys)


def _orders(form: Blockwise, step: ast.Step) -> Mapping[str, str]:
    """The order of each total, by the kinds that the step names."""
    clause = next((clause for clause in step.clauses if clause.word == "by"), None)
    labels = clause.args[0].labels if clause is not None and len(clause.args) == 1 and isinstance(clause.args[0], ast.Labelled) else ()
    if not labels or len(step.clauses) != 1:
        raise _wrong(step, "the order of each total over a block is written")
    kinds = dict.fromkeys(term.kind for term in form.terms if isinstance(term.value, Fold) and term.kind != "fold")
    said: dict[str, str] = {}
    for label in labels:
        way = counter_name(label.value)
        if label.name not in kinds or label.name in said:
            known = ", ".join(f"`{kind}`" for kind in kinds)
            raise refuse("arguments", f"a block has no total `{label.name}` to order", step.span, f"its totals are {known}" if known else "")
        if way not in ORDERS:
            said_way = f", not by `{way}`" if way is not None else ""
            raise refuse("arguments", f"`{label.name}` is taken by `order` or by `halving`{said_way}", step.span, f"`{FORM}`")
        said[label.name] = way
    missing = [kind for kind in kinds if kind not in said]
    if missing:
        raise _wrong(step, f"the order of `{missing[0]}` is missing")
    return {term.name: said[term.kind] for term in form.terms if isinstance(term.value, Fold) and term.kind in said}
