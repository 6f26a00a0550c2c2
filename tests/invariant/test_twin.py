"""The kernel's twins compute what the definition says, and its rule takes no other premises."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from cachet_verify.core.element import FLUSH
from cachet_verify.core.index import ZERO, Var, add, le
from cachet_verify.core.ir import Axis, Block, Grid, Load, Op, Param, Program, Require, Store
from cachet_verify.core.meaning import Executable, shape_of
from cachet_verify.core.memory import Cells
from cachet_verify.judge.file import open_file
from cachet_verify.kernel.claim import Claim, Invariant, RuleError, Same, WellFormed, discharge, issue, reflexivity
from cachet_verify.kernel.invariant import invariant, twins
from cachet_verify.replay.trial import word_algebra
from tests.corpus.compare import words
from tests.corpus.corpus import PROOFS
from tests.invariant.company import Companies, parts

ROW = Param("x", "reads", "f32", (Var("M"), Var("N")))
OUT = Param("y", "out", "f32", (Var("M"),))
FIRST = Program("first", ("M", "N"), (ROW, OUT), Block((Store("y", (Var("N"),), Load("x", (Var("N"), Var("N")))),)))


def claim(statement: WellFormed | Same) -> Claim:
    """A claim of anything, made here so that the rule under test can be asked about it."""
    return discharge(issue("test", statement, ()), {})


@pytest.mark.parametrize(
    ("file", "name", "buffer", "dims"),
    [
        ("accept/invariant-rows", "packed", "c", ("M",)),
        ("accept/invariant-rows", "packed", "c", ("M", "N")),
        ("accept/invariant-grid_of_rows", "normalise", "x", ("M",)),
        ("refuse/invariant-row_above", "running", "y", ("B",)),
        ("refuse/invariant-columns_too", "normalise", "x", ("N",)),
        ("refuse/invariant-batch_mean", "scaled", "y", ("B",)),
    ],
)
def test_each_twin_gives_the_part_that_the_program_gives(file: str, name: str, buffer: str, dims: tuple[str, ...]) -> None:
    """The arrays of a twin are filled as a caller would fill the parameters, but for the parts, which come from what is shared."""
    program = open_file(PROOFS / f"{file}.cachet").program(name)
    assert program is not None
    pair, companies = twins(program, buffer, dims), Companies(program, buffer, dims)
    chance = Random(file)
    for sizes, rows in companies.pairs((1, 2, 3, 4, 5), chance, 12):
        said = {**sizes[0], **{new: sizes[1][old] for old, new in pair.sizes}}
        for dim, names in zip(dims, pair.rows, strict=True):
            said |= {names[0]: rows[0][dim], names[1]: rows[1][dim]}
        for place, twin in enumerate((pair.first, pair.second)):
            direct = companies.filled(sizes[place], chance, "full")
            cells = twin_cells(program, twin, direct, said, sizes[place], rows[place], place + 1)
            run = Executable(twin, word_algebra(twin, None))
            run.run({size: said[size] for size in twin.sizes}, cells)
            assert cells[f"{buffer}_row"] == list(companies.result(sizes[place], rows[place], direct).values())


def twin_cells(
    program: Program, twin: Program, direct: dict[str, Cells], said: dict[str, int], sizes: dict[str, int], rows: dict[str, int], place: int
) -> dict[str, Cells]:
    """The cells of a twin's parameters, from those of the program's; the parts of its arrays are spoiled."""
    cells: dict[str, Cells] = {}
    for param in twin.params:
        cells[param.name] = words(replace(param, scratch=False), None, count(param, said), Random(param.name), "full")
    for param in program.params:
        own = parts(param, shape_of(param, sizes), rows)
        if f"{param.name}'{place}" not in cells:
            cells[param.name] = list(direct[param.name])
            continue
        cells[f"{param.name}'{place}"] = [None if at in own.values() else word for at, word in enumerate(direct[param.name])]
        for name in (f"{param.name}_row", f"{param.name}_before"):
            if name in cells and twin.param(name).mode == "reads":
                cells[name] = [direct[param.name][at] for at in own.values()]
    return cells


def count(param: Param, sizes: dict[str, int]) -> int:
    total = 1
    for extent in shape_of(param, sizes):
        total *= extent
    return total


def test_the_rule_wants_its_own_twins() -> None:
    pair = twins(FIRST, "y", ("M",))
    sound, same = claim(WellFormed(FIRST)), claim(Same(pair.first, pair.second))
    assert invariant(sound, same, "y", ("M",)).statement == Invariant(FIRST, "y", ("M",))
    other = replace(FIRST, body=Block())
    for premises in (
        (same, same),
        (sound, sound),
        (sound, discharge(reflexivity(pair.first), {})),
        (sound, discharge(reflexivity(pair.second), {})),
        (sound, claim(Same(pair.second, pair.second))),
        (claim(WellFormed(other)), same),
        (claim(WellFormed(replace(FIRST, requires=(Require(le(Var("M"), Var("N")), "written"),)))), same),
    ):
        with pytest.raises(RuleError, match="premise"):
            invariant(*premises, "y", ("M",))


def test_trust_is_kept() -> None:
    from cachet_verify.kernel.claim import Mark

    pair = twins(FIRST, "y", ("M",))
    marked = discharge(issue("test", Same(pair.first, pair.second), (), (), (Mark("law", "believed"),)), {})
    goal = invariant(claim(WellFormed(FIRST)), marked, "y", ("M",))
    assert {mark.name for mark in goal.trust} == {"believed"}


@pytest.mark.parametrize(
    ("changed", "buffer", "dims", "why"),
    [
        (FIRST, "x", ("M",), "x is no result"),
        (FIRST, "z", ("M",), "z is no result"),
        (FIRST, "y", ("N",), "no dimension of extent N"),
        (FIRST, "y", (), "names sizes"),
        (FIRST, "y", ("M", "M"), "names sizes"),
        (FIRST, "y", ("K",), "names sizes"),
        (replace(FIRST, params=(ROW, replace(OUT, mode="mut", scratch=True))), "y", ("M",), "y is no result"),
        (replace(FIRST, params=(replace(ROW, shape=(Var("M"), Var("M"))), OUT)), "y", ("M",), "x has no single dimension"),
        (replace(FIRST, params=(replace(ROW, shape=(add(Var("M"), Var("N")), Var("N"))), OUT)), "y", ("M",), "x has no single dimension"),
    ],
)
def test_shapes_have_to_say_what_a_part_is(changed: Program, buffer: str, dims: tuple[str, ...], why: str) -> None:
    with pytest.raises(RuleError, match=why):
        twins(changed, buffer, dims)


def test_names_of_the_twins_are_new() -> None:
    """A program may have all the names that the twins would take."""
    scalars = tuple(Param(name, "reads", "f32", ()) for name in ("x_row", "y_row", "x'1"))
    taken = replace(FIRST, sizes=("M", "N", "M'", "row_M", "row_M'"), params=(ROW, OUT, *scalars))
    pair = twins(taken, "y", ("M",))
    for twin in (pair.first, pair.second):
        names = [*twin.sizes, *(param.name for param in twin.params)]
        assert len(names) == len(set(names))
    assert pair.sizes == (("M", "M''"),)


def test_what_only_one_twin_has_is_scratch() -> None:
    """Else the claim would be about equal words in arrays that have to be free to differ."""
    pair = twins(FIRST, "y", ("M",))
    assert {param.name for param in pair.second.params} - {param.name for param in pair.first.params} == {"x'2", "y'2"}
    for twin in (pair.first, pair.second):
        assert all(param.scratch for param in twin.params if "'" in param.name)
        assert {param.name for param in twin.params if not param.scratch} == {"x_row", "y_row"}


def test_what_is_the_same_is_invariant_too() -> None:
    pair = twins(FIRST, "y", ("M",))
    sound, same = claim(WellFormed(FIRST)), claim(Same(pair.first, pair.second))
    after = replace(FIRST, name="after")
    other = replace(FIRST, name="other")
    carried = (claim(Same(FIRST, after)), claim(WellFormed(after)))
    assert invariant(sound, same, "y", ("M",), carried).statement == Invariant(after, "y", ("M",))
    for wrong in (
        (claim(Same(FIRST, other)), claim(WellFormed(after))),
        (claim(Same(FIRST, after)), claim(WellFormed(other))),
        (claim(Same(after, FIRST)), claim(WellFormed(after))),
        (claim(WellFormed(after)), claim(WellFormed(after))),
        (claim(Same(FIRST, after)), claim(Same(FIRST, after))),
    ):
        with pytest.raises(RuleError, match="premise"):
            invariant(sound, same, "y", ("M",), wrong)


def test_it_is_said_of_what_runs_where_its_arithmetic_is() -> None:
    """Of a definition evaluated as a device computes nothing is said: only of the kernel that runs there."""
    evaluated = replace(FIRST, arithmetic=FLUSH, body=Block((Store("y", (ZERO,), Op("neg", "f32", (Load("x", (ZERO, ZERO)),))),)))
    pair = twins(evaluated, "y", ("M",))
    premises = claim(WellFormed(evaluated)), claim(Same(pair.first, pair.second))
    with pytest.raises(RuleError, match="does not run where"):
        invariant(*premises, "y", ("M",))
    there = replace(evaluated, body=Block((Grid((Axis("i", ZERO, Var("M")),), evaluated.body, device=FLUSH),)))
    carried = (claim(Same(evaluated, there)), claim(WellFormed(there)))
    assert invariant(*premises, "y", ("M",), carried).statement == Invariant(there, "y", ("M",))
