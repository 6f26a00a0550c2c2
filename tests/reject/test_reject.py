"""Every file of this folder is refused with the exact codes on the exact lines, and a remedy wherever there is one to give.

No code of the stages from the text to the verdict is left that nothing here provokes, but for the few listed with the reason.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cachet_verify.diagnostic import load_codes
from tests.reject.made import MADE
from tests.reject.read import Fault, expected, files, found
from tests.reject.test_command_code import COMMANDS

STAGES = (
    *("file", "syntax", "elaborate", "rewrite"),
    *("relation", "program", "call", "layout", "proof", "invariant", "premises", "run", "listing"),
)
ELSEWHERE = {
    "file.unreadable": "needs a path that is no regular file, such as a device: tests/crash/test_malformed.py",
    "rewrite.not-a-step": "only `admit` is a line and no step, and it is set aside before",
    "run.operation": "elaboration lets no unknown operation through",
    "run.read-only": "elaboration lets no store to a `reads` parameter through",
    "run.scope": "elaboration lets no name out of its block",
    "run.requires": "the sizes are asked first: run.requirement",
}


@pytest.mark.parametrize("path", files(), ids=lambda path: path.stem)
def test_a_file_is_refused_where_it_says(path: Path) -> None:
    wanted = expected(path)
    assert wanted
    assert found(path) == wanted


@pytest.mark.parametrize("name", MADE)
def test_a_made_file_is_refused_where_it_says(name: str, tmp_path: Path) -> None:
    text, code, line = MADE[name]
    path = tmp_path / f"{name}.cachet"
    path.write_bytes(text)
    faults = found(path)
    assert Fault(line, code, True) in faults
    assert {fault.code for fault in faults} <= {code, "syntax.expected"}


def test_no_code_is_left_that_nothing_provokes() -> None:
    provoked = {fault.code for path in files() for fault in expected(path)}
    provoked |= {code for _, code, _ in MADE.values()} | {code for _, code, _ in COMMANDS.values()}
    documented = {code for code in load_codes() if code.split(".")[0] in STAGES}
    assert provoked <= documented
    assert documented - provoked == set(ELSEWHERE)


def test_there_are_enough_of_them() -> None:
    assert sum(len(expected(path)) for path in files()) >= 100
