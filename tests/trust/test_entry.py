"""The entry of a template in a claim: one for each instruction, two of one name too; of several arithmetics the one least is known of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cachet_verify.core.element import FLUSH
from cachet_verify.core.identity import identity, reference_digest, template_digest
from cachet_verify.core.index import ZERO, Const
from cachet_verify.core.ir import Axis, Block, Grid, Inlined, Instruction, Load, Op, Param, Program, Stmt, Store
from cachet_verify.judge.evidence import template_entry
from cachet_verify.judge.plan import Asked, Plan
from cachet_verify.kernel.claim import reflexivity
from cachet_verify.ledger.record import Evidence, Inputs
from tests.trust.made import record


def twice(source: str, target: str) -> Block:
    return Block((Store(target, (), Op("add", "f32", (Load(source), Load(source)))),))


OWN = Instruction("twice", (("host", "f"),), twice("x", "result"), ("x",))
OTHER = replace(OWN, templates=(("host", "g"),))
TYPED = replace(OWN, types=("f64", "f64"))
TWO_TARGETS = replace(OWN, templates=(("host", "f"), ("metal", "h")))


def use(instruction: Instruction) -> Stmt:
    return Inlined("twice", twice("a", "y"), instruction=instruction)


def made(*stmts: Stmt) -> Program:
    return Program("p", (), (Param("a", "reads", "f32", ()), Param("y", "out", "f32", ())), Block(stmts))


def about(instruction: Instruction, target: str = "host", **changes: object) -> Evidence:
    digests = {"template_digest": template_digest(instruction, target), "reference_digest": reference_digest(instruction)}
    return record(template="twice", target=target, inputs=(Inputs("random", 1, 4, 0),), **{**digests, **changes})


def entry(program: Program, *records: Evidence, of: Instruction = OWN) -> tuple[str | None, tuple[str, ...]]:
    found = template_entry("twice", identity(of), Plan("p", "fn", None, program=program), records)
    return found.evidence, found.unmeasured


SAYS = "host on some machine, 2026-01-31: 0 of 4 words differ"


def test_one_instruction_is_listed_with_its_record() -> None:
    assert entry(made(use(OWN)), about(OWN)) == (SAYS, ())
    assert entry(made(use(OWN))) == ("none", ("host",))


def test_two_of_a_name_are_two_each_with_its_own_records() -> None:
    for both in (made(use(OWN), use(OTHER)), made(use(OTHER), use(OWN))):
        assert {(mark.name, mark.identity) for mark in reflexivity(both).trust} == {("twice", identity(OWN)), ("twice", identity(OTHER))}
        assert entry(both, about(OWN)) == (SAYS, ())
        assert entry(both, about(OWN), of=OTHER) == ("host: stale", ("host",))
        assert entry(both, about(OWN), about(OTHER), of=OTHER) == (SAYS, ())


@pytest.mark.parametrize("other", [OTHER, TYPED, replace(OWN, operands=("y",)), replace(OWN, reference=twice("x", "result").body[0])])
def test_another_text_body_or_type_is_another_template(other: Instruction) -> None:
    assert identity(other) != identity(OWN)
    assert entry(made(use(OWN)), about(other)) == ("host: stale", ("host",))


def test_a_forged_record_counts_for_nothing() -> None:
    # The digests of another template under this one's name, and this one's digests under another name.
    forged = about(OTHER)
    assert entry(made(use(OWN)), forged) == ("host: stale", ("host",))
    assert entry(made(use(OWN)), replace(about(OWN), template="thrice")) == ("none", ("host",))
    half = replace(about(OWN), reference_digest=about(TYPED).reference_digest)
    assert entry(made(use(OWN)), half) == ("host: stale", ("host",))


def test_an_identity_that_no_program_uses_has_no_evidence() -> None:
    assert entry(made(use(OWN)), about(OWN), about(OTHER), of=OTHER) == ("none", ())


def test_words_that_differ_in_one_arithmetic_are_not_hidden_by_another() -> None:
    wrong = replace(about(OWN), inputs=(Inputs("random", 1, 4, 2),))
    both = made(use(OWN), Grid((Axis("i", ZERO, Const(1)),), Block((use(OWN),)), device=FLUSH))
    found = template_entry("twice", identity(OWN), Plan("p", "fn", None, program=both), (wrong,))
    assert [part.mismatches for part in found.measured] == [2]
    assert found.unmeasured == ("host",)
    assert found.evidence == wrong.says


def test_a_target_without_a_record_is_named() -> None:
    assert entry(made(use(TWO_TARGETS)), about(TWO_TARGETS), of=TWO_TARGETS) == (f"{SAYS}; metal: none", ("metal",))


def test_a_device_that_flushes_needs_a_record_of_its_own() -> None:
    device = Grid((Axis("i", ZERO, Const(1)),), Block((use(OWN),)), device=FLUSH)
    for program in (made(device), replace(made(use(OWN)), arithmetic=FLUSH), made(use(OWN), device)):
        assert entry(program, about(OWN)) == ("none", ("host",))
    assert entry(made(device), about(OWN, arithmetic="flush"))[1] == ()
    assert entry(made(use(OWN), device), about(OWN, arithmetic="flush"))[1] == ("host",)


def test_programs_in_the_middle_of_a_chain_and_in_parts_count() -> None:
    middle = Plan("p", "fn", None, asked=(Asked(reflexivity(made(use(OWN))), "", "", "a"),))
    for plan in (middle, Plan("whole", "fn", None, parts=(middle,))):
        assert template_entry("twice", identity(OWN), plan, (about(OWN),)).evidence == SAYS


def test_a_name_that_no_program_uses_has_no_evidence() -> None:
    found = template_entry("elsewhere", identity(OWN), Plan("p", "fn", None, program=made(use(OWN))), (about(OWN),))
    assert (found.evidence, found.measured) == ("none", ())
