"""The rule that no unspecified word reaches the caller: what it accepts, and forged sources it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from cachet_verify.core.family import lower
from cachet_verify.core.index import TRUE, ZERO, Const, Var, eq, mod
from cachet_verify.core.ir import Block, Declare, If, Load, Op, Param, Program, Stmt, Store
from cachet_verify.flow.evaluate import sizer
from cachet_verify.flow.source import propose_flow
from cachet_verify.kernel.claim import Initialised, NotProvedError, RuleError, discharge
from cachet_verify.kernel.dataflow import Flow, Source
from cachet_verify.kernel.initialised import initialised
from cachet_verify.replay.search import find_fault
from cachet_verify.solver.prover import Prover
from tests.flow.nest import loop, upto

N = Var("N")
X, Y = Load("x", (Var("i"),)), (Var("i"),)
OUT = Param("y", "out", "f32", (N,))


def program(*body: Stmt, params: tuple[Param, ...] = ()) -> Program:
    return Program("f", ("N",), (Param("x", "reads", "f32", (N,)), OUT, *params), Block(body))


def flow_of(given: Program) -> Flow:
    families = lower(given)
    return propose_flow(families, sizer(families))


COPY = program(loop("i", upto(N), Store("y", Y, X)))
STAGED = program(
    loop("i", upto(N), Store("s", Y, X)),
    loop("j", upto(N), Store("y", (Var("j"),), Load("s", (Var("j"),)))),
    params=(Param("s", "mut", "f32", (N,), scratch=True),),
)
EVEN = program(loop("i", upto(N), If(eq(mod(Var("i"), Const(2)), ZERO), Block((Store("y", Y, X),)), Block(()))))
NOTHING = program()
OWN = program(loop("i", upto(N), Store("y", Y, Load("y", Y))))
TOTAL = program(
    Declare("t", "f32", mutable=True),
    loop("k", upto(N), Store("t", (), Op("add", "f32", (Load("t"), Load("x", (Var("k"),)))))),
    loop("i", upto(N), Store("y", Y, Load("t"))),
)
LATE = program(
    loop("j", upto(N), Store("y", (Var("j"),), Load("s", (Var("j"),)))),
    loop("i", upto(N), Store("s", Y, X)),
    params=(Param("s", "mut", "f32", (N,), scratch=True),),
)


@pytest.fixture(scope="module")
def prover() -> Iterator[Prover]:
    with Prover() as made:
        yield made


def holds(prover: Prover, given: Program, flow: Flow) -> bool:
    goal = initialised(given, flow)
    found = dict(zip([item.digest() for item in goal.obligations], prover.prove(goal.obligations), strict=True))
    try:
        return discharge(goal, found).statement == Initialised(given)
    except NotProvedError:
        return False


@pytest.mark.parametrize("given", [COPY, STAGED], ids=["copy", "staged"])
def test_what_is_written_first_is_accepted(prover: Prover, given: Program) -> None:
    assert holds(prover, given, flow_of(given))
    assert find_fault(given) is None


@pytest.mark.parametrize("given", [EVEN, NOTHING, OWN, TOTAL, LATE], ids=["even", "nothing", "own", "total", "late"])
def test_an_unspecified_word_that_reaches_the_caller_is_not(prover: Prover, given: Program) -> None:
    assert not holds(prover, given, flow_of(given))
    fault = find_fault(given)
    assert fault is not None
    assert fault.fault == "unspecified"


def test_sources_that_say_nothing_prove_nothing(prover: Prover) -> None:
    """No pieces at all, for a buffer that is written and for one that nothing writes."""
    assert not holds(prover, EVEN, replace(flow_of(EVEN), finals={"y": ()}))
    assert not holds(prover, NOTHING, Flow({}, {"y": ()}))


def test_forged_sources(prover: Prover) -> None:
    """A later write as the source of an earlier read; a writer of another buffer; no source for a load."""
    flow = flow_of(LATE)
    (late,) = [member.name for member in lower(LATE).members if member.buffer == "s"]
    (reader,) = [member.name for member in lower(LATE).members if member.buffer == "y"]
    forged = {(reader, 0): (Source(TRUE, late, (("i", Var("j")),)),)}
    assert not holds(prover, LATE, Flow({**flow.loads, **forged}, flow.finals))
    with pytest.raises(RuleError):
        initialised(LATE, Flow({**flow.loads, (reader, 0): (Source(TRUE, reader, (("j", Var("j")),)),)}, flow.finals))
    with pytest.raises(RuleError):
        initialised(LATE, Flow({}, flow.finals))
    with pytest.raises(RuleError):
        initialised(LATE, Flow(flow.loads, {}))
