"""The law of whole blocks: what an implementation says of a block is what its elements come to one after the other, over the reals.

Takes a reduction with the lines of its block; gives obligations. Must not believe a line: each total is read as numbers
added, or a largest or smallest one, and what is said of a block of any length follows from the obligations by induction.

The induction is over the elements of a block, of which there is at least one. For one element the result is that element
combined with what stands before. For one more, let `g` be what the block's totals come to so far. A total whose steps do not speak of
other totals goes on by its next step. One whose steps do, such as a sum of weights at the largest score, is taken again at the new totals: it
is asked that each step is then the old one times a factor in which the element does not occur, so that the whole sum is, too.
What the totals come to is asked to be numbers in every case, that of nothing standing before included: the steps are about numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from cachet_verify.core.index import ZERO, Var
from cachet_verify.core.ir import BlockTerm, Blockwise, Fold, Load, Op, Range, Reduction, Value, Word, values
from cachet_verify.kernel.claim import BlockHolds, Goal, LawVariable, RuleError, issue
from cachet_verify.kernel.law import closed_over_reals, law_over_reals, numbers_over_reals
from cachet_verify.kernel.obligation import Obligation
from cachet_verify.kernel.regroup import bare, combine, inlined, parts_of, variable_of

RULE = "block-law"
Known = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Total:
    """A total over a block, read over the reals: from `start`, `op` of what came before and `each`, over the keys as scalars."""

    term: BlockTerm
    op: str
    start: Value
    each: Value


def block_law(reduction: Reduction) -> Goal:
    """Conclude that a block is combined as its elements are. Raises RuleError where the lines are not read, UnmodelledError for an operation."""
    return issue(RULE, BlockHolds(reduction), dict.fromkeys(block_obligations(reduction)))


def block_obligations(reduction: Reduction) -> Iterator[Obligation]:
    """What makes the law hold: totals of numbers, the first element, one element more, and sums taken again."""
    form = form_of(reduction)
    reading = _Reading(reduction, form)
    yield from reading.first()
    yield from reading.more()
    for total in reading.totals:
        yield from reading.again(total)
        yield from reading.numbers(total)


def form_of(reduction: Reduction) -> Blockwise:
    """The lines of a reduction's blocks, with every name and form checked. Raises RuleError."""
    form = reduction.block
    if form is None:
        raise RuleError(RULE, "the reduction does not say how a block is combined", reduction)
    keys = [name for name, _ in form.keys]
    before = list(reduction.names("a"))
    bound = [*before, *keys, *(term.name for term in form.terms)]
    folds = [term.value for term in form.terms if isinstance(term.value, Fold)]
    is_clear = not any(fold.acc in bound or fold.counter == form.length for fold in folds)
    if not keys or len(set(bound)) != len(bound) or form.length in bound or not is_clear:
        raise RuleError(RULE, "every name of a block is bound once", form)
    if len(form.element) != len(reduction.parts) or len(form.result) != len(reduction.parts):
        raise RuleError(RULE, "an element, and the result, have as many parts as the reduction", form)
    for value in form.element:
        _check_scalars(value, set(keys))
    known = set(before)
    for term in form.terms:
        if term.kind == "let":
            _check_scalars(term.value, known)
        else:
            _check_total(term, known, set(keys), form.length)
        known.add(term.name)
    for value in form.result:
        _check_scalars(value, known)
    return form


def _check_total(term: BlockTerm, known: set[str], keys: set[str], length: str) -> None:
    fold = term.value
    if not isinstance(fold, Fold) or fold.domain != Range(ZERO, Var(length)) or fold.elem != term.elem:
        raise RuleError(RULE, "a total goes once over the whole block", term)
    _check_scalars(fold.init, known)
    here = (Var(fold.counter),)
    for part in values(fold.step):
        if isinstance(part, Load) and part.buffer in keys and part.index != here:
            raise RuleError(RULE, "a total reads the element at its own index", part)
        if isinstance(part, Load) and part.buffer not in keys and (part.index or part.buffer not in known | {fold.acc}):
            raise RuleError(RULE, "a total reads an element, or what is known before", part)
        if not isinstance(part, (Load, Op, Word)):
            raise RuleError(RULE, "a total's step is no plain operation", part)


