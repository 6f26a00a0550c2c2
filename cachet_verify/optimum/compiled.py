"""Conditions and costs as one Python function of ranges, for the inner loops of a search.

Takes terms and the order of the names; gives functions. Must not compile text from outside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from cachet_verify.core.compiled import defined, formula_text, term_text
from cachet_verify.core.index import Formula, Index, conjuncts, variables

Bound = tuple[int, int]
# Takes the numerator and the denominator of a cost and the values; gives the bound that a cost must be below from then on.
Keep = Callable[[int, int, tuple[int, ...]], Bound]
# Called with the ends of each name's range, the bound (top, bottom) that costs must be below, and a `Keep` for each that
# is; without a bound, `top` is 1 and `bottom` 0.
Sweep = Callable[[tuple[tuple[int, int], ...], int, int, Keep], None]


def sweep(names: tuple[str, ...], conditions: tuple[Formula, ...], numerator: Index, denominator: Index) -> Sweep:
    """Goes through all values in ranges, in lexicographic order; a condition is tested once its names have values."""
    places = {name: place for place, name in enumerate(names)}
    parts = [part for condition in conditions for part in conjuncts(condition)]
    lines = ["def sweep(ranges, top, bottom, keep):"]
    for place in range(len(names)):
        lines.append(f"{'  ' * (place + 1)}for v{place} in range(ranges[{place}][0], ranges[{place}][1] + 1):")
        indent = "  " * (place + 2)
        tested = [part for part in parts if max((places[name] for name in variables(part)), default=0) == place]
        lines += [f"{indent}if not {formula_text(part, places)}: continue" for part in tested]
    indent = "  " * (len(names) + 1)
    values = ", ".join(f"v{place}" for place in range(len(names)))
    lines += [
        f"{indent}n, d = {term_text(numerator, places)}, {term_text(denominator, places)}",
        f"{indent}if d > 0 and n * bottom < top * d:",
        f"{indent}  top, bottom = keep(n, d, ({values},))",
        "",
    ]
    return cast(Sweep, defined("\n".join(lines), "sweep"))
