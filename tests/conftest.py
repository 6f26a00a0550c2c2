"""The golden fixture and `--bless`, nothing else.

`golden.check("stage/name.txt", text)` compares a text with tests/golden/stage/name.txt. `--bless` rewrites what differs and prints the diff;
`--bless-verdicts` is needed besides where a verdict or a trusted list changes. Both are refused where CI is set. A full run that passes fails at its
end on a golden that no test compared.
"""

from __future__ import annotations

import os
import re
from difflib import unified_diff
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"
_OWNED = pytest.StashKey[set[Path]]()
_FILTERED = pytest.StashKey[bool]()
_BLESSED = pytest.StashKey[list[str]]()
_GUARDED = re.compile(r"^\s*(verdicts?|trust|trusted|claim)\b|: (proved|refused|undecided)\b|\b(proved|refused|undecided)$")


class Golden:
    """Compares texts with files under tests/golden, or rewrites the files."""

    def __init__(self, root: Path, owned: set[Path], *, bless: bool = False, bless_verdicts: bool = False) -> None:
        self.root = root
        self.owned = owned
        self.blessed: list[str] = []
        self.bless = bless
        self.bless_verdicts = bless_verdicts

    def check(self, name: str, text: str) -> None:
        """Fail with a diff when `text` is not what the file `name` holds; when blessing, rewrite the file and print the diff."""
        path = self.root / name
        self.owned.add(path)
        before = path.read_text(encoding="utf-8") if path.is_file() else ""
        if before == text and path.is_file():
            return
        diff = list(unified_diff(before.splitlines(), text.splitlines(), f"{name} (golden)", f"{name} (now)", lineterm=""))
        if not self.bless:
            pytest.fail("\n".join([f"not as in the golden {name}; `pytest --bless` rewrites it", *diff]), pytrace=False)
        if before and not self.bless_verdicts and any(_GUARDED.search(line[1:]) for line in diff[2:] if line[:1] in "+-"):
            pytest.fail("\n".join([f"{name}: a verdict or a trusted list changes; that needs --bless-verdicts", *diff]), pytrace=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.blessed.append("\n".join(diff))

    def unowned(self) -> list[Path]:
        """Give the files under the root that nothing compared with."""
        return sorted(path for path in self.root.rglob("*.txt") if path not in self.owned)


def in_ci(environment: dict[str, str]) -> bool:
    """True where CI is set to anything but an empty text, 0 or false."""
    return environment.get("CI", "").lower() not in ("", "0", "false")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="rewrite the goldens that differ, and print the diffs")
    parser.addoption("--bless-verdicts", action="store_true", help="with --bless: also where a verdict or a trusted list changes")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_OWNED] = set()
    config.stash[_FILTERED] = False
    config.stash[_BLESSED] = []
    if (config.getoption("--bless") or config.getoption("--bless-verdicts")) and in_ci(dict(os.environ)):
        raise pytest.UsageError("--bless is refused where CI is set")


def pytest_deselected(items: list[pytest.Item]) -> None:
    for item in items[:1]:
        item.config.stash[_FILTERED] = True


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare texts with the files under tests/golden."""
    option = request.config.getoption
    found = Golden(GOLDEN, request.config.stash[_OWNED], bless=option("--bless"), bless_verdicts=option("--bless-verdicts"))
    found.blessed = request.config.stash[_BLESSED]
    return found


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Show what was rewritten."""
    for diff in config.stash[_BLESSED]:
        terminalreporter.write_line(diff)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail a full run that passed when a golden has no owner."""
    full = session.config.args_source == pytest.Config.ArgsSource.TESTPATHS and not session.config.stash[_FILTERED]
    if exitstatus != 0 or not full or session.config.option.collectonly:
        return
    owned = session.config.stash[_OWNED]
    unowned = Golden(GOLDEN, owned).unowned()
    if unowned:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        names = ", ".join(str(path.relative_to(GOLDEN)) for path in unowned)
        session.config.get_terminal_writer().line(f"\nno test compares with these goldens: {names}", red=True)
