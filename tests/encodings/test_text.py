"""Scripts are canonical: sorted, quoted, the same from everywhere, and no longer than needed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cachet_verify.core import index
from cachet_verify.core.index import Const, Var
from cachet_verify.encodings import second
from cachet_verify.encodings.first import FirstEncoder
from cachet_verify.encodings.script import EncodingError, Script
from cachet_verify.kernel.obligation import Obligation
from tests.encodings.direct import ASK

ROOT = Path(__file__).parents[2]
Encode = Callable[[Obligation], Script]
SAMPLE = Obligation(
    "the block of i starts at or before i",
    (index.le(Const(0), Var("i'0")), index.lt(Var("i'0"), Var("M"))),
    index.le(index.mul(Const(4), index.div(Var("i'0"), Const(4))), Var("i'0")),
)


def encode_first(obligation: Obligation) -> Script:
    return FirstEncoder().encode(obligation)


ENCODERS = pytest.mark.parametrize("encode", [encode_first, second.encode], ids=["first", "second"])


def test_the_first_text_is_exactly_this() -> None:
    assert encode_first(SAMPLE).text.splitlines() == [
        "(set-logic QF_LIA)",
        "(declare-fun M () Int)",
        "(declare-fun |i'0| () Int)",
        "(declare-fun |quotient 0| () Int)",
        "(declare-fun |remainder 0| () Int)",
        "(assert (<= 0 |i'0|))",
        "(assert (< |i'0| M))",
        "(assert (and (= |i'0| (+ (* 4 |quotient 0|) |remainder 0|)) (and (<= 0 |remainder 0|) (< |remainder 0| 4))))",
        "(assert (not (<= (* 4 |quotient 0|) |i'0|)))",
        "(check-sat)",
    ]


def test_the_second_text_is_exactly_this() -> None:
    assert second.encode(SAMPLE).text.splitlines() == [
        "(set-logic QF_LIA)",
        "(declare-fun M () Int)",
        "(declare-fun |i'0| () Int)",
        "(assert (<= 0 |i'0|))",
        "(assert (< |i'0| M))",
        "(assert (not (<= (* 4 (div |i'0| 4)) |i'0|)))",
        "(check-sat)",
    ]


@ENCODERS
def test_symbols_name_the_variables(encode: Encode) -> None:
    assert encode(SAMPLE).symbols == (("M", "M"), ("i'0", "i'0"))


@ENCODERS
def test_a_text_ends_with_one_check_and_a_newline(encode: Encode) -> None:
    assert encode(SAMPLE).text.endswith("(check-sat)\n")
    assert encode(SAMPLE).text.count("check-sat") == 1


@ENCODERS
def test_the_subject_is_no_part_of_the_text(encode: Encode) -> None:
    other = Obligation("another subject", SAMPLE.premises, SAMPLE.goal, can_refute=False)
    assert encode(SAMPLE) == encode(other)


def test_a_used_encoder_writes_as_a_fresh_one() -> None:
    used = FirstEncoder()
    for number in range(20):
        goal = index.le(index.div(Var(f"x{number}"), Var("quotient")), index.minimum(Var("i'0"), Var("M")))
        used.encode(Obligation("", (), goal))
    assert used.encode(SAMPLE) == encode_first(SAMPLE)


def test_a_fresh_process_writes_the_same_bytes() -> None:
    program = (
        "import sys; from tests.encodings.test_text import SAMPLE, encode_first; from cachet_verify.encodings import second;"
        "sys.stdout.write(encode_first(SAMPLE).text + second.encode(SAMPLE).text)"
    )
    for seed in ("1", "2"):
        made = subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=True, env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."}
        )
        assert made.stdout.decode() == encode_first(SAMPLE).text + second.encode(SAMPLE).text


@ENCODERS
@pytest.mark.parametrize(
    "name",
    "abs and mod div not true let is_int distinct store Int Real Bool xor ite str.len str.++ x.y S.k acc'0 _ as par bv2nat seq.len "
    "rem exp pi select const map set int.pow2 iand push check-sat divisible match forall real.pi sin a'b'c ".split(),
)
def test_a_variable_of_any_name_is_only_a_variable(encode: Encode, name: str) -> None:
    """The same name cannot be taken for a function or constant that a solver knows."""
    script = encode(Obligation("", (index.le(Const(3), Var(name)),), index.le(Const(4), Var(name))))
    assert ASK["z3"](script.text) == "sat"
    assert ASK["cvc5"](script.text) == "sat"
    script = encode(Obligation("", (index.le(Const(3), Var(name)),), index.le(Const(2), Var(name))))
    assert ASK["z3"](script.text) == "unsat"
    assert ASK["cvc5"](script.text) == "unsat"


@ENCODERS
@pytest.mark.parametrize("name", ["", "a|b", "a\\b", "|a|", "é", "a b", "quotient 0", "line\nbreak", 'a"b', "-5", "5", "+", "<=", ".a", "@a", "(a)x"])
def test_a_name_that_cannot_be_quoted_is_refused(encode: Encode, name: str) -> None:
    with pytest.raises(EncodingError):
        encode(Obligation("", (), index.le(Const(0), Var(name))))


@ENCODERS
def test_what_is_no_term_is_refused(encode: Encode) -> None:
    for name, value in (("goal", index.Compare("<=", "M", Const(0))), ("premises", (Var("M"),))):  # type: ignore[arg-type]
        obligation = Obligation("", (), index.TRUE)
        object.__setattr__(obligation, name, value)
        with pytest.raises(EncodingError):
            encode(obligation)


@ENCODERS
@pytest.mark.parametrize(
    ("term", "logic"),
    [
        (index.Product(Const(3), Var("x")), "QF_LIA"),
        (index.Product(Var("x"), Const(-3)), "QF_LIA"),
        (index.Product(index.Sum((Const(1), Const(2))), Var("x")), "QF_LIA"),
        (index.Div(Var("x"), Const(-3)), "QF_LIA"),
        (index.Mod(Var("x"), index.Product(Const(2), Const(2))), "QF_LIA"),
        (index.Product(Var("x"), Var("x")), "QF_NIA"),
        (index.Div(Var("x"), Var("y")), "QF_NIA"),
        (index.Mod(Var("x"), index.Sum((Var("y"), Const(1)))), "QF_NIA"),
    ],
)
def test_the_logic_is_linear_when_the_terms_are(encode: Encode, term: index.Index, logic: str) -> None:
    script = encode(Obligation("", (), index.Compare("<=", term, Const(2))))
    assert script.text.startswith(f"(set-logic {logic})\n")
    assert ASK["z3"](script.text) == "sat"
    assert ASK["cvc5"](script.text) == "sat"


def test_one_quotient_per_distinct_pair() -> None:
    x, n = Var("x"), Var("n")
    goal = index.lt(index.add(index.mul(n, index.Div(x, n)), index.Mod(x, n)), index.Div(x, Const(4)))
    text = encode_first(Obligation("", (index.le(index.Div(x, n), n),), goal)).text
    assert text.count("(declare-fun |quotient") == 2
    assert text.count("(declare-fun |remainder") == 2


@ENCODERS
@pytest.mark.parametrize("kind", [index.Min, index.Max, index.Div, index.Mod])
def test_a_deep_nest_does_not_double_at_each_level(encode: Encode, kind: Callable[[index.Index, index.Index], index.Index]) -> None:
    def nest(depth: int) -> int:
        term: index.Index = Var("x")
        for level in range(depth):
            term = kind(index.Sum((term, Var(f"y{level}"))), Var(f"z{level}"))
        return len(encode(Obligation("", (), index.Compare("<=", term, Const(0)))).text)

    assert nest(40) < 5 * nest(10)