def _check_scalars(value: Value, known: set[str]) -> None:
    for part in values(value):
        if isinstance(part, Load) and (part.index or part.buffer not in known):
            raise RuleError(RULE, "a line reads what is not known where it stands", part)
        if not isinstance(part, (Load, Op, Word)):
            raise RuleError(RULE, "a line is no plain operation", part)


def read_total(term: BlockTerm) -> Total:
    """A total as one of real numbers. Raises RuleError for a step that neither adds nor takes the larger or smaller."""
    fold = term.value
    if not isinstance(fold, Fold):
        raise RuleError(RULE, "this is no total", term)
    held, step = Load(fold.acc), fold.step
    op = ""
    each: Value = held
    if isinstance(step, Op) and step.name == "fma" and step.args[2] == held:
        op, each = "add", Op("mul", step.elem, step.args[:2])
    elif isinstance(step, Op) and step.name in ("add", "max", "min") and held in step.args:
        op, each = step.name, step.args[1] if step.args[0] == held else step.args[0]
    if not op or any(part == held for part in values(each)):
        raise RuleError(RULE, "a total goes on by adding an element, or by the larger or the smaller of two", term)
    return Total(term, op, fold.init, at_scalars(each, fold.counter))


def at_scalars(value: Value, counter: str) -> Value:
    """A step with the element's parameters as scalars."""
    if isinstance(value, Load):
        return Load(value.buffer) if value.index == (Var(counter),) else value
    if isinstance(value, Op):
        return replace(value, args=tuple(at_scalars(arg, counter) for arg in value.args))
    return value


