"""A reduction worked through in blocks, each combined at once with what stands before it.

Takes a program, where a reduction stands, a block size and an order for each total; computes the program after, and gives the
goal that the two agree over the reals. Must not believe the lines that say how a block is combined: their law is asked.

The parameters of a block's elements stand in arrays of the block, but for what is a word of the caller's or a literal. A value of
an element that several totals use stands in an array too. A total is taken in ascending order, or by halving: element i of what is left
takes in element i + ceil(w / 2), until one is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cachet_verify.core.index import ONE, ZERO, Const, Formula, Index, Var, add, div, eq, lt, mod, mul, sub
from cachet_verify.core.ir import (
    Block,
    Blocks,
    BlockTerm,
    Blockwise,
    Choose,
    Declare,
    Fold,
    For,
    Load,
    Op,
    Program,
    Range,
    Reduction,
    Require,
    Stmt,
    Store,
    Value,
    Word,
    values,
)
from cachet_verify.kernel.ask import Asked
from cachet_verify.kernel.blockwise import at_scalars, block_obligations, form_of, halved, is_nothing, read_total
from cachet_verify.kernel.claim import Goal, RuleError, SameOverReals, issue
from cachet_verify.kernel.obligation import Obligation
from cachet_verify.kernel.place import Path, context_of, splice, statement_at
from cachet_verify.kernel.regroup import (
    Parts,
    check_regrouping,
    combine,
    combining,
    declared_before,
    folded,
    functions_of,
    holding,
    inlined,
    is_combining,
    matched,
    mentions,
    moved,
    own_element,
    touched,
)
from cachet_verify.kernel.scope import lowered
from cachet_verify.kernel.split import indexed

RULE = "fuse-block"
ORDERS = ("order", "halving")
TWO = Const(2)
Take = Callable[[str], str]
"""A name like the one given that nothing has yet. Lowering refuses a name that is taken."""


@dataclass(frozen=True, slots=True)
class Cut:
    """How a reduction is cut: the size of a block, its loop's name, whether every block is whole, and what that requires of the sizes.

    `orders` are of the totals over a block, by name; `arrays` names the arrays of the elements' parameters, one each.
    """

    size: Index
    block: str
    is_whole: bool
    orders: Mapping[str, str]
    arrays: tuple[str, ...]
    need: Require | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    """A reduction as it stands: its range and counter, its totals, what leads to an element, and the element's parameters."""

    low: Index
    high: Index
    counter: str
    totals: tuple[str, ...]
    lead: tuple[Stmt, ...]
    given: tuple[Value, ...]
    steps: tuple[Parts, Parts]


def fuse(program: Program, path: Path, reduction: Reduction, element: Parts | None, cut: Cut, take: Take, title: str = "") -> Goal:
    """Combine whole blocks. Raises RuleError, and UnmodelledError where a law is not read.

    The statement there is a store or a local of a fold, whose element is `element`, or a loop that updates totals declared right before it.
    """
    check_regrouping(program, reduction, "reals")
    form = form_of(reduction)
    stmt = statement_at(RULE, program, path)
    found = _of_loop(program, path, stmt, reduction, form) if isinstance(stmt, For) else _of_fold(stmt, reduction, element, form)
    obligations = _asked(program, path, found, cut)
    outer = _Writing(program, reduction, form, found, cut, take).loop(stmt)
    if isinstance(stmt, For):
        after = splice(RULE, program, path, 1, (outer,))
    else:
        (total,), (empty,), (elem,) = found.totals, reduction.empty, (elem for _, elem in reduction.parts)
        after = splice(RULE, program, path, 1, (Declare(total, elem, init=empty, mutable=True), outer, holding(stmt, Load(total))))
    after = replace(after, name=title or program.name, requires=(*program.requires, *((cut.need,) if cut.need is not None else ())))
    lowered(RULE, after)
    obligations += is_combining(program, *found.steps, found.totals, reduction, "reals")
    obligations += block_obligations(reduction)
    obligations += _orders(form, cut.orders)
    return issue(RULE, SameOverReals(program, after), dict.fromkeys(obligations), trust=functions_of(reduction))


def _asked(program: Program, path: Path, found: _Found, cut: Cut) -> list[Obligation]:
    around, (size, low, high) = context_of(RULE, program, path, (cut.size, found.low, found.high))
    asked = Asked(lowered(RULE, program).premises())
    needed: tuple[Formula, ...] = () if cut.need is None else (cut.need.condition,)
    asked.ask("blocks have at least one index", (*around, *needed), lt(ZERO, size))
    if cut.is_whole:
        asked.ask("every block is whole", (*around, *needed), eq(mod(sub(high, low), size), ZERO))
    return list(asked.obligations())


