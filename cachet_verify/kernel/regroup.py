"""A reduction worked through in blocks, each with a total of its own that is combined with the whole at its end.

Takes a program, where a reduction stands, a block size and what combining is; computes the program after, and gives
the goal that the two agree: over words where combining is associative over words, else over the reals. Must not
believe what it is told of the reduction: that its steps combine, and that combining may be regrouped, is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cachet_verify.core.element import ELEMENTS
from cachet_verify.core.identity import function_identity
from cachet_verify.core.index import ZERO, Index, Var, add, lt, substitute, substitute_formula
from cachet_verify.core.ir import (
    Block,
    Blocks,
    Choose,
    Declare,
    Fold,
    For,
    If,
    Load,
    OfIndex,
    Op,
    Program,
    Range,
    Reduction,
    Stmt,
    Store,
    Value,
    Word,
    arithmetics,
    statements,
    values,
)
from cachet_verify.kernel.ask import Asked
from cachet_verify.kernel.claim import Goal, LawVariable, Mark, RuleError, Same, SameOverReals, issue
from cachet_verify.kernel.law import WHOLE, closed_over_reals, law_over_reals
from cachet_verify.kernel.law_word import law_over_words
from cachet_verify.kernel.obligation import Obligation
from cachet_verify.kernel.place import Path, context_of, parent, splice, statement_at
from cachet_verify.kernel.scope import lowered
from cachet_verify.kernel.split import indexed

RULE = "regroup"
Parts = tuple[Value, ...]
_READ = frozenset(("add", "sub", "mul", "neg", "fma", "max", "min", "and_", "or_", "xor", "not_"))
"""The operations of a step that a law looks into; the result of any other, of what is no total, is any word or number."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the new binders: the loop over blocks, the total of a block part by part, what they combine to.

    `title` is what the program is called after, where only real numbers stay; empty keeps its name.
    """

    block: str
    totals: tuple[str, ...]
    combined: tuple[str, ...] = ()
    title: str = ""


@dataclass(frozen=True, slots=True)
class Equation:
    """A law that a regrouping needs: its name, its variables, and the sides that have to agree."""

    name: str
    variables: tuple[LawVariable, ...]
    left: Parts
    right: Parts


def regroup(program: Program, path: Path, size: Index, reduction: Reduction, element: Parts | None, names: Names, domain: str) -> Goal:
    """Cut the reduction at a path into blocks. Raises RuleError, and UnmodelledError where a law is not read.

    The statement there is a store or a local of a fold, whose element is `element`, or a loop that updates totals
    declared right before it. `domain` is `words` or `reals`; over the reals the program's text has to permit it.
    """
    check_regrouping(program, reduction, domain)
    stmt = statement_at(RULE, program, path)
    around, (least,) = context_of(RULE, program, path, (size,))
    asked = Asked(lowered(RULE, program).premises())
    asked.ask("blocks have at least one index", around, lt(ZERO, least))
    found: list[Obligation] = list(asked.obligations())
    if isinstance(stmt, For):
        after, steps, is_guarded = _loop(program, path, stmt, size, reduction, names)
    else:
        after, steps, is_guarded = _fold(program, path, stmt, size, reduction, element, names)
    if is_guarded and domain == "words" and _has_floats(reduction):
        raise RuleError(RULE, "a block that a guard leaves empty changes a float that is no canonical NaN", reduction)
    lowered(RULE, after)
    for step, wanted, totals in steps:
        found += is_combining(program, step, wanted, totals, reduction, domain)
    found += _laws(reduction, domain, is_guarded)
    if domain == "words":
        return issue(RULE, Same(program, after), dict.fromkeys(found))
    after = replace(after, name=names.title or program.name)
    return issue(f"{RULE}-reals", SameOverReals(program, after), dict.fromkeys(found), trust=functions_of(reduction))


def check_regrouping(program: Program, reduction: Reduction, domain: str) -> None:
    """Refuse a reduction that may not be regrouped there, or is none of the program's. Raises RuleError."""
    if domain not in ("words", "reals"):
        raise RuleError(RULE, f"a reduction is regrouped over words or over the reals, not over {domain}")
    if reduction not in program.reductions:
        raise RuleError(RULE, "the program has no such reduction", reduction)
    if domain == "reals" and not reduction.is_permitted:
        raise RuleError(RULE, "the text does not permit to regroup this reduction", reduction)
    count = len(reduction.parts)
    if not count or len(reduction.empty) != count or len(reduction.combined) != count or not all(isinstance(word, Word) for word in reduction.empty):
        raise RuleError(RULE, "a reduction has as many words when empty, and when combined, as it has parts", reduction)
    if len({name for name, _ in reduction.parts}) != count:
        raise RuleError(RULE, "two parts of a reduction have one name", reduction)
    if domain == "words" and _has_floats(reduction):
        if set(arithmetics(program.body, program.arithmetic)) - {None}:
            raise RuleError(RULE, "laws over words are of IEEE 754, and the program computes in another arithmetic")


