"""Small files that are refused, and what each says about itself.

Takes a `.cachet` file with comments `// reject: CODE` on the lines above its faults; gives what is expected and what `check` finds.
Must not judge either.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from cachet_verify.report.option import CheckOptions
from cachet_verify.session import check

FOLDER = Path(__file__).parent
_MARK = re.compile(r"^\s*// reject: (\S+?)(, no remedy)?$")


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """A message: the line it points at, its code, and whether it says what to type instead."""

    line: int
    code: str
    has_remedy: bool


def files() -> list[Path]:
    """The files of this folder, in order."""
    return sorted(FOLDER.glob("*.cachet"))


def expected(path: Path) -> list[Fault]:
    """What the comments of a file say; each speaks of the line below it."""
    marks = ((number, _MARK.match(line)) for number, line in enumerate(path.read_text().splitlines(), 1))
    return [Fault(number + 1, mark[1], mark[2] is None) for number, mark in marks if mark is not None]


def found(path: Path) -> list[Fault]:
    """What `check` says of a file: of its input, or of the items that it refuses."""
    (file,) = check([path], CheckOptions(use_cache=False)).files
    faults = [Fault(item.line or 0, item.code, item.hint != "") for item in file.diagnostics]
    for item in file.items:
        if item.refusal is not None:
            faults.append(Fault(item.refusal.line or item.line, item.refusal.code, "\ntry: " in item.refusal.message))
    return sorted(faults)