class _Reading:
    """A block's lines over real numbers."""

    def __init__(self, reduction: Reduction, form: Blockwise) -> None:
        self.reduction, self.form = reduction, form
        self.totals = tuple(read_total(term) for term in form.terms if term.kind != "let")
        self.before = variable_of(reduction, "a")
        self.keys = tuple(LawVariable(f"x.{name}", ((f"x.{name}", elem),)) for name, elem in form.keys)
        self.element = {name: Load(f"x.{name}") for name, _ in form.keys}

    def known(self, suffix: str, sums: Known) -> dict[str, Value]:
        """What each line comes to where each total's own part, without its start, is `sums`."""
        found: dict[str, Value] = {}
        for term in self.form.terms:
            if term.kind == "let":
                found[term.name] = inlined(term.value, found)
                continue
            total = next(total for total in self.totals if total.term is term)
            own = sums.get(term.name, Load(f"{term.name}{suffix}"))
            found[term.name] = Op(total.op, term.elem, (inlined(total.start, found), own))
        return found

    def each(self, total: Total, known: Known) -> Value:
        """What one element adds to a total, at what the lines before come to."""
        return inlined(total.each, {**known, **self.element})

    def combined(self, left: tuple[Value, ...]) -> tuple[Value, ...]:
        """The element combined with something."""
        return combine(self.reduction, left, tuple(inlined(value, self.element) for value in self.form.element))

    def result(self, known: Known) -> tuple[Value, ...]:
        return tuple(inlined(value, known) for value in self.form.result)

    def first(self) -> Iterator[Obligation]:
        """A block of one element."""
        before = parts_of(self.before)
        closed_over_reals((self.before, *self.keys), tuple(map(bare, self.combined(before))))
        sums: dict[str, Value] = {}
        for total in self.totals:
            sums[total.term.name] = self.each(total, self.known("", sums))
        yield from self.law((self.before, *self.keys), self.combined(before), self.result(self.known("", sums)))

    def more(self) -> Iterator[Obligation]:
        """A block of one element more, where the totals of the shorter one are any numbers."""
        shorter = self.known("", {})
        sums: dict[str, Value] = {}
        for total in self.totals:
            old: Value = Load(total.term.name)
            factor = self.factor(total)
            if factor is not None:
                at = {f"{name}'": value for name, value in sums.items()}
                old = Op("mul", total.term.elem, (inlined(factor, at), old))
            sums[total.term.name] = Op(total.op, total.term.elem, (old, self.each(total, self.known("", sums))))
        left = self.combined(self.result(shorter))
        yield from self.law((self.before, *self.keys, *self.sums()), left, self.result(self.known("", sums)))

    def again(self, total: Total) -> Iterator[Obligation]:
        """A sum's step at other totals is the step times the factor, for every element."""
        factor = self.factor(total)
        if factor is None:
            return
        old, new = self.each(total, self.known("", {})), self.each(total, self.known("'", {}))
        yield from self.law((self.before, *self.keys, *self.sums(), *self.sums("'")), (new,), (Op("mul", total.term.elem, (factor, old)),))

    def numbers(self, total: Total) -> Iterator[Obligation]:
        """What each element adds is a number, and so is the factor, where the sums are: else the sums would not be what the steps above are about."""
        variables_ = (self.before, *self.keys, *self.sums())
        says = f"what an element adds to {total.term.name} is a number"
        yield from numbers_over_reals(variables_, bare(self.each(total, self.known("", {}))), says)
        factor = self.factor(total)
        if factor is not None:
            says = f"what {total.term.name} is rescaled by is a number"
            yield from numbers_over_reals((*variables_, *self.sums("'")), bare(factor), says)

    def sums(self, suffix: str = "") -> tuple[LawVariable, ...]:
        """What each total comes to without its start: any number."""
        named = ((f"{total.term.name}{suffix}", total.term.elem) for total in self.totals)
        return tuple(LawVariable(name, ((name, elem),)) for name, elem in named)

    def factor(self, total: Total) -> Value | None:
        """What a step at other totals (those with a quote) is divided by what it is; None where it speaks of no totals.

        Read off the exponentials of a step at an element of zeros; whether it is the factor for every element is asked.
        """
        old, new = self.known("", {}), self.known("'", {})
        if self.each(total, old) == self.each(total, new):
            return None
        if total.op != "add":
            raise RuleError(RULE, "a largest or smallest element that depends on other totals is not read", total.term)
        nothing = {name: Word(elem, 0) for name, elem in self.form.keys}
        pairs = zip(*(exponents(inlined(total.each, {**known, **nothing})) for known in (old, new)), strict=True)
        parts = [Op("exp", total.term.elem, (Op("sub", total.term.elem, (second, first)),)) for first, second in pairs if first != second]
        if not parts:
            raise RuleError(RULE, "a sum that depends on other totals is of no exponentials", total.term)
        found: Value = parts[0]
        for part in parts[1:]:
            found = Op("mul", total.term.elem, (found, part))
        return found

    @staticmethod
    def law(variables_: tuple[LawVariable, ...], left: tuple[Value, ...], right: tuple[Value, ...]) -> tuple[Obligation, ...]:
        return law_over_reals(variables_, tuple(map(bare, left)), tuple(map(bare, right))).obligations


def exponents(value: Value) -> Iterator[Value]:
    """The arguments of the exponentials in a value, in textual order; none inside another."""
    if isinstance(value, Op) and value.name == "exp":
        yield value.args[-1]
    elif isinstance(value, Op):
        for arg in value.args:
            yield from exponents(arg)


def halved(total: Total) -> Iterator[Obligation]:
    """That a total may be taken in any order and grouping of its elements, and its start left out where it is nothing.

    The names are those of no other total; the start is nothing where it changes no number.
    """
    a, b, c = (LawVariable(name, ((name, total.term.elem),)) for name in "abc")
    first, second, third = (Load(name) for name in "abc")

    def both(left: Value, right: Value) -> Value:
        return Op(total.op, total.term.elem, (left, right))

    yield from law_over_reals((a, b, c), (both(first, both(second, third)),), (both(both(first, second), third),)).obligations
    yield from law_over_reals((a, b), (both(first, second),), (both(second, first),)).obligations


def is_nothing(total: Total) -> Iterator[Obligation]:
    """That a total's start, a word, changes no number."""
    if not isinstance(total.start, Word):
        raise RuleError(RULE, "a total that starts from no word keeps its start", total.term)
    a = LawVariable("a", (("a", total.term.elem),))
    yield from law_over_reals((a,), (Op(total.op, total.term.elem, (total.start, Load("a"))),), (Load("a"),)).obligations