def _has_floats(reduction: Reduction) -> bool:
    """Whether a part of a value is a float, or may be one."""
    return any(elem not in ELEMENTS or ELEMENTS[elem].kind == "float" for _, elem in reduction.parts)


# --- the two forms ---

Steps = tuple[tuple[Parts, Parts, tuple[str, ...]], ...]
"""What steps compute, what they are to compute, and the names of the totals that they read."""


def _fold(
    program: Program, path: Path, stmt: Stmt, size: Index, reduction: Reduction, element: Parts | None, names: Names
) -> tuple[Program, Steps, bool]:
    """A fold becomes a total that a loop over blocks updates: each block has a total of its own, which is combined with it."""
    fold = folded(stmt, reduction)
    element = own_element(fold, element)
    if len(names.totals) != 1:
        raise RuleError(RULE, "a fold has one part", fold)
    held, own, span = Load(fold.acc), Load(names.totals[0]), getattr(stmt, "span", None)
    taken = taken_step(fold)
    step = (((taken,), combine(reduction, (held,), element), (fold.acc,)),)
    shifted = indexed(renamed(fold.step, {fold.acc: own.buffer}), fold.counter, add(Var(f"{names.block}.lo"), Var(fold.counter)))
    inner = For(fold.counter, Range(ZERO, Var(f"{names.block}.len")), Block((Store(own.buffer, (), shifted),)), span)
    start = Declare(own.buffer, fold.elem, init=fold.init, mutable=True)
    tail = Store(fold.acc, (), combine(reduction, (held,), (own,))[0])
    outer = For(names.block, Blocks(fold.domain.low, fold.domain.high, size), Block((start, inner, tail)), span)
    after = splice(RULE, program, path, 1, (Declare(fold.acc, fold.elem, init=fold.init, mutable=True), outer, holding(stmt, held)))
    return after, step, taken is not fold.step


def folded(stmt: Stmt, reduction: Reduction) -> Fold:
    """The fold of a reduction that a store or a local holds. Raises RuleError where there is none that starts empty."""
    if not isinstance(stmt, (Store, Declare)) or stmt.lanes is not None or (isinstance(stmt, Declare) and stmt.mutable):
        raise RuleError(RULE, "no store and no local of a reduction stands at the path", stmt)
    fold = stmt.value if isinstance(stmt, Store) else stmt.init
    if not isinstance(fold, Fold) or not isinstance(fold.domain, Range):
        raise RuleError(RULE, "no reduction over a range stands at the path", stmt)
    if (fold.elem,) != tuple(elem for _, elem in reduction.parts) or (fold.init,) != reduction.empty:
        raise RuleError(RULE, "the fold does not start from the empty value", fold)
    return fold


def own_element(fold: Fold, element: Parts | None) -> Parts:
    """The element of a fold, which has one part and does not read the total."""
    if element is None or len(element) != 1:
        raise RuleError(RULE, "a fold has one part, and an element", fold)
    if mentions(element, {fold.acc}):
        raise RuleError(RULE, "the element reads the total", fold)
    return element


