"""Requirements, symmetry and converses: nothing is weakened, and no race is brought in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cachet_verify.core.family import lower
from cachet_verify.core.index import ZERO, Var, lt
from cachet_verify.core.ir import Axis, Grid, Lease, Program, Require, Store
from cachet_verify.kernel.claim import Mark, RuleError, Same, issue, reflexivity, transitivity
from cachet_verify.kernel.fold import open_fold
from cachet_verify.kernel.normal import rename_alias
from cachet_verify.kernel.requirement import add_requirement, converse, symmetry
from cachet_verify.kernel.reschedule import Image, reschedule
from cachet_verify.kernel.well_formed import well_formed
from tests.kernel.sample import MATMUL, A, B, C, K, M, N, block, fma, i, j, loop, program
from tests.kernel.solve import claimed, invalid

NEED = Require(lt(ZERO, K), "first block")
UPDATE = Store("c", (i, j), fma(A, B, C))
NEST = program(loop("i", M, loop("j", N, loop("k", K, UPDATE))))
GRID = program(Grid((Axis("i", ZERO, M),), block(loop("j", N, loop("k", K, UPDATE)))))


def image(before: Program, after: Program) -> dict[str, Image]:
    return {lower(after).members[0].name: Image(lower(before).members[0].name)}


def test_a_requirement_is_added_once_and_last() -> None:
    goal = add_requirement(MATMUL, NEED)
    claimed(goal)
    assert goal.statement == Same(MATMUL, replace(MATMUL, requires=(NEED,)))
    assert isinstance(goal.statement, Same)
    assert add_requirement(goal.statement.after, NEED).statement == Same(goal.statement.after, goal.statement.after)


def test_a_requirement_speaks_of_sizes_only() -> None:
    with pytest.raises(RuleError, match="nothing binds it"):
        add_requirement(MATMUL, Require(lt(ZERO, Var("i")), "wrong"))


def test_symmetry_turns_a_claim_round() -> None:
    claim = claimed(open_fold(MATMUL, (0, 0, 0)))
    assert isinstance(claim.statement, Same)
    turned = claimed(symmetry(claim))
    assert turned.statement == Same(claim.statement.after, claim.statement.before)
    assert turned.premises == (claim,)
    chain = claimed(transitivity(claim, turned))
    assert chain.statement == Same(MATMUL, MATMUL)


def test_a_requirement_does_not_go_away_by_symmetry() -> None:
    claim = claimed(add_requirement(MATMUL, NEED))
    with pytest.raises(RuleError, match="requirement"):
        symmetry(claim)
    with pytest.raises(RuleError, match="requirement"):
        converse(add_requirement(MATMUL, NEED))


def test_a_new_scratch_parameter_does_not_go_away_by_symmetry() -> None:
    from cachet_verify.core.ir import Param
    from cachet_verify.kernel.normal import same_families

    claim = claimed(same_families(MATMUL, replace(MATMUL, params=(*MATMUL.params, Param("p", "mut", "f32", (), scratch=True)))))
    with pytest.raises(RuleError, match="parameter p"):
        symmetry(claim)


def test_a_race_does_not_come_in_backwards() -> None:
    """`reschedule` asks nothing of pairs that are unordered before; so a grid may not be the result of a converse."""
    shared = program(Grid((Axis("k", ZERO, K),), block(loop("i", M, loop("j", N, UPDATE)))))
    goal = reschedule(shared, NEST, image(shared, NEST))
    assert invalid(goal) == []
    assert invalid(well_formed(shared)) != []
    with pytest.raises(RuleError, match="without an order"):
        converse(goal)
    with pytest.raises(RuleError, match="without an order"):
        symmetry(claimed(goal))


def test_names_may_be_put_back_in_grids() -> None:
    leased = replace(GRID, body=block(Lease("v", "c", "L1", True), *GRID.body.body))
    claimed(converse(rename_alias(leased, GRID)))


def test_a_statement_about_one_program_has_no_converse() -> None:
    with pytest.raises(RuleError, match="compares no two"):
        symmetry(claimed(well_formed(MATMUL)))
    with pytest.raises(RuleError, match="compares no two"):
        converse(well_formed(MATMUL))


def test_trust_is_kept() -> None:
    mark = Mark("law", "a law")
    claim = claimed(issue("test", Same(NEST, NEST), (), (), (mark,)))
    assert claimed(symmetry(claim)).trust == {mark}
    assert converse(issue("test", Same(NEST, NEST), (), (), (mark,))).trust == {mark}
    assert claimed(transitivity(claimed(reflexivity(NEST)), claim)).trust == {mark}


def test_chains_meet_in_one_program() -> None:
    one, two = claimed(open_fold(MATMUL, (0, 0, 0))), claimed(reflexivity(NEST))
    with pytest.raises(RuleError, match="does not end where"):
        transitivity(one, two)
    with pytest.raises(RuleError, match="both premises"):
        transitivity(one, claimed(well_formed(MATMUL)))
