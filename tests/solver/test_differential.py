"""A third way to the same answers: pySMT's own adapters to both solvers, on the first encoder's lowering.

The formula is read back from the text by pySMT's parser, so the text is checked too.
"""

from __future__ import annotations

from io import StringIO

import pytest
from pysmt.environment import Environment
from pysmt.exceptions import SolverReturnedUnknownResultError
from pysmt.logics import QF_LIA, QF_NIA
from pysmt.smtlib.parser import SmtLibParser

from cachet_verify.core import index
from cachet_verify.core.index import Const, Formula, Index, Var
from cachet_verify.encodings.first import FirstEncoder
from cachet_verify.kernel.obligation import Obligation, Proved, Refuted
from cachet_verify.solver.prover import Prover

i, j, M, N, B = (Var(name) for name in ("i'0", "j", "M", "N", "B"))
ZERO = Const(0)
BELOW = (index.le(ZERO, i), index.lt(i, M))


def tail(block: Index) -> Formula:
    """A lane of a ragged block stays below M."""
    start = index.mul(block, index.div(i, block))
    return index.disj((index.le(index.minimum(M, index.add(start, block)), M), index.lt(M, start)))


CASES = [
    Obligation("", BELOW, index.le(index.mul(Const(8), index.div(i, Const(8))), i)),
    Obligation("", BELOW, index.lt(index.mul(Const(8), index.div(i, Const(8))), i)),
    Obligation("", BELOW, index.eq(index.add(index.mul(Const(5), index.div(i, Const(5))), index.mod(i, Const(5))), i)),
    Obligation("", BELOW, tail(Const(16))),
    Obligation("", (*BELOW, index.le(Const(1), B)), tail(B)),
    Obligation("", (index.lt(i, ZERO),), index.eq(index.div(i, Const(-3)), index.div(index.negate(i), Const(3)))),
    Obligation("", (), index.eq(index.maximum(i, j), index.negate(index.minimum(index.negate(i), index.negate(j))))),
    Obligation("", (), index.eq(index.maximum(i, j), index.minimum(i, j))),
    Obligation("", (index.le(ZERO, i), index.lt(i, N), index.le(ZERO, j), index.lt(j, M)), index.lt(index.add(index.mul(i, M), j), index.mul(N, M))),
    Obligation("", (index.FALSE,), index.FALSE),
    Obligation("", (), index.Or((index.Not(index.And((index.le(i, j), index.lt(j, M)))), index.Not(index.lt(M, i))))),
]


def by_adapter(name: str, obligation: Obligation) -> bool | None:
    """Whether pySMT's adapter finds the script satisfiable; none when it does not know."""
    text = FirstEncoder().encode(obligation).text
    environment = Environment()
    formula = SmtLibParser(environment).get_script(StringIO(text)).get_last_formula(environment.formula_manager)
    logic = QF_LIA if "QF_LIA" in text else QF_NIA
    solver = environment.factory.Solver(name=name, logic=logic, solver_options={"rlimit": 5_000_000 if name == "z3" else "250000"})
    try:
        return bool(solver.is_sat(formula))
    except SolverReturnedUnknownResultError:
        return None


@pytest.mark.parametrize("name", ["z3", "cvc5"])
def test_the_adapters_agree_with_the_prover(name: str) -> None:
    with Prover() as prover:
        verdicts = prover.prove(CASES)
    assert {type(verdict) for verdict in verdicts} == {Proved, Refuted}
    for obligation, verdict in zip(CASES, verdicts, strict=True):
        assert by_adapter(name, obligation) is isinstance(verdict, Refuted), obligation.statement()