def holding(stmt: Stmt, value: Value) -> Stmt:
    """The store or the local with another value."""
    if isinstance(stmt, Store):
        return replace(stmt, value=value)
    if isinstance(stmt, Declare):
        return replace(stmt, init=value)
    raise RuleError(RULE, "no store and no local of a reduction stands at the path", stmt)


def declared_before(program: Program, path: Path, loop: Stmt, reduction: Reduction) -> tuple[str, ...]:
    """The totals that a loop over a range updates, which are declared, empty, right before it."""
    if not isinstance(loop, For) or not isinstance(loop.domain, Range):
        raise RuleError(RULE, "the loop does not run over a range", loop)
    block, position = parent(RULE, program.body, path)
    count = len(reduction.parts)
    declared = block.body[max(position - count, 0) : position]
    totals = tuple(stmt.name for stmt in declared if isinstance(stmt, Declare))
    wanted = tuple(
        Declare(name, elem, init=word, mutable=True) for name, (_, elem), word in zip(totals, reduction.parts, reduction.empty, strict=False)
    )
    if len(totals) != count or declared != wanted:
        raise RuleError(RULE, "the totals are not declared, empty, right before the loop", loop)
    return totals


def taken_step(fold: Fold) -> Value:
    """The step of a fold without the guard that keeps the total where it does not hold."""
    step = fold.step
    return step.then if isinstance(step, Choose) and step.orelse == Load(fold.acc) else step


def _taken_body(loop: For) -> Block:
    """The body of a loop without the guard around all of it."""
    if len(loop.body.body) == 1:
        stmt = loop.body.body[0]
        if isinstance(stmt, If) and not stmt.orelse.body:
            return stmt.then
    return loop.body


def _loop(program: Program, path: Path, loop: For, size: Index, reduction: Reduction, names: Names) -> tuple[Program, Steps, bool]:
    """A loop becomes a loop over blocks: each runs the loop's body on totals of its own, and combines them with the whole."""
    totals, count = declared_before(program, path, loop, reduction), len(reduction.parts)
    if len(names.totals) != count or len(names.combined) != count:
        raise RuleError(RULE, "each part needs its names", names)
    taken = _taken_body(loop)
    new, element = combining(replace(loop, body=taken), totals, reduction)
    shifted = moved(loop.body, dict(zip(totals, names.totals, strict=True)), loop.counter, add(Var(f"{names.block}.lo"), Var(loop.counter)))
    loads = tuple(tuple(Load(name) for name in group) for group in (totals, names.totals))
    whole = combine(reduction, loads[0], loads[1])
    tail: list[Stmt] = [Declare(name, elem, init=value) for name, (_, elem), value in zip(names.combined, reduction.parts, whole, strict=True)]
    tail += [Store(total, (), Load(name)) for total, name in zip(totals, names.combined, strict=True)]
    own = (Declare(name, elem, init=word, mutable=True) for name, (_, elem), word in zip(names.totals, reduction.parts, reduction.empty, strict=True))
    inner = For(loop.counter, Range(ZERO, Var(f"{names.block}.len")), shifted, loop.span)
    outer = For(names.block, Blocks(loop.domain.low, loop.domain.high, size), Block((*own, inner, *tail)), loop.span)
    steps = ((new, combine(reduction, loads[0], element), totals),)
    return splice(RULE, program, path, 1, (outer,)), steps, taken is not loop.body


