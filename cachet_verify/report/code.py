"""The codes of the command line, of reports and of the trust policy, for `explain CODE`.

Takes nothing; importing it adds its entries to the table of `cachet_verify.diagnostic`.
Must not hold a code that belongs to a stage of checking.
"""

from __future__ import annotations

from cachet_verify.diagnostic import document

document(
    "tool.usage",
    "The command line is not one the tool understands: an unknown command or option, a value that does not fit, or options that exclude each other.",
    "cachet-verify check --solvers three gemm.cachet",
    "Ask `cachet-verify --help`, or `cachet-verify COMMAND --help`, for what may be given.",
)
document(
    "tool.no-item",
    "`--only` names an item that none of the files has. What else was asked for is checked, and the exit code is at least that of bad usage.",
    "cachet-verify check gemm.cachet --only pakced",
    "Correct the name; `check` without `--only` lists every item.",
)
document(
    "tool.not-supported",
    "The command is planned and named in the help text, but this version does not carry it out. The exit code is 3, as for anything undecided.",
    "cachet-verify build gemm.cachet packed",
    "Use a later version; `cachet-verify --help` lists what this one does.",
)
document(
    "tool.unknown-code",
    "`explain` was asked for a code that the tool never gives.",
    "cachet-verify explain syntax.expcted",
    "Copy the code from between the brackets of a message; `cachet-verify explain` without a code lists them all.",
)
document(
    "tool.cannot-write",
    "A file the tool was asked to write (a report, a verdict file) cannot be written.",
    "cachet-verify check gemm.cachet --output missing/report.json",
    "Make the folder, or name a place that may be written.",
)
document(
    "tool.bad-policy",
    "The `[tool.cachet]` table of the nearest pyproject.toml cannot be read. It holds `deny-trusted` and `require-evidence`, true or false, "
    "`allow`, a list of names, and `evidence-max-age`, a number of days.",
    '[tool.cachet]\nallow = "simdgroup_mma8"',
    'Write the names as a list: allow = ["simdgroup_mma8"].',
)
document(
    "tool.fault",
    "The checker itself failed: an error nobody foresaw, or two parts that must agree and do not. Nothing was proved about the item.",
    "trace: internal fault while checking gemm.cachet",
    "Report it with the file and the output under CACHET_DEBUG=1. Do not rely on any verdict of that run.",
)
document(
    "trust.admitted",
    "A claim rests on something stated with `admit` instead of a proof. The item counts as proved, and the run ends with exit code 5.",
    'admit "the vendor says so"',
    "Prove it, or allow it by name with `--allow NAME` if that is what the project decided.",
)
document(
    "trust.not-allowed",
    "A claim rests on a law or template that the policy does not allow: `--deny-trusted` is given, or there is a list of allowed names and this one "
    "is not in it.",
    "cachet-verify check --deny-trusted attention.cachet",
    "Prove the law, choose another step, or add the name with `--allow NAME` or in `[tool.cachet]`.",
)
document(
    "trust.contradicted",
    "A claim rests on an instruction template that was measured and computes other words than its reference body. Nothing allows that: what would "
    "run is not what the claim is about.",
    "cachet-verify check gemm.cachet",
    "Correct the template or the reference body and measure again; `evidence` shows the first word that differs.",
)
document(
    "trust.no-evidence",
    "The policy asks for evidence, and there is no current record about a template for one of its targets: it was never measured, or the text or the "
    "reference body changed since.",
    "cachet-verify check --require-evidence gemm.cachet",
    "Measure it where the target is present: `cachet-verify evidence FILE TEMPLATE --target T`. Leave out targets that nobody can measure.",
)
document(
    "trust.old-evidence",
    "The newest record about a template is older than the policy allows, or dated in the future.",
    "cachet-verify check --max-evidence-age 365 gemm.cachet",
    "Measure the template again.",
)
document(
    "trust.drifted",
    "Under `--regress`, the verdicts are as blessed, and what a claim takes on trust is not: an entry is new, gone, or has other evidence.",
    "cachet-verify check --regress proofs/",
    "Read the difference; `--bless` accepts it.",
)
document(
    "item.refused",
    "An item is refused and its report names no narrower code.",
    "schedule sloppy of matmul =",
    "Read the item's obligations in the JSON report; the refused one says what could not be shown.",
)
document(
    "item.undecided",
    "An item is neither proved nor refused: a solver gave up at its limit, only one of the two answered, or something is not modelled.",
    "schedule huge of matmul =",
    "Read the reason beside it. A higher `--limit` may help; a smaller step often does.",
)
