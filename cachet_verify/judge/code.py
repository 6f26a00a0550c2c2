"""The refusal codes of the judging stage, documented.

Takes nothing; fills the table that `explain` reads. Must not be imported for anything else.
"""

from __future__ import annotations

from cachet_verify.diagnostic import document

document(
    "relation.not-proved",
    "Two programs could not be shown to compute the same words for all sizes. The sentence names the "
    "schedule, the number of steps applied before, and the step; or the item, where the generated function "
    "was compared with its meaning directly. A confirmed counterexample gives sizes, a cell and both words; "
    "without one the solver has a model that no run bears out, and the step is refused all the same: the "
    "burden of proof is on the step.",
    "could not prove relation swapped'1_sloppy: the loops at S.k and T.k run the same number of times",
    "Read the counterexample. If the step is wrong, correct its `to`; if it is right, its recipe may be too weak: see docs/steps.md.",
)
document(
    "program.not-well-formed",
    "An access of some iteration is outside its buffer, a divisor can be zero, or two iterations of a grid touch one cell.",
    "could not prove load a[i, k + 1] stays inside [M, K]",
    "Correct the index or the bound, or state what the sizes must satisfy with `requires`.",
)
document(
    "program.side-condition",
    "What a program says has a meaning only under a condition that could not be proved: a division used as a "
    "bound is exact, a difference used as a natural number is not negative, two dimensions are equal.",
    "could not prove N / 4 is exact: N % 4 == 0",
    "Round the quotient with `floor` or `ceil`, or write the condition as `requires`.",
)
document(
    "call.requirement",
    "A call does not meet what the function it calls requires, or lends it a buffer of another shape.",
    "could not prove the call of packed: N % 16 == 0",
    "Pass buffers of the right shape, and require of your own caller what the callee requires.",
)
document(
    "call.aliasing",
    "A call passes one buffer twice, and one of the two is written. What a function writes must be apart from all else it is given.",
    "could not prove the call of matmul lends parts of one whole at once, which must be apart",
    "Pass another buffer as the output; an algorithm that works in place is a `fn` with one `mut` parameter.",
)
document(
    "layout.not-proved",
    "A layout must map different indices to different addresses, inside the size of its buffer, for all extents.",
    "could not prove layout Folded: different indices have different addresses",
    "Correct the address: the counterexample gives two indices that meet, or one that leaves the buffer.",
)
document(
    "proof.not-proved",
    "A written proof does not hold: its assertion is false, or could not be decided.",
    "could not prove proof enough_chains: MR * ceil (NR / 4) >= 16",
    "Read the counterexample and change the constants or the assertion.",
)
document(
    "premises.vacuous",
    "No sizes meet all that the item requires, so a proof would say nothing.",
    "tiled is vacuous: no sizes meet what it requires",
    "Look for requirements that exclude each other.",
)
document(
    "listing.name",
    "`scheduled` was asked for a name that has no loop nest in the file.",
    "kernels.cachet has no schedule, contraction or function towr with a nest",
    "Use one of the names the message lists.",
)
document(
    "listing.step",
    "`scheduled --step N` was asked for a step that the schedule does not have.",
    "tower has 5 steps",
    "Use a number up to the one in the message; 0 is the nest before the first step.",
)
document(
    "listing.shadow.not-supported",
    "`scheduled --shadow` prints the reference loops of a regrouped reduction; no reduction can be regrouped yet.",
    "a shadow belongs to a regrouped reduction, which is not supported yet",
    "Leave `--shadow` out.",
)
