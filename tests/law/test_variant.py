"""False laws: implementations with one mistake each, and the law that it breaks, worked out by hand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from math import inf, isnan
from pathlib import Path

import pytest

import cachet_verify

FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i8", "i32", "i64", "u32")

PLUS_TIMES = {"zero": "()", "one": "()", "add": "a b", "mul": "a b", "mul_add": "a b acc"}

# body of one function that is wrong -> laws that then fail; the other functions are those of plus and times
PLUS_MISTAKES = (
    ("add", "a - b", ("add associative", "add commutative", "add identity")),
    ("add", "a", ("add commutative", "add identity")),
    ("add", "b", ("add commutative", "add identity")),
    ("add", "a + b + a * b", ("distributive", "mul_add")),
    ("add", "a + a", ("add associative", "add commutative", "add identity")),
    ("mul", "a + b", ("distributive", "mul annihilates", "mul identity")),
    ("mul", "a - b", ("mul associative", "mul commutative", "mul annihilates")),
    ("mul", "a * b + a", ("mul commutative", "mul identity", "mul_add")),
    ("mul", "a * a * b", ("mul associative", "mul commutative")),
    ("mul", "-(a * b)", ("mul identity", "mul_add")),
    ("mul_add", "fma a b a", ("mul_add",)),
    ("mul_add", "fma a acc b", ("mul_add",)),
    ("mul_add", "a * b - acc", ("mul_add",)),
    ("mul_add", "acc", ("mul_add",)),
    ("zero", "1", ("add identity", "mul annihilates")),
    ("one", "0", ("mul identity",)),
    ("one", "2", ("mul identity",)),
)

# shortest and longest paths: the same with the two orders exchanged
PATH_MISTAKES = (
    ("add", "OTHER a b", ("add identity",)),
    ("add", "a + b", ("distributive", "mul_add")),
    ("add", "a", ("add commutative",)),
    ("mul", "a - b", ("mul associative", "mul commutative")),
    ("mul", "OWN a b", ("mul identity",)),
    ("mul_add", "OTHER acc (a + b)", ("mul_add",)),
    ("mul_add", "OWN acc a", ("mul_add",)),
    ("zero", "0", ("add identity", "mul annihilates")),
    ("one", "1", ("mul identity",)),
)


def plus_times(elem: str, wrong: str, body: str, laws: tuple[str, ...]) -> str:
    is_float = elem in FLOATS
    bodies = {"zero": "-0.0" if is_float else "0", "one": "1.0" if is_float else "1", "add": "a + b", "mul": "a * b", "mul_add": "fma a b acc"}
    bodies[wrong] = f"{body}.0" if is_float and body.isdigit() else body
    return implementation(f"Wrong {elem}", elem, bodies, laws, "reals" if is_float else "words")


def paths(elem: str, own: str, wrong: str, body: str, laws: tuple[str, ...]) -> str:
    other = "max" if own == "min" else "min"
    infinity = "Num.infinity ()" if own == "min" else "-Num.infinity ()"
    bodies = {"zero": infinity, "one": "-0.0", "add": f"{own} a b", "mul": "a + b", "mul_add": f"{own} acc (a + b)"}
    text = body.replace("OTHER", other).replace("OWN", own)
    bodies[wrong] = f"{text}.0" if text.isdigit() else text
    return implementation(f"Wrong {elem}", elem, bodies, laws, "reals")


def implementation(name: str, elem: str, bodies: dict[str, str], laws: tuple[str, ...], domain: str) -> str:
    lines = [f"impl Semiring for {name} where", f"  const Value = {elem}"]
    lines += [f"  fn {fn} {PLUS_TIMES[fn]} = {body}" for fn, body in bodies.items()]
    lines += [f"  law {law} over {domain}" for law in laws]
    return "\n".join(lines) + "\n"


VARIANTS = [
    *(plus_times(elem, *mistake) for elem, mistake in product((*FLOATS, *INTEGERS), PLUS_MISTAKES)),
    *(paths(elem, own, *mistake) for elem, own, mistake in product(FLOATS, ("min", "max"), PATH_MISTAKES)),
]


def test_there_are_enough() -> None:
    assert len(VARIANTS) >= 200


@pytest.mark.parametrize("start", range(0, len(VARIANTS), 40))
def test_every_false_law_is_refused_with_values(start: int, tmp_path: Path) -> None:
    """One file holds several; the name of an implementation is made its own."""
    texts = [text.replace("for Wrong", f"for Wrong{place}") for place, text in enumerate(VARIANTS[start : start + 40])]
    path = tmp_path / "wrong.cachet"
    path.write_text("\n".join(texts))
    report = cachet_verify.check([path])
    laws = [item for file in report.files for item in file.items if item.kind == "law"]
    assert len(laws) == sum(text.count("  law ") for text in texts)
    for item in laws:
        assert item.verdict.value == "refused", item.name
        assert item.refusal is not None, item.name
        assert item.refusal.counterexample, item.name
        name, _, law = item.name.partition(": ")
        text = next(text for text in texts if f" for {name} where" in text)
        if law.endswith(" over reals"):
            assert is_broken(text, law.removesuffix(" over reals"), item.refusal.counterexample), item.name


# --- the same operations, on exact numbers ---

Number = Fraction | float


def is_broken(text: str, law: str, values: Mapping[str, object]) -> bool:
    """Whether the sides of a law differ at these values, by the bodies in a text."""
    lines = [line.strip().removeprefix("fn ").partition(" = ") for line in text.splitlines() if line.startswith("  fn ")]
    bodies = {head.split()[0]: (tuple(head.removesuffix(" ()").split()[1:]), body) for head, _, body in lines}

    def on(name: str, *args: Number) -> Number:
        params, body = bodies[name]
        return computed(body, dict(zip(params, args, strict=True)))

    a, b, c = (number(str(values.get(name, "0"))) for name in "abc")
    zero, one = on("zero"), on("one")
    operation = law.split()[0]
    unit = zero if operation == "add" else one
    sides = {
        "associative": lambda: [(on(operation, a, on(operation, b, c)), on(operation, on(operation, a, b), c))],
        "commutative": lambda: [(on(operation, a, b), on(operation, b, a))],
        "identity": lambda: [(on(operation, unit, a), a), (on(operation, a, unit), a)],
        "annihilates": lambda: [(on("mul", zero, a), zero), (on("mul", a, zero), zero)],
        "distributive": lambda: [
            (on("mul", a, on("add", b, c)), on("add", on("mul", a, b), on("mul", a, c))),
            (on("mul", on("add", a, b), c), on("add", on("mul", a, c), on("mul", b, c))),
        ],
        "mul_add": lambda: [(on("mul_add", a, b, c), on("add", c, on("mul", a, b)))],
    }[law.split()[-1]]()
    return any(isnan(left) or isnan(right) or left != right for left, right in sides)


def number(text: str) -> Number:
    return float(text) if "inf" in text.lower() else Fraction(text)


def computed(body: str, at: Mapping[str, Number]) -> Number:
    """A body of the tables above: `fma`, `min` and `max` of names, or one of them and a sum in brackets; all else is as Python writes it."""
    text = re.sub(r"fma (\w+) (\w+) (\w+)", r"\1 * \2 + \3", body.replace("Num.infinity ()", "inf"))
    text = re.sub(r"\b(min|max) (\w+) (\w+|\(.*\))", r"\1(\2, \3)", text)
    found = eval(text, {"__builtins__": {}}, {**at, "min": min, "max": max, "inf": inf})
    return found if isinstance(found, (Fraction, float)) else Fraction(found)


def test_the_numbers_are_computed_as_the_bodies_say() -> None:
    at: dict[str, Number] = {"a": Fraction(2), "b": Fraction(3), "acc": inf}
    bodies = {"fma a b a": 8, "a * a * b": 12, "-(a * b)": -6, "min acc (a + b)": 5, "a + b + a * b": 11, "max a b": 3, "a * b - acc": -inf}
    assert {body: computed(body, at) for body in bodies} == bodies
