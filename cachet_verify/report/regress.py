"""Regression: a report against the verdict files beside the checked files, and the rules of the corpus's folders.

Takes a `Report` and the paths it was asked for; gives the differences, and with `bless` writes the verdict files.
Must not let an undecided or admitted item be blessed outside `open`, nor a file go without a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path

from cachet_verify.report.record import FileReport, Report, Verdict
from cachet_verify.report.verdict_file import SUFFIX, Entry, entries_of, parse, render

FOLDERS = ("accept", "refuse", "open")


@dataclass(frozen=True, slots=True)
class Difference:
    """One way in which a file is not as blessed: a sentence that starts with the file's path, and a unified diff or nothing.

    `is_trust` says that verdicts and claims are as blessed, and only what they take on trust is not.
    """

    path: str
    sentence: str
    diff: str = ""
    is_trust: bool = False


@dataclass(frozen=True, slots=True)
class Regression:
    """What a comparison found. `files` counts the compared files, `written` names the verdict files that `bless` rewrote."""

    differences: tuple[Difference, ...]
    files: int
    written: tuple[str, ...] = ()


def verdict_path(source: Path) -> Path:
    """Give the verdict file that belongs to a `.cachet` file."""
    return source.with_name(f"{source.stem}{SUFFIX}")


def compare(report: Report, paths: Iterable[Path]) -> Regression:
    """Compare every file with its verdict file, apply the rules of its folder, and look for verdict files without a source."""
    found = [difference for file in report.files for difference in _compare_file(file)]
    found += _orphans(paths)
    return Regression(tuple(found), len(report.files))


def bless(report: Report, paths: Iterable[Path]) -> Regression:
    """Write the verdict file of every file whose verdicts its folder allows; the differences left are what no blessing can mend.

    OSError when a verdict file cannot be written.
    """
    found: list[Difference] = []
    written: list[str] = []
    for file in report.files:
        entries = entries_of(file)
        broken = list(_broken_rules(file, entries))
        found += broken
        target = verdict_path(Path(file.path))
        text = render(entries)
        if not broken and _read(target) != text:
            target.write_text(text, encoding="utf-8")
            written.append(str(target))
    found += _orphans(paths)
    return Regression(tuple(found), len(report.files), tuple(written))


def _read(path: Path) -> str | None:
    """Give the text of a verdict file, None when there is none. ValueError when it is not UTF-8."""
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _compare_file(file: FileReport) -> Iterator[Difference]:
    entries = entries_of(file)
    yield from _broken_rules(file, entries)
    target = verdict_path(Path(file.path))
    try:
        blessed = _read(target)
        expected = None if blessed is None else parse(blessed)
    except ValueError as fault:
        yield Difference(file.path, f"{target}: not a verdict file: {fault}")
        return
    if expected is None:
        yield Difference(file.path, f"{file.path}: no verdict file {target.name} beside it; --bless writes one")
    elif expected != entries and _without_trust(expected) == _without_trust(entries):
        yield Difference(file.path, f"{file.path}: what is taken on trust is not as blessed", _diff(target, expected, entries), is_trust=True)
    elif expected != entries:
        yield Difference(file.path, f"{file.path}: not as blessed{_good_news(expected, entries)}", _diff(target, expected, entries))


def _without_trust(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """The entries without what their claims take on trust."""
    return tuple(replace(entry, lines=tuple(line for line in entry.lines if not line.startswith("trusted "))) for entry in entries)


def _good_news(expected: tuple[Entry, ...], entries: tuple[Entry, ...]) -> str:
    """Say when something that was open is now proved: its file has to move."""
    was_open = {(entry.kind, entry.name) for entry in expected if entry.is_open}
    solved = [entry.name for entry in entries if (entry.kind, entry.name) in was_open and entry.verdict == Verdict.PROVED and not entry.is_open]
    if not solved:
        return ""
    return f": {', '.join(solved)} {'is' if len(solved) == 1 else 'are'} proved now; move {'it' if len(solved) == 1 else 'them'} to accept"


def _diff(target: Path, expected: tuple[Entry, ...], entries: tuple[Entry, ...]) -> str:
    before, after = render(expected).splitlines(), render(entries).splitlines()
    return "\n".join(unified_diff(before, after, f"{target} (blessed)", f"{target} (now)", lineterm=""))


def _broken_rules(file: FileReport, entries: tuple[Entry, ...]) -> Iterator[Difference]:
    folder = next((part for part in reversed(Path(file.path).absolute().parts[:-1]) if part in FOLDERS), "")
    for sentence in _rules(folder, entries):
        yield Difference(file.path, f"{file.path}: {sentence}")


def _rules(folder: str, entries: tuple[Entry, ...]) -> Iterator[str]:
    """Give the sentences about what may not be blessed in a folder; "" is a folder outside the three, where nothing open may be."""
    faults = [entry.name for entry in entries if entry.kind != "input" and entry.verdict == Verdict.ERROR]
    if faults:
        yield f"our own fault in {', '.join(faults)}; that is never blessed"
    still_open = [entry.name for entry in entries if entry.is_open]
    refused = [entry.name for entry in entries if entry.verdict == Verdict.REFUSED]
    if not entries:
        yield "no item to check"
    elif folder == "open":
        if not still_open:
            yield f"nothing in it is undecided or admitted; move it to {'refuse' if refused else 'accept'}"
    elif still_open:
        yield f"undecided or admitted: {', '.join(still_open)}; that may be blessed only under open"
    elif folder == "accept" and refused:
        yield f"refused: {', '.join(refused)}; that may not be blessed under accept"
    elif folder == "refuse" and not refused:
        yield "nothing in it is refused; move it to accept"


def _orphans(paths: Iterable[Path]) -> Iterator[Difference]:
    for folder in paths:
        if folder.is_dir():
            for target in sorted(folder.rglob(f"*{SUFFIX}")):
                source = target.with_name(target.name.removesuffix(SUFFIX) + ".cachet")
                if not source.is_file():
                    yield Difference(str(target), f"{target}: a verdict without its file {source.name}")
