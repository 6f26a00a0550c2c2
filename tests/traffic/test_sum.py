"""Sums in closed form against adding up one by one, over costs drawn at random."""

from __future__ import annotations

import random

import pytest

from cachet_verify.traffic.block_sum import Cut, dearest_block, full_blocks, over_blocks
from cachet_verify.traffic.factor import ceil, floor, is_at_most_zero, is_zero, least, most, remainder
from cachet_verify.traffic.quantity import NOTHING, Quantity, as_quantity, name, spell
from cachet_verify.traffic.range_sum import over_range
from cachet_verify.traffic.value import TooManyStepsError, evaluate, substitute

N, M = name("N", 0), name("M", 0)


def draw(chance: random.Random, names: list[Quantity], depth: int = 2) -> Quantity:
    """A cost over some names: sums, products, quotients, extremes and conditions."""
    if depth == 0 or chance.random() < 0.25:
        return chance.choice(names) if chance.random() < 0.7 else as_quantity(chance.randrange(-3, 6))
    left, right = draw(chance, names, depth - 1), draw(chance, names, depth - 1)
    by = as_quantity(chance.randrange(1, 6))
    made = (
        lambda: left + right,
        lambda: left * right,
        lambda: left - right,
        lambda: ceil(left, by),
        lambda: floor(left, by),
        lambda: remainder(left, by),
        lambda: least(left, right),
        lambda: most(left, right),
        lambda: is_zero(left - right),
        lambda: is_at_most_zero(left - right),
    )
    return chance.choice(made)()


@pytest.mark.parametrize("seed", range(150))
def test_folding_keeps_the_value(seed: int) -> None:
    """A cost at given sizes, folded while it was built, is what its text says when it is built from the numbers."""
    first, second = random.Random(seed), random.Random(seed)
    values = {"N": seed % 7, "M": seed % 4}
    built = draw(first, [N, M], 4)
    assert evaluate(built, values) == draw(second, [as_quantity(values["N"]), as_quantity(values["M"])], 4).value
    assert substitute(built, {text: as_quantity(value) for text, value in values.items()}).value == evaluate(built, values)


@pytest.mark.parametrize("seed", range(200))
def test_over_a_range(seed: int) -> None:
    chance = random.Random(seed)
    low, high = chance.choice([(NOTHING, N), (M, N), (as_quantity(1), N + 2), (NOTHING, as_quantity(5)), (NOTHING, ceil(N, as_quantity(4)))])
    body = draw(chance, [name("i"), N, name("i") * 4, as_quantity(2)], 3)
    found = over_range("i", low, high, body)
    for at in ({"N": n, "M": m} for n in range(7) for m in (0, 2, 5)):
        indices = range(evaluate(low, at), evaluate(high, at))
        assert evaluate(found, at) == sum(evaluate(body, {**at, "i": i}) for i in indices), (spell(body), at)


@pytest.mark.parametrize("seed", range(200))
def test_over_blocks(seed: int) -> None:
    chance = random.Random(seed)
    size = chance.randrange(1, 6)
    cut = Cut("g", chance.choice([NOTHING, M]), chance.choice([N, as_quantity(11), N + 3]), as_quantity(size))
    names = [name("g.len", 1, size), N, name("g", 0), name("g.lo", 0)][: chance.choice((2, 2, 4))]
    body = draw(chance, names, 3)
    found, full, most_of_one = over_blocks(cut, body), full_blocks(cut, body), dearest_block(cut, body)
    for at in ({"N": n, "M": m} for n in range(9) for m in (0, 2, 7)):
        costs = [evaluate(body, {**at, **block}) for block in blocks(cut, at)]
        assert evaluate(found, at) == sum(costs), (spell(body), at)
        assert evaluate(full, at) >= sum(costs), (spell(body), at)
        assert most_of_one is None or all(evaluate(most_of_one, at) >= cost for cost in costs), (spell(body), at)


def blocks(cut: Cut, at: dict[str, int]) -> list[dict[str, int]]:
    """The blocks of a cut, as the language defines them."""
    low, high, size = (evaluate(part, at) for part in (cut.low, cut.high, cut.size))
    return [{"g": n, "g.lo": start, "g.len": min(size, high - start)} for n, start in enumerate(range(low, high, size))]


@pytest.mark.parametrize(
    ("quantity", "text"),
    [
        (ceil(N, as_quantity(16)) * ceil(M, as_quantity(8)) * 4, "4 * ceil (M / 8) * ceil (N / 16)"),
        (ceil(N * 16 + M, as_quantity(16)), "N + ceil (M / 16)"),
        (floor(N + 1, as_quantity(2)), "floor ((N + 1) / 2)"),
        (remainder(N, as_quantity(4)) * 2, "2 * (N % 4)"),
        (least(N, as_quantity(8)) - 1, "min 8 N - 1"),
        (is_at_most_zero(as_quantity(3) - N), "if 3 <= N then 1 else 0"),
        (most(NOTHING, N), "N"),
        (least(N, ceil(N, as_quantity(4)) * 4), "N"),
        (N - M - 2, "-M + N - 2"),
        (NOTHING, "0"),
    ],
)
def test_as_text(quantity: Quantity, text: str) -> None:
    assert spell(quantity) == text


def test_a_sum_without_a_closed_form_is_shown_open_and_counted_out() -> None:
    left_open = over_range("i", NOTHING, N, remainder(name("i", 0) * name("i", 0), as_quantity(3)))
    assert spell(left_open) == "sum i in 0 .. N. (i * i % 3)"
    assert evaluate(left_open, {"N": 7}) == 0 + 1 + 1 + 0 + 1 + 1 + 0
    with pytest.raises(TooManyStepsError):
        substitute(left_open, {"N": as_quantity(10**12)})