def _orders(form: Blockwise, orders: Mapping[str, str]) -> Iterator[Obligation]:
    """What it takes to take a total by halving."""
    for term in form.terms:
        order = orders.get(term.name, "order") if term.kind != "let" else "order"
        if order not in ORDERS:
            raise RuleError(RULE, f"a total is taken in one of {', '.join(ORDERS)}, not by {order}", term)
        if order == "halving":
            total = read_total(term)
            yield from halved(total)
            if isinstance(total.start, Word):
                yield from is_nothing(total)


# --- what stands there ---


def _of_loop(program: Program, path: Path, loop: For, reduction: Reduction, form: Blockwise) -> _Found:
    totals = declared_before(program, path, loop, reduction)
    new, element = combining(loop, totals, reduction)
    behind = set(totals)
    lead: list[Stmt] = []
    for stmt in loop.body.body:
        if isinstance(stmt, Store) and stmt.buffer in totals:
            continue
        if isinstance(stmt, Declare) and stmt.init is not None and mentions((stmt.init,), behind):
            behind.add(stmt.name)
            continue
        lead.append(stmt)
    steps = new, combine(reduction, tuple(Load(total) for total in totals), element)
    spelled = tuple(inlined(value, _operations(lead, _read_only(program))) for value in element)
    return _Found(loop.domain.low, loop.domain.high, loop.counter, totals, tuple(lead), _given(form, spelled), steps)


def _read_only(program: Program) -> set[str]:
    """The buffers of the caller's that nobody writes."""
    return {param.name for param in program.params if param.mode == "reads" and not param.scratch}


def _operations(lead: Sequence[Stmt], read_only: set[str]) -> dict[str, Value]:
    """What the locals before an element hold that are operations, so that an element shows how it is made.

    Operations on words that stay: those of the caller's that nobody writes, and locals that are never assigned again.
    """
    found: dict[str, Value] = {}
    fixed: set[str] = set()
    for stmt in lead:
        if not isinstance(stmt, Declare) or stmt.mutable or stmt.shape or stmt.lanes is not None or stmt.width is not None or stmt.init is None:
            continue
        fixed.add(stmt.name)
        parts = tuple(values(stmt.init))
        stays = all(part.buffer in (read_only if part.index else fixed | read_only) for part in parts if isinstance(part, Load))
        if isinstance(stmt.init, (Op, Word)) and stays and not any(isinstance(part, (Fold, Choose)) for part in parts):
            found[stmt.name] = inlined(stmt.init, found)
    return found


def _of_fold(stmt: Stmt, reduction: Reduction, element: Parts | None, form: Blockwise) -> _Found:
    fold = folded(stmt, reduction)
    element = own_element(fold, element)
    steps = (fold.step,), combine(reduction, (Load(fold.acc),), element)
    return _Found(fold.domain.low, fold.domain.high, fold.counter, (fold.acc,), (), _given(form, element), steps)


def _given(form: Blockwise, element: Parts) -> tuple[Value, ...]:
    """The parameters that make an element. Raises RuleError where none do."""
    found: dict[str, Value] = {}
    if not all(matched(pattern, value, found) for pattern, value in zip(form.element, element, strict=True)):
        raise RuleError(RULE, "the elements are not made as the law of blocks says", *element)
    if set(found) != {name for name, _ in form.keys}:
        raise RuleError(RULE, "a parameter of the elements is not told by their parts", form)
    return tuple(found[name] for name, _ in form.keys)


# --- what is written ---