def combining(loop: For, totals: tuple[str, ...], reduction: Reduction) -> tuple[Parts, Parts]:
    """What one iteration makes of the totals, and its element; nothing but the last stores, and what leads to them, may meet a total."""
    known: dict[str, Value] = {}
    new: dict[str, Value] = {}
    for stmt in loop.body.body:
        if isinstance(stmt, Store) and stmt.buffer in totals:
            if stmt.index or stmt.lanes is not None or stmt.buffer in new or mentions((stmt.value,), new):
                raise RuleError(RULE, "a total is assigned once, and not read after", stmt)
            new[stmt.buffer] = inlined(stmt.value, known)
        elif new:
            raise RuleError(RULE, "the totals are assigned at the end of the loop's body", stmt)
        elif isinstance(stmt, Declare) and stmt.init is not None and mentions((stmt.init,), {*totals, *known}):
            if stmt.mutable or stmt.lanes is not None or stmt.shape or stmt.width is not None or stmt.layout is not None:
                raise RuleError(RULE, "what depends on a total is a word that is never assigned again", stmt)
            known[stmt.name] = inlined(stmt.init, known)
        else:
            _check_apart(stmt, totals, known)
    if set(new) != set(totals):
        raise RuleError(RULE, "not every total is assigned", loop)
    made = tuple(new[total] for total in totals)
    element = element_of(reduction, tuple(Load(total) for total in totals), made)
    if element is None or mentions(element, set(totals)):
        raise RuleError(RULE, "the step does not combine the totals with an element", loop)
    return made, element


# --- values ---


def combine(reduction: Reduction, left: Parts, right: Parts) -> Parts:
    """The parts of two values combined."""
    by = dict(zip((*reduction.names("a"), *reduction.names("b")), (*left, *right), strict=True))
    return tuple(inlined(value, by) for value in reduction.combined)


def element_of(reduction: Reduction, totals: Parts, made: Parts) -> Parts | None:
    """The parts with which the totals are combined to what a step makes; None where no such parts are found."""
    found: dict[str, Value] = dict(zip(reduction.names("a"), totals, strict=True))
    if not all(matched(pattern, value, found) for pattern, value in zip(reduction.combined, made, strict=True)):
        return None
    parts = tuple(found[name] for name in reduction.names("b") if name in found)
    return parts if len(parts) == len(reduction.parts) else None


def matched(pattern: Value, value: Value, found: dict[str, Value]) -> bool:
    """Whether a value is a pattern with its scalars replaced by what `found` then says."""
    if isinstance(pattern, Load):
        return found.setdefault(pattern.buffer, value) == value
    if isinstance(pattern, Op) and isinstance(value, Op):
        if (pattern.name, pattern.elem, len(pattern.args)) != (value.name, value.elem, len(value.args)):
            return False
        return all(matched(part, other, found) for part, other in zip(pattern.args, value.args, strict=True))
    return pattern == value


def inlined(value: Value, known: Mapping[str, Value]) -> Value:
    """A value with scalars replaced by what they hold."""
    if isinstance(value, Load):
        return known.get(value.buffer, value) if not value.index else value
    if isinstance(value, Op):
        return Op(value.name, value.elem, tuple(inlined(arg, known) for arg in value.args))
    if isinstance(value, Choose):
        return Choose(value.condition, inlined(value.then, known), inlined(value.orelse, known))
    if isinstance(value, Fold):
        return replace(value, init=inlined(value.init, known), step=inlined(value.step, known))
    return value


def renamed(value: Value, names: Mapping[str, str]) -> Value:
    """A value with scalars called otherwise."""
    return inlined(value, {old: Load(new) for old, new in names.items()})


def mentions(found: Sequence[Value], names: Mapping[str, object] | set[str]) -> bool:
    """Whether values read a buffer of these names."""
    return any(isinstance(part, Load) and part.buffer in names for value in found for part in values(value))


def touched(stmt: Stmt) -> set[str]:
    """Every buffer that a statement reads or writes, by name. Raises RuleError for what is not looked through."""
    found: set[str] = set()
    for part in statements(Block((stmt,))):
        if isinstance(part, Store):
            found |= {part.buffer, *_loads(part.value)}
        elif isinstance(part, Declare):
            found |= {part.name, *(() if part.init is None else _loads(part.init))}
        elif not isinstance(part, (For, If, Block)):
            raise RuleError(RULE, f"a {type(part).__name__.lower()} inside a reduction", part)
    return found


