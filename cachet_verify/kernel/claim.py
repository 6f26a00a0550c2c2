"""Statements, goals and claims: what can be said to hold, and the one way to come to say it.

Takes obligations and verdicts; gives claims. Only `discharge` makes a claim, out of a goal that
a rule issued and a `Proved` verdict for every obligation of that goal; a goal is made only by
`issue`, which unions the trust of its premises in one place. The seal stops mistakes, not
adversaries: what is published rests on replaying the certificate in a fresh process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import InitVar, dataclass, field

from cachet_verify.core.element import Arithmetic
from cachet_verify.core.identity import identity
from cachet_verify.core.index import Formula, Index
from cachet_verify.core.instruction import is_use
from cachet_verify.core.ir import Kept, Param, Program, Reduction, Require, Traffic, Value, Word, arithmetics, uses
from cachet_verify.core.machine import Footprint, Machine
from cachet_verify.kernel.obligation import Obligation, Proved, Verdict


class RuleError(Exception):
    """A kernel rule does not apply: which rule, why, and the terms that show it."""

    def __init__(self, rule: str, why: str, *terms: object) -> None:
        """Keep the parts apart: nobody rewords them."""
        super().__init__(f"{rule}: {why}")
        self.rule = rule
        self.why = why
        self.terms = terms


@dataclass(frozen=True, slots=True)
class WellFormed:
    """Every access of every instance is in bounds and every divisor is non-zero."""

    program: Program


@dataclass(frozen=True, slots=True)
class Same:
    """From equal words in the parameters, both programs end with equal words in the parameters.

    It is said of programs that are well formed; `computes` asks for that. Scratch parameters are
    left out: after a call they hold unspecified words. It holds for all sizes that meet the
    requirements of `after`, which include those of `before`.
    """

    before: Program
    after: Program


@dataclass(frozen=True, slots=True)
class Entails:
    """The premises entail the goal, for all integers: a side condition, a layout, a written proof."""

    premises: tuple[Formula, ...]
    goal: Formula


@dataclass(frozen=True, slots=True)
class Computes:
    """Both programs are well formed and the same: what a schedule's claim, or a relation's, states."""

    meaning: Program
    program: Program


@dataclass(frozen=True, slots=True)
class Initialised:
    """Every word in a parameter at the end, scratch apart, goes back to words that were written or may be read.

    May be read: the first content of parameters that are neither `out` nor scratch. It is said of
    well-formed programs.
    """

    program: Program


@dataclass(frozen=True, slots=True)
class Minimal:
    """The values meet the conditions at the cost `cost`, a fraction, and no other integers that meet them come before.

    One choice comes before another by less of the cost `numerator / denominator`, or by equal cost
    and lexicographic order. Divisors are not 0, and the denominator is above 0, wherever the
    conditions hold.
    """

    names: tuple[str, ...]
    conditions: tuple[Formula, ...]
    numerator: Index
    denominator: Index
    values: tuple[int, ...]
    cost: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Fits:
    """At every point of every run, what the program keeps on each level of the machine, and in its registers, has room there.

    `footprints` say how much layouts take. The buffers of `passed`, each on its level, are left out: callers show that they fit.
    """

    program: Program
    machine: Machine
    footprints: tuple[Footprint, ...] = ()
    passed: tuple[Kept, ...] = ()


@dataclass(frozen=True, slots=True)
class WithinBudget:
    """For every buffer and way, no more leases are entered than the rows allow, at all sizes the program requires.

    A way is a pair of levels, or the way back between them. A lease goes from the level where its
    buffer lives, `home` where nothing else is said. It is said of programs that are well formed.
    """

    program: Program
    rows: tuple[Traffic, ...]
    home: str


@dataclass(frozen=True, slots=True)
class Invariant:
    """A part of the result `buffer` along the sizes `dims` depends on that part of the inputs only.

    Take two choices of sizes that the program allows and that differ in `dims` at most, a position inside each of `dims` for each,
    and words for the parameters that agree where they correspond: two cells do when they are equal but in dimensions of extent
    `dims`, where each is at its own position. Then corresponding cells of `buffer` end with the same word. It is said of
    well-formed programs.
    """

    program: Program
    buffer: str
    dims: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LawVariable:
    """A variable of a law: `fields` are its parts, by name and element type; a word by itself is one part.

    Over the reals it ranges over tuples of real numbers, and over `points`, each a name and the words of its parts.
    """

    name: str
    fields: tuple[tuple[str, str], ...]
    points: tuple[tuple[str, tuple[Word, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class LawHolds:
    """Two expressions agree, component by component, for all values of the variables.

    `domain` is `reals`, where each operation is the real one, or `words`, where each is the function of words that
    programs compute under IEEE 754, or `semiring S`, for every S whose operations meet the laws of a semiring.
    """

    domain: str
    variables: tuple[LawVariable, ...]
    left: tuple[Value, ...]
    right: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class SameOverReals:
    """Each operation read as the real one, from equal real numbers in the parameters both programs end with equal numbers.

    It is said of programs that are well formed, of parameters that are not scratch, for all sizes that meet the requirements of
    `after`, and of numbers for which every operation of both has a value and each element of a regrouped reduction is a tuple of
    numbers, or the empty value; where a block is combined at once, the parameters of its elements are numbers. It says nothing about words.
    """

    before: Program
    after: Program


@dataclass(frozen=True, slots=True)
class BlockHolds:
    """What the lines of a block come to is what its elements come to, combined one after the other with what stands before, over the reals.

    It is said of blocks of at least one element, of elements whose parameters are real numbers, and of what stands before being real
    numbers or the empty value.
    """

    reduction: Reduction


Statement = WellFormed | Same | SameOverReals | Entails | Computes | Initialised | Minimal | Fits | WithinBudget | Invariant | LawHolds | BlockHolds


@dataclass(frozen=True, slots=True)
class Mark:
    """One thing a claim rests on beside the kernel: its kind (law, template, admitted, platform) and name.

    `identity` tells templates of one name apart: two marks with two identities are two things.
    """

    kind: str
    name: str
    reason: str = ""
    identity: str = ""


_SEAL = object()


class ForgedError(Exception):
    """Something other than the kernel tried to make a goal or a claim."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A statement, and the obligations and claims it follows from by one rule."""

    rule: str
    statement: Statement
    obligations: tuple[Obligation, ...]
    premises: tuple[Claim, ...]
    trust: frozenset[Mark]
    seal: InitVar[object] = None
    sealed: object = field(init=False, repr=False, compare=False)

    def __post_init__(self, seal: object) -> None:
        """Refuse a goal that no rule issued, copies with parts replaced included."""
        if seal is not _SEAL:
            raise ForgedError("a goal is issued by a kernel rule only")
        object.__setattr__(self, "sealed", seal)


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement that holds, the rule that concluded it, and all it rests on."""

    rule: str
    statement: Statement
    premises: tuple[Claim, ...]
    trust: frozenset[Mark]
    proved: tuple[Proved, ...]
    obligations: tuple[Obligation, ...]
    seal: InitVar[object] = None
    sealed: object = field(init=False, repr=False, compare=False)

    def __post_init__(self, seal: object) -> None:
        """Refuse a claim that was not discharged, copies with parts replaced included."""
        if seal is not _SEAL:
            raise ForgedError("a claim is made by discharging a goal only")
        object.__setattr__(self, "sealed", seal)


def _check_sealed(thing: object, kind: type[Goal] | type[Claim]) -> None:
    """Refuse what is not exactly a goal, or a claim, that this module made."""
    if type(thing) is not kind or getattr(thing, "sealed", None) is not _SEAL:
        raise ForgedError(f"this is no {kind.__name__.lower()} that the kernel made")


def issue(
    rule: str,
    statement: Statement,
    obligations: Iterable[Obligation],
    premises: Iterable[Claim] = (),
    trust: Iterable[Mark] = (),
) -> Goal:
    """Make a goal. For kernel rules only; the architecture test holds every caller to that."""
    claims = tuple(premises)
    for claim in claims:
        _check_sealed(claim, Claim)
    if isinstance(statement, Same):
        _check_arithmetic(rule, statement)
    marks = frozenset(trust).union(templates_of(statement), *(claim.trust for claim in claims))
    return Goal(rule, statement, tuple(obligations), claims, marks, _SEAL)


def _check_arithmetic(rule: str, statement: Same) -> None:
    """Refuse programs that do not compute in one arithmetic throughout: an operation is known by its name alone."""
    said = statement.after.arithmetic
    found = {statement.before.arithmetic, *arithmetics(statement.before.body, statement.before.arithmetic)}
    found |= set(arithmetics(statement.after.body, said))
    if found != {said}:
        raise RuleError(rule, mixed(found | {said}))


def mixed(found: Iterable[Arithmetic | None]) -> str:
    """That several arithmetics meet where there can be only one."""
    names = sorted("the host's" if item is None else f"{item.name}'s" for item in found)
    return f"a mix of arithmetics, {' and '.join(names)}: one claim is about one of them"


def templates_of(statement: Statement) -> frozenset[Mark]:
    """The instructions with templates that the programs of a statement use: what runs is the template, and nobody proved that.

    Raises RuleError for a body marked as an instruction that it is not.
    """
    if isinstance(statement, (Same, SameOverReals)):
        programs: tuple[Program, ...] = (statement.before, statement.after)
    elif isinstance(statement, Computes):
        programs = (statement.meaning, statement.program)
    elif isinstance(statement, (WellFormed, Initialised)):
        programs = (statement.program,)
    else:
        programs = ()
    marked = [use for program in programs for use in uses(program.body) if use.instruction is not None and use.instruction.templates]
    for use in marked:
        if use.instruction is not None and not is_use(use.body, use.instruction):
            raise RuleError("instruction", f"what is marked as {use.instruction.name} is not its reference body", use)
    used = dict.fromkeys(use.instruction for use in marked if use.instruction is not None)
    return frozenset(Mark("template", item.name, identity=identity(item)) for item in used)


class NotProvedError(Exception):
    """An obligation of the goal has no `Proved` verdict."""

    def __init__(self, obligation: Obligation, verdict: Verdict | None) -> None:
        """Name the first obligation that is missing, and what was answered."""
        super().__init__(obligation.subject)
        self.obligation = obligation
        self.verdict = verdict


def discharge(goal: Goal, verdicts: Mapping[str, Verdict]) -> Claim:
    """Make a claim of a goal, given verdicts by obligation digest. Raises NotProvedError."""
    _check_sealed(goal, Goal)
    proved: list[Proved] = []
    for obligation in goal.obligations:
        digest = obligation.digest()
        verdict = verdicts.get(digest)
        if not isinstance(verdict, Proved) or verdict.digest != digest or not _is_backed(verdict):
            raise NotProvedError(obligation, verdict)
        proved.append(verdict)
    return Claim(goal.rule, goal.statement, goal.premises, goal.trust, tuple(proved), goal.obligations, _SEAL)


def _is_backed(verdict: Proved) -> bool:
    """At least one solver said unsat, and none said sat."""
    said = {answer.answer for answer in verdict.answers}
    return "unsat" in said and "sat" not in said


def check_requirements(rule: str, before: Program, after: Program) -> None:
    """Refuse a step that loses a requirement, a size, or changes what a shared parameter is."""
    if not set(before.requires) <= set(after.requires):
        raise RuleError(rule, "a requirement of the program before is missing after")
    if not set(before.sizes) <= set(after.sizes):
        raise RuleError(rule, "a size of the program before is missing after")
    if before.arithmetic != after.arithmetic:
        raise RuleError(rule, "the arithmetics differ")
    kept = {param.name: param for param in after.params}
    for param in before.params:
        other = kept.get(param.name)
        if other is None or _kind(other) != _kind(param):
            raise RuleError(rule, f"parameter {param.name} is missing or differs after")
    known = {param.name for param in before.params}
    for param in after.params:
        if param.name not in known and not param.scratch:
            raise RuleError(rule, f"parameter {param.name} is new and not scratch")


def _kind(param: Param) -> tuple[object, ...]:
    """What two programs must agree on about a parameter, whether its final words count included."""
    return (param.elem, param.shape, param.mode, param.scratch)


def _contract(param: Param) -> tuple[object, ...]:
    """What a caller relies on: a parameter that turns into scratch would escape comparison."""
    return (param.elem, param.shape, param.mode, param.scratch)


def reflexivity(program: Program) -> Goal:
    """A program is the same as itself."""
    return issue("reflexivity", Same(program, program), ())


def transitivity(first: Claim, second: Claim) -> Goal:
    """Chain two claims whose middle programs are one and the same."""
    left, right = first.statement, second.statement
    if not isinstance(left, Same) or not isinstance(right, Same):
        raise RuleError("transitivity", "both premises compare two programs")
    if left.after != right.before:
        raise RuleError("transitivity", "the first claim does not end where the second begins")
    return issue("transitivity", Same(left.before, right.after), (), (first, second))


def transitivity_over_reals(first: Claim, second: Claim) -> Goal:
    """Chain two claims over the reals whose middle programs are one and the same."""
    left, right = first.statement, second.statement
    if not isinstance(left, SameOverReals) or not isinstance(right, SameOverReals):
        raise RuleError("transitivity-over-reals", "both premises compare two programs over the reals")
    if left.after != right.before:
        raise RuleError("transitivity-over-reals", "the first claim does not end where the second begins")
    return issue("transitivity-over-reals", SameOverReals(left.before, right.after), (), (first, second))


def entails(premises: tuple[Formula, ...], goal: Formula, subject: str, by: tuple[Formula, ...] | None = None) -> Goal:
    """The statement itself, asked as one obligation; `by` are the premises it is asked by, where some are enough.

    Raises RuleError where `by` has others.
    """
    if by is None:
        return issue("entails", Entails(premises, goal), (Obligation(subject, premises, goal),))
    if not set(by) <= set(premises):
        raise RuleError("entails", "what it is asked by is no premise")
    return issue("entails", Entails(premises, goal), (Obligation(subject, by, goal, can_refute=False),))


def computes(formed: tuple[Claim, Claim], routes: tuple[Claim, ...]) -> Goal:
    """Join the claims that two programs are well formed and, by each route taken, the same."""
    meaning, program = (claim.statement for claim in formed)
    if not isinstance(meaning, WellFormed) or not isinstance(program, WellFormed):
        raise RuleError("computes", "the first premises say that the programs are well formed")
    if not routes:
        raise RuleError("computes", "no route was taken")
    same = Same(meaning.program, program.program)
    if any(claim.statement != same for claim in routes):
        raise RuleError("computes", "a route does not compare these programs")
    check_runs("computes", program.program)
    return issue("computes", Computes(meaning.program, program.program), (), (*formed, *routes))


def check_runs(rule: str, program: Program) -> None:
    """Refuse a program that does not run where its arithmetic is: a meaning may be evaluated anywhere, what is called runs where it stands."""
    if any(found != program.arithmetic for found in arithmetics(program.body, None)):
        raise RuleError(rule, f"{program.name} does not run where its arithmetic is")


def scratch_names(program: Program) -> frozenset[str]:
    """The parameters whose final words are unspecified."""
    return frozenset(param.name for param in program.params if param.scratch)


def needs(program: Program) -> tuple[Require, ...]:
    """What the program requires of its caller."""
    return program.requires
