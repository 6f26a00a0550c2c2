"""The evidence that a trusted template is listed with: what was measured of the instruction as this claim uses it.

Takes the name and identity of a template that a claim rests on, the plan, and records; gives the entry. Must not show a record for an
instruction with another text, reference body or types, nor hide that one of several arithmetics was not measured in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace

from cachet_verify.core.identity import identity as identity_of
from cachet_verify.core.ir import Instruction, Program, arithmetics, uses
from cachet_verify.judge.plan import Plan
from cachet_verify.ledger.record import Evidence
from cachet_verify.ledger.store import Known, known_of, says
from cachet_verify.report.record import Measured, TrustedEntry


def template_entry(name: str, identity: str, plan: Plan, records: tuple[Evidence, ...]) -> TrustedEntry:
    """The entry of a template. Where it runs in several arithmetics, the one least is known of counts."""
    used = dict.fromkeys(found for found in _used(plan) if found[0].name == name and identity_of(found[0]) == identity)
    known = [known_of(instruction, records, flushes) for instruction, flushes in used]
    if not known:
        return TrustedEntry("template", name, None, "none", identity=identity)
    every = tuple(part for one in known for part in one)
    measured = dict.fromkeys(Measured(record.target, record.day, record.words, record.mismatches) for part in every for record in part.records)
    lacking = dict.fromkeys(part.target for part in every if not part.records)
    least = min(known, key=_how_much)
    return TrustedEntry("template", name, None, says(least), tuple(measured), tuple(lacking), identity)


def function_entry(entry: TrustedEntry, plan: Plan, records: tuple[Evidence, ...]) -> TrustedEntry:
    """The entry of a function whose words stand for real ones, with what was measured of them; only as the host computes was anything."""
    about = [record for record in records if record.template == entry.name]
    current = tuple(record for record in about if record.template_digest == entry.identity and record.arithmetic == "ieee")
    flushes = any(
        found is not None and found.flushes for program in _programs(plan) for found in (program.arithmetic, *arithmetics(program.body, None))
    )
    if not current or flushes:
        return replace(entry, evidence="stale" if about and not flushes else "none", unmeasured=("any target",))
    measured = tuple(Measured(record.target, record.day, record.words, record.mismatches) for record in current)
    return replace(entry, evidence="; ".join(record.says for record in current), measured=measured)


def _how_much(known: tuple[Known, ...]) -> tuple[bool, bool, int]:
    """How much speaks for a template in one arithmetic: least where a word differs, then where a target was not measured."""
    records = tuple(record for part in known for record in part.records)
    differs = any(record.mismatches for record in records)
    return not differs, all(part.records for part in known), sum(record.words for record in records)


def _used(plan: Plan) -> Iterator[tuple[Instruction, bool]]:
    """The instructions in every program that a plan asks about, each with whether it runs where subnormals are flushed."""
    programs = {id(program): program for program in _programs(plan)}
    for program in programs.values():
        flushing = {found is not None and found.flushes for found in arithmetics(program.body, program.arithmetic)}
        for use in uses(program.body):
            if use.instruction is not None and use.instruction.templates:
                yield from ((use.instruction, flushes) for flushes in sorted(flushing or {False}))


def _programs(plan: Plan) -> Iterator[Program]:
    yield from (program for program in (plan.meaning, plan.program) if program is not None)
    for asked in plan.asked:
        statement = asked.goal.statement
        if is_dataclass(statement):
            yield from (part for field in fields(statement) if isinstance(part := getattr(statement, field.name), Program))
    for part in plan.parts:
        yield from _programs(part)
