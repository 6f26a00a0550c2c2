"""Random pairs of expressions with exponentials, logarithms and quotients: what the rule proves, numbers of 80 digits do not break."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from random import Random

import pytest

from cachet_verify.core.family import UnmodelledError
from cachet_verify.core.ir import Load, Op, Value, Word
from cachet_verify.core.numeral import word_of_float
from cachet_verify.kernel.claim import LawVariable, RuleError
from cachet_verify.kernel.law import law_over_reals
from cachet_verify.kernel.obligation import Proved
from cachet_verify.replay.law import difference_at
from cachet_verify.solver.prover import Prover

LEAVES = (Load("a"), Load("b"), *(Word("f64", word_of_float(x, "f64")) for x in (0.0, 1.0, 2.0, -1.0)))
ZERO, LEAST = Word("f64", word_of_float(0.0, "f64")), Word("f64", word_of_float(float("-inf"), "f64"))
ARITY = {"neg": 1, "exp": 1, "log": 1, "add": 2, "sub": 2, "mul": 2, "div": 2, "max": 2, "min": 2, "fma": 3}
MOST = 16
"""Obligations of a pair that is asked."""


def op(name: str, *args: Value, elem: str = "f64") -> Op:
    return Op(name, elem, args)


def expression(random: Random, depth: int) -> Value:
    if depth == 0:
        return random.choice(LEAVES)
    name = random.choice((*ARITY, "exp", "log", "select"))
    if name == "select":
        condition = op(random.choice(("lt f64", "le f64", "eq f64")), expression(random, depth - 1), random.choice(LEAVES), elem="bool")
        return op("select", condition, expression(random, depth - 1), expression(random, depth - 1))
    return op(name, *(expression(random, depth - 1) for _ in range(ARITY[name])))


def rewritten(random: Random, value: Value, is_careless: bool) -> Value:
    """The expression with one part written otherwise: as the laws of numbers have it, or as somebody careless would."""
    if not isinstance(value, Op) or value.elem == "bool":
        return value
    if random.random() < 0.5:
        place = random.randrange(len(value.args))
        args = (*value.args[:place], rewritten(random, value.args[place], is_careless), *value.args[place + 1 :])
        return Op(value.name, value.elem, args)
    first, *rest = value.args
    head = first.name if isinstance(first, Op) else ""
    inner = first.args if isinstance(first, Op) else ()
    swapped = {"add": "sub", "sub": "add", "max": "min", "min": "max", "exp": "log", "log": "exp", "mul": "add"}
    if is_careless and value.name in swapped:
        return Op(swapped[value.name], value.elem, value.args)
    found: dict[tuple[str, str], Value] = {}
    if len(inner) == 2:
        found[("exp", "add")] = op("mul", op("exp", inner[0]), op("exp", inner[1]))
        found[("log", "mul")] = op("add", op("log", inner[0]), op("log", inner[1]))
        found[("log", "div")] = op("sub", op("log", inner[0]), op("log", inner[1]))
    if len(inner) == 1:
        found[("log", "exp")] = found[("exp", "log")] = inner[0]
    if (value.name, head) in found:
        return found[(value.name, head)]
    if value.name in ("add", "mul", "max", "min"):
        return op(value.name, rest[0], first)
    if value.name == "sub":
        return op("add", first, op("neg", rest[0]))
    return op("mul", first, op("div", LEAVES[3], rest[0])) if value.name == "div" else value


def numbers(random: Random, with_least: bool) -> Iterator[dict[str, Decimal]]:
    chosen = [Decimal(text) for text in ("0", "1", "-1", "0.5", "-3", *(["-Infinity"] if with_least else []))]
    yield from ({"a": a, "b": b} for a in chosen for b in chosen)
    yield from ({name: Decimal(random.randrange(-400, 400)) / 100 for name in "ab"} for _ in range(15))


@pytest.fixture(scope="module")
def prover() -> Iterator[Prover]:
    with Prover() as opened:
        yield opened


@pytest.mark.parametrize("start", range(0, 80, 20))
def test_what_is_proved_is_not_broken_by_numbers(start: int, prover: Prover) -> None:
    asked = 0
    for seed in range(start, start + 20):
        random = Random(seed)
        left = expression(random, random.choice((2, 3)))
        right = left
        for _ in range(random.randrange(1, 4)):
            right = rewritten(random, right, random.random() < 0.3)
        if random.random() < 0.6:
            above = op("and_", op("lt f64", ZERO, LEAVES[0], elem="bool"), op("lt f64", ZERO, LEAVES[1], elem="bool"), elem="bool")
            left, right = op("select", above, left, ZERO), op("select", above, right, ZERO)
        with_least = random.random() < 0.3
        variables = tuple(LawVariable(name, ((name, "f64"),), (("least", (LEAST,)),) if with_least else ()) for name in "ab")
        try:
            goal = law_over_reals(variables, (left,), (right,))
        except (UnmodelledError, RuleError):
            continue
        if left == right or len(goal.obligations) > MOST or not all(isinstance(found, Proved) for found in prover.prove(goal.obligations)):
            continue
        asked += 1
        for at in numbers(random, with_least):
            assert difference_at(at, (left,), (right,)) is None, (seed, at)
    assert asked > 0