class _Writing:
    """The loop over blocks."""

    def __init__(self, program: Program, reduction: Reduction, form: Blockwise, found: _Found, cut: Cut, take: Take) -> None:
        self.form, self.found, self.cut, self.take, self.reduction = form, found, cut, take, reduction
        self.read_only = _read_only(program)
        self.lets = {stmt.name: stmt.init for stmt in found.lead if isinstance(stmt, Declare) and not stmt.mutable and stmt.init is not None}
        self.start = add(found.low, mul(cut.size, Var(cut.block))) if cut.is_whole else Var(f"{cut.block}.lo")
        self.length: Index = cut.size if cut.is_whole else Var(f"{cut.block}.len")
        before = dict(zip(reduction.names("a"), (Load(total) for total in found.totals), strict=True))
        self.known: dict[str, Value] = dict(before)
        self.arrays: dict[str, str] = {}
        self.shared: dict[Value, str] = {}
        self.body: list[Stmt] = []

    def loop(self, stmt: Stmt) -> For:
        """All of it."""
        self.stage()
        wanted = self.common()
        for term in self.form.terms:
            if term.kind != "let":
                self.share(term, wanted)
            self.term(term)
        self.finish()
        low, high, size = self.found.low, self.found.high, self.cut.size
        domain = Range(ZERO, div(sub(high, low), size)) if self.cut.is_whole else Blocks(low, high, size)
        return For(self.cut.block, domain, Block(tuple(self.body)), getattr(stmt, "span", None))

    # --- the elements' parameters ---

    def plain(self, value: Value) -> Value | None:
        """A word of the caller's that nobody writes, or a literal; None for what is computed."""
        seen = self.lets.get(value.buffer, value) if isinstance(value, Load) and not value.index else value
        return seen if isinstance(seen, Word) or (isinstance(seen, Load) and seen.buffer in self.read_only) else None

    def stage(self) -> None:
        """The parameters that are computed, each in an array of the block."""
        staged = [
            (name, elem, array, value)
            for (name, elem), array, value in zip(self.form.keys, self.cut.arrays, self.found.given, strict=True)
            if self.plain(value) is None
        ]
        counter = self.found.counter
        inner = list(self.needed([value for *_, value in staged]))
        if not staged and not inner:
            return
        for name, elem, array, value in staged:
            self.body.append(Declare(array, elem, (self.cut.size,), mutable=True))
            inner.append(Store(array, (Var(counter),), value))
            self.arrays[name] = array
        held = {array for _, _, array, _ in staged}
        shifted = moved(Block(tuple(inner)), {}, counter, add(self.start, Var(counter)))
        fixed = tuple(replace(stmt, index=(Var(counter),)) if isinstance(stmt, Store) and stmt.buffer in held else stmt for stmt in shifted.body)
        self.body.append(For(counter, Range(ZERO, self.length), Block(_stored_at_once(fixed, held))))

    def needed(self, wanted: Sequence[Value]) -> Iterator[Stmt]:
        """What leads to values: all statements but the locals that nothing reads."""
        kept: list[Stmt] = []
        reading: list[Value] = list(wanted)
        for stmt in reversed(self.found.lead):
            if isinstance(stmt, Declare) and not stmt.mutable and not _is_read(stmt.name, reading, kept):
                continue
            kept.insert(0, stmt)
        yield from kept

    def key(self, name: str, counter: str) -> Value:
        """A parameter of the element at a counter of the block."""
        if name in self.arrays:
            return Load(self.arrays[name], (Var(counter),))
        place = [key for key, _ in self.form.keys].index(name)
        value = self.plain(self.found.given[place])
        if value is None:
            raise RuleError(RULE, "a parameter that is computed has no array", name)
        return indexed(value, self.found.counter, add(self.start, Var(counter)))

    # --- the lines ---

    def value(self, value: Value, counter: str | None = None, seen: str = "") -> Value:
        """A line's value: what is known in place of names, elements at a counter."""
        if counter is not None and self.marked(value, seen) in self.shared:
            return Load(self.shared[self.marked(value, seen)], (Var(counter),))
        if isinstance(value, Load):
            if value.index and counter is not None:
                return self.key(value.buffer, counter)
            return self.known.get(value.buffer, value)
        if isinstance(value, Op):
            return replace(value, args=tuple(self.value(arg, counter, seen) for arg in value.args))
        return value

    def marked(self, value: Value, counter: str) -> Value:
        """A value of an element, the same whatever counts the elements."""
        return at_scalars(value, counter) if counter else value

    def common(self) -> frozenset[Value]:
        """The operations on an element that more than one total has."""
        keys = {name for name, _ in self.form.keys}
        seen: dict[Value, int] = {}
        for term in self.form.terms:
            if isinstance(term.value, Fold):
                own = {at_scalars(part, term.value.counter) for part in values(term.value.step) if isinstance(part, Op)}
                for part in own:
                    if mentions((part,), keys) and not mentions((part,), {term.value.acc}):
                        seen[part] = seen.get(part, 0) + 1
        return frozenset(part for part, count in seen.items() if count > 1)

    def share(self, term: BlockTerm, wanted: frozenset[Value]) -> None:
        """Values of elements that this total and others use, each in an array, outermost first."""
        fold = term.value
        if not isinstance(fold, Fold):
            return
        waiting: list[Value] = [fold.step]
        while waiting:
            part = waiting.pop()
            marked = at_scalars(part, fold.counter)
            if isinstance(part, Op) and marked in wanted:
                if marked not in self.shared:
                    self.tabulate(part, fold.counter, marked)
            elif isinstance(part, Op):
                waiting.extend(reversed(part.args))

    def tabulate(self, part: Op, counter: str, marked: Value) -> None:
        """An array of one value of each element."""
        name, at = self.take("e"), self.take(counter)
        value = self.value(part, at, counter)
        self.body.append(Declare(name, part.elem, (self.cut.size,), mutable=True))
        self.body.append(For(at, Range(ZERO, self.length), Block((Store(name, (Var(at),), value),))))
        self.shared[marked] = name

    def term(self, term: BlockTerm) -> None:
        """One line."""
        name = self.take(term.name)
        if not isinstance(term.value, Fold):
            self.body.append(Declare(name, term.elem, init=self.value(term.value)))
        elif self.cut.orders.get(term.name, "order") == "halving":
            self.body.append(Declare(name, term.elem, init=self.tree(term)))
        else:
            fold = term.value
            is_part = self.is_part(term)
            at, acc = self.take(fold.counter), name if is_part else self.take("total")
            self.known[fold.acc] = Load(acc)
            step = self.value(fold.step, at, fold.counter)
            made = Fold(at, Range(ZERO, self.length), self.value(fold.init), acc, fold.elem, step)
            if is_part:
                self.known[term.name] = made
                return
            self.body.append(Declare(name, term.elem, init=made))
        self.known[term.name] = Load(name)

    def is_part(self, term: BlockTerm) -> bool:
        """Whether a total is one part of the result, and is read nowhere else: it is then computed where the part is assigned."""
        others = (*(value for value in self.form.result if value != Load(term.name)), *(other.value for other in self.form.terms))
        return self.form.result.count(Load(term.name)) == 1 and not mentions(others, {term.name})

    def tree(self, term: BlockTerm) -> Value:
        """A total by halving, in an array of the elements that is halved in place."""
        size = self.cut.size
        if not isinstance(size, Const) or not isinstance(term.value, Fold):
            raise RuleError(RULE, "a total is halved over blocks of a size that is a number", term)
        total = read_total(term)
        name, at = self.take("tree"), self.take(term.value.counter)
        each = self.value(_indexed(total.each, {key for key, _ in self.form.keys}, term.value.counter), at, term.value.counter)
        self.body.append(Declare(name, term.elem, (size,), mutable=True))
        self.body.append(For(at, Range(ZERO, self.length), Block((Store(name, (Var(at),), each),))))
        left, most = self.length, size.value
        while most > 1:
            half: Index = Const((most + 1) // 2) if self.cut.is_whole else div(add(left, ONE), TWO)
            at = self.take("h")
            pair = (Load(name, (Var(at),)), Load(name, (add(Var(at), half),)))
            self.body.append(For(at, Range(ZERO, div(left, TWO)), Block((Store(name, (Var(at),), Op(total.op, term.elem, pair)),))))
            left, most = half, (most + 1) // 2
        top = Load(name, (ZERO,))
        return top if isinstance(total.start, Word) else Op(total.op, term.elem, (self.value(total.start), top))

    def finish(self) -> None:
        """The new parts: what a part still reads is assigned after it."""
        made = {total: self.value(value) for total, value in zip(self.found.totals, self.form.result, strict=True)}
        waiting = list(made)
        while waiting:
            free = [total for total in waiting if not any(mentions((made[other],), {total}) for other in waiting if other != total)]
            if not free:
                kept = next(total for total in waiting if mentions((made[total],), set(waiting) - {total}))
                local = self.take(kept)
                elem = dict(zip(self.found.totals, (elem for _, elem in self.reduction.parts), strict=True))[kept]
                self.body.append(Declare(local, elem, init=made[kept]))
                made[kept] = Load(local)
                continue
            chosen = min(free, key=lambda total: (isinstance(made[total], Load), waiting.index(total)))
            self.body.append(Store(chosen, (), made[chosen]))
            waiting.remove(chosen)


def _indexed(value: Value, keys: set[str], counter: str) -> Value:
    """A value of an element, with its parameters at a counter again."""
    if isinstance(value, Load):
        return Load(value.buffer, (Var(counter),)) if value.buffer in keys and not value.index else value
    if isinstance(value, Op):
        return replace(value, args=tuple(_indexed(arg, keys, counter) for arg in value.args))
    return value


def _is_read(name: str, wanted: Sequence[Value], stmts: Sequence[Stmt]) -> bool:
    return mentions(wanted, {name}) or any(name in touched(stmt) for stmt in stmts)


def _stored_at_once(stmts: tuple[Stmt, ...], held: set[str]) -> tuple[Stmt, ...]:
    """A local that is only stored in an array, right behind it, as the store of its value."""
    found: list[Stmt] = []
    for stmt in stmts:
        last = found[-1] if found else None
        is_plain = isinstance(last, Declare) and not last.mutable and not last.shape and last.lanes is None and last.width is None
        if isinstance(stmt, Store) and stmt.buffer in held and isinstance(last, Declare) and is_plain and stmt.value == Load(last.name):
            uses = sum(1 for other in stmts if isinstance(other, Store) and mentions((other.value,), {last.name}))
            if uses == 1 and last.init is not None:
                found[-1] = replace(stmt, value=inlined(last.init, {}))
                continue
        found.append(stmt)
    return tuple(found)


