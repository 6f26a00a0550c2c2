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
