"""That a part of a result depends on that part of the inputs only, whatever the size and wherever the part stands.

Takes a program, a result and sizes; gives two programs that are the same just when that holds, and
concludes it from the claim that they are. Must not look at how that claim was reached.

Each of the two copies the parts that correspond into arrays of its own, runs the program on those
at sizes of its own, and copies the part of the result out. What else the arrays hold is unspecified,
and nothing that both share.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TypeVar

from cachet_verify.core.index import ZERO, Formula, Index, Substitution, Var, conj, le, lt, substitute, substitute_formula, variables
from cachet_verify.core.ir import Block, For, Lease, Load, Param, Program, Range, Require, Stmt, Store
from cachet_verify.kernel.claim import Claim, Goal, Invariant, RuleError, Same, WellFormed, check_runs, issue
from cachet_verify.kernel.scope import bound_names

RULE = "invariant"

_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class Twins:
    """The two programs, and for each size that differs its name in the second and the position's name in each."""

    first: Program
    second: Program
    sizes: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, str], ...]


def invariant(formed: Claim, same: Claim, buffer: str, dims: tuple[str, ...], carried: tuple[Claim, Claim] | None = None) -> Goal:
    """Conclude that parts of `buffer` along `dims` depend on those parts only. Raises RuleError.

    It is said of the program that is `formed`, or of one that is the same: `carried` has the claim that it is, and
    that it is well formed itself.
    """
    if not isinstance(formed.statement, WellFormed):
        raise RuleError(RULE, "the first premise says that the program is well formed")
    program = formed.statement.program
    pair = twins(program, buffer, dims)
    if same.statement != Same(pair.first, pair.second):
        raise RuleError(RULE, "the second premise does not compare the program with itself at other sizes")
    after = program
    for claim in (carried or ())[1:]:
        if not isinstance(claim.statement, WellFormed):
            raise RuleError(RULE, "the last premise says that the program after is well formed")
        after = claim.statement.program
        check_parts(after, buffer, dims)
    if carried is not None and carried[0].statement != Same(program, after):
        raise RuleError(RULE, "the third premise does not compare the program with the one after")
    check_runs(RULE, after)
    return issue(RULE, Invariant(after, buffer, dims), (), (formed, same, *(carried or ())))


def twins(program: Program, buffer: str, dims: tuple[str, ...]) -> Twins:
    """The program at two choices of the sizes `dims`. Raises RuleError where the parts are not told by the shapes."""
    check_parts(program, buffer, dims)
    names = _Names(bound_names(RULE, program))
    sizes = tuple((dim, names.fresh(f"{dim}'")) for dim in dims)
    rows = tuple((names.fresh(f"row_{dim}"), names.fresh(f"row_{dim}'")) for dim in dims)
    parts = _parts(program, buffer, dims, names)
    first = _Twin(program, parts, {}, dict(zip(dims, (row for row, _ in rows), strict=True)), names, "'1")
    second = _Twin(program, parts, dict(sizes), dict(zip(dims, (row for _, row in rows), strict=True)), names, "'2")
    shared = (*_whole(program, dims), *(part.shared() for part in parts))
    ours = (*program.sizes, *(row for row, _ in rows))
    theirs = (*ours, *(size for _, size in sizes), *(row for _, row in rows))
    needs = (*program.requires, *first.positions())
    others = (*needs, *(need for need in second.requires() if need not in needs), *second.positions())
    return Twins(
        replace(_bare(program), sizes=ours, params=(*shared, *first.private()), body=first.body(), requires=needs),
        replace(_bare(program), sizes=theirs, params=(*shared, *first.private(), *second.private()), body=second.body(), requires=others),
        sizes,
        rows,
    )


def check_parts(program: Program, buffer: str, dims: tuple[str, ...]) -> None:
    """Refuse a result or sizes for which the shapes do not say what a part is. Raises RuleError."""
    if not dims or len(set(dims)) != len(dims) or not set(dims) <= set(program.sizes):
        raise RuleError(RULE, f"an invariant names sizes of {program.name}, each once", dims)
    result = next((param for param in program.params if param.name == buffer), None)
    if result is None or result.mode == "reads" or result.scratch:
        raise RuleError(RULE, f"{buffer} is no result of {program.name}", buffer)
    for param in program.params:
        for dim in () if param.scratch else dims:
            plain = [term for term in param.shape if term == Var(dim)]
            if any(dim in variables(term) for term in param.shape if term != Var(dim)) or len(plain) > 1:
                raise RuleError(RULE, f"{param.name} has no single dimension of extent {dim}", param.name)
            if param is result and not plain:
                raise RuleError(RULE, f"{buffer} has no dimension of extent {dim}", buffer)


def _bare(program: Program) -> Program:
    """The program without what it asks of caches and traffic: that is about no words."""
    return Program(program.name, (), (), Block(), generics=program.generics, arithmetic=program.arithmetic, span=program.span)


class _Names:
    """Names that nothing has yet."""

    def __init__(self, taken: frozenset[str]) -> None:
        self.taken = set(taken)

    def fresh(self, name: str) -> str:
        """The name itself, with as many marks as make it new."""
        while name in self.taken:
            name += "'"
        self.taken.add(name)
        return name


