"""Generated grids against brute force: a short campaign, what it is made of, and the brute force itself."""

from __future__ import annotations

from itertools import islice

import pytest

from tests.race.brute import found, unordered
from tests.race.campaign import run
from tests.race.grid_case import cases
from tests.race.nest import Nest
from tests.race.special import SPECIAL
from tests.race.term import name, relation, whole

SHORT = 12


def test_no_race_is_accepted_and_no_alarm_is_false() -> None:
    """A few dozen grids of the long campaign, `python -m tests.race --full`."""
    records = list(run(seed=7, count=SHORT))
    assert [record.case.text for record in records if record.is_wrong()] == []
    assert [(record.case.text, record.why) for record in records if record.is_alarm()] == []
    assert {record.case.is_racy for record in records} == {True, False}


def test_the_shares_of_what_is_generated() -> None:
    """Symbolic bounds throughout; division, guards, two buffers and races as often as the campaign promises."""
    drawn = list(islice(cases(3), 40))
    share = {mark: sum(mark in case.features for case in drawn) / len(drawn) for mark in ("symbolic", "division", "guard", "two buffers")}
    assert share["symbolic"] == 1.0
    assert share["division"] >= 0.3
    assert share["guard"] >= 0.2
    assert share["two buffers"] >= 0.2
    assert 0.25 <= sum(case.is_racy for case in drawn) / len(drawn) <= 0.55


def _shifted(low: int, shift: int) -> Nest:
    nest = Nest(["N"])
    nest.buffer("c", (name("N") + 4,))
    with nest.grid([("i", whole(low), name("N"))]):
        nest.store("c", (name("i") + shift,), ("c", (name("i"),)))
    return nest


def test_brute_force_finds_a_race_that_is_known_by_hand() -> None:
    """`c[i + 3]` is written and `c[i]` read for `i` from 1 to below N: iterations 1 and 4 meet at c[4] once N is 5."""
    race = found(_shifted(1, 3))
    assert race is not None
    assert (race.kind, race.sizes) == ("race", (5,))
    assert {touch.path[0][1] for touch in race.touches} == {(1,), (4,)}
    assert race.touches[0].cell == (4,)
    assert found(_shifted(1, 0)) is None


def test_brute_force_finds_an_access_out_of_bounds() -> None:
    """`c[i + 5]` of `N + 4` cells is outside for the last iteration, at N = 1 already."""
    fault = found(_shifted(0, 5))
    assert fault is not None
    assert (fault.kind, fault.sizes) == ("bounds", (1,))


def test_runs_of_a_grid_one_after_the_other_do_not_race() -> None:
    """The same cells in every step of a loop around the grid; only iterations of one run are unordered."""
    nest = Nest(["N"])
    nest.buffer("c", (whole(9),))
    with nest.loop("step", whole(0), name("N")), nest.grid([("i", whole(0), whole(9))]):
        nest.store("c", (name("i"),), ("c", (name("i"),)))
    assert found(nest) is None
    assert unordered(((1, (0,)),), ((1, (2,)),))
    assert not unordered(((1, (0,)),), ((2, (2,)),))
    assert not unordered(((1, (0,)),), ((1, (0,)),))


def test_a_guard_is_part_of_what_brute_force_runs() -> None:
    """Every iteration writes c[0], but only the first is let through."""
    nest = Nest(["N"])
    nest.buffer("c", (whole(1),))
    with nest.grid([("i", whole(0), name("N"))]), nest.guard(relation(name("i"), "==", 0)):
        nest.store("c", (whole(0),))
    assert found(nest) is None


@pytest.mark.parametrize("pattern", SPECIAL, ids=lambda pattern: pattern.__name__)
def test_each_pattern_races_when_it_is_broken_and_only_then(pattern: object) -> None:
    """Brute force agrees with the labels of the patterns."""
    from random import Random

    assert callable(pattern)
    assert found(pattern(Random(1), False)) is None
    race = found(pattern(Random(1), True))
    assert race is not None
    assert race.kind == "race"


def test_no_race_between_barriers_is_accepted() -> None:
    """Groups that share scratch: a few of `python -m tests.race --tiles`."""
    records = list(run(seed=11, count=6, tiles=True))
    assert [record.case.text for record in records if record.is_wrong()] == []
    assert [(record.case.text, record.why) for record in records if record.is_alarm()] == []
    assert {record.case.is_racy for record in records} == {True, False}


def test_brute_force_knows_barriers() -> None:
    """Every group writes its cell and reads the next one's: a race, unless a barrier stands between."""

    def shared(code: tuple[str, ...]) -> Nest:
        nest = Nest(["G"])
        nest.shared["s"] = (whole(1), whole(4))
        nest.line("", "for t in range(4):", "    region = 0", "    path1 = ((1, (0,)), (-1 - region, (t,)))")
        nest.paths = 1
        with nest.indented(1):
            nest.line("", nest.touch("s", (whole(0), name("t")), True), *code, nest.touch("s", (whole(0), (name("t") + 1) % 4), False))
        return nest

    race = found(shared(()))
    assert race is not None
    assert race.kind == "race"
    assert found(shared(("region += 1", "path1 = ((1, (0,)), (-1 - region, (t,)))"))) is None
