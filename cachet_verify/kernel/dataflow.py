"""Route B: two programs compared end to end, by a relation between their value flows.

Takes two programs and a proposal (for every load where its word comes from, and which operation
instances of the two programs are related); gives the goal that the programs are the same. It
knows nothing of schedules, and shares with the step rules only the core and the solvers.

The proposal is not trusted. Each *source* is proved: the pieces cover the reader, the writer's
instance exists, is earlier, writes the cell that is read, and every other write of that cell is
before it or after the read. The relation is proved closed: related operations are the same
operation, and each operand comes from related operations, the same literal, or the same cell of
the caller. At the end every cell of every parameter comes from related operations or was left
alone by both. A descent through an operand goes to an earlier instance, or deeper into one
expression, on both sides; so equal words follow by induction.

A load that only hands a word on is followed to where the word was made. Where that comes back to
the statement it started from, a copy is carried round a loop: the descent stops there, and the
copy is a member of the relation, related to what made its word, to a literal, to a cell of the
caller or to a copy of the other program. Such a pair is closed when the copy's own source is
related to the same thing: one side goes to an earlier instance, the other stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from cachet_verify.core.family import (
    Access,
    Counter,
    Families,
    Family,
    UnmodelledError,
    accesses,
    before,
    lower,
    substitute_value,
)
from cachet_verify.core.index import (
    FALSE,
    TRUE,
    ZERO,
    Formula,
    Index,
    Substitution,
    Var,
    all_equal,
    conj,
    conjuncts,
    disj,
    eq,
    implies,
    le,
    lt,
    neg,
    substitute,
    substitute_formula,
    variables,
)
from cachet_verify.core.ir import Choose, Load, OfIndex, Op, Program, Value, Word
from cachet_verify.kernel.claim import Goal, RuleError, Same, check_requirements, issue
from cachet_verify.kernel.effective import Guards, completed, effective
from cachet_verify.kernel.obligation import Obligation
from cachet_verify.kernel.scope import bound_names

RULE = "dataflow"
MEANING, PROGRAM = "S.", "T."
_OTHER = "W."


@dataclass(frozen=True, slots=True)
class Source:
    """One piece of where a word comes from: it holds where `guard` does and no earlier piece's did.

    `writer` is a family and `at` gives its counters as terms of the reader's; without a writer
    the word is the buffer's initial content.
    """

    guard: Formula
    writer: str | None = None
    at: tuple[tuple[str, Index], ...] = ()


Pieces = tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Flow:
    """The sources of one program: of each load, by family and position, and of each final cell."""

    loads: Mapping[tuple[str, int], Pieces]
    finals: Mapping[str, Pieces]


Node = tuple[str, tuple[int, ...]]
"""A family and a path in its value; the empty path of a value that is no operation is a copy, as a whole.

`("initial y", ())` is a cell of the caller's `y`, and `("word f32 0", ())` a literal: what copies may be related to.
"""

INITIAL, LITERAL = "initial ", "word "


@dataclass(frozen=True, slots=True)
class Proposal:
    """Sources for both programs and the relation, a formula for each pair of operation nodes.

    Counters of the meaning are prefixed `S.`, those of the program `T.`, in every term but those of `completed`: for the
    meaning and for the program, the writes whose gaps copies fill.
    """

    meaning: Flow
    program: Flow
    relation: Mapping[tuple[Node, Node], Formula]
    completed: tuple[Guards, Guards] = field(default_factory=lambda: ({}, {}))


@dataclass(frozen=True, slots=True)
class Terminal:
    """Where a descent ends: an operation node, a copy carried round a loop, a literal, an index as a word, or an initial cell."""

    kind: str
    node: Node | None = None
    at: tuple[tuple[str, Index], ...] = ()
    word: Value | None = None
    buffer: str = ""
    cell: tuple[Index, ...] = ()


def tagged(families: Families, prefix: str) -> Families:
    """The families with every counter's name prefixed."""
    members = []
    for member in families.members:
        by: Substitution = {name: Var(prefix + name) for name in member.names()}
        counters = tuple(
            Counter(
                prefix + counter.name,
                counter.kind,
                substitute(counter.low, by),
                None if counter.high is None else substitute(counter.high, by),
            )
            for counter in member.counters
        )
        members.append(
            replace(
                member,
                counters=counters,
                domain=tuple(substitute_formula(part, by) for part in member.domain),
                moment=tuple(prefix + part if isinstance(part, str) else part for part in member.moment),
                cell=tuple(substitute(term, by) for term in member.cell),
                value=substitute_value(member.value, by),
            )
        )
    return replace(families, members=tuple(members))


