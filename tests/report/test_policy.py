"""The trust policy: flags, the table of pyproject.toml, and which entries violate it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cachet_verify.diagnostic import CachetError
from cachet_verify.report.policy import Policy, find_policy
from cachet_verify.report.record import TrustedEntry, Verdict
from tests.report.sample_report import ADMITTED, TEMPLATE, item_with, report_of

LAW = TrustedEntry("law", "exp.sum", "e^(x+y) = e^x e^y")
REPORT = report_of(item_with(Verdict.PROVED, LAW, TEMPLATE), item_with(Verdict.PROVED, ADMITTED, LAW))


@pytest.mark.parametrize(
    ("policy", "names"),
    [
        (Policy(), ["fast"]),
        (Policy(allow=("fast",)), ["exp.sum", "simdgroup_mma8"]),
        (Policy(allow=("fast", "exp.sum", "simdgroup_mma8")), []),
        (Policy(allow=()), ["fast", "exp.sum", "simdgroup_mma8"]),
        (Policy(deny=True), ["fast", "exp.sum", "simdgroup_mma8"]),
        (Policy(deny=True, allow=("exp.sum",)), ["fast", "simdgroup_mma8"]),
    ],
)
def test_violations(policy: Policy, names: list[str]) -> None:
    assert [entry.name for entry in policy.violations(REPORT)] == names


DIGITS = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("allowed", "is_allowed"),
    [
        ("mma", True),
        (f"mma#{DIGITS[:12]}", True),
        (f"mma#{DIGITS}", True),
        (f"mma#{DIGITS[:11]}", False),
        (f"mma#{DIGITS[1:13]}", False),
        (f"mma2#{DIGITS[:12]}", False),
        ("mma#", False),
        (f"#{DIGITS[:12]}", False),
    ],
)
def test_a_name_with_digits_means_this_very_template(allowed: str, is_allowed: bool) -> None:
    entry = TrustedEntry("template", "mma", identity=DIGITS)
    assert entry.pinned == "mma#0123456789ab"
    assert Policy(allow=(allowed,)).is_allowed(entry) is is_allowed


def test_flags_add_to_the_table() -> None:
    table = Policy(allow=("exp.sum",))
    assert table.joined(Policy()) == table
    assert table.joined(Policy(allow=("fast",))) == Policy(allow=("exp.sum", "fast"))
    assert Policy().joined(Policy(deny=True)) == Policy(deny=True)
    assert Policy(deny=True).joined(Policy(allow=("fast",))) == Policy(deny=True, allow=("fast",))


def test_the_nearest_table_counts(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[tool.cachet]\ndeny-trusted = true\nallow = ["exp.sum"]\n')
    assert find_policy(below) == Policy(deny=True, allow=("exp.sum",))
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert find_policy(below) == Policy()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[tool.cachet]\nallow = 'x'\n", "allow is a list of names"),
        ("[tool.cachet]\nallow = [1]\n", "allow is a list of names"),
        ("[tool.cachet]\ndeny-trusted = 1\n", "deny-trusted is true or false"),
        ("[tool.cachet]\nalow = []\n", "unknown key 'alow'; the keys are allow, deny-trusted, evidence-max-age, require-evidence"),
        ("[tool]\ncachet = 3\n", "it is not a table"),
        ("[tool.cachet\n", "cannot be read"),
    ],
)
def test_a_bad_table_is_bad_input(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(CachetError) as caught:
        find_policy(tmp_path)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "tool.bad-policy"
    assert says in diagnostic.message
