"""The whole proposal for route B, from two programs.

Takes a meaning and a program; gives sources and a relation, or where the flows disagree.
"""

from __future__ import annotations

from dataclasses import dataclass

from cachet_verify.core.family import lower
from cachet_verify.core.ir import Program
from cachet_verify.flow.evaluate import sizer
from cachet_verify.flow.relation import Disagreement, descend, fit
from cachet_verify.flow.source import propose_flow
from cachet_verify.kernel.dataflow import MEANING, PROGRAM, Proposal, Side, tagged


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
    first, second = tagged(lower(meaning), MEANING), tagged(lower(program), PROGRAM)
    sizes = sizer(first, second)
    scratch = frozenset(param.name for param in program.params if param.scratch)
    flows = propose_flow(first, sizes, seed), propose_flow(second, sizes, seed)
    sides = Side(first, flows[0], scratch), Side(second, flows[1], scratch)
    outputs = [param.name for param in meaning.params if param.name not in scratch and (first.writers(param.name) or second.writers(param.name))]
    trace = descend(*sides, outputs, sizes, seed)
    relation = fit(trace, *sides, sizes)
    return Proposed(Proposal(flows[0], flows[1], relation), trace.disagreement)
