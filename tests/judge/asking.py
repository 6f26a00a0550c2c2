"""Files written to a folder and checked whole, as a user would: for tests of what ends as proved.

Takes texts; gives verdicts and claims by item. Must not use a cache.
"""

from __future__ import annotations

from pathlib import Path

from cachet_verify.report.option import CheckOptions
from cachet_verify.report.record import ItemReport
from cachet_verify.session import check


def items(folder: Path, text: str, *, only: tuple[str, ...] = (), **others: str) -> dict[str, ItemReport]:
    """The items of `main.cachet`, by name; `others` are files that it may import, by stem."""
    for stem, other in others.items():
        (folder / f"{stem}.cachet").write_text(other)
    main = folder / "main.cachet"
    main.write_text(text)
    (report,) = check([main], CheckOptions(use_cache=False, only=only)).files
    if report.diagnostics:
        raise ValueError([item.message for item in report.diagnostics])
    return {item.name: item for item in report.items}


def verdicts(folder: Path, text: str, *, only: tuple[str, ...] = (), **others: str) -> dict[str, str]:
    """The verdict of each item, as a word."""
    return {name: item.verdict.value for name, item in items(folder, text, only=only, **others).items()}