def cell_names(buffer: str, rank: int) -> tuple[str, ...]:
    """The variables that stand for any cell of a buffer at the end."""
    return tuple(f"{buffer}.{place}" for place in range(rank))


def node_value(families: Families, node: Node) -> Value:
    """The value at a path inside a family's value."""
    return _walk(families.named(node[0]).value, node[1])[0]


class Side:
    """One program of the comparison: its families, its proposed flow, and how a value descends."""

    def __init__(self, families: Families, flow: Flow, scratch: frozenset[str], prefix: str = "") -> None:
        """Keep the parts; `scratch` names the parameters whose content is unspecified, `prefix` marks this side's counters."""
        self.families = families
        self.prefix = prefix
        self.flow = flow
        self.scratch = scratch
        self.used: dict[tuple[str, int], None] = {}
        self.ended: dict[str, None] = {}

    def operand(self, node: Node, place: int) -> Iterator[tuple[Formula, Terminal]]:
        """Where operand `place` of an operation node comes from, piece by piece."""
        family = self.families.named(node[0])
        path = (*node[1], place)
        value, offset, under = _walk(family.value, path)
        return self._value(family, path, value, offset, {}, under, ())

    def is_copy(self, node: Node) -> bool:
        """Whether a node is a statement's whole value, and no operation."""
        return node[1] == () and not node[0].startswith((INITIAL, LITERAL)) and not isinstance(self.families.named(node[0]).value, Op)

    def followed(self, node: Node) -> Iterator[tuple[Formula, Terminal]]:
        """Where the word of a copy comes from, piece by piece; any other node stays where it is."""
        if self.is_copy(node):
            family = self.families.named(node[0])
            yield from self._value(family, (), family.value, 0, {}, (), (node[0],))
        else:
            yield TRUE, self.terminal(node)

    def names(self, node: Node) -> tuple[str, ...]:
        """The counters of a node: those of its family, or the indices of a cell of the caller."""
        if node[0].startswith(INITIAL):
            buffer = node[0].removeprefix(INITIAL)
            rank = len(self.families.buffers[buffer].shape) if buffer in self.families.buffers else 0
            return tuple(self.prefix + name for name in cell_names(buffer, rank))
        return () if node[0].startswith(LITERAL) else self.families.named(node[0]).names()

    def member(self, terminal: Terminal) -> tuple[Node, tuple[Index, ...]] | None:
        """A terminal as a member of a relation with a copy: its node, and the counters' values."""
        if terminal.node is not None:
            return terminal.node, tuple(term for _, term in terminal.at)
        if terminal.kind == "initial" and self.families.buffers[terminal.buffer].is_param:
            return (INITIAL + terminal.buffer, ()), terminal.cell
        if isinstance(terminal.word, Word):
            return (f"{LITERAL}{terminal.word.elem} {terminal.word.bits}", ()), ()
        return None

    def terminal(self, node: Node) -> Terminal:
        """A node that is no copy, as where a descent ends. Raises RuleError for what is none."""
        at = tuple((name, Var(name)) for name in self.names(node))
        if node[0].startswith(INITIAL):
            return Terminal("initial", buffer=node[0].removeprefix(INITIAL), cell=tuple(term for _, term in at))
        if node[0].startswith(LITERAL):
            elem, _, bits = node[0].removeprefix(LITERAL).partition(" ")
            if not bits.isdecimal():
                raise RuleError(RULE, "a proposal names a literal without its bits", node)
            return Terminal("word", word=Word(elem, int(bits)))
        return Terminal("op", node=node, at=at)

    def final(self, buffer: str) -> Iterator[tuple[Formula, Terminal]]:
        """Where a cell of a parameter comes from at the end, piece by piece."""
        rank = len(self.families.buffers[buffer].shape)
        cell = tuple(Var(name) for name in cell_names(buffer, rank))
        self.ended[buffer] = None
        if buffer not in self.flow.finals:
            raise UnmodelledError(f"the end of {buffer}, whose source was not found")
        return self._pieces(self.flow.finals[buffer], buffer, cell, {}, (), ())

    def _pieces(
        self,
        pieces: Pieces,
        buffer: str,
        cell: tuple[Index, ...],
        at: Substitution,
        guard: tuple[Formula, ...],
        chain: tuple[str, ...],
    ) -> Iterator[tuple[Formula, Terminal]]:
        earlier: tuple[Formula, ...] = ()
        for piece in pieces:
            here = substitute_formula(piece.guard, at)
            held = (*guard, *earlier, here)
            earlier = (*earlier, neg(here))
            if conj(held) == FALSE:
                continue
            if piece.writer is None:
                yield conj(held), Terminal("initial", buffer=buffer, cell=tuple(substitute(term, at) for term in cell))
                continue
            moved = {name: substitute(term, at) for name, term in piece.at}
            writer = self.families.named(piece.writer)
            if piece.writer in chain:
                yield conj(held), Terminal("copy", node=(piece.writer, ()), at=tuple((name, moved[name]) for name in writer.names()))
                continue
            yield from self._value(writer, (), writer.value, 0, moved, held, (*chain, piece.writer))

    def _value(
        self,
        family: Family,
        path: tuple[int, ...],
        value: Value,
        offset: int,
        at: Substitution,
        guard: tuple[Formula, ...],
        chain: tuple[str, ...],
    ) -> Iterator[tuple[Formula, Terminal]]:
        if isinstance(value, Load):
            self.used[family.name, offset] = None
            pieces = self.flow.loads.get((family.name, offset))
            if pieces is None:
                raise UnmodelledError(f"a load of {value.buffer} whose source was not found")
            yield from self._pieces(pieces, value.buffer, value.index, at, guard, chain)
        elif isinstance(value, Choose):
            condition = substitute_formula(value.condition, at)
            skip = offset + _loads(value.then)
            yield from self._value(family, (*path, 0), value.then, offset, at, (*guard, condition), chain)
            yield from self._value(family, (*path, 1), value.orelse, skip, at, (*guard, neg(condition)), chain)
        elif isinstance(value, Op):
            where = tuple((name, at.get(name, Var(name))) for name in family.names())
            yield conj(guard), Terminal("op", node=(family.name, path), at=where)
        elif isinstance(value, OfIndex):
            yield conj(guard), Terminal("index", word=OfIndex(value.elem, substitute(value.term, at)))
        else:
            yield conj(guard), Terminal("word", word=value)


