"""How far the words of a function are from the real one: its error on words of several kinds, in units in the last place.

Takes a program that applies the function to each cell of `x`, and its name; gives the record. Must not round an error down,
nor leave out words for which the real function has no number: a NaN, an infinity or a zero has to come out there.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, Context, Decimal
from math import frexp, inf, isinf, isnan, log, nan
from random import Random

from cachet_verify.core.element import ELEMENTS, Element
from cachet_verify.core.ir import Program
from cachet_verify.core.meaning import run
from cachet_verify.core.numeral import float_of_word, word_of_float
from cachet_verify.ledger.record import Evidence, Inputs

STATED = {"exp": "1.10", "log": "0.90"}
"""The errors that the standard library states, in units in the last place."""
_MOST = 1 << 14
"""The most words of each kind: the interpreter computes them, and decimals to 40 digits what they stand for."""
_DIGITS = Context(prec=40, Emin=-(10**9), Emax=10**9, traps=[])
_REAL: dict[str, Callable[[Decimal], Decimal]] = {"exp": _DIGITS.exp, "log": _DIGITS.ln}
_SAYS = {"exp": "e^x to 40 digits", "log": "the natural logarithm to 40 digits"}


def measured_function(name: str, elem: str, program: Program, digest: str, words: int, seed: int, day: str) -> Evidence:
    """The record of a function's errors, on every kind of arguments."""
    element, largest, inputs = ELEMENTS[elem], Decimal(0), []
    for kind, draw in _DRAWS.items():
        chance = Random(f"{seed} {kind} {elem}")  # noqa: S311
        given = [draw(chance, element) for _ in range(min(words, _MOST))]
        errors = [error_of(name, element, *pair) for pair in zip(given, _applied(program, given), strict=True)]
        wrong = sum(error is None or error > Decimal(STATED[name]) for error in errors)
        largest = max((largest, *(error for error in errors if error is not None)))
        inputs.append(Inputs(kind, len(given), len(given), wrong))
    return Evidence(
        template=f"{name} {elem}",
        target="interpreter",
        device="any machine",
        day=day,
        template_digest=digest,
        reference_digest=f"{_SAYS[name]}, at most {STATED[name]} units in the last place",
        arithmetic="ieee",
        reference=_SAYS[name],
        samples=sum(part.words for part in inputs),
        seed=seed,
        inputs=tuple(inputs),
        largest=str(largest.quantize(Decimal("0.001"), rounding=ROUND_CEILING)),
    )


def error_of(name: str, element: Element, given: int, found: int) -> Decimal | None:
    """How far a word is from the real result, in units in the last place of that; None where it is not even of its kind."""
    argument, result = float_of_word(given, element.name), float_of_word(found, element.name)
    special = _special(name, argument)
    if special is not None:
        alike = isnan(result) if isnan(special) else result == special
        return Decimal(0) if alike else None
    exact, least = _REAL[name](Decimal(argument)), Decimal(float_of_word(1, element.name))
    if isnan(result):
        return None
    largest = float_of_word(element.infinity - 1, element.name)
    top = Decimal(2) ** frexp(largest)[1]
    if exact.copy_abs() >= top:
        return Decimal(0) if isinf(result) and (result > 0) == (exact > 0) else None
    shown = top.copy_sign(Decimal(result)) if isinf(result) else Decimal(result)
    size = min(float(exact.copy_abs()), largest)
    power = Decimal(2) ** (frexp(size)[1] - 1)
    unit = (power / 2 if power > exact.copy_abs() else power) * Decimal(2) ** (1 - element.precision) if size else least
    return _DIGITS.divide(_DIGITS.abs(_DIGITS.subtract(shown, exact)), max(unit, least))


def _special(name: str, argument: float) -> float | None:
    """What has to come out where the real function has no number; None where it has one."""
    if isnan(argument):
        return nan
    if name == "exp":
        return {inf: inf, -inf: 0.0}.get(argument)
    if argument == 0.0:
        return -inf
    return nan if argument < 0 else inf if isinf(argument) else None


def _applied(program: Program, given: list[int]) -> list[int]:
    cells: dict[str, list[int | None]] = {"x": list(given), "y": [None] * len(given)}
    run(program, {"N": len(given)}, cells)
    return [0 if word is None else word for word in cells["y"]]


def _range(element: Element) -> float:
    """Up to where e^x is below the largest number, and a little further."""
    return 1.01 * log(float_of_word(element.infinity - 1, element.name)) + 16.0


_DRAWS: dict[str, Callable[[Random, Element], int]] = {
    "random": lambda chance, element: word_of_float(chance.uniform(-1.0, 1.0), element.name),
    "near one": lambda chance, element: word_of_float(1.0 + chance.uniform(-0.5, 0.5) ** 3, element.name),
    "whole range": lambda chance, element: word_of_float(chance.uniform(-1.0, 1.0) * _range(element), element.name),
    "positive": lambda chance, element: chance.randrange(element.infinity),
    "any bits": lambda chance, element: chance.getrandbits(element.width),
}
