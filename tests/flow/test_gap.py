"""Route B on totals that a guard skips: right nests close with both solvers; wrong ones do not, and a run shows the difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from cachet_verify.core.family import Families, lower
from cachet_verify.core.index import Compare, Const, Formula, Var, holds, lt
from cachet_verify.core.ir import Program
from cachet_verify.core.meaning import run
from cachet_verify.flow.gap import gaps
from cachet_verify.flow.propose import propose
from cachet_verify.kernel.claim import RuleError
from cachet_verify.kernel.dataflow import RULE, dataflow
from cachet_verify.kernel.effective import KEPT, completed, effective
from cachet_verify.kernel.generalise import generalise
from cachet_verify.kernel.obligation import Proved
from cachet_verify.solver.prover import Prover
from tests.elaborate.short import program

HEAD = "(reads a: [f32; M, K]) -> out c: [f32; M] =\n"


def meaning(condition: str) -> Program:
    return program(f"contraction f {HEAD}  c[i] = sum k where {condition}. a[i, k]\n", "f")


def by_hand(body: str) -> Program:
    return program(f"fn f {HEAD}" + body, "f")


def updated(condition: str, first: str = "-0.0", order: str = "k", total: str = "load c[i] + load a[i, {k}]") -> Program:
    """Every total in its cell of c, which the steps outside of the rows update."""
    return by_hand(
        f"  for z in 0 .. M do\n    store c[z] = {first}\n  for k in 0 .. K do\n    for i in 0 .. M do\n"
        f"      if {condition} then\n        store c[i] = {total.format(k=order)}\n"
    )


RIGHT = {
    "every second": (meaning("k % 2 == 0"), updated("k % 2 == 0")),
    "but itself": (meaning("k != i"), updated("k < i or i < k")),
    "a quotient": (meaning("floor (k / 3) != i"), updated("not (floor (k / 3) == i)")),
    "several": (meaning("k <= i, (k + i) % 3 != 1"), updated("k <= i and (k + i) % 3 != 1")),
}
WRONG = {
    "the others": (meaning("k % 2 == 0"), updated("k % 2 == 1")),
    "itself as well": (meaning("k != i"), updated("0 <= k")),
    "another start": (meaning("k % 2 == 0"), updated("k % 2 == 0", first="0.0")),
    "the neighbour": (meaning("k % 2 == 0"), updated("k % 2 == 0 and k > 0", order="k - 1")),
    "added to zero": (meaning("k % 2 == 0"), updated("k % 2 == 0", total="0.0 + load a[i, {k}]")),
    "descending": (meaning("k != i"), updated("K - 1 - k != i", order="K - 1 - k")),
}


@pytest.fixture(scope="module")
def prover() -> Iterator[Prover]:
    with Prover() as made:
        yield made


def is_proved(prover: Prover, pair: tuple[Program, Program]) -> bool:
    goal = dataflow(*pair, propose(*pair).proposal)
    return all(isinstance(found, Proved) for found in prover.prove([generalise(one) for one in goal.obligations]))


def words(of: Program, sizes: dict[str, int]) -> list[int | None]:
    """The words of c: sums of numbers whose order shows in the rounding."""
    cells = [0x3F800000 + 0x00733333 * place % 0x02000000 for place in range(sizes["M"] * sizes["K"])]
    buffers: dict[str, list[int | None]] = {"a": list(cells), "c": [None] * sizes["M"]}
    run(of, sizes, buffers)
    return buffers["c"]


SIZES = [{"M": rows, "K": columns} for rows in (1, 3) for columns in (0, 1, 4, 7)]


@pytest.mark.parametrize("name", RIGHT)
def test_the_same_steps_in_another_order_of_rows_are_the_same_words(prover: Prover, name: str) -> None:
    assert all(words(RIGHT[name][0], sizes) == words(RIGHT[name][1], sizes) for sizes in SIZES)
    assert is_proved(prover, RIGHT[name])


@pytest.mark.parametrize("name", WRONG)
def test_other_steps_are_not_proved(prover: Prover, name: str) -> None:
    assert any(words(WRONG[name][0], sizes) != words(WRONG[name][1], sizes) for sizes in SIZES)
    assert not is_proved(prover, WRONG[name])


def families(condition: str) -> Families:
    return effective(lower(meaning(condition)))


def test_bounds_are_no_gaps_and_what_another_write_fills_is_none() -> None:
    assert gaps(families("k <= i, i < k + 3")) == {}
    loops = "  for i in 0 .. M do\n    for k in 0 .. K do\n"
    chosen = by_hand(loops + "      store c[i] = if k != 2 then load c[i] else load a[i, k]\n")
    filled = by_hand(loops + "      if k != 2 then\n        store c[i] = load a[i, k]\n      else\n        store c[i] = 0.0\n")
    assert gaps(effective(lower(chosen))) == {}
    assert gaps(effective(lower(filled))) == {}


def test_completed_families_run_everywhere_and_copy_where_the_guard_fails() -> None:
    """By counting: at each (i, k) exactly one of the write and its copy exists, and the copy is of the cell itself."""
    given = families("k % 2 == 0")
    filled = completed(RULE, given, gaps(given))
    (copy,) = [member for member in filled.members if member.name.endswith(KEPT)]
    write = filled.named(copy.name.removesuffix(KEPT))
    assert (copy.value.buffer, copy.value.index) == (write.buffer, write.cell)  # type: ignore[union-attr]
    for k in range(6):
        at = {"i": 0, "k": k, "M": 1, "K": 6}
        exists = [all(holds(part, at) for part in member.domain) for member in (write, copy)]
        assert exists == [k % 2 == 0, k % 2 == 1]


def test_only_a_write_s_own_conditions_are_completed() -> None:
    given = families("k % 2 == 0")
    (name,) = gaps(given)
    with pytest.raises(RuleError, match="conditions of its own"):
        completed(RULE, given, {name: (lt(Var("k"), Const(3)),)})
    with pytest.raises(RuleError, match="no such write"):
        completed(RULE, given, {"nothing": ()})


def test_a_proposal_that_fills_other_gaps_is_refused(prover: Prover) -> None:
    """The condition of the other program's guard does not stand in for one's own."""
    pair = RIGHT["every second"]
    found = propose(*pair).proposal
    ours, theirs = found.completed
    (name,) = ours
    other = Compare("==", Const(1), Const(1))
    with pytest.raises(RuleError, match="conditions of its own"):
        dataflow(*pair, replace(found, completed=({name: (other,)}, theirs)))
    with pytest.raises((RuleError, KeyError)):
        dataflow(*pair, replace(found, completed=({}, theirs)))


def everywhere(given: Families) -> dict[str, tuple[Formula, ...]]:
    """All conditions of all writes, bounds included."""
    return {member.name: member.domain for member in given.members}


def last_condition(given: Families) -> dict[str, tuple[Formula, ...]]:
    return {member.name: member.domain[-1:] for member in given.members}


@pytest.mark.parametrize("choice", [everywhere, last_condition])
@pytest.mark.parametrize("name", WRONG)
def test_no_choice_of_gaps_proves_a_wrong_program(
    prover: Prover, monkeypatch: pytest.MonkeyPatch, name: str, choice: Callable[[Families], dict[str, tuple[Formula, ...]]]
) -> None:
    monkeypatch.setattr("cachet_verify.flow.propose.gaps", choice)
    assert not is_proved(prover, WRONG[name])