def _walk(value: Value, path: tuple[int, ...]) -> tuple[Value, int, tuple[Formula, ...]]:
    """The value at a path, how many loads stand before it, and the choices that lead to it.

    A path numbers the operands of an operation, and the two branches of a choice 0 and 1.
    """
    offset = 0
    under: tuple[Formula, ...] = ()
    for place in path:
        parts = _parts(value)
        if place >= len(parts):
            raise RuleError(RULE, "a node's path leaves the value", path)
        if isinstance(value, Choose):
            under = (*under, value.condition if place == 0 else neg(value.condition))
        offset += sum(map(_loads, parts[:place]))
        value = parts[place]
    return value, offset, under


def _loads(value: Value) -> int:
    """How many accesses a value has."""
    if isinstance(value, Load):
        return 1
    return sum(map(_loads, _parts(value)))


def _parts(value: Value) -> tuple[Value, ...]:
    if isinstance(value, Op):
        return value.args
    return (value.then, value.orelse) if isinstance(value, Choose) else ()


def dataflow(meaning: Program, program: Program, proposal: Proposal) -> Goal:
    """Conclude that `program` computes the words of `meaning`, for a proposal that checks out.

    Raises RuleError when the proposal does not fit the programs, UnmodelledError for what this rule
    cannot model.
    """
    check_requirements(RULE, meaning, program)
    _check_names(meaning, program)
    scratch = frozenset(param.name for param in program.params if param.scratch)
    families = [completed(RULE, effective(lower(of)), gaps) for of, gaps in zip((meaning, program), proposal.completed, strict=True)]
    left = Side(tagged(families[0], MEANING), proposal.meaning, scratch, MEANING)
    right = Side(tagged(families[1], PROGRAM), proposal.program, scratch, PROGRAM)
    premises = lower(program).premises()
    checks = _Comparison(left, right, proposal.relation, premises)
    found = [*checks.outputs(meaning), *checks.closure()]
    found.extend(_sources(left, premises))
    found.extend(_sources(right, premises))
    return issue(RULE, Same(meaning, program), dict.fromkeys(found))


