"""The cases of a campaign: mutants of schedules, of steps and of the nests they generate, and random pairs.

Takes nothing but a seed; gives streams of cases, each in an order drawn by the seed. Must not run any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random

from cachet_verify.core.ir import Program
from cachet_verify.judge.file import Opened, open_file
from cachet_verify.resource_path import find_shipped
from cachet_verify.syntax import ast
from cachet_verify.syntax.parse import parse_text
from cachet_verify.syntax.print import print_declaration
from tests.flow import nest
from tests.mutate.nest_edit import nest_mutants
from tests.mutate.random_pair import pairs
from tests.mutate.rule_call import Call, call_mutants, recorded
from tests.mutate.tree_edit import function_mutants, schedule_mutants, step_mutants

HERE = Path(__file__).parent
BASE, STEPS = HERE / "base.cachet", HERE / "steps.cachet"
ACCEPT = HERE.parents[1] / "proofs" / "accept"


@dataclass(frozen=True)
class Case:
    """One mutant: a pair of programs, a call of a kernel rule, or a file whose schedules in `names` are to be checked.

    `meaning` is what the claim of an accepted mutant must name; `label` says what was edited.
    """

    stream: str
    label: str
    text: str
    meaning: Program
    program: Program | None = None
    names: tuple[str, ...] = ()
    call: Call | None = None

    @property
    def key(self) -> str:
        """A name for the case that is the same on every run."""
        return sha256(f"{self.stream}\n{self.text}\n{self.program!r}\n{self.call!r}".encode()).hexdigest()[:16]


Stream = Callable[[int], Iterator[Case]]


@cache
def opened() -> Opened:
    """The base file; its schedules are applied when they are looked up."""
    return open_file(BASE)


@cache
def declarations() -> tuple[ast.Declaration, ...]:
    """The declarations of the base file."""
    return parse_text(BASE.read_text(encoding="utf-8")).declarations


def streams() -> dict[str, Stream]:
    """Every stream, by name."""
    found: dict[str, Stream] = {}
    schedules = [item for item in declarations() if isinstance(item, ast.Schedule)]
    for schedule in schedules:
        found[f"schedule {schedule.name}"] = _schedule_stream(schedule)
        found[f"nest {schedule.name}"] = _nest_stream(schedule.name, *_generated(schedule.name))
    found["nest by hand: tower"] = _nest_stream("by hand: tower", nest.matmul(), nest.tower(2, 4, 2, 3))
    found["nest by hand: masked"] = _nest_stream("by hand: masked", nest.matmul(), nest.packed(4, 2, 3, 2))
    found["nest by hand: open blocks"] = _nest_stream("by hand: open blocks", nest.matmul(), nest.tower("KC", 4, 2, "NC"))
    for step in _library():
        found[f"step {_head(step)}"] = _step_stream(step)
    for path, proof in _relations():
        found[f"function {path.stem} {proof.name}"] = _function_stream(path, proof)
    found["random pairs"] = _random_stream
    for rule, calls in _calls().items():
        found[f"rule {rule}"] = _call_stream(rule, calls)
    return found


@cache
def _relations() -> tuple[tuple[Path, ast.Proof], ...]:
    """The proofs of the corpus that compare two functions of their own file, each with its file."""
    found: list[tuple[Path, ast.Proof]] = []
    for path in sorted(ACCEPT.glob("*.cachet")):
        own = parse_text(path.read_text(encoding="utf-8")).declarations
        functions = {item.name for item in own if isinstance(item, ast.Fn) and item.body}
        for item in own:
            if isinstance(item, ast.Proof) and isinstance(item.body, ast.RelateProof) and _name(item.body.program) in functions:
                if _name(item.body.meaning) and _name(item.body.program) != _name(item.body.meaning):
                    found.append((path, item))
    return tuple(found)


def _function_stream(path: Path, proof: ast.Proof) -> Stream:
    """Mutants of the function that a proof of the corpus is about; its meaning is left alone."""
    body = proof.body
    if not isinstance(body, ast.RelateProof):
        raise TypeError(proof.name)
    program, of = _name(body.program), _name(body.meaning)

    def stream(seed: int) -> Iterator[Case]:
        own = parse_text(path.read_text(encoding="utf-8")).declarations
        opened = open_file(path)
        meaning, whole = opened.program(of), opened.program(program)
        function = next(item for item in own if isinstance(item, ast.Fn) and item.name == program)
        kept = [item for item in own if item != function and not isinstance(item, (ast.Comment, ast.Proof))]
        before = [print_declaration(item) for item in kept]
        mutants = list(function_mutants(function))
        Random(f"{seed} {path.stem} {proof.name}").shuffle(mutants)
        if meaning is None or whole is None or not set(meaning.sizes) <= set(whole.sizes):
            return  # the claim says what the further sizes of the meaning are; the oracle takes them as they are
        for label, mutant in mutants:
            text = "\n".join((*before, print_declaration(mutant), print_declaration(proof)))
            yield Case(f"function {path.stem} {proof.name}", label, text, meaning, None, (proof.name,))

    return stream


@cache
def _calls() -> dict[str, tuple[Call, ...]]:
    """The calls of kernel rules that the base schedules make, by rule."""
    opened()
    with recorded() as calls:
        tuple(open_file(BASE).applied.values())
    found: dict[str, list[Call]] = {}
    for call in calls:
        found.setdefault(call.rule.__name__, []).append(call)
    return {rule: tuple(calls) for rule, calls in found.items()}


def _call_stream(rule: str, calls: tuple[Call, ...]) -> Stream:
    def stream(seed: int) -> Iterator[Case]:
        chance = Random(f"{seed} {rule}")
        waiting = [list(call_mutants(call)) for call in calls]
        for mutants in waiting:
            chance.shuffle(mutants)
        while any(waiting):
            for call, mutants in zip(calls, waiting, strict=True):
                if mutants:
                    label, mutant = mutants.pop()
                    yield Case(f"rule {rule}", label, "", call.arguments[0][1], None, (), mutant)

    return stream


def _generated(name: str) -> tuple[Program, Program]:
    applied = opened().applied[name]
    return applied.start, applied.program


def _nest_stream(name: str, meaning: Program, program: Program) -> Stream:
    def stream(seed: int) -> Iterator[Case]:
        mutants = list(nest_mutants(program))
        Random(f"{seed} {name}").shuffle(mutants)
        for label, mutant in mutants:
            yield Case(f"nest {name}", label, "", meaning, mutant)

    return stream


def _schedule_stream(schedule: ast.Schedule) -> Stream:
    meaning = _generated(schedule.name)[0]
    kept = "\n".join(
        print_declaration(item) for item in declarations() if isinstance(item, ast.Import) or getattr(item, "name", None) == _name(schedule.of)
    )

    def stream(seed: int) -> Iterator[Case]:
        mutants = list(schedule_mutants(schedule))
        Random(f"{seed} {schedule.name}").shuffle(mutants)
        for label, mutant in mutants:
            yield Case(f"schedule {schedule.name}", label, f"{kept}\n{print_declaration(mutant)}", meaning, None, (schedule.name,))

    return stream


@cache
def _library() -> tuple[ast.StepFn, ...]:
    """The steps of the library that the schedules of the step file use."""
    shipped = find_shipped("steps")
    used = {("zero", 2), ("zero", 0), ("hoist", 2), ("interchange", 2), ("strip", 2), ("parallel", 0)}
    found = parse_text(Path(str(shipped)).read_text(encoding="utf-8")).declarations
    return tuple(item for item in found if isinstance(item, ast.StepFn) and (item.name, _width(item)) in used)


def _width(step: ast.StepFn) -> int:
    return max((len(item.items) for item in step.params if isinstance(item, ast.Tuple)), default=0)


def _head(step: ast.StepFn) -> str:
    return f"{step.name}/{_width(step)}"


def _name(node: ast.Expr) -> str:
    return node.name if isinstance(node, ast.Name) else ""


def _step_stream(step: ast.StepFn) -> Stream:
    """Each mutant of a step is used by every schedule of the step file that uses that step."""
    own = parse_text(STEPS.read_text(encoding="utf-8")).declarations
    users = [item for item in own if isinstance(item, ast.Schedule) and _uses(item, step)]
    others = [item for item in _library() if item != step]

    def stream(seed: int) -> Iterator[Case]:
        mutants = list(step_mutants(step))
        Random(f"{seed} {_head(step)}").shuffle(mutants)
        for label, mutant in mutants:
            for user in users:
                contraction = next(item for item in own if getattr(item, "name", None) == _name(user.of))
                kept = [contraction, *(item for item in others if _uses(user, item)), mutant, user]
                text = "\n".join(print_declaration(item) for item in kept)
                yield Case(f"step {_head(step)}", label, text, _meaning_of(_name(user.of)), None, (user.name,))

    return stream


def _uses(schedule: ast.Schedule, step: ast.StepFn) -> bool:
    return any(isinstance(line, ast.Step) and line.name == step.name and _fits(line, step) for line in schedule.lines)


def _fits(line: ast.Step, step: ast.StepFn) -> bool:
    widths = [len(item.items) for item in line.args if isinstance(item, ast.Tuple)]
    return max(widths, default=0) == _width(step)


@cache
def _meaning_of(contraction: str) -> Program:
    found = opened().module.programs[contraction].program
    if found is None:
        raise LookupError(contraction)
    return found


def _random_stream(seed: int) -> Iterator[Case]:
    for label, meaning, program in pairs(seed):
        yield Case("random pairs", label, repr(meaning), meaning, replace(program, name="program"))
