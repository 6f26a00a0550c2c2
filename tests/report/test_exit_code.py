"""Exit codes: every combination of findings, against the order of the contract written out by hand."""

from __future__ import annotations

from itertools import combinations

import pytest

from cachet_verify.exit_code import ExitCode, of_check, of_regression, worst
from cachet_verify.report.record import Report, Verdict
from tests.report.sample_report import DIAGNOSTIC, item_with, report_of

# The contract: 0 proved, 1 refused, 2 bad input, 3 undecided, 4 our own fault, 5 trust, 8 nothing, 130 interrupted; worst first: 4 2 1 3 5 8.
ORDER = [4, 2, 1, 3, 5, 8, 0]
OF_VERDICT = {Verdict.PROVED: 0, Verdict.REFUSED: 1, Verdict.UNDECIDED: 3, Verdict.UNUSED: 0, Verdict.ERROR: 4}
SUBSETS = [subset for size in range(len(Verdict) + 1) for subset in combinations(Verdict, size)]


def test_the_codes_are_those_of_the_contract() -> None:
    assert sorted(ExitCode) == [0, 1, 2, 3, 4, 5, 8, 130]


def test_worst_follows_the_order_for_every_set_of_codes() -> None:
    codes = [ExitCode(code) for code in ORDER]
    for size in range(len(codes) + 1):
        for chosen in combinations(codes, size):
            expected = next((code for code in ORDER if code in chosen), 0)
            assert worst(reversed(chosen)) == expected


def test_an_interruption_is_never_weighed() -> None:
    with pytest.raises(ValueError, match=r"^an interrupted run has no findings to weigh$"):
        worst([ExitCode.INTERRUPTED, ExitCode.PROVED])


@pytest.mark.parametrize("verdicts", SUBSETS)
@pytest.mark.parametrize("violated", [False, True])
@pytest.mark.parametrize("bad_input", [False, True])
def test_check_for_every_set_of_verdicts(verdicts: tuple[Verdict, ...], violated: bool, bad_input: bool) -> None:
    report = report_of(*(item_with(verdict) for verdict in verdicts), diagnostics=(DIAGNOSTIC,) if bad_input else ())
    found = {OF_VERDICT[verdict] for verdict in verdicts}
    found |= {2} if bad_input else set()
    found |= {5} if violated else set()
    found |= {8} if set(verdicts) <= {Verdict.UNUSED} else set()
    assert of_check(report, trust_violated=violated) == next(code for code in ORDER if code in found)


@pytest.mark.parametrize("verdicts", SUBSETS)
@pytest.mark.parametrize("differs", [False, True])
@pytest.mark.parametrize("violated", [False, True])
@pytest.mark.parametrize("bad_input", [False, True])
def test_regression_for_every_set_of_verdicts(verdicts: tuple[Verdict, ...], differs: bool, violated: bool, bad_input: bool) -> None:
    report = report_of(*(item_with(verdict) for verdict in verdicts), diagnostics=(DIAGNOSTIC,) if bad_input else ())
    expected = 0
    if set(verdicts) <= {Verdict.UNUSED} and not bad_input:
        expected = 8
    if violated:
        expected = 5
    if differs:
        expected = 1
    if Verdict.ERROR in verdicts:
        expected = 4
    assert of_regression(report, differs=differs, trust_violated=violated) == expected


def test_a_report_without_files_has_nothing_to_check() -> None:
    assert of_check(Report(()), trust_violated=False) == 8
    assert of_regression(Report(()), differs=False, trust_violated=False) == 8
