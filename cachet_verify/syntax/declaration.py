"""The declarations of a file.

Takes nothing but its parts; gives frozen values that compare without their places.
Must not parse, print, resolve a name or give a meaning.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cachet_verify.syntax.expression import Expr, ImplicitArg, Node, Type
from cachet_verify.syntax.schedule import Admit, Clause, RecipeLine, ScheduleLine
from cachet_verify.syntax.statement import Body, Storage


@dataclass(frozen=True, slots=True)
class Declaration(Node):
    """A declaration at the top level of a file, or a member of an interface or an impl."""


@dataclass(frozen=True, slots=True)
class Setting(Node):
    """`platform = AppleSilicon` in a `module` line."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class ModuleHeader(Declaration):
    """`module (platform = AppleSilicon)`."""

    settings: tuple[Setting, ...]


@dataclass(frozen=True, slots=True)
class Import(Declaration):
    """`import "cachet:steps"`, `import "../lib/panel-major.cachet"`."""

    path: str


# --- headers -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Generic(Node):
    """`{S : Semiring}`."""

    name: str
    interface: Expr


@dataclass(frozen=True, slots=True)
class Param(Node):
    """`(reads a: [f32; M, K])`, `(mut c: …)`, `(n: Nat)`, or a bare `acc`.

    `mode` is `reads`, `mut` or empty; a bare parameter has no storage.
    """

    name: str
    mode: str
    storage: Storage | None


@dataclass(frozen=True, slots=True)
class Result(Node):
    """`-> out c: [f32; M, N]` (named) or `-> Vec f32 64` (name None)."""

    name: str | None
    storage: Storage


@dataclass(frozen=True, slots=True)
class Keep(Node):
    """`keep packA = descriptor packA` in a working set."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class WorkingSetRow(Node):
    """`@L2 { keep packA = descriptor packA }`."""

    level: str
    keeps: tuple[Keep, ...]


@dataclass(frozen=True, slots=True)
class Traffic(Node):
    """`traffic packB_pull = COUNT from DRAM to L1 and back`; `name` None when it has none."""

    name: str | None
    count: Expr
    source: str
    target: str
    back: bool


@dataclass(frozen=True, slots=True)
class Invariant(Node):
    """`invariant c in M, N`: a part of `c` along these dimensions depends on that part only."""

    name: str
    dims: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Family(Node):
    """`family (MC, NC) in {4, 8} * {8, 16}` (also `×`), or open: `family MC > 0, NC > 0`.

    Listed: `names` and `choices` (one set for each name). Open: only `conditions`.
    """

    names: tuple[str, ...]
    choices: tuple[tuple[Expr, ...], ...]
    conditions: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Contract(Node):
    """What stands between the parameters and the `=`, each part repeatable, in any order.

    `requires K > 0` · `produces Init c` · `scratch packA, packB` · `working_set` rows ·
    `movement` rows · `invariant c in M` · `family …`.
    """

    requires: tuple[Expr, ...] = ()
    produces: tuple[Expr, ...] = ()
    scratch: tuple[str, ...] = ()
    working_set: tuple[WorkingSetRow, ...] = ()
    movement: tuple[Traffic, ...] = ()
    invariants: tuple[Invariant, ...] = ()
    families: tuple[Family, ...] = ()


NO_CONTRACT = Contract()


# --- functions ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Contraction(Declaration):
    """`contraction matmul {S : Semiring} (reads a: …) -> out c: … = c[i, j] = sum k. …`.

    The body holds equations (`Assign` to an indexed name), `Let` and `View`.
    """

    name: str
    generics: tuple[Generic, ...]
    params: tuple[Param, ...]
    result: Result
    contract: Contract
    body: Body


@dataclass(frozen=True, slots=True)
class Template(Node):
    """`by_target metal "…"`: the code that replaces an instruction's reference body."""

    target: str
    text: str


@dataclass(frozen=True, slots=True)
class Fn(Declaration):
    """`fn main () = …`, `fn add a b = a + b`; in an interface a signature, whose `body` is None.

    `templates` is not empty exactly for `instr fn`, and `is_instr` says that it is one.
    """

    name: str
    generics: tuple[Generic, ...]
    params: tuple[Param, ...]
    result: Result | None
    contract: Contract
    body: Body | None
    is_instr: bool = False
    templates: tuple[Template, ...] = ()


# --- schedules ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Schedule(Declaration):
    """`schedule packed of matmul @(S = PlusTimes f32) on M4Gpu (mut packA: …) = steps`.

    `of` is a name or a dotted name; `params` are its buffers; `lines` its steps.
    """

    name: str
    of: Expr
    implicit: tuple[ImplicitArg, ...]
    device: str | None
    params: tuple[Param, ...]
    contract: Contract
    lines: tuple[ScheduleLine, ...]


