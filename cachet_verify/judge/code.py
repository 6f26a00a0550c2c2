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
    "An access of some iteration is outside its buffer, a divisor can be zero, two iterations "
    "of a grid touch one cell that one of them writes, or an "
    "iteration writes outside of the windows in the grid's header, or two iterations have windows that share a cell.",
    "could not prove load a[i, k + 1] stays inside [M, K]",
    "Correct the index or the bound, or state what the sizes must satisfy with `requires`.",
)
document(
    "program.barrier",
    "The groups of a tile meet at barriers, and at nothing else. Either one group may still be at an earlier use of shared memory when "
    "another comes to the next one, or a barrier stands where not every group comes to it. No lockstep is assumed, of a group of one "
    "vector's width either.",
    "could not prove f is well formed: groups may use `xs` here while others are still at an earlier use of it: no barrier parts the two",
    "Put `barrier` between the two uses, outside of guards that differ from group to group; the end of a loop meets its start.",
)
document(
    "program.uninitialised",
    "A word that nothing wrote reaches the caller: a local or a scratch buffer is read before it is written, or a function that "
    "says `produces Init c` leaves a cell of c alone.",
    "could not prove the end of y finds a word that was written",
    "Write every cell before it is read, in loops that cover the same cells; take `produces` away where old content is to stay.",
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
    "law.not-proved",
    "Values were found at which the two sides of a law differ: over the reals as numbers of 80 digits, over words as the words themselves. "
    "A reason does not help against them. `no value` stands for what is not a number there: a difference of infinities, 0 times an infinity, "
    "a quotient by 0.",
    "could not prove law PlusTimes f32: add associative over words: the two sides are equal",
    "Correct the law or the functions it is about; a law of floats that rounding breaks holds `over reals`.",
)
document(
    "cost.traffic",
    "A function moves more between memory levels than its `movement` rows allow. Nothing is wrong with the words it computes: the budget is not "
    "met. The left side adds up what the leases move from one level, those of called functions included, each as often as the loops around it "
    "run; the right side is what the rows allow. Spans are opaque: `bytes_0` may be any number of bytes, so each buffer has to fit by itself. The "
    "counterexample gives sizes and the buffer that does not fit.",
    "could not prove declared traffic row at DRAM:",
    "Allow more in the row, or change the loop order or a block of the schedule that is called. What the message proposes is proved to pass.",
)
document(
    "invariant.not-proved",
    "A part of a result was to depend on that part of the inputs only, whatever the sizes named and wherever the part stands, and it "
    "could not be shown to. The program is compared with itself at other sizes, where only the corresponding parts of the inputs hold the "
    "same words. `M` and `M'` are the two sizes, `row_M` and `row_M'` the positions, `a_row` the part of `a` that both share, `a'1` and "
    "`a'2` all of it on either side.",
    "could not prove invariant c in M of smoothed: operand 1 of add is the same word in both programs",
    "Read the counterexample: the word depends on the size, on the position, or on another part. A tail of the batch that is computed in "
    "another way is the usual reason.",
)
document(
    "layout.not-proved",
    "A layout must map different indices to different addresses, inside the size of its buffer, for all extents.",
    "could not prove layout Folded: different indices have different addresses",
    "Correct the address: the counterexample gives two indices that meet, or one that leaves the buffer.",
)
document(
    "synth.infeasible",
    "No values satisfy the conditions of a `synth const`. The sentence names conditions that cannot hold together; the others are not to blame.",
    "could not choose synth const NR: no n satisfies n <= 8, MR * ceil (n / 4) >= 16",
    "Relax one of the conditions that are named.",
)
document(
    "synth.unbounded",
    "A `synth const` is searched over a bounded domain, and no bound of a name could be derived from the conditions.",
    "could not choose synth const NR: nothing bounds n from above",
    "Add a condition that bounds the name: `n <= 64`.",
)
document(
    "synth.not-minimal",
    "The values that a search proposes could not be shown to satisfy the conditions, or to be the least that do.",
    "could not prove synth const NR: nothing smaller satisfies",
    "Read the obligation. A divisor that can be 0 or below needs a condition that rules it out, before the condition that divides.",
)
document(
    "cost.working-set",
    "What a program keeps on a memory level at once does not fit there, or could not be shown to fit for all sizes. Every buffer counts "
    "in whole lines, and one line more, since it may start inside one; a level that several share has an equal part for each; "
    "where the platform states ways, there has to be room in each set. What was asked about its words is proved: this is about room alone.",
    "could not prove working set of larger: packA fits L2: 2097280 <= 1048576 bytes",
    "Make a block smaller, keep it on a level further out, or require what bounds its size. `cachet-verify fit` prints the largest extents that fit.",
)
document(
    "fit.platform",
    "`fit` was asked for a platform that is neither shipped nor stated in the file or its imports.",
    "no platform is called `X86`",
    "Use one of the names the message lists, or the name of its file, such as `apple-silicon`.",
)
document(
    "cost.registers",
    "The tiles that a program holds in registers at once are more than the platform has: vector registers, or the accumulator of an "
    "instruction that has one of its own. What was asked about its words is proved: this is about room alone.",
    "could not prove working set of wide: acc'0 fits the vector registers: 64 <= 32",
    "Give the tile fewer rows or lanes.",
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
    "run.argument",
    "An argument of `run` is not of the form NAME=VALUE, or does not fit the function: a size is a natural "
    "number, a buffer is a list with one value for each cell, `seed` chooses the random inputs.",
    "matmul needs a value for K",
    "Give `M=4` for sizes, `a=1.0,2.0` for buffers, and `seed=1` for other random inputs.",
)
document(
    "run.name",
    "`run` was asked for a program that the file does not have.",
    "first.cachet has no program main to run",
    "Use one of the names the message lists, or define `fn main () = …`.",
)
document(
    "run.generic",
    "A function that is generic in a semiring has words only at an instance.",
    "matmul is generic: it has words only at an instance",
    "Run a schedule bound by `@(S = PlusTimes f32)`, or a function that calls it so.",
)
document(
    "run.requirement",
    "The sizes given do not meet what the function requires.",
    "exact requires N % 8 == 0",
    "Choose sizes that meet the requirement.",
)
document(
    "run.not-supported",
    "The function uses a construct that has no meaning yet.",
    "waiting uses an `if` statement on words, which is not supported yet",
    "Run another function; `check` says of each item whether it is supported.",
)
for _kind, _what in (
    ("block", "a block has no size above 0"),
    ("bounds", "an access is outside its buffer"),
    ("division", "an integer is divided by zero"),
    ("operation", "an operation is not known to the interpreter"),
    ("race", "two iterations of a grid touch one cell, and one of them writes it"),
    ("read-only", "a buffer that is only read is written"),
    ("requires", "what a program requires does not hold"),
    ("scope", "a name is used outside the block that declares it"),
    ("size", "a buffer has a negative size, or not the size that was lent"),
    ("unspecified", "a word that was never written is printed or stored to an output"),
    ("window", "an iteration of a grid writes outside its window"),
):
    document(
        f"run.{_kind}",
        f"The interpreter stopped: {_what}. `check` refuses such a program, for all sizes; the run met it at these.",
        "a[3, 0] is outside [3, 5]" if _kind == "bounds" else _what,
        "Correct the program at the place the message gives.",
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
    "listing.shadow.none",
    "`scheduled --shadow` prints the reference loops of a schedule that regroups a reduction over the reals; this one keeps the order of "
    "its contraction, or regroups what is associative over words.",
    "eights regroups no reduction, so it has no shadow",
    "Leave `--shadow` out: the contraction itself is the reference.",
)
