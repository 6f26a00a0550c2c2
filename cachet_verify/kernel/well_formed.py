"""Well-formedness: every access in bounds, every divisor non-zero, every block non-empty, no race.

Takes a program; gives the goal that it is well formed, one obligation an access, deduplicated. A
loop may run no iteration: then nothing is asked of its body. Whether cells are written before
they are read is the dataflow rule's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from cachet_verify.core.element import ELEMENTS
from cachet_verify.core.family import Families, Family
from cachet_verify.core.index import (
    ZERO,
    Div,
    Formula,
    Index,
    Mod,
    Product,
    Sum,
    Var,
    add,
    conj,
    conjuncts,
    div,
    divisors,
    le,
    lt,
    minimum,
    mod,
    mul,
    ne,
    neg,
    negate,
    sub,
    substitute,
    variables,
)
from cachet_verify.core.ir import (
    Block,
    Blocks,
    Choose,
    Declare,
    Fold,
    For,
    Grid,
    If,
    Inlined,
    Load,
    OfIndex,
    Op,
    Program,
    Stmt,
    Store,
    Value,
    Word,
    statements,
    values,
)
from cachet_verify.core.spell import spell
from cachet_verify.kernel.ask import Asked, fresh
from cachet_verify.kernel.claim import Goal, RuleError, WellFormed, issue
from cachet_verify.kernel.conflict import WRITE, Touch, ask_no_races, touches
from cachet_verify.kernel.scope import bound_names, lowered
from cachet_verify.kernel.window import ask_windows
from cachet_verify.kernel.word_type import check_types

RULE = "well-formed"


def well_formed(program: Program) -> Goal:
    """Every access of every instance is in bounds, divisors are non-zero, grids have no races.

    Raises RuleError for what is wrong whatever the sizes: a name out of scope, a store to a
    read-only parameter, a wrong number of indices.
    """
    families = lowered(RULE, _probed(program))
    names = bound_names(RULE, program)
    blocks = block_terms(program)
    asked = Asked(families.premises())
    check_types(RULE, families)
    for need in program.requires:
        _ask_divisors(asked, (need.condition,), families.premises())
    for member in families.members:
        _check_words(member)
        _ask_domain(asked, member, blocks)
        for touch in touches(member):
            _ask_bounds(asked, families, touch, blocks)
        for under, terms in _evaluated(member):
            _ask_divisors(asked, terms, (*member.domain, *under))
    ask_no_races(asked, families, names)
    ask_windows(asked, RULE, program, families, lambda term: spell(as_written(term, blocks)))
    return issue(RULE, WellFormed(program), asked.obligations())


def _probed(program: Program) -> Program:
    """The program with a local set in every block that stores nothing, so that bounds around it are checked."""
    taken = set(bound_names(RULE, program))

    def name() -> str:
        found = fresh(("probe",), taken)["probe"]
        taken.add(found)
        return found

    return replace(program, body=_marked(program.body, name))


def _marked(block: Block, name: Callable[[], str]) -> Block:
    body = tuple(_marked_inside(stmt, name) for stmt in block.body)
    if any(isinstance(stmt, (Store, For, Grid, If, Inlined, Block)) for stmt in body):
        return Block(body)
    return Block((*body, Declare(name(), "i64", init=Word("i64", 0))))


def _marked_inside(stmt: Stmt, name: Callable[[], str]) -> Stmt:
    if isinstance(stmt, Block):
        return _marked(stmt, name)
    if isinstance(stmt, (For, Grid, Inlined)):
        return replace(stmt, body=_marked(stmt.body, name))
    if isinstance(stmt, If):
        return replace(stmt, then=_marked(stmt.then, name), orelse=_marked(stmt.orelse, name))
    return stmt


Cut = tuple[Index, Index, Index]


def block_terms(program: Program) -> dict[str, Cut]:
    """For each loop or axis over blocks, where the blocks start, their size, and the length of one, over ordinals of blocks."""
    by: dict[str, Index] = {}
    found: dict[str, Cut] = {}
    for name, blocks in _block_loops(program):
        low, high, size = (substitute(term, by) for term in (blocks.low, blocks.high, blocks.size))
        start = add(low, mul(size, Var(name)))
        by[f"{name}.lo"], by[f"{name}.len"] = start, minimum(size, sub(high, start))
        found[name] = (low, size, by[f"{name}.len"])
    return found


def _block_loops(program: Program) -> Iterator[tuple[str, Blocks]]:
    for stmt in statements(program.body):
        if isinstance(stmt, For) and isinstance(stmt.domain, Blocks):
            yield stmt.counter, stmt.domain
        for axis in stmt.axes if isinstance(stmt, Grid) else ():
            if isinstance(axis.domain, Blocks):
                yield axis.counter, axis.domain
        value = stmt.value if isinstance(stmt, Store) else stmt.init if isinstance(stmt, Declare) else None
        for part in values(value) if value is not None else ():
            if isinstance(part, Fold) and isinstance(part.domain, Blocks):
                yield part.counter, part.domain


def _ask_domain(asked: Asked, member: Family, blocks: Mapping[str, Cut]) -> None:
    """Bounds and guards divide by nothing that is zero, and blocks have indices."""
    started: set[str] = set()
    for place, constraint in enumerate(member.domain):
        earlier = member.domain[:place]
        for name in member.names():
            if name in blocks and name not in started and name in variables(constraint):
                started.add(name)
                asked.ask(f"the blocks of {name} have at least one index", earlier, lt(ZERO, blocks[name][1]))
        _ask_divisors(asked, (constraint,), earlier)


def _ask_divisors(asked: Asked, terms: Iterable[Index | Formula], premises: Iterable[Formula]) -> None:
    known = tuple(premises)
    for term in terms:
        for divisor in divisors(term):
            asked.ask(f"the divisor {spell(divisor)} is not zero", known, ne(divisor, ZERO))


def _evaluated(member: Family) -> Iterator[tuple[tuple[Formula, ...], tuple[Index | Formula, ...]]]:
    """The index terms that an instance evaluates, each with the condition under which it does."""
    yield (), member.cell
    yield from _evaluated_value(member.value, ())


def _evaluated_value(
    value: Value, under: tuple[Formula, ...]
) -> Iterator[tuple[tuple[Formula, ...], tuple[Index | Formula, ...]]]:
    if isinstance(value, Load):
        yield under, value.index
    elif isinstance(value, OfIndex):
        yield under, (value.term,)
    elif isinstance(value, Op):
        for arg in value.args:
            yield from _evaluated_value(arg, under)
    elif isinstance(value, Choose):
        yield under, (value.condition,)
        yield from _evaluated_value(value.then, (*under, *conjuncts(value.condition)))
        yield from _evaluated_value(value.orelse, (*under, *conjuncts(neg(value.condition))))


def _check_words(member: Family) -> None:
    """No integer word is divided by one that may be zero: what a word is nobody can ask, so it is a literal."""
    for part in values(member.value):
        if isinstance(part, Op) and part.name in ("div", "rem") and part.elem in ELEMENTS and ELEMENTS[part.elem].kind != "float":
            divisor = part.args[-1]
            if not isinstance(divisor, Word) or divisor.bits == 0:
                raise RuleError(RULE, f"an integer word is divided by one that may be 0, in a store to {member.buffer}", member)


def _ask_bounds(asked: Asked, families: Families, touch: Touch, blocks: Mapping[str, Cut]) -> None:
    """An access stays inside the shape of its buffer."""
    buffer = families.buffers[touch.buffer]
    if touch.phase == WRITE and buffer.mode == "reads":
        raise RuleError(RULE, f"{touch.buffer} is only read, and is stored to", touch.family)
    index = touch.cell[len(buffer.private) :]
    if len(index) != len(buffer.shape):
        raise RuleError(RULE, f"{touch.buffer} has {len(buffer.shape)} dimensions, {len(index)} indices are given", touch.family)
    if not index:
        return
    verb = "store" if touch.phase == WRITE else "load"
    shown = ", ".join(spell(as_written(term, blocks)) for term in index)
    shape = ", ".join(spell(size) for size in buffer.shape)
    goal = conj(conj((le(ZERO, term), lt(term, size))) for term, size in zip(index, buffer.shape, strict=True))
    asked.ask(f"{verb} {touch.buffer}[{shown}] stays inside [{shape}]", (*touch.family.domain, *touch.under), goal)


def as_written(term: Index, blocks: Mapping[str, Cut]) -> Index:
    """A term with the first index and the length of a block under the names they have in the program, where that shows."""
    for name, (low, size, length) in blocks.items():
        if low == ZERO and term == mul(size, Var(name)):
            return Var(f"{name}.lo")
        if low == ZERO and term == negate(mul(size, Var(name))):
            return negate(Var(f"{name}.lo"))
        if term == length:
            return Var(f"{name}.len")
    if isinstance(term, Sum):
        return add(*(as_written(part, blocks) for part in term.terms))
    if isinstance(term, (Product, Div, Mod)):
        made = {Product: mul, Div: div, Mod: mod}[type(term)]
        return made(as_written(term.left, blocks), as_written(term.right, blocks))
    return term
