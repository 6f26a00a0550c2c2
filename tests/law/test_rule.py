"""The rules of laws, asked directly: cases, sides without a value, what is not read, and forged statements."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from cachet_verify.core.element import ELEMENTS
from cachet_verify.core.family import UnmodelledError
from cachet_verify.core.ir import Load, Op, Value, Word
from cachet_verify.core.word import function_of
from cachet_verify.kernel.claim import Goal, LawVariable, RuleError
from cachet_verify.kernel.law import law_over_reals
from cachet_verify.kernel.law_word import law_over_words
from cachet_verify.kernel.obligation import Proved
from cachet_verify.solver.prover import Prover

INFINITY, MINUS_INFINITY, ZERO = (Word("f32", bits) for bits in (0x7F800000, 0xFF800000, 0))


def variable(name: str, elem: str = "f32", *points: Word) -> LawVariable:
    return LawVariable(name, ((name, elem),), tuple((f"point {place}", (word,)) for place, word in enumerate(points)))


def op(name: str, *args: Value, elem: str = "f32") -> Op:
    return Op(name, elem, args)


A, B, C = (Load(name, ()) for name in "abc")


@pytest.fixture(scope="module")
def prover() -> Iterator[Prover]:
    with Prover() as opened:
        yield opened


def holds(prover: Prover, goal: Goal) -> bool:
    assert goal.obligations != ()
    return all(isinstance(verdict, Proved) for verdict in prover.prove(goal.obligations))


def test_infinity_minus_infinity_has_no_value_and_proves_nothing(prover: Prover) -> None:
    """x - x is 0 for numbers; where x may be infinite, the law does not hold, though both sides read alike."""
    same = op("sub", A, A)
    assert holds(prover, law_over_reals((variable("a"),), (same,), (ZERO,)))
    assert not holds(prover, law_over_reals((variable("a", "f32", INFINITY),), (same,), (ZERO,)))
    assert not holds(prover, law_over_reals((variable("a", "f32", INFINITY),), (same,), (same,)))


def test_zero_times_infinity_has_no_value(prover: Prover) -> None:
    left = op("mul", ZERO, A)
    assert holds(prover, law_over_reals((variable("a"),), (left,), (ZERO,)))
    assert not holds(prover, law_over_reals((variable("a", "f32", INFINITY),), (left,), (ZERO,)))


def test_a_quotient_needs_a_divisor_that_is_not_zero(prover: Prover) -> None:
    """(a / b) * b is a where b is not 0, and nothing where it is; a guard makes it a law."""
    quotient = op("mul", op("div", A, B), B)
    guarded = op("select", op("eq f32", B, ZERO, elem="bool"), A, quotient)
    both = (variable("a"), variable("b"))
    assert not holds(prover, law_over_reals(both, (quotient,), (A,)))
    assert holds(prover, law_over_reals(both, (guarded,), (A,)))


def test_exp_of_a_sum_is_a_product_and_of_a_product_is_not(prover: Prover) -> None:
    both = (variable("a"), variable("b"))
    assert holds(prover, law_over_reals(both, (op("exp", op("add", A, B)),), (op("mul", op("exp", A), op("exp", B)),)))
    assert not holds(prover, law_over_reals(both, (op("exp", op("mul", A, B)),), (op("mul", op("exp", A), op("exp", B)),)))
    assert not holds(prover, law_over_reals(both, (op("exp", A),), (op("exp", B),)))


def test_log_is_what_exp_takes_back(prover: Prover) -> None:
    """log of a product is a sum where both factors are above 0; of 0 it is minus infinity, and of less there is none."""
    both = (variable("a"), variable("b"))
    above = op("and_", op("lt f32", ZERO, A, elem="bool"), op("lt f32", ZERO, B, elem="bool"), elem="bool")

    def guarded(value: Value) -> Value:
        return op("select", above, value, ZERO)

    product = op("log", op("mul", A, B))
    assert holds(prover, law_over_reals(both, (guarded(product),), (guarded(op("add", op("log", A), op("log", B))),)))
    assert not holds(prover, law_over_reals(both, (guarded(product),), (guarded(op("mul", op("log", A), op("log", B))),)))
    assert not holds(prover, law_over_reals(both, (product,), (op("add", op("log", A), op("log", B)),)))
    assert holds(prover, law_over_reals(both, (op("log", op("exp", A)),), (A,)))
    assert not holds(prover, law_over_reals(both, (op("exp", op("log", A)),), (A,)))
    assert holds(prover, law_over_reals(both, (op("log", ZERO),), (MINUS_INFINITY,)))
    assert holds(prover, law_over_reals((variable("a", "f32", MINUS_INFINITY),), (op("log", op("exp", A)),), (A,)))
    assert not holds(prover, law_over_reals(both, (op("log", op("exp", A)),), (B,)))
    assert not holds(prover, law_over_reals(both, (op("log", op("add", op("exp", A), op("exp", B))),), (op("add", A, B),)))
    assert not holds(prover, law_over_reals(both, (op("log", op("neg", op("exp", A))),), (op("log", op("neg", op("exp", A))),)))


def test_names_that_the_reading_makes_are_no_variables() -> None:
    """A variable that is taken for a quotient would make its equation a fact about all numbers."""
    for name in ("quotient!0", "e^a", "log!0", "e^-a"):
        with pytest.raises(RuleError):
            law_over_reals((variable(name), variable("b")), (op("div", Load(name, ()), B),), (Load(name, ()),))


def test_every_part_of_a_side_is_asked(prover: Prover) -> None:
    assert not holds(prover, law_over_reals((variable("a"),), (A, A), (A, ZERO)))


def test_forged_statements_are_refused() -> None:
    with pytest.raises(RuleError):
        law_over_reals((variable("a"),), (A, A), (A,))
    with pytest.raises(RuleError):
        law_over_reals((), (), ())
    with pytest.raises(RuleError):
        law_over_reals((variable("a"),), (B,), (B,))
    with pytest.raises(RuleError):
        law_over_reals((variable("a"), variable("a")), (A,), (A,))
    with pytest.raises(RuleError):
        law_over_reals((LawVariable("a", (("a", "f32"),), (("bad", (Word("f64", 0),)),)),), (A,), (A,))
    with pytest.raises(RuleError):
        law_over_words((variable("a"),), (B,), (B,))


@pytest.mark.parametrize("name", ["sqrt", "abs", "rem", "convert f64 f32", "unheard_of"])
def test_what_is_not_read_is_not_proved(name: str) -> None:
    with pytest.raises(UnmodelledError):
        law_over_reals((variable("a"), variable("b")), (op(name, A, B),), (op(name, A, B),))


def test_integer_quotients_are_no_real_ones() -> None:
    a, b = variable("a", "i32"), variable("b", "i32")
    with pytest.raises(UnmodelledError):
        law_over_reals((a, b), (op("div", A, B, elem="i32"),), (op("div", A, B, elem="i32"),))


def test_kinds_of_word_operations_do_not_mix() -> None:
    """max is not an operation of residues: max (a + 1) a is a + 1 for integers, and is not for words."""
    one = Word("i32", 1)
    with pytest.raises(UnmodelledError):
        law_over_words((variable("a", "i32"),), (op("max", op("add", A, one, elem="i32"), A, elem="i32"),), (op("add", A, one, elem="i32"),))


LAWS: dict[str, tuple[Value, Value]] = {
    "max twice": (op("max", A, A, elem="T"), A),
    "max of minimum": (op("max", A, op("min", A, B, elem="T"), elem="T"), A),
    "max commutes": (op("max", A, B, elem="T"), op("max", B, A, elem="T")),
    "max associates": (op("max", A, op("max", B, C, elem="T"), elem="T"), op("max", op("max", A, B, elem="T"), C, elem="T")),
    "max is first": (op("max", A, B, elem="T"), A),
    "and twice": (op("and_", A, A, elem="T"), A),
    "and of or": (op("and_", A, op("or_", A, B, elem="T"), elem="T"), A),
    "xor twice": (op("xor", A, op("xor", A, B, elem="T"), elem="T"), B),
    "xor of complement": (op("xor", A, op("not_", A, elem="T"), elem="T"), B),
    "sum commutes": (op("add", A, B, elem="T"), op("add", B, A, elem="T")),
    "square of sum": (op("mul", op("add", A, B, elem="T"), A, elem="T"), op("fma", A, A, op("mul", B, A, elem="T"), elem="T")),
    "difference commutes": (op("sub", A, B, elem="T"), op("sub", B, A, elem="T")),
}


def retyped(value: Value, elem: str) -> Value:
    return Op(value.name, elem, tuple(retyped(arg, elem) for arg in value.args)) if isinstance(value, Op) else value


def word(value: Value, at: dict[str, int]) -> int:
    if isinstance(value, Load):
        return at[value.buffer]
    assert isinstance(value, Op)
    return function_of(value.name, value.elem)(*(word(arg, at) for arg in value.args))


@pytest.mark.parametrize("says", LAWS)
@pytest.mark.parametrize("elem", ["i8", "u32", "f16", "bool"])
def test_a_law_over_words_agrees_with_all_words_that_are_tried(prover: Prover, says: str, elem: str) -> None:
    """Where the rule's obligations are proved, no words differ; where words differ, they are not."""
    left, right = (retyped(side, elem) for side in LAWS[says])
    try:
        goal = law_over_words(tuple(variable(name, elem) for name in "abc"), (left,), (right,))
    except UnmodelledError:
        return
    element = ELEMENTS[elem]
    tried = {bits & element.mask for bits in (0, 1, 2, 3, 77, element.mask, element.mask >> 1, element.sign, 0x7E00, 0x7E01, 0x7C00)}
    differs = any(word(left, dict(zip("abc", at, strict=True))) != word(right, dict(zip("abc", at, strict=True))) for at in product(tried, repeat=3))
    assert holds(prover, goal) is not differs