def _check_apart(stmt: Stmt, totals: tuple[str, ...], known: Mapping[str, Value]) -> None:
    """A statement that only leads to an element: it meets no total, and leaves alone what has been read for combining."""
    if touched(stmt) & {*totals, *known}:
        raise RuleError(RULE, "a statement that is no part of combining meets a total", stmt)
    if mentions(tuple(known.values()), _written(stmt)):
        raise RuleError(RULE, "what combining has read is written before the totals are assigned", stmt)


def _written(stmt: Stmt) -> set[str]:
    """Every buffer that a statement stores to."""
    return {part.buffer for part in statements(Block((stmt,))) if isinstance(part, Store)}


def _loads(value: Value) -> Iterator[str]:
    return (part.buffer for part in values(value) if isinstance(part, Load))


def moved(block: Block, names: Mapping[str, str], counter: str, term: Index) -> Block:
    """The body of the loop on other totals, at another index."""
    return Block(tuple(_moved_statement(stmt, names, counter, term) for stmt in block.body))


def _moved_statement(stmt: Stmt, names: Mapping[str, str], counter: str, term: Index) -> Stmt:
    by = {counter: term}

    def value(old: Value) -> Value:
        return indexed(renamed(old, names), counter, term)

    if isinstance(stmt, Store) and stmt.lanes is None:
        return Store(names.get(stmt.buffer, stmt.buffer), tuple(substitute(part, by) for part in stmt.index), value(stmt.value), span=stmt.span)
    if isinstance(stmt, Declare) and stmt.lanes is None and stmt.layout is None:
        return replace(stmt, shape=tuple(substitute(part, by) for part in stmt.shape), init=None if stmt.init is None else value(stmt.init))
    if isinstance(stmt, For):
        low, high = substitute(stmt.domain.low, by), substitute(stmt.domain.high, by)
        domain = Blocks(low, high, substitute(stmt.domain.size, by)) if isinstance(stmt.domain, Blocks) else Range(low, high)
        return For(stmt.counter, domain, moved(stmt.body, names, counter, term), stmt.span)
    if isinstance(stmt, If):
        condition = substitute_formula(stmt.condition, by)
        return If(condition, moved(stmt.then, names, counter, term), moved(stmt.orelse, names, counter, term), stmt.span)
    if isinstance(stmt, Block):
        return moved(stmt, names, counter, term)
    raise RuleError(RULE, "a statement inside a reduction that is not moved", stmt)


# --- laws ---


def variable_of(reduction: Reduction, letter: str) -> LawVariable:
    """A value of a reduction as a variable of a law: numbers, or the empty value where it holds an infinity."""
    fields = tuple(zip(reduction.names(letter), (elem for _, elem in reduction.parts), strict=True))
    words = tuple(word for word in reduction.empty if isinstance(word, Word))
    points = (("empty", words),) if any(map(_is_infinite, words)) else ()
    return LawVariable(letter, fields, points)


def _is_infinite(word: Value) -> bool:
    element = ELEMENTS.get(word.elem) if isinstance(word, Word) else None
    return isinstance(word, Word) and element is not None and element.kind == "float" and word.bits & (element.sign - 1) == element.infinity


def parts_of(variable: LawVariable) -> Parts:
    """The parts of a variable."""
    return tuple(Load(name) for name, _ in variable.fields)


def _law(domain: str, variables: tuple[LawVariable, ...], left: Parts, right: Parts) -> tuple[Obligation, ...]:
    if domain == "words":
        plain = tuple(LawVariable(variable.name, variable.fields) for variable in variables)
        return law_over_words(plain, left, right).obligations
    return law_over_reals(variables, tuple(map(bare, left)), tuple(map(bare, right))).obligations


def equations(reduction: Reduction) -> tuple[Equation, ...]:
    """What regrouping asks of a reduction: combining is associative, and an empty value in between changes nothing."""
    variables = tuple(variable_of(reduction, letter) for letter in "abc")
    a, b, c = (parts_of(variable) for variable in variables)

    def both(left: Parts, right: Parts) -> Parts:
        return combine(reduction, left, right)

    return (
        Equation("associative", variables, both(a, both(b, c)), both(both(a, b), c)),
        Equation("identity", variables[:2], both(a, both(reduction.empty, b)), both(a, b)),
    )


