"""The whole proposal for route B, from two programs.

Takes a meaning and a program; gives sources and a relation, or where the flows disagree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cachet_verify.core.family import lower
from cachet_verify.core.index import TRUE, Formula, conj
from cachet_verify.core.ir import Program
from cachet_verify.flow.evaluate import sizer
from cachet_verify.flow.gap import gaps
from cachet_verify.flow.live import live_conditions
from cachet_verify.flow.relation import Disagreement, Pair, descend, fit
from cachet_verify.flow.source import propose_flow
from cachet_verify.kernel.dataflow import MEANING, PROGRAM, RULE, Proposal, Side, tagged
from cachet_verify.kernel.effective import completed, effective


@dataclass(frozen=True, slots=True)
class Proposed:
    """A proposal, and the first disagreement that sampling met (then the relation cannot close)."""

    proposal: Proposal
    disagreement: Disagreement | None


_ATTEMPTS = 3


def propose(meaning: Program, program: Program) -> Proposed:
    """Sources and a relation for comparing two programs. Raises UnmodelledError.

    A disagreement may come from samples that missed a case: other samples are tried before it is believed.
    """
    for seed in range(_ATTEMPTS - 1):
        found = _propose(meaning, program, seed)
        if found.disagreement is None:
            return found
    return _propose(meaning, program, _ATTEMPTS - 1)


def _propose(meaning: Program, program: Program, seed: int) -> Proposed:
    written = effective(lower(meaning)), effective(lower(program))
    missing = gaps(written[0]), gaps(written[1])
    first = tagged(completed(RULE, written[0], missing[0]), MEANING)
    second = tagged(completed(RULE, written[1], missing[1]), PROGRAM)
    sizes = sizer(first, second)
    scratch = frozenset(param.name for param in program.params if param.scratch)
    flows = propose_flow(first, sizes, seed), propose_flow(second, sizes, seed)
    sides = Side(first, flows[0], scratch, MEANING), Side(second, flows[1], scratch, PROGRAM)
    outputs = [param.name for param in meaning.params if param.name not in scratch and (first.writers(param.name) or second.writers(param.name))]
    trace = descend(*sides, outputs, sizes, seed)
    relation = _among_live(fit(trace, *sides, sizes), *sides)
    return Proposed(Proposal(flows[0], flows[1], relation, missing), trace.disagreement)


def _among_live(relation: Mapping[Pair, Formula], left: Side, right: Side) -> dict[Pair, Formula]:
    """Where both programs have lanes, live instances alone are related: two idle lanes may hold different words."""
    if not all(any(family.lanes() for family in side.families.members) for side in (left, right)):
        return dict(relation)
    ours, theirs = (live_conditions(side.families, side.flow) for side in (left, right))
    return {(first, second): conj((formula, ours.get(first[0], TRUE), theirs.get(second[0], TRUE))) for (first, second), formula in relation.items()}
