"""Reschedule: the same statements, each instance once, every conflict in the order it had.

Takes two programs and, for each store family of the one after, index maps to a family of the one
before; gives the goal that both programs compute the same words. The maps are hints: what has to
hold of them is asked here, and nothing else is believed.

This one law covers interchange, strips and splits of loops, fission, fusion, distribution and
vectorisation. An instance is moved, never changed, and two accesses to one cell of which one
writes keep their order, so every read sees the write that it saw.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cachet_verify.core.family import Families, Family, before, substitute_value
from cachet_verify.core.index import (
    FALSE,
    Formula,
    Index,
    Var,
    all_equal,
    conj,
    disj,
    eq,
    neg,
    variables,
)
from cachet_verify.core.ir import Choose, Load, OfIndex, Op, Program, Value
from cachet_verify.kernel.agree import agree
from cachet_verify.kernel.ask import Asked, composed, fresh, identity, moved, moved_formulas, renaming
from cachet_verify.kernel.claim import Goal, RuleError, Same, check_requirements, issue
from cachet_verify.kernel.conflict import Touch, conflicts, store_text, touches
from cachet_verify.kernel.scope import bound_names, lowered

RULE = "reschedule"


@dataclass(frozen=True, slots=True)
class Image:
    """Where the instances of a family come from: hints for `reschedule`.

    `origin` names a family of the program before. `forward` gives each counter of the origin as a
    term over the counters of the family after; `backward` gives each of those over the origin's.
    A counter that both have may be left out of either map: it stands for itself.
    """

    origin: str
    forward: Mapping[str, Index] = field(default_factory=dict)
    backward: Mapping[str, Index] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Describe:
    """Sentences for the subjects of obligations: shown, never trusted.

    `trips` is by the name of a counter of either program; `body` is for the statements and, where
    `order` is empty, for the order of conflicting accesses too.
    """

    trips: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    order: str = ""


@dataclass(frozen=True, slots=True)
class _Pair:
    """A family after, its origin, and the two maps, complete."""

    after: Family
    before: Family
    forward: dict[str, Index]
    backward: dict[str, Index]


def reschedule(
    before_: Program, after: Program, images: Mapping[str, Image], describe: Describe | None = None
) -> Goal:
    """Both programs compute the same words, because each instance is moved and no conflict turns.

    `images` has an entry for each family of `lower(after)`, by its name. Several families may
    share an origin: their images then have to be apart and to cover it. Raises RuleError where a
    family or a counter has no image, or statements differ in more than index terms.
    """
    check_requirements(RULE, before_, after)
    old, new = lowered(RULE, before_), lowered(RULE, after)
    pairs = _pairs(old, new, images)
    names = bound_names(RULE, before_) | bound_names(RULE, after)
    told = describe if describe is not None else Describe()
    asked = Asked(new.premises())
    for pair in pairs:
        _ask_domains(asked, pair, pairs, new, told)
    _ask_covered(asked, old, pairs)
    for pair in pairs:
        _ask_statement(asked, pair, old, new, told)
    _ask_locals(asked, pairs, old, new, names)
    _ask_order(asked, pairs, (old, new), told)
    return issue(RULE, Same(before_, after), asked.obligations())


def _pairs(old: Families, new: Families, images: Mapping[str, Image]) -> tuple[_Pair, ...]:
    """Match every family with its origin. Raises RuleError for anything missing or left over."""
    sizes = frozenset(new.program.sizes)
    found: list[_Pair] = []
    for family in new.members:
        image = images.get(family.name)
        if image is None:
            raise RuleError(RULE, f"a store to {family.buffer} after the step stands for no store before it", family)
        try:
            origin = old.named(image.origin)
        except KeyError as error:
            raise RuleError(RULE, f"no family before is named {image.origin}", family) from error
        forward = _complete(image.forward, origin, family, sizes)
        backward = _complete(image.backward, family, origin, sizes)
        found.append(_Pair(family, origin, forward, backward))
    unknown = set(images) - {family.name for family in new.members}
    if unknown:
        raise RuleError(RULE, "images are given for families that the program after does not have", *sorted(unknown))
    lost = {family.name for family in old.members} - {pair.before.name for pair in found}
    if lost:
        raise RuleError(RULE, "statements of the program before are missing after", *sorted(lost))
    return tuple(found)


def _complete(given: Mapping[str, Index], of: Family, over: Family, sizes: frozenset[str]) -> dict[str, Index]:
    """A map with an entry for each counter of a family, over the counters of another."""
    scope = frozenset(over.names())
    found: dict[str, Index] = {}
    for name in of.names():
        term = given.get(name)
        if term is None and name in scope:
            term = Var(name)
        if term is None:
            raise RuleError(RULE, f"which iteration of {name} it stands for is not known, in a store to {of.buffer}", of)
        if not variables(term) <= scope | sizes:
            raise RuleError(RULE, f"the image of counter {name} of {of.name} is not in scope", term)
        found[name] = term
    if not set(given) <= set(found):
        raise RuleError(RULE, f"an image is given for a counter that {of.name} does not have", of)
    return found


def _by_counter(family: Family) -> list[tuple[str, list[Formula]]]:
    """The domain's constraints, each with the innermost counter it speaks of."""
    groups: dict[str, list[Formula]] = {name: [] for name in ("", *family.names())}
    for constraint in family.domain:
        spoken = variables(constraint)
        last = [name for name in family.names() if name in spoken]
        groups[last[-1] if last else ""].append(constraint)
    return list(groups.items())