def _check_names(*programs: Program) -> None:
    """Names are in order on each side, and none reads like a counter of a side or of another write."""
    for program in programs:
        for name in bound_names(RULE, program):
            if name.startswith((MEANING, PROGRAM, _OTHER)):
                raise RuleError(RULE, f"{name} is a name of this rule's own", name)


def check_scope(families: Families, names: Iterable[str], terms: Iterable[Formula | Index]) -> None:
    """A proposal speaks of what it is about alone: a name from elsewhere would be taken for that."""
    known = frozenset(families.program.sizes).union(names)
    for term in terms:
        for name in sorted(variables(term) - known):
            raise RuleError(RULE, f"the proposal mentions {name}, which is not in scope there", term)


class _Comparison:
    """The obligations that the relation reaches every output and is closed under operands."""

    def __init__(
        self,
        left: Side,
        right: Side,
        relation: Mapping[tuple[Node, Node], Formula],
        premises: tuple[Formula, ...],
    ) -> None:
        self.left = left
        self.right = right
        self.relation = relation
        self.premises = premises

    def outputs(self, meaning: Program) -> Iterator[Obligation]:
        """Every cell of every parameter of the meaning ends with related words."""
        for param in meaning.params:
            if param.name in self.right.scratch:
                continue
            names = cell_names(param.name, len(param.shape))
            inside = tuple(part for name, size in zip(names, param.shape, strict=True) for part in (le(ZERO, Var(name)), lt(Var(name), size)))
            if not self.left.families.writers(param.name) and not self.right.families.writers(param.name):
                continue
            goal = self._agree(list(self.left.final(param.name)), list(self.right.final(param.name)))
            subject = f"every cell of {param.name} ends with the same word"
            yield Obligation(subject, (*self.premises, *inside), goal)

    def closure(self) -> Iterator[Obligation]:
        """Related operations have related operands."""
        for (ours, theirs), formula in self.relation.items():
            check_scope(self.right.families, (*self.left.names(ours), *self.right.names(theirs)), (formula,))
            held = (
                *self.premises,
                *_exists(self.left.families, ours),
                *_exists(self.right.families, theirs),
                *conjuncts(formula),
            )
            if self.left.is_copy(ours) or self.right.is_copy(theirs):
                yield self._copied(ours, theirs, held)
                continue
            first, second = _operation(self.left, ours), _operation(self.right, theirs)
            if not _is_same_operation(first, second):
                yield Obligation(f"{_shown(first)} and {_shown(second)} are never related", held, FALSE)
                continue
            for place in range(len(first.args) if isinstance(first, Op) else 0):
                goal = self._agree(list(self.left.operand(ours, place)), list(self.right.operand(theirs, place)))
                subject = f"operand {place + 1} of {_shown(first)} is the same word in both programs"
                yield Obligation(subject, held, goal)

    def _copied(self, ours: Node, theirs: Node, held: tuple[Formula, ...]) -> Obligation:
        """What a copy took its word from is related to the other side, which stays where it is unless it is a copy too."""
        goal = self._agree(list(self.left.followed(ours)), list(self.right.followed(theirs)))
        return Obligation("a copy carried round a loop is the same word in both programs", held, goal)

    def _agree(self, ours: list[tuple[Formula, Terminal]], theirs: list[tuple[Formula, Terminal]]) -> Formula:
        parts = []
        for guard, first in ours:
            for other, second in theirs:
                parts.append(implies(conj((guard, other)), self._match(first, second)))
        return conj(parts) if ours and theirs else FALSE

    def _match(self, first: Terminal, second: Terminal) -> Formula:
        if "copy" in (first.kind, second.kind):
            return self._related(first, second)
        if first.kind != second.kind:
            return FALSE
        if first.kind == "op" and first.node is not None and second.node is not None:
            formula = self.relation.get((first.node, second.node))
            return FALSE if formula is None else substitute_formula(formula, dict(first.at) | dict(second.at))
        if first.kind == "initial":
            buffers = self.left.families.buffers.get(first.buffer), self.right.families.buffers.get(second.buffer)
            is_shared = all(buffer is not None and buffer.is_param for buffer in buffers)
            if not is_shared or first.buffer != second.buffer or first.buffer in self.right.scratch:
                return FALSE
            return all_equal(first.cell, second.cell)
        if isinstance(first.word, OfIndex) and isinstance(second.word, OfIndex):
            return eq(first.word.term, second.word.term) if first.word.elem == second.word.elem else FALSE
        return TRUE if isinstance(first.word, Word) and first.word == second.word else FALSE

    def _related(self, first: Terminal, second: Terminal) -> Formula:
        """That a copy is related to something, or to another copy."""
        ours, theirs = self.left.member(first), self.right.member(second)
        formula = None if ours is None or theirs is None else self.relation.get((ours[0], theirs[0]))
        if formula is None or ours is None or theirs is None:
            return FALSE
        by = dict(zip(self.left.names(ours[0]), ours[1], strict=True)) | dict(zip(self.right.names(theirs[0]), theirs[1], strict=True))
        return substitute_formula(formula, by)


