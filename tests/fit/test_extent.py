"""The largest extent that fits, against trying them all."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from cachet_verify.core.index import Const, Var, add, ceil_div, mul
from cachet_verify.core.ir import Layout
from cachet_verify.core.machine import Footprint
from cachet_verify.judge.extent import extents
from cachet_verify.kernel.fit import rows
from tests.fit.build import buffer, lease, machine, program

PANELS = Footprint("Panels", "f", ("n",), ("R", "C"), mul(mul(ceil_div(Var("R"), Var("n")), Var("n")), Var("C")))
PITCHED = Footprint("Pitched", "f", ("n",), ("R", "C"), mul(Var("R"), add(Var("C"), Var("n"))))


@pytest.mark.parametrize("seed", range(12))
def test_no_larger_extent_fits_and_this_one_does(seed: int) -> None:
    random = Random(seed)
    layout = Layout(random.choice(("Panels", "Pitched")), (Const(random.randrange(1, 6)),), "f")
    shape = (random.randrange(1, 9), random.randrange(1, 9))
    others = (buffer("b", random.randrange(1, 30)), buffer("c", random.randrange(1, 30), elem="f64"))
    room = machine(random.choice((512, 1024, 2048)), sharers=random.choice((1, 2)), ways=random.choice((None, 2, 4)))

    def fits(at: tuple[int, int]) -> bool:
        a = replace(buffer("a", *at), layout=layout)
        made = program((a, *others), lease("b"), lease("a"), lease("c"))
        found = rows(made, room, (PANELS, PITCHED))
        return all(isinstance(row.total, Const) and row.total.value <= row.limit for row in found if any(part.buffer == "a" for part in row.parts))

    made = program((replace(buffer("a", *shape), layout=layout), *others), lease("b"), lease("a"), lease("c"))
    for extent in extents(made, room, (PANELS, PITCHED)):
        if extent.buffer == "a":
            tried = [size for size in range(1, 600) if fits((size, shape[1]) if extent.place == 1 else (shape[0], size))]
            assert extent.largest == max(tried, default=0), extent
            assert extent.now == shape[extent.place - 1]
