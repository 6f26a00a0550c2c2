"""Obligations end to end, through both solvers."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cachet_verify.core import index
from cachet_verify.core.index import Const, Formula, Index, Var
from cachet_verify.encodings import second
from cachet_verify.encodings.script import Script
from cachet_verify.kernel.obligation import Failed, Obligation, Proved, Refuted, Undecided
from cachet_verify.solver.pool import Pool
from cachet_verify.solver.prover import Prover, ProverOptions

x, y, M, N, B = (Var(name) for name in ("x", "y", "M", "N", "B"))
g, i, j, T = (Var(name) for name in ("g", "i", "j", "T"))
ZERO, ONE = Const(0), Const(1)


def within(low: Index, value: Index, high: Index) -> tuple[Formula, Formula]:
    return index.le(low, value), index.lt(value, high)


@pytest.fixture(scope="module")
def prover() -> Iterator[Prover]:
    with Prover() as made:
        yield made


def one(prover: Prover, premises: tuple[Formula, ...], goal: Formula) -> object:
    return prover.prove([Obligation("", premises, goal)])[0]


SIZES = (index.le(ZERO, M), index.le(ZERO, N))
FLAT = index.add(index.mul(i, N), j)
TRUE = {
    "blocks cover": ((*within(ZERO, i, M),), index.lt(index.div(i, Const(32)), index.ceil_div(M, Const(32)))),
    "a ragged last block": (
        (*within(ZERO, i, index.ceil_div(M, Const(8))), *within(ZERO, j, index.minimum(Const(8), index.sub(M, index.mul(Const(8), i))))),
        index.lt(index.add(index.mul(Const(8), i), j), M),
    ),
    "blocks of any positive size": ((index.le(ONE, B), *within(ZERO, i, M)), index.lt(index.div(i, B), index.ceil_div(M, B))),
    "a remainder of what is small (C29, twin)": (within(ZERO, i, T), index.eq(index.mod(i, T), i)),
    "an exact quotient (C41)": ((index.ne(y, ZERO),), index.eq(index.div(index.mul(x, y), y), x)),
    "a row of a flat index (C41)": ((*SIZES, *within(ZERO, g, index.mul(M, N))), index.lt(index.div(g, N), M)),
    "a row length that is not zero (C41)": ((*SIZES, *within(ZERO, g, index.mul(M, N))), index.ne(N, ZERO)),
    "the row back (C41)": ((*SIZES, *within(ZERO, i, M), *within(ZERO, j, N)), index.eq(index.div(FLAT, N), i)),
    "the column back (C41)": ((*SIZES, *within(ZERO, i, M), *within(ZERO, j, N)), index.eq(index.mod(FLAT, N), j)),
    "a contradiction entails anything": (within(M, x, M), index.FALSE),
    "truth": ((), index.TRUE),
}
FALSE = {
    "a dropped remainder (C29)": ((*within(Const(3), i, Const(6)), *within(ONE, T, Const(3))), index.eq(index.mod(i, T), i)),
    "the wrong row length (C41, twin)": ((*SIZES, index.ne(M, ZERO), *within(ZERO, g, index.mul(M, N))), index.lt(index.div(g, M), M)),
    "floor is not rounding to zero": ((index.lt(x, ZERO),), index.eq(index.div(x, Const(2)), index.negate(index.div(index.negate(x), Const(2))))),
    "falsehood": ((), index.FALSE),
}


@pytest.mark.parametrize("name", TRUE)
def test_what_holds_is_proved_by_both(prover: Prover, name: str) -> None:
    verdict = one(prover, *TRUE[name])
    assert isinstance(verdict, Proved)
    assert [(answer.solver, answer.answer) for answer in verdict.answers] == [("z3", "unsat"), ("cvc5", "unsat")]


@pytest.mark.parametrize("name", FALSE)
def test_what_does_not_hold_has_a_counterexample(prover: Prover, name: str) -> None:
    premises, goal = FALSE[name]
    verdict = one(prover, premises, goal)
    assert isinstance(verdict, Refuted)
    assert all(index.holds(premise, verdict.model) for premise in premises)
    assert not index.holds(goal, verdict.model)
    assert {answer.answer for answer in verdict.answers} == {"sat"}


REMAINDER = Obligation(
    "the remainder of a multiple is not 1 (C41)",
    (index.ne(y, ZERO), index.eq(index.mod(index.mul(index.sub(x, ONE), y), y), ONE)),
    index.FALSE,
)


def test_what_one_solver_proves_is_undecided_or_says_by_whom() -> None:
    with Prover(ProverOptions(rlimit=2_000_000)) as both:
        (verdict,) = both.prove([REMAINDER])
    assert isinstance(verdict, Undecided)
    assert verdict.reason == "single-solver"
    assert [(answer.solver, answer.answer, answer.reason) for answer in verdict.answers] == [("z3", "unknown", "rlimit"), ("cvc5", "unsat", "")]
    with Prover(ProverOptions(rlimit=2_000_000, solvers="any")) as single:
        (verdict,) = single.prove([REMAINDER])
    assert isinstance(verdict, Proved)
    assert [answer.answer for answer in verdict.answers] == ["unknown", "unsat"]


@pytest.mark.parametrize(
    ("premises", "expected"),
    [
        ((), True),
        ((index.le(ONE, M), index.lt(M, Const(2))), True),
        ((index.le(ONE, M), index.lt(M, ONE)), False),
        ((index.FALSE,), False),
        (REMAINDER.premises, None),
    ],
)
def test_satisfiable(premises: tuple[Formula, ...], expected: bool | None) -> None:
    with Prover(ProverOptions(rlimit=500_000)) as prover:
        assert prover.satisfiable(premises) is expected


def sample(number: int) -> Obligation:
    return Obligation(f"sample {number}", (index.le(Const(number), x),), index.le(Const(100), x))


def test_verdicts_come_in_order_each_for_its_own(prover: Prover) -> None:
    obligations = [sample(number) for number in range(90, 110)]
    verdicts = prover.prove(obligations)
    assert [type(verdict) for verdict in verdicts] == [Refuted] * 10 + [Proved] * 10
    assert [verdict.digest for verdict in verdicts] == [obligation.digest() for obligation in obligations]


def test_verdicts_repeat_in_any_order(prover: Prover) -> None:
    obligations = [sample(number) for number in range(95, 105)] + [Obligation("", *TRUE["the row back (C41)"])]
    before = prover.prove(obligations)
    for jobs in (1, 4):
        with Prover(ProverOptions(jobs=jobs)) as other:
            assert other.prove(obligations[::-1])[::-1] == before


def test_equal_obligations_are_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    real = Pool.ask

    def count(pool: Pool, solver: str, ticket: int, script: Script) -> None:
        asked.append((solver, script.text))
        real(pool, solver, ticket, script)

    monkeypatch.setattr(Pool, "ask", count)
    with Prover() as prover:
        verdicts = prover.prove([sample(1), sample(200), sample(1), sample(200), sample(1)])
        assert [type(verdict) for verdict in verdicts] == [Refuted, Proved, Refuted, Proved, Refuted]
        assert prover.prove([sample(200)]) == verdicts[1:2]
    assert len(asked) == len(set(asked)) == 4


def test_progress_counts_every_obligation(prover: Prover) -> None:
    seen: list[tuple[int, int, str]] = []
    prover.prove([sample(7), sample(8), sample(7)], lambda done, total, obligation: seen.append((done, total, obligation.subject)))
    assert [done for done, _, _ in seen] == [1, 2, 3]
    assert {total for _, total, _ in seen} == {3}
    assert sorted(subject for _, _, subject in seen) == ["sample 7", "sample 7", "sample 8"]


def test_an_error_in_between_leaves_the_prover_usable(prover: Prover) -> None:
    def stop(done: int, total: int, obligation: Obligation) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prover.prove([sample(number) for number in range(300, 330)], stop)
    assert isinstance(prover.prove([sample(331)])[0], Proved)


def test_scripts_are_saved_by_digest(tmp_path: Path) -> None:
    obligation = sample(3)
    with Prover(ProverOptions(save_scripts=tmp_path / "scripts")) as prover:
        verdict = prover.prove([obligation])[0]
        scripts = prover.encode(obligation)
    saved = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "scripts").iterdir()}
    first, second = (f"; unsat proves: {obligation.subject}\n{script.text}" for script in scripts)
    assert saved == {f"{obligation.digest()}.z3.smt2": first, f"{obligation.digest()}.cvc5.smt2": second}
    assert isinstance(verdict, Refuted)
    assert [answer.script for answer in verdict.answers] == [script.digest() for script in scripts]


def test_what_cannot_be_encoded_is_undecided(prover: Prover) -> None:
    deep: Index = x
    for _ in range(600):
        deep = index.Product(deep, y)
    for term in (Var("a|b"), deep):
        verdict = one(prover, (), index.le(ZERO, term))
        assert isinstance(verdict, Undecided)
        assert verdict.reason == "not-supported"


@pytest.mark.parametrize("saved", [True, False])
def test_solvers_that_disagree_stop_with_their_scripts(saved: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An encoder that loses the goal makes cvc5 say sat where Z3 says unsat."""
    real = second.encode

    def wrong(obligation: Obligation) -> Script:
        return real(Obligation("", obligation.premises, index.FALSE))

    monkeypatch.setattr(second, "encode", wrong)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Prover(ProverOptions(save_scripts=tmp_path / "wanted" if saved else None)) as prover:
        (verdict,) = prover.prove([sample(200)])
    assert isinstance(verdict, Failed)
    assert [answer.answer for answer in verdict.answers] == ["unsat", "sat"]
    reason, _, folder = verdict.reason.partition("; scripts in ")
    assert reason == "solver disagreement: one says unsat, the other sat"
    assert Path(folder).is_relative_to(tmp_path)
    assert len(list(Path(folder).iterdir())) == 2


def test_an_encoder_that_loses_a_premise_is_found_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = second.encode
    monkeypatch.setattr(second, "encode", lambda obligation: real(Obligation("", (), obligation.goal)))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Prover() as prover:
        (verdict,) = prover.prove([Obligation("", (index.le(Const(5), x), index.lt(x, y)), index.le(Const(9), x))])
    assert not isinstance(verdict, Proved)
