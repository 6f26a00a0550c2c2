"""Each fault of pySMT that the encoder is guarded against: it is still there, and we are right on it.

A release of pySMT that mends one makes its test fail, so that the guard is looked at again.
"""

from __future__ import annotations

import threading
from io import StringIO

import pytest
from pysmt.environment import Environment
from pysmt.exceptions import SolverReturnedUnknownResultError
from pysmt.logics import QF_NIA, QF_UFLIA
from pysmt.smtlib.parser import SmtLibParser
from pysmt.smtlib.printers import SmtPrinter
from pysmt.typing import INT, Type

from cachet_verify.core import index
from cachet_verify.core.index import Const, Formula, Var
from cachet_verify.encodings.first import FirstEncoder
from cachet_verify.kernel.obligation import Obligation, Proved, Refuted, Undecided
from cachet_verify.solver.prover import Prover, ProverOptions
from tests.encodings.direct import ASK

x, y = Var("x"), Var("y")


def answers(premises: tuple[Formula, ...], goal: Formula) -> set[str]:
    """What both solvers say to the first encoder's script."""
    script = FirstEncoder().encode(Obligation("", premises, goal))
    return {ask(script.text) for ask in ASK.values()}


def test_integer_division_is_folded_through_floats() -> None:
    environment = Environment()
    make = environment.formula_manager
    folded = environment.simplifier.simplify(make.Div(make.Int(2**61 - 1), make.Int(3))).constant_value()
    assert folded == 768614336404564608  # 650 in truth: 3 * ...650 = 2**61 - 2
    assert 3 * 768614336404564650 == 2**61 - 2
    for value, answer in ((768614336404564650, "unsat"), (768614336404564608, "sat")):
        goal = index.Compare("==", index.Div(Const(2**61 - 1), Const(3)), Const(value))
        assert answers((), goal) == {answer}
        goal = index.Compare("==", index.Div(x, Const(3)), Const(value))
        assert answers((index.eq(x, Const(2**61 - 1)),), goal) == {answer}


def test_zero_divided_by_anything_is_taken_for_zero() -> None:
    environment = Environment()
    make = environment.formula_manager
    assert environment.simplifier.simplify(make.Equals(make.Div(make.Int(0), make.Symbol("y", INT)), make.Int(0))).is_true()
    goal = index.Compare("==", index.Div(Const(0), y), Const(0))
    assert answers((), goal) == {"sat"}
    assert answers((index.ne(y, Const(0)),), goal) == {"unsat"}


def test_integer_division_is_printed_as_a_slash() -> None:
    make = Environment().formula_manager
    stream = StringIO()
    SmtPrinter(stream).printer(make.Div(make.Int(7), make.Symbol("x", INT)))
    assert stream.getvalue() == "(/ 7 x)"
    seven = index.Compare("==", index.Div(Const(7), x), Const(3))
    script = FirstEncoder().encode(Obligation("", (seven, index.eq(x, Const(2))), index.FALSE))
    assert "/" not in script.text
    assert {ask(script.text) for ask in ASK.values()} == {"sat"}


def test_substitution_captures_a_bound_variable() -> None:
    environment = Environment()
    make = environment.formula_manager
    one, other = make.Symbol("x", INT), make.Symbol("y", INT)
    captured = environment.substituter.substitute(make.Exists([one], make.NotEquals(one, other)), {other: one})
    assert captured == make.Exists([one], make.NotEquals(one, one))
    # the core has no binders, and substitutes all at once
    assert index.substitute_formula(index.lt(x, y), {"x": y, "y": x}) == index.lt(y, x)


def test_there_is_no_integer_remainder() -> None:
    assert not hasattr(Environment().formula_manager, "Mod")
    text = "(set-logic QF_LIA)(declare-fun x () Int)(assert (= (mod x 2) 1))(check-sat)"
    with pytest.raises(Exception, match="mod"):
        SmtLibParser(Environment()).get_script(StringIO(text))
    assert answers((index.eq(x, Const(-7)),), index.Compare("==", index.Mod(x, Const(4)), Const(1))) == {"unsat"}


def test_its_cvc5_adapter_makes_a_new_sort_at_every_mention() -> None:
    environment = Environment()
    make, sort = environment.formula_manager, Type("A")
    solver = environment.factory.Solver(name="cvc5", logic=QF_UFLIA)
    with pytest.raises(Exception, match="same type"):
        solver.add_assertion(make.Equals(make.Symbol("a", sort), make.Symbol("b", sort)))
    # our scripts know one sort, Int, and cvc5 reads them itself
    assert "declare-sort" not in FirstEncoder().encode(Obligation("", (), index.le(x, y))).text


HARD = Obligation("", (index.ne(y, Const(0)), index.eq(index.mod(index.mul(index.sub(x, Const(1)), y), y), Const(1))), index.FALSE)


def test_unknown_is_raised_without_its_reason() -> None:
    environment = Environment()
    make = environment.formula_manager
    cubes = [make.Times(*[make.Symbol(name, INT)] * 3) for name in "abc"]
    solver = environment.factory.Solver(name="z3", logic=QF_NIA, solver_options={"rlimit": 10_000})
    with pytest.raises(SolverReturnedUnknownResultError) as caught:
        solver.is_sat(make.Equals(make.Plus(cubes), make.Int(33)))
    assert caught.value.args == ()
    with Prover(ProverOptions(rlimit=100_000)) as prover:
        (verdict,) = prover.prove([HARD])
    assert isinstance(verdict, Undecided)
    assert verdict.reason == "rlimit"


def test_several_threads_are_safe_because_solvers_are_processes() -> None:
    """Z3 through pySMT crashes there: its solvers share one context."""
    good = Obligation("", (index.lt(x, y),), index.le(index.add(x, Const(1)), y))
    bad = Obligation("", (index.le(x, y),), index.le(index.add(x, Const(1)), y))
    found: list[tuple[type, type]] = []

    def work() -> None:
        with Prover() as prover:
            for _ in range(5):
                first, other = prover.prove([good, bad])
                found.append((type(first), type(other)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(Proved, Refuted)] * 20


def test_the_logic_is_always_named() -> None:
    assert FirstEncoder().encode(Obligation("", (), index.TRUE)).text.startswith("(set-logic QF_LIA)\n")
