"""A verdict of `proved` is what the kernel came to, for a plan and for each of its parts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cachet_verify.core.index import Var
from cachet_verify.core.ir import Block, Param, Program
from cachet_verify.judge.conclude import Asking, conclude
from cachet_verify.judge.plan import Asked, Plan
from cachet_verify.kernel.claim import reflexivity
from cachet_verify.kernel.well_formed import well_formed
from cachet_verify.report.record import TrustedEntry

NOTHING = Program("nothing", ("N",), (Param("x", "mut", "f32", (Var("N"),)),), Block())
OTHER = replace(NOTHING, name="other")


def plan(meaning: Program, program: Program) -> Plan:
    """Goals that come to `NOTHING` computing itself."""
    goals = (("form", well_formed(NOTHING)), ("a", reflexivity(NOTHING)))
    asked = tuple(Asked(goal, "", "relation.not-proved", route) for route, goal in goals)  # type: ignore[arg-type]
    return Plan("p", "proof", None, asked=asked, meaning=meaning, program=program, of="nothing")


def verdict(made: Plan) -> str:
    return conclude(made, {}, Asking(lambda _premises: True)).verdict.value


def test_goals_that_chain_are_a_proof() -> None:
    assert verdict(plan(NOTHING, NOTHING)) == "proved"
    assert verdict(Plan("p", "proof", None, parts=(plan(NOTHING, NOTHING),))) == "proved"


@pytest.mark.parametrize("made", [plan(NOTHING, OTHER), plan(OTHER, NOTHING), plan(OTHER, OTHER)])
def test_goals_about_other_programs_are_our_own_fault(made: Plan) -> None:
    assert verdict(made) == "error"
    assert verdict(Plan("p", "proof", None, parts=(plan(NOTHING, NOTHING), made))) == "error"


EMPTY = Plan("p", "proof", None)


@pytest.mark.parametrize("made", [EMPTY, replace(EMPTY, parts=(EMPTY,)), replace(EMPTY, parts=(plan(NOTHING, NOTHING), EMPTY))])
def test_what_nothing_was_asked_of_is_undecided(made: Plan) -> None:
    report = conclude(made, {}, Asking(lambda _premises: True))
    assert report.verdict.value == "undecided"
    assert [item.reason for item in report.obligations] == ["nothing was asked"]
    assert report.claim is None


def test_an_admission_asks_nothing_and_is_shown_as_one() -> None:
    report = conclude(replace(EMPTY, admitted=(TrustedEntry("admitted", "p", "measured"),)), {}, Asking(lambda _premises: True))
    assert report.verdict.value == "proved"
    assert report.claim is not None
    assert [entry.kind for entry in report.claim.trusted] == ["admitted"]