def _operation(side: Side, node: Node) -> Value | None:
    """The value at a node; none for a cell of the caller or a literal."""
    return None if node[0].startswith((INITIAL, LITERAL)) else node_value(side.families, node)


def _exists(families: Families, node: Node) -> tuple[Formula, ...]:
    """The domain of a node's family, and the choices under which the node is evaluated."""
    if node[0].startswith((INITIAL, LITERAL)):
        return ()
    family = families.named(node[0])
    return (*family.domain, *_walk(family.value, node[1])[2])


def _is_same_operation(first: Value | None, second: Value | None) -> bool:
    return (
        isinstance(first, Op) and isinstance(second, Op) and (first.name, first.elem, len(first.args)) == (second.name, second.elem, len(second.args))
    )


def _shown(value: Value | None) -> str:
    return value.name if isinstance(value, Op) else "a value"


@dataclass(frozen=True, slots=True)
class Reader:
    """What reads a cell: a load of a family, or the caller after the end (without a family)."""

    what: str
    buffer: str
    cell: tuple[Index, ...]
    held: tuple[Formula, ...]
    family: Family | None


def _sources(side: Side, premises: tuple[Formula, ...]) -> Iterator[Obligation]:
    """The obligations that the sources a side used are right."""
    families = side.families
    reads: dict[str, tuple[Access, ...]] = {}
    for name, place in side.used:
        family = families.named(name)
        if name not in reads:
            reads[name] = accesses(family.value)
        access = reads[name][place]
        held = (*premises, *family.domain, *access.under)
        reader = Reader(f"a load of {access.buffer}", access.buffer, access.cell, held, family)
        yield from check_pieces(families, reader, side.flow.loads[name, place])
    for buffer in side.ended:
        pieces = side.flow.finals[buffer]
        if not families.writers(buffer):
            if any(piece.writer is not None for piece in pieces):
                raise RuleError(RULE, "a source names a writer of another buffer", buffer)
            if not any(piece.guard == TRUE for piece in pieces):
                raise RuleError(RULE, "the sources of a buffer that nothing writes do not cover it", buffer)
            continue
        shape = families.buffers[buffer].shape
        cell = tuple(Var(name) for name in cell_names(buffer, len(shape)))
        inside = tuple(part for term, size in zip(cell, shape, strict=True) for part in (le(ZERO, term), lt(term, size)))
        reader = Reader(f"the end of {buffer}", buffer, cell, (*premises, *inside), None)
        yield from check_pieces(families, reader, pieces)


