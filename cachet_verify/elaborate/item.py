"""What a file declares, elaborated: one record for each kind of declaration.

Takes nothing but its parts; gives frozen records in which programs are core programs.
Must not elaborate or look names up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cachet_verify.core.element import Arithmetic
from cachet_verify.core.index import Formula, Index
from cachet_verify.core.ir import Instruction, Layout, Param, Program, Reduction, Require, Value, Word
from cachet_verify.elaborate.problem import Unsupported
from cachet_verify.elaborate.reference import Reference
from cachet_verify.elaborate.scope import SideCondition
from cachet_verify.optimum.problem import Outcome, Problem
from cachet_verify.source import Span
from cachet_verify.syntax import ast


@dataclass(frozen=True, slots=True)
class Entry:
    """A declaration and the path of the file that holds it."""

    name: str
    declaration: ast.Declaration
    path: str


@dataclass(frozen=True, slots=True)
class Implementation:
    """An `impl`: its interface, its name (`PlusTimes f32`), the element type it computes on, its functions, and its laws' words by the first."""

    interface: str
    name: str
    elem: str
    members: Mapping[str, ast.Fn]
    path: str
    span: Span | None = field(default=None, compare=False)
    laws: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Argument:
    """One thing a call passes: a buffer (`shape` given) or, with mode `size`, a natural number."""

    name: str
    mode: str
    elem: str = ""
    shape: tuple[Index, ...] = ()
    layout: Layout | None = None


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two arguments of a call that are one buffer though one of them is written."""

    first: str
    second: str
    root: str
    message: str


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call: who is called, with which buffers, and what must hold there.

    `requirements` are the callee's, about the caller's sizes, and the equalities of shapes.
    `overlaps` is empty unless the call lends one buffer twice; then the call is refused.
    """

    callee: str
    text: str
    buffers: tuple[str, ...]
    requirements: tuple[SideCondition, ...]
    overlaps: tuple[Overlap, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ProgramItem:
    """A contraction or a function over buffers.

    `program` is None when something in it has no meaning yet (`unsupported`), or while
    `waits_for`, the schedules it calls, are not applied. `is_host` says that it prints: it is run,
    not proved. `rests_on` names the called items that this one rests on, those of other files
    behind the path of their file. `instruction` is what uses of an `instr fn` carry. `failed` says that a
    diagnostic was reported: nothing more is known.
    """

    name: str
    kind: str
    declaration: ast.Declaration
    arguments: tuple[Argument, ...] = ()
    program: Program | None = None
    conditions: tuple[SideCondition, ...] = ()
    calls: tuple[CallSite, ...] = ()
    waits_for: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()
    invariants: tuple[InvariantRow, ...] = ()
    instruction: Instruction | None = None
    is_host: bool = False
    failed: bool = False
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ScheduleItem:
    """A schedule before its steps are applied.

    `program` is the program its steps start from, with the generics of `@(…)` bound; its name is
    the instance's, `matmul_PlusTimes_f32`. `buffers` are the schedule's own, in order; they follow
    the program's parameters in a call.
    """

    name: str
    of: str
    declaration: ast.Schedule
    program: Program | None
    bindings: Mapping[str, str]
    buffers: tuple[Param, ...]
    lines: tuple[ast.ScheduleLine, ...]
    arguments: tuple[Argument, ...] = ()
    device: Arithmetic | None = None
    units: tuple[Reference, ...] = ()
    conditions: tuple[SideCondition, ...] = ()
    families: tuple[FamilyItem, ...] = ()
    invariants: tuple[InvariantRow, ...] = ()
    rests_on: tuple[str, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()
    failed: bool = False
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class LayoutItem:
    """A declared map from indices to an address.

    In `address` and `size` the layout's parameters, extents and indices are variables of those
    names. `conditions` say that it is injective and stays inside its size, for all extents and
    all parameters above 0 that meet `requires`; `premises` are these where something is required.
    """

    name: str
    params: tuple[str, ...]
    extents: tuple[str, ...]
    indices: tuple[str, ...]
    address: Index
    size: Index
    conditions: tuple[SideCondition, ...]
    requires: tuple[Formula, ...] = ()
    span: Span | None = field(default=None, compare=False)
    premises: tuple[Formula, ...] = ()


@dataclass(frozen=True, slots=True)
class AssertItem:
    """`proof p = assert E`: a formula over numbers, its text as messages show it, and what both sides come to.

    `premises` are what is known of its variables; `conditions` are the layouts behind what it counts,
    and `assumes` the platform facts.
    """

    name: str
    formula: Formula
    text: str
    sides: str = ""
    span: Span | None = field(default=None, compare=False)
    premises: tuple[Formula, ...] = ()
    conditions: tuple[SideCondition, ...] = ()
    assumes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SynthCondition:
    """A condition on the values that are searched, and its text as messages show it."""

    formula: Formula
    text: str
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class SynthItem:
    """`synth const NAMES = minimize …`: what was searched and what came of it.

    `values` are those of the names, empty where nothing was found. `conditions` are those of the
    search, naturals included; `sides` is what must hold for them to mean what they say.
    """

    names: tuple[str, ...]
    values: tuple[int, ...]
    problem: Problem
    conditions: tuple[SynthCondition, ...]
    sides: tuple[SideCondition, ...]
    outcome: Outcome
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RelateItem:
    """`proof p = relate F to G`: the program and its meaning, parameters matched.

    Parameters of `meaning` are renamed to those of `program` they correspond to. Each side is
    None when it is a schedule (`schedules` names it) or has no meaning yet. `held` is what the shapes
    of the program hold the sizes of the meaning to.
    """

    name: str
    program_name: str
    meaning_name: str
    program: Program | None
    meaning: Program | None
    conditions: tuple[SideCondition, ...] = ()
    schedules: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()
    held: tuple[Require, ...] = ()
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class FamilyItem:
    """`proof p = family … of SCHEDULE`: the constants that vary, and over what.

    `choices` are the values of each name in turn; None for an open family, whose `condition`
    then says what the names, left symbolic, satisfy.
    """

    name: str
    of: str
    names: tuple[str, ...]
    choices: tuple[tuple[int, ...], ...] | None
    condition: Formula
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class InvariantRow:
    """`invariant c in M, N`: parts of the result `buffer` along the sizes `dims` depend on those parts only."""

    buffer: str
    dims: tuple[str, ...]
    span: Span | None = field(default=None, compare=False)

    @property
    def text(self) -> str:
        """The row as written."""
        return f"invariant {self.buffer} in {', '.join(self.dims)}"


@dataclass(frozen=True, slots=True)
class InvariantItem:
    """`proof p = invariant c in M of F`: `program` is None where F is a schedule, or has no meaning yet (`unsupported`)."""

    name: str
    of: str
    program: Program | None
    row: InvariantRow
    unsupported: tuple[Unsupported, ...] = ()
    rests_on: tuple[str, ...] = ()
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class AdmitItem:
    """`proof p = admit "reason"`: believed, and visible as such."""

    name: str
    reason: str
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class LawSubject:
    """A variable of a law: its parts by name and element type, and values beside the real numbers, by name."""

    name: str
    fields: tuple[tuple[str, str], ...]
    points: tuple[tuple[str, tuple[Word, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class LawSides:
    """The equation of a law: both sides, part by part, over its variables."""

    subjects: tuple[LawSubject, ...]
    left: tuple[Value, ...]
    right: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class LawItem:
    """A law as stated: `of` is the implementation or None; `reason` the one given for trusting it.

    `sides` is None where the law states no equation, and has a reason only, or is about `block`: that a whole block is combined as
    its elements one after the other are.
    """

    text: str
    of: str | None
    domain: str
    reason: str | None
    span: Span | None = field(default=None, compare=False)
    sides: LawSides | None = None
    unsupported: Unsupported | None = None
    block: Reduction | None = None


@dataclass(frozen=True, slots=True)
class OtherItem:
    """A declaration that is accepted and has no meaning yet: `kind` says what it is."""

    name: str
    kind: str
    unsupported: tuple[Unsupported, ...]
    span: Span | None = field(default=None, compare=False)


ProofItem = AssertItem | RelateItem | FamilyItem | InvariantItem | AdmitItem | OtherItem
