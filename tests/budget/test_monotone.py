"""Products of counts: decided by both solvers within a second's worth of work, and every added premise true of what it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from itertools import product
from random import Random

import pytest

from cachet_verify.core.index import (
    ONE,
    ZERO,
    Compare,
    Const,
    Formula,
    Index,
    Var,
    add,
    ceil_div,
    div,
    eq,
    evaluate,
    holds,
    le,
    lt,
    maximum,
    mod,
    mul,
    sub,
    variables,
)
from cachet_verify.kernel.monotone import PRODUCT_LEMMAS, compares_products, has_quotients, lift, monotone
from cachet_verify.kernel.naming import Naming
from cachet_verify.kernel.obligation import Obligation, Proved, Refuted
from cachet_verify.solver.prover import Prover

M, N, K, B, C = Var("M"), Var("N"), Var("K"), Var("B"), Var("C")
SECOND = {"z3": 4_000_000, "cvc5": 200_000}
"""What each solver counts in about a second."""


def up(term: Index, by: int | Index) -> Index:
    return ceil_div(term, Const(by) if isinstance(by, int) else by)


def times(*factors: Index | int) -> Index:
    return reduce(mul, (Const(factor) if isinstance(factor, int) else factor for factor in factors), ONE)


THREE = times(up(K, 16), up(N, 8), up(M, 16))

TRUE: dict[str, tuple[tuple[Formula, ...], Index, Index]] = {
    "finer in one": ((), THREE, times(up(K, 16), up(N, 8), up(M, 8))),
    "finer in all": ((), THREE, times(up(K, 8), up(N, 4), up(M, 8))),
    "in another order": ((), THREE, times(up(M, 8), up(K, 8), up(N, 4))),
    "twice as coarse in two": ((), THREE, times(4, up(K, 32), up(N, 16), up(M, 16))),
    "twice as coarse in all": ((), THREE, times(8, up(K, 32), up(N, 16), up(M, 32))),
    "coarser by no whole number": ((), THREE, times(3, up(K, 40), up(N, 7), up(M, 5))),
    "the sizes themselves": ((), THREE, times(K, N, M)),
    "a sum of two calls": ((), add(THREE, times(up(K, 32), up(N, 8), up(M, 16))), times(2, THREE)),
    "one more iteration": ((), add(THREE, times(up(K, 16), up(N, 8))), times(up(K, 16), up(N, 8), add(up(M, 16), ONE))),
    "rounded down and one more": ((), THREE, times(*(add(div(x, Const(n)), ONE) for x, n in ((K, 16), (N, 8), (M, 16))))),
    "not empty": ((lt(ZERO, M),), times(up(K, 16), up(N, 8)), THREE),
    "sizes with bounds": (tuple(le(x, Const(32)) for x in (K, M, N)), THREE, Const(16)),
    "sizes that are numbers": ((eq(K, Const(1024)), eq(M, Const(1024))), times(up(K, 256), up(N, 8), up(M, 512)), times(8, up(N, 8))),
    "a size at least so large": ((le(Const(1024), K),), times(4, up(N, 8)), times(up(K, 256), up(N, 8))),
    "one size below another": ((le(M, N),), times(up(M, 16), up(N, 8), up(K, 4)), times(up(N, 16), up(N, 8), up(K, 4))),
    "exact": ((eq(mod(N, Const(8)), ZERO),), times(8, div(N, Const(8)), up(M, 16)), times(N, up(M, 16))),
    "squares": ((), times(up(M, 16), up(M, 16), up(K, 16)), times(M, up(M, 8), up(K, 8))),
    "symbolic blocks": ((lt(ZERO, B), lt(ZERO, C)), times(up(K, B), up(N, C), up(M, 16)), times(up(M, 8), up(K, B), up(N, C))),
    "symbolic blocks against sizes": ((lt(ZERO, B), lt(ZERO, C)), times(up(K, B), up(N, C)), times(K, N)),
    "a count that may be negative": ((), times(maximum(ZERO, sub(K, Const(2))), up(N, 8)), times(K, up(N, 8))),
}

FALSE: dict[str, tuple[tuple[Formula, ...], Index, Index]] = {
    "a factor is missing": ((), THREE, times(up(K, 16), up(M, 16))),
    "false at size 0 alone": ((), times(up(K, 16), up(N, 8)), THREE),
    "one too few": ((), THREE, times(7, up(K, 32), up(N, 16), up(M, 32))),
    "coarser": ((), THREE, times(up(K, 16), up(N, 9), up(M, 16))),
    "one past a bound": ((le(K, Const(32)), le(M, Const(33)), le(N, Const(32))), THREE, Const(16)),
    "a number too small": ((eq(K, Const(1024)), eq(M, Const(1024))), times(up(K, 256), up(N, 8), up(M, 512)), times(7, up(N, 8))),
    "symbolic blocks": ((lt(ZERO, B), lt(ZERO, C)), times(up(K, B), up(N, C), up(M, 16)), times(up(M, 16), up(K, B))),
    "rounded down": ((), THREE, times(up(K, 16), up(N, 8), div(add(M, Const(14)), Const(16)))),
}


def asked(case: tuple[tuple[Formula, ...], Index, Index]) -> Obligation:
    premises, left, right = case
    sizes = sorted(set().union(*(variables(part) for part in (*premises, left, right))))
    return Obligation("a budget", (*(le(ZERO, Var(size)) for size in sizes), *premises), le(left, right))


def within(obligation: Obligation, values: tuple[int, ...]) -> Iterator[dict[str, int]]:
    """The sizes, out of those values, that meet the premises."""
    names = sorted(set().union(*(variables(part) for part in (*obligation.premises, obligation.goal))))
    for chosen in product(values, repeat=len(names)):
        at = dict(zip(names, chosen, strict=True))
        if all(holds(premise, at) for premise in obligation.premises):
            yield at


@pytest.fixture(scope="module")
def prover() -> Iterator[Prover]:
    with Prover() as made:
        yield made


@pytest.mark.parametrize("name", TRUE)
def test_true_ones_are_proved_by_both_in_a_second(name: str, prover: Prover) -> None:
    obligation = asked(TRUE[name])
    few = (0, 1, 15, 16, 17, 33, 1024) if len(variables(obligation.goal)) < 4 else (0, 1, 2, 5, 16)
    assert all(holds(obligation.goal, at) for at in within(obligation, few))
    (verdict,) = prover.prove([monotone(obligation)])
    assert isinstance(verdict, Proved)
    assert {answer.solver: answer.answer for answer in verdict.answers} == {"z3": "unsat", "cvc5": "unsat"}
    assert all(answer.resource < SECOND[answer.solver] for answer in verdict.answers)
    assert isinstance(lift(obligation, verdict), Proved)


@pytest.mark.parametrize("name", FALSE)
def test_false_ones_are_refuted_as_they_stand(name: str, prover: Prover) -> None:
    obligation = asked(FALSE[name])
    linear, raw = prover.prove([monotone(obligation), obligation])
    assert not isinstance(linear, Proved)
    assert isinstance(raw, Refuted)
    assert all(holds(premise, raw.model) for premise in obligation.premises)
    assert not holds(obligation.goal, raw.model)
    assert all(answer.resource < SECOND[answer.solver] for answer in raw.answers if answer.answer == "sat")


def test_the_lemmas_are_proved_by_both(prover: Prover) -> None:
    for verdict in prover.prove(PRODUCT_LEMMAS):
        assert isinstance(verdict, Proved)
        assert {answer.answer for answer in verdict.answers} == {"unsat"}


# --- every added premise is true ---------------------------------------------------------------


def named(obligation: Obligation, at: Mapping[str, int]) -> dict[str, int]:
    """Values of the names of a linear form: a quotient's is the quotient, a product's that of its factors."""
    naming = Naming()
    for formula in (*obligation.premises, obligation.goal):
        naming.formula(formula)
    values = Values(at)
    for (kind, top, bottom), name in naming.units.items():
        over, by = evaluate(top, values), evaluate(bottom, values)
        values[name] = -(-over // by) if kind == "ceil" else over // by
    return values


class Values(dict[str, int]):
    """Values of names, and of products of names, `a*b`."""

    def __missing__(self, name: str) -> int:
        if "*" not in name:
            raise KeyError(name)
        return reduce(lambda left, factor: left * self[factor], name.split("*"), 1)


def random_term(chance: Random, depth: int = 2) -> Index:
    kind = chance.choice(["size", "number", "ceil", "ceil", "floor", "sum", "product"]) if depth else "size"
    if kind == "size":
        return Var(chance.choice("MNK"))
    if kind == "number":
        return Const(chance.randint(1, 5))
    inner = random_term(chance, depth - 1)
    if kind in ("ceil", "floor"):
        by = Const(chance.randint(2, 9))
        return ceil_div(inner, by) if kind == "ceil" else div(inner, by)
    other = random_term(chance, depth - 1)
    return add(inner, other) if kind == "sum" else mul(inner, other)


@pytest.mark.parametrize("seed", range(60))
def test_what_is_added_is_true_of_what_it_names(seed: int) -> None:
    chance = Random(seed)
    sides = [times(random_term(chance), random_term(chance), random_term(chance, 1)) for _ in range(2)]
    obligation = Obligation("random", tuple(le(ZERO, Var(size)) for size in "KMN"), le(*sides))
    if not isinstance(obligation.goal, Compare):
        return
    linear = monotone(obligation)
    for _ in range(4):
        at = {size: chance.randint(0, 12) for size in "KMN"}
        values = named(obligation, at)
        assert all(holds(premise, values) for premise in linear.premises)
        assert holds(linear.goal, values) == (evaluate(sides[0], at) <= evaluate(sides[1], at))


def test_what_compares_products() -> None:
    assert compares_products(asked(TRUE["finer in one"]))
    assert has_quotients(asked(TRUE["finer in one"]))
    assert not has_quotients(Obligation("plain", (), le(times(M, N), times(M, N, K))))
    assert compares_products(Obligation("plain", (), le(times(M, N), times(M, N, K))))
    assert not compares_products(Obligation("linear", (), le(M, N)))
    assert not compares_products(Obligation("equal", (), eq(THREE, ZERO)))


def test_a_verdict_on_something_else_is_not_lifted(prover: Prover) -> None:
    obligation, other = asked(TRUE["finer in one"]), asked(TRUE["finer in all"])
    (verdict,) = prover.prove([monotone(other)])
    with pytest.raises(ValueError, match="linear form"):
        lift(obligation, verdict)
