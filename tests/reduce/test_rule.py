"""The rule of regrouping, asked directly: forged reductions, missing permission, bodies that do more than combine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from cachet_verify.core.element import FLUSH
from cachet_verify.core.family import UnmodelledError
from cachet_verify.core.index import Const, Var
from cachet_verify.core.ir import Block, Choose, Declare, Fold, For, Load, Op, Program, Stmt, Store, Value, Word, statements
from cachet_verify.core.meaning import run
from cachet_verify.judge.file import open_file
from cachet_verify.kernel.claim import Goal, RuleError, Same, SameOverReals, computes, discharge, reflexivity, transitivity_over_reals
from cachet_verify.kernel.obligation import Proved, Verdict
from cachet_verify.kernel.place import Path as Place
from cachet_verify.kernel.regroup import Names, regroup
from cachet_verify.kernel.well_formed import well_formed
from cachet_verify.rewrite.place import walk
from cachet_verify.solver.prover import Prover

HEAD = 'import "cachet:attention"\nimport "cachet:monoid"\n'
TOTAL = "contraction t (reads a: [{elem}; K]) -> out c: [{elem}; 1] =\n  c[i] = {reduce} k. a[k]\n"
ONLINE = (
    "contraction t (reads a: [f32; K]) (reads v: [f32; K]) -> out c: [f32; 1] =\n  c[i] = normalised (reduce[reassoc] Online k. key (a[k]) (v[k]))\n"
)
FOLD = Names("gk", ("part",))
PARTS = Names("gk", ("p", "q", "r"), ("x1", "x2", "x3"))
SIZE = Const(4)


@cache
def program(text: str) -> Program:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.cachet"
        path.write_text(HEAD + text)
        found = open_file(path).program("t")
    assert found is not None
    return found


def total(elem: str, reduce: str) -> Program:
    return program(TOTAL.format(elem=elem, reduce=reduce))


def place(made: Program) -> Place:
    """Where the reduction over k stands."""
    for path, stmt in walk(made.body):
        if isinstance(stmt, For) and stmt.counter == "k" or isinstance(stmt, Store) and isinstance(stmt.value, Fold):
            return path
    raise AssertionError


def asked(made: Program, domain: str, element: Value | None = None, names: Names = FOLD) -> Goal:
    given = Load("a", (Var("k"),)) if element is None else element
    return regroup(made, place(made), SIZE, made.reductions[0], (given,), names, domain)


@pytest.fixture(scope="module")
def prover() -> Iterator[Prover]:
    with Prover() as opened:
        yield opened


def holds(prover: Prover, goal: Goal) -> bool:
    return all(isinstance(verdict, Proved) for verdict in prover.prove(goal.obligations))


def verdicts(prover: Prover, goal: Goal) -> dict[str, Verdict]:
    return {obligation.digest(): verdict for obligation, verdict in zip(goal.obligations, prover.prove(goal.obligations), strict=True)}


def test_what_is_associative_over_words_is_the_same(prover: Prover) -> None:
    for elem, reduce in (("i32", "sum"), ("f32", "reduce Max f32")):
        goal = asked(total(elem, reduce), "words")
        assert isinstance(goal.statement, Same)
        assert holds(prover, goal)


def test_sums_of_floats_are_not_asked_over_words() -> None:
    with pytest.raises(UnmodelledError):
        asked(total("f32", "sum[reassoc]"), "words")


def test_over_the_reals_the_text_has_to_permit_it(prover: Prover) -> None:
    goal = asked(total("f32", "sum[reassoc]"), "reals")
    assert isinstance(goal.statement, SameOverReals)
    assert holds(prover, goal)
    with pytest.raises(RuleError, match="does not permit"):
        asked(total("f32", "sum"), "reals")


def test_a_reduction_of_another_program_is_refused() -> None:
    made, other = total("f32", "sum"), total("f32", "sum[reassoc]")
    with pytest.raises(RuleError, match="no such reduction"):
        regroup(made, place(made), SIZE, other.reductions[0], (Load("a", (Var("k"),)),), FOLD, "reals")


def test_an_empty_value_that_adds_something_is_not_proved(prover: Prover) -> None:
    """A sum that starts from 1 in every block; the program is changed to start there too, so only the law can tell."""
    made = total("i32", "sum")
    one = Word("i32", 1)
    (outer,) = made.body.body
    assert isinstance(outer, For)
    (store,) = outer.body.body
    assert isinstance(store, Store)
    assert isinstance(store.value, Fold)
    body = Block((replace(outer, body=Block((replace(store, value=replace(store.value, init=one)),))),))
    forged = replace(made, body=body, reductions=(replace(made.reductions[0], empty=(one,)),))
    assert not holds(prover, asked(forged, "words"))
    with pytest.raises(RuleError, match="empty value"):
        asked(replace(made, reductions=(replace(made.reductions[0], empty=(one,)),)), "words")


def test_what_steps_do_not_combine_is_not_proved(prover: Prover) -> None:
    """The list of reductions says that the sum is an exclusive or."""
    made = total("i32", "sum")
    forged = replace(made.reductions[0], combined=(Op("xor", "i32", (Load("a"), Load("b"))),))
    made = replace(made, reductions=(forged,))
    try:
        goal = asked(made, "words")
    except UnmodelledError:
        return
    assert not holds(prover, goal)


def test_subtraction_is_not_associative(prover: Prover) -> None:
    made = total("i32", "sum")
    fold = next(stmt.value for stmt in statements(made.body) if isinstance(stmt, Store))
    assert isinstance(fold, Fold)
    less = Op("sub", "i32", (Load(fold.acc), Load("a", (Var("k"),))))
    (outer,) = made.body.body
    assert isinstance(outer, For)
    body = Block((replace(outer, body=Block((Store("c", (Var("i"),), replace(fold, step=less)),))),))
    forged = replace(made.reductions[0], combined=(Op("sub", "i32", (Load("a"), Load("b"))),))
    assert not holds(prover, asked(replace(made, body=body, reductions=(forged,)), "words"))


def test_an_element_does_not_read_the_total() -> None:
    made = total("i32", "sum")
    fold = next(stmt.value for stmt in statements(made.body) if isinstance(stmt, Store))
    assert isinstance(fold, Fold)
    with pytest.raises(RuleError, match="reads the total"):
        asked(made, "words", Load(fold.acc))


def test_a_maximum_of_floats_is_not_asked_where_subnormals_are_flushed() -> None:
    made = replace(total("f32", "reduce Max f32"), arithmetic=FLUSH)
    with pytest.raises(RuleError, match="another arithmetic"):
        asked(made, "words")


def summary(*more: object, last: bool = False) -> Program:
    """The summary of keys with statements added to the body of its loop, in front or at the end."""
    made = program(ONLINE)
    path = place(made)
    loop = next(stmt for found, stmt in walk(made.body) if found == path)
    assert isinstance(loop, For)
    added = tuple(stmt for stmt in more if isinstance(stmt, (Store, Declare)))
    body = (*loop.body.body, *added) if last else (*added, *loop.body.body)
    (outer,) = made.body.body
    assert isinstance(outer, For)
    stmts = tuple(replace(loop, body=Block(body)) if stmt is loop else stmt for stmt in outer.body.body)
    return replace(made, body=Block((replace(outer, body=Block(stmts)),)))


def of_summary(made: Program) -> Goal:
    return regroup(made, place(made), SIZE, made.reductions[0], None, PARTS, "reals")


def test_summaries_are_the_same_over_the_reals(prover: Prover) -> None:
    goal = of_summary(summary())
    assert holds(prover, goal)
    assert [(mark.kind, mark.name) for mark in goal.trust] == [("function", "exp f32")]


@pytest.mark.parametrize(
    ("stmt", "last", "why"),
    [
        (Store("m", (), Word("f32", 0)), True, "assigned once"),
        (Store("m", (), Word("f32", 0)), False, "at the end"),
        (Store("c", (Var("i"),), Load("l")), False, "no part of combining"),
        (Store("c", (Var("i"),), Load("l")), True, "at the end"),
        (Declare("z", "f32", init=Load("l"), mutable=True), False, "never assigned again"),
    ],
)
def test_a_body_that_does_more_with_a_total_is_refused(stmt: object, last: bool, why: str) -> None:
    with pytest.raises(RuleError, match=why):
        of_summary(summary(stmt, last=last))


def test_what_a_total_was_combined_with_is_not_written_after() -> None:
    """`let z = l + c[i]` and then another word in `c[i]`: what is read at the end of the body is not what `z` has read."""
    here = (Var("i"),)
    early = Declare("z", "f32", init=Op("add", "f32", (Load("l"), Load("c", here))))
    with pytest.raises(RuleError, match="what combining has read is written"):
        of_summary(summary(early, Store("c", here, Load("a", (Var("k"),)))))
    of_summary(summary(Store("c", here, Load("a", (Var("k"),))), early))


def test_a_total_that_does_not_start_empty_is_refused() -> None:
    made = summary()
    (outer,) = made.body.body
    assert isinstance(outer, For)
    first, *rest = outer.body.body
    assert isinstance(first, Declare)
    forged = replace(outer, body=Block((replace(first, init=Word("f32", 0)), *rest)))
    with pytest.raises(RuleError, match="not declared, empty"):
        of_summary(replace(made, body=Block((forged,))))


def test_the_reals_say_nothing_of_words(prover: Prover) -> None:
    """A claim over the reals is no route of `computes`, and one about words no link of a chain over the reals."""
    goal = of_summary(summary())
    claim = discharge(goal, verdicts(prover, goal))
    words = discharge(reflexivity(program(ONLINE)), {})
    assert isinstance(claim.statement, SameOverReals)
    formed = []
    for side in (claim.statement.before, claim.statement.after):
        well = well_formed(side)
        formed.append(discharge(well, verdicts(prover, well)))
    with pytest.raises(RuleError, match="does not compare these programs"):
        computes((formed[0], formed[1]), (claim,))
    with pytest.raises(RuleError, match="over the reals"):
        transitivity_over_reals(words, claim)
    with pytest.raises(RuleError, match="does not end where"):
        transitivity_over_reals(claim, claim)


LAST = "impl Monoid for Last i32 where\n  const Value = i32\n  fn empty () = 5\n  fn combine a b = b + 0 * a\n"
GUARDED = "contraction t (reads a: [{elem}; K]) -> out c: [{elem}; 1] =\n  c[i] = {reduce} k where k % 2 == 1. a[k]\n"


def test_a_guarded_step_needs_an_identity_as_well(prover: Prover) -> None:
    """The last of all elements: without a guard no block is empty, and its value is its last one. With one, a block may have none."""
    plain, guarded = (program(LAST + text.format(elem="i32", reduce="reduce Last i32")) for text in (TOTAL, GUARDED))
    assert holds(prover, asked(plain, "words"))
    assert not holds(prover, asked(guarded, "words"))
    assert holds(prover, asked(program(GUARDED.format(elem="i32", reduce="sum")), "words"))


def test_guarded_floats_are_regrouped_over_the_reals_alone(prover: Prover) -> None:
    made = program(GUARDED.format(elem="f32", reduce="reduce[reassoc] Max f32"))
    with pytest.raises(RuleError, match="a guard leaves empty"):
        asked(made, "words")
    assert holds(prover, asked(made, "reals"))


def test_the_words_of_guarded_blocks_are_those_of_the_whole() -> None:
    """By running both: a sum of odd elements whole and in blocks of four, and the last odd element, which differs."""
    for reduce, lead, is_same in (("sum", "", True), ("reduce Last i32", LAST, False)):
        made = program(lead + GUARDED.format(elem="i32", reduce=reduce))
        goal = asked(made, "words")
        assert isinstance(goal.statement, Same)
        found = []
        for side in (goal.statement.before, goal.statement.after):
            cells: dict[str, list[int | None]] = {"a": [3, 7, 11, 2, 9], "c": [None]}
            run(side, {"K": 5}, cells)
            found.append(cells["c"])
        assert (found[0] == found[1]) is is_same


def test_a_choice_of_something_else_is_no_guard() -> None:
    """`if g then step else 0` starts the total anew where the guard fails."""
    made = program(GUARDED.format(elem="i32", reduce="sum"))
    path = place(made)
    stmt = next(found for at, found in walk(made.body) if at == path)
    assert isinstance(stmt, Store)
    assert isinstance(stmt.value, Fold)
    assert isinstance(stmt.value.step, Choose)
    forged = replace(stmt, value=replace(stmt.value, step=replace(stmt.value.step, orelse=Word("i32", 0))))
    other = replace(made, body=_instead(made.body, stmt, forged))
    with pytest.raises((RuleError, UnmodelledError)):
        asked(other, "words")


def _instead(block: Block, old: Stmt, new: Stmt) -> Block:
    """A nest of loops with one statement replaced."""
    return Block(
        tuple(new if stmt is old else replace(stmt, body=_instead(stmt.body, old, new)) if isinstance(stmt, For) else stmt for stmt in block.body)
    )