def _ask_domains(asked: Asked, pair: _Pair, pairs: tuple[_Pair, ...], new: Families, told: Describe) -> None:
    """The maps lead from domain to domain, and each undoes the other."""
    alone = sum(1 for other in pairs if other.before is pair.before) == 1
    there, here = _by_counter(pair.before), _by_counter(pair.after)
    for place in range(max(len(there), len(here))):
        if place < len(there):
            name, goals = there[place]
            asked.ask(_trip(told, name), pair.after.domain, conj(moved_formulas(goals, pair.forward)))
        if place < len(here) and alone:
            name, goals = here[place]
            asked.ask(_trip(told, name), pair.before.domain, conj(moved_formulas(goals, pair.backward)))
    forth = composed(pair.backward, pair.forward)
    back = composed(pair.forward, pair.backward)
    subject = f"each iteration of {store_text(new, pair.after)} stands for one iteration before, and the reverse"
    asked.ask(subject, pair.after.domain, conj(eq(Var(name), term) for name, term in forth.items()))
    landed = () if alone else moved_formulas(pair.after.domain, pair.backward)
    asked.ask(subject, (*pair.before.domain, *landed), conj(eq(Var(name), term) for name, term in back.items()))


def _trip(told: Describe, counter: str) -> str:
    if not counter:
        return "the statements are guarded by the same conditions"
    return told.trips.get(counter, f"the loops at {counter} run over the same indices")


def _ask_covered(asked: Asked, old: Families, pairs: tuple[_Pair, ...]) -> None:
    """Where one family becomes several, each instance is in exactly one of them."""
    for family in old.members:
        parts = [pair for pair in pairs if pair.before is family]
        if len(parts) == 1:
            continue
        landed = [conj(moved_formulas(part.after.domain, part.backward)) for part in parts]
        asked.ask(f"every iteration of {store_text(old, family)} is still there", family.domain, disj(landed))
        for place, ours in enumerate(landed):
            for theirs in landed[:place]:
                subject = f"no iteration of {store_text(old, family)} is there twice"
                asked.ask(subject, (*family.domain, ours), neg(theirs))


def _ask_statement(asked: Asked, pair: _Pair, old: Families, new: Families, told: Describe) -> None:
    """Moved to the counters after, the statement before writes the same cell with the same word."""

    def cells(ours: str, here: tuple[Index, ...], theirs: str, there: tuple[Index, ...]) -> Formula:
        return _same_cell(old, new, (ours, here), (theirs, there))

    origin = pair.before
    value = substitute_value(origin.value, pair.forward)
    goal = conj(
        (
            cells(pair.after.buffer, pair.after.cell, origin.buffer, moved(origin.cell, pair.forward)),
            agree(RULE, pair.after.value, value, cells),
        )
    )
    subject = told.body or f"{store_text(new, pair.after)} stores the word that it stored before"
    asked.ask(subject, pair.after.domain, goal)


def _same_cell(
    old: Families, new: Families, ours: tuple[str, tuple[Index, ...]], theirs: tuple[str, tuple[Index, ...]]
) -> Formula:
    """Two accesses name one buffer and have equal indices; the private counters are apart from it."""
    if ours[0] != theirs[0]:
        raise RuleError(RULE, f"{ours[0]} is accessed where {theirs[0]} was", ours, theirs)
    here, there = new.buffers[ours[0]], old.buffers[theirs[0]]
    if (here.is_param, here.elem) != (there.is_param, there.elem):
        raise RuleError(RULE, f"{ours[0]} is not the same kind of buffer before and after", here, there)
    left, right = ours[1][len(here.private) :], theirs[1][len(there.private) :]
    if len(left) != len(right):
        raise RuleError(RULE, f"{ours[0]} has another number of dimensions after", ours, theirs)
    return all_equal(left, right)


def _cell_before(pair: _Pair, touch: Touch, old: Families, new: Families) -> tuple[Index, ...]:
    """The cell that an access of the program after touched in the program before, on the counters after."""
    here, there = new.buffers[touch.buffer], old.buffers[touch.buffer]
    private = tuple(pair.forward[name] for name in there.private)
    return (*private, *touch.cell[len(here.private) :])