@dataclass(frozen=True, slots=True)
class _Copied:
    """A part that both twins share: of which parameter, under which name, in or out, by which counters."""

    param: Param
    name: str
    is_in: bool
    shape: tuple[Index, ...]
    counters: tuple[str, ...]

    def shared(self) -> Param:
        """The parameter of both twins that holds the part."""
        return Param(self.name, "reads" if self.is_in else "out", self.param.elem, self.shape)


def _is_along(term: Index, dims: Iterable[str]) -> bool:
    return any(term == Var(dim) for dim in dims)


def _divided(program: Program, dims: Sequence[str]) -> Iterator[Param]:
    """The parameters that each twin has for itself: all that are written, or have a part that differs."""
    for param in program.params:
        if param.mode != "reads" or any(_is_along(term, dims) for term in param.shape):
            yield param


def _whole(program: Program, dims: Sequence[str]) -> Iterator[Param]:
    """The parameters that both share as they are."""
    divided = tuple(_divided(program, dims))
    return (param for param in program.params if param not in divided)


def _parts(program: Program, buffer: str, dims: Sequence[str], names: _Names) -> tuple[_Copied, ...]:
    """The parts of the caller's words that correspond, and last the part of the result."""
    found = [(param, _given_name(param, buffer, dims), True) for param in _divided(program, dims) if _is_given(param)]
    made = []
    for param, name, is_in in (*found, (program.param(buffer), f"{buffer}_row", False)):
        shape = tuple(term for term in param.shape if not _is_along(term, dims))
        fresh = names.fresh(name)
        made.append(_Copied(param, fresh, is_in, shape, tuple(names.fresh(f"{fresh}_{place}") for place in range(len(shape)))))
    return tuple(made)


def _given_name(param: Param, buffer: str, dims: Sequence[str]) -> str:
    """A part of a parameter is its row; what is no part, or the result's before the call, is called so."""
    is_row = param.name != buffer and any(_is_along(term, dims) for term in param.shape)
    return f"{param.name}_{'row' if is_row else 'before'}"


def _is_given(param: Param) -> bool:
    """Whether the caller's words may be read."""
    return param.mode != "out" and not param.scratch


class _Twin:
    """One of the two programs: at its sizes, with its positions, on arrays of its own."""

    def __init__(
        self, program: Program, parts: Sequence[_Copied], sizes: Mapping[str, str], rows: Mapping[str, str], names: _Names, mark: str
    ) -> None:
        self.program = program
        self.parts = parts
        self.rows = rows
        self.by: Substitution = {old: Var(new) for old, new in sizes.items()}
        self.divided = tuple(_divided(program, tuple(rows)))
        self.arrays = {param.name: names.fresh(param.name + mark) for param in self.divided}

    def private(self) -> tuple[Param, ...]:
        """The twin's own arrays."""
        return tuple(
            Param(self.arrays[param.name], "mut", param.elem, tuple(substitute(term, self.by) for term in param.shape), scratch=True)
            for param in self.divided
        )

    def positions(self) -> tuple[Require, ...]:
        """Each position is inside its size."""
        ends = {dim: substitute(Var(dim), self.by) for dim in self.rows}
        return tuple(Require(conj((le(ZERO, Var(row)), lt(Var(row), ends[dim]))), RULE) for dim, row in self.rows.items())

    def requires(self) -> tuple[Require, ...]:
        """What the program requires, at this twin's sizes."""
        return tuple(replace(need, condition=substitute_formula(need.condition, self.by)) for need in self.program.requires)

    def body(self) -> Block:
        """The parts copied in, the program, and the result's part copied out."""
        aliases = tuple(Lease(old, new, "", mutable=True) for old, new in self.arrays.items())
        inner = Block((*aliases, at_sizes(self.program.body, self.by)))
        *given, result = (self.copy(part) for part in self.parts)
        return Block((*given, inner, result))

    def copy(self, part: _Copied) -> Stmt:
        """A loop nest over the cells of a part."""
        rest = iter(part.counters)
        rows = {Var(dim): Var(row) for dim, row in self.rows.items()}
        index = tuple(rows[term] if isinstance(term, Var) and term in rows else Var(next(rest)) for term in part.param.shape)
        ends = ((self.arrays[part.param.name], index), (part.name, tuple(map(Var, part.counters))))
        into, source = ends if part.is_in else ends[::-1]
        stmt: Stmt = Store(*into, Load(*source))
        for counter, extent in reversed(list(zip(part.counters, part.shape, strict=True))):
            stmt = For(counter, Range(ZERO, extent), Block((stmt,)))
        return stmt


def at_sizes(part: _Part, by: Substitution) -> _Part:
    """A piece of a program with sizes replaced in every term and formula. Names of binders are no terms."""
    if not by or part is None or isinstance(part, (str, int)):
        return part
    made: object = part
    if isinstance(part, Index):
        made = substitute(part, by)
    elif isinstance(part, Formula):
        made = substitute_formula(part, by)
    elif isinstance(part, tuple):
        made = tuple(at_sizes(item, by) for item in part)
    elif is_dataclass(part) and not isinstance(part, type):
        made = replace(part, **{item.name: at_sizes(getattr(part, item.name), by) for item in fields(part) if item.compare})
    return made  # type: ignore[return-value]
