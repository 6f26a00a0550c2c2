"""Logarithms of sums of exponentials: mistakes refused with numbers, which are computed again here to 80 digits."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal
from pathlib import Path

import pytest

import cachet_verify
from cachet_verify.resource_path import shipped_root

SHIPPED = (shipped_root() / "stdlib" / "logsum.cachet").read_text()
DIGITS = Context(prec=80, Emin=-(10**9), Emax=10**9, traps=[])
Total = tuple[Decimal, Decimal]
LOW, NOUGHT, ONE = Decimal("-Infinity"), Decimal(0), Decimal(1)


def exp(x: Decimal) -> Decimal:
    return DIGITS.exp(x)


def rescale(source: Decimal, target: Decimal) -> Decimal:
    return NOUGHT if source == LOW else exp(DIGITS.subtract(source, target))


def times(*factors: Decimal) -> Decimal:
    product = ONE
    for factor in factors:
        product = DIGITS.multiply(product, factor)
    return product


Combine = Callable[[Total, Total], Total]


def combine(weight: Callable[[Total, Total, Decimal], Decimal], top: Callable[..., Decimal] = max) -> Combine:
    def made(a: Total, b: Total) -> Total:
        m = top(a[0], b[0])
        return m, weight(a, b, m)

    return made


def add(x: Decimal, y: Decimal) -> Decimal:
    return DIGITS.add(x, y)


RIGHT = "l = a.l * rescale a.m m + b.l * rescale b.m m"
TOP = "let m = max a.m b.m"
right = combine(lambda a, b, m: add(times(a[1], rescale(a[0], m)), times(b[1], rescale(b[0], m))))
EMPTY: Total = (LOW, NOUGHT)

# (text replaced, by, law that then fails, the same on decimals, the empty total)
MISTAKES: tuple[tuple[str, str, str, Combine, Total], ...] = (
    (RIGHT, "l = a.l + b.l * rescale b.m m", "associative", combine(lambda a, b, m: add(a[1], times(b[1], rescale(b[0], m)))), EMPTY),
    (RIGHT, "l = a.l + b.l * rescale b.m m", "commutative", combine(lambda a, b, m: add(a[1], times(b[1], rescale(b[0], m)))), EMPTY),
    (RIGHT, "l = a.l * rescale a.m m + b.l", "associative", combine(lambda a, b, m: add(times(a[1], rescale(a[0], m)), b[1])), EMPTY),
    (RIGHT, "l = a.l * rescale a.m m - b.l * rescale b.m m", "commutative",
     combine(lambda a, b, m: add(times(a[1], rescale(a[0], m)), -times(b[1], rescale(b[0], m)))), EMPTY),
    (RIGHT, "l = a.l * rescale b.m m + b.l * rescale a.m m", "identity",
     combine(lambda a, b, m: add(times(a[1], rescale(b[0], m)), times(b[1], rescale(a[0], m)))), EMPTY),
    (RIGHT, "l = a.l * rescale a.m m", "commutative", combine(lambda a, b, m: times(a[1], rescale(a[0], m))), EMPTY),
    (RIGHT, "l = a.l * rescale a.m m + b.l * rescale b.m m + 1.0", "identity",
     combine(lambda a, b, m: add(add(times(a[1], rescale(a[0], m)), times(b[1], rescale(b[0], m))), ONE)), EMPTY),
    (TOP, "let m = min a.m b.m", "identity",
     combine(lambda a, b, m: add(times(a[1], rescale(a[0], m)), times(b[1], rescale(b[0], m))), min), EMPTY),
    ("empty () = LogTotal { m = -Num.infinity (), l = -0.0 }", "empty () = LogTotal { m = 0.0, l = -0.0 }", "identity", right, (NOUGHT, NOUGHT)),
    ("empty () = LogTotal { m = -Num.infinity (), l = -0.0 }", "empty () = LogTotal { m = 0.0, l = 1.0 }", "identity", right, (NOUGHT, ONE)),
)  # fmt: skip


def differs(law: str, made: Combine, empty: Total, a: Total, b: Total, c: Total) -> bool:
    """Whether the sides of a law differ at these totals by more than the digits leave open."""
    sides = {
        "associative": [(made(a, made(b, c)), made(made(a, b), c))],
        "commutative": [(made(a, b), made(b, a))],
        "identity": [(made(empty, a), a), (made(a, empty), a)],
    }[law]
    near = Decimal("1e-60")
    pairs = [(x, y) for left, right_ in sides for x, y in zip(left, right_, strict=True)]
    return any(x != y and (not x.is_finite() or not y.is_finite() or abs(x - y) > near * (abs(x) + abs(y))) for x, y in pairs)


@pytest.mark.parametrize(("old", "new", "law", "made", "empty"), MISTAKES)
def test_a_mistake_is_refused_with_numbers_that_show_it(old: str, new: str, law: str, made: Combine, empty: Total, tmp_path: Path) -> None:
    text = SHIPPED.partition("law one_term")[0]
    assert text.count(old) == 1
    path = tmp_path / "wrong.cachet"
    path.write_text(text.replace(old, new))
    (item,) = (item for item in cachet_verify.check([path]).files[0].items if item.name == f"LogSum: {law} over reals")
    assert item.refusal is not None
    at = {name: Decimal(str(value)) for name, value in item.refusal.counterexample.items()}
    a, b, c = ((at.get(f"{name}.m", NOUGHT), at.get(f"{name}.l", NOUGHT)) for name in "abc")
    assert differs(law, made, empty, a, b, c)


STATED = (
    ("log (exp s + exp t)", "log (exp s) + exp t"),
    ("log (exp s + exp t)", "log (exp s * exp t)"),
    ("log (exp s + exp t)", "max s t"),
    ("log (exp s + exp t)", "log (exp s + exp t) + 1.0"),
    ("log (exp s + exp t)", "log (exp s - exp t)"),
    ("log (exp (m + p) + exp (n + q))", "log (exp (m + q) + exp (n + p))"),
    ("log (exp (m + p) + exp (n + q))", "log (exp m + exp n)"),
    ("log_total (log_term s) == s", "log_total (log_term s) == s + 1.0"),
    ("log_total (log_term s) == s", "log_total (log_term s) == exp s"),
)


@pytest.mark.parametrize(("old", "new"), STATED)
def test_what_totals_stand_for_is_nothing_else(old: str, new: str, tmp_path: Path) -> None:
    assert SHIPPED.count(old) == 1
    path = tmp_path / "wrong.cachet"
    stated = next(part for part in SHIPPED.replace(old, new).split("law ") if new in part).partition("\n\n")[0]
    path.write_text(f"{SHIPPED.partition('  law')[0]}\nlaw {stated}\n\n{SHIPPED[SHIPPED.index('fn weighted') :]}")
    refused = [item for item in cachet_verify.check([path]).files[0].items if item.verdict.value == "refused"]
    assert len(refused) == 1
    assert refused[0].refusal is not None
    assert refused[0].refusal.counterexample