def check_pieces(families: Families, reader: Reader, pieces: Pieces, is_last: bool = True) -> Iterator[Obligation]:
    """The obligations that a reader's word comes from where the pieces say, and that they cover it. Raises RuleError.

    Without `is_last` other writes may come between: then each source is some earlier write of the cell.
    """
    names = reader.family.names() if reader.family is not None else frozenset().union(*map(variables, reader.cell))
    check_scope(families, names, (part for piece in pieces for part in (piece.guard, *(term for _, term in piece.at))))
    writers = families.writers(reader.buffer)
    covered = disj(piece.guard for piece in pieces)
    if covered != TRUE:
        yield Obligation(f"the sources of {reader.what} cover it", reader.held, covered, can_refute=False)
    earlier: tuple[Formula, ...] = ()
    for piece in pieces:
        held = (*reader.held, *earlier, *conjuncts(piece.guard))
        earlier = (*earlier, neg(piece.guard))
        writer = None if piece.writer is None else families.named(piece.writer)
        at = dict(piece.at)
        if writer is not None:
            if writer.buffer != reader.buffer or set(at) != set(writer.names()):
                raise RuleError(RULE, "a source does not fit its writer", piece.writer)
            goal = conj(
                (
                    *(substitute_formula(part, at) for part in writer.domain),
                    all_equal((substitute(term, at) for term in writer.cell), reader.cell),
                    _is_before_reader(writer, at, reader),
                )
            )
            yield Obligation(f"the source of {reader.what} writes that cell before it", held, goal, can_refute=False)
        for other in writers if is_last else ():
            yield from _no_other(reader, held, (writer, at), other)


def _is_before_reader(writer: Family, at: Substitution, reader: Reader) -> Formula:
    return TRUE if reader.family is None else before(writer, reader.family, (at, {}), (1, 0))


def _no_other(reader: Reader, held: tuple[Formula, ...], source: tuple[Family | None, Substitution], other: Family) -> Iterator[Obligation]:
    """Any other write of the cell is before the source, or after the read."""
    fresh: Substitution = {name: Var(_OTHER + name) for name in other.names()}
    touched = tuple(substitute(term, fresh) for term in other.cell)
    facts = [*(substitute_formula(part, fresh) for part in other.domain)]
    by = _solved(touched, reader.cell, frozenset(_OTHER + name for name in other.names()))
    facts.append(all_equal(touched, reader.cell))
    allowed: list[Formula] = []
    if reader.family is not None:
        allowed.append(before(reader.family, other, ({}, fresh), (0, 1)))
    writer, at = source
    if writer is not None:
        if writer.name == other.name:
            allowed.append(all_equal(fresh.values(), (at[name] for name in other.names())))
        allowed.append(before(other, writer, (fresh, at), (1, 1)))
    known = tuple(part for fact in facts for part in conjuncts(substitute_formula(fact, by)))
    goal = substitute_formula(disj(allowed), by)
    if goal != TRUE and FALSE not in known:
        yield Obligation(f"no other write comes between {reader.what} and its source", (*held, *known), goal, can_refute=False)


def _solved(touched: tuple[Index, ...], cell: tuple[Index, ...], fresh: frozenset[str]) -> Substitution:
    """Fresh counters that the equality of cells names outright: `z = term` with no fresh counter in it."""
    by: dict[str, Index] = {}
    for ours, theirs in zip(touched, cell, strict=True):
        if isinstance(ours, Var) and ours.name in fresh and ours.name not in by and not variables(theirs) & fresh:
            by[ours.name] = theirs
    return by
