"""Where `.cachet` files are: the ones a user names, and the ones the project ships.

Takes paths and names such as `steps` (the NAME of `cachet:NAME`); gives files.
Must not read a file, nor depend on the working directory to find what is shipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

SUFFIX = ".cachet"

_PACKAGE = Path(__file__).resolve().parent
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
_FOLDERS = ("stdlib", "laws", "laws/axiom", "laws/derived")
_PLATFORMS = "platforms"


def shipped_root() -> Path:
    """Give the folder that holds `laws`, `stdlib` and `platforms`: inside the package of a wheel, beside it in a checkout."""
    packed = _PACKAGE / "_shipped"
    return packed if packed.is_dir() else _PACKAGE.parent


def find_shipped(name: str) -> Path | None:
    """Give the file that `cachet:NAME` means, None when nothing of that name is shipped.

    `platforms/NAME` is a platform; any other name is looked for in the standard library, then among the laws.
    """
    if not _NAME.fullmatch(name):
        return None
    root = shipped_root()
    folder, _, rest = name.partition("/")
    places = [root / _PLATFORMS / f"{rest}{SUFFIX}"] if folder == _PLATFORMS and rest else [root / place / f"{name}{SUFFIX}" for place in _FOLDERS]
    return next((path for path in places if path.is_file()), None)


def shipped_names() -> tuple[str, ...]:
    """Give every name that `find_shipped` finds, sorted, for messages that say which import brings something."""
    root = shipped_root()
    names = {path.stem for place in _FOLDERS for path in (root / place).glob(f"*{SUFFIX}")}
    names |= {f"{_PLATFORMS}/{path.stem}" for path in (root / _PLATFORMS).glob(f"*{SUFFIX}")}
    return tuple(sorted(names))


def list_sources(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Give the files to check, each once: a folder stands for the `.cachet` files in it and below, sorted, hidden folders left out.

    Any other path is kept as it is, also when it does not exist: reading it says what is wrong.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        for file in _in_folder(path) if path.is_dir() else (path,):
            found.setdefault(file.absolute(), file)
    return tuple(found.values())


def _in_folder(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.rglob(f"*{SUFFIX}")):
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(folder).parts):
            yield file
