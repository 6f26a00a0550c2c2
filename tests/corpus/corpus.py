"""The files of the regression corpus: their topics, what they expect, and the pairs of programs in them.

Takes the repository; gives paths, codes, and programs with their meanings. Must not judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cachet_verify.core.ir import Program
from cachet_verify.elaborate.item import RelateItem
from cachet_verify.judge.file import Opened, open_file

PROOFS = Path(__file__).parents[2] / "proofs"
_EXPECT = re.compile(r"^// expect: ([a-z.-]+)$", re.MULTILINE)
_LARGE = re.compile(r"(?<!\w)[1-9]\d{2,}\b")
_SCALE = 64


def files(folder: str) -> list[Path]:
    """The Cachet files of a folder of the corpus, sorted."""
    return sorted((PROOFS / folder).glob("*.cachet"))


def name_of(path: Path) -> str:
    """A file's name in test ids: `refuse/tail-dropped`."""
    return f"{path.parent.name}/{path.stem}"


def topic(path: Path) -> str:
    """What stands before the first dash: the kind of program, which neighbours share."""
    return path.stem.partition("-")[0]


def expected(path: Path) -> set[str]:
    """The codes on the `// expect:` lines of a file."""
    return set(_EXPECT.findall(path.read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Pair:
    """A program and what it is to compute; `meaning` is None for a function on its own."""

    name: str
    program: Program
    meaning: Program | None


def pairs(path: Path, scratch: Path) -> list[Pair]:
    """The functions, schedules and relations of a file, blocks of 100 and more scaled down by 64."""
    text = path.read_text(encoding="utf-8")
    small = _LARGE.sub(lambda found: str(max(1, int(found[0]) // _SCALE)), text)
    if small == text or not _is_scalable(text):
        return list(_pairs(open_file(path)))
    scaled = scratch / path.name
    scaled.write_text(small, encoding="utf-8")
    return list(_pairs(open_file(scaled)))


def _is_scalable(text: str) -> bool:
    """Whether large numbers stand in a schedule, where they are blocks and buffers; elsewhere they are the program itself."""
    return "schedule " in text


def _pairs(opened: Opened) -> Iterator[Pair]:
    for name, item in opened.module.programs.items():
        if item.program is not None and item.kind == "fn":
            yield Pair(name, item.program, None)
    for name, applied in opened.applied.items():
        if applied.stopped is None:
            yield Pair(name, applied.program, applied.start)
    for proof in opened.module.proofs:
        if isinstance(proof, RelateItem) and proof.program is not None:
            yield Pair(proof.name, proof.program, proof.meaning)
