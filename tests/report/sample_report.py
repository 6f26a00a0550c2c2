"""A report with one of everything, written by hand, for the tests of the formats.

Takes nothing; gives a `Report`.
Must not come from the checker.
"""

from __future__ import annotations

from cachet_verify.report.record import (
    ClaimPart,
    ClaimReport,
    DiagnosticReport,
    FileReport,
    ItemReport,
    ObligationReport,
    Refusal,
    Replay,
    Report,
    SolverAnswer,
    Strength,
    TrustedEntry,
    Verdict,
)

BOTH = Strength(("z3", "cvc5"), ("A", "B"))
TEMPLATE = TrustedEntry("template", "simdgroup_mma8", "measured, not proved", "2026-11-01 on M4Gpu")
ADMITTED = TrustedEntry("admitted", "fast", "the vendor says so")

MATMUL = ItemReport("matmul", "contraction", Verdict.PROVED, 3, 1)
PACKED = ItemReport(
    "packed",
    "schedule",
    Verdict.PROVED,
    9,
    1,
    claim=ClaimReport((ClaimPart("bits of", "matmul_PlusTimes_f32"),), requires=("K > 0",), strength=BOTH),
    obligations=(
        ObligationReport(
            "packed.1",
            "every access in bounds",
            Verdict.PROVED,
            solvers={"z3": SolverAnswer("unsat", 812), "cvc5": SolverAnswer("unsat", 411)},
        ),
    ),
)
FLASH = ItemReport(
    "flash",
    "schedule",
    Verdict.PROVED,
    30,
    1,
    claim=ClaimReport(
        (ClaimPart("bits of", "flash_shadow"), ClaimPart("reals of", "attend")),
        arithmetic="M4Gpu",
        by=("online.assoc",),
        trusted=(TEMPLATE,),
        assumes=("M4Gpu flushes subnormals",),
        strength=Strength(("z3",), ("A", "B")),
    ),
)
BACKWARDS = ItemReport(
    "backwards",
    "schedule",
    Verdict.REFUSED,
    20,
    1,
    obligations=(ObligationReport("backwards.1", "same words", Verdict.REFUSED, "sat", {"z3": SolverAnswer("sat", 91)}),),
    refusal=Refusal(
        "schedule.words-differ",
        "could not prove relation swapped'1_backwards: the two runs hold the same words in parameter 3 after each iteration of the loops at "
        "S.j and T.j\nthe sums run in opposite orders",
        22,
        3,
        {"M": 1, "N": 1, "K": 2},
        Replay(confirmed=True, cell="c[0, 0]", before="0x3f800000", after="0x00000000"),
    ),
)
BUDGET = ItemReport(
    "larger",
    "fn",
    Verdict.REFUSED,
    40,
    1,
    refusal=Refusal("account.over-budget", "could not prove declared traffic row at DRAM:", None, None, {"bytes_0": 0, "bytes_1": 1}),
)
GUESSED = ItemReport(
    "guessed",
    "schedule",
    Verdict.UNDECIDED,
    50,
    1,
    refusal=Refusal(
        "flow.no-source",
        "no source was found for a load of c",
        51,
        3,
        {"K": 3},
        Replay(confirmed=False, cell="c[0, 0]", before="0x00000000", after="0x00000000"),
    ),
)
SLOW = ItemReport(
    "slow",
    "proof",
    Verdict.UNDECIDED,
    60,
    1,
    obligations=(ObligationReport("slow.1", "N % 256 == 0", Verdict.UNDECIDED, "single-solver", {"z3": SolverAnswer("unsat", 5)}),),
)
ADMITTING = ItemReport(
    "hoped", "proof", Verdict.PROVED, 70, 1, claim=ClaimReport((ClaimPart("bits of", "matmul"),), trusted=(ADMITTED,), strength=BOTH)
)
UNUSED = ItemReport("spare", "step fn", Verdict.UNUSED, 80, 1)
BROKEN = ItemReport("broken", "fn", Verdict.ERROR, 90, 1, refusal=Refusal("tool.fault", "the two solvers disagree"))

DIAGNOSTIC = DiagnosticReport(
    "syntax.expected",
    "expected `do`",
    "kernels/bad, file.cachet",
    2,
    5,
    "for i in 0 .. M do",
    ("opened here",),
    "kernels/bad, file.cachet:2:5: error[syntax.expected]: expected `do`\n  2 | for i in 0 .. M\n    |     ^\n  try: for i in 0 .. M do",
)

GOOD_FILE = FileReport("kernels/gemm.cachet", (), (MATMUL, PACKED, FLASH, BACKWARDS, BUDGET, GUESSED, SLOW, ADMITTING, UNUSED, BROKEN))
BAD_FILE = FileReport("kernels/bad, file.cachet", (DIAGNOSTIC,), ())
REPORT = Report((GOOD_FILE, BAD_FILE), {"cachet-verify": "0.1.0", "z3": "5.4.1.0", "cvc5": "1.4.2"}, {"wall_s": 1.234})


def report_of(*items: ItemReport, path: str = "a.cachet", diagnostics: tuple[DiagnosticReport, ...] = ()) -> Report:
    """Give a report on one file with these items."""
    return Report((FileReport(path, diagnostics, items),))


def item_with(verdict: Verdict, *trusted: TrustedEntry) -> ItemReport:
    """Give an item with this verdict, whose claim rests on the trusted entries."""
    claim = ClaimReport((ClaimPart("bits of", "f"),), trusted=trusted) if trusted else None
    return ItemReport("x", "schedule", verdict, 1, 1, claim=claim)
