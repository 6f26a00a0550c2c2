"""Schedules with a word or a line changed: each applies or is refused with a place, and none that is proved differs."""

from __future__ import annotations

import random
import re

import pytest

from cachet_verify.core.ir import Program
from cachet_verify.diagnostic import CachetError
from cachet_verify.kernel.well_formed import well_formed
from cachet_verify.rewrite.error import StepError
from tests.kernel.solve import invalid
from tests.rewrite.drive import Applied, apply, lines, same_words, scope
from tests.rewrite.nest import BATCHED, CONVOLUTION, MATMUL, scratch

SCHEDULES = (
    (
        MATMUL,
        "zero (i, j) c\nsplit k by 3 as gk ragged\nsplit i by 4 as gi, 2 as ui ragged\nsplit j by 3 as gj ragged\n"
        "order (gk, gj, gi, ui, i, j)\npack a into packA along gi over (a0, a1)\nkeep packA along gi within L2 into packA_L2\n"
        "registers (i, j) into c rows 2 lanes 3 through fma",
    ),
    (
        MATMUL,
        "split k by 2 as gk\nsplit i by 4 as gi, 2 as ui\norder (gk, gi, ui, i, j)\npack a into packC along gk over (a0, a1)\nstrip a0 2 (pa, ra)",
    ),
    (CONVOLUTION, "zero (i) y\nhoist (i, r) y\nsplit i by 3 as gi ragged\npack x into packX along gi over x0"),
    (BATCHED, "zero (g, i, j) c\nsplit j by 3 as gj ragged\norder (gj, g, i, j)\npack b into packB along gj over (b0, b1)"),
)
BUFFERS = (scratch("packA", 4, 3), scratch("packB", 3, 3), scratch("packC", "M", 2), scratch("packX", 6))
WORDS = "i j k gi gj gk ui a b c y x packA packB a0 a1 zi zj 0 1 2 3 4 q zero hoist interchange strip split order pack keep".split()


def mutant(text: str, draw: random.Random) -> str:
    """A schedule with a line dropped, doubled or moved, or a word replaced."""
    found = text.splitlines()
    place, other = draw.randrange(len(found)), draw.randrange(len(found))
    kind = draw.choice(("drop", "double", "swap", "word", "word", "word", "word"))
    if kind == "drop" and len(found) > 1:
        del found[place]
    elif kind == "double":
        found.insert(other, found[place])
    elif kind == "swap":
        found[place], found[other] = found[other], found[place]
    else:
        words = re.split(r"(\w+)", found[place])
        words[draw.randrange(1, len(words), 2)] = draw.choice(WORDS)
        found[place] = "".join(words)
    return "\n".join(found)


def attempt(text: str, program: Program) -> tuple[Applied | None, StepError | None]:
    """The schedule applied, or why it is not."""
    try:
        return apply(text, program, scope(buffers=BUFFERS)), None
    except StepError as error:
        return None, error


@pytest.mark.parametrize("seed", range(4))
def test_mutants_are_refused_with_a_place_or_keep_every_word(seed: int) -> None:
    draw = random.Random(seed)
    for number in range(40):
        program, text = draw.choice(SCHEDULES)
        changed = mutant(text, draw)
        try:
            lines(changed)
        except CachetError:
            continue
        applied, error = attempt(changed, program)
        if applied is None:
            assert error is not None
            assert error.diagnostic.message
            assert error.diagnostic.span is not None
            continue
        assert applied.is_linked()
        if number % 8 == 0 and applied.failed() == [] and invalid(well_formed(applied.after)) == []:
            assert same_words(program, applied.after, 3)