def _ask_locals(asked: Asked, pairs: tuple[_Pair, ...], old: Families, new: Families, names: frozenset[str]) -> None:
    """Two accesses to a local touch one cell after exactly when they did before."""
    for name, buffer in new.buffers.items():
        if buffer.is_param:
            continue
        mine = [(pair, touch) for pair in pairs for touch in touches(pair.after) if touch.buffer == name]
        if not mine or _is_one_renaming([pair for pair, _ in mine], old.buffers[name].private, buffer.private, new):
            continue
        for place, ours in enumerate(mine):
            for theirs in mine[: place + 1]:
                _ask_one_cell(asked, ours, theirs, (old, new), names)


def _is_one_renaming(pairs: list[_Pair], old: tuple[str, ...], new: tuple[str, ...], after: Families) -> bool:
    """Whether the private counters of a local correspond, one to one, the same way in all accesses."""
    sizes = frozenset(after.program.sizes)
    there = {tuple(pair.forward[name] for name in old) for pair in pairs}
    back = {tuple(pair.backward[name] for name in new) for pair in pairs}
    if len(there) != 1 or len(back) != 1:
        return False
    forward_closed = all(variables(term) <= sizes.union(new) for terms in there for term in terms)
    return forward_closed and all(variables(term) <= sizes.union(old) for terms in back for term in terms)


def _ask_one_cell(
    asked: Asked,
    ours: tuple[_Pair, Touch],
    theirs: tuple[_Pair, Touch],
    programs: tuple[Families, Families],
    names: frozenset[str],
) -> None:
    other = renaming(fresh(theirs[0].after.names(), names))
    premises = (*_instance(ours[1], {}), *_instance(theirs[1], other))
    after = all_equal(ours[1].cell, moved(theirs[1].cell, other))
    was = all_equal(_cell_before(*ours, *programs), moved(_cell_before(*theirs, *programs), other))
    subject = f"each iteration has a {ours[1].buffer} of its own, as before"
    asked.ask(subject, (*premises, after), was)
    asked.ask(subject, (*premises, was), after)


def _instance(touch: Touch, by: Mapping[str, Index]) -> tuple[Formula, ...]:
    """That an access happens: the domain of its family and its own condition."""
    return moved_formulas((*touch.family.domain, *touch.under), by)


def _ask_order(asked: Asked, pairs: tuple[_Pair, ...], programs: tuple[Families, Families], told: Describe) -> None:
    """Conflicting accesses that were ordered are ordered the same way."""
    names = bound_names(RULE, programs[0].program) | bound_names(RULE, programs[1].program)
    owner = {pair.after.name: pair for pair in pairs}
    members = [pair.after for pair in pairs]
    for ours, theirs in conflicts(members, members):
        left, right = owner[ours.family.name], owner[theirs.family.name]
        other = renaming(fresh(right.after.names(), names))
        phases = (ours.phase, theirs.phase)
        was = before(left.before, right.before, (left.forward, composed(right.forward, other)), phases)
        if was == FALSE:
            continue
        kept = before(left.after, right.after, (identity(left.after), other), phases)
        touched = all_equal(
            _cell_before(left, ours, *programs), moved(_cell_before(right, theirs, *programs), other)
        )
        premises = (*_instance(ours, {}), *_instance(theirs, other), touched, was)
        texts = ours.text(programs[1]), theirs.text(programs[1])
        subject = told.order or told.body or f"{texts[0]} still comes before {texts[1]} where both touch one cell"
        asked.ask(subject, premises, disj((kept, _repeats(left, right, (ours, theirs), other))))


def _repeats(left: _Pair, right: _Pair, pair: tuple[Touch, Touch], other: Mapping[str, Index]) -> Formula:
    """The one exception that looks at values: two updates of a cell that are the same update.

    Where both instances of a family apply one and the same function to the cell they write, their
    order is not seen. Only conflicts on the written cell itself are waived, and never in grids or
    lanes, where an update is not one step.
    """
    family = left.after
    unordered = family.grids() | family.lanes() | left.before.grids() | left.before.lanes()
    own = all(touch.buffer == family.buffer and touch.cell == family.cell for touch in pair)
    if left is not right or unordered or not own or not _terms(family.value) <= _all_variables(family.cell):
        return FALSE

    def cells(ours: str, here: tuple[Index, ...], theirs: str, there: tuple[Index, ...]) -> Formula:
        return all_equal(here, there) if ours == theirs else FALSE

    return agree(RULE, family.value, substitute_value(family.value, other), cells)


def _all_variables(terms: tuple[Index, ...]) -> frozenset[str]:
    return frozenset().union(*(variables(term) for term in terms))


def _terms(value: Value) -> frozenset[str]:
    """The index variables that a value without folds mentions."""
    if isinstance(value, Load):
        return _all_variables(value.index)
    if isinstance(value, OfIndex):
        return variables(value.term)
    if isinstance(value, Op):
        return frozenset().union(*(_terms(arg) for arg in value.args))
    if isinstance(value, Choose):
        return variables(value.condition) | _terms(value.then) | _terms(value.orelse)
    return frozenset()