def _laws(reduction: Reduction, domain: str, is_guarded: bool) -> Iterator[Obligation]:
    """The obligations of the equations; over the reals, what is combined is again a number or a point.

    A guard may leave a block without elements: combining with its empty value changes nothing then. Over words, what is not read is
    found before equations are written out.
    """
    if domain == "words":
        law_over_words(tuple(variable_of(reduction, letter) for letter in "ab"), reduction.combined, reduction.combined)
    else:
        reduction = bared(reduction)
    if is_guarded:
        whole = variable_of(reduction, "a")
        yield from _law(domain, (whole,), combine(reduction, parts_of(whole), reduction.empty), parts_of(whole))
    if domain == "reals":
        variables = tuple(variable_of(reduction, letter) for letter in "ab")
        closed_over_reals(variables, combine(reduction, *(parts_of(variable) for variable in variables)))
    for law in equations(reduction):
        yield from _law(domain, law.variables, law.left, law.right)


def is_combining(program: Program, step: Parts, wanted: Parts, totals: tuple[str, ...], reduction: Reduction, domain: str) -> Iterator[Obligation]:
    """That a step combines its totals with its element; what it reads besides is any word, or any number."""
    if step == wanted:
        return
    elems = {name: buffer.elem for name, buffer in lowered(RULE, program).buffers.items()}
    leaves: dict[Value, str] = {}
    left, right = (tuple(_abstract(value, totals, reduction, leaves) for value in side) for side in (step, wanted))
    variables = [variable_of(reduction, "a")]
    for leaf, name in leaves.items():
        elem = elems.get(leaf.buffer) if isinstance(leaf, Load) else leaf.elem if isinstance(leaf, (Fold, OfIndex, Op)) else None
        if elem is None:
            raise RuleError(RULE, "the step reads what has no known type", leaf)
        variables.append(LawVariable(name, ((name, elem),)))
    yield from _law(domain, tuple(variables), left, right)


def _abstract(value: Value, totals: tuple[str, ...], reduction: Reduction, leaves: dict[Value, str]) -> Value:
    """A step over the variables of a law: totals are `a`, everything else it reads is a variable of its own."""
    if isinstance(value, Load) and value.buffer in totals:
        return parts_of(variable_of(reduction, "a"))[totals.index(value.buffer)]
    is_leaf = isinstance(value, (Load, Fold, OfIndex)) or (isinstance(value, Op) and value.name not in _READ)
    if is_leaf and not mentions((value,), set(totals)):
        return Load(leaves.setdefault(value, f"x{len(leaves)}"))
    if isinstance(value, Op):
        return Op(value.name, value.elem, tuple(_abstract(arg, totals, reduction, leaves) for arg in value.args))
    if isinstance(value, Word):
        return value
    raise RuleError(RULE, "the step is not read as combining", value)


def bare(value: Value) -> Value:
    """A value as one of real numbers: what is computed for an exponential or a logarithm is read as that."""
    if isinstance(value, Op):
        args = value.args[-1:] if value.name in WHOLE else value.args
        return Op(value.name, value.elem, tuple(bare(arg) for arg in args))
    return value


def bared(reduction: Reduction) -> Reduction:
    """A reduction whose values are combined as real numbers are; of what is computed for an exponential nothing is left to be copied."""
    return replace(reduction, combined=tuple(map(bare, reduction.combined)))


def functions_of(reduction: Reduction) -> frozenset[Mark]:
    """The functions whose words are taken for those of real ones."""
    block = () if reduction.block is None else (*reduction.block.element, *reduction.block.result, *(term.value for term in reduction.block.terms))
    parts = (part for value in (*reduction.combined, *block) for part in values(value))
    used = dict.fromkeys(part for part in parts if isinstance(part, Op) and part.name in WHOLE)
    return frozenset(Mark("function", f"{call.name} {call.elem}", "its words stand for the real function", function_identity(call)) for call in used)
