"""The codes of evidence, for `explain CODE`.

Takes nothing; importing it adds its entries to the table of `cachet_verify.diagnostic`.
Must not hold a code that belongs to a stage of checking.
"""

from __future__ import annotations

from cachet_verify.diagnostic import document

document(
    "trust.bad-record",
    "A file in an `evidence` folder is no record of a measurement, or its counts do not fit together. Records are written by `evidence` only.",
    "cachet-verify check gemm.cachet",
    "Measure the template again, or take the file out of the folder.",
)
document(
    "evidence.no-target",
    "A template is measured on the machine at hand, and the target is not there: no driver or device for `nvptx`, or a target that is not measured.",
    "cachet-verify evidence platforms/apple-silicon.cachet --target metal",
    "Name a target that is present, `host` or `nvptx`, or run the command on a machine that has it.",
)
document(
    "evidence.name",
    "The file declares no instruction of that name, or the instruction has no template for the target.",
    "cachet-verify evidence platforms/nvidia-h200.cachet simdgroup_mma8 --target nvptx",
    "Name the file that declares the instruction, and a target it has a template for.",
)
document(
    "evidence.not-measurable",
    "The template cannot be put between words: the driver or LLVM refuses its text, it takes numbers, or where its words lie in a warp is not known.",
    "cachet-verify evidence own.cachet shuffle8 --target nvptx",
    "Correct the text. Instructions that work word by word and f64 `mma.sync` can be measured for `nvptx`, LLVM IR for `host`.",
)
