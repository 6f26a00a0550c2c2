"""Templates are trusted by every claim about a program that uses them, however it is reached; nothing else is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cachet_verify.core.identity import identity
from cachet_verify.core.index import ZERO, Const, Var, eq
from cachet_verify.core.ir import Block, For, If, Inlined, Instruction, Param, Program, Range, Stmt, Store, Word
from cachet_verify.kernel.claim import Goal, Mark, RuleError, computes, discharge, issue, reflexivity, transitivity
from cachet_verify.kernel.normal import same_families
from cachet_verify.kernel.well_formed import well_formed
from tests.judge.asking import items

STORE = Store("x", (), Word("f32", 0))
BODY = Block((Store("result", (), Word("f32", 0)),))
USE = Inlined("own8", Block((STORE,)), instruction=Instruction("own8", (("metal", "f({result});"),), BODY))
BARE = replace(USE, instruction=Instruction("own8"))
MARK = Mark("template", "own8", identity=identity(Instruction("own8", (("metal", "f({result});"),), BODY)))


def made(*stmts: Stmt) -> Program:
    return Program("p", (), (Param("x", "out", "f32", ()),), Block(stmts))


def trust(goal: Goal) -> frozenset[Mark]:
    return discharge(goal, {}).trust


@pytest.mark.parametrize(
    "stmt",
    [
        USE,
        Block((USE,)),
        Inlined("f x", Block((USE,))),
        For("i", Range(ZERO, Const(1)), Block((USE,))),
        If(eq(Var("n"), ZERO), Block(()), Block((USE,))),
    ],
)
def test_a_goal_about_a_program_with_a_template_rests_on_it_wherever_it_stands(stmt: Stmt) -> None:
    assert reflexivity(made(stmt)).trust == {MARK}


def test_a_use_without_a_template_rests_on_nothing() -> None:
    assert reflexivity(made(BARE)).trust == frozenset()
    assert reflexivity(made(STORE)).trust == frozenset()


def test_either_side_of_a_comparison_counts_and_chains_keep_it() -> None:
    plain, used = made(STORE), made(USE)
    there, back = same_families(plain, used), same_families(used, plain)
    assert trust(there) == trust(back) == {MARK}
    chain = transitivity(discharge(there, {}), discharge(back, {}))
    assert chain.trust == {MARK}


def test_a_program_is_not_itself_without_its_instruction() -> None:
    plain, used = made(STORE), made(USE)
    assert used != made(replace(USE, instruction=None))
    with pytest.raises(RuleError):
        transitivity(discharge(same_families(plain, used), {}), discharge(reflexivity(made(replace(USE, instruction=None))), {}))
    formed = tuple(discharge(issue("w", well_formed(program).statement, ()), {}) for program in (plain, used))
    with pytest.raises(RuleError):
        computes((formed[0], formed[1]), (discharge(reflexivity(plain), {}),))
    whole = computes((formed[0], formed[1]), (discharge(same_families(plain, used), {}),))
    assert whole.trust == {MARK}


TEXT = """\
instr fn twice4 (x: Vec f32 4) -> Vec f32 4 =
  x + x
  by_target neon
    "{result} = vaddq_f32({x}, {x});"

fn use (reads x: [f32; 4]) (mut y: [f32; 4]) produces Init y =
  let v: Vec f32 4 = load x[0 .. 4]
  store y[0 .. 4] = twice4 v

fn caller (reads x: [f32; 4]) (mut y: [f32; 4]) produces Init y =
  use x y

fn plain (reads x: [f32; 4]) (mut y: [f32; 4]) produces Init y =
  for i in 0 .. 4 do
    store y[i] = load x[i] + load x[i]

proof direct = relate use to plain
proof called = relate caller to plain
proof meant = relate plain to caller
"""


def test_claims_list_templates_through_calls_and_on_either_side(tmp_path: Path) -> None:
    found = items(tmp_path, TEXT)
    trusted = {name: [(entry.kind, entry.name, entry.evidence) for entry in item.trusted] for name, item in found.items()}
    template = [("template", "twice4", "none")]
    assert {name for name, item in found.items() if item.verdict.value == "proved"} == set(found)
    assert trusted == {
        "twice4": [], "use": template, "caller": template, "plain": [], "direct": template, "called": template, "meant": template
    }  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "is_another"),
    [
        ("requires active == 4\n", "", True),
        ("requires active == 4\n", "requires active >= 1\n", True),
        ("requires active >= 3\n", "requires active >= 2\n", True),
        ("requires active == 4\n", "requires active == (2 + 2)\n", False),
    ],
)
def test_what_is_required_is_a_part_of_what_is_trusted(tmp_path: Path, before: str, after: str, is_another: bool) -> None:
    whole = TEXT[: TEXT.index("fn caller")]
    found = []
    for needs in (before, after):
        text = whole.replace("(x: Vec f32 4) -> Vec f32 4 =\n", f"(x: Vec f32 4)\n{needs}-> Vec f32 4 =\n")
        (entry,) = items(tmp_path, text, only=("use",))["use"].trusted
        found.append(entry.identity)
    assert (found[0] != found[1]) == is_another
