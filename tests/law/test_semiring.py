"""Laws over every semiring: square matrices, one mistake each, and the kernel's rule asked directly."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import pytest

import cachet_verify
from cachet_verify.core.family import UnmodelledError
from cachet_verify.core.ir import Load, Op, Value, Word
from cachet_verify.kernel.claim import LawVariable, RuleError
from cachet_verify.kernel.law_semiring import law_over_semiring
from cachet_verify.resource_path import shipped_root

TEXT = (shipped_root() / "stdlib" / "matrix.cachet").read_text()
FIRST = TEXT[TEXT.index("impl") : TEXT.index("impl", TEXT.index("impl") + 4)]
LAWS = ("add associative", "add commutative", "add identity", "mul associative", "mul identity", "mul annihilates", "distributive", "mul_add")

# (text replaced, by, laws that then fail): worked out by hand; products of S are not taken to commute
MISTAKES = (
    ("a[i, k] * b[k, j]", "a[k, i] * b[k, j]", ("mul associative", "mul identity", "mul_add")),  # turned over
    ("a[i, k] * b[k, j]", "b[i, k] * a[k, j]", ("mul_add",)),  # swapped
    ("if i == j then S.one () else S.zero ()", "S.one ()", ("mul identity",)),
    ("if i == j then S.one () else S.zero ()", "if i < j then S.one () else S.zero ()", ("mul identity",)),
    ("c[i, j] = S.zero ()", "c[i, j] = S.one ()", ("add identity", "mul annihilates")),
    ("S.add (a[i, j]) (b[i, j])", "S.add (a[i, j]) (b[j, i])", ("add associative", "add commutative", "add identity", "distributive", "mul_add")),
    ("S.add (a[i, j]) (b[i, j])", "a[i, j]", ("add commutative", "add identity", "mul_add")),
    ("S.add (a[i, j]) (b[i, j])", "S.mul (a[i, j]) (b[i, j])", ("add commutative", "add identity", "distributive", "mul_add")),
    ("0 .. 2 from", "0 .. 1 from", ("mul_add",)),  # the last product is left out
    ("from acc[i, j]", "from S.zero ()", ("mul_add",)),
    ("from acc[i, j]", "from acc[j, i]", ("mul_add",)),
    ("(b[k, j]) t", "(b[k, i]) t", ("mul_add",)),
)


def verdicts(text: str, folder: Path) -> dict[str, cachet_verify.ItemReport]:
    path = folder / "matrix.cachet"
    path.write_text(text)
    return {item.name.partition(": ")[2]: item for item in cachet_verify.check([path]).files[0].items if item.kind == "law"}


@pytest.mark.parametrize(("old", "new", "laws"), MISTAKES)
def test_a_mistake_is_refused_with_numbers_and_spoils_no_other_law(old: str, new: str, laws: tuple[str, ...], tmp_path: Path) -> None:
    assert FIRST.count(old) == 1
    found = verdicts(FIRST.replace("Matrix", "Wrong").replace(old, new), tmp_path)
    assert {name.removesuffix(" over S") for name, item in found.items() if item.verdict.value == "refused"} == set(laws)
    for item in found.values():
        assert item.verdict.value in ("refused", "proved")
        assert item.refusal is None or item.refusal.counterexample


def test_products_of_matrices_do_not_commute(tmp_path: Path) -> None:
    """The numbers are multiplied again here."""
    item = verdicts(FIRST.replace("Matrix", "Wrong") + "  law mul commutative over S\n", tmp_path)["mul commutative over S"]
    assert item.refusal is not None
    at = {name: float(str(value)) for name, value in item.refusal.counterexample.items()}
    a, b = ([[at.get(f"{name}.{i}.{j}", 0.0) for j in range(2)] for i in range(2)] for name in "ab")

    def times(x: list[list[float]], y: list[list[float]]) -> list[list[float]]:
        return [[sum(x[i][k] * y[k][j] for k in range(2)) for j in range(2)] for i in range(2)]

    assert times(a, b) != times(b, a)


def test_what_numbers_do_not_tell_apart_matrices_of_them_do(tmp_path: Path) -> None:
    """a * b and b * a of one cell are equal for all numbers."""
    text = FIRST.replace("Matrix", "Single").replace("; 2, 2]", "; 1, 1]").replace("S 2", "S 1").replace("0 .. 2", "0 .. 1")
    item = verdicts(text + "  law mul commutative over S\n", tmp_path)["mul commutative over S"]
    assert item.refusal is not None
    assert "2 × 2 matrices" in item.refusal.message
    assert item.refusal.counterexample


def test_an_interface_that_asks_for_no_laws_is_no_semiring(tmp_path: Path) -> None:
    interface = "interface Weak where\n  const Value : Type\n  fn zero () -> Value\n  fn add (a: Value) (b: Value) -> Value\n\n"
    text = (
        "impl {S : Weak} Weak for Two S where\n  const Value = [S.Value; 2]\n  fn zero () =\n    c[i] = S.zero ()\n"
        "  fn add a b =\n    c[i] = S.add (a[i]) (b[i])\n  law add commutative over S\n"
    )
    path = tmp_path / "weak.cachet"
    path.write_text(interface + text)
    assert [found.code for found in cachet_verify.check([path]).files[0].diagnostics] == ["elaborate.law.domain"]


def test_values_of_a_parameter_are_neither_numbers_nor_words(tmp_path: Path) -> None:
    for domain in ("reals", "words"):
        text = FIRST.replace("Matrix", "Other").partition("  law")[0] + f"  law add commutative over {domain}\n"
        assert verdicts(text, tmp_path)[f"add commutative over {domain}"].verdict.value == "undecided"


def test_arrays_of_numbers_have_laws_over_the_reals(tmp_path: Path) -> None:
    """Complex numbers as pairs: their products commute, and those of a wrong sign too, which are of no field that matters here."""
    text = (
        "impl Semiring for Complex f64 where\n  const Value = [f64; 2]\n"
        "  fn zero () =\n    c[i] = -0.0\n  fn one () =\n    c[i] = if i == 0 then 1.0 else 0.0\n"
        "  fn add a b =\n    c[i] = a[i] + b[i]\n"
        "  fn mul a b =\n    c[i] = if i == 0 then a[0] * b[0] - a[1] * b[1] else a[0] * b[1] + a[1] * b[0]\n"
        "  fn mul_add a b acc =\n    c[i] = acc[i] + (if i == 0 then a[0] * b[0] - a[1] * b[1] else a[0] * b[1] + a[1] * b[0])\n"
    ) + "".join(f"  law {law} over reals\n" for law in (*LAWS, "mul commutative"))
    assert {item.verdict.value for item in verdicts(text, tmp_path).values()} == {"proved"}
    wrong = text.replace("a[0] * b[1] + a[1] * b[0]\n  fn mul_add", "a[0] * b[1] - a[1] * b[0]\n  fn mul_add")
    assert verdicts(wrong, tmp_path)["mul commutative over reals"].verdict.value == "refused"


# --- the rule ---

A, B, C = (Load(name) for name in "abc")
VARIABLES = tuple(LawVariable(name, ((name, "S.Value"),)) for name in "abc")


def op(name: str, *args: Value) -> Op:
    return Op(f"S.{name}", "S.Value", args)


def sides(random: Random, depth: int) -> Value:
    if depth == 0:
        return random.choice((A, B, C, op("zero"), op("one")))
    return op(random.choice(("add", "mul")), sides(random, depth - 1), sides(random, random.randrange(depth)))


def at(value: Value, cells: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    """A value at 2 x 2 matrices of integers, whose products do not commute."""
    if isinstance(value, Load):
        return cells[value.buffer]
    assert isinstance(value, Op)
    args = [at(arg, cells) for arg in value.args]
    if value.name == "S.add":
        return tuple(x + y for x, y in zip(*args, strict=True))
    if value.name == "S.mul":
        (a, b, c, d), (e, f, g, h) = args
        return (a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h)
    return (0, 0, 0, 0) if value.name == "S.zero" else (1, 0, 0, 1)


def holds(left: Value, right: Value) -> bool:
    try:
        return law_over_semiring("S", VARIABLES, (left,), (right,)).obligations == ()
    except RuleError:
        return False


@pytest.mark.parametrize("seed", range(60))
def test_what_follows_holds_for_matrices_of_integers(seed: int) -> None:
    random = Random(seed)
    sampled = [{name: tuple(random.randrange(-5, 6) for _ in range(4)) for name in "abc"} for _ in range(6)]
    found = [sides(random, random.randrange(4)) for _ in range(8)]
    for left, right in product(found, repeat=2):
        if holds(left, right):
            assert all(at(left, cells) == at(right, cells) for cells in sampled)


def test_laws_that_a_semiring_has_not() -> None:
    assert holds(op("mul", op("add", A, B), C), op("add", op("mul", B, C), op("mul", A, C)))
    assert holds(op("mul_add", A, B, C), op("add", op("mul", A, B), C))
    assert not holds(op("mul", A, B), op("mul", B, A))
    assert not holds(op("add", A, A), A)
    assert not holds(op("mul", A, A), A)
    assert not holds(op("mul_add", A, B, C), op("add", op("mul", B, A), C))
    assert not holds(op("add", op("one"), op("one")), op("one"))
    assert not holds(A, B)


def test_forged_statements_are_refused() -> None:
    with pytest.raises(RuleError):
        law_over_semiring("S", VARIABLES, (A, A), (A,))
    with pytest.raises(RuleError):
        law_over_semiring("S", VARIABLES, (), ())
    with pytest.raises(RuleError):
        law_over_semiring("S", VARIABLES[:1], (B,), (B,))
    with pytest.raises(RuleError):
        law_over_semiring("T", VARIABLES, (A,), (A,))
    with pytest.raises(RuleError):
        law_over_semiring("S", (LawVariable("a", (("a", "f32"),)),), (A,), (A,))
    with pytest.raises(RuleError):
        law_over_semiring("S", (LawVariable("a", (("a", "S.Value"),), (("empty", (Word("f32", 0),)),)),), (A,), (A,))
    for strange in (Op("add", "f32", (A, B)), op("add", A), op("sub", A, B), Op("T.add", "S.Value", (A, B)), Word("f32", 0), Load("a", ())):
        if strange != A:
            with pytest.raises(UnmodelledError):
                law_over_semiring("S", VARIABLES, (strange,), (strange,))