@dataclass(frozen=True, slots=True)
class ScheduleFn(Declaration):
    """`schedule fn block_product (i, j, k) c (MC, MR, NC, KC) = steps`.

    A parameter is a `Name` or a `Tuple` of them.
    """

    name: str
    params: tuple[Expr, ...]
    lines: tuple[ScheduleLine, ...]


@dataclass(frozen=True, slots=True)
class StepFn(Declaration):
    """`step fn hoist (j, k) c = from … to … relate …`.

    The head has the shape of the step: `params` and, for a step with words, `clauses`
    (`step fn pack a into p along g over (a0, a1) =`). `relate` is empty when there is none.
    """

    name: str
    params: tuple[Expr, ...]
    clauses: tuple[Clause, ...]
    source: Body
    target: Body
    relate: tuple[RecipeLine | Admit, ...]


# --- constants and proofs ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Const(Declaration):
    """`const MR : Nat = 4`; as a member `const Value = f32` or, in an interface, `const Value : Type`."""

    name: str
    type: Type | None
    value: Expr | None


@dataclass(frozen=True, slots=True)
class SynthConst(Declaration):
    """`synth const (A, B) : (Nat, Nat) = minimize RESULT in (VARS): COST where CONDITIONS`.

    One name is written without parentheses.
    """

    names: tuple[str, ...]
    type: Type
    result: Expr
    variables: tuple[str, ...]
    cost: Expr
    conditions: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class ProofBody(Node):
    """What a `proof` says."""


@dataclass(frozen=True, slots=True)
class AssertProof(ProofBody):
    """`assert E`."""

    claim: Expr


@dataclass(frozen=True, slots=True)
class RelateProof(ProofBody):
    """`relate F to G`: F the program, G its meaning; each may carry `@(S = …)`."""

    program: Expr
    meaning: Expr


@dataclass(frozen=True, slots=True)
class AdmitProof(ProofBody):
    """`admit "reason"`."""

    reason: str


@dataclass(frozen=True, slots=True)
class FamilyProof(ProofBody):
    """`family (MC, NC) in {4, 8} * {8, 16} of tower`."""

    family: Family
    of: Expr


@dataclass(frozen=True, slots=True)
class InvariantProof(ProofBody):
    """`invariant c in M of matmul`."""

    invariant: Invariant
    of: Expr


@dataclass(frozen=True, slots=True)
class Proof(Declaration):
    """`proof enough_chains = assert …`; an assertion may be for all `(N: Nat)`, and where something is required."""

    name: str
    body: ProofBody
    params: tuple[Param, ...] = ()
    requires: tuple[Expr, ...] = ()


# --- records, layouts, interfaces --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RecordField(Node):
    """`m: f32`."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Record(Declaration):
    """`record Weights = { m: f32, l: f32, o: f32 }`."""

    name: str
    fields: tuple[RecordField, ...]


@dataclass(frozen=True, slots=True)
class Layout(Declaration):
    """`layout PanelMajor n : [R, C] (i, j) = ADDRESS`, and `requires E` and `size E` before the `=` where needed.

    `size` None is the product of the extents.
    """

    name: str
    params: tuple[str, ...]
    dims: tuple[Expr, ...]
    indices: tuple[str, ...]
    requires: tuple[Expr, ...]
    size: Expr | None
    address: Expr


@dataclass(frozen=True, slots=True)
class Law(Declaration):
    """`law add associative over reals`, `law block over reals = "reason"`.

    Free-standing: `law rescale_twice (a: f32) (b: f32) over reals : f a b == g a b = "reason"`.
    `words` are the words between `law` and the parameters; `domain` is `reals`, `words` or None.
    """

    words: tuple[str, ...]
    params: tuple[Param, ...]
    domain: str | None
    statement: Expr | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Interface(Declaration):
    """`interface Semiring where` with `const`, `fn` signatures and `law` members."""

    name: str
    generics: tuple[Generic, ...]
    members: tuple[Const | Fn | Law, ...]


@dataclass(frozen=True, slots=True)
class Impl(Declaration):
    """`impl Semiring for PlusTimes f32 where` with `const`, `fn` and `law` members.

    `target` names the implementation and its arguments: `PlusTimes f32`, `Online`.
    """

    generics: tuple[Generic, ...]
    interface: Expr
    target: Expr
    members: tuple[Const | Fn | Law, ...]


# --- a file ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Comment(Node):
    """`// …`, kept for the formatter; `text` is without the slashes."""

    text: str


@dataclass(frozen=True, slots=True)
class File(Node):
    """A whole file; comments are left out of equality."""

    declarations: tuple[Declaration, ...]
    comments: tuple[Comment, ...] = field(default=(), compare=False, repr=False)
